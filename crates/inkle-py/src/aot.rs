//! `compile_aot_module` and `load_aot_module`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use inkle_module::{AotCode, AotError, AotFile, AotInput, CudaOutput, CudaTarget, Options, Target};
use inkle_runtime::Device;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyRuntimeError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};

use crate::cache::apply_cache_settings;
use crate::device::device_argument;
use crate::error::{argument_error, class_name};
use crate::kernel::{Instance, Kernel, exception};
use crate::module::{Module, config, module_argument};

/// The kernels of a module that can be compiled ahead of time.
struct Kernels {
    /// Each with its name; several of one name are overloads.
    instances: Vec<(String, Arc<Instance>)>,
    /// Generic kernels that nobody has declared overloads of.
    open: Vec<String>,
    /// Generic kernels with several overloads.
    several: Vec<String>,
}

impl Kernels {
    fn of(py: Python<'_>, module: &Module) -> PyResult<Kernels> {
        let mut found = Kernels { instances: Vec::new(), open: Vec::new(), several: Vec::new() };
        for kernel in module.kernels(py)?.values() {
            let kernel = kernel.cast::<Kernel>()?.get();
            let name = kernel.key().to_owned();
            let types = match kernel.exact_types(py)? {
                Some(types) => vec![types],
                None => kernel.overloads(),
            };
            match types.len() {
                0 => found.open.push(name.clone()),
                1 => {}
                _ => found.several.push(name.clone()),
            }
            for types in types {
                found.instances.push((name.clone(), kernel.instance_of_types(py, types)?));
            }
        }
        Ok(found)
    }

    /// Calls `work` with what the compiler takes.
    fn with_inputs<T>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&[AotInput<'_>]) -> PyResult<T>,
    ) -> PyResult<T> {
        let kernels = self.instances.iter().map(|(_, instance)| instance.kernel(py));
        let kernels: Vec<(&inkle_module::Kernel, Options)> = kernels.collect::<PyResult<_>>()?;
        let inputs = self.instances.iter().zip(&kernels);
        let inputs: Vec<_> =
            inputs.map(|((name, _), (kernel, options))| AotInput { name, kernel, options }).collect();
        work(&inputs)
    }
}

fn strips_hash(py: Python<'_>, module: &Module) -> PyResult<bool> {
    let value = module.options(py)?.get_item("strip_hash")?;
    value.map_or(Ok(false), |v| v.is_truthy())
}

/// What the names of a module's files start with: the hash in them is that of the kernels and options, unless the module
/// option `strip_hash` is set.
///
/// # Errors
/// Mistakes in the kernels, which the hash is made from.
pub fn identifier(py: Python<'_>, module: &Module) -> PyResult<String> {
    // The name is free text, the file's is not.
    let name = module.name().replace(['/', '\0'], "_");
    // What `inkle.config` says may have changed since the kernels were looked at.
    module.touch();
    if strips_hash(py, module)? {
        return Ok(format!("wp_{name}"));
    }
    let hash = Kernels::of(py, module)?.with_inputs(py, |inputs| Ok(inkle_module::module_hash(inputs)))?;
    Ok(format!("wp_{name}_{hash}"))
}

/// The devices of an argument: one, several in a sequence, or none.
fn devices(py: Python<'_>, device: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Device>> {
    match device {
        None => Ok(Vec::new()),
        Some(list) if list.is_instance_of::<PyList>() || list.is_instance_of::<PyTuple>() => {
            list.try_iter()?.map(|d| device_argument(py, Some(&d?))).collect()
        }
        Some(device) => Ok(vec![device_argument(py, Some(device))?]),
    }
}

fn target(arch: &Bound<'_, PyAny>, output: CudaOutput) -> PyResult<Target> {
    let name = match (arch.cast::<PyInt>(), arch.cast::<PyString>()) {
        (Ok(number), _) => number.to_string(),
        (_, Ok(text)) => text.to_str()?.to_owned(),
        _ => {
            return Err(PyTypeError::new_err(format!(
                "`arch` is a compute capability times ten or a name such as \"sm_90\" or \"aarch64\", not {}",
                class_name(arch)
            )));
        }
    };
    Target::named(&name, output).map_err(|error| argument_error(arch.py(), error.to_string()))
}

fn targets(arch: Option<&Bound<'_, PyAny>>, output: CudaOutput) -> PyResult<Vec<Target>> {
    match arch {
        None => Ok(Vec::new()),
        Some(one) if one.is_instance_of::<PyInt>() || one.is_instance_of::<PyString>() => {
            Ok(vec![target(one, output)?])
        }
        Some(several) => several.try_iter()?.map(|each| target(&each?, output)).collect(),
    }
}

