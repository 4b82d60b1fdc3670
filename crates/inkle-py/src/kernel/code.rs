//! Which code a launch runs, and getting it ready.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use inkle_diag::Diagnostic;
use inkle_graph::{Kernel as GraphKernel, KernelParam, KernelSource};
use inkle_ir::KernelAccess;
use inkle_module::{AotCode, ArrayGrad, CompileError, Digest, GraphSource, How, Loaded, Options};
use inkle_runtime::Device;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::{Code, Compiled, Instance, Variant, exception};
use crate::ahead::finish_at_exit;
use crate::cache::apply_cache_settings;
use crate::pack::Facts;
use crate::report::Load;

/// Which way a kernel runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pass {
    /// As it is written.
    Forward,
    /// Backwards, for arguments whose arrays have these gradients.
    Backward(Vec<ArrayGrad>),
}

impl Instance {
    fn options_for(&self, variant: &Variant) -> Options {
        Options {
            contiguous: if variant.contiguous { self.arrays } else { 0 },
            aligned: variant.aligned,
            grid_stride: variant.grid_stride,
            ..self.source.settings.options.clone()
        }
    }

    /// The kernel as the program's source has it, to compile it for `what`.
    ///
    /// # Errors
    /// Mistakes in the kernel; and when it is not the one that files of compiled modules have code of: its body may be
    /// missing here, and what is made of it would do nothing.
    fn compiled_from_source(&self, py: Python<'_>, what: &str) -> PyResult<&Compiled> {
        let compiled = self.compiled(py).map_err(|error| exception(py, error))?;
        if self.ahead.iter().any(|code| !code.is_of(compiled.forward.kernel.ir())) {
            return Err(PyRuntimeError::new_err(format!(
                "kernel `{}` has code that was compiled ahead of time, but not for {what}, and the kernel in this program is \
                 another one, so none is made; load_aot_module() for that too, or unload() the module",
                self.name
            )));
        }
        Ok(compiled)
    }

