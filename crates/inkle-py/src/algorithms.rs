//! `inkle.utils`: the algorithms over arrays.

use inkle_ir::Type;
use inkle_runtime::algorithms::{self, Reduction};
use inkle_runtime::{self as rt, Device, RuntimeError};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::array::Array;
use crate::array_arguments::array_argument;
use crate::dtype::class_of;
use crate::error::{IntoPyResult, argument_error, blocking, class_name};
use crate::tape::record_undifferentiated;

/// The runtime's array of an argument.
///
/// # Errors
/// When the object is no array with elements.
pub fn runtime<'a>(object: &'a Bound<'_, PyAny>, argument: &str) -> PyResult<&'a rt::Array> {
    array_argument(object, argument)?.get().runtime(object.py())
}

/// A count: a number from zero to 2^31 - 1.
///
/// # Errors
/// `TypeError` when it is no integer, `ValueError` when it is outside.
pub fn count_argument(py: Python<'_>, name: &str, count: &Bound<'_, PyAny>) -> PyResult<usize> {
    if count.is_instance_of::<PyBool>() || !count.hasattr("__index__")? {
        return Err(PyTypeError::new_err(format!("{name} must be an integer, not {}", class_name(count))));
    }
    let index = count.call_method0("__index__")?.cast_into::<PyInt>()?;
    let value = index.extract::<i64>().unwrap_or(i64::MAX);
    if value < 0 {
        return Err(argument_error(py, format!("{name} must be non-negative, got {index}")));
    }
    if value > i32::MAX.into() {
        return Err(PyValueError::new_err(format!("{name} must not exceed {}, got {index}", i32::MAX)));
    }
    Ok(value as usize)
}

/// The running sums of an array into another; without `inclusive` each sum leaves its own element out.
#[pyfunction]
#[pyo3(signature = (in_array, out_array, inclusive = true))]
pub fn array_scan(
    py: Python<'_>,
    in_array: &Bound<'_, PyAny>,
    out_array: &Bound<'_, PyAny>,
    inclusive: bool,
) -> PyResult<()> {
    let (input, output) = (runtime(in_array, "in_array")?, runtime(out_array, "out_array")?);
    blocking(py, || algorithms::scan(input, output, inclusive))?;
    record_undifferentiated(py, "array_scan", &[in_array], &[out_array])
}

/// Sorts the first `count` pairs of keys and values by the keys, stably. Both arrays have room for twice `count`.
#[pyfunction]
#[pyo3(signature = (keys, values, count, begin_bit = 0, end_bit = None))]
pub fn radix_sort_pairs(
    py: Python<'_>,
    keys: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    count: &Bound<'_, PyAny>,
    begin_bit: i64,
    end_bit: Option<i64>,
) -> PyResult<()> {
    let count = count_argument(py, "count", count)?;
    let pairs = (runtime(keys, "keys")?, runtime(values, "values")?);
    blocking(py, || algorithms::sort_pairs(pairs.0, pairs.1, count, begin_bit, end_bit))?;
    record_undifferentiated(py, "radix_sort_pairs", &[keys, values], &[keys, values])
}

/// Sorts segments of the first `count` pairs of keys and values by the keys, stably. Segment `i` starts at
/// `segment_start_indices[i]` and ends at `segment_end_indices[i]`, or where the next one starts.
#[pyfunction]
#[pyo3(signature = (keys, values, count, segment_start_indices, segment_end_indices = None))]
pub fn segmented_sort_pairs(
    py: Python<'_>,
    keys: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
    count: &Bound<'_, PyAny>,
    segment_start_indices: &Bound<'_, PyAny>,
    segment_end_indices: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let count = count_argument(py, "count", count)?;
    let pairs = (runtime(keys, "keys")?, runtime(values, "values")?);
    let starts = runtime(segment_start_indices, "segment_start_indices")?;
    let ends = segment_end_indices.map(|e| runtime(e, "segment_end_indices")).transpose()?;
    blocking(py, || algorithms::segmented_sort_pairs(pairs.0, pairs.1, count, starts, ends))?;
    record_undifferentiated(py, "segmented_sort_pairs", &[keys, values], &[keys, values])
}

