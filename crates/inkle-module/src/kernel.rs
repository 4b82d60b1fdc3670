//! A kernel's way from source to loaded code.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, TryLockError};
use std::time::Instant;

use inkle_adjoint::{ArrayGrad, Backward};
use inkle_codegen::{ArtifactKind, CodegenError, CpuTarget, CudaOutput, CudaTarget, Forms, Options, Target};
use inkle_diag::trace::{self, Stage};
use inkle_diag::{Diagnostic, Diagnostics, SourceFile, Span};
use inkle_frontend::env::{Environment, FunctionKey};
use inkle_frontend::{CheckOptions, check_kernel};
use inkle_ir::{
    Block, Function, KernelAccess, LaunchBounds, Links, MAX_DIMS, Module, OpKind, Param, ParamLayout, Type,
    Updates,
};
use inkle_runtime::{CudaModule, Device, Loaded, RuntimeError};

use crate::cache::{self, Source};
use crate::entry::{Entry, Origin, load_early, load_entry, load_on_cpu};
use crate::error::CompileError;
use crate::schedule;

/// Names what something was made from: equal digests, equal content.
pub type Digest = blake3::Hash;

/// The digest of several things, whatever their order; they are put in order.
pub fn digest_of_all(digests: &mut [Digest]) -> Digest {
    digests.sort_unstable_by_key(|d| *d.as_bytes());
    let mut all = blake3::Hasher::new();
    for digest in digests.iter() {
        all.update(digest.as_bytes());
    }
    all.finalize()
}

/// A kernel checked for definite argument types, ready for code generation.
#[derive(Debug)]
pub struct KernelIr {
    /// The IR, or the text it is read from when it is needed.
    body: OnceLock<Body>,
    text: Option<BodyText>,
    name: String,
    params: Vec<Param>,
    layout: ParamLayout,
    digest: blake3::Hash,
    /// Whether the kernel computes in floats, whether it has C++ functions, and whether a form with plain updates can always be
    /// run ([`Updates`]).
    floats: bool,
    native: bool,
    updates: bool,
    /// A digest of the IR and of where its operations were written, once it was asked for.
    placed: OnceLock<blake3::Hash>,
    /// What the kernel may do with memory, once it was asked for.
    access: OnceLock<KernelAccess>,
    /// Of a backward pass, what it is not sure of.
    doubt: Option<Box<Diagnostic>>,
}

/// The IR of a kernel.
#[derive(Debug)]
struct Body {
    module: Module,
    /// The module with functions that only backward passes call, where there are such.
    source: Option<Box<Module>>,
}

/// [`Body`] as text, and what is asked of it most, so that it need not be read. Reading it gives the same module, but for
/// the places where operations were written.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct BodyText {
    name: String,
    floats: bool,
    native: bool,
    updates: bool,
    module: String,
    source: Option<String>,
}

impl BodyText {
    /// `None` for what is no module.
    fn read(&self) -> Option<Body> {
        let module = inkle_ir::parse(&self.module).ok()?;
        let source = match &self.source {
            Some(text) => Some(Box::new(inkle_ir::parse(text).ok()?)),
            None => None,
        };
        Some(Body { module, source })
    }
}

impl KernelIr {
    /// Checks the kernel `key` for arguments of the types `args` and simplifies its IR.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] with every mistake in the kernel.
    pub fn build(
        env: &dyn Environment,
        key: FunctionKey,
        args: &[Type],
        options: CheckOptions,
    ) -> Result<KernelIr, CompileError> {
        let typing = trace::part(Stage::Types);
        let module = check_kernel(env, key, args, options)?;
        drop(typing);
        KernelIr::from_module(module)
    }