    /// The code that runs the kernel backwards, made at first need.
    fn backward(&self, py: Python<'_>, grads: &[ArrayGrad]) -> PyResult<Arc<Code>> {
        let name = &self.name;
        if !self.source.settings.enable_backward {
            return Err(PyRuntimeError::new_err(format!(
                "kernel `{name}` has no backward pass: `enable_backward` is off for it, its module or in inkle.config"
            )));
        }
        let compiled = self.compiled_from_source(py, "a backward pass")?;
        let find = || {
            let known = compiled.backward.lock().unwrap_or_else(|e| e.into_inner());
            known.iter().find(|(g, _)| g == grads).map(|(_, code)| code.clone())
        };
        let code = match find() {
            Some(code) => code,
            None => {
                let made = py.detach(|| self.backward_ir(compiled, grads));
                let made = made.map(|ir| Arc::new(Code::new(Arc::new(inkle_module::Kernel::new(ir)))));
                let mut known = compiled.backward.lock().unwrap_or_else(|e| e.into_inner());
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
    pub fn new(kernel: Arc<inkle_module::Kernel>) -> Code {
        Code { kernel, ready: Mutex::new(Vec::new()), is_doubt_told: AtomicBool::new(false) }
    }

    /// What a backward pass is not sure of, the first time that it is asked.
    fn untold_doubt(&self) -> Option<String> {
        let doubt = self.kernel.ir().doubt()?;
        (!self.is_doubt_told.swap(true, Ordering::Relaxed)).then(|| doubt.render())
    }

    fn find(&self, variant: &Variant) -> Option<Arc<Loaded>> {
        let ready = self.ready.lock().unwrap_or_else(|e| e.into_inner());
        ready.iter().find(|(v, _)| v == variant).map(|(_, code)| code.clone())
    }

    fn load(&self, py: Python<'_>, variant: Variant, instance: &Instance) -> PyResult<Arc<Loaded>> {
        if let Some(code) = self.find(&variant) {
            return Ok(code);
        }
        let options = instance.options_for(&variant);
        if let Some(code) = self.kernel.shared(variant.device, &options) {
            self.push(variant, code.clone());
            return Ok(code);
        }
        apply_cache_settings(py)?;
        let load = Load {
            module: instance.module.get(),
            kernel: &instance.name,
            digest: *self.kernel.ir().digest(),
            device: variant.device,
        };
        let code = load.reported(py, || self.kernel.load(variant.device, &options))?;
        self.push(variant, code.clone());
        Ok(code)
    }

    fn push(&self, variant: Variant, code: Arc<Loaded>) {
        let mut ready = self.ready.lock().unwrap_or_else(|e| e.into_inner());
        if !ready.iter().any(|(v, _)| *v == variant) {
            ready.push((variant, code));
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
        pass: &Pass,
    ) -> PyResult<(Arc<Loaded>, u32)> {
        let block_dim = if block_dim == 0 { self.source.settings.block_dim } else { block_dim };
        if device.is_cuda() && grid_stride && !self.source.settings.grid_stride {
            return Err(PyRuntimeError::new_err(format!(
                "kernel `{}` is launched with `max_blocks`, which needs threads that loop, but `grid_stride` is off for \
                 it, its module (`default_grid_stride`) or in inkle.config",
                self.name
            )));
        }
        let variant = self.variant(device, facts, grid_stride);
        let code = match pass {
            Pass::Forward => match self.ahead.iter().find(|code| code.device() == device) {
                Some(code) => self.load_precompiled(py, code, &variant)?,
                None => self.compiled_from_source(py, device.alias())?.forward.load(py, variant, self)?,
            },
            Pass::Backward(grads) => {
                let code = self.backward(py, grads)?;
                if let Some(doubt) = code.untold_doubt() {
                    let message = format!("kernel `{}`:\n{doubt}", self.name);
                    py.import("inkle._logger")?.call_method1("log_warning", (message,))?;
                }
                code.load(py, variant, self)?
            }
        };
        Ok((code, block_dim))
    }

    fn variant(&self, device: Device, facts: Facts, grid_stride: bool) -> Variant {
        let on_gpu = device.is_cuda();
        Variant {
            device,
            contiguous: facts.contiguous & self.arrays == self.arrays,
            aligned: on_gpu && facts.aligned & self.arrays == self.arrays,
            grid_stride: on_gpu && grid_stride,
        }
    }

    /// Whether a launch that a tape records is one of the first: those show which backward kernels will be needed.
    pub fn is_early_on_tape(&self) -> bool {
        const EARLY: u8 = 16;
        self.has_backward()
            && self.recorded.load(Ordering::Relaxed) < EARLY
            && self.recorded.fetch_add(1, Ordering::Relaxed) < EARLY
    }

    /// Makes the code that runs a launch backwards ready, in the background.
    ///
    /// # Errors
    /// What Python raises; why there is no such code is said by whoever needs it.
    pub fn prepare_backward(
        self: &Arc<Self>,
        py: Python<'_>,
        device: Device,
        facts: Facts,
        grid_stride: bool,
        grads: Vec<ArrayGrad>,
    ) -> PyResult<()> {
        let variant = self.variant(device, facts, grid_stride);
        let Some(Ok(compiled)) = self.source.outcome.get() else { return Ok(()) };
        let is_known = {
            let known = compiled.backward.lock().unwrap_or_else(|e| e.into_inner());
            known
                .iter()
                .any(|(g, code)| *g == grads && code.as_ref().is_ok_and(|code| code.find(&variant).is_some()))
        };
        if is_known || grads.iter().all(|&g| g == ArrayGrad::None) || inkle_module::cores() == 1 {
            return Ok(());
        }
        apply_cache_settings(py)?;
        finish_at_exit(py)?;
        let instance = self.clone();
        inkle_module::next_in_background(move || {
            // There is no interpreter any more when the program has ended.
            Python::try_attach(|py| {
                if let Ok(code) = instance.backward(py, &grads) {
                    let options = instance.options_for(&variant);
                    let made = py.detach(|| code.kernel.load_if_idle(device, &options));
                    if let Ok(Some((loaded, _))) = made {
                        code.push(variant, loaded);
                    }
                }
                drop(instance);
            });
        });
        Ok(())
    }

    fn load_precompiled(&self, py: Python<'_>, code: &AotCode, variant: &Variant) -> PyResult<Arc<Loaded>> {
        let options = self.options_for(variant);
        match code.loaded(&options) {
            Some(loaded) => Ok(loaded),
            None => py.detach(|| code.load(&options)).map_err(|error| exception(py, &error)),
        }
    }

    /// Whether the backward pass is switched on.
    pub fn has_backward(&self) -> bool {
        self.source.settings.enable_backward
    }

    /// What the kernel, run forwards or backwards, may do with memory.
    ///
    /// # Errors
    /// As [`Instance::check`]; and why there is no backward pass.
    pub fn access(&self, py: Python<'_>, pass: &Pass) -> PyResult<KernelAccess> {
        match (pass, self.ahead.first()) {
            (Pass::Forward, Some(code)) => Ok(code.access()),
            (Pass::Forward, None) => {
                let compiled = self.compiled(py).map_err(|error| exception(py, error))?;
                Ok(compiled.forward.kernel.ir().access().clone())
            }
            (Pass::Backward(grads), _) => Ok(self.backward(py, grads)?.kernel.ir().access().clone()),
        }
    }

    /// What the backward pass for arrays with such gradients is not sure of; its launches do not tell it then.
    ///
    /// # Errors
    /// As [`Instance::access`].
    pub fn doubt(&self, py: Python<'_>, grads: &[ArrayGrad]) -> PyResult<Option<String>> {
        let code = self.backward(py, grads)?;
        code.is_doubt_told.store(true, Ordering::Relaxed);
        Ok(code.kernel.ir().doubt().map(Diagnostic::render))
    }

    /// The simplified IR as text.
    ///
    /// # Errors
    /// As [`Instance::check`].
    pub fn ir_text(&self, py: Python<'_>) -> PyResult<String> {
        let compiled = self.compiled(py).map_err(|error| exception(py, error))?;
        Ok(compiled.forward.kernel.ir().module().to_string())
    }

    /// Makes the code of a usual launch ready, without the interpreter, and says how; with the digest of its IR. `None` when
    /// the kernel was not checked, or has its code from a file, or another thread is making it and this one does not `wait`.
    ///
    /// # Errors
    /// Why code could not be made or loaded.
    pub fn load_ahead(&self, device: Device, wait: bool) -> Result<Option<(How, Digest)>, CompileError> {
        if let Some(code) = self.ahead.iter().find(|code| code.device() == device) {
            code.load_usual()?;
            return Ok(None);
        }
        let Some(outcome) = self.source.outcome.get() else { return Ok(None) };
        let compiled = outcome.as_ref().map_err(CompileError::clone)?;
        let (code, on_gpu) = (&compiled.forward, device.is_cuda());
        let variant = Variant { device, contiguous: true, aligned: on_gpu, grid_stride: false };
        let digest = *code.kernel.ir().digest();
        if code.find(&variant).is_some() {
            return Ok(Some((How::Shared, digest)));
        }
        let options = self.options_for(&variant);
        let made = if wait {
            Some(code.kernel.load(device, &options)?)
        } else {
            code.kernel.load_if_idle(device, &options)?
        };
        let Some((loaded, how)) = made else { return Ok(None) };
        code.push(variant, loaded);
        Ok(Some((how, digest)))
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
        let outcome = self.source.outcome.get().and_then(|outcome| outcome.as_ref().ok());
        for code in &self.ahead {
            let Some((digest, options)) = code.origin(loaded) else { continue };
            kernel.digest = *digest.as_bytes();
            kernel.options = options.to_owned();
            let Some(options) = Options::from_key(options) else { return (kernel, None) };
            // Whoever has the kernel's body can compile it for any machine.
            let body = outcome.map(|compiled| &compiled.forward.kernel).filter(|own| code.is_of(own.ir()));
            let source: Arc<dyn KernelSource> = match body {
                Some(own) => Arc::new(GraphSource::new(own.clone(), options)),
                None => Arc::new(code.source(options)),
            };
            return (kernel, Some(source));
        }
        let Some(compiled) = outcome else { return (kernel, None) };
        let backward = compiled.backward.lock().unwrap_or_else(|e| e.into_inner());
        let backward = backward.iter().filter_map(|(_, code)| code.as_deref().ok());
        for code in std::iter::once(&compiled.forward).chain(backward) {
            let ready = code.ready.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((variant, _)) = ready.iter().find(|(_, known)| Arc::ptr_eq(known, loaded)) {
                let options = self.options_for(variant);
                kernel.digest = *code.kernel.ir().digest().as_bytes();
                kernel.options = options.key();
                return (kernel, Some(Arc::new(GraphSource::new(code.kernel.clone(), options))));
            }
        }
        (kernel, None)
    }

    /// What holds of arrays as they are allocated.
    pub fn usual_facts(&self) -> Facts {
        Facts { contiguous: self.arrays, aligned: self.arrays }
    }
}
