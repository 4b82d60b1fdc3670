//! The checker's view of Python: what names are bound to, and the source of functions.

use std::sync::{Arc, Mutex, OnceLock};

use inkle_diag::{Diagnostic, Diagnostics, SourceFile};
use inkle_frontend::codes;
use inkle_frontend::env::{
    Binding, ConstValue, Environment, FunctionKey, FunctionOutline, FunctionSource, LibraryFunction,
    ObjectKey, ParamSpec,
};
use inkle_frontend::pattern::Pattern;
use inkle_frontend::tree::Expr;
use inkle_ir::{Constant, Scalar, Type};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple, PyType};

use crate::builtin::{Builtin, is_builtin};
use crate::composite::Value;
use crate::dtype::{class_of, pattern_of};
use crate::error::class_name;
use crate::function::{Definition, Function, Role, overloads_of};
use crate::kernel::Kernel;
use crate::number;
use crate::reference::Reference;
use crate::scalar::ScalarValue;
use crate::scope;
use crate::structs::{Struct, StructInstance};

/// Answers from the objects of the running interpreter, for one check.
#[derive(Default)]
pub struct PythonEnvironment {
    /// The objects whose attributes the checker may ask for, by key.
    objects: Mutex<Vec<Py<PyAny>>>,
    warnings: Mutex<Diagnostics>,
}

impl PythonEnvironment {
    /// Gives what the check found doubtful to the user's logger.
    ///
    /// # Errors
    /// What the logger raises, such as a warning that is to be an error.
    pub fn log_warnings(&self, py: Python<'_>) -> PyResult<()> {
        let warnings = std::mem::take(&mut *self.warnings.lock().unwrap_or_else(|e| e.into_inner()));
        if warnings.is_empty() {
            return Ok(());
        }
        let log = py.import("inkle._logger")?.getattr("log_warning")?;
        let once = PyDict::new(py);
        once.set_item("once", true)?;
        warnings.0.iter().try_for_each(|warning| log.call((warning.render(),), Some(&once)).map(drop))
    }

    fn object_key(&self, object: &Bound<'_, PyAny>) -> ObjectKey {
        let mut objects = self.objects.lock().unwrap_or_else(|e| e.into_inner());
        let index = objects.iter().position(|o| o.is(object)).unwrap_or_else(|| {
            objects.push(object.clone().unbind());
            objects.len() - 1
        });
        ObjectKey(index as u64)
    }

    fn object<'py>(&self, py: Python<'py>, key: ObjectKey) -> Option<Bound<'py, PyAny>> {
        let objects = self.objects.lock().unwrap_or_else(|e| e.into_inner());
        objects.get(key.0 as usize).map(|o| o.bind(py).clone())
    }

    /// What a Python object means in a kernel.
    fn binding(&self, value: &Bound<'_, PyAny>) -> PyResult<Binding> {
        Ok(match meaning_of(value)? {
            Meaning::Known(binding) => binding,
            Meaning::Object => Binding::Object(self.object_key(value)),
        })
    }

    /// The attribute of an object as kernels see it.
    fn attribute_of(&self, object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Binding>> {
        if let Ok(module) = object.cast::<PyModule>()
            && module.name().is_ok_and(|n| n == "inkle" || n == "inkle.types")
            && is_builtin(name)
        {
            // Types come first: `wp.float32` is a type that is called, not a function of that name.
            if let Some(value) = object.getattr_opt(name)?
                && let Some(Pattern::Exact(ty)) = pattern_of(&value)?
            {
                return Ok(Some(Binding::Type(ty)));
            }
            return Ok(Some(Binding::Builtin(name.to_owned())));
        }
        if let Ok(module) = object.cast::<PyModule>()
            && module.name().is_ok_and(|n| n == "inkle")
            && let Some(ty) = match name {
                "int" => Some(Type::I32),
                "float" => Some(Type::F32),
                _ => None,
            }
        {
            return Ok(Some(Binding::Type(ty)));
        }
        object.getattr_opt(name)?.map(|value| self.binding(&value)).transpose()
    }
}

/// What an object means: something by itself, or something with attributes.
enum Meaning {
    Known(Binding),
    Object,
}

