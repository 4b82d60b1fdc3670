//! Vectors of any length and scalar.

use std::fmt;
use std::ops::{Add, AddAssign, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Rem, Sub, SubAssign};

use half::{bf16, f16};

use crate::scalar::{Float, Number};

/// `N` numbers; up to four are called `x`, `y`, `z`, `w`.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vector<const N: usize, T = f32>(pub [T; N]);

/// The names of the components of a vector of two.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Xy<T> {
    pub x: T,
    pub y: T,
}

/// The names of the components of a vector of three.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Xyz<T> {
    pub x: T,
    pub y: T,
    pub z: T,
}

/// The names of the components of a vector of four.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Xyzw<T> {
    pub x: T,
    pub y: T,
    pub z: T,
    pub w: T,
}

impl<T> Vector<2, T> {
    /// A vector of these components.
    pub const fn new(x: T, y: T) -> Self {
        Vector([x, y])
    }
}

impl<T> Vector<3, T> {
    /// A vector of these components.
    pub const fn new(x: T, y: T, z: T) -> Self {
        Vector([x, y, z])
    }
}

impl<T> Vector<4, T> {
    /// A vector of these components.
    pub const fn new(x: T, y: T, z: T, w: T) -> Self {
        Vector([x, y, z, w])
    }
}

impl<const N: usize, T: Number> Vector<N, T> {
    /// All components zero.
    pub const fn zero() -> Self {
        Vector([T::ZERO; N])
    }

    /// All components the same.
    pub const fn splat(value: T) -> Self {
        Vector([value; N])
    }

    /// A vector of the components of an array.
    pub const fn from_array(components: [T; N]) -> Self {
        Vector(components)
    }

    /// The components.
    pub const fn to_array(self) -> [T; N] {
        self.0
    }

    fn zip(self, other: Self, op: impl Fn(T, T) -> T) -> Self {
        Vector(std::array::from_fn(|i| op(self.0[i], other.0[i])))
    }
}

impl<const N: usize, T: Number> Default for Vector<N, T> {
    fn default() -> Self {
        Vector::zero()
    }
}

impl<const N: usize, T: fmt::Debug> fmt::Debug for Vector<N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const N: usize, T: fmt::Display> fmt::Display for Vector<N, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.0.iter())
    }
}

pub(crate) fn write_list<'a, T: fmt::Display + 'a>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = &'a T>,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    f.write_str("]")
}

impl<const N: usize, T> From<[T; N]> for Vector<N, T> {
    fn from(components: [T; N]) -> Self {
        Vector(components)
    }
}

impl<const N: usize, T> From<Vector<N, T>> for [T; N] {
    fn from(vector: Vector<N, T>) -> Self {
        vector.0
    }
}

impl<const N: usize, T> Index<usize> for Vector<N, T> {
    type Output = T;

    fn index(&self, index: usize) -> &T {
        &self.0[index]
    }
}

impl<const N: usize, T> IndexMut<usize> for Vector<N, T> {
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.0[index]
    }
}

macro_rules! elementwise {
    ($($op:ident $method:ident),*) => { $(
        impl<const N: usize, T: Number> $op for Vector<N, T> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a.$method(b))
            }
        }
    )* };
}

elementwise!(Add add, Sub sub, Div div, Rem rem);

impl<const N: usize, T: Number> Mul<T> for Vector<N, T> {
    type Output = Self;

    fn mul(self, factor: T) -> Self {
        Vector(self.0.map(|c| c * factor))
    }
}

impl<const N: usize, T: Number> Div<T> for Vector<N, T> {
    type Output = Self;

    fn div(self, divisor: T) -> Self {
        Vector(self.0.map(|c| c / divisor))
    }
}

impl<const N: usize, T: Float> Neg for Vector<N, T> {
    type Output = Self;

    fn neg(self) -> Self {
        Vector(self.0.map(|c| -c))
    }
}

macro_rules! assigning {
    ($($op:ident $method:ident = $plain:ident $with:ty),*) => { $(
        impl<const N: usize, T: Number> $op<$with> for Vector<N, T> {
            fn $method(&mut self, other: $with) {
                *self = (*self).$plain(other);
            }
        }
    )* };
}

assigning!(AddAssign add_assign = add Self, SubAssign sub_assign = sub Self, MulAssign mul_assign = mul T, DivAssign div_assign = div T);

macro_rules! scaled {
    ($($ty:ident),*) => { $(
        impl<const N: usize> Mul<Vector<N, $ty>> for $ty {
            type Output = Vector<N, $ty>;

            fn mul(self, vector: Vector<N, $ty>) -> Vector<N, $ty> {
                vector * self
            }
        }
    )* };
}

scaled!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
