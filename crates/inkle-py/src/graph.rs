//! Graphs and captures as Python sees them.

use std::sync::Arc;

use inkle_graph::bundle::{BundleError, Direction};
use inkle_graph::capture::{self, CudaOptions};
use inkle_graph::{Graph, GraphError, View};
use inkle_runtime::cuda::{CaptureMode, has_conditional_nodes};
use inkle_runtime::{self as rt, Device};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::array::Array;
use crate::array_arguments::array_argument;
use crate::device::{PyDevice, device_argument, device_object};
use crate::dtype::class_of;
use crate::error::{IntoPyResult, argument_error, class_name, runtime_error};
use crate::stream::PyStream;

/// Graphs of fewer operations than this run without letting other Python threads run meanwhile.
const DETACH_OPS: usize = 4;

/// The exception for a failure of a graph.
#[cold]
pub fn graph_error(py: Python<'_>, error: &GraphError) -> PyErr {
    match error {
        GraphError::Runtime(error) => runtime_error(py, error),
        GraphError::Bundle(BundleError::SameName { .. }) => PyValueError::new_err(error.to_string()),
        GraphError::Bundle(_) => PyRuntimeError::new_err(error.to_string()),
        GraphError::NotCapturable { .. } => PyNotImplementedError::new_err(error.to_string()),
        GraphError::ParamMismatch { name, .. } if name == "condition" => PyTypeError::new_err(format!(
            "{error}: Condition must be an array of int32 with a single element"
        )),
        GraphError::WrongDevice { .. }
        | GraphError::ParamMismatch { .. }
        | GraphError::UnknownMemory { .. }
        | GraphError::CannotRebind { .. } => argument_error(py, error.to_string()),
        GraphError::AlreadyCapturing { .. }
        | GraphError::NotCapturing { .. }
        | GraphError::InsideBody { .. }
        | GraphError::NotPaused
        | GraphError::StillCapturing
        | GraphError::NoSuchParam { .. } => PyRuntimeError::new_err(error.to_string()),
    }
}

/// A result of a graph as Python sees it.
pub trait IntoPyGraphResult<T> {
    /// Maps the failure to its exception.
    ///
    /// # Errors
    /// The mapped failure.
    fn graph(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> IntoPyGraphResult<T> for Result<T, GraphError> {
    fn graph(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| graph_error(py, &error))
    }
}

/// A captured sequence of operations.
#[pyclass(frozen, dict, weakref, module = "inkle", name = "Graph")]
pub struct PyGraph {
    state: State,
}

enum State {
    /// The capture is paused; the graph is not there yet.
    Paused(capture::Paused),
    Ready(Arc<Graph>),
}

impl PyGraph {
    /// The object of a graph.
    pub fn new(graph: Arc<Graph>) -> PyGraph {
        PyGraph { state: State::Ready(graph) }
    }

    /// The graph.
    ///
    /// # Errors
    /// While its capture is paused.
    pub fn ready(&self, py: Python<'_>) -> PyResult<&Arc<Graph>> {
        match &self.state {
            State::Ready(graph) => Ok(graph),
            State::Paused(_) => Err(graph_error(py, &GraphError::StillCapturing)),
        }
    }

    fn of(&self) -> Device {
        match &self.state {
            State::Ready(graph) => graph.device(),
            State::Paused(paused) => paused.device(),
        }
    }

    /// The part of the graph's memory that a name, or an array that was used in the capture, stands for.
    fn place(&self, graph: &Graph, key: &Bound<'_, PyAny>) -> PyResult<(String, View)> {
        let py = key.py();
        if let Ok(name) = key.cast::<PyString>() {
            let name = name.to_string();
            if !graph.is_loaded() {
                let message = format!(
                    "parameter `{name}`: only loaded APIC graphs, those from capture_load(), have named parameters; here \
                     give the array that was used in the capture"
                );
                return Err(PyRuntimeError::new_err(message));
            }
            let view = graph.param(&name).graph(py)?.view.clone();
            return Ok((name, view));
        }
        let array = array_argument(key, "name")?.get().runtime(py)?;
        match graph.place_of(array) {
            Some(view) => Ok(("array".to_owned(), view)),
            None => Err(argument_error(py, "the graph does not use the memory of this array")),
        }
    }
}

#[pymethods]
impl PyGraph {
    /// The device it runs on.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Py<PyDevice>> {
        device_object(py, self.of())
    }

