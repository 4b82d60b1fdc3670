//! The values that kernels work on, as Rust types with the layout that generated code reads.
//!
//! - Scalars: `bool`, the integers from 8 to 64 bits, [`f16`](struct@f16), [`bf16`], `f32`, `f64`; `usize` and `isize` are 64 bits wide in
//!   kernels. [`Scalar`] and its subtraits bound what is generic over them.
//! - [`Vector`], [`Matrix`], [`Quaternion`] and [`Transform`] with the short names of common ones: [`Vec3`] is three `f32`.
//! - [`Value`]: whatever can be an element of an array, and how it is stored.
//!
//! - [`glam`](https://docs.rs/glam) and [`nalgebra`](https://docs.rs/nalgebra): features of these names convert vectors, matrices,
//!   quaternions and transforms with `From`. All these types are [`bytemuck::Pod`], so slices of them can be cast too.
//!
//! The operators of these types mean on the host what they mean in kernels.
//!
//! ```
//! use inkle_value::{Mat33, Vec3};
//!
//! let mut v = Vec3::new(1.0, 2.0, 3.0);
//! v.x += 4.0;
//! assert_eq!(Mat33::identity() * v + 1.0 * v, Vec3::new(10.0, 4.0, 6.0));
//! ```
#![deny(missing_docs)]

pub mod builtins;
mod bytes;
#[doc(hidden)]
pub mod host;
mod interop;
mod matrix;
mod names;
mod quaternion;
mod scalar;
mod subscript;
mod typed;
mod value;
mod vector;

pub use bytemuck;
pub use half::{bf16, f16};
pub use matrix::Matrix;
pub use names::*;
pub use quaternion::{Quaternion, Transform};
pub use scalar::{Float, Int, Number, Scalar};
#[doc(hidden)]
pub use subscript::{KernelIndex, Subscript, Subscripts, ix1, ix2, ix3, ix4, only_in_kernels};
pub use typed::Typed;
pub use value::{Numbers, Outcome, Value};
pub use vector::{Vector, Xy, Xyz, Xyzw};