    /// Takes a module whose last function is the kernel.
    ///
    /// # Errors
    /// [`CompileError::Broken`] when the module is not valid; [`CompileError::Codegen`] when it has no kernel.
    pub fn from_module(mut module: Module) -> Result<KernelIr, CompileError> {
        let _span = trace::part(Stage::Ir);
        verify(&module, "the checker")?;
        inkle_adjoint::complete(&mut module).map_err(rejected)?;
        verify(&module, "differentiation")?;
        let has_links = |f: &Function| f.links != Links::default();
        let mut source = None;
        if module.functions.iter().any(has_links) {
            source = Some(Box::new(simplified(module.clone())?));
            module.functions.iter_mut().for_each(|f| f.links = Links::default());
        }
        let module = simplified(module)?;
        let kernel = module.kernel().ok_or(CodegenError::NoKernel)?;
        let (name, params) = (kernel.name.clone(), kernel.params.clone());
        let digest = blake3::hash(module.to_string().as_bytes());
        Ok(KernelIr {
            layout: ParamLayout::new(params.iter().map(|p| p.ty)),
            floats: inkle_codegen::computes_in_floats(&module),
            native: module.has_native(),
            updates: Updates::of(&module).is_some(),
            text: None,
            name,
            params,
            digest,
            placed: OnceLock::new(),
            access: OnceLock::new(),
            doubt: None,
            body: OnceLock::from(Body { module, source }),
        })
    }

    /// The IR as [`KernelIr::from_text`] takes it; `None` when it would not be the same again.
    pub(crate) fn to_text(&self) -> Option<BodyText> {
        let body = self.body();
        let text = BodyText {
            name: self.name.clone(),
            floats: self.floats,
            native: self.native,
            updates: self.updates,
            module: body.module.to_string(),
            source: body.source.as_ref().map(|module| module.to_string()),
        };
        let again = text.read()?;
        let same = again.module.to_string() == text.module
            && again.source.map(|module| module.to_string()) == text.source
            && inkle_ir::verify(&again.module).is_ok();
        same.then_some(text)
    }

    /// The kernel whose IR [`KernelIr::to_text`] gave, with these parameters.
    pub(crate) fn from_text(text: BodyText, params: Vec<Param>) -> KernelIr {
        KernelIr {
            layout: ParamLayout::new(params.iter().map(|p| p.ty)),
            digest: blake3::hash(text.module.as_bytes()),
            name: text.name.clone(),
            floats: text.floats,
            native: text.native,
            updates: text.updates,
            text: Some(text),
            params,
            placed: OnceLock::new(),
            access: OnceLock::new(),
            doubt: None,
            body: OnceLock::new(),
        }
    }

    /// Whether the IR came without the places where its operations were written, so that what is said about it cannot
    /// point at them.
    pub fn lacks_places(&self) -> bool {
        self.text.is_some()
    }

    fn body(&self) -> &Body {
        self.body.get_or_init(|| {
            let read = self.text.as_ref().and_then(BodyText::read);
            // Text that was read and compared before it was kept, and that a digest guards.
            read.expect("IR that is kept as text can be read")
        })
    }

    /// The kernel that runs this one backwards, for arguments whose arrays have the given gradients: one entry per array,
    /// in order of parameters and fields. It takes the same arguments.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] when the kernel cannot be differentiated, with the reason.
    pub fn backward(&self, grads: &[ArrayGrad]) -> Result<KernelIr, CompileError> {
        let differentiating = trace::part(Stage::Adjoint);
        let body = self.body();
        let source = body.source.as_deref().unwrap_or(&body.module);
        let Backward { module, doubt } = inkle_adjoint::backward(source, grads).map_err(rejected)?;
        drop(differentiating);
        let mut ir = KernelIr::from_module(module)?;
        ir.doubt = doubt.map(|doubt| Box::new(doubt.diagnostic()));
        Ok(ir)
    }

    /// Of a backward pass, a warning where an element whose value it needs may have been overwritten: gradients are wrong
    /// if it was.
    pub fn doubt(&self) -> Option<&Diagnostic> {
        self.doubt.as_deref()
    }

    /// The IR.
    pub fn module(&self) -> &Module {
        &self.body().module
    }

    /// Names and types of the parameters.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Where the arguments lie in the parameter block.
    pub fn layout(&self) -> &ParamLayout {
        &self.layout
    }

    /// A digest of the IR: equal for kernels that compute the same way.
    pub fn digest(&self) -> &blake3::Hash {
        &self.digest
    }

