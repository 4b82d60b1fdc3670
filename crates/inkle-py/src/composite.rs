//! Objects of the vector, matrix, quaternion and transform classes.
//!
//! [`Value`] holds type and bytes; the classes in [`crate::families`] extend it with what is particular to each. The
//! classes users see are Python subclasses of those, made by [`crate::dtype`].

use std::sync::{Arc, Mutex};

use inkle_ir::{Constant, Scalar, Type};
use pyo3::basic::CompareOp;
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyList, PyString, PyTuple, PyType};
use smallvec::SmallVec;

use crate::components::{Selection, select};
use crate::dtype::{class_of, native_type};
use crate::error::{argument_error, class_name};
use crate::linear;
use crate::number::{self, Arithmetic};
use crate::storage::Storage;

/// Components of a value; the usual ones fit without allocation.
pub type Components = SmallVec<[Constant; 16]>;

/// A vector, matrix, quaternion or transform: its type and where its bytes are.
#[pyclass(subclass, frozen, module = "inkle._native")]
pub struct Value {
    ty: Type,
    storage: Arc<Storage>,
    /// Bytes from the start of the storage; not zero for a field of a struct.
    offset: u32,
}

/// The parts of a value made by native code, on their way through a class's constructor.
#[pyclass(frozen, module = "inkle._native")]
pub struct Made(Mutex<Option<(Type, Arc<Storage>, u32)>>);

/// Makes an object of `class` over bytes that exist.
pub fn make_in<'py>(
    class: &Bound<'py, PyAny>,
    ty: Type,
    storage: Arc<Storage>,
    offset: u32,
) -> PyResult<Bound<'py, PyAny>> {
    class.call1((Made(Mutex::new(Some((ty, storage, offset)))),))
}

/// Makes a value of a type's own class with these components.
pub fn make_value<'py>(py: Python<'py>, ty: Type, components: &[Constant]) -> PyResult<Bound<'py, PyAny>> {
    make_like(&class_of(py, ty)?, ty, components)
}

fn make_like<'py>(
    class: &Bound<'py, PyAny>,
    ty: Type,
    components: &[Constant],
) -> PyResult<Bound<'py, PyAny>> {
    let storage = store(class.py(), ty, components);
    make_in(class, ty, storage, 0)
}

/// Makes a value of a type's own class from its bytes.
pub fn make_from_bytes<'py>(py: Python<'py>, ty: Type, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let storage = Storage::new(ty.size());
    storage.with_mut(py, 0, |to| to[..bytes.len()].copy_from_slice(bytes));
    make_in(&class_of(py, ty)?, ty, storage, 0)
}

fn store(py: Python<'_>, ty: Type, components: &[Constant]) -> Arc<Storage> {
    let storage = Storage::new(ty.size());
    storage.with_mut(py, 0, |bytes| write_components(ty, components, bytes));
    storage
}

/// Stores components in the bytes of a value.
pub fn write_components(ty: Type, components: &[Constant], bytes: &mut [u8]) {
    let scalar = scalar_of(ty);
    let size = scalar.size() as usize;
    for (component, bytes) in components.iter().zip(bytes.chunks_exact_mut(size)) {
        number::write(scalar, *component, bytes);
    }
}

fn scalar_of(ty: Type) -> Scalar {
    ty.scalar().expect("a value is made of scalars")
}

impl Value {
    /// The type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Its scalar type.
    pub fn scalar(&self) -> Scalar {
        scalar_of(self.ty)
    }

    /// Its components, row-major.
    pub fn components(&self, py: Python<'_>) -> Components {
        let scalar = self.scalar();
        let count = self.ty.component_count().unwrap_or(0) as usize;
        self.storage.with(py, self.offset, |bytes| {
            bytes.chunks_exact(scalar.size() as usize).take(count).map(|b| number::read(scalar, b)).collect()
        })
    }

    /// Copies its bytes.
    pub fn copy_bytes(&self, py: Python<'_>, to: &mut [u8]) {
        let size = self.ty.size() as usize;
        self.storage.with(py, self.offset, |bytes| to[..size].copy_from_slice(&bytes[..size]));
    }

    /// Replaces its bytes.
    pub fn set_bytes(&self, py: Python<'_>, from: &[u8]) {
        let size = self.ty.size() as usize;
        self.storage.with_mut(py, self.offset, |bytes| bytes[..size].copy_from_slice(&from[..size]));
    }

