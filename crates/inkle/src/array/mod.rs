//! Typed arrays.

mod host;
mod indexed;
#[cfg(feature = "ndarray")]
mod ndarray;
mod view;

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use inkle_ir::Type;
use inkle_runtime::{self as rt, Device, Stream};
use inkle_value::{KernelIndex, Typed, Value, only_in_kernels};

use crate::dim::Shape;
use crate::error::{Error, Result};
use crate::tape;

pub use host::{Host, HostMut};
pub use indexed::{IndexLists, IndexedArray, IndexedView, IndexedViewMut};
#[cfg(feature = "ndarray")]
pub use ndarray::{NdHost, NdHostMut};
pub use view::{ArrayView, ArrayViewMut, Select, Slice, Span};

/// An array of `D` dimensions on a device.
///
/// Kernels take it as `&Array<T, D>` to read and as `&mut Array<T, D>` to write, and index it there: `x[i]`, `x[(i, j)]`. The
/// host copies its elements in and out, and makes [views](ArrayView) of parts of it.
///
/// ```
/// use inkle::Array;
///
/// let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?;
/// assert_eq!((x.len(), x.to_vec()?), (3, vec![1.0, 2.0, 3.0]));
/// # Ok::<(), inkle::Error>(())
/// ```
pub struct Array<T, const D: usize = 1> {
    inner: rt::Array,
    elem: PhantomData<T>,
}

impl<T, const D: usize> Array<T, D> {
    const DIMS: () = assert!(D >= 1 && D <= 4, "an array has one to four dimensions");

    // The bounds are of each function: so rustc says of other types what they lack, where these are called with the type written out.

    /// An array of zeros on the default device.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn zeros(shape: impl Shape<D>) -> Result<Self>
    where
        T: Value,
    {
        Array::zeros_on(rt::default_device(), shape)
    }

    /// An array of zeros on a device.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn zeros_on(device: Device, shape: impl Shape<D>) -> Result<Self>
    where
        T: Value,
    {
        let () = Self::DIMS;
        Ok(Array::wrap(rt::Array::zeros(device, T::ty(), &extents(shape.shape()))?))
    }

    pub(crate) fn wrap(inner: rt::Array) -> Self {
        Array { inner, elem: PhantomData }
    }
}

