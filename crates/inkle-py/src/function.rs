//! `@inkle.func`: functions that kernels call, and that Python can call as they are.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use inkle_frontend::env::{FunctionKey, NativeText};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::dtype::type_repr;
use crate::error::class_name;
use crate::module::Module;
use crate::reference::Reference;
use crate::scope;
use crate::source::Origin;

/// A Python function with what is needed to compile it.
pub struct Definition {
    /// The Python function.
    pub function: Py<PyAny>,
    /// Where it was written.
    pub origin: Origin,
    /// Its identity to the checker.
    pub key: FunctionKey,
    /// Annotations written as text that needed names local to the calling function; see
    /// [`scope::local_annotations`].
    pub local_annotations: Option<Py<PyDict>>,
    /// What the names in its `static` expressions meant when it was made.
    pub statics: Option<Py<PyDict>>,
    /// The functions that users gave it for backward passes, oldest first.
    backward: Mutex<Vec<(Role, Arc<Definition>)>>,
    /// The C++ text of a function whose Python body is only a stub.
    pub native: Option<NativeText>,
}

/// What a function is to another one in backward passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Gives its gradients.
    Gradient,
    /// Gives its results.
    Replay,
}

/// The overloads of one name in one module, oldest first; shared by the objects made for each.
type Overloads = Arc<Mutex<Vec<Arc<Definition>>>>;

/// What is known of a key. Nothing here keeps a function alive: programs make kernels over and over.
struct Entry {
    definition: Weak<Definition>,
    overloads: Weak<Mutex<Vec<Arc<Definition>>>>,
}

/// Every definition that lives, by key.
static DEFINITIONS: Mutex<BTreeMap<FunctionKey, Entry>> = Mutex::new(BTreeMap::new());

fn definitions() -> MutexGuard<'static, BTreeMap<FunctionKey, Entry>> {
    DEFINITIONS.lock().unwrap_or_else(|e| e.into_inner())
}

impl Definition {
    /// Enters a Python function.
    ///
    /// # Errors
    /// `TypeError` when the object is no Python function.
    pub fn new(function: &Bound<'_, PyAny>, native: Option<NativeText>) -> PyResult<Arc<Definition>> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let function = &unwrapped(function)?;
        let origin = Origin::of(function).map_err(|_| {
            let class = class_name(function);
            PyTypeError::new_err(format!(
                "kernels and functions are made from Python functions, not from {class}"
            ))
        })?;
        let key = FunctionKey(NEXT.fetch_add(1, Ordering::Relaxed));
        let local_annotations = scope::local_annotations(function)?.map(Bound::unbind);
        let definition = Arc::new(Definition {
            function: function.clone().unbind(),
            origin,
            key,
            local_annotations,
            statics: scope::statics(function)?.map(Bound::unbind),
            backward: Mutex::new(Vec::new()),
            native,
        });
        let entry = Entry { definition: Arc::downgrade(&definition), overloads: Weak::new() };
        definitions().insert(key, entry);
        Ok(definition)
    }

    /// The function's annotations, those written as text evaluated. The result's is under `return`.
    ///
    /// # Errors
    /// For an annotation that cannot be evaluated.
    pub fn annotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let local = self.local_annotations.as_ref().map(|l| l.bind(py));
        scope::annotations(self.function.bind(py), local)
    }

    /// The functions that users gave this one, of one role.
    pub fn given(&self, role: Role) -> Vec<Arc<Definition>> {
        let given = self.backward.lock().unwrap_or_else(|e| e.into_inner());
        given.iter().filter(|(r, _)| *r == role).map(|(_, definition)| definition.clone()).collect()
    }

    /// The definition of a key, while it lives.
    pub fn get(key: FunctionKey) -> Option<Arc<Definition>> {
        let found = definitions().get(&key)?.definition.clone();
        found.upgrade()
    }
}

impl Drop for Definition {
    fn drop(&mut self) {
        definitions().remove(&self.key);
    }
}

