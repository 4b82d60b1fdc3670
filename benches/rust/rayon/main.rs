//! The reference of `make bench-rust` on the CPU: the kernels as plain Rust over slices, on all cores by rayon; see `common.rs`.
//! Built for the processor it runs on.

#[path = "../common.rs"]
mod common;

use common::{BODIES, ELEMENTS, SOFTENING, floats, print_first, print_steady};
use rayon::prelude::*;

/// Elements that one task works on: enough that handing it out costs nothing.
const CHUNK: usize = 1 << 14;

fn saxpy(x: &[f32], y: &mut [f32], a: f32) {
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    });
}

fn map(x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| {
        for (y, &v) in y.iter_mut().zip(x) {
            *y = v.sin() * (-v).exp() + v.sqrt();
        }
    });
}

/// Bodies side by side in an array that the compiler keeps in vector registers.
const BESIDE: usize = 32;

fn nbody(x: &[f32], y: &[f32], z: &[f32], softening: f32, pull: &mut [f32]) {
    assert!(pull.len() == x.len() && y.len() == x.len() && z.len() == x.len());
    pull.par_chunks_mut(BESIDE).enumerate().for_each(|(chunk, pull)| {
        let first = chunk * BESIDE;
        let own = |all: &[f32]| -> [f32; BESIDE] { std::array::from_fn(|k| all.get(first + k).copied().unwrap_or(0.0)) };
        let (xi, yi, zi) = (own(x), own(y), own(z));
        let mut sums = [0.0f32; BESIDE];
        for ((&xj, &yj), &zj) in x.iter().zip(y).zip(z) {
            for k in 0..BESIDE {
                let (dx, dy, dz) = (xj - xi[k], yj - yi[k], zj - zi[k]);
                let square = dx * dx + dy * dy + dz * dz + softening;
                let inverse = 1.0 / square.sqrt();
                sums[k] += inverse * inverse * inverse * dx;
            }
        }
        pull.copy_from_slice(&sums[..pull.len()]);
    });
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [mode, kernel, "cpu"] = words[..] else { panic!("usage: bench-rayon first|steady KERNEL cpu") };
    let count = if kernel == "nbody" { BODIES } else { ELEMENTS };
    let values = floats(3 * BODIES.max(count / 3 + 1));
    let x = values[..count].to_vec();
    let mut y = vec![0.0f32; count];
    let launch = |y: &mut [f32]| match kernel {
        "saxpy" => saxpy(&x, y, 2.0),
        "map" => map(&x, y),
        "nbody" => nbody(&x, &values[count..2 * count], &values[2 * count..3 * count], SOFTENING, y),
        other => panic!("there is no kernel `{other}`"),
    };
    launch(&mut y);
    let check = y[count / 2];
    if mode == "first" {
        return print_first(check);
    }
    print_steady(check, 1, || launch(&mut y), || {});
}
