//! Binary search of many numbers in one sorted table.

use std::arch::x86_64::*;

use crate::lanes::{LANES, first, for_pieces, load_rest, piece, read, write};

/// Vectors that are searched for together: each waits for memory most of the time.
const TOGETHER: usize = 4;

/// For each of `n` values the place of the first number in the sorted table that is not less, else the last place.
///
/// # Safety
/// `table`, `values` and `out` are addresses of `size` and twice `n` numbers, `size` below 2^31, of which `out` overlaps no
/// other; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_search(
    size: usize,
    table: *const f32,
    n: usize,
    values: *const f32,
    out: *mut i32,
) {
    // SAFETY: the caller's promises.
    let (table, values, out) = unsafe { (read(table, size), read(values, n), write(out, n)) };
    for_pieces(out, piece(n, 1 << 10), |at, out| {
        // SAFETY: the caller's promise of AVX-512.
        unsafe { places(table, &values[at..at + out.len()], out) }
    });
}

#[target_feature(enable = "avx512f")]
fn places(table: &[f32], values: &[f32], out: &mut [i32]) {
    let together = TOGETHER * LANES;
    for (values, out) in values.chunks(together).zip(out.chunks_mut(together)) {
        let value: [__m512; TOGETHER] =
            std::array::from_fn(|v| load_rest(values, (v * LANES).min(values.len())));
        let mut low = [_mm512_setzero_si512(); TOGETHER];
        let mut left = table.len().saturating_sub(1);
        // All go down the same number of halves, so that no mask is needed.
        while left > 1 {
            let half = left / 2;
            let step = _mm512_set1_epi32(half as i32);
            for v in 0..TOGETHER {
                // SAFETY: `low + half - 1` is below the table's end, as `low + left` is not above it.
                let seen = unsafe { _mm512_i32gather_ps::<4>(low[v], table.as_ptr().add(half - 1)) };
                let less = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(seen, value[v]);
                low[v] = _mm512_mask_add_epi32(low[v], less, low[v], step);
            }
            left -= half;
        }
        for v in 0..TOGETHER {
            let at = (v * LANES).min(out.len());
            if left == 1 {
                // SAFETY: `low` is below the table's end.
                let seen = unsafe { _mm512_i32gather_ps::<4>(low[v], table.as_ptr()) };
                let less = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(seen, value[v]);
                low[v] = _mm512_mask_add_epi32(low[v], less, low[v], _mm512_set1_epi32(1));
            }
            // SAFETY: the mask leaves out what lies behind the slice.
            unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr().add(at), first(out.len() - at), low[v]) }
        }
    }
}
