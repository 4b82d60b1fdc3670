//! The memory of CPU arrays in the hands of the host, without copies.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use inkle_runtime::{self as rt, HostBytes, HostBytesMut};
use inkle_value::Value;
use inkle_value::bytemuck::{self, Pod};

use super::{Array, extents};
use crate::dim::Shape;
use crate::error::{Error, Result};

/// The elements of an array of the CPU, where they are: a slice, the last index running fastest.
///
/// While it lives, copies, fills, graphs and tapes that would write the array are refused with
/// [`RuntimeError::Lent`](rt::RuntimeError::Lent).
pub struct Host<'a, T> {
    bytes: HostBytes<'a>,
    of: PhantomData<&'a [T]>,
}

/// As [`Host`], to write to; whatever would read the array is refused too.
pub struct HostMut<'a, T> {
    bytes: HostBytesMut<'a>,
    of: PhantomData<&'a mut [T]>,
}

// The casts cannot fail: `Array::host` made one.
impl<T: Pod> Deref for Host<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes)
    }
}

impl<T: Pod> Deref for HostMut<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.bytes)
    }
}

impl<T: Pod> DerefMut for HostMut<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.bytes)
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for Host<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Pod + fmt::Debug> fmt::Debug for HostMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Whether values of the type lie in Rust's memory as they lie in that of kernels. They have no padding here, so with the
/// same size they have none there, and the fields come in one order.
pub(super) fn check_layout<T: Value + Pod>() -> Result<()> {
    let ty = T::ty();
    if size_of::<T>() == ty.size() as usize && align_of::<T>() == ty.align() as usize {
        return Ok(());
    }
    let wanted =
        format!("`{}` with {} bytes, aligned to {}", type_name::<T>(), size_of::<T>(), align_of::<T>());
    Err(Error::Layout { array: format!("an array of {ty}"), wanted })
}

impl<T: Value + Pod, const D: usize> Array<T, D> {
    /// An array of the CPU that takes over the memory of a vector, the last index running fastest. Nothing is copied.
    ///
    /// ```
    /// use inkle::Array;
    ///
    /// let x = Array::from_vec([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// assert_eq!(x.get([1, 0])?, 3.0);
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer values than elements; [`Error::Layout`] for a struct that lies in memory
    /// otherwise than kernels have it, as one with `align` does.
    pub fn from_vec(shape: impl Shape<D>, values: Vec<T>) -> Result<Self> {
        let () = Self::DIMS;
        let shape = shape.shape();
        super::check_count(shape, values.len())?;
        check_layout::<T>()?;
        Ok(Array::wrap(rt::Array::adopt(T::ty(), &extents(shape), values)?))
    }

    /// The elements where they are, for an array of the CPU without gaps. Nothing is copied. Of page-locked memory, what
    /// GPUs still do with it is waited for.
    ///
    /// ```
    /// use inkle::Array;
    ///
    /// let mut x = Array::from_slice(&[3.0f32, 1.0, 2.0])?;
    /// x.host_mut()?.sort_by(f32::total_cmp);
    /// assert_eq!(x.host()?.iter().sum::<f32>(), 6.0);
    /// assert_eq!(x.host()?[0], 1.0);
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RuntimeError::WrongDevice`](rt::RuntimeError::WrongDevice) for an array of a GPU;
    /// [`RuntimeError::NotContiguous`](rt::RuntimeError::NotContiguous); [`RuntimeError::Lent`](rt::RuntimeError::Lent) while a
    /// view of the memory is being written in place; [`Error::Layout`] as [`from_vec`](Array::from_vec).
    pub fn host(&self) -> Result<Host<'_, T>> {
        self.check_host()?;
        Ok(Host { bytes: self.inner.host_bytes()?, of: PhantomData })
    }

    /// As [`host`](Array::host), to write to.
    ///
    /// # Errors
    /// As [`host`](Array::host), and while a view of the memory is read in place.
    pub fn host_mut(&mut self) -> Result<HostMut<'_, T>> {
        self.check_host()?;
        Ok(HostMut { bytes: self.inner.host_bytes_mut()?, of: PhantomData })
    }

    fn check_host(&self) -> Result<()> {
        check_layout::<T>()?;
        if self.inner.is_contiguous() {
            return Ok(());
        }
        let (shape, strides) = (self.inner.shape().to_vec(), self.inner.strides().to_vec());
        Err(rt::RuntimeError::NotContiguous { operation: "a slice of the elements", shape, strides }.into())
    }
}
