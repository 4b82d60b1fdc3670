//! Graphs: a stream with memory, code and a way to run it.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use inkle_ir::{Scalar, Type};
use inkle_runtime::cuda::CudaGraph;
use inkle_runtime::{Allocation, Array, Device, Loaded, Stream};

use crate::bundle::{CodeTarget, Param};
use crate::error::GraphError;
use crate::ops::{OpStream, View};
use crate::replay::{Bound, CpuProgram};

/// Where code of a kernel for other devices comes from, and its IR: the compiler's side of a captured kernel.
pub trait KernelSource: Send + Sync {
    /// The kernel's IR as text.
    fn ir(&self) -> String;

    /// Code for a target, if it was made before and kept.
    fn kept(&self, target: CodeTarget, usage: &KernelUse) -> Option<CompiledCode> {
        let _ = (target, usage);
        None
    }

    /// Code for a target.
    ///
    /// # Errors
    /// Why it cannot be made, for people.
    fn compile(&self, target: CodeTarget, usage: &KernelUse) -> Result<CompiledCode, String>;
}

/// How a graph launches a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KernelUse {
    /// Arrays start at multiples of 16 bytes.
    pub aligned: bool,
    /// Threads per block, if it is the same in all launches.
    pub block_dim: Option<u32>,
    /// Some launch has a limit on its blocks.
    pub grid_stride: bool,
}

/// Code of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompiledCode {
    /// The name of the entry point.
    pub symbol: String,
    /// How many threads of a launch one pass of the code does.
    pub lanes: u32,
    /// An ELF object, PTX text or a CUBIN.
    pub image: Vec<u8>,
}

/// What a capture, or a file, makes a graph of.
pub(crate) struct Parts {
    pub device: Device,
    pub stream: OpStream,
    /// Per region.
    pub memory: Vec<Bound>,
    /// Per kernel.
    pub code: Vec<Arc<Loaded>>,
    /// Per kernel.
    pub sources: Vec<Option<Arc<dyn KernelSource>>>,
    pub held: Vec<Box<dyn Any + Send + Sync>>,
    pub params: Vec<Param>,
    /// Whether it comes from a bundle.
    pub loaded: bool,
    /// What the driver captured, of a GPU's graph.
    pub captured: Option<CudaGraph>,
}

/// A graph: operations that can be run again and again on one device.
pub struct Graph {
    device: Device,
    ops: OpStream,
    code: Vec<Arc<Loaded>>,
    sources: Vec<Option<Arc<dyn KernelSource>>>,
    held: Arc<Vec<Box<dyn Any + Send + Sync>>>,
    params: Vec<Param>,
    loaded: bool,
    /// Whether the stream has all that the graph does: others may have put work into the driver's capture too.
    whole: OnceLock<bool>,
    /// Per region, the memory that was captured, as long as it lives, and where the region started.
    captured: Vec<(Weak<Allocation>, u64)>,
    state: RwLock<State>,
}

/// What changes when a graph gets other memory.
struct State {
    memory: Vec<Bound>,
    program: Program,
}

/// What a launch runs.
#[derive(Clone)]
enum Program {
    Cpu(Arc<CpuProgram>),
    Cuda(Arc<CudaProgram>),
}

/// The driver's graph, once a launch needs it, and the streams on which it was launched.
struct CudaProgram {
    graph: OnceLock<CudaGraph>,
    /// Held while the driver's graph is being made, so that it is made once.
    making: Mutex<()>,
    memory: Vec<Bound>,
    launched_on: Mutex<Vec<Stream>>,
}

impl CudaProgram {
    fn of(captured: Option<CudaGraph>, memory: &[Bound]) -> Program {
        let graph = captured.map_or_else(OnceLock::new, OnceLock::from);
        let (making, launched_on) = (Mutex::new(()), Mutex::new(Vec::new()));
        Program::Cuda(Arc::new(CudaProgram { graph, making, memory: memory.to_vec(), launched_on }))
    }

    /// The driver's graph, made of the operations of `of` if it is not there yet.
    fn graph(&self, of: &Graph) -> Result<&CudaGraph, GraphError> {
        if let Some(graph) = self.graph.get() {
            return Ok(graph);
        }
        let _one = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        if self.graph.get().is_none() {
            let made = crate::replay::build(of.device, &of.ops, &self.memory, &of.code)?;
            let _ = self.graph.set(made);
        }
        Ok(self.graph.get().expect("it was there or was set now"))
    }

