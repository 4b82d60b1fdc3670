//! Arrays seen through lists of indices.

use std::mem::offset_of;

use inkle_ir::{ArrayKind, IndexedArrayDesc, Type};
use inkle_runtime::{self as rt, Device};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::array::{Array, State};
use crate::array_arguments::{array_argument, fill_annotation, subscripted};
use crate::dtype::dtype_of;
use crate::error::argument_error;
use crate::interface::write_desc;

/// What an array has of which some dimensions are indexed through lists: element `i` is element `indices[i]` of the
/// array.
pub struct Indexed {
    data: Py<Array>,
    indices: Vec<Option<Py<Array>>>,
    /// The extents as seen through the lists.
    shape: Vec<i32>,
}

impl Indexed {
    /// The array with the elements.
    pub fn data(&self) -> &Array {
        self.data.get()
    }

    /// The object of the array with the elements.
    pub fn object(&self) -> &Py<Array> {
        &self.data
    }

    /// The lists of indices.
    pub fn lists(&self) -> impl Iterator<Item = &Array> {
        self.indices.iter().flatten().map(Py::get)
    }

    /// The extents as seen through the lists.
    pub fn shape(&self) -> &[i32] {
        &self.shape
    }

    /// The array as generated code sees it.
    pub fn descriptor(&self) -> IndexedArrayDesc {
        let mut desc = IndexedArrayDesc { array: self.data.get().descriptor(), ..Default::default() };
        for (d, list) in self.indices.iter().enumerate() {
            desc.indices[d] = list.as_ref().map_or(0, |list| list.get().descriptor().data);
            desc.shape[d] = self.shape[d];
        }
        desc
    }

    /// Stores the array as generated code reads it. `to` has room for it.
    pub fn write(&self, to: &mut [u8]) {
        let desc = self.descriptor();
        write_desc(&desc.array, to);
        let mut put = |at: usize, bytes: &[u8]| to[at..at + bytes.len()].copy_from_slice(bytes);
        for (d, address) in desc.indices.iter().enumerate() {
            put(offset_of!(IndexedArrayDesc, indices) + 8 * d, &address.to_ne_bytes());
        }
        for (d, extent) in desc.shape.iter().enumerate() {
            put(offset_of!(IndexedArrayDesc, shape) + 4 * d, &extent.to_ne_bytes());
        }
    }

    /// The array seen through lists, one or none per dimension; those left out at the end are none.
    ///
    /// # Errors
    /// For more lists than dimensions, and for what is no list of indices on the array's device.
    pub fn make(
        py: Python<'_>,
        data: &Bound<'_, Array>,
        given: &[Option<Bound<'_, PyAny>>],
    ) -> PyResult<Indexed> {
        let array = data.get().runtime(py)?;
        if given.len() > array.ndim() {
            let message = format!("{} index lists for an array of {} dimensions", given.len(), array.ndim());
            return Err(argument_error(py, message));
        }
        let mut shape = array.shape().to_vec();
        let mut lists = Vec::new();
        for (dim, extent) in shape.iter_mut().enumerate() {
            lists.push(match given.get(dim) {
                Some(Some(list)) => {
                    let list = index_list(py, dim, list, array.device())?;
                    *extent = list.get().runtime(py)?.shape()[0];
                    Some(list)
                }
                _ => None,
            });
        }
        Ok(Indexed { data: data.clone().unbind(), indices: lists, shape })
    }

    /// The object.
    ///
    /// # Errors
    /// What Python raises while it is made.
    pub fn into_object(self, py: Python<'_>) -> PyResult<Bound<'_, Array>> {
        let dtype = self.data.get().dtype_object(py)?;
        Array::make(py, ArrayKind::Indexed, dtype, State::Indexed(self))
    }
}

/// A list of indices into a dimension of an array on `device`.
///
/// # Errors
/// When the object is none.
pub fn index_list(
    py: Python<'_>,
    dim: usize,
    list: &Bound<'_, PyAny>,
    device: Device,
) -> PyResult<Py<Array>> {
    let array = array_argument(list, "indices")?;
    let found: &rt::Array = array.get().runtime(py)?;
    let problem = if found.dtype() != Type::I32 {
        format!("has elements of {}, not int32", found.dtype().python_name())
    } else if found.ndim() != 1 || !found.is_contiguous() {
        "is not a contiguous array of one dimension".to_owned()
    } else if found.device() != device {
        format!("is on device {}, not {device}", found.device())
    } else {
        return Ok(array.clone().unbind());
    };
    Err(argument_error(py, format!("the index list of dimension {dim} {problem}")))
}

/// An array of which some dimensions are indexed through lists: element `i` is element `indices[i]` of the array.
/// Without data it is an annotation: `indexedarray(dtype=float, ndim=2)`.
#[pyclass(extends = Array, subclass, frozen, module = "inkle", name = "indexedarray")]
pub struct IndexedArray;

impl IndexedArray {
    fn held<'a>(slf: &'a Bound<'_, Self>) -> Option<&'a Indexed> {
        match slf.as_super().get().state() {
            Some(State::Indexed(indexed)) => Some(indexed),
            _ => None,
        }
    }
}

#[pymethods]
impl IndexedArray {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Array::blank(ArrayKind::Indexed)).add_subclass(IndexedArray)
    }