    /// What code made with the given options depends on: the IR, and with some options the places in the source.
    fn code_digest(&self, options: &Options) -> &blake3::Hash {
        if !options.uses_places() {
            return &self.digest;
        }
        self.placed.get_or_init(|| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(self.digest.as_bytes());
            for function in &self.module().functions {
                hash_place(&mut hasher, function.span);
                for block in 0..function.block_count() {
                    for &op in &function.block(Block::new(block)).ops {
                        hash_place(&mut hasher, function.op(op).span);
                    }
                }
            }
            hasher.finalize()
        })
    }

    /// What the kernel may do with memory.
    pub fn access(&self) -> &KernelAccess {
        self.access.get_or_init(|| KernelAccess::of(self.module()))
    }

    /// The largest extent of each launch dimension that the kernel can be launched over; `None` where it does not ask
    /// for anything that an extent could be too large for. A thread's indices are found from the extents of all
    /// dimensions up to the last one that is asked for.
    pub fn extent_limits(&self) -> [Option<u32>; MAX_DIMS] {
        let mut limits = [None; MAX_DIMS];
        for function in &self.module().functions {
            let blocks = (0..function.block_count()).map(|block| function.block(Block::new(block)));
            for &op in blocks.flat_map(|block| block.ops.iter()) {
                match function.op(op).kind {
                    OpKind::Tid(dim) => {
                        for limit in limits.iter_mut().take(dim as usize + 1) {
                            limit.get_or_insert(LaunchBounds::MAX_EXTENT);
                        }
                    }
                    // The extent is itself a number that the kernel computes with.
                    OpKind::LaunchDim(dim) => {
                        if let Some(limit) = limits.get_mut(dim as usize) {
                            *limit = Some(i32::MAX as u32);
                        }
                    }
                    _ => {}
                }
            }
        }
        limits
    }

    /// The options bit mask in which every array parameter is contiguous.
    pub fn all_contiguous(&self) -> u64 {
        let has_strides = |p: &Param| p.ty.as_array().is_some_and(|a| !a.kind.is_fabric());
        let arrays = self.params.iter().enumerate().take(64).filter(|(_, p)| has_strides(p));
        arrays.fold(0, |mask, (index, _)| mask | 1 << index)
    }
}

fn hash_place(hasher: &mut blake3::Hasher, span: Span) {
    let Some(file) = SourceFile::get(span.file) else {
        hasher.update(&[0]);
        return;
    };
    let (line, column) = file.line_column(span.start);
    hasher.update(&[1]);
    hasher.update(&(file.name().len() as u64).to_le_bytes());
    hasher.update(file.name().as_bytes());
    hasher.update(&(line as u64).to_le_bytes());
    hasher.update(&(column as u64).to_le_bytes());
}

fn rejected(error: inkle_adjoint::AdjointError) -> CompileError {
    CompileError::Rejected(Diagnostics(vec![error.diagnostic()]))
}

fn simplified(mut module: Module) -> Result<Module, CompileError> {
    inkle_ir::simplify(&mut module);
    verify(&module, "simplification")?;
    Ok(module)
}

/// In release builds the checker is trusted: it is tested against the verifier.
fn verify(module: &Module, after: &'static str) -> Result<(), CompileError> {
    if cfg!(debug_assertions) {
        inkle_ir::verify(module).map_err(|errors| CompileError::Broken { after, errors })
    } else {
        Ok(())
    }
}

/// How often things were done in this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Kernels compiled.
    pub compiled: u64,
    /// Kernels whose code was found in the cache on disk.
    pub cached: u64,
    /// Kernels whose code was already loaded by an equal kernel.
    pub shared: u64,
}

static COMPILED: AtomicU64 = AtomicU64::new(0);
static CACHED: AtomicU64 = AtomicU64::new(0);
static SHARED: AtomicU64 = AtomicU64::new(0);

/// What this process has done so far.
pub fn statistics() -> Statistics {
    Statistics {
        compiled: COMPILED.load(Ordering::Relaxed),
        cached: CACHED.load(Ordering::Relaxed),
        shared: SHARED.load(Ordering::Relaxed),
    }
}

/// How a kernel came to be loaded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// It was compiled now.
    Compiled,
    /// Its code was in the cache.
    Cached,
    /// It, or an equal kernel, was loaded before.
    Shared,
}

impl From<Source> for How {
    fn from(source: Source) -> How {
        match source {
            Source::Compiled => How::Compiled,
            Source::Cached => How::Cached,
        }
    }
}

/// What a loaded kernel was made from: equal keys, equal code.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct LoadKey {
    digest: blake3::Hash,
    device: Device,
    options: Options,
}

/// One slot per kernel, device and options; whoever comes first compiles, the others wait.
type Slot = Arc<Mutex<Option<Arc<Loaded>>>>;

