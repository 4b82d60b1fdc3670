//! `glam`: its matrices are stored by columns, ours by rows; components and meaning are the same.

use crate::{Matrix, Quaternion, Transform, Vector};

macro_rules! vectors {
    ($($size:literal $scalar:ident: $($theirs:ident),*;)*) => { $( $(
        impl From<glam::$theirs> for Vector<$size, $scalar> {
            fn from(vector: glam::$theirs) -> Self {
                Vector(vector.to_array())
            }
        }

        impl From<Vector<$size, $scalar>> for glam::$theirs {
            fn from(vector: Vector<$size, $scalar>) -> Self {
                glam::$theirs::from_array(vector.0)
            }
        }
    )* )* };
}

vectors! {
    2 f32: Vec2;
    3 f32: Vec3, Vec3A;
    4 f32: Vec4;
    2 f64: DVec2;
    3 f64: DVec3;
    4 f64: DVec4;
    2 i8: I8Vec2;
    3 i8: I8Vec3;
    4 i8: I8Vec4;
    2 u8: U8Vec2;
    3 u8: U8Vec3;
    4 u8: U8Vec4;
    2 i16: I16Vec2;
    3 i16: I16Vec3;
    4 i16: I16Vec4;
    2 u16: U16Vec2;
    3 u16: U16Vec3;
    4 u16: U16Vec4;
    2 i32: IVec2;
    3 i32: IVec3;
    4 i32: IVec4;
    2 u32: UVec2;
    3 u32: UVec3;
    4 u32: UVec4;
    2 i64: I64Vec2;
    3 i64: I64Vec3;
    4 i64: I64Vec4;
    2 u64: U64Vec2;
    3 u64: U64Vec3;
    4 u64: U64Vec4;
}

macro_rules! matrices {
    ($($size:literal $scalar:ident: $($theirs:ident),*;)*) => { $( $(
        impl From<glam::$theirs> for Matrix<$size, $size, $scalar> {
            fn from(matrix: glam::$theirs) -> Self {
                Matrix::from_rows(matrix.transpose().to_cols_array_2d())
            }
        }

        impl From<Matrix<$size, $size, $scalar>> for glam::$theirs {
            fn from(matrix: Matrix<$size, $size, $scalar>) -> Self {
                glam::$theirs::from_cols_array_2d(&matrix.to_rows()).transpose()
            }
        }
    )* )* };
}

matrices! {
    2 f32: Mat2;
    3 f32: Mat3, Mat3A;
    4 f32: Mat4;
    2 f64: DMat2;
    3 f64: DMat3;
    4 f64: DMat4;
}

macro_rules! rotations {
    ($($scalar:ident: $quaternion:ident $affine:ident $matrix:ident;)*) => { $(
        impl From<glam::$quaternion> for Quaternion<$scalar> {
            fn from(q: glam::$quaternion) -> Self {
                Quaternion::new(q.x, q.y, q.z, q.w)
            }
        }

        impl From<Quaternion<$scalar>> for glam::$quaternion {
            fn from(q: Quaternion<$scalar>) -> Self {
                glam::$quaternion::from_xyzw(q.x, q.y, q.z, q.w)
            }
        }

        impl From<Transform<$scalar>> for glam::$affine {
            fn from(transform: Transform<$scalar>) -> Self {
                glam::$affine::from_rotation_translation(transform.q.into(), transform.p.into())
            }
        }

        impl From<Transform<$scalar>> for glam::$matrix {
            fn from(transform: Transform<$scalar>) -> Self {
                glam::$matrix::from_rotation_translation(transform.q.into(), transform.p.into())
            }
        }
    )* };
}

rotations! {
    f32: Quat Affine3A Mat4;
    f64: DQuat DAffine3 DMat4;
}

#[cfg(test)]
mod tests {
    use crate::{Mat33, Quat, Transformf, Vec3, Vector};

    #[test]
    fn vectors_come_back() {
        let ours = Vec3::new(1.0, 2.0, 3.0);
        let theirs: glam::Vec3 = ours.into();
        assert_eq!((theirs.x, theirs.y, theirs.z), (1.0, 2.0, 3.0));
        assert_eq!(Vec3::from(theirs), ours);
        assert_eq!(Vec3::from(glam::Vec3A::from(ours)), ours);
        let ours = Vector::<4, i64>::new(1, -2, i64::MAX, i64::MIN);
        assert_eq!(Vector::from(glam::I64Vec4::from(ours)), ours);
    }

    #[test]
    fn matrices_do_the_same_to_vectors() {
        let ours = Mat33::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]]);
        let theirs: glam::Mat3 = ours.into();
        let v = Vec3::new(1.0, -1.0, 2.0);
        assert_eq!(Vec3::from(theirs * glam::Vec3::from(v)), ours * v);
        assert_eq!(theirs.row(0).to_array(), [1.0, 2.0, 3.0]);
        assert_eq!(Mat33::from(theirs), ours);
        assert_eq!(Mat33::from(glam::Mat3A::from(ours)), ours);
    }

    #[test]
    fn rotations_turn_the_same_way() {
        let quarter = glam::Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let ours: Quat = quarter.into();
        assert_eq!(glam::Quat::from(ours), quarter);
        let transform = Transformf::new(Vec3::new(0.0, 0.0, 5.0), ours);
        let both = transform * Transformf::new(Vec3::new(1.0, 0.0, 0.0), Quat::identity());
        let point = glam::Affine3A::from(transform).transform_point3(glam::Vec3::X);
        assert!((glam::Vec3::from(both.p) - point).length() < 1e-6);
        assert!((glam::Mat4::from(transform).transform_point3(glam::Vec3::X) - point).length() < 1e-6);
        assert!((point - glam::Vec3::new(0.0, 1.0, 5.0)).length() < 1e-6);
    }
}
