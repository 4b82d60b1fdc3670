//! Short names of common types.

use half::f16;

use crate::matrix::Matrix;
use crate::quaternion::{Quaternion, Transform};
use crate::vector::Vector;

macro_rules! names {
    ($($name:ident = $ty:ty, $doc:literal;)*) => { $(
        #[doc = $doc]
        pub type $name = $ty;
    )* };
}

names! {
    Vec2 = Vector<2, f32>, "Two `f32`.";
    Vec3 = Vector<3, f32>, "Three `f32`.";
    Vec4 = Vector<4, f32>, "Four `f32`.";
    Vec2d = Vector<2, f64>, "Two `f64`.";
    Vec3d = Vector<3, f64>, "Three `f64`.";
    Vec4d = Vector<4, f64>, "Four `f64`.";
    Vec2h = Vector<2, f16>, "Two `f16`.";
    Vec3h = Vector<3, f16>, "Three `f16`.";
    Vec4h = Vector<4, f16>, "Four `f16`.";
    Vec2i = Vector<2, i32>, "Two `i32`.";
    Vec3i = Vector<3, i32>, "Three `i32`.";
    Vec4i = Vector<4, i32>, "Four `i32`.";
    Vec2u = Vector<2, u32>, "Two `u32`.";
    Vec3u = Vector<3, u32>, "Three `u32`.";
    Vec4u = Vector<4, u32>, "Four `u32`.";
    Vec2ub = Vector<2, u8>, "Two `u8`.";
    Vec3ub = Vector<3, u8>, "Three `u8`.";
    Vec4ub = Vector<4, u8>, "Four `u8`.";
    Mat22 = Matrix<2, 2, f32>, "Two rows of two `f32`.";
    Mat33 = Matrix<3, 3, f32>, "Three rows of three `f32`.";
    Mat44 = Matrix<4, 4, f32>, "Four rows of four `f32`.";
    Mat22d = Matrix<2, 2, f64>, "Two rows of two `f64`.";
    Mat33d = Matrix<3, 3, f64>, "Three rows of three `f64`.";
    Mat44d = Matrix<4, 4, f64>, "Four rows of four `f64`.";
    Quat = Quaternion<f32>, "A quaternion of `f32`.";
    Quatd = Quaternion<f64>, "A quaternion of `f64`.";
    Transformf = Transform<f32>, "A rigid transform of `f32`.";
    Transformd = Transform<f64>, "A rigid transform of `f64`.";
    SpatialVector = Vector<6, f32>, "Six `f32`: an angular and a linear part.";
    SpatialMatrix = Matrix<6, 6, f32>, "Six rows of six `f32`.";
}
