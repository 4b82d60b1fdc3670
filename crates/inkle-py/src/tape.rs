//! The tape that records launches, if one is active.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::array::Array;

/// Whether anybody is told of launches; looked at on every one.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

static TOLD: Mutex<Told> = Mutex::new(NOBODY);

const NOBODY: Told = Told { tape: None, watch: None };

/// Who is told of launches, copies and fills.
struct Told {
    tape: Option<Py<PyAny>>,
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
pub fn set_tape(tape: Option<Py<PyAny>>) {
    drop(change(|told| std::mem::replace(&mut told.tape, tape)));
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
