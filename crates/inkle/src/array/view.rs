//! Parts of arrays, and arrays in other shapes: views, which copy nothing.

use std::marker::PhantomData;
use std::ops::{
    Bound, Deref, DerefMut, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo,
    RangeToInclusive,
};

use inkle_runtime as rt;
use inkle_value::{Numbers, Typed as _, Value};

use super::{Array, extents};
use crate::dim::Shape;
use crate::error::{Error, Result};

pub use rt::Slice;

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

impl<T: Value, const D: usize> ArrayView<'_, T, D> {
    pub(crate) fn wrap(inner: rt::Array) -> Self {
        ArrayView { array: Array::wrap(inner), of: PhantomData }
    }
}

impl<T: Value, const D: usize> ArrayViewMut<'_, T, D> {
    pub(crate) fn wrap(inner: rt::Array) -> Self {
        ArrayViewMut { array: Array::wrap(inner), of: PhantomData }
    }
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

impl<T: Value, const D: usize> std::fmt::Debug for ArrayView<'_, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.array.fmt(f)
    }
}

impl<T: Value, const D: usize> std::fmt::Debug for ArrayViewMut<'_, T, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.array.fmt(f)
    }
}

/// One entry of what [`Array::select`] takes: a place, whose dimension goes away, or a [`Span`].
#[doc(hidden)]
pub trait Entry {
    /// The entry as the runtime has it.
    ///
    /// # Errors
    /// When it is out of the dimension.
    fn index(self, dim: usize, extent: i32) -> Result<rt::Index>;
}

/// Some places of a dimension: a range of `usize`, or a [`Slice`], which can have a step and counts from the end where it is
/// negative.
#[diagnostic::on_unimplemented(
    message = "`{Self}` selects nothing of a dimension",
    label = "a place is a `usize`; some places are a range of `usize` or a `Slice`"
)]
pub trait Span: Entry {}

impl Entry for usize {
    fn index(self, _: usize, _: i32) -> Result<rt::Index> {
        Ok(rt::Index::At(i64::try_from(self).unwrap_or(i64::MAX)))
    }
}

impl Entry for Slice {
    fn index(self, _: usize, _: i32) -> Result<rt::Index> {
        Ok(rt::Index::Slice(self))
    }
}

impl Span for Slice {}

macro_rules! ranges {
    ($($range:ty),*) => { $(
        impl Entry for $range {
            fn index(self, dim: usize, extent: i32) -> Result<rt::Index> {
                Ok(rt::Index::Slice(within(&self, dim, extent)?))
            }
        }

        impl Span for $range {}
    )* };
}

ranges!(
    RangeFull,
    Range<usize>,
    RangeFrom<usize>,
    RangeTo<usize>,
    RangeInclusive<usize>,
    RangeToInclusive<usize>
);

/// A range that lies in a dimension.
fn within(range: &impl RangeBounds<usize>, dim: usize, extent: i32) -> Result<Slice> {
    let end = extent as usize;
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let stop = match range.end_bound() {
        Bound::Included(&stop) => stop.saturating_add(1),
        Bound::Excluded(&stop) => stop,
        Bound::Unbounded => end,
    };
    if start > stop || stop > end {
        let index = i64::try_from(if start > stop { start } else { stop }).unwrap_or(i64::MAX);
        return Err(rt::RuntimeError::IndexOutOfRange { dim, index, extent }.into());
    }
    Ok(Slice::range(start as i64, stop as i64))
}

/// What selects a view of `E` dimensions of an array of `D`: a tuple with an entry for each dimension, a place or a [`Span`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` selects no part of {E} dimensions of an array of {D}",
    label = "a tuple with an entry for each dimension is needed: a `usize`, a range or a `Slice`"
)]
pub trait Select<const D: usize, const E: usize> {
    /// The entries as the runtime has them.
    ///
    /// # Errors
    /// When an entry is out of its dimension.
    fn indices(self, shape: [i32; D]) -> Result<[rt::Index; D]>;
}

