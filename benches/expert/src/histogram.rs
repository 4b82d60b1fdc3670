//! How many numbers fall into each bin.

use std::arch::x86_64::*;

use rayon::prelude::*;

use crate::lanes::{LANES, load, load_rest, piece, read, write};

/// Tables of each thread that take turns, so that two equal bins in a row do not wait for each other.
const TABLES: usize = 4;

/// Adds to `counts` how many of `n` values, zero to one, are in each of `bins` bins.
///
/// # Safety
/// `values` and `counts` are addresses of `n` and `bins` numbers that do not overlap; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_histogram(n: usize, values: *const f32, bins: usize, counts: *mut i32) {
    // SAFETY: the caller's promises.
    let (values, counts) = unsafe { (read(values, n), write(counts, bins)) };
    let none = || vec![0i32; TABLES * bins];
    let tables = values
        .par_chunks(piece(n, 1 << 14))
        .fold(none, |mut tables, values| {
            // SAFETY: the caller's promise of AVX-512.
            unsafe { count(values, bins, &mut tables) };
            tables
        })
        .reduce(none, |mut a, b| {
            a.iter_mut().zip(&b).for_each(|(a, b)| *a += b);
            a
        });
    for table in tables.chunks(bins) {
        counts.iter_mut().zip(table).for_each(|(count, more)| *count += more);
    }
}

#[target_feature(enable = "avx512f")]
fn count(values: &[f32], bins: usize, tables: &mut [i32]) {
    let (scale, last) = (_mm512_set1_ps(bins as f32), _mm512_set1_epi32(bins as i32 - 1));
    let own = _mm512_mullo_epi32(
        _mm512_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3),
        _mm512_set1_epi32(bins as i32),
    );
    let mut places = [0u32; LANES];
    let mut add = |v: __m512, n: usize| {
        let bin = _mm512_min_epi32(_mm512_cvttps_epi32(_mm512_mul_ps(v, scale)), last);
        let bin = _mm512_add_epi32(_mm512_max_epi32(bin, _mm512_setzero_si512()), own);
        // SAFETY: the array has sixteen places.
        unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), bin) };
        for &place in &places[..n] {
            // SAFETY: each bin is from zero to the last, of the table with the lane's number modulo four.
            unsafe { *tables.get_unchecked_mut(place as usize) += 1 };
        }
    };
    let whole = values.len() / LANES * LANES;
    for i in (0..whole).step_by(LANES) {
        add(load(values, i), LANES);
    }
    if whole < values.len() {
        add(load_rest(values, whole), values.len() - whole);
    }
}
