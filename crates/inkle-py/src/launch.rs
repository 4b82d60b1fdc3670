//! Launches: the call itself.

mod command;
mod recorded;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use inkle_graph::capture;
use inkle_ir::Type;
use inkle_module::Loaded;
use inkle_runtime::record::Verdict;
use inkle_runtime::{Device, LaunchConfig, RuntimeError, Stream};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use smallvec::SmallVec;

use crate::adjoint::{adjoint_arguments, gradients};
use crate::ahead::compile_module;
use crate::array::Array;
use crate::bounds::{Extents, write_bounds};
use crate::device::{device_argument, device_object};
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::kernel::{Arguments, Instance, Kernel, Pass, wrong_count};
use crate::pack::{Block, Facts};
use crate::stream::PyStream;
use crate::tape::RecordedLaunch;

pub use command::Launch;
use command::Recorded;

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
        let recorded = RecordedLaunch { kernel, dim, max_blocks, inputs, outputs, device, block_dim };
        recorded.tell(tape.bind(py))?;
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
