//! The one place with `unsafe`: values whose memory is their bytes.
//!
//! [`Vector`], [`Matrix`], [`Quaternion`] and [`Transform`] are `repr(C)` and consist of scalars of one type only, so they
//! have no padding and every pattern of bits that their scalars allow.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable};
use half::{bf16, f16};
use inkle_ir::Type;

use crate::matrix::Matrix;
use crate::quaternion::{Quaternion, Transform};
use crate::scalar::Number;
use crate::typed::Typed;
use crate::value::Value;
use crate::vector::{Vector, Xy, Xyz, Xyzw};

// SAFETY: an array of `T` alone, `repr(transparent)`: zero is zeros of `T`.
unsafe impl<const N: usize, T: Zeroable> Zeroable for Vector<N, T> {}
// SAFETY: as above; without padding because arrays have none, and any bits are a `T`.
unsafe impl<const N: usize, T: Pod> Pod for Vector<N, T> {}
// SAFETY: an array of arrays of `T` alone, `repr(transparent)`.
unsafe impl<const R: usize, const C: usize, T: Zeroable> Zeroable for Matrix<R, C, T> {}
// SAFETY: as above; arrays of arrays have no padding, and any bits are a `T`.
unsafe impl<const R: usize, const C: usize, T: Pod> Pod for Matrix<R, C, T> {}
// SAFETY: four fields of one type, `repr(C)`.
unsafe impl<T: Zeroable> Zeroable for Quaternion<T> {}
// SAFETY: as above; fields of one type leave no gaps, and any bits are a `T`.
unsafe impl<T: Pod> Pod for Quaternion<T> {}
// SAFETY: seven scalars of one type, `repr(C)`.
unsafe impl<T: Zeroable> Zeroable for Transform<T> {}
// SAFETY: as above; parts made of one scalar type leave no gaps, and any bits are a `T`.
unsafe impl<T: Pod> Pod for Transform<T> {}

macro_rules! named_components {
    ($($size:literal $names:ident),*) => { $(
        impl<T> Deref for Vector<$size, T> {
            type Target = $names<T>;

            fn deref(&self) -> &$names<T> {
                // SAFETY: both are `repr(C)` sequences of the same number of `T`, so size, alignment and every
                // component's place agree; the borrow of `self` is held by the result.
                unsafe { &*std::ptr::from_ref(self).cast::<$names<T>>() }
            }
        }

        impl<T> DerefMut for Vector<$size, T> {
            fn deref_mut(&mut self) -> &mut $names<T> {
                // SAFETY: as for `deref`, and the borrow of `self` is exclusive.
                unsafe { &mut *std::ptr::from_mut(self).cast::<$names<T>>() }
            }
        }
    )* };
}

named_components!(2 Xy, 3 Xyz, 4 Xyzw);

macro_rules! pod_values {
    ($([$($generics:tt)*] $ty:ty, $kind:expr;)*) => { $(
        impl<$($generics)*> Typed for $ty {
            fn ty() -> Type {
                $kind
            }
        }

        impl<$($generics)*> Value for $ty {
            fn store(&self, bytes: &mut [u8]) {
                bytes[..size_of::<Self>()].copy_from_slice(bytemuck::bytes_of(self));
            }

            fn fetch(bytes: &[u8]) -> Self {
                bytemuck::pod_read_unaligned(&bytes[..size_of::<Self>()])
            }

            fn bytes_of(values: &[Self]) -> Cow<'_, [u8]> {
                Cow::Borrowed(bytemuck::cast_slice(values))
            }

            fn read<E>(
                count: usize,
                fill: impl FnOnce(&mut [u8]) -> Result<(), E>,
            ) -> Result<Vec<Self>, E> {
                let mut values = vec![Self::zeroed(); count];
                fill(bytemuck::cast_slice_mut::<Self, u8>(&mut values))?;
                Ok(values)
            }
        }
    )* };
}

pod_values! {
    [] i8, Type::Scalar(inkle_ir::Scalar::I8);
    [] i16, Type::Scalar(inkle_ir::Scalar::I16);
    [] i32, Type::I32;
    [] i64, Type::I64;
    [] u8, Type::Scalar(inkle_ir::Scalar::U8);
    [] u16, Type::Scalar(inkle_ir::Scalar::U16);
    [] u32, Type::Scalar(inkle_ir::Scalar::U32);
    [] u64, Type::U64;
    [] f16, Type::Scalar(inkle_ir::Scalar::F16);
    [] bf16, Type::Scalar(inkle_ir::Scalar::BF16);
    [] f32, Type::F32;
    [] f64, Type::F64;
    [const N: usize, T: Number] Vector<N, T>, Type::vec(N as u32, T::KIND);
    [const R: usize, const C: usize, T: Number] Matrix<R, C, T>, Type::mat(R as u32, C as u32, T::KIND);
    [T: Number] Quaternion<T>, Type::Quat(T::KIND);
    [T: Number] Transform<T>, Type::Transform(T::KIND);
}

/// In kernels an array of numbers is a vector, and it is stored as one.
impl<T: Number, const N: usize> Value for [T; N] {
    fn store(&self, bytes: &mut [u8]) {
        Vector(*self).store(bytes);
    }

    fn fetch(bytes: &[u8]) -> Self {
        Vector::fetch(bytes).0
    }
}

macro_rules! wide_values {
    ($($ty:ident as $wide:ident),*) => { $(
        impl Typed for $ty {
            fn ty() -> Type {
                $wide::ty()
            }
        }

        impl Value for $ty {
            fn store(&self, bytes: &mut [u8]) {
                (*self as $wide).store(bytes);
            }

            fn fetch(bytes: &[u8]) -> Self {
                $wide::fetch(bytes) as $ty
            }
        }
    )* };
}

wide_values!(isize as i64, usize as u64);

impl Typed for bool {
    fn ty() -> Type {
        Type::BOOL
    }
}

impl Value for bool {
    fn store(&self, bytes: &mut [u8]) {
        bytes[0] = u8::from(*self);
    }

    fn fetch(bytes: &[u8]) -> bool {
        bytes[0] != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mat33, Transformf, Vec3};

    fn round_trip<T: Value + PartialEq + std::fmt::Debug>(values: &[T]) {
        let bytes = T::bytes_of(values);
        assert_eq!(bytes.len(), values.len() * T::ty().size() as usize);
        let read = T::read(values.len(), |place| {
            place.copy_from_slice(&bytes);
            Ok::<_, ()>(())
        });
        assert_eq!(read.as_deref(), Ok(values));
        let mut one = vec![0xff; T::ty().size() as usize];
        values[0].store(&mut one);
        assert_eq!(T::fetch(&one), values[0]);
    }

    #[test]
    fn values_come_back_from_their_bytes() {
        round_trip(&[true, false, true]);
        round_trip(&[usize::MAX, 0, 7]);
        round_trip(&[f16::from_f32(1.5), f16::ZERO]);
        round_trip(&[Vec3::new(1.0, 2.0, 3.0), Vec3::zero()]);
        round_trip(&[Mat33::identity(), Mat33::zero()]);
        round_trip(&[Transformf::identity()]);
        round_trip(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        round_trip(&[Vector::<3, u8>::new(1, 2, 3), Vector::<3, u8>::new(4, 5, 6)]);
    }

    #[test]
    fn components_have_names() {
        let mut v = Vec3::new(1.0, 2.0, 3.0);
        v.y = 5.0;
        assert_eq!((v.x, v[1], v.z), (1.0, 5.0, 3.0));
    }
}