    fn component(&self, py: Python<'_>, index: u32) -> Constant {
        let scalar = self.scalar();
        self.storage.with(py, self.offset + index * scalar.size(), |bytes| number::read(scalar, bytes))
    }

    fn set_component(&self, py: Python<'_>, index: u32, number: Constant) {
        let scalar = self.scalar();
        self.storage
            .with_mut(py, self.offset + index * scalar.size(), |bytes| number::write(scalar, number, bytes));
    }

    fn component_from(&self, value: &Bound<'_, PyAny>) -> PyResult<Constant> {
        let scalar = self.scalar();
        number::from_python(value, scalar).map_err(|_| {
            let (scalar, given) = (scalar.python_name(), class_name(value));
            let message = format!("Expected to assign a `{scalar}` value but got `{given}` instead");
            argument_error(value.py(), message)
        })
    }

    fn named(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        match self.named_index(name) {
            Some(index) => Ok(number::to_component(py, self.scalar(), self.component(py, index))?.unbind()),
            None => Err(self.no_attribute(name)),
        }
    }

    fn set_named(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let index = self.named_index(name).ok_or_else(|| self.no_attribute(name))?;
        self.set_component(value.py(), index, self.component_from(value)?);
        Ok(())
    }

    fn named_index(&self, name: &str) -> Option<u32> {
        let index = ["x", "y", "z", "w"].iter().position(|n| *n == name)? as u32;
        match self.ty {
            Type::Vec { len, .. } if index < len => Some(index),
            Type::Quat(_) => Some(index),
            _ => None,
        }
    }

    fn no_attribute(&self, name: &str) -> PyErr {
        PyAttributeError::new_err(format!("'{}' object has no attribute '{name}'", self.ty.python_name()))
    }

    pub(crate) fn part(&self, py: Python<'_>, ty: Type, first: u32) -> PyResult<Py<PyAny>> {
        let components = self.components(py);
        let count = ty.component_count().unwrap_or(0) as usize;
        Ok(make_value(py, ty, &components[first as usize..][..count])?.unbind())
    }

    pub(crate) fn set_part(&self, ty: Type, first: u32, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let components = components_from(value, ty)?;
        for (i, component) in components.into_iter().enumerate() {
            self.set_component(value.py(), first + i as u32, component);
        }
        Ok(())
    }

    fn plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.listed(py, |number| number::to_python(py, number))
    }

    fn listed<'py>(
        &self,
        py: Python<'py>,
        convert: impl Fn(Constant) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let items = self.components(py).into_iter().map(convert).collect::<PyResult<Vec<_>>>()?;
        match self.ty {
            Type::Mat { cols, .. } => {
                let rows = items.chunks(cols as usize).map(|row| PyList::new(py, row));
                Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?.into_any())
            }
            _ => Ok(PyList::new(py, items)?.into_any()),
        }
    }
}

/// What is assigned to several components: for those in a line, as many numbers.
fn slice_components(object: &Bound<'_, PyAny>, ty: Type) -> PyResult<Components> {
    let is_line = matches!(ty, Type::Vec { .. }) && !object.is_instance_of::<Value>();
    if is_line && !number::is_number(object) && !object.is_instance_of::<PyString>() {
        let mut count = 0;
        for item in object.try_iter()? {
            let item = item?;
            if !number::is_number(&item) {
                let (scalar, given) = (scalar_of(ty).python_name(), class_name(&item));
                let message = format!(
                    "Expected to assign a slice from a sequence of `{scalar}` values but got `{given}` instead"
                );
                return Err(argument_error(object.py(), message));
            }
            count += 1;
        }
        if Some(count) != ty.component_count() {
            let wanted = ty.component_count().unwrap_or(0);
            return Err(PyValueError::new_err(format!(
                "Can only assign sequence of same size: {wanted} components from {count} numbers"
            )));
        }
    }
    components_from(object, ty)
}

/// Reads an object as a value of `ty`: an object of that shape, a number that fills it, or a (nested) sequence.
///
/// # Errors
/// When the object is none of these, or has another number of components.
pub fn components_from(object: &Bound<'_, PyAny>, ty: Type) -> PyResult<Components> {
    if let Ok(value) = object.cast::<Value>()
        && value.get().ty == ty
    {
        return Ok(value.get().components(object.py()));
    }
    construct(std::slice::from_ref(object), ty)
}

