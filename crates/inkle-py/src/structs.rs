//! `@inkle.struct`: declarations, and the instances made by calling them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use std::mem::offset_of;

use inkle_ir::{
    ArrayDesc, ArrayKind, FabricArrayDesc, Field, FieldLayout, IndexedArrayDesc, StructType, Type,
};
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType, PyWeakrefMethods, PyWeakrefReference};

use crate::array::Array;
use crate::composite::{Value, components_from, make_in, write_components};
use crate::dtype::{NativeType, class_of, pattern_of, register_struct};
use crate::error::{argument_error, class_name};
use crate::interface;
use crate::module::Module;
use crate::number;
use crate::storage::Storage;
use inkle_frontend::pattern::Pattern;

// A struct declared by a Python class; the object that its name is bound to. (A documentation comment here would hide
// the text that `__doc__` gives.)
#[pyclass(frozen, module = "inkle._native", weakref)]
pub struct Struct {
    ty: Type,
    decl: &'static StructType,
    cls: Py<PyType>,
    fields: Vec<StructField>,
    size: u32,
    handle: Py<NativeType>,
    instance_class: PyOnceLock<Py<PyAny>>,
}

struct StructField {
    name: Py<PyString>,
    ty: Type,
    layout: FieldLayout,
    /// The object that stands for the field's type: a class, another declaration or an array annotation.
    dtype: Py<PyAny>,
}

/// The field of a struct as its `vars` shows it.
#[pyclass(frozen, module = "inkle._native", get_all)]
pub struct StructVar {
    /// The field's name.
    label: Py<PyString>,
    /// The object that stands for its type.
    r#type: Py<PyAny>,
}

/// The declarations by the names of their types.
static DECLARED: Mutex<Option<HashMap<String, Vec<Py<PyWeakrefReference>>>>> = Mutex::new(None);

impl Struct {
    /// The type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// Declares the struct of `cls` with these annotations, in order.
    ///
    /// # Errors
    /// When an annotation means no type that a struct can hold.
    pub fn declare<'py>(
        cls: &Bound<'py, PyType>,
        annotations: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, Struct>> {
        let py = cls.py();
        let name = cls.name()?.to_string();
        let mut fields = Vec::new();
        let mut dtypes = Vec::new();
        for (field, annotation) in annotations.iter() {
            let field: String = field.extract()?;
            let ty = match pattern_of(&annotation)? {
                Some(Pattern::Exact(ty)) if !matches!(ty, Type::Ref(_)) => ty,
                Some(other) => {
                    let message =
                        format!("field `{field}` of struct `{name}` needs a definite type, not {other}");
                    return Err(argument_error(py, message));
                }
                None => {
                    let message = format!(
                        "field `{field}` of struct `{name}` is annotated with {}, which is not a type that kernels can hold",
                        annotation.repr()?
                    );
                    return Err(argument_error(py, message));
                }
            };
            let dtype = match ty {
                Type::Struct(_) | Type::Array(_) => annotation.clone(),
                _ => class_of(py, ty)?,
            };
            dtypes.push((field.clone(), dtype.unbind()));
            fields.push(Field { name: field, ty });
        }
        let ty = Type::structure(unique_name(name, &fields), fields);
        let decl = ty.as_struct().expect("a struct type was just made");
        let (layouts, size) = decl.layout();
        let fields = dtypes
            .into_iter()
            .zip(&decl.fields)
            .zip(layouts)
            .map(|(((name, dtype), field), layout)| StructField {
                name: PyString::intern(py, &name).unbind(),
                ty: field.ty,
                layout,
                dtype,
            })
            .collect();
        let handle = Py::new(py, NativeType::new(Pattern::Exact(ty)))?;
        let instance_class = PyOnceLock::new();
        let declared = Struct { ty, decl, cls: cls.clone().unbind(), fields, size, handle, instance_class };
        let declared = Bound::new(py, declared)?;
        register_struct(ty, declared.clone().into_any().unbind());
        let mut all = DECLARED.lock().unwrap_or_else(|e| e.into_inner());
        let named = all.get_or_insert_default().entry(decl.name.clone()).or_default();
        named.push(PyWeakrefReference::new(&declared)?.unbind());
        Ok(declared)
    }

