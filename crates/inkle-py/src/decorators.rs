//! `@inkle.kernel` and `@inkle.func`, with and without options; `inkle.constant`.

use pyo3::exceptions::{PyNotImplementedError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::error::{argument_error, class_name};
use crate::function::key_of;
use crate::kernel::Kernel;
use crate::module::{Module, check_options};

/// What a decorator with options is: called with the function.
#[pyclass(frozen, module = "inkle._native")]
struct Decorator {
    kind: Kind,
    name: Option<String>,
    module: Option<Py<PyAny>>,
    options: Py<PyDict>,
    module_options: Option<Py<PyDict>>,
}

#[derive(Clone, Copy)]
enum Kind {
    Kernel,
    Function,
}

#[pymethods]
impl Decorator {
    fn __call__<'py>(&self, py: Python<'py>, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let module = match &self.module {
            None => Module::of(f)?,
            Some(module) => {
                let module = module.bind(py);
                match module.cast::<PyString>() {
                    Ok(name) if name.to_str()? == "unique" => {
                        let key = self.name.clone().map_or_else(|| key_of(f), Ok)?;
                        let fresh = Module::fresh(py, &format!("{}.{key}", crate::module::name_of(f)?))?;
                        if let Some(options) = &self.module_options {
                            fresh.get().set_options(options.bind(py))?;
                        }
                        fresh
                    }
                    _ => crate::module::module_argument(py, Some(module))?,
                }
            }
        };
        match self.kind {
            Kind::Kernel => {
                Ok(Kernel::declare(f, self.name.as_deref(), &module, self.options.bind(py).clone())?
                    .into_any())
            }
            Kind::Function => {
                Ok(crate::function::Function::declare(f, self.name.as_deref(), &module, None)?.into_any())
            }
        }
    }
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn decorate<'py>(
    py: Python<'py>,
    decorator: Decorator,
    f: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match f {
        Some(f) => decorator.__call__(py, f),
        None => Ok(Bound::new(py, decorator)?.into_any()),
    }
}

/// Makes a Python function a kernel, which `launch` runs on every index of a range.
///
/// All parameters are annotated. `name` is the kernel's name within its module, `module` the module it belongs to
/// (`"unique"` for one of its own, which `module_options` are for). The other options steer how it is compiled.
#[pyfunction]
#[pyo3(signature = (
    f = None, *, name = None, enable_backward = None, launch_bounds = None, cuda_max_registers = None,
    enable_cuda_smem_spilling = None, cluster_dim = None, module = None, module_options = None,
    entry_point_abi = None, grid_stride = None
))]
#[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
pub fn kernel<'py>(
    py: Python<'py>,
    f: Option<&Bound<'py, PyAny>>,
    name: Option<String>,
    enable_backward: Option<&Bound<'py, PyAny>>,
    launch_bounds: Option<&Bound<'py, PyAny>>,
    cuda_max_registers: Option<&Bound<'py, PyAny>>,
    enable_cuda_smem_spilling: Option<&Bound<'py, PyAny>>,
    cluster_dim: Option<&Bound<'py, PyAny>>,
    module: Option<&Bound<'py, PyAny>>,
    module_options: Option<&Bound<'py, PyDict>>,
    entry_point_abi: Option<&Bound<'py, PyAny>>,
    grid_stride: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Some(options) = module_options {
        let unique = module.is_some_and(|m| m.extract::<&str>().is_ok_and(|m| m == "unique"));
        if !unique {
            return Err(argument_error(
                py,
                "`module_options` need `module=\"unique\"`; other modules have their own",
            ));
        }
        check_options(options)?;
    }
    if let Some(name) = &name
        && !is_identifier(name)
    {
        return Err(PyValueError::new_err(format!(
            "`{name}` cannot be the name of a kernel: exported code needs a valid C++ identifier, of letters, \
             digits and underscores, that starts with no digit"
        )));
    }
    match entry_point_abi.filter(|abi| !abi.is_none()) {
        None => {}
        Some(abi) => match abi.extract::<&str>() {
            Ok("warp") => {}
            Ok("external_constant_params") => {
                return Err(PyNotImplementedError::new_err(
                    "`entry_point_abi='external_constant_params'` is not available in inkle yet",
                ));
            }
            _ => {
                return Err(PyValueError::new_err(format!(
                    "`entry_point_abi` must be 'warp' or 'external_constant_params', not {}",
                    abi.repr()?
                )));
            }
        },
    }
    let options = PyDict::new(py);
    for (name, value) in [
        ("enable_backward", enable_backward),
        ("launch_bounds", launch_bounds),
        ("cuda_max_registers", cuda_max_registers),
        ("enable_cuda_smem_spilling", enable_cuda_smem_spilling),
        ("cluster_dim", cluster_dim),
        ("entry_point_abi", entry_point_abi),
        ("grid_stride", grid_stride),
    ] {
        if let Some(value) = value {
            options.set_item(name, value)?;
        }
    }
    let decorator = Decorator {
        kind: Kind::Kernel,
        name,
        module: module.map(|m| m.clone().unbind()),
        options: options.unbind(),
        module_options: module_options.map(|m| m.clone().unbind()),
    };
    decorate(py, decorator, f)
}

/// Makes a Python function callable from kernels. Calling it from Python runs it as it is.
///
/// Functions of one name in one module with other annotations are overloads.
#[pyfunction]
#[pyo3(signature = (f = None, *, name = None, module = None, inline = None))]
pub fn func<'py>(
    py: Python<'py>,
    f: Option<&Bound<'py, PyAny>>,
    name: Option<String>,
    module: Option<&Bound<'py, PyAny>>,
    inline: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = PyDict::new(py);
    if let Some(inline) = inline {
        if !inline.is_none() && !inline.is_instance_of::<PyBool>() {
            let given = class_name(inline);
            return Err(PyTypeError::new_err(format!("inline must be a bool or None, not {given}")));
        }
        options.set_item("inline", inline)?;
    }
    let decorator = Decorator {
        kind: Kind::Function,
        name,
        module: module.map(|m| m.clone().unbind()),
        options: options.unbind(),
        module_options: None,
    };
    decorate(py, decorator, f)
}

/// Checks that a value can be a compile-time constant, and gives it back.
#[pyfunction]
pub fn constant<'py>(x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    use inkle_frontend::env::ConstValue;
    match crate::environment::constant_of(x)? {
        Some(ConstValue::Str(_) | ConstValue::None) | None => {
            Err(argument_error(x.py(), format!("{} cannot be a constant of kernels", class_name(x))))
        }
        Some(_) => Ok(x.clone()),
    }
}
