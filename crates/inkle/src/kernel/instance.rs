//! A kernel for definite types: its code, per device and per what is known of its arrays.

use std::any::TypeId;
use std::fmt;
#[cfg(feature = "llvm")]
use std::sync::Mutex;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

#[cfg(feature = "llvm")]
use inkle_diag::trace::{self, Stage};
use inkle_frontend::env::ParamSpec;
use inkle_frontend::pattern::Pattern;
#[cfg(feature = "llvm")]
use inkle_graph::bundle::CodeTarget;
use inkle_graph::{Kernel as GraphKernel, KernelParam, KernelSource};
use inkle_ir::{Access, ArrayKind, MAX_DIMS, ParamLayout, Type, array_names};
#[cfg(feature = "llvm")]
use inkle_module::{AotInput, AotSet, CompileError, Kernel};
use inkle_module::{AotMember, ArrayGrad, CheckOptions, Loaded, Options, signature};
use inkle_runtime::Device;

use super::code::{Code, Origin, Variant};
use super::defaults;
use super::definition::{Definition, Name, Text, instance_key};
#[cfg(feature = "llvm")]
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
    /// Prints floats that the kernel writes and that are not finite; with `checks` they stop it.
    pub verify_fp: bool,
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
    /// The largest blocks on a GPU, and how many of them a multiprocessor is to hold.
    pub launch_bounds: Bounds,
    /// Whether tapes may run the kernel backwards.
    pub enable_backward: bool,
}

/// Threads per block at most, and blocks per multiprocessor at least, if something is said of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds(Option<(u32, Option<u32>)>);

impl From<u32> for Bounds {
    fn from(threads: u32) -> Bounds {
        Bounds(Some((threads, None)))
    }
}

impl From<(u32, u32)> for Bounds {
    fn from((threads, blocks): (u32, u32)) -> Bounds {
        Bounds(Some((threads, Some(blocks))))
    }
}

impl Settings {
    /// Those of a kernel that chooses nothing, in a program built with or without debug assertions.
    pub fn new(checks: bool) -> Settings {
        let (options, check) = (Options::default(), CheckOptions::default());
        defaults::choose(Settings {
            checks,
            fast_math: options.fast_math,
            fuse_fp: options.fuse_fp,
            verify_fp: options.verify_fp,
            precise_math: options.precise_math,
            deterministic: options.deterministic,
            lineinfo: options.lineinfo,
            max_unroll: check.max_unroll,
            optimization_level: options.optimization_level,
            block_dim: 256,
            max_registers: 0,
            launch_bounds: Bounds::default(),
            enable_backward: true,
        })
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

impl Facts {
    /// With what holds of argument `index` taken from `of`.
    pub fn with(self, index: usize, of: Facts) -> Facts {
        let bit = if index < 64 { 1 << index } else { 0 };
        Facts {
            contiguous: self.contiguous & !bit | of.contiguous & bit,
            aligned: self.aligned & !bit | of.aligned & bit,
        }
    }
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
    layout: ParamLayout,
    /// The size of the parameter block, 8-byte words.
    pub(crate) words: usize,
    /// The bits of parameters that are arrays; those seen through lists are not contiguous whatever their memory is.
    arrays: u64,
    forward: OnceLock<Code>,
    /// The backward kernels, one per gradients that the arguments had.
    #[cfg(feature = "llvm")]
    backward: Mutex<Vec<Backward>>,
}

#[cfg(feature = "llvm")]
type Backward = (Vec<ArrayGrad>, std::result::Result<Arc<Code>, CompileError>);

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
            let definition = Box::leak(Box::new(Definition::new(self.text, params, None, names, &[])));
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
        let layout = ParamLayout::new(types.iter().copied());
        let words = (layout.size as usize).div_ceil(8);
        let is_strided = |ty: &Type| ty.as_array().is_some_and(|array| array.kind == ArrayKind::Strided);
        let arrays = types.iter().enumerate().take(64).filter(|(_, ty)| is_strided(ty));
        let arrays = arrays.fold(0, |mask, (index, _)| mask | 1 << index);
        Instance {
            definition,
            settings,
            types,
            layout,
            words,
            arrays,
            forward: OnceLock::new(),
            #[cfg(feature = "llvm")]
            backward: Mutex::default(),
        }
    }

