//! A kernel for definite types: its code, per device and per what is known of its arrays.

use std::any::TypeId;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use inkle_diag::trace::{self, Stage};
use inkle_frontend::env::ParamSpec;
use inkle_frontend::pattern::Pattern;
use inkle_graph::{Kernel as GraphKernel, KernelParam, KernelSource};
use inkle_ir::{KernelAccess, MAX_DIMS, ParamLayout, Type};
use inkle_module::{ArrayGrad, CheckOptions, CompileError, GraphSource, Kernel, Loaded, Options};
use inkle_runtime::Device;

use super::definition::{Definition, Name, Text, instance_key};
use super::environment::RustEnvironment;
use crate::error::{Error, Result};

/// What the attribute `#[inkle::kernel(..)]` chooses.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Stops the kernel with a report at an index out of bounds or a failed `assert!`.
    pub checks: bool,
    /// Allows approximate arithmetic.
    pub fast_math: bool,
    /// Allows a multiplication and an addition to become one operation.
    pub fuse_fp: bool,
    /// On the CPU: functions of `f32` are computed in `f64` and rounded once.
    pub precise_math: bool,
    /// On the CPU: results do not depend on the order in which threads update memory atomically.
    pub deterministic: bool,
    /// Puts source lines into the code, for profilers.
    pub lineinfo: bool,
    /// Loops over constant ranges of at most this many turns are unrolled.
    pub max_unroll: u32,
    /// 0 to 3.
    pub optimization_level: u8,
    /// Threads per block on a GPU.
    pub block_dim: u32,
    /// The most registers per thread on a GPU; 0 for no limit.
    pub max_registers: u32,
    /// Whether tapes may run the kernel backwards.
    pub enable_backward: bool,
}

impl Settings {
    /// Those of a kernel that chooses nothing, in a program built with or without debug assertions.
    pub fn new(checks: bool) -> Settings {
        let (options, check) = (Options::default(), CheckOptions::default());
        Settings {
            checks,
            fast_math: options.fast_math,
            fuse_fp: options.fuse_fp,
            precise_math: options.precise_math,
            deterministic: options.deterministic,
            lineinfo: options.lineinfo,
            max_unroll: check.max_unroll,
            optimization_level: options.optimization_level,
            block_dim: 256,
            max_registers: 0,
            enable_backward: true,
        }
    }
}

/// What code may be told about the arrays of a launch; bit i is for argument i, of the first 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The innermost stride is the size of an element.
    pub contiguous: u64,
    /// Elements and gradients start at multiples of 16 bytes, or are not there.
    pub aligned: u64,
}

/// A kernel with its instances: one, unless it is generic.
#[derive(Debug)]
pub struct Family {
    text: &'static Text,
    /// The instance of a kernel that is not generic.
    only: OnceLock<&'static Instance>,
    instances: RwLock<Vec<(TypeId, &'static Instance)>>,
}

/// A kernel for definite types.
#[derive(Debug)]
pub struct Instance {
    definition: &'static Definition,
    settings: Settings,
    types: Vec<Type>,
    /// The size of the parameter block, 8-byte words.
    pub(crate) words: usize,
    /// The bits of parameters that are arrays.
    arrays: u64,
    forward: OnceLock<std::result::Result<Code, CompileError>>,
    /// The backward kernels, one per gradients that the arguments had.
    backward: Mutex<Vec<Backward>>,
}

type Backward = (Vec<ArrayGrad>, std::result::Result<Arc<Code>, CompileError>);

/// A kernel and its code in use.
#[derive(Debug)]
pub(crate) struct Code {
    kernel: Arc<Kernel>,
    /// Most of the time one entry.
    ready: RwLock<Vec<(Variant, Arc<Loaded>)>>,
}

/// What selects the code of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Variant {
    device: Device,
    contiguous: bool,
    aligned: bool,
    grid_stride: bool,
}

impl Variant {
    /// The code that any launch on a CPU can run.
    fn general() -> Variant {
        Variant { device: Device::cpu(), contiguous: false, aligned: false, grid_stride: false }
    }
}

