//! The one table from failures to Python exceptions.

use inkle_diag::Diagnostics;
use inkle_frontend::codes;
use inkle_runtime::{ErrorClass, RuntimeError};
use pyo3::exceptions::{PyNotImplementedError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

static COMPILE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static ARGUMENT_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn exception_class<'py>(
    py: Python<'py>,
    name: &str,
    bases: &[&str],
    doc: &str,
) -> PyResult<Bound<'py, PyType>> {
    let builtins = py.import("builtins")?;
    let bases = bases.iter().map(|b| builtins.getattr(*b)).collect::<PyResult<Vec<_>>>()?;
    let dict = PyDict::new(py);
    dict.set_item("__doc__", doc)?;
    dict.set_item("__module__", "inkle")?;
    let class = py.get_type::<PyType>().call1((name, PyTuple::new(py, bases)?, dict))?;
    Ok(class.cast_into()?)
}

/// `inkle.CompileError`: a kernel is wrong. Its text is the rendered diagnostics; `diagnostics` has them as data.
pub fn compile_error_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A kernel is wrong. The text shows every mistake with its place in the source; the attribute\n\
               `diagnostics` is a list of dicts with code, message, file, line, column, label and help.";
    let class = COMPILE_ERROR.get_or_try_init(py, || {
        Ok::<_, PyErr>(exception_class(py, "CompileError", &["RuntimeError"], doc)?.unbind())
    })?;
    Ok(class.bind(py))
}

/// Which of Python's own classes a mistake in a kernel is besides a `CompileError`: programs catch those.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing defines a name: `KeyError`.
    Name,
    /// An object has no such attribute: `AttributeError`.
    Attribute,
    /// Everything else: `TypeError` and `ValueError`.
    Other,
}

impl Mistake {
    fn of(diagnostics: &Diagnostics) -> Mistake {
        match diagnostics.0.first().map(|d| d.code) {
            Some(codes::UNDEFINED_NAME) => Mistake::Name,
            Some(codes::NO_ATTRIBUTE) => Mistake::Attribute,
            _ => Mistake::Other,
        }
    }

    /// The class; a subclass of [`compile_error_class`].
    ///
    /// # Errors
    /// What Python raises while the class is made.
    pub fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 3] = [const { PyOnceLock::new() }; 3];
        let (name, bases): (&str, &[&str]) = match self {
            Mistake::Name => ("CompileNameError", &["KeyError"]),
            Mistake::Attribute => ("CompileAttributeError", &["AttributeError"]),
            Mistake::Other => ("CompileTypeError", &["TypeError", "ValueError"]),
        };
        let class = CLASSES[self as usize].get_or_try_init(py, || {
            let builtins = py.import("builtins")?;
            let mut all = vec![compile_error_class(py)?.clone().into_any()];
            for base in bases {
                all.push(builtins.getattr(*base)?);
            }
            let dict = PyDict::new(py);
            dict.set_item("__doc__", "A kernel is wrong; see `inkle.CompileError`.")?;
            dict.set_item("__module__", "inkle")?;
            // `KeyError` shows its argument quoted.
            dict.set_item("__str__", builtins.getattr("RuntimeError")?.getattr("__str__")?)?;
            let class = py.get_type::<PyType>().call1((name, PyTuple::new(py, all)?, dict))?;
            Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
        })?;
        Ok(class.bind(py))
    }
}

/// `inkle.ArgumentError`: a value does not fit where it was given.
///
/// Programs written for the reference API catch `RuntimeError`, `TypeError` or `ValueError` for one and the
/// same mistake depending on where it is found, so the class is all three.
pub fn argument_error_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "A value does not fit where it was given: wrong type, dtype, shape, device or count.";
    let bases = ["RuntimeError", "TypeError", "ValueError"];
    let class = ARGUMENT_ERROR.get_or_try_init(py, || {
        Ok::<_, PyErr>(exception_class(py, "ArgumentError", &bases, doc)?.unbind())
    })?;
    Ok(class.bind(py))
}

/// An [`argument_error_class`] exception with this text.
#[cold]
pub fn argument_error(py: Python<'_>, message: impl Into<String>) -> PyErr {
    match argument_error_class(py) {
        Ok(class) => PyErr::from_type(class.clone(), (message.into(),)),
        Err(error) => error,
    }
}

