//! Fabric arrays: elements in buckets that another program owns.
//!
//! The buckets are described by a dictionary, or by an object whose `__fabric_arrays_interface__` is one: `version` 1,
//! `device`, and `attribs`, by name, of dictionaries with `type` (whether it is known, a numpy type string, the number of
//! scalars of an element, 1 for elements that are arrays, and the role `vector`, `matrix` or `quaternion`), `access`,
//! `pointers` and `counts` of the buckets and, for elements that are arrays, `array_lengths`.

use std::mem::offset_of;
use std::sync::Arc;

use inkle_ir::{ArrayDesc, ArrayKind, FABRIC_COLUMNS, FabricArrayDesc, Scalar, Type};
use inkle_runtime::{self as rt, Device};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::array::{Array, State};
use crate::array_arguments::{any_array_argument, fill_annotation, subscripted};
use crate::device::device_argument;
use crate::dtype::{class_of, dtype_of};
use crate::error::{IntoPyResult, argument_error, class_name};
use crate::indexed::index_list;
use crate::interface::{scalar_of_typestr, write_desc};

/// What a Fabric array has, indexed or not.
pub struct Fabric {
    buckets: Arc<Buckets>,
    indices: Option<Indices>,
}

struct Buckets {
    elem: Type,
    ndim: u32,
    /// The table that kernels search, on the device.
    table: rt::Array,
    /// The number of elements in all buckets.
    count: i32,
    access: i64,
    /// What described the buckets; maybe it owns them.
    _owner: Py<PyAny>,
}

struct Indices {
    list: Py<Array>,
    /// The Fabric array that is indexed.
    array: Py<Array>,
}

/// The type of elements from the description of an attribute, and whether they are arrays of it.
fn element_type(info: &Bound<'_, PyAny>) -> PyResult<(Type, bool)> {
    let bad = |problem: String| PyValueError::new_err(format!("the Fabric attribute's type {problem}"));
    let parts: Vec<Bound<'_, PyAny>> = info.try_iter()?.collect::<PyResult<_>>()?;
    let [_, code, count, depth, role] = parts.as_slice() else {
        return Err(bad(format!("must contain five elements, got {}: {}", parts.len(), info.repr()?)));
    };
    let (code, role): (String, String) = (code.extract()?, role.extract()?);
    let count: u32 = count.extract()?;
    let text = match code.as_str() {
        "b" => "|b1".to_owned(),
        other => format!("<{other}"),
    };
    let Some(scalar) = scalar_of_typestr(&text) else {
        return Err(bad(format!("names an unknown scalar `{code}`")));
    };
    let side = (1..=count).find(|side| side * side == count);
    let elem = match (role.as_str(), side) {
        ("matrix", Some(side)) => Type::mat(side, side, scalar),
        ("matrix", None) => {
            return Err(bad(format!("of a matrix must have a square element count, got {count}")));
        }
        ("quaternion" | "quat", _) if count == 4 && scalar.is_float() => Type::Quat(scalar),
        _ if count == 1 => Type::Scalar(scalar),
        _ if count > 1 => Type::vec(count, scalar),
        _ => return Err(bad(format!("has elements of {count} scalars"))),
    };
    match depth.extract::<u32>()? {
        depth @ (0 | 1) => Ok((elem, depth == 1)),
        depth => Err(bad(format!("has arrays nested {depth} deep; 1 is the most"))),
    }
}

/// An entry of a dictionary that must be there.
fn entry<'py>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    dict.get_item(name)?
        .ok_or_else(|| PyValueError::new_err(format!("the Fabric interface has no entry `{name}`")))
}

