//! The other kernels of a module are compiled while the first one launched on a GPU is: its launch waits for its own
//! code only, and theirs find what they need or wait for what is left of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::thread::JoinHandle;

use inkle_runtime::Device;
use pyo3::prelude::*;

use crate::cache::apply_cache_settings;
use crate::kernel::{Instance, Kernel};
use crate::module::Module;

/// A module with more kernels than this is one that nobody launches whole.
const MOST_KERNELS: usize = 64;

/// The threads at work; joined before the interpreter ends, since a driver must not be torn down under them.
static WORKERS: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());
static ENDING: AtomicBool = AtomicBool::new(false);

/// Starts compiling the kernels of `module` that are not generic, other than `launched`, for `device`.
///
/// # Errors
/// What Python raises; mistakes in kernels are left to their launches.
pub fn compile_module(
    py: Python<'_>,
    module: &Bound<'_, Module>,
    launched: &Arc<Instance>,
    device: Device,
) -> PyResult<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernels = module.get().kernels(py)?;
    if cores == 1 || kernels.len() > MOST_KERNELS {
        return Ok(());
    }
    let mut work = Vec::new();
    for kernel in kernels.values() {
        let kernel = kernel.cast::<Kernel>()?.get();
        if let Ok(Some(types)) = kernel.exact_types(py)
            && let Ok(instance) = kernel.instance_of_types(py, types)
            && !Arc::ptr_eq(&instance, launched)
        {
            work.push(instance);
        }
    }
    if work.is_empty() {
        return Ok(());
    }
    apply_cache_settings(py)?;
    join_at_exit(py)?;
    let workers = (cores - 1).min(work.len());
    let queue = Arc::new((work, AtomicUsize::new(0)));
    let mut running = WORKERS.lock().unwrap_or_else(|e| e.into_inner());
    running.retain(|worker| !worker.is_finished());
    for _ in 0..workers {
        let queue = queue.clone();
        let worker = std::thread::Builder::new().name("inkle-compile".into()).spawn(move || {
            while let Some(instance) = queue.0.get(queue.1.fetch_add(1, Ordering::Relaxed)) {
                if ENDING.load(Ordering::Relaxed) {
                    return;
                }
                instance.load_ahead(device);
            }
        });
        // Without a thread the kernels are compiled when they are launched.
        running.extend(worker.ok());
    }
    Ok(())
}

fn join_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| {
        outcome = wrap_pyfunction!(finish_compiling, py)
            .and_then(|finish| py.import("atexit")?.call_method1("register", (finish,)).map(drop));
    });
    outcome
}

/// Waits for the compilations that are running and starts no more.
#[pyfunction]
fn finish_compiling(py: Python<'_>) {
    ENDING.store(true, Ordering::Relaxed);
    let workers = std::mem::take(&mut *WORKERS.lock().unwrap_or_else(|e| e.into_inner()));
    py.detach(|| {
        for worker in workers {
            // A worker that panicked has said so; there is nothing to clean up.
            let _ = worker.join();
        }
    });
}
