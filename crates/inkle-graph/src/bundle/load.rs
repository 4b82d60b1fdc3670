//! From a bundle to a graph on a device, and back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use inkle_ir::Type;
use inkle_runtime::elf::LoadedObject;
use inkle_runtime::{Allocation, Array, CpuFunction, CudaFunction, CudaModule, Device, Loaded, RuntimeError};

use super::{Blob, Bundle, BundleError, CodeEntry, CodeTarget, Direction, Param};
use crate::access::accesses;
use crate::error::GraphError;
use crate::graph::{Graph, KernelSource, KernelUse, Parts};
use crate::ops::{Abi, Kernel, Op, OpStream, Region, RegionKind, Space};
use crate::replay::Bound;
use crate::schedule::Overlaps;

/// Makes code of a kernel of a bundle from its IR.
pub type Recompile<'a> = &'a dyn Fn(&Kernel, &KernelUse, &str, Device) -> Result<Arc<Loaded>, String>;

/// When code is made anew of the IR in a bundle, where there is a compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Anew {
    /// When the bundle has no code for the device, or for a GPU only text for older ones, which the driver would have to
    /// compile too.
    #[default]
    WhenBetter,
    /// Whenever there is IR, so that the code is made for this very device.
    Always,
    /// Never: what runs is what is in the file.
    Never,
}

/// The compiler that makes code anew.
#[derive(Clone, Copy)]
pub struct Compiler<'a> {
    /// Does it.
    pub recompile: Recompile<'a>,
    /// When it does it.
    pub when: Anew,
}

impl Compiler<'_> {
    /// Whether code is made anew for a device for which the bundle has code for `best`.
    fn is_asked(&self, best: Option<CodeTarget>, device: Device) -> bool {
        match (self.when, best) {
            (Anew::Always, _) | (Anew::WhenBetter, None) => true,
            (Anew::Never, _) => false,
            (Anew::WhenBetter, Some(CodeTarget::Ptx { arch })) => arch < device.arch(),
            (Anew::WhenBetter, Some(_)) => false,
        }
    }
}

impl Bundle {
    /// The graph on a device, with memory of its own. Code for the device is taken from the bundle, or made of the IR by
    /// `compiler`. If that fails where it was only to be better, the graph runs what the bundle has.
    ///
    /// # Errors
    /// [`BundleError::NoCode`]; [`BundleError::Compile`]; the runtime's, when code or memory cannot be had.
    pub fn load(self, device: Device, compiler: Option<Compiler<'_>>) -> Result<Graph, GraphError> {
        let code = self.code_for(device, compiler)?;
        let mut stream = self.stream;
        place(&mut stream, device);
        let mut memory = Vec::with_capacity(stream.regions.len());
        for (region, contents) in stream.regions.iter().zip(&self.memory) {
            memory.push(region_memory(device, region, contents.as_ref())?);
        }
        let sources = vec![None; code.len()];
        Graph::from_parts(Parts {
            device,
            stream,
            memory,
            code,
            sources,
            held: Vec::new(),
            params: self.params,
            loaded: true,
            captured: None,
        })
    }

    /// Code of each kernel for a device.
    pub(crate) fn code_for(
        &self,
        device: Device,
        compiler: Option<Compiler<'_>>,
    ) -> Result<Vec<Arc<Loaded>>, GraphError> {
        let mut code = Vec::with_capacity(self.stream.kernels.len());
        let mut objects = Objects::default();
        for (index, kernel) in self.stream.kernels.iter().enumerate() {
            let entries = self.code.iter().filter(|entry| entry.kernel as usize == index);
            let best = entries
                .clone()
                .filter_map(|entry| {
                    let fit = match device.is_cpu() {
                        true if kernel.abi == Abi::Cuda => None,
                        true => entry.target.fit_for_cpu(),
                        false => entry.target.fit_for_cuda(device.arch()),
                    };
                    fit.map(|fit| (fit, entry))
                })
                .max_by_key(|(fit, _)| *fit);
            let best = best.map(|(_, entry)| entry);
            let ir = &self.ir[index];
            let made = compiler
                .filter(|c| !ir.is_empty() && c.is_asked(best.map(|entry| entry.target), device))
                .map(|c| (c.recompile)(kernel, &usage(&self.stream, index as u32), ir, device));
            code.push(match (made, best) {
                (Some(Ok(made)), _) => made,
                (Some(Err(why)), best)
                    if best.is_none() || compiler.is_some_and(|c| c.when == Anew::Always) =>
                {
                    let (kernel, target) = (kernel.name.clone(), described(device));
                    return Err(BundleError::Compile { kernel, target, why }.into());
                }
                (_, Some(entry)) => objects.load(entry, device, kernel)?,
                (_, None) => {
                    return Err(BundleError::NoCode {
                        kernel: kernel.name.clone(),
                        device: described(device),
                        targets: entries.map(|entry| entry.target.to_string()).collect(),
                    }
                    .into());
                }
            });
        }
        Ok(code)
    }
}

