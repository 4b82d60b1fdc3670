//! Kernel IR to LLVM IR to machine code: ELF objects for CPUs, PTX and CUBINs for NVIDIA GPUs.
//!
//! [`compile`] takes a verified module and gives an [`Artifact`]. It is a function of its arguments alone (and of
//! NVIDIA's libraries, where a GPU kernel needs them), may be called from any number of threads, and for verified
//! IR gives code or an error, never a panic.
//!
//! # Calling the code
//!
//! CPU: `void inkle_kernel(const uint8_t* params, uint64_t begin, uint64_t end)` runs the threads with linear
//! index `begin..end`. Any partition of `0..size` into ranges runs every thread once. GPU: the kernel
//! `inkle_kernel` takes the parameter block by value; blocks and grid are one-dimensional, and the grid times
//! [`Artifact::lanes`] covers the launch unless [`Options::grid_stride`] is set. The block's layout is [`inkle_ir::ParamLayout`].
//!
//! CPU objects leave only [`runtime_symbols`] undefined.
//!
//! Without the feature `llvm` there are only the names of targets, options and what code is, for programs that load it.
#![cfg_attr(
    not(feature = "llvm"),
    allow(rustdoc::broken_intra_doc_links, reason = "what makes code is not there")
)]

mod artifact;
#[cfg(feature = "llvm")]
mod compile;
#[cfg(feature = "llvm")]
mod emitter;
mod error;
#[cfg(feature = "llvm")]
mod exact;
#[cfg(feature = "llvm")]
mod fuse;
#[cfg(feature = "llvm")]
mod lines;
#[cfg(feature = "llvm")]
mod lower;
#[cfg(feature = "llvm")]
mod machine;
#[cfg(feature = "llvm")]
mod masks;
#[cfg(feature = "llvm")]
mod math;
#[cfg(feature = "llvm")]
mod native;
#[cfg(feature = "llvm")]
mod nvidia;
mod options;
#[cfg(feature = "llvm")]
mod order;
#[cfg(feature = "llvm")]
mod plan;
mod target;
#[cfg(feature = "llvm")]
mod uniformity;
#[cfg(feature = "llvm")]
mod value;

pub use artifact::{Artifact, ArtifactKind};
#[cfg(feature = "llvm")]
pub use compile::{Emit, compile, compiler_version, emit_text, llvm_version};
pub use error::CodegenError;
#[cfg(feature = "llvm")]
pub use math::{RuntimeSymbol, Signature, runtime_symbols};
#[cfg(feature = "llvm")]
pub use native::version as native_version;
#[cfg(feature = "llvm")]
pub use nvidia::set_package_folders;
pub use options::{Forms, Lanes, Options, ScalarReason, computes_in_floats};
pub use target::{CUDA_ARCHS, CpuTarget, CudaOutput, CudaTarget, Target, TargetNameError};
