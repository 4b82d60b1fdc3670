//! Arrays as rows of units, for the kernels of `inkle._scattered`.

use inkle_runtime::Units;
use pyo3::prelude::*;

use crate::array::Array;
use crate::dtype::{class_of, dtype_of};
use crate::error::IntoPyResult;

/// A row of units, where the first element starts in it, and how far neighbours are apart.
type Part<'py> = (Bound<'py, Array>, i64, (i64, i64, i64, i64));

fn part<'py>(py: Python<'py>, units: Units) -> PyResult<Part<'py>> {
    let dtype = class_of(py, units.row.dtype())?.unbind();
    let [a, b, c, d] = units.steps;
    Ok((Array::wrap(py, units.row, dtype)?, units.start, (a, b, c, d)))
}

/// Two arrays of elements of one size as units: the bytes of a unit, the units of an element, and both arrays. `None`
/// when there are more units than an array can have.
#[pyfunction]
pub fn units<'py>(
    py: Python<'py>,
    to: &Bound<'py, Array>,
    source: &Bound<'py, Array>,
) -> PyResult<Option<(u32, u32, Part<'py>, Part<'py>)>> {
    let (to, source) = (to.get().runtime(py)?, source.get().runtime(py)?);
    let unit = to.unit_bytes().min(source.unit_bytes());
    match (to.units(unit), source.units(unit)) {
        (Ok(to), Ok(from)) => {
            let count = source.dtype().size() / unit;
            Ok(Some((unit, count, part(py, to)?, part(py, from)?)))
        }
        _ => Ok(None),
    }
}

/// A view of an array's first element from every place of `shape`.
#[pyfunction]
pub fn repeated<'py>(
    py: Python<'py>,
    array: &Bound<'py, Array>,
    shape: Vec<i64>,
) -> PyResult<Bound<'py, Array>> {
    let made = array.get().runtime(py)?.repeated(&shape).into_py(py)?;
    Array::wrap(py, made, array.get().dtype_object(py)?)
}

/// The memory of a contiguous array as a row of elements of another type.
#[pyfunction]
pub fn flat<'py>(
    py: Python<'py>,
    array: &Bound<'py, Array>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, Array>> {
    let ty = dtype_of(dtype)?;
    let row = array.get().runtime(py)?.flat(ty).into_py(py)?;
    Array::wrap(py, row, class_of(py, ty)?.unbind())
}
