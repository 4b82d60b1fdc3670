//! `inkle.ref[T]`: the annotation of parameters whose assignments change the caller's variable.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::dtype::{pattern_of, shown, type_to_warp};
use crate::error::{argument_error, class_name};

/// Annotates a parameter of a function: assignments to it change the variable, the component or the array element
/// that the caller passes. Written `inkle.ref[T]`, where `T` is the type of the value, which may be generic.
#[pyclass(frozen, module = "inkle._native", name = "ref")]
pub struct Reference {
    target: Py<PyAny>,
}

impl Reference {
    /// The annotation of the value.
    pub fn target<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.target.bind(py)
    }
}

#[pymethods]
impl Reference {
    #[classmethod]
    fn __class_getitem__<'py>(
        _class: &Bound<'py, PyType>,
        target: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Reference>> {
        let py = target.py();
        if pattern_of(target)?.is_none() {
            let given = target.repr().map_or_else(|_| class_name(target), |r| r.to_string());
            return Err(argument_error(py, format!("`ref[...]` takes the type of a value, not {given}")));
        }
        Bound::new(py, Reference { target: type_to_warp(target)?.unbind() })
    }

    /// The type of the value.
    #[getter(dtype)]
    fn dtype(&self, py: Python<'_>) -> Py<PyAny> {
        self.target.clone_ref(py)
    }

    /// The type of the value.
    #[getter(value_type)]
    fn value_type(&self, py: Python<'_>) -> Py<PyAny> {
        self.target.clone_ref(py)
    }

    fn __eq__(&self, py: Python<'_>, other: &Reference) -> PyResult<bool> {
        Ok(pattern_of(self.target(py))? == pattern_of(other.target(py))?)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        self.__repr__(py)?.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let pattern = pattern_of(self.target(py))?;
        Ok(format!("wp.ref[{}]", pattern.as_ref().map_or_else(String::new, shown)))
    }
}
