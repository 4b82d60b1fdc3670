//! Arrays of all kinds as Python objects: one class holds them, and below it is a class for each kind.
//!
//! The classes serve two purposes, as users write them: `array(dtype=float, ndim=2)` without data is an annotation,
//! with data (or a shape, or a pointer) it is an array. Programs derive classes of their own from them, whose constructors
//! take what they like, so an object is empty until its class's `__init__` has run.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

use inkle_frontend::pattern::Pattern;
use inkle_graph::capture::check_read;
use inkle_ir::{ArrayDesc, ArrayKind, Type};
use inkle_runtime::{self as rt, Device};
use pyo3::exceptions::{PyAttributeError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::array_arguments::{gathered, gathered_on_tape, scattered};
use crate::array_data::Data;
use crate::array_io;
use crate::array_new;
use crate::device::{PyDevice, device_argument, device_object};
use crate::dtype::array_pattern;
use crate::error::{IntoPyResult, argument_error};
use crate::fabric::{Fabric, FabricArray, IndexedFabricArray};
use crate::indexed::{Indexed, IndexedArray};
use crate::interface::write_desc;
use crate::strided::StridedArray;

/// An array of any kind. What users see are the classes below this one.
#[pyclass(subclass, frozen, dict, weakref, module = "inkle", name = "array_base")]
pub struct Array {
    kind: ArrayKind,
    held: OnceLock<Held>,
}

struct Held {
    /// The object the element type was given as, or the class that stands for it.
    dtype: Py<PyAny>,
    state: State,
}

/// What an object is.
pub enum State {
    /// The annotation of arrays.
    Annotation {
        /// `None` for elements that are not available in inkle yet: a kernel with such a parameter is refused.
        elem: Option<Pattern>,
        /// The number of dimensions.
        ndim: u32,
        /// What the program noted as the shape: programs describe their data by annotations.
        noted_shape: Mutex<Option<Py<PyAny>>>,
    },
    /// An array of strides.
    Strided(Data),
    /// An array seen through lists of indices.
    Indexed(Indexed),
    /// An array in buckets, maybe seen through a list.
    Fabric(Fabric),
}

impl State {
    /// The annotation of arrays of `elem`; without it, of elements that are not available yet.
    pub fn annotation(elem: Option<Pattern>, ndim: u32) -> State {
        State::Annotation { elem, ndim, noted_shape: Mutex::new(None) }
    }
}

impl Array {
    /// The object of a runtime array; its gradient becomes an object too.
    ///
    /// # Errors
    /// What Python raises while the object is made.
    pub fn wrap(py: Python<'_>, array: rt::Array, dtype: Py<PyAny>) -> PyResult<Bound<'_, Array>> {
        let data = Data::new(py, array, &dtype)?;
        Array::make(py, ArrayKind::Strided, dtype, State::Strided(data))
    }

    /// The annotation of arrays of `elem` with `ndim` dimensions; without `elem` it means no type.
    ///
    /// # Errors
    /// What Python raises while the object is made.
    pub fn annotation(
        py: Python<'_>,
        elem: Option<Pattern>,
        dtype: Py<PyAny>,
        ndim: u32,
        kind: ArrayKind,
    ) -> PyResult<Bound<'_, Array>> {
        Array::make(py, kind, dtype, State::annotation(elem, ndim))
    }

    /// The object of a kind's class.
    ///
    /// # Errors
    /// What Python raises while the object is made.
    pub fn make(
        py: Python<'_>,
        kind: ArrayKind,
        dtype: Py<PyAny>,
        state: State,
    ) -> PyResult<Bound<'_, Array>> {
        let held = OnceLock::from(Held { dtype, state });
        let base = PyClassInitializer::from(Array { kind, held });
        Ok(match kind {
            ArrayKind::Strided => Bound::new(py, base.add_subclass(StridedArray))?.into_super(),
            ArrayKind::Indexed => Bound::new(py, base.add_subclass(IndexedArray))?.into_super(),
            ArrayKind::Fabric => Bound::new(py, base.add_subclass(FabricArray))?.into_super(),
            ArrayKind::IndexedFabric => Bound::new(py, base.add_subclass(IndexedFabricArray))?.into_super(),
        })
    }

    /// An object that its class's `__init__` is still to fill; until then it is an annotation of all types.
    pub fn blank(kind: ArrayKind) -> Array {
        Array { kind, held: OnceLock::new() }
    }

    /// Fills a blank object.
    ///
    /// # Errors
    /// When the object was filled before.
    pub fn fill(&self, dtype: Py<PyAny>, state: State) -> PyResult<()> {
        self.held
            .set(Held { dtype, state })
            .map_err(|_| PyRuntimeError::new_err("the array's `__init__` has run before"))
    }

    /// What the object is; `None` while it is blank.
    pub fn state(&self) -> Option<&State> {
        self.held.get().map(|held| &held.state)
    }

    /// Whether there is a gradient.
    pub fn has_grad(&self) -> bool {
        match self.state() {
            Some(State::Indexed(indexed)) => indexed.data().has_grad(),
            _ => self.data().is_some_and(Data::has_grad),
        }
    }

    /// What the array means as an annotation: its own element type and dimensions. `None` when the elements are of a
    /// kind that is not available yet.
    pub fn pattern(&self) -> Option<Pattern> {
        match self.state() {
            None => Some(array_pattern(&Pattern::Any(None), 1, self.kind)),
            Some(State::Annotation { elem, ndim, .. }) => {
                elem.as_ref().map(|elem| array_pattern(elem, *ndim, self.kind))
            }
            Some(_) => Some(Pattern::Exact(self.ty())),
        }
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
        if self.has_elements() {
            return Ok(py.NotImplemented().into_bound(py));
        }
        py.import("typing")?.getattr("Union")?.get_item((a, b))
    }

    /// The array of strides with the elements: the array itself, or the one that is seen through lists.
    pub fn elements<'py>(array: &Bound<'py, Array>) -> Option<Bound<'py, Array>> {
        match array.get().state()? {
            State::Strided(_) => Some(array.clone()),
            State::Indexed(indexed) => Some(indexed.object().bind(array.py()).clone()),
            State::Fabric(_) | State::Annotation { .. } => None,
        }
    }

    /// The type that kernels give the array; of an annotation only when it is definite.
    pub fn ty(&self) -> Type {
        Type::array_of_kind(self.elem(), self.ndim(), self.kind)
    }

    /// The kind of array.
    pub fn kind(&self) -> ArrayKind {
        self.kind
    }

    /// What an array of strides has; `None` for an annotation and other kinds.
    #[inline]
    pub fn data(&self) -> Option<&Data> {
        match self.state() {
            Some(State::Strided(data)) => Some(data),
            _ => None,
        }
    }

    /// Whether there are elements: whether it is no annotation.
    pub fn has_elements(&self) -> bool {
        !matches!(self.state(), None | Some(State::Annotation { .. }))
    }

    /// What an array of strides has.
    ///
    /// # Errors
    /// For an annotation and other kinds.
    pub fn expect_data(&self, py: Python<'_>) -> PyResult<&Data> {
        self.data().ok_or_else(|| match self.has_elements() {
            true => argument_error(py, format!("an array is needed here, not an {}", self.kind.name())),
            false => argument_error(py, "this array is an annotation; it has no elements"),
        })
    }

    /// The runtime's array, without gradient.
    ///
    /// # Errors
    /// For an annotation and other kinds.
    pub fn runtime(&self, py: Python<'_>) -> PyResult<&rt::Array> {
        self.expect_data(py).map(|data| &data.array)
    }

    /// The runtime's array with its gradient.
    ///
    /// # Errors
    /// For an annotation and other kinds.
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
        match self.state() {
            Some(State::Strided(data)) => data.array.dtype(),
            Some(State::Indexed(indexed)) => indexed.data().elem(),
            Some(State::Fabric(fabric)) => fabric.elem(),
            Some(State::Annotation { elem: Some(Pattern::Exact(ty)), .. }) => *ty,
            Some(State::Annotation { .. }) | None => Type::U64,
        }
    }

    /// The number of dimensions.
    pub fn ndim(&self) -> u32 {
        match self.state() {
            Some(State::Strided(data)) => data.array.ndim() as u32,
            Some(State::Indexed(indexed)) => indexed.data().ndim(),
            Some(State::Fabric(fabric)) => fabric.ndim(),
            Some(State::Annotation { ndim, .. }) => *ndim,
            None => 1,
        }
    }

    /// The extents; none of an annotation's dimensions has one.
    pub fn extents(&self) -> Vec<i32> {
        match self.state() {
            Some(State::Strided(data)) => data.array.shape().to_vec(),
            Some(State::Indexed(indexed)) => indexed.shape().to_vec(),
            Some(State::Fabric(fabric)) => vec![fabric.size()],
            Some(State::Annotation { ndim, .. }) => vec![0; *ndim as usize],
            None => vec![0],
        }
    }

    /// Where the elements are; `None` for an annotation.
    pub fn home(&self) -> Option<Device> {
        match self.state()? {
            State::Strided(data) => Some(data.array.device()),
            State::Indexed(indexed) => indexed.data().home(),
            State::Fabric(fabric) => Some(fabric.device()),
            State::Annotation { .. } => None,
        }
    }

    /// The array as kernels see it; all zero for an annotation and other kinds.
    pub fn descriptor(&self) -> ArrayDesc {
        self.data().map(Data::descriptor).unwrap_or_default()
    }

    /// Stores the array as generated code reads it. `to` has room for it.
    pub fn write(&self, to: &mut [u8]) {
        match self.state() {
            Some(State::Strided(data)) => write_desc(&data.descriptor(), to),
            Some(State::Indexed(indexed)) => indexed.write(to),
            Some(State::Fabric(fabric)) => fabric.write(to),
            Some(State::Annotation { .. }) | None => to[..self.ty().size() as usize].fill(0),
        }
    }

    /// Calls `visit` with all memory of the library's that kernels reach through the array.
    pub fn each_memory(&self, py: Python<'_>, visit: &mut dyn FnMut(&Arc<rt::Allocation>)) {
        match self.state() {
            Some(State::Strided(data)) => {
                visit(data.array.memory());
                if data.grad_address() != 0
                    && let Some(grad) = data.grad(py)
                {
                    grad.get().each_memory(py, visit);
                }
            }
            Some(State::Indexed(indexed)) => {
                indexed.data().each_memory(py, visit);
                indexed.lists().for_each(|list| list.each_memory(py, visit));
            }
            Some(State::Fabric(fabric)) => {
                visit(fabric.table().memory());
                if let Some(list) = fabric.list() {
                    list.each_memory(py, visit);
                }
            }
            Some(State::Annotation { .. }) | None => {}
        }
    }

    /// The object that stands for the element type.
    pub fn dtype_object(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.held.get() {
            Some(held) => Ok(held.dtype.clone_ref(py)),
            None => Ok(py.import("typing")?.getattr("Any")?.unbind()),
        }
    }
}

