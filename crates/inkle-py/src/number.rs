//! Single numbers: between Python objects, [`Constant`]s and the bytes of a [`Scalar`] type.
//!
//! A [`Constant`] of an integer type is kept wrapped to its width. Floats are kept as given and rounded when they
//! are stored. An operation on f16, bf16 or f32 computed in f64 and then rounded gives the same result as computing
//! in the type itself, because f64 has more than twice their digits.

use half::{bf16, f16};
use inkle_ir::{Constant, Scalar, ScalarKind};
use pyo3::exceptions::{PyTypeError, PyZeroDivisionError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use pyo3::{IntoPyObjectExt, ffi};

use crate::error::class_name;
use crate::module::config;
use crate::scalar::{ScalarValue, scalar_object};

/// The number stored in `bytes`, which are at least as many as the scalar needs.
pub fn read(scalar: Scalar, bytes: &[u8]) -> Constant {
    fn head<const N: usize>(bytes: &[u8]) -> [u8; N] {
        bytes[..N].try_into().expect("the slice has length N")
    }
    match scalar {
        Scalar::Bool => Constant::Bool(bytes[0] != 0),
        Scalar::I8 => Constant::Int(i8::from_ne_bytes(head(bytes)).into()),
        Scalar::I16 => Constant::Int(i16::from_ne_bytes(head(bytes)).into()),
        Scalar::I32 => Constant::Int(i32::from_ne_bytes(head(bytes)).into()),
        Scalar::I64 => Constant::Int(i64::from_ne_bytes(head(bytes)).into()),
        Scalar::U8 => Constant::Int(bytes[0].into()),
        Scalar::U16 => Constant::Int(u16::from_ne_bytes(head(bytes)).into()),
        Scalar::U32 => Constant::Int(u32::from_ne_bytes(head(bytes)).into()),
        Scalar::U64 => Constant::Int(u64::from_ne_bytes(head(bytes)).into()),
        Scalar::F16 => Constant::Float(f16::from_ne_bytes(head(bytes)).to_f64()),
        Scalar::BF16 => Constant::Float(bf16::from_ne_bytes(head(bytes)).to_f64()),
        Scalar::F32 => Constant::Float(f32::from_ne_bytes(head(bytes)).into()),
        Scalar::F64 => Constant::Float(f64::from_ne_bytes(head(bytes))),
    }
}

/// Stores a number, converting it to the scalar: integers wrap, floats round.
pub fn write(scalar: Scalar, number: Constant, bytes: &mut [u8]) {
    let bits = to_bits(scalar, number).to_ne_bytes();
    let size = scalar.size() as usize;
    // The low bytes come first on every target of inkle.
    bytes[..size].copy_from_slice(&bits[..size]);
}

/// The bit pattern of a number as the scalar, in the low bytes.
pub fn to_bits(scalar: Scalar, number: Constant) -> u64 {
    match scalar.kind() {
        ScalarKind::Bool => u64::from(truth(number)),
        ScalarKind::Signed | ScalarKind::Unsigned => to_int(number) as u64,
        ScalarKind::Float => {
            let value = to_float(number);
            match scalar {
                Scalar::F16 => f16::from_f64(value).to_bits().into(),
                Scalar::BF16 => bf16::from_f64(value).to_bits().into(),
                Scalar::F32 => (value as f32).to_bits().into(),
                _ => value.to_bits(),
            }
        }
    }
}

/// The number as the scalar would hold it.
pub fn round(scalar: Scalar, number: Constant) -> Constant {
    let mut bytes = [0; 8];
    write(scalar, number, &mut bytes);
    read(scalar, &bytes)
}

/// The number as a float.
pub fn to_float(number: Constant) -> f64 {
    match number {
        Constant::Bool(b) => f64::from(u8::from(b)),
        Constant::Int(i) => i as f64,
        Constant::Float(f) => f,
    }
}

/// The number as an integer; a float is truncated.
pub fn to_int(number: Constant) -> i128 {
    match number {
        Constant::Bool(b) => i128::from(b),
        Constant::Int(i) => i,
        Constant::Float(f) => f as i128,
    }
}

/// Whether the number is not zero.
pub fn truth(number: Constant) -> bool {
    match number {
        Constant::Bool(b) => b,
        Constant::Int(i) => i != 0,
        Constant::Float(f) => f != 0.0,
    }
}

/// Reads a Python number for the scalar. Integers wrap; an integer type refuses floats.
///
/// # Errors
/// `TypeError` when the object is no such number.
pub fn from_python(object: &Bound<'_, PyAny>, scalar: Scalar) -> PyResult<Constant> {
    match scalar.kind() {
        ScalarKind::Float => {
            if let Ok(float) = object.cast::<PyFloat>() {
                return Ok(Constant::Float(float.value()));
            }
            if let Ok(value) = object.cast::<ScalarValue>() {
                return Ok(Constant::Float(to_float(value.get().number())));
            }
            Ok(Constant::Float(object.extract::<f64>()?))
        }
        ScalarKind::Bool => match object.len() {
            // Lists and arrays have a truth too, that of their length.
            Ok(_) => Err(PyTypeError::new_err(format!("a bool is wanted, not {}", class_name(object)))),
            Err(_) => Ok(Constant::Bool(object.is_truthy()?)),
        },
        ScalarKind::Signed | ScalarKind::Unsigned => {
            if let Ok(int) = object.cast::<PyInt>() {
                return Ok(round(scalar, Constant::Int(low_bits(int)?.into())));
            }
            // SAFETY: `object` is a live Python object and the interpreter is attached; the result is a new
            // reference or null with an exception set.
            let index =
                unsafe { Bound::from_owned_ptr_or_err(object.py(), ffi::PyNumber_Index(object.as_ptr()))? };
            Ok(round(scalar, Constant::Int(low_bits(index.cast::<PyInt>()?)?.into())))
        }
    }
}

/// Whether an int can be meant as a value of an integer type: it fits, or its bits do.
#[inline]
pub fn fits(argument: &Bound<'_, PyAny>, scalar: Scalar) -> bool {
    if !scalar.is_int() || scalar.size() == 8 {
        return true;
    }
    let Ok(int) = argument.cast::<PyInt>() else { return true };
    let bits = scalar.size() * 8;
    int.extract::<i64>().is_ok_and(|value| (-(1 << (bits - 1))..1 << bits).contains(&value))
}

fn low_bits(int: &Bound<'_, PyInt>) -> PyResult<u64> {
    // SAFETY: `int` is a live Python int; the function masks instead of overflowing, and can only fail with an
    // exception set for objects that are not ints.
    let bits = unsafe { ffi::PyLong_AsUnsignedLongLongMask(int.as_ptr()) };
    if bits == u64::MAX
        && let Some(error) = PyErr::take(int.py())
    {
        return Err(error);
    }
    Ok(bits)
}

/// Whether an object is a Python, numpy or inkle number rather than a sequence.
pub fn is_number(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<ScalarValue>()
        || object.len().is_err()
}

/// A number of numpy as a number without a type; `None` for other objects, its booleans and arrays too.
pub fn of_numpy(object: &Bound<'_, PyAny>) -> Option<(Constant, Option<Scalar>)> {
    let class = object.get_type();
    if class.module().ok()? != "numpy" || class.name().ok()? == "ndarray" {
        return None;
    }
    let plain = object.call_method0(intern!(object.py(), "item")).ok()?;
    if plain.is_instance_of::<PyBool>() { None } else { crate::scalar::operand(&plain) }
}

/// Whether an object is a boolean or a number of numpy: single values that still fill all components of a vector,
/// matrix, quaternion or transform where one is passed or assigned, with a warning. Other single values are refused.
pub fn is_legacy_fill(object: &Bound<'_, PyAny>) -> bool {
    if object.is_instance_of::<PyBool>() {
        return true;
    }
    if object.cast::<ScalarValue>().is_ok() {
        return object.get_type().name().is_ok_and(|name| name == "bool");
    }
    object.get_type().module().is_ok_and(|module| module == "numpy") && object.len().is_err()
}

/// Warns that `object` fills a value of `ty` where `target` says.
///
/// # Errors
/// The warning, where the program makes warnings errors.
#[cold]
pub fn warn_of_fill(object: &Bound<'_, PyAny>, ty: &str, target: &str) -> PyResult<()> {
    let py = object.py();
    let given = object.get_type().name()?;
    let message = format!(
        "a value of type `{given}` fills every component of the `{ty}` of {target}: that is deprecated, write {ty}({})",
        object.str()?
    );
    let category = py.get_type::<pyo3::exceptions::PyDeprecationWarning>();
    py.import("inkle._logger")?.call_method1("log_warning", (message, category)).map(drop)
}

/// The number as a plain Python object of the scalar's family: `bool`, `int` or `float`.
pub fn to_python<'py>(py: Python<'py>, number: Constant) -> PyResult<Bound<'py, PyAny>> {
    match number {
        Constant::Bool(b) => Ok(PyBool::new(py, b).to_owned().into_any()),
        Constant::Int(i) => i.into_bound_py_any(py),
        Constant::Float(f) => Ok(PyFloat::new(py, f).into_any()),
    }
}

