//! `@inkle.kernel`: kernels as Python objects, and their way to loaded code.

pub mod access;
mod build;
mod code;
mod settings;

use build::Attached;
pub use code::Pass;
use settings::Settings;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use inkle_diag::{Diagnostic, Diagnostics};
use inkle_frontend::codes;
use inkle_frontend::env::{Environment, FunctionKey};
use inkle_frontend::pattern::{Bindings, Pattern};
use inkle_ir::Type;
use inkle_module::{AotCode, ArrayGrad, CompileError, Loaded};
use inkle_runtime::Device;
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use smallvec::{SmallVec, smallvec};

use crate::arguments::natural_type;
use crate::dtype::shown;
use crate::environment::PythonEnvironment;
use crate::error::{argument_error, class_name, compile_error, runtime_error};
use crate::function::{Definition, key_of};
use crate::module::Module;
use crate::pack::Packer;
use crate::parameters::Declaration;

/// A kernel: launched, never called.
#[pyclass(frozen, dict, weakref, module = "inkle._native")]
pub struct Kernel {
    definition: Arc<Definition>,
    key: String,
    module: Py<Module>,
    options: Py<PyDict>,
    /// The parameters once the source was looked at.
    signature: Mutex<Option<Arc<Result<Signature, Diagnostics>>>>,
    /// Set once the parameters are known and none is generic.
    is_exact: AtomicBool,
    /// What was made of the kernel: one entry per argument types, the latest generation of the module only.
    instances: Mutex<Vec<Arc<Instance>>>,
    /// What a generic kernel and its overloads share.
    family: Arc<Family>,
}

/// What a generic kernel and its overloads have in common.
#[derive(Default)]
struct Family {
    /// The types of the overloads that were declared.
    overloads: Mutex<Vec<Vec<Type>>>,
    /// Code that was loaded from files of compiled modules.
    ahead: Mutex<Vec<Arc<AotCode>>>,
}

/// Names and patterns of the parameters.
pub(crate) struct Signature {
    pub(crate) params: Vec<(String, Pattern)>,
    /// The types, unless some parameter is generic.
    pub(crate) exact: Option<Vec<Type>>,
}

/// A kernel for definite argument types.
pub struct Instance {
    /// The kernel's name, for messages.
    pub name: String,
    module: Py<Module>,
    /// What each parameter takes.
    pub packers: Vec<Packer>,
    /// The size of the parameter block, 8-byte words.
    pub words: usize,
    /// The bits of parameters that are arrays.
    arrays: u64,
    types: Vec<Type>,
    generation: u64,
    /// Code from files of compiled modules.
    ahead: Vec<Arc<AotCode>>,
    source: Source,
    /// How many launches a tape recorded, as far as they are looked at to make backward kernels before they are needed.
    recorded: AtomicU8,
}

/// What an instance is compiled from.
struct Source {
    key: FunctionKey,
    settings: Settings,
    outcome: OnceLock<Result<Compiled, CompileError>>,
}

struct Compiled {
    forward: Code,
    /// The backward kernels, one per gradients that the arguments had, or why there is none.
    backward: Mutex<Vec<Backward>>,
}

type Backward = (Vec<ArrayGrad>, Result<Arc<Code>, CompileError>);

/// A kernel and its code in use.
struct Code {
    kernel: Arc<inkle_module::Kernel>,
    /// Most of the time one entry.
    ready: Mutex<Vec<(Variant, Arc<Loaded>)>>,
    /// Whether the program was told what a backward pass is not sure of.
    is_doubt_told: AtomicBool,
}

/// What selects the code of an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Variant {
    device: Device,
    contiguous: bool,
    aligned: bool,
    grid_stride: bool,
}

/// A number that changes whenever loaded code must be looked up again in all modules.
pub static EPOCH: AtomicU64 = AtomicU64::new(0);

impl Kernel {
    /// Makes a kernel of a Python function.
    ///
    /// # Errors
    /// `TypeError` when the object is no Python function.
    pub fn declare<'py>(
        function: &Bound<'py, PyAny>,
        name: Option<&str>,
        module: &Bound<'py, Module>,
        options: Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, Kernel>> {
        let py = function.py();
        let definition = Definition::new(function, None)?;
        let key = name.map_or_else(|| key_of(function), |n| Ok(n.to_owned()))?;
        let kernel = Kernel {
            definition,
            key: key.clone(),
            module: module.clone().unbind(),
            options: options.unbind(),
            signature: Mutex::new(None),
            is_exact: AtomicBool::new(false),
            instances: Mutex::new(Vec::new()),
            family: Arc::default(),
        };
        let kernel = Bound::new(py, kernel)?;
        module.get().add_kernel(&key, &kernel)?;
        Ok(kernel)
    }

