//! Modules: named groups of kernels and functions that share options.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use inkle_module::{MODULE_OPTIONS, ModuleOption, OptionValue};
use inkle_runtime::Device;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyWeakrefReference};

use crate::error::argument_error;

/// A group of kernels, functions and structs that share options.
#[pyclass(frozen, module = "inkle._native", weakref)]
pub struct Module {
    name: String,
    /// Made when they are first asked for: modules of one kernel come and go.
    options: PyOnceLock<Options>,
    /// The latest kernel of each key. A module that no name leads to has weak references: a kernel holds its module,
    /// and both must be able to go.
    kernels: Py<PyDict>,
    /// Whether a name leads to the module, which then stays for good.
    named: bool,
    /// The latest function of each key.
    functions: Py<PyDict>,
    /// The latest struct of each key.
    structs: Py<PyDict>,
    /// Goes up whenever options change or the module is unloaded; kernels loaded before are looked up again.
    generation: AtomicU64,
    /// One bit per device that a kernel of the module was launched on.
    launched_on: AtomicU64,
    /// One bit per device that a kernel of the module was loaded on.
    loaded_on: AtomicU64,
}

/// The options of a module.
struct Options {
    /// What programs see and may change.
    shown: Py<PyDict>,
    /// What was put there without being asked for: values that are still the same follow `inkle.config`.
    captured: Py<PyDict>,
    /// The names that `set_options` was given.
    set: Mutex<BTreeSet<&'static str>>,
}

/// The bit of a device in a set of devices; none for those beyond the first 63 GPUs.
fn device_bit(device: Device) -> u64 {
    device.ordinal().map_or(1, |n| 1u64.checked_shl(n + 1).unwrap_or(0))
}

static MODULES: Mutex<Option<HashMap<String, Py<Module>>>> = Mutex::new(None);

/// The module `inkle.config`.
pub fn config(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("inkle.config")
}

/// The name of the Python module that a function or class was written in; code that `exec` runs may have none.
pub fn name_of(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let name: Option<String> = object.getattr(intern!(object.py(), "__module__"))?.extract()?;
    Ok(name.unwrap_or_else(|| "__main__".to_owned()))
}

