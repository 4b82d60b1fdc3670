//! Subscripts and views of arrays.

use inkle_ir::Type;
use inkle_runtime::{self as rt, Index, Slice};
use pyo3::prelude::*;
use pyo3::types::{PyEllipsis, PySlice, PyTuple};
use smallvec::SmallVec;

use crate::array::Array;
use crate::array_arguments::gathered_on_tape;
use crate::array_io;
use crate::array_new;
use crate::dtype::{class_of, dtype_of};
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::indexed::Indexed;
use crate::interface::{inner_shape, inner_strides};

/// An array made from another's by the runtime, with the same element type.
///
/// # Errors
/// The runtime's.
pub fn derived<'py>(
    array: &Bound<'py, Array>,
    make: impl FnOnce(&rt::Array) -> Result<rt::Array, rt::RuntimeError>,
) -> PyResult<Bound<'py, Array>> {
    let py = array.py();
    let made = make(&array.get().with_grad(py)?).into_py(py)?;
    view_of(array, made, array.get().dtype_object(py)?)
}

/// The object of a view: its gradient is kept where its array's is, and the array lives as long as the view.
fn view_of<'py>(array: &Bound<'py, Array>, view: rt::Array, dtype: Py<PyAny>) -> PyResult<Bound<'py, Array>> {
    let made = Array::wrap(array.py(), view, dtype)?;
    if array.get().data().is_some_and(crate::array_data::Data::retains_grad) {
        made.get().retain(array.py(), true)?;
    }
    if let Some(data) = made.get().data() {
        let _ = data.viewed.set(array.clone().unbind());
    }
    Ok(made)
}

fn bound_of(slice: &Bound<'_, PySlice>, name: &str) -> PyResult<Option<i64>> {
    let value = slice.getattr(name)?;
    if value.is_none() { Ok(None) } else { value.extract().map(Some) }
}

fn index(key: &Bound<'_, PyAny>) -> PyResult<Index> {
    if let Ok(slice) = key.cast::<PySlice>() {
        let (start, stop) = (bound_of(slice, "start")?, bound_of(slice, "stop")?);
        let step = bound_of(slice, "step")?.unwrap_or(1);
        if step == 0 {
            return Err(argument_error(key.py(), "slice step cannot be zero"));
        }
        if step < 1 {
            return Err(argument_error(key.py(), format!("the step of a slice is at least 1, not {step}")));
        }
        return Ok(Index::Slice(Slice { start, stop, step }));
    }
    key.extract::<i64>().map(Index::At).map_err(|_| {
        argument_error(
            key.py(),
            format!("an array is indexed by ints and slices, not by {}", class_name(key)),
        )
    })
}

fn indices(key: &Bound<'_, PyAny>, ndim: usize) -> PyResult<SmallVec<[Index; 4]>> {
    let Ok(keys) = key.cast::<PyTuple>() else {
        return if key.is_instance_of::<PyEllipsis>() {
            Ok(SmallVec::new())
        } else {
            Ok(SmallVec::from_iter([index(key)?]))
        };
    };
    let mut out = SmallVec::new();
    let mut expanded = false;
    for key in keys.iter() {
        if key.is_instance_of::<PyEllipsis>() && !expanded {
            expanded = true;
            let missing = (ndim + 1).saturating_sub(keys.len());
            out.extend(std::iter::repeat_n(Index::Slice(Slice::ALL), missing));
        } else {
            out.push(index(&key)?);
        }
    }
    Ok(out)
}

/// `array[key]` where some entries are arrays of indices: an indexed array. `None` without such entries.
fn through_lists<'py>(
    array: &Bound<'py, Array>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let entries: Vec<Bound<'py, PyAny>> = match key.cast::<PyTuple>() {
        Ok(keys) => keys.iter().collect(),
        Err(_) => vec![key.clone()],
    };
    if !entries.iter().any(|entry| entry.is_instance_of::<Array>()) {
        return Ok(None);
    }
    let ndim = array.get().ndim() as usize;
    let mut lists = Vec::new();
    let mut plain = Vec::new();
    for entry in &entries {
        if entry.is_instance_of::<Array>() {
            lists.push(Some(entry.clone()));
            plain.push(PySlice::full(py).into_any());
            continue;
        }
        if entry.is_instance_of::<PySlice>() {
            lists.push(None);
        } else if entry.is_instance_of::<PyEllipsis>() {
            lists.resize(lists.len() + (ndim + 1).saturating_sub(entries.len()), None);
        }
        plain.push(entry.clone());
    }
    let view = get(array, PyTuple::new(py, plain)?.as_any())?;
    let indexed = Indexed::make(py, view.cast::<Array>()?, &lists)?;
    Ok(Some(indexed.into_object(py)?.into_any()))
}

