//! Python objects that mean types, and the classes that stand for types.
//!
//! Each class that means a type carries a [`NativeType`] as its attribute `_native_type_`. Python's own `float`,
//! `int` and `bool` mean `float32`, `int32` and `bool`. Classes are made when they are first asked for.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use inkle_frontend::pattern::{Constraint, Pattern, ScalarPattern, SizePattern};
use inkle_ir::{ArrayKind, Scalar, Type};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple, PyType};

use crate::array::Array;
use crate::error::{argument_error, class_name};
use crate::families::{Matrix, Quaternion, Transform, Vector};
use crate::scalar::ScalarValue;

/// A type, or a pattern of types for generic functions, as an object.
#[pyclass(frozen, module = "inkle._native", name = "Type")]
pub struct NativeType {
    pattern: Pattern,
}

impl NativeType {
    /// The handle of a pattern.
    pub fn new(pattern: Pattern) -> NativeType {
        NativeType { pattern }
    }

    /// The type, unless it is a pattern with variables.
    pub fn exact(&self) -> Option<Type> {
        match self.pattern {
            Pattern::Exact(ty) => Some(ty),
            _ => None,
        }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

#[pymethods]
impl NativeType {
    fn __repr__(&self) -> String {
        self.pattern.to_string()
    }

    /// Bytes a value takes in memory; `None` for a pattern.
    #[getter]
    fn size(&self) -> Option<u32> {
        self.exact().map(Type::size)
    }

    fn __eq__(&self, other: &NativeType) -> bool {
        self.pattern == other.pattern
    }
}

/// The native handle an object carries, if it means a type.
pub fn native_type<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Py<NativeType>>> {
    let handle = object.getattr_opt(intern!(object.py(), "_native_type_"))?;
    Ok(handle.and_then(|h| h.cast_into::<NativeType>().ok()).map(Bound::unbind))
}

fn python_scalar(object: &Bound<'_, PyAny>) -> Option<Scalar> {
    let py = object.py();
    if object.is(py.get_type::<PyFloat>()) {
        Some(Scalar::F32)
    } else if object.is(py.get_type::<PyInt>()) {
        Some(Scalar::I32)
    } else if object.is(py.get_type::<PyBool>()) {
        Some(Scalar::Bool)
    } else {
        None
    }
}

/// The pattern an annotation or dtype means; `None` when it means no type.
///
/// # Errors
/// What Python raises while its attributes are read.
pub fn pattern_of(object: &Bound<'_, PyAny>) -> PyResult<Option<Pattern>> {
    let py = object.py();
    if let Some(scalar) = python_scalar(object) {
        return Ok(Some(Pattern::Exact(Type::Scalar(scalar))));
    }
    if let Ok(array) = object.cast::<Array>() {
        return Ok(array.get().pattern());
    }
    if let Some(handle) = native_type(object)? {
        return Ok(Some(independent(handle.get().pattern())));
    }
    if object.is(typing(py, "Any")?) {
        return Ok(Some(Pattern::Any(None)));
    }
    if let Some(scalar) = numpy_scalar(object)? {
        return Ok(Some(Pattern::Exact(Type::Scalar(scalar))));
    }
    if object.is_instance(&typing(py, "TypeVar")?)? {
        return type_var(object).map(Some);
    }
    if is_callable_annotation(object)? {
        return Ok(Some(Pattern::Callable));
    }
    tuple_pattern(object)
}

/// What `tuple[int, float]` and `tuple[int, ...]` mean.
fn tuple_pattern(object: &Bound<'_, PyAny>) -> PyResult<Option<Pattern>> {
    let py = object.py();
    let origin = object.getattr_opt(intern!(py, "__origin__"))?;
    if !origin.is_some_and(|o| o.is(py.get_type::<PyTuple>())) {
        return Ok(None);
    }
    let args = object.getattr(intern!(py, "__args__"))?.cast_into::<PyTuple>()?;
    if args.len() == 2 && args.get_item(1)?.is(py.Ellipsis()) {
        return Ok(pattern_of(&args.get_item(0)?)?.map(|item| Pattern::TupleOf(Box::new(item))));
    }
    let items: Option<Vec<Pattern>> = args.iter().map(|a| pattern_of(&a)).collect::<PyResult<_>>()?;
    Ok(items.map(Pattern::Tuple))
}

/// Whether an object stands for something that is not available yet.
///
/// # Errors
/// What Python raises while the class of such objects is found.
pub fn is_absent(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.is_instance(&object.py().import("inkle._planned")?.getattr("Absent")?)
}

/// The type a dtype means.
///
/// # Errors
/// `TypeError` when the object means no type, or a generic one.
pub fn dtype_of(object: &Bound<'_, PyAny>) -> PyResult<Type> {
    let py = object.py();
    if let Some(scalar) = python_scalar(object) {
        return Ok(Type::Scalar(scalar));
    }
    match pattern_of(object)? {
        Some(Pattern::Exact(ty)) => Ok(ty),
        Some(pattern) => {
            Err(argument_error(py, format!("a definite type is needed here, not {}", shown(&pattern))))
        }
        None => {
            let text = object.str().map_or_else(|_| class_name(object), |s| s.to_string());
            Err(argument_error(py, format!("{text} is not a type that arrays and kernels can hold")))
        }
    }
}

fn typing<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    static TYPING: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = TYPING.get_or_try_init(py, || py.import("typing").map(Bound::unbind))?;
    module.bind(py).getattr(name)
}

fn type_var(object: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    let name: String = object.getattr("__name__")?.extract()?;
    let constraints = object.getattr("__constraints__")?.cast_into::<PyTuple>()?;
    let scalars = constraints.iter().map(|c| pattern_of(&c)).collect::<PyResult<Vec<_>>>()?;
    let scalars: Vec<_> = scalars
        .iter()
        .filter_map(|p| match p {
            Some(Pattern::Exact(Type::Scalar(s))) => Some(*s),
            _ => None,
        })
        .collect();
    let constraint = match scalars.as_slice() {
        [] => return Ok(Pattern::Any(Some(name))),
        s if s.iter().all(|s| s.is_float()) => Constraint::Float,
        s if s.iter().all(|s| s.is_int()) => Constraint::Int,
        s if s.contains(&Scalar::Bool) => Constraint::Any,
        _ => Constraint::Number,
    };
    Ok(Pattern::Scalar(ScalarPattern::Var(name, constraint)))
}

fn is_callable_annotation(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if object.is(py.get_type::<crate::function::Function>()) {
        return Ok(true);
    }
    let callable = typing(py, "Callable")?;
    if object.is(&callable) {
        return Ok(true);
    }
    let abc = py.import("collections.abc")?.getattr("Callable")?;
    let origin = object.getattr_opt(intern!(py, "__origin__"))?;
    Ok(object.is(&abc) || origin.is_some_and(|o| o.is(&abc)))
}

/// The scalar of a numpy dtype or scalar class. Those of the package `ml_dtypes` have classes of their own, which
/// are subclasses of numpy's.
fn numpy_scalar(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let py = object.py();
    let name = match object.cast::<PyType>() {
        Ok(class) if class.module().is_ok_and(|m| m == "numpy" || m == "ml_dtypes") => class.name()?,
        Ok(_) => return Ok(None),
        Err(_) if object.is_instance(numpy_dtype_class(py)?)? => {
            object.getattr(intern!(py, "name"))?.cast_into::<PyString>()?
        }
        Err(_) => return Ok(None),
    };
    Ok(scalar_from_python_name(name.to_str()?.trim_end_matches('_')))
}

fn numpy_dtype_class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = CLASS
        .get_or_try_init(py, || py.import("numpy").and_then(|m| m.getattr("dtype")).map(Bound::unbind))?;
    Ok(class.bind(py))
}

