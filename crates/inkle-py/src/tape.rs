//! The tape that records launches, if one is active.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// Whether there is a tape; looked at on every launch.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

static TAPE: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// The tape that records.
#[inline]
pub fn active(py: Python<'_>) -> Option<Py<PyAny>> {
    if !IS_ACTIVE.load(Ordering::Relaxed) {
        return None;
    }
    TAPE.lock().unwrap_or_else(|e| e.into_inner()).as_ref().map(|tape| tape.clone_ref(py))
}

/// Makes `tape` record from now on, or none.
#[pyfunction]
#[pyo3(signature = (tape = None))]
pub fn set_tape(tape: Option<Py<PyAny>>) {
    IS_ACTIVE.store(tape.is_some(), Ordering::Relaxed);
    let old = std::mem::replace(&mut *TAPE.lock().unwrap_or_else(|e| e.into_inner()), tape);
    drop(old);
}

/// The tape that records, or `None`.
#[pyfunction]
pub fn get_tape(py: Python<'_>) -> Option<Py<PyAny>> {
    active(py)
}
