//! `ndarray`: its arrays into ours and back, and ours as its views.

use std::fmt;
use std::marker::PhantomData;

use inkle_runtime::{HostBytes, HostBytesMut};
use inkle_value::Value;
use inkle_value::bytemuck::{self, Pod};
use ndarray::{ArrayBase, Axis, Data, Dim, Dimension, IntoDimension, ShapeBuilder};

use super::Array;
use super::host::check_layout;
use crate::error::{Error, Result};

/// The elements of an array of the CPU, where they are, for [`view`](NdHost::view); see [`Host`](crate::Host).
pub struct NdHost<'a, T, const D: usize> {
    bytes: HostBytes<'a>,
    layout: Layout<D>,
    of: PhantomData<&'a T>,
}

/// As [`NdHost`], to write to.
pub struct NdHostMut<'a, T, const D: usize> {
    bytes: HostBytesMut<'a>,
    layout: Layout<D>,
    of: PhantomData<&'a mut T>,
}

/// Extents and distances in elements from the lowest in memory on, and the dimensions that run downwards.
#[derive(Clone, Copy, Debug)]
struct Layout<const D: usize> {
    shape: [usize; D],
    strides: [usize; D],
    reversed: [bool; D],
}

impl<const D: usize> Layout<D> {
    /// Whether two elements may lie at one place.
    fn overlaps(&self) -> bool {
        let mut dims: Vec<usize> = (0..D).filter(|dim| self.shape[*dim] > 1).collect();
        dims.sort_by_key(|dim| self.strides[*dim]);
        let mut reach = 0;
        dims.iter().any(|&dim| {
            let overlaps = self.strides[dim] <= reach;
            reach += self.strides[dim] * (self.shape[dim] - 1);
            overlaps
        })
    }
}

/// Views of arrays that fit their memory always do; one that does not is a mistake of ours.
const FITS: &str = "the elements of an array lie in its memory";

impl<T: Pod, const D: usize> NdHost<'_, T, D>
where
    [usize; D]: IntoDimension<Dim = Dim<[usize; D]>>,
    Dim<[usize; D]>: Dimension,
{
    /// The elements as a view of `ndarray`.
    ///
    /// # Panics
    /// Never: the elements of an array lie in its memory.
    pub fn view(&self) -> ndarray::ArrayView<'_, T, Dim<[usize; D]>> {
        let Layout { shape, strides, reversed } = self.layout;
        let shape = Dim(shape).strides(Dim(strides));
        let mut view = ndarray::ArrayView::from_shape(shape, bytemuck::cast_slice(&self.bytes)).expect(FITS);
        (0..D).filter(|dim| reversed[*dim]).for_each(|dim| view.invert_axis(Axis(dim)));
        view
    }
}

impl<T: Pod, const D: usize> NdHostMut<'_, T, D>
where
    [usize; D]: IntoDimension<Dim = Dim<[usize; D]>>,
    Dim<[usize; D]>: Dimension,
{
    /// The elements as a view of `ndarray`.
    ///
    /// # Panics
    /// Never: the elements of an array lie in its memory.
    pub fn view_mut(&mut self) -> ndarray::ArrayViewMut<'_, T, Dim<[usize; D]>> {
        let Layout { shape, strides, reversed } = self.layout;
        let shape = Dim(shape).strides(Dim(strides));
        let values = bytemuck::cast_slice_mut(&mut self.bytes);
        let mut view = ndarray::ArrayViewMut::from_shape(shape, values).expect(FITS);
        (0..D).filter(|dim| reversed[*dim]).for_each(|dim| view.invert_axis(Axis(dim)));
        view
    }
}

impl<T, const D: usize> fmt::Debug for NdHost<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NdHost({:?})", self.layout.shape)
    }
}

impl<T, const D: usize> fmt::Debug for NdHostMut<'_, T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NdHostMut({:?})", self.layout.shape)
    }
}