/// New memory of a region of a graph on a device.
pub(crate) fn region_memory(
    device: Device,
    region: &Region,
    contents: Option<&Blob>,
) -> Result<Bound, RuntimeError> {
    let home = if region.space == Space::Device { device } else { Device::cpu() };
    let bytes = usize::try_from(region.bytes).unwrap_or(usize::MAX);
    Ok(Bound::whole(Allocation::with_contents(home, bytes, contents.map(Blob::bytes))?))
}

fn described(device: Device) -> String {
    if device.is_cpu() { "this CPU".to_owned() } else { format!("{device} (sm_{})", device.arch()) }
}

/// Puts regions where they lie on `device`. What was captured on a CPU lies wholly on the device that runs it.
pub(crate) fn place(stream: &mut OpStream, device: Device) {
    let from_cpu = stream.regions.iter().all(|region| region.space == Space::Host);
    for region in &mut stream.regions {
        if device.is_cpu() {
            region.space = Space::Host;
        } else if from_cpu {
            region.space = Space::Device;
        }
    }
}

/// Pieces of code that were loaded, so that kernels which share one load it once.
#[derive(Default)]
struct Objects {
    cpu: BTreeMap<usize, Arc<LoadedObject>>,
    cuda: BTreeMap<usize, Arc<CudaModule>>,
}

impl Objects {
    fn load(
        &mut self,
        entry: &CodeEntry,
        device: Device,
        kernel: &Kernel,
    ) -> Result<Arc<Loaded>, GraphError> {
        let params_bytes = kernel.params_bytes as usize;
        let image = entry.image.bytes();
        let key = image.as_ptr().addr();
        if device.is_cpu() {
            let object = match self.cpu.get(&key) {
                Some(object) => object.clone(),
                None => {
                    let object = Arc::new(LoadedObject::load(image).map_err(RuntimeError::from)?);
                    self.cpu.insert(key, object.clone());
                    object
                }
            };
            let function = CpuFunction::new(object, &entry.symbol, params_bytes, entry.lanes)?;
            return Ok(Arc::new(Loaded::Cpu(function)));
        }
        let module = match self.cuda.get(&key) {
            Some(module) => module.clone(),
            None => {
                let module = CudaModule::load(device, image)?;
                self.cuda.insert(key, module.clone());
                module
            }
        };
        let function = match kernel.abi {
            Abi::Inkle => CudaFunction::new(module, &entry.symbol, params_bytes)?,
            Abi::Cuda => CudaFunction::of_grid(module, &entry.symbol, params_bytes)?,
        };
        Ok(Arc::new(Loaded::Cuda { function, lanes: entry.lanes }))
    }
}

/// What a bundle is to be made of.
#[derive(Clone, Debug, Default)]
pub struct SaveOptions {
    /// Names for arrays that are set before the graph runs.
    pub inputs: Vec<(String, Array)>,
    /// Names for arrays that are read after it ran.
    pub outputs: Vec<(String, Array)>,
    /// What there must be code for, besides [`CodeTarget::FLOOR`].
    pub targets: Vec<CodeTarget>,
    /// Leaves the IR out, so that nobody can recompile the kernels, or read them.
    pub without_ir: bool,
}

/// Refuses kernels that find arrays in the elements of others: in another process the addresses there mean nothing.
fn refuse_addresses_in_memory(stream: &OpStream) -> Result<(), BundleError> {
    fn holds_arrays(ty: Type) -> bool {
        match ty {
            Type::Array(_) | Type::Ref(_) => true,
            Type::Struct(s) => s.fields.iter().any(|field| holds_arrays(field.ty)),
            _ => false,
        }
    }
    fn leads_to_arrays(ty: Type) -> bool {
        match ty {
            Type::Array(array) => holds_arrays(array.elem),
            Type::Struct(s) => s.fields.iter().any(|field| leads_to_arrays(field.ty)),
            _ => false,
        }
    }
    for kernel in &stream.kernels {
        if let Some(param) = kernel.params.iter().find(|param| leads_to_arrays(param.ty)) {
            let what = format!(
                "a graph with kernel `{}`, whose argument `{}` has structs with arrays as elements, so that other arrays are \
                 found by their addresses in memory,",
                kernel.name, param.name
            );
            return Err(BundleError::NotSavable { what });
        }
    }
    Ok(())
}

