//! Which code a launch runs, and getting it ready.

use std::sync::{Arc, Mutex};

use inkle_graph::{Kernel as GraphKernel, KernelParam, KernelSource};
use inkle_module::{ArrayGrad, KernelIr, Loaded, Options};
use inkle_runtime::Device;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::{Code, Compiled, Instance, Variant, exception};
use crate::cache::apply_cache_settings;
use crate::pack::Facts;

/// Which way a kernel runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pass {
    /// As it is written.
    Forward,
    /// Backwards, for arguments whose arrays have these gradients.
    Backward(Vec<ArrayGrad>),
}

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

    /// The code that runs the kernel backwards, made at first need.
    fn backward(&self, py: Python<'_>, name: &str, grads: &[ArrayGrad]) -> PyResult<Arc<Code>> {
        if !self.enable_backward {
            return Err(PyRuntimeError::new_err(format!(
                "kernel `{name}` has no backward pass: `enable_backward` is off for it, its module or in inkle.config"
            )));
        }
        let find = || {
            let known = self.backward.lock().unwrap_or_else(|e| e.into_inner());
            known.iter().find(|(g, _)| g == grads).map(|(_, code)| code.clone())
        };
        let code = match find() {
            Some(code) => code,
            None => {
                let made = py.detach(|| self.forward.kernel.ir().backward(grads));
                let made = made.map(|ir| Arc::new(Code::new(ir)));
                let mut known = self.backward.lock().unwrap_or_else(|e| e.into_inner());
                match known.iter().find(|(g, _)| g == grads) {
                    Some((_, code)) => code.clone(),
                    None => {
                        known.push((grads.to_vec(), made.clone()));
                        made
                    }
                }
            }
        };
        code.map_err(|error| exception(py, &error))
    }
}

impl Code {
    /// A kernel of which nothing is loaded.
    pub fn new(ir: KernelIr) -> Code {
        Code { kernel: Arc::new(inkle_module::Kernel::new(ir)), ready: Mutex::new(Vec::new()) }
    }

    fn find(&self, variant: &Variant) -> Option<Arc<Loaded>> {
        let ready = self.ready.lock().unwrap_or_else(|e| e.into_inner());
        ready.iter().find(|(v, _)| v == variant).map(|(_, code)| code.clone())
    }

    fn load(&self, py: Python<'_>, variant: Variant, compiled: &Compiled) -> PyResult<Arc<Loaded>> {
        if let Some(code) = self.find(&variant) {
            return Ok(code);
        }
        let options = compiled.options_for(&variant);
        apply_cache_settings(py)?;
        let code = py
            .detach(|| self.kernel.load(variant.device, &options))
            .map_err(|error| exception(py, &error))?;
        self.ready.lock().unwrap_or_else(|e| e.into_inner()).push((variant, code.clone()));
        Ok(code)
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
        pass: &Pass,
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
        let code = match pass {
            Pass::Forward => compiled.forward.load(py, variant, compiled)?,
            Pass::Backward(grads) => compiled.backward(py, &self.name, grads)?.load(py, variant, compiled)?,
        };
        Ok((code, block_dim))
    }

    /// The simplified IR as text.
    ///
    /// # Errors
    /// As [`Instance::check`].
    pub fn ir_text(&self, py: Python<'_>) -> PyResult<String> {
        let compiled = self.outcome.as_ref().map_err(|error| exception(py, error))?;
        Ok(compiled.forward.kernel.ir().module().to_string())
    }

    /// Makes the code of a usual launch on a GPU ready, without the interpreter. A failure is left to the launch.
    pub fn load_ahead(&self, device: Device) {
        let Ok(compiled) = &self.outcome else { return };
        let block_dim = compiled.default_block_dim;
        let variant = Variant { device, contiguous: true, aligned: true, block_dim, grid_stride: false };
        let forward = &compiled.forward;
        if let Ok(code) = forward.kernel.load(device, &compiled.options_for(&variant)) {
            let mut ready = forward.ready.lock().unwrap_or_else(|e| e.into_inner());
            if !ready.iter().any(|(v, _)| *v == variant) {
                ready.push((variant, code));
            }
        }
    }

    /// The kernel as a graph knows it, for code that [`load`](Instance::load) gave.
    pub fn graph_kernel(&self, loaded: &Arc<Loaded>) -> (GraphKernel, Option<Arc<dyn KernelSource>>) {
        let params = self
            .packers
            .iter()
            .map(|p| KernelParam { name: p.name.clone(), ty: p.ty, offset: p.offset as u32 })
            .collect();
        let params_bytes = self.words as u32 * 8;
        let mut kernel =
            GraphKernel { name: self.name.clone(), params_bytes, params, ..GraphKernel::default() };
        let Ok(compiled) = &self.outcome else { return (kernel, None) };
        let backward = compiled.backward.lock().unwrap_or_else(|e| e.into_inner());
        let backward = backward.iter().filter_map(|(_, code)| code.as_deref().ok());
        for code in std::iter::once(&compiled.forward).chain(backward) {
            let ready = code.ready.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((variant, _)) = ready.iter().find(|(_, known)| Arc::ptr_eq(known, loaded)) {
                kernel.digest = *code.kernel.ir().digest().as_bytes();
                kernel.options = compiled.options_for(variant).key();
                break;
            }
        }
        (kernel, None)
    }

    /// What holds of arrays as they are allocated.
    pub fn usual_facts(&self) -> Facts {
        let arrays = self.outcome.as_ref().map_or(0, |c| c.arrays);
        Facts { contiguous: arrays, aligned: arrays }
    }
}
