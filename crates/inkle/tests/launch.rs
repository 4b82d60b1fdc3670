//! Kernels from their source to their results on the CPU.

use inkle::prelude::*;
use inkle::{Error, Result, Struct};

#[inkle::kernel]
fn saxpy(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
    let i = tid();
    y[i] = a * x[i] + y[i];
}

#[test]
fn a_kernel_runs_once_per_index() -> Result<()> {
    let n = 1000;
    let x = Array::from_slice(&(0..n).map(|i| i as f32).collect::<Vec<_>>())?;
    let mut y = Array::full(n, 1.0f32)?;
    saxpy.launch(n, (&x, &mut y, 2.0))?;
    assert_eq!(y.to_vec()?, (0..n).map(|i| 2.0 * i as f32 + 1.0).collect::<Vec<_>>());
    Ok(())
}

#[test]
fn a_prepared_launch_runs_again_and_again() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0])?;
    let mut y = Array::zeros(2)?;
    let prepared = saxpy.prepare(2, (&x, &mut y, 3.0))?;
    for _ in 0..5 {
        prepared.run()?;
    }
    drop(prepared);
    assert_eq!(y.to_vec()?, [15.0, 30.0]);
    Ok(())
}

#[inkle::func]
fn cube(x: f32) -> f32 {
    x * x * x
}

#[inkle::func]
fn divided(a: i32, b: i32) -> (i32, i32) {
    (a / b, a % b)
}

#[inkle::func]
fn bump(total: &mut f32, by: f32) {
    *total += by;
}

#[inkle::kernel]
fn calls(x: &Array<f32>, y: &mut Array<f32>, whole: &mut Array<i32>) {
    let i = tid();
    let mut total = cube(x[i]);
    bump(&mut total, 0.5);
    y[i] = total;
    let (quotient, rest) = divided(i - 2, 2);
    whole[i] = 10 * quotient + rest;
}

#[test]
fn functions_are_called_by_value_and_by_reference() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?;
    let (mut y, mut whole) = (Array::zeros(3)?, Array::zeros(3)?);
    calls.launch(3, (&x, &mut y, &mut whole))?;
    assert_eq!(y.to_vec()?, [1.5, 8.5, 27.5]);
    // Division of integers rounds to zero, and the rest has the sign of what is divided.
    assert_eq!(whole.to_vec()?, [-10, -1, 0]);
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Struct)]
struct Particle {
    position: Vec3,
    velocity: Vec3,
    mass: f64,
    alive: bool,
}

#[inkle::kernel]
fn step(particles: &mut Array<Particle>, gravity: Vec3, dt: f32) {
    let i = tid();
    let mut p = particles[i];
    if !p.alive {
        return;
    }
    p.velocity += dt * gravity;
    p.position += p.velocity * dt;
    if p.position.y < 0.0 {
        p = Particle { alive: false, mass: p.mass * 2.0, ..p };
    }
    particles[i] = p;
}

#[test]
fn structs_are_elements_and_values() -> Result<()> {
    let particle = |y: f32, alive| Particle {
        position: Vec3::new(0.0, y, 0.0),
        velocity: Vec3::new(1.0, 0.0, 0.0),
        mass: 3.0,
        alive,
    };
    let mut particles = Array::from_slice(&[particle(5.0, true), particle(0.5, true), particle(1.0, false)])?;
    step.launch(3, (&mut particles, Vec3::new(0.0, -1.0, 0.0), 1.0))?;
    let after = particles.to_vec()?;
    assert_eq!(after[0].position, Vec3::new(1.0, 4.0, 0.0));
    assert_eq!((after[1].alive, after[1].mass), (false, 6.0));
    assert_eq!(after[2], particle(1.0, false));
    Ok(())
}

#[derive(Struct)]
struct Mesh<'a> {
    points: &'a Array<Vec3>,
    count: i32,
    sums: &'a mut Array<f32>,
}

#[inkle::kernel]
fn add_up(mesh: Mesh<'_>, scale: f32) {
    let i = tid();
    if i < mesh.count {
        let p = mesh.points[i];
        mesh.sums[i] = scale * (p.x + p.y + p.z);
    }
}

