//! Arrays seen through lists of indices.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

use inkle_ir::{ArrayKind, IndexedArrayDesc, Type};
use inkle_runtime::{self as rt, Device};
use inkle_value::{KernelIndex, Typed, Value, only_in_kernels};

use super::Array;
use crate::error::{Error, Result};
use crate::tape;

/// What is seen of an array through lists of indices: element `i` is the array's element `list[i]`.
///
/// Kernels take it as `&IndexedArray<T, D>` to read and as `&mut IndexedArray<T, D>` to write, and index it as they do an
/// [`Array`]. Nothing is copied: [`Array::indexed`] makes it. Gradients flow to the array's.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn halve(x: &mut IndexedArray<f32>) {
///     x[tid()] *= 0.5;
/// }
///
/// let mut x = Array::from_slice(&[1.0f32, 2.0, 3.0, 4.0])?;
/// let chosen = Array::from_slice(&[3, 0])?;
/// let mut part = x.indexed_mut(&chosen)?;
/// halve.launch(part.len(), (&mut part,))?;
/// assert_eq!(part.to_vec()?, [2.0, 0.5]);
/// assert_eq!(x.to_vec()?, [0.5, 2.0, 3.0, 2.0]);
/// # Ok::<(), inkle::Error>(())
/// ```
pub struct IndexedArray<T, const D: usize = 1> {
    data: rt::Array,
    lists: [Option<rt::Array>; D],
    /// As seen through the lists.
    shape: [i32; D],
    elem: PhantomData<T>,
}

/// An [`IndexedArray`] that borrows the array and the lists; it goes wherever a `&IndexedArray` goes.
pub struct IndexedView<'a, T, const D: usize = 1> {
    array: IndexedArray<T, D>,
    of: PhantomData<&'a T>,
}

/// As [`IndexedView`], to write to; it goes wherever a `&mut IndexedArray` goes.
pub struct IndexedViewMut<'a, T, const D: usize = 1> {
    array: IndexedArray<T, D>,
    of: PhantomData<&'a mut T>,
}

/// The lists of [`Array::indexed`]: `&list` for an array of one dimension, else `[Some(&rows), None]`, where `None` is every index of
/// a dimension. A list is an array of `i32` without gaps, on the array's device.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no index lists for an array of {D} dimensions",
    label = "one dimension takes a `&Array<i32>`, several an array with a `Some(&list)` or `None` for each"
)]
pub trait IndexLists<'a, const D: usize> {
    /// A list or none for each dimension.
    fn lists(self) -> [Option<&'a Array<i32>>; D];
}

impl<'a> IndexLists<'a, 1> for &'a Array<i32> {
    fn lists(self) -> [Option<&'a Array<i32>>; 1] {
        [Some(self)]
    }
}

impl<'a, const D: usize> IndexLists<'a, D> for [Option<&'a Array<i32>>; D] {
    fn lists(self) -> [Option<&'a Array<i32>>; D] {
        self
    }
}

impl<T: Value, const D: usize> Array<T, D> {
    /// What is seen of the array through lists of indices. The lists are read when a kernel runs: an index that is out of the
    /// array then is [as any other](macro@crate::kernel#options) in a kernel, but not looked at even with `checks`.
    ///
    /// ```
    /// use inkle::Array;
    ///
    /// let x = Array::from_shape([2, 3], &[1, 2, 3, 4, 5, 6])?;
    /// let columns = Array::from_slice(&[2, 2, 0])?;
    /// assert_eq!(x.indexed([None, Some(&columns)])?.to_vec()?, [3, 3, 1, 6, 6, 4]);
    /// # Ok::<(), inkle::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`RuntimeError::WrongDevice`](rt::RuntimeError::WrongDevice) and [`Error::Layout`] when a list is on another device or has
    /// gaps.
    pub fn indexed<'a>(&'a self, lists: impl IndexLists<'a, D>) -> Result<IndexedView<'a, T, D>> {
        Ok(IndexedView { array: IndexedArray::new(&self.inner, lists.lists())?, of: PhantomData })
    }

    /// As [`indexed`](Array::indexed), to write to. Where a list has an index twice, two threads may write one element.
    ///
    /// # Errors
    /// As [`indexed`](Array::indexed).
    pub fn indexed_mut<'a>(&'a mut self, lists: impl IndexLists<'a, D>) -> Result<IndexedViewMut<'a, T, D>> {
        Ok(IndexedViewMut { array: IndexedArray::new(&self.inner, lists.lists())?, of: PhantomData })
    }
}

impl<T: Value, const D: usize> IndexedArray<T, D> {
    fn new(data: &rt::Array, given: [Option<&Array<i32>>; D]) -> Result<Self> {
        let mut shape: [i32; D] = std::array::from_fn(|dim| data.shape()[dim]);
        for (list, extent) in given.iter().zip(&mut shape) {
            let Some(list) = list else { continue };
            if list.device() != data.device() {
                let (expected, found) = (data.device().to_string(), list.device().to_string());
                return Err(rt::RuntimeError::WrongDevice { what: "an index list", expected, found }.into());
            }
            if !list.is_contiguous() {
                let wanted = "an index list: it has gaps; `try_clone` makes a copy without".to_owned();
                return Err(Error::Layout { array: list.to_string(), wanted });
            }
            *extent = list.shape()[0];
        }
        let lists = given.map(|list| list.map(|list| list.runtime().clone()));
        Ok(IndexedArray { data: data.clone(), lists, shape, elem: PhantomData })
    }

