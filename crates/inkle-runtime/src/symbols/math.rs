//! Scalar math, from the `libm` crate (a port of MUSL's), so that results do not depend on the system.

use super::{Entry, entries};

macro_rules! unary {
    ($($wrapper:ident / $wrapper_f:ident => $f64:path, $f32:path;)*) => {
        $(
            pub(super) extern "C" fn $wrapper(x: f64) -> f64 {
                $f64(x)
            }

            pub(super) extern "C" fn $wrapper_f(x: f32) -> f32 {
                $f32(x)
            }
        )*
    };
}

macro_rules! binary {
    ($($wrapper:ident / $wrapper_f:ident => $f64:path, $f32:path;)*) => {
        $(
            pub(super) extern "C" fn $wrapper(x: f64, y: f64) -> f64 {
                $f64(x, y)
            }

            pub(super) extern "C" fn $wrapper_f(x: f32, y: f32) -> f32 {
                $f32(x, y)
            }
        )*
    };
}

unary! {
    sin / sinf => libm::sin, libm::sinf;
    cos / cosf => libm::cos, libm::cosf;
    tan / tanf => libm::tan, libm::tanf;
    asin / asinf => libm::asin, libm::asinf;
    acos / acosf => libm::acos, libm::acosf;
    atan / atanf => libm::atan, libm::atanf;
    sinh / sinhf => libm::sinh, libm::sinhf;
    cosh / coshf => libm::cosh, libm::coshf;
    tanh / tanhf => libm::tanh, libm::tanhf;
    exp / expf => libm::exp, libm::expf;
    exp2 / exp2f => libm::exp2, libm::exp2f;
    log / logf => libm::log, libm::logf;
    log2 / log2f => libm::log2, libm::log2f;
    log10 / log10f => libm::log10, libm::log10f;
    cbrt / cbrtf => libm::cbrt, libm::cbrtf;
    erf / erff => libm::erf, libm::erff;
    erfc / erfcf => libm::erfc, libm::erfcf;
    sqrt / sqrtf => libm::sqrt, libm::sqrtf;
    floor / floorf => libm::floor, libm::floorf;
    ceil / ceilf => libm::ceil, libm::ceilf;
    trunc / truncf => libm::trunc, libm::truncf;
    round / roundf => libm::round, libm::roundf;
    rint / rintf => libm::rint, libm::rintf;
    roundeven / roundevenf => libm::roundeven, libm::roundevenf;
}

binary! {
    pow / powf => libm::pow, libm::powf;
    atan2 / atan2f => libm::atan2, libm::atan2f;
    fmod / fmodf => libm::fmod, libm::fmodf;
    fmin / fminf => libm::fmin, libm::fminf;
    fmax / fmaxf => libm::fmax, libm::fmaxf;
}

extern "C" fn fma(x: f64, y: f64, z: f64) -> f64 {
    libm::fma(x, y, z)
}

extern "C" fn fmaf(x: f32, y: f32, z: f32) -> f32 {
    libm::fmaf(x, y, z)
}

extern "C" fn ldexp(x: f64, n: i32) -> f64 {
    libm::ldexp(x, n)
}

extern "C" fn ldexpf(x: f32, n: i32) -> f32 {
    libm::ldexpf(x, n)
}

