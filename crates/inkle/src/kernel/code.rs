//! The code of an instance: compiled when the program was built, or now.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use inkle_diag::Diagnostic;
use inkle_graph::KernelSource;
use inkle_ir::{KernelAccess, MAX_DIMS};
#[cfg(feature = "llvm")]
use inkle_module::{CompileError, GraphSource, Kernel};
use inkle_module::{Loaded, Options};
use inkle_runtime::Device;

use super::ahead::Ahead;
use super::instance::Instance;
use crate::error::Result;

/// What selects the code of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    pub device: Device,
    pub contiguous: bool,
    pub aligned: bool,
    pub grid_stride: bool,
}

impl Variant {
    /// The code that any launch on a CPU can run.
    pub fn general() -> Variant {
        Variant { device: Device::cpu(), contiguous: false, aligned: false, grid_stride: false }
    }
}

/// A kernel's code in use, forward or backward.
#[derive(Debug, Default)]
pub struct Code {
    /// What was compiled when the program was built.
    ahead: Option<Ahead>,
    /// What the compiler made of it, at first need.
    #[cfg(feature = "llvm")]
    kernel: OnceLock<std::result::Result<Arc<Kernel>, CompileError>>,
    /// Most of the time one entry.
    ready: RwLock<Vec<(Variant, Arc<Loaded>)>>,
    access: OnceLock<KernelAccess>,
}

impl Code {
    /// Of a kernel that the program has compiled, or else that can be checked.
    ///
    /// # Errors
    /// [`Error::NotCompiled`](crate::Error::NotCompiled) when neither is so; mistakes in the kernel.
    pub fn forward(instance: &'static Instance) -> Result<Code> {
        let ahead = Ahead::find(instance);
        #[cfg(not(feature = "llvm"))]
        if ahead.is_none() {
            return Err(super::ahead::absent(instance));
        }
        Ok(Code { ahead, ..Code::default() })
    }

    /// Of a backward kernel.
    #[cfg(feature = "llvm")]
    pub fn of(kernel: Arc<Kernel>) -> Code {
        Code { kernel: Ok(kernel).into(), ..Code::default() }
    }

    /// The kernel, checked.
    #[cfg(feature = "llvm")]
    pub fn kernel(&self, instance: &'static Instance) -> Result<&Arc<Kernel>> {
        self.kernel.get_or_init(|| instance.check()).as_ref().map_err(|error| error.clone().into())
    }

    /// The code of a variant.
    #[inline]
    pub fn load(&self, instance: &'static Instance, variant: Variant) -> Result<Arc<Loaded>> {
        {
            let ready = self.ready.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, loaded)) = ready.iter().find(|(v, _)| *v == variant) {
                return Ok(loaded.clone());
            }
        }
        self.load_new(instance, variant)
    }

    #[cold]
    fn load_new(&self, instance: &'static Instance, variant: Variant) -> Result<Arc<Loaded>> {
        let options = instance.options(&variant);
        let ahead = match &self.ahead {
            Some(ahead) => ahead.code(variant.device)?,
            None => None,
        };
        let loaded = match ahead {
            Some(code) => code.load(&options)?,
            None => self.compiled(instance, variant.device, &options)?,
        };
        let mut ready = self.ready.write().unwrap_or_else(PoisonError::into_inner);
        if !ready.iter().any(|(v, _)| *v == variant) {
            ready.push((variant, loaded.clone()));
        }
        Ok(loaded)
    }

    #[cfg(feature = "llvm")]
    fn compiled(
        &self,
        instance: &'static Instance,
        device: Device,
        options: &Options,
    ) -> Result<Arc<Loaded>> {
        Ok(self.kernel(instance)?.load(device, options)?.0)
    }

    #[cfg(not(feature = "llvm"))]
    fn compiled(&self, instance: &'static Instance, device: Device, _: &Options) -> Result<Arc<Loaded>> {
        Err(match &self.ahead {
            Some(ahead) => ahead.lacks(instance, device),
            None => super::ahead::absent(instance),
        })
    }

    /// Which arrays the kernel reads and writes; known once it has code.
    pub fn access(&self) -> &KernelAccess {
        if let Some(access) = self.ahead.as_ref().and_then(Ahead::access) {
            return access;
        }
        #[cfg(feature = "llvm")]
        if let Some(Ok(kernel)) = self.kernel.get() {
            return kernel.ir().access();
        }
        self.access.get_or_init(KernelAccess::default)
    }

    /// Of a backward pass, a warning of what it is not sure of.
    pub fn doubt(&self) -> Option<&Diagnostic> {
        #[cfg(feature = "llvm")]
        if let Some(Ok(kernel)) = self.kernel.get() {
            return kernel.ir().doubt();
        }
        None
    }

    /// The largest extents that the kernel's indices can count, where it asks for them; of a kernel that cannot be compiled
    /// those of `i32`.
    pub fn extent_limits(&self, instance: &'static Instance) -> [Option<u32>; MAX_DIMS] {
        if let Some(ahead) = &self.ahead {
            return ahead.as_member().extent_limits;
        }
        #[cfg(feature = "llvm")]
        if let Ok(kernel) = self.kernel(instance) {
            return kernel.ir().extent_limits();
        }
        let _ = instance;
        [Some(i32::MAX as u32); MAX_DIMS]
    }

    /// The digest, the options and the source of loaded code for graphs, if the code is of this kernel.
    pub fn origin(&self, instance: &'static Instance, loaded: &Arc<Loaded>) -> Option<Origin> {
        let ready = self.ready.read().unwrap_or_else(PoisonError::into_inner);
        let (variant, _) = ready.iter().find(|(_, known)| Arc::ptr_eq(known, loaded))?;
        let options = instance.options(variant);
        let key = options.key();
        #[cfg(feature = "llvm")]
        if let Ok(kernel) = self.kernel(instance) {
            let source = GraphSource::new(kernel.clone(), options);
            return Some((*kernel.ir().digest().as_bytes(), key, Arc::new(source)));
        }
        let ahead = self.ahead.as_ref()?;
        Some((ahead.digest()?, key, ahead.graph_source(options)))
    }
}

/// The digest of a kernel's IR, the options of its code, and where a graph has its code for other machines from.
pub type Origin = ([u8; 32], String, Arc<dyn KernelSource>);
