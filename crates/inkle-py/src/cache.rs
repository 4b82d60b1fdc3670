//! The kernel cache as `inkle.config` sets it.

use std::sync::Once;
use std::sync::atomic::Ordering;
use std::time::Duration;

use inkle_module::{CacheSettings, SizeLimit};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::kernel::EPOCH;
use crate::module::config;

/// How long the end of a program waits for the remote cache to have what it compiled.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tells the kernel cache what `inkle.config` says.
///
/// # Errors
/// `ValueError` for a limit that is no size; what Python raises while the configuration is read.
pub fn apply_cache_settings(py: Python<'_>) -> PyResult<()> {
    let config = config(py)?;
    let text = |name: &Bound<'_, pyo3::types::PyString>| -> PyResult<Option<String>> {
        let value = config.getattr(name)?;
        if value.is_none() { Ok(None) } else { Ok(Some(value.str()?.to_str()?.to_owned())) }
    };
    let limit = text(intern!(py, "kernel_cache_limit"))?
        .map(|text| text.parse::<SizeLimit>())
        .transpose()
        .map_err(|error| PyValueError::new_err(format!("inkle.config.kernel_cache_limit: {error}")))?;
    let remote = text(intern!(py, "kernel_cache_remote"))?;
    if remote.is_some() || inkle_module::remote_cache_url().is_some() {
        flush_at_exit(py)?;
    }
    inkle_module::configure_cache(CacheSettings {
        enabled: config.getattr(intern!(py, "cache_kernels"))?.is_truthy()?,
        dir: text(intern!(py, "kernel_cache_dir"))?.map(Into::into),
        limit,
        remote,
    });
    Ok(())
}

fn flush_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| {
        outcome = wrap_pyfunction!(flush, py)
            .and_then(|flush| py.import("atexit")?.call_method1("register", (flush,)).map(drop));
    });
    outcome
}

#[pyfunction]
fn flush(py: Python<'_>) {
    py.detach(|| inkle_module::flush_remote_cache(PATIENCE));
}

/// Deletes the compiled kernels on disk. Kernels loaded in this process stay loaded; they are compiled again when
/// they are loaded next.
#[pyfunction]
pub fn clear_kernel_cache(py: Python<'_>) -> PyResult<()> {
    apply_cache_settings(py)?;
    inkle_module::kernel_cache().clear().map_err(|error| PyOSError::new_err(error.to_string()))?;
    inkle_module::forget_loaded();
    EPOCH.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Deletes what linking left on disk, which is nothing: inkle keeps a kernel's finished code only, in the kernel cache,
/// and `clear_kernel_cache` deletes that.
#[pyfunction]
pub fn clear_lto_cache() {}

/// Where compiled kernels are kept.
#[pyfunction]
pub fn kernel_cache_dir(py: Python<'_>) -> PyResult<String> {
    apply_cache_settings(py)?;
    Ok(inkle_module::cache_dir().display().to_string())
}