fn loaded() -> &'static Mutex<HashMap<LoadKey, Slot>> {
    static LOADED: OnceLock<Mutex<HashMap<LoadKey, Slot>>> = OnceLock::new();
    LOADED.get_or_init(Mutex::default)
}

/// Forgets all loaded code of this process, so that the next launch of a new kernel object goes to the cache on disk.
/// Kernels that hold code keep it.
pub fn forget_loaded() {
    loaded().lock().unwrap_or_else(PoisonError::into_inner).clear();
    crate::recall::forget();
}

/// A kernel for definite argument types and what was loaded of it.
#[derive(Debug)]
pub struct Kernel {
    ir: Arc<KernelIr>,
    /// Few: devices times option sets in use. Read on every launch, so it is a list, newest last.
    variants: RwLock<Vec<(Device, Options, Arc<Loaded>)>>,
}

impl Kernel {
    /// A kernel of which nothing is loaded yet.
    pub fn new(ir: KernelIr) -> Kernel {
        Kernel::of(Arc::new(ir))
    }

    fn of(ir: Arc<KernelIr>) -> Kernel {
        Kernel { ir, variants: RwLock::new(Vec::new()) }
    }

    /// The IR.
    pub fn ir(&self) -> &KernelIr {
        &self.ir
    }

    fn name(&self) -> &str {
        &self.ir.name
    }

