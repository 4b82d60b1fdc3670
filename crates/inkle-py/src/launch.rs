//! Launches: the call itself, and recorded launches.

mod recorded;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use inkle_graph::capture;
use inkle_ir::{LaunchBounds, Type};
use inkle_module::Loaded;
use inkle_runtime::record::Verdict;
use inkle_runtime::{self as rt, Device, LaunchConfig, RuntimeError, Stream};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

use crate::adjoint::{adjoint_arguments, gradients};
use crate::ahead::compile_module;
use crate::array::Array;
use crate::bounds::{Bounds, Extents, write_bounds};
use crate::device::{PyDevice, device_argument, device_object};
use crate::error::{IntoPyResult, argument_error, class_name, range_error_class};
use crate::kernel::{Arguments, Instance, Kernel, Pass, wrong_count};
use crate::pack::{Block, Facts, Packer};
use crate::stream::PyStream;
use crate::structs::StructInstance;

/// Parameter blocks up to this many words live on the stack.
const STACK_WORDS: usize = 64;

/// Launches on the CPU with at least this many threads let other Python threads run meanwhile; letting go of the
/// interpreter and taking it back costs about as much as this many cheap threads.
const DETACH_THREADS: u64 = 1024;

/// Whether each launch is told: `inkle.config.print_launches`.
pub static PRINTED: AtomicBool = AtomicBool::new(false);
/// Whether each launch on a GPU is waited for: `inkle.config.verify_cuda`.
pub static VERIFIED: AtomicBool = AtomicBool::new(false);

/// Where and how a launch runs.
struct Place {
    device: Device,
    /// For a GPU: the stream it is queued on.
    stream: Option<Stream>,
}

