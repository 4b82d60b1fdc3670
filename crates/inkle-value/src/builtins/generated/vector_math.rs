//! Made from the registry by the test `builtins` of the crate `inkle`: vector_math.

use super::*;

builtin! {
    /// Index of the largest component, the first of equals.
    argmax = "argmax" (a: A_);
    [R: Number, const N: usize] (Vector<N, R>) -> u32;
}

builtin! {
    /// Index of the smallest component, the first of equals.
    argmin = "argmin" (a: A_);
    [R: Number, const N: usize] (Vector<N, R>) -> u32;
}

builtin! {
    /// The vector perpendicular to both, by the right-hand rule, as long as the area they span.
    cross = "cross" (a: A_, b: B_);
    [R: Number] (Vector<3, R>, Vector<3, R>) -> Vector<3, R>;
}

builtin! {
    /// The quotients of corresponding components.
    cw_div = "cw_div" (a: A_, b: B_);
    [R: Number, const M: usize, const N: usize] (Matrix<N, M, R>, Matrix<N, M, R>) -> Matrix<N, M, R>;
    [R: Number, const N: usize] (Vector<N, R>, Vector<N, R>) -> Vector<N, R>;
}

builtin! {
    /// The products of corresponding components.
    cw_mul = "cw_mul" (a: A_, b: B_);
    [R: Number, const M: usize, const N: usize] (Matrix<N, M, R>, Matrix<N, M, R>) -> Matrix<N, M, R>;
    [R: Number, const N: usize] (Vector<N, R>, Vector<N, R>) -> Vector<N, R>;
}

builtin! {
    /// The sum of the products of corresponding components.
    ddot = "ddot" (a: A_, b: B_);
    [R: Number, const M: usize, const N: usize] (Matrix<N, M, R>, Matrix<N, M, R>) -> R;
}

builtin! {
    /// The determinant.
    determinant = "determinant" (a: A_);
    [F: Float] (Matrix<2, 2, F>) -> F;
    [F: Float] (Matrix<3, 3, F>) -> F;
    [F: Float] (Matrix<4, 4, F>) -> F;
}

builtin! {
    /// The matrix with a vector on its diagonal and zeros elsewhere.
    diag = "diag" (vec: A_);
    [R: Number, const N: usize] (Vector<N, R>) -> Matrix<N, N, R>;
}

builtin! {
    /// The sum of the products of components.
    dot = "dot" (a: A_, b: B_);
    [R: Number, const N: usize] (Vector<N, R>, Vector<N, R>) -> R;
    [F: Float] (Quaternion<F>, Quaternion<F>) -> F;
}

builtin! {
    /// The eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order.
    eig3 = "eig3" (a: A_);
    [F: Float] (Matrix<3, 3, F>) -> (Matrix<3, 3, F>, Vector<3, F>);
}

builtin! {
    /// The eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order.
    eig3_q_d = "eig3" (a: A_, q: &mut B_, d: &mut C_);
    [F: Float] (Matrix<3, 3, F>, Matrix<3, 3, F>, Vector<3, F>) -> ();
}

builtin! {
    /// The diagonal of a square matrix.
    get_diag = "get_diag" (mat: A_);
    [R: Number, const N: usize] (Matrix<N, N, R>) -> Vector<N, R>;
}

builtin! {
    /// The inverse; a matrix of determinant zero gives zero.
    inverse = "inverse" (a: A_);
    [F: Float] (Matrix<2, 2, F>) -> Matrix<2, 2, F>;
    [F: Float] (Matrix<3, 3, F>) -> Matrix<3, 3, F>;
    [F: Float] (Matrix<4, 4, F>) -> Matrix<4, 4, F>;
}

builtin! {
    /// The inverse, possibly less accurate than `inverse`.
    inverse_approx = "inverse_approx" (a: A_);
    [F: Float] (Matrix<2, 2, F>) -> Matrix<2, 2, F>;
    [F: Float] (Matrix<3, 3, F>) -> Matrix<3, 3, F>;
    [F: Float] (Matrix<4, 4, F>) -> Matrix<4, 4, F>;
}

