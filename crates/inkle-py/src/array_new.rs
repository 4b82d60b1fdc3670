//! Making arrays: from shapes, data, pointers and other arrays; filling and copying.

use inkle_frontend::pattern::Pattern;
use inkle_ir::{ArrayKind, Scalar, Type};
use inkle_runtime::{self as rt, Device};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyTuple};

use crate::array::Array;
use crate::array_arguments::{any_array_argument, gathered_argument, gathered_on_tape};
use crate::array_io;
use crate::composite::{Value, components_from, write_components};
use crate::device::device_argument;
use crate::dtype::{class_of, dtype_of, is_absent, pattern_of, type_to_warp};
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::number;
use crate::scalar::ScalarValue;
use crate::stream::PyStream;
use crate::structs::StructInstance;

/// The arguments of the array constructor that say where elements come from.
pub struct Source<'a, 'py> {
    /// Elements to copy or share.
    pub data: Option<&'a Bound<'py, PyAny>>,
    /// The element type.
    pub dtype: Option<&'a Bound<'py, PyAny>>,
    /// The extents.
    pub shape: Option<&'a Bound<'py, PyAny>>,
    /// The distances between neighbours, bytes.
    pub strides: Option<&'a Bound<'py, PyAny>>,
    /// The address of elements that exist.
    pub ptr: Option<u64>,
    /// The bytes that may be used from `ptr` on.
    pub capacity: Option<u64>,
    /// Where the elements are or shall be.
    pub device: Option<&'a Bound<'py, PyAny>>,
    /// Whether new memory shall be page-locked.
    pub pinned: bool,
    /// Whether elements are copied even where they could be shared.
    pub copy: bool,
    /// Called with address and capacity when `ptr` is no longer used.
    pub deleter: Option<&'a Bound<'py, PyAny>>,
}

/// The parts of the annotation of arrays of `dtype`: the pattern of elements, and the object that stands for it. There is
/// no pattern of elements that are not available in inkle yet.
///
/// # Errors
/// When `dtype` means no type.
pub fn annotation(
    dtype: &Bound<'_, PyAny>,
    ndim: u32,
    kind: ArrayKind,
) -> PyResult<(Option<Pattern>, Py<PyAny>)> {
    let py = dtype.py();
    let most = if kind.is_fabric() { 2 } else { 4 };
    if !(1..=most).contains(&ndim) {
        let name = kind.name();
        return Err(argument_error(py, format!("an {name} has 1 to {most} dimensions, not {ndim}")));
    }
    let Some(elem) = pattern_of(dtype)? else {
        if is_absent(dtype)? {
            return Ok((None, dtype.clone().unbind()));
        }
        return Err(argument_error(py, format!("{} is not a type that arrays can hold", dtype.repr()?)));
    };
    if matches!(elem, Pattern::Array(..) | Pattern::Exact(Type::Array(_)) | Pattern::Callable) {
        return Err(argument_error(py, format!("arrays cannot hold {elem}")));
    }
    Ok((Some(elem), type_to_warp(dtype)?.unbind()))
}

/// Element type and number of dimensions of an annotation's subscript: `dtype`, or `dtype, Literal[ndim]`.
///
/// # Errors
/// For a subscript of another form.
pub fn subscript<'py>(item: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, u32)> {
    let py = item.py();
    let Ok(parts) = item.cast::<PyTuple>() else { return Ok((item.clone(), 1)) };
    if parts.len() == 2 {
        let ndim = parts.get_item(1)?;
        let literal = ndim.getattr_opt("__args__")?.and_then(|args| args.get_item(0).ok());
        if let Ok(ndim) = literal.unwrap_or(ndim).extract::<u32>() {
            return Ok((parts.get_item(0)?, ndim));
        }
    }
    let message =
        format!("an array's annotation is `[dtype]` or `[dtype, Literal[ndim]]`, not {}", item.repr()?);
    Err(argument_error(py, message))
}

