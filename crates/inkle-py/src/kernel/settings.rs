//! What kernel, module and process say about compilation; the more specific wins.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use inkle_module::{CheckOptions, ModuleOption, Options};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{EPOCH, Kernel};
use crate::module::config;

/// The settings that hold for a kernel now.
#[derive(Clone)]
pub(super) struct Settings {
    pub options: Options,
    pub check: CheckOptions,
    /// Threads per block of launches that do not say.
    pub block_dim: u32,
    pub enable_backward: bool,
    /// Whether a launch may have fewer blocks than its threads fill.
    pub grid_stride: bool,
}

impl Settings {
    /// # Errors
    /// For values that an option cannot have.
    pub fn read(py: Python<'_>, kernel: &Kernel) -> PyResult<Settings> {
        /// What the process says, and when it was asked: assigning to `inkle.config` starts a new epoch.
        static OF_PROCESS: Mutex<Option<(u64, Settings)>> = Mutex::new(None);
        if !kernel.options.bind(py).is_empty() || kernel.module.get().has_options(py) {
            return Settings::ask(py, kernel);
        }
        let epoch = EPOCH.load(Ordering::Relaxed);
        if let Some((asked, settings)) = &*OF_PROCESS.lock().unwrap_or_else(|e| e.into_inner())
            && *asked == epoch
        {
            return Ok(settings.clone());
        }
        let settings = Settings::ask(py, kernel)?;
        *OF_PROCESS.lock().unwrap_or_else(|e| e.into_inner()) = Some((epoch, settings.clone()));
        Ok(settings)
    }

    fn ask(py: Python<'_>, kernel: &Kernel) -> PyResult<Settings> {
        let get = |name: &str| setting(py, kernel, name);
        let flag = |name: &str| get(name)?.map_or(Ok(false), |v| v.is_truthy());
        let mut options = Options { verify_fp: flag("verify_fp")?, ..Options::default() };
        if let Some(mode) = get("mode")? {
            options.checks = mode.extract::<String>()? == "debug";
        }
        if let Some(level) = get("optimization_level")? {
            options.optimization_level = level.extract()?;
        }
        options.fast_math = flag("fast_math")?;
        options.fuse_fp = flag("fuse_fp")?;
        options.precise_math = flag("precise_math")?;
        options.lineinfo = flag("lineinfo")?;
        if let Some(mode) = get("deterministic")? {
            options.deterministic = match mode.extract::<String>() {
                Ok(name) => !name.eq_ignore_ascii_case("not_guaranteed"),
                Err(_) => mode.is_truthy()?,
            };
        }
        if let Some(registers) = get("cuda_max_registers")? {
            options.max_registers = Some(positive("cuda_max_registers", &registers)?);
        }
        if let Some(bounds) = get("launch_bounds")? {
            options.launch_bounds = Some(launch_bounds(&bounds)?);
        }
        let max_unroll = get("max_unroll")?.map_or(Ok(16), |v| v.extract::<u32>())?;
        let block_dim = get("block_dim")?.map_or(Ok(256), |v| v.extract::<u32>())?;
        let grid_stride = match get("grid_stride")? {
            Some(own) => own.is_truthy()?,
            None => get("default_grid_stride")?.map_or(Ok(true), |v| v.is_truthy())?,
        };
        Ok(Settings {
            options,
            check: CheckOptions { max_unroll },
            block_dim,
            enable_backward: enable_backward(py, kernel)?,
            grid_stride,
        })
    }
}

/// What the kernel, else its module, else `inkle.config` says of a setting.
fn setting<'py>(py: Python<'py>, kernel: &Kernel, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(value) = kernel.options.bind(py).get_item(name)?.filter(|v| !v.is_none()) {
        return Ok(Some(value));
    }
    if let Some(value) = kernel.module.get().own_option(py, name)? {
        return Ok(Some(value));
    }
    // What only kernels have is no setting of the process.
    if ModuleOption::of(name).is_err() {
        return Ok(None);
    }
    Ok(config(py)?.getattr_opt(name)?.filter(|v| !v.is_none()))
}

/// Whether a kernel may be run backwards; the one setting that every backward launch asks for.
pub(super) fn enable_backward(py: Python<'_>, kernel: &Kernel) -> PyResult<bool> {
    setting(py, kernel, "enable_backward")?.map_or(Ok(false), |v| v.is_truthy())
}

fn positive(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u32> {
    match value.extract::<u32>() {
        Ok(n) if n > 0 => Ok(n),
        _ => {
            Err(PyValueError::new_err(format!("`{name}` is a positive whole number, not {}", value.repr()?)))
        }
    }
}

/// The most threads of a block, and the fewest blocks of a multiprocessor.
fn launch_bounds(value: &Bound<'_, PyAny>) -> PyResult<(u32, Option<u32>)> {
    let Ok(bounds) = value.cast::<PyTuple>() else { return Ok((positive("launch_bounds", value)?, None)) };
    match bounds.len() {
        1 => Ok((positive("launch_bounds", &bounds.get_item(0)?)?, None)),
        2 => Ok((
            positive("launch_bounds", &bounds.get_item(0)?)?,
            Some(positive("launch_bounds", &bounds.get_item(1)?)?),
        )),
        n => Err(PyValueError::new_err(format!(
            "`launch_bounds` is the most threads of a block, or a tuple of that and the fewest blocks; this one has {n} values"
        ))),
    }
}
