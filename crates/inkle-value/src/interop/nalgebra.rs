//! `nalgebra`: its matrices are stored by columns, ours by rows; components and meaning are the same.

use nalgebra::{
    Isometry3, Point, Quaternion as TheirQuaternion, SMatrix, SVector, Translation3, UnitQuaternion,
};

use crate::{Matrix, Number, Quaternion, Transform, Vector};

impl<T: Number, const N: usize> From<SVector<T, N>> for Vector<N, T> {
    fn from(vector: SVector<T, N>) -> Self {
        Vector(vector.into())
    }
}

impl<T: Number, const N: usize> From<Vector<N, T>> for SVector<T, N> {
    fn from(vector: Vector<N, T>) -> Self {
        SVector::from(vector.0)
    }
}

impl<T: Number, const N: usize> From<Point<T, N>> for Vector<N, T> {
    fn from(point: Point<T, N>) -> Self {
        point.coords.into()
    }
}

impl<T: Number, const N: usize> From<Vector<N, T>> for Point<T, N> {
    fn from(vector: Vector<N, T>) -> Self {
        Point::from(vector.0)
    }
}

impl<T: Number, const R: usize, const C: usize> From<SMatrix<T, R, C>> for Matrix<R, C, T> {
    fn from(matrix: SMatrix<T, R, C>) -> Self {
        Matrix(std::array::from_fn(|row| Vector(std::array::from_fn(|column| matrix[(row, column)]))))
    }
}

impl<T: Number, const R: usize, const C: usize> From<Matrix<R, C, T>> for SMatrix<T, R, C> {
    fn from(matrix: Matrix<R, C, T>) -> Self {
        SMatrix::from_fn(|row, column| matrix[[row, column]])
    }
}

impl<T: Number> From<TheirQuaternion<T>> for Quaternion<T> {
    fn from(q: TheirQuaternion<T>) -> Self {
        let [x, y, z, w] = q.coords.into();
        Quaternion::new(x, y, z, w)
    }
}

impl<T: Number> From<Quaternion<T>> for TheirQuaternion<T> {
    fn from(q: Quaternion<T>) -> Self {
        TheirQuaternion { coords: [q.x, q.y, q.z, q.w].into() }
    }
}

impl<T: Number> From<UnitQuaternion<T>> for Quaternion<T> {
    fn from(q: UnitQuaternion<T>) -> Self {
        q.into_inner().into()
    }
}

/// The quaternion has to be of length one; it is taken as it is.
impl<T: Number> From<Quaternion<T>> for UnitQuaternion<T> {
    fn from(q: Quaternion<T>) -> Self {
        UnitQuaternion::new_unchecked(q.into())
    }
}

impl<T: Number> From<Isometry3<T>> for Transform<T> {
    fn from(isometry: Isometry3<T>) -> Self {
        Transform::new(isometry.translation.vector.into(), isometry.rotation.into())
    }
}

impl<T: Number + nalgebra::RealField> From<Transform<T>> for Isometry3<T> {
    fn from(transform: Transform<T>) -> Self {
        Isometry3::from_parts(Translation3::from(SVector::from(transform.p)), transform.q.into())
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Isometry3, Matrix2x3, Point3, UnitQuaternion, Vector3};

    use crate::{Matrix, Quatd, Transform, Transformd, Vec3, Vec3d, Vector};

    #[test]
    fn vectors_and_points_come_back() {
        let ours = Vec3::new(1.0, 2.0, 3.0);
        assert_eq!(Vector3::from(ours), Vector3::new(1.0, 2.0, 3.0));
        assert_eq!(Vec3::from(Vector3::from(ours)), ours);
        assert_eq!(Vec3::from(Point3::from(ours)), ours);
        let long = Vector::<7, u8>([1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(Vector::from(nalgebra::SVector::<u8, 7>::from(long)), long);
    }

    #[test]
    fn matrices_do_the_same_to_vectors() {
        let ours = Matrix::from_rows([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
        let theirs: Matrix2x3<f64> = ours.into();
        assert_eq!(theirs, Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0));
        let v = Vec3d::new(1.0, -1.0, 2.0);
        assert_eq!(Vector::from(theirs * Vector3::from(v)), ours * v);
        assert_eq!(Matrix::from(theirs), ours);
    }

    #[test]
    fn rotations_turn_the_same_way() {
        let turn = UnitQuaternion::from_euler_angles(0.3, -0.7, 1.1);
        let ours: Quatd = turn.into();
        assert_eq!(UnitQuaternion::from(ours), turn);
        let isometry = Isometry3::from_parts(Vector3::new(1.0, 2.0, 3.0).into(), turn);
        let transform = Transform::from(isometry);
        assert_eq!(Isometry3::from(transform), isometry);
        let both = transform * Transformd::new(Vec3d::new(4.0, 5.0, 6.0), Quatd::identity());
        let point = isometry * Point3::new(4.0, 5.0, 6.0);
        assert!((Point3::from(both.p) - point).norm() < 1e-12);
    }
}
