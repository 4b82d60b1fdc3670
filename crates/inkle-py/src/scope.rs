//! What names mean to a Python function: closure, globals, built-ins; and its annotations.

use inkle_frontend::pattern::Pattern;
use pyo3::exceptions::{PyNameError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple, PyType};

use crate::dtype::pattern_of;

/// The value of a name in the body of a function; `None` when nothing has it.
///
/// # Errors
/// What Python raises while looking.
pub fn lookup<'py>(function: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = function.py();
    let free = function.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_freevars"))?;
    let free = free.cast::<PyTuple>()?;
    for (index, variable) in free.iter().enumerate() {
        if variable.cast::<PyString>()?.to_str()? == name {
            let cells = function.getattr(intern!(py, "__closure__"))?;
            return contents(&cells.get_item(index)?);
        }
    }
    let globals = globals(function)?;
    if let Some(value) = globals.get_item(name)? {
        return Ok(Some(value));
    }
    py.import("builtins")?.getattr_opt(name)
}

fn globals<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    Ok(function.getattr(intern!(function.py(), "__globals__"))?.cast_into::<PyDict>()?)
}

/// The value in a cell, which is empty until the enclosing function has assigned the variable.
fn contents<'py>(cell: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = cell.py();
    match cell.getattr(intern!(py, "cell_contents")) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyValueError>(py) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a name means where a function is being made: in the running code of its module, from the inside.
///
/// # Errors
/// What Python raises while looking.
pub fn where_made<'py>(function: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = function.py();
    let globals = globals(function)?;
    let mut frame = py.import(intern!(py, "sys"))?.call_method1(intern!(py, "_getframe"), (0,))?;
    while !frame.is_none() {
        if frame.getattr(intern!(py, "f_globals"))?.is(&globals) {
            let found = frame.getattr(intern!(py, "f_locals"))?.call_method1(intern!(py, "get"), (name,))?;
            // Decorators of the module's own are code of the module, too.
            if !found.is_none() {
                return Ok(Some(found));
            }
        }
        frame = frame.getattr(intern!(py, "f_back"))?;
    }
    Ok(None)
}

/// The closure variables of a function that have values.
pub fn closure<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = function.py();
    let variables = PyDict::new(py);
    let free = function.getattr(intern!(py, "__code__"))?.getattr(intern!(py, "co_freevars"))?;
    let cells = function.getattr(intern!(py, "__closure__"))?;
    for (index, name) in free.cast::<PyTuple>()?.iter().enumerate() {
        if let Some(value) = contents(&cells.get_item(index)?)? {
            variables.set_item(name, value)?;
        }
    }
    Ok(variables)
}

/// The names that a function's body can use: closure variables and globals.
///
/// # Errors
/// What Python raises while looking.
pub fn names(function: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let mut names = closure(function)?.keys().extract::<Vec<String>>()?;
    names.extend(globals(function)?.keys().iter().filter_map(|key| key.extract().ok()));
    Ok(names)
}

/// Evaluates Python text where a function was written, with further local names.
///
/// # Errors
/// What the text raises.
pub fn evaluate<'py>(
    function: &Bound<'py, PyAny>,
    text: &str,
    locals: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let variables = closure(function)?;
    variables.update(locals.as_mapping())?;
    let eval = function.py().import("builtins")?.getattr("eval")?;
    // Functions and generators in the text see no names but global ones.
    if text.contains("for") || text.contains("lambda") {
        let all = globals(function)?.copy()?;
        all.update(variables.as_mapping())?;
        return eval.call1((text, all));
    }
    eval.call1((text, globals(function)?, variables))
}

/// What the names in a function's body mean now, where it calls `static`, whose expressions are about the time when the function
/// is made: a loop that makes functions goes on with its variable. `None` for functions without.
///
/// # Errors
/// What Python raises while looking.
pub fn statics<'py>(function: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = function.py();
    let code = function.getattr(intern!(py, "__code__"))?;
    if !code.getattr(intern!(py, "co_names"))?.contains(intern!(py, "static"))? {
        return Ok(None);
    }
    let values = PyDict::new(py);
    add_globals(&code, &globals(function)?, &values)?;
    values.update(closure(function)?.as_mapping())?;
    Ok(Some(values))
}

/// Adds the values of the global names in a body and in the functions within it.
fn add_globals<'py>(
    code: &Bound<'py, PyAny>,
    globals: &Bound<'py, PyDict>,
    values: &Bound<'py, PyDict>,
) -> PyResult<()> {
    let py = code.py();
    for name in code.getattr(intern!(py, "co_names"))?.cast::<PyTuple>()? {
        if let Some(value) = globals.get_item(&name)? {
            values.set_item(name, value)?;
        }
    }
    for constant in code.getattr(intern!(py, "co_consts"))?.cast::<PyTuple>()? {
        if constant.hasattr(intern!(py, "co_names"))? {
            add_globals(&constant, globals, values)?;
        }
    }
    Ok(())
}

