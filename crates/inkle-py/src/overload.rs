//! `inkle.overload`: generic kernels with definite types; and the types of what functions give back.

use inkle_diag::{Diagnostic, Span};
use inkle_frontend::codes;
use inkle_frontend::pattern::{Bindings, Pattern};
use inkle_ir::Type;
use inkle_module::CheckOptions;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::environment::PythonEnvironment;
use crate::error::{argument_error, compile_error};
use crate::function::{Definition, key_of};
use crate::kernel::{Kernel, Signature, wrong_count};
use crate::module::Module;
use crate::scope::result_patterns;

impl Kernel {
    /// This kernel with definite types for all parameters.
    ///
    /// # Errors
    /// For a type that a parameter does not take, and a parameter that is left generic.
    fn with_types<'py>(&self, py: Python<'py>, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Kernel>> {
        let signature = self.signature(py);
        let signature = match signature.as_ref() {
            Ok(signature) => signature,
            // Launches report the mistakes of kernels, not declarations.
            Err(mistakes) => return self.with_mistakes(py, mistakes.clone()),
        };
        if signature.exact.is_some() {
            return Err(argument_error(
                py,
                format!("kernel `{}` is not generic: it needs no overloads", self.key()),
            ));
        }
        let by_name = given.cast::<PyDict>().ok();
        let by_place: Vec<_> = match by_name {
            Some(names) => {
                for name in names.keys() {
                    let name: String = name.extract()?;
                    if !signature.params.iter().any(|(known, _)| *known == name) {
                        return Err(argument_error(
                            py,
                            format!("kernel `{}` has no parameter `{name}`", self.key()),
                        ));
                    }
                }
                Vec::new()
            }
            None => given.try_iter()?.collect::<PyResult<_>>()?,
        };
        if by_name.is_none() && by_place.len() != signature.params.len() {
            return Err(wrong_count(py, self.key(), signature.params.len(), by_place.len()));
        }
        let named = by_name.map(|names| names.values().iter().collect::<Vec<_>>()).unwrap_or_default();
        for annotation in by_place.iter().chain(&named) {
            if crate::dtype::is_absent(annotation)? {
                let message = format!("an overload of kernel `{}` uses {}", self.key(), annotation.repr()?);
                let problem = Diagnostic::new(codes::NOT_A_VALUE, Span::NONE, message);
                return self.with_mistakes(py, problem.into());
            }
        }
        let (mut types, mut bindings) = (Vec::new(), Bindings::default());
        for (index, (name, pattern)) in signature.params.iter().enumerate() {
            let annotation = match by_name {
                Some(names) => names.get_item(name)?,
                None => Some(by_place[index].clone()),
            };
            let ty = match &annotation {
                None => pattern.instantiate(&Bindings::default()),
                Some(annotation) => crate::dtype::pattern_of(annotation)?
                    .and_then(|p| p.instantiate(&Bindings::default()))
                    .filter(|ty| pattern.matches(*ty, &mut bindings)),
            };
            let Some(ty) = ty else {
                let given =
                    annotation.map_or_else(|| Ok("nothing".to_owned()), |a| crate::dtype::type_repr(&a))?;
                let message =
                    format!("kernel `{}`, parameter `{name}`: expected {pattern}, got {given}", self.key());
                return Err(argument_error(py, message));
            };
            types.push(ty);
        }
        self.exactly(py, signature, types)
    }

    fn exactly<'py>(
        &self,
        py: Python<'py>,
        generic: &Signature,
        types: Vec<Type>,
    ) -> PyResult<Bound<'py, Kernel>> {
        let params = generic.params.iter().zip(&types).map(|((n, _), ty)| (n.clone(), Pattern::Exact(*ty)));
        self.with_signature(py, Signature { params: params.collect(), exact: Some(types) })
    }

    /// The overloads that were declared of a generic kernel, by the types of their parameters.
    pub(crate) fn declared_overloads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let declared = PyDict::new(py);
        if let Ok(signature) = self.signature(py).as_ref() {
            for types in self.overloads() {
                let names: Vec<String> = types.iter().map(|ty| ty.python_name()).collect();
                declared.set_item(names.join(", "), self.exactly(py, signature, types)?)?;
            }
        }
        Ok(declared)
    }
}