    /// The declarations of struct types of this name that are still there. Those of equal fields are one type, whatever
    /// else their classes have.
    pub fn declared<'py>(py: Python<'py>, name: &str) -> Vec<Bound<'py, Struct>> {
        let mut all = DECLARED.lock().unwrap_or_else(|e| e.into_inner());
        let Some(named) = all.as_mut().and_then(|all| all.get_mut(name)) else { return Vec::new() };
        let alive = |entry: &Py<PyWeakrefReference>| entry.bind(py).upgrade_as::<Struct>().ok().flatten();
        named.retain(|entry| alive(entry).is_some());
        named.iter().filter_map(alive).collect()
    }

    /// The class that the struct was declared by.
    pub fn class<'py>(&self, py: Python<'py>) -> Bound<'py, PyType> {
        self.cls.bind(py).clone()
    }

    fn instance_class<'py>(slf: &Bound<'py, Struct>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let class = this.instance_class.get_or_try_init(py, || {
            let attributes = PyDict::new(py);
            attributes.set_item("__module__", this.cls.bind(py).getattr("__module__")?)?;
            attributes.set_item("__slots__", PyTuple::empty(py))?;
            attributes.set_item("_native_type_", this.handle.bind(py))?;
            attributes.set_item("_cls", slf)?;
            for (index, field) in this.fields.iter().enumerate() {
                attributes.set_item(field.name.bind(py), Bound::new(py, FieldAccess { index })?)?;
            }
            let bases = (py.get_type::<StructInstance>(), this.cls.bind(py));
            let class = py.get_type::<PyType>().call1((this.decl.name.as_str(), bases, attributes))?;
            Ok::<_, PyErr>(class.unbind())
        })?;
        Ok(class.bind(py).clone())
    }

    /// An instance over bytes that exist.
    pub fn instance_in<'py>(
        slf: &Bound<'py, Struct>,
        storage: Arc<Storage>,
        offset: u32,
    ) -> PyResult<Bound<'py, PyAny>> {
        let class = Struct::instance_class(slf)?;
        let made = MadeStruct { decl: slf.clone().unbind(), storage, offset };
        class.call1((made,))
    }

    /// An instance with a copy of these bytes.
    pub fn instance_from_bytes<'py>(slf: &Bound<'py, Struct>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let storage = Storage::new(slf.get().size);
        storage.with_mut(slf.py(), 0, |to| to[..bytes.len()].copy_from_slice(bytes));
        slf.get().describe_arrays(slf.py(), &storage, 0);
        Struct::instance_in(slf, storage, 0)
    }

    /// Puts annotations where arrays would be: bytes tell where their elements are, but keep nothing alive.
    fn describe_arrays(&self, py: Python<'_>, storage: &Storage, offset: u32) {
        for field in &self.fields {
            let at = offset + field.layout.offset;
            match field.ty {
                Type::Array(_) => storage.set_object(at, Some(field.dtype.clone_ref(py))),
                Type::Struct(_) => {
                    if let Ok(inner) = field.dtype.bind(py).cast::<Struct>() {
                        inner.get().describe_arrays(py, storage, at);
                    }
                }
                _ => {}
            }
        }
    }
}

#[pymethods]
impl Struct {
    /// A class that names a struct as its base gets here.
    fn __mro_entries__(&self, _bases: &Bound<'_, PyAny>) -> PyResult<Bound<'_, PyTuple>> {
        Err(PyRuntimeError::new_err(format!(
            "structs cannot inherit: a class cannot have struct `{}` as its base; hold it in a field",
            self.decl.name
        )))
    }

    /// A new instance; every field is zero.
    fn __call__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Struct::instance_in(slf, Storage::new(slf.get().size), 0)
    }

