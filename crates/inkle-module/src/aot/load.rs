//! Code of a file, loaded on a device.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use inkle_codegen::Options;
use inkle_ir::{KernelAccess, Type};
use inkle_runtime::{Device, Loaded};

use super::file::{AotError, AotFile};
use super::{AheadSource, AotKernel, block_bytes, file_suffix, signature};
use crate::entry::load_entry;
use crate::error::CompileError;
#[cfg(feature = "llvm")]
use crate::kernel::KernelIr;

/// The code that a file has for one kernel of a program, loaded as launches need it.
#[derive(Debug)]
pub struct AotCode {
    device: Device,
    kernel: AotKernel,
    /// The file it is from, and what its name ends with.
    path: PathBuf,
    suffix: String,
    /// Whether the program's kernel must be the one that was compiled, not only have its parameters.
    strict: bool,
    /// One slot a variant.
    loaded: Mutex<Vec<Option<Arc<Loaded>>>>,
}

impl AotCode {
    /// The code of all kernels of this name in the file, one for each signature. `strict` code serves no other kernel than
    /// the one that was compiled.
    ///
    /// # Errors
    /// [`AotError::NoKernel`] when there is none, or none for parameters of these types.
    pub fn of_kernel(
        path: &Path,
        file: &AotFile,
        device: Device,
        name: &str,
        types: Option<&[Type]>,
        strict: bool,
    ) -> Result<Vec<Arc<AotCode>>, AotError> {
        let wanted = types.map(|types| signature(types.iter().copied()));
        let found: Vec<_> = file.kernels.iter().filter(|k| k.name == name).collect();
        let fits = |kernel: &&AotKernel| wanted.as_ref().is_none_or(|text| kernel.signature == *text);
        if !found.iter().any(fits) {
            let path = PathBuf::from(path);
            let kernel = format!("{name}{}", wanted.unwrap_or_default());
            let found = file.kernels.iter().map(|k| format!("{}{}", k.name, k.signature)).collect();
            return Err(AotError::NoKernel { path, kernel, found });
        }
        let code = |kernel: &AotKernel| {
            let loaded = Mutex::new(vec![None; kernel.variants.len()]);
            let (path, suffix) = (path.to_owned(), file_suffix(&file.target));
            Arc::new(AotCode { device, kernel: kernel.clone(), path, suffix, strict, loaded })
        };
        Ok(found.into_iter().map(code).collect())
    }

    /// The code of a kernel that a set has for a device.
    pub(super) fn of_set(kernel: AotKernel, device: Device) -> AotCode {
        let loaded = Mutex::new(vec![None; kernel.variants.len()]);
        AotCode { device, kernel, path: PathBuf::new(), suffix: String::new(), strict: true, loaded }
    }

    /// The digest of the IR that was compiled.
    pub fn digest(&self) -> &blake3::Hash {
        &self.kernel.digest
    }

    /// The device that it runs on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What the kernel may do with memory.
    pub fn access(&self) -> KernelAccess {
        self.kernel.variants.first().map(|v| v.entry.access.clone()).unwrap_or_default()
    }

    /// Whether it is for parameters of these types.
    pub fn takes(&self, types: &[Type]) -> bool {
        self.kernel.params_bytes == block_bytes(types)
            && self.kernel.signature == signature(types.iter().copied())
    }

    /// Whether it stands for a kernel only if that is the one that was compiled.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Whether this kernel was compiled.
    #[cfg(feature = "llvm")]
    pub fn is_of(&self, kernel: &KernelIr) -> bool {
        self.kernel.digest == *kernel.digest()
    }

    /// Loads what a launch on arrays as they are allocated runs.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_usual(&self) -> Result<(), CompileError> {
        self.load(&Options { contiguous: u64::MAX, aligned: true, ..Options::default() }).map(drop)
    }

    /// The digest of the IR and the options that loaded code was made from, if it is of this kernel.
    pub fn origin(&self, code: &Arc<Loaded>) -> Option<(&blake3::Hash, &str)> {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let index = loaded.iter().position(|known| known.as_ref().is_some_and(|k| Arc::ptr_eq(k, code)))?;
        Some((&self.kernel.digest, &self.kernel.variants[index].entry.origin.options))
    }

    /// Where a graph gets code for other machines from, of which `options` were captured: the files beside this one.
    pub fn source(&self, options: Options) -> AheadSource {
        AheadSource::new(&self.path, &self.suffix, &self.kernel, options)
    }

    /// The variant for a launch that these options fit, and its code if it is loaded.
    fn find(&self, launch: &Options) -> (usize, Option<Arc<Loaded>>) {
        let variants = &self.kernel.variants;
        let last = variants.len().saturating_sub(1);
        let index = variants.iter().position(|v| v.serves(launch)).unwrap_or(last);
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        (index, loaded[index].clone())
    }

    /// The code for a launch that these options fit, if it is loaded; others than those about the launch do not matter.
    pub fn loaded(&self, launch: &Options) -> Option<Arc<Loaded>> {
        self.find(launch).1
    }

    /// As [`loaded`](Self::loaded), and loads it if need be.
    ///
    /// # Errors
    /// [`CompileError::Load`] when the code cannot be loaded.
    pub fn load(&self, launch: &Options) -> Result<Arc<Loaded>, CompileError> {
        let (index, found) = self.find(launch);
        if let Some(code) = found {
            return Ok(code);
        }
        let entry = &self.kernel.variants[index].entry;
        let code = Arc::new(load_entry(self.device, entry, self.kernel.params_bytes as usize)?);
        // Another thread may have been as quick; then its code is the one in use.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(loaded[index].get_or_insert(code).clone())
    }
}