impl Place {
    fn new(
        py: Python<'_>,
        device: Option<&Bound<'_, PyAny>>,
        stream: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Place> {
        if let Some(stream) = stream {
            let stream = stream_argument(stream)?.get().stream().clone();
            return Ok(Place { device: stream.device(), stream: Some(stream) });
        }
        let device = device_argument(py, device)?;
        let stream = if device.is_cuda() { Some(device.stream().into_py(py)?) } else { None };
        Ok(Place { device, stream })
    }
}

fn stream_argument<'a, 'py>(stream: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyStream>> {
    stream.cast::<PyStream>().map_err(|_| {
        PyTypeError::new_err(format!("`stream` is a Stream or None, not {}", class_name(stream)))
    })
}

/// Runs loaded code with a finished parameter block.
#[inline]
fn run(
    py: Python<'_>,
    code: &Loaded,
    params: &[u64],
    size: u64,
    stream: Option<&Stream>,
    block_dim: u32,
    max_blocks: u32,
) -> PyResult<()> {
    match code {
        Loaded::Cpu(function) => {
            if size < DETACH_THREADS {
                function.launch(params, size).into_py(py)
            } else {
                py.detach(|| function.launch(params, size)).into_py(py)
            }
        }
        Loaded::Cuda { function, lanes } => {
            let config =
                LaunchConfig { block_dim, max_blocks, threads_per_lane: *lanes, ..LaunchConfig::new(size) };
            let current;
            let stream = match stream {
                Some(stream) => stream,
                None => {
                    current = function.device().stream().into_py(py)?;
                    &current
                }
            };
            function.launch(stream, params, &config).into_py(py)
        }
    }
}

/// With `inkle.config.verify_cuda`: waits for a launch on a GPU and fails if that reports an error.
#[inline]
fn verify_cuda(py: Python<'_>, kernel: &str, device: Device, stream: Option<&Stream>) -> PyResult<()> {
    if !VERIFIED.load(Ordering::Relaxed) || device.is_cpu() {
        return Ok(());
    }
    wait_for_launch(py, kernel, device, stream)
}

#[cold]
fn wait_for_launch(py: Python<'_>, kernel: &str, device: Device, stream: Option<&Stream>) -> PyResult<()> {
    let stream = stream.map_or_else(|| device.stream(), |stream| Ok(stream.clone())).into_py(py)?;
    // What is recorded into a graph has not run yet.
    if stream.is_capturing().into_py(py)? {
        return Ok(());
    }
    match py.detach(|| stream.synchronize()) {
        Err(RuntimeError::Cuda(error)) => {
            Err(PyRuntimeError::new_err(format!("kernel `{kernel}` failed on {device}: {error}")))
        }
        outcome => outcome.into_py(py),
    }
}

/// The memory of words.
pub fn as_bytes(words: &mut [u64]) -> &mut [u8] {
    // SAFETY: initialised words are valid as bytes and any bytes are valid words; the length is theirs, and the
    // borrow of `words` is held by the result.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), words.len() * 8) }
}

/// Packs every argument of a sequence, counting on from `next`, and notes that `stream` uses their memory.
#[inline]
fn pack_all(
    part: &Bound<'_, PyAny>,
    instance: &Instance,
    next: &mut usize,
    block: &mut Block<'_>,
    stream: Option<&Stream>,
    mut held: Option<&mut Vec<Py<PyAny>>>,
) -> PyResult<()> {
    let mut one = |argument: Bound<'_, PyAny>| -> PyResult<()> {
        if let Some(packer) = instance.packers.get(*next) {
            packer.pack(&argument, &instance.name, block)?;
            if let Some(stream) = stream {
                record_use(&argument, packer.ty, stream);
            }
        }
        *next += 1;
        if let Some(held) = held.as_mut() {
            held.push(argument.unbind());
        }
        Ok(())
    };
    if let Ok(list) = part.cast::<PyList>() {
        list.iter().try_for_each(&mut one)
    } else if let Ok(tuple) = part.cast::<PyTuple>() {
        tuple.iter().try_for_each(&mut one)
    } else if part.is_instance_of::<Array>() {
        Err(argument_error(part.py(), "the arguments are a list or tuple: write `inputs=[array]`"))
    } else {
        part.try_iter()?.try_for_each(|item| one(item?))
    }
}

/// Starts a kernel on every index of a range and, on the CPU, waits for it.
///
/// Args:
///     kernel: The kernel.
///     dim: The extents of the range, an int or up to four.
///     inputs: The arguments.
///     outputs: Further arguments, for clearness: what the kernel writes.
///     adj_inputs: For the backward pass: gradients of `inputs` to use in place of the arrays' own, or `None`.
///     adj_outputs: For the backward pass: gradients of `outputs`, likewise.
///     device: Where to run; the default device for `None`.
///     stream: The stream to queue on; the device's current one for `None`.
///     adjoint: Whether to run the backward pass: adds to the gradients of what the kernel reads what follows from
///         the gradients of what it writes.
///     record_tape: Whether a tape records the launch.
///     record_cmd: Whether to give back a `Launch` instead of running.
///     max_blocks: The most blocks on a GPU; 0 for no limit.
///     block_dim: Threads per block on a GPU; the module's for `None`.
#[pyfunction]
#[pyo3(signature = (
    kernel, dim, inputs = None, outputs = None, adj_inputs = None, adj_outputs = None, device = None, stream = None,
    adjoint = false, record_tape = true, record_cmd = false, max_blocks = 0, block_dim = None
))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
pub fn launch<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, PyAny>,
    dim: &Bound<'py, PyAny>,
    inputs: Option<&Bound<'py, PyAny>>,
    outputs: Option<&Bound<'py, PyAny>>,
    adj_inputs: Option<&Bound<'py, PyAny>>,
    adj_outputs: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyAny>>,
    adjoint: bool,
    record_tape: bool,
    record_cmd: bool,
    max_blocks: i64,
    block_dim: Option<i64>,
) -> PyResult<Option<Bound<'py, Launch>>> {
    let Ok(object) = kernel.cast::<Kernel>() else {
        let message = format!(
            "only kernels can be launched, functions decorated with @kernel, not {}",
            class_name(kernel)
        );
        return Err(argument_error(py, message));
    };
    let extents = Extents::read(dim)?;
    let place = Place::new(py, device, stream)?;
    let (max_blocks, block_dim) = grid_arguments(max_blocks, block_dim)?;
    let arguments = Arguments::new(inputs, outputs);
    let instance = object.get().instance(py, &arguments)?;
    instance.check(py)?;
    let bounds = extents.bounds(py, &instance)?;
    // Not a `SmallVec`: moving one copies all of its inline words.
    let (mut stack, mut heap);
    let words: &mut [u64] = if instance.words <= STACK_WORDS {
        stack = [0; STACK_WORDS];
        &mut stack[..instance.words]
    } else {
        heap = vec![0; instance.words];
        &mut heap
    };
    let mut held = record_cmd.then(Vec::new);
    write_bounds(&bounds, as_bytes(words));
    let mut block = Block {
        bytes: as_bytes(words),
        device: place.device,
        facts: Facts::default(),
        temporaries: SmallVec::new(),
    };
    let mut next = 0;
    let user = if record_cmd { None } else { place.stream.as_ref() };
    if let Some(inputs) = inputs {
        pack_all(inputs, &instance, &mut next, &mut block, user, held.as_mut())?;
    }
    if let Some(outputs) = outputs {
        pack_all(outputs, &instance, &mut next, &mut block, user, held.as_mut())?;
    }
    if next != instance.packers.len() {
        return Err(wrong_count(py, &instance.name, instance.packers.len(), next));
    }
    let adjoints = if adjoint { adjoint_arguments(py, inputs, adj_inputs, adj_outputs)? } else { Vec::new() };
    let pass = if adjoint {
        Pass::Backward(gradients(py, &instance, &arguments, &adjoints, &mut block)?)
    } else {
        Pass::Forward
    };
    let Block { facts, temporaries, .. } = block;
    if let Some(held) = held {
        let words = words.to_vec();
        let temporaries = temporaries.into_vec();
        let adjoints = adjoints.into_iter().map(Bound::unbind).collect();
        let state =
            Recorded { adjoints, temporaries, ..Recorded::new(words, extents, bounds, facts, pass, held) };
        let launch = Launch {
            kernel: object.clone().unbind(),
            instance,
            device: place.device,
            stream: stream.and(place.stream),
            block_dim,
            max_blocks,
            state: Mutex::new(state),
        };
        return Bound::new(py, launch).map(Some);
    }
    if record_tape
        && !adjoint
        && let Some(tape) = crate::tape::active(py)
    {
        let device = device_object(py, place.device)?;
        let recorded = (kernel, dim, max_blocks, inputs, outputs, device, block_dim);
        tape.call_method1(py, intern!(py, "record_launch"), recorded)?;
        // Who only watches runs nothing backwards.
        if crate::tape::records() && instance.is_early_on_tape() && !capture::watches(place.device) {
            let mut block =
                Block { bytes: as_bytes(words), device: place.device, facts, temporaries: SmallVec::new() };
            let grads = gradients(py, &instance, &arguments, &[], &mut block)?;
            instance.prepare_backward(py, place.device, facts, max_blocks > 0, grads)?;
        }
    }
    if PRINTED.load(Ordering::Relaxed) {
        print_launch(py, &instance.name, extents.given(), &place.device, adjoint)?;
    }
    if bounds.size == 0 {
        return Ok(None);
    }
    let module = object.get().module_object(py);
    if module.get().is_first_launch(place.device) {
        compile_module(py, module, object, place.device)?;
    }
    let (code, block_dim) = instance.load(py, place.device, facts, block_dim, max_blocks > 0, &pass)?;
    if capture::watches(place.device) {
        let shown = recorded::Shown {
            instance: &instance,
            pass: &pass,
            code: &code,
            words,
            arguments: arguments.iter().chain(adjoints.iter().cloned().map(Ok)).collect::<PyResult<_>>()?,
            temporaries: &temporaries,
            block_dim,
            max_blocks,
            stream: place.stream.as_ref(),
        };
        if recorded::show(py, place.device, shown)? == Verdict::Keep {
            return Ok(None);
        }
    }
    if let Some(stream) = &place.stream {
        let ty = |index: usize| instance.packers.get(index).map_or(Type::BOOL, |packer| packer.ty);
        adjoints.iter().enumerate().for_each(|(index, adjoint)| record_use(adjoint, ty(index), stream));
        temporaries.iter().for_each(|array| array.memory().record_use(stream));
    }
    run(py, &code, words, bounds.size, place.stream.as_ref(), block_dim, max_blocks)?;
    verify_cuda(py, &instance.name, place.device, place.stream.as_ref())?;
    Ok(None)
}