    /// This generic kernel with the given types, one per parameter; they are known from now on.
    pub(crate) fn with_signature<'py>(
        &self,
        py: Python<'py>,
        signature: Signature,
    ) -> PyResult<Bound<'py, Kernel>> {
        if let Some(types) = &signature.exact {
            let mut overloads = self.family.overloads.lock().unwrap_or_else(|e| e.into_inner());
            if !overloads.contains(types) {
                overloads.push(types.clone());
            }
        }
        self.with(py, Ok(signature))
    }

    /// The types of the overloads that were declared of a generic kernel.
    pub(crate) fn overloads(&self) -> Vec<Vec<Type>> {
        self.family.overloads.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Forgets the code from files of compiled modules.
    pub(crate) fn forget_code(&self) {
        self.family.ahead.lock().unwrap_or_else(|e| e.into_inner()).clear();
    }

    /// Lets launches on the code's device run this code, in place of what was loaded there before.
    pub(crate) fn set_code(&self, device: Device, code: Vec<Arc<AotCode>>) {
        let mut ahead = self.family.ahead.lock().unwrap_or_else(|e| e.into_inner());
        ahead.retain(|known| known.device() != device);
        ahead.extend(code);
    }

    /// The types that the kernel can be made ready for ahead of its launches: its own, or those that overloads
    /// declare.
    ///
    /// # Errors
    /// Mistakes in the annotations.
    pub fn known_types(&self, py: Python<'_>) -> PyResult<Vec<Vec<Type>>> {
        Ok(match self.exact_types(py)? {
            Some(types) => vec![types],
            None => self.overloads(),
        })
    }

    /// This kernel, of which launches report these mistakes.
    pub(crate) fn with_mistakes<'py>(
        &self,
        py: Python<'py>,
        mistakes: Diagnostics,
    ) -> PyResult<Bound<'py, Kernel>> {
        self.with(py, Err(mistakes))
    }

    fn with<'py>(
        &self,
        py: Python<'py>,
        signature: Result<Signature, Diagnostics>,
    ) -> PyResult<Bound<'py, Kernel>> {
        Bound::new(
            py,
            Kernel {
                definition: self.definition.clone(),
                key: self.key.clone(),
                module: self.module.clone_ref(py),
                options: self.options.clone_ref(py),
                is_exact: AtomicBool::new(signature.as_ref().is_ok_and(|s| s.exact.is_some())),
                signature: Mutex::new(Some(Arc::new(signature))),
                instances: Mutex::new(Vec::new()),
                family: self.family.clone(),
            },
        )
    }

    /// What the kernel is made from.
    pub(crate) fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Whether two kernels were made from one piece of Python code.
    ///
    /// # Errors
    /// What Python raises while the code is read.
    pub fn has_code_of(&self, other: &Kernel, py: Python<'_>) -> PyResult<bool> {
        let code = |kernel: &Kernel| kernel.definition.function.bind(py).getattr(intern!(py, "__code__"));
        Ok(code(self)?.is(&code(other)?))
    }

    /// The name within the module.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The parameters, from the source on the first call.
    pub(crate) fn signature(&self, py: Python<'_>) -> Arc<Result<Signature, Diagnostics>> {
        if let Some(signature) = &*self.signature.lock().unwrap_or_else(|e| e.into_inner()) {
            return signature.clone();
        }
        if let Err(error) = crate::trace::follow_options(py, self.module.get()) {
            // A trace that cannot be started is no reason for a kernel to fail.
            error.write_unraisable(py, None);
        }
        let signature = Arc::new(self.read_signature(py));
        self.is_exact.store(matches!(&*signature, Ok(Signature { exact: Some(_), .. })), Ordering::Relaxed);
        *self.signature.lock().unwrap_or_else(|e| e.into_inner()) = Some(signature.clone());
        signature
    }

    fn read_signature(&self, _py: Python<'_>) -> Result<Signature, Diagnostics> {
        let environment = PythonEnvironment::default();
        // The usual case first, which needs no tree of the body.
        if let Some(own) = environment.outlines(self.definition.key).and_then(|all| all.into_iter().next()) {
            let patterns: Option<Vec<_>> = own.params.into_iter().map(|spec| spec.pattern).collect();
            if let Some(patterns) = patterns {
                let params: Vec<_> = own.text.names.iter().cloned().zip(patterns).collect();
                let exact = params.iter().map(|(_, p)| p.instantiate(&Bindings::default())).collect();
                return Ok(Signature { params, exact });
            }
        }
        let sources = environment.function(self.definition.key)?;
        let source = &sources[0];
        let mut diagnostics = Diagnostics::default();
        let mut params = Vec::new();
        for (param, spec) in source.def.params.iter().zip(&source.params) {
            match &spec.pattern {
                Some(pattern) => params.push((param.name.clone(), pattern.clone())),
                None => {
                    let message = format!("parameter `{}` of kernel `{}` has no type", param.name, self.key);
                    diagnostics.push(
                        Diagnostic::new(codes::NOT_A_VALUE, param.span, message)
                            .label("annotate this parameter")
                            .help("for example `float`, `inkle.vec3` or `inkle.array[float]`; `Any` takes every type"),
                    );
                }
            }
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let exact = params.iter().map(|(_, p)| p.instantiate(&Bindings::default())).collect();
        Ok(Signature { params, exact })
    }

    /// The instance for the given arguments, built now if need be.
    ///
    /// # Errors
    /// When the arguments' types do not fit a generic kernel, or the number of arguments is wrong. Mistakes in the
    /// kernel are kept in the instance.
    pub fn instance(&self, py: Python<'_>, arguments: &Arguments<'_, '_>) -> PyResult<Arc<Instance>> {
        if let Some(only) = self.only_instance() {
            return Ok(only);
        }
        let signature = self.signature(py);
        let signature = signature.as_ref().as_ref().map_err(|d| compile_error(py, d))?;
        let types = match &signature.exact {
            Some(types) => types.clone(),
            None => self.infer(py, signature, arguments)?,
        };
        self.instance_of_types(py, types)
    }

    /// The instance of a kernel that is not generic, if it was built since anything was set anew.
    fn only_instance(&self) -> Option<Arc<Instance>> {
        if !self.is_exact.load(Ordering::Relaxed) {
            return None;
        }
        let generation = self.generation();
        let instances = self.instances.lock().unwrap_or_else(|e| e.into_inner());
        instances.first().filter(|first| first.generation == generation).cloned()
    }

    /// The module the kernel belongs to.
    pub fn module_object<'py>(&self, py: Python<'py>) -> &Bound<'py, Module> {
        self.module.bind(py)
    }

    fn generation(&self) -> u64 {
        self.module.get().generation() + EPOCH.load(Ordering::Relaxed)
    }

    /// The instance for definite types, built now if need be.
    ///
    /// # Errors
    /// What Python raises while options are read.
    pub fn instance_of_types(&self, py: Python<'_>, types: Vec<Type>) -> PyResult<Arc<Instance>> {
        let generation = self.generation();
        if let Some(known) = self.find(&types, generation) {
            return Ok(known);
        }
        let made = Arc::new(self.build(py, types, generation, Attached::Throughout)?);
        Ok(self.keep(made))
    }

    /// [`Kernel::instance_of_types`] for threads beside the main one, which run Python code in turn: this one does while it
    /// asks about names only.
    ///
    /// # Errors
    /// As there.
    pub fn instance_beside(&self, py: Python<'_>, types: Vec<Type>) -> PyResult<Arc<Instance>> {
        let generation = self.generation();
        if let Some(known) = self.find(&types, generation) {
            return Ok(known);
        }
        let made = Arc::new(self.build(py, types, generation, Attached::WhenAsking)?);
        Ok(self.keep(made))
    }

    fn keep(&self, made: Arc<Instance>) -> Arc<Instance> {
        self.instances.lock().unwrap_or_else(|e| e.into_inner()).push(made.clone());
        made
    }

    fn find(&self, types: &[Type], generation: u64) -> Option<Arc<Instance>> {
        let mut instances = self.instances.lock().unwrap_or_else(|e| e.into_inner());
        instances.retain(|i| i.generation == generation);
        instances.iter().find(|i| i.types == types).cloned()
    }

    /// The types of the parameters, when none is generic.
    ///
    /// # Errors
    /// Mistakes in the annotations.
    pub fn exact_types(&self, py: Python<'_>) -> PyResult<Option<Vec<Type>>> {
        let signature = self.signature(py);
        let signature = signature.as_ref().as_ref().map_err(|d| compile_error(py, d))?;
        Ok(signature.exact.clone())
    }

    fn infer(
        &self,
        py: Python<'_>,
        signature: &Signature,
        arguments: &Arguments<'_, '_>,
    ) -> PyResult<Vec<Type>> {
        arguments.check_count(py, &self.key, signature.params.len())?;
        let mut bindings = Bindings::default();
        let mut types = Vec::new();
        for ((name, pattern), argument) in signature.params.iter().zip(arguments.iter()) {
            let argument = argument?;
            if let Some(ty) = pattern.instantiate(&Bindings::default()) {
                types.push(ty);
                continue;
            }
            match natural_type(&argument) {
                Some(ty) if pattern.matches(ty, &mut bindings) => types.push(ty),
                found => {
                    let given = found.map_or_else(|| class_name(&argument), Type::python_name);
                    let message = format!(
                        "kernel `{}`: argument '{name}' expects {} but got {given}",
                        self.key,
                        shown(pattern)
                    );
                    return Err(argument_error(py, message));
                }
            }
        }
        Ok(types)
    }
}

