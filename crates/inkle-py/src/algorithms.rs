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
use crate::tape::{record_algorithm, record_undifferentiated};

/// The runtime's array of an argument.
///
/// # Errors
/// When the object is no array with elements.
pub fn runtime<'a>(object: &'a Bound<'_, PyAny>, argument: &str) -> PyResult<&'a rt::Array> {
    array_argument(object, argument)?.get().runtime(object.py())
}

/// Rows of numbers are indexed by `int32`; this much is left for steps past their end.
const LONGEST_ROW: usize = (1 << 31) - (1 << 20);

/// Whether an array has no more numbers than the kernels of `inkle._parallel` can count.
pub fn fits_kernels(array: &rt::Array) -> bool {
    array.size_bytes() / array.dtype().scalar().map_or(1, |s| s.size()) as usize <= LONGEST_ROW
}

/// Whether the kernels of `inkle._parallel` do an algorithm on these arrays.
fn runs_on_gpu(arrays: &[&rt::Array]) -> bool {
    arrays[0].device().is_cuda() && arrays.iter().all(|array| fits_kernels(array))
}

/// Calls an algorithm of `inkle._parallel`. What it launches and copies on the way is nothing for a tape.
fn in_parallel<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<()> {
    crate::tape::untold(|| py.import("inkle._parallel")?.getattr(name)?.call1(arguments)).map(drop)
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
    if runs_on_gpu(&[input, output]) {
        algorithms::check_scan(input, output).into_py(py)?;
        in_parallel(py, "scan", (in_array, out_array, inclusive))?;
    } else {
        blocking(py, || algorithms::scan(input, output, inclusive))?;
    }
    record_algorithm(py, "array_scan", out_array, &[in_array], (inclusive,).into_pyobject(py)?)
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
    if runs_on_gpu(&[pairs.0, pairs.1]) {
        let bits = algorithms::check_sort_pairs(pairs.0, pairs.1, count, begin_bit, end_bit).into_py(py)?;
        if let Some(bits) = bits {
            in_parallel(py, "sort_pairs", (keys, values, count, bits.start, bits.end))?;
        }
    } else {
        blocking(py, || algorithms::sort_pairs(pairs.0, pairs.1, count, begin_bit, end_bit))?;
    }
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
    if runs_on_gpu(&[pairs.0, pairs.1]) {
        algorithms::check_segments(pairs.0, pairs.1, count, starts, ends).into_py(py)?;
        let lists = (segment_start_indices, segment_end_indices);
        in_parallel(py, "segmented_sort_pairs", (keys, values, count, lists.0, lists.1))?;
    } else {
        blocking(py, || algorithms::segmented_sort_pairs(pairs.0, pairs.1, count, starts, ends))?;
    }
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
    if runs_on_gpu(&[values, found, lengths]) && [values, found, lengths].iter().all(|a| a.ndim() == 1) {
        algorithms::check_runs(values, found, lengths, count).into_py(py)?;
        let counter = match run_count {
            Some(counter) => {
                algorithms::check_run_count(values, runtime(counter, "run_count")?).into_py(py)?;
                array_argument(counter, "run_count")?.clone()
            }
            None => {
                let instead = "an array for the number of runs";
                algorithms::needs_result_now("runlength_encode", values, instead).into_py(py)?;
                let made = rt::Array::empty(values.device(), Type::I32, &[1]).into_py(py)?;
                Array::wrap(py, made, class_of(py, Type::I32)?.unbind())?
            }
        };
        in_parallel(py, "runs", (given, run_values, run_lengths, &counter, count))?;
        record_undifferentiated(py, "runlength_encode", &[given], &[run_values])?;
        return match run_count {
            Some(counter) => Ok(counter.clone()),
            None => crate::array_io::numpy(&counter)?.get_item(0)?.call_method0("item"),
        };
    }
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

/// A reduction by kernels into `out`, or a new array of which one number is read.
fn reduced_in_parallel<'py>(
    py: Python<'py>,
    name: &'static str,
    input: &rt::Array,
    dtype: Type,
    reduction: Reduction,
    out: Option<&Bound<'py, PyAny>>,
    compute: impl FnOnce(&Bound<'py, PyAny>, &rt::Array) -> PyResult<()>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(out) = out {
        compute(out, runtime(out, "out")?)?;
        return Ok(out.clone());
    }
    if reduction.axis.is_none() {
        algorithms::needs_result_now(name, input, "an explicit out array").into_py(py)?;
    }
    let shape = reduction.shape(name, input).into_py(py)?;
    let made = rt::Array::empty(input.device(), dtype, &shape).into_py(py)?;
    let made = Array::wrap(py, made, class_of(py, dtype)?.unbind())?;
    compute(made.as_any(), made.get().runtime(py)?)?;
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
    if runs_on_gpu(&[values]) {
        return reduced_in_parallel(
            py,
            "array_sum",
            values,
            values.dtype(),
            reduction,
            out,
            |out, output| {
                algorithms::check_sum(values, output, reduction).into_py(py)?;
                in_parallel(py, "total", (given, out, reduction.count, axis))?;
                record_algorithm(py, "array_sum", out, &[given], (reduction.count, axis).into_pyobject(py)?)
            },
        );
    }
    if let Some(out) = out {
        let output = runtime(out, "out")?;
        blocking(py, || algorithms::sum_into(values, output, reduction))?;
        record_algorithm(py, "array_sum", out, &[given], (reduction.count, axis).into_pyobject(py)?)?;
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
    if runs_on_gpu(&[a, b]) {
        return reduced_in_parallel(py, "array_inner", a, dtype, reduction, out, |out, output| {
            algorithms::check_inner(a, b, output, reduction).into_py(py)?;
            in_parallel(py, "inner", (given[0], given[1], out, reduction.count, axis))?;
            record_algorithm(py, "array_inner", out, &given, (reduction.count, axis).into_pyobject(py)?)
        });
    }
    if let Some(out) = out {
        let output = runtime(out, "out")?;
        blocking(py, || algorithms::inner_into(a, b, output, reduction))?;
        record_algorithm(py, "array_inner", out, &given, (reduction.count, axis).into_pyobject(py)?)?;
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
    if runs_on_gpu(&[input, output]) {
        algorithms::check_cast(input, output, count).into_py(py)?;
        in_parallel(py, "cast", (in_array, out_array, count))?;
    } else {
        blocking(py, || algorithms::cast(input, output, count))?;
    }
    record_algorithm(py, "array_cast", out_array, &[in_array], (count,).into_pyobject(py)?)
}