/// The scalar that `float32`, `uint8` ... name.
pub fn scalar_from_python_name(name: &str) -> Option<Scalar> {
    Scalar::ALL.into_iter().find(|s| s.python_name() == name)
}

/// Gives the variables of a pattern names of their own, so that two parameters annotated alike need not have the
/// same type.
fn independent(pattern: &Pattern) -> Pattern {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    renamed(pattern, &|letter| format!("{letter}{}", NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// A pattern as users are shown it, without the numbers that [`pattern_of`] tells variables apart by.
pub fn shown(pattern: &Pattern) -> String {
    renamed(pattern, &str::to_owned).to_string()
}

/// The pattern with its scalar and size variables named by `rename`, which is given `S` or `N`.
fn renamed(pattern: &Pattern, rename: &dyn Fn(&str) -> String) -> Pattern {
    let scalar = |p: &ScalarPattern| match p {
        ScalarPattern::Var(_, constraint) => ScalarPattern::Var(rename("S"), *constraint),
        exact => exact.clone(),
    };
    let size = |p: &SizePattern| match p {
        SizePattern::Var(_) => SizePattern::Var(rename("N")),
        exact => exact.clone(),
    };
    match pattern {
        Pattern::Scalar(s) => Pattern::Scalar(scalar(s)),
        Pattern::Vec(n, s) => Pattern::Vec(size(n), scalar(s)),
        Pattern::Mat(r, c, s) => Pattern::Mat(size(r), size(c), scalar(s)),
        Pattern::Quat(s) => Pattern::Quat(scalar(s)),
        Pattern::Transform(s) => Pattern::Transform(scalar(s)),
        Pattern::Array(elem, ndim, kind) => {
            Pattern::Array(Box::new(renamed(elem, rename)), size(ndim), *kind)
        }
        other => other.clone(),
    }
}

/// The classes made so far, by type; struct declarations are entered by [`register_struct`].
static CLASSES: Mutex<Option<HashMap<Type, Py<PyAny>>>> = Mutex::new(None);
/// The generic classes made so far, by the text of their pattern.
static GENERIC: Mutex<Option<HashMap<String, Py<PyAny>>>> = Mutex::new(None);

fn known_class<'py>(py: Python<'py>, ty: Type) -> Option<Bound<'py, PyAny>> {
    let classes = CLASSES.lock().unwrap_or_else(|e| e.into_inner());
    classes.as_ref()?.get(&ty).map(|c| c.bind(py).clone())
}

fn remember_class(ty: Type, class: Py<PyAny>) {
    let mut classes = CLASSES.lock().unwrap_or_else(|e| e.into_inner());
    let old = classes.get_or_insert_with(HashMap::new).insert(ty, class);
    drop(classes);
    drop(old);
}

/// Makes `declaration` the object that stands for its struct type.
pub fn register_struct(ty: Type, declaration: Py<PyAny>) {
    remember_class(ty, declaration);
}

/// The object that stands for a type: a class for scalars, vectors, matrices, quaternions and transforms, the
/// declaration for structs, an annotation for arrays.
///
/// # Errors
/// What Python raises while the class is made.
pub fn class_of<'py>(py: Python<'py>, ty: Type) -> PyResult<Bound<'py, PyAny>> {
    if let Some(class) = known_class(py, ty) {
        return Ok(class);
    }
    if let Type::Array(array) = ty {
        let dtype = class_of(py, array.elem)?;
        let elem = Pattern::Exact(array.elem);
        return Ok(Array::annotation(py, Some(elem), dtype.unbind(), array.ndim, array.kind)?.into_any());
    }
    if matches!(ty, Type::Struct(_) | Type::Ref(_)) {
        return Err(PyTypeError::new_err(format!("no Python class stands for {}", ty.python_name())));
    }
    let class = make_class(py, &Pattern::Exact(ty), &class_name_of(ty))?;
    remember_class(ty, class.clone().unbind());
    Ok(class)
}