    #[getter]
    fn _native_type_(&self, py: Python<'_>) -> Py<NativeType> {
        self.handle.clone_ref(py)
    }

    /// What the class has beside its fields: functions, constants.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let own = !name.to_str()?.starts_with("__");
        own.then(|| this.cls.bind(py).getattr_opt(name)).transpose()?.flatten().ok_or_else(|| {
            PyAttributeError::new_err(format!("struct `{}` has no attribute `{name}`", this.decl.name))
        })
    }

    /// The Python class the struct was declared by.
    #[getter]
    fn cls(&self, py: Python<'_>) -> Py<PyType> {
        self.cls.clone_ref(py)
    }

    /// The struct's name.
    #[getter]
    fn key(&self) -> &str {
        &self.decl.name
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.decl.name
    }

    #[getter]
    fn __qualname__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.cls.bind(py).getattr("__qualname__")
    }

    #[getter]
    fn __module__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.cls.bind(py).getattr("__module__")
    }

    #[getter]
    fn __doc__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.cls.bind(py).getattr("__doc__")
    }

    /// The fields by name, each with `label` and `type`.
    #[getter]
    fn vars<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for field in &self.fields {
            let var = StructVar { label: field.name.clone_ref(py), r#type: field.dtype.clone_ref(py) };
            dict.set_item(field.name.bind(py), Bound::new(py, var)?)?;
        }
        Ok(dict)
    }

    /// What `numpy.dtype` takes to describe the struct's bytes: names, formats, offsets and size.
    fn numpy_dtype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        numpy_dtype(py, self.decl)
    }

    fn __repr__(&self) -> String {
        let fields: Vec<_> =
            self.decl.fields.iter().map(|f| format!("{}: {}", f.name, f.ty.python_name())).collect();
        format!("<struct {} ({})>", self.decl.name, fields.join(", "))
    }
}

/// What `numpy.dtype` takes for a struct.
pub fn numpy_dtype<'py>(py: Python<'py>, decl: &StructType) -> PyResult<Bound<'py, PyDict>> {
    let (layouts, size) = decl.layout();
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for (field, layout) in decl.fields.iter().zip(layouts) {
        names.append(&field.name)?;
        offsets.append(layout.offset)?;
        match field.ty {
            Type::Struct(inner) => formats.append(numpy_dtype(py, inner)?)?,
            Type::Array(a) => formats.append(array_format(py, a.kind)?)?,
            other => formats.append(interface::format(other))?,
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("names", names)?;
    dict.set_item("formats", formats)?;
    dict.set_item("offsets", offsets)?;
    dict.set_item("itemsize", size)?;
    Ok(dict)
}

/// The parts of an array's descriptor: names, numpy formats and offsets. A nested descriptor has no format.
fn array_parts(kind: ArrayKind) -> &'static [(&'static str, Option<&'static str>, usize)] {
    match kind {
        ArrayKind::Strided => &[
            ("data", Some("<u8"), offset_of!(ArrayDesc, data)),
            ("grad", Some("<u8"), offset_of!(ArrayDesc, grad)),
            ("shape", Some("4<i4"), offset_of!(ArrayDesc, shape)),
            ("strides", Some("4<i8"), offset_of!(ArrayDesc, strides)),
        ],
        ArrayKind::Indexed => &[
            ("array", None, offset_of!(IndexedArrayDesc, array)),
            ("indices", Some("4<u8"), offset_of!(IndexedArrayDesc, indices)),
            ("shape", Some("4<i4"), offset_of!(IndexedArrayDesc, shape)),
        ],
        ArrayKind::Fabric | ArrayKind::IndexedFabric => &[
            ("buckets", None, offset_of!(FabricArrayDesc, buckets)),
            ("indices", None, offset_of!(FabricArrayDesc, indices)),
            ("size", Some("<i4"), offset_of!(FabricArrayDesc, size)),
        ],
    }
}

