//! What is particular to vectors, matrices, quaternions and transforms among the values.

use inkle_ir::Type;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::composite::{Made, Value, new_value};
use crate::error::class_name;
use crate::number;

/// A vector; the base of the vector classes.
#[pyclass(subclass, frozen, extends = Value, module = "inkle._native")]
pub struct Vector;

#[pymethods]
impl Vector {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args))]
    fn new(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>) -> PyResult<PyClassInitializer<Vector>> {
        Ok(PyClassInitializer::from(new_value(class, args)?).add_subclass(Vector))
    }
}

/// A quaternion `x, y, z, w`; the base of the quaternion classes.
#[pyclass(subclass, frozen, extends = Value, module = "inkle._native")]
pub struct Quaternion;

#[pymethods]
impl Quaternion {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args))]
    fn new(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>) -> PyResult<PyClassInitializer<Quaternion>> {
        Ok(PyClassInitializer::from(new_value(class, args)?).add_subclass(Quaternion))
    }
}

/// A matrix; the base of the matrix classes.
#[pyclass(subclass, frozen, extends = Value, module = "inkle._native")]
pub struct Matrix;

#[pymethods]
impl Matrix {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args))]
    fn new(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>) -> PyResult<PyClassInitializer<Matrix>> {
        Ok(PyClassInitializer::from(new_value(class, args)?).add_subclass(Matrix))
    }

    /// Row `index` as a vector.
    fn get_row<'py>(slf: &Bound<'py, Self>, index: i64) -> PyResult<Bound<'py, PyAny>> {
        slf.as_any().get_item(index)
    }

    /// Column `index` as a vector.
    fn get_col<'py>(slf: &Bound<'py, Self>, index: i64) -> PyResult<Bound<'py, PyAny>> {
        slf.as_any().get_item((pyo3::types::PySlice::full(slf.py()), index))
    }

    /// Sets row `index` from a vector or sequence.
    fn set_row(slf: &Bound<'_, Self>, index: i64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let rows = slf.as_any().len()? as i64;
        if !(-rows..rows).contains(&index) {
            return Err(PyIndexError::new_err(format!("row {index} of {rows}: Invalid row index")));
        }
        slf.as_any().set_item(index, value)
    }

    /// Sets column `index` from a vector or sequence.
    fn set_col(slf: &Bound<'_, Self>, index: i64, value: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.as_any().set_item((pyo3::types::PySlice::full(slf.py()), index), value)
    }
}

/// A rigid transform: position `p`, then rotation `q`; the base of the transform classes.
#[pyclass(subclass, frozen, extends = Value, module = "inkle._native")]
pub struct Transform;

#[pymethods]
impl Transform {
    #[new]
    #[classmethod]
    #[pyo3(signature = (*args, p = None, q = None, **unknown))]
    fn new(
        class: &Bound<'_, PyType>,
        args: &Bound<'_, PyTuple>,
        p: Option<&Bound<'_, PyAny>>,
        q: Option<&Bound<'_, PyAny>>,
        unknown: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Transform>> {
        if let Some(name) = unknown.and_then(|u| u.keys().iter().next()) {
            return Err(PyTypeError::new_err(format!("got an unexpected keyword argument {}", name.repr()?)));
        }
        let first = if args.len() == 1 { Some(args.get_item(0)?) } else { None };
        let lone_position = match &first {
            Some(arg) if arg.is_exact_instance_of::<Made>() || number::is_number(arg) => None,
            Some(arg) => arg.len().is_ok_and(|n| n == 3).then_some(arg),
            None => None,
        };
        if lone_position.is_none() && p.is_none() && q.is_none() {
            return Ok(PyClassInitializer::from(new_value(class, args)?).add_subclass(Transform));
        }
        if !args.is_empty() && p.is_some() {
            return Err(PyTypeError::new_err("multiple values for argument 'p'"));
        }
        if args.len() > 1 && q.is_some() {
            return Err(PyTypeError::new_err("multiple values for argument 'q'"));
        }
        for (name, length, part) in [("p", 3, p), ("q", 4, q)] {
            if let Some(part) = part.filter(|part| number::is_number(part)) {
                let given = class_name(part);
                let message =
                    format!("argument '{name}' of a transform is {length} numbers, not one, {given}");
                return Err(PyTypeError::new_err(message));
            }
        }
        let value = new_value(class, &PyTuple::empty(class.py()))?;
        let scalar = value.scalar();
        if let Some(p) = lone_position.or(p) {
            value.set_part(Type::vec(3, scalar), 0, p)?;
        }
        if let Some(q) = q {
            value.set_part(Type::Quat(scalar), 3, q)?;
        }
        Ok(PyClassInitializer::from(value).add_subclass(Transform))
    }

    /// The position, a copy.
    #[getter]
    fn p(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let value = slf.as_super().get();
        value.part(slf.py(), Type::vec(3, value.scalar()), 0)
    }

    #[setter]
    fn set_p(slf: &Bound<'_, Self>, position: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = slf.as_super().get();
        value.set_part(Type::vec(3, value.scalar()), 0, position)
    }

    /// The rotation, a copy.
    #[getter]
    fn q(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let value = slf.as_super().get();
        value.part(slf.py(), Type::Quat(value.scalar()), 3)
    }

    #[setter]
    fn set_q(slf: &Bound<'_, Self>, rotation: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = slf.as_super().get();
        value.set_part(Type::Quat(value.scalar()), 3, rotation)
    }
}
