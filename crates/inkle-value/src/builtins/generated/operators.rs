//! Made from the registry by the test `builtins` of the crate `inkle`: operators.

use super::*;

builtin! {
    /// `a / b`, possibly less accurate than the operator.
    div_approx = "div_approx" (a: A_, b: B_);
    [F: Float] (F, F) -> F;
    [F: Float, const N: usize] (Vector<N, F>, F) -> Vector<N, F>;
    [F: Float, const M: usize, const N: usize] (Matrix<N, M, F>, F) -> Matrix<N, M, F>;
    [F: Float] (Quaternion<F>, F) -> Quaternion<F>;
    [F: Float, const N: usize] (F, Vector<N, F>) -> Vector<N, F>;
    [F: Float, const M: usize, const N: usize] (F, Matrix<N, M, F>) -> Matrix<N, M, F>;
    [F: Float] (F, Quaternion<F>) -> Quaternion<F>;
}