    /// The kernel's code on a device: compiled, or read from the cache, at first need. Concurrent callers that need the
    /// same code wait for one compilation, and leave their cores to the background meanwhile.
    ///
    /// # Errors
    /// [`CompileError::Codegen`] when code cannot be made, [`CompileError::Load`] when it cannot be loaded.
    pub fn load(&self, device: Device, options: &Options) -> Result<(Arc<Loaded>, How), CompileError> {
        let options = self.effective(device, options);
        if let Some(found) = self.find(device, &options) {
            SHARED.fetch_add(1, Ordering::Relaxed);
            return Ok((found, How::Shared));
        }
        let slot = self.slot(device, &options);
        let mut slot = match slot.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => {
                schedule::while_waiting(|| slot.lock().unwrap_or_else(PoisonError::into_inner))
            }
        };
        self.load_into(&mut slot, device, options)
    }

    /// The same for what nobody waits for: `None` if another caller is making the code.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_if_idle(
        &self,
        device: Device,
        options: &Options,
    ) -> Result<Option<(Arc<Loaded>, How)>, CompileError> {
        let options = self.effective(device, options);
        if let Some(found) = self.find(device, &options) {
            return Ok(Some((found, How::Shared)));
        }
        let slot = self.slot(device, &options);
        let mut slot = match slot.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(None),
        };
        self.load_into(&mut slot, device, options).map(Some)
    }

    /// Where code is, or will be.
    fn slot(&self, device: Device, options: &Options) -> Slot {
        let key = LoadKey { digest: *self.ir.code_digest(options), device, options: options.clone() };
        loaded().lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
    }

    /// Finds the code in a slot, or makes it.
    fn load_into(
        &self,
        slot: &mut Option<Arc<Loaded>>,
        device: Device,
        options: Options,
    ) -> Result<(Arc<Loaded>, How), CompileError> {
        let _span = trace::span(Stage::Kernel, || self.name());
        let (code, how) = match slot {
            Some(code) => {
                SHARED.fetch_add(1, Ordering::Relaxed);
                (code.clone(), How::Shared)
            }
            None => {
                let (code, source) = self.make(device, &options)?;
                let code = Arc::new(code);
                *slot = Some(code.clone());
                (code, source.into())
            }
        };
        let mut variants = self.variants.write().unwrap_or_else(PoisonError::into_inner);
        if !variants.iter().any(|(d, o, _)| *d == device && *o == options) {
            variants.push((device, options, code.clone()));
        }
        Ok((code, how))
    }

    /// Those of the options that the code on a device depends on, the others at their defaults.
    pub fn effective(&self, device: Device, options: &Options) -> Options {
        options.effective(self.ir.floats, device.is_cuda())
    }

    /// The kernel's code on a device if an equal kernel has loaded it; as [`load`](Self::load) else.
    pub fn shared(&self, device: Device, options: &Options) -> Option<Arc<Loaded>> {
        let options = self.effective(device, options);
        if let Some(found) = self.find(device, &options) {
            SHARED.fetch_add(1, Ordering::Relaxed);
            return Some(found);
        }
        let key = LoadKey { digest: *self.ir.code_digest(&options), device, options };
        let slot = loaded().lock().unwrap_or_else(PoisonError::into_inner).get(&key)?.clone();
        // Somebody who is loading it holds the slot, and is to be waited for without the interpreter.
        let code = slot.try_lock().ok()?.clone()?;
        SHARED.fetch_add(1, Ordering::Relaxed);
        let mut variants = self.variants.write().unwrap_or_else(PoisonError::into_inner);
        if !variants.iter().any(|(d, o, _)| *d == device && *o == key.options) {
            variants.push((device, key.options, code.clone()));
        }
        Some(code)
    }

    fn find(&self, device: Device, options: &Options) -> Option<Arc<Loaded>> {
        let variants = self.variants.read().unwrap_or_else(PoisonError::into_inner);
        variants.iter().find(|(d, o, _)| *d == device && o == options).map(|(_, _, code)| code.clone())
    }

    fn make(&self, device: Device, options: &Options) -> Result<(Loaded, Source), CompileError> {
        let params_bytes = self.ir.layout.size as usize;
        if !device.is_cpu() {
            let (entry, source) = self.cubin(device, options)?;
            return Ok((load_entry(device, &entry, params_bytes)?, source));
        }
        let target = device_target(device, CudaOutput::Cubin);
        if !self.ir.updates || options.forms != Forms::All {
            let (entry, source) = self.made(&target, options)?;
            return Ok((load_entry(device, &entry, params_bytes)?, source));
        }
        // The form that is seldom run is seldom made.
        let [alone, beside] = [Forms::Alone, Forms::Beside].map(|forms| Options { forms, ..options.clone() });
        let (entry, source) = self.made(&target, &alone)?;
        let ir = self.ir.clone();
        let make = move || {
            let _span = trace::span(Stage::Kernel, || &ir.name);
            let made = Kernel::of(ir.clone()).made(&target, &beside);
            let failed = |error: CompileError| RuntimeError::NotMade { reason: error.to_string() };
            load_on_cpu(&made.map_err(failed)?.0, params_bytes)
        };
        Ok((load_early(&entry, params_bytes, Box::new(make))?, source))
    }

    /// Machine code for a GPU of this machine, from the cache or compiled: to PTX by us, to machine code by the driver's
    /// compiler, which is loaded anyway (nvJitLink, for GPUs that are not here, is 100 MB more to load).
    fn cubin(&self, device: Device, options: &Options) -> Result<(Entry, Source), CompileError> {
        self.cached(&device_target(device, CudaOutput::Cubin), options, || {
            let text = device_target(device, CudaOutput::Ptx);
            let artifact = inkle_codegen::compile(self.ir.module(), &text, options)?;
            let ptx = Entry::new(artifact, self.ir.access().clone(), Origin::default());
            let level = options.optimization_level.min(3);
            let _span = trace::part(Stage::Driver);
            let code = CudaModule::compile(device, &ptx.code, level, options.lineinfo)?;
            Ok(Entry { kind: ArtifactKind::Cubin, code, ..ptx })
        })
    }

    /// The kernel's code for a target, from the cache or compiled.
    ///
    /// # Errors
    /// [`CompileError::Codegen`].
    pub fn code(&self, target: &Target, options: &Options) -> Result<Entry, CompileError> {
        self.made(target, &options.effective(self.ir.floats, matches!(target, Target::Cuda(_))))
            .map(|(entry, _)| entry)
    }

    /// The kernel's code for a target, if the cache has it.
    pub(crate) fn kept_code(&self, target: &Target, options: &Options) -> Option<Entry> {
        let entry = cache::current()?.get(&self.key(target, options))?;
        CACHED.fetch_add(1, Ordering::Relaxed);
        Some(entry)
    }

    fn made(&self, target: &Target, options: &Options) -> Result<(Entry, Source), CompileError> {
        self.cached(target, options, || {
            let artifact = inkle_codegen::compile(self.ir.module(), target, options)?;
            Ok(Entry::new(artifact, self.ir.access().clone(), Origin::default()))
        })
    }

    /// Machine code for a GPU, by the driver of one of this architecture; `None` when there is none here.
    pub(crate) fn code_by_driver(
        &self,
        target: &Target,
        options: &Options,
    ) -> Option<Result<Entry, CompileError>> {
        let Target::Cuda(CudaTarget { arch, output: CudaOutput::Cubin }) = target else { return None };
        let device = inkle_runtime::devices().into_iter().find(|d| d.is_cuda() && d.arch() == *arch)?;
        let options = self.effective(device, options);
        Some(self.cubin(device, &options).map(|(entry, _)| entry))
    }

    /// What the code for a target is found by.
    pub(crate) fn key(&self, target: &Target, options: &Options) -> blake3::Hash {
        let options = &options.effective(self.ir.floats, matches!(target, Target::Cuda(_)));
        let native = if self.ir.native { inkle_codegen::native_version() } else { "" };
        cache_key(self.ir.code_digest(options), target, options, native)
    }

    fn cached(
        &self,
        target: &Target,
        options: &Options,
        compile: impl FnOnce() -> Result<Entry, CompileError>,
    ) -> Result<(Entry, Source), CompileError> {
        let key = self.key(target, options);
        let (entry, source) = cache::fetch(&key, || {
            let start = Instant::now();
            let mut entry = compile()?;
            entry.origin = Origin {
                kernel: self.name().to_owned(),
                target: target.key(),
                options: options.key(),
                micros: start.elapsed().as_micros().try_into().unwrap_or(u32::MAX),
            };
            Ok::<_, CompileError>(entry)
        })?;
        let counter = match source {
            Source::Compiled => &COMPILED,
            Source::Cached => &CACHED,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Ok((entry, source))
    }
}