    /// The number of operations, those inside conditions and loops too.
    #[getter]
    fn op_count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.ready(py)?.ops().op_count())
    }

    /// Whether it comes from a file.
    #[getter]
    fn is_loaded(&self) -> bool {
        matches!(&self.state, State::Ready(graph) if graph.is_loaded())
    }

    /// The named parameters of a graph from a file: for each what it is for, element type, shape and size in bytes.
    #[getter]
    fn params<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let params = PyDict::new(py);
        let State::Ready(graph) = &self.state else { return Ok(params) };
        for param in graph.params() {
            let array = graph.array(&param.view).graph(py)?;
            let about = PyDict::new(py);
            about.set_item("size", array.size_bytes())?;
            about.set_item("dtype", class_of(py, array.dtype())?)?;
            about.set_item("shape", PyTuple::new(py, array.shape())?)?;
            let kind = if param.direction == Direction::Input { "input" } else { "output" };
            about.set_item("kind", kind)?;
            params.set_item(&param.name, about)?;
        }
        Ok(params)
    }

    /// Gives the graph another array to work on.
    ///
    /// `name` is a parameter of a graph from a file, whose values are set to those of `array`; or, of a graph that was
    /// captured here, an array of the capture, in whose place it uses `array` from now on, whatever was there before; or else
    /// an array that it uses now. `copy` chooses between the two: copying
    /// values into the graph's memory, and letting the graph use the other array's memory, which then has to be laid out
    /// in the same way.
    #[pyo3(signature = (name, array, copy = None))]
    fn set_param(
        &self,
        py: Python<'_>,
        name: &Bound<'_, PyAny>,
        array: &Bound<'_, PyAny>,
        copy: Option<bool>,
    ) -> PyResult<()> {
        let graph = self.ready(py)?;
        let (name, view) = self.place(graph, name)?;
        let array = array_argument(array, "array")?.get().runtime(py)?;
        if copy.unwrap_or(graph.is_loaded()) {
            return graph.write(&name, &view, array, None).graph(py);
        }
        graph.rebind(&name, &view, array).graph(py)
    }

    /// Copies the values of a parameter, or of what the graph uses in an array's place (see `set_param`), to `array`.
    fn get_param(&self, py: Python<'_>, name: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let graph = self.ready(py)?;
        let (name, view) = self.place(graph, name)?;
        let array = array_argument(array, "array")?.get().runtime(py)?;
        graph.read(&name, &view, array, None).graph(py)
    }

    /// The address of a parameter; `None` if there is none of that name.
    fn get_param_ptr(&self, py: Python<'_>, name: &str) -> PyResult<Option<u64>> {
        let graph = self.ready(py)?;
        if !graph.is_loaded() {
            return Err(PyRuntimeError::new_err("only loaded APIC graphs have named parameters"));
        }
        match graph.param(name) {
            Ok(param) => Ok(Some(graph.array(&param.view).graph(py)?.address())),
            Err(_) => Ok(None),
        }
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.ready(py)?.ops().to_string())
    }

    fn __repr__(&self) -> String {
        match &self.state {
            State::Ready(graph) => {
                format!("<graph of {} operations on {}>", graph.ops().op_count(), graph.device())
            }
            State::Paused(paused) => format!("<graph being captured on {}>", paused.device()),
        }
    }
}

fn capture_device(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<Device> {
    match stream {
        Some(stream) => Ok(stream.get().stream().device()),
        None => device_argument(py, device),
    }
}

/// Begins to record what this thread does on a device, for a graph.
///
/// On the CPU nothing of it runs until the graph is launched. Reading an array back gives what it held before.
///
/// Args:
///     device: The device; the default one for `None`.
///     stream: The stream whose work is recorded, for a GPU.
///     force_module_load: Accepted: kernels are loaded as they are recorded.
///     external: Whether somebody else has begun the capture of the stream.
///     apic: Accepted: every graph can be saved.
///     capture_mode: How strict the driver is about calls that cannot be captured.
#[pyfunction]
#[pyo3(signature = (
    device = None, stream = None, force_module_load = None, external = false, apic = false, capture_mode = None
))]
pub fn capture_begin(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    stream: Option<&Bound<'_, PyStream>>,
    force_module_load: Option<bool>,
    external: bool,
    apic: bool,
    capture_mode: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let _ = (force_module_load, apic);
    let device = capture_device(py, device, stream)?;
    let mode = match capture_mode.map(|mode| mode.extract::<i64>()).transpose()? {
        None | Some(1) => CaptureMode::ThreadLocal,
        Some(0) => CaptureMode::Global,
        Some(2) => CaptureMode::Relaxed,
        Some(other) => {
            return Err(PyValueError::new_err(format!("`capture_mode` is a CaptureMode, not {other}")));
        }
    };
    if device.is_cpu() {
        return capture::begin(device).graph(py);
    }
    let stream = stream.map(|stream| stream.get().stream().clone());
    capture::begin_cuda(device, CudaOptions { stream, external, mode }).graph(py)
}

