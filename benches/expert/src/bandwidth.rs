//! Saxpy, and the triad of the STREAM benchmark, which says what the memory can do.

use std::arch::x86_64::*;

use crate::lanes::{for_pieces, load, load_rest, piece, read, store, store_rest, stream, unaligned, write};

/// Smaller pieces cost more in threads than they gain.
const SMALLEST: usize = 1 << 14;

/// `y[i] = a * x[i] + y[i]`.
///
/// # Safety
/// `x` and `y` are addresses of `n` numbers that do not overlap; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_saxpy(n: usize, x: *const f32, y: *mut f32, a: f32) {
    // SAFETY: the caller's promises.
    let (x, y) = unsafe { (read(x, n), write(y, n)) };
    for_pieces(y, piece(n, SMALLEST), |at, y| {
        // SAFETY: the caller's promise of AVX-512.
        unsafe { saxpy(&x[at..at + y.len()], y, a) }
    });
}

#[target_feature(enable = "avx512f")]
fn saxpy(x: &[f32], y: &mut [f32], a: f32) {
    let a = _mm512_set1_ps(a);
    let whole = y.len() / 64 * 64;
    for i in (0..whole).step_by(64) {
        for i in [i, i + 16, i + 32, i + 48] {
            let v = _mm512_fmadd_ps(a, load(x, i), load(y, i));
            store(y, i, v);
        }
    }
    for i in (whole..y.len()).step_by(16) {
        let v = _mm512_fmadd_ps(a, load_rest(x, i), load_rest(y, i));
        store_rest(y, i, v);
    }
}

/// `out[i] = x[i] + a * y[i]`, written past the caches if `past` is set.
///
/// # Safety
/// `x`, `y` and `out` are addresses of `n` numbers; `out` overlaps neither of the others; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_triad(
    n: usize,
    x: *const f32,
    y: *const f32,
    out: *mut f32,
    a: f32,
    past: bool,
) {
    // SAFETY: the caller's promises.
    let (x, y, out) = unsafe { (read(x, n), read(y, n), write(out, n)) };
    for_pieces(out, piece(n, SMALLEST), |at, out| {
        let end = at + out.len();
        // SAFETY: the caller's promise of AVX-512.
        unsafe { triad(&x[at..end], &y[at..end], out, a, past) }
    });
}

#[target_feature(enable = "avx512f")]
fn triad(x: &[f32], y: &[f32], out: &mut [f32], a: f32, past: bool) {
    let wide = _mm512_set1_ps(a);
    let start = if past { unaligned(out) } else { 0 };
    for i in 0..start {
        out[i] = a.mul_add(y[i], x[i]);
    }
    let end = start + (out.len() - start) / 64 * 64;
    for i in (start..end).step_by(64) {
        for i in [i, i + 16, i + 32, i + 48] {
            let v = _mm512_fmadd_ps(wide, load(y, i), load(x, i));
            if past { stream(out, i, v) } else { store(out, i, v) }
        }
    }
    if past {
        // Others must see what was written past the caches.
        _mm_sfence();
    }
    for i in (end..out.len()).step_by(16) {
        let v = _mm512_fmadd_ps(wide, load_rest(y, i), load_rest(x, i));
        store_rest(out, i, v);
    }
}