/// The extents of a shape argument: an int, or a sequence of ints.
///
/// # Errors
/// `TypeError` for anything else.
pub fn shape_argument(shape: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let extent = |item: &Bound<'_, PyAny>| {
        item.extract::<i64>().map_err(|_| match item.is_instance_of::<PyInt>() {
            true => argument_error(item.py(), format!("an extent of {item} is too large")),
            false => PyTypeError::new_err(format!("an extent is an int, not {}", class_name(item))),
        })
    };
    if shape.is_instance_of::<PyInt>() || shape.len().is_err() {
        return Ok(vec![extent(shape)?]);
    }
    shape.try_iter()?.map(|item| extent(&item?)).collect()
}

fn is_any(dtype: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(matches!(pattern_of(dtype)?, Some(Pattern::Any(_))))
}

/// The element type of a dtype argument with the object that stands for it; `None` when left open.
///
/// # Errors
/// When the object means no definite type.
pub fn dtype_argument<'py>(dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Option<(Type, Bound<'py, PyAny>)>> {
    let Some(dtype) = dtype else { return Ok(None) };
    if is_any(dtype)? {
        return Ok(None);
    }
    let ty = dtype_of(dtype)?;
    if matches!(ty, Type::Array(_) | Type::Ref(_)) {
        return Err(argument_error(dtype.py(), format!("arrays cannot hold {}", ty.python_name())));
    }
    let object = if matches!(ty, Type::Struct(_)) { dtype.clone() } else { class_of(dtype.py(), ty)? };
    Ok(Some((ty, object)))
}

/// Builds the array the constructor's arguments describe, with the object that stands for its element type.
///
/// # Errors
/// When the arguments do not fit together.
pub fn build(py: Python<'_>, source: &Source<'_, '_>) -> PyResult<(rt::Array, Py<PyAny>)> {
    let dtype = dtype_argument(source.dtype)?;
    if let Some(data) = source.data {
        if source.ptr.is_some() {
            return Err(argument_error(py, "an array is made from `data` or from `ptr`, not from both"));
        }
        return array_io::from_data(py, data, dtype, source);
    }
    let (ty, object) = match dtype {
        Some(dtype) => dtype,
        None => (Type::F32, class_of(py, Type::F32)?),
    };
    let device = device_argument(py, source.device)?;
    let strides = source.strides.map(shape_argument).transpose()?;
    let shape = match source.shape {
        Some(shape) => shape_argument(shape)?,
        None => return Err(argument_error(py, "an array made from `ptr` needs a `shape`")),
    };
    if let Some(ptr) = source.ptr {
        let size = source.capacity.unwrap_or_else(|| {
            shape.iter().map(|&n| n.max(0) as u64).product::<u64>() * u64::from(ty.size())
        });
        let keep_alive = source.deleter.map(|d| Deleter { call: d.clone().unbind(), ptr, size });
        // SAFETY: as for every raw pointer from Python, the caller vouches that the elements are memory of the
        // device until the deleter is called or, without one, as long as the array is used.
        let array =
            unsafe { rt::Array::foreign(device, ty, ptr, &shape, strides.as_deref(), Box::new(keep_alive)) };
        return Ok((array.into_py(py)?, object.unbind()));
    }
    if let Some(strides) = strides {
        let array = rt::Array::with_strides(device, ty, &shape, &strides, source.pinned).into_py(py)?;
        return Ok((array, object.unbind()));
    }
    Ok((empty_array(py, device, ty, &shape, source.pinned)?, object.unbind()))
}

/// Calls a Python function when foreign memory is no longer used.
struct Deleter {
    call: Py<PyAny>,
    ptr: u64,
    size: u64,
}

impl Drop for Deleter {
    fn drop(&mut self) {
        // Without an interpreter there is nobody left to tell.
        let _ = Python::try_attach(|py| {
            if let Err(error) = self.call.call1(py, (self.ptr, self.size)) {
                error.write_unraisable(py, None);
            }
        });
    }
}