/// The compile-time constant a Python object is; `None` when it is none.
pub fn constant_of(value: &Bound<'_, PyAny>) -> PyResult<Option<ConstValue>> {
    let py = value.py();
    if value.is_none() {
        return Ok(Some(ConstValue::None));
    }
    if let Ok(b) = value.cast::<PyBool>() {
        return Ok(Some(ConstValue::Bool(b.is_true())));
    }
    if let Ok(int) = value.cast::<PyInt>() {
        // Beyond 128 bits nothing fits; the checker reports the clamped value as out of range.
        let int = int
            .extract::<i128>()
            .or_else(|_| Ok::<_, PyErr>(if int.lt(0)? { i128::MIN } else { i128::MAX }))?;
        return Ok(Some(ConstValue::Int(int)));
    }
    if let Ok(float) = value.cast::<PyFloat>() {
        return Ok(Some(ConstValue::Float(float.value())));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(ConstValue::Str(text.to_str()?.to_owned())));
    }
    if let Ok(scalar) = value.cast::<ScalarValue>() {
        return Ok(Some(ConstValue::Typed(scalar.get().number(), scalar.get().scalar())));
    }
    if let Ok(value) = value.cast::<Value>() {
        let (ty, components) = (value.get().ty(), value.get().components(py).to_vec());
        return Ok(Some(ConstValue::Composite { ty, components }));
    }
    if let Ok(instance) = value.cast::<StructInstance>() {
        return struct_constant(instance);
    }
    if let Ok(tuple) = value.cast::<PyTuple>() {
        let items = tuple.iter().map(|item| constant_of(&item)).collect::<PyResult<Option<Vec<_>>>>()?;
        return Ok(items.map(ConstValue::Tuple));
    }
    // A numpy number is a constant of its own type.
    if value.hasattr(intern!(py, "dtype"))?
        && value.hasattr(intern!(py, "item"))?
        && number::is_number(value)
        && let Some(Pattern::Exact(Type::Scalar(scalar))) = pattern_of(value.get_type().as_any())?
    {
        let number = number::from_python(&value.call_method0("item")?, scalar)?;
        return Ok(Some(ConstValue::Typed(number, scalar)));
    }
    Ok(None)
}

fn struct_constant(instance: &Bound<'_, StructInstance>) -> PyResult<Option<ConstValue>> {
    let ty = instance.get().ty();
    let Some(decl) = ty.as_struct() else { return Ok(None) };
    let mut fields = Vec::new();
    for field in &decl.fields {
        let value = instance.getattr(field.name.as_str())?;
        let constant = match field.ty {
            Type::Scalar(scalar) => Some(ConstValue::Typed(typed(&value, scalar)?, scalar)),
            _ => constant_of(&value)?,
        };
        match constant {
            Some(constant) => fields.push(constant),
            None => return Ok(None),
        }
    }
    Ok(Some(ConstValue::Struct { ty, fields }))
}

fn typed(value: &Bound<'_, PyAny>, scalar: Scalar) -> PyResult<Constant> {
    number::from_python(value, scalar)
}