impl Graph {
    /// The graph as a bundle, with its memory as it is now.
    ///
    /// Code is made for [`CodeTarget::FLOOR`] and for what the options name. A kernel that cannot be compiled for one of
    /// the former is left without that code, and the bundle says why.
    ///
    /// # Errors
    /// [`BundleError::Compile`] for a target that was named, or when a kernel compiles for none;
    /// [`BundleError::NotSavable`] for a graph that came from a bundle itself, and for one whose kernels find arrays by
    /// addresses in the elements of others, or whose arrays have memory in common since they were [rebound](Graph::rebind);
    /// [`BundleError::SameName`].
    pub fn save(&self, options: &SaveOptions) -> Result<Bundle, GraphError> {
        if self.is_loaded() {
            let what = "a graph that was loaded from a file: copy the file; it".to_owned();
            return Err(BundleError::NotSavable { what }.into());
        }
        self.whole("be saved")?;
        let mut stream = self.ops().clone();
        refuse_addresses_in_memory(&stream)?;
        let places = self.memory();
        if Overlaps::of(&stream.regions, &places).exist() {
            let what =
                "a graph in which an array took another one's place with which it has memory in common"
                    .to_owned();
            return Err(BundleError::NotSavable { what }.into());
        }
        let mut memory = Vec::new();
        for (index, bound) in places.iter().enumerate() {
            let region = &stream.regions[index];
            let needed = region.kind != RegionKind::Internal || may_be_read_first(&stream, index as u32);
            memory.push(if needed { contents(bound, region.bytes)? } else { None });
        }
        let mut params: Vec<Param> = self.params().to_vec();
        let named = options.inputs.iter().map(|named| (Direction::Input, named));
        for (direction, (name, array)) in named.chain(options.outputs.iter().map(|n| (Direction::Output, n)))
        {
            if params.iter().any(|known| &known.name == name) {
                return Err(BundleError::SameName { name: name.clone() }.into());
            }
            let view = match self.find(array) {
                Some(view) => view,
                None => {
                    // An array that the graph does not touch is a parameter all the same.
                    let bound = Bound::whole(array.memory().clone());
                    let region = stream.regions.len() as u32;
                    let bytes = array.memory().bytes() as u64;
                    let space = if array.device().is_cpu() { Space::Host } else { Space::Device };
                    memory.push(contents(&bound, bytes)?);
                    stream.regions.push(Region { bytes, space, kind: RegionKind::Given });
                    bound.view(region, array)
                }
            };
            params.push(Param { name: name.clone(), direction, view });
        }
        let mut notes = Vec::new();
        let code = self.compile_for(&stream, &options.targets, &mut notes)?;
        let ir =
            if options.without_ir { vec![String::new(); stream.kernels.len()] } else { self.kernel_irs() };
        let producer = format!("inkle {}", env!("CARGO_PKG_VERSION"));
        Ok(Bundle { producer, notes, stream, params, code, ir, memory, signer: None })
    }

    /// Per kernel its IR; empty where it is not known.
    fn kernel_irs(&self) -> Vec<String> {
        let ir = |kernel| self.kernel_parts(kernel).1.map_or_else(String::new, |source| source.ir());
        (0..self.ops().kernels.len()).map(ir).collect()
    }

    /// What the graph does, without its memory. There is code for what [`save`](Graph::save) makes it for, unless nothing
    /// but the IR is asked for.
    pub(super) fn without_memory(&self, code_for: Option<&[CodeTarget]>) -> Result<Bundle, GraphError> {
        let (stream, mut notes) = (self.ops().clone(), Vec::new());
        let code = match code_for {
            Some(named) => self.compile_for(&stream, named, &mut notes)?,
            None => Vec::new(),
        };
        let (ir, memory) = (self.kernel_irs(), vec![None; stream.regions.len()]);
        let (producer, params) = (String::new(), Vec::new());
        Ok(Bundle { producer, notes, stream, params, code, ir, memory, signer: None })
    }