    /// `indices` has a list, or `None` for all elements, per dimension; those left out at the end are `None`.
    #[pyo3(signature = (data = None, indices = None, dtype = None, ndim = None))]
    fn __init__(
        slf: &Bound<'_, Self>,
        data: Option<&Bound<'_, PyAny>>,
        indices: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        ndim: Option<u32>,
    ) -> PyResult<()> {
        let (py, object) = (slf.py(), slf.as_super());
        let Some(data) = data else { return fill_annotation(object, dtype, ndim.unwrap_or(1)) };
        let data = array_argument(data, "data")?;
        let array = data.get();
        if let Some(ndim) = ndim.filter(|ndim| *ndim != array.ndim()) {
            let found = array.ndim();
            let message =
                format!("an indexed array of {ndim} dimensions cannot be made from an array of {found}");
            return Err(argument_error(py, message));
        }
        if let Some(dtype) = dtype
            && dtype_of(dtype)? != array.elem()
        {
            let (found, wanted) = (array.elem().python_name(), dtype_of(dtype)?.python_name());
            return Err(argument_error(py, format!("the elements are {found}, not {wanted}")));
        }
        let given: Vec<Option<Bound<'_, PyAny>>> = match indices {
            None => Vec::new(),
            Some(lists) if lists.is_instance_of::<PyList>() || lists.is_instance_of::<PyTuple>() => lists
                .try_iter()?
                .map(|list| list.map(|list| (!list.is_none()).then_some(list)))
                .collect::<PyResult<_>>()?,
            Some(list) => vec![Some(list.clone())],
        };
        let indexed = Indexed::make(py, data, &given)?;
        object.get().fill(array.dtype_object(py)?, State::Indexed(indexed))
    }

    /// The annotation `indexedarray[dtype]`, or `indexedarray[dtype, Literal[2]]` for two dimensions.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Array>> {
        subscripted(class, &class.py().get_type::<IndexedArray>(), item, ArrayKind::Indexed)
    }

    /// The array with the elements.
    #[getter]
    fn data(slf: &Bound<'_, Self>) -> Option<Py<Array>> {
        Self::held(slf).map(|indexed| indexed.data.clone_ref(slf.py()))
    }

    /// The index list of each dimension.
    #[getter]
    fn indices<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyList>>> {
        let py = slf.py();
        let lists = |indexed: &Indexed| {
            PyList::new(py, indexed.indices.iter().map(|i| i.as_ref().map(|i| i.clone_ref(py))))
        };
        Self::held(slf).map(lists).transpose()
    }
}