impl Family {
    /// A kernel of which nothing is compiled.
    pub const fn new(text: &'static Text) -> Family {
        Family { text, only: OnceLock::new(), instances: RwLock::new(Vec::new()) }
    }

    /// The instance for the types `K`, a tuple; made by `params`, `names` and `settings` when it is first asked for.
    #[inline]
    pub fn instance<K: 'static>(
        &self,
        params: fn() -> Vec<ParamSpec>,
        names: fn() -> Vec<Name>,
        settings: fn() -> Settings,
    ) -> &'static Instance {
        let make = || -> &'static Instance {
            let definition = Box::leak(Box::new(Definition::new(self.text, params, None, names)));
            Box::leak(Box::new(Instance::new(definition, settings())))
        };
        let key = instance_key::<K>();
        if key == instance_key::<()>() {
            return self.only.get_or_init(make);
        }
        let known = |instances: &[(TypeId, &'static Instance)]| {
            instances.iter().find(|(of, _)| *of == key).map(|(_, instance)| *instance)
        };
        if let Some(instance) = known(&self.instances.read().unwrap_or_else(PoisonError::into_inner)) {
            return instance;
        }
        let mut instances = self.instances.write().unwrap_or_else(PoisonError::into_inner);
        known(&instances).unwrap_or_else(|| {
            let instance = make();
            instances.push((key, instance));
            instance
        })
    }
}

impl Instance {
    fn new(definition: &'static Definition, settings: Settings) -> Instance {
        let types = definition.params().into_iter().filter_map(|param| match param.pattern {
            Some(Pattern::Exact(ty)) => Some(ty),
            _ => None,
        });
        let types: Vec<Type> = types.collect();
        let words = (ParamLayout::new(types.iter().copied()).size as usize).div_ceil(8);
        let arrays = types.iter().enumerate().take(64).filter(|(_, ty)| ty.as_array().is_some());
        let arrays = arrays.fold(0, |mask, (index, _)| mask | 1 << index);
        let (forward, backward) = Default::default();
        Instance { definition, settings, types, words, arrays, forward, backward }
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &'static str {
        self.definition.name()
    }

    /// The name of a parameter.
    pub(crate) fn param_name(&self, index: usize) -> String {
        self.definition.param_name(index).to_owned()
    }

    /// The types of the parameters.
    pub(crate) fn types(&self) -> &[Type] {
        &self.types
    }