/// The exception for mistakes in a kernel.
#[cold]
pub fn compile_error(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    build_compile_error(py, diagnostics).unwrap_or_else(|error| error)
}

fn build_compile_error(py: Python<'_>, diagnostics: &Diagnostics) -> PyResult<PyErr> {
    let value = Mistake::of(diagnostics).class(py)?.call1((diagnostics.render(),))?;
    let list = PyList::empty(py);
    for diagnostic in &diagnostics.0 {
        let entry = PyDict::new(py);
        entry.set_item("code", diagnostic.code.0)?;
        entry.set_item("message", &diagnostic.message)?;
        if let Some(file) = inkle_diag::SourceFile::get(diagnostic.span.file) {
            let (line, column) = file.line_column(diagnostic.span.start);
            let (end_line, end_column) = file.line_column(diagnostic.span.end);
            entry.set_item("file", file.name())?;
            entry.set_item("line", line)?;
            entry.set_item("column", column)?;
            entry.set_item("end_line", end_line)?;
            entry.set_item("end_column", end_column)?;
        }
        entry.set_item("label", &diagnostic.label)?;
        entry.set_item("help", diagnostic.help.as_deref())?;
        list.append(entry)?;
    }
    value.setattr("diagnostics", list)?;
    Ok(PyErr::from_value(value))
}

/// The name of an object's class, for messages: `list`, `numpy.ndarray`.
pub fn class_name(object: &Bound<'_, PyAny>) -> String {
    let class = object.get_type();
    let name = class.name().map_or_else(|_| "?".to_owned(), |n| n.to_string());
    match class.module() {
        Ok(module) if module != "builtins" && module != "inkle" => format!("{module}.{name}"),
        _ => name,
    }
}

static RANGE_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static MEMORY_ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// `inkle.RangeError`: an index or a range lies outside an array.
///
/// # Errors
/// What Python raises while the class is made.
pub fn range_error_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "An index or a range lies outside an array.";
    let bases = ["IndexError", "RuntimeError", "ValueError"];
    let class = RANGE_ERROR
        .get_or_try_init(py, || Ok::<_, PyErr>(exception_class(py, "RangeError", &bases, doc)?.unbind()))?;
    Ok(class.bind(py))
}

/// `inkle.OutOfMemoryError`: memory of a device could not be had.
///
/// # Errors
/// What Python raises while the class is made.
pub fn memory_error_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let doc = "Memory of a device could not be allocated.";
    let bases = ["MemoryError", "RuntimeError"];
    let class = MEMORY_ERROR.get_or_try_init(py, || {
        Ok::<_, PyErr>(exception_class(py, "OutOfMemoryError", &bases, doc)?.unbind())
    })?;
    Ok(class.bind(py))
}

/// The exception for a failure of the runtime.
#[cold]
pub fn runtime_error(py: Python<'_>, error: &RuntimeError) -> PyErr {
    if let RuntimeError::Refused { .. } = error
        && let Some(raised) = crate::observe::raised()
    {
        return raised;
    }
    let text = error.to_string();
    let class = match error.class() {
        ErrorClass::InvalidArgument => argument_error_class(py),
        ErrorClass::OutOfRange => range_error_class(py),
        ErrorClass::OutOfMemory => memory_error_class(py),
        ErrorClass::NotInGraph => return PyNotImplementedError::new_err(text),
        ErrorClass::Unavailable | ErrorClass::Driver | ErrorClass::Kernel | ErrorClass::BadCode => {
            return PyRuntimeError::new_err(text);
        }
    };
    match class {
        Ok(class) => PyErr::from_type(class.clone(), (text,)),
        Err(error) => error,
    }
}

/// A result of the runtime as Python sees it.
pub trait IntoPyResult<T> {
    /// Maps the failure by [`runtime_error`].
    ///
    /// # Errors
    /// The mapped failure.
    fn into_py(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> IntoPyResult<T> for Result<T, RuntimeError> {
    fn into_py(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| runtime_error(py, &error))
    }
}

/// The door for calls that may block: other Python threads run meanwhile, and Ctrl-C shows afterwards.
///
/// # Errors
/// The mapped failure, or the interrupt.
pub fn blocking<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, RuntimeError> + Send,
) -> PyResult<T> {
    let result = py.detach(call).into_py(py)?;
    py.check_signals()?;
    Ok(result)
}