/// What a Python object means in a kernel.
///
/// # Errors
/// What Python raises while the object is examined.
fn meaning_of(value: &Bound<'_, PyAny>) -> PyResult<Meaning> {
    let py = value.py();
    let known = |binding| Ok(Meaning::Known(binding));
    let unsupported = |what: &str| Ok(Meaning::Known(Binding::Unsupported(what.to_owned())));
    if let Ok(function) = value.cast::<Function>() {
        return known(Binding::Function(function.get().key()));
    }
    if let Ok(builtin) = value.cast::<Builtin>() {
        return known(Binding::Builtin(builtin.get().name().to_owned()));
    }
    if value.cast::<crate::array::Array>().is_ok_and(|array| array.get().has_elements()) {
        return unsupported("an array outside the kernel (pass it as an argument)");
    }
    // Before anything asks it for attributes, which modules may compute.
    if value.is_instance_of::<PyModule>() {
        return Ok(Meaning::Object);
    }
    if crate::dtype::is_absent(value)? {
        return unsupported("something that is not available in inkle yet");
    }
    if value.is_instance_of::<Kernel>() {
        return unsupported("a kernel, which is launched and not called");
    }
    if let Some(constant) = constant_of(value)? {
        return known(Binding::Const(constant));
    }
    let is_class = value.is_instance_of::<PyType>();
    if let Some(pattern) = pattern_of(value)? {
        match pattern {
            Pattern::Exact(ty) => return known(Binding::Type(ty)),
            _ if !is_class => return unsupported("a generic type"),
            _ => {}
        }
    }
    // Python's own functions, and inkle's by the names they have in kernels; those of `math` and numpy for the built-ins of
    // the same names.
    if let (Some(module), Some(name)) =
        (value.getattr_opt(intern!(py, "__module__"))?, value.getattr_opt(intern!(py, "__name__"))?)
        && let (Ok(module), Ok(name)) = (module.extract::<String>(), name.extract::<String>())
        && (matches!(module.as_str(), "builtins" | "math" | "numpy" | "inkle")
            || module.starts_with("inkle."))
    {
        if is_builtin(&name) {
            return known(Binding::Builtin(name));
        }
        if value.is_callable() && !is_class {
            let owner = match module.as_str() {
                "builtins" => "Python",
                "math" | "numpy" => module.as_str(),
                _ => "inkle",
            };
            return known(Binding::Unsupported(format!("a function of {owner} for code outside kernels")));
        }
    }
    if value.is_instance_of::<PyList>() {
        return unsupported("a list (a tuple would be a constant)");
    }
    if value.is_instance_of::<PyDict>() {
        return unsupported("a dict");
    }
    if value.hasattr(intern!(py, "__code__"))? {
        return unsupported("a Python function without `@wp.func`");
    }
    if value.is_callable() && !is_class {
        return known(Binding::Unsupported(format!("a Python object of class {}", class_name(value))));
    }
    Ok(Meaning::Object)
}

/// What a name means that the program does not define: kernels know built-ins and types without a prefix.
fn known_everywhere(py: Python<'_>, name: &str) -> Option<Binding> {
    if let Ok(Some(class)) = crate::dtype::named_type(py, name)
        && let Ok(Some(Pattern::Exact(ty))) = pattern_of(&class)
    {
        return Some(Binding::Type(ty));
    }
    is_builtin(name).then(|| Binding::Builtin(name.to_owned()))
}

fn unsupported(py: Python<'_>, error: &PyErr) -> Binding {
    Binding::Unsupported(format!("something that raises {}", error.value(py)))
}

/// What the annotations and defaults of a function say.
struct Declared {
    params: Vec<ParamSpec>,
    returns: Option<Vec<Pattern>>,
}

/// An annotation that is no type: a parameter's, by its place, or the result's; what it is, and what to do about it.
struct NoType {
    param: Option<usize>,
    shown: String,
    help: &'static str,
}

/// The annotations and defaults of a function with parameters of these names. What is no type is left out and told to
/// `no_type`.
fn declared<'a>(
    py: Python<'_>,
    environment: &PythonEnvironment,
    definition: &Definition,
    names: impl ExactSizeIterator<Item = &'a str>,
    mut no_type: impl FnMut(NoType),
) -> PyResult<Declared> {
    let annotations = definition.annotations(py)?;
    let defaults = Defaults::of(environment, definition.function.bind(py))?;
    let mut params = Vec::with_capacity(names.len());
    for (index, name) in names.enumerate() {
        let annotation = annotations.get_item(name)?;
        let reference = annotation.as_ref().and_then(|a| a.cast::<Reference>().ok());
        let by_reference = reference.is_some();
        let annotation = reference.map(|r| r.get().target(py).clone()).or(annotation);
        let pattern = annotation.as_ref().map(pattern_of).transpose()?.flatten();
        if let (Some(annotation), None) = (&annotation, &pattern) {
            let shown = annotation.repr().map_or_else(|_| class_name(annotation), |r| r.to_string());
            let help = match annotation.is(py.get_type::<crate::strided::StridedArray>()) {
                true => "say what it holds: `wp.array(dtype=float)`, or `wp.array(dtype=Any)` for every type",
                false => "kernels take numbers, vectors, matrices, structs and arrays",
            };
            no_type(NoType { param: Some(index), shown, help });
        }
        let default = defaults.get(environment, index, name)?;
        params.push(ParamSpec { pattern, default, by_reference });
    }
    let returns = match annotations.get_item("return")? {
        None => None,
        Some(annotation) => match scope::result_patterns(&annotation)? {
            Ok(patterns) => Some(patterns),
            Err(shown) => {
                no_type(NoType { param: None, shown, help: "" });
                None
            }
        },
    };
    Ok(Declared { params, returns })
}