/// The number as reading a component or calling a built-in gives it: plain for `float32`, `int32` and `bool`, which
/// Python's own numbers stand for, an object of the scalar class otherwise.
pub fn to_component<'py>(py: Python<'py>, scalar: Scalar, number: Constant) -> PyResult<Bound<'py, PyAny>> {
    match scalar {
        Scalar::Bool | Scalar::I32 | Scalar::F32 => to_python(py, number),
        _ if config(py)?.getattr(intern!(py, "legacy_scalar_return_types"))?.is_truthy()? => {
            to_python(py, number)
        }
        _ => scalar_object(py, scalar, number),
    }
}

/// The arithmetic that values offer outside kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

impl Arithmetic {
    /// Python's spelling.
    pub fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Div => "/",
            Arithmetic::Mod => "%",
        }
    }

    /// The result in the scalar type. Integer division and remainder truncate towards zero, as in kernels.
    ///
    /// # Errors
    /// `ZeroDivisionError` for integers, where kernels give an unspecified value.
    pub fn apply(self, scalar: Scalar, a: Constant, b: Constant) -> PyResult<Constant> {
        let result = if scalar.is_float() {
            let (a, b) = (to_float(round(scalar, a)), to_float(round(scalar, b)));
            Constant::Float(match self {
                Arithmetic::Add => a + b,
                Arithmetic::Sub => a - b,
                Arithmetic::Mul => a * b,
                Arithmetic::Div => a / b,
                Arithmetic::Mod => a % b,
            })
        } else {
            let (a, b) = (to_int(a), to_int(b));
            if b == 0 && matches!(self, Arithmetic::Div | Arithmetic::Mod) {
                return Err(PyZeroDivisionError::new_err("integer division or remainder by zero"));
            }
            Constant::Int(match self {
                Arithmetic::Add => a + b,
                Arithmetic::Sub => a - b,
                Arithmetic::Mul => a.wrapping_mul(b),
                Arithmetic::Div => a / b,
                Arithmetic::Mod => a % b,
            })
        };
        Ok(round(scalar, result))
    }
}

/// Whether two numbers are equal by value.
pub fn equal(a: Constant, b: Constant) -> bool {
    match (a, b) {
        (Constant::Float(_), _) | (_, Constant::Float(_)) => to_float(a) == to_float(b),
        _ => to_int(a) == to_int(b),
    }
}