/// Ends a capture and gives its graph.
#[pyfunction]
#[pyo3(signature = (device = None, stream = None))]
pub fn capture_end<'py>(
    py: Python<'py>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<Bound<'py, PyGraph>> {
    let graph = capture::end(capture_device(py, device, stream)?).graph(py)?;
    Bound::new(py, PyGraph::new(Arc::new(graph)))
}

/// Gives up a capture, if one is under way.
#[pyfunction]
#[pyo3(signature = (device = None, stream = None))]
pub fn capture_abandon(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    capture::abandon(capture_device(py, device, stream)?);
    Ok(())
}

/// Stops recording for a while: operations run at once until `capture_resume` gets the graph that this gives.
#[pyfunction]
#[pyo3(signature = (device = None, stream = None))]
pub fn capture_pause<'py>(
    py: Python<'py>,
    device: Option<&Bound<'py, PyAny>>,
    stream: Option<&Bound<'py, PyStream>>,
) -> PyResult<Bound<'py, PyGraph>> {
    let paused = capture::pause(capture_device(py, device, stream)?).graph(py)?;
    Bound::new(py, PyGraph { state: State::Paused(paused) })
}

/// Goes on recording after `capture_pause`.
#[pyfunction]
#[pyo3(signature = (graph, device = None, stream = None))]
pub fn capture_resume(
    py: Python<'_>,
    graph: &Bound<'_, PyGraph>,
    device: Option<&Bound<'_, PyAny>>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let _ = (device, stream);
    match &graph.get().state {
        State::Paused(paused) => capture::resume(*paused).graph(py),
        State::Ready(_) => Err(graph_error(py, &GraphError::NotPaused)),
    }
}

/// Whether this thread is recording what it does on a device.
#[pyfunction]
#[pyo3(signature = (device = None))]
pub fn is_capturing(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
    Ok(capture::is_capturing(device_argument(py, device)?))
}

fn launch_graph(py: Python<'_>, graph: &Graph, stream: Option<&rt::Stream>) -> PyResult<()> {
    if capture::is_capturing(graph.device()) {
        return capture::insert(graph).graph(py);
    }
    if capture::observe_graph("graph", Some(graph), None).into_py(py)? {
        return capture::insert(graph).graph(py);
    }
    if graph.ops().body.len() < DETACH_OPS {
        return graph.launch(stream).graph(py);
    }
    py.detach(|| graph.launch(stream)).graph(py)?;
    py.check_signals()
}

/// Runs a graph: at once on the CPU, on a stream on a GPU. While another graph is captured it becomes part of that one.
#[pyfunction]
#[pyo3(signature = (graph, stream = None))]
pub fn capture_launch(
    py: Python<'_>,
    graph: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyStream>>,
) -> PyResult<()> {
    let Ok(graph) = graph.cast::<PyGraph>() else {
        return Err(PyTypeError::new_err(format!("`graph` is a Graph, not {}", class_name(graph))));
    };
    if crate::tape::records()
        && let Some(tape) = crate::tape::active(py)
    {
        tape.call_method0(py, "record_graph")?;
    }
    launch_graph(py, graph.get().ready(py)?, stream.map(|s| s.get().stream()))
}

fn condition_argument<'a, 'py>(condition: &'a Bound<'py, PyAny>) -> PyResult<&'a rt::Array> {
    let py = condition.py();
    let Ok(array) = condition.cast::<Array>() else {
        let message = format!(
            "Condition must be an array of int32 with a single element, not {}",
            class_name(condition)
        );
        return Err(PyTypeError::new_err(message));
    };
    let array = array.get().runtime(py)?;
    capture::check_condition(array).graph(py)?;
    Ok(array)
}

