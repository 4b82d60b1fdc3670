//! Backward kernels of random kernels, against derivatives carried along forwards and against differences.

mod evaluate;
mod program;

use evaluate::{Datum, Machine};
use inkle_adjoint::{ArrayGrad, backward};
use inkle_ir::{Module, parse, simplify, verify};
use program::Source;

const ELEMENTS: usize = 6;
const THREADS: usize = 3;

/// Memory of a run: x, y and, for the backward one, their gradients.
fn machine(x: &[f64], direction: &[f64]) -> Machine {
    let mut machine = Machine::default();
    machine.arrays.push(x.iter().zip(direction).map(|(&x, &d)| Datum::Float(x, d)).collect());
    machine.arrays.push(vec![Datum::Float(0.0, 0.0); THREADS]);
    machine
}

/// The derivative of the weighted outputs in a direction.
struct Derivative {
    /// Carried along forwards.
    along: f64,
    /// By the gradient, backwards.
    by_gradient: f64,
    /// The difference quotients before and after.
    by_differences: [f64; 2],
}

/// Half the distance of what differences are taken of.
const STEP: f64 = 1e-6;

/// The derivative in a random direction at a random place, in all ways.
fn derivative(module: &Module, reverse: &Module, n: i64, source: &mut Source) -> Derivative {
    let x: Vec<f64> = (0..ELEMENTS).map(|_| source.unit()).collect();
    let direction: Vec<f64> = (0..ELEMENTS).map(|_| source.unit()).collect();
    let weights: Vec<f64> = (0..THREADS).map(|_| source.unit() + 1.5).collect();
    let args = [Datum::Array(0), Datum::Int(n), Datum::Array(1)];
    let mut forward = machine(&x, &direction);
    forward.launch(module, &args, THREADS);
    let along: f64 = forward.arrays[1].iter().zip(&weights).map(|(y, w)| y.float().1 * w).sum();
    let [before, here, after] = [-STEP, 0.0, STEP].map(|step| {
        let moved: Vec<f64> = x.iter().zip(&direction).map(|(x, d)| x + step * d).collect();
        let mut run = machine(&moved, &direction);
        run.launch(module, &args, THREADS);
        run.arrays[1].iter().zip(&weights).map(|(y, w)| y.float().0 * w).sum::<f64>()
    });
    let mut machine = machine(&x, &direction);
    machine.arrays[1] = forward.arrays[1].clone();
    machine.arrays.push(vec![Datum::Float(0.0, 0.0); ELEMENTS]);
    machine.arrays.push(weights.iter().map(|&w| Datum::Float(w, 0.0)).collect());
    machine.gradients.extend([(0, 2), (1, 3)]);
    machine.launch(reverse, &args, THREADS);
    let by_gradient = machine.arrays[2].iter().zip(&direction).map(|(g, d)| g.float().0 * d).sum();
    Derivative { along, by_gradient, by_differences: [(here - before) / STEP, (after - here) / STEP] }
}

#[test]
fn gradients_are_those_of_the_forward_mode() {
    let mut compared = 0;
    let mut nonzero = 0;
    let mut differences = 0;
    for seed in 0..3000u64 {
        let mut source = Source::new(seed + 1);
        let mut module = program::kernel(&mut source);
        verify(&module).unwrap_or_else(|e| panic!("seed {seed}: the program is wrong\n{e}\n{module}"));
        if seed % 2 == 0 {
            simplify(&mut module);
        }
        let reverse = backward(&module, &[ArrayGrad::Clear, ArrayGrad::Clear])
            .unwrap_or_else(|e| panic!("seed {seed}: {e}\n{module}"))
            .module;
        verify(&reverse).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{module}\n{reverse}"));
        let mut simplified = reverse.clone();
        simplify(&mut simplified);
        for n in [0, 3] {
            let Derivative { along, by_gradient, by_differences: [before, after] } =
                derivative(&module, &simplified, n, &mut source);
            if !along.is_finite() || along.abs() > 1e9 {
                continue;
            }
            compared += 1;
            nonzero += usize::from(along != 0.0);
            let error = (along - by_gradient).abs();
            assert!(
                error <= 1e-9 * (1.0 + along.abs()),
                "seed {seed}, n {n}: {along} forwards, {by_gradient} backwards\n{module}\n{simplified}"
            );
            // Where the two differ there is a corner, a jump, or too much of a curve.
            if (before - after).abs() <= 1e-4 * (1.0 + along.abs()) {
                differences += 1;
                let middle = (before + after) / 2.0;
                assert!(
                    (middle - by_gradient).abs() <= 1e-3 * (1.0 + along.abs()),
                    "seed {seed}, n {n}: {middle} by differences, {by_gradient} backwards\n{module}\n{simplified}"
                );
            }
        }
    }
    // The test must have something to compare.
    let counts = [compared, nonzero, differences];
    assert!(
        compared > 5000 && nonzero > 3000 && differences > 4000,
        "compared, not zero, smooth: {counts:?}"
    );
}

/// A thousand iterations of a recurrence, whose states are found again from checkpoints.
#[test]
fn long_loops() {
    let module = parse(
        "kernel @k(%0 x: array<f64, 1>, %1 n: i32, %2 y: array<f64, 1>) {
           %3 = tid 0 : i32
           %4 = const 0 : i32
           %5 = const 1 : i32
           %6 = elem %0, %3 : ref<f64>
           %7 = load %6 : f64
           %8 = for %9: i32 = %4, %1, %5 carry(%10: f64 = %7) -> (f64) {
             %11 = mul %10, %7 : f64
             %12 = sin %11 : f64
             %13 = add %12, %10 : f64
             %14 = cos %13 : f64
             yield %14
           }
           %15 = elem %2, %3 : ref<f64>
           store %15, %8
           return
         }",
    )
    .expect("it is read");
    let reverse = backward(&module, &[ArrayGrad::Clear, ArrayGrad::Clear]).expect("it is differentiated");
    let reverse = reverse.module;
    for n in [0, 1, 2, 33, 34, 35, 1000, 4097] {
        let Derivative { along, by_gradient, .. } =
            derivative(&module, &reverse, n, &mut Source::new(n as u64));
        assert!((along - by_gradient).abs() <= 1e-9 * (1.0 + along.abs()), "{n}: {along}, {by_gradient}");
    }
}
