//! Made from the registry by the test `builtins` of the crate `inkle`.

#![expect(unused_imports, reason = "the files below need them")]

mod geometry;
mod operators;
mod quaternion_math;
mod random;
mod scalar_math;
mod spatial_math;
mod transformations;
mod utility;
mod vector_math;

pub use geometry::*;
pub use operators::*;
pub use quaternion_math::*;
pub use random::*;
pub use scalar_math::*;
pub use spatial_math::*;
pub use transformations::*;
pub use utility::*;
pub use vector_math::*;

use super::{Builtin, Overload, builtin};
use crate::matrix::Matrix;
use crate::quaternion::{Quaternion, Transform};
use crate::scalar::{Float, Int, Number, Scalar};
use crate::vector::Vector;
