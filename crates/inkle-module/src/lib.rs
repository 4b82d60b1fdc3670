//! Kernels from source to loaded code: checked once per argument types, compiled once per target and options,
//! cached on disk, loaded once per device.
//!
//! The unit of compilation is one kernel for one target and one set of options ([`codegen::Options`](Options)). Its cache key
//! is a digest of the kernel's IR, the target, the options and the compiler's version. The IR holds everything the code
//! depends on (the source, the functions, structs and constants it reaches, argument types), so a change recompiles exactly
//! the kernels it reaches.
#![forbid(unsafe_code)]

mod aot;
mod cache;
mod error;
mod graph;
mod kernel;
mod library;
mod options;
mod progress;
mod recall;
mod schedule;
mod trace;

pub use aot::{
    AotCode, AotError, AotFile, AotInput, AotKernel, AotVariant, compile_ahead, file_suffix, find_file,
    module_hash, signature,
};
pub use cache::{
    CacheError, CacheSettings, Entry, KernelCache, Origin, Pruned, RemoteCache, RemoteError, RemoteOpener,
    SizeLimit, SizeLimitError, Stored, cache_dir, configure_cache, flush_remote_cache, kernel_cache,
    remote_cache_url, set_remote_opener,
};
pub use error::CompileError;
pub use graph::{GraphSource, recompile};
pub use inkle_adjoint::{ArrayGrad, count_arrays, is_differentiable};
pub use inkle_codegen::{
    CUDA_ARCHS, CpuTarget, CudaOutput, CudaTarget, Lanes, Options, Target, TargetNameError, llvm_version,
    set_package_folders,
};
pub use inkle_diag::trace::record as record_trace;
pub use inkle_frontend::CheckOptions;
pub use inkle_runtime::Loaded;
pub use kernel::{Digest, How, Kernel, KernelIr, Statistics, digest_of_all, forget_loaded, statistics};
pub use library::{builtin_forms, library_function, library_names};
pub use options::{MODULE_OPTIONS, ModuleOption, OptionError, OptionValue};
pub use progress::Progress;
pub use recall::{obtain, recall_kernels};
pub use schedule::{cores, finish_background, for_each, in_background};
pub use trace::{Trace, TraceEvent, TraceOrigin};
