//! The forces between bodies, each with each.

use std::arch::x86_64::*;

use rayon::prelude::*;

use crate::lanes::{LANES, read, write};

/// Vectors of bodies that meet all others at the same time: enough that none waits for the one before.
const TOGETHER: usize = 2;
const SOFTENING: f32 = 0.01;

/// `result = velocity + dt * force` of `n` bodies, three numbers each. With `fast` the inverse square root is the
/// processor's estimate and a Newton step.
///
/// # Safety
/// The three are addresses of `3 * n` numbers, of which `result` overlaps no other; AVX-512 is there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn expert_nbody(
    n: usize,
    position: *const [f32; 3],
    velocity: *const [f32; 3],
    result: *mut [f32; 3],
    dt: f32,
    fast: bool,
) {
    // SAFETY: the caller's promises.
    let (position, velocity, result) = unsafe { (read(position, n), read(velocity, n), write(result, n)) };
    let together = TOGETHER * LANES;
    result.par_chunks_mut(together).enumerate().for_each(|(i, result)| {
        let mut forces = [[0.0; 3]; TOGETHER * LANES];
        let start = i * together;
        let mine = &position[start..start + result.len()];
        // SAFETY: the caller's promise of AVX-512.
        unsafe {
            if fast {
                forces_on::<true>(mine, position, &mut forces);
            } else {
                forces_on::<false>(mine, position, &mut forces);
            }
        }
        for ((result, velocity), force) in result.iter_mut().zip(&velocity[start..]).zip(&forces) {
            for c in 0..3 {
                result[c] = velocity[c] + dt * force[c];
            }
        }
    });
}

#[target_feature(enable = "avx512f")]
fn forces_on<const FAST: bool>(
    mine: &[[f32; 3]],
    all: &[[f32; 3]],
    forces: &mut [[f32; 3]; TOGETHER * LANES],
) {
    let mut here = [[_mm512_setzero_ps(); 3]; TOGETHER];
    let mut force = here;
    let mut columns = [[0.0f32; LANES]; 3];
    for (v, here) in here.iter_mut().enumerate() {
        for lane in 0..LANES {
            // Places behind the last body are as good as any.
            let body = mine[(v * LANES + lane).min(mine.len() - 1)];
            for c in 0..3 {
                columns[c][lane] = body[c];
            }
        }
        *here = columns.map(|column| crate::lanes::load(&column, 0));
    }
    let softening = _mm512_set1_ps(SOFTENING);
    for there in all {
        let there = there.map(|c| _mm512_set1_ps(c));
        for v in 0..TOGETHER {
            let d: [__m512; 3] = std::array::from_fn(|c| _mm512_sub_ps(there[c], here[v][c]));
            let square = _mm512_fmadd_ps(d[0], d[0], softening);
            let square = _mm512_fmadd_ps(d[1], d[1], square);
            let square = _mm512_fmadd_ps(d[2], d[2], square);
            let inverse = if FAST {
                let estimate = _mm512_rsqrt14_ps(square);
                let half = _mm512_mul_ps(square, _mm512_mul_ps(estimate, _mm512_set1_ps(0.5)));
                _mm512_mul_ps(estimate, _mm512_fnmadd_ps(half, estimate, _mm512_set1_ps(1.5)))
            } else {
                _mm512_div_ps(_mm512_set1_ps(1.0), _mm512_sqrt_ps(square))
            };
            let cube = _mm512_mul_ps(_mm512_mul_ps(inverse, inverse), inverse);
            for c in 0..3 {
                force[v][c] = _mm512_fmadd_ps(d[c], cube, force[v][c]);
            }
        }
    }
    for (v, force) in force.iter().enumerate() {
        for c in 0..3 {
            crate::lanes::store(&mut columns[c], 0, force[c]);
        }
        for lane in 0..LANES {
            forces[v * LANES + lane] = [columns[0][lane], columns[1][lane], columns[2][lane]];
        }
    }
}