    fn launch(&self, of: &Graph, stream: &Stream) -> Result<(), GraphError> {
        self.graph(of)?.launch(stream)?;
        let mut streams = self.launched_on.lock().unwrap_or_else(PoisonError::into_inner);
        if !streams.contains(stream) {
            streams.push(stream.clone());
        }
        Ok(())
    }
}

impl Drop for CudaProgram {
    /// A launch may be under way; its memory must not go before it is done.
    fn drop(&mut self) {
        for stream in self.launched_on.get_mut().unwrap_or_else(PoisonError::into_inner) {
            self.memory.iter().for_each(|bound| bound.memory.record_use(stream));
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Graph({}, {} operations, {} regions)",
            self.device,
            self.ops.op_count(),
            self.ops.regions.len()
        )
    }
}

impl Graph {
    pub(crate) fn from_parts(parts: Parts) -> Result<Graph, GraphError> {
        let Parts { device, stream: ops, memory, code, sources, held, params, loaded, captured } = parts;
        let whole = OnceLock::new();
        if captured.is_none() {
            let _ = whole.set(true);
        }
        let program = program(device, &ops, &memory, &code, captured)?;
        let captured = memory.iter().map(|bound| (Arc::downgrade(&bound.memory), bound.base)).collect();
        let state = RwLock::new(State { memory, program });
        Ok(Graph { device, ops, code, sources, held: Arc::new(held), params, loaded, whole, captured, state })
    }

    /// The device it runs on.
    pub fn device(&self) -> Device {
        self.device
    }

    /// What it does.
    pub fn ops(&self) -> &OpStream {
        &self.ops
    }

    /// Whether it comes from a bundle.
    pub fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// The named parts of its memory.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// The parameter of a name.
    ///
    /// # Errors
    /// [`GraphError::NoSuchParam`].
    pub fn param(&self, name: &str) -> Result<&Param, GraphError> {
        self.params.iter().find(|param| param.name == name).ok_or_else(|| GraphError::NoSuchParam {
            name: name.to_owned(),
            known: self.params.iter().map(|param| param.name.clone()).collect(),
        })
    }