/// The components of a value made from constructor arguments.
fn construct(args: &[Bound<'_, PyAny>], ty: Type) -> PyResult<Components> {
    let scalar = scalar_of(ty);
    let count = ty.component_count().unwrap_or(0) as usize;
    let mut out = Components::new();
    match args {
        [] => {
            let zero = number::round(scalar, Constant::Int(0));
            out.resize(count, zero);
            if let (Type::Transform(_), Some(w)) = (ty, out.last_mut()) {
                *w = number::round(scalar, Constant::Int(1));
            }
            return Ok(out);
        }
        [single] if number::is_number(single) => {
            let number = number::from_python(single, scalar)?;
            out.resize(count, number);
            return Ok(out);
        }
        [single] => collect(single, scalar, &mut out)?,
        _ => {
            for arg in args {
                if let (Type::Mat { cols, .. }, false) = (ty, number::is_number(arg)) {
                    let before = out.len();
                    collect(arg, scalar, &mut out)?;
                    let got = out.len() - before;
                    if got != cols as usize {
                        let message = format!(
                            "{}: Invalid argument in matrix constructor, expected row of length {cols}, got {}",
                            ty.python_name(),
                            arg.str()?
                        );
                        return Err(argument_error(arg.py(), message));
                    }
                } else if number::is_number(arg) {
                    out.push(number::from_python(arg, scalar)?);
                } else {
                    collect(arg, scalar, &mut out)?;
                }
            }
        }
    }
    if out.len() != count {
        let family = match ty {
            Type::Mat { .. } => "matrix",
            Type::Quat(_) => "quaternion",
            Type::Transform(_) => "transform",
            _ => "vector",
        };
        let (name, got) = (ty.python_name(), out.len());
        let message = format!(
            "{name}: Invalid number of arguments in {family} constructor, expected {count} elements, got {got}"
        );
        return Err(match args.first() {
            Some(arg) => argument_error(arg.py(), message),
            None => PyValueError::new_err(message),
        });
    }
    Ok(out)
}

/// Appends the numbers of a value, or of a sequence of numbers and sequences.
fn collect(object: &Bound<'_, PyAny>, scalar: Scalar, out: &mut Components) -> PyResult<()> {
    if let Ok(value) = object.cast::<Value>() {
        let value = value.get();
        if !scalar.is_float() && value.scalar().is_float() {
            let message = format!(
                "{} cannot be converted to {} implicitly",
                value.ty.python_name(),
                scalar.python_name()
            );
            return Err(argument_error(object.py(), message));
        }
        out.extend(value.components(object.py()).into_iter().map(|c| number::round(scalar, c)));
        return Ok(());
    }
    if object.is_instance_of::<PyString>() {
        // Its items are strings again, without end.
        return Err(PyTypeError::new_err("must be real number, not str"));
    }
    for item in object.try_iter()? {
        let item = item?;
        if number::is_number(&item) {
            out.push(number::from_python(&item, scalar)?);
        } else {
            collect(&item, scalar, out)?;
        }
    }
    Ok(())
}

/// The base part of a new object: bytes that exist when `args` is one [`Made`], new ones otherwise.
pub(crate) fn new_value(class: &Bound<'_, PyType>, args: &Bound<'_, PyTuple>) -> PyResult<Value> {
    let py = class.py();
    if args.len() == 1
        && let Ok(made) = args.get_item(0)?.cast_exact::<Made>()
        && let Some((ty, storage, offset)) = made.get().0.lock().unwrap_or_else(|e| e.into_inner()).take()
    {
        return Ok(Value { ty, storage, offset });
    }
    let ty = value_type(class)?;
    let args: SmallVec<[_; 16]> = args.iter().collect();
    Ok(Value { ty, storage: store(py, ty, &construct(&args, ty)?), offset: 0 })
}

fn value_type(class: &Bound<'_, PyType>) -> PyResult<Type> {
    let exact = native_type(class.as_any())?.and_then(|t| t.get().exact());
    exact.ok_or_else(|| {
        let name = class.name().map_or_else(|_| "this class".to_owned(), |n| n.to_string());
        PyTypeError::new_err(format!(
            "{name} stands for many types; values are made by one with size and dtype"
        ))
    })
}

fn arithmetic<'py>(
    slf: &Bound<'py, Value>,
    other: &Bound<'py, PyAny>,
    op: Arithmetic,
    swapped: bool,
) -> PyResult<Py<PyAny>> {
    let py = slf.py();
    let Some((ty, components)) = linear::arithmetic(slf, other, op, swapped)? else {
        return Ok(py.NotImplemented());
    };
    let like = if ty == slf.get().ty { slf.get_type().into_any() } else { class_of(py, ty)? };
    Ok(make_like(&like, ty, &components)?.unbind())
}

