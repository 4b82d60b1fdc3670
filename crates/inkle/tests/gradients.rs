//! Tapes, graphs and built-ins of Rust kernels.

use inkle::builtins::{
    dot, length, lower_bound, normalize, quat_from_axis_angle, quat_rotate, rand_init, randf, svd3,
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
