//! Modules: named groups of kernels and functions that share options.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use inkle_runtime::Device;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyWeakrefReference};

use crate::error::argument_error;

/// The option names and their defaults; `None` stands for what `inkle.config` says.
const OPTIONS: &[(&str, Default)] = &[
    ("max_unroll", Default::Config),
    ("enable_backward", Default::Config),
    ("enable_mathdx_gemm", Default::None),
    ("enable_mathdx_solver", Default::None),
    ("enable_mathdx_fft", Default::None),
    ("fast_math", Default::False),
    ("fuse_fp", Default::True),
    ("lineinfo", Default::Config),
    ("cuda_output", Default::None),
    ("mode", Default::None),
    ("verify_fp", Default::None),
    ("optimization_level", Default::None),
    ("cpu_compiler_flags", Default::None),
    ("block_dim", Default::Block),
    ("compile_time_trace", Default::Config),
    ("strip_hash", Default::False),
    ("deterministic", Default::Config),
    ("deterministic_max_records", Default::Zero),
    ("default_grid_stride", Default::None),
    ("extra_build_options", Default::None),
];

#[derive(Clone, Copy)]
enum Default {
    None,
    False,
    True,
    Zero,
    /// 256 threads.
    Block,
    /// The variable of the same name in `inkle.config` when the module is made.
    Config,
}

/// A group of kernels, functions and structs that share options.
#[pyclass(frozen, module = "inkle._native", weakref)]
pub struct Module {
    name: String,
    options: Py<PyDict>,
    /// Weak references to the latest kernel of each key: a kernel holds its module, and must be able to go.
    kernels: Py<PyDict>,
    /// The latest function of each key.
    functions: Py<PyDict>,
    /// The latest struct of each key.
    structs: Py<PyDict>,
    /// Goes up whenever options change or the module is unloaded; kernels loaded before are looked up again.
    generation: AtomicU64,
    /// One bit per GPU that a kernel of the module was launched on.
    launched_on: AtomicU64,
}

static MODULES: Mutex<Option<HashMap<String, Py<Module>>>> = Mutex::new(None);

fn default_option<'py>(py: Python<'py>, name: &str, default: Default) -> PyResult<Bound<'py, PyAny>> {
    use pyo3::IntoPyObjectExt;
    match default {
        Default::None => Ok(py.None().into_bound(py)),
        Default::False => false.into_bound_py_any(py),
        Default::True => true.into_bound_py_any(py),
        Default::Zero => 0.into_bound_py_any(py),
        Default::Block => 256.into_bound_py_any(py),
        Default::Config => config(py)?.getattr(name),
    }
}

/// The module `inkle.config`.
pub fn config(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("inkle.config")
}

impl Module {
    /// The module of this name, made on first use.
    ///
    /// # Errors
    /// What Python raises while the configuration is read.
    pub fn named<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, Module>> {
        let known = {
            let modules = MODULES.lock().unwrap_or_else(|e| e.into_inner());
            modules.as_ref().and_then(|m| m.get(name)).map(|m| m.bind(py).clone())
        };
        if let Some(module) = known {
            return Ok(module);
        }
        let module = Module::fresh(py, name)?;
        let mut modules = MODULES.lock().unwrap_or_else(|e| e.into_inner());
        modules.get_or_insert_with(HashMap::new).insert(name.to_owned(), module.clone().unbind());
        Ok(module)
    }

    /// A module that no name leads to.
    ///
    /// # Errors
    /// What Python raises while the configuration is read.
    pub fn fresh<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, Module>> {
        let options = PyDict::new(py);
        for (name, default) in OPTIONS {
            options.set_item(*name, default_option(py, name, *default)?)?;
        }
        let dict = || PyDict::new(py).unbind();
        Bound::new(
            py,
            Module {
                name: name.to_owned(),
                options: options.unbind(),
                kernels: dict(),
                functions: dict(),
                structs: dict(),
                generation: AtomicU64::new(0),
                launched_on: AtomicU64::new(0),
            },
        )
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The options.
    pub fn options<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.options.bind(py)
    }

    /// The latest kernel of each key, those that live.
    ///
    /// # Errors
    /// What Python raises while the dictionary is made.
    pub fn kernels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let alive = PyDict::new(py);
        for (key, reference) in self.kernels.bind(py).iter() {
            let kernel = reference.call0()?;
            if !kernel.is_none() {
                alive.set_item(key, kernel)?;
            }
        }
        Ok(alive)
    }

    /// Whether no kernel of the module was launched on the GPU before; it counts as launched from now on.
    #[inline]
    pub fn is_first_launch(&self, device: Device) -> bool {
        let Some(bit) = device.ordinal().and_then(|n| 1u64.checked_shl(n)) else { return false };
        self.launched_on.load(Ordering::Relaxed) & bit == 0
            && self.launched_on.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Enters a kernel.
    ///
    /// # Errors
    /// What Python raises while the reference is made.
    pub fn add_kernel(&self, key: &str, kernel: &Bound<'_, crate::kernel::Kernel>) -> PyResult<()> {
        self.kernels.bind(kernel.py()).set_item(key, PyWeakrefReference::new(kernel)?)
    }

    /// The latest function of each key.
    pub fn functions<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.functions.bind(py)
    }

    /// The latest struct of each key.
    pub fn structs<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.structs.bind(py)
    }

    /// See the field.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Makes kernels look up their code again.
    pub fn touch(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets options by name.
    ///
    /// # Errors
    /// For a name that is no option.
    pub fn set_options(&self, options: &Bound<'_, PyDict>) -> PyResult<()> {
        check_options(options)?;
        self.options.bind(options.py()).update(options.as_mapping())?;
        self.touch();
        Ok(())
    }
}

