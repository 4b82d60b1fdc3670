//! Objects of the scalar classes: `inkle.float64(1.0)`, `inkle.uint8(3)`.

use std::sync::Mutex;

use inkle_ir::{Constant, Scalar, ScalarKind, Type};
use pyo3::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyTuple, PyType};

use crate::dtype::{class_of, native_type};
use crate::error::argument_error;
use crate::number::{self, Arithmetic};

/// A number with a definite scalar type; the base of the scalar classes.
#[pyclass(subclass, frozen, module = "inkle._native", name = "Scalar")]
pub struct ScalarValue {
    scalar: Scalar,
    // Only `value = ...` changes it.
    number: Mutex<Constant>,
}

impl ScalarValue {
    /// The scalar type.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// The number.
    pub fn number(&self) -> Constant {
        *self.number.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// An object of the scalar's class.
pub fn scalar_object<'py>(py: Python<'py>, scalar: Scalar, number: Constant) -> PyResult<Bound<'py, PyAny>> {
    class_of(py, Type::Scalar(scalar))?.call1((number::to_python(py, number)?,))
}

/// The number of a Python number or scalar object, and its type when it has a definite one.
pub fn operand(object: &Bound<'_, PyAny>) -> Option<(Constant, Option<Scalar>)> {
    if let Ok(value) = object.cast::<ScalarValue>() {
        return Some((value.get().number(), Some(value.get().scalar)));
    }
    if let Ok(int) = object.cast::<PyInt>() {
        return int.extract::<i128>().ok().map(|i| (Constant::Int(i), None));
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Some((Constant::Float(float.value()), None));
    }
    None
}

/// Whether an operand given as [`operand`] may meet `scalar` in arithmetic: it has the same type, or is a plain
/// number that the type can hold.
pub fn joins(scalar: Scalar, number: Constant, ty: Option<Scalar>) -> bool {
    match ty {
        Some(ty) => ty == scalar,
        None => scalar.is_float() || !matches!(number, Constant::Float(_)),
    }
}

fn binary<'py>(
    value: &Bound<'py, ScalarValue>,
    other: &Bound<'py, PyAny>,
    op: Arithmetic,
    swapped: bool,
) -> PyResult<Py<PyAny>> {
    let py = value.py();
    let scalar = value.get().scalar;
    let Some((number, ty)) = operand(other) else { return Ok(py.NotImplemented()) };
    if !joins(scalar, number, ty) {
        let name = ty.map_or_else(|| "float".to_owned(), |ty| ty.python_name().to_owned());
        let message = format!("{} {} {name} is not defined", scalar.python_name(), op.symbol());
        return Err(argument_error(py, format!("{message}: convert one of them explicitly")));
    }
    let (a, b) = if swapped { (number, value.get().number()) } else { (value.get().number(), number) };
    Ok(number::to_component(py, scalar, op.apply(scalar, a, b)?)?.unbind())
}

/// A power of floats, by the built-in; numbers without a type take that of `value`.
fn power<'py>(
    value: &Bound<'py, ScalarValue>,
    other: &Bound<'py, PyAny>,
    swapped: bool,
) -> PyResult<Py<PyAny>> {
    let py = value.py();
    if !value.get().scalar.is_float() || operand(other).is_none() {
        return Ok(py.NotImplemented());
    }
    let operands = if swapped { [other, value.as_any()] } else { [value.as_any(), other] };
    Ok(crate::host_call::call(py, "pow", &PyTuple::new(py, operands)?, None)?.unbind())
}

#[pymethods]
impl ScalarValue {
    #[new]
    #[classmethod]
    #[pyo3(signature = (value = None, /))]
    fn new(class: &Bound<'_, PyType>, value: Option<&Bound<'_, PyAny>>) -> PyResult<ScalarValue> {
        let py = class.py();
        let Some(Type::Scalar(scalar)) = native_type(class.as_any())?.and_then(|t| t.get().exact()) else {
            return Err(PyTypeError::new_err(
                "Scalar is a base class; use a scalar class such as inkle.float32",
            ));
        };
        let number = match value {
            None => number::round(scalar, Constant::Int(0)),
            Some(value) => match number::from_python(value, scalar) {
                Ok(number) => number,
                Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                    // As in kernels, a float becomes an integer where its type is called.
                    if let Ok(float) = value.extract::<f64>() {
                        let number = inkle_frontend::converted(Constant::Float(float), scalar);
                        return Ok(ScalarValue { scalar, number: Mutex::new(number) });
                    }
                    let class = crate::error::class_name(value);
                    let message =
                        format!("{} cannot be made from {class}: {}", scalar.python_name(), error.value(py));
                    return Err(argument_error(py, message));
                }
                Err(error) => return Err(error),
            },
        };
        Ok(ScalarValue { scalar, number: Mutex::new(number) })
    }

    /// The number as a plain Python number.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number::to_python(py, self.number())
    }

    #[setter]
    fn set_value(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = number::from_python(value, self.scalar)?;
        *self.number.lock().unwrap_or_else(|e| e.into_inner()) = number;
        Ok(())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}({})", self.scalar.python_name(), self.__str__(py)?))
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.value(py)?.repr()?.to_string())
    }

    fn __float__(&self) -> f64 {
        number::to_float(self.number())
    }

    fn __int__(&self) -> i128 {
        number::to_int(self.number())
    }

    fn __index__(&self) -> PyResult<i128> {
        match self.scalar.kind() {
            ScalarKind::Float => {
                let message =
                    format!("'{}' object cannot be interpreted as an integer", self.scalar.python_name());
                Err(PyTypeError::new_err(message))
            }
            _ => Ok(number::to_int(self.number())),
        }
    }

    fn __bool__(&self) -> bool {
        number::truth(self.number())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.value(py)?.hash()
    }

    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, op: CompareOp) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let own = self.value(py)?;
        match other.cast::<ScalarValue>() {
            Ok(other) => own.rich_compare(other.get().value(py)?, op),
            Err(_) => own.rich_compare(other, op),
        }
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Add, false)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Add, true)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Sub, false)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Sub, true)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Mul, false)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Mul, true)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Div, false)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Div, true)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Mod, false)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        binary(slf, other, Arithmetic::Mod, true)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        power(slf, other, false)
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        power(slf, other, true)
    }

    fn __neg__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = match self.number() {
            Constant::Bool(b) => Constant::Int(-i128::from(b)),
            Constant::Int(i) => Constant::Int(-i),
            Constant::Float(f) => Constant::Float(-f),
        };
        number::to_component(py, self.scalar, number::round(self.scalar, number))
    }

    fn __abs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let number = match self.number() {
            Constant::Bool(b) => Constant::Int(i128::from(b)),
            Constant::Int(i) => Constant::Int(i.abs()),
            Constant::Float(f) => Constant::Float(f.abs()),
        };
        number::to_component(py, self.scalar, number::round(self.scalar, number))
    }

    /// As Python rounds the plain number.
    #[pyo3(signature = (digits = None))]
    fn __round__<'py>(
        &self,
        py: Python<'py>,
        digits: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.import(intern!(py, "builtins"))?.call_method1(intern!(py, "round"), (self.value(py)?, digits))
    }

    fn __pos__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        number::to_component(py, self.scalar, self.number())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyTuple>)> {
        let py = slf.py();
        Ok((slf.get_type(), PyTuple::new(py, [slf.get().value(py)?])?))
    }
}
