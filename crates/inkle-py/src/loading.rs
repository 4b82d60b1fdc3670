//! Loading ahead of the first launch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use inkle_module::{Digest, How, Loaded, Progress};
use inkle_runtime::Device;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::cache::apply_cache_settings;
use crate::device::device_argument;
use crate::error::{IntoPyResult, argument_error};
use crate::kernel::{Instance, Kernel, Pass, exception};
use crate::module::{Module, all_modules, config, module_argument};
use crate::report::{End, module_loaded, shows_info};

/// What a kernel with a mistake does to the loading of its module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mistakes {
    /// The first one is raised.
    Raise,
    /// They are left to the launches of the kernels that have them.
    Leave,
}

/// How modules are loaded.
pub struct Plan {
    /// Kernels made at once.
    pub workers: usize,
    /// What becomes of mistakes.
    pub mistakes: Mistakes,
}

/// One kernel to be made ready on one device.
struct Job {
    kernel: Py<Kernel>,
    group: usize,
}

/// A module on a device.
struct Group<'py> {
    module: Bound<'py, Module>,
    device: Device,
    digests: Vec<Digest>,
    /// The ways its kernels took, the worst one.
    end: Option<End>,
    finished: Duration,
}

/// What became of a job: nothing to do, or how the kernels were loaded.
type Done = PyResult<Vec<(How, Digest)>>;

/// Checks the kernels of modules that are not generic, and the declared overloads of those that are, and loads them on
/// devices, several at once.
///
/// # Errors
/// As the plan says.
pub fn load<'py>(
    py: Python<'py>,
    modules: &[Bound<'py, Module>],
    devices: &[Device],
    plan: &Plan,
) -> PyResult<()> {
    apply_cache_settings(py)?;
    let (mut groups, mut jobs) = (Vec::new(), Vec::new());
    for module in modules {
        let kernels = module.get().kernels(py)?;
        for &device in devices {
            for kernel in kernels.values() {
                let kernel = kernel.cast_into::<Kernel>()?;
                jobs.push(Job { kernel: kernel.unbind(), group: groups.len() });
            }
            let module = module.clone();
            groups.push(Group { module, device, digests: Vec::new(), end: None, finished: Duration::ZERO });
        }
    }
    let on: Vec<Device> = groups.iter().map(|g| g.device).collect();
    let mut progress = if shows_info(py)? { Progress::on_terminal(jobs.len()) } else { Progress::hidden() };
    let start = Instant::now();
    let results = py.detach(|| {
        let work = |job: &Job| {
            let done = Python::attach(|py| make_ready(py, job.kernel.bind(py), on[job.group], plan.mistakes));
            (done, start.elapsed())
        };
        inkle_module::for_each(&jobs, plan.workers, work, |_, _| progress.step())
    });
    progress.finish();
    let mut failure = None;
    for (job, (done, time)) in jobs.iter().zip(results) {
        let group = &mut groups[job.group];
        let ways = match done {
            Ok(ways) => ways,
            Err(error) => {
                group.end = Some(End::Failed);
                failure.get_or_insert(error);
                continue;
            }
        };
        for (how, digest) in ways {
            group.digests.push(digest);
            let end = match how {
                How::Shared => continue,
                How::Cached => End::Cached,
                How::Compiled => End::Compiled,
            };
            group.finished = group.finished.max(time);
            if group.end.is_none() || group.end == Some(End::Cached) {
                group.end = Some(end);
            }
        }
    }
    for group in &mut groups {
        let Some(end) = group.end else { continue };
        let digest = inkle_module::digest_of_all(&mut group.digests);
        module_loaded(py, group.module.get(), &digest, group.device, group.finished, end)?;
    }
    failure.map_or(Ok(()), Err)
}

/// Makes one kernel ready; on a thread beside the main one.
fn make_ready(py: Python<'_>, kernel: &Bound<'_, Kernel>, device: Device, mistakes: Mistakes) -> Done {
    let kernel = kernel.get();
    let types = match kernel.known_types(py) {
        Err(_) if mistakes == Mistakes::Leave => return Ok(Vec::new()),
        types => types?,
    };
    let mut done = Vec::new();
    for types in types {
        let instance = kernel.instance_beside(py, types)?;
        match instance.check(py) {
            Err(_) if mistakes == Mistakes::Leave => continue,
            checked => checked?,
        }
        done.extend(py.detach(|| instance.load_ahead(device, true)).map_err(|error| exception(py, &error))?);
    }
    Ok(done)
}

/// The number of kernels made at once: the argument, else what `inkle.config` says, else one per core.
fn workers(py: Python<'_>, argument: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let wrong = |value: &Bound<'_, PyAny>| -> PyErr {
        let shown = value.repr().map_or_else(|_| "?".to_owned(), |r| r.to_string());
        PyValueError::new_err(format!("`max_workers` is a number of threads or None, not {shown}"))
    };
    match argument {
        // None at all is one: the caller's.
        Some(value) => value.extract::<usize>().map(|n| n.max(1)).map_err(|_| wrong(value)),
        None => {
            let set = config(py)?.getattr(intern!(py, "load_module_max_workers"))?;
            if set.is_none() {
                return Ok(inkle_module::cores());
            }
            match set.extract::<usize>().map_err(|_| wrong(&set))? {
                0 => Ok(inkle_module::cores()),
                n => Ok(n),
            }
        }
    }
}

/// Checks the threads per block of the launches to come; no kernel's code depends on them.
fn check_block_dim(argument: Option<i64>) -> PyResult<()> {
    match argument {
        None | Some(1..=1024) => Ok(()),
        Some(n) => Err(PyValueError::new_err(format!("`block_dim` is between 1 and 1024, not {n}"))),
    }
}