fn empty_array(py: Python<'_>, device: Device, ty: Type, shape: &[i64], pinned: bool) -> PyResult<rt::Array> {
    if pinned && device.is_cpu() { rt::Array::pinned(ty, shape) } else { rt::Array::empty(device, ty, shape) }
        .into_py(py)
}

/// The bytes of one element of `ty` with the value of a Python object.
///
/// # Errors
/// When the object is no such value.
pub fn element_bytes(value: &Bound<'_, PyAny>, ty: Type) -> PyResult<Vec<u8>> {
    let py = value.py();
    let mut bytes = vec![0; ty.size() as usize];
    let result = match ty {
        Type::Scalar(scalar) => {
            number::from_python(value, scalar).map(|n| number::write(scalar, n, &mut bytes))
        }
        Type::Struct(_) => match value.cast::<StructInstance>() {
            Ok(instance) if instance.get().ty() == ty => {
                instance.get().copy_bytes(py, &mut bytes);
                Ok(())
            }
            _ => Err(argument_error(py, format!("{} is not {}", class_name(value), ty.python_name()))),
        },
        _ => components_from(value, ty).map(|c| write_components(ty, &c, &mut bytes)),
    };
    match result {
        Ok(()) => Ok(bytes),
        Err(error) => {
            let message = format!("the value cannot be made {}: {}", ty.python_name(), error.value(py));
            Err(argument_error(py, message))
        }
    }
}

/// Sets every element to `value`.
///
/// # Errors
/// When the value does not fit the element type.
pub fn fill(array: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let ty = array.runtime(value.py())?.dtype();
    fill_bytes(array, value, &element_bytes(value, ty)?)
}

/// Sets every element to `value`, of which these are the bytes.
///
/// # Errors
/// The runtime's.
pub fn fill_bytes(array: &Array, value: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<()> {
    let py = value.py();
    let target = array.runtime(py)?;
    target.fill(bytes, None).into_py(py)?;
    let instance = value.cast::<StructInstance>();
    target.set_referents(instance.map_or_else(|_| Vec::new(), |it| it.get().referents(py).collect()));
    Ok(())
}

/// A contiguous copy, on another device if one is given.
///
/// # Errors
/// Those of allocation and copying.
pub fn clone<'py>(
    array: &Bound<'py, Array>,
    device: Option<Device>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
) -> PyResult<Bound<'py, Array>> {
    let py = array.py();
    let made = like(array, device, requires_grad, pinned)?;
    made.get().runtime(py)?.copy_from(array.get().runtime(py)?, None).into_py(py)?;
    crate::tape::record_copy(&made, array, [0; 3])?;
    Ok(made)
}

/// A new array with the shape and element type of another.
fn like<'py>(
    array: &Bound<'py, Array>,
    device: Option<Device>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
) -> PyResult<Bound<'py, Array>> {
    let py = array.py();
    let source = array.get();
    let Some(home) = source.home() else {
        return Err(argument_error(py, "this array is an annotation; it has no elements"));
    };
    let device = device.unwrap_or(home);
    let is_pinned = || source.data().is_some_and(|data| data.array().is_pinned());
    let pinned = pinned.unwrap_or_else(|| device.is_cpu() && is_pinned());
    let shape: Vec<i64> = source.extents().iter().map(|&n| n.into()).collect();
    let made = empty_array(py, device, source.elem(), &shape, pinned)?;
    let made = Array::wrap(py, made, source.dtype_object(py)?)?;
    if requires_grad.unwrap_or_else(|| source.has_grad()) {
        made.get().require_grad(py)?;
    }
    Ok(made)
}

