//! Built-ins of the kernel language as Python objects.

use std::collections::HashSet;
use std::sync::OnceLock;

use inkle_frontend::builtins;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Whether kernels have a built-in of this name.
pub fn is_builtin(name: &str) -> bool {
    static LIBRARY: OnceLock<HashSet<String>> = OnceLock::new();
    builtins::lookup(name).is_some()
        || LIBRARY.get_or_init(|| inkle_module::library_names().into_iter().collect()).contains(name)
}

// A built-in of the kernel language, such as `inkle.sin`. No doc comment: it would hide each object's own `__doc__`.
#[pyclass(frozen, weakref, module = "inkle", name = "Builtin")]
pub struct Builtin {
    name: String,
}

impl Builtin {
    /// The name users call it by.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[pymethods]
impl Builtin {
    /// Runs the built-in on Python values, on the CPU, as a kernel would.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::host_call::call(py, &self.name, args, kwargs)
    }

    /// The name users call it by.
    #[getter]
    fn key(&self) -> &str {
        &self.name
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// Its forms, in the order they are tried: group of the documentation, signature, documentation.
    #[getter]
    fn forms(&self) -> Vec<(String, String, String)> {
        let forms = inkle_module::builtin_forms(&self.name).into_iter();
        forms.map(|form| (form.group, form.signature, form.doc)).collect()
    }

    #[getter]
    fn __doc__(&self) -> Option<String> {
        inkle_module::builtin_forms(&self.name).into_iter().next().map(|form| form.doc)
    }

    fn __repr__(&self) -> String {
        format!("<built-in {}>", self.name)
    }
}

/// The built-in of a name; `None` when there is none.
#[pyfunction]
pub fn builtin(name: &str) -> Option<Builtin> {
    is_builtin(name).then(|| Builtin { name: name.to_owned() })
}

/// The names of all built-ins.
#[pyfunction]
pub fn builtin_names() -> Vec<String> {
    let mut names: Vec<String> = builtins::BUILTINS.iter().map(|b| b.name.to_owned()).collect();
    names.extend(inkle_module::library_names());
    names.sort_unstable();
    names.dedup();
    names
}
