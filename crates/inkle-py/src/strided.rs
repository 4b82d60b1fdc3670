//! `array`: arrays whose elements lie at regular distances.

use inkle_ir::ArrayKind;
use inkle_runtime as rt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::array::{Array, State};
use crate::array_arguments::{fill_annotation, subscripted};
use crate::array_data::Data;
use crate::array_io;
use crate::array_new::{self, Source};
use crate::array_view;

/// A typed array of one to four dimensions, or the annotation of one.
#[pyclass(extends = Array, subclass, frozen, module = "inkle", name = "array")]
pub struct StridedArray;

fn held<'a>(slf: &'a Bound<'_, StridedArray>) -> Option<&'a Data> {
    slf.as_super().get().data()
}

#[pymethods]
impl StridedArray {
    #[new]
    #[pyo3(signature = (*_args, **_options))]
    fn new(_args: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> PyClassInitializer<Self> {
        PyClassInitializer::from(Array::blank(ArrayKind::Strided)).add_subclass(StridedArray)
    }

    #[pyo3(signature = (
        data = None, dtype = None, shape = None, strides = None, ptr = None, capacity = None, device = None,
        pinned = false, copy = true, deleter = None, ndim = None, grad = None, requires_grad = false,
        retain_grad = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
    fn __init__(
        slf: &Bound<'_, Self>,
        data: Option<&Bound<'_, PyAny>>,
        dtype: Option<&Bound<'_, PyAny>>,
        shape: Option<&Bound<'_, PyAny>>,
        strides: Option<&Bound<'_, PyAny>>,
        ptr: Option<u64>,
        capacity: Option<u64>,
        device: Option<&Bound<'_, PyAny>>,
        pinned: bool,
        copy: bool,
        deleter: Option<&Bound<'_, PyAny>>,
        ndim: Option<u32>,
        grad: Option<Bound<'_, Array>>,
        requires_grad: bool,
        retain_grad: bool,
    ) -> PyResult<()> {
        let (py, array) = (slf.py(), slf.as_super());
        if data.is_none() && shape.is_none() && ptr.is_none() {
            return fill_annotation(array, dtype, ndim.unwrap_or(1));
        }
        let source = Source { data, dtype, shape, strides, ptr, capacity, device, pinned, copy, deleter };
        let (made, dtype) = array_new::build(py, &source)?;
        let data = Data::new(py, made, &dtype)?;
        if let Some(grad) = grad {
            data.set_grad(py, Some(grad.unbind()))?;
        }
        array.get().fill(dtype, State::Strided(data))?;
        if requires_grad {
            array.get().require_grad(py)?;
        }
        array.get().retain(py, retain_grad)
    }

    /// The annotation `array[dtype]`, or `array[dtype, Literal[2]]` for two dimensions.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Array>> {
        subscripted(class, &class.py().get_type::<StridedArray>(), item, ArrayKind::Strided)
    }