fn class_name_of(ty: Type) -> String {
    let name = ty.python_name();
    if let Some((kind, _)) = name.split_once('(') {
        return match (kind, ty) {
            ("vector", _) => "vec_t".to_owned(),
            ("matrix", _) => "mat_t".to_owned(),
            (other, _) => other.to_owned(),
        };
    }
    name
}

fn scalar_class<'py>(py: Python<'py>, pattern: &ScalarPattern) -> PyResult<Bound<'py, PyAny>> {
    match pattern {
        ScalarPattern::Exact(scalar) => class_of(py, Type::Scalar(*scalar)),
        ScalarPattern::Var(..) => typing(py, "Any"),
    }
}

fn make_class<'py>(py: Python<'py>, pattern: &Pattern, name: &str) -> PyResult<Bound<'py, PyAny>> {
    let attributes = PyDict::new(py);
    attributes.set_item("__module__", "inkle")?;
    if matches!(generalise(pattern), Pattern::Scalar(_)) {
        attributes.set_item("__slots__", PyTuple::empty(py))?;
    }
    attributes.set_item("_native_type_", Py::new(py, NativeType::new(pattern.clone()))?)?;
    let size = |p: &SizePattern| match p {
        SizePattern::Exact(n) => Some(*n),
        SizePattern::Var(_) => None,
    };
    let general = generalise(pattern);
    let base = match &general {
        Pattern::Scalar(ScalarPattern::Exact(scalar)) => {
            attributes.set_item("_length_", 1)?;
            let attribute = |of| Py::new(py, ScalarAttribute { scalar: *scalar, of });
            attributes.set_item("_type_", attribute(Meta::Ctypes)?)?;
            if *scalar != Scalar::BF16 {
                attributes.set_item("__numpy_dtype__", attribute(Meta::Numpy)?)?;
            }
            py.get_type::<ScalarValue>()
        }
        Pattern::Scalar(_) => py.get_type::<ScalarValue>(),
        Pattern::Vec(n, s) => {
            attributes.set_item("_length_", size(n))?;
            attributes.set_item("_shape_", (size(n),))?;
            attributes.set_item("_wp_scalar_type_", scalar_class(py, s)?)?;
            py.get_type::<Vector>()
        }
        Pattern::Mat(r, c, s) => {
            attributes.set_item("_length_", size(r).zip(size(c)).map(|(r, c)| r * c))?;
            attributes.set_item("_shape_", (size(r), size(c)))?;
            attributes.set_item("_wp_scalar_type_", scalar_class(py, s)?)?;
            py.get_type::<Matrix>()
        }
        Pattern::Quat(s) => {
            attributes.set_item("_length_", 4)?;
            attributes.set_item("_shape_", (4,))?;
            attributes.set_item("_wp_scalar_type_", scalar_class(py, s)?)?;
            py.get_type::<Quaternion>()
        }
        Pattern::Transform(s) => {
            attributes.set_item("_length_", 7)?;
            attributes.set_item("_shape_", (7,))?;
            attributes.set_item("_wp_scalar_type_", scalar_class(py, s)?)?;
            py.get_type::<Transform>()
        }
        other => return Err(PyTypeError::new_err(format!("no Python class stands for {other}"))),
    };
    py.get_type::<PyType>().call1((name, (base,), attributes))
}

