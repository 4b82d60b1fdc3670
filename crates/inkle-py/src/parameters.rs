//! The parameters of a kernel as programs look at them: names and annotations, under the reference API's names.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::dtype::type_to_warp;
use crate::function::Definition;

/// A parameter of a kernel.
#[pyclass(frozen, get_all, module = "inkle._native")]
pub struct Parameter {
    /// The name.
    label: String,
    /// The annotation: a type, or an array's annotation; `None` when there is none.
    r#type: Py<PyAny>,
}

#[pymethods]
impl Parameter {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}: {}", self.label, self.r#type.bind(py).repr()?))
    }
}

/// What a kernel was made from: `Kernel.adj`.
#[pyclass(frozen, get_all, module = "inkle._native")]
pub struct Declaration {
    /// The parameters in order.
    args: Py<PyTuple>,
    /// The Python function.
    func: Py<PyAny>,
}

impl Declaration {
    /// Of a definition.
    ///
    /// # Errors
    /// When an annotation cannot be evaluated.
    pub fn of(py: Python<'_>, definition: &Definition) -> PyResult<Declaration> {
        let function = definition.function.bind(py);
        let annotations = definition.annotations(py)?;
        let code = function.getattr("__code__")?;
        let count: usize = code.getattr("co_argcount")?.extract()?;
        let names: Vec<String> = code.getattr("co_varnames")?.extract()?;
        let args = names.into_iter().take(count).map(|label| {
            let r#type = match annotations.get_item(&label)? {
                Some(annotation) => type_to_warp(&annotation)?.unbind(),
                None => py.None(),
            };
            Bound::new(py, Parameter { label, r#type })
        });
        let args = args.collect::<PyResult<Vec<_>>>()?;
        Ok(Declaration { args: PyTuple::new(py, args)?.unbind(), func: definition.function.clone_ref(py) })
    }
}
