//! Kernels written in Rust on a real GPU: launches, streams, lists of indices, tapes, graphs, code compiled ahead of time.

use inkle::prelude::*;
use inkle::{Event, LaunchOptions, Result, Stream, Struct, device, optim, with_stream};

fn gpu() -> Option<Device> {
    match inkle::cuda_status() {
        Ok(()) => Some(device("cuda:0").unwrap()),
        Err(error) => {
            println!("skipped: no CUDA driver ({error})");
            None
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Struct)]
struct Joint {
    angle: f32,
    rate: f64,
}

#[inkle::kernel]
fn control(joints: &Array<Joint>, wanted: &Array<f32>, torques: &mut Array<f32>, stiffness: f32) {
    let i = tid();
    let joint = joints[i];
    torques[i] = (stiffness * (wanted[i] - joint.angle) - joint.rate as f32).clamp(-5.0, 5.0);
}

#[inkle::kernel]
fn scale<T: Number>(x: &mut Array<T>, by: T) {
    x[tid()] *= by;
}

#[inkle::kernel]
fn shift(x: &mut IndexedArray<f32, 2>, by: f32) {
    let (i, j) = tid2();
    x[(i, j)] += by;
}

#[inkle::kernel]
fn sum_of_squares(x: &Array<f32>, sum: &mut Array<f32>) {
    let v = x[tid()];
    atomic_add(sum, 0, v * v);
}

#[inkle::kernel(checks = true)]
fn past_the_end(x: &mut Array<f32>, by: i32) {
    let i = tid();
    x[i + by] = 1.0;
}

#[test]
fn launches_and_prepared_launches() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let joints: Vec<Joint> = (0..1000).map(|i| Joint { angle: i as f32 * 0.01, rate: 0.5 }).collect();
    let joints = Array::from_slice_on(gpu, &joints)?;
    let wanted = Array::full_on(gpu, 1000, 3.0f32)?;
    let mut torques = Array::<f32>::zeros_on(gpu, 1000)?;
    let mut other = Array::<f32>::zeros_on(gpu, 1000)?;
    let expected = |stiffness: f32| {
        (0..1000).map(|i| (stiffness * (3.0 - i as f32 * 0.01) - 0.5).clamp(-5.0, 5.0)).collect::<Vec<f32>>()
    };
    let near = |found: Vec<f32>, expected: Vec<f32>| {
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-5), "{:?}", &found[..4]);
    };
    let mut prepared = control.prepare(1000, (&joints, &wanted, &mut torques, 2.0))?;
    prepared.run()?;
    prepared.set("stiffness", 0.5f32)?;
    prepared.set("torques", &mut other)?;
    prepared.run()?;
    let on_the_cpu = Array::<f32>::zeros_on(Device::cpu(), 1000)?;
    assert!(matches!(prepared.set("wanted", &on_the_cpu), Err(inkle::Error::Devices { .. })));
    drop(prepared);
    let (threads, blocks) = inkle::AnyKernel::from(control).suggested_block_dim(gpu)?;
    assert!(
        threads % 32 == 0 && (32..=1024).contains(&threads) && blocks >= gpu.sm_count(),
        "{threads}, {blocks}"
    );
    near(torques.to_vec()?, expected(2.0));
    near(other.to_vec()?, expected(0.5));
    Ok(())
}

#[test]
fn elements_behind_lists_of_indices() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let mut table = Array::<f32, 2>::zeros_on(gpu, [4, 3])?;
    let (rows, columns) = (Array::from_slice_on(gpu, &[3, 1])?, Array::from_slice_on(gpu, &[2, 0])?);
    shift.launch([2, 2], (&mut *table.indexed_mut([Some(&rows), Some(&columns)])?, 1.5))?;
    let found = table.to_vec()?;
    let expected: Vec<f32> = (0..12).map(|at| if [3, 5, 9, 11].contains(&at) { 1.5 } else { 0.0 }).collect();
    assert_eq!(found, expected);
    assert_eq!(table.indexed([Some(&rows), Some(&columns)])?.to_vec()?, [1.5; 4]);
    Ok(())
}