/// What other libraries call the type of a scalar class.
enum Meta {
    /// The type of `ctypes` that has its bits.
    Ctypes,
    /// The dtype of numpy.
    Numpy,
}

/// An attribute of scalar classes that is worked out when it is asked for, so that the library it is about need not be
/// loaded before.
#[pyclass(frozen, module = "inkle._native")]
struct ScalarAttribute {
    scalar: Scalar,
    of: Meta,
}

#[pymethods]
impl ScalarAttribute {
    fn __get__<'py>(
        &self,
        py: Python<'py>,
        _instance: &Bound<'py, PyAny>,
        _owner: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.of {
            Meta::Numpy => py.import("numpy")?.getattr("dtype")?.call1((self.scalar.python_name(),)),
            Meta::Ctypes => {
                let name = match self.scalar {
                    Scalar::Bool => "c_bool",
                    Scalar::I8 => "c_int8",
                    Scalar::U8 => "c_uint8",
                    Scalar::I16 => "c_int16",
                    Scalar::U16 | Scalar::F16 | Scalar::BF16 => "c_uint16",
                    Scalar::I32 => "c_int32",
                    Scalar::U32 => "c_uint32",
                    Scalar::I64 => "c_int64",
                    Scalar::U64 => "c_uint64",
                    Scalar::F32 => "c_float",
                    Scalar::F64 => "c_double",
                };
                py.import("ctypes")?.getattr(name)
            }
        }
    }
}