impl Module {
    /// The module that a function or class was written in.
    ///
    /// # Errors
    /// As for [`Module::named`].
    pub fn of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Module>> {
        Module::named(object.py(), &name_of(object)?)
    }

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
        let module = Module::made(py, name, true)?;
        let mut modules = MODULES.lock().unwrap_or_else(|e| e.into_inner());
        modules.get_or_insert_with(HashMap::new).insert(name.to_owned(), module.clone().unbind());
        Ok(module)
    }

    /// A module that no name leads to.
    ///
    /// # Errors
    /// What Python raises while the object is made.
    pub fn fresh<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, Module>> {
        Module::made(py, name, false)
    }

    fn made<'py>(py: Python<'py>, name: &str, named: bool) -> PyResult<Bound<'py, Module>> {
        let dict = || PyDict::new(py).unbind();
        Bound::new(
            py,
            Module {
                name: name.to_owned(),
                options: PyOnceLock::new(),
                kernels: dict(),
                named,
                functions: dict(),
                structs: dict(),
                generation: AtomicU64::new(0),
                launched_on: AtomicU64::new(0),
                loaded_on: AtomicU64::new(0),
            },
        )
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn all_options(&self, py: Python<'_>) -> PyResult<&Options> {
        self.options.get_or_try_init(py, || {
            let (shown, captured) = (PyDict::new(py), PyDict::new(py));
            for option in MODULE_OPTIONS {
                shown.set_item(option.name, py.None())?;
            }
            let options =
                Options { shown: shown.unbind(), captured: captured.unbind(), set: Mutex::default() };
            options.capture(py)?;
            Ok(options)
        })
    }

    /// The options as programs see them, up to date with `inkle.config`.
    ///
    /// # Errors
    /// What Python raises while the configuration is read.
    pub fn options<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyDict>> {
        let options = self.all_options(py)?;
        options.capture(py)?;
        Ok(options.shown.bind(py))
    }

    /// Whether anybody has looked at the module's options, so that they may say something.
    pub fn has_options(&self, py: Python<'_>) -> bool {
        self.options.get(py).is_some()
    }

    /// What the module itself says about an option; `None` when that is nothing.
    ///
    /// # Errors
    /// For a value that the option cannot have.
    pub fn own_option<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.options.get(py) {
            Some(options) => options.own(py, name),
            None => Ok(None),
        }
    }

    /// How many keys there are that kernels have or had.
    pub fn kernel_count(&self, py: Python<'_>) -> usize {
        self.kernels.bind(py).len()
    }

    /// Whether nothing was ever declared in the module.
    pub fn is_empty(&self, py: Python<'_>) -> bool {
        [&self.kernels, &self.functions, &self.structs].iter().all(|declared| declared.bind(py).is_empty())
    }

    /// The latest kernel of each key, those that live.
    ///
    /// # Errors
    /// What Python raises while the dictionary is made.
    pub fn kernels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let alive = PyDict::new(py);
        for (key, entry) in self.kernels.bind(py).iter() {
            let kernel = if self.named { entry } else { entry.call0()? };
            if !kernel.is_none() {
                alive.set_item(key, kernel)?;
            }
        }
        Ok(alive)
    }

    /// Whether no kernel of the module was launched on the device before; it counts as launched from now on.
    #[inline]
    pub fn is_first_launch(&self, device: Device) -> bool {
        is_first(&self.launched_on, device_bit(device))
    }

    /// Whether no kernel of the module was loaded on the device before; one is now.
    pub fn is_first_load(&self, device: Device) -> bool {
        is_first(&self.loaded_on, device_bit(device))
    }

    /// Enters a kernel.
    ///
    /// # Errors
    /// What Python raises while the reference is made.
    pub fn add_kernel(&self, key: &str, kernel: &Bound<'_, crate::kernel::Kernel>) -> PyResult<()> {
        let kernels = self.kernels.bind(kernel.py());
        // Another function under a known name, as a notebook's cell makes that is run again: whatever it assigned, the
        // module's other kernels mean from their next launch on. A closure made again is the same code.
        if let Some(entry) = kernels.get_item(key)? {
            let earlier = if self.named { entry } else { entry.call0()? };
            if let Ok(earlier) = earlier.cast::<crate::kernel::Kernel>()
                && !kernel.get().has_code_of(earlier.get(), kernel.py())?
            {
                self.touch();
            }
        }
        if self.named {
            kernels.set_item(key, kernel)
        } else {
            kernels.set_item(key, PyWeakrefReference::new(kernel)?)
        }
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
        let py = options.py();
        check_options(options)?;
        let all = self.all_options(py)?;
        all.shown.bind(py).update(options.as_mapping())?;
        let mut set = all.set.lock().unwrap_or_else(|e| e.into_inner());
        for option in MODULE_OPTIONS {
            if options.contains(option.name)? {
                set.insert(option.name);
            }
        }
        drop(set);
        self.touch();
        Ok(())
    }
}

impl Options {
    /// Whether the module itself says something about an option.
    fn is_own(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        if self.set.lock().unwrap_or_else(|e| e.into_inner()).contains(name) {
            return Ok(true);
        }
        let shown = self.shown.bind(py).get_item(name)?;
        let captured = self.captured.bind(py).get_item(name)?;
        match (shown, captured) {
            (Some(shown), Some(captured)) => Ok(!shown.eq(captured)?),
            (Some(shown), None) => Ok(!shown.is_none()),
            (None, _) => Ok(false),
        }
    }

