//! The inverses of erf and erfc.
//!
//! The first guess is the single-precision polynomial of M. Giles, "Approximating the erfinv function", GPU
//! Computing Gems, Jade edition (2012); in the far tail, outside the polynomial's range, it is a few fixed-point
//! steps on the leading term of erfc's asymptotic expansion. Halley's iteration then refines it in f64.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

use super::{Entry, entries};

/// Coefficients, highest power first, of `erfinv(x) / x` in `w - 2.5` for `w < 5`, `w = -ln(1 - x^2)`.
const CENTRE: [f64; 9] = [
    2.81022636e-08,
    3.43273939e-07,
    -3.5233877e-06,
    -4.39150654e-06,
    0.00021858087,
    -0.00125372503,
    -0.00417768164,
    0.246640727,
    1.50140941,
];
/// The same in `sqrt(w) - 3` for `w >= 5`.
const TAIL: [f64; 9] = [
    -0.000200214257,
    0.000100950558,
    0.00134934322,
    -0.00367342844,
    0.00573950773,
    -0.0076224613,
    0.00943887047,
    1.00167406,
    2.83297682,
];
/// Where the polynomial for the tail ends.
const TAIL_END: f64 = 16.0;

fn horner(coefficients: &[f64], t: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * t + c)
}

/// The `y >= 0` with `erf(y) = p` and `erfc(y) = q`, where `p + q = 1` and both are in `(0, 1)`. The smaller
/// of the two decides, so neither end loses digits.
fn inverse(p: f64, q: f64) -> f64 {
    let w = -libm::log(q * (1.0 + p));
    let mut y = if w < 5.0 {
        horner(&CENTRE, w - 2.5) * p
    } else if w < TAIL_END {
        horner(&TAIL, libm::sqrt(w) - 3.0) * p
    } else {
        let log_q = libm::log(q);
        let mut y = libm::sqrt(-log_q);
        for _ in 0..4 {
            y = libm::sqrt(-log_q - 0.5 * libm::log(PI * y * y));
        }
        y
    };
    if q < 1e-290 {
        // `erfc` has too few digits there: its logarithm, by the asymptotic series.
        for _ in 0..3 {
            let r = 0.5 / (y * y);
            let series = horner(&[-945.0, 105.0, -15.0, 3.0, -1.0, 1.0], r);
            let log_erfc = libm::log(series) - y * y - 0.5 * libm::log(PI * y * y);
            y += (log_erfc - libm::log(q)) / (2.0 * y + 1.0 / y);
        }
        return y;
    }
    for _ in 0..3 {
        let residual = if p < 0.5 { libm::erf(y) - p } else { q - libm::erfc(y) };
        let newton = residual / (FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= newton / (1.0 + y * newton);
    }
    y
}

pub(super) extern "C" fn erfinv(x: f64) -> f64 {
    let p = x.abs();
    if p > 1.0 || x.is_nan() {
        f64::NAN
    } else if p == 1.0 {
        f64::INFINITY.copysign(x)
    } else if p < 1e-9 {
        // The next term of the series is below the rounding error.
        x / FRAC_2_SQRT_PI
    } else {
        inverse(p, 1.0 - p).copysign(x)
    }
}

pub(super) extern "C" fn erfcinv(x: f64) -> f64 {
    if !(0.0..=2.0).contains(&x) {
        f64::NAN
    } else if x == 0.0 {
        f64::INFINITY
    } else if x == 2.0 {
        f64::NEG_INFINITY
    } else if x > 0.5 && x < 1.5 {
        erfinv(1.0 - x)
    } else if x <= 0.5 {
        inverse(1.0 - x, x)
    } else {
        -inverse(x - 1.0, 2.0 - x)
    }
}

pub(super) extern "C" fn erfinvf(x: f32) -> f32 {
    erfinv(f64::from(x)) as f32
}

pub(super) extern "C" fn erfcinvf(x: f32) -> f32 {
    erfcinv(f64::from(x)) as f32
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    entries! {
        "inkle_erfinv" => erfinv, extern "C" fn(f64) -> f64;
        "inkle_erfinvf" => erfinvf, extern "C" fn(f32) -> f32;
        "inkle_erfcinv" => erfcinv, extern "C" fn(f64) -> f64;
        "inkle_erfcinvf" => erfcinvf, extern "C" fn(f32) -> f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, want: f64, relative: f64) -> bool {
        (got - want).abs() <= relative * want.abs()
    }

    #[test]
    fn inverts_erf_and_erfc() {
        for i in 1..1000 {
            let y = f64::from(i) * 0.005;
            // Near zero erfc itself is 1 less a rounding error, which y feels in proportion.
            assert!(close(erfcinv(libm::erfc(y)), y, 4e-15 + 4e-16 / y), "erfcinv(erfc({y}))");
            assert!(
                close(erfcinv(libm::erfc(-y)), -y, (2e-15 + 4e-16 / y) * (1.0 + (y * y).exp())),
                "erfcinv(erfc(-{y}))"
            );
            if y < 2.0 {
                assert!(close(erfinv(libm::erf(y)), y, 4e-16 * (2.0 + (y * y).exp())), "erfinv(erf({y}))");
            }
        }
        for y in [6.0, 10.0, 20.0, 26.0] {
            assert!(
                close(erfcinv(libm::erfc(y)), y, 1e-13),
                "erfcinv(erfc({y})) = {}",
                erfcinv(libm::erfc(y))
            );
        }
    }

    #[test]
    fn known_values_and_ends() {
        assert!(close(erfinv(0.5), 0.476_936_276_204_469_9, 4e-16));
        assert!(close(f64::from(erfinvf(-0.9)), -1.163_087_15, 2e-7));
        assert_eq!(erfinv(0.0), 0.0);
        assert!(erfinv(-0.0).is_sign_negative());
        assert_eq!((erfinv(1.0), erfinv(-1.0)), (f64::INFINITY, f64::NEG_INFINITY));
        assert_eq!((erfcinv(0.0), erfcinv(2.0), erfcinv(1.0)), (f64::INFINITY, f64::NEG_INFINITY, 0.0));
        assert!(erfinv(1.1).is_nan() && erfcinv(-0.1).is_nan() && erfinv(f64::NAN).is_nan());
    }
}
