//! Made from the registry by the test `builtins` of the crate `inkle`: utility.

use super::*;

builtin! {
    /// The point a fraction `t` of the way from `a` to `b`; `t` outside 0 to 1 extrapolates.
    lerp = "lerp" (a: A_, b: B_, t: C_);
    [F: Float] (F, F, F) -> F;
    [F: Float, const N: usize] (Vector<N, F>, Vector<N, F>, F) -> Vector<N, F>;
    [F: Float, const M: usize, const N: usize] (Matrix<N, M, F>, Matrix<N, M, F>, F) -> Matrix<N, M, F>;
    [F: Float] (Quaternion<F>, Quaternion<F>, F) -> Quaternion<F>;
    [F: Float] (Transform<F>, Transform<F>, F) -> Transform<F>;
}

builtin! {
    /// 0 up to `a`, 1 from `b`, and a cubic with flat ends in between.
    smoothstep = "smoothstep" (a: A_, b: B_, x: C_);
    [F: Float] (F, F, F) -> F;
}
