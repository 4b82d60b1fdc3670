//! The other kernels of a module are compiled while the first one launched is: its launch waits for its own code only,
//! and theirs find what they need or wait for what is left of it.

use std::sync::Once;

use inkle_runtime::Device;
use pyo3::prelude::*;

use crate::cache::apply_cache_settings;
use crate::kernel::Kernel;
use crate::module::Module;

/// A module with more kernels than this is one that nobody launches whole.
const MOST_KERNELS: usize = 64;

/// Starts making the kernels of `module` ready for `device`, those that are not generic and the declared overloads of
/// those that are, other than `launched`.
///
/// # Errors
/// What Python raises; mistakes in kernels are left to their launches.
pub fn compile_module(
    py: Python<'_>,
    module: &Bound<'_, Module>,
    launched: &Bound<'_, Kernel>,
    device: Device,
) -> PyResult<()> {
    let count = module.get().kernel_count(py);
    if !(2..=MOST_KERNELS).contains(&count) || inkle_module::cores() == 1 {
        return Ok(());
    }
    let kernels = module.get().kernels(py)?;
    apply_cache_settings(py)?;
    finish_at_exit(py)?;
    for kernel in kernels.values() {
        let kernel = kernel.cast_into::<Kernel>()?;
        if kernel.is(launched) {
            continue;
        }
        let kernel = kernel.unbind();
        inkle_module::in_background(move || {
            // There is no interpreter any more when the program has ended.
            Python::try_attach(|py| {
                let kernel = kernel.into_bound(py);
                let types = kernel.get().known_types(py).unwrap_or_default();
                for types in types {
                    if let Ok(instance) = kernel.get().instance_of_types(py, types) {
                        // Whoever launches the kernel is told what is wrong with it.
                        py.detach(|| instance.load_ahead(device, false).is_ok());
                    }
                }
            });
        });
    }
    Ok(())
}

/// Makes sure that the end of the program waits for what the background is at.
///
/// # Errors
/// What Python raises.
pub fn finish_at_exit(py: Python<'_>) -> PyResult<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| {
        outcome = wrap_pyfunction!(finish_compiling, py)
            .and_then(|finish| py.import("atexit")?.call_method1("register", (finish,)).map(drop));
    });
    outcome
}

/// Waits for the compilations that are running and starts no more: a driver must not be torn down under them.
#[pyfunction]
fn finish_compiling(py: Python<'_>) {
    py.detach(inkle_module::finish_background);
}
