//! Typed arrays.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Deref, DerefMut, Index, IndexMut, RangeBounds};

use inkle_ir::Type;
use inkle_runtime::{self as rt, Device, Slice, Stream};
use inkle_value::{KernelIndex, Typed, Value, only_in_kernels};

use crate::dim::Shape;
use crate::error::{Error, Result};

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

impl<T: Value, const D: usize> Array<T, D> {
    const DIMS: () = assert!(D >= 1 && D <= 4, "an array has one to four dimensions");

    /// An array of zeros on the default device.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn zeros(shape: impl Shape<D>) -> Result<Self> {
        Array::zeros_on(rt::default_device(), shape)
    }

    /// An array of zeros on a device.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn zeros_on(device: Device, shape: impl Shape<D>) -> Result<Self> {
        let () = Self::DIMS;
        Ok(Array::wrap(rt::Array::zeros(device, T::ty(), &extents(shape.shape()))?))
    }

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
        let expected = shape.iter().try_fold(1usize, |n, &extent| n.checked_mul(extent));
        if expected != Some(values.len()) {
            return Err(Error::Length { expected: expected.unwrap_or(usize::MAX), found: values.len() });
        }
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

    pub(crate) fn wrap(inner: rt::Array) -> Self {
        Array { inner, elem: PhantomData }
    }

    /// The elements, the last index running fastest. From a GPU they are copied when what the device's current stream has to
    /// do is done.
    ///
    /// # Errors
    /// What the device reports.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        Ok(T::from_bytes(&self.inner.to_bytes()?))
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
        Ok(self.inner.select(&indices)?.write_bytes(&T::bytes_of(&[value]))?)
    }

    /// Sets all elements, the last index running fastest.
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer values than elements; what the device reports.
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        if values.len() != self.len() {
            return Err(Error::Length { expected: self.len(), found: values.len() });
        }
        Ok(self.inner.write_bytes(&T::bytes_of(values))?)
    }

    /// Sets all elements to those of another array of the same shape, on any device.
    ///
    /// # Errors
    /// When the shapes differ; what the devices report.
    pub fn copy_from(&mut self, other: &Array<T, D>) -> Result<()> {
        Ok(self.inner.copy_from(&other.inner, None)?)
    }

    /// As [`copy_from`](Array::copy_from), queued on a stream.
    ///
    /// # Errors
    /// When the shapes differ; what the devices report.
    pub fn copy_from_on(&mut self, other: &Array<T, D>, stream: &Stream) -> Result<()> {
        Ok(self.inner.copy_from(&other.inner, Some(stream))?)
    }

    /// Sets all elements to a value.
    ///
    /// # Errors
    /// What the device reports.
    pub fn fill(&mut self, value: T) -> Result<()> {
        Ok(self.inner.fill(&T::bytes_of(&[value]), None)?)
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
        self.inner.grad().map(|grad| ArrayView { array: Array::wrap(grad.clone()), of: PhantomData })
    }

    /// The gradient to write to, if the array has one.
    pub fn grad_mut(&mut self) -> Option<ArrayViewMut<'_, T, D>> {
        self.inner.grad().map(|grad| ArrayViewMut { array: Array::wrap(grad.clone()), of: PhantomData })
    }

    /// Some places of the first dimension.
    ///
    /// # Errors
    /// [`RuntimeError`](rt::RuntimeError) when the range is out of the array.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<ArrayView<'_, T, D>> {
        Ok(ArrayView { array: Array::wrap(self.sliced(&range)?), of: PhantomData })
    }

    /// Some places of the first dimension, to write to.
    ///
    /// # Errors
    /// As [`slice`](Array::slice).
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ArrayViewMut<'_, T, D>> {
        Ok(ArrayViewMut { array: Array::wrap(self.sliced(&range)?), of: PhantomData })
    }

    fn sliced(&self, range: &impl RangeBounds<usize>) -> Result<rt::Array> {
        let extent = self.shape()[0] as usize;
        let start = match range.start_bound() {
            Bound::Included(&start) => start,
            Bound::Excluded(&start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let stop = match range.end_bound() {
            Bound::Included(&stop) => stop.saturating_add(1),
            Bound::Excluded(&stop) => stop,
            Bound::Unbounded => extent,
        };
        if start > stop || stop > extent {
            let index = i64::try_from(if start > stop { start } else { stop }).unwrap_or(i64::MAX);
            return Err(rt::RuntimeError::IndexOutOfRange { dim: 0, index, extent: extent as i32 }.into());
        }
        Ok(self.inner.slice(0, Slice::range(start as i64, stop as i64))?)
    }

    /// The elements in another shape.
    ///
    /// # Errors
    /// When the array has gaps, or another number of elements.
    pub fn reshape<const E: usize>(&self, shape: impl Shape<E>) -> Result<ArrayView<'_, T, E>> {
        Ok(ArrayView { array: Array::wrap(self.inner.reshape(&extents(shape.shape()))?), of: PhantomData })
    }

    /// The elements in another shape, to write to.
    ///
    /// # Errors
    /// When the array has gaps, or another number of elements.
    pub fn reshape_mut<const E: usize>(&mut self, shape: impl Shape<E>) -> Result<ArrayViewMut<'_, T, E>> {
        Ok(ArrayViewMut { array: Array::wrap(self.inner.reshape(&extents(shape.shape()))?), of: PhantomData })
    }

    /// The dimensions in reverse order.
    ///
    /// # Errors
    /// None that are known.
    pub fn transposed(&self) -> Result<ArrayView<'_, T, D>> {
        Ok(ArrayView { array: Array::wrap(self.inner.transpose(None)?), of: PhantomData })
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

    /// The device that the elements are on.
    pub fn device(&self) -> Device {
        self.inner.device()
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

impl<T: Value, const D: usize> Typed for Array<T, D> {
    fn ty() -> Type {
        Type::array(T::ty(), D as u32)
    }
}

impl<T: Value, const D: usize> Index<KernelIndex<D>> for Array<T, D> {
    type Output = T;

    #[track_caller]
    fn index(&self, _: KernelIndex<D>) -> &T {
        only_in_kernels("this index")
    }
}

impl<T: Value, const D: usize> IndexMut<KernelIndex<D>> for Array<T, D> {
    #[track_caller]
    fn index_mut(&mut self, _: KernelIndex<D>) -> &mut T {
        only_in_kernels("this index")
    }
}

/// A part of an array, or the array in another shape; it goes wherever a `&Array` goes.
pub struct ArrayView<'a, T, const D: usize = 1> {
    array: Array<T, D>,
    of: PhantomData<&'a T>,
}

/// As [`ArrayView`], to write to; it goes wherever a `&mut Array` goes.
pub struct ArrayViewMut<'a, T, const D: usize = 1> {
    array: Array<T, D>,
    of: PhantomData<&'a mut T>,
}

impl<T, const D: usize> Deref for ArrayView<'_, T, D> {
    type Target = Array<T, D>;

    fn deref(&self) -> &Array<T, D> {
        &self.array
    }
}

impl<T, const D: usize> Deref for ArrayViewMut<'_, T, D> {
    type Target = Array<T, D>;

    fn deref(&self) -> &Array<T, D> {
        &self.array
    }
}

impl<T, const D: usize> DerefMut for ArrayViewMut<'_, T, D> {
    fn deref_mut(&mut self) -> &mut Array<T, D> {
        &mut self.array
    }
}

fn extents<const D: usize>(shape: [usize; D]) -> [i64; D] {
    shape.map(|extent| i64::try_from(extent).unwrap_or(i64::MAX))
}