    /// The memory of each region.
    pub fn memory(&self) -> Vec<Bound> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).memory.clone()
    }

    pub(crate) fn kernel_parts(&self, kernel: usize) -> (Arc<Loaded>, Option<Arc<dyn KernelSource>>) {
        (self.code[kernel].clone(), self.sources[kernel].clone())
    }

    pub(crate) fn held(&self) -> Option<Box<dyn Any + Send + Sync>> {
        (!self.held.is_empty()).then(|| Box::new(self.held.clone()) as Box<dyn Any + Send + Sync>)
    }

    /// Runs the operations. On the CPU they are done when this returns; on a GPU they are queued on `stream`, or on the
    /// device's current stream. Several threads may launch one graph; ordering what they do to its memory is theirs.
    ///
    /// # Errors
    /// The first failure of an operation; later ones have not run then. While the host uses some of the memory in place
    /// ([`Array::host_bytes`]), nothing runs.
    pub fn launch(&self, stream: Option<&Stream>) -> Result<(), GraphError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if inkle_runtime::any_memory_lent() {
            state.memory.iter().try_for_each(|bound| bound.memory.check_unlent(true))?;
        }
        let program = state.program.clone();
        match program {
            Program::Cpu(program) => {
                drop(state);
                program.run()
            }
            Program::Cuda(program) => {
                let current;
                let stream = match stream {
                    Some(stream) => stream,
                    None => {
                        current = self.device.stream()?;
                        &current
                    }
                };
                if !stream.is_capturing()? {
                    drop(state);
                    return program.launch(self, stream);
                }
                // Somebody captures the stream: the operations become part of that capture.
                drop(state);
                self.whole("be part of another capture")?;
                let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
                crate::replay::emit(stream, &self.ops, &state.memory, &self.code)
            }
        }
    }

    /// Fails if others put work into the graph's capture, which is only in the driver's graph: then that has more nodes
    /// than what the stream makes.
    pub(crate) fn whole(&self, what: &'static str) -> Result<(), GraphError> {
        if self.whole.get().is_none() {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
            let ours = crate::replay::build(self.device, &self.ops, &state.memory, &self.code)?.node_count();
            let all = match &state.program {
                Program::Cpu(_) => ours,
                Program::Cuda(program) => program.graph(self)?.node_count(),
            };
            let _ = self.whole.set(ours == all);
        }
        if self.whole.get() == Some(&true) {
            return Ok(());
        }
        let what = format!("a graph with work of other libraries in it cannot {what}; that work");
        Err(GraphError::NotCapturable { what })
    }

    /// Makes what the first launch would make: on a GPU the driver's graph. That takes a millisecond or more, which a
    /// program may rather spend before its work begins.
    ///
    /// # Errors
    /// The driver's.
    pub fn prepare(&self) -> Result<(), GraphError> {
        self.with_cuda_graph(|_| ()).map(drop)
    }

    /// The driver's graph, of a GPU's graph.
    ///
    /// # Errors
    /// As [`prepare`](Graph::prepare).
    pub fn with_cuda_graph<R>(&self, look: impl FnOnce(&CudaGraph) -> R) -> Result<Option<R>, GraphError> {
        let program = self.state.read().unwrap_or_else(PoisonError::into_inner).program.clone();
        match program {
            Program::Cpu(_) => Ok(None),
            Program::Cuda(program) => Ok(Some(look(program.graph(self)?))),
        }
    }

    /// The place of an array in the graph's memory; `None` if the graph does not use its memory.
    pub fn find(&self, array: &Array) -> Option<View> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        self.find_in(state.memory.iter().cloned().map(Some), array)
    }

    /// The place of an array that was captured, whatever the graph uses there now, or else of one that it uses now.
    pub fn place_of(&self, array: &Array) -> Option<View> {
        let captured = self.captured.iter().map(|(memory, base)| {
            let memory = memory.upgrade()?;
            Some(Bound { memory, base: *base })
        });
        self.find_in(captured, array).or_else(|| self.find(array))
    }

    /// The place of an array in regions with this memory.
    fn find_in(&self, regions: impl Iterator<Item = Option<Bound>>, array: &Array) -> Option<View> {
        let found = regions.zip(&self.ops.regions).enumerate().find_map(|(index, (bound, region))| {
            let bound = bound.filter(|bound| bound.memory.device() == array.device())?;
            let offset = array.address().checked_sub(bound.base)?;
            (offset < region.bytes).then_some((index, bound, region))
        });
        let (index, bound, region) = found?;
        let view = bound.view(index as u32, array);
        view.span().is_some_and(|span| span.end <= region.bytes).then_some(view)
    }

    /// Lets the graph use `array` where it used the memory of `view` until now; `name` is for messages. Launches that
    /// are under way are not affected.
    ///
    /// # Errors
    /// [`GraphError::ParamMismatch`] unless element type, shape and strides are those of the view;
    /// [`GraphError::WrongDevice`]; [`GraphError::CannotRebind`] if the graph uses bytes of the region that the view does
    /// not span, or if its kernels rely on an alignment that the array does not have.
    pub fn rebind(&self, name: &str, view: &View, array: &Array) -> Result<(), GraphError> {
        self.check_like(name, view, array)?;
        self.whole("get other arrays")?;
        if array.strides() != view.strides && array.len() > 1 {
            return Err(GraphError::ParamMismatch {
                name: name.to_owned(),
                expected: format!("strides {:?}", view.strides),
                found: format!("strides {:?}", array.strides()),
            });
        }
        let cannot = |reason: String| GraphError::CannotRebind { name: name.to_owned(), reason };
        let span = view.span().unwrap_or(view.offset..view.offset);
        let mut outside = false;
        self.ops.each(|op| {
            if !matches!(op, crate::Op::If { .. } | crate::Op::While { .. }) {
                crate::access::each_access(op, &mut |access| {
                    outside |= access.region == view.region
                        && (access.span.start < span.start || access.span.end > span.end);
                });
            }
        });
        if outside {
            return Err(cannot(
                "the graph uses other parts of the same memory too; copy the values instead".into(),
            ));
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let base = array.address().wrapping_sub(view.offset);
        let shift = base.wrapping_sub(state.memory[view.region as usize].base);
        if !shift.is_multiple_of(REBIND_ALIGN) {
            return Err(cannot(format!(
                "it starts {} bytes off a multiple of {REBIND_ALIGN} bytes from the array that was captured, and the code \
                 may rely on the alignment; copy the values instead",
                shift % REBIND_ALIGN
            )));
        }
        let mut changed = state.memory.clone();
        changed[view.region as usize] = Bound { memory: array.memory().clone(), base };
        state.program = program(self.device, &self.ops, &changed, &self.code, None)?;
        state.memory = changed;
        Ok(())
    }

    /// Copies the elements of `array` into the graph's memory.
    ///
    /// # Errors
    /// [`GraphError::ParamMismatch`] unless the array has as many numbers of the same type as the view, and the same shape
    /// if either is not contiguous; a view of bytes takes any array of as many bytes without gaps. The runtime's.
    pub fn write(
        &self,
        name: &str,
        view: &View,
        array: &Array,
        stream: Option<&Stream>,
    ) -> Result<(), GraphError> {
        let (own, other) = self.pair(name, view, array)?;
        Ok(own.copy_from(&other, stream)?)
    }

    /// Copies elements of the graph's memory to `array`.
    ///
    /// # Errors
    /// As [`write`](Graph::write).
    pub fn read(
        &self,
        name: &str,
        view: &View,
        array: &Array,
        stream: Option<&Stream>,
    ) -> Result<(), GraphError> {
        let (own, other) = self.pair(name, view, array)?;
        Ok(other.copy_from(&own, stream)?)
    }

    /// The graph's memory at `view`, and `array`, as arrays that can be copied to each other.
    fn pair(&self, name: &str, view: &View, array: &Array) -> Result<(Array, Array), GraphError> {
        let own = self.array(view)?;
        if self.check_shape(name, view, array).is_ok() {
            return Ok((own, array.clone()));
        }
        match (own.numbers(), array.numbers()) {
            (Some(own), Some(other)) if own.dtype() == other.dtype() && own.len() == other.len() => {
                Ok((own, other))
            }
            _ => match bytes_of(array).filter(|other| {
                own.dtype() == other.dtype() && own.is_contiguous() && own.len() == other.len()
            }) {
                // What is known of the parameter is only that it is so many bytes.
                Some(other) => Ok((own, other)),
                None => self.check_shape(name, view, array).map(|()| (own, array.clone())),
            },
        }
    }

    /// The graph's memory at `view` as an array.
    ///
    /// # Errors
    /// The runtime's, for a view that is not the graph's.
    pub fn array(&self, view: &View) -> Result<Array, GraphError> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        Ok(state.memory[view.region as usize].array(view)?)
    }

    fn check_shape(&self, name: &str, view: &View, array: &Array) -> Result<(), GraphError> {
        if array.dtype() == view.dtype && array.shape() == view.shape {
            return Ok(());
        }
        let described = |dtype: inkle_ir::Type, shape: &[i32]| {
            format!("{} of shape {shape:?}", inkle_ir::Type::array(dtype, shape.len() as u32).python_name())
        };
        Err(GraphError::ParamMismatch {
            name: name.to_owned(),
            expected: described(view.dtype, &view.shape),
            found: described(array.dtype(), array.shape()),
        })
    }

    fn check_like(&self, name: &str, view: &View, array: &Array) -> Result<(), GraphError> {
        self.check_shape(name, view, array)?;
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let expected = state.memory[view.region as usize].memory.device();
        if array.device() != expected {
            return Err(GraphError::WrongDevice {
                what: "the array",
                expected: expected.to_string(),
                found: array.device().to_string(),
            });
        }
        Ok(())
    }
}

/// The bytes of an array that has no gaps.
fn bytes_of(array: &Array) -> Option<Array> {
    let offset = usize::try_from(array.address().checked_sub(array.memory().address())?).ok()?;
    let (dtype, bytes) = (Type::Scalar(Scalar::U8), array.size_bytes() as i64);
    let array = array.is_contiguous().then(|| array.memory().clone())?;
    Array::from_parts(array, offset, dtype, &[bytes], None).ok()
}

/// What runs the stream on a device. The driver's graph is made when it is first launched, unless it was captured: many
/// graphs that are loaded, or get other arrays, are not launched before they get others again.
fn program(
    device: Device,
    ops: &OpStream,
    memory: &[Bound],
    code: &[Arc<Loaded>],
    captured: Option<CudaGraph>,
) -> Result<Program, GraphError> {
    if device.is_cpu() {
        return Ok(Program::Cpu(Arc::new(CpuProgram::new(ops, memory, code)?)));
    }
    if captured.is_none() {
        crate::replay::check_capturable(device, &ops.body)?;
    }
    Ok(CudaProgram::of(captured, memory))
}

/// Code may rely on addresses being multiples of this, bytes.
const REBIND_ALIGN: u64 = 16;
