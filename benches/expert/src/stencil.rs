//! A step of heat conduction in three dimensions: each point and its six neighbours.

use std::arch::x86_64::*;

use crate::lanes::{LANES, first, read, unaligned, write};
use rayon::prelude::*;

/// `out = u + a * (sum of the six neighbours - 6 u)` at all points of a box that have six neighbours; the others are not
/// written. `past`: written past the caches.
///
/// # Safety
/// `u` and `out` are addresses of `extent[0] * extent[1] * extent[2]` numbers that do not overlap; `extent` is the address
/// of three numbers; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_stencil(
    extent: *const usize,
    u: *const f32,
    out: *mut f32,
    a: f32,
    past: bool,
) {
    // SAFETY: the caller's promises.
    let extent = unsafe { read(extent, 3) };
    let (rows, columns) = (extent[1], extent[2]);
    let n = extent[0] * rows * columns;
    // SAFETY: the caller's promises.
    let (u, out) = unsafe { (read(u, n), write(out, n)) };
    if extent.iter().any(|&e| e < 3) {
        return;
    }
    let plane = rows * columns;
    out[plane..n - plane].par_chunks_mut(plane).enumerate().for_each(|(i, out)| {
        // The plane before, this one and the next.
        let u = &u[i * plane..(i + 3) * plane];
        for row in 1..rows - 1 {
            let at = row * columns;
            // SAFETY: the caller's promise of AVX-512.
            unsafe { line(u, plane, columns, at, &mut out[at + 1..at + columns - 1], a, past) }
        }
    });
}

/// The points of one line but its ends.
#[target_feature(enable = "avx512f")]
fn line(u: &[f32], plane: usize, columns: usize, at: usize, out: &mut [f32], a: f32, past: bool) {
    let middle = plane + at + 1;
    let n = out.len();
    let start = if past { unaligned(out).min(n) } else { 0 };
    point(u, middle, plane, columns, first(start), out, 0, a, false);
    let mut i = start;
    while i + LANES <= n {
        point(u, middle, plane, columns, !0, out, i, a, past);
        i += LANES;
    }
    point(u, middle, plane, columns, first(n - i), out, i, a, false);
    if past {
        // Others must see what was written past the caches.
        _mm_sfence();
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(clippy::too_many_arguments, reason = "the inside of a loop, apart because it is needed three times")]
fn point(
    u: &[f32],
    middle: usize,
    plane: usize,
    columns: usize,
    mask: __mmask16,
    out: &mut [f32],
    i: usize,
    a: f32,
    past: bool,
) {
    let from = |at: usize| {
        // SAFETY: all neighbours of points within are within the box, and the mask leaves out others.
        unsafe { _mm512_maskz_loadu_ps(mask, u.as_ptr().add(at + i)) }
    };
    let here = from(middle);
    let sum = _mm512_add_ps(from(middle - plane), from(middle + plane));
    let sum = _mm512_add_ps(sum, _mm512_add_ps(from(middle - columns), from(middle + columns)));
    let sum = _mm512_add_ps(sum, _mm512_add_ps(from(middle - 1), from(middle + 1)));
    let sum = _mm512_fnmadd_ps(here, _mm512_set1_ps(6.0), sum);
    let v = _mm512_fmadd_ps(sum, _mm512_set1_ps(a), here);
    // SAFETY: within the slice, or left out by the mask; what is written past the caches is whole and aligned.
    unsafe {
        let to = out.as_mut_ptr().add(i);
        if past { _mm512_stream_ps(to, v) } else { _mm512_mask_storeu_ps(to, mask, v) }
    }
}