impl<T: Value, const D: usize> Array<T, D>
where
    [usize; D]: IntoDimension<Dim = Dim<[usize; D]>>,
    Dim<[usize; D]>: Dimension,
{
    /// An array on the default device with the elements of one of `ndarray`, whatever its layout. They are copied;
    /// [`TryFrom`] takes over the memory of an array.
    ///
    /// # Errors
    /// When memory runs out or the shape is too large.
    pub fn from_ndarray<S: Data<Elem = T>>(array: &ArrayBase<S, Dim<[usize; D]>>) -> Result<Self> {
        let shape = extents_of(array);
        match array.as_slice() {
            Some(values) => Array::from_shape(shape, values),
            None => Array::from_shape(shape, &array.iter().copied().collect::<Vec<T>>()),
        }
    }

    /// A copy of the elements as an array of `ndarray`.
    ///
    /// # Errors
    /// What the device reports.
    ///
    /// # Panics
    /// Never: there are as many values as elements.
    pub fn to_ndarray(&self) -> Result<ndarray::Array<T, Dim<[usize; D]>>> {
        let shape = self.shape().map(|extent| extent as usize);
        Ok(ndarray::Array::from_shape_vec(Dim(shape), self.to_vec()?).expect(FITS))
    }
}

impl<T: Value + Pod, const D: usize> Array<T, D> {
    /// The elements of an array of the CPU for a view of `ndarray`, with or without gaps. Nothing is copied.
    ///
    /// ```
    /// use inkle::Array;
    ///
    /// let x = Array::from_shape([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    /// let host = x.ndarray()?;
    /// assert_eq!(host.view().column(1).sum(), 7.0);
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`host`](Array::host), but for gaps: [`Error::Layout`] where these are no whole elements.
    pub fn ndarray(&self) -> Result<NdHost<'_, T, D>> {
        let layout = self.element_layout()?;
        Ok(NdHost { bytes: self.inner.host_bytes()?, layout, of: PhantomData })
    }

    /// As [`ndarray`](Array::ndarray), to write to.
    ///
    /// # Errors
    /// As [`ndarray`](Array::ndarray); [`Error::Layout`] too when elements are repeated, as [`expand`](Array::expand) does.
    pub fn ndarray_mut(&mut self) -> Result<NdHostMut<'_, T, D>> {
        let layout = self.element_layout()?;
        if layout.overlaps() {
            return Err(Error::Layout { array: self.to_string(), wanted: "elements that lie apart".into() });
        }
        Ok(NdHostMut { bytes: self.inner.host_bytes_mut()?, layout, of: PhantomData })
    }

    fn element_layout(&self) -> Result<Layout<D>> {
        check_layout::<T>()?;
        let size = size_of::<T>() as u64;
        let bytes = self.inner.strides();
        if bytes.iter().any(|stride| !stride.unsigned_abs().is_multiple_of(size)) {
            return Err(Error::Layout { array: self.to_string(), wanted: "gaps of whole elements".into() });
        }
        Ok(Layout {
            shape: self.shape().map(|extent| extent as usize),
            strides: std::array::from_fn(|dim| (bytes[dim].unsigned_abs() / size) as usize),
            reversed: std::array::from_fn(|dim| bytes[dim] < 0),
        })
    }
}

/// Takes over the memory of an array in the usual layout, on the CPU; the elements of another are copied.
impl<T: Value + Pod, const D: usize> TryFrom<ndarray::Array<T, Dim<[usize; D]>>> for Array<T, D>
where
    [usize; D]: IntoDimension<Dim = Dim<[usize; D]>>,
    Dim<[usize; D]>: Dimension,
{
    type Error = Error;

    fn try_from(array: ndarray::Array<T, Dim<[usize; D]>>) -> Result<Self> {
        let shape = extents_of(&array);
        if !array.is_standard_layout() {
            return Array::from_vec(shape, array.iter().copied().collect());
        }
        let count = array.len();
        match array.into_raw_vec_and_offset() {
            (values, None | Some(0)) if values.len() == count => Array::from_vec(shape, values),
            (values, offset) => {
                let start = offset.unwrap_or(0);
                Array::from_vec(shape, values[start..start + count].to_vec())
            }
        }
    }
}

fn extents_of<S: Data, const D: usize>(array: &ArrayBase<S, Dim<[usize; D]>>) -> [usize; D]
where
    [usize; D]: IntoDimension<Dim = Dim<[usize; D]>>,
    Dim<[usize; D]>: Dimension,
{
    std::array::from_fn(|dim| array.shape()[dim])
}
