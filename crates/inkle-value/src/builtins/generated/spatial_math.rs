//! Made from the registry by the test `builtins` of the crate `inkle`: spatial_math.

use super::*;

builtin! {
    /// The 6 x 6 matrix with `r` in both diagonal blocks and `s` below the diagonal.
    spatial_adjoint = "spatial_adjoint" (r: A_, s: B_);
    [F: Float] (Matrix<3, 3, F>, Matrix<3, 3, F>) -> Matrix<6, 6, F>;
}

builtin! {
    /// The linear part: the last three components.
    spatial_bottom = "spatial_bottom" (svec: A_);
    [F: Float] (Vector<6, F>) -> Vector<3, F>;
}

builtin! {
    /// The rate of change of a motion vector `b` that moves with velocity `a`.
    spatial_cross = "spatial_cross" (a: A_, b: B_);
    [F: Float] (Vector<6, F>, Vector<6, F>) -> Vector<6, F>;
}

builtin! {
    /// The rate of change of a force vector `b` that moves with velocity `a`.
    spatial_cross_dual = "spatial_cross_dual" (a: A_, b: B_);
    [F: Float] (Vector<6, F>, Vector<6, F>) -> Vector<6, F>;
}

builtin! {
    /// The sum of the products of components.
    spatial_dot = "spatial_dot" (a: A_, b: B_);
    [F: Float] (Vector<6, F>, Vector<6, F>) -> F;
}

builtin! {
    /// The angular part: the first three components.
    spatial_top = "spatial_top" (svec: A_);
    [F: Float] (Vector<6, F>) -> Vector<3, F>;
}

builtin! {
    /// A spatial vector of its angular part `w` and its linear part `v`.
    spatial_vector = "spatial_vector" (w: A_, v: B_);
    [F: Float] (Vector<3, F>, Vector<3, F>) -> Vector<6, F>;
}

builtin! {
    /// A spatial vector of its angular part `w` and its linear part `v`.
    spatial_vector_wx_wy_wz_vx_vy_vz = "spatial_vector" (wx: A_, wy: B_, wz: C_, vx: D_, vy: E_, vz: F_);
    [F: Float] (F, F, F, F, F, F) -> Vector<6, F>;
}

builtin! {
    /// A velocity given in the frame of `t`, in the frame that `t` leads to.
    transform_twist = "transform_twist" (t: A_, x: B_);
    [F: Float] (Transform<F>, Vector<6, F>) -> Vector<6, F>;
}

builtin! {
    /// A torque and force given in the frame of `t`, in the frame that `t` leads to.
    transform_wrench = "transform_wrench" (t: A_, x: B_);
    [F: Float] (Transform<F>, Vector<6, F>) -> Vector<6, F>;
}

builtin! {
    /// The linear velocity at offset `r` from the origin of a body that moves with `qd`.
    velocity_at_point = "velocity_at_point" (qd: A_, r: B_);
    [F: Float] (Vector<6, F>, Vector<3, F>) -> Vector<3, F>;
}
