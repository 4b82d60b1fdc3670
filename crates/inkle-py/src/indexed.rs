//! Arrays seen through lists of indices.

use std::mem::offset_of;

use inkle_ir::{ArrayKind, IndexedArrayDesc, Type};
use inkle_runtime::{self as rt, Device};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::array::{Array, array_argument};
use crate::device::{PyDevice, device_object};
use crate::error::argument_error;
use crate::interface::write_desc;

/// An array of which some dimensions are indexed through lists: element `i` is element `indices[i]` of the array.
#[pyclass(frozen, dict, weakref, module = "inkle", name = "IndexedArray")]
pub struct IndexedArray {
    data: Py<Array>,
    indices: Vec<Option<Py<Array>>>,
    /// The extents as seen through the lists.
    shape: Vec<i32>,
}

impl IndexedArray {
    /// The array that holds the elements.
    pub fn array(&self) -> &Py<Array> {
        &self.data
    }

    /// The type kernels give it.
    pub fn ty(&self) -> Type {
        let array = self.data.get();
        Type::array_of_kind(array.elem(), array.ndim(), ArrayKind::Indexed)
    }

    /// Where the elements are.
    ///
    /// # Errors
    /// None for an object that was made.
    pub fn device(&self, py: Python<'_>) -> PyResult<Device> {
        Ok(self.data.get().runtime(py)?.device())
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

    /// The lists, one or none per dimension.
    pub fn lists(&self) -> &[Option<Py<Array>>] {
        &self.indices
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
    ) -> PyResult<IndexedArray> {
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
        Ok(IndexedArray { data: data.clone().unbind(), indices: lists, shape })
    }
}

/// An array argument; what is seen through lists is gathered into a new array.
///
/// # Errors
/// When the object is no array; the text names the argument.
pub fn gathered<'py>(object: &Bound<'py, PyAny>, argument: &str) -> PyResult<Bound<'py, Array>> {
    match object.cast::<IndexedArray>() {
        Ok(indexed) => Ok(helper(indexed, "gather", &[])?.cast_into::<Array>()?),
        Err(_) => array_argument(object, argument).cloned(),
    }
}

fn index_list(py: Python<'_>, dim: usize, list: &Bound<'_, PyAny>, device: Device) -> PyResult<Py<Array>> {
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

#[pymethods]
impl IndexedArray {
    /// `indices` has a list, or `None` for all elements, per dimension; those left out at the end are `None`.
    #[new]
    fn new(py: Python<'_>, data: &Bound<'_, PyAny>, indices: &Bound<'_, PyAny>) -> PyResult<IndexedArray> {
        let data = array_argument(data, "data")?;
        let given: Vec<Bound<'_, PyAny>> = if indices.is_none() {
            Vec::new()
        } else if indices.is_instance_of::<PyList>() || indices.is_instance_of::<PyTuple>() {
            indices.try_iter()?.collect::<PyResult<_>>()?
        } else {
            vec![indices.clone()]
        };
        let given: Vec<_> = given.into_iter().map(|list| (!list.is_none()).then_some(list)).collect();
        IndexedArray::make(py, data, &given)
    }

    /// The array with the elements.
    #[getter]
    fn data(&self, py: Python<'_>) -> Py<Array> {
        self.data.clone_ref(py)
    }

    /// The index list of each dimension.
    #[getter]
    fn indices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.indices.iter().map(|i| i.as_ref().map(|i| i.clone_ref(py))))
    }

    /// The object that stands for the element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyAny> {
        self.data.get().dtype_object(py)
    }

    /// The number of dimensions.
    #[getter]
    fn ndim(&self) -> u32 {
        self.data.get().ndim()
    }

    /// The extents.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.shape)
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.shape.iter().map(|n| *n as usize).product()
    }

    /// The device the elements are on.
    #[getter(device)]
    fn get_device(&self, py: Python<'_>) -> PyResult<Py<PyDevice>> {
        device_object(py, self.device(py)?)
    }

    /// The elements do not follow one another.
    #[getter]
    fn is_contiguous(&self) -> bool {
        false
    }

    /// Gradients are those of the array.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.data.get().has_grad()
    }

    fn __len__(&self) -> usize {
        self.shape.first().map_or(0, |n| *n as usize)
    }

    /// The elements in a new array.
    fn contiguous<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        helper(slf, "gather", &[])
    }

    /// The elements in a new numpy array.
    fn numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        helper(slf, "gather", &[])?.call_method0("numpy")
    }

    /// The elements as a list.
    fn list<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        helper(slf, "gather", &[])?.call_method0("list")
    }

    /// Sets every element to a value.
    fn fill_<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        helper(slf, "fill", &[value]).map(drop)
    }

    /// Sets every element to zero.
    fn zero_(slf: &Bound<'_, Self>) -> PyResult<()> {
        helper(slf, "zero", &[]).map(drop)
    }

    /// Sets the elements to those of an array of the same shape.
    fn assign<'py>(slf: &Bound<'py, Self>, src: &Bound<'py, PyAny>) -> PyResult<()> {
        helper(slf, "scatter", &[src]).map(drop)
    }

    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        Ok(helper(slf, "gather", &[])?.str()?.to_string())
    }
}

/// Calls one of the functions that work through kernels.
fn helper<'py>(
    array: &Bound<'py, IndexedArray>,
    name: &str,
    rest: &[&Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let py = array.py();
    let args: Vec<_> = std::iter::once(array.as_any()).chain(rest.iter().copied()).collect();
    py.import("inkle._indexed")?.getattr(name)?.call1(PyTuple::new(py, args)?)
}