    /// The distances between neighbours, bytes.
    #[getter]
    fn strides<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match held(slf) {
            Some(data) => PyTuple::new(py, data.array().strides()),
            None => PyTuple::new(py, vec![0; slf.as_super().get().ndim() as usize]),
        }
    }

    /// The bytes the array may use, from its first element on.
    #[getter]
    fn capacity(slf: &Bound<'_, Self>) -> usize {
        held(slf).map_or(0, |data| data.array().span_bytes())
    }

    /// The address of the first element; `None` when there are no elements.
    #[getter]
    fn ptr(slf: &Bound<'_, Self>) -> Option<u64> {
        held(slf).filter(|data| !data.array().is_empty()).map(|data| data.array().address())
    }

    /// What kind of memory the elements are in, a `MemoryKind`.
    #[getter]
    fn memory_kind<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let name = match held(slf).map(|data| data.array()) {
            None => "UNKNOWN",
            Some(array) => match array.memory().kind() {
                rt::MemoryKind::Pinned => "PINNED",
                rt::MemoryKind::Device if array.memory().is_pooled() => "CUDA_MEMPOOL",
                rt::MemoryKind::Device => "CUDA_DEVICE",
                rt::MemoryKind::Host => "HOST",
                rt::MemoryKind::Foreign if array.device().is_cpu() => "HOST",
                rt::MemoryKind::Foreign => "UNKNOWN",
            },
        };
        py.import("inkle")?.getattr("MemoryKind")?.getattr(name)
    }

    /// Whether the elements lie in page-locked host memory.
    #[getter]
    fn pinned(slf: &Bound<'_, Self>) -> bool {
        held(slf).is_some_and(|data| data.array().is_pinned())
    }

    /// Whether the backward pass of a kernel leaves the gradient of elements that the kernel wrote as it is. Without, it
    /// becomes zero, as what was in the elements before had no part in what came after.
    #[getter]
    fn get_retain_grad(slf: &Bound<'_, Self>) -> bool {
        held(slf).is_some_and(Data::retains_grad)
    }

    #[setter]
    fn set_retain_grad(slf: &Bound<'_, Self>, py: Python<'_>, value: bool) -> PyResult<()> {
        slf.as_super().get().retain(py, value)
    }

    /// The array of the gradient, or `None`.
    #[getter(grad)]
    fn get_grad(slf: &Bound<'_, Self>, py: Python<'_>) -> Option<Py<Array>> {
        held(slf).and_then(|data| data.grad(py))
    }

    #[setter(grad)]
    fn set_grad(slf: &Bound<'_, Self>, py: Python<'_>, grad: Option<Bound<'_, Array>>) -> PyResult<()> {
        slf.as_super().get().expect_data(py)?.set_grad(py, grad.map(Bound::unbind))
    }

    /// Whether there is a gradient.
    #[getter]
    fn requires_grad(slf: &Bound<'_, Self>) -> bool {
        slf.as_super().get().has_grad()
    }

    #[setter]
    fn set_requires_grad(slf: &Bound<'_, Self>, py: Python<'_>, value: bool) -> PyResult<()> {
        if value {
            return slf.as_super().get().require_grad(py);
        }
        let data = slf.as_super().get().expect_data(py)?;
        slf.as_super().get().retain(py, false)?;
        data.set_grad(py, None)
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        array_view::get(slf.as_super(), key)
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        array_view::set(slf.as_super(), key, value)
    }

    /// A view in another shape; one extent may be -1. The array must be contiguous.
    fn reshape<'py>(slf: &Bound<'py, Self>, shape: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        let shape = array_new::shape_argument(shape)?;
        array_view::derived(slf.as_super(), |array| array.reshape(&shape))
    }

    /// A view with one dimension. The array must be contiguous.
    fn flatten<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        array_view::derived(slf.as_super(), rt::Array::flatten)
    }

    /// A view with the dimensions in another order; reversed without `axes`.
    #[pyo3(signature = (axes = None))]
    fn transpose<'py>(slf: &Bound<'py, Self>, axes: Option<Vec<i64>>) -> PyResult<Bound<'py, Array>> {
        array_view::derived(slf.as_super(), |array| array.transpose(axes.as_deref()))
    }

    /// A view of the same bytes with another element type. A vector or matrix type takes up the last dimensions
    /// when they are its shape; from a vector or matrix to its scalar they come back.
    fn view<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        array_view::view_as(slf.as_super(), dtype)
    }

    /// What numpy calls when it finds no elements that it can read where they are.
    ///
    /// # Errors
    /// `TypeError` for an array on a GPU: such a copy is asked for by name, with `numpy()`.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        array_io::to_numpy(slf.as_super(), dtype, copy)
    }

    #[getter]
    fn __array_interface__<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_io::array_interface(py, slf.as_super().get())
    }

    #[getter]
    fn __cuda_array_interface__<'py>(slf: &Bound<'_, Self>, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_io::cuda_array_interface(py, slf.as_super().get())
    }

    /// A DLPack capsule; work queued on the array's device is ordered before work of `stream`.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<i64>,
        max_version: Option<&Bound<'py, PyAny>>,
        dl_device: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let _ = (max_version, dl_device);
        if copy == Some(true) {
            return crate::dlpack::export(&array_new::clone(slf.as_super(), None, None, None)?, stream);
        }
        crate::dlpack::export(slf.as_super(), stream)
    }

    fn __dlpack_device__(slf: &Bound<'_, Self>, py: Python<'_>) -> PyResult<(i32, i32)> {
        Ok(crate::dlpack::device_code(slf.as_super().get().runtime(py)?))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        array_view::derived(slf.as_super(), |array| Ok(array.clone()))
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        array_new::clone(slf.as_super(), None, None, None)
    }
}
