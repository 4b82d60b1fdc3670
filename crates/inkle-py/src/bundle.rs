//! Graphs in files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use inkle_graph::bundle::{
    Anew, Bundle, BundleError, CodeTarget, Compiler, Link, PublicKey, SaveOptions, Source, code_beside,
};
use inkle_graph::function::{self, Function, FunctionError, Port};
use inkle_graph::{Graph, GraphError};
use inkle_runtime as rt;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyMapping, PyString, PyTuple};

use crate::array_arguments::array_argument;
use crate::cache::apply_cache_settings;
use crate::device::device_argument;
use crate::error::class_name;
use crate::graph::{IntoPyGraphResult, PyGraph, graph_error};
use crate::lowering::record_algorithm;

/// What a path gets that has no extension.
const EXTENSION: &str = "wrp";

fn path_argument(path: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    path.extract()
        .map_err(|_| PyTypeError::new_err(format!("`path` is a str or a path, not {}", class_name(path))))
}

/// The arrays of a dict of names.
///
/// # Errors
/// For other names or values.
pub fn named_arrays(dict: Option<&Bound<'_, PyDict>>, argument: &str) -> PyResult<Vec<(String, rt::Array)>> {
    let mut named = Vec::new();
    for (name, array) in dict.into_iter().flatten() {
        let Ok(name) = name.cast::<PyString>() else {
            let message = format!("the names in `{argument}` are str, not {}", class_name(&name));
            return Err(PyTypeError::new_err(message));
        };
        let array = array_argument(&array, &format!("{argument}[{name:?}]"))?;
        named.push((name.to_string(), array.get().runtime(array.py())?.clone()));
    }
    Ok(named)
}

/// The targets of a list of names.
///
/// # Errors
/// For names of none.
pub fn targets_argument(py: Python<'_>, targets: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<CodeTarget>> {
    let Some(targets) = targets else { return Ok(Vec::new()) };
    if targets.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("`targets` is a list of names: write `targets=[\"sm_90\"]`"));
    }
    let mut found = Vec::new();
    for name in targets.try_iter()? {
        let name: String = name?.extract()?;
        let target: Result<CodeTarget, BundleError> = name.parse();
        found.push(target.map_err(|error| PyValueError::new_err(error.to_string()))?);
    }
    let _ = py;
    Ok(found)
}

/// Writes a graph into one file, with its memory as it is now and code for several machines.
///
/// The file runs on any x86-64 or 64-bit Arm CPU and any NVIDIA GPU from sm_75 on. It is written whole or not at all.
///
/// Args:
///     graph: The graph.
///     path: Where to. Without an extension it gets `.wrp`.
///     inputs: Names for arrays that are set before the graph runs.
///     outputs: Names for arrays that are read after it ran.
///     source_fallback: Whether the kernels' IR must be inside; it is unless `include_ir` says no.
///     targets: What there is to be code for besides: `sm_90` and so on (machine code for a GPU, which the driver need
///         not compile), `compute_90` (PTX), `x86-64-v4`, `native`.
///     include_ir: Whether the kernels' IR is inside, so that inkle can compile them for machines nobody thought of.
#[pyfunction]
#[pyo3(signature = (
    graph, path, inputs = None, outputs = None, source_fallback = false, targets = None, include_ir = true
))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's, and more")]
pub fn capture_save(
    py: Python<'_>,
    graph: &Bound<'_, PyGraph>,
    path: &Bound<'_, PyAny>,
    inputs: Option<&Bound<'_, PyDict>>,
    outputs: Option<&Bound<'_, PyDict>>,
    source_fallback: bool,
    targets: Option<&Bound<'_, PyAny>>,
    include_ir: bool,
) -> PyResult<()> {
    if source_fallback && !include_ir {
        return Err(PyValueError::new_err(
            "`source_fallback` needs the IR that `include_ir=False` leaves out",
        ));
    }
    let mut path = path_argument(path)?;
    if path.extension().is_none() {
        path.set_extension(EXTENSION);
    }
    let options = SaveOptions {
        inputs: named_arrays(inputs, "inputs")?,
        outputs: named_arrays(outputs, "outputs")?,
        targets: targets_argument(py, targets)?,
        without_ir: !include_ir,
    };
    apply_cache_settings(py)?;
    let graph = graph.get().ready(py)?.clone();
    let written = py.detach(|| {
        let bytes = graph.save(&options)?.to_bytes();
        Ok::<_, GraphError>(inkle_graph::bundle::write_file(&path, &bytes))
    });
    written.graph(py)?.map_err(|error| {
        PyErr::from(std::io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display())))
    })
}

