//! The tape that records launches, if one is active, and what tapes do at every launch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyList, PySequence, PyTuple};

use crate::array::{Array, State};
use crate::device::{PyDevice, get_device};
use crate::kernel::Arguments;
use crate::launch::launch_backward;
use crate::structs::StructInstance;

/// Whether anybody is told of launches; looked at on every one.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

static TOLD: Mutex<Told> = Mutex::new(NOBODY);

const NOBODY: Told = Told { tape: None, overrides: false, watch: None };

/// Who is told of launches, copies and fills.
struct Told {
    tape: Option<Py<PyAny>>,
    /// Whether the tape has a `record_launch` of its own.
    overrides: bool,
    /// Told while there is no tape.
    watch: Option<Py<PyAny>>,
}

fn told() -> MutexGuard<'static, Told> {
    TOLD.lock().unwrap_or_else(|e| e.into_inner())
}

/// The tape that records; while there is none, who watches.
#[inline]
pub fn active(py: Python<'_>) -> Option<Py<PyAny>> {
    if !IS_ACTIVE.load(Ordering::Relaxed) {
        return None;
    }
    let told = told();
    told.tape.as_ref().or(told.watch.as_ref()).map(|it| it.clone_ref(py))
}

/// Whether there is a tape.
pub fn records() -> bool {
    IS_ACTIVE.load(Ordering::Relaxed) && told().tape.is_some()
}

/// Makes `tape` record from now on, or none.
#[pyfunction]
#[pyo3(signature = (tape = None))]
pub fn set_tape(py: Python<'_>, tape: Option<Py<PyAny>>) {
    let overrides = tape.as_ref().is_some_and(|tape| {
        let record = tape.bind(py).getattr(intern!(py, "record_launch"));
        let is_ours = record.is_ok_and(|method| method.is_instance_of::<PyCFunction>());
        !is_ours || !tape.bind(py).is_instance_of::<LaunchTape>()
    });
    drop(change(|told| {
        told.overrides = overrides;
        std::mem::replace(&mut told.tape, tape)
    }));
}

/// Has `watch` told of what no tape records, as a tape is told; or nobody.
#[pyfunction]
#[pyo3(signature = (watch = None))]
pub fn set_tape_watch(watch: Option<Py<PyAny>>) {
    drop(change(|told| std::mem::replace(&mut told.watch, watch)));
}

/// Changes who is told. Gives back what `change` does: its end may be a program's code, which may ask for the tape.
fn change<T>(change: impl FnOnce(&mut Told) -> T) -> T {
    let mut told = told();
    let old = change(&mut told);
    IS_ACTIVE.store(told.tape.is_some() || told.watch.is_some(), Ordering::Relaxed);
    old
}

/// Calls `work`, of which nobody is told: neither a tape nor who watches.
pub fn untold<T>(work: impl FnOnce() -> T) -> T {
    let held = change(|told| std::mem::replace(told, NOBODY));
    let done = work();
    drop(change(|told| std::mem::replace(told, held)));
    done
}

/// The tape that records, or `None`.
#[pyfunction]
pub fn get_tape(py: Python<'_>) -> Option<Py<PyAny>> {
    if !IS_ACTIVE.load(Ordering::Relaxed) {
        return None;
    }
    told().tape.as_ref().map(|tape| tape.clone_ref(py))
}

/// What a tape is told of a launch.
pub struct RecordedLaunch<'a, 'py> {
    pub kernel: &'a Bound<'py, PyAny>,
    pub dim: &'a Bound<'py, PyAny>,
    pub max_blocks: u32,
    pub inputs: Option<&'a Bound<'py, PyAny>>,
    pub outputs: Option<&'a Bound<'py, PyAny>>,
    pub device: Py<PyDevice>,
    /// 0 for the module's.
    pub block_dim: u32,
}

impl<'py> RecordedLaunch<'_, 'py> {
    /// Tells the tape, or who watches, of the launch.
    ///
    /// # Errors
    /// What Python raises.
    pub fn tell(self, tape: &Bound<'py, PyAny>) -> PyResult<()> {
        let py = tape.py();
        let RecordedLaunch { kernel, dim, max_blocks, inputs, outputs, device, block_dim } = self;
        if !told().overrides
            && let Ok(tape) = tape.cast::<LaunchTape>()
        {
            let max_blocks = max_blocks.into_pyobject(py)?.into_any();
            let device = device.into_bound(py).into_any();
            let block_dim = Some(block_dim.into());
            return LaunchTape::record_launch(
                tape,
                kernel,
                dim,
                &max_blocks,
                inputs,
                outputs,
                Some(&device),
                block_dim,
                None,
            );
        }
        let recorded = (kernel, dim, max_blocks, inputs, outputs, device, block_dim);
        tape.call_method1(intern!(py, "record_launch"), recorded).map(drop)
    }
}