    /// The kernel's name.
    pub(crate) fn name(&self) -> &'static str {
        self.definition.name()
    }

    /// The name of a parameter.
    pub(crate) fn param_name(&self, index: usize) -> String {
        self.definition.param_name(index).to_owned()
    }

    /// The number of the parameter of a name.
    pub(crate) fn param_index(&self, name: &str) -> Option<usize> {
        (0..self.types.len()).find(|&index| self.definition.param_name(index) == name)
    }

    /// Where a parameter lies in the block, bytes.
    pub(crate) fn offset(&self, param: usize) -> usize {
        self.layout.args[param].offset as usize
    }

    /// The types of the parameters.
    pub(crate) fn types(&self) -> &[Type] {
        &self.types
    }

    /// The choices of the attribute.
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The kernel's code: what the program was built with, or else what is compiled at first need.
    #[inline]
    pub(crate) fn forward(&'static self) -> Result<&'static Code> {
        match self.forward.get() {
            Some(code) => Ok(code),
            None => self.find(),
        }
    }

    #[cold]
    fn find(&'static self) -> Result<&'static Code> {
        crate::log::follow_stages();
        // A failure is not kept: kernels may be added later.
        let code = Code::forward(self)?;
        Ok(self.forward.get_or_init(|| code))
    }

    /// The kernel checked, or known from an earlier check.
    #[cfg(feature = "llvm")]
    pub(crate) fn check(&'static self) -> std::result::Result<Arc<Kernel>, CompileError> {
        crate::log::follow_stages();
        let _span = trace::span(Stage::Kernel, || self.name());
        let env = RustEnvironment::default();
        let check = CheckOptions { max_unroll: self.settings.max_unroll };
        let (key, options) = (self.definition.key(), self.options(&Variant::general()));
        let kernel = inkle_module::obtain(&env, key, &self.types, check, &options)?;
        crate::log::warnings(&env.take_warnings());
        Ok(kernel)
    }

    /// The kernel as a set of compiled kernels knows it, but for what only a check tells.
    pub(crate) fn as_member(&'static self) -> AotMember {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.definition.identity().as_bytes());
        hasher.update(format!("{:?} {}", self.types, self.settings.max_unroll).as_bytes());
        AotMember {
            name: self.name().to_owned(),
            signature: signature(self.types.iter().copied()),
            source: *hasher.finalize().as_bytes(),
            options: self.options(&Variant::general()).key(),
            extent_limits: Default::default(),
        }
    }

    /// Name and parameter types, for messages.
    #[cfg(not(feature = "llvm"))]
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", self.name(), signature(self.types.iter().copied()))
    }

    /// The code that runs the kernel backwards, made at first need.
    #[cfg(feature = "llvm")]
    pub(crate) fn backward(&'static self, grads: &[ArrayGrad]) -> Result<Arc<Code>> {
        if !self.settings.enable_backward {
            return Err(Error::NoBackward { kernel: self.name() });
        }
        let kernel = self.forward()?.kernel(self)?;
        let mut known = self.backward.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, code)) = known.iter().find(|(g, _)| g == grads) {
            return code.clone().map_err(Error::from);
        }
        let made = kernel.ir().backward(grads);
        let made = made.map(|ir| Arc::new(Code::of(Arc::new(Kernel::new(ir)))));
        known.push((grads.to_vec(), made.clone()));
        made.map_err(Error::from)
    }

    /// The code that runs the kernel backwards: none without a compiler.
    #[cfg(not(feature = "llvm"))]
    pub(crate) fn backward(&'static self, _: &[ArrayGrad]) -> Result<Arc<Code>> {
        if !self.settings.enable_backward {
            return Err(Error::NoBackward { kernel: self.name() });
        }
        let reason = "backward passes are compiled when they are needed, so a program that runs them needs inkle's feature `llvm`";
        Err(Error::NotCompiled { kernel: format!("{}, backward", self.shown()), reason: reason.to_owned() })
    }

    pub(crate) fn options(&self, variant: &Variant) -> Options {
        let Settings {
            checks,
            fast_math,
            fuse_fp,
            verify_fp,
            precise_math,
            deterministic,
            lineinfo,
            optimization_level,
            max_registers,
            launch_bounds: Bounds(launch_bounds),
            ..
        } = self.settings;
        Options {
            checks,
            fast_math,
            fuse_fp,
            verify_fp,
            precise_math,
            deterministic,
            lineinfo,
            optimization_level,
            max_registers: (max_registers > 0).then_some(max_registers),
            launch_bounds,
            contiguous: if variant.contiguous { self.arrays } else { 0 },
            aligned: variant.aligned,
            grid_stride: variant.grid_stride,
            ..Options::default()
        }
    }

    /// The code of a launch with arrays of which `facts` hold.
    #[inline]
    pub(crate) fn load(
        &'static self,
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
        code.load(self, variant)
    }

    /// Makes the code of a usual launch ready.
    ///
    /// # Errors
    /// Mistakes in the kernel; when code cannot be made or loaded.
    pub fn load_usual(&'static self, device: Device) -> Result<()> {
        self.usual(device).map(drop)
    }

    fn usual(&'static self, device: Device) -> Result<Arc<Loaded>> {
        let facts = Facts { contiguous: self.arrays, aligned: self.arrays };
        self.load(self.forward()?, device, facts, false)
    }

    /// The simplified IR as text.
    ///
    /// # Errors
    /// Mistakes in the kernel; [`Error::NotCompiled`] without a compiler.
    pub fn ir_text(&'static self) -> Result<String> {
        #[cfg(feature = "llvm")]
        return Ok(self.forward()?.kernel(self)?.ir().module().to_string());
        #[cfg(not(feature = "llvm"))]
        Err(Error::NotCompiled {
            kernel: self.shown(),
            reason: "its typed form is made by the checker, so a program that shows it needs inkle's feature `llvm`"
                .to_owned(),
        })
    }

    /// The largest extents that the kernel's indices can count, where it asks for them; of a kernel that cannot be compiled
    /// those of `i32`.
    #[cold]
    pub(crate) fn extent_limits(&'static self) -> [Option<u32>; MAX_DIMS] {
        self.forward().map_or([Some(i32::MAX as u32); MAX_DIMS], |code| code.extent_limits(self))
    }

    /// The kernel as a graph knows it, for code that was loaded.
    pub(crate) fn graph_kernel(
        &'static self,
        loaded: &Arc<Loaded>,
    ) -> (GraphKernel, Option<Arc<dyn KernelSource>>) {
        let params = self.types.iter().zip(&self.layout.args).enumerate();
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
        let forward = self.forward.get().and_then(|code| code.origin(self, loaded));
        let Some((digest, options, source)) = forward.or_else(|| self.backward_origin(loaded)) else {
            return (kernel, None);
        };
        (kernel.digest, kernel.options) = (digest, options);
        (kernel, Some(source))
    }

    #[cfg(feature = "llvm")]
    fn backward_origin(&'static self, loaded: &Arc<Loaded>) -> Option<Origin> {
        let backward = self.backward.lock().unwrap_or_else(PoisonError::into_inner);
        backward
            .iter()
            .filter_map(|(_, code)| code.as_deref().ok())
            .find_map(|code| code.origin(self, loaded))
    }

    #[cfg(not(feature = "llvm"))]
    fn backward_origin(&'static self, _: &Arc<Loaded>) -> Option<Origin> {
        None
    }
}

