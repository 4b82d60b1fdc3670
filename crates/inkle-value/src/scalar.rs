//! Scalars, and what generic code may ask of them.

use std::fmt::{Debug, Display};
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Shl, Shr,
    Sub, SubAssign,
};

use bytemuck::Pod;
use half::{bf16, f16};
use inkle_ir::Scalar as Kind;

use crate::value::Value;

/// A scalar: a truth value or a number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no scalar of kernels",
    label = "kernels know `bool`, `i8` to `i64`, `u8` to `u64`, `isize`, `usize`, `f16`, `bf16`, `f32` and `f64`"
)]
pub trait Scalar: Value + Copy + PartialEq + PartialOrd + Debug + Default {
    /// The scalar as the compiler knows it.
    const KIND: Kind;

    /// The value nearest to an `f64`; out of an integer's range, its smallest or largest.
    fn from_f64(value: f64) -> Self;

    /// The value of an `i32`, or the nearest to it.
    fn from_i32(value: i32) -> Self {
        Self::from_f64(value.into())
    }

    /// As an `f64`, rounded when it has more digits than that.
    fn to_f64(self) -> f64;

    /// The value as another scalar, as `as` converts it.
    fn cast<T: Scalar>(self) -> T {
        T::from_f64(self.to_f64())
    }
}

/// An integer or float.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no number of kernels",
    label = "an integer or float is needed"
)]
pub trait Number:
    Scalar
    + Pod
    + Display
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + RemAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
}

/// A floating-point number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no float",
    label = "`f16`, `bf16`, `f32` or `f64` is needed"
)]
pub trait Float: Number + Neg<Output = Self> {}

/// An integer.
#[diagnostic::on_unimplemented(message = "`{Self}` is no integer of kernels", label = "an integer is needed")]
pub trait Int:
    Number
    + Eq
    + Ord
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<Self, Output = Self>
    + Shr<Self, Output = Self>
{
}

impl Scalar for bool {
    const KIND: Kind = Kind::Bool;

    fn from_f64(value: f64) -> bool {
        value != 0.0
    }

    fn to_f64(self) -> f64 {
        self.into()
    }
}

macro_rules! ints {
    ($($ty:ident $kind:ident),*) => { $(
        impl Scalar for $ty {
            const KIND: Kind = Kind::$kind;

            fn from_f64(value: f64) -> $ty {
                value as $ty
            }

            fn to_f64(self) -> f64 {
                self as f64
            }
        }

        impl Number for $ty {
            const ZERO: $ty = 0;
            const ONE: $ty = 1;
        }

        impl Int for $ty {}
    )* };
}

macro_rules! floats {
    ($($ty:ident $kind:ident $from:expr, $to:expr, $zero:expr, $one:expr;)*) => { $(
        impl Scalar for $ty {
            const KIND: Kind = Kind::$kind;

            fn from_f64(value: f64) -> $ty {
                $from(value)
            }

            fn to_f64(self) -> f64 {
                $to(self)
            }
        }

        impl Number for $ty {
            const ZERO: $ty = $zero;
            const ONE: $ty = $one;
        }

        impl Float for $ty {}
    )* };
}

ints!(i8 I8, i16 I16, i32 I32, i64 I64, isize I64, u8 U8, u16 U16, u32 U32, u64 U64, usize U64);
floats! {
    f16 F16 f16::from_f64, f16::to_f64, f16::ZERO, f16::ONE;
    bf16 BF16 bf16::from_f64, bf16::to_f64, bf16::ZERO, bf16::ONE;
    f32 F32 |v: f64| v as f32, f64::from, 0.0, 1.0;
    f64 F64 |v| v, |v| v, 0.0, 1.0;
}