/// The source of one definition, with its annotations resolved.
fn source_of(
    py: Python<'_>,
    environment: &PythonEnvironment,
    definition: &Definition,
) -> Result<Arc<FunctionSource>, Diagnostics> {
    let (_, def) = definition.origin.parse(py)?;
    let mut diagnostics = Diagnostics::default();
    let names = def.params.iter().map(|p| p.name.as_str());
    let Declared { params, returns } =
        declared(py, environment, definition, names, |NoType { param, shown, help }| {
            diagnostics.push(match param.map(|index| &def.params[index]) {
                Some(param) => {
                    let span = param.annotation.as_ref().map_or(param.span, |a| a.span);
                    let message =
                        format!("parameter `{}` is annotated with {shown}, which is not a type", param.name);
                    Diagnostic::new(codes::NOT_A_VALUE, span, message).help(help)
                }
                None => {
                    let span = def.returns.as_ref().map_or(def.name_span, |r| r.span);
                    let message = format!("the result is annotated with {shown}, which is not a type");
                    Diagnostic::new(codes::NOT_A_VALUE, span, message)
                }
            });
        })
        .map_err(|error| Diagnostic::new(codes::NOT_A_VALUE, def.name_span, error.value(py).to_string()))?;
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let native = definition.native.clone();
    Ok(Arc::new(FunctionSource { key: definition.key, name: def.name.clone(), def, params, returns, native }))
}

/// The outline of one definition; `None` when there is a mistake in it.
fn outline_of(
    py: Python<'_>,
    environment: &PythonEnvironment,
    definition: &Definition,
) -> Option<FunctionOutline> {
    let text = definition.origin.outline(py).ok()?;
    let mut sound = true;
    let names = text.names.iter().map(String::as_str);
    let declared = declared(py, environment, definition, names, |_| sound = false).ok()?;
    sound.then(|| FunctionOutline {
        key: definition.key,
        name: definition.origin.name().to_owned(),
        text,
        params: declared.params,
        returns: declared.returns,
        native: definition.native.clone(),
    })
}

/// Overloads for definite types go before generic ones, which would take their arguments too.
fn is_generic(params: &[ParamSpec]) -> bool {
    params.iter().any(|p| !p.pattern.as_ref().is_some_and(Pattern::is_exact))
}

/// The defaults of a function's parameters.
struct Defaults<'py> {
    /// Of the last parameters that may be given by their place.
    placed: Vec<Binding>,
    /// How many parameters may be given by their place.
    places: usize,
    /// Of those that are given by name only.
    named: Option<Bound<'py, PyDict>>,
}

impl<'py> Defaults<'py> {
    fn of(environment: &PythonEnvironment, function: &Bound<'py, PyAny>) -> PyResult<Defaults<'py>> {
        let py = function.py();
        let placed = match function.getattr(intern!(py, "__defaults__"))?.cast::<PyTuple>() {
            Ok(placed) => placed.iter().map(|value| environment.binding(&value)).collect::<PyResult<_>>()?,
            Err(_) => Vec::new(),
        };
        let code = function.getattr(intern!(py, "__code__"))?;
        let places = code.getattr(intern!(py, "co_argcount"))?.extract()?;
        let named = function.getattr(intern!(py, "__kwdefaults__"))?.cast_into::<PyDict>().ok();
        Ok(Defaults { placed, places, named })
    }

    fn get(&self, environment: &PythonEnvironment, index: usize, name: &str) -> PyResult<Option<Binding>> {
        if index < self.places {
            let index = (index + self.placed.len()).checked_sub(self.places);
            return Ok(index.and_then(|i| self.placed.get(i).cloned()));
        }
        let value = self.named.as_ref().map(|named| named.get_item(name)).transpose()?.flatten();
        value.map(|value| environment.binding(&value)).transpose()
    }
}

impl PythonEnvironment {
    fn given(&self, key: FunctionKey, role: Role) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let given: Vec<_> = overloads_of(key).iter().flat_map(|d| d.given(role)).collect();
        if given.is_empty() {
            return Ok(Vec::new());
        }
        Python::attach(|py| given.iter().map(|d| source_of(py, self, d)).collect())
    }
}