/// Tells the tape, if there is one, that elements of `src` were copied to `dest`: all, or `count` between two offsets.
///
/// # Errors
/// What Python raises.
pub fn record_copy(
    dest: &Bound<'_, Array>,
    src: &Bound<'_, Array>,
    [dest_offset, src_offset, count]: [usize; 3],
) -> PyResult<()> {
    let py = dest.py();
    if let Some(tape) = active(py) {
        let name = intern!(py, "record_copy");
        tape.call_method1(py, name, (dest, src, dest_offset, src_offset, count))?;
    }
    Ok(())
}

/// Tells the tape, if there is one, of an operation that is not differentiated: what it read and what it overwrote.
///
/// # Errors
/// What Python raises.
pub fn record_undifferentiated(
    py: Python<'_>,
    name: &str,
    read: &[&Bound<'_, PyAny>],
    written: &[&Bound<'_, PyAny>],
) -> PyResult<()> {
    if let Some(tape) = active(py) {
        let record = intern!(py, "record_undifferentiated");
        tape.call_method1(py, record, (name, read.to_vec(), written.to_vec()))?;
    }
    Ok(())
}

/// Tells the tape, if there is one, of an algorithm that is differentiated: what it overwrote, what it read, and its further
/// arguments.
///
/// # Errors
/// What Python raises.
pub fn record_algorithm<'py>(
    py: Python<'py>,
    name: &str,
    out: &Bound<'py, PyAny>,
    read: &[&Bound<'py, PyAny>],
    details: Bound<'py, PyTuple>,
) -> PyResult<()> {
    if let Some(tape) = active(py) {
        tape.call_method1(py, intern!(py, "record_algorithm"), (name, out, read.to_vec(), details))?;
    }
    Ok(())
}

/// Tells the tape, if there is one, that all elements of an array were overwritten by what has no gradient.
///
/// # Errors
/// What Python raises.
pub fn record_fill(array: &Bound<'_, Array>) -> PyResult<()> {
    let py = array.py();
    if let Some(tape) = active(py) {
        tape.call_method1(py, intern!(py, "record_fill"), (array,))?;
    }
    Ok(())
}

/// Whether what launches overwrite is looked at: `inkle.config.verify_autograd_array_access`.
pub static OVERWRITES_ARE_SOUGHT: AtomicBool = AtomicBool::new(false);

/// What a tape does at every launch, forwards and backwards; `inkle.Tape` is the rest of it.
#[pyclass(subclass, module = "inkle")]
pub struct LaunchTape {
    /// What was recorded: lists of the parameters of `record_launch`, and functions that go backwards.
    #[pyo3(get, set)]
    launches: Py<PyList>,
    /// The gradient of every array that took part, and for structs a struct of the gradients of its arrays.
    #[pyo3(get, set)]
    gradients: Py<PyDict>,
    /// Arrays with gradients that were used since somebody took them out of here.
    #[pyo3(get)]
    lately_used: Py<PyList>,
}

#[pymethods]
impl LaunchTape {
    /// An empty tape. What is given is for classes that are derived from it.
    #[new]
    #[pyo3(signature = (*_given, **_named))]
    fn new(_given: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> LaunchTape {
        LaunchTape::empty(_given.py())
    }

    /// Adds a launch. `block_dim` 0 or `None`: the module's.
    #[pyo3(signature = (kernel, dim, max_blocks, inputs, outputs, device, block_dim = None, metadata = None))]
    #[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
    fn record_launch<'py>(
        slf: &Bound<'py, Self>,
        kernel: &Bound<'py, PyAny>,
        dim: &Bound<'py, PyAny>,
        max_blocks: &Bound<'py, PyAny>,
        inputs: Option<&Bound<'py, PyAny>>,
        outputs: Option<&Bound<'py, PyAny>>,
        device: Option<&Bound<'py, PyAny>>,
        block_dim: Option<i64>,
        metadata: Option<Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let py = slf.py();
        let (inputs, outputs) = (list_of(py, inputs)?, list_of(py, outputs)?);
        let device = get_device(py, device)?;
        if OVERWRITES_ARE_SOUGHT.load(Ordering::Relaxed) {
            let check = py.import("inkle._overwrites")?.getattr("check_launch")?;
            check.call1((slf, kernel, &inputs, &outputs, &device))?;
        }
        let (launches, lately_used) = {
            let this = slf.borrow();
            (this.launches.bind(py).clone(), this.lately_used.bind(py).clone())
        };
        for argument in inputs.iter().chain(outputs.iter()) {
            note_use(&lately_used, &argument)?;
        }
        let block_dim = block_dim.filter(|&n| n != 0);
        let metadata = match metadata {
            Some(metadata) if metadata.is_truthy()? => metadata,
            _ => PyDict::new(py).into_any(),
        };
        let block_dim = block_dim.into_pyobject(py)?;
        let launch = [
            kernel.clone(),
            dim.clone(),
            max_blocks.clone(),
            inputs.into_any(),
            outputs.into_any(),
            device.into_bound(py).into_any(),
            block_dim,
            metadata,
        ];
        launches.append(PyList::new(py, launch)?)
    }

    /// Notes that what was recorded uses an argument.
    fn note_use(slf: &Bound<'_, Self>, argument: &Bound<'_, PyAny>) -> PyResult<()> {
        let lately_used = slf.borrow().lately_used.bind(slf.py()).clone();
        note_use(&lately_used, argument)
    }

    /// Runs everything recorded backwards, last first.
    fn run_backward(slf: &Bound<'_, Self>) -> PyResult<()> {
        let launches = slf.borrow().launches.bind(slf.py()).clone();
        let mut rest = launches.len();
        // Functions may record more, which is not run.
        while rest > 0 {
            rest = (rest - 1).min(launches.len().saturating_sub(1));
            let Ok(launch) = launches.get_item(rest) else { break };
            if launch.is_callable() {
                launch.call0()?;
            } else {
                run_launch_backward(slf, &launch)?;
            }
        }
        Ok(())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.launches)?;
        visit.call(&self.gradients)?;
        visit.call(&self.lately_used)
    }

    fn __clear__(&mut self, py: Python<'_>) {
        *self = LaunchTape::empty(py);
    }
}

impl LaunchTape {
    fn empty(py: Python<'_>) -> LaunchTape {
        let (launches, lately_used) = (PyList::empty(py).unbind(), PyList::empty(py).unbind());
        LaunchTape { launches, gradients: PyDict::new(py).unbind(), lately_used }
    }
}

/// A new list of what a program gave as arguments.
fn list_of<'py>(py: Python<'py>, arguments: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
    match arguments {
        None => Ok(PyList::empty(py)),
        Some(arguments) => match arguments.cast::<PySequence>() {
            Ok(sequence) => sequence.to_list(),
            Err(_) => {
                arguments.try_iter()?.collect::<PyResult<Vec<_>>>().and_then(|all| PyList::new(py, all))
            }
        },
    }
}