impl Fabric {
    /// The buckets of an attribute, as an interface describes them.
    fn read(data: &Bound<'_, PyAny>, attrib: Option<&Bound<'_, PyAny>>) -> PyResult<Fabric> {
        let py = data.py();
        let interface = match data.cast::<PyDict>() {
            Ok(dict) => dict.clone(),
            Err(_) => match data.getattr_opt("__fabric_arrays_interface__")? {
                Some(interface) => interface.cast_into::<PyDict>()?,
                None => {
                    return Err(argument_error(
                        py,
                        format!(
                            "`data` is a dict or an object with `__fabric_arrays_interface__`, not {}",
                            class_name(data)
                        ),
                    ));
                }
            },
        };
        let version = entry(&interface, "version")?;
        if version.extract::<i64>().ok() != Some(1) {
            return Err(PyValueError::new_err(format!("Unsupported Fabric interface version: {version}")));
        }
        let device = device_argument(py, Some(&entry(&interface, "device")?))?;
        let attribs = entry(&interface, "attribs")?.cast_into::<PyDict>()?;
        let name = attrib.and_then(|name| name.extract::<String>().ok());
        let info = match &name {
            Some(name) => attribs.get_item(name)?,
            None => None,
        };
        let Some(info) = info else {
            let shown = name.map_or_else(|| "None".to_owned(), |name| format!("'{name}'"));
            let names = attribs.keys();
            let message = format!("there is no Fabric attribute {shown} among {names}");
            return Err(argument_error(py, message));
        };
        let info = info.cast_into::<PyDict>()?;
        let (elem, is_nested) = element_type(&entry(&info, "type")?)?;
        let pointers: Vec<u64> = entry(&info, "pointers")?.extract()?;
        let counts: Vec<u64> = entry(&info, "counts")?.extract()?;
        let lengths: Vec<u64> =
            if is_nested { entry(&info, "array_lengths")?.extract()? } else { vec![0; counts.len()] };
        if pointers.len() != counts.len() || lengths.len() != counts.len() {
            let message = "the Fabric attribute has lists of different lengths for its buckets";
            return Err(argument_error(py, message));
        }
        let mut numbers = Vec::with_capacity(counts.len() * FABRIC_COLUMNS);
        let mut start = 0u64;
        for ((count, pointer), lengths) in counts.iter().zip(&pointers).zip(&lengths) {
            numbers.extend([start, *pointer, *lengths]);
            start = start.saturating_add(*count);
        }
        let Ok(count) = i32::try_from(start) else {
            return Err(argument_error(py, format!("{start} elements are more than an array can have")));
        };
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let shape = [counts.len() as i64, FABRIC_COLUMNS as i64];
        let table = rt::Array::from_bytes(device, Type::Scalar(Scalar::U64), &shape, &bytes).into_py(py)?;
        let access = info.get_item("access")?.map_or(Ok(0), |access| access.extract())?;
        let ndim = if is_nested { 2 } else { 1 };
        let buckets = Buckets { elem, ndim, table, count, access, _owner: data.clone().unbind() };
        Ok(Fabric { buckets: Arc::new(buckets), indices: None })
    }

    /// The array seen through a list of indices.
    fn indexed(slf: &Bound<'_, Array>, list: &Bound<'_, PyAny>) -> PyResult<Fabric> {
        let py = slf.py();
        let Some(State::Fabric(fabric)) = slf.get().state() else {
            return Err(argument_error(py, "this array is an annotation; it has no elements"));
        };
        if list.cast::<Array>().is_err() {
            let found = class_name(list);
            let message = format!("Fabric arrays only support indexing using index arrays, not {found}");
            return Err(argument_error(py, message));
        }
        let list = index_list(py, 0, list, fabric.device())?;
        let indices = Some(Indices { list, array: slf.clone().unbind() });
        Ok(Fabric { buckets: fabric.buckets.clone(), indices })
    }

    /// The element type.
    pub fn elem(&self) -> Type {
        self.buckets.elem
    }

    /// 2 for elements that are arrays, else 1.
    pub fn ndim(&self) -> u32 {
        self.buckets.ndim
    }

    /// The number of elements, as seen through the list.
    pub fn size(&self) -> i32 {
        match &self.indices {
            Some(indices) => indices.list.get().extents()[0],
            None => self.buckets.count,
        }
    }

    /// Where the elements are.
    pub fn device(&self) -> Device {
        self.buckets.table.device()
    }

    /// The table of buckets, on the array's device.
    pub fn table(&self) -> &rt::Array {
        &self.buckets.table
    }

    /// The list of indices.
    pub fn list(&self) -> Option<&Array> {
        self.indices.as_ref().map(|indices| indices.list.get())
    }

    /// Stores the array as generated code reads it. `to` has room for it.
    pub fn write(&self, to: &mut [u8]) {
        let list = self.indices.as_ref().map_or_else(ArrayDesc::default, |i| i.list.get().descriptor());
        write_desc(&self.buckets.table.desc(), to);
        write_desc(&list, &mut to[offset_of!(FabricArrayDesc, indices)..]);
        let size = self.size().to_ne_bytes();
        let at = offset_of!(FabricArrayDesc, size);
        to[at..at + 4].copy_from_slice(&size);
    }
}

fn held<'a>(array: &'a Bound<'_, Array>) -> Option<&'a Fabric> {
    match array.get().state() {
        Some(State::Fabric(fabric)) => Some(fabric),
        _ => None,
    }
}

