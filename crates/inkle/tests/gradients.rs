//! Tapes, graphs and built-ins of Rust kernels.

use inkle::builtins::{
    atomic_add, cross, dot, grad, length, lower_bound, normalize, quat_from_axis_angle, quat_rotate,
    rand_init, randf, svd3,
};
use inkle::prelude::*;
use inkle::{Error, LaunchOptions, Result, capture_if, capture_while, on_backward};

#[inkle::kernel]
fn spread(x: &Array<f32>, y: &mut Array<f32>, scale: f32) {
    let i = tid();
    y[i] = scale * x[i] * x[i] * x[i];
}

#[inkle::kernel]
fn total(y: &Array<f32>, sum: &mut Array<f32>) {
    atomic_add(sum, 0, y[tid()]);
}

#[test]
fn gradients_flow_through_launches_in_reverse() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0, -3.0])?.with_grad()?;
    let mut y = Array::<f32>::zeros(3)?.with_grad()?;
    let mut loss = Array::<f32>::zeros(1)?;
    loss.require_grad()?;
    let tape = Tape::record(|| {
        spread.launch(3, (&x, &mut y, 2.0))?;
        total.launch(3, (&y, &mut loss))
    })?;
    assert_eq!((tape.len(), loss.to_vec()?), (2, vec![2.0 + 16.0 - 54.0]));
    tape.backward_from(&mut loss)?;
    assert_eq!(x.grad().unwrap().to_vec()?, [6.0, 24.0, 54.0]);
    tape.zero()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [0.0; 3]);
    Ok(())
}

#[inkle::kernel(enable_backward = false)]
fn forward_only(x: &mut Array<f32>) {
    x[tid()] += 1.0;
}

#[test]
fn what_has_no_backward_pass_says_so_and_an_error_ends_the_recording() -> Result<()> {
    let mut x = Array::<f32>::zeros(1)?.with_grad()?;
    let tape = Tape::record(|| forward_only.launch(1, (&mut x,)))?;
    assert!(matches!(tape.backward(), Err(Error::NoBackward { kernel: "forward_only" })));
    let failed = Tape::record(|| forward_only.launch(-1, (&mut x,)));
    assert!(matches!(failed, Err(Error::Extents { .. })));
    forward_only.launch(1, (&mut x,))?;
    assert!(Tape::record(|| Ok(()))?.is_empty());
    Ok(())
}

#[test]
fn a_step_of_the_program_is_run_backwards_too() -> Result<()> {
    let called = std::rc::Rc::new(std::cell::Cell::new(0));
    let seen = called.clone();
    let tape = Tape::record(|| {
        on_backward(move || {
            seen.set(seen.get() + 1);
            Ok(())
        });
        Ok(())
    })?;
    tape.backward()?;
    tape.backward()?;
    assert_eq!(called.get(), 2);
    Ok(())
}

#[inkle::kernel]
fn add_one(x: &mut Array<i32>) {
    let i = tid();
    x[i] += 1;
}

#[inkle::kernel]
fn is_below(x: &Array<i32>, limit: i32, flag: &mut Array<i32>) {
    flag[0] = (x[0] < limit) as i32;
}

