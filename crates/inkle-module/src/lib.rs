//! Kernels from source to loaded code: checked once per argument types, compiled once per target and options,
//! cached on disk, loaded once per device.
//!
//! The unit of compilation is one kernel for one target and one set of options ([`codegen::Options`](Options)). Its cache key
//! is a digest of the kernel's IR, the target, the options and the compiler's version. The IR holds everything the code
//! depends on (the source, the functions, structs and constants it reaches, argument types), so a change recompiles exactly
//! the kernels it reaches.
//!
//! Without the feature `llvm` nothing is compiled: there are only files of compiled kernels, and their loading.
#![forbid(unsafe_code)]

mod aot;
#[cfg(feature = "llvm")]
mod cache;
mod entry;
mod error;
#[cfg(feature = "llvm")]
mod graph;
#[cfg(feature = "llvm")]
mod host_call;
#[cfg(feature = "llvm")]
mod kernel;
#[cfg(feature = "llvm")]
mod library;
#[cfg(feature = "llvm")]
mod options;
#[cfg(feature = "llvm")]
mod progress;
#[cfg(feature = "llvm")]
mod recall;
#[cfg(feature = "llvm")]
mod schedule;
mod targets;
#[cfg(feature = "llvm")]
mod trace;

pub use aot::{
    AotCode, AotError, AotFile, AotKernel, AotMember, AotSet, AotSource, AotVariant, file_suffix, signature,
};
pub use entry::{Entry, Origin};
pub use error::CompileError;
pub use inkle_adjoint::{ArrayGrad, count_arrays, is_differentiable};
pub use inkle_codegen::{
    CUDA_ARCHS, CpuTarget, CudaOutput, CudaTarget, Lanes, Options, Target, TargetNameError,
};
pub use inkle_diag::trace::record as record_trace;
pub use inkle_frontend::CheckOptions;
pub use inkle_runtime::Loaded;
pub use targets::machine;
#[cfg(feature = "llvm")]
pub use {
    aot::{AotInput, compile_ahead, find_file, module_hash},
    cache::{
        CacheError, CacheSettings, KernelCache, Pruned, RemoteCache, RemoteError, RemoteOpener, SizeLimit,
        SizeLimitError, Stored, cache_dir, configure_cache, flush_remote_cache, kernel_cache,
        remote_cache_url, set_remote_opener,
    },
    graph::{GraphSource, recompile},
    host_call::{HostArgument, HostCall, HostPlace, HostShape},
    inkle_codegen::{llvm_version, set_package_folders},
    kernel::{Digest, How, Kernel, KernelIr, Statistics, digest_of_all, forget_loaded, statistics},
    library::{builtin_forms, library_function, library_names},
    options::{MODULE_OPTIONS, ModuleOption, OptionError, OptionValue},
    progress::Progress,
    recall::{obtain, recall_kernels},
    schedule::{cores, finish_background, for_each, in_background, next_in_background},
    trace::{Trace, TraceEvent, TraceOrigin},
};