    fn own<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        if !self.is_own(py, name)? {
            return Ok(None);
        }
        let value = self.shown.bind(py).get_item(name)?.filter(|v| !v.is_none());
        if let (Some(value), Ok(option)) = (&value, ModuleOption::of(name)) {
            // Programs can write to what they see.
            checked(option, value)?;
        }
        Ok(value)
    }

    /// Shows what `inkle.config` says where the module itself says nothing.
    fn capture(&self, py: Python<'_>) -> PyResult<()> {
        let config = config(py)?;
        for option in MODULE_OPTIONS.iter().filter(|o| o.captured) {
            if !self.captured.bind(py).contains(option.name)? || !self.is_own(py, option.name)? {
                let value = config.getattr(option.name)?;
                self.captured.bind(py).set_item(option.name, &value)?;
                self.shown.bind(py).set_item(option.name, value)?;
            }
        }
        Ok(())
    }
}

fn is_first(devices: &AtomicU64, bit: u64) -> bool {
    devices.load(Ordering::Relaxed) & bit == 0 && devices.fetch_or(bit, Ordering::Relaxed) & bit == 0
}

/// A value as the table of options knows it.
fn option_value(value: &Bound<'_, PyAny>) -> PyResult<OptionValue> {
    if value.is_none() {
        return Ok(OptionValue::None);
    }
    if let Ok(truth) = value.extract::<bool>() {
        return Ok(OptionValue::Bool(truth));
    }
    if let Ok(int) = value.extract::<i64>() {
        return Ok(OptionValue::Int(int));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(OptionValue::Text(text));
    }
    Ok(OptionValue::Other(value.repr()?.to_str()?.to_owned()))
}

/// Checks a value for an option.
///
/// # Errors
/// `ValueError` saying what the option may be.
fn checked(option: &ModuleOption, value: &Bound<'_, PyAny>) -> PyResult<()> {
    option.check(&option_value(value)?).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Checks names and values of module options.
///
/// # Errors
/// For a name that is no option, and `ValueError` for a value that the option cannot have.
pub fn check_options(options: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in options.iter() {
        let name: String = name.extract()?;
        let option = ModuleOption::of(&name).map_err(|e| argument_error(options.py(), e.to_string()))?;
        checked(option, &value)?;
    }
    Ok(())
}

/// What `inkle.config` does when a program assigns to it: checks what options are, and makes kernels look at their
/// options again at their next launch.
#[pyfunction]
pub fn setting_changes(name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    for (switch, setting) in [
        ("print_launches", &crate::launch::PRINTED),
        ("verify_cuda", &crate::launch::VERIFIED),
        ("verify_autograd_array_access", &crate::tape::OVERWRITES_ARE_SOUGHT),
    ] {
        if name == switch {
            setting.store(value.is_truthy()?, Ordering::Relaxed);
        }
    }
    if name == "cpu_threads" {
        let count = match value.is_none() {
            true => inkle_runtime::default_cpu_threads(),
            false => value.extract().unwrap_or(0),
        };
        inkle_runtime::set_cpu_threads(count).map_err(|_| {
            let (most, given) = (
                inkle_runtime::MAX_CPU_THREADS,
                value.repr().map_or_else(|e| e.to_string(), |r| r.to_string()),
            );
            PyValueError::new_err(format!(
                "inkle.config: `cpu_threads` is None or a number from 1 to {most}, not {given}"
            ))
        })?;
    }
    if let Ok(option) = ModuleOption::of(name) {
        checked(option, value)
            .map_err(|e| PyValueError::new_err(format!("inkle.config: {}", e.value(value.py()))))?;
        crate::kernel::EPOCH.fetch_add(1, Ordering::Relaxed);
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
    fn get_options<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.options(py).cloned()
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
        let _ = block_dim;
        let plan = crate::loading::Plan {
            workers: inkle_module::cores(),
            mistakes: crate::loading::Mistakes::Leave,
        };
        crate::loading::load(py, std::slice::from_ref(slf), &devices, &plan)
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
    module_argument(py, module)?.get().options(py).cloned()
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
