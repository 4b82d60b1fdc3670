//! Arrays as Python objects.
//!
//! One class serves two purposes, as users write them: `array(dtype=float, ndim=2)` without data is an annotation,
//! with data (or a shape, or a pointer) it is an array.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use inkle_frontend::pattern::Pattern;
use inkle_ir::{ArrayDesc, ArrayKind, Type};
use inkle_runtime as rt;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use crate::array_io;
use crate::array_new::{self, Source};
use crate::array_view;
use crate::device::{PyDevice, device_argument, device_object};
use crate::dtype::array_pattern;
use crate::error::{IntoPyResult, argument_error, class_name};

/// A typed array of one to four dimensions, or the annotation of one.
#[pyclass(subclass, frozen, dict, weakref, module = "inkle", name = "array")]
pub struct Array {
    /// The object the element type was given as, or the class that stands for it.
    dtype: Py<PyAny>,
    state: State,
}

enum State {
    Annotation {
        /// `None` for elements that are not available in inkle yet: a kernel with such a parameter is refused.
        elem: Option<Pattern>,
        ndim: u32,
        kind: ArrayKind,
        /// What the program noted as the shape: programs describe their data by annotations.
        noted_shape: Mutex<Option<Py<PyAny>>>,
    },
    Data(Data),
}

/// What an array with data has.
pub struct Data {
    /// *Invariant:* has no gradient of its own; `grad` is the place for it.
    array: rt::Array,
    grad: Mutex<Option<Py<Array>>>,
    /// The address of the gradient's first element, so that a launch need not lock.
    grad_address: AtomicU64,
    retain_grad: AtomicBool,
}

impl Array {
    /// The object of a runtime array; its gradient becomes an object too.
    ///
    /// # Errors
    /// What Python raises while the object is made.
    pub fn wrap(py: Python<'_>, array: rt::Array, dtype: Py<PyAny>) -> PyResult<Bound<'_, Array>> {
        Bound::new(py, Array::new_data(py, array, dtype, false)?)
    }

    /// See [`Array::wrap`].
    ///
    /// # Errors
    /// What Python raises while the gradient's object is made.
    pub fn new_data(
        py: Python<'_>,
        mut array: rt::Array,
        dtype: Py<PyAny>,
        retain_grad: bool,
    ) -> PyResult<Array> {
        let grad = array.grad().cloned();
        array.set_grad(None).into_py(py)?;
        let address = grad.as_ref().map_or(0, rt::Array::address);
        let grad = match grad {
            Some(grad) => Some(Array::wrap(py, grad, dtype.clone_ref(py))?.unbind()),
            None => None,
        };
        let data = Data {
            array,
            grad: Mutex::new(grad),
            grad_address: AtomicU64::new(address),
            retain_grad: AtomicBool::new(retain_grad),
        };
        Ok(Array { dtype, state: State::Data(data) })
    }

    /// The annotation of arrays of `elem` with `ndim` dimensions.
    ///
    /// # Errors
    /// What Python raises while the object is made.
    pub fn annotation(
        py: Python<'_>,
        elem: Pattern,
        dtype: Py<PyAny>,
        ndim: u32,
        kind: ArrayKind,
    ) -> PyResult<Bound<'_, Array>> {
        Bound::new(py, Array::new_annotation(Some(elem), dtype, ndim, kind))
    }

    /// See [`Array::annotation`]; without `elem` it means no type.
    pub fn new_annotation(elem: Option<Pattern>, dtype: Py<PyAny>, ndim: u32, kind: ArrayKind) -> Array {
        Array { dtype, state: State::Annotation { elem, ndim, kind, noted_shape: Mutex::new(None) } }
    }

    /// Sets whether the gradient is retained.
    ///
    /// # Errors
    /// When there is none.
    pub fn retain(&self, py: Python<'_>, value: bool) -> PyResult<()> {
        let data = self.expect_data(py)?;
        if value && !self.has_grad() {
            return Err(PyValueError::new_err(
                "`retain_grad=True` needs a gradient: set `requires_grad=True` first",
            ));
        }
        data.retain_grad.store(value, Ordering::Relaxed);
        Ok(())
    }