    fn compile_for(
        &self,
        stream: &OpStream,
        named: &[CodeTarget],
        notes: &mut Vec<String>,
    ) -> Result<Vec<CodeEntry>, GraphError> {
        let mut targets: Vec<CodeTarget> = CodeTarget::FLOOR.to_vec();
        targets.extend(named.iter().filter(|t| !CodeTarget::FLOOR.contains(t)));
        targets.dedup();
        let mut jobs: Vec<(u32, CodeTarget, KernelUse, Arc<dyn KernelSource>)> = Vec::new();
        for (index, kernel) in stream.kernels.iter().enumerate() {
            let Some(source) = self.kernel_parts(index).1 else {
                let what = format!("a graph with kernel `{}`, whose source is not known,", kernel.name);
                return Err(BundleError::NotSavable { what }.into());
            };
            let usage = usage(stream, index as u32);
            jobs.extend(targets.iter().map(|target| (index as u32, *target, usage, source.clone())));
        }
        let kept: Vec<_> =
            jobs.iter().map(|(_, target, usage, source)| source.kept(*target, usage)).collect();
        let missing: Vec<usize> = (0..jobs.len()).filter(|&i| kept[i].is_none()).collect();
        let mut made = in_parallel(missing.len(), &|i| {
            let (_, target, usage, source) = &jobs[missing[i]];
            source.compile(*target, usage)
        })
        .into_iter();
        let outcomes = kept.into_iter().map(|kept| kept.map(Ok).or_else(|| made.next()));
        let mut code = Vec::new();
        for ((kernel, target, ..), outcome) in jobs.iter().zip(outcomes.flatten()) {
            let name = &stream.kernels[*kernel as usize].name;
            match outcome {
                Ok(made) => code.push(CodeEntry {
                    kernel: *kernel,
                    target: *target,
                    symbol: made.symbol,
                    lanes: made.lanes,
                    image: made.image.into(),
                }),
                Err(why) => {
                    let error =
                        BundleError::Compile { kernel: name.clone(), target: target.to_string(), why };
                    if named.contains(target) {
                        return Err(error.into());
                    }
                    notes.push(error.to_string());
                }
            }
        }
        let without = (0..stream.kernels.len() as u32).find(|k| !code.iter().any(|entry| entry.kernel == *k));
        if let Some(kernel) = without {
            let kernel = stream.kernels[kernel as usize].name.clone();
            let why = notes.join("; ");
            return Err(BundleError::Compile { kernel, target: "any target".into(), why }.into());
        }
        Ok(code)
    }
}

/// The bytes of a region; `None` if they are all zero.
pub(super) fn contents(bound: &Bound, bytes: u64) -> Result<Option<Blob>, GraphError> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    let found = bound.memory.contents()?;
    let shift = bound.memory.address().wrapping_sub(bound.base);
    let all = if shift == 0 && found.len() == bytes {
        found
    } else {
        // A region that got other memory has of it what lies inside.
        let mut all = vec![0; bytes];
        for (i, byte) in found.into_iter().enumerate() {
            let at = usize::try_from(shift.wrapping_add(i as u64)).ok().and_then(|at| all.get_mut(at));
            if let Some(place) = at {
                *place = byte;
            }
        }
        all
    };
    Ok(if all.iter().all(|byte| *byte == 0) { None } else { Some(all.into()) })
}

/// Whether an operation may read bytes of the region that none has written before.
pub(super) fn may_be_read_first(stream: &OpStream, region: u32) -> bool {
    for node in &stream.body {
        for access in accesses(&node.op).into_iter().filter(|access| access.region == region) {
            if access.reads {
                return true;
            }
            let whole = access.span.start == 0 && access.span.end >= stream.regions[region as usize].bytes;
            if access.overwrites && whole {
                return false;
            }
        }
    }
    false
}

/// What all launches of a kernel have in common.
fn usage(stream: &OpStream, kernel: u32) -> KernelUse {
    let mut usage = KernelUse { aligned: true, block_dim: None, grid_stride: false };
    let mut first = true;
    stream.each(|op| {
        let Op::Launch(launch) = op else { return };
        if launch.kernel != kernel {
            return;
        }
        usage.aligned &= launch.pointers.iter().all(|p| p.offset.is_multiple_of(CODE_ALIGN));
        usage.grid_stride |= launch.max_blocks > 0;
        usage.block_dim =
            if first || usage.block_dim == Some(launch.block_dim) { Some(launch.block_dim) } else { None };
        first = false;
    });
    usage
}

/// The alignment that code for GPUs may rely on, bytes.
const CODE_ALIGN: u64 = 16;

/// Does pieces of work on all cores and gives their results in order.
fn in_parallel<T: Send>(count: usize, work: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(count);
    if workers <= 1 {
        return (0..count).map(work).collect();
    }
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= count {
                        return;
                    }
                    let result = work(piece);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((piece, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(piece, _)| *piece);
    done.into_iter().map(|(_, result)| result).collect()
}
