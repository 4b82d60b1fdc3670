//! The math functions over the lanes of a vector, which compiled code puts into memory: `<name>_lanes` for each
//! `inkle_<name>`. A loop in the code itself would take longer to compile than many a kernel.

use super::Entry;
use super::erf::{erfcinv, erfcinvf, erfinv, erfinvf};
use super::math::{
    acos, acosf, asin, asinf, atan, atan2, atan2f, atanf, cbrt, cbrtf, cos, cosf, cosh, coshf, erf, erfc,
    erfcf, erff, exp, exp2, exp2f, expf, fmod, fmodf, log, log2, log2f, log10, log10f, logf, pow, powf, sin,
    sinf, sinh, sinhf, tan, tanf, tanh, tanhf,
};

/// `x[i] = f(x[i])` for `n` elements.
pub(super) type Unary<T> = unsafe extern "C" fn(x: *mut T, n: u32);
/// `x[i] = f(x[i], y[i])` for `n` elements.
type Binary<T> = unsafe extern "C" fn(x: *mut T, y: *const T, n: u32);

/// `x[i] = f(x[i])` for `n` elements.
///
/// # Safety
/// There are so many at `x`, and nobody else uses them meanwhile.
pub(super) unsafe fn each<T: Copy>(x: *mut T, n: u32, f: impl Fn(T) -> T) {
    // SAFETY: as the caller says.
    let x = unsafe { std::slice::from_raw_parts_mut(x, n as usize) };
    x.iter_mut().for_each(|x| *x = f(*x));
}

macro_rules! unary {
    ($ty:ty; $($name:ident)*) => {
        [$({
            unsafe extern "C" fn over_lanes(x: *mut $ty, n: u32) {
                // SAFETY: compiled code gives a vector of `n` elements in its own stack frame.
                unsafe { each(x, n, |x| $name(x)) }
            }
            (concat!("inkle_", stringify!($name), "_lanes"), (over_lanes as Unary<$ty>) as usize)
        }),*]
    };
}

macro_rules! binary {
    ($ty:ty; $($name:ident)*) => {
        [$({
            unsafe extern "C" fn over_lanes(x: *mut $ty, y: *const $ty, n: u32) {
                // SAFETY: compiled code gives two vectors of `n` elements in its own stack frame, which do not overlap.
                let (x, y) = unsafe {
                    (std::slice::from_raw_parts_mut(x, n as usize), std::slice::from_raw_parts(y, n as usize))
                };
                x.iter_mut().zip(y).for_each(|(x, y)| *x = $name(*x, *y));
            }
            (concat!("inkle_", stringify!($name), "_lanes"), (over_lanes as Binary<$ty>) as usize)
        }),*]
    };
}

pub(super) fn entries() -> impl IntoIterator<Item = Entry> {
    let f32_unary = unary! { f32;
        sinf cosf tanf asinf acosf atanf sinhf coshf tanhf expf exp2f logf log2f log10f cbrtf
        erff erfcf erfinvf erfcinvf
    };
    let f64_unary = unary! { f64;
        sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2 log10 cbrt erf erfc erfinv erfcinv
    };
    let f32_binary = binary! { f32; powf atan2f fmodf };
    let f64_binary = binary! { f64; pow atan2 fmod };
    f32_unary.into_iter().chain(f64_unary).chain(f32_binary).chain(f64_binary)
}

#[cfg(test)]
mod tests {
    use super::super::{names, resolve};
    use super::*;

    /// Every function over lanes gives what the scalar function of its name gives.
    #[test]
    fn lanes_are_the_scalar_functions() {
        fn check<T: Copy + PartialEq + std::fmt::Debug + From<f32>>(name: &str, is_binary: bool) {
            let scalar = name.strip_suffix("_lanes").unwrap();
            let (scalar, lanes) = (resolve(scalar).unwrap(), resolve(name).unwrap());
            let x: Vec<T> = [0.25f32, 0.5, -0.75, 0.0, 1.0].map(T::from).into();
            let y: Vec<T> = [2.0f32, -1.5, 3.0, 0.5, 1.25].map(T::from).into();
            let mut got = x.clone();
            let want: Vec<T> = if is_binary {
                // SAFETY: the names of two arguments have these signatures, by the tables.
                let (f, g) = unsafe {
                    (
                        std::mem::transmute::<usize, extern "C" fn(T, T) -> T>(scalar),
                        std::mem::transmute::<usize, Binary<T>>(lanes),
                    )
                };
                // SAFETY: both have five elements.
                unsafe { g(got.as_mut_ptr(), y.as_ptr(), 5) };
                x.iter().zip(&y).map(|(&x, &y)| f(x, y)).collect()
            } else {
                // SAFETY: the others have these, by the tables.
                let (f, g) = unsafe {
                    (
                        std::mem::transmute::<usize, extern "C" fn(T) -> T>(scalar),
                        std::mem::transmute::<usize, Unary<T>>(lanes),
                    )
                };
                // SAFETY: there are five elements.
                unsafe { g(got.as_mut_ptr(), 5) };
                x.iter().map(|&x| f(x)).collect()
            };
            // As text, which takes NaN for NaN.
            assert_eq!(format!("{got:?}"), format!("{want:?}"), "{name}");
        }
        let mut count = 0;
        for name in names().filter(|name| name.ends_with("_lanes")) {
            let base = name.trim_start_matches("inkle_").trim_end_matches("_lanes");
            let is_binary = matches!(base.trim_end_matches('f'), "pow" | "atan2" | "fmod");
            // The names of double precision that end in f are those of erf and its inverse.
            if base.ends_with('f') && base != "erf" {
                check::<f32>(name, is_binary);
            } else {
                check::<f64>(name, is_binary);
            }
            count += 1;
        }
        assert_eq!(count, 44);
    }
}