/// Whether PTX is wanted, where the module or the process says so.
fn wants_ptx(py: Python<'_>, module: &Module, use_ptx: Option<bool>) -> PyResult<Option<bool>> {
    if use_ptx.is_some() {
        return Ok(use_ptx);
    }
    let own = module.options(py)?.get_item("cuda_output")?.filter(|v| !v.is_none());
    let value = own.map_or_else(|| config(py)?.getattr("cuda_output"), Ok)?;
    match value.extract::<Option<String>>()?.as_deref() {
        None => Ok(None),
        Some("ptx") => Ok(Some(true)),
        Some("cubin") => Ok(Some(false)),
        Some(other) => {
            Err(argument_error(py, format!("`cuda_output` is \"ptx\", \"cubin\" or None, not \"{other}\"")))
        }
    }
}

fn folder(py: Python<'_>, module_dir: Option<PathBuf>, identifier: &str) -> PyResult<PathBuf> {
    apply_cache_settings(py)?;
    Ok(module_dir.unwrap_or_else(|| inkle_module::cache_dir().join(identifier)))
}

fn set_strip_hash(py: Python<'_>, module: &Module, strip_hash: Option<bool>) -> PyResult<()> {
    let Some(strip) = strip_hash else { return Ok(()) };
    let options = PyDict::new(py);
    options.set_item("strip_hash", strip)?;
    module.set_options(&options)
}

fn file_error(py: Python<'_>, error: &AotError) -> PyErr {
    let message = error.to_string();
    match error {
        AotError::Missing { .. } => PyFileNotFoundError::new_err(message),
        AotError::Io { .. } => PyOSError::new_err(message),
        AotError::Damaged { .. } | AotError::Format { .. } | AotError::Target { .. } => {
            PyRuntimeError::new_err(message)
        }
        AotError::NoKernel { .. } => argument_error(py, message),
    }
}

/// Compiles the kernels of a module into files that `load_aot_module` loads, on this machine or another one: one file a
/// target, named after the module, its hash and the target. Needs no GPU. A file that has the code already is left as it is.
///
/// Args:
///     module: The module, its name, or the Python module it belongs to.
///     device: The device to compile for, or a list of devices; the current one when no `arch` is given either.
///     arch: What else to compile for, one or several of: a compute capability times ten (`90`, `"sm_90"`), `"x86_64"` and
///         `"aarch64"` for any CPU of that family, `"x86-64-v3"`, `"x86-64-v4"`.
///     module_dir: The folder; by default one in the kernel cache.
///     use_ptx: Whether GPU code is PTX, which newer GPUs run too, or machine code; PTX unless `cuda_output` says otherwise.
///     strip_hash: Whether files are named without the hash, so that they are found by programs whose kernels have other
///         bodies or none. Sets the module option of that name.
///
/// Returns:
///     The paths of the files, those for devices first.
#[pyfunction]
#[pyo3(signature = (module, device = None, arch = None, module_dir = None, use_ptx = None, strip_hash = None))]
pub fn compile_aot_module<'py>(
    py: Python<'py>,
    module: &Bound<'py, PyAny>,
    device: Option<&Bound<'py, PyAny>>,
    arch: Option<&Bound<'py, PyAny>>,
    module_dir: Option<PathBuf>,
    use_ptx: Option<bool>,
    strip_hash: Option<bool>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let module = module_argument(py, Some(module))?;
    let module = module.get();
    set_strip_hash(py, module, strip_hash)?;
    let ptx = wants_ptx(py, module, use_ptx)?.unwrap_or(true);
    let output = if ptx { CudaOutput::Ptx } else { CudaOutput::Cubin };
    let mut devices = devices(py, device)?;
    let archs = targets(arch, output)?;
    if devices.is_empty() && archs.is_empty() {
        devices.push(device_argument(py, None)?);
    }
    let mut targets = Vec::new();
    for device in devices {
        targets.push(if device.is_cpu() {
            Target::named("native", output).map_err(|e| argument_error(py, e.to_string()))?
        } else {
            Target::Cuda(CudaTarget { arch: device.arch(), output })
        });
    }
    targets.extend(archs);
    let identifier = identifier(py, module)?;
    let kernels = Kernels::of(py, module)?;
    check(py, module, &kernels)?;
    let folder = folder(py, module_dir, &identifier)?;
    let reuse = config(py)?.getattr("cache_kernels")?.is_truthy()?;
    let mut paths = Vec::new();
    kernels.with_inputs(py, |inputs| {
        for target in &targets {
            let path = folder.join(format!("{identifier}{}", inkle_module::file_suffix(target)));
            py.detach(|| make(&path, inputs, target, reuse)).map_err(|failure| match failure {
                Failure::Compile(error) => exception(py, &error),
                Failure::File(error) => file_error(py, &error),
            })?;
            paths.push(path);
        }
        Ok(())
    })?;
    let class = py.import("pathlib")?.getattr("Path")?;
    paths.into_iter().map(|path| class.call1((path,))).collect()
}