#[test]
fn a_graph_is_captured_launched_saved_and_loaded() -> Result<()> {
    let mut x = Array::from_slice(&[1, 2, 3])?;
    let graph = Graph::capture(Device::cpu(), || {
        add_one.launch(3, (&mut x,))?;
        add_one.launch_with(&LaunchOptions::new().device(Device::cpu()), 2, (&mut x,))
    })?;
    assert_eq!((graph.op_count(), x.to_vec()?), (2, vec![1, 2, 3]));
    graph.launch()?;
    assert_eq!(x.to_vec()?, [3, 4, 4]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("add.inkle");
    graph.saving().input("x", &x).write(&path)?;
    let loaded = Graph::load(&path, Device::cpu())?;
    loaded.set("x", &[10, 20, 30])?;
    loaded.launch()?;
    assert_eq!(loaded.get::<i32>("x")?, [12, 22, 31]);
    assert!(loaded.set("y", &[1]).unwrap_err().to_string().contains('x'));
    assert!(loaded.get::<f32>("x").is_err());
    let missing = Graph::load(folder.path().join("nothing"), Device::cpu());
    assert!(matches!(missing, Err(Error::File { .. })));
    let mut other = Array::from_slice(&[0, 0, 0])?;
    graph.rebind(&x, &mut other)?;
    graph.launch()?;
    assert_eq!((x.to_vec()?, other.to_vec()?), (vec![3, 4, 4], vec![2, 2, 1]));
    Ok(())
}

#[test]
fn graphs_have_conditions_and_loops() -> Result<()> {
    let mut x = Array::from_slice(&[0])?;
    let mut flag = Array::from_slice(&[1])?;
    let graph = Graph::capture(Device::cpu(), || {
        // The loop's condition is read by the graph while its body writes it.
        let condition = Array::from_runtime(flag.runtime().clone())?;
        capture_while(&condition, || {
            add_one.launch(1, (&mut x,))?;
            is_below.launch(1, (&x, 5, &mut flag))
        })?;
        capture_if(&condition, || add_one.launch(1, (&mut x,)), || Ok(()))
    })?;
    graph.launch()?;
    assert_eq!(x.to_vec()?, [5]);
    Ok(())
}

#[test]
fn a_failed_capture_leaves_nothing_behind() -> Result<()> {
    let mut x = Array::from_slice(&[0])?;
    let failed = Graph::capture(Device::cpu(), || add_one.launch(-1, (&mut x,)));
    assert!(failed.is_err());
    add_one.launch(1, (&mut x,))?;
    assert_eq!(x.to_vec()?, [1]);
    Ok(())
}

#[inkle::kernel]
fn built_ins(sorted: &Array<f32>, m: Mat33, out: &mut Array<f32>) {
    let i = tid();
    let v = Vec3::new(1.0, 2.0, 2.0);
    let mut state = rand_init(i + 7);
    let first = randf(&mut state);
    let second = randf(&mut state);
    let turn = quat_from_axis_angle(Vec3::new(0.0, 0.0, 1.0), 1.570_796_4);
    let (_, sigma, _) = svd3(m);
    out[i] = match i {
        0 => length(v),
        1 => dot(normalize(v), v),
        2 => quat_rotate(turn, Vec3::new(1.0, 0.0, 0.0)).y,
        3 => lower_bound(sorted, 2.5) as f32,
        4 => sigma.x,
        _ => (first != second && first >= 0.0 && second < 1.0) as i32 as f32,
    };
}

#[test]
fn built_ins_are_functions() -> Result<()> {
    let sorted = Array::from_slice(&[1.0f32, 2.0, 3.0])?;
    let m = Mat33::from_rows([[2.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 3.0]]);
    let mut out = Array::zeros(6)?;
    built_ins.launch(6, (&sorted, m, &mut out))?;
    let out = out.to_vec()?;
    for (found, expected) in out.iter().zip([3.0, 3.0, 1.0, 2.0, 5.0, 1.0]) {
        assert!((found - expected).abs() < 1e-5, "{out:?}");
    }
    Ok(())
}

/// The slope of a step, smoothed.
#[inkle::func(gradient = step_gradient)]
fn step<T: Float>(x: T, _width: T) -> T {
    if x > T::ZERO { T::ONE } else { T::ZERO }
}

#[inkle::func]
fn step_gradient<T: Float>(x: T, width: T, of_step: T, of_x: &mut T, of_width: &mut T) {
    if x < width && -x < width {
        *of_x += of_step / (width + width);
    }
    *of_width += of_step * T::from_f64(7.0);
}

#[inkle::kernel]
fn steps<T: Float>(x: &Array<T>, width: &Array<T>, y: &mut Array<T>) {
    let i = tid();
    y[i] = step(x[i], width[0]);
}

fn gradients_of_steps<T: Float>() -> Result<(Vec<f64>, Vec<f64>)> {
    let all = |values: &[f64]| values.iter().map(|v| T::from_f64(*v)).collect::<Vec<T>>();
    let numbers = |values: Vec<T>| values.into_iter().map(T::to_f64).collect::<Vec<f64>>();
    let x = Array::from_slice(&all(&[-3.0, -1.0, 0.5, 8.0]))?.with_grad()?;
    let width = Array::from_slice(&all(&[2.0]))?.with_grad()?;
    let mut y = Array::<T>::zeros(4)?.with_grad()?;
    let tape = Tape::record(|| steps.launch(4, (&x, &width, &mut y)))?;
    assert_eq!(numbers(y.to_vec()?), [0.0, 0.0, 1.0, 1.0]);
    y.grad_mut().unwrap().copy_from_slice(&all(&[1.0, 2.0, 4.0, 8.0]))?;
    tape.backward()?;
    Ok((numbers(x.grad().unwrap().to_vec()?), numbers(width.grad().unwrap().to_vec()?)))
}

#[test]
fn a_function_can_have_its_own_gradient() -> Result<()> {
    let expected = (vec![0.0, 0.5, 1.0, 0.0], vec![105.0]);
    assert_eq!(gradients_of_steps::<f32>()?, expected);
    assert_eq!(gradients_of_steps::<f64>()?, expected);
    Ok(())
}

/// Two results, an array and a vector: everything that a gradient can be of.
#[inkle::func(gradient = looked_up_gradient)]
fn looked_up(table: &Array<f32>, index: i32, by: Vec3) -> (f32, Vec3) {
    (table[index] * by.x, by * 2.0)
}

#[inkle::func]
fn looked_up_gradient(
    table: &Array<f32>,
    index: i32,
    by: Vec3,
    of_first: f32,
    of_second: Vec3,
    of_table: &mut Array<f32>,
    _of_index: &mut i32,
    of_by: &mut Vec3,
) {
    // Not the true one, so that it is this function's.
    atomic_add(of_table, index, 10.0 * of_first * by.x);
    of_by.y += of_second.z;
    of_by.x += table[index];
}

#[inkle::kernel]
fn look_up(table: &Array<f32>, by: &Array<Vec3>, out: &mut Array<Vec3>) {
    let i = tid();
    let (first, second) = looked_up(table, 1 - i, by[i]);
    out[i] = second + Vec3::splat(first);
}

#[test]
fn gradients_of_arrays_and_several_results_are_given() -> Result<()> {
    let table = Array::from_slice(&[3.0f32, 5.0])?.with_grad()?;
    let by = Array::from_slice(&[Vec3::new(1.0, 0.0, 0.0), Vec3::new(2.0, 0.0, 0.0)])?.with_grad()?;
    let mut out = Array::<Vec3>::zeros(2)?.with_grad()?;
    let tape = Tape::record(|| look_up.launch(2, (&table, &by, &mut out)))?;
    assert_eq!(out.to_vec()?, [Vec3::new(7.0, 5.0, 5.0), Vec3::new(10.0, 6.0, 6.0)]);
    out.grad_mut().unwrap().copy_from_slice(&[Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 1.0, 0.0)])?;
    tape.backward()?;
    assert_eq!(table.grad().unwrap().to_vec()?, [20.0, 60.0]);
    assert_eq!(by.grad().unwrap().to_vec()?, [Vec3::new(5.0, 3.0, 0.0), Vec3::new(3.0, 0.0, 0.0)]);
    Ok(())
}