/// An array whose elements lie in buckets that another program owns: an attribute of what `data` describes. Without
/// data it is an annotation: `fabricarray(dtype=float)`, with `ndim=2` of arrays whose elements are arrays.
#[pyclass(extends = Array, subclass, frozen, module = "inkle", name = "fabricarray")]
pub struct FabricArray;

#[pymethods]
impl FabricArray {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Array::blank(ArrayKind::Fabric)).add_subclass(FabricArray)
    }

    #[pyo3(signature = (data = None, attrib = None, dtype = None, ndim = None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        data: Option<&Bound<'_, PyAny>>,
        attrib: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        ndim: Option<u32>,
    ) -> PyResult<()> {
        let (py, object) = (slf.py(), slf.as_super());
        let Some(data) = data else { return fill_annotation(object, dtype, ndim.unwrap_or(1)) };
        let fabric = Fabric::read(data, attrib)?;
        if let Some(dtype) = dtype
            && !dtype.is(py.import("typing")?.getattr("Any")?)
            && dtype_of(dtype)? != fabric.elem()
        {
            let (found, wanted) = (fabric.elem().python_name(), dtype_of(dtype)?.python_name());
            return Err(argument_error(py, format!("the elements are {found}, not {wanted}")));
        }
        if let Some(ndim) = ndim.filter(|ndim| *ndim != fabric.ndim()) {
            let found = fabric.ndim();
            return Err(argument_error(py, format!("the attribute has {found} dimensions, not {ndim}")));
        }
        object.get().fill(class_of(py, fabric.elem())?.unbind(), State::Fabric(fabric))
    }

    /// The annotation `fabricarray[dtype]`, or `fabricarray[dtype, Literal[2]]`.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Array>> {
        subscripted(class, &class.py().get_type::<FabricArray>(), item, ArrayKind::Fabric)
    }

    /// The array seen through a list of indices.
    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        let (py, array) = (slf.py(), slf.as_super());
        let indexed = Fabric::indexed(array, key)?;
        Array::make(py, ArrayKind::IndexedFabric, array.get().dtype_object(py)?, State::Fabric(indexed))
    }

    /// How the owner lets the elements be used, as the interface says it.
    #[getter]
    fn access(slf: &Bound<'_, Self>) -> Option<i64> {
        held(slf.as_super()).map(|fabric| fabric.buckets.access)
    }
}

/// A Fabric array seen through a list of indices: element `i` is element `indices[i]` of `fa`. Without arguments it is
/// an annotation: `indexedfabricarray(dtype=float)`.
#[pyclass(extends = Array, subclass, frozen, module = "inkle", name = "indexedfabricarray")]
pub struct IndexedFabricArray;

#[pymethods]
impl IndexedFabricArray {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Array::blank(ArrayKind::IndexedFabric)).add_subclass(IndexedFabricArray)
    }

    #[pyo3(signature = (fa = None, indices = None, dtype = None, ndim = None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        fa: Option<&Bound<'_, PyAny>>,
        indices: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        ndim: Option<u32>,
    ) -> PyResult<()> {
        let (py, object) = (slf.py(), slf.as_super());
        let Some(array) = fa else { return fill_annotation(object, dtype, ndim.unwrap_or(1)) };
        let array = any_array_argument(array, "fa")?;
        if array.get().kind() != ArrayKind::Fabric {
            let message = format!("`fa` is a fabricarray, not {}", class_name(array));
            return Err(argument_error(py, message));
        }
        let Some(list) = indices else { return Err(argument_error(py, "`indices` is missing")) };
        let fabric = Fabric::indexed(array, list)?;
        object.get().fill(array.get().dtype_object(py)?, State::Fabric(fabric))
    }

    /// The annotation `indexedfabricarray[dtype]`, or `indexedfabricarray[dtype, Literal[2]]`.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Array>> {
        subscripted(class, &class.py().get_type::<IndexedFabricArray>(), item, ArrayKind::IndexedFabric)
    }

    /// The Fabric array that is indexed.
    #[getter]
    fn fa(slf: &Bound<'_, Self>) -> Option<Py<Array>> {
        let indices = held(slf.as_super())?.indices.as_ref();
        indices.map(|indices| indices.array.clone_ref(slf.py()))
    }

    /// The list of indices.
    #[getter]
    fn indices(slf: &Bound<'_, Self>) -> Option<Py<Array>> {
        let indices = held(slf.as_super())?.indices.as_ref();
        indices.map(|indices| indices.list.clone_ref(slf.py()))
    }
}