    /// The elements, the last index running fastest, after what the device's current stream has to do.
    ///
    /// # Errors
    /// [`RuntimeError::IndexOutOfRange`](rt::RuntimeError::IndexOutOfRange) for an index in a list that is out of the array; what
    /// the device reports.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        let (bytes, size) = (self.data.to_bytes()?, T::ty().size() as usize);
        Ok(self.places()?.into_iter().map(|place| T::fetch(&bytes[place * size..])).collect())
    }

    /// Sets the elements, the last index running fastest; of an index that a list has twice the last one counts. Done through the
    /// host.
    ///
    /// # Errors
    /// [`Error::Length`] when there are more or fewer values than elements; as [`to_vec`](IndexedArray::to_vec).
    pub fn copy_from_slice(&mut self, values: &[T]) -> Result<()> {
        if values.len() != self.len() {
            return Err(Error::Length { expected: self.len(), found: values.len() });
        }
        write(&self.data, &self.places()?, |at| values[at])?;
        let (lists, shape) = (self.lists.clone(), self.shape);
        if let (true, Some(gradient)) = (tape::is_recording(), self.data.grad().cloned()) {
            // What was there before has no part in what comes after.
            tape::on_backward(move || {
                let zeros = T::fetch(&vec![0; T::ty().size() as usize]);
                let gradient = IndexedArray::<T, D> {
                    data: gradient.clone(),
                    lists: lists.clone(),
                    shape,
                    elem: PhantomData,
                };
                write(&gradient.data, &gradient.places()?, |_| zeros)
            });
        }
        Ok(())
    }

    /// Sets all elements to a value, as [`copy_from_slice`](IndexedArray::copy_from_slice) does.
    ///
    /// # Errors
    /// As [`to_vec`](IndexedArray::to_vec).
    pub fn fill(&mut self, value: T) -> Result<()> {
        self.copy_from_slice(&vec![value; self.len()])
    }

    /// For each element its place in the array, counted in the order of indices.
    fn places(&self) -> Result<Vec<usize>> {
        let mut places = vec![0];
        for (dim, list) in self.lists.iter().enumerate() {
            let extent = self.data.shape()[dim];
            let indices = match list {
                Some(list) => i32::read(list.len(), |bytes| list.read_bytes(bytes))?,
                None => (0..extent).collect(),
            };
            if let Some(&wrong) = indices.iter().find(|index| !(0..extent).contains(*index)) {
                return Err(rt::RuntimeError::IndexOutOfRange { dim, index: wrong.into(), extent }.into());
            }
            let next = |&place: &usize| indices.iter().map(move |&i| place * extent as usize + i as usize);
            places = places.iter().flat_map(next).collect();
        }
        Ok(places)
    }
}

/// Writes values to places of an array.
fn write<T: Value>(to: &rt::Array, places: &[usize], value: impl Fn(usize) -> T) -> Result<()> {
    let (mut bytes, size) = (to.to_bytes()?, T::ty().size() as usize);
    for (at, place) in places.iter().enumerate() {
        value(at).store(&mut bytes[place * size..]);
    }
    Ok(to.write_bytes(&bytes)?)
}

impl<T, const D: usize> IndexedArray<T, D> {
    /// The extents as seen through the lists.
    pub fn shape(&self) -> [i32; D] {
        self.shape
    }

    /// The number of elements as seen through the lists.
    #[expect(
        clippy::len_without_is_empty,
        reason = "`is_empty` would have to be known in kernels too, for nothing"
    )]
    pub fn len(&self) -> usize {
        self.shape.iter().map(|&extent| extent as usize).product()
    }

    /// The device that the elements are on.
    pub fn device(&self) -> Device {
        self.data.device()
    }

    /// The array with the elements.
    pub(crate) fn data(&self) -> &rt::Array {
        &self.data
    }

    /// The lists that there are.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &rt::Array> {
        self.lists.iter().flatten()
    }

    /// The array as generated code sees it.
    pub(crate) fn desc(&self) -> IndexedArrayDesc {
        let mut desc = IndexedArrayDesc { array: self.data.desc(), ..IndexedArrayDesc::default() };
        for (dim, list) in self.lists.iter().enumerate() {
            desc.indices[dim] = list.as_ref().map_or(0, |list| list.desc().data);
            desc.shape[dim] = self.shape[dim];
        }
        desc
    }
}

impl<T: Value, const D: usize> Typed for IndexedArray<T, D> {
    fn ty() -> Type {
        Type::array_of_kind(T::ty(), D as u32, ArrayKind::Indexed)
    }
}

impl<T: Value, const D: usize> Index<KernelIndex<D>> for IndexedArray<T, D> {
    type Output = T;

    #[track_caller]
    fn index(&self, _: KernelIndex<D>) -> &T {
        only_in_kernels("an element of an array")
    }
}

impl<T: Value, const D: usize> IndexMut<KernelIndex<D>> for IndexedArray<T, D> {
    #[track_caller]
    fn index_mut(&mut self, _: KernelIndex<D>) -> &mut T {
        only_in_kernels("an element of an array")
    }
}

impl<T: Value, const D: usize> fmt::Debug for IndexedArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexedArray({}, {:?}, {})", T::ty(), self.shape, self.device())
    }
}

macro_rules! views {
    ($($view:ident)*) => { $(
        impl<T, const D: usize> Deref for $view<'_, T, D> {
            type Target = IndexedArray<T, D>;

            fn deref(&self) -> &IndexedArray<T, D> {
                &self.array
            }
        }

        impl<T: Value, const D: usize> fmt::Debug for $view<'_, T, D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.array.fmt(f)
            }
        }
    )* };
}

views!(IndexedView IndexedViewMut);

impl<T, const D: usize> DerefMut for IndexedViewMut<'_, T, D> {
    fn deref_mut(&mut self) -> &mut IndexedArray<T, D> {
        &mut self.array
    }
}
