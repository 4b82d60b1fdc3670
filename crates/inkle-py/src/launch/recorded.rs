//! Launches shown to a capture.

use std::sync::Arc;

use inkle_graph::GraphError;
use inkle_graph::arguments::addresses;
use inkle_graph::capture::{self, Launched};
use inkle_module::Loaded;
use inkle_runtime::record::Verdict;
use inkle_runtime::{self as rt, Allocation, Device, Stream};
use pyo3::prelude::*;

use crate::array::Array;
use crate::graph::{IntoPyGraphResult, graph_error};
use crate::kernel::{Instance, Pass};
use crate::structs::StructInstance;

/// A launch whose parameter block is finished.
pub struct Shown<'a, 'py> {
    /// The kernel.
    pub instance: &'a Arc<Instance>,
    /// Which way it runs.
    pub pass: &'a Pass,
    /// Its code.
    pub code: &'a Arc<Loaded>,
    /// The parameter block.
    pub words: &'a [u64],
    /// The arguments, and the gradients given for them.
    pub arguments: Vec<Bound<'py, PyAny>>,
    /// What was made of arguments of other libraries.
    pub temporaries: &'a [rt::Array],
    /// Threads per block on a GPU.
    pub block_dim: u32,
    /// The most blocks on a GPU.
    pub max_blocks: u32,
    /// Where it is queued on a GPU; on the device's current stream for `None`.
    pub stream: Option<&'a Stream>,
}

/// Shows a launch to the capture on `device`; the result says whether it has to run now too.
///
/// # Errors
/// When the launch cannot be part of a graph.
#[cold]
pub fn show(py: Python<'_>, device: Device, shown: Shown<'_, '_>) -> PyResult<Verdict> {
    let mut known: Vec<Arc<Allocation>> = shown.temporaries.iter().map(|a| a.memory().clone()).collect();
    for argument in &shown.arguments {
        each_memory(py, argument, &mut |memory| known.push(memory.clone()));
    }
    let access = shown.instance.access(py, shown.pass)?;
    let params = shown.instance.packers.iter().map(|packer| (packer.ty, packer.offset));
    let pointers = addresses(params, shown.words, &known, &access)
        .map_err(|param| unknown(py, &shown.instance.name, &shown.instance.packers[param].name))?;
    let kernel = || shown.instance.graph_kernel(shown.code);
    let launched = Launched {
        name: &shown.instance.name,
        code: shown.code.clone(),
        kernel: &kernel,
        params: shown.words.to_vec(),
        pointers,
        block_dim: shown.block_dim,
        max_blocks: shown.max_blocks,
        shared_bytes: 0,
    };
    let verdict = capture::launch(device, shown.stream, launched).graph(py)?;
    let held: Vec<Py<PyAny>> = shown.arguments.into_iter().map(Bound::unbind).collect();
    capture::hold(device, Box::new(held));
    Ok(verdict)
}

#[cold]
fn unknown(py: Python<'_>, kernel: &str, param: &str) -> PyErr {
    let what = format!("argument `{param}` of kernel `{kernel}`");
    graph_error(py, &GraphError::UnknownMemory { what })
}

/// Calls `visit` with the memory of all arrays that an argument has.
#[inline]
pub fn each_memory(py: Python<'_>, object: &Bound<'_, PyAny>, visit: &mut dyn FnMut(&Arc<Allocation>)) {
    if let Ok(array) = object.cast::<Array>() {
        array.get().each_memory(py, visit);
    } else if let Ok(instance) = object.cast::<StructInstance>() {
        for (_, held) in instance.get().arrays(py) {
            each_memory(py, held.bind(py), visit);
        }
    }
}
