//! What the programs of both contestants share: sizes, inputs, the shape of a measurement.
//!
//! `PROGRAM first KERNEL DEVICE` prints when it had its first result; `PROGRAM steady KERNEL DEVICE` how long one launch takes
//! when nothing is new any more; `PROGRAM overhead DEVICE` how long a launch of one element takes. Each prints one line of JSON.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Elements of `saxpy` and `map`.
pub const ELEMENTS: usize = 1 << 22;
/// Bodies of `nbody`.
pub const BODIES: usize = 4096;
/// What keeps bodies at one place from pulling without end.
pub const SOFTENING: f32 = 1e-3;

/// How long to measure one number for.
const BUDGET: Duration = Duration::from_millis(1500);

/// Floats between 0 and 1 that are the same in every run.
pub fn floats(count: usize) -> Vec<f32> {
    let mut state = 1u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    (0..count).map(next).collect()
}

/// Nanoseconds of the system's monotonic clock, which the process that starts this one reads too.
fn now_ns() -> i128 {
    let now = clock_gettime(ClockId::Monotonic);
    i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec)
}

/// Says that the first result is there, and a number of it, so that contestants can be compared.
pub fn print_first(check: f32) {
    println!("{{\"done_ns\": {}, \"check\": {check}}}", now_ns());
}

/// Calls `launch` `batch` times and then `wait`, again and again, and prints the seconds per launch of each round.
pub fn print_steady(check: f32, batch: u32, mut launch: impl FnMut(), mut wait: impl FnMut()) {
    for _ in 0..3 {
        launch();
    }
    wait();
    let mut samples = Vec::new();
    let started = Instant::now();
    while samples.len() < 5 || (started.elapsed() < BUDGET && samples.len() < 1000) {
        let round = Instant::now();
        for _ in 0..batch {
            launch();
        }
        wait();
        samples.push(round.elapsed().as_secs_f64() / f64::from(batch));
    }
    println!("{{\"samples\": {samples:?}, \"check\": {check}}}");
}
