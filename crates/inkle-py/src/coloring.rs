//! `inkle.utils`: colouring of graphs.

use inkle_ir::Type;
use inkle_runtime::coloring::{self, ColoringError, Order};
use inkle_runtime::{self as rt};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::algorithms::{count_argument, runtime};
use crate::array::Array;
use crate::dtype::class_of;
use crate::error::{IntoPyResult, argument_error, blocking};

fn ints(array: &rt::Array) -> Result<Vec<i32>, rt::RuntimeError> {
    let bytes = array.to_bytes()?;
    Ok(bytes.as_chunks::<4>().0.iter().map(|b| i32::from_ne_bytes(*b)).collect())
}

fn bytes_of(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

fn int_array<'a>(object: &'a Bound<'_, PyAny>, name: &str, ndim: usize) -> PyResult<&'a rt::Array> {
    let array = runtime(object, name)?;
    let problem = if array.dtype() != Type::I32 {
        format!("have dtype int32, got {}", array.dtype().python_name())
    } else if array.ndim() != ndim {
        format!("be {ndim}-dimensional, got {} dimensions", array.ndim())
    } else {
        return Ok(array);
    };
    Err(argument_error(object.py(), format!("{name} array must {problem}")))
}

/// The edges and the array of colours.
fn graph_arguments<'a>(
    py: Python<'_>,
    edges: &'a Bound<'_, PyAny>,
    node_colors: &'a Bound<'_, PyAny>,
) -> PyResult<(Vec<[i32; 2]>, &'a rt::Array)> {
    let edges = int_array(edges, "edges", 2)?;
    if edges.shape()[1] != 2 {
        let shape = PyTuple::new(py, edges.shape())?;
        return Err(argument_error(
            py,
            format!("edges array must have shape (edge_count, 2), got shape {shape}"),
        ));
    }
    let colors = int_array(node_colors, "node_colors", 1)?;
    if colors.is_empty() {
        return Err(argument_error(py, "Cannot color an empty graph"));
    }
    let ends = blocking(py, || ints(edges))?;
    Ok((ends.as_chunks::<2>().0.to_vec(), colors))
}

fn failed(py: Python<'_>, what: &str, error: ColoringError) -> PyErr {
    argument_error(py, format!("{what} failed: {error}"))
}

/// Stores a colour for every node, so that no edge joins nodes of one colour, and returns the number of colours.
#[pyfunction]
pub fn graph_coloring_assign(
    py: Python<'_>,
    edges: &Bound<'_, PyAny>,
    node_colors: &Bound<'_, PyAny>,
    algorithm: i64,
) -> PyResult<usize> {
    const WHAT: &str = "Graph coloring";
    let order = match algorithm {
        0 => Order::MaximumCardinality,
        1 => Order::LargestFirst,
        other => {
            let message = format!("{WHAT} failed: Unrecognized coloring algorithm number: {other}!");
            return Err(argument_error(py, message));
        }
    };
    let (edges, to) = graph_arguments(py, edges, node_colors)?;
    let (colors, count) =
        py.detach(|| coloring::assign(to.len(), &edges, order)).map_err(|e| failed(py, WHAT, e))?;
    blocking(py, || to.write_bytes(&bytes_of(&colors)))?;
    Ok(count)
}

/// Makes the colours of a valid colouring more equally frequent. Returns the number of nodes of the most frequent
/// colour over that of the rarest, and whether the limit of iterations kept it from being smaller.
#[pyfunction]
pub fn graph_coloring_balance(
    py: Python<'_>,
    edges: &Bound<'_, PyAny>,
    node_colors: &Bound<'_, PyAny>,
    color_count: &Bound<'_, PyAny>,
    target_max_min_ratio: f32,
    max_iterations: Option<&Bound<'_, PyAny>>,
) -> PyResult<(f32, bool)> {
    let limit = max_iterations.map(|n| count_argument(py, "max_iterations", n)).transpose()?;
    let count = count_argument(py, "color_count", color_count)?;
    let (edges, array) = graph_arguments(py, edges, node_colors)?;
    let colors = blocking(py, || ints(array))?;
    let balanced = py
        .detach(|| coloring::balance(&edges, &colors, count, target_max_min_ratio, limit))
        .map_err(|error| failed(py, "Graph coloring balance", error))?;
    if balanced.colors != colors {
        blocking(py, || array.write_bytes(&bytes_of(&balanced.colors)))?;
    }
    Ok((balanced.ratio, balanced.is_stopped))
}

/// The nodes of each colour, as a tuple of arrays on `device`.
#[pyfunction]
pub fn graph_coloring_groups<'py>(
    py: Python<'py>,
    node_colors: &Bound<'py, PyAny>,
    color_count: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let count = count_argument(py, "color_count", color_count)?;
    let array = int_array(node_colors, "node_colors", 1)?;
    let device = crate::device::device_argument(py, device)?;
    let colors = blocking(py, || ints(array))?;
    let dtype = class_of(py, Type::I32)?;
    let groups = coloring::groups(&colors, count).into_iter().map(|nodes| {
        let made = rt::Array::from_bytes(device, Type::I32, &[nodes.len() as i64], &bytes_of(&nodes));
        Array::wrap(py, made.into_py(py)?, dtype.clone().unbind())
    });
    PyTuple::new(py, groups.collect::<PyResult<Vec<_>>>()?)
}