/// Runs a kernel backwards, as [`launch`] does with `adjoint`.
///
/// # Errors
/// As [`launch`].
pub fn launch_backward(
    kernel: &Bound<'_, PyAny>,
    dim: &Bound<'_, PyAny>,
    [inputs, outputs]: [&Bound<'_, PyAny>; 2],
    device: &Bound<'_, PyAny>,
    max_blocks: i64,
    block_dim: Option<i64>,
) -> PyResult<()> {
    let (inputs, outputs, device) = (Some(inputs), Some(outputs), Some(device));
    let py = kernel.py();
    launch(
        py, kernel, dim, inputs, outputs, None, None, device, None, true, false, false, max_blocks, block_dim,
    )
    .map(drop)
}

/// Tells the program's logger about a launch: `inkle.config.print_launches`.
#[cold]
fn print_launch(
    py: Python<'_>,
    kernel: &str,
    extents: &[i64],
    device: &Device,
    adjoint: bool,
) -> PyResult<()> {
    let pass = if adjoint { "backward" } else { "forward" };
    let message = format!("kernel: {kernel}, pass: {pass}, dim: {extents:?}, device: {device}");
    py.import("inkle._logger")?.call_method1("log_info", (message,)).map(drop)
}

/// Notes on the memory that an argument for a parameter of a type has, or a gradient given for it, that work on `stream`
/// uses it.
#[inline]
fn record_use(argument: &Bound<'_, PyAny>, ty: Type, stream: &Stream) {
    match ty {
        Type::Array(_) | Type::Struct(_) => {
            recorded::each_memory(argument.py(), argument, &mut |memory| memory.record_use(stream));
        }
        _ => {}
    }
}

fn grid_arguments(max_blocks: i64, block_dim: Option<i64>) -> PyResult<(u32, u32)> {
    let max_blocks = u32::try_from(max_blocks.max(0)).unwrap_or(u32::MAX);
    let block_dim = match block_dim {
        None => 0,
        Some(n @ 1..=1024) => n as u32,
        Some(n) => return Err(PyValueError::new_err(format!("`block_dim` is between 1 and 1024, not {n}"))),
    };
    Ok((max_blocks, block_dim))
}

/// A recorded launch: runs again and again without looking at its arguments.
#[pyclass(frozen, module = "inkle")]
pub struct Launch {
    kernel: Py<Kernel>,
    instance: Arc<Instance>,
    device: Device,
    stream: Option<Stream>,
    block_dim: u32,
    max_blocks: u32,
    state: Mutex<Recorded>,
}

struct Recorded {
    words: Vec<u64>,
    extents: Extents,
    bounds: LaunchBounds,
    facts: Facts,
    pass: Pass,
    /// The code that fits `facts`, with the block size; `None` when it must be looked up.
    code: Option<(Arc<Loaded>, u32)>,
    /// The arguments, so that their memory lives as long as the launch may run.
    held: Vec<Py<PyAny>>,
    /// The gradients given for them, if it runs backwards.
    adjoints: Vec<Py<PyAny>>,
    temporaries: Vec<rt::Array>,
    /// The stream that the memory of all of them knows to be used by.
    used_on: Option<Stream>,
}

impl Recorded {
    /// A launch that was not run yet, of arguments without gradients.
    fn new(
        words: Vec<u64>,
        extents: Extents,
        bounds: LaunchBounds,
        facts: Facts,
        pass: Pass,
        held: Vec<Py<PyAny>>,
    ) -> Recorded {
        let (adjoints, temporaries) = (Vec::new(), Vec::new());
        Recorded {
            words,
            extents,
            bounds,
            facts,
            pass,
            code: None,
            held,
            adjoints,
            temporaries,
            used_on: None,
        }
    }

    /// Notes that work on `stream` uses the arguments' memory, which may be given back before the launch is.
    fn record_uses(&mut self, py: Python<'_>, stream: &Stream) {
        if self.used_on.as_ref() == Some(stream) {
            return;
        }
        for argument in self.held.iter().chain(&self.adjoints) {
            recorded::each_memory(py, argument.bind(py), &mut |memory| memory.record_use(stream));
        }
        self.temporaries.iter().for_each(|array| array.memory().record_use(stream));
        self.used_on = Some(stream.clone());
    }

    /// Structs are passed as they are when the launch runs, as their fields can change meanwhile.
    fn refresh_structs(&mut self, py: Python<'_>, instance: &Instance) {
        for (packer, held) in instance.packers.iter().zip(&self.held) {
            if let Type::Struct(_) = packer.ty
                && let Ok(object) = held.bind(py).cast::<StructInstance>()
                && object.get().ty() == packer.ty
            {
                object.get().copy_bytes(py, &mut as_bytes(&mut self.words)[packer.offset..]);
                self.used_on = None;
            }
        }
    }
}

/// What changes of a launch that runs backwards.
enum Replaced<'a, 'py> {
    Argument(usize, &'a Bound<'py, PyAny>),
    Gradient(usize, &'a Bound<'py, PyAny>),
    /// What structs hold may have.
    Nothing,
}

impl Launch {
    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The parameter of a number.
    fn packer(&self, py: Python<'_>, index: usize) -> PyResult<&Packer> {
        match self.instance.packers.get(index) {
            Some(packer) => Ok(packer),
            None => {
                let message = format!(
                    "kernel `{}` has {} parameters; there is no number {index}",
                    self.instance.name,
                    self.instance.packers.len()
                );
                Err(PyErr::from_type(range_error_class(py)?.clone(), (message,)))
            }
        }
    }

    /// Packs all arguments of a launch that runs backwards again, one of them or its gradient replaced: what gradients there
    /// are decides on the code.
    fn replace(&self, py: Python<'_>, replaced: Replaced<'_, '_>) -> PyResult<()> {
        let state = self.lock();
        let mut held: Vec<_> = state.held.iter().map(|a| a.clone_ref(py)).collect();
        let mut adjoints: Vec<_> = state.adjoints.iter().map(|a| a.clone_ref(py)).collect();
        let bounds = state.bounds;
        drop(state);
        match replaced {
            Replaced::Argument(index, value) => held[index] = value.clone().unbind(),
            Replaced::Gradient(index, value) => {
                adjoints.resize_with(held.len().max(adjoints.len()), || py.None());
                adjoints[index] = value.clone().unbind();
            }
            Replaced::Nothing => {}
        }
        let mut words = vec![0; self.instance.words];
        write_bounds(&bounds, as_bytes(&mut words));
        let mut block = Block {
            bytes: as_bytes(&mut words),
            device: self.device,
            facts: Facts::default(),
            temporaries: SmallVec::new(),
        };
        for (packer, argument) in self.instance.packers.iter().zip(&held) {
            packer.pack(argument.bind(py), &self.instance.name, &mut block)?;
        }
        let (arguments, given) = (PyList::new(py, &held)?, adjoints.iter().map(|a| a.bind(py).clone()));
        let arguments = Arguments::new(Some(arguments.as_any()), None);
        let given: Vec<_> = given.collect();
        let pass = Pass::Backward(gradients(py, &self.instance, &arguments, &given, &mut block)?);
        let Block { facts, temporaries, .. } = block;
        let mut state = self.lock();
        if (state.facts, &state.pass) != (facts, &pass) {
            (state.facts, state.pass, state.code) = (facts, pass, None);
        }
        state.words = words;
        state.used_on = None;
        state.temporaries = temporaries.into_vec();
        let old =
            (std::mem::replace(&mut state.held, held), std::mem::replace(&mut state.adjoints, adjoints));
        drop(state);
        drop(old);
        Ok(())
    }

    fn set(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let packer = self.packer(py, index)?;
        let is_backward = !matches!(self.lock().pass, Pass::Forward);
        if is_backward {
            return self.replace(py, Replaced::Argument(index, value));
        }
        // Packed aside first, so that a value that does not fit changes nothing.
        let mut words = self.lock().words.clone();
        let facts = self.lock().facts;
        let mut block =
            Block { bytes: as_bytes(&mut words), device: self.device, facts, temporaries: SmallVec::new() };
        packer.pack(value, &self.instance.name, &mut block)?;
        let (facts, temporaries) = (block.facts, block.temporaries);
        let mut state = self.lock();
        state.words = words;
        if state.facts != facts {
            state.facts = facts;
            state.code = None;
        }
        state.temporaries.extend(temporaries);
        state.used_on = None;
        let old = std::mem::replace(&mut state.held[index], value.clone().unbind());
        drop(state);
        drop(old);
        Ok(())
    }
}

#[pymethods]
impl Launch {
    /// A launch of a kernel whose parameters and extents are still to be set; numbers are zero until then.
    #[new]
    #[pyo3(signature = (kernel, device = None, *, dim = None, max_blocks = 0, block_dim = None))]
    fn new(
        kernel: &Bound<'_, Kernel>,
        device: Option<&Bound<'_, PyAny>>,
        dim: Option<&Bound<'_, PyAny>>,
        max_blocks: i64,
        block_dim: Option<i64>,
    ) -> PyResult<Launch> {
        let py = kernel.py();
        let place = Place::new(py, device, None)?;
        let (max_blocks, block_dim) = grid_arguments(max_blocks, block_dim)?;
        let Some(types) = kernel.get().exact_types(py)? else {
            let message = format!(
                "kernel `{}` is generic: make its overload for definite types first",
                kernel.get().key()
            );
            return Err(argument_error(py, message));
        };
        let instance = kernel.get().instance_of_types(py, types)?;
        instance.check(py)?;
        let extents = dim.map_or_else(|| Ok(Extents::none()), Extents::read)?;
        let bounds = extents.bounds(py, &instance)?;
        let mut words = vec![0; instance.words];
        write_bounds(&bounds, as_bytes(&mut words));
        let mut block = Block {
            bytes: as_bytes(&mut words),
            device: place.device,
            facts: Facts::default(),
            temporaries: SmallVec::new(),
        };
        let none = py.None();
        for packer in instance.packers.iter().filter(|p| p.ty.as_array().is_some()) {
            packer.pack(none.bind(py), &instance.name, &mut block)?;
        }
        let facts = block.facts;
        let held = instance.packers.iter().map(|_| py.None()).collect();
        let state = Recorded::new(words, extents, bounds, facts, Pass::Forward, held);
        Ok(Launch {
            kernel: kernel.clone().unbind(),
            instance,
            device: place.device,
            stream: None,
            block_dim,
            max_blocks,
            state: Mutex::new(state),
        })
    }

    /// Runs the launch on `stream`, or on the one it was recorded for. A tape records it, with the arguments of that time.
    #[pyo3(signature = (stream = None))]
    fn launch(&self, py: Python<'_>, stream: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let given;
        let stream = match stream {
            None => self.stream.as_ref(),
            Some(stream) => {
                given = stream_argument(stream)?.get().stream().clone();
                Some(&given)
            }
        };
        let mut state = self.lock();
        if matches!(state.pass, Pass::Forward)
            && let Some(tape) = crate::tape::active(py)
        {
            let held: Vec<Py<PyAny>> = state.held.iter().map(|argument| argument.clone_ref(py)).collect();
            let dim = PyTuple::new(py, state.extents.given())?;
            // What the tape does may launch this again.
            drop(state);
            let device = device_object(py, self.device)?;
            let block_dim = (self.block_dim != 0).then_some(self.block_dim);
            let nothing = PyTuple::empty(py);
            let recorded = (&self.kernel, dim, self.max_blocks, held, nothing, device, block_dim);
            tape.call_method1(py, intern!(py, "record_launch"), recorded)?;
            state = self.lock();
        }
        if state.bounds.size == 0 {
            return Ok(());
        }
        match state.pass {
            Pass::Forward => state.refresh_structs(py, &self.instance),
            Pass::Backward(_) if self.instance.packers.iter().any(|p| p.ty.as_struct().is_some()) => {
                drop(state);
                self.replace(py, Replaced::Nothing)?;
                state = self.lock();
            }
            Pass::Backward(_) => {}
        }
        if state.code.is_none() {
            let (facts, pass) = (state.facts, state.pass.clone());
            drop(state);
            // Without the lock: compiling lets other threads run.
            let code =
                self.instance.load(py, self.device, facts, self.block_dim, self.max_blocks > 0, &pass)?;
            state = self.lock();
            state.code = Some(code);
        }
        let current;
        let used = match stream {
            None if self.device.is_cuda() => {
                current = self.device.stream().into_py(py)?;
                Some(&current)
            }
            given => given,
        };
        if let Some(used) = used {
            state.record_uses(py, used);
        }
        let Some((code, block_dim)) = &state.code else { return Ok(()) };
        if capture::watches(self.device) {
            let shown = recorded::Shown {
                instance: &self.instance,
                pass: &state.pass,
                code,
                words: &state.words,
                arguments: state
                    .held
                    .iter()
                    .chain(&state.adjoints)
                    .map(|held| held.bind(py).clone())
                    .collect(),
                temporaries: &state.temporaries,
                block_dim: *block_dim,
                max_blocks: self.max_blocks,
                stream,
            };
            if recorded::show(py, self.device, shown)? == Verdict::Keep {
                return Ok(());
            }
        }
        if let Loaded::Cpu(_) = &**code
            && state.bounds.size >= DETACH_THREADS
        {
            // A long run must not hold the lock: another thread that wants it would wait with the interpreter.
            let (code, words, size) = (code.clone(), state.words.clone(), state.bounds.size);
            drop(state);
            return run(py, &code, &words, size, None, 0, 0);
        }
        run(py, code, &state.words, state.bounds.size, used, *block_dim, self.max_blocks)?;
        drop(state);
        verify_cuda(py, &self.instance.name, self.device, used)
    }

    /// Sets the argument at a place; with `adjoint`, of a launch that runs backwards, the gradient to use in place of the
    /// array's own, or `None` for that one.
    #[pyo3(signature = (index, value, adjoint = false))]
    fn set_param_at_index(&self, index: usize, value: &Bound<'_, PyAny>, adjoint: bool) -> PyResult<()> {
        if !adjoint {
            return self.set(index, value);
        }
        let packer = self.packer(value.py(), index)?;
        if matches!(self.lock().pass, Pass::Forward) {
            let message = format!(
                "kernel `{}`: the gradient of `{}` is for a launch recorded with `adjoint=True`",
                self.instance.name, packer.name
            );
            return Err(argument_error(value.py(), message));
        }
        self.replace(value.py(), Replaced::Gradient(index, value))
    }

    /// Sets the argument of a name, or its gradient; see `set_param_at_index`.
    #[pyo3(signature = (name, value, adjoint = false))]
    fn set_param_by_name(&self, name: &str, value: &Bound<'_, PyAny>, adjoint: bool) -> PyResult<()> {
        match self.instance.packers.iter().position(|p| p.name == name) {
            Some(index) => self.set_param_at_index(index, value, adjoint),
            None => {
                let names: Vec<_> = self.instance.packers.iter().map(|p| p.name.as_str()).collect();
                let message = format!(
                    "kernel `{}` has no parameter `{name}`; it has {}",
                    self.instance.name,
                    names.join(", ")
                );
                Err(argument_error(value.py(), message))
            }
        }
    }

    /// Sets the first arguments, as many as are given.
    fn set_params(&self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        for (index, value) in values.try_iter()?.enumerate() {
            self.set(index, &value?)?;
        }
        Ok(())
    }

    /// As `set_param_at_index`; what `__ctype__()` of arrays and structs gives is taken too.
    fn set_param_at_index_from_ctype(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set(index, value)
    }

    /// As `set_param_by_name`; what `__ctype__()` of arrays and structs gives is taken too.
    fn set_param_by_name_from_ctype(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_param_by_name(name, value, false)
    }

    /// As `set_params`; what `__ctype__()` of arrays and structs gives is taken too.
    fn set_params_from_ctypes(&self, values: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_params(values)
    }

    /// The extents of the range: `shape`, and their product, `size`.
    #[getter]
    fn bounds(&self) -> Bounds {
        let state = self.lock();
        Bounds::new(state.extents, state.bounds.size)
    }

    /// Sets the extents of the range.
    fn set_dim(&self, dim: &Bound<'_, PyAny>) -> PyResult<()> {
        let extents = Extents::read(dim)?;
        let bounds = extents.bounds(dim.py(), &self.instance)?;
        let mut state = self.lock();
        (state.extents, state.bounds) = (extents, bounds);
        write_bounds(&bounds, as_bytes(&mut state.words));
        Ok(())
    }

    /// The kernel.
    #[getter]
    fn kernel(&self, py: Python<'_>) -> Py<Kernel> {
        self.kernel.clone_ref(py)
    }

    /// Where it runs.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Py<PyDevice>> {
        device_object(py, self.device)
    }

    /// The most blocks on a GPU; 0 for no limit.
    #[getter]
    fn max_blocks(&self) -> u32 {
        self.max_blocks
    }

    /// Threads per block on a GPU.
    #[getter]
    fn block_dim(&self) -> u32 {
        self.block_dim
    }

    fn __repr__(&self) -> String {
        let state = self.lock();
        format!("<launch of {} over {:?} on {}>", self.instance.name, state.extents.given(), self.device)
    }
}
