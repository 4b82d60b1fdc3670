//! Observing what a thread does with arrays, and live recordings, for `inkle.leapp`.
//!
//! The observer is a Python object with four methods: `operation(kind, name, device, detail, arrays)`, called before each
//! operation on arrays, with `arrays` a list of `(array, reads, writes, serial, start, bytes)`, the last three about its allocation, says whether the live recording is to
//! have it; `boundary(name)` is called when arrays leave for another library, or come from one, or the host waits;
//! `host_read(array)` when the program gets values of one by themselves; and `host_view(array, view)` gives what `array.numpy()` returns.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use inkle_graph::bundle::SaveOptions;
use inkle_graph::capture::{self, Observed, Observer};
use inkle_runtime::RuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::array::Array;
use crate::bundle::{named_arrays, targets_argument};
use crate::cache::apply_cache_settings;
use crate::device::{device_argument, device_object};
use crate::dtype::class_of;
use crate::graph::IntoPyGraphResult;

thread_local! {
    static OBSERVER: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
    /// What the observer raised, on its way through code that knows no Python.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// The exception that the observer raised, if that is why an operation failed.
pub fn raised() -> Option<PyErr> {
    RAISED.with(|slot| slot.borrow_mut().take())
}

struct PyObserver(Py<PyAny>);

impl Observer for PyObserver {
    fn operation(&self, observed: &Observed) -> Result<bool, RuntimeError> {
        Python::attach(|py| self.call(py, observed)).map_err(|error| {
            let why = error.to_string();
            RAISED.with(|slot| slot.replace(Some(error)));
            RuntimeError::Refused { why }
        })
    }
}

impl PyObserver {
    fn call(&self, py: Python<'_>, observed: &Observed) -> PyResult<bool> {
        let arrays = PyList::empty(py);
        for used in &observed.arrays {
            let dtype = class_of(py, used.array.dtype())?.unbind();
            let array = Array::wrap(py, used.array.clone(), dtype)?;
            let memory = used.array.memory();
            let (start, bytes) = (memory.address(), memory.bytes());
            arrays.append((array, used.reads, used.writes, used.serial, start, bytes))?;
        }
        let device = device_object(py, observed.device)?;
        let detail = PyBytes::new(py, &observed.detail);
        let args = (observed.kind, &observed.name, device, detail, arrays);
        self.0.call_method1(py, intern!(py, "operation"), args)?.is_truthy(py)
    }
}

/// Sets this thread's observer, or removes it with `None`.
#[pyfunction]
#[pyo3(signature = (observer))]
pub fn set_observer(py: Python<'_>, observer: Option<Py<PyAny>>) {
    let native = observer.as_ref().map(|o| Rc::new(PyObserver(o.clone_ref(py))) as Rc<dyn Observer>);
    capture::set_observer(native);
    drop(OBSERVER.with(|slot| slot.replace(observer)));
}

fn observer(py: Python<'_>) -> Option<Py<PyAny>> {
    if !inkle_runtime::record::may_be_recording() {
        return None;
    }
    OBSERVER.with(|slot| slot.borrow().as_ref().map(|observer| observer.clone_ref(py)))
}

/// Tells the observer that arrays leave or come, or that the host waits.
///
/// # Errors
/// The observer's.
pub fn boundary(py: Python<'_>, name: &str) -> PyResult<()> {
    match observer(py) {
        Some(observer) => observer.call_method1(py, intern!(py, "boundary"), (name,)).map(drop),
        None => Ok(()),
    }
}

/// Tells the observer that the program gets values of an array.
///
/// # Errors
/// The observer's.
pub fn host_read(py: Python<'_>, array: &inkle_runtime::Array) -> PyResult<()> {
    let Some(observer) = observer(py) else { return Ok(()) };
    let array = Array::wrap(py, array.clone(), class_of(py, array.dtype())?.unbind())?;
    observer.call_method1(py, intern!(py, "host_read"), (array,)).map(drop)
}

/// Lets the observer replace the numpy array that `array.numpy()` gives.
///
/// # Errors
/// The observer's.
pub fn host_view<'py>(array: &Bound<'py, Array>, view: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    match observer(py) {
        Some(observer) => {
            Ok(observer.call_method1(py, intern!(py, "host_view"), (array, view))?.into_bound(py))
        }
        None => Ok(view),
    }
}

/// A number that the serial numbers of later allocations are not below.
#[pyfunction]
pub fn live_serial() -> u64 {
    inkle_runtime::next_serial()
}

/// Begins a live recording on a device: the operations that the observer chooses run and are recorded.
#[pyfunction]
pub fn live_begin(device: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = device.py();
    capture::begin_live(device_argument(py, Some(device))?).graph(py)
}

/// Ends a live recording; gives the bytes of a bundle with the named arrays as parameters.
#[pyfunction]
#[pyo3(signature = (device, inputs, outputs, targets = None))]
pub fn live_end<'py>(
    device: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyDict>,
    outputs: &Bound<'py, PyDict>,
    targets: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = device.py();
    let inputs = named_arrays(Some(inputs), "inputs")?;
    let outputs = named_arrays(Some(outputs), "outputs")?;
    let graph = capture::end_live(device_argument(py, Some(device))?, &inputs, &outputs).graph(py)?;
    let options = SaveOptions { targets: targets_argument(py, targets)?, ..SaveOptions::default() };
    apply_cache_settings(py)?;
    let graph = Arc::new(graph);
    let bytes = py.detach(|| graph.save(&options).map(|bundle| bundle.to_bytes())).graph(py)?;
    Ok(PyBytes::new(py, &bytes))
}

/// Gives up a live recording, if one is under way.
#[pyfunction]
pub fn live_abandon(device: &Bound<'_, PyAny>) -> PyResult<()> {
    capture::abandon(device_argument(device.py(), Some(device))?);
    Ok(())
}