/// A kernel for definite types, as build scripts list them: a kernel that is not generic turns into one by itself, a generic
/// one by `of`, as in `scale.of::<f32>()`.
#[derive(Clone, Copy)]
pub struct AnyKernel(&'static Instance);

impl fmt::Debug for AnyKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AnyKernel({})", self.name())
    }
}

/// An instance as a value.
pub fn any(instance: &'static Instance) -> AnyKernel {
    AnyKernel(instance)
}

impl AnyKernel {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.0.name()
    }

    /// What it may do with the elements of each array of its parameters, by name: `x`, or `state.position` for a field. A kernel
    /// that the program was built with has to be [loaded](AnyKernel::load) before that is known.
    ///
    /// ```
    /// use inkle::prelude::*;
    /// use inkle::{Access, AnyKernel};
    ///
    /// #[inkle::kernel]
    /// fn double(x: &Array<f32>, y: &mut Array<f32>) {
    ///     let i = tid();
    ///     y[i] = 2.0 * x[i];
    /// }
    ///
    /// let access = AnyKernel::from(double).array_access()?;
    /// assert_eq!(access[0], ("x".to_owned(), Access { reads: true, writes: false }));
    /// assert_eq!(access[1], ("y".to_owned(), Access { reads: false, writes: true }));
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// Mistakes in the kernel; [`Error::NotCompiled`] when there is neither code nor a compiler.
    pub fn array_access(&self) -> Result<Vec<(String, Access)>> {
        let code = self.0.forward()?;
        #[cfg(feature = "llvm")]
        code.kernel(self.0)?;
        let types = self.0.types().iter().enumerate();
        let names = types.flat_map(|(index, ty)| array_names(&self.0.param_name(index), *ty));
        Ok(names.zip(&code.access().arrays).map(|(name, array)| (name, array.elements)).collect())
    }

    /// The threads per block with which the most threads of the kernel are at work at once on a GPU, and the number of such blocks
    /// that fill it. Both are one on a CPU.
    ///
    /// # Errors
    /// As [`load`](AnyKernel::load), and the driver's.
    pub fn suggested_block_dim(&self, device: Device) -> Result<(u32, u32)> {
        if device.is_cpu() {
            return Ok((1, 1));
        }
        match &*self.0.usual(device)? {
            Loaded::Cpu(_) => Ok((1, 1)),
            Loaded::Cuda { function, .. } => Ok(function.suggested_block_dim()?),
        }
    }

    /// Compiles it for a device, or finds it in the cache, so that the first launch need not.
    ///
    /// # Errors
    /// [`Error::Compile`] with the mistakes in the kernel; when code cannot be made or loaded.
    pub fn load(&self, device: Device) -> Result<()> {
        self.0.load_usual(device)
    }
}