    /// `typing.Union` of the types, when the array is an annotation.
    fn union<'py>(&self, a: &Bound<'py, PyAny>, b: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = a.py();
        match self.state {
            State::Annotation { .. } => py.import("typing")?.getattr("Union")?.get_item((a, b)),
            State::Data(_) => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    /// Whether there is a gradient.
    pub fn has_grad(&self) -> bool {
        self.data().is_some_and(|data| data.grad.lock().unwrap_or_else(|e| e.into_inner()).is_some())
    }

    /// What the array means as an annotation: its own element type and dimensions. `None` when the elements are of a
    /// kind that is not available yet.
    pub fn pattern(&self) -> Option<Pattern> {
        match &self.state {
            State::Annotation { elem, ndim, kind, .. } => {
                elem.as_ref().map(|elem| array_pattern(elem, *ndim, *kind))
            }
            State::Data(data) => {
                Some(Pattern::Exact(Type::array(data.array.dtype(), data.array.ndim() as u32)))
            }
        }
    }

    /// What an array with data has; `None` for an annotation.
    pub fn data(&self) -> Option<&Data> {
        match &self.state {
            State::Data(data) => Some(data),
            State::Annotation { .. } => None,
        }
    }

    /// What an array with data has.
    ///
    /// # Errors
    /// For an annotation.
    pub fn expect_data(&self, py: Python<'_>) -> PyResult<&Data> {
        self.data().ok_or_else(|| argument_error(py, "this array is an annotation; it has no elements"))
    }

    /// The runtime's array, without gradient.
    ///
    /// # Errors
    /// For an annotation.
    pub fn runtime(&self, py: Python<'_>) -> PyResult<&rt::Array> {
        self.expect_data(py).map(|data| &data.array)
    }

    /// The runtime's array with its gradient.
    ///
    /// # Errors
    /// For an annotation.
    pub fn with_grad(&self, py: Python<'_>) -> PyResult<rt::Array> {
        let data = self.expect_data(py)?;
        let mut array = data.array.clone();
        if let Some(grad) = data.grad(py) {
            array.set_grad(Some(grad.get().runtime(py)?.clone())).into_py(py)?;
        }
        Ok(array)
    }

    /// The element type; of an annotation only when it is definite.
    pub fn elem(&self) -> Type {
        match &self.state {
            State::Data(data) => data.array.dtype(),
            State::Annotation { elem: Some(Pattern::Exact(ty)), .. } => *ty,
            State::Annotation { .. } => Type::U64,
        }
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> u32 {
        match &self.state {
            State::Data(data) => data.array.ndim() as u32,
            State::Annotation { ndim, .. } => *ndim,
        }
    }

    /// The array as kernels see it; all zero for an annotation.
    pub fn descriptor(&self) -> ArrayDesc {
        self.data().map(Data::descriptor).unwrap_or_default()
    }

    /// The object that stands for the element type.
    pub fn dtype_object(&self, py: Python<'_>) -> Py<PyAny> {
        self.dtype.clone_ref(py)
    }
}

impl Data {
    /// The array as kernels see it.
    #[inline]
    pub fn descriptor(&self) -> ArrayDesc {
        ArrayDesc { grad: self.grad_address.load(Ordering::Relaxed), ..self.array.desc() }
    }

    /// The runtime's array, without gradient.
    #[inline]
    pub fn array(&self) -> &rt::Array {
        &self.array
    }

    /// Whether backward passes leave the gradient of overwritten elements as it is.
    pub fn retains_grad(&self) -> bool {
        self.retain_grad.load(Ordering::Relaxed)
    }

    fn grad(&self, py: Python<'_>) -> Option<Py<Array>> {
        self.grad.lock().unwrap_or_else(|e| e.into_inner()).as_ref().map(|g| g.clone_ref(py))
    }

    fn set_grad(&self, py: Python<'_>, grad: Option<Py<Array>>) -> PyResult<()> {
        let address = match &grad {
            Some(grad) => {
                let grad = grad.get().runtime(py)?;
                // The runtime checks that it is laid out like this array.
                self.array.clone().set_grad(Some(grad.clone())).into_py(py)?;
                grad.address()
            }
            None => 0,
        };
        let old = std::mem::replace(&mut *self.grad.lock().unwrap_or_else(|e| e.into_inner()), grad);
        self.grad_address.store(address, Ordering::Relaxed);
        drop(old);
        Ok(())
    }
}

#[pymethods]
impl Array {
    #[new]
    #[classmethod]
    #[pyo3(signature = (
        data = None, dtype = None, shape = None, strides = None, ptr = None, capacity = None, device = None,
        pinned = false, copy = true, deleter = None, ndim = None, grad = None, requires_grad = false,
        retain_grad = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "the signature is the reference API's")]
    fn new(
        class: &Bound<'_, PyType>,
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
    ) -> PyResult<Array> {
        let py = class.py();
        if data.is_none() && shape.is_none() && ptr.is_none() {
            let any;
            let dtype = match dtype {
                Some(dtype) => dtype,
                None => {
                    any = py.import("typing")?.getattr("Any")?;
                    &any
                }
            };
            return array_new::annotation(dtype, ndim.unwrap_or(1), ArrayKind::Strided);
        }
        let source = Source { data, dtype, shape, strides, ptr, capacity, device, pinned, copy, deleter };
        let (array, dtype) = array_new::build(py, &source)?;
        let made = Array::new_data(py, array, dtype, false)?;
        let data = made.expect_data(py)?;
        if let Some(grad) = grad {
            data.set_grad(py, Some(grad.unbind()))?;
        } else if requires_grad {
            made.require_grad(py)?;
        }
        made.retain(py, retain_grad)?;
        Ok(made)
    }