    /// The choices of the attribute.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The kernel checked, at the first call.
    pub(crate) fn forward(&'static self) -> Result<&'static Code> {
        let code = self.forward.get_or_init(|| {
            crate::log::follow_stages();
            let _span = trace::span(Stage::Kernel, || self.name());
            let env = RustEnvironment::default();
            let check = CheckOptions { max_unroll: self.settings.max_unroll };
            let (key, options) = (self.definition.key(), self.options(&Variant::general()));
            let kernel = inkle_module::obtain(&env, key, &self.types, check, &options)?;
            crate::log::warnings(&env.take_warnings());
            Ok(Code::new(kernel))
        });
        code.as_ref().map_err(|error| error.clone().into())
    }

    /// The code that runs the kernel backwards, made at first need.
    pub(crate) fn backward(&'static self, grads: &[ArrayGrad]) -> Result<Arc<Code>> {
        if !self.settings.enable_backward {
            return Err(Error::NoBackward { kernel: self.name() });
        }
        let forward = self.forward()?;
        let mut known = self.backward.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = known.iter().find(|(g, _)| g == grads) {
            return code.clone().map_err(Error::from);
        }
        let made = forward.kernel.ir().backward(grads);
        let made = made.map(|ir| Arc::new(Code::new(Arc::new(Kernel::new(ir)))));
        known.push((grads.to_vec(), made.clone()));
        made.map_err(Error::from)
    }

    fn options(&self, variant: &Variant) -> Options {
        let Settings {
            checks,
            fast_math,
            fuse_fp,
            precise_math,
            deterministic,
            lineinfo,
            optimization_level,
            max_registers,
            ..
        } = self.settings;
        Options {
            checks,
            fast_math,
            fuse_fp,
            precise_math,
            deterministic,
            lineinfo,
            optimization_level,
            max_registers: (max_registers > 0).then_some(max_registers),
            contiguous: if variant.contiguous { self.arrays } else { 0 },
            aligned: variant.aligned,
            grid_stride: variant.grid_stride,
            ..Options::default()
        }
    }

    /// The code of a launch with arrays of which `facts` hold.
    #[inline]
    pub(crate) fn load(
        &self,
        code: &Code,
        device: Device,
        facts: Facts,
        grid_stride: bool,
    ) -> Result<Arc<Loaded>> {
        let on_gpu = device.is_cuda();
        let variant = Variant {
            device,
            contiguous: facts.contiguous & self.arrays == self.arrays,
            aligned: on_gpu && facts.aligned & self.arrays == self.arrays,
            grid_stride: on_gpu && grid_stride,
        };
        {
            let ready = code.ready.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, loaded)) = ready.iter().find(|(v, _)| *v == variant) {
                return Ok(loaded.clone());
            }
        }
        self.load_new(code, variant)
    }

    #[cold]
    fn load_new(&self, code: &Code, variant: Variant) -> Result<Arc<Loaded>> {
        let (loaded, _) = code.kernel.load(variant.device, &self.options(&variant))?;
        let mut ready = code.ready.write().unwrap_or_else(PoisonError::into_inner);
        if !ready.iter().any(|(v, _)| *v == variant) {
            ready.push((variant, loaded.clone()));
        }
        Ok(loaded)
    }

    /// Makes the code of a usual launch ready.
    ///
    /// # Errors
    /// Mistakes in the kernel; when code cannot be made or loaded.
    pub fn load_usual(&'static self, device: Device) -> Result<()> {
        let facts = Facts { contiguous: self.arrays, aligned: self.arrays };
        self.load(self.forward()?, device, facts, false).map(drop)
    }

    /// The simplified IR as text.
    ///
    /// # Errors
    /// Mistakes in the kernel.
    pub fn ir_text(&'static self) -> Result<String> {
        Ok(self.forward()?.kernel.ir().module().to_string())
    }

    /// The largest extents that the kernel's indices can count, where it asks for them; of a kernel that cannot be compiled
    /// those of `i32`.
    #[cold]
    pub(crate) fn extent_limits(&'static self) -> [Option<u32>; MAX_DIMS] {
        self.forward().map_or([Some(i32::MAX as u32); MAX_DIMS], |code| code.kernel.ir().extent_limits())
    }

    /// The kernel as a graph knows it, for code that was loaded.
    pub(crate) fn graph_kernel(&self, loaded: &Arc<Loaded>) -> (GraphKernel, Option<Arc<dyn KernelSource>>) {
        let places = ParamLayout::new(self.types.iter().copied()).args;
        let params = self.types.iter().zip(places).enumerate();
        let params = params
            .map(|(index, (ty, place))| KernelParam {
                name: self.param_name(index),
                ty: *ty,
                offset: place.offset,
            })
            .collect();
        let name = self.name().to_owned();
        let mut kernel =
            GraphKernel { name, params_bytes: self.words as u32 * 8, params, ..GraphKernel::default() };
        let backward = self.backward.lock().unwrap_or_else(PoisonError::into_inner);
        let backward = backward.iter().filter_map(|(_, code)| code.as_deref().ok());
        for code in self.forward.get().and_then(|f| f.as_ref().ok()).into_iter().chain(backward) {
            let ready = code.ready.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((variant, _)) = ready.iter().find(|(_, known)| Arc::ptr_eq(known, loaded)) {
                let options = self.options(variant);
                kernel.digest = *code.kernel.ir().digest().as_bytes();
                kernel.options = options.key();
                return (kernel, Some(Arc::new(GraphSource::new(code.kernel.clone(), options))));
            }
        }
        (kernel, None)
    }
}

impl Code {
    /// Which arrays the kernel reads and writes.
    pub(crate) fn access(&self) -> &KernelAccess {
        self.kernel.ir().access()
    }

    fn new(kernel: Arc<Kernel>) -> Code {
        Code { kernel, ready: RwLock::new(Vec::new()) }
    }
}