#[test]
fn structs_can_hold_arrays() -> Result<()> {
    let points = Array::from_slice(&[Vec3::new(1.0, 2.0, 3.0), Vec3::splat(1.0), Vec3::splat(9.0)])?;
    let mut sums = Array::zeros(3)?;
    add_up.launch(3, (Mesh { points: &points, count: 2, sums: &mut sums }, 10.0))?;
    assert_eq!(sums.to_vec()?, [60.0, 30.0, 0.0]);
    Ok(())
}

#[inkle::kernel]
fn scaled<T: Number, const N: usize>(x: &Array<Vector<N, T>>, y: &mut Array<T>, factor: T) {
    let i = tid();
    let mut sum = T::ZERO;
    for k in 0..N {
        sum += x[i][k];
    }
    y[i] = factor * sum + T::from_i32(1);
}

#[test]
fn kernels_are_generic_over_scalars_and_sizes() -> Result<()> {
    let x = Array::from_slice(&[Vector::<3, f64>::new(1.0, 2.0, 3.0)])?;
    let mut y = Array::zeros(1)?;
    scaled.launch(1, (&x, &mut y, 0.5))?;
    assert_eq!(y.to_vec()?, [4.0f64]);
    let x = Array::from_slice(&[Vector::<2, i32>::new(4, 5), Vector::<2, i32>::new(-1, 0)])?;
    let mut y = Array::zeros(2)?;
    scaled.launch(2, (&x, &mut y, 3))?;
    assert_eq!(y.to_vec()?, [28, -2]);
    Ok(())
}

#[inkle::func]
fn largest<T: Number, const N: usize>(v: Vector<N, T>) -> T {
    let mut best = v[0];
    for k in 1..N {
        best = max(best, v[k]);
    }
    best + T::ONE - T::from_f64(1.0)
}

#[inkle::kernel]
fn largest_of_two(a: &Array<Vec3>, b: &Array<Vec2i>, x: &mut Array<f32>, y: &mut Array<i32>) {
    let i = tid();
    x[i] = largest(a[i]);
    y[i] = largest(b[i]);
}

#[test]
fn functions_are_generic_over_scalars_and_sizes() -> Result<()> {
    let a = Array::from_slice(&[Vec3::new(1.0, 7.0, 3.0)])?;
    let b = Array::from_slice(&[Vec2i::new(-4, -5)])?;
    let (mut x, mut y) = (Array::zeros(1)?, Array::zeros(1)?);
    largest_of_two.launch(1, (&a, &b, &mut x, &mut y))?;
    assert_eq!((x.to_vec()?, y.to_vec()?), (vec![7.0], vec![-4]));
    Ok(())
}

#[inkle::kernel]
fn blur(image: &Array<f32, 2>, out: &mut Array<f32, 2>) {
    let (r, c) = tid2();
    let [rows, columns] = image.shape();
    let mut sum = 0.0;
    for dr in -1..=1 {
        for dc in -1..=1 {
            let (rr, cc) = ((r + dr).clamp(0, rows - 1), (c + dc).clamp(0, columns - 1));
            sum += image[(rr, cc)];
        }
    }
    out[[r, c]] = sum / 9.0;
}

#[test]
fn arrays_and_launches_have_dimensions() -> Result<()> {
    let image = Array::from_shape([2, 3], &[0.0f32, 9.0, 0.0, 0.0, 0.0, 18.0])?;
    let mut out = Array::zeros([2, 3])?;
    blur.launch((2, 3), (&image, &mut out))?;
    assert_eq!(out.to_vec()?, [2.0, 4.0, 6.0, 1.0, 5.0, 9.0]);
    assert_eq!(out.get([1, 2])?, 9.0);
    Ok(())
}

#[test]
fn arguments_on_no_common_device_and_wrong_extents_are_errors() -> Result<()> {
    let x = Array::from_slice(&[1.0f32])?;
    let mut y = Array::zeros(1)?;
    let error = saxpy.launch(-1, (&x, &mut y, 2.0)).unwrap_err();
    assert!(matches!(error, Error::Extents { kernel: "saxpy", .. }), "{error}");
    assert!(error.to_string().starts_with("kernel `saxpy`: a launch over [-1, 1, 1, 1]"), "{error}");
    saxpy.launch(0, (&x, &mut y, 2.0))?;
    assert_eq!(y.to_vec()?, [0.0]);
    Ok(())
}

#[inkle::kernel(checks = true)]
fn out_of_bounds(x: &mut Array<i32>, at: i32) {
    x[at] = 1;
}

