//! The options that a kernel is compiled with.

use inkle_module::Options;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::Kernel;
use crate::module::config;

/// What module, kernel and process say about compilation.
pub(super) struct Settings {
    pub options: Options,
    pub max_unroll: u32,
    pub block_dim: u32,
    pub enable_backward: bool,
}

impl Settings {
    pub fn read(py: Python<'_>, kernel: &Kernel) -> PyResult<Settings> {
        let module = kernel.module.get().options(py);
        let own = kernel.options.bind(py);
        let config = config(py)?;
        let get = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            for dict in [own, module] {
                if let Some(value) = dict.get_item(name)?
                    && !value.is_none()
                {
                    return Ok(value);
                }
            }
            Ok(config.getattr_opt(name)?.unwrap_or_else(|| py.None().into_bound(py)))
        };
        let checks = get("mode")?.extract::<String>()? == "debug";
        let verify_fp = get("verify_fp")?.is_truthy()?;
        let mut options = Options { checks, verify_fp, ..Options::default() };
        let level = get("optimization_level")?;
        if !level.is_none() {
            options.optimization_level = level.extract::<u8>()?.min(3);
        }
        options.fast_math = get("fast_math")?.is_truthy()?;
        options.fuse_fp = get("fuse_fp")?.is_truthy()?;
        options.lineinfo = get("lineinfo")?.is_truthy()?;
        let registers = get("cuda_max_registers")?;
        if !registers.is_none() {
            options.max_registers = Some(registers.extract()?);
        }
        let bounds = get("launch_bounds")?;
        if let Ok(bounds) = bounds.cast::<PyTuple>() {
            let fewest = if bounds.len() > 1 { Some(bounds.get_item(1)?.extract()?) } else { None };
            options.launch_bounds = Some((bounds.get_item(0)?.extract()?, fewest));
        } else if !bounds.is_none() {
            options.launch_bounds = Some((bounds.extract()?, None));
        }
        Ok(Settings {
            options,
            max_unroll: get("max_unroll")?.extract::<i64>()?.clamp(0, u32::MAX.into()) as u32,
            block_dim: get("block_dim")?.extract()?,
            enable_backward: get("enable_backward")?.is_truthy()?,
        })
    }
}