/// Adds the arrays with gradients of an argument to a list.
fn note_use(lately_used: &Bound<'_, PyList>, argument: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(array) = argument.cast::<Array>() {
        return match array.get().state() {
            Some(State::Strided(data)) if data.has_grad() => lately_used.append(array),
            Some(State::Indexed(indexed)) => note_use(lately_used, indexed.object().bind(argument.py())),
            _ => Ok(()),
        };
    }
    if let Ok(instance) = argument.cast::<StructInstance>() {
        for (_, array) in instance.get().arrays(argument.py()) {
            note_use(lately_used, array.bind(argument.py()))?;
        }
    }
    Ok(())
}

/// Runs a recorded launch backwards, and notes the gradients of what took part.
fn run_launch_backward(tape: &Bound<'_, LaunchTape>, launch: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = tape.py();
    let part = |index: usize| launch.get_item(index);
    let (kernel, inputs, outputs) = (part(0)?, part(3)?, part(4)?);
    if !kernel.getattr(intern!(py, "has_backward"))?.is_truthy()? {
        let message = format!(
            "kernel {} was recorded but has `enable_backward` switched off; gradients that pass through it are missing",
            kernel.getattr("key")?
        );
        return py.import("inkle._logger")?.call_method1("log_warning", (message,)).map(drop);
    }
    let gradients = tape.borrow().gradients.bind(py).clone();
    for argument in Arguments::new(Some(&inputs), Some(&outputs)).iter() {
        let argument = argument?;
        if let Ok(array) = argument.cast::<Array>() {
            if let Some(gradient) = array.get().get_grad(py) {
                gradients.set_item(array, gradient)?;
            }
        } else if argument.is_instance_of::<StructInstance>() {
            tape.call_method1(intern!(py, "get_adjoint"), (argument,))?;
        }
    }
    let (max_blocks, block_dim) = (part(2)?.extract()?, part(6)?.extract()?);
    launch_backward(&kernel, &part(1)?, [&inputs, &outputs], &part(5)?, max_blocks, block_dim)
}
