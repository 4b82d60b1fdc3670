//! Kernels that are known without a check.

use std::process::Command;

use inkle::prelude::*;
use inkle_diag::trace::{self, Stage};

macro_rules! scaled {
    ($name:ident, $factor:expr) => {
        #[inkle::kernel(checks = false)]
        fn $name(x: &mut Array<f32>) {
            x[tid()] *= $factor;
        }
    };
}

scaled!(twice, 2.0);
scaled!(thrice, 3.0);

#[inkle::func]
fn half<T: Float>(x: T) -> T {
    x * T::from_f64(0.5)
}

#[inkle::kernel(checks = false)]
fn halved<T: Float>(x: &mut Array<T>) {
    let i = tid();
    x[i] = half(x[i]);
}

/// What the kernels above compute, and whether one of them was checked.
fn run() -> inkle::Result<(Vec<f32>, bool)> {
    trace::record(true);
    let mut x = Array::from_slice(&[1.0f32])?;
    let mut y = Array::from_slice(&[3.0f64])?;
    twice.launch(1, (&mut x,))?;
    thrice.launch(1, (&mut x,))?;
    halved.launch(1, (&mut x,))?;
    halved.launch(1, (&mut y,))?;
    let checked = trace::take().iter().any(|event| event.stage == Stage::Ir);
    Ok((vec![x.to_vec()?[0], y.to_vec()?[0] as f32], checked))
}

/// The process that the test below starts.
#[test]
fn in_a_process_of_its_own() {
    if std::env::var_os("INKLE_TEST_RECALL").is_some() {
        let (values, checked) = run().unwrap();
        println!("values {values:?} checked {checked}");
    }
}

#[test]
fn a_later_process_checks_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let start = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "in_a_process_of_its_own", "--nocapture"]);
        command.env("INKLE_TEST_RECALL", "1").env("INKLE_CACHE_PATH", cache.path());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    // One text makes two kernels here, and one generic kernel two instances.
    let (first, second) = (start(), start());
    assert!(first.contains("values [3.0, 1.5] checked true"), "{first}");
    assert!(second.contains("values [3.0, 1.5] checked false"), "{second}");
}