enum Failure {
    Compile(inkle_module::CompileError),
    File(AotError),
}

/// Brings a file up to date.
fn make(path: &Path, inputs: &[AotInput<'_>], target: &Target, reuse: bool) -> Result<(), Failure> {
    // A file that cannot be used is replaced.
    let known = if reuse { AotFile::read(path).ok() } else { None };
    let made = inkle_module::compile_ahead(inputs, target, known.as_ref()).map_err(Failure::Compile)?;
    if known.as_ref() != Some(&made) {
        made.write(path).map_err(Failure::File)?;
    }
    Ok(())
}

/// Checks that the module's kernels can be compiled, and warns of those that cannot.
fn check(py: Python<'_>, module: &Module, kernels: &Kernels) -> PyResult<()> {
    if kernels.instances.is_empty() {
        let message = format!(
            "No compilable kernels found in module `{}`: it must contain a kernel that is not generic, or a \
             generic kernel with overloads",
            module.name()
        );
        return Err(PyRuntimeError::new_err(message));
    }
    if !kernels.several.is_empty() && strips_hash(py, module)? {
        let message = format!(
            "module `{}` cannot be compiled with strip_hash=True: its generic kernels {} have multiple overloads, \
             which only the hash suffixes of their names would tell apart; use strip_hash=False",
            module.name(),
            kernels.several.join(", ")
        );
        return Err(PyRuntimeError::new_err(message));
    }
    if !kernels.open.is_empty() {
        let message = format!(
            "generic kernels without overloads are not compiled ahead of time; declare them with wp.overload(): {}",
            kernels.open.join(", ")
        );
        let warn = py.import("inkle._logger")?.getattr("log_warning")?;
        warn.call1((message, py.get_type::<PyUserWarning>()))?;
    }
    Ok(())
}

/// Loads the code that `compile_aot_module` made of a module, so that launches compile nothing. With `strip_hash` the
/// bodies of the program's kernels do not matter and may be missing; their parameters must be those that were compiled.
///
/// Args:
///     module: The module, its name, or the Python module it belongs to.
///     device: The device to load on, or a list of devices; the current one for `None`.
///     arch: What the code was compiled for; by default what fits the device best: its own architecture, for a GPU
///         PTX of an older one too, for a CPU the highest level that it has.
///     module_dir: The folder; by default the one in the kernel cache.
///     use_ptx: Whether GPU code is PTX or machine code; by default whichever is there.
///     strip_hash: As it was compiled. Sets the module option of that name.
///
/// Raises `FileNotFoundError` when there is no such file, with those that are there.
#[pyfunction]
#[pyo3(signature = (module, device = None, arch = None, module_dir = None, use_ptx = None, strip_hash = None))]
pub fn load_aot_module(
    py: Python<'_>,
    module: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    arch: Option<&Bound<'_, PyAny>>,
    module_dir: Option<PathBuf>,
    use_ptx: Option<bool>,
    strip_hash: Option<bool>,
) -> PyResult<()> {
    let module = module_argument(py, Some(module))?;
    let module = module.get();
    set_strip_hash(py, module, strip_hash)?;
    let ptx = wants_ptx(py, module, use_ptx)?;
    let output = if ptx == Some(false) { CudaOutput::Cubin } else { CudaOutput::Ptx };
    let arch = arch.map(|arch| target(arch, output)).transpose()?;
    let mut devices = devices(py, device)?;
    if devices.is_empty() {
        devices.push(device_argument(py, None)?);
    }
    let identifier = identifier(py, module)?;
    let folder = folder(py, module_dir, &identifier)?;
    let strict = !strips_hash(py, module)?;
    for device in devices {
        let (path, file) =
            inkle_module::find_file(&folder, module.name(), &identifier, device, arch.as_ref(), ptx)
                .map_err(|error| file_error(py, &error))?;
        for kernel in module.kernels(py)?.values() {
            let kernel = kernel.cast::<Kernel>()?.get();
            let types = kernel.exact_types(py)?;
            if types.is_none() && !file.has(kernel.key()) {
                // A generic kernel that had no overloads when the file was made.
                continue;
            }
            let code = AotCode::of_kernel(&path, &file, device, kernel.key(), types.as_deref(), strict)
                .map_err(|error| file_error(py, &error))?;
            for each in &code {
                py.detach(|| each.load_usual()).map_err(|error| exception(py, &error))?;
            }
            kernel.set_code(device, code);
        }
    }
    module.touch();
    Ok(())
}

/// The compute capabilities, times ten, that kernels can be compiled for.
#[pyfunction]
pub fn get_cuda_supported_archs() -> Vec<u32> {
    inkle_module::CUDA_ARCHS.to_vec()
}
