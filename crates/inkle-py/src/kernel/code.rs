//! Which code a launch runs, and getting it ready.

use std::sync::Arc;

use inkle_module::{Loaded, Options};
use inkle_runtime::Device;
use pyo3::prelude::*;

use super::{Compiled, Instance, Variant, exception};
use crate::cache::apply_cache_settings;
use crate::pack::Facts;

impl Compiled {
    fn options_for(&self, variant: &Variant) -> Options {
        Options {
            contiguous: if variant.contiguous { self.arrays } else { 0 },
            aligned: variant.aligned,
            grid_stride: variant.grid_stride,
            block_dim: if variant.device.is_cuda() {
                variant.block_dim
            } else {
                Options::default().block_dim
            },
            ..self.options.clone()
        }
    }
}

impl Instance {
    /// The code for a launch on `device` with arrays of which `facts` hold; `block_dim` zero for the module's.
    ///
    /// # Errors
    /// Why code could not be made or loaded.
    pub fn load(
        &self,
        py: Python<'_>,
        device: Device,
        facts: Facts,
        block_dim: u32,
        grid_stride: bool,
    ) -> PyResult<(Arc<Loaded>, u32)> {
        let compiled = self.outcome.as_ref().map_err(|error| exception(py, error))?;
        let block_dim = if block_dim == 0 { compiled.default_block_dim } else { block_dim };
        let on_gpu = device.is_cuda();
        let variant = Variant {
            device,
            contiguous: facts.contiguous & compiled.arrays == compiled.arrays,
            aligned: on_gpu && facts.aligned & compiled.arrays == compiled.arrays,
            block_dim: if on_gpu { block_dim } else { 0 },
            grid_stride: on_gpu && grid_stride,
        };
        {
            let ready = compiled.ready.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((_, code)) = ready.iter().find(|(v, _)| *v == variant) {
                return Ok((code.clone(), block_dim));
            }
        }
        let options = compiled.options_for(&variant);
        apply_cache_settings(py)?;
        let code =
            py.detach(|| compiled.kernel.load(device, &options)).map_err(|error| exception(py, &error))?;
        compiled.ready.lock().unwrap_or_else(|e| e.into_inner()).push((variant, code.clone()));
        Ok((code, block_dim))
    }

    /// Makes the code of a usual launch on a GPU ready, without the interpreter. A failure is left to the launch.
    pub fn load_ahead(&self, device: Device) {
        let Ok(compiled) = &self.outcome else { return };
        let block_dim = compiled.default_block_dim;
        let variant = Variant { device, contiguous: true, aligned: true, block_dim, grid_stride: false };
        if let Ok(code) = compiled.kernel.load(device, &compiled.options_for(&variant)) {
            let mut ready = compiled.ready.lock().unwrap_or_else(|e| e.into_inner());
            if !ready.iter().any(|(v, _)| *v == variant) {
                ready.push((variant, code));
            }
        }
    }

    /// What holds of arrays as they are allocated.
    pub fn usual_facts(&self) -> Facts {
        let arrays = self.outcome.as_ref().map_or(0, |c| c.arrays);
        Facts { contiguous: arrays, aligned: arrays }
    }
}