/// An exact type in the pattern of its family.
fn generalise(pattern: &Pattern) -> Pattern {
    let exact = ScalarPattern::Exact;
    match *pattern {
        Pattern::Exact(Type::Scalar(s)) => Pattern::Scalar(exact(s)),
        Pattern::Exact(Type::Vec { len, elem }) => Pattern::Vec(SizePattern::Exact(len), exact(elem)),
        Pattern::Exact(Type::Mat { rows, cols, elem }) => {
            Pattern::Mat(SizePattern::Exact(rows), SizePattern::Exact(cols), exact(elem))
        }
        Pattern::Exact(Type::Quat(s)) => Pattern::Quat(exact(s)),
        Pattern::Exact(Type::Transform(s)) => Pattern::Transform(exact(s)),
        ref other => other.clone(),
    }
}

/// The class of a pattern of scalars, vectors, matrices, quaternions or transforms.
fn class_of_pattern<'py>(py: Python<'py>, pattern: Pattern, name: &str) -> PyResult<Bound<'py, PyAny>> {
    if let Some(ty) = pattern.instantiate(&Default::default()) {
        return class_of(py, ty);
    }
    let key = format!("{pattern:?}");
    let known = {
        let classes = GENERIC.lock().unwrap_or_else(|e| e.into_inner());
        classes.as_ref().and_then(|c| c.get(&key)).map(|c| c.bind(py).clone())
    };
    if let Some(class) = known {
        return Ok(class);
    }
    let class = make_class(py, &pattern, name)?;
    let mut classes = GENERIC.lock().unwrap_or_else(|e| e.into_inner());
    classes.get_or_insert_with(HashMap::new).insert(key, class.clone().unbind());
    Ok(class)
}

fn scalar_argument(dtype: &Bound<'_, PyAny>) -> PyResult<ScalarPattern> {
    match pattern_of(dtype)? {
        Some(Pattern::Exact(Type::Scalar(s))) => Ok(ScalarPattern::Exact(s)),
        Some(Pattern::Scalar(s)) => Ok(s),
        Some(Pattern::Any(_)) => Ok(ScalarPattern::Var("S".to_owned(), Constraint::Any)),
        _ => {
            let text = dtype.str().map_or_else(|_| class_name(dtype), |s| s.to_string());
            Err(argument_error(
                dtype.py(),
                format!("the components of a value need a scalar type, not {text}"),
            ))
        }
    }
}

fn size_argument(size: &Bound<'_, PyAny>, variable: &str) -> PyResult<SizePattern> {
    let py = size.py();
    if size.is(typing(py, "Any")?) {
        return Ok(SizePattern::Var(variable.to_owned()));
    }
    match size.extract::<i64>()? {
        n @ 0..=0xffff => Ok(SizePattern::Exact(n as u32)),
        n => Err(PyValueError::new_err(format!("a size must be between 0 and 65535, not {n}"))),
    }
}

/// The class of vectors of `length` components.
#[pyfunction]
pub fn vector<'py>(
    py: Python<'py>,
    length: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    class_of_pattern(py, Pattern::Vec(size_argument(length, "N")?, scalar_argument(dtype)?), "vec_t")
}

/// The class of matrices of `shape` (rows, columns).
#[pyfunction]
pub fn matrix<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let sizes = shape.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let [rows, cols] = sizes.as_slice() else {
        let (count, ending) = (sizes.len(), if sizes.len() == 1 { "" } else { "s" });
        let message = format!(
            "Matrix shape must have exactly two dimensions, got {count} dimension{ending} in shape {}",
            shape.str()?
        );
        return Err(PyValueError::new_err(message));
    };
    let (rows, cols) = (size_argument(rows, "M")?, size_argument(cols, "N")?);
    class_of_pattern(py, Pattern::Mat(rows, cols, scalar_argument(dtype)?), "mat_t")
}

