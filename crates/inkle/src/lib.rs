//! Kernels written in Rust.
//!
//! A kernel is a function that runs once for every index of a launch, on all cores of the CPU or on an NVIDIA GPU. It is
//! compiled when it is launched first, in milliseconds, and kept in a cache on disk.
//!
//! ```
//! use inkle::prelude::*;
//!
//! #[inkle::kernel]
//! fn saxpy(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
//!     let i = tid();
//!     y[i] = a * x[i] + y[i];
//! }
//!
//! let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?;
//! let mut y = Array::full(3, 10.0f32)?;
//! saxpy.launch(3, (&x, &mut y, 2.0))?;
//! assert_eq!(y.to_vec()?, [12.0, 14.0, 16.0]);
//! # Ok::<(), inkle::Error>(())
//! ```
#![forbid(unsafe_code)]

// The macros name this crate by its name, in its own tests and documentation too.
extern crate self as inkle;

mod array;
pub mod builtins;
mod dim;
mod error;
mod graph;
mod kernel;
mod log;
mod tape;

pub use array::{Array, ArrayView, ArrayViewMut};
pub use dim::{Dim, Shape};
pub use error::{Error, Result};
pub use graph::{Graph, Saving, capture_if, capture_while};
pub use inkle_graph::GraphError;
pub use inkle_graph::bundle::Param;
pub use inkle_macros::{Struct, func, kernel};
pub use inkle_module::CompileError;
pub use inkle_runtime::{
    Device, Event, RuntimeError, Stream, default_device, device, devices, set_default_device,
};
pub use inkle_value::{
    Float, Int, Mat22, Mat22d, Mat33, Mat33d, Mat44, Mat44d, Matrix, Number, Quat, Quatd, Quaternion, Scalar,
    SpatialMatrix, SpatialVector, Transform, Transformd, Transformf, Value, Vec2, Vec2d, Vec2h, Vec2i, Vec2u,
    Vec2ub, Vec3, Vec3d, Vec3h, Vec3i, Vec3u, Vec3ub, Vec4, Vec4d, Vec4h, Vec4i, Vec4u, Vec4ub, Vector, bf16,
    f16,
};
pub use kernel::{LaunchOptions, Prepared};
pub use tape::{Tape, on_backward};

/// What kernels and the programs around them use: `use inkle::prelude::*`.
pub mod prelude {
    pub use crate::builtins::*;
    pub use crate::{
        Array, Device, Float, Graph, Int, Mat22, Mat33, Mat44, Matrix, Number, Quat, Quaternion, Scalar,
        Tape, Transform, Transformf, Value, Vec2, Vec2i, Vec3, Vec3i, Vec4, Vec4i, Vector,
    };
}

/// What the macros make use of; not for programs.
#[doc(hidden)]
pub mod __private {
    pub use inkle_frontend::env::ParamSpec;
    pub use inkle_frontend::pattern::{Constraint, Pattern, ScalarPattern, SizePattern};
    pub use inkle_ir::{ArrayKind, Type};
    pub use inkle_value::{Typed, ix1, ix2, ix3, ix4, only_in_kernels};

    pub use crate::kernel::{
        Argument, Callable, Definition, Family, FieldOffsets, Instance, Name, Packer, Settings, Site, Text,
        exact, launch, launch_with, param, pass, prepare, scalar, structure,
    };
}
