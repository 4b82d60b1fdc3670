//! Arrays as arguments of functions and of subscripts, and what is done to arrays without strides.

use inkle_frontend::pattern::Pattern;
use inkle_ir::ArrayKind;
use inkle_runtime::{self as rt, Device};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::array::{Array, State};
use crate::array_new;
use crate::error::{IntoPyResult, argument_error, class_name};

/// Calls one of the functions that work on elements wherever they are, through kernels.
///
/// # Errors
/// For an annotation, for elements that are arrays, and the function's.
pub fn scattered<'py>(
    array: &Bound<'py, Array>,
    name: &str,
    rest: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if !array.get().has_elements() {
        return Err(argument_error(py, "this array is an annotation; it has no elements"));
    }
    if !array.get().is_plain() {
        let message = "copying to and from Fabric arrays of arrays is not supported: use a kernel";
        return Err(argument_error(py, message));
    }
    let args: Vec<_> = std::iter::once(array.as_any()).chain(rest.iter().copied()).collect();
    py.import("inkle._scattered")?.getattr(name)?.call1(PyTuple::new(py, args)?)
}

/// The array itself if it has strides, else a new one with its elements; one without elements for an annotation of a
/// definite type.
///
/// # Errors
/// For other annotations, and those of the copy.
pub fn gathered<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, Array>> {
    match array.get().state() {
        Some(State::Strided(_)) => Ok(array.clone()),
        Some(State::Annotation { elem: Some(Pattern::Exact(elem)), ndim, .. }) => {
            let py = array.py();
            let none = rt::Array::empty(Device::cpu(), *elem, &vec![0; *ndim as usize]).into_py(py)?;
            Array::wrap(py, none, array.get().dtype_object(py)?)
        }
        _ => Ok(scattered(array, "gather", &[])?.cast_into::<Array>()?),
    }
}

/// As [`gathered`], for a copy that a tape records.
///
/// # Errors
/// As there.
pub fn gathered_on_tape<'py>(array: &Bound<'py, Array>) -> PyResult<Bound<'py, Array>> {
    match array.get().data() {
        Some(_) => Ok(array.clone()),
        None => Ok(scattered(array, "gather_on_tape", &[])?.cast_into::<Array>()?),
    }
}

/// An array argument of any kind, of a copy that a tape records; what has no strides is gathered into a new array.
///
/// # Errors
/// When the object is no array; the text names the argument.
pub fn gathered_argument<'py>(object: &Bound<'py, PyAny>, argument: &str) -> PyResult<Bound<'py, Array>> {
    gathered_on_tape(any_array_argument(object, argument)?)
}

/// The array an argument must be, of any kind.
///
/// # Errors
/// `TypeError` naming the argument.
pub fn any_array_argument<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
    argument: &str,
) -> PyResult<&'a Bound<'py, Array>> {
    object
        .cast::<Array>()
        .map_err(|_| PyTypeError::new_err(format!("`{argument}` is an array, not {}", class_name(object))))
}

/// The array of strides an argument must be.
///
/// # Errors
/// `TypeError` naming the argument.
pub fn array_argument<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
    argument: &str,
) -> PyResult<&'a Bound<'py, Array>> {
    match object.cast::<Array>() {
        Ok(array) if array.get().kind() == ArrayKind::Strided => Ok(array),
        _ => Err(PyTypeError::new_err(format!("`{argument}` is an array, not {}", class_name(object)))),
    }
}

/// The parts of `array[dtype]` and `array[dtype, Literal[ndim]]` as an annotation.
///
/// # Errors
/// For a class derived from one of the library's, and for a subscript of another form.
pub fn subscripted<'py>(
    class: &Bound<'py, PyType>,
    base: &Bound<'py, PyType>,
    item: &Bound<'py, PyAny>,
    kind: ArrayKind,
) -> PyResult<Bound<'py, Array>> {
    let py = class.py();
    if !class.is(base) {
        let (class, base) = (class.name()?, base.name()?);
        return Err(PyTypeError::new_err(format!(
            "Subscript syntax not supported for {class}: annotations are of {base}"
        )));
    }
    let (dtype, ndim) = array_new::subscript(item)?;
    let (elem, dtype) = array_new::annotation(&dtype, ndim, kind)?;
    Array::annotation(py, elem, dtype, ndim, kind)
}

/// Fills a blank object as the annotation of arrays of `dtype`, of every type without one.
///
/// # Errors
/// When `dtype` means no type.
pub fn fill_annotation(
    array: &Bound<'_, Array>,
    dtype: Option<&Bound<'_, PyAny>>,
    ndim: u32,
) -> PyResult<()> {
    let any;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => {
            any = array.py().import("typing")?.getattr("Any")?;
            &any
        }
    };
    let (elem, dtype) = array_new::annotation(dtype, ndim, array.get().kind())?;
    array.get().fill(dtype, State::annotation(elem, ndim))
}