/// Compiles and loads the kernels of a module now instead of at their first launch, on several cores at once. Of generic
/// kernels those overloads are loaded that were declared.
///
/// Args:
///     module: A module, its name or a Python module; the calling one for `None`.
///     device: Where to load; the default device for `None`.
///     recursive: Whether to load the modules inside it too, those that were imported.
///     block_dim: Threads per block of the launches to come.
///     max_workers: Kernels made at once; for `None` what `inkle.config.load_module_max_workers` says.
#[pyfunction]
#[pyo3(signature = (module = None, device = None, recursive = false, block_dim = None, max_workers = None))]
pub fn load_module(
    py: Python<'_>,
    module: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    recursive: bool,
    block_dim: Option<i64>,
    max_workers: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let root = module_argument(py, module)?;
    let mut modules = vec![root.clone()];
    if recursive {
        let prefix = format!("{}.", root.get().name());
        modules.extend(all_modules(py).into_iter().filter(|m| m.get().name().starts_with(&prefix)));
    }
    if modules.iter().all(|m| m.get().is_empty(py)) {
        let what = if recursive { "and the modules in it have" } else { "has" };
        let message = format!(
            "module `{}` {what} no kernels, functions or structs to load; the Python module must be imported first",
            root.get().name()
        );
        return Err(argument_error(py, message));
    }
    check_block_dim(block_dim)?;
    let plan = Plan { workers: workers(py, max_workers)?, mistakes: Mistakes::Raise };
    load(py, &modules, &[device_argument(py, device)?], &plan)
}

/// As `load_module`, for several devices and modules; all of them for `None`.
#[pyfunction]
#[pyo3(signature = (device = None, modules = None, block_dim = None, max_workers = None))]
pub fn force_load(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    modules: Option<&Bound<'_, PyAny>>,
    block_dim: Option<i64>,
    max_workers: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let devices = match device {
        None => inkle_runtime::devices(),
        Some(list) if list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>() => {
            list.try_iter()?.map(|d| device_argument(py, Some(&d?))).collect::<PyResult<_>>()?
        }
        Some(device) => vec![device_argument(py, Some(device))?],
    };
    let modules = match modules {
        None => all_modules(py),
        Some(list) => list.try_iter()?.map(|m| module_argument(py, Some(&m?))).collect::<PyResult<_>>()?,
    };
    check_block_dim(block_dim)?;
    let plan = Plan { workers: workers(py, max_workers)?, mistakes: Mistakes::Raise };
    load(py, &modules, &devices, &plan)
}

/// Checks a kernel without compiling it: names, types, control flow, down to its IR.
///
/// # Errors
/// `CompileError` with every mistake in the kernel; `ArgumentError` for a generic kernel, of which `overload` makes
/// checkable ones.
#[pyfunction]
pub fn check_kernel(py: Python<'_>, kernel: &Bound<'_, Kernel>) -> PyResult<()> {
    exact_instance(py, kernel)?.kernel(py).map(drop)
}

/// The simplified IR of a kernel as text.
///
/// # Errors
/// As `check_kernel`.
#[pyfunction]
pub fn kernel_ir(py: Python<'_>, kernel: &Bound<'_, Kernel>) -> PyResult<String> {
    exact_instance(py, kernel)?.ir_text(py)
}

/// Compiles and loads one kernel for a device, as the first launch with arrays as they are allocated would.
///
/// # Errors
/// As `check_kernel`, and what keeps code from being made or loaded.
#[pyfunction]
#[pyo3(signature = (kernel, device = None))]
pub fn load_kernel(
    py: Python<'_>,
    kernel: &Bound<'_, Kernel>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let device = device_argument(py, device)?;
    let instance = exact_instance(py, kernel)?;
    instance.load(py, device, instance.usual_facts(), 0, false, &Pass::Forward).map(drop)
}

/// `(block_size, grid_size)`: the threads per block with which most threads of a kernel are resident on a GPU at once,
/// and the fewest blocks that fill it; `(1, 1)` for the CPU.
///
/// # Errors
/// As `load_kernel`.
#[pyfunction]
#[pyo3(signature = (kernel, device = None))]
pub fn get_suggested_block_size(
    py: Python<'_>,
    kernel: &Bound<'_, Kernel>,
    device: Option<&Bound<'_, PyAny>>,
) -> PyResult<(u32, u32)> {
    let device = device_argument(py, device)?;
    if device.is_cpu() {
        return Ok((1, 1));
    }
    let instance = exact_instance(py, kernel)?;
    let (code, _) = instance.load(py, device, instance.usual_facts(), 0, false, &Pass::Forward)?;
    match &*code {
        Loaded::Cpu(_) => Ok((1, 1)),
        Loaded::Cuda { function, .. } => function.suggested_block_dim().into_py(py),
    }
}

fn exact_instance(py: Python<'_>, kernel: &Bound<'_, Kernel>) -> PyResult<Arc<Instance>> {
    let kernel = kernel.get();
    match kernel.exact_types(py)? {
        Some(types) => kernel.instance_of_types(py, types),
        None => Err(argument_error(
            py,
            format!("kernel `{}` is generic; `overload` gives it argument types", kernel.key()),
        )),
    }
}

/// How many kernels this process compiled, found in the cache, and shared with equal kernels.
#[pyfunction]
pub fn compile_statistics() -> (u64, u64, u64) {
    let statistics = inkle_module::statistics();
    (statistics.compiled, statistics.cached, statistics.shared)
}