#[test]
fn streams_and_events_order_what_they_are_told_to() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let n = 1 << 20;
    let (first, second) = (Stream::new(gpu, 0)?, Stream::new(gpu, 0)?);
    let mut x = Array::full_on(gpu, n, 1.0f32)?;
    gpu.synchronize()?;
    let (start, end) = (Event::new(gpu, true)?, Event::new(gpu, true)?);
    start.record(&first)?;
    for _ in 0..20 {
        scale.launch_with(&LaunchOptions::new().stream(&first), n, (&mut x, 2.0))?;
    }
    end.record(&first)?;
    second.wait_event(&end)?;
    with_stream(&second, || scale.launch(n, (&mut x, 0.5)))?;
    second.synchronize()?;
    assert!(x.to_vec()?.iter().all(|v| *v == (1 << 19) as f32));
    assert!(start.elapsed_ms(&end)? > 0.0);
    Ok(())
}

#[test]
fn tapes_and_optimizers() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let start: Vec<f32> = (0..300).map(|i| i as f32 / 100.0 - 1.0).collect();
    let mut x = Array::from_slice_on(gpu, &start)?.with_grad()?;
    let mut sum = Array::<f32>::zeros_on(gpu, 1)?.with_grad()?;
    let tape = Tape::record(|| sum_of_squares.launch(300, (&x, &mut sum)))?;
    tape.backward_from(&mut sum)?;
    let gradient = x.grad().unwrap().to_vec()?;
    assert!(gradient.iter().zip(&start).all(|(g, x)| (g - 2.0 * x).abs() < 1e-6), "{:?}", &gradient[..4]);
    drop(tape);
    optim::Sgd::new(0.25).step(&mut [&mut x])?;
    assert!(x.to_vec()?.iter().zip(&start).all(|(a, b)| (a - 0.5 * b).abs() < 1e-6));
    Ok(())
}

#[test]
fn graphs_replay_and_travel() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let mut x = Array::full_on(gpu, 64, 1.0f32)?;
    let graph = Graph::capture(gpu, || {
        scale.launch(64, (&mut x, 3.0))?;
        scale.launch(64, (&mut x, 0.5))
    })?;
    assert_eq!(x.to_vec()?, [1.0; 64]);
    for _ in 0..4 {
        graph.launch()?;
    }
    assert_eq!(x.to_vec()?, [1.5f32.powi(4); 64]);
    let bytes = graph
        .saving()
        .input("x", &x)
        .output("y", &x)
        .target("compute_75")?
        .target("x86-64-v2")?
        .to_bytes()?;
    for device in [gpu, Device::cpu()] {
        let loaded = Graph::from_bytes(bytes.clone(), device)?;
        loaded.set("x", &[2.0f32; 64])?;
        loaded.launch()?;
        assert_eq!(loaded.get::<f32>("y")?, [3.0; 64], "on {device}");
    }
    Ok(())
}

#[test]
fn a_failed_check_is_reported_by_the_next_wait_and_the_device_lives_on() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let mut x = Array::<f32>::zeros_on(gpu, 8)?;
    let launched = past_the_end.launch(8, (&mut x, 3));
    let error = launched.and_then(|()| gpu.synchronize().map_err(Into::into)).unwrap_err();
    assert!(error.to_string().contains("out of bounds"), "{error}");
    past_the_end.launch(8, (&mut x, 0))?;
    assert_eq!(x.to_vec()?, [1.0; 8]);
    Ok(())
}

/// Machine code takes a library of NVIDIA's to make, PTX takes none.
#[test]
fn code_compiled_ahead_of_time_runs() -> Result<()> {
    let Some(gpu) = gpu() else { return Ok(()) };
    let kernels = [scale.of::<i64>(), scale.of::<f64>()];
    let [ptx, cubin] =
        ["compute_75".to_owned(), format!("sm_{}", gpu.arch())].map(|target| target.parse().unwrap());
    inkle::add_kernels(inkle::compile_ahead(&kernels[..1], &[ptx])?.leak())?;
    let mut x = Array::full_on(gpu, 100, 7i64)?;
    scale.launch(100, (&mut x, -6))?;
    assert_eq!(x.to_vec()?, [-42; 100]);
    match inkle::compile_ahead(&kernels[1..], &[cubin]) {
        Ok(bytes) => inkle::add_kernels(bytes.leak())?,
        Err(error) => {
            assert!(error.to_string().contains("nvJitLink"), "{error}");
            println!("not tested: machine code ({error})");
        }
    }
    let mut y = Array::full_on(gpu, 100, 0.5f64)?;
    scale.launch(100, (&mut y, 3.0))?;
    assert_eq!(y.to_vec()?, [1.5; 100]);
    Ok(())
}