/// `array[key]`: a view, or the value of one element when every dimension has an int.
///
/// # Errors
/// For what is no index, and for indices out of range.
pub fn get<'py>(array: &Bound<'py, Array>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    if let Some(indexed) = through_lists(array, key)? {
        return Ok(indexed);
    }
    let runtime = array.get().with_grad(py)?;
    let part = runtime.select(&indices(key, runtime.ndim())?).into_py(py)?;
    if part.ndim() == 0 {
        return array_io::element(py, &part, array.get().dtype_object(py)?.bind(py));
    }
    Ok(view_of(array, part, array.get().dtype_object(py)?)?.into_any())
}

/// `array[key] = value`: fills or copies, depending on what `value` is.
///
/// # Errors
/// For what is no index, for indices out of range, and for values that do not fit.
pub fn set(array: &Bound<'_, Array>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    let runtime = array.get().with_grad(py)?;
    let part = runtime.select(&indices(key, runtime.ndim())?).into_py(py)?;
    let target = view_of(array, part, array.get().dtype_object(py)?)?;
    if let Ok(src) = value.cast::<Array>() {
        let src = gathered_on_tape(src)?;
        let (to, from) = (runtime.dtype(), src.get().runtime(py)?.dtype());
        if to != from && (to.scalar().is_none() || to.scalar() != from.scalar()) {
            let (to, from) = (to.python_name(), from.python_name());
            let message = format!(
                "elements of type {from} cannot be assigned to elements of type {to}: convert them first, with `wp.map` or \
                 in a kernel; `wp.copy` copies their bytes as they are"
            );
            return Err(argument_error(py, message));
        }
        array_io::assign_exactly(&target, &src)?;
        return crate::tape::record_copy(&target, &src, [0; 3]);
    }
    match array_new::element_bytes(value, runtime.dtype()) {
        Ok(bytes) => array_new::fill_bytes(target.get(), value, &bytes)?,
        Err(_) => array_io::assign_exactly(&target, value)?,
    }
    crate::tape::record_fill(&target)
}

/// A view of the same bytes with another element type.
///
/// # Errors
/// When the types do not fit the shape.
pub fn view_as<'py>(array: &Bound<'py, Array>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
    let py = array.py();
    let to = dtype_of(dtype)?;
    let runtime = array.get().with_grad(py)?;
    let mut made = reinterpret(py, &runtime, to)?;
    if let Some(grad) = runtime.grad() {
        made.set_grad(Some(reinterpret(py, grad, to)?)).into_py(py)?;
    }
    let dtype = if matches!(to, Type::Struct(_)) { dtype.clone() } else { class_of(py, to)? };
    view_of(array, made, dtype.unbind())
}

/// Why elements of `from` cannot be seen as `to`: their sizes differ or, when values are taken apart or put together,
/// those of their scalars.
fn size_problem(from: Type, to: Type) -> Option<String> {
    let is_scalar = |ty: Type| ty.as_scalar().is_some();
    let part = |ty: Type, by_scalar: bool| match ty.scalar().filter(|_| by_scalar && !is_scalar(ty)) {
        Some(scalar) => (format!("scalar dtype {}", scalar.python_name()), scalar.size()),
        None => ("dtype".to_owned(), ty.size()),
    };
    let by_scalar = from.component_count() != to.component_count()
        && (is_scalar(from) != is_scalar(to) || from.scalar().is_some_and(|s| Some(s) == to.scalar()));
    let ((from_name, from_size), (to_name, to_size)) = (part(from, by_scalar), part(to, by_scalar));
    (from_size != to_size).then(|| {
        format!(
            "source {from_name} has size {from_size} bytes, but target {to_name} has size {to_size} bytes"
        )
    })
}

fn reinterpret(py: Python<'_>, array: &rt::Array, to: Type) -> PyResult<rt::Array> {
    let from = array.dtype();
    if let Some(problem) = size_problem(from, to) {
        let (to, from) = (to.python_name(), from.python_name());
        let message =
            format!("cannot create an array view with dtype {to} from source dtype {from}: {problem}");
        return Err(argument_error(py, message));
    }
    let mut shape: Vec<i64> = array.shape().iter().map(|&n| n.into()).collect();
    let mut strides = array.strides().to_vec();
    if let (Some(from_scalar), Some(to_scalar)) = (from.scalar(), to.scalar())
        && from.component_count() != to.component_count()
        && from_scalar.size() == to_scalar.size()
    {
        // Values are taken apart into their components, then put together anew.
        shape.extend(inner_shape(from));
        strides.extend(inner_strides(from));
        let (inner, inner_strides) = (inner_shape(to), inner_strides(to));
        if !shape.ends_with(&inner) || !strides.ends_with(&inner_strides) {
            let message = format!(
                "an array of shape {shape:?} of {} cannot be viewed as {}",
                from_scalar.python_name(),
                to.python_name()
            );
            return Err(argument_error(py, message));
        }
        shape.truncate(shape.len() - inner.len());
        strides.truncate(strides.len() - inner_strides.len());
        if shape.is_empty() {
            shape.push(1);
            strides.push(to.size().into());
        }
        let offset = (array.address() - array.memory().address()) as usize;
        return rt::Array::from_parts(array.memory().clone(), offset, to, &shape, Some(&strides)).into_py(py);
    }
    array.view_as(to).into_py(py)
}