#[pymethods]
impl Array {
    /// The object that stands for the element type.
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.dtype_object(py)
    }

    /// The extents; of an annotation zeros, or what was assigned.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        if let Some(State::Annotation { noted_shape, .. }) = self.state()
            && let Some(shape) = &*noted_shape.lock().unwrap_or_else(|e| e.into_inner())
        {
            return Ok(shape.bind(py).clone());
        }
        Ok(PyTuple::new(py, self.extents())?.into_any())
    }

    /// Notes a shape on an annotation, for the program's own use. An array with elements keeps its shape.
    #[setter]
    fn set_shape(&self, shape: &Bound<'_, PyAny>) -> PyResult<()> {
        match self.state() {
            Some(State::Annotation { noted_shape, .. }) => {
                let shape = shape.clone().unbind();
                let old = noted_shape.lock().unwrap_or_else(|e| e.into_inner()).replace(shape);
                drop(old);
                Ok(())
            }
            _ => Err(PyAttributeError::new_err(
                "an array's shape is fixed; `reshape` gives a view of another shape",
            )),
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
        self.extents().iter().map(|n| *n as usize).product()
    }

    /// The device the elements are on; `None` for an annotation.
    #[getter]
    fn device(&self, py: Python<'_>) -> PyResult<Option<Py<PyDevice>>> {
        self.home().map(|device| device_object(py, device)).transpose()
    }

    /// Whether the elements follow one another in row-major order without gaps.
    #[getter]
    fn is_contiguous(&self) -> bool {
        self.data().is_some_and(|data| data.array.is_contiguous())
    }

    /// The array of the gradient, or `None`; of an array seen through lists that of the array.
    #[getter(grad)]
    pub fn get_grad(&self, py: Python<'_>) -> Option<Py<Array>> {
        match self.state() {
            Some(State::Indexed(indexed)) => indexed.data().get_grad(py),
            _ => self.data().and_then(|data| data.grad(py)),
        }
    }

    /// Whether there is a gradient.
    #[getter]
    fn requires_grad(&self) -> bool {
        self.has_grad()
    }

    fn __len__(&self) -> usize {
        self.extents().first().map_or(0, |n| *n as usize)
    }

    fn __str__(slf: &Bound<'_, Self>) -> PyResult<String> {
        // Elements that a graph will write have no values yet, and showing an array is no mistake.
        let has_values = |it: &Array| it.data().is_none_or(|data| check_read(&data.array, "str").is_ok());
        if slf.get().has_elements() && slf.get().is_plain() && has_values(slf.get()) {
            return Ok(Array::numpy(slf, None)?.str()?.to_string());
        }
        slf.get().__repr__(slf.py())
    }

    /// What recorded launches take as this array: the array itself.
    fn __ctype__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Array>() else { return Ok(false) };
        let (own, theirs) = (slf.get(), other.get());
        if own.has_elements() || theirs.has_elements() {
            return Ok(slf.is(other));
        }
        match (own.pattern(), theirs.pattern()) {
            (None, None) => own.dtype_object(slf.py())?.bind(slf.py()).eq(theirs.dtype_object(slf.py())?),
            (own, theirs) => Ok(own == theirs),
        }
    }

    fn __hash__(slf: &Bound<'_, Self>) -> u64 {
        let mut hasher = DefaultHasher::new();
        match slf.get().has_elements() {
            false => slf.get().pattern().map(|p| p.to_string()).hash(&mut hasher),
            true => slf.as_ptr().hash(&mut hasher),
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
        let name = self.kind.name();
        match self.state() {
            Some(State::Annotation { elem, ndim, .. }) => {
                let elem = match elem {
                    Some(elem) => elem.to_string(),
                    None => self.dtype_object(py)?.bind(py).repr()?.to_string(),
                };
                Ok(format!("{name}(ndim={ndim}, dtype={elem})"))
            }
            None => Ok(format!("{name}(ndim=1, dtype=Any)")),
            Some(_) => {
                let (shape, dtype) = (self.shape(py)?.repr()?, self.elem().python_name());
                Ok(format!("{name}(shape={shape}, dtype={dtype})"))
            }
        }
    }

    /// The array itself if its elements follow one another, else a copy in which they do.
    fn contiguous<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Array>> {
        match slf.get().data() {
            Some(data) if data.array.is_contiguous() => Ok(slf.clone()),
            Some(_) => array_new::clone(slf, None, None, None),
            None => gathered_on_tape(slf),
        }
    }

    /// The array itself if it is on `device`, else a copy there.
    #[pyo3(signature = (device, requires_grad = None))]
    fn to<'py>(
        slf: &Bound<'py, Self>,
        device: &Bound<'py, PyAny>,
        requires_grad: Option<bool>,
    ) -> PyResult<Bound<'py, Array>> {
        let target = device_argument(slf.py(), Some(device))?;
        if slf.get().home() == Some(target) {
            return Ok(slf.clone());
        }
        array_new::clone(&gathered_on_tape(slf)?, Some(target), requires_grad, None)
    }

    /// Whether a recorded launch, whose tape was not run backwards yet, read elements; with
    /// `inkle.config.verify_autograd_array_access`.
    #[getter]
    fn _is_read<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        marks(slf, "is_read")
    }

    /// Notes that elements were read by something that a tape does not see and whose backward pass needs them.
    fn mark_read(slf: &Bound<'_, Self>) -> PyResult<()> {
        marks(slf, "mark_read").map(drop)
    }

    /// Forgets what `mark_read` noted of the elements.
    fn mark_init(slf: &Bound<'_, Self>) -> PyResult<()> {
        marks(slf, "mark_init").map(drop)
    }

    /// Warns if elements were read that a backward pass still needs: for a program that changes them where a tape does not
    /// see it.
    fn mark_write(slf: &Bound<'_, Self>) -> PyResult<()> {
        marks(slf, "mark_write").map(drop)
    }

    /// Sets every element to zero.
    fn zero_(slf: &Bound<'_, Self>) -> PyResult<()> {
        match slf.get().data() {
            Some(data) => {
                data.array.zero(None).into_py(slf.py())?;
                array_new::keep_in_graph(&[slf]);
                crate::tape::record_fill(slf)
            }
            None => scattered(slf, "zero", &[]).map(drop),
        }
    }

    /// Sets every element to `value`.
    fn fill_<'py>(slf: &Bound<'py, Self>, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match slf.get().data() {
            Some(_) => {
                array_new::fill(slf.get(), value)?;
                array_new::keep_in_graph(&[slf]);
                crate::tape::record_fill(slf)
            }
            None => scattered(slf, "fill", &[value]).map(drop),
        }
    }

    /// Copies elements from another array, a numpy array or a list.
    fn assign<'py>(slf: &Bound<'py, Self>, src: &Bound<'py, PyAny>) -> PyResult<()> {
        match slf.get().data() {
            Some(_) => match src.cast::<Array>() {
                Ok(src) => {
                    let src = gathered_on_tape(src)?;
                    array_io::assign(slf, &src)?;
                    array_new::keep_in_graph(&[slf, &src]);
                    crate::tape::record_copy(slf, &src, [0; 3])
                }
                Err(_) => {
                    array_io::assign(slf, src)?;
                    array_new::keep_in_graph(&[slf]);
                    crate::tape::record_fill(slf)
                }
            },
            None => scattered(slf, "scatter", &[src]).map(drop),
        }
    }

    /// A numpy array: an array of strides on the CPU shares memory with it, other elements are copied after the queued
    /// work.
    #[pyo3(signature = (**_options))]
    fn numpy<'py>(
        slf: &Bound<'py, Self>,
        _options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        array_io::numpy(&gathered(slf)?)
    }

    /// The elements in one flat list.
    fn list<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        array_io::list(&gathered(slf)?)
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
    /// Whether the elements are values, not arrays themselves.
    pub fn is_plain(&self) -> bool {
        !(self.kind.is_fabric() && self.ndim() > 1)
    }

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
        let grad = grad.map(|grad| Array::wrap(py, grad, self.dtype_object(py)?)).transpose()?;
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

/// What notes of reads and writes there are of an array, and to make them.
fn marks<'py>(array: &Bound<'py, Array>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    array.py().import("inkle._overwrites")?.call_method1(name, (array,))
}

/// The kind of an array or annotation: `array`, `indexedarray`, `fabricarray` or `indexedfabricarray`; `None` for
/// everything else.
#[pyfunction]
pub fn array_kind(value: &Bound<'_, PyAny>) -> Option<&'static str> {
    value.cast::<Array>().ok().map(|array| array.get().kind.name())
}