/// What code for a device is made for.
fn device_target(device: Device, output: CudaOutput) -> Target {
    if device.is_cpu() {
        Target::Cpu(CpuTarget::host())
    } else {
        Target::Cuda(CudaTarget { arch: device.arch(), output })
    }
}

fn cache_key(digest: &blake3::Hash, target: &Target, options: &Options, native: &str) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in [
        digest.as_bytes().as_slice(),
        target.key().as_bytes(),
        options.key().as_bytes(),
        inkle_codegen::compiler_version().as_bytes(),
        native.as_bytes(),
    ] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel whose operations were written on `line` of a file.
    fn on_line(line: usize) -> KernelIr {
        let file = SourceFile::register("/somewhere/places.py", "\n\n\n\n");
        let text = "kernel @k(%0 n: i32) {\n  %1 = gt %0, %0 : bool\n  assert %1, \"no\"\n  return\n}";
        let mut module = inkle_ir::parse(text).expect("a module");
        let kernel = module.functions.last_mut().expect("a kernel");
        for op in kernel.block(kernel.body).ops.clone() {
            let start = file.line_start(line);
            kernel.op_mut(op).span = Span::new(file.id(), start, start);
        }
        KernelIr::from_module(module).expect("a valid module")
    }

    /// Code that was made for other instructions is never found in their place, whatever machine keeps the cache.
    #[test]
    fn code_is_found_by_the_instructions_it_is_made_of() {
        let kernel = Kernel::new(on_line(1));
        let level = |cpu: &str| CpuTarget { cpu: cpu.into(), ..CpuTarget::baseline_x86_64() };
        let (v3, v4) = (level("x86-64-v3"), level("x86-64-v4"));
        let less = CpuTarget { features: "-avx512bw".into(), ..v4.clone() };
        let targets = [CpuTarget::baseline_x86_64(), v3, v4, less, CpuTarget::baseline_aarch64()];
        let key = |cpu: &CpuTarget| kernel.key(&Target::Cpu(cpu.clone()), &Options::default());
        let keys: Vec<blake3::Hash> = targets.iter().map(key).collect();
        for (i, a) in keys.iter().enumerate() {
            assert_eq!(*a, key(&targets[i]));
            assert!(keys[..i].iter().all(|b| a != b), "{:?}", targets[i]);
        }
    }

    #[test]
    fn places_matter_only_to_code_that_tells_them() {
        let (first, third) = (on_line(1), on_line(3));
        let plain = Options::default();
        assert_eq!(first.code_digest(&plain), third.code_digest(&plain));
        for options in [
            Options { checks: true, ..plain.clone() },
            Options { verify_fp: true, ..plain.clone() },
            Options { lineinfo: true, ..plain.clone() },
        ] {
            assert_ne!(first.code_digest(&options), third.code_digest(&options), "{options:?}");
            assert_eq!(first.code_digest(&options), on_line(1).code_digest(&options), "{options:?}");
        }
    }
}
