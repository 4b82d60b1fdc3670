//! A map of elementary functions: `y = sin(x) * exp(-x) + sqrt(abs(x))`.

use std::arch::x86_64::*;
use std::f32::consts::{LN_2, LOG2_E, PI};

use crate::lanes::{for_pieces, load, load_rest, piece, read, store, store_rest, stream, unaligned, write};

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
/// Beyond this the reduction by three parts of pi loses bits.
const LARGEST: f32 = 20_000.0;

/// The map over `n` numbers, written past the caches if `past` is set.
///
/// # Safety
/// `x` and `y` are addresses of `n` numbers that do not overlap; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_map(n: usize, x: *const f32, y: *mut f32, past: bool) {
    // SAFETY: the caller's promises.
    let (x, y) = unsafe { (read(x, n), write(y, n)) };
    for_pieces(y, piece(n, 1 << 12), |at, y| {
        // SAFETY: the caller's promise of AVX-512.
        unsafe { map(&x[at..at + y.len()], y, past) }
    });
}

#[target_feature(enable = "avx512f,avx512dq")]
fn map(x: &[f32], y: &mut [f32], past: bool) {
    let start = if past { unaligned(y) } else { 0 };
    if start > 0 {
        store_rest(&mut y[..start], 0, one(load_rest(&x[..start], 0)));
    }
    let end = start + (y.len() - start) / 32 * 32;
    for i in (start..end).step_by(32) {
        for i in [i, i + 16] {
            let v = one(load(x, i));
            if past { stream(y, i, v) } else { store(y, i, v) }
        }
    }
    if past {
        // Others must see what was written past the caches.
        _mm_sfence();
    }
    for i in (end..y.len()).step_by(16) {
        store_rest(y, i, one(load_rest(x, i)));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn one(x: __m512) -> __m512 {
    let size = _mm512_abs_ps(x);
    let minus = _mm512_xor_ps(x, _mm512_set1_ps(-0.0));
    _mm512_fmadd_ps(sin(x, size), exp(minus), _mm512_sqrt_ps(size))
}

/// To about one unit of the last place; large arguments, of which there are none here, one by one.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn sin(x: __m512, size: __m512) -> __m512 {
    if _mm512_cmp_ps_mask::<_CMP_NLE_UQ>(size, _mm512_set1_ps(LARGEST)) != 0 {
        return one_by_one(x, f32::sin);
    }
    // Three numbers that are pi together; the first two have few bits, so that products with them are exact.
    let (high, middle) = (f32::from_bits(PI.to_bits() & !0xfff), std::f64::consts::PI);
    let low = (middle - f64::from(high)) as f32;
    let lowest = (middle - f64::from(high) - f64::from(low)) as f32;
    let turns = _mm512_roundscale_ps::<NEAREST>(_mm512_mul_ps(x, _mm512_set1_ps(1.0 / PI)));
    let r = _mm512_fnmadd_ps(turns, _mm512_set1_ps(high), x);
    let r = _mm512_fnmadd_ps(turns, _mm512_set1_ps(low), r);
    let r = _mm512_fnmadd_ps(turns, _mm512_set1_ps(lowest), r);
    let square = _mm512_mul_ps(r, r);
    let mut p = _mm512_set1_ps(2.605_481_5e-6);
    for c in [-0.000_198_094_76, 0.008_333_065, -0.166_666_6] {
        p = _mm512_fmadd_ps(p, square, _mm512_set1_ps(c));
    }
    let s = _mm512_fmadd_ps(_mm512_mul_ps(p, square), r, r);
    // An odd number of half turns changes the sign.
    let odd = _mm512_slli_epi32::<31>(_mm512_cvtps_epi32(turns));
    _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(s), odd))
}

#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn exp(x: __m512) -> __m512 {
    let k = _mm512_roundscale_ps::<NEAREST>(_mm512_mul_ps(x, _mm512_set1_ps(LOG2_E)));
    let high = f32::from_bits(LN_2.to_bits() & !0xfff);
    let low = (std::f64::consts::LN_2 - f64::from(high)) as f32;
    let r = _mm512_fnmadd_ps(k, _mm512_set1_ps(high), x);
    let r = _mm512_fnmadd_ps(k, _mm512_set1_ps(low), r);
    let mut p = _mm512_set1_ps(0.001_381_446_7);
    for c in [0.008_368_781, 0.041_668_393, 0.166_665_2, 0.499_999_94, 1.0, 1.0] {
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(c));
    }
    // Multiplies by two to the power of k, with the right ends of the range.
    _mm512_scalef_ps(p, k)
}

#[cold]
#[target_feature(enable = "avx512f")]
fn one_by_one(x: __m512, f: fn(f32) -> f32) -> __m512 {
    let mut values = [0.0; 16];
    store(&mut values, 0, x);
    load(&values.map(f), 0)
}
