//! Algorithms in graph files as kernels: what `inkle._parallel` does for arrays on a GPU, recorded.

use inkle_graph::{Graph, capture};
use inkle_runtime::algorithms::Algorithm;
use inkle_runtime::{self as rt, Device};
use pyo3::prelude::*;

use crate::algorithms::fits_kernels;
use crate::array::Array;
use crate::dtype::class_of;
use crate::error::IntoPyResult;
use crate::graph::IntoPyGraphResult;

/// Records what an algorithm over arrays of the CPU does as launches of kernels.
///
/// It is done on a thread of its own, where no capture, tape or trace of the program is under way. The caller must not
/// hold the interpreter.
///
/// # Errors
/// What is wrong with the arrays, or with the kernels.
pub fn record_algorithm(algorithm: &Algorithm<rt::Array>) -> Result<Graph, String> {
    let record = || Python::attach(|py| record(py, algorithm).map_err(|error| error.value(py).to_string()));
    std::thread::scope(|scope| scope.spawn(record).join())
        .unwrap_or_else(|_| Err("recording its kernels failed".to_owned()))
}

fn record(py: Python<'_>, algorithm: &Algorithm<rt::Array>) -> PyResult<Graph> {
    algorithm.check().into_py(py)?;
    let mut too_long = false;
    algorithm.each(|array, _| too_long |= !fits_kernels(array));
    if too_long {
        return Err(pyo3::exceptions::PyValueError::new_err(
            "an array has more numbers than an index counts",
        ));
    }
    let device = Device::cpu();
    capture::begin(device).graph(py)?;
    let outcome = launch(py, algorithm);
    if outcome.is_err() {
        capture::abandon(device);
    }
    outcome?;
    capture::end(device).graph(py)
}

fn launch(py: Python<'_>, algorithm: &Algorithm<rt::Array>) -> PyResult<()> {
    let module = py.import("inkle._parallel")?;
    let arrays =
        algorithm.try_map(|array| Array::wrap(py, array.clone(), class_of(py, array.dtype())?.unbind()))?;
    match arrays {
        Algorithm::Scan { input, output, inclusive } => {
            module.call_method1("scan", (input, output, inclusive))
        }
        Algorithm::SortPairs { keys, values, count, begin_bit, end_bit } => {
            module.call_method1("sort_pairs", (keys, values, count, begin_bit, end_bit))
        }
        Algorithm::SegmentedSortPairs { keys, values, count, starts, ends } => {
            module.call_method1("segmented_sort_pairs", (keys, values, count, starts, ends))
        }
        Algorithm::RunLengths { values, run_values, run_lengths, run_count, count } => {
            module.call_method1("runs", (values, run_values, run_lengths, run_count, count))
        }
        Algorithm::Sum { values, output, reduction } => {
            module.call_method1("total", (values, output, reduction.count, reduction.axis))
        }
        Algorithm::Inner { a, b, output, reduction } => {
            module.call_method1("inner", (a, b, output, reduction.count, reduction.axis))
        }
        Algorithm::Cast { input, output, count } => module.call_method1("cast", (input, output, count)),
    }
    .map(drop)
}
