//! Made from the registry by the test `builtins` of the crate `inkle`: scalar_math.

use super::*;

builtin! {
    /// Absolute value, elementwise on vectors.
    abs = "abs" (x: A_);
    [R: Number] (R) -> R;
    [R: Number, const N: usize] (Vector<N, R>) -> Vector<N, R>;
}

builtin! {
    /// Arc cosine, radians. The argument is clamped to \[-1, 1\].
    acos = "acos" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Arc sine, radians. The argument is clamped to \[-1, 1\].
    asin = "asin" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Arc tangent, radians.
    atan = "atan" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Angle of the point (x, y), radians.
    atan2 = "atan2" (y: A_, x: B_);
    [F: Float] (F, F) -> F;
}

builtin! {
    /// Number of bits that are one.
    bit_count = "bit_count" (x: A_);
    [I: Int] (I) -> i32;
}

builtin! {
    /// Cube root.
    cbrt = "cbrt" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Smallest whole number not below `x`.
    ceil = "ceil" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// `x` limited to the range from `low` to `high`.
    ///
    /// If `low` is above `high`, the result is `high`. A NaN `x` gives `low`.
    clamp = "clamp" (x: A_, low: B_, high: C_);
    [R: Number] (R, R, R) -> R;
}

builtin! {
    /// Number of zero bits above the highest one.
    clz = "clz" (x: A_);
    [I: Int] (I) -> I;
}

builtin! {
    /// The magnitude of `x` with the sign of `y`; the sign of a zero or NaN `y` counts.
    copysign = "copysign" (x: A_, y: B_);
    [] (f32, f32) -> f32;
    [] (f64, f64) -> f64;
}

builtin! {
    /// Cosine of an angle in radians.
    cos = "cos" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Hyperbolic cosine.
    cosh = "cosh" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Number of zero bits below the lowest one.
    ctz = "ctz" (x: A_);
    [I: Int] (I) -> I;
}

builtin! {
    /// An angle in radians turned into degrees.
    degrees = "degrees" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Error function.
    erf = "erf" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Complementary error function.
    erfc = "erfc" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Inverse of `erfc`.
    erfcinv = "erfcinv" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Inverse of `erf`.
    erfinv = "erfinv" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// e to the power of `x`.
    exp = "exp" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// 2 to the power of `x`.
    exp2 = "exp2" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Largest whole number not above `x`.
    floor = "floor" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// The fraction of `x`, with the sign of `x`.
    frac = "frac" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Whether `x` is neither infinite nor NaN.
    isfinite = "isfinite" (x: A_);
    [F: Float] (F) -> bool;
    [F: Float, const N: usize] (Vector<N, F>) -> bool;
    [F: Float] (Quaternion<F>) -> bool;
    [F: Float, const M: usize, const N: usize] (Matrix<N, M, F>) -> bool;
}

builtin! {
    /// Whether `x` is infinite.
    isinf = "isinf" (x: A_);
    [F: Float] (F) -> bool;
    [F: Float, const N: usize] (Vector<N, F>) -> bool;
    [F: Float] (Quaternion<F>) -> bool;
    [F: Float, const M: usize, const N: usize] (Matrix<N, M, F>) -> bool;
}

builtin! {
    /// Whether `x` is NaN.
    isnan = "isnan" (x: A_);
    [F: Float] (F) -> bool;
    [F: Float, const N: usize] (Vector<N, F>) -> bool;
    [F: Float] (Quaternion<F>) -> bool;
    [F: Float, const M: usize, const N: usize] (Matrix<N, M, F>) -> bool;
}

builtin! {
    /// Natural logarithm.
    log = "log" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Logarithm to base 10.
    log10 = "log10" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Logarithm to base 2.
    log2 = "log2" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// 0 if `x` is zero, else 1.
    nonzero = "nonzero" (x: A_);
    [R: Number] (R) -> R;
}

builtin! {
    /// Number of bits that are one, in the type of `x`.
    popcount = "popcount" (x: A_);
    [I: Int] (I) -> I;
}

builtin! {
    /// `x` to the power of `y`.
    pow = "pow" (x: A_, y: B_);
    [F: Float] (F, F) -> F;
}

builtin! {
    /// An angle in degrees turned into radians.
    radians = "radians" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Nearest whole number, halves to even.
    rint = "rint" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Nearest whole number, halves away from zero.
    round = "round" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// One over the square root.
    rsqrt = "rsqrt" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// -1 for negative `x`, else 1; zero counts as positive.
    sign = "sign" (x: A_);
    [R: Number] (R) -> R;
    [R: Number, const N: usize] (Vector<N, R>) -> Vector<N, R>;
}

builtin! {
    /// Sine of an angle in radians.
    sin = "sin" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Hyperbolic sine.
    sinh = "sinh" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Square root.
    sqrt = "sqrt" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// 1 for negative `x`, else 0.
    step = "step" (x: A_);
    [R: Number] (R) -> R;
}

builtin! {
    /// Tangent of an angle in radians.
    tan = "tan" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// Hyperbolic tangent.
    tanh = "tanh" (x: A_);
    [F: Float] (F) -> F;
}

builtin! {
    /// `x` without its fraction.
    trunc = "trunc" (x: A_);
    [F: Float] (F) -> F;
}