fn new_array<'py>(
    py: Python<'py>,
    shape: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    [requires_grad, retain_grad]: [bool; 2],
    pinned: bool,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, Array>> {
    let option = |name: &str| kwargs.map(|k| k.get_item(name)).transpose().map(Option::flatten);
    let (n, strides) = (option("n")?, option("strides")?);
    if let Some(kwargs) = kwargs {
        for name in kwargs.keys() {
            if !matches!(name.extract::<&str>()?, "n" | "strides") {
                return Err(PyTypeError::new_err(format!("unexpected keyword argument `{name}`")));
            }
        }
    }
    let shape = match n.as_ref().or(shape) {
        Some(shape) => shape_argument(shape)?,
        None => vec![0],
    };
    let (ty, object) = match dtype_argument(dtype)? {
        Some(dtype) => dtype,
        None => (Type::F32, class_of(py, Type::F32)?),
    };
    let device = device_argument(py, device)?;
    let made = match strides.filter(|s| !s.is_none()) {
        Some(strides) => {
            rt::Array::with_strides(device, ty, &shape, &shape_argument(&strides)?, pinned).into_py(py)?
        }
        None => empty_array(py, device, ty, &shape, pinned)?,
    };
    let array = Array::wrap(py, made, object.unbind())?;
    if requires_grad {
        array.get().require_grad(py)?;
    }
    array.get().retain(py, retain_grad)?;
    Ok(array)
}

/// An array with elements of any value. `dtype` is `float32` when left out.
#[pyfunction]
#[pyo3(signature = (shape = None, dtype = None, device = None, requires_grad = false, pinned = false, retain_grad = false, **kwargs))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
pub fn empty<'py>(
    py: Python<'py>,
    shape: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: bool,
    pinned: bool,
    retain_grad: bool,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, Array>> {
    new_array(py, shape, dtype, device, [requires_grad, retain_grad], pinned, kwargs)
}

/// An array of zeros. `dtype` is `float32` when left out.
#[pyfunction]
#[pyo3(signature = (shape = None, dtype = None, device = None, requires_grad = false, pinned = false, retain_grad = false, **kwargs))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
pub fn zeros<'py>(
    py: Python<'py>,
    shape: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: bool,
    pinned: bool,
    retain_grad: bool,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, Array>> {
    let array = new_array(py, shape, dtype, device, [requires_grad, retain_grad], pinned, kwargs)?;
    let runtime = array.get().runtime(py)?;
    // New memory of the CPU is zero, but a graph that allocates it sets it to zero each time it runs.
    if runtime.device().is_cuda() || rt::record::may_be_recording() {
        runtime.zero(None).into_py(py)?;
    }
    Ok(array)
}

/// An array of ones. `dtype` is `float32` when left out.
#[pyfunction]
#[pyo3(signature = (shape = None, dtype = None, device = None, requires_grad = false, pinned = false, retain_grad = false, **kwargs))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
pub fn ones<'py>(
    py: Python<'py>,
    shape: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: bool,
    pinned: bool,
    retain_grad: bool,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, Array>> {
    let array = new_array(py, shape, dtype, device, [requires_grad, retain_grad], pinned, kwargs)?;
    fill(array.get(), PyInt::new(py, 1).as_any())?;
    Ok(array)
}

/// An array with every element `value`. `dtype` is that of the value when left out.
#[pyfunction]
#[pyo3(signature = (shape = None, value = None, dtype = None, device = None, requires_grad = false, pinned = false, retain_grad = false, **kwargs))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
pub fn full<'py>(
    py: Python<'py>,
    shape: Option<&Bound<'py, PyAny>>,
    value: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: bool,
    pinned: bool,
    retain_grad: bool,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, Array>> {
    let zero = PyInt::new(py, 0).into_any();
    let value = value.unwrap_or(&zero);
    let natural;
    let dtype = match dtype {
        Some(dtype) if !is_any(dtype)? => dtype,
        _ => {
            natural = natural_dtype(value)?;
            &natural
        }
    };
    let array = new_array(py, shape, Some(dtype), device, [requires_grad, retain_grad], pinned, kwargs)?;
    fill(array.get(), value)?;
    Ok(array)
}

