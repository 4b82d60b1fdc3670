//! Streams and events as Python objects, and the functions about them.

use std::sync::Mutex;

use inkle_runtime::{Device, Event, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::device::{PyDevice, cuda_argument, device_argument, device_object};
use crate::error::{IntoPyResult, blocking};
use crate::observe::boundary;

/// An ordered queue of work on a GPU.
#[pyclass(frozen, module = "inkle", name = "Stream", weakref)]
pub struct PyStream {
    stream: Stream,
}

impl PyStream {
    /// The object of a stream.
    pub fn new(stream: Stream) -> PyStream {
        PyStream { stream }
    }

    /// The runtime's stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }
}

#[pymethods]
impl PyStream {
    #[new]
    #[pyo3(signature = (device = None, priority = 0, cuda_stream = None))]
    fn create(
        py: Python<'_>,
        device: Option<&Bound<'_, PyAny>>,
        priority: i32,
        cuda_stream: Option<u64>,
    ) -> PyResult<PyStream> {
        let device = cuda_argument(py, device)?;
        if let Some(handle) = cuda_stream {
            // SAFETY: as for every raw handle from Python, the caller vouches that it is a stream of this device
            // that outlives the object.
            return unsafe { Stream::from_handle(device, handle) }.map(PyStream::new).into_py(py);
        }
        if !(-1..=0).contains(&priority) {
            return Err(PyValueError::new_err(format!(
                "a stream's priority is -1 (high) or 0 (low), not {priority}"
            )));
        }
        Stream::new(device, priority).map(PyStream::new).into_py(py)
    }

    /// The GPU it belongs to.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Py<PyDevice>> {
        device_object(py, self.stream.device())
    }

    /// The `CUstream` handle, for other libraries.
    #[getter]
    fn cuda_stream(&self) -> u64 {
        self.stream.handle()
    }

    /// Records an event here: the given one, or a new one.
    #[pyo3(signature = (event = None, external = false))]
    fn record_event(
        &self,
        py: Python<'_>,
        event: Option<Bound<'_, PyEvent>>,
        external: bool,
    ) -> PyResult<Py<PyEvent>> {
        let _ = external;
        match event {
            Some(event) => {
                event.get().event.record(&self.stream).into_py(py)?;
                Ok(event.unbind())
            }
            None => Py::new(py, PyEvent { event: self.stream.record_event().into_py(py)? }),
        }
    }

    /// Makes later work here wait for what an event has recorded; the host does not wait.
    #[pyo3(signature = (event, external = false))]
    fn wait_event(&self, py: Python<'_>, event: &PyEvent, external: bool) -> PyResult<()> {
        let _ = external;
        self.stream.wait_event(&event.event).into_py(py)
    }

    /// Makes later work here wait for all work another stream has now; the host does not wait.
    #[pyo3(signature = (other_stream, event = None, external = false))]
    fn wait_stream(
        &self,
        py: Python<'_>,
        other_stream: &PyStream,
        event: Option<&PyEvent>,
        external: bool,
    ) -> PyResult<()> {
        let _ = external;
        match event {
            Some(event) => {
                event.event.record(&other_stream.stream).into_py(py)?;
                self.stream.wait_event(&event.event).into_py(py)
            }
            None => self.stream.wait_stream(&other_stream.stream).into_py(py),
        }
    }

    /// Whether everything on the stream is done.
    #[getter]
    fn is_complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.stream.is_complete().into_py(py)
    }

    /// Whether the stream is recording a graph.
    #[getter]
    fn is_capturing(&self, py: Python<'_>) -> PyResult<bool> {
        self.stream.is_capturing().into_py(py)
    }

    /// Whether it is ordered with the legacy default stream.
    #[getter]
    fn is_blocking(&self) -> bool {
        true
    }

    /// The priority it was created with, clamped to what the device has.
    #[getter]
    fn priority(&self, py: Python<'_>) -> PyResult<i32> {
        self.stream.priority().into_py(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyStream>().is_ok_and(|other| other.get().stream == self.stream)
    }

    fn __hash__(&self) -> u64 {
        self.stream.handle()
    }

    fn __repr__(&self) -> String {
        format!("<stream {:#x} on {}>", self.stream.handle(), self.stream.device())
    }
}

/// A point in a stream's work.
#[pyclass(frozen, module = "inkle", name = "Event", weakref)]
pub struct PyEvent {
    event: Event,
}

#[pymethods]
impl PyEvent {
    #[new]
    #[pyo3(signature = (device = None, cuda_event = None, enable_timing = false, interprocess = false))]
    fn create(
        py: Python<'_>,
        device: Option<&Bound<'_, PyAny>>,
        cuda_event: Option<u64>,
        enable_timing: bool,
        interprocess: bool,
    ) -> PyResult<PyEvent> {
        if cuda_event.is_some() || interprocess {
            return Err(PyValueError::new_err("events of other owners and processes are not supported yet"));
        }
        Event::new(cuda_argument(py, device)?, enable_timing).map(|event| PyEvent { event }).into_py(py)
    }

    /// The GPU it belongs to.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Py<PyDevice>> {
        device_object(py, self.event.device())
    }

    /// The `CUevent` handle, for other libraries.
    #[getter]
    fn cuda_event(&self) -> u64 {
        self.event.handle()
    }

    /// Whether it measures time.
    #[getter]
    fn enable_timing(&self) -> bool {
        self.event.has_timing()
    }

    /// Whether the recorded work is done.
    #[getter]
    fn is_complete(&self, py: Python<'_>) -> PyResult<bool> {
        self.event.is_complete().into_py(py)
    }

    fn __repr__(&self) -> String {
        format!("<event {:#x} on {}>", self.event.handle(), self.event.device())
    }
}