    /// The annotation `array[dtype]`, or `array[dtype, Literal[2]]` for two dimensions.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Array>> {
        let (dtype, ndim) = array_new::subscript(item)?;
        Bound::new(class.py(), array_new::annotation(&dtype, ndim, ArrayKind::Strided)?)
    }

    /// The object that stands for the element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> Py<PyAny> {
        self.dtype.clone_ref(py)
    }

    /// The extents; of an annotation zeros, or what was assigned.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.state {
            State::Data(data) => Ok(PyTuple::new(py, data.array.shape())?.into_any()),
            State::Annotation { ndim, noted_shape, .. } => {
                let noted = noted_shape.lock().unwrap_or_else(|e| e.into_inner());
                match &*noted {
                    Some(shape) => Ok(shape.bind(py).clone()),
                    None => Ok(PyTuple::new(py, vec![0; *ndim as usize])?.into_any()),
                }
            }
        }
    }

    /// Notes a shape on an annotation, for the program's own use. An array with elements keeps its shape.
    #[setter]
    fn set_shape(&self, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        match &self.state {
            State::Data(_) => Err(PyAttributeError::new_err(
                "an array's shape is fixed; `reshape` gives a view of another shape",
            )),
            State::Annotation { noted_shape, .. } => {
                let shape = shape.clone().unbind();
                let old = noted_shape.lock().unwrap_or_else(|e| e.into_inner()).replace(shape);
                drop(old);
                Ok(())
            }
        }
    }

    /// The distances between neighbours, bytes.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.state {
            State::Data(data) => PyTuple::new(py, data.array.strides()),
            State::Annotation { ndim, .. } => PyTuple::new(py, vec![0; *ndim as usize]),
        }
    }

    /// The number of dimensions.
    #[getter(ndim)]
    fn get_ndim(&self) -> u32 {
        self.ndim()
    }

    /// The number of elements.
    #[getter]
    fn size(&self) -> usize {
        self.data().map_or(0, |data| data.array.len())
    }

    /// The bytes the array may use, from its first element on.
    #[getter]
    fn capacity(&self) -> usize {
        self.data().map_or(0, |data| data.array.size_bytes())
    }

    /// The device the elements are on; `None` for an annotation.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Option<Py<PyDevice>>> {
        self.data().map(|data| device_object(py, data.array.device())).transpose()
    }

    /// The address of the first element; `None` when there are no elements.
    #[getter]
    fn ptr(&self) -> Option<u64> {
        self.data().filter(|data| !data.array.is_empty()).map(|data| data.array.address())
    }

    /// Whether the elements follow one another in row-major order without gaps.
    #[getter]
    fn is_contiguous(&self) -> bool {
        self.data().is_some_and(|data| data.array.is_contiguous())
    }

    /// Whether the elements lie in page-locked host memory.
    #[getter]
    fn pinned(&self) -> bool {
        self.data().is_some_and(|data| data.array.is_pinned())
    }

    /// Whether the backward pass of a kernel leaves the gradient of elements that the kernel wrote as it is. Without, it
    /// becomes zero, as what was in the elements before had no part in what came after.
    #[getter]
    fn get_retain_grad(&self) -> bool {
        self.data().is_some_and(Data::retains_grad)
    }

    #[setter]
    fn set_retain_grad(&self, py: Python<'_>, value: bool) -> PyResult<()> {
        self.retain(py, value)
    }

    /// The array of the gradient, or `None`.
    #[getter(grad)]
    fn get_grad(&self, py: Python<'_>) -> Option<Py<Array>> {
        self.data().and_then(|data| data.grad(py))
    }

    #[setter(grad)]
    fn set_grad(&self, py: Python<'_>, grad: Option<Bound<'_, Array>>) -> PyResult<()> {
        self.expect_data(py)?.set_grad(py, grad.map(Bound::unbind))
    }

    /// Whether there is a gradient.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.has_grad()
    }

    #[setter]
    fn set_requires_grad(&self, py: Python<'_>, value: bool) -> PyResult<()> {
        if value {
            return self.require_grad(py);
        }
        let data = self.expect_data(py)?;
        data.retain_grad.store(false, Ordering::Relaxed);
        data.set_grad(py, None)
    }

    fn __len__(&self) -> usize {
        self.data().and_then(|data| data.array.shape().first().copied()).unwrap_or(0) as usize
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        if slf.get().data().is_none() {
            return match slf.get().pattern() {
                Some(pattern) => Ok(pattern.to_string()),
                None => slf.get().__repr__(slf.py()),
            };
        }
        Ok(array_io::numpy(slf)?.str()?.to_string())
    }

    /// What recorded launches take as this array: the array itself.
    fn __ctype__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Array>() else { return Ok(false) };
        let (own, theirs) = (slf.get(), other.get());
        match (&own.state, &theirs.state) {
            (State::Annotation { .. }, State::Annotation { .. }) => match (own.pattern(), theirs.pattern()) {
                (None, None) => own.dtype.bind(slf.py()).eq(&theirs.dtype),
                (own, theirs) => Ok(own == theirs),
            },
            _ => Ok(slf.is(other)),
        }
    }

    fn __hash__(slf: &Bound<'_, Self>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match &slf.get().state {
            State::Annotation { .. } => slf.get().pattern().map(|p| p.to_string()).hash(&mut hasher),
            State::Data(_) => slf.as_ptr().hash(&mut hasher),
        }
        hasher.finish()
    }

    // Annotations of Python's own functions: `wp.array[float] | None`.
    fn __or__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().union(slf, other)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        slf.get().union(other, slf)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        match &self.state {
            State::Data(data) => {
                let dtype = data.array.dtype().python_name();
                Ok(format!("array(shape={}, dtype={dtype})", self.shape(py)?.repr()?))
            }
            State::Annotation { elem, ndim, kind, .. } => {
                let name = if *kind == ArrayKind::Indexed { "indexedarray" } else { "array" };
                let elem = match elem {
                    Some(elem) => elem.to_string(),
                    None => self.dtype.bind(py).repr()?.to_string(),
                };
                Ok(format!("{name}(ndim={ndim}, dtype={elem})"))
            }
        }
    }

    fn __getitem__<'py>(slf: &Bound<'py, Self>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        array_view::get(slf, key)
    }

    fn __setitem__(slf: &Bound<'_, Self>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        array_view::set(slf, key, value)
    }

    /// A view in another shape; one extent may be -1. The array must be contiguous.
    fn reshape<'py>(slf: &Bound<'py, Self>, shape: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        let shape = array_new::shape_argument(shape)?;
        array_view::derived(slf, |array| array.reshape(&shape))
    }

    /// A view with one dimension. The array must be contiguous.
    fn flatten<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        array_view::derived(slf, rt::Array::flatten)
    }

    /// A view with the dimensions in another order; reversed without `axes`.
    #[pyo3(signature = (axes = None))]
    fn transpose<'py>(slf: &Bound<'py, Self>, axes: Option<Vec<i64>>) -> PyResult<Bound<'py, Array>> {
        array_view::derived(slf, |array| array.transpose(axes.as_deref()))
    }

    /// A view of the same bytes with another element type. A vector or matrix type takes up the last dimensions
    /// when they are its shape; from a vector or matrix to its scalar they come back.
    fn view<'py>(slf: &Bound<'py, Self>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        array_view::view_as(slf, dtype)
    }

    /// The array itself if it is contiguous, else a contiguous copy.
    fn contiguous<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        if slf.get().is_contiguous() { Ok(slf.clone()) } else { array_new::clone(slf, None, None, None) }
    }

    /// The array itself if it is on `device`, else a copy there.
    #[pyo3(signature = (device, requires_grad = None))]
    fn to<'py>(
        slf: &Bound<'py, Self>,
        device: &Bound<'py, PyAny>,
        requires_grad: Option<bool>,
    ) -> PyResult<Bound<'py, Array>> {
        let target = device_argument(slf.py(), Some(device))?;
        if slf.get().runtime(slf.py())?.device() == target {
            return Ok(slf.clone());
        }
        array_new::clone(slf, Some(target), requires_grad, None)
    }

    /// Sets every element to zero.
    fn zero_(slf: &Bound<'_, Self>) -> PyResult<()> {
        let py = slf.py();
        slf.get().runtime(py)?.zero(None).into_py(py)?;
        crate::tape::record_fill(slf)
    }

    /// Sets every element to `value`.
    fn fill_(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        array_new::fill(slf.get(), value)?;
        crate::tape::record_fill(slf)
    }

    /// Copies elements from another array, a numpy array or a list.
    fn assign(slf: &Bound<'_, Self>, src: &Bound<'_, PyAny>) -> PyResult<()> {
        array_io::assign(slf, src)?;
        match src.cast::<Array>() {
            Ok(src) => crate::tape::record_copy(slf, src, [0; 3]),
            Err(_) => crate::tape::record_fill(slf),
        }
    }

    /// A numpy array: on the CPU it shares memory, from a GPU it is a copy made after the queued work.
    #[pyo3(signature = (**_options))]
    fn numpy<'py>(
        slf: &Bound<'py, Self>,
        _options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        array_io::numpy(slf)
    }

    /// The elements in one flat list.
    fn list<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        array_io::list(slf)
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_io::array_interface(py, self)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        array_io::cuda_array_interface(py, self)
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
            return crate::dlpack::export(&array_new::clone(slf, None, None, None)?, stream);
        }
        crate::dlpack::export(slf, stream)
    }

    fn __dlpack_device__(&self, py: Python<'_>) -> PyResult<(i32, i32)> {
        Ok(crate::dlpack::device_code(self.runtime(py)?))
    }

    fn __copy__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        array_view::derived(slf, |array| Ok(array.clone()))
    }

    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Array>> {
        array_new::clone(slf, None, None, None)
    }

    fn __add__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("add", &[slf.as_any(), other], None)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("add", &[other, slf.as_any()], None)
    }

    fn __iadd__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        operate("add", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("sub", &[slf.as_any(), other], None)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("sub", &[other, slf.as_any()], None)
    }

    fn __isub__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        operate("sub", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("mul", &[slf.as_any(), other], None)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("mul", &[other, slf.as_any()], None)
    }

    fn __imul__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        operate("mul", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("div", &[slf.as_any(), other], None)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("div", &[other, slf.as_any()], None)
    }

    fn __itruediv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        operate("div", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("floordiv", &[slf.as_any(), other], None)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("floordiv", &[other, slf.as_any()], None)
    }

    fn __ifloordiv__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        operate("floordiv", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("mod", &[slf.as_any(), other], None)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        operate("mod", &[other, slf.as_any()], None)
    }

    fn __imod__<'py>(slf: &Bound<'py, Self>, other: &Bound<'py, PyAny>) -> PyResult<()> {
        operate("mod", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operate("pow", &[slf.as_any(), other], None)
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        operate("pow", &[other, slf.as_any()], None)
    }

    fn __ipow__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        operate("pow", &[slf.as_any(), other], Some(slf)).map(drop)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        operate("neg", &[slf.as_any()], None)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        operate("pos", &[slf.as_any()], None)
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Py<PyAny>> {
        let items = (0..slf.get().__len__() as i64)
            .map(|i| slf.as_any().get_item(i))
            .collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(slf.py(), items)?.try_iter()?.into_any().unbind())
    }
}