#[pymethods]
impl Value {
    fn __len__(&self) -> usize {
        match self.ty {
            Type::Mat { rows, .. } => rows as usize,
            other => other.component_count().unwrap_or(0) as usize,
        }
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        let (py, value) = (slf.py(), slf.get());
        let components = value.components(py);
        let items = match value.ty {
            Type::Mat { cols, elem, .. } => {
                let row = Type::vec(cols, elem);
                components
                    .chunks(cols as usize)
                    .map(|c| make_value(py, row, c))
                    .collect::<PyResult<Vec<_>>>()?
            }
            _ => {
                let scalar = value.scalar();
                components
                    .into_iter()
                    .map(|c| number::to_component(py, scalar, c))
                    .collect::<PyResult<Vec<_>>>()?
            }
        };
        PyTuple::new(py, items)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let components = self.components(py);
        match select(self.ty, key)? {
            Selection::One(index) => number::to_component(py, self.scalar(), components[index as usize]),
            Selection::Many(ty, indices) => {
                let picked: Components = indices.iter().map(|i| components[*i as usize]).collect();
                make_value(py, ty, &picked)
            }
        }
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = key.py();
        match select(self.ty, key)? {
            Selection::One(index) => self.set_component(py, index, self.component_from(value)?),
            Selection::Many(ty, indices) => {
                let numbers = slice_components(value, ty)?;
                for (index, number) in indices.into_iter().zip(numbers) {
                    self.set_component(py, index, number);
                }
            }
        }
        Ok(())
    }

    #[getter]
    fn x(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.named(py, "x")
    }

    #[setter]
    fn set_x(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_named("x", value)
    }

    #[getter]
    fn y(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.named(py, "y")
    }

    #[setter]
    fn set_y(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_named("y", value)
    }

    #[getter]
    fn z(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.named(py, "z")
    }

    #[setter]
    fn set_z(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_named("z", value)
    }

    #[getter]
    fn w(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.named(py, "w")
    }