/// The definitions that share the name of `key`'s, `key`'s own included.
pub fn overloads_of(key: FunctionKey) -> Vec<Arc<Definition>> {
    // Upgraded outside the lock: dropping the last reference to a definition takes it.
    let found = definitions().get(&key).map(|e| (e.definition.clone(), e.overloads.clone()));
    let Some((definition, overloads)) = found else { return Vec::new() };
    match overloads.upgrade() {
        Some(overloads) => overloads.lock().unwrap_or_else(|e| e.into_inner()).clone(),
        None => definition.upgrade().into_iter().collect(),
    }
}

/// The key of a Python function within its module: its qualified name in letters, digits and underscores.
pub fn key_of(function: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = function.getattr(intern!(function.py(), "__qualname__"))?;
    let name = name.cast_into::<PyString>()?;
    let name = name.to_str()?;
    Ok(name.replace('.', "__").chars().filter(|c| c.is_alphanumeric() || *c == '_').collect())
}

// A function that kernels can call; calling it from Python runs the Python function. (A documentation comment here
// would hide the text that `__doc__` gives.)
#[pyclass(frozen, dict, weakref, module = "inkle._native")]
pub struct Function {
    definition: Arc<Definition>,
    name: String,
    module: Py<Module>,
    overloads: Overloads,
}

impl Function {
    /// Its identity to the checker.
    pub fn key(&self) -> FunctionKey {
        self.definition.key
    }

    /// Makes a function; if its scope has one of its name with other annotations, it becomes an overload of that.
    ///
    /// # Errors
    /// `TypeError` when the object is no Python function.
    pub fn declare<'py>(
        function: &Bound<'py, PyAny>,
        name: Option<&str>,
        module: &Bound<'py, Module>,
        native: Option<NativeText>,
    ) -> PyResult<Bound<'py, Function>> {
        let py = function.py();
        let definition = Definition::new(function, native)?;
        refuse_unions(function)?;
        let name = name.map_or_else(|| key_of(function), |n| Ok(n.to_owned()))?;
        let functions = module.get().functions(py);
        let overloads = match functions.get_item(&name)? {
            Some(earlier) => {
                let earlier = earlier.cast::<Function>()?.get();
                let mut set: Vec<_> = earlier.overloads.lock().unwrap_or_else(|e| e.into_inner()).clone();
                let is_in_scope = earlier.is_in_scope(function)?;
                let mut overloads = Vec::new();
                let mut repeated = false;
                for other in &set {
                    repeated |= repeats(other, &definition, py)?;
                }
                if !repeated {
                    // Kernels that call it by its name mean the new one from their next launch on.
                    crate::kernel::EPOCH.fetch_add(1, Ordering::Relaxed);
                }
                // Another run of a function that makes functions has made those.
                if !is_in_scope {
                    set.clear();
                }
                for other in set.drain(..) {
                    let (theirs, ours) = (parameters(other.function.bind(py))?, parameters(function)?);
                    if theirs == ours {
                        continue;
                    }
                    if theirs.iter().map(|p| &p.ty).eq(ours.iter().map(|p| &p.ty)) {
                        return Err(PyRuntimeError::new_err(format!(
                            "overloads of function `{name}` differ only in `wp.ref`, so that calls cannot tell \
                             which one is meant; give one of them another name"
                        )));
                    }
                    overloads.push(other);
                }
                // A redefinition starts a set of its own, so that code which holds the older object keeps it.
                let count = earlier.overloads.lock().unwrap_or_else(|e| e.into_inner()).len();
                if is_in_scope && overloads.len() == count {
                    earlier.overloads.lock().unwrap_or_else(|e| e.into_inner()).push(definition.clone());
                    earlier.overloads.clone()
                } else {
                    overloads.push(definition.clone());
                    Arc::new(Mutex::new(overloads))
                }
            }
            None => Arc::new(Mutex::new(vec![definition.clone()])),
        };
        if let Some(entry) = definitions().get_mut(&definition.key) {
            entry.overloads = Arc::downgrade(&overloads);
        }
        let declared =
            Function { definition, name: name.clone(), module: module.clone().unbind(), overloads };
        let declared = Bound::new(py, declared)?;
        functions.set_item(name, &declared)?;
        Ok(declared)
    }

    /// Whether the scope in which `function` is made has this one by its name.
    fn is_in_scope(&self, function: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = function.py();
        let name: String = function.getattr(intern!(py, "__name__"))?.extract()?;
        let known = scope::where_made(function, &name)?;
        let known = known.as_ref().and_then(|known| known.cast::<Function>().ok());
        Ok(known.is_some_and(|known| Arc::ptr_eq(&known.get().overloads, &self.overloads)))
    }
}

