//! What types values have when nothing says otherwise.

use inkle_ir::Type;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

use crate::array::Array;
use crate::composite::Value;
use crate::dtype::{class_of, dtype_of};
use crate::scalar::ScalarValue;
use crate::structs::StructInstance;

/// The type a value has by itself: arrays, values and structs their own, Python's numbers `int32`, `float32` and
/// `bool`, numpy's numbers theirs; `None` for everything else.
pub fn natural_type(value: &Bound<'_, PyAny>) -> Option<Type> {
    if let Ok(array) = value.cast::<Array>() {
        return Some(array.get().ty());
    }
    if let Ok(value) = value.cast::<Value>() {
        return Some(value.get().ty());
    }
    if let Ok(value) = value.cast::<ScalarValue>() {
        return Some(Type::Scalar(value.get().scalar()));
    }
    if let Ok(instance) = value.cast::<StructInstance>() {
        return Some(instance.get().ty());
    }
    if value.is_instance_of::<PyBool>() {
        return Some(Type::BOOL);
    }
    if value.is_exact_instance_of::<PyFloat>() {
        return Some(Type::F32);
    }
    if value.is_instance_of::<PyInt>() {
        return Some(Type::I32);
    }
    if value.is_none() {
        return None;
    }
    dtype_of(value.get_type().as_any()).ok()
}

/// The object that stands for the type a value has by itself; `None` when it has none.
#[pyfunction]
pub fn type_of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    natural_type(value).map(|ty| class_of(value.py(), ty)).transpose()
}