builtin! {
    /// The Euclidean length.
    length = "length" (a: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> F;
    [F: Float] (Quaternion<F>) -> F;
}

builtin! {
    /// The square of the Euclidean length.
    length_sq = "length_sq" (a: A_);
    [R: Number, const N: usize] (Vector<N, R>) -> R;
    [F: Float] (Quaternion<F>) -> F;
}

builtin! {
    /// Half the squared length of vectors shorter than `delta`; linear in the length beyond.
    norm_huber = "norm_huber" (v: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> F;
}

builtin! {
    /// Half the squared length of vectors shorter than `delta`; linear in the length beyond.
    norm_huber_delta = "norm_huber" (v: A_, delta: B_);
    [F: Float, const N: usize] (Vector<N, F>, F) -> F;
}

builtin! {
    /// The sum of the magnitudes of the components.
    norm_l1 = "norm_l1" (v: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> F;
}

builtin! {
    /// The Euclidean length.
    norm_l2 = "norm_l2" (v: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> F;
}

builtin! {
    /// A smooth length: about `delta` near zero, the Euclidean length far beyond `delta`.
    norm_pseudo_huber = "norm_pseudo_huber" (v: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> F;
}

builtin! {
    /// A smooth length: about `delta` near zero, the Euclidean length far beyond `delta`.
    norm_pseudo_huber_delta = "norm_pseudo_huber" (v: A_, delta: B_);
    [F: Float, const N: usize] (Vector<N, F>, F) -> F;
}

builtin! {
    /// `a` scaled to length 1; the zero vector stays zero.
    normalize = "normalize" (a: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> Vector<N, F>;
    [F: Float] (Quaternion<F>) -> Quaternion<F>;
}

builtin! {
    /// The matrix whose component `\[i, j\]` is `a\[i\] * b\[j\]`.
    outer = "outer" (a: A_, b: B_);
    [R: Number, const M: usize, const N: usize] (Vector<N, R>, Vector<M, R>) -> Matrix<N, M, R>;
}

builtin! {
    /// A rotation `Q` and an upper triangular `R` whose product is `A`.
    ///
    /// The first two diagonal components of `R` are not negative; the third has the sign of the determinant.
    qr3 = "qr3" (a: A_);
    [F: Float] (Matrix<3, 3, F>) -> (Matrix<3, 3, F>, Matrix<3, 3, F>);
}

builtin! {
    /// A rotation `Q` and an upper triangular `R` whose product is `A`.
    ///
    /// The first two diagonal components of `R` are not negative; the third has the sign of the determinant.
    qr3_q_r = "qr3" (a: A_, q: &mut B_, r: &mut C_);
    [F: Float] (Matrix<3, 3, F>, Matrix<3, 3, F>, Matrix<3, 3, F>) -> ();
}

builtin! {
    /// The matrix whose product with a vector `x` is `cross(vec, x)`.
    skew = "skew" (vec: A_);
    [R: Number] (Vector<3, R>) -> Matrix<3, 3, R>;
}

builtin! {
    /// `v` divided by its smooth length `norm_pseudo_huber(v, delta)`; differentiable at zero.
    smooth_normalize = "smooth_normalize" (v: A_);
    [F: Float, const N: usize] (Vector<N, F>) -> Vector<N, F>;
}

builtin! {
    /// `v` divided by its smooth length `norm_pseudo_huber(v, delta)`; differentiable at zero.
    smooth_normalize_delta = "smooth_normalize" (v: A_, delta: B_);
    [F: Float, const N: usize] (Vector<N, F>, F) -> Vector<N, F>;
}

builtin! {
    /// Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.
    ///
    /// The components of `sigma` are not negative, the larger one first. `V` is a rotation.
    svd2 = "svd2" (a: A_);
    [F: Float] (Matrix<2, 2, F>) -> (Matrix<2, 2, F>, Vector<2, F>, Matrix<2, 2, F>);
}

builtin! {
    /// Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.
    ///
    /// The components of `sigma` are not negative, the larger one first. `V` is a rotation.
    svd2_u_sigma_v = "svd2" (a: A_, u: &mut B_, sigma: &mut C_, v: &mut D_);
    [F: Float] (Matrix<2, 2, F>, Matrix<2, 2, F>, Vector<2, F>, Matrix<2, 2, F>) -> ();
}

builtin! {
    /// Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.
    ///
    /// `U` and `V` are rotations. `sigma` goes from large to small; its last component has the determinant's sign.
    svd3 = "svd3" (a: A_);
    [F: Float] (Matrix<3, 3, F>) -> (Matrix<3, 3, F>, Vector<3, F>, Matrix<3, 3, F>);
}

builtin! {
    /// Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.
    ///
    /// `U` and `V` are rotations. `sigma` goes from large to small; its last component has the determinant's sign.
    svd3_u_sigma_v = "svd3" (a: A_, u: &mut B_, sigma: &mut C_, v: &mut D_);
    [F: Float] (Matrix<3, 3, F>, Matrix<3, 3, F>, Vector<3, F>, Matrix<3, 3, F>) -> ();
}

builtin! {
    /// The sum of the diagonal.
    trace = "trace" (a: A_);
    [R: Number, const N: usize] (Matrix<N, N, R>) -> R;
}

builtin! {
    /// The matrix with rows and columns exchanged.
    transpose = "transpose" (a: A_);
    [S: Number, const M: usize, const N: usize] (Matrix<N, M, S>) -> Matrix<M, N, S>;
}
