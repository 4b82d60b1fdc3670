//! Slices of callers, pieces of work for the threads, and vectors of sixteen numbers.

use std::arch::x86_64::*;

use rayon::prelude::*;

/// How many numbers a vector has.
pub const LANES: usize = 16;

/// The elements at an address of a caller.
///
/// # Safety
/// `start` is the address of `n` numbers that live and that nobody writes for as long as the result is used.
pub unsafe fn read<'a, T>(start: *const T, n: usize) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start, n) }
}

/// The same, to write.
///
/// # Safety
/// `start` is the address of `n` numbers that live and that nobody else touches for as long as the result is used.
pub unsafe fn write<'a, T>(start: *mut T, n: usize) -> &'a mut [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(start, n) }
}

/// The length of a piece of `n` elements: eight pieces for each thread, but no small ones, in whole vectors of
/// sixteen cache lines.
pub fn piece(n: usize, smallest: usize) -> usize {
    let even = n.div_ceil(8 * rayon::current_num_threads()).max(smallest);
    even.next_multiple_of(LANES * LANES)
}

/// Calls `work` with the pieces of `out` and where each begins.
pub fn for_pieces<T: Send>(out: &mut [T], piece: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    out.par_chunks_mut(piece).enumerate().for_each(|(i, out)| work(i * piece, out));
}

/// A mask of the first `n` lanes.
pub fn first(n: usize) -> __mmask16 {
    if n >= LANES { !0 } else { (1 << n) - 1 }
}

/// Reads the sixteen numbers from `at` on.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn load(from: &[f32], at: usize) -> __m512 {
    debug_assert!(at + LANES <= from.len());
    // SAFETY: callers go round in whole vectors within the slice.
    unsafe { _mm512_loadu_ps(from.as_ptr().add(at)) }
}

/// Writes sixteen numbers from `at` on.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn store(to: &mut [f32], at: usize, v: __m512) {
    debug_assert!(at + LANES <= to.len());
    // SAFETY: callers go round in whole vectors within the slice.
    unsafe { _mm512_storeu_ps(to.as_mut_ptr().add(at), v) }
}

/// Reads what the slice has from `at` on, zeros after it.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn load_rest(from: &[f32], at: usize) -> __m512 {
    let mask = first(from.len() - at);
    // SAFETY: the mask leaves out what lies behind the slice.
    unsafe { _mm512_maskz_loadu_ps(mask, from.as_ptr().add(at)) }
}

/// Writes what the slice has room for.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn store_rest(to: &mut [f32], at: usize, v: __m512) {
    let mask = first(to.len() - at);
    // SAFETY: the mask leaves out what lies behind the slice.
    unsafe { _mm512_mask_storeu_ps(to.as_mut_ptr().add(at), mask, v) }
}

/// Writes sixteen numbers past the caches, which `at` must be aligned for.
#[inline]
#[target_feature(enable = "avx512f")]
pub fn stream(to: &mut [f32], at: usize, v: __m512) {
    debug_assert!(at + LANES <= to.len() && to[at..].as_ptr().addr().is_multiple_of(64));
    // SAFETY: callers go round in whole aligned vectors within the slice.
    unsafe { _mm512_stream_ps(to.as_mut_ptr().add(at), v) }
}

/// How many numbers lie before the first that is aligned for [`stream`].
pub fn unaligned(to: &[f32]) -> usize {
    (to.as_ptr().addr().wrapping_neg() % 64 / 4).min(to.len())
}