impl<T: Value, const D: usize> Array<T, D> {
    /// An array with the same value everywhere, on the default device.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn full(shape: impl Shape<D>, value: T) -> Result<Self> {
        Array::full_on(rt::default_device(), shape, value)
    }

    /// An array with the same value everywhere, on a device.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn full_on(device: Device, shape: impl Shape<D>, value: T) -> Result<Self> {
        let () = Self::DIMS;
        let mut array = Array::wrap(rt::Array::empty(device, T::ty(), &extents(shape.shape()))?);
        array.fill(value)?;
        Ok(array)
    }

    /// An array of `shape` on the default device with the given elements, the last index running fastest.
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer values than elements; when memory runs out.
    pub fn from_shape(shape: impl Shape<D>, values: &[T]) -> Result<Self> {
        Array::from_shape_on(rt::default_device(), shape, values)
    }

    /// An array of `shape` on a device with the given elements, the last index running fastest.
    ///
    /// # Errors
    /// As [`from_shape`](Array::from_shape).
    pub fn from_shape_on(device: Device, shape: impl Shape<D>, values: &[T]) -> Result<Self> {
        let () = Self::DIMS;
        let shape = shape.shape();
        check_count(shape, values.len())?;
        Ok(Array::wrap(rt::Array::from_bytes(device, T::ty(), &extents(shape), &T::bytes_of(values))?))
    }

    /// An array of page-locked CPU memory, zero: what is copied from and to GPUs at full speed.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large; without a CUDA driver.
    pub fn pinned(shape: impl Shape<D>) -> Result<Self> {
        let () = Self::DIMS;
        Ok(Array::wrap(rt::Array::pinned(T::ty(), &extents(shape.shape()))?))
    }

    /// The runtime's array as an array of this type.
    ///
    /// # Errors
    /// [`RuntimeError::TypeMismatch`](rt::RuntimeError::TypeMismatch) and
    /// [`RuntimeError::ShapeMismatch`](rt::RuntimeError::ShapeMismatch) when it has other elements or dimensions.
    pub fn from_runtime(array: rt::Array) -> Result<Self> {
        let () = Self::DIMS;
        if array.dtype() != T::ty() {
            let (left, right) = (T::ty(), array.dtype());
            return Err(rt::RuntimeError::TypeMismatch { operation: "an array", left, right }.into());
        }
        if array.ndim() != D {
            let (left, right) = (vec![0; D], array.shape().to_vec());
            return Err(rt::RuntimeError::ShapeMismatch { operation: "an array", left, right }.into());
        }
        Ok(Array::wrap(array))
    }

    /// The elements, the last index running fastest. From a GPU they are copied when what the device's current stream has to
    /// do is done.
    ///
    /// # Errors
    /// What the device reports.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(T::read(self.inner.len(), |bytes| self.inner.read_bytes(bytes))?)
    }

    /// One element.
    ///
    /// # Errors
    /// When the index is out of range; what the device reports.
    pub fn get(&self, index: [usize; D]) -> Result<T> {
        let indices = index.map(|i| rt::Index::At(i64::try_from(i).unwrap_or(i64::MAX)));
        Ok(T::fetch(&self.inner.select(&indices)?.to_bytes()?))
    }

    /// Sets one element.
    ///
    /// # Errors
    /// When the index is out of range; what the device reports.
    pub fn set(&mut self, index: [usize; D], value: T) -> Result<()> {
        let indices = index.map(|i| rt::Index::At(i64::try_from(i).unwrap_or(i64::MAX)));
        let place = self.inner.select(&indices)?;
        place.write_bytes(&T::bytes_of(&[value]))?;
        tape::record_overwrite(&place);
        Ok(())
    }

    /// Sets all elements, the last index running fastest.
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer values than elements; what the device reports.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        if values.len() != self.len() {
            return Err(Error::Length { expected: self.len(), found: values.len() });
        }
        self.inner.write_bytes(&T::bytes_of(values))?;
        tape::record_overwrite(&self.inner);
        Ok(())
    }

    /// Sets all elements to those of another array of the same shape, on any device.
    ///
    /// # Errors
    /// When the shapes differ; what the devices report.
    pub fn copy_from(&mut self, other: &Array<T, D>) -> Result<()> {
        self.inner.copy_from(&other.inner, None)?;
        tape::record_copy(&self.inner, &other.inner);
        Ok(())
    }

    /// As [`copy_from`](Array::copy_from), queued on a stream.
    ///
    /// # Errors
    /// When the shapes differ; what the devices report.
    pub fn copy_from_on(&mut self, other: &Array<T, D>, stream: &Stream) -> Result<()> {
        self.inner.copy_from(&other.inner, Some(stream))?;
        tape::record_copy(&self.inner, &other.inner);
        Ok(())
    }

    /// Copies `count` elements, in the order of memory, from place `from` of another array to place `to` of this one. Shapes do
    /// not matter; neither has gaps.
    ///
    /// # Errors
    /// [`RuntimeError::RangeOutOfBounds`](rt::RuntimeError::RangeOutOfBounds),
    /// [`RuntimeError::NotContiguous`](rt::RuntimeError::NotContiguous); what the devices report.
    pub fn copy_range_from<const E: usize>(
        &mut self,
        to: usize,
        other: &Array<T, E>,
        from: usize,
        count: usize,
    ) -> Result<()> {
        self.inner.copy_range_from(to, &other.inner, from, count, None)?;
        if tape::is_recording() {
            let part = |array: &rt::Array, start: usize| {
                array.flatten()?.slice(0, Slice::range(start as i64, (start + count) as i64))
            };
            tape::record_copy(&part(&self.inner, to)?, &part(&other.inner, from)?);
        }
        Ok(())
    }

    /// Sets all elements to a value.
    ///
    /// # Errors
    /// What the device reports.
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.inner.fill(&T::bytes_of(&[value]), None)?;
        tape::record_overwrite(&self.inner);
        Ok(())
    }

    /// Sets all bytes of all elements to zero.
    ///
    /// # Errors
    /// What the device reports.
    pub fn zero(&mut self) -> Result<()> {
        self.inner.zero(None)?;
        tape::record_overwrite(&self.inner);
        Ok(())
    }

    /// An array of zeros with the shape of another one, on its device.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn zeros_like<U: Value>(other: &Array<U, D>) -> Result<Self> {
        Array::zeros_on(other.device(), other.shape().map(|extent| extent as usize))
    }

    /// An array with the same value everywhere and the shape of another one, on its device.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn full_like<U: Value>(other: &Array<U, D>, value: T) -> Result<Self> {
        Array::full_on(other.device(), other.shape().map(|extent| extent as usize), value)
    }

    /// A copy on a device.
    ///
    /// # Errors
    /// When memory runs out; what the devices report.
    pub fn to_device(&self, device: Device) -> Result<Self> {
        let copy = rt::Array::empty(
            device,
            T::ty(),
            &self.inner.shape().iter().map(|&n| n.into()).collect::<Vec<_>>(),
        )?;
        copy.copy_from(&self.inner, None)?;
        Ok(Array::wrap(copy))
    }

    /// A copy on the same device, without a gradient.
    ///
    /// # Errors
    /// When memory runs out; what the device reports.
    pub fn try_clone(&self) -> Result<Self> {
        self.to_device(self.device())
    }

    /// Gives up the gradient.
    ///
    /// # Errors
    /// None that are known.
    pub fn drop_grad(&mut self) -> Result<()> {
        Ok(self.inner.set_grad(None)?)
    }

    /// Gives the array a gradient of zeros, if it has none.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn require_grad(&mut self) -> Result<()> {
        Ok(self.inner.require_grad()?)
    }

    /// The array with a gradient of zeros.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn with_grad(mut self) -> Result<Self> {
        self.require_grad()?;
        Ok(self)
    }

    /// The gradient, if the array has one.
    pub fn grad(&self) -> Option<ArrayView<'_, T, D>> {
        self.inner.grad().map(|grad| ArrayView::wrap(grad.clone()))
    }

    /// The gradient to write to, if the array has one.
    pub fn grad_mut(&mut self) -> Option<ArrayViewMut<'_, T, D>> {
        self.inner.grad().map(|grad| ArrayViewMut::wrap(grad.clone()))
    }
}