/// Makes kernels ready for a device, several at once on all cores, so that their first launches need not compile them.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn double(x: &mut Array<f32>) {
///     x[tid()] *= 2.0;
/// }
///
/// #[inkle::kernel]
/// fn scale<T: Number>(x: &mut Array<T>, by: T) {
///     x[tid()] *= by;
/// }
///
/// inkle::load_kernels(&[double.into(), scale.of::<f32>(), scale.of::<f64>()], Device::cpu())?;
/// # Ok::<(), inkle::Error>(())
/// ```
///
/// # Errors
/// That of the first kernel in the list that cannot be made or loaded; the others are made ready all the same.
pub fn load_kernels(kernels: &[AnyKernel], device: Device) -> Result<()> {
    let load = |kernel: &AnyKernel| kernel.load(device);
    #[cfg(feature = "llvm")]
    let loaded = inkle_module::for_each(kernels, inkle_module::cores(), load, |_, _| {});
    #[cfg(not(feature = "llvm"))]
    let loaded: Vec<Result<()>> = kernels.iter().map(load).collect();
    loaded.into_iter().collect()
}

/// Compiles kernels for several targets: the bytes that [`add_kernels`](crate::add_kernels) takes. Build scripts do it by the
/// crate `inkle-build`.
///
/// # Errors
/// [`Error::Compile`] with the mistakes in a kernel, and where code for a target cannot be made.
#[cfg(feature = "llvm")]
pub fn compile_ahead(kernels: &[AnyKernel], targets: &[CodeTarget]) -> Result<Vec<u8>> {
    let checked =
        kernels.iter().map(|kernel| kernel.0.check()).collect::<std::result::Result<Vec<_>, _>>()?;
    let options: Vec<Options> = kernels.iter().map(|kernel| kernel.0.options(&Variant::general())).collect();
    let inputs = kernels.iter().zip(&checked).zip(&options);
    let inputs: Vec<AotInput<'_>> = inputs
        .map(|((kernel, checked), options)| AotInput { name: kernel.name(), kernel: checked, options })
        .collect();
    let mut files = Vec::new();
    for target in targets {
        files.push((*target, inkle_module::compile_ahead(&inputs, &inkle_module::machine(*target), None)?));
    }
    let member = |(kernel, checked): (&AnyKernel, &Arc<Kernel>)| AotMember {
        extent_limits: checked.ir().extent_limits(),
        ..kernel.0.as_member()
    };
    Ok(AotSet::encode(kernels.iter().zip(&checked).map(member).collect(), &files))
}

#[cfg(all(test, not(feature = "llvm")))]
mod tests {
    use inkle_module::{AotFile, AotSet};

    use super::AnyKernel;
    use crate::prelude::*;

    #[inkle::kernel(checks = false)]
    fn double(x: &mut Array<f32>) {
        x[tid()] *= 2.0;
    }

    #[test]
    fn a_program_with_code_for_gpus_alone_says_so_on_the_cpu() -> crate::Result<()> {
        let target = "sm_90".parse().unwrap();
        let file = AotFile { target: inkle_module::machine(target), kernels: Vec::new() };
        let bytes = AotSet::encode(vec![AnyKernel::from(double).0.as_member()], &[(target, file)]);
        crate::add_kernels(bytes.leak())?;
        let mut x = Array::full(3, 1.0f32)?;
        let text = double.launch(3, (&mut x,)).unwrap_err().to_string();
        let parts = [
            "double(array<f32, 1>)",
            "there is code for sm_90",
            "this machine's CPU is of",
            "`.target(\"",
            "in build.rs",
        ];
        for part in parts {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
        assert_eq!(x.to_vec()?, [1.0; 3]);
        Ok(())
    }
}
