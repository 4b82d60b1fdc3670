//! How long points of the plane take to escape, each another time.

use std::arch::x86_64::*;

use rayon::prelude::*;

use crate::lanes::{LANES, first, write};

/// Vectors of points that go round together, as one waits for its own last round most of the time.
const TOGETHER: usize = 4;

/// The rounds, `limit` at most, of the `width * height` points from `(x, y)` on, `step` apart.
///
/// # Safety
/// `out` is the address of `width * height` numbers; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_mandelbrot(
    width: usize,
    height: usize,
    x: f32,
    y: f32,
    step: f32,
    limit: i32,
    out: *mut i32,
) {
    // SAFETY: the caller's promises.
    let out = unsafe { write(out, width * height) };
    out.par_chunks_mut(width).enumerate().for_each(|(row, out)| {
        // SAFETY: the caller's promise of AVX-512.
        unsafe { points(x, y + row as f32 * step, step, limit, out) }
    });
}

#[target_feature(enable = "avx512f,avx512dq")]
fn points(x: f32, y: f32, step: f32, limit: i32, out: &mut [i32]) {
    let ramp = _mm512_setr_ps(0., 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12., 13., 14., 15.);
    let (far, one) = (_mm512_set1_ps(4.0), _mm512_set1_epi32(1));
    let cy = _mm512_set1_ps(y);
    for (i, out) in out.chunks_mut(TOGETHER * LANES).enumerate() {
        let cx: [__m512; TOGETHER] = std::array::from_fn(|v| {
            let column = _mm512_add_ps(ramp, _mm512_set1_ps(((i * TOGETHER + v) * LANES) as f32));
            _mm512_fmadd_ps(column, _mm512_set1_ps(step), _mm512_set1_ps(x))
        });
        let mut zx = [_mm512_setzero_ps(); TOGETHER];
        let (mut zy, mut xx, mut yy) = (zx, zx, zx);
        let mut rounds = [_mm512_setzero_si512(); TOGETHER];
        for _ in 0..limit {
            let mut any = 0;
            for v in 0..TOGETHER {
                let near = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(_mm512_add_ps(xx[v], yy[v]), far);
                any |= near;
                rounds[v] = _mm512_mask_add_epi32(rounds[v], near, rounds[v], one);
                // Points that are far stay far, so nothing but the count needs the mask.
                let twice = _mm512_add_ps(zx[v], zx[v]);
                zy[v] = _mm512_fmadd_ps(twice, zy[v], cy);
                zx[v] = _mm512_add_ps(_mm512_sub_ps(xx[v], yy[v]), cx[v]);
                xx[v] = _mm512_mul_ps(zx[v], zx[v]);
                yy[v] = _mm512_mul_ps(zy[v], zy[v]);
            }
            if any == 0 {
                break;
            }
        }
        for (out, rounds) in out.chunks_mut(LANES).zip(rounds) {
            // SAFETY: the mask leaves out what lies behind the slice.
            unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr(), first(out.len()), rounds) }
        }
    }
}