fn is_set(py: Python<'_>, condition: &rt::Array) -> PyResult<bool> {
    let first = if condition.ndim() == 0 {
        condition.clone()
    } else {
        let one = rt::Slice { stop: Some(1), ..rt::Slice::ALL };
        condition.slice(0, one).into_py(py)?
    };
    let bytes = py.detach(|| first.to_bytes()).into_py(py)?;
    Ok(bytes.iter().take(4).any(|byte| *byte != 0))
}

/// Checks what a branch or a body can be.
fn check_body(body: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if body.is_instance_of::<PyGraph>() || body.is_callable() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!("{name} must be a Callable or a Graph, not {}", class_name(body))))
}

fn run_body(body: &Bound<'_, PyAny>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    match body.cast::<PyGraph>() {
        Ok(graph) => launch_graph(body.py(), graph.get().ready(body.py())?, None),
        Err(_) => body.call((), kwargs).map(drop),
    }
}

/// Records what a branch or a body does.
fn record_body(
    body: Option<&Bound<'_, PyAny>>,
    kwargs: Option<&Bound<'_, PyDict>>,
    device: Device,
) -> PyResult<capture::Body> {
    let Some(body) = body else { return Ok(capture::Body::empty()) };
    capture::begin_body(device).graph(body.py())?;
    let outcome = run_body(body, kwargs);
    let recorded = capture::end_body(device).graph(body.py());
    outcome?;
    recorded
}

/// Does one of two things, depending on an `int32` in an array when this point is reached.
///
/// While a graph is captured both are recorded, and every launch of the graph looks at the condition anew.
///
/// Args:
///     condition: The array; its first element decides.
///     on_true: A callable or a graph, for a condition that is not zero.
///     on_false: A callable or a graph, for zero.
///     stream: The stream.
///     kwargs: Passed to the callables.
#[pyfunction]
#[pyo3(signature = (condition, on_true = None, on_false = None, stream = None, **kwargs))]
pub fn capture_if(
    condition: &Bound<'_, PyAny>,
    on_true: Option<&Bound<'_, PyAny>>,
    on_false: Option<&Bound<'_, PyAny>>,
    stream: Option<&Bound<'_, PyStream>>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let _ = stream;
    let py = condition.py();
    let condition = condition_argument(condition)?;
    for (body, name) in [(on_true, "on_true"), (on_false, "on_false")] {
        body.map_or(Ok(()), |body| check_body(body, name))?;
    }
    let device = condition.device();
    if capture::is_capturing(device) || capture::observe_graph("if", None, Some(condition)).into_py(py)? {
        let on_true = record_body(on_true, kwargs, device)?;
        let on_false = record_body(on_false, kwargs, device)?;
        return capture::push_if(condition, on_true, on_false).graph(py);
    }
    if on_true.is_none() && on_false.is_none() {
        return Ok(());
    }
    let branch = if is_set(py, condition)? { on_true } else { on_false };
    branch.map_or(Ok(()), |branch| run_body(branch, kwargs))
}

/// Does something again and again, as long as an `int32` in an array, looked at before each time, is not zero.
///
/// While a graph is captured the body is recorded once.
///
/// Args:
///     condition: The array; its first element decides.
///     while_body: A callable or a graph.
///     stream: The stream.
///     kwargs: Passed to the callable.
#[pyfunction]
#[pyo3(signature = (condition, while_body, stream = None, **kwargs))]
pub fn capture_while(
    condition: &Bound<'_, PyAny>,
    while_body: &Bound<'_, PyAny>,
    stream: Option<&Bound<'_, PyStream>>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<()> {
    let _ = stream;
    let py = condition.py();
    let condition = condition_argument(condition)?;
    check_body(while_body, "while_body")?;
    let device = condition.device();
    if capture::is_capturing(device) || capture::observe_graph("while", None, Some(condition)).into_py(py)? {
        let body = record_body(Some(while_body), kwargs, device)?;
        return capture::push_while(condition, body).graph(py);
    }
    while is_set(py, condition)? {
        run_body(while_body, kwargs)?;
        py.check_signals()?;
    }
    Ok(())
}

/// Whether `capture_if` and `capture_while` can be captured on the GPUs here: the driver is that of CUDA 12.4 or newer.
#[pyfunction]
pub fn is_conditional_graph_supported() -> bool {
    has_conditional_nodes().unwrap_or(false)
}