#[test]
fn an_index_out_of_bounds_is_reported_with_its_place() -> Result<()> {
    let mut x = Array::zeros(4)?;
    for at in [4, -1] {
        let error = out_of_bounds.launch(1, (&mut x, at)).unwrap_err().to_string();
        assert!(error.contains("launch.rs"), "{error}");
    }
    assert_eq!(x.to_vec()?, [0; 4]);
    Ok(())
}

#[inkle::func]
fn half_of<T: Float>(x: &IndexedArray<T>, i: i32) -> T {
    x[i] / T::from_f64(2.0)
}

#[inkle::kernel]
fn gather<T: Float>(x: &IndexedArray<T>, grid: &mut IndexedArray<T, 2>, plain: &mut Array<T>) {
    let (i, j) = tid2();
    let value = half_of(x, i) + T::from_i32(10 * j);
    grid[(i, j)] = value;
    atomic_add(grid, (i, j), T::ONE);
    plain[i * grid.shape()[1] + j] = T::from_i32(x.len() as i32);
}

#[test]
fn arrays_are_seen_through_lists_of_indices() -> Result<()> {
    let x = Array::from_slice(&[2.0f64, 4.0, 6.0, 8.0])?.with_grad()?;
    let (chosen, rows) = (Array::from_slice(&[3, 1])?, Array::from_slice(&[2, 0])?);
    let mut grid = Array::<f64, 2>::zeros([3, 2])?.with_grad()?;
    let mut plain = Array::<f64>::zeros(4)?;
    let tape = {
        let part = x.indexed(&chosen)?;
        let mut seen = grid.indexed_mut([Some(&rows), None])?;
        assert_eq!((part.len(), part.to_vec()?, seen.shape()), (2, vec![8.0, 4.0], [2, 2]));
        Tape::record(|| gather.launch((2, 2), (&part, &mut seen, &mut plain)))?
    };
    assert_eq!(grid.to_vec()?, [3.0, 13.0, 0.0, 0.0, 5.0, 15.0]);
    assert_eq!(plain.to_vec()?, [2.0; 4]);
    grid.grad_mut().unwrap().copy_from_slice(&[1.0, 10.0, 100.0, 1000.0, 4.0, 6.0])?;
    tape.backward()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [0.0, 5.5, 0.0, 5.0]);
    let graph = {
        let part = x.indexed(&chosen)?;
        let mut seen = grid.indexed_mut([Some(&rows), None])?;
        seen.copy_from_slice(&[1.0, 2.0, 3.0, 4.0])?;
        Graph::capture(Device::cpu(), || gather.launch((2, 2), (&part, &mut seen, &mut plain)))?
    };
    assert_eq!(grid.to_vec()?, [3.0, 4.0, 0.0, 0.0, 1.0, 2.0]);
    graph.launch()?;
    assert_eq!(grid.to_vec()?, [3.0, 13.0, 0.0, 0.0, 5.0, 15.0]);
    Ok(())
}

#[test]
fn index_lists_that_do_not_fit_are_refused() -> Result<()> {
    let mut x = Array::from_slice(&[1, 2, 3])?;
    let table = Array::from_shape([2, 2], &[0, 1, 2, 3])?;
    let column = table.select((.., 0))?;
    let gaps = x.indexed(&*column).unwrap_err();
    assert!(matches!(gaps, Error::Layout { .. }) && gaps.to_string().contains("index list"), "{gaps}");
    let beyond = Array::from_slice(&[0, 3])?;
    let wrong = x.indexed(&beyond)?.to_vec().unwrap_err();
    assert!(wrong.to_string().contains('3'), "{wrong}");
    let mut part = x.indexed_mut(&beyond)?;
    assert!(matches!(part.copy_from_slice(&[1]), Err(Error::Length { expected: 2, found: 1 })));
    assert!(part.fill(1).is_err());
    Ok(())
}

/// What a launch on a tape sets through a list has no gradient from before.
#[test]
fn elements_set_through_a_list_forget_their_gradient() -> Result<()> {
    let mut x = Array::from_slice(&[1.0f32, 2.0, 3.0])?.with_grad()?;
    let mut y = Array::<f32>::zeros(3)?.with_grad()?;
    let list = Array::from_slice(&[2])?;
    let tape = Tape::record(|| {
        x.indexed_mut(&list)?.fill(5.0)?;
        saxpy.launch(3, (&x, &mut y, 2.0))
    })?;
    y.grad_mut().unwrap().fill(1.0)?;
    tape.backward()?;
    assert_eq!((y.to_vec()?, x.grad().unwrap().to_vec()?), (vec![2.0, 4.0, 10.0], vec![2.0, 2.0, 0.0]));
    Ok(())
}