/// The kernel that a function declares an overload of: the one of its key, or the one made of a function of its
/// qualified name that was given another key.
fn generic_kernel<'py>(
    function: &Bound<'py, PyAny>,
    key: &str,
    module: &Module,
) -> PyResult<Bound<'py, Kernel>> {
    let py = function.py();
    let kernels = module.kernels(py)?;
    if let Some(Ok(kernel)) = kernels.get_item(key)?.map(|k| k.cast_into::<Kernel>()) {
        return Ok(kernel);
    }
    let qualified = function.getattr(intern!(py, "__qualname__"))?;
    let mut found = Vec::new();
    for kernel in kernels.values().iter() {
        let kernel = kernel.cast_into::<Kernel>()?;
        let name = kernel.get().definition().function.bind(py).getattr(intern!(py, "__qualname__"))?;
        if name.eq(&qualified)? {
            found.push(kernel);
        }
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(argument_error(
            py,
            format!("no generic kernel `{key}` in module `{}` to make an overload of", module.name()),
        )),
        _ => {
            let keys: Vec<_> = found.iter().map(|k| format!("`{}`", k.get().key())).collect();
            Err(argument_error(
                py,
                format!(
                    "Ambiguous kernel lookup: {qualified} was made the kernels {}; write \
                     `wp.overload(kernel, [types])`",
                    keys.join(", ")
                ),
            ))
        }
    }
}

/// A generic kernel with definite argument types, given in a list or by name. As a decorator of a function named like
/// the kernel it checks that the function's annotations fit, and gives back the generic kernel.
#[pyfunction]
#[pyo3(signature = (kernel, arg_types = None))]
pub fn overload<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, PyAny>,
    arg_types: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Kernel>> {
    if let Ok(generic) = kernel.cast::<Kernel>() {
        return match arg_types {
            Some(types) => generic.get().with_types(py, types),
            None => Err(argument_error(py, "an overload of a kernel needs `arg_types`")),
        };
    }
    let definition = Definition::new(kernel, None)?;
    let module = Module::of(kernel)?;
    let key = key_of(kernel)?;
    let generic = generic_kernel(kernel, &key, module.get())?;
    let types = PyDict::new(py);
    for (name, annotation) in definition.annotations(py)?.iter() {
        if name.extract::<String>()? != "return" {
            types.set_item(name, annotation)?;
        } else if !matches!(result_patterns(&annotation)?, Ok(results) if results.is_empty()) {
            return Err(PyTypeError::new_err(format!(
                "Return annotations are not allowed on @wp.overload stubs: kernels return nothing, but that of \
                 `{key}` says {}",
                annotation.repr()?
            )));
        }
    }
    // The name stands for the generic kernel still, so that launches go on choosing by their arguments.
    generic.get().with_types(py, types.as_any())?;
    Ok(generic)
}

/// The types of the results of the function `name` that a kernel calls.
#[pyfunction]
pub fn result_types<'py>(
    py: Python<'py>,
    kernel: &Bound<'py, Kernel>,
    name: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(types) = kernel.get().exact_types(py)? else {
        return Err(argument_error(py, format!("kernel `{}` is generic", kernel.get().key())));
    };
    let environment = PythonEnvironment::default();
    let module = inkle_frontend::check_kernel(
        &environment,
        kernel.get().definition().key,
        &types,
        CheckOptions::default(),
    )
    .map_err(|d| compile_error(py, &d))?;
    let found = module.functions.iter().find(|f| f.name.starts_with(name));
    let results = found.map(|f| f.results.as_slice()).unwrap_or_default();
    results.iter().map(|ty| crate::dtype::class_of(py, *ty)).collect()
}