fn array_format(py: Python<'_>, kind: ArrayKind) -> PyResult<Bound<'_, PyDict>> {
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for (name, format, offset) in array_parts(kind) {
        names.append(name)?;
        offsets.append(offset)?;
        match format {
            Some(format) => formats.append(format)?,
            None => formats.append(array_format(py, ArrayKind::Strided)?)?,
        }
    }
    let dict = PyDict::new(py);
    dict.set_item("names", names)?;
    dict.set_item("formats", formats)?;
    dict.set_item("offsets", offsets)?;
    dict.set_item("itemsize", Type::array_of_kind(Type::F32, 1, kind).size())?;
    Ok(dict)
}

/// The bytes of an array's descriptor as numpy takes them for a record.
fn array_value<'py>(py: Python<'py>, kind: ArrayKind, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let options = PyDict::new(py);
    options.set_item("dtype", array_format(py, kind)?)?;
    let numpy = py.import("numpy")?;
    let given = pyo3::types::PyBytes::new(py, bytes);
    numpy.call_method("frombuffer", (given,), Some(&options))?.get_item(0)?.call_method0("item")
}

/// The parts of an instance made by native code, on their way through its class's constructor.
#[pyclass(frozen, module = "inkle._native")]
struct MadeStruct {
    decl: Py<Struct>,
    storage: Arc<Storage>,
    offset: u32,
}

/// An instance of a struct; the base of each struct's own instance class.
#[pyclass(subclass, frozen, module = "inkle._native")]
pub struct StructInstance {
    decl: Py<Struct>,
    storage: Arc<Storage>,
    offset: u32,
}

impl StructInstance {
    /// The struct type.
    pub fn ty(&self) -> Type {
        self.decl.get().ty
    }

    /// Copies the instance's bytes; descriptors of arrays are made afresh, so that a gradient added later counts.
    pub fn copy_bytes(&self, py: Python<'_>, to: &mut [u8]) {
        let size = self.decl.get().size;
        self.storage
            .with(py, self.offset, |bytes| to[..size as usize].copy_from_slice(&bytes[..size as usize]));
        if !self.storage.has_objects() {
            return;
        }
        for (offset, object) in self.storage.objects(py, self.offset, size) {
            if let Ok(array) = object.bind(py).cast::<Array>()
                && array.get().has_elements()
            {
                array.get().write(&mut to[offset as usize..]);
            }
        }
    }

    /// The arrays that the instance's fields hold, and where in its bytes.
    pub fn arrays(&self, py: Python<'_>) -> Vec<(u32, Py<PyAny>)> {
        self.storage.objects(py, self.offset, self.decl.get().size)
    }

    /// What the instance's bytes refer to: its arrays, and so their memory.
    pub fn referents(&self, py: Python<'_>) -> impl Iterator<Item = inkle_runtime::Referent> {
        self.arrays(py).into_iter().map(|(_, array)| Arc::new(array) as inkle_runtime::Referent)
    }

