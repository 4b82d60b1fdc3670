//! inkle's side of `make bench-rust`; see `common.rs`.

#[path = "../common.rs"]
mod common;

use common::{BODIES, ELEMENTS, SOFTENING, floats, print_first, print_steady};
use inkle::prelude::*;
use inkle::{Result, device};

#[inkle::kernel(checks = false)]
fn saxpy(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
    let i = tid();
    y[i] = a * x[i] + y[i];
}

#[inkle::kernel(checks = false)]
fn map(x: &Array<f32>, y: &mut Array<f32>) {
    let i = tid();
    let v = x[i];
    y[i] = sin(v) * exp(-v) + sqrt(v);
}

#[inkle::kernel(checks = false)]
fn nbody(x: &Array<f32>, y: &Array<f32>, z: &Array<f32>, count: i32, softening: f32, pull: &mut Array<f32>) {
    let i = tid();
    let (xi, yi, zi) = (x[i], y[i], z[i]);
    let mut sum = 0.0;
    for j in 0..count {
        let (dx, dy, dz) = (x[j] - xi, y[j] - yi, z[j] - zi);
        let square = dx * dx + dy * dy + dz * dz + softening;
        let inverse = 1.0 / sqrt(square);
        sum += inverse * inverse * inverse * dx;
    }
    pull[i] = sum;
}

fn main() -> std::result::Result<(), inkle::Report> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words[..] {
        ["overhead", way, on] => overhead(way, device(on)?),
        [mode, kernel, on] => run(mode == "first", kernel, device(on)?),
        _ => panic!("usage: bench-inkle first|steady KERNEL DEVICE, or overhead prepared|plain DEVICE"),
    }?)
}

fn overhead(way: &str, on: Device) -> Result<()> {
    let x = Array::from_slice_on(on, &[1.0f32])?;
    let mut y = Array::<f32>::zeros_on(on, 1)?;
    let batch = if on.is_cpu() { 100_000 } else { 1000 };
    let wait = || on.synchronize().unwrap();
    if way == "prepared" {
        let prepared = saxpy.prepare(1, (&x, &mut y, 2.0))?;
        print_steady(0.0, batch, || prepared.run().unwrap(), wait);
    } else {
        print_steady(0.0, batch, || saxpy.launch(1, (&x, &mut y, 2.0)).unwrap(), wait);
    }
    Ok(())
}

fn run(first: bool, kernel: &str, on: Device) -> Result<()> {
    let count = if kernel == "nbody" { BODIES } else { ELEMENTS };
    let values = floats(3 * BODIES.max(count / 3 + 1));
    let x = Array::from_slice_on(on, &values[..count])?;
    let mut y = Array::<f32>::zeros_on(on, count)?;
    let (ys, zs) = match kernel {
        "nbody" => (
            Array::from_slice_on(on, &values[count..2 * count])?,
            Array::from_slice_on(on, &values[2 * count..3 * count])?,
        ),
        _ => (Array::zeros_on(on, 1)?, Array::zeros_on(on, 1)?),
    };
    let launch = |y: &mut Array<f32>| match kernel {
        "saxpy" => saxpy.launch(count, (&x, y, 2.0)),
        "map" => map.launch(count, (&x, y)),
        "nbody" => nbody.launch(count, (&x, &ys, &zs, count as i32, SOFTENING, y)),
        other => panic!("there is no kernel `{other}`"),
    };
    launch(&mut y)?;
    let check = y.to_vec()?[count / 2];
    if first {
        print_first(check);
        return Ok(());
    }
    print_steady(
        check,
        if on.is_cpu() { 1 } else { 20 },
        || launch(&mut y).unwrap(),
        || on.synchronize().unwrap(),
    );
    Ok(())
}