/// The class of quaternions; any scalar type when `dtype` is left out.
#[pyfunction]
#[pyo3(signature = (dtype = None))]
pub fn quaternion<'py>(py: Python<'py>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    class_of_pattern(py, Pattern::Quat(float_argument(dtype)?), "quat_t")
}

/// The class of rigid transforms; any scalar type when `dtype` is left out.
#[pyfunction]
#[pyo3(signature = (dtype = None))]
pub fn transformation<'py>(
    py: Python<'py>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    class_of_pattern(py, Pattern::Transform(float_argument(dtype)?), "transform_t")
}

fn float_argument(dtype: Option<&Bound<'_, PyAny>>) -> PyResult<ScalarPattern> {
    dtype.map_or_else(|| Ok(ScalarPattern::Var("S".to_owned(), Constraint::Any)), scalar_argument)
}

/// The class of a predefined name such as `vec3`, `mat22d`, `quat`, `transformh`, `spatial_vector`, `float64`;
/// `None` for other names.
#[pyfunction]
pub fn named_type<'py>(py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(scalar) = scalar_from_python_name(name) {
        return class_of(py, Type::Scalar(scalar)).map(Some);
    }
    if name == "handle" {
        return class_of(py, Type::U64).map(Some);
    }
    predefined(name).map(|ty| class_of(py, ty)).transpose()
}

/// The names that [`named_type`] knows.
#[pyfunction]
pub fn type_names() -> Vec<String> {
    const STEMS: [&str; 10] = [
        "vec2",
        "vec3",
        "vec4",
        "mat22",
        "mat33",
        "mat44",
        "quat",
        "transform",
        "spatial_vector",
        "spatial_matrix",
    ];
    const SUFFIXES: [&str; 12] = ["", "h", "f", "d", "b", "s", "i", "l", "ub", "us", "ui", "ul"];
    let composites =
        STEMS.iter().flat_map(|stem| SUFFIXES.iter().map(move |suffix| format!("{stem}{suffix}")));
    let scalars = Scalar::ALL.iter().map(|scalar| scalar.python_name().to_owned());
    scalars.chain(composites.filter(|name| predefined(name).is_some())).chain(["handle".to_owned()]).collect()
}

fn predefined(name: &str) -> Option<Type> {
    fn suffix(text: &str, integers: bool) -> Option<Scalar> {
        Some(match text {
            "" | "f" => Scalar::F32,
            "h" => Scalar::F16,
            "d" => Scalar::F64,
            "b" if integers => Scalar::I8,
            "s" if integers => Scalar::I16,
            "i" if integers => Scalar::I32,
            "l" if integers => Scalar::I64,
            "ub" if integers => Scalar::U8,
            "us" if integers => Scalar::U16,
            "ui" if integers => Scalar::U32,
            "ul" if integers => Scalar::U64,
            _ => return None,
        })
    }
    let square = |rest: &str| match rest.as_bytes() {
        [a @ b'2'..=b'4', b, ..] if a == b => Some((u32::from(a - b'0'), 2)),
        _ => None,
    };
    if let Some(rest) = name.strip_prefix("spatial_vector") {
        return Some(Type::vec(6, suffix(rest, false)?));
    }
    if let Some(rest) = name.strip_prefix("spatial_matrix") {
        return Some(Type::mat(6, 6, suffix(rest, false)?));
    }
    if let Some(rest) = name.strip_prefix("transform") {
        return Some(Type::Transform(suffix(rest, false)?));
    }
    if let Some(rest) = name.strip_prefix("quat") {
        return Some(Type::Quat(suffix(rest, false)?));
    }
    if let Some(rest) = name.strip_prefix("mat") {
        let (n, used) = square(rest)?;
        return Some(Type::mat(n, n, suffix(&rest[used..], false)?));
    }
    if let Some(rest) = name.strip_prefix("vec") {
        let n = rest.bytes().next().filter(|b| (b'2'..=b'4').contains(b))?;
        return Some(Type::vec(u32::from(n - b'0'), suffix(&rest[1..], true)?));
    }
    None
}