    fn get_field<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let field = &self.decl.get().fields[index];
        let offset = self.offset + field.layout.offset;
        match field.ty {
            Type::Scalar(scalar) => {
                number::to_python(py, self.storage.with(py, offset, |bytes| number::read(scalar, bytes)))
            }
            Type::Struct(_) => {
                let decl = field.dtype.bind(py).cast::<Struct>()?;
                Struct::instance_in(decl, self.storage.clone(), offset)
            }
            Type::Array(_) => Ok(self.storage.object(py, offset).unwrap_or_else(|| py.None().into_bound(py))),
            other => make_in(field.dtype.bind(py), other, self.storage.clone(), offset),
        }
    }

    fn set_field(&self, index: usize, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        let field = &self.decl.get().fields[index];
        let offset = self.offset + field.layout.offset;
        let expected = |got: &str| {
            let text = format!(
                "Struct field '{}' expects {} but got {got}, in an instance of `{}`",
                field.name.bind(py),
                field.ty.python_name(),
                self.decl.get().decl.name
            );
            argument_error(py, text)
        };
        match field.ty {
            Type::Scalar(scalar) => {
                if !number::fits(value, scalar) {
                    return Err(expected(&format!("{} {value}", class_name(value))));
                }
                let number = number::from_python(value, scalar).map_err(|_| expected(&class_name(value)))?;
                self.storage.with_mut(py, offset, |bytes| number::write(scalar, number, bytes));
            }
            Type::Struct(_) => {
                let Ok(instance) = value.cast::<StructInstance>() else {
                    return Err(expected(&class_name(value)));
                };
                let instance = instance.get();
                if instance.ty() != field.ty {
                    return Err(expected(&instance.ty().python_name()));
                }
                let size = field.layout.size;
                let mut bytes = vec![0; size as usize];
                instance.copy_bytes(py, &mut bytes);
                self.storage.with_mut(py, offset, |to| to[..bytes.len()].copy_from_slice(&bytes));
                for (at, _) in self.storage.objects(py, offset, size) {
                    self.storage.set_object(offset + at, None);
                }
                for (at, object) in instance.storage.objects(py, instance.offset, size) {
                    self.storage.set_object(offset + at, Some(object));
                }
            }
            Type::Array(ty) => {
                if value.is_none() {
                    self.storage.with_mut(py, offset, |bytes| bytes[..field.layout.size as usize].fill(0));
                    self.storage.set_object(offset, None);
                    return Ok(());
                }
                let Ok(array) = value.cast::<Array>() else {
                    return Err(expected(&class_name(value)));
                };
                let got = array.get().ty();
                if got != Type::array_of_kind(ty.elem, ty.ndim, ty.kind) {
                    return Err(expected(&got.python_name()));
                }
                self.storage.with_mut(py, offset, |bytes| {
                    array.get().write(bytes);
                });
                self.storage.set_object(offset, Some(value.clone().unbind()));
            }
            other => {
                if value.is_none() {
                    self.storage.with_mut(py, offset, |bytes| bytes[..field.layout.size as usize].fill(0));
                    return Ok(());
                }
                if number::is_legacy_fill(value) {
                    let target = format!("struct field '{}'", field.name.bind(py));
                    number::warn_of_fill(value, &other.python_name(), &target)?;
                } else if number::is_number(value) {
                    return Err(expected(&format!("a single value, {}", class_name(value))));
                }
                let components = components_from(value, other)?;
                self.storage.with_mut(py, offset, |bytes| write_components(other, &components, bytes));
            }
        }
        Ok(())
    }

    fn shown(&self, py: Python<'_>, indent: usize, repr: bool) -> PyResult<String> {
        let decl = self.decl.get();
        let pad = "\t".repeat(indent + 1);
        let mut out = format!("{}(\n", decl.decl.name);
        for (index, field) in decl.fields.iter().enumerate() {
            let value = self.get_field(py, index)?;
            let text = match value.cast::<StructInstance>() {
                Ok(inner) => inner.get().shown(py, indent + 1, repr)?,
                Err(_) if repr => value.repr()?.to_string(),
                Err(_) => value.str()?.to_string(),
            };
            out += &format!("{pad}{}={text},\n", field.name.bind(py));
        }
        out += &"\t".repeat(indent);
        out += ")";
        Ok(out)
    }
}

#[pymethods]
impl StructInstance {
    #[new]
    fn new(made: &Bound<'_, PyAny>) -> PyResult<StructInstance> {
        let made = made.cast::<MadeStruct>().map_err(|_| {
            PyTypeError::new_err(
                "instances of a struct are made by calling its declaration, without arguments",
            )
        })?;
        let (py, made) = (made.py(), made.get());
        Ok(StructInstance {
            decl: made.decl.clone_ref(py),
            storage: made.storage.clone(),
            offset: made.offset,
        })
    }

