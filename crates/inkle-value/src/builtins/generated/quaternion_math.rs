//! Made from the registry by the test `builtins` of the crate `inkle`: quaternion_math.

use super::*;

builtin! {
    /// The smallest rotation that turns the direction of `a` to the direction of `b`, of any lengths.
    ///
    /// For opposite directions it turns by pi about some axis perpendicular to `a`; it is the identity when `a` or `b`
    /// is zero.
    quat_between_vectors = "quat_between_vectors" (a: A_, b: B_);
    [F: Float] (Vector<3, F>, Vector<3, F>) -> Quaternion<F>;
}

builtin! {
    /// The rotation by `angle`, in radians, about a unit vector `axis`, by the right-hand rule.
    quat_from_axis_angle = "quat_from_axis_angle" (axis: A_, angle: B_);
    [F: Float] (Vector<3, F>, F) -> Quaternion<F>;
}

builtin! {
    /// The rotation by `e\[i\]` about axis `i`, then `e\[j\]` about axis `j`, then `e\[k\]` about axis `k`.
    ///
    /// `i`, `j`, `k` are 0, 1, 2, for x, y, z, in any order; axes stay fixed. Angles are in radians.
    quat_from_euler = "quat_from_euler" (e: A_, i: B_, j: C_, k: D_);
    [F: Float] (Vector<3, F>, i32, i32, i32) -> Quaternion<F>;
}

builtin! {
    /// The unit quaternion of a rotation matrix.
    quat_from_matrix = "quat_from_matrix" (mat: A_);
    [F: Float] (Matrix<3, 3, F>) -> Quaternion<F>;
    [F: Float] (Matrix<4, 4, F>) -> Quaternion<F>;
}

builtin! {
    /// The rotation the other way: the conjugate, which is the inverse of a unit quaternion.
    quat_inverse = "quat_inverse" (quat: A_);
    [F: Float] (Quaternion<F>) -> Quaternion<F>;
}

builtin! {
    /// A vector turned by a unit quaternion.
    quat_rotate = "quat_rotate" (quat: A_, vec: B_);
    [F: Float] (Quaternion<F>, Vector<3, F>) -> Vector<3, F>;
}

builtin! {
    /// A vector turned by the inverse of a unit quaternion.
    quat_rotate_inv = "quat_rotate_inv" (quat: A_, vec: B_);
    [F: Float] (Quaternion<F>, Vector<3, F>) -> Vector<3, F>;
}

builtin! {
    /// The rotation by `roll` about x, then `pitch` about y, then `yaw` about z, in radians, axes fixed.
    quat_rpy = "quat_rpy" (roll: A_, pitch: B_, yaw: C_);
    [F: Float] (F, F, F) -> Quaternion<F>;
}

builtin! {
    /// The rotation a fraction `t` of the way from `a` to `b`, at constant speed along the shorter way.
    quat_slerp = "quat_slerp" (a: A_, b: B_, t: C_);
    [F: Float] (Quaternion<F>, Quaternion<F>, F) -> Quaternion<F>;
}

builtin! {
    /// The unit axis and the angle, from 0 to pi, of a rotation. No rotation has axis zero.
    quat_to_axis_angle = "quat_to_axis_angle" (quat: A_);
    [F: Float] (Quaternion<F>) -> (Vector<3, F>, F);
}

builtin! {
    /// The unit axis and the angle, from 0 to pi, of a rotation. No rotation has axis zero.
    quat_to_axis_angle_axis_angle = "quat_to_axis_angle" (quat: A_, axis: &mut B_, angle: &mut C_);
    [F: Float] (Quaternion<F>, Vector<3, F>, F) -> ();
}

builtin! {
    /// The angles, in radians, that `quat_from_euler` makes `q` of: component `i` is the angle about axis `i`.
    ///
    /// `i`, `j`, `k` are 0, 1, 2, for x, y, z, in any order. The angle about `j` is from -pi/2 to pi/2, the others
    /// are not limited to one turn. Where only their sum or difference is determined, the angle about `i` is zero.
    quat_to_euler = "quat_to_euler" (q: A_, i: B_, j: C_, k: D_);
    [F: Float] (Quaternion<F>, i32, i32, i32) -> Vector<3, F>;
}

builtin! {
    /// The rotation matrix of a unit quaternion.
    quat_to_matrix = "quat_to_matrix" (quat: A_);
    [F: Float] (Quaternion<F>) -> Matrix<3, 3, F>;
}

builtin! {
    /// Roll, pitch and yaw, in radians, of a unit quaternion; the opposite of `quat_rpy`.
    quat_to_rpy = "quat_to_rpy" (q: A_);
    [F: Float] (Quaternion<F>) -> Vector<3, F>;
}

builtin! {
    /// The part of a rotation that turns about a unit vector `axis`.
    quat_twist = "quat_twist" (axis: A_, q: B_);
    [F: Float] (Vector<3, F>, Quaternion<F>) -> Quaternion<F>;
}

builtin! {
    /// The magnitude, in radians, of the part of a rotation that turns about a unit vector `axis`.
    quat_twist_angle = "quat_twist_angle" (axis: A_, q: B_);
    [F: Float] (Vector<3, F>, Quaternion<F>) -> F;
}

builtin! {
    /// The angle, in radians and signed by the right-hand rule, by which a rotation turns about `axis`.
    quat_twist_angle_signed = "quat_twist_angle_signed" (axis: A_, q: B_);
    [F: Float] (Vector<3, F>, Quaternion<F>) -> F;
}