/// The key that a file has to be signed with: 32 bytes, or the path of a file in PEM.
fn key_argument(key: Option<&Bound<'_, PyAny>>) -> PyResult<Option<PublicKey>> {
    let Some(key) = key.filter(|key| !key.is_none()) else { return Ok(None) };
    let wrong = |error: BundleError| PyValueError::new_err(format!("`public_key`: {error}"));
    if let Ok(bytes) = key.cast::<PyBytes>() {
        let Ok(bytes) = <&[u8; 32]>::try_from(bytes.as_bytes()) else {
            let message = format!("`public_key` has 32 bytes, not {}", bytes.as_bytes().len());
            return Err(PyValueError::new_err(message));
        };
        return PublicKey::from_bytes(bytes).map(Some).map_err(wrong);
    }
    let Ok(path) = key.extract::<PathBuf>() else {
        let message = format!("`public_key` is 32 bytes or the path of a file, not {}", class_name(key));
        return Err(PyTypeError::new_err(message));
    };
    PublicKey::from_pem(&std::fs::read_to_string(path)?).map(Some).map_err(wrong)
}

fn load(
    py: Python<'_>,
    bytes: Vec<u8>,
    device: rt::Device,
    from: &str,
    find: &(dyn Fn(&str) -> Result<Vec<u8>, String> + Sync),
    key: Option<PublicKey>,
    when: Anew,
) -> PyResult<Graph> {
    apply_cache_settings(py)?;
    let loaded = py.detach(|| {
        let mut bundle = Bundle::from_bytes_and_code(bytes, find)?;
        if let Some(key) = &key {
            bundle.require_signer(key)?;
        }
        if device.is_cuda() && when != Anew::Never && bundle.algorithm_count() > 0 {
            bundle.lower_algorithms(&record_algorithm, None)?;
        }
        bundle.load(device, Some(Compiler { recompile: &inkle_module::recompile, when }))
    });
    loaded.map_err(|error| match error {
        GraphError::Bundle(error) => {
            PyRuntimeError::new_err(format!("Failed to load APIC graph from {from}: {error}"))
        }
        other => graph_error(py, &other),
    })
}

fn loaded<'py>(py: Python<'py>, graph: Graph) -> PyResult<Bound<'py, PyGraph>> {
    Bound::new(py, PyGraph::new(Arc::new(graph)))
}

/// The bytes of something like `bytes`.
fn buffer<'py>(data: &Bound<'py, PyAny>, what: &str) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let py = data.py();
    let view = py.import("builtins")?.getattr("memoryview")?.call1((data,)).map_err(|_| {
        PyTypeError::new_err(format!("{what} is bytes or something like it, not {}", class_name(data)))
    })?;
    if !view.getattr("c_contiguous")?.is_truthy()? {
        return Err(PyValueError::new_err(format!("{what} is not contiguous")));
    }
    Ok(view.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}

