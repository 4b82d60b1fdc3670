//! `compile_time_trace`: a record of where compilation spends its time, written when the program ends.

use std::path::PathBuf;
use std::sync::Mutex;

use inkle_diag::trace;
use inkle_module::Trace;
use pyo3::prelude::*;

use crate::cache::apply_cache_settings;
use crate::module::{Module, config};

/// The environment variable that names the file and turns recording on from the start.
const VARIABLE: &str = "INKLE_COMPILE_TIME_TRACE";

/// The file that was asked for, when recording is on; `None` inside for one in the kernel cache.
static FILE: Mutex<Option<Option<PathBuf>>> = Mutex::new(None);

/// Starts recording when the environment asks for it.
///
/// # Errors
/// What Python raises while the end of the program is arranged.
pub fn follow_environment(py: Python<'_>) -> PyResult<()> {
    match std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        Some(path) => start(py, Some(path.into())),
        None => Ok(()),
    }
}

/// Starts recording when `inkle.config` or the module asks for it.
///
/// # Errors
/// What Python raises while options are read.
pub fn follow_options(py: Python<'_>, module: &Module) -> PyResult<()> {
    if trace::is_recording() {
        return Ok(());
    }
    let wanted = match module.own_option(py, "compile_time_trace")? {
        Some(own) => own,
        None => config(py)?.getattr("compile_time_trace")?,
    };
    if wanted.is_truthy()? { start(py, None) } else { Ok(()) }
}

fn start(py: Python<'_>, path: Option<PathBuf>) -> PyResult<()> {
    let mut file = FILE.lock().unwrap_or_else(|e| e.into_inner());
    if file.is_none() {
        py.import("atexit")?.call_method1("register", (wrap_pyfunction!(write, py)?,))?;
        *file = Some(path);
    }
    trace::record(true);
    Ok(())
}

/// Writes what was recorded, and says where.
#[pyfunction]
fn write(py: Python<'_>) -> PyResult<()> {
    trace::record(false);
    let Some(file) = FILE.lock().unwrap_or_else(|e| e.into_inner()).take() else { return Ok(()) };
    apply_cache_settings(py)?;
    let log = py.import("inkle._logger")?;
    let path = file.unwrap_or_else(|| {
        inkle_module::cache_dir().join(format!("compile-time-trace-{}.json", std::process::id()))
    });
    match Trace::take().write(&path) {
        Ok(()) => log.call_method1("log_debug", (format!("compile-time trace: {}", path.display()),))?,
        Err(error) => {
            let message = format!("the compile-time trace cannot be written at {}: {error}", path.display());
            log.call_method1("log_warning", (message,))?
        }
    };
    Ok(())
}