impl<T, const D: usize> Array<T, D> {
    /// The extents.
    pub fn shape(&self) -> [i32; D] {
        std::array::from_fn(|dim| self.inner.shape()[dim])
    }

    /// The number of elements.
    #[expect(
        clippy::len_without_is_empty,
        reason = "`is_empty` would have to be known in kernels too, for nothing"
    )]
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// The distances of neighbours in each dimension, bytes.
    pub fn strides(&self) -> [i64; D] {
        std::array::from_fn(|dim| self.inner.strides()[dim])
    }

    /// Whether the elements follow one another, the last index running fastest, without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.inner.is_contiguous()
    }

    /// The device that the elements are on.
    pub fn device(&self) -> Device {
        self.inner.device()
    }

    /// Another handle on the array, with the same memory and gradient: for what outlives a borrow, as steps of a backward pass do
    /// ([`on_backward_of`](crate::on_backward_of)). What one handle writes the other reads; that they are not used at once is up to
    /// the program, and launches cannot tell that two of them are one array.
    pub fn share(&self) -> Self {
        Array { inner: self.inner.clone(), elem: PhantomData }
    }

    /// The runtime's array, which shares the memory.
    pub fn runtime(&self) -> &rt::Array {
        &self.inner
    }
}

impl<T: Value> Array<T, 1> {
    /// An array of these elements on the default device.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn from_slice(values: &[T]) -> Result<Self> {
        Array::from_shape(values.len(), values)
    }

    /// An array of these elements on a device.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn from_slice_on(device: Device, values: &[T]) -> Result<Self> {
        Array::from_shape_on(device, values.len(), values)
    }
}

impl<T: Value, const D: usize> fmt::Debug for Array<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elem = T::ty();
        write!(f, "Array({elem}, {:?}, {})", self.shape(), self.device())
    }
}

impl<T: Value, const D: usize> fmt::Display for Array<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elem, shape, device) = (T::ty(), self.shape(), self.device());
        write!(f, "an array of {elem} with shape {shape:?} on {device}")
    }
}

impl<T: Value, const D: usize> Typed for Array<T, D> {
    fn ty() -> Type {
        Type::array(T::ty(), D as u32)
    }
}

/// What elements of an array of `D` dimensions are indexed by: [`KernelIndex`], which only kernels have.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no index of an array of {D} dimensions",
    label = "kernels write as many indices as there are dimensions, `x[i]` or `x[(i, j)]`; the host writes `x.get([i])`, `x.host()?[i]`"
)]
pub trait ElementIndex<const D: usize> {}

impl<const D: usize> ElementIndex<D> for KernelIndex<D> {}

impl<T, I: ElementIndex<D>, const D: usize> Index<I> for Array<T, D> {
    type Output = T;

    #[track_caller]
    fn index(&self, _: I) -> &T {
        only_in_kernels("an element of an array")
    }
}

impl<T, I: ElementIndex<D>, const D: usize> IndexMut<I> for Array<T, D> {
    #[track_caller]
    fn index_mut(&mut self, _: I) -> &mut T {
        only_in_kernels("an element of an array")
    }
}

/// Whether a shape has as many elements as there are values.
fn check_count<const D: usize>(shape: [usize; D], found: usize) -> Result<()> {
    let expected = shape.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent));
    if expected == Some(found) {
        return Ok(());
    }
    Err(Error::Length { expected: expected.unwrap_or(usize::MAX), found })
}

fn extents<const D: usize>(shape: [usize; D]) -> [i64; D] {
    shape.map(|extent| i64::try_from(extent).unwrap_or(i64::MAX))
}