/// A graph from a file that `capture_save` wrote, or from the bytes of one.
///
/// Its memory is its own: `set_param` and `get_param` reach the arrays that were named. Code for the device is in the
/// file; no kernel of the program is needed.
///
/// Args:
///     path: The file's path, or its bytes. A file that Warp 1.17 to 1.19 saved of a graph of a GPU is replayed too, if its
///         folder of code is beside it; what it uses beyond launches, copies, fills, conditions, loops and algorithms of
///         `wp.utils` is named in the error.
///     device: The device to run on; the default one for `None`.
///     recompile: Whether the kernels are compiled for this very device, from the IR in the file: `None` does so where the
///         file has no code for it, or for a GPU only PTX for older ones; `True` always, `False` never. A GPU has algorithms
///         of `wp.utils` in a file as kernels, which are compiled, so never with `False`.
///     public_key: The key that the file has to be signed with (`inkle sign`): the path of a file in PEM, or 32 bytes.
#[pyfunction]
#[pyo3(signature = (path, device = None, recompile = None, public_key = None))]
pub fn capture_load<'py>(
    py: Python<'py>,
    path: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    recompile: Option<bool>,
    public_key: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyGraph>> {
    let (device, key) = (device_argument(py, device)?, key_argument(public_key)?);
    let when = recompile.map_or(Anew::WhenBetter, |anew| if anew { Anew::Always } else { Anew::Never });
    let Ok(path) = path.extract::<PathBuf>() else {
        let bytes = buffer(path, "a graph")?;
        return loaded(py, load(py, bytes.as_bytes().to_vec(), device, "bytes", &no_code, key, when)?);
    };
    let path = if path.exists() || path.extension().is_some_and(|e| e == EXTENSION) {
        path
    } else {
        let mut name = path.into_os_string();
        name.push(".");
        name.push(EXTENSION);
        PathBuf::from(name)
    };
    let bytes = py.detach(|| read(&path)).map_err(|why| {
        PyRuntimeError::new_err(format!("Failed to load APIC graph from {}: {why}", path.display()))
    })?;
    loaded(py, load(py, bytes, device, &path.display().to_string(), &code_beside(&path), key, when)?)
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    inkle_graph::bundle::read_file(path)
}

/// For bytes of a file of Warp's without files of code.
fn no_code(_: &str) -> Result<Vec<u8>, String> {
    Err("only the bytes of the graph file were given: `capture_load_from_bytes` takes its code as `modules`"
        .into())
}

/// A graph from the bytes of a file that `capture_save` wrote. `modules` has, by name, the files of code that Warp writes
/// beside its own files; inkle's have all their code inside.
#[pyfunction]
#[pyo3(signature = (data, modules = None, device = None))]
pub fn capture_load_from_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    modules: Option<&Bound<'py, PyAny>>,
    device: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyGraph>> {
    let mut files = HashMap::new();
    if let Some(modules) = modules {
        let Ok(modules) = modules.cast::<PyMapping>() else {
            let message = format!("`modules` is a mapping of names to bytes, not {}", class_name(modules));
            return Err(PyTypeError::new_err(message));
        };
        for item in modules.items()?.iter() {
            let (name, code): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let Ok(name) = name.cast::<PyString>() else {
                return Err(PyTypeError::new_err("the names in `modules` are str"));
            };
            files.insert(name.to_string(), buffer(&code, "a module")?.as_bytes().to_vec());
        }
    }
    let find = |name: &str| {
        let missing =
            || format!("`modules` has {}", if files.is_empty() { "no files" } else { "other files" });
        files.get(name).cloned().ok_or_else(missing)
    };
    let device = device_argument(py, device)?;
    let bytes = buffer(data, "`data`")?;
    loaded(py, load(py, bytes.as_bytes().to_vec(), device, "bytes", &find, None, Anew::default())?)
}

/// Writes what a graph does, and what of it depends on what, as a drawing for Graphviz.
#[pyfunction]
#[pyo3(signature = (graph, path, verbose = true))]
pub fn capture_debug_dot_print(
    py: Python<'_>,
    graph: &Bound<'_, PyGraph>,
    path: &Bound<'_, PyAny>,
    verbose: bool,
) -> PyResult<()> {
    let text = inkle_graph::dot(graph.get().ready(py)?.ops(), verbose);
    Ok(inkle_graph::bundle::write_file(&path_argument(path)?, text.as_bytes())?)
}