/// The kind of the type an object means: `scalar`, `vector`, `matrix`, `quaternion`, `transformation`, `struct`,
/// `array`; `None` when it means no type.
#[pyfunction]
pub fn type_kind(object: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    Ok(pattern_of(object)?.and_then(|pattern| {
        Some(match generalise(&pattern) {
            Pattern::Scalar(_) => "scalar",
            Pattern::Vec(..) => "vector",
            Pattern::Mat(..) => "matrix",
            Pattern::Quat(_) => "quaternion",
            Pattern::Transform(_) => "transformation",
            Pattern::Exact(Type::Struct(_)) => "struct",
            Pattern::Array(..) | Pattern::Exact(Type::Array(_)) => "array",
            _ => return None,
        })
    }))
}

/// The scalar family of the type an object means: `float`, `int`, `bool`; `None` for others.
#[pyfunction]
pub fn scalar_family(object: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    Ok(match pattern_of(object)? {
        Some(Pattern::Exact(Type::Scalar(s))) if s.is_float() => Some("float"),
        Some(Pattern::Exact(Type::Scalar(s))) if s.is_int() => Some("int"),
        Some(Pattern::Exact(Type::Scalar(_))) => Some("bool"),
        _ => None,
    })
}

/// Bytes a value of the type takes in memory.
#[pyfunction]
pub fn type_size_in_bytes(dtype: &Bound<'_, PyAny>) -> PyResult<u32> {
    dtype_of(dtype).map(Type::size)
}

/// The number of scalar components of the type.
#[pyfunction]
pub fn type_size(dtype: &Bound<'_, PyAny>) -> PyResult<u32> {
    Ok(dtype_of(dtype)?.component_count().unwrap_or(1))
}

/// What of a value of the type is floats, as text that follows the value: `[""]`, nothing, or the fields of a struct.
#[pyfunction]
pub fn float_parts(dtype: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    fn collect(ty: Type, path: &str, parts: &mut Vec<String>) {
        if let Type::Struct(s) = ty {
            s.fields.iter().for_each(|f| collect(f.ty, &format!("{path}.{}", f.name), parts));
        } else if ty.scalar().is_some_and(Scalar::is_float) {
            parts.push(path.to_owned());
        }
    }
    let mut parts = Vec::new();
    collect(dtype_of(dtype)?, "", &mut parts);
    Ok(parts)
}

/// Whether values of the types are the same floats in other shapes, so that the gradient of one is that of the other.
#[pyfunction]
pub fn are_same_floats(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (a, b) = (dtype_of(a)?, dtype_of(b)?);
    let floats = |ty: Type| ty.scalar().filter(|s| s.is_float()).zip(ty.component_count());
    Ok(floats(a).is_some_and(|f| floats(b) == Some(f)))
}

/// Whether two objects mean the same type.
#[pyfunction]
pub fn types_equal(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(match (pattern_of(a)?, pattern_of(b)?) {
        (Some(a), Some(b)) => a == b,
        _ => a.eq(b)?,
    })
}

/// The name of the type an object means, as users write it.
#[pyfunction]
pub fn type_repr(object: &Bound<'_, PyAny>) -> PyResult<String> {
    match pattern_of(object)? {
        Some(pattern) => Ok(shown(&pattern)),
        None => Ok(object.repr()?.to_string()),
    }
}

/// The object that stands for the type an object means: `float` gives `float32`.
#[pyfunction]
pub fn type_to_warp<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match python_scalar(object) {
        Some(scalar) => class_of(object.py(), Type::Scalar(scalar)),
        None => Ok(object.clone()),
    }
}

/// The kind marker for array patterns.
pub fn array_pattern(elem: &Pattern, ndim: u32, kind: ArrayKind) -> Pattern {
    match elem {
        Pattern::Exact(elem) => Pattern::Exact(Type::array_of_kind(*elem, ndim, kind)),
        other => Pattern::Array(Box::new(other.clone()), SizePattern::Exact(ndim), kind),
    }
}
