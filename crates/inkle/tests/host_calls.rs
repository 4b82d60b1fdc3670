//! Built-ins that the host calls, by themselves and in functions, give what they give in kernels.

use inkle::builtins::*;
use inkle::prelude::*;
use inkle::{Mat33d, Quatd, Result, Vec3d, Vec3i, f16};

/// What a call gives on the host, and what it gives in a kernel of one thread.
macro_rules! both {
    ($call:expr, $out:ty $(, $name:ident: $ty:ty = $value:expr)*) => {{
        #[inkle::kernel]
        fn in_a_kernel(out: &mut Array<$out> $(, $name: $ty)*) {
            out[0] = $call;
        }
        $(let $name: $ty = $value;)*
        let on_the_host: $out = $call;
        let mut out = Array::from_slice(&[on_the_host])?;
        out.zero()?;
        in_a_kernel.launch(1, (&mut out $(, $name)*))?;
        (on_the_host, out.to_vec()?[0])
    }};
}

#[test]
fn results_are_those_of_kernels() -> Result<()> {
    let (host, kernel) = both!(sin(x), f32, x: f32 = 0.7);
    assert_eq!((host, kernel), (kernel, 0.7f32.sin()));
    let (host, kernel) = both!(quat_rotate(q, v), Vec3d,
        q: Quatd = quat_from_axis_angle(Vec3d::new(0.0, 0.6, 0.8), 0.3), v: Vec3d = Vec3d::new(1.0, 2.0, 3.0));
    assert_eq!(host, kernel);
    assert!((length(host) - 14.0f64.sqrt()).abs() < 1e-12);
    let (host, kernel) = both!(noise(rand_init(5), v), f32, v: Vec3 = Vec3::new(0.2, 1.7, -3.4));
    assert_eq!(host, kernel);
    assert!(host != 0.0);
    let (host, kernel) = both!(cross(v, Vec3i::new(4, 5, 6)), Vec3i, v: Vec3i = Vec3i::new(1, 2, 3));
    assert_eq!((host, kernel), (Vec3i::new(-3, 6, -3), Vec3i::new(-3, 6, -3)));
    let (host, kernel) = both!(isfinite(x), bool, x: f16 = f16::INFINITY);
    assert_eq!((host, kernel), (false, false));
    let (host, kernel) = both!(max(a, b), usize, a: usize = 3, b: usize = usize::MAX);
    assert_eq!((host, kernel), (usize::MAX, usize::MAX));
    let (host, kernel) = both!(transform_point(t, v), Vec3,
        t: Transformf = Transformf::new(Vec3::new(1.0, 2.0, 3.0), Quat::identity()), v: Vec3 = Vec3::new(0.5, 0.25, 8.0));
    assert_eq!((host, kernel), (Vec3::new(1.5, 2.25, 11.0), Vec3::new(1.5, 2.25, 11.0)));
    Ok(())
}

#[test]
fn several_results_are_a_tuple_and_arguments_are_changed() {
    let m = Mat33d::from_rows([[2.0, 1.0, 0.0], [0.5, 3.0, 1.0], [0.0, 1.0, 4.0]]);
    let (u, sigma, v) = svd3(m);
    let back = u
        * Mat33d::from_rows([[sigma.x, 0.0, 0.0], [0.0, sigma.y, 0.0], [0.0, 0.0, sigma.z]])
        * v.transposed();
    let (mut q, mut r) = (Mat33d::zero(), Mat33d::zero());
    qr3_q_r(m, &mut q, &mut r);
    for (found, expected) in
        back.to_rows().iter().chain((q * r).to_rows().iter()).zip(m.to_rows().iter().cycle())
    {
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9, "{found:?} for {expected:?}");
        }
    }
    assert_eq!((r[[1, 0]], r[[2, 1]].abs() < 1e-12), (0.0, true));

    let mut state = rand_init(42);
    let (first, before) = (randf(&mut state), state);
    assert_ne!((first, state), (randf(&mut state), before), "the state goes on");
}

#[inkle::func]
fn jitter<T: Float>(v: Vector<3, T>, scale: T, seed: i32) -> (Vector<3, T>, f32) {
    let mut state = rand_init(seed);
    let direction = normalize(v);
    (direction * scale, randf(&mut state) + noise(state, 0.3))
}

#[inkle::kernel]
fn jitters(out: &mut Array<Vec3>, numbers: &mut Array<f32>, v: Vec3) {
    let i = tid();
    let (direction, number) = jitter(v, 2.0, i);
    out[i] = direction;
    numbers[i] = number;
}

#[test]
fn functions_with_built_ins_work_on_the_host() -> Result<()> {
    let v = Vec3::new(1.0, -2.0, 0.5);
    let (mut out, mut numbers) = (Array::full(5, Vec3::zero())?, Array::<f32>::zeros(5)?);
    jitters.launch(5, (&mut out, &mut numbers, v))?;
    let expected: Vec<(Vec3, f32)> = (0..5).map(|i| jitter(v, 2.0, i)).collect();
    assert_eq!(numbers.to_vec()?, expected.iter().map(|(_, number)| *number).collect::<Vec<_>>());
    for (found, (expected, _)) in out.to_vec()?.iter().zip(&expected) {
        // A function is rustc's on the host, which fuses no products with sums.
        assert!(length(*found - *expected) < 1e-6, "{found} for {expected}");
    }
    let wide = jitter(Vec3d::new(1.0, -2.0, 0.5), 2.0, 3).0;
    assert!((length(wide) - 2.0).abs() < 1e-14);
    Ok(())
}

#[test]
fn arrays_of_the_cpu_are_searched() -> Result<()> {
    let sorted = Array::from_slice(&[1.0f32, 2.0, 4.0, 8.0])?;
    assert_eq!(lower_bound(&sorted, 3.0), 2);
    assert_eq!(lower_bound_arr_begin_arr_end(&sorted, 3, 4, 3.0), 3);
    let mut state = rand_init(7);
    let cdf = Array::from_slice(&[0.0f32, 0.0, 1.0])?;
    assert_eq!(sample_cdf(&mut state, &cdf), 2);
    assert_ne!(state, rand_init(7));
    Ok(())
}

#[test]
fn many_threads_call_at_once() {
    std::thread::scope(|scope| {
        let calls = (0..8).map(|i| scope.spawn(move || (0..50).map(|k| cos((i * k) as f64)).sum::<f64>()));
        for (i, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
            let expected: f64 = (0..50).map(|k| f64::cos((i * k) as f64)).sum();
            assert!((call.join().unwrap() - expected).abs() < 1e-12);
        }
    });
}
