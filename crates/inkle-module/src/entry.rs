//! Compiled code with what is known of it, and how it is loaded.

use std::sync::Arc;

use inkle_codegen::ArtifactKind;
use inkle_diag::trace::{self, Stage};
use inkle_ir::KernelAccess;
#[cfg(feature = "llvm")]
use inkle_runtime::MakeLate;
use inkle_runtime::elf::LoadedObject;
use inkle_runtime::{CpuFunction, CudaFunction, CudaModule, Device, Loaded, RuntimeError};

/// Compiled code as the cache and files hold it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What the code is.
    pub kind: ArtifactKind,
    /// Threads the code runs at once; 1 on GPUs that run them one by one.
    pub lanes: u32,
    /// The symbol to call or launch.
    pub symbol: String,
    /// What the kernel may do with memory.
    pub access: KernelAccess,
    /// Where the code comes from.
    pub origin: Origin,
    /// The code.
    pub code: Vec<u8>,
}

/// What an entry was made from, for people who look into the cache; the key stands for all of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The kernel's name.
    pub kernel: String,
    /// The target's name: [`Target`](inkle_codegen::Target) as text.
    pub target: String,
    /// The options: [`Options::key`](inkle_codegen::Options::key).
    pub options: String,
    /// How long the compiler took, microseconds.
    pub micros: u32,
}

/// Loads code on the CPU that may lack the form with atomic updates, which `make` makes when it is needed.
#[cfg(feature = "llvm")]
pub(crate) fn load_early(
    entry: &Entry,
    params_bytes: usize,
    make: Box<MakeLate>,
) -> Result<Loaded, RuntimeError> {
    let _span = trace::part(Stage::Load);
    let object = Arc::new(LoadedObject::load(&entry.code).map_err(RuntimeError::from)?);
    let function = CpuFunction::with_late(object, &entry.symbol, params_bytes, entry.lanes, make)?;
    Ok(Loaded::Cpu(function))
}

/// Loads code on the CPU.
pub(crate) fn load_on_cpu(entry: &Entry, params_bytes: usize) -> Result<CpuFunction, RuntimeError> {
    let _span = trace::part(Stage::Load);
    let object = Arc::new(LoadedObject::load(&entry.code).map_err(RuntimeError::from)?);
    CpuFunction::new(object, &entry.symbol, params_bytes, entry.lanes)
}

/// Loads code on a device.
pub(crate) fn load_entry(device: Device, entry: &Entry, params_bytes: usize) -> Result<Loaded, RuntimeError> {
    if device.is_cpu() {
        return Ok(Loaded::Cpu(load_on_cpu(entry, params_bytes)?));
    }
    let _span = trace::part(Stage::Driver);
    let module = CudaModule::load(device, &entry.code)?;
    let function = CudaFunction::new(module, &entry.symbol, params_bytes)?;
    Ok(Loaded::Cuda { function, lanes: entry.lanes })
}