impl PythonEnvironment {
    /// What an expression means that Python evaluates where `function` was written, with further variables.
    fn evaluated(
        &self,
        function: FunctionKey,
        text: &str,
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String> {
        Python::attach(|py| {
            let definition = Definition::get(function).ok_or("the function is unknown")?;
            let evaluate = || -> PyResult<Binding> {
                let variables = match &definition.statics {
                    Some(statics) => statics.bind(py).copy()?,
                    None => PyDict::new(py),
                };
                for (name, value) in locals {
                    variables.set_item(name, object_of_constant(py, value)?)?;
                }
                // Parentheses let the text span lines as it does in the source.
                let function = definition.function.bind(py);
                self.binding(&scope::evaluate(function, &format!("({text})"), &variables)?)
            };
            evaluate().map_err(|error| error.value(py).to_string())
        })
    }
}

impl PythonEnvironment {
    /// What the class of a struct has by a name. Of several structs of one type it is the one that the function names, or
    /// whichever when all say the same.
    fn of_struct(
        &self,
        py: Python<'_>,
        function: FunctionKey,
        structure: &str,
        name: &str,
    ) -> PyResult<Option<Binding>> {
        if name.starts_with("__") {
            return Ok(None);
        }
        let declared = Struct::declared(py, structure);
        let definition = Definition::get(function);
        let mut named = Vec::new();
        if let (Some(definition), 2..) = (&definition, declared.len()) {
            for annotation in definition.annotations(py)?.values() {
                named.extend(annotation.getattr_opt("dtype")?);
                named.push(annotation);
            }
            for structure in &declared {
                let class = structure.get().class(py).name()?;
                named.extend(scope::lookup(definition.function.bind(py), class.to_str()?)?);
            }
        }
        let chosen = named.iter().find_map(|object| declared.iter().find(|structure| structure.is(object)));
        let mut found = Vec::new();
        for structure in chosen.map_or(declared.as_slice(), std::slice::from_ref) {
            let value = structure.get().class(py).getattr_opt(name)?;
            found.push(value.map(|value| self.binding(&value)).transpose()?);
        }
        found.dedup();
        Ok(match found.as_slice() {
            [] => None,
            [one] => one.clone(),
            _ => Some(Binding::Unsupported(format!(
                "something that several structs `{structure}` have differently (say whose by an annotation)"
            ))),
        })
    }
}

impl Environment for PythonEnvironment {
    fn struct_attribute(&self, function: FunctionKey, structure: &str, name: &str) -> Option<Binding> {
        Python::attach(|py| {
            self.of_struct(py, function, structure, name).unwrap_or_else(|e| Some(unsupported(py, &e)))
        })
    }

    fn warn(&self, warning: Diagnostic) {
        self.warnings.lock().unwrap_or_else(|e| e.into_inner()).push(warning);
    }

    fn function(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let sources: Result<Vec<_>, _> =
            Python::attach(|py| overloads_of(key).iter().map(|d| source_of(py, self, d)).collect());
        let mut sources: Vec<Arc<FunctionSource>> = sources?;
        sources.sort_by_key(|s| is_generic(&s.params));
        Ok(sources)
    }

    fn outlines(&self, key: FunctionKey) -> Option<Vec<FunctionOutline>> {
        let outlines: Option<Vec<_>> =
            Python::attach(|py| overloads_of(key).iter().map(|d| outline_of(py, self, d)).collect());
        let mut outlines = outlines?;
        outlines.sort_by_key(|o| is_generic(&o.params));
        Some(outlines)
    }