/// The dtype `full` takes from a value: that of a typed value; `float32`, `int32`, `bool` for Python's numbers; a
/// vector or matrix of `float32` for sequences.
fn natural_dtype<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let ty = if let Ok(instance) = value.cast::<StructInstance>() {
        return instance.getattr("_cls");
    } else if let Ok(value) = value.cast::<Value>() {
        value.get().ty()
    } else if let Ok(value) = value.cast::<ScalarValue>() {
        Type::Scalar(value.get().scalar())
    } else if value.is_instance_of::<PyBool>() {
        Type::BOOL
    } else if value.is_instance_of::<PyInt>() {
        Type::I32
    } else if value.is_instance_of::<PyFloat>() {
        Type::F32
    } else if let Ok(scalar) = dtype_of(value.get_type().as_any()) {
        scalar
    } else {
        let shape: Vec<u32> = py.import("numpy")?.call_method1("shape", (value,))?.extract()?;
        let data = py.import("numpy")?.call_method1("asarray", (value,))?;
        let kind: String = data.getattr("dtype")?.getattr("kind")?.extract()?;
        let given = data.getattr("dtype")?;
        let scalar = match kind.as_str() {
            _ if value.hasattr("dtype")? => match dtype_of(&given)? {
                Type::Scalar(scalar) => scalar,
                _ => Scalar::F32,
            },
            "i" | "u" => Scalar::I32,
            "b" => Scalar::Bool,
            _ => Scalar::F32,
        };
        match shape.as_slice() {
            [n] => Type::vec(*n, scalar),
            [rows, cols] => Type::mat(*rows, *cols, scalar),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "{} is no value that arrays can hold",
                    class_name(value)
                )));
            }
        }
    };
    class_of(py, ty)
}

fn like_argument<'py>(
    src: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    let src = any_array_argument(src, "src")?;
    let device = device.map(|d| device_argument(src.py(), Some(d))).transpose()?;
    let made = like(src, device, requires_grad, pinned)?;
    made.get().retain(src.py(), retain_grad)?;
    Ok(made)
}

/// An array like another, with elements of any value.
#[pyfunction]
#[pyo3(signature = (src, device = None, requires_grad = None, pinned = None, retain_grad = false))]
pub fn empty_like<'py>(
    src: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    like_argument(src, device, requires_grad, pinned, retain_grad)
}

/// An array like another, of zeros.
#[pyfunction]
#[pyo3(signature = (src, device = None, requires_grad = None, pinned = None, retain_grad = false))]
pub fn zeros_like<'py>(
    src: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    let array = like_argument(src, device, requires_grad, pinned, retain_grad)?;
    array.get().runtime(src.py())?.zero(None).into_py(src.py())?;
    Ok(array)
}

/// An array like another, of ones.
#[pyfunction]
#[pyo3(signature = (src, device = None, requires_grad = None, pinned = None, retain_grad = false))]
pub fn ones_like<'py>(
    src: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    let array = like_argument(src, device, requires_grad, pinned, retain_grad)?;
    fill(array.get(), PyInt::new(src.py(), 1).as_any())?;
    Ok(array)
}

/// An array like another, with every element `value`.
#[pyfunction]
#[pyo3(signature = (src, value, device = None, requires_grad = None, pinned = None, retain_grad = false))]
pub fn full_like<'py>(
    src: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    let array = like_argument(src, device, requires_grad, pinned, retain_grad)?;
    fill(array.get(), value)?;
    Ok(array)
}

/// A contiguous copy of an array.
#[pyfunction]
#[pyo3(name = "clone", signature = (src, device = None, requires_grad = None, pinned = None, retain_grad = false))]
pub fn clone_array<'py>(
    src: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: Option<bool>,
    pinned: Option<bool>,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    let src = &gathered_argument(src, "src")?;
    let device = device.map(|d| device_argument(src.py(), Some(d))).transpose()?;
    let made = clone(src, device, requires_grad, pinned)?;
    made.get().retain(src.py(), retain_grad)?;
    Ok(made)
}

/// An offset or count of a copy; zero when left out.
fn copy_argument(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(value) = value else { return Ok(0) };
    let py = value.py();
    let Ok(number) = value.extract::<i64>() else {
        let message = format!("Copy offsets and count must be integers, not {}", class_name(value));
        return Err(argument_error(py, message));
    };
    usize::try_from(number)
        .map_err(|_| argument_error(py, format!("{name} must be non-negative, got {number}")))
}