#[derive(Clone, Copy, Debug, inkle::Struct)]
struct Gains {
    p: f32,
    d: f64,
}

#[inkle::kernel]
fn control(x: &Array<f32>, u: &mut Array<f32>, gains: Gains, n: i64) {
    let i = tid();
    u[i] = gains.p * x[i] + gains.d as f32 + n as f32;
}

#[test]
fn the_arguments_of_a_prepared_launch_can_be_changed() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?;
    let table = Array::from_shape([2, 2], &[5.0f32, 0.0, 6.0, 0.0])?;
    let (mut u, mut v) = (Array::<f32>::zeros(3)?, Array::<f32>::zeros(3)?);
    let column = table.select((.., 0))?;
    let mut prepared = control.prepare(3, (&x, &mut u, Gains { p: 2.0, d: 0.0 }, 0))?;
    prepared.run()?;
    prepared.set("gains", Gains { p: 10.0, d: 0.5 })?;
    prepared.set("n", 100i64)?;
    prepared.set("u", &mut v)?;
    // Elements that are not next to each other are for other code than the launch had.
    prepared.set("x", &*column)?;
    prepared.set_dim(2)?;
    prepared.run()?;

    let wrong = [
        prepared.set("n", 1i32).unwrap_err(),
        prepared.set("m", 1i64).unwrap_err(),
        prepared.set("u", &x).unwrap_err(),
        prepared.set_dim(-1).unwrap_err(),
    ];
    let texts = wrong.map(|error| error.to_string());
    assert_eq!(texts[0], "kernel `control`: parameter `n` is of type i64, and the argument of type i32");
    assert_eq!(texts[1], "kernel `control` has no parameter `m`");
    assert_eq!(texts[2], "kernel `control` writes to `u`, so the argument has to be `&mut`");
    assert!(texts[3].contains("[-1, 1, 1, 1]"), "{}", texts[3]);
    // It is as it was before.
    prepared.run()?;
    drop(prepared);
    assert_eq!((u.to_vec()?, v.to_vec()?), (vec![2.0, 4.0, 6.0], vec![150.5, 160.5, 0.0]));
    Ok(())
}

#[test]
fn a_prepared_launch_is_recorded_with_what_it_has_now() -> Result<()> {
    let (x, y) = (Array::from_slice(&[1.0f32])?.with_grad()?, Array::from_slice(&[2.0f32])?.with_grad()?);
    let mut u = Array::<f32>::zeros(1)?.with_grad()?;
    {
        let mut prepared = control.prepare(1, (&x, &mut u, Gains { p: 3.0, d: 0.0 }, 0))?;
        prepared.set("x", &y)?;
        let tape = inkle::Tape::record(|| prepared.run())?;
        drop(prepared);
        u.grad_mut().unwrap().fill(1.0)?;
        tape.backward()?;
    }
    assert_eq!((x.grad().unwrap().to_vec()?, y.grad().unwrap().to_vec()?), (vec![0.0], vec![3.0]));
    Ok(())
}

#[inkle::kernel(checks = true)]
fn asserts(x: &Array<i32>, v: Vec3, which: i32) {
    let i = tid();
    assert_ne!(which, 1, "it is not one");
    assert_eq!(v, Vec3::splat(2.0));
    debug_assert_eq!(x[i] % 2, 0);
}

#[test]
fn assertions_that_compare_stop_a_kernel() -> Result<()> {
    let (even, odd) = (Array::from_slice(&[2, 4])?, Array::from_slice(&[2, 5])?);
    asserts.launch(2, (&even, Vec3::splat(2.0), 0))?;
    let text = |launched: Result<()>| launched.unwrap_err().to_string();
    assert!(text(asserts.launch(2, (&even, Vec3::splat(2.0), 1))).contains("it is not one"));
    for failed in
        [asserts.launch(2, (&even, Vec3::splat(2.5), 0)), asserts.launch(2, (&odd, Vec3::splat(2.0), 0))]
    {
        let text = text(failed);
        assert!(text.contains("launch.rs"), "{text}");
    }
    Ok(())
}
