//! Matrices, row-major.

use std::fmt;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, MulAssign, Neg, Sub, SubAssign};

use half::{bf16, f16};

use crate::scalar::{Float, Number};
use crate::vector::{Vector, write_list};

/// `R` rows of `C` numbers.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Matrix<const R: usize, const C: usize, T = f32>(pub [Vector<C, T>; R]);

impl<const R: usize, const C: usize, T: Number> Matrix<R, C, T> {
    /// All components zero.
    pub const fn zero() -> Self {
        Matrix([Vector::zero(); R])
    }

    /// A matrix of these rows.
    pub const fn from_rows(rows: [[T; C]; R]) -> Self {
        let mut matrix = Matrix::zero();
        let mut row = 0;
        while row < R {
            matrix.0[row] = Vector(rows[row]);
            row += 1;
        }
        matrix
    }

    /// The rows.
    pub fn to_rows(self) -> [[T; C]; R] {
        self.0.map(|row| row.0)
    }

    /// The rows as columns and the columns as rows.
    pub fn transposed(self) -> Matrix<C, R, T> {
        Matrix(std::array::from_fn(|c| Vector(std::array::from_fn(|r| self.0[r].0[c]))))
    }
}

impl<const N: usize, T: Number> Matrix<N, N, T> {
    /// Ones on the diagonal and zeros elsewhere.
    pub const fn identity() -> Self {
        let mut matrix = Matrix::zero();
        let mut i = 0;
        while i < N {
            matrix.0[i].0[i] = T::ONE;
            i += 1;
        }
        matrix
    }
}

impl<const R: usize, const C: usize, T: Number> Default for Matrix<R, C, T> {
    fn default() -> Self {
        Matrix::zero()
    }
}

impl<const R: usize, const C: usize, T: fmt::Debug> fmt::Debug for Matrix<R, C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<const R: usize, const C: usize, T: fmt::Display> fmt::Display for Matrix<R, C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, self.0.iter())
    }
}

impl<const R: usize, const C: usize, T: Number> From<[[T; C]; R]> for Matrix<R, C, T> {
    fn from(rows: [[T; C]; R]) -> Self {
        Matrix::from_rows(rows)
    }
}

impl<const R: usize, const C: usize, T> Index<[usize; 2]> for Matrix<R, C, T> {
    type Output = T;

    fn index(&self, [row, column]: [usize; 2]) -> &T {
        &self.0[row].0[column]
    }
}

impl<const R: usize, const C: usize, T> IndexMut<[usize; 2]> for Matrix<R, C, T> {
    fn index_mut(&mut self, [row, column]: [usize; 2]) -> &mut T {
        &mut self.0[row].0[column]
    }
}

impl<const R: usize, const C: usize, T> Index<(usize, usize)> for Matrix<R, C, T> {
    type Output = T;

    fn index(&self, (row, column): (usize, usize)) -> &T {
        &self[[row, column]]
    }
}

impl<const R: usize, const C: usize, T> IndexMut<(usize, usize)> for Matrix<R, C, T> {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut T {
        &mut self[[row, column]]
    }
}

macro_rules! elementwise {
    ($($op:ident $method:ident, $assign:ident $assign_method:ident),*) => { $(
        impl<const R: usize, const C: usize, T: Number> $op for Matrix<R, C, T> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                Matrix(std::array::from_fn(|r| self.0[r].$method(other.0[r])))
            }
        }

        impl<const R: usize, const C: usize, T: Number> $assign for Matrix<R, C, T> {
            fn $assign_method(&mut self, other: Self) {
                *self = (*self).$method(other);
            }
        }
    )* };
}

elementwise!(Add add, AddAssign add_assign, Sub sub, SubAssign sub_assign);

impl<const R: usize, const C: usize, T: Float> Neg for Matrix<R, C, T> {
    type Output = Self;

    fn neg(self) -> Self {
        Matrix(self.0.map(|row| -row))
    }
}

impl<const R: usize, const C: usize, T: Number> Mul<T> for Matrix<R, C, T> {
    type Output = Self;

    fn mul(self, factor: T) -> Self {
        Matrix(self.0.map(|row| row * factor))
    }
}

impl<const R: usize, const C: usize, T: Number> MulAssign<T> for Matrix<R, C, T> {
    fn mul_assign(&mut self, factor: T) {
        *self = *self * factor;
    }
}

impl<const R: usize, const C: usize, T: Number> Mul<Vector<C, T>> for Matrix<R, C, T> {
    type Output = Vector<R, T>;

    fn mul(self, vector: Vector<C, T>) -> Vector<R, T> {
        Vector(self.0.map(|row| (0..C).fold(T::ZERO, |sum, c| sum + row.0[c] * vector.0[c])))
    }
}

impl<const R: usize, const K: usize, const C: usize, T: Number> Mul<Matrix<K, C, T>> for Matrix<R, K, T> {
    type Output = Matrix<R, C, T>;

    fn mul(self, other: Matrix<K, C, T>) -> Matrix<R, C, T> {
        let component =
            |r: usize, c: usize| (0..K).fold(T::ZERO, |sum, k| sum + self.0[r].0[k] * other.0[k].0[c]);
        Matrix(std::array::from_fn(|r| Vector(std::array::from_fn(|c| component(r, c)))))
    }
}

macro_rules! scaled {
    ($($ty:ident),*) => { $(
        impl<const R: usize, const C: usize> Mul<Matrix<R, C, $ty>> for $ty {
            type Output = Matrix<R, C, $ty>;

            fn mul(self, matrix: Matrix<R, C, $ty>) -> Matrix<R, C, $ty> {
                matrix * self
            }
        }
    )* };
}

scaled!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