/// The annotations written as text that can be evaluated with the local names of the Python function that is
/// running now; `None` when there are none or it is module code. Python does not keep those names for text.
///
/// # Errors
/// What Python raises while looking.
pub fn local_annotations<'py>(function: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let py = function.py();
    let given = function.getattr(intern!(py, "__annotations__"))?.cast_into::<PyDict>()?;
    if !given.values().iter().any(|a| a.is_instance_of::<PyString>()) {
        return Ok(None);
    }
    let frame = py.import("sys")?.call_method1("_getframe", (0,))?;
    let (locals, frame_globals) = (frame.getattr("f_locals")?, frame.getattr("f_globals")?);
    if locals.is(&frame_globals) {
        return Ok(None);
    }
    let locals = py.get_type::<PyDict>().call1((locals,))?.cast_into::<PyDict>()?;
    let resolved = PyDict::new(py);
    for (name, annotation) in given.iter() {
        if let Ok(text) = annotation.cast::<PyString>()
            && let Ok(value) = evaluate(function, text.to_str()?, &locals)
        {
            resolved.set_item(name, value)?;
        }
    }
    Ok(if resolved.is_empty() { None } else { Some(resolved) })
}

/// The annotations of a function, with those written as text evaluated, unless they are in `local`. The result's is
/// under `return`.
///
/// # Errors
/// `NameError` naming function, parameter and text for an annotation that cannot be evaluated.
pub fn annotations<'py>(
    function: &Bound<'py, PyAny>,
    local: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let py = function.py();
    let given = function.getattr(intern!(py, "__annotations__"))?.cast_into::<PyDict>()?;
    if !given.values().iter().any(|a| a.is_instance_of::<PyString>()) {
        return Ok(given);
    }
    let resolved = PyDict::new(py);
    for (name, annotation) in given.iter() {
        let mut value = match local.map(|l| l.get_item(&name)).transpose()?.flatten() {
            Some(value) => value,
            None => annotation,
        };
        // Text in quotes is text again after one evaluation, when all annotations of the file are text.
        for _ in 0..2 {
            if let Ok(text) = value.cast::<PyString>().cloned() {
                value = evaluate(function, text.to_str()?, &PyDict::new(py)).map_err(|error| {
                    let place = format!("annotation `{text}` of `{name}`");
                    PyNameError::new_err(format!("{place} cannot be evaluated: {}", error.value(py)))
                })?;
            }
        }
        resolved.set_item(name, value)?;
    }
    Ok(resolved)
}

/// The types a result annotation declares: one, several for a tuple, none for `None`.
///
/// `Err` holds what the annotation is when it means no type.
pub fn result_patterns(annotation: &Bound<'_, PyAny>) -> PyResult<Result<Vec<Pattern>, String>> {
    let py = annotation.py();
    if annotation.is_none() || annotation.is(py.None().bind(py).get_type()) {
        return Ok(Ok(Vec::new()));
    }
    let tuple = py.get_type::<PyTuple>();
    let origin = annotation.getattr_opt(intern!(py, "__origin__"))?;
    let items: Vec<_> = match origin {
        Some(origin) if origin.is(&tuple) => {
            annotation.getattr(intern!(py, "__args__"))?.cast_into::<PyTuple>()?.iter().collect()
        }
        _ => match annotation.cast::<PyTuple>() {
            Ok(items) => items.iter().collect(),
            Err(_) => vec![annotation.clone()],
        },
    };
    let mut patterns = Vec::new();
    let is_tuple = items.len() != 1 || !items[0].is(annotation);
    for item in items {
        match pattern_of(&item)? {
            Some(pattern) => patterns.push(pattern),
            // The results of tuples in a tuple follow one another.
            None if is_tuple => match result_patterns(&item)? {
                Ok(inner) => patterns.extend(inner),
                Err(shown) => return Ok(Err(shown)),
            },
            None => return Ok(Err(item.repr()?.to_string())),
        }
    }
    Ok(Ok(patterns))
}

/// The annotations of a class, with those written as text evaluated where the class was written. They are read when
/// a decorator runs, so names local to the calling function are visible too.
///
/// # Errors
/// `NameError` naming class, field and text for an annotation that cannot be evaluated.
pub fn class_annotations<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    let py = class.py();
    let given = class.getattr_opt(intern!(py, "__annotations__"))?;
    let given = given.map_or_else(|| Ok(PyDict::new(py)), |g| g.cast_into::<PyDict>())?;
    if !given.values().iter().any(|a| a.is_instance_of::<PyString>()) {
        return Ok(given);
    }
    let sys = py.import("sys")?;
    let module = class.getattr(intern!(py, "__module__"))?;
    let globals = match sys.getattr("modules")?.cast_into::<PyDict>()?.get_item(module)? {
        Some(module) => module.getattr("__dict__")?,
        None => PyDict::new(py).into_any(),
    };
    let locals = sys.call_method1("_getframe", (0,))?.getattr("f_locals")?;
    let resolved = PyDict::new(py);
    let eval = py.import("builtins")?.getattr("eval")?;
    for (name, annotation) in given.iter() {
        let mut value = annotation;
        // Text in quotes is text again after one evaluation, when all annotations of the file are text.
        for _ in 0..2 {
            if let Ok(text) = value.cast::<PyString>().cloned() {
                value = eval.call1((&text, &globals, &locals)).map_err(|error| {
                    let place = format!(
                        "annotation `{text}` of field `{name}` of {}",
                        class.name().map_or_else(|_| "?".to_owned(), |n| n.to_string())
                    );
                    PyNameError::new_err(format!("{place} cannot be evaluated: {}", error.value(py)))
                })?;
            }
        }
        resolved.set_item(name, value)?;
    }
    Ok(resolved)
}
