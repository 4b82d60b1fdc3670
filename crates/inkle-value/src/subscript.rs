//! Indices as they are written in kernels, where any `i32` or `usize` is one.
//!
//! The macros turn `x[i]` into `x[ix1(i)]` and `x[(i, j)]` into `x[ix2(i, j)]`: what can be indexed in kernels implements
//! [`Index`] for [`KernelIndex`], which programs cannot make by other means, so that elements of arrays are out of their reach.

use std::ops::{Index, IndexMut};

use crate::matrix::Matrix;
use crate::quaternion::{Quaternion, Transform};
use crate::vector::Vector;

/// `D` indices in a kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelIndex<const D: usize>([usize; D]);

/// What can be an index in a kernel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an index in a kernel",
    label = "indices are `i32` or `usize`; several are written `x[(i, j)]` or `x[[i, j]]`"
)]
pub trait Subscript {
    /// The index; one below zero is out of every bound.
    fn place(self) -> usize;
}

impl Subscript for i32 {
    fn place(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

impl Subscript for usize {
    fn place(self) -> usize {
        self
    }
}

/// One index.
pub fn ix1<I: Subscript>(i: I) -> KernelIndex<1> {
    KernelIndex([i.place()])
}

/// Two indices.
pub fn ix2<I: Subscript, J: Subscript>(i: I, j: J) -> KernelIndex<2> {
    KernelIndex([i.place(), j.place()])
}

/// Three indices.
pub fn ix3<I: Subscript, J: Subscript, K: Subscript>(i: I, j: J, k: K) -> KernelIndex<3> {
    KernelIndex([i.place(), j.place(), k.place()])
}

/// Four indices.
pub fn ix4<I: Subscript, J: Subscript, K: Subscript, L: Subscript>(i: I, j: J, k: K, l: L) -> KernelIndex<4> {
    KernelIndex([i.place(), j.place(), k.place(), l.place()])
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

/// Ends a program that does on the host what only kernels can.
#[cold]
#[track_caller]
pub fn only_in_kernels(what: &str) -> ! {
    panic!("{what} can be used in kernels only")
}

macro_rules! indexed {
    ($([$($generics:tt)*] $ty:ty, $count:literal => $output:ty, ($at:ident, $value:ident) $get:expr, $get_mut:expr;)*) => { $(
        impl<$($generics)*> Index<KernelIndex<$count>> for $ty {
            type Output = $output;

            #[track_caller]
            fn index(&self, $at: KernelIndex<$count>) -> &$output {
                let ($at, $value) = ($at.0, self);
                $get
            }
        }

        impl<$($generics)*> IndexMut<KernelIndex<$count>> for $ty {
            #[track_caller]
            fn index_mut(&mut self, $at: KernelIndex<$count>) -> &mut $output {
                let ($at, $value) = ($at.0, self);
                $get_mut
            }
        }
    )* };
}

indexed! {
    [T, const N: usize] Vector<N, T>, 1 => T, (at, v) &v.0[at[0]], &mut v.0[at[0]];
    [T, const R: usize, const C: usize] Matrix<R, C, T>, 1 => Vector<C, T>, (at, m) &m.0[at[0]], &mut m.0[at[0]];
    [T, const R: usize, const C: usize] Matrix<R, C, T>, 2 => T, (at, m) &m.0[at[0]].0[at[1]], &mut m.0[at[0]].0[at[1]];
    [T] Quaternion<T>, 1 => T, (at, q) part(q, at[0]), part_mut(q, at[0]);
    [T] Transform<T>, 1 => T,
        (at, t) if at[0] < 3 { &t.p.0[at[0]] } else { part(&t.q, at[0] - 3) },
        if at[0] < 3 { &mut t.p.0[at[0]] } else { part_mut(&mut t.q, at[0] - 3) };
    [T, const N: usize] [T; N], 1 => T, (at, a) &a.as_slice()[at[0]], &mut a.as_mut_slice()[at[0]];
}

#[track_caller]
fn part<T>(q: &Quaternion<T>, index: usize) -> &T {
    [&q.x, &q.y, &q.z, &q.w][index]
}

#[track_caller]
fn part_mut<T>(q: &mut Quaternion<T>, index: usize) -> &mut T {
    let Quaternion { x, y, z, w } = q;
    match index {
        0 => x,
        1 => y,
        2 => z,
        3 => w,
        _ => panic!("a quaternion has four components, and {index} is the index of none"),
    }
}