/// `count` elements of an array of one dimension.
fn part(
    py: Python<'_>,
    array: &rt::Array,
    side: &'static str,
    offset: usize,
    count: usize,
) -> PyResult<rt::Array> {
    let len = array.len();
    if offset.checked_add(count).is_none_or(|end| end > len) {
        let error = rt::RuntimeError::RangeOutOfBounds { array: side, offset, count, len };
        return Err(crate::error::runtime_error(py, &error));
    }
    let (start, stop) = (Some(offset as i64), Some((offset + count) as i64));
    array.slice(0, rt::Slice { start, stop, ..rt::Slice::ALL }).into_py(py)
}

/// Copies elements from `src` to `dest`.
///
/// Without offsets and count all elements are copied. `count` elements, or as many as `src` has after its offset,
/// are copied from place `src_offset` to place `dest_offset` of arrays that are contiguous or have one dimension.
#[pyfunction]
#[pyo3(
    name = "copy",
    signature = (dest, src, dest_offset = None, src_offset = None, count = None, stream = None),
    text_signature = "(dest, src, dest_offset=0, src_offset=0, count=0, stream=None)"
)]
pub fn copy_array(
    dest: &Bound<'_, PyAny>,
    src: &Bound<'_, PyAny>,
    dest_offset: Option<&Bound<'_, PyAny>>,
    src_offset: Option<&Bound<'_, PyAny>>,
    count: Option<&Bound<'_, PyAny>>,
    stream: Option<&PyStream>,
) -> PyResult<()> {
    let py = dest.py();
    let dest_offset = copy_argument("Destination offset", dest_offset)?;
    let src_offset = copy_argument("Source offset", src_offset)?;
    let count = copy_argument("Copy count", count)?;
    let whole = dest_offset == 0 && src_offset == 0 && count == 0;
    let has_strides = |array: &Bound<'_, Array>| array.get().kind() == ArrayKind::Strided;
    let (dest, src) = (any_array_argument(dest, "dest")?, any_array_argument(src, "src")?);
    if !has_strides(dest) && whole {
        return dest.call_method1("assign", (src,)).map(drop);
    }
    if !(whole || has_strides(dest) && has_strides(src)) {
        let message = "offsets and a count are not for indexed or Fabric arrays: copy `contiguous()` ones";
        return Err(argument_error(py, message));
    }
    let src = &gathered_on_tape(src)?;
    copy_elements(py, dest.get(), src.get(), [dest_offset, src_offset, count], stream)?;
    keep_in_graph(&[dest, src]);
    crate::tape::record_copy(dest, src, [dest_offset, src_offset, count])
}