impl Array {
    /// Gives the array a gradient of zeros, if it has none.
    ///
    /// # Errors
    /// Those of allocation; for an annotation.
    pub fn require_grad(&self, py: Python<'_>) -> PyResult<()> {
        let data = self.expect_data(py)?;
        if data.grad(py).is_some() {
            return Ok(());
        }
        let mut array = data.array.clone();
        array.require_grad().into_py(py)?;
        let grad = array.grad().cloned();
        let grad = grad.map(|grad| Array::wrap(py, grad, self.dtype.clone_ref(py))).transpose()?;
        data.set_grad(py, grad.map(Bound::unbind))
    }
}

/// Applies a built-in to the elements of arrays, into `out` or a new array.
fn operate<'py>(
    builtin: &str,
    operands: &[&Bound<'py, PyAny>],
    out: Option<&Bound<'py, Array>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = operands[0].py();
    let inkle = py.import("inkle")?;
    let mut args = vec![inkle.getattr(builtin)?];
    args.extend(operands.iter().map(|o| (*o).clone()));
    let options = PyDict::new(py);
    if let Some(out) = out {
        options.set_item("out", out)?;
    }
    inkle.getattr("map")?.call(PyTuple::new(py, args)?, Some(&options))
}

/// The array an argument must be.
///
/// # Errors
/// `TypeError` naming the argument.
pub fn array_argument<'a, 'py>(
    object: &'a Bound<'py, PyAny>,
    argument: &str,
) -> PyResult<&'a Bound<'py, Array>> {
    object
        .cast::<Array>()
        .map_err(|_| PyTypeError::new_err(format!("`{argument}` is an array, not {}", class_name(object))))
}