    fn together(&self, work: &mut dyn FnMut()) {
        Python::attach(|_| work());
    }

    fn gradients(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        self.given(key, Role::Gradient)
    }

    fn replays(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        self.given(key, Role::Replay)
    }

    fn resolve(&self, function: FunctionKey, name: &str) -> Option<Binding> {
        Python::attach(|py| {
            let definition = Definition::get(function)?;
            match scope::lookup(definition.function.bind(py), name) {
                Ok(Some(value)) => Some(self.binding(&value).unwrap_or_else(|e| unsupported(py, &e))),
                Ok(None) => known_everywhere(py, name),
                Err(error) => Some(unsupported(py, &error)),
            }
        })
    }

    fn visible_names(&self, function: FunctionKey) -> Vec<String> {
        Python::attach(|py| {
            let Some(definition) = Definition::get(function) else { return Vec::new() };
            scope::names(definition.function.bind(py)).unwrap_or_default()
        })
    }

    fn attribute(&self, object: ObjectKey, name: &str) -> Option<Binding> {
        Python::attach(|py| match self.attribute_of(&self.object(py, object)?, name) {
            Ok(binding) => binding,
            Err(error) => Some(unsupported(py, &error)),
        })
    }

    fn member_attribute(&self, object: ObjectKey, member: &str, name: &str) -> Option<Binding> {
        Python::attach(|py| {
            let attribute = || -> PyResult<Option<Binding>> {
                let Some(object) = self.object(py, object) else { return Ok(None) };
                let member = object.getattr(member)?;
                if !member.is_instance(&py.import("enum")?.getattr("Enum")?)? {
                    return Ok(None);
                }
                member.getattr_opt(name)?.map(|value| self.binding(&value)).transpose()
            };
            attribute().unwrap_or_else(|e| Some(unsupported(py, &e)))
        })
    }

    fn describe(&self, object: ObjectKey) -> String {
        Python::attach(|py| {
            let Some(object) = self.object(py, object) else { return "an object".to_owned() };
            if let Ok(module) = object.cast::<PyModule>() {
                return format!(
                    "module {}",
                    module.name().map_or_else(|_| "?".to_owned(), |n| n.to_string())
                );
            }
            match object.cast::<PyType>() {
                Ok(class) => {
                    format!("class {}", class.name().map_or_else(|_| "?".to_owned(), |n| n.to_string()))
                }
                Err(_) => format!("an object of class {}", class_name(&object)),
            }
        })
    }

    fn static_value(
        &self,
        function: FunctionKey,
        expr: &Expr,
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String> {
        let file = SourceFile::get(expr.span.file).ok_or("its source is unknown")?;
        let text = file
            .text()
            .get(expr.span.start as usize..expr.span.end as usize)
            .ok_or("its source is unknown")?;
        self.evaluated(function, text, locals)
    }

    fn static_text(&self, function: FunctionKey, text: &str) -> Result<Binding, String> {
        self.evaluated(function, text, &[])
    }

    fn library(&self, name: &str) -> Vec<LibraryFunction> {
        inkle_module::library_function(name)
    }

    fn library_names(&self) -> Vec<String> {
        static NAMES: OnceLock<Vec<String>> = OnceLock::new();
        NAMES.get_or_init(inkle_module::library_names).clone()
    }
}

/// The Python object of a constant; structs stay behind.
fn object_of_constant<'py>(py: Python<'py>, value: &ConstValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        ConstValue::Int(i) => number::to_python(py, Constant::Int(*i))?,
        ConstValue::Float(f) => number::to_python(py, Constant::Float(*f))?,
        ConstValue::Bool(b) => number::to_python(py, Constant::Bool(*b))?,
        ConstValue::Typed(number, scalar) => number::to_component(py, *scalar, *number)?,
        ConstValue::Composite { ty, components } => crate::composite::make_value(py, *ty, components)?,
        ConstValue::Str(text) => PyString::new(py, text).into_any(),
        ConstValue::Tuple(items) => {
            let items =
                items.iter().map(|item| object_of_constant(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        ConstValue::Struct { ty, .. } => class_of(py, *ty)?,
        ConstValue::None => py.None().into_bound(py),
    })
}
