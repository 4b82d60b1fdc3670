//! From a kernel and argument types to an instance: checked, or with code from a file of compiled kernels.

use std::sync::atomic::AtomicU8;
use std::sync::{Mutex, OnceLock};

use inkle_diag::trace::{self, Stage};
use inkle_ir::{MAX_DIMS, ParamLayout, Type};
use inkle_module::{ArrayGrad, CompileError, KernelIr, Options};
use pyo3::prelude::*;
use pyo3::sync::OnceLockExt;

use super::settings::Settings;
use super::{Code, Compiled, Instance, Kernel, Source, exception};
use crate::cache::apply_cache_settings;
use crate::environment::PythonEnvironment;
use crate::error::compile_error;
use crate::pack::Packer;
use crate::trace::follow_options;

/// When a thread that makes an instance keeps other threads from running Python code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Attached {
    /// All the time: quickest, when no other thread makes one.
    Throughout,
    /// While it asks about names.
    WhenAsking,
}

impl Kernel {
    pub(super) fn build(
        &self,
        py: Python<'_>,
        types: Vec<Type>,
        generation: u64,
        attached: Attached,
    ) -> PyResult<Instance> {
        follow_options(py, self.module.get())?;
        apply_cache_settings(py)?;
        let _span = trace::span(Stage::Kernel, || self.key.as_str());
        let settings = Settings::read(py, self)?;
        let ahead: Vec<_> = {
            let known = self.family.ahead.lock().unwrap_or_else(|e| e.into_inner());
            known.iter().filter(|code| code.takes(&types)).cloned().collect()
        };
        let source = Source { key: self.definition.key, settings, outcome: OnceLock::new() };
        let mut instance = Instance {
            name: self.key.clone(),
            module: self.module.clone_ref(py),
            packers: Vec::new(),
            words: 0,
            arrays: 0,
            types,
            generation,
            ahead,
            source,
            recorded: AtomicU8::new(0),
        };
        if attached == Attached::WhenAsking && instance.ahead.is_empty() {
            // Nobody else has the instance yet.
            let _ = instance.source.outcome.set(instance.check_source(py, attached));
        }
        if instance.ahead.iter().any(|code| code.is_strict()) {
            let kept = instance.compiled(py).map(|compiled| {
                let ir = compiled.forward.kernel.ir();
                instance.ahead.iter().filter(|code| !code.is_strict() || code.is_of(ir)).cloned().collect()
            });
            instance.ahead = kept.unwrap_or_default();
        }
        // Where there is code, the kernel's body may be missing: it is not looked at until a launch needs other code.
        if !instance.ahead.is_empty() || instance.compiled(py).is_ok() {
            let signature = self.signature(py);
            let signature = signature.as_ref().as_ref().map_err(|d| compile_error(py, d))?;
            let layout = ParamLayout::new(instance.types.iter().copied());
            let params = signature.params.iter().zip(&instance.types).zip(&layout.args).enumerate();
            instance.packers = params
                .map(|(index, (((name, _), ty), place))| Packer {
                    name: name.clone(),
                    ty: *ty,
                    offset: place.offset as usize,
                    index,
                })
                .collect();
            instance.words = (layout.size as usize).div_ceil(8);
            let arrays = instance.types.iter().enumerate().take(64).filter(|(_, ty)| ty.as_array().is_some());
            instance.arrays = arrays.fold(0, |mask, (index, _)| mask | 1 << index);
        }
        Ok(instance)
    }
}

impl Instance {
    /// Fails when the kernel could not be built, the same way every time.
    ///
    /// # Errors
    /// `CompileError` with every mistake in the kernel.
    #[inline]
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        match self.source.outcome.get() {
            Some(Err(error)) if self.ahead.is_empty() => Err(exception(py, error)),
            _ => Ok(()),
        }
    }

    /// The largest extent of each launch dimension; see [`inkle_module::KernelIr::extent_limits`]. A kernel with
    /// mistakes, which launches report, has the strictest ones.
    #[cold]
    pub fn extent_limits(&self, py: Python<'_>) -> [Option<u32>; MAX_DIMS] {
        match self.compiled(py) {
            Ok(compiled) => compiled.forward.kernel.ir().extent_limits(),
            Err(_) => [Some(i32::MAX as u32); MAX_DIMS],
        }
    }

    /// The kernel checked, at the first call.
    pub(super) fn compiled(&self, py: Python<'_>) -> Result<&Compiled, &CompileError> {
        // Another thread that is at it may need the interpreter.
        let check = || self.check_source(py, Attached::Throughout);
        self.source.outcome.get_or_init_py_attached(py, check).as_ref()
    }

    fn check_source(&self, py: Python<'_>, attached: Attached) -> Result<Compiled, CompileError> {
        let environment = PythonEnvironment::default();
        let Source { key, settings, .. } = &self.source;
        let build =
            || inkle_module::obtain(&environment, *key, &self.types, settings.check, &settings.options);
        let kernel = match attached {
            Attached::Throughout => build(),
            Attached::WhenAsking => py.detach(build),
        };
        // A logger that fails does not keep the kernel from being compiled.
        if let Err(error) = environment.log_warnings(py) {
            error.write_unraisable(py, None);
        }
        Ok(Compiled { forward: Code::new(kernel?), backward: Mutex::new(Vec::new()) })
    }

    /// The IR of the backward pass.
    ///
    /// # Errors
    /// [`CompileError::Rejected`] when the kernel cannot be differentiated, with the place of the reason.
    pub(super) fn backward_ir(
        &self,
        compiled: &Compiled,
        grads: &[ArrayGrad],
    ) -> Result<KernelIr, CompileError> {
        let ir = compiled.forward.kernel.ir();
        match ir.backward(grads) {
            // Checked once more, for the places in the source.
            Err(CompileError::Rejected(_)) if ir.lacks_places() => {
                let Source { key, settings, .. } = &self.source;
                KernelIr::build(&PythonEnvironment::default(), *key, &self.types, settings.check)?
                    .backward(grads)
            }
            made => made,
        }
    }

    /// The kernel, and the options its module and it give, to compile it ahead of time.
    ///
    /// # Errors
    /// `CompileError` with every mistake in the kernel.
    pub(crate) fn kernel(&self, py: Python<'_>) -> PyResult<(&inkle_module::Kernel, Options)> {
        let compiled = self.compiled(py).map_err(|error| exception(py, error))?;
        Ok((&compiled.forward.kernel, self.source.settings.options.clone()))
    }
}
