//! Elements of arrays: their types and their bytes.

use std::borrow::Cow;

use bytemuck::Pod;

use crate::matrix::Matrix;
use crate::quaternion::{Quaternion, Transform};
use crate::scalar::Number;
use crate::typed::Typed;
use crate::vector::Vector;

/// A value that arrays can hold: copied as it is, without references to anything.
///
/// Scalars, vectors, matrices, quaternions, transforms, and structs with `#[derive(inkle::Struct)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value of kernels",
    label = "kernels know scalars, vectors, matrices, quaternions, transforms and `#[derive(inkle::Struct)]` structs",
    note = "write `#[derive(Clone, Copy, inkle::Struct)]` before a struct of your own to make it a value"
)]
pub trait Value: Typed + Copy + Send + Sync + 'static {
    /// Stores the value in `bytes`, which are as many as the type's size.
    ///
    /// # Panics
    /// When there are fewer bytes.
    fn store(&self, bytes: &mut [u8]);

    /// The value that `bytes` hold.
    ///
    /// # Panics
    /// When there are fewer bytes than the type has.
    fn fetch(bytes: &[u8]) -> Self;

    /// The bytes of many values.
    fn bytes_of(values: &[Self]) -> Cow<'_, [u8]> {
        let size = Self::ty().size() as usize;
        let mut bytes = vec![0; size * values.len()];
        for (value, place) in values.iter().zip(bytes.chunks_exact_mut(size)) {
            value.store(place);
        }
        Cow::Owned(bytes)
    }

    /// `count` values, of bytes that `fill` is given to fill in; its error.
    fn read<E>(count: usize, fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<Vec<Self>, E> {
        let size = Self::ty().size() as usize;
        let mut bytes = vec![0; size * count];
        fill(&mut bytes)?;
        Ok(bytes.chunks_exact(size).map(Self::fetch).collect())
    }
}

/// A value that is made of numbers of one type: a number, vector, matrix, quaternion or transform.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of numbers of one type",
    label = "a number, vector, matrix, quaternion or transform is needed"
)]
pub trait Numbers: Value + Pod {
    /// The numbers' type.
    type Component: Number;
}

impl<T: Number> Numbers for T {
    type Component = T;
}

macro_rules! composed {
    ($([$($generics:tt)*] $ty:ty;)*) => { $(
        impl<$($generics)*> Numbers for $ty {
            type Component = T;
        }
    )* };
}

composed! {
    [const N: usize, T: Number] Vector<N, T>;
    [const R: usize, const C: usize, T: Number] Matrix<R, C, T>;
    [T: Number] Quaternion<T>;
    [T: Number] Transform<T>;
}

/// What a built-in gives: a value, several as a tuple, or nothing.
pub trait Outcome {
    /// The outcome whose values have these bytes.
    ///
    /// # Panics
    /// When there are fewer values, or fewer bytes of one.
    fn fetch_each(values: &mut dyn Iterator<Item = &[u8]>) -> Self;
}

impl<T: Value> Outcome for T {
    fn fetch_each(values: &mut dyn Iterator<Item = &[u8]>) -> T {
        T::fetch(values.next().expect("the bytes of each value are given"))
    }
}

impl Outcome for () {
    fn fetch_each(_: &mut dyn Iterator<Item = &[u8]>) {}
}

macro_rules! outcomes {
    ($(($($value:ident),*))*) => { $(
        impl<$($value: Value),*> Outcome for ($($value,)*) {
            fn fetch_each(values: &mut dyn Iterator<Item = &[u8]>) -> Self {
                ($($value::fetch_each(values),)*)
            }
        }
    )* };
}

outcomes!((A, B)(A, B, C)(A, B, C, D));