    #[setter]
    fn set_w(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.set_named("w", value)
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.plain(py)?.repr()?.to_string().replace("], [", "],\n ["))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let scalar = self.scalar();
        let list = self.listed(py, |number| number::to_component(py, scalar, number))?;
        Ok(format!("{}({})", self.ty.python_name(), list.repr()?))
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        if !matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return Ok(py.NotImplemented());
        }
        let equal = slf.is(other) && !slf.get().scalar().is_float() || equals(slf.get(), other)?;
        Ok((equal == matches!(op, CompareOp::Eq)).into_pyobject(py)?.to_owned().into_any().unbind())
    }

    /// The bytes of the components, in the layout they have in arrays.
    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let mut bytes = vec![0; self.ty.size() as usize];
        self.copy_bytes(py, &mut bytes);
        PyBytes::new(py, &bytes)
    }

    // Values can change, so they have no hash.
    #[classattr]
    const __hash__: Option<Py<PyAny>> = None;

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Add, false)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Add, true)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Sub, false)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Sub, true)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Mul, false)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Mul, true)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Div, false)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Div, true)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Mod, false)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        arithmetic(slf, other, Arithmetic::Mod, true)
    }

    fn __matmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Py<PyAny>> {
        let py = slf.py();
        let Ok(right) = other.cast::<Value>() else { return Ok(py.NotImplemented()) };
        let has_matrix = [slf.get().ty, right.get().ty].iter().any(|ty| matches!(ty, Type::Mat { .. }));
        if has_matrix { arithmetic(slf, other, Arithmetic::Mul, false) } else { Ok(py.NotImplemented()) }
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let value = slf.get();
        let scalar = value.scalar();
        let negate = |number| match number {
            Constant::Float(f) => Constant::Float(-f),
            other => number::round(scalar, Constant::Int(-number::to_int(other))),
        };
        let components: Components = value.components(slf.py()).into_iter().map(negate).collect();
        make_like(slf.get_type().as_any(), value.ty, &components)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        make_like(slf.get_type().as_any(), slf.get().ty, &slf.get().components(slf.py()))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Value::__pos__(slf)
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        Value::__pos__(slf)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (py, value) = (slf.py(), slf.get());
        let rebuild = py.import("inkle._native")?.getattr("_rebuild_value")?;
        let (family, shape) = match value.ty {
            Type::Mat { rows, cols, .. } => ("matrix", vec![rows, cols]),
            Type::Quat(_) => ("quaternion", vec![4]),
            Type::Transform(_) => ("transformation", vec![7]),
            other => ("vector", vec![other.component_count().unwrap_or(0)]),
        };
        let scalar = value.scalar().python_name();
        Ok((rebuild, (family, shape, scalar, value.plain(py)?).into_pyobject(py)?))
    }

    /// Sets a field of the class's own; names made of components cannot be, as they would look like parts of it.
    fn __setattr__(
        slf: &Bound<'_, Self>,
        name: &Bound<'_, PyString>,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let text = name.to_str()?;
        if text.len() > 1 && text.chars().all(|c| "xyzw".contains(c)) {
            return Err(slf.get().no_attribute(text));
        }
        // SAFETY: both pointers are of objects that live through the call, which holds the interpreter.
        let failed = unsafe { ffi::PyObject_GenericSetAttr(slf.as_ptr(), name.as_ptr(), value.as_ptr()) };
        if failed == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }

    /// A value with the bytes at an address of this process, which are copied.
    #[classmethod]
    fn from_ptr<'py>(class: &Bound<'py, PyType>, ptr: usize) -> PyResult<Bound<'py, PyAny>> {
        let ty = value_type(class)?;
        if ptr == 0 {
            return Err(PyRuntimeError::new_err("NULL pointer exception: there is no value at address 0"));
        }
        let storage = Storage::new(ty.size());
        let bytes = std::ptr::with_exposed_provenance::<u8>(ptr);
        storage.with_mut(class.py(), 0, |to| {
            // SAFETY: `to` has at least `ty.size()` bytes, and memory just allocated overlaps nothing. That a value
            // lies at the address is the caller's promise, as it is of `ctypes.memmove`.
            unsafe { bytes.copy_to_nonoverlapping(to.as_mut_ptr(), ty.size() as usize) }
        });
        make_in(class.as_any(), ty, storage, 0)
    }

    /// The components as numpy reads them: flat, in the scalar type, sharing memory.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("data", (self.storage.address() + self.offset as usize, false))?;
        dict.set_item("shape", (self.ty.component_count(),))?;
        dict.set_item("typestr", crate::interface::typestr(self.scalar()))?;
        dict.set_item("version", 3)?;
        Ok(dict)
    }
}

/// Whether an object has the same components: another value, or a sequence of numbers.
fn equals(value: &Value, other: &Bound<'_, PyAny>) -> PyResult<bool> {
    let own = value.components(other.py());
    let theirs = match other.cast::<Value>() {
        Ok(other_value)
            if matches!(value.ty, Type::Mat { .. })
                && other_value.get().ty.with_scalar(Scalar::F32) != value.ty.with_scalar(Scalar::F32) =>
        {
            return Ok(false);
        }
        Ok(other_value) => other_value.get().components(other.py()),
        Err(_) if other.len().is_ok() => {
            let mut out = Components::new();
            if collect(other, Scalar::F64, &mut out).is_err() {
                return Ok(false);
            }
            let scalar = value.scalar();
            out.into_iter().map(|c| if scalar.is_float() { number::round(scalar, c) } else { c }).collect()
        }
        Err(_) => return Ok(false),
    };
    Ok(own.len() == theirs.len() && own.iter().zip(&theirs).all(|(a, b)| number::equal(*a, *b)))
}

/// Makes a value again from its class's family, shape, scalar and components; for `pickle`.
#[pyfunction]
#[pyo3(name = "_rebuild_value")]
pub fn rebuild_value<'py>(
    py: Python<'py>,
    family: &str,
    shape: Vec<u32>,
    scalar: &str,
    components: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let ty =
        crate::dtype::scalar_from_python_name(scalar).and_then(|scalar| match (family, shape.as_slice()) {
            ("vector", [len]) => Some(Type::vec(*len, scalar)),
            ("matrix", [rows, cols]) => Some(Type::mat(*rows, *cols, scalar)),
            ("quaternion", _) => Some(Type::Quat(scalar)),
            ("transformation", _) => Some(Type::Transform(scalar)),
            _ => None,
        });
    let ty = ty.ok_or_else(|| PyValueError::new_err(format!("{family} of {scalar} is not a value type")))?;
    make_value(py, ty, &components_from(components, ty)?)
}