/// Where a bundle of a chain gets an input from.
#[derive(FromPyObject)]
pub enum PySource {
    /// The index of an input of the chain.
    Input(usize),
    /// The indices of an earlier bundle and of its output.
    Output(usize, usize),
    /// The bytes of a constant.
    #[pyo3(transparent)]
    Constant(Vec<u8>),
}

impl From<PySource> for Source {
    fn from(source: PySource) -> Source {
        match source {
            PySource::Input(index) => Source::Input(index),
            PySource::Output(link, output) => Source::Output(link, output),
            PySource::Constant(bytes) => Source::Constant(bytes),
        }
    }
}

/// The bytes of a bundle that does what bundles do one after the other. `links` are bundles, each with where its inputs come
/// from: the index of one of `inputs`, (an earlier bundle, one of its outputs), or the bytes of a constant. `outputs` are
/// names with (a bundle, one of its outputs).
#[pyfunction]
pub fn bundle_chain<'py>(
    py: Python<'py>,
    links: Vec<(Vec<u8>, Vec<PySource>)>,
    inputs: Vec<String>,
    outputs: Vec<(String, usize, usize)>,
) -> PyResult<Bound<'py, PyBytes>> {
    let chained = py.detach(|| {
        let link = |(bytes, sources): (Vec<u8>, Vec<PySource>)| {
            let bundle = Bundle::from_bytes(bytes)?;
            Ok(Link { bundle, inputs: sources.into_iter().map(Source::from).collect() })
        };
        let links = links.into_iter().map(link).collect::<Result<_, BundleError>>()?;
        Ok::<_, BundleError>(Bundle::chain(links, &inputs, &outputs)?.to_bytes())
    });
    Ok(PyBytes::new(py, &chained.map_err(GraphError::from).graph(py)?))
}

/// The names of the kernels of a bundle.
#[pyfunction]
pub fn bundle_kernels(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let data = buffer(data, "`data`")?;
    let bytes = data.as_bytes().to_vec();
    let bundle = py.detach(|| Bundle::from_bytes(bytes)).map_err(GraphError::from).graph(py)?;
    Ok(bundle.stream.kernels.iter().map(|kernel| kernel.name.clone()).collect())
}

/// A dtype's name and a shape, as they are for tensors.
type TensorType = (&'static str, Vec<i64>);

/// The types of tensors that a text such as "float32[2,4,3] int32[5]" names.
#[pyfunction]
pub fn parse_signature(text: &str) -> PyResult<Vec<TensorType>> {
    let parsed = function::parse_signature(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(parsed.into_iter().map(|(scalar, shape)| (scalar.python_name(), shape)).collect())
}

/// What the operators for other frameworks make of a graph file: see `inkle.torch.describe`.
#[pyfunction]
pub fn describe_function<'py>(py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let bytes = buffer(data, "a graph file")?.as_bytes().to_vec();
    let function = py.detach(|| Function::from_bytes(bytes)).map_err(|error| match error {
        FunctionError::UnsupportedDtype { .. } => PyTypeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    })?;
    let ports = |ports: &[Port]| {
        let described = ports.iter().map(|port| {
            let described = PyDict::new(py);
            described.set_item("name", &port.name)?;
            described.set_item("dtype", port.scalar.python_name())?;
            described.set_item("shape", PyTuple::new(py, &port.shape)?)?;
            Ok(described)
        });
        described.collect::<PyResult<Vec<_>>>()
    };
    let mut targets: Vec<String> =
        function.bundle().code.iter().map(|entry| entry.target.to_string()).collect();
    targets.sort();
    targets.dedup();
    let described = PyDict::new(py);
    described.set_item("inputs", ports(function.inputs())?)?;
    described.set_item("outputs", ports(function.outputs())?)?;
    described.set_item("signature", function.signature())?;
    described.set_item("targets", targets)?;
    described.set_item("hidden_state", function.hidden_state())?;
    Ok(described)
}
