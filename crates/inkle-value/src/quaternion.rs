//! Quaternions and rigid transforms.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use half::{bf16, f16};

use crate::scalar::{Float, Number};
use crate::vector::{Vector, write_list};

/// A quaternion; its real part is `w`. Of length one it is a rotation.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Quaternion<T = f32> {
    pub x: T,
    pub y: T,
    pub z: T,
    pub w: T,
}

/// A rigid transform: a rotation, then a shift.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Transform<T = f32> {
    /// The shift.
    pub p: Vector<3, T>,
    /// The rotation, of length one.
    pub q: Quaternion<T>,
}

impl<T> Quaternion<T> {
    /// A quaternion of these components.
    pub const fn new(x: T, y: T, z: T, w: T) -> Self {
        Quaternion { x, y, z, w }
    }
}

impl<T: Number> Quaternion<T> {
    /// The rotation that leaves everything where it is.
    pub const fn identity() -> Self {
        Quaternion { x: T::ZERO, y: T::ZERO, z: T::ZERO, w: T::ONE }
    }

    /// All components zero.
    pub const fn zero() -> Self {
        Quaternion { x: T::ZERO, y: T::ZERO, z: T::ZERO, w: T::ZERO }
    }
}

impl<T: fmt::Display> fmt::Display for Quaternion<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(f, [&self.x, &self.y, &self.z, &self.w].into_iter())
    }
}

impl<T: fmt::Display> fmt::Display for Transform<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quaternion { x, y, z, w } = &self.q;
        write_list(f, self.p.0.iter().chain([x, y, z, w]))
    }
}

impl<T: Number> Default for Quaternion<T> {
    fn default() -> Self {
        Quaternion::identity()
    }
}

impl<T: Number> Add for Quaternion<T> {
    type Output = Self;

    fn add(self, o: Self) -> Self {
        Quaternion::new(self.x + o.x, self.y + o.y, self.z + o.z, self.w + o.w)
    }
}

impl<T: Number> Sub for Quaternion<T> {
    type Output = Self;

    fn sub(self, o: Self) -> Self {
        Quaternion::new(self.x - o.x, self.y - o.y, self.z - o.z, self.w - o.w)
    }
}

impl<T: Float> Neg for Quaternion<T> {
    type Output = Self;

    fn neg(self) -> Self {
        Quaternion::new(-self.x, -self.y, -self.z, -self.w)
    }
}

impl<T: Number> Mul<T> for Quaternion<T> {
    type Output = Self;

    fn mul(self, factor: T) -> Self {
        Quaternion::new(self.x * factor, self.y * factor, self.z * factor, self.w * factor)
    }
}

impl<T: Number> Mul for Quaternion<T> {
    type Output = Self;

    /// Hamilton's product: the rotation `o`, then this one.
    fn mul(self, o: Self) -> Self {
        Quaternion::new(
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
        )
    }
}

macro_rules! scaled {
    ($($ty:ident),*) => { $(
        impl Mul<Quaternion<$ty>> for $ty {
            type Output = Quaternion<$ty>;

            fn mul(self, quaternion: Quaternion<$ty>) -> Quaternion<$ty> {
                quaternion * self
            }
        }
    )* };
}

scaled!(f16, bf16, f32, f64);

impl<T: Number> Quaternion<T> {
    fn rotated(self, v: Vector<3, T>) -> Vector<3, T> {
        let two = T::ONE + T::ONE;
        let axis = Vector::<3, T>::new(self.x, self.y, self.z);
        let dot = self.x * v.0[0] + self.y * v.0[1] + self.z * v.0[2];
        let cross = Vector::<3, T>::new(
            self.y * v.0[2] - self.z * v.0[1],
            self.z * v.0[0] - self.x * v.0[2],
            self.x * v.0[1] - self.y * v.0[0],
        );
        v * (two * self.w * self.w - T::ONE) + cross * (self.w * two) + axis * (dot * two)
    }
}

impl<T> Transform<T> {
    /// The transform that rotates by `q` and then shifts by `p`.
    pub const fn new(p: Vector<3, T>, q: Quaternion<T>) -> Self {
        Transform { p, q }
    }
}

impl<T: Number> Transform<T> {
    /// The transform that leaves everything where it is.
    pub const fn identity() -> Self {
        Transform { p: Vector::zero(), q: Quaternion::identity() }
    }
}

impl<T: Number> Default for Transform<T> {
    fn default() -> Self {
        Transform::identity()
    }
}

impl<T: Number> Mul for Transform<T> {
    type Output = Self;

    /// The transform `o`, then this one.
    fn mul(self, o: Self) -> Self {
        Transform { p: self.q.rotated(o.p) + self.p, q: self.q * o.q }
    }
}