/// One implementation for each choice of places, which are `usize`, and spans.
macro_rules! selections {
    ([$($span:ident)*] [$($kept:literal $entry:ident $name:ident)*]) => {
        impl<$($span: Span),*> Select<{ [$($kept),*].len() }, { 0 $(+ $kept)* }> for ($($entry,)*) {
            #[expect(unused_assignments, reason = "nothing follows the last entry")]
            fn indices(self, shape: [i32; { [$($kept),*].len() }]) -> Result<[rt::Index; { [$($kept),*].len() }]> {
                let ($($name,)*) = self;
                let mut dim = 0;
                Ok([$({
                    let index = $name.index(dim, shape[dim])?;
                    dim += 1;
                    index
                }),*])
            }
        }
    };
    ([$($span:ident)*] [$($done:tt)*] $ty:ident $name:ident $($rest:ident)*) => {
        selections!([$($span)*] [$($done)* 0 usize $name] $($rest)*);
        selections!([$($span)* $ty] [$($done)* 1 $ty $name] $($rest)*);
    };
}

selections!([] [] A a);
selections!([] [] A a B b);
selections!([] [] A a B b C c);
selections!([] [] A a B b C c D d);

impl<T: Value, const D: usize> Array<T, D> {
    /// A part of the array: an entry for each dimension, a place, whose dimension goes away, or a range or [`Slice`].
    ///
    /// ```
    /// use inkle::{Array, Slice};
    ///
    /// let x = Array::from_shape([3, 4], &(0..12).collect::<Vec<i32>>())?;
    /// assert_eq!(x.select((1, ..))?.to_vec()?, [4, 5, 6, 7]);
    /// assert_eq!(x.select((1.., 2))?.to_vec()?, [6, 10]);
    /// assert_eq!(x.select((0..2, 1..3))?.to_vec()?, [1, 2, 5, 6]);
    /// let backwards = Slice { step: -2, ..Slice::ALL };
    /// assert_eq!(x.select((0, backwards))?.to_vec()?, [3, 1]);
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RuntimeError::IndexOutOfRange`](rt::RuntimeError::IndexOutOfRange) when a place or range is out of its dimension.
    pub fn select<const E: usize>(&self, part: impl Select<D, E>) -> Result<ArrayView<'_, T, E>> {
        Ok(ArrayView::wrap(self.selected(part)?))
    }

    /// As [`select`](Array::select), to write to.
    ///
    /// # Errors
    /// As [`select`](Array::select).
    pub fn select_mut<const E: usize>(&mut self, part: impl Select<D, E>) -> Result<ArrayViewMut<'_, T, E>> {
        Ok(ArrayViewMut::wrap(self.selected(part)?))
    }

    fn selected<const E: usize>(&self, part: impl Select<D, E>) -> Result<rt::Array> {
        const { assert!(E >= 1, "one element is no array; `get` and `set` are for it") };
        Ok(self.inner.select(&part.indices(self.shape())?)?)
    }

    /// Some places of the first dimension.
    ///
    /// # Errors
    /// [`RuntimeError::IndexOutOfRange`](rt::RuntimeError::IndexOutOfRange) when the range is out of the array.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<ArrayView<'_, T, D>> {
        Ok(ArrayView::wrap(self.inner.slice(0, within(&range, 0, self.shape()[0])?)?))
    }

    /// Some places of the first dimension, to write to.
    ///
    /// # Errors
    /// As [`slice`](Array::slice).
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<ArrayViewMut<'_, T, D>> {
        Ok(ArrayViewMut::wrap(self.inner.slice(0, within(&range, 0, self.shape()[0])?)?))
    }

    /// The array in two parts, the second from a place of the first dimension on: one can be written while the other is read.
    ///
    /// # Errors
    /// [`RuntimeError::IndexOutOfRange`](rt::RuntimeError::IndexOutOfRange) when the place is behind the end.
    pub fn split_at_mut(&mut self, place: usize) -> Result<(ArrayViewMut<'_, T, D>, ArrayViewMut<'_, T, D>)> {
        let extent = self.shape()[0];
        let (head, tail) = (within(&(..place), 0, extent)?, within(&(place..), 0, extent)?);
        Ok((ArrayViewMut::wrap(self.inner.slice(0, head)?), ArrayViewMut::wrap(self.inner.slice(0, tail)?)))
    }

    /// The elements in another shape.
    ///
    /// # Errors
    /// When the array has gaps, or another number of elements.
    pub fn reshape<const E: usize>(&self, shape: impl Shape<E>) -> Result<ArrayView<'_, T, E>> {
        Ok(ArrayView::wrap(self.inner.reshape(&extents(shape.shape()))?))
    }

    /// The elements in another shape, to write to.
    ///
    /// # Errors
    /// When the array has gaps, or another number of elements.
    pub fn reshape_mut<const E: usize>(&mut self, shape: impl Shape<E>) -> Result<ArrayViewMut<'_, T, E>> {
        Ok(ArrayViewMut::wrap(self.inner.reshape(&extents(shape.shape()))?))
    }

    /// The elements in one dimension.
    ///
    /// # Errors
    /// When the array has gaps, or more elements than one dimension can.
    pub fn flatten(&self) -> Result<ArrayView<'_, T>> {
        Ok(ArrayView::wrap(self.inner.flatten()?))
    }

    /// The elements in one dimension, to write to.
    ///
    /// # Errors
    /// As [`flatten`](Array::flatten).
    pub fn flatten_mut(&mut self) -> Result<ArrayViewMut<'_, T>> {
        Ok(ArrayViewMut::wrap(self.inner.flatten()?))
    }

    /// The dimensions in reverse order.
    ///
    /// # Errors
    /// None that are known.
    pub fn transposed(&self) -> Result<ArrayView<'_, T, D>> {
        Ok(ArrayView::wrap(self.inner.transpose(None)?))
    }

    /// The dimensions in another order: `axes[i]` becomes dimension `i`.
    ///
    /// # Errors
    /// When `axes` does not name each dimension once.
    pub fn permuted(&self, axes: [usize; D]) -> Result<ArrayView<'_, T, D>> {
        Ok(ArrayView::wrap(self.inner.transpose(Some(&extents(axes)))?))
    }

    /// The array repeated along new leading dimensions, and along those of extent one, without a copy.
    ///
    /// # Errors
    /// When the array does not fit the shape.
    pub fn expand<const E: usize>(&self, shape: impl Shape<E>) -> Result<ArrayView<'_, T, E>> {
        Ok(ArrayView::wrap(self.inner.expand(&extents(shape.shape()))?))
    }

    /// The bytes of the elements read as values of another type of the same size.
    ///
    /// # Errors
    /// When its size is another, or it needs a greater alignment.
    pub fn view_as<U: Value>(&self) -> Result<ArrayView<'_, U, D>> {
        Ok(ArrayView::wrap(self.inner.view_as(U::ty())?))
    }

    /// As [`view_as`](Array::view_as), to write to.
    ///
    /// # Errors
    /// As [`view_as`](Array::view_as).
    pub fn view_as_mut<U: Value>(&mut self) -> Result<ArrayViewMut<'_, U, D>> {
        Ok(ArrayViewMut::wrap(self.inner.view_as(U::ty())?))
    }
}

impl<T: Numbers, const D: usize> Array<T, D> {
    /// The numbers that the elements are made of, in one dimension: the components of vectors one after the other.
    ///
    /// # Errors
    /// [`Error::Layout`] when the array has gaps.
    pub fn numbers(&self) -> Result<ArrayView<'_, T::Component>> {
        Ok(ArrayView::wrap(self.as_numbers()?))
    }

    /// As [`numbers`](Array::numbers), to write to.
    ///
    /// # Errors
    /// As [`numbers`](Array::numbers).
    pub fn numbers_mut(&mut self) -> Result<ArrayViewMut<'_, T::Component>> {
        Ok(ArrayViewMut::wrap(self.as_numbers()?))
    }

    pub(crate) fn as_numbers(&self) -> Result<rt::Array> {
        let wanted = || format!("a run of {}: it has gaps", T::Component::ty());
        self.inner.numbers().ok_or_else(|| Error::Layout { array: self.to_string(), wanted: wanted() })
    }
}