/// The exception for a kernel that could not be made ready.
#[cold]
pub fn exception(py: Python<'_>, error: &CompileError) -> PyErr {
    match error {
        CompileError::Rejected(diagnostics) => compile_error(py, diagnostics),
        CompileError::Load(error) => runtime_error(py, error),
        CompileError::Codegen(_) | CompileError::Broken { .. } => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The arguments of a launch: inputs, then outputs, in the sequences they were given in.
pub struct Arguments<'a, 'py> {
    parts: [Option<&'a Bound<'py, PyAny>>; 2],
}

impl<'a, 'py> Arguments<'a, 'py> {
    /// The arguments in two sequences.
    pub fn new(
        inputs: Option<&'a Bound<'py, PyAny>>,
        outputs: Option<&'a Bound<'py, PyAny>>,
    ) -> Arguments<'a, 'py> {
        Arguments { parts: [inputs, outputs] }
    }

    /// All arguments in order.
    pub fn iter(&self) -> impl Iterator<Item = PyResult<Bound<'py, PyAny>>> {
        self.parts.iter().flatten().flat_map(|part| -> SmallVec<[PyResult<Bound<'py, PyAny>>; 12]> {
            if let Ok(list) = part.cast::<PyList>() {
                return list.iter().map(Ok).collect();
            }
            if let Ok(tuple) = part.cast::<PyTuple>() {
                return tuple.iter().map(Ok).collect();
            }
            match part.try_iter() {
                Ok(items) => items.collect(),
                Err(error) => smallvec![Err(error)],
            }
        })
    }

    /// Checks the number of arguments.
    ///
    /// # Errors
    /// When it is not `expected`.
    pub fn check_count(&self, py: Python<'_>, kernel: &str, expected: usize) -> PyResult<()> {
        let given: usize = self.parts.iter().flatten().map(|p| p.len()).sum::<PyResult<usize>>()?;
        if given == expected { Ok(()) } else { Err(wrong_count(py, kernel, expected, given)) }
    }
}

/// The exception for a wrong number of arguments.
#[cold]
pub fn wrong_count(py: Python<'_>, kernel: &str, expected: usize, given: usize) -> PyErr {
    argument_error(py, format!("kernel `{kernel}` takes {expected} arguments, got {given}"))
}

#[pymethods]
impl Kernel {
    /// Makes a kernel of a function at run time; `key` is its name within `module`, by default the function's own.
    #[new]
    #[pyo3(signature = (
        func, key = None, module = None, options = None, code_transformers = None, source = None
    ))]
    fn new<'py>(
        py: Python<'py>,
        func: &Bound<'py, PyAny>,
        key: Option<&str>,
        module: Option<&Bound<'py, PyAny>>,
        options: Option<&Bound<'py, PyDict>>,
        code_transformers: Option<&Bound<'py, PyAny>>,
        source: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Kernel>> {
        for (name, value) in [("code_transformers", code_transformers), ("source", source)] {
            if value.is_some_and(|v| v.is_truthy().unwrap_or(true)) {
                return Err(argument_error(
                    py,
                    format!("`{name}` is not available in inkle: kernels are made from source"),
                ));
            }
        }
        let module = match module {
            Some(module) => crate::module::module_argument(py, Some(module))?,
            None => Module::of(func)?,
        };
        let options = options.map_or_else(|| Ok(PyDict::new(py)), |o| o.copy())?;
        Ok(Kernel::declare(func, key, &module, options)?.unbind())
    }

    #[pyo3(signature = (*_args, **_kwargs))]
    fn __call__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let message = format!("kernel `{}` is started by inkle.launch(), not called", self.key);
        Err(PyNotImplementedError::new_err(message))
    }

    /// The Python function.
    #[getter]
    fn func(&self, py: Python<'_>) -> Py<PyAny> {
        self.definition.function.clone_ref(py)
    }

    /// The name within the module.
    #[getter(key)]
    fn get_key(&self) -> &str {
        &self.key
    }

    /// The module the kernel belongs to.
    #[getter]
    fn module(&self, py: Python<'_>) -> Py<Module> {
        self.module.clone_ref(py)
    }

    /// The options given to the decorator.
    #[getter]
    fn options(&self, py: Python<'_>) -> Py<PyDict> {
        self.options.clone_ref(py)
    }

    /// Whether the kernel, its module and `inkle.config` leave the backward pass switched on.
    #[getter]
    fn has_backward(&self, py: Python<'_>) -> PyResult<bool> {
        match self.only_instance() {
            Some(only) => Ok(only.has_backward()),
            None => settings::enable_backward(py, self),
        }
    }

    /// What the kernel may do with the arrays among its arguments.
    ///
    /// Args:
    ///     inputs: The arguments of a launch, which a generic kernel needs.
    ///
    /// Returns:
    ///     For each array `""`, `"r"`, `"w"` or `"rw"`: whether its elements may be read and written. The keys are names
    ///     of parameters, with a dot and the field for arrays in structs. Atomic operations read and write; what cannot
    ///     be followed, such as native code, counts as both.
    #[pyo3(signature = (inputs = None))]
    fn array_access<'py>(
        &self,
        py: Python<'py>,
        inputs: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let instance = match (self.exact_types(py)?, inputs) {
            (Some(types), _) => self.instance_of_types(py, types)?,
            (None, Some(_)) => self.instance(py, &Arguments::new(inputs, None))?,
            (None, None) => {
                let message =
                    format!("kernel `{}` is generic: give the arguments of a launch as `inputs`", self.key);
                return Err(argument_error(py, message));
            }
        };
        access::by_name(py, &instance)
    }

    /// The names of the parameters.
    #[getter]
    fn parameter_names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let signature = self.signature(py);
        let signature = signature.as_ref().as_ref().map_err(|d| compile_error(py, d))?;
        Ok(signature.params.iter().map(|(name, _)| name.clone()).collect())
    }

    /// What the kernel was made from: `adj.args` are its parameters.
    #[getter]
    fn adj(&self, py: Python<'_>) -> PyResult<Declaration> {
        Declaration::of(py, &self.definition)
    }

    /// Whether some parameter takes more than one type.
    #[getter]
    fn is_generic(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.exact_types(py)?.is_none())
    }

    /// The overloads that `inkle.overload` declared of a generic kernel, by the types of their parameters.
    #[getter(overloads)]
    fn overloads_by_types<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.declared_overloads(py)
    }

    #[getter]
    fn __name__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.definition.function.bind(py).getattr("__name__")
    }

    #[getter]
    fn __qualname__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.definition.function.bind(py).getattr("__qualname__")
    }

    #[getter]
    fn __module__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.definition.function.bind(py).getattr("__module__")
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.definition.function.bind(py).getattr("__doc__")
    }

    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.definition.function.clone_ref(py)
    }

    fn __repr__(&self) -> String {
        format!(
            "<kernel {} at {}:{}>",
            self.key,
            self.definition.origin.file(),
            self.definition.origin.line()
        )
    }
}