/// Writes each run of equal values as its value and its length. The number of runs is returned, or stored in
/// `run_count`, which is returned then.
#[pyfunction]
#[pyo3(signature = (values, run_values, run_lengths, run_count = None, value_count = None))]
pub fn runlength_encode<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    run_values: &Bound<'py, PyAny>,
    run_lengths: &Bound<'py, PyAny>,
    run_count: Option<&Bound<'py, PyAny>>,
    value_count: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = values;
    let values = runtime(values, "values")?;
    let (found, lengths) = (runtime(run_values, "run_values")?, runtime(run_lengths, "run_lengths")?);
    let count = match value_count {
        Some(count) => count_argument(py, "value_count", count)?,
        None => values.len(),
    };
    if let Some(counter) = run_count {
        let runs = runtime(counter, "run_count")?;
        blocking(py, || algorithms::runlength_encode_into(values, found, lengths, runs, count))?;
        record_undifferentiated(py, "runlength_encode", &[given], &[run_values])?;
        return Ok(counter.clone());
    }
    let runs = blocking(py, || algorithms::runlength_encode(values, found, lengths, count))?;
    record_undifferentiated(py, "runlength_encode", &[given], &[run_values])?;
    Ok(runs.into_pyobject(py)?.into_any())
}

/// The result of a reduction without `out`: a new array, or a number or array of numpy.
fn reduced<'py>(
    py: Python<'py>,
    name: &'static str,
    input: &rt::Array,
    dtype: Type,
    reduction: Reduction,
    compute: impl FnOnce() -> Result<Vec<u8>, RuntimeError> + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = reduction.shape(name, input).into_py(py)?;
    crate::observe::host_read(py, input)?;
    let bytes = blocking(py, compute)?;
    let device = if reduction.axis.is_none() { Device::cpu() } else { input.device() };
    let made = rt::Array::from_bytes(device, dtype, &shape, &bytes).into_py(py)?;
    let made = Array::wrap(py, made, class_of(py, dtype)?.unbind())?;
    if reduction.axis.is_none() { crate::array_io::numpy(&made)?.get_item(0) } else { Ok(made.into_any()) }
}

fn reduction_argument(
    py: Python<'_>,
    name: &str,
    count: Option<&Bound<'_, PyAny>>,
    axis: Option<i64>,
) -> PyResult<Reduction> {
    let count = count.map(|c| count_argument(py, name, c)).transpose()?;
    Ok(Reduction { axis, count })
}

/// The sum of the elements of an array, or the sums along an axis.
#[pyfunction]
#[pyo3(signature = (values, out = None, value_count = None, axis = None))]
pub fn array_sum<'py>(
    py: Python<'py>,
    values: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    value_count: Option<&Bound<'py, PyAny>>,
    axis: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = values;
    let values = runtime(values, "values")?;
    let reduction = reduction_argument(py, "value_count", value_count, axis)?;
    if let Some(out) = out {
        let output = runtime(out, "out")?;
        blocking(py, || algorithms::sum_into(values, output, reduction))?;
        record_undifferentiated(py, "array_sum", &[given], &[out])?;
        return Ok(out.clone());
    }
    reduced(py, "array_sum", values, values.dtype(), reduction, || algorithms::sum(values, reduction))
}

/// The inner product of two arrays, or the inner products along an axis.
#[pyfunction]
#[pyo3(signature = (a, b, out = None, count = None, axis = None))]
pub fn array_inner<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    out: Option<&Bound<'py, PyAny>>,
    count: Option<&Bound<'py, PyAny>>,
    axis: Option<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    let given = [a, b];
    let (a, b) = (runtime(a, "a")?, runtime(b, "b")?);
    let reduction = reduction_argument(py, "count", count, axis)?;
    let dtype = a.dtype().scalar().map_or(a.dtype(), Type::Scalar);
    if let Some(out) = out {
        let output = runtime(out, "out")?;
        blocking(py, || algorithms::inner_into(a, b, output, reduction))?;
        record_undifferentiated(py, "array_inner", &given, &[out])?;
        return Ok(out.clone());
    }
    crate::observe::host_read(py, b)?;
    reduced(py, "array_inner", a, dtype, reduction, || algorithms::inner(a, b, reduction))
}

/// Converts the elements of an array to the type of another and stores them there.
#[pyfunction]
#[pyo3(signature = (in_array, out_array, count = None))]
pub fn array_cast(
    py: Python<'_>,
    in_array: &Bound<'_, PyAny>,
    out_array: &Bound<'_, PyAny>,
    count: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (input, output) = (runtime(in_array, "in_array")?, runtime(out_array, "out_array")?);
    let count = count.map(|c| count_argument(py, "count", c)).transpose()?;
    blocking(py, || algorithms::cast(input, output, count))?;
    record_undifferentiated(py, "array_cast", &[in_array], &[out_array])
}