/// `x` to an integer power by repeated squaring, as LLVM's `powi` expects of its helper.
macro_rules! powi {
    ($name:ident, $float:ty) => {
        extern "C" fn $name(x: $float, n: i32) -> $float {
            let (mut base, mut left, mut result) = (x, n.unsigned_abs(), 1.0);
            while left != 0 {
                if left & 1 != 0 {
                    result *= base;
                }
                base *= base;
                left >>= 1;
            }
            if n < 0 { 1.0 / result } else { result }
        }
    };
}
powi!(powisf2, f32);
powi!(powidf2, f64);

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    type F64 = extern "C" fn(f64) -> f64;
    type F32 = extern "C" fn(f32) -> f32;
    type F64x2 = extern "C" fn(f64, f64) -> f64;
    type F32x2 = extern "C" fn(f32, f32) -> f32;
    let ours = entries! {
        "inkle_sin" => sin, F64; "inkle_sinf" => sinf, F32;
        "inkle_cos" => cos, F64; "inkle_cosf" => cosf, F32;
        "inkle_tan" => tan, F64; "inkle_tanf" => tanf, F32;
        "inkle_asin" => asin, F64; "inkle_asinf" => asinf, F32;
        "inkle_acos" => acos, F64; "inkle_acosf" => acosf, F32;
        "inkle_atan" => atan, F64; "inkle_atanf" => atanf, F32;
        "inkle_sinh" => sinh, F64; "inkle_sinhf" => sinhf, F32;
        "inkle_cosh" => cosh, F64; "inkle_coshf" => coshf, F32;
        "inkle_tanh" => tanh, F64; "inkle_tanhf" => tanhf, F32;
        "inkle_exp" => exp, F64; "inkle_expf" => expf, F32;
        "inkle_exp2" => exp2, F64; "inkle_exp2f" => exp2f, F32;
        "inkle_log" => log, F64; "inkle_logf" => logf, F32;
        "inkle_log2" => log2, F64; "inkle_log2f" => log2f, F32;
        "inkle_log10" => log10, F64; "inkle_log10f" => log10f, F32;
        "inkle_cbrt" => cbrt, F64; "inkle_cbrtf" => cbrtf, F32;
        "inkle_erf" => erf, F64; "inkle_erff" => erff, F32;
        "inkle_erfc" => erfc, F64; "inkle_erfcf" => erfcf, F32;
        "inkle_pow" => pow, F64x2; "inkle_powf" => powf, F32x2;
        "inkle_atan2" => atan2, F64x2; "inkle_atan2f" => atan2f, F32x2;
        "inkle_fmod" => fmod, F64x2; "inkle_fmodf" => fmodf, F32x2;
    };
    // LLVM makes calls to these when the target has no instruction for an operation of the IR.
    let helpers = entries! {
        "sqrt" => sqrt, F64; "sqrtf" => sqrtf, F32;
        "floor" => floor, F64; "floorf" => floorf, F32;
        "ceil" => ceil, F64; "ceilf" => ceilf, F32;
        "trunc" => trunc, F64; "truncf" => truncf, F32;
        "round" => round, F64; "roundf" => roundf, F32;
        "rint" => rint, F64; "rintf" => rintf, F32;
        "nearbyint" => rint, F64; "nearbyintf" => rintf, F32;
        "roundeven" => roundeven, F64; "roundevenf" => roundevenf, F32;
        "fmod" => fmod, F64x2; "fmodf" => fmodf, F32x2;
        "fmin" => fmin, F64x2; "fminf" => fminf, F32x2;
        "fmax" => fmax, F64x2; "fmaxf" => fmaxf, F32x2;
        "fma" => fma, extern "C" fn(f64, f64, f64) -> f64;
        "fmaf" => fmaf, extern "C" fn(f32, f32, f32) -> f32;
        "ldexp" => ldexp, extern "C" fn(f64, i32) -> f64;
        "ldexpf" => ldexpf, extern "C" fn(f32, i32) -> f32;
        "sin" => sin, F64; "sinf" => sinf, F32;
        "cos" => cos, F64; "cosf" => cosf, F32;
        "exp" => exp, F64; "expf" => expf, F32;
        "exp2" => exp2, F64; "exp2f" => exp2f, F32;
        "log" => log, F64; "logf" => logf, F32;
        "log2" => log2, F64; "log2f" => log2f, F32;
        "log10" => log10, F64; "log10f" => log10f, F32;
        "pow" => pow, F64x2; "powf" => powf, F32x2;
        "__powisf2" => powisf2, extern "C" fn(f32, i32) -> f32;
        "__powidf2" => powidf2, extern "C" fn(f64, i32) -> f64;
    };
    ours.into_iter().chain(helpers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_powers() {
        assert_eq!(powisf2(2.0, 10), 1024.0);
        assert_eq!(powidf2(2.0, -2), 0.25);
        assert_eq!(powidf2(3.0, 0), 1.0);
        assert_eq!(powidf2(1.0, i32::MIN), 1.0);
    }

    /// A wrapper wired to the wrong function would pass any test of one point, so each is compared with the
    /// standard library at several.
    #[test]
    fn functions_are_wired_to_their_names() {
        let call = |name: &str, x: f64| -> f64 {
            let address = super::super::resolve(name).unwrap();
            // SAFETY: every name given below is registered above with this signature.
            let function: extern "C" fn(f64) -> f64 = unsafe { std::mem::transmute(address) };
            function(x)
        };
        type Case = (&'static str, fn(f64) -> f64);
        let cases: [Case; 15] = [
            ("inkle_sin", f64::sin),
            ("inkle_cos", f64::cos),
            ("inkle_tan", f64::tan),
            ("inkle_asin", f64::asin),
            ("inkle_acos", f64::acos),
            ("inkle_atan", f64::atan),
            ("inkle_sinh", f64::sinh),
            ("inkle_cosh", f64::cosh),
            ("inkle_tanh", f64::tanh),
            ("inkle_exp", f64::exp),
            ("inkle_exp2", f64::exp2),
            ("inkle_log", f64::ln),
            ("inkle_log2", f64::log2),
            ("inkle_log10", f64::log10),
            ("inkle_cbrt", f64::cbrt),
        ];
        for (name, expected) in cases {
            for x in [0.1, 0.5, 0.9] {
                let (got, want) = (call(name, x), expected(x));
                assert!(
                    (got - want).abs() <= 4.0 * f64::EPSILON * want.abs(),
                    "{name}({x}) = {got}, not {want}"
                );
                let single = {
                    let address = super::super::resolve(&format!("{name}f")).unwrap();
                    // SAFETY: the `f` form of every name is registered with this signature.
                    let function: extern "C" fn(f32) -> f32 = unsafe { std::mem::transmute(address) };
                    f64::from(function(x as f32))
                };
                assert!(
                    (single - want).abs() <= 1e-6 * want.abs().max(1.0),
                    "{name}f({x}) = {single}, not {want}"
                );
            }
        }
    }
}