    /// What recorded launches take as this struct: the struct itself.
    fn __ctype__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __setattr__(&self, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = name.py();
        let fields = &self.decl.get().fields;
        let by_identity = fields.iter().position(|f| f.name.bind(py).is(name));
        let index = match by_identity {
            Some(index) => Some(index),
            None => {
                let name = name.to_str()?;
                self.decl.get().decl.field_index(name)
            }
        };
        match index {
            Some(index) => self.set_field(index, value),
            None => {
                let decl = self.decl.get().decl;
                let names: Vec<_> = decl.fields.iter().map(|f| f.name.as_str()).collect();
                let message = format!(
                    "struct `{}` has no field `{}`; it has {}",
                    decl.name,
                    name.to_str()?,
                    names.join(", ")
                );
                Err(field_error(py, message))
            }
        }
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        self.shown(py, 0, false)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.shown(py, 0, true)
    }

    /// The values of the fields as numpy takes them for a record: numbers, lists and tuples.
    fn numpy_value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut items = Vec::new();
        for (index, field) in self.decl.get().fields.iter().enumerate() {
            let value = self.get_field(py, index)?;
            let item = match field.ty {
                Type::Scalar(_) => value,
                Type::Struct(_) => value.cast::<StructInstance>()?.get().numpy_value(py)?.into_any(),
                Type::Array(a) => {
                    let mut bytes = vec![0; field.layout.size as usize];
                    if let Ok(array) = value.cast::<Array>() {
                        array.get().write(&mut bytes);
                    }
                    array_value(py, a.kind, &bytes)?
                }
                _ => {
                    let value = value.cast::<Value>()?;
                    let plain = value.get().components(py).into_iter().map(|c| number::to_python(py, c));
                    let flat = PyList::new(py, plain.collect::<PyResult<Vec<_>>>()?)?.into_any();
                    match field.ty {
                        Type::Mat { rows, cols, .. } => {
                            let numpy = py.import("numpy")?;
                            numpy.getattr("reshape")?.call1((flat, (rows, cols)))?.call_method0("tolist")?
                        }
                        _ => flat,
                    }
                }
            };
            items.push(item);
        }
        PyTuple::new(py, items)
    }

    /// Arrays held by the instance are shared with the copy.
    fn __copy__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let copy = Struct::__call__(self.decl.bind(py))?;
        let target = copy.cast::<StructInstance>()?.get();
        let size = self.decl.get().size;
        let mut bytes = vec![0; size as usize];
        self.copy_bytes(py, &mut bytes);
        target.storage.with_mut(py, 0, |to| to[..bytes.len()].copy_from_slice(&bytes));
        for (at, object) in self.storage.objects(py, self.offset, size) {
            target.storage.set_object(at, Some(object));
        }
        Ok(copy)
    }

    /// A copy whose arrays are on `device`; arrays that are there already are shared with it.
    ///
    /// # Errors
    /// When `device` is none, or an array cannot be copied there.
    fn to<'py>(&self, py: Python<'py>, device: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let copy = self.__copy__(py)?;
        let target = copy.cast::<StructInstance>()?.get();
        for (at, object) in target.arrays(py) {
            // An annotation tells the type of an array; there is nothing to move.
            if object.bind(py).cast::<Array>().is_ok_and(|array| !array.get().has_elements()) {
                continue;
            }
            let moved = object.bind(py).call_method1(intern!(py, "to"), (device,))?;
            target.storage.set_object(at, Some(moved.unbind()));
        }
        Ok(copy)
    }

    /// A copy with copies of the arrays.
    fn __deepcopy__<'py>(&self, py: Python<'py>, memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let copy = self.__copy__(py)?;
        let target = copy.cast::<StructInstance>()?.get();
        let deepcopy = py.import(intern!(py, "copy"))?.getattr(intern!(py, "deepcopy"))?;
        for (at, object) in target.arrays(py) {
            if object.bind(py).cast::<Array>().is_ok_and(|array| array.get().has_elements()) {
                target.storage.set_object(at, Some(deepcopy.call1((object, memo))?.unbind()));
            }
        }
        Ok(copy)
    }

    /// `_cls` as an instance sees it, so that the declaration can be reached from a value.
    #[getter]
    fn _struct_(&self, py: Python<'_>) -> Py<Struct> {
        self.decl.clone_ref(py)
    }
}