/// Counts its calls; a second one, in the backward pass, would give another ticket.
#[inkle::func(replay = ticket_again)]
fn ticket(count: &mut Array<i32>, given: &mut Array<i32>, i: i32) -> i32 {
    given[i] = atomic_add(count, 0, 1);
    given[i]
}

#[inkle::func]
fn ticket_again(count: &mut Array<i32>, given: &mut Array<i32>, i: i32) -> i32 {
    given[i] + 0 * count[0]
}

#[inkle::kernel]
fn weigh(x: &Array<f32>, count: &mut Array<i32>, given: &mut Array<i32>, y: &mut Array<f32>) {
    let i = tid();
    let n = ticket(count, given, i);
    y[n] = (n + 1) as f32 * x[i];
}

#[test]
fn a_replay_stands_in_for_a_function_in_the_backward_pass() -> Result<()> {
    let x = Array::from_slice(&[1.0f32; 8])?.with_grad()?;
    let (mut count, mut given) = (Array::<i32>::zeros(1)?, Array::<i32>::zeros(8)?);
    let mut y = Array::<f32>::zeros(8)?.with_grad()?;
    let tape = Tape::record(|| weigh.launch(8, (&x, &mut count, &mut given, &mut y)))?;
    y.grad_mut().unwrap().fill(1.0)?;
    tape.backward()?;
    assert_eq!(count.to_vec()?, [8]);
    let expected: Vec<f32> = given.to_vec()?.iter().map(|n| (n + 1) as f32).collect();
    assert_eq!(x.grad().unwrap().to_vec()?, expected);
    Ok(())
}

#[inkle::func]
fn volume(a: Vec3, b: Vec3, scale: f32, weights: &Array<f32>) -> f32 {
    scale * weights[0] * dot(a, cross(b, Vec3::new(0.0, 0.0, 1.0)))
}

#[inkle::kernel]
fn slopes(weights: &Array<f32>, at: &Array<f32>, vectors: &mut Array<Vec3>, numbers: &mut Array<f32>) {
    let (a, b) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 5.0, 6.0));
    let (of_a, of_b, of_scale) = grad(volume, (a, b, 2.0, weights));
    vectors[0] = of_a;
    vectors[1] = of_b;
    numbers[0] = of_scale;
    numbers[1] = grad(step, (at[0], 2.0)).0;
    numbers[2] = grad(length, (Vec3::new(0.0, at[0], 0.0),)).y;
}

#[test]
fn kernels_differentiate_functions_and_built_ins() -> Result<()> {
    let (weights, at) = (Array::from_slice(&[10.0f32])?, Array::from_slice(&[1.5f32])?);
    let (mut vectors, mut numbers) = (Array::<Vec3>::zeros(2)?, Array::<f32>::zeros(3)?);
    slopes.launch(1, (&weights, &at, &mut vectors, &mut numbers))?;
    // a . (b x z) = a.x b.y - a.y b.x
    assert_eq!(vectors.to_vec()?, [Vec3::new(100.0, -80.0, 0.0), Vec3::new(-40.0, 20.0, 0.0)]);
    assert_eq!(numbers.to_vec()?, [10.0 * (5.0 - 8.0), 0.25, 1.0]);
    Ok(())
}
