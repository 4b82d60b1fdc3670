//! Loading ahead of the first launch.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use inkle_module::Loaded;
use inkle_runtime::Device;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::device::device_argument;
use crate::error::{IntoPyResult, argument_error};
use crate::kernel::{Instance, Kernel, Pass};
use crate::module::{Module, all_modules, module_argument};

/// What a kernel with a mistake does to the loading of its module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mistakes {
    /// The first one is raised.
    Raise,
    /// They are left to the launches of the kernels that have them.
    Leave,
}

/// Builds every kernel of a module that is not generic and loads it on a device, several at once.
pub fn load<'py>(
    py: Python<'py>,
    modules: &[Bound<'py, Module>],
    devices: &[Device],
    block_dim: u32,
    mistakes: Mistakes,
) -> PyResult<()> {
    let mut work: Vec<(Arc<Instance>, Device)> = Vec::new();
    for module in modules {
        for kernel in module.get().kernels(py)?.values() {
            let kernel = kernel.cast::<Kernel>()?.get();
            let types = match kernel.exact_types(py) {
                Err(_) if mistakes == Mistakes::Leave => None,
                types => types?,
            };
            if let Some(types) = types {
                let instance = kernel.instance_of_types(py, types)?;
                match instance.check(py) {
                    Err(_) if mistakes == Mistakes::Leave => continue,
                    checked => checked?,
                }
                work.extend(devices.iter().map(|device| (instance.clone(), *device)));
            }
        }
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(work.len());
    let results = py.detach(|| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..workers)
                .map(|_| {
                    scope.spawn(|| -> PyResult<()> {
                        while let Some((instance, device)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                            Python::attach(|py| {
                                instance
                                    .load(
                                        py,
                                        *device,
                                        instance.usual_facts(),
                                        block_dim,
                                        false,
                                        &Pass::Forward,
                                    )
                                    .map(drop)
                            })?;
                        }
                        Ok(())
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap_or(Ok(()))).collect::<Vec<_>>()
        })
    });
    results.into_iter().collect()
}

/// Compiles and loads the kernels of a module now instead of at their first launch. Generic kernels are left out.
#[pyfunction]
#[pyo3(signature = (module = None, device = None, recursive = false, block_dim = None, max_workers = None))]
pub fn load_module(
    py: Python<'_>,
    module: Option<&Bound<'_, PyAny>>,
    device: Option<&Bound<'_, PyAny>>,
    recursive: bool,
    block_dim: Option<u32>,
    max_workers: Option<usize>,
) -> PyResult<()> {
    let _ = max_workers;
    let root = module_argument(py, module)?;
    let mut modules = vec![root.clone()];
    if recursive {
        let prefix = format!("{}.", root.get().name());
        modules.extend(all_modules(py).into_iter().filter(|m| m.get().name().starts_with(&prefix)));
    }
    load(py, &modules, &[device_argument(py, device)?], block_dim.unwrap_or(0), Mistakes::Raise)
}

/// As `load_module`, for several devices and modules; all of them for `None`.
#[pyfunction]
#[pyo3(signature = (device = None, modules = None, block_dim = None, max_workers = None))]
pub fn force_load(
    py: Python<'_>,
    device: Option<&Bound<'_, PyAny>>,
    modules: Option<&Bound<'_, PyAny>>,
    block_dim: Option<u32>,
    max_workers: Option<usize>,
) -> PyResult<()> {
    let _ = max_workers;
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
    load(py, &modules, &devices, block_dim.unwrap_or(0), Mistakes::Raise)
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