/// `AttributeError` for Python's sake, `RuntimeError` for programs written for the reference API.
fn field_error(py: Python<'_>, message: String) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.get_or_try_init(py, || {
        let bases = (py.get_type::<PyAttributeError>(), py.get_type::<pyo3::exceptions::PyRuntimeError>());
        let attributes = PyDict::new(py);
        attributes.set_item("__module__", "inkle")?;
        let class = py.get_type::<PyType>().call1(("FieldError", bases, attributes))?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
    });
    match class {
        Ok(class) => PyErr::from_type(class.bind(py).clone(), (message,)),
        Err(error) => error,
    }
}

/// The descriptor that reads one field of an instance.
#[pyclass(frozen, module = "inkle._native")]
struct FieldAccess {
    index: usize,
}

#[pymethods]
impl FieldAccess {
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match instance.cast::<StructInstance>() {
            Ok(instance) => instance.get().get_field(slf.py(), slf.get().index),
            Err(_) => Ok(slf.clone().into_any()),
        }
    }
}

/// The name of a struct type: the class's own, with a number behind it when another struct of the process has the name
/// and other fields. The text of the IR tells structs apart by name.
fn unique_name(name: String, fields: &[Field]) -> String {
    static NAMES: Mutex<Option<HashMap<String, Vec<Vec<Field>>>>> = Mutex::new(None);
    let mut names = NAMES.lock().unwrap_or_else(|e| e.into_inner());
    let variants = names.get_or_insert_default().entry(name.clone()).or_default();
    let index = variants.iter().position(|known| known == fields).unwrap_or_else(|| {
        variants.push(fields.to_vec());
        variants.len() - 1
    });
    if index == 0 { name } else { format!("{name}_{}", index + 1) }
}

/// Makes a Python class with annotated fields a struct that kernels can use.
#[pyfunction]
#[pyo3(name = "struct", signature = (c = None, *, module = None))]
pub fn struct_<'py>(
    py: Python<'py>,
    c: Option<&Bound<'py, PyAny>>,
    module: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = module.map(|m| m.clone().unbind());
    let decorator = StructDecorator { module };
    match c {
        Some(c) => decorator.__call__(py, c),
        None => Ok(Bound::new(py, decorator)?.into_any()),
    }
}

#[pyclass(frozen, module = "inkle._native")]
struct StructDecorator {
    module: Option<Py<PyAny>>,
}

#[pymethods]
impl StructDecorator {
    fn __call__<'py>(&self, py: Python<'py>, c: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let cls = c.cast::<pyo3::types::PyType>().map_err(|_| {
            argument_error(py, format!("a struct is made from a class, not from {}", class_name(c)))
        })?;
        let module = match &self.module {
            Some(module) => crate::module::module_argument(py, Some(module.bind(py)))?,
            None => Module::of(cls)?,
        };
        let annotations = crate::scope::class_annotations(cls)?;
        let absent = py.import("inkle._planned")?.getattr("Absent")?;
        for (field, annotation) in annotations.iter() {
            if annotation.is_instance(&absent)? {
                return absent.call1((format!("struct {} with its field {field}", cls.name()?),));
            }
        }
        let declared = Struct::declare(cls, &annotations)?;
        module.get().structs(py).set_item(cls.name()?, &declared)?;
        Ok(declared.into_any())
    }
}