/// The function within decorators that say what they wrap, as `functools.wraps` does.
fn unwrapped<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let mut function = function.clone();
    // Whoever wraps a function in itself meant none of them in particular.
    for _ in 0..64 {
        match function.getattr_opt(intern!(py, "__wrapped__"))? {
            Some(inner) => function = inner,
            None => break,
        }
    }
    Ok(function)
}

/// Whether a function is another one over again, as closures are that are made at every step: the same code over the
/// same objects.
fn repeats<'py>(a: &Definition, b: &Definition, py: Python<'py>) -> PyResult<bool> {
    let same_statics = match (&a.statics, &b.statics) {
        (None, None) => true,
        (Some(a), Some(b)) => same_objects(a.bind(py), b.bind(py))?,
        _ => false,
    };
    if !same_statics {
        return Ok(false);
    }
    let (a, b) = (a.function.bind(py), b.function.bind(py));
    for name in [intern!(py, "__code__"), intern!(py, "__globals__"), intern!(py, "__defaults__")] {
        if !a.getattr(name)?.is(&b.getattr(name)?) {
            return Ok(false);
        }
    }
    let named = |f: &Bound<'py, PyAny>| -> PyResult<Option<Bound<'py, PyDict>>> {
        Ok(f.getattr(intern!(py, "__kwdefaults__"))?.cast_into().ok())
    };
    let same_defaults = match (named(a)?, named(b)?) {
        (None, None) => true,
        (Some(a), Some(b)) => same_objects(&a, &b)?,
        _ => false,
    };
    Ok(same_defaults && same_objects(&scope::closure(a)?, &scope::closure(b)?)?)
}

/// Whether two dicts have the same objects by the same names.
fn same_objects(a: &Bound<'_, PyDict>, b: &Bound<'_, PyDict>) -> PyResult<bool> {
    for (name, value) in a.iter() {
        if !b.get_item(name)?.is_some_and(|v| v.is(&value)) {
            return Ok(false);
        }
    }
    Ok(a.len() == b.len())
}

/// Reports an annotation such as `float | int`: in kernels a parameter has one type.
fn refuse_unions(function: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = function.py();
    let annotations = function.getattr(intern!(py, "__annotations__"))?.cast_into::<PyDict>()?;
    for (name, annotation) in annotations.iter() {
        // Both `Union[A, B]` and `A | B` are objects, not classes, with their types as arguments.
        if annotation.is_instance_of::<PyType>() || annotation.is_instance_of::<PyString>() {
            continue;
        }
        let class = annotation.get_type();
        if matches!(class.name()?.to_str()?, "UnionType" | "_UnionGenericAlias" | "Union") {
            return Err(PyRuntimeError::new_err(format!(
                "Union type annotations are only supported at Python scope: `{name}` of `{}` is annotated {}; \
                 declare an overload for each type, or annotate it `Any`",
                key_of(function)?,
                annotation.repr()?
            )));
        }
    }
    Ok(())
}

/// A parameter as overloads are told apart by.
#[derive(PartialEq)]
struct Parameter {
    ty: String,
    by_reference: bool,
}

fn parameters(function: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    let py = function.py();
    let code = function.getattr(intern!(py, "__code__"))?;
    let count: usize = code.getattr(intern!(py, "co_argcount"))?.extract()?;
    let names = code.getattr(intern!(py, "co_varnames"))?.cast_into::<PyTuple>()?;
    let annotations = function.getattr(intern!(py, "__annotations__"))?.cast_into::<PyDict>()?;
    let parameter = |name: Bound<'_, PyAny>| {
        let Some(annotation) = annotations.get_item(&name)? else {
            return Ok(Parameter { ty: String::new(), by_reference: false });
        };
        Ok(match annotation.cast::<Reference>() {
            Ok(r) => Parameter { ty: type_repr(r.get().target(py))?, by_reference: true },
            Err(_) => Parameter { ty: type_repr(&annotation)?, by_reference: false },
        })
    };
    names.iter().take(count).map(parameter).collect()
}

