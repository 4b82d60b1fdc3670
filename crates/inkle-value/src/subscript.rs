//! Indices as they are written in kernels, where any `i32` or `usize` is one.
//!
//! The macros turn `x[i]` into `x[ix1(i)]` and `x[(i, j)]` into `x[ix2(i, j)]`: what can be indexed in kernels implements [`Index`] for [`KernelIndex`], which programs
//! cannot make by other means, so that elements of arrays are out of their reach.

use std::ops::{Index, IndexMut};

use crate::matrix::Matrix;
use crate::quaternion::{Quaternion, Transform};
use crate::vector::Vector;

/// `D` indices in a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelIndex<const D: usize>(());

/// What can be an index in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an index in a kernel",
    label = "indices are `i32` or `usize`; several are written `x[(i, j)]` or `x[[i, j]]`"
)]
pub trait Subscript {}

impl Subscript for i32 {}
impl Subscript for usize {}

/// One index.
pub fn ix1<I: Subscript>(_: I) -> KernelIndex<1> {
    KernelIndex(())
}

/// Two indices.
pub fn ix2<I: Subscript, J: Subscript>(_: I, _: J) -> KernelIndex<2> {
    KernelIndex(())
}

/// Three indices.
pub fn ix3<I: Subscript, J: Subscript, K: Subscript>(_: I, _: J, _: K) -> KernelIndex<3> {
    KernelIndex(())
}

/// Four indices.
pub fn ix4<I: Subscript, J: Subscript, K: Subscript, L: Subscript>(_: I, _: J, _: K, _: L) -> KernelIndex<4> {
    KernelIndex(())
}

/// `D` indices as the argument of a function: one, or several in a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the index of an element with {D} indices",
    label = "indices are `i32` or `usize`; several are written as a tuple"
)]
pub trait Subscripts<const D: usize> {}

impl<I: Subscript> Subscripts<1> for I {}
impl<I: Subscript, J: Subscript> Subscripts<2> for (I, J) {}
impl<I: Subscript, J: Subscript, K: Subscript> Subscripts<3> for (I, J, K) {}
impl<I: Subscript, J: Subscript, K: Subscript, L: Subscript> Subscripts<4> for (I, J, K, L) {}

/// Ends a program that got hold of an [`KernelIndex`].
#[cold]
#[track_caller]
pub fn only_in_kernels(what: &str) -> ! {
    panic!("{what} can be used in kernels only")
}

macro_rules! indexed {
    ($([$($generics:tt)*] $ty:ty, $count:literal => $output:ty;)*) => { $(
        impl<$($generics)*> Index<KernelIndex<$count>> for $ty {
            type Output = $output;

            #[track_caller]
            fn index(&self, _: KernelIndex<$count>) -> &$output {
                only_in_kernels("this index")
            }
        }

        impl<$($generics)*> IndexMut<KernelIndex<$count>> for $ty {
            #[track_caller]
            fn index_mut(&mut self, _: KernelIndex<$count>) -> &mut $output {
                only_in_kernels("this index")
            }
        }
    )* };
}

indexed! {
    [T, const N: usize] Vector<N, T>, 1 => T;
    [T, const R: usize, const C: usize] Matrix<R, C, T>, 1 => Vector<C, T>;
    [T, const R: usize, const C: usize] Matrix<R, C, T>, 2 => T;
    [T] Quaternion<T>, 1 => T;
    [T] Transform<T>, 1 => T;
    [T, const N: usize] [T; N], 1 => T;
}