/// Checks that every key is the name of a module option.
///
/// # Errors
/// For a name that is no option.
pub fn check_options(options: &Bound<'_, PyDict>) -> PyResult<()> {
    for name in options.keys() {
        let text: String = name.extract()?;
        if !OPTIONS.iter().any(|(known, _)| *known == text) {
            let mut names: Vec<_> = OPTIONS.iter().map(|(n, _)| *n).collect();
            names.sort_unstable();
            let message = format!("`{text}` is no module option; the options are {}", names.join(", "));
            return Err(argument_error(options.py(), message));
        }
    }
    Ok(())
}

#[pymethods]
impl Module {
    /// A module that no name leads to.
    #[new]
    #[pyo3(signature = (name, loader = None))]
    fn new(py: Python<'_>, name: Option<&str>, loader: Option<&Bound<'_, PyAny>>) -> PyResult<Py<Module>> {
        let _ = loader;
        Ok(Module::fresh(py, name.unwrap_or_default())?.unbind())
    }

    /// The name.
    #[getter(name)]
    fn get_name(&self) -> &str {
        &self.name
    }

    #[getter(options)]
    fn get_options(&self, py: Python<'_>) -> Py<PyDict> {
        self.options.clone_ref(py)
    }

    #[getter(kernels)]
    fn get_kernels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.kernels(py)
    }

    #[getter(functions)]
    fn get_functions(&self, py: Python<'_>) -> Py<PyDict> {
        self.functions.clone_ref(py)
    }

    #[getter(structs)]
    fn get_structs(&self, py: Python<'_>) -> Py<PyDict> {
        self.structs.clone_ref(py)
    }

    /// Forgets loaded code, that from files of compiled modules too; the next launch of each kernel looks it up again.
    fn unload(&self, py: Python<'_>) -> PyResult<()> {
        for kernel in self.kernels(py)?.values() {
            kernel.cast::<crate::kernel::Kernel>()?.get().forget_code();
        }
        self.touch();
        Ok(())
    }

    /// What the names of the files start with that `compile_aot_module` makes.
    fn get_module_identifier(&self, py: Python<'_>) -> PyResult<String> {
        crate::aot::identifier(py, self)
    }

    /// Compiles and loads the kernels for a device, those that are right: a mistake in another one is reported by its
    /// launch, and by `load_module`.
    #[pyo3(signature = (device = None, block_dim = None))]
    fn load(
        slf: &Bound<'_, Self>,
        device: Option<&Bound<'_, PyAny>>,
        block_dim: Option<u32>,
    ) -> PyResult<()> {
        let py = slf.py();
        let devices = [crate::device::device_argument(py, device)?];
        crate::loading::load(
            py,
            std::slice::from_ref(slf),
            &devices,
            block_dim.unwrap_or(0),
            crate::loading::Mistakes::Leave,
        )
    }

    /// Tells that something the kernels depend on has changed.
    fn mark_modified(&self) {
        self.touch();
    }

    fn __repr__(&self) -> String {
        format!("<module {}>", self.name)
    }
}

/// Every module that has a name of its own.
pub fn all_modules(py: Python<'_>) -> Vec<Bound<'_, Module>> {
    let modules = MODULES.lock().unwrap_or_else(|e| e.into_inner());
    let mut modules: Vec<_> = modules.iter().flatten().map(|(_, m)| m.bind(py).clone()).collect();
    modules.sort_by(|a, b| a.get().name.cmp(&b.get().name));
    modules
}

/// The module an argument means: a module, a name, a Python module, or `None` for that of the calling code.
///
/// # Errors
/// `TypeError` for anything else.
pub fn module_argument<'py>(
    py: Python<'py>,
    module: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Module>> {
    let Some(module) = module else {
        let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
        let name = frame.getattr("f_globals")?.get_item("__name__")?;
        return Module::named(py, name.cast::<PyString>()?.to_str()?);
    };
    if let Ok(module) = module.cast::<Module>() {
        return Ok(module.clone());
    }
    if let Ok(name) = module.cast::<PyString>() {
        return Module::named(py, name.to_str()?);
    }
    if let Ok(module) = module.cast::<PyModule>() {
        return Module::named(py, module.name()?.to_str()?);
    }
    Err(PyTypeError::new_err(format!(
        "a module is named by text or a Python module, not by {}",
        crate::error::class_name(module)
    )))
}

/// The module of a name, made on first use.
#[pyfunction]
pub fn get_module<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, Module>> {
    Module::named(py, name)
}

/// The options of a module, or of the calling module.
#[pyfunction]
#[pyo3(signature = (module = None))]
pub fn get_module_options<'py>(
    py: Python<'py>,
    module: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    Ok(module_argument(py, module)?.get().options(py).clone())
}

/// Sets options of a module, or of the calling module.
#[pyfunction]
#[pyo3(signature = (options, module = None))]
pub fn set_module_options<'py>(
    py: Python<'py>,
    options: &Bound<'py, PyDict>,
    module: Option<&Bound<'py, PyAny>>,
) -> PyResult<()> {
    module_argument(py, module)?.get().set_options(options)
}