/// Lets the graph that is being captured, if one is, keep arrays as the objects that the program made of them, as it keeps
/// the arguments of launches: with them lives what they refer to, such as the owner of memory that came as an address.
pub fn keep_in_graph(arrays: &[&Bound<'_, Array>]) {
    if !inkle_runtime::record::may_be_recording() {
        return;
    }
    for array in arrays {
        if let Some(data) = array.get().data() {
            let kept: Py<PyAny> = (*array).clone().into_any().unbind();
            inkle_graph::capture::hold(data.array.device(), Box::new(kept));
        }
    }
}

/// Copies elements between arrays: all, or some between two offsets.
fn copy_elements(
    py: Python<'_>,
    dest: &Array,
    src: &Array,
    [dest_offset, src_offset, count]: [usize; 3],
    stream: Option<&PyStream>,
) -> PyResult<()> {
    let whole = dest_offset == 0 && src_offset == 0 && count == 0;
    let stream = stream.map(PyStream::stream);
    let (to, from) = (dest.runtime(py)?, src.runtime(py)?);
    let are_runs = to.is_contiguous() && from.is_contiguous();
    let are_lists = to.ndim() == 1 && from.ndim() == 1;
    if whole && (to.shape() == from.shape() || !(are_runs || are_lists)) {
        return to.copy_from(from, stream).into_py(py);
    }
    let count = if count == 0 { from.len().saturating_sub(src_offset) } else { count };
    if are_runs {
        return to.copy_range_from(dest_offset, from, src_offset, count, stream).into_py(py);
    }
    if to.ndim() != 1 || from.ndim() != 1 {
        let message = "offsets and a count are only supported for 1-D arrays and contiguous ones";
        return Err(argument_error(py, message));
    }
    let from = part(py, from, "source", src_offset, count)?;
    part(py, to, "destination", dest_offset, count)?.copy_from(&from, stream).into_py(py)
}

/// An array over memory that someone else owns and keeps alive.
#[pyfunction]
#[pyo3(signature = (ptr, length, dtype = None, shape = None, device = None))]
pub fn from_ptr<'py>(
    py: Python<'py>,
    ptr: u64,
    length: i64,
    dtype: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Array>> {
    let length = PyInt::new(py, length).into_any();
    let shape = shape.unwrap_or(&length);
    let source = Source {
        data: None,
        dtype,
        shape: Some(shape),
        strides: None,
        ptr: Some(ptr),
        capacity: None,
        device,
        pinned: false,
        copy: false,
        deleter: None,
    };
    let (array, dtype) = build(py, &source)?;
    Array::wrap(py, array, dtype)
}

/// An array with the elements of a numpy array.
///
/// Without `dtype` and `shape`, two dimensions of data make vectors and three make matrices, as wide as the last
/// dimensions.
#[pyfunction]
#[pyo3(signature = (arr, dtype = None, shape = None, device = None, requires_grad = false, retain_grad = false))]
pub fn from_numpy<'py>(
    py: Python<'py>,
    arr: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
    shape: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
    requires_grad: bool,
    retain_grad: bool,
) -> PyResult<Bound<'py, Array>> {
    let inferred;
    let dtype = match dtype {
        Some(dtype) => Some(dtype),
        None => {
            let Type::Scalar(scalar) = dtype_of(&arr.getattr("dtype")?)? else {
                return Err(argument_error(py, "the numpy array has no scalar dtype"));
            };
            let dims: Vec<u32> = arr.getattr("shape")?.extract()?;
            let ty = match dims.as_slice() {
                [_, n] if shape.is_none() => Type::vec(*n, scalar),
                [_, rows, cols] if shape.is_none() => Type::mat(*rows, *cols, scalar),
                _ => Type::Scalar(scalar),
            };
            inferred = class_of(py, ty)?;
            Some(&inferred)
        }
    };
    let source = Source {
        data: Some(arr),
        dtype,
        shape,
        strides: None,
        ptr: None,
        capacity: None,
        device,
        pinned: false,
        copy: true,
        deleter: None,
    };
    let (array, dtype) = build(py, &source)?;
    let array = Array::wrap(py, array, dtype)?;
    if requires_grad {
        array.get().require_grad(py)?;
    }
    array.get().retain(py, retain_grad)?;
    Ok(array)
}

/// The scalar class of a numpy dtype.
#[pyfunction]
pub fn dtype_from_numpy<'py>(
    py: Python<'py>,
    numpy_dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    class_of(py, dtype_of(numpy_dtype)?)
}

/// The numpy scalar class of a scalar type.
#[pyfunction]
pub fn dtype_to_numpy<'py>(py: Python<'py>, warp_dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match dtype_of(warp_dtype)? {
        // The type of its bits, whether or not `ml_dtypes` is installed: programs look the result up in tables.
        Type::Scalar(Scalar::BF16) => py.import("numpy")?.getattr("uint16"),
        Type::Scalar(Scalar::Bool) => py.import("numpy")?.getattr("bool_"),
        Type::Scalar(scalar) => py.import("numpy")?.getattr(scalar.python_name()),
        other => Err(PyTypeError::new_err(format!("numpy has no scalar type for {}", other.python_name()))),
    }
}