/// The Python object of each GPU's current stream, so that asking twice gives one object.
static CURRENT: Mutex<Vec<(Device, Py<PyStream>)>> = Mutex::new(Vec::new());

/// The object of a GPU's current stream: the one that was made current, or one made at the first question.
///
/// # Errors
/// The driver's; for the CPU, which has no streams.
pub fn current_stream(py: Python<'_>, device: Device) -> PyResult<Py<PyStream>> {
    let stream = device.stream().into_py(py)?;
    let mut known = CURRENT.lock().unwrap_or_else(|e| e.into_inner());
    let same = |entry: &&(Device, Py<PyStream>)| entry.0 == device && entry.1.get().stream == stream;
    if let Some((_, object)) = known.iter().find(same) {
        return Ok(object.clone_ref(py));
    }
    let object = Py::new(py, PyStream::new(stream))?;
    known.retain(|(d, _)| *d != device);
    known.push((device, object.clone_ref(py)));
    Ok(object)
}

/// Makes a stream the current one of its GPU.
///
/// # Errors
/// When the stream is another device's.
pub fn make_current(stream: &Bound<'_, PyStream>, device: Device) -> PyResult<()> {
    let py = stream.py();
    device.set_stream(stream.get().stream.clone()).into_py(py)?;
    let mut known = CURRENT.lock().unwrap_or_else(|e| e.into_inner());
    known.retain(|(d, _)| *d != device);
    known.push((device, stream.clone().unbind()));
    Ok(())
}

/// The current stream of a GPU.
#[pyfunction]
#[pyo3(signature = (device = None))]
pub fn get_stream(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Py<PyStream>> {
    current_stream(py, cuda_argument(py, device)?)
}

/// Makes a stream the current one of its GPU; `sync` first makes it wait for the one before.
#[pyfunction]
#[pyo3(signature = (stream, device = None, sync = false))]
pub fn set_stream(
    py: Python<'_>,
    stream: &Bound<'_, PyStream>,
    device: Option<&Bound<'_, PyAny>>,
    sync: bool,
) -> PyResult<()> {
    let device = match device {
        Some(device) => device_argument(py, Some(device))?,
        None => stream.get().stream.device(),
    };
    if sync {
        stream.get().stream.wait_stream(&device.stream().into_py(py)?).into_py(py)?;
    }
    make_current(stream, device)
}

/// Waits for all work on a stream; the default device's current one for `None`.
#[pyfunction]
#[pyo3(signature = (stream_or_device = None))]
pub fn synchronize_stream(py: Python<'_>, stream_or_device: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    boundary(py, "synchronize_stream")?;
    let stream = match stream_or_device.map(|s| s.cast::<PyStream>()) {
        Some(Ok(stream)) => stream.get().stream.clone(),
        _ => {
            let device = device_argument(py, stream_or_device)?;
            if device.is_cpu() {
                return Ok(());
            }
            device.stream().into_py(py)?
        }
    };
    blocking(py, || stream.synchronize())
}

/// Waits for the work an event has recorded.
#[pyfunction]
pub fn synchronize_event(py: Python<'_>, event: &PyEvent) -> PyResult<()> {
    boundary(py, "synchronize_event")?;
    blocking(py, || event.event.synchronize())
}

/// Records an event on the current stream: the given one, or a new one of the default device.
#[pyfunction]
#[pyo3(signature = (event = None, external = false))]
pub fn record_event(
    py: Python<'_>,
    event: Option<Bound<'_, PyEvent>>,
    external: bool,
) -> PyResult<Py<PyEvent>> {
    let device = match &event {
        Some(event) => event.get().event.device(),
        None => cuda_argument(py, None)?,
    };
    let stream = PyStream::new(device.stream().into_py(py)?);
    stream.record_event(py, event, external)
}

/// Makes the current stream wait for what an event has recorded; the host does not wait.
#[pyfunction]
#[pyo3(signature = (event, external = false))]
pub fn wait_event(py: Python<'_>, event: &PyEvent, external: bool) -> PyResult<()> {
    let stream = PyStream::new(cuda_argument(py, None)?.stream().into_py(py)?);
    stream.wait_event(py, event, external)
}

/// Makes the current stream wait for all work another stream has now; the host does not wait.
#[pyfunction]
#[pyo3(signature = (other_stream, event = None, external = false))]
pub fn wait_stream(
    py: Python<'_>,
    other_stream: &PyStream,
    event: Option<&PyEvent>,
    external: bool,
) -> PyResult<()> {
    let stream = PyStream::new(cuda_argument(py, None)?.stream().into_py(py)?);
    stream.wait_stream(py, other_stream, event, external)
}

/// The time between two events made with `enable_timing`, milliseconds.
#[pyfunction]
#[pyo3(signature = (start_event, end_event, synchronize = true))]
pub fn get_event_elapsed_time(
    py: Python<'_>,
    start_event: &PyEvent,
    end_event: &PyEvent,
    synchronize: bool,
) -> PyResult<f32> {
    blocking(py, || {
        if synchronize {
            end_event.event.synchronize()?;
        }
        start_event.event.elapsed_ms(&end_event.event)
    })
}
