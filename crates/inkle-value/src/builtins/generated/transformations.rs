//! Made from the registry by the test `builtins` of the crate `inkle`: transformations.

use super::*;

builtin! {
    /// The matrix that scales along the axes, then rotates, then moves.
    transform_compose = "transform_compose" (position: A_, rotation: B_, scale: C_);
    [F: Float] (Vector<3, F>, Quaternion<F>, Vector<3, F>) -> Matrix<4, 4, F>;
}

builtin! {
    /// The position, rotation and scale that `transform_compose` makes `m` of; the scale is not negative.
    transform_decompose = "transform_decompose" (m: A_);
    [F: Float] (Matrix<4, 4, F>) -> (Vector<3, F>, Quaternion<F>, Vector<3, F>);
}

builtin! {
    /// The rigid transform of a matrix without scale.
    transform_from_matrix = "transform_from_matrix" (mat: A_);
    [F: Float] (Matrix<4, 4, F>) -> Transform<F>;
}

builtin! {
    /// The rotation.
    transform_get_rotation = "transform_get_rotation" (xform: A_);
    [F: Float] (Transform<F>) -> Quaternion<F>;
}

builtin! {
    /// The position.
    transform_get_translation = "transform_get_translation" (xform: A_);
    [F: Float] (Transform<F>) -> Vector<3, F>;
}

builtin! {
    /// The transform that undoes `xform`.
    transform_inverse = "transform_inverse" (xform: A_);
    [F: Float] (Transform<F>) -> Transform<F>;
}

builtin! {
    /// The transform that does `b` first, then `a`.
    transform_multiply = "transform_multiply" (a: A_, b: B_);
    [F: Float] (Transform<F>, Transform<F>) -> Transform<F>;
}

builtin! {
    /// A point rotated, then moved.
    transform_point = "transform_point" (xform: A_, point: B_);
    [F: Float] (Transform<F>, Vector<3, F>) -> Vector<3, F>;
    [F: Float] (Matrix<4, 4, F>, Vector<3, F>) -> Vector<3, F>;
}

builtin! {
    /// Replaces the rotation.
    transform_set_rotation = "transform_set_rotation" (xform: &mut A_, q: B_);
    [F: Float] (Transform<F>, Quaternion<F>) -> ();
}

builtin! {
    /// The transform with another rotation.
    transform_set_rotation_copy = "transform_set_rotation_copy" (xform: A_, q: B_);
    [F: Float] (Transform<F>, Quaternion<F>) -> Transform<F>;
}

builtin! {
    /// Replaces the position.
    transform_set_translation = "transform_set_translation" (xform: &mut A_, p: B_);
    [F: Float] (Transform<F>, Vector<3, F>) -> ();
}

builtin! {
    /// The transform with another position.
    transform_set_translation_copy = "transform_set_translation_copy" (xform: A_, p: B_);
    [F: Float] (Transform<F>, Vector<3, F>) -> Transform<F>;
}

builtin! {
    /// The 4 x 4 matrix of a rigid transform.
    transform_to_matrix = "transform_to_matrix" (xform: A_);
    [F: Float] (Transform<F>) -> Matrix<4, 4, F>;
}

builtin! {
    /// A direction rotated; the position has no effect on it.
    transform_vector = "transform_vector" (xform: A_, vec: B_);
    [F: Float] (Transform<F>, Vector<3, F>) -> Vector<3, F>;
    [F: Float] (Matrix<4, 4, F>, Vector<3, F>) -> Vector<3, F>;
}