#[pymethods]
impl Function {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let overloads = self.overloads.lock().unwrap_or_else(|e| e.into_inner()).clone();
        let chosen = match overloads.as_slice() {
            [only] => only.clone(),
            several => choose(py, several, args)?.unwrap_or_else(|| self.definition.clone()),
        };
        if chosen.native.is_some() {
            let message = format!("`{}` is written in C++: kernels can call it, Python cannot", self.name);
            return Err(PyNotImplementedError::new_err(message));
        }
        chosen.function.bind(py).call(args, kwargs)
    }

    /// Makes a Python function the gradient (`"gradient"`) or the replay (`"replay"`) of this one.
    fn give(&self, role: &str, function: &Bound<'_, PyAny>) -> PyResult<()> {
        let role = match role {
            "gradient" => Role::Gradient,
            "replay" => Role::Replay,
            _ => return Err(PyTypeError::new_err(format!("`{role}` is not a role"))),
        };
        let definition = Definition::new(function, None)?;
        self.definition.backward.lock().unwrap_or_else(|e| e.into_inner()).push((role, definition));
        // Kernels that call the function may have been checked before.
        self.module.get().touch();
        Ok(())
    }

    /// The Python function.
    #[getter]
    fn func(&self, py: Python<'_>) -> Py<PyAny> {
        self.definition.function.clone_ref(py)
    }

    #[getter]
    fn __wrapped__(&self, py: Python<'_>) -> Py<PyAny> {
        self.definition.function.clone_ref(py)
    }

    /// The name within the module.
    #[getter(key)]
    fn name(&self) -> &str {
        &self.name
    }

    /// The C++ text of a native function; `None` for others.
    #[getter]
    fn native_snippet(&self) -> Option<&str> {
        self.definition.native.as_ref().map(|code| code.forward.as_str())
    }

    /// The C++ text of a native function's backward pass.
    #[getter]
    fn adj_native_snippet(&self) -> Option<&str> {
        self.definition.native.as_ref()?.adjoint.as_deref()
    }

    /// The C++ text that a backward pass runs in place of a native function.
    #[getter]
    fn replay_snippet(&self) -> Option<&str> {
        self.definition.native.as_ref()?.replay.as_deref()
    }

    /// The module the function belongs to.
    #[getter]
    fn module(&self, py: Python<'_>) -> Py<Module> {
        self.module.clone_ref(py)
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

    fn __repr__(&self) -> String {
        format!(
            "<function {} at {}:{}>",
            self.name,
            self.definition.origin.file(),
            self.definition.origin.line()
        )
    }
}

/// The overload whose annotations the arguments of a call from Python fit best.
fn choose(
    py: Python<'_>,
    overloads: &[Arc<Definition>],
    args: &Bound<'_, PyTuple>,
) -> PyResult<Option<Arc<Definition>>> {
    for overload in overloads.iter().rev() {
        let function = overload.function.bind(py);
        let names = function.getattr("__code__")?.getattr("co_varnames")?.cast_into::<PyTuple>()?;
        let count: usize = function.getattr("__code__")?.getattr("co_argcount")?.extract()?;
        if count != args.len() {
            continue;
        }
        let annotations = overload.annotations(py)?;
        let mut fits = true;
        for (name, arg) in names.iter().zip(args.iter()) {
            if let Some(annotation) = annotations.get_item(&name)?
                && let Some(pattern) = crate::dtype::pattern_of(&annotation)?
            {
                let ty = crate::arguments::natural_type(&arg);
                fits &= ty.is_some_and(|ty| pattern.matches(ty, &mut std::default::Default::default()));
            }
        }
        if fits {
            return Ok(Some(overload.clone()));
        }
    }
    Ok(None)
}
