//! What programs do around their kernels: optimisers, algorithms, copies on tapes, reports, logs.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use inkle::autograd::{Tolerance, checkpoint, gradcheck, jacobian, jacobian_fd};
use inkle::optim::{Adam, Sgd};
use inkle::prelude::*;
use inkle::{
    Error, Report, Result, Struct, Vec2d, capture_paused, load_kernels, on_backward, on_backward_of,
    tape_scope, utils, with_device,
};

#[inkle::kernel]
fn scale<T: Float>(x: &Array<T>, by: T, y: &mut Array<T>) {
    let i = tid();
    y[i] = by * x[i];
}

#[test]
fn copies_on_a_tape_have_gradients() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?.with_grad()?;
    let mut middle = Array::<f32>::zeros(3)?.with_grad()?;
    let mut y = Array::<f32>::zeros(3)?.with_grad()?;
    let tape = Tape::record(|| {
        middle.copy_from(&x)?;
        scale.launch(3, (&middle, 5.0, &mut y))?;
        // What follows an overwrite of the input has its own gradient.
        middle.fill(7.0)?;
        middle.copy_range_from(0, &x, 1, 2)?;
        let mut view = y.slice_mut(..2)?;
        view.copy_from(&*middle.slice(..2)?)
    })?;
    y.grad_mut().unwrap().copy_from_slice(&[1.0, 10.0, 100.0])?;
    tape.backward()?;
    // Through the first copy only the third element; through the second the first two, from one place further on.
    assert_eq!(x.grad().unwrap().to_vec()?, [0.0, 1.0, 510.0]);
    // The launch wrote all of it, so what was before it has no part in what comes after.
    assert_eq!(y.grad().unwrap().to_vec()?, [0.0; 3]);
    tape.zero()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [0.0; 3]);
    Ok(())
}

#[test]
fn copies_of_columns_have_gradients() -> Result<()> {
    let x = Array::from_shape([2, 2], &[1.0f64, 2.0, 3.0, 4.0])?.with_grad()?;
    let mut y = Array::<f64, 2>::zeros([2, 2])?.with_grad()?;
    let tape = Tape::record(|| y.select_mut((.., 0))?.copy_from(&*x.select((.., 1))?))?;
    y.grad_mut().unwrap().copy_from_slice(&[1.0, 2.0, 3.0, 4.0])?;
    tape.backward()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [0.0, 1.0, 0.0, 3.0]);
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Struct)]
struct Ball {
    position: Vec2d,
    kind: i32,
    radius: f32,
}

#[test]
fn copies_of_structs_have_gradients() -> Result<()> {
    let ball = |x: f64, radius| Ball { position: Vec2d::new(x, 2.0 * x), kind: 3, radius };
    let from = Array::from_slice(&[ball(1.0, 0.5)])?.with_grad()?;
    let mut to = Array::<Ball>::from_slice(&[ball(0.0, 0.0)])?.with_grad()?;
    let tape = Tape::record(|| to.copy_from(&from))?;
    to.grad_mut().unwrap().copy_from_slice(&[Ball { kind: 0, ..ball(4.0, 8.0) }])?;
    tape.backward()?;
    tape.backward()?;
    assert_eq!(from.grad().unwrap().to_vec()?, [Ball { kind: 0, ..ball(4.0, 8.0) }]);
    Ok(())
}

/// Runs the kernel that is a parabola around `goal` in each component, backwards.
#[inkle::kernel]
fn parabola<T: Float>(x: &Array<T>, goal: T, loss: &mut Array<T>) {
    let d = x[tid()] - goal;
    atomic_add(loss, 0, d * d);
}

#[test]
fn sgd_steps_are_those_of_its_definition() -> Result<()> {
    let mut x = Array::from_slice(&[4.0f64])?.with_grad()?;
    let mut sgd = Sgd::new(0.1);
    (sgd.momentum, sgd.dampening, sgd.weight_decay) = (0.5, 0.25, 0.1);
    let (mut expected, mut velocity) = (4.0f64, 0.0);
    for step in 0..5 {
        x.grad_mut().unwrap().fill(2.0)?;
        sgd.step(&mut [&mut x])?;
        let gradient = 2.0 + 0.1 * expected;
        velocity = if step == 0 { gradient } else { 0.5 * velocity + 0.75 * gradient };
        expected -= 0.1 * velocity;
        assert!((x.to_vec()?[0] - expected).abs() < 1e-12);
    }
    Ok(())
}

#[test]
fn adam_finds_the_minimum_of_arrays_of_several_types() -> Result<()> {
    let mut single = Array::from_slice(&[5.0f32, -3.0])?.with_grad()?;
    let mut half = Array::from_slice(&[inkle::f16::from_f32(2.0)])?.with_grad()?;
    let mut adam = Adam::new(0.05);
    let (mut loss, mut half_loss) = (Array::<f32>::zeros(1)?.with_grad()?, Array::zeros(1)?.with_grad()?);
    for _ in 0..400 {
        let tape = Tape::record(|| {
            parabola.launch(2, (&single, 1.0, &mut loss))?;
            parabola.launch(1, (&half, inkle::f16::from_f32(-1.0), &mut half_loss))
        })?;
        half_loss.grad_mut().unwrap().fill(inkle::f16::ONE)?;
        tape.backward_from(&mut loss)?;
        adam.step(&mut [&mut single, &mut half])?;
        tape.zero()?;
    }
    assert!(single.to_vec()?.iter().all(|x| (x - 1.0).abs() < 0.02), "{:?}", single.to_vec());
    assert!((half.to_vec()?[0].to_f32() + 1.0).abs() < 0.05, "{:?}", half.to_vec());
    let error = adam.step(&mut [&mut Array::<f32>::zeros(1)?]).unwrap_err();
    assert!(
        matches!(error, Error::NoGradient { .. }) && error.to_string().contains("parameter 0"),
        "{error}"
    );
    Ok(())
}

#[test]
fn algorithms_work_on_whole_arrays() -> Result<()> {
    let x = Array::from_shape([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    assert_eq!((utils::array_sum(&x)?, utils::array_inner(&x, &x)?), (21.0, 91.0));
    let mut rows = Array::<f32, 2>::zeros([2, 1])?;
    utils::array_sum_into(&x, Some(1), &mut rows)?;
    assert_eq!(rows.to_vec()?, [6.0, 15.0]);
    let points = Array::from_slice(&[Vec2::new(1.0, 2.0), Vec2::new(3.0, 4.0)])?;
    assert_eq!(utils::array_sum(&points)?, Vec2::new(4.0, 6.0));
    let mut sums = Array::zeros(2)?;
    utils::array_scan(&points, &mut sums, false)?;
    assert_eq!(sums.to_vec()?, [Vec2::zero(), Vec2::new(1.0, 2.0)]);
    let mut whole = Array::<i32, 2>::zeros([2, 3])?;
    utils::array_cast(&x, &mut whole)?;
    assert_eq!(whole.to_vec()?, [1, 2, 3, 4, 5, 6]);
    let (mut keys, mut values) = (Array::from_slice(&[5, 1, 4, 2])?, Array::from_slice(&[50, 10, 40, 20])?);
    utils::segmented_sort_pairs(&mut keys, &mut values, &Array::from_slice(&[0, 2, 4])?, None)?;
    assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1, 5, 2, 4], vec![10, 50, 20, 40]));
    let (found, lengths) = utils::runlength_encode(&Array::from_slice(&[7u32, 7, 8])?)?;
    assert_eq!((found.to_vec()?, lengths.to_vec()?), (vec![7, 8], vec![2, 1]));
    Ok(())
}

#[test]
fn a_sort_becomes_part_of_a_graph() -> Result<()> {
    let (mut keys, mut values) = (Array::from_slice(&[3.0f32, 1.0])?, Array::from_slice(&[30, 10])?);
    let graph = Graph::capture(Device::cpu(), || utils::radix_sort_pairs(&mut keys, &mut values))?;
    assert_eq!(keys.to_vec()?, [3.0, 1.0]);
    graph.launch()?;
    assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1.0, 3.0], vec![10, 30]));
    keys.copy_from_slice(&[9.0, 8.0])?;
    graph.launch()?;
    assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![8.0, 9.0], vec![30, 10]));
    assert!(graph.to_dot(false).starts_with("digraph"));
    Ok(())
}

#[test]
fn a_capture_can_be_paused() -> Result<()> {
    let x = Array::from_slice(&[1.0f32])?;
    let (mut y, mut now) = (Array::zeros(1)?, Array::zeros(1)?);
    let graph = Graph::capture(Device::cpu(), || {
        capture_paused(Device::cpu(), || scale.launch(1, (&x, 2.0, &mut now)))?;
        scale.launch(1, (&x, 3.0, &mut y))
    })?;
    assert_eq!((now.to_vec()?, y.to_vec()?), (vec![2.0], vec![0.0]));
    assert_eq!(graph.op_count(), 1);
    assert!(capture_paused(Device::cpu(), || Ok(())).is_err());
    assert!(with_device(Device::cpu(), inkle::default_device).is_cpu());
    inkle::synchronize()
}

#[test]
fn a_tape_that_is_dropped_in_its_own_step_is_no_trouble() -> Result<()> {
    let tape = Tape::record(|| {
        on_backward(|| Tape::record(|| Ok(())).map(drop));
        Ok(())
    })?;
    tape.backward()
}

#[inkle::func]
fn ping(n: i32) -> i32 {
    pong(n + 1)
}

#[inkle::func]
fn pong(n: i32) -> i32 {
    ping(n - 1)
}

#[inkle::kernel]
fn to_and_fro(x: &mut Array<i32>) {
    let i = tid();
    x[i] = ping(i);
}

#[test]
fn a_mistake_is_reported_with_code_and_place() -> Result<()> {
    let mut x = Array::zeros(1)?;
    let report = Report::from(to_and_fro.launch(1, (&mut x,)).unwrap_err());
    assert_eq!(report.code(), "F007");
    assert!(report.to_string().contains("calls itself"), "{report}");
    let mistake = report.mistakes().next().unwrap();
    let (file, line, column) = Report::place(mistake.span).unwrap();
    let text = include_str!("host.rs").lines().nth(line - 1).unwrap();
    assert!(
        file.ends_with("host.rs") && text[column - 1..].starts_with("ping(n - 1)"),
        "{file}:{line}:{column}"
    );
    let whole = format!("{report:?}");
    assert!(
        whole.contains("error[F007]") && whole.contains("ping(n - 1)") && whole.contains("help:"),
        "{whole}"
    );
    let report = Report::from(x.set([3], 1).unwrap_err());
    assert_eq!((report.code(), report.mistakes().count()), ("inkle::out_of_range", 0));
    let report = Report::from(inkle::device("nowhere").unwrap_err());
    assert_eq!(report.code(), "inkle::argument");
    Ok(())
}

#[cfg(feature = "miette")]
#[test]
fn miette_shows_the_place_in_the_source() -> Result<()> {
    let mut x = Array::zeros(1)?;
    let report = miette::Report::from(to_and_fro.launch(1, (&mut x,)).unwrap_err());
    assert_eq!(report.code().unwrap().to_string(), "F007");
    assert!(report.help().is_some());
    let label = report.labels().unwrap().next().unwrap();
    let text = report.source_code().unwrap().read_span(label.inner(), 0, 0).unwrap();
    let text = String::from_utf8_lossy(text.data()).into_owned();
    assert_eq!(text.trim(), "ping(n - 1)");
    let report = miette::Report::from(x.set([3], 1).unwrap_err());
    assert_eq!(report.code().unwrap().to_string(), "inkle::out_of_range");
    Ok(())
}

/// What a program's log gets, as lines of names and fields.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "inkle"
    }

    fn new_span(&self, span: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                let _ = write!(self.0, " {field}={value:?}");
            }
        }
        let mut line = Fields(span.metadata().name().to_owned());
        span.record(&mut line);
        self.0.lock().unwrap().push(line.0);
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {}

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[inkle::kernel]
fn logged(x: &mut Array<f32>) {
    x[tid()] += 41.75;
}

#[test]
fn the_log_has_spans_of_compilation_and_launches() -> Result<()> {
    let log = Log::default();
    let mut x = Array::<f32>::zeros(2)?;
    tracing::subscriber::with_default(log.clone(), || logged.launch(2, (&mut x,)))?;
    let lines = log.0.lock().unwrap();
    for expected in
        ["launch kernel=\"logged\" size=2", "kernel kernel=\"logged\"", "parse kernel=\"logged\"", "load"]
    {
        assert!(lines.iter().any(|line| line == expected), "{expected} is not in {lines:?}");
    }
    Ok(())
}

#[inkle::kernel]
fn combine(x: &Array<Vec2d>, weight: &Array<f64>, y: &mut Array<f64>, z: &mut Array<Vec2d>) {
    let i = tid();
    y[i] = x[i].x * x[i].y * weight[0];
    z[i] = x[i] * x[i].x;
}

#[test]
fn jacobians_are_found_backwards_and_by_differences() -> Result<()> {
    let mut x = Array::from_slice(&[Vec2d::new(1.0, 2.0), Vec2d::new(3.0, 4.0)])?.with_grad()?;
    let weight = Array::from_slice(&[10.0f64])?.with_grad()?;
    let mut y = Array::<f64>::zeros(2)?.with_grad()?;
    let mut z = Array::<Vec2d>::zeros(2)?.with_grad()?;
    let expected = [20.0, 10.0, 0.0, 0.0, 0.0, 0.0, 40.0, 30.0];
    let found = jacobian(|x, y| combine.launch(2, (x, &weight, y, &mut z)), &x, &mut y)?;
    assert_eq!((found.rows(), found.columns(), found.values()), (2, 4, &expected[..]));
    assert_eq!((x.grad().unwrap().to_vec()?, found[(1, 2)]), (vec![Vec2d::zero(); 2], 40.0));
    let quotients = jacobian_fd(|x, y| combine.launch(2, (x, &weight, y, &mut z)), &mut x, &mut y, 1e-3)?;
    for (found, expected) in quotients.values().iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{quotients:?}");
    }
    assert_eq!(x.to_vec()?, [Vec2d::new(1.0, 2.0), Vec2d::new(3.0, 4.0)]);
    let tight = Tolerance { step: 1e-4, absolute: 1e-6, relative: 1e-6 };
    gradcheck(|x, z| combine.launch(2, (x, &weight, &mut y, z)), &mut x, &mut z, &tight)?;
    let tape = Tape::record(|| combine.launch(2, (&x, &weight, &mut y, &mut z)))?;
    let before = y.to_vec()?;
    tape.check_gradients(&tight)?;
    assert_eq!(y.to_vec()?, before);
    Ok(())
}

#[inkle::func(gradient = too_steep)]
fn slope(x: f64) -> f64 {
    3.0 * x
}

#[inkle::func]
fn too_steep(_x: f64, of: f64, of_x: &mut f64) {
    *of_x += 4.0 * of;
}

#[inkle::kernel]
fn sloped(x: &Array<f64>, y: &mut Array<f64>) {
    let i = tid();
    y[i] = slope(x[i]);
}

#[test]
fn gradients_that_are_wrong_are_found() -> Result<()> {
    let mut x = Array::from_slice(&[1.0f64, 2.0])?.with_grad()?;
    let mut y = Array::<f64>::zeros(2)?.with_grad()?;
    let wrong =
        gradcheck(|x, y| sloped.launch(2, (x, y)), &mut x, &mut y, &Tolerance::default()).unwrap_err();
    let Error::Gradients { row, column, gradient, difference, .. } = wrong else { panic!("{wrong}") };
    assert_eq!((row, column, gradient), (column, row, 4.0));
    assert!((difference - 3.0).abs() < 1e-6);
    let tape = Tape::record(|| sloped.launch(2, (&x, &mut y)))?;
    let wrong = tape.check_gradients(&Tolerance::default()).unwrap_err().to_string();
    assert!(wrong.contains("`y` by `x` of kernel `sloped`"), "{wrong}");
    let without = Array::<f64>::zeros(2)?;
    assert!(matches!(
        jacobian(|x, y| sloped.launch(2, (x, y)), &without, &mut y),
        Err(Error::NoGradient { .. })
    ));
    Ok(())
}

#[inkle::kernel]
fn swing(x: &Array<f64>, v: &Array<f64>, pull: &Array<f64>, x2: &mut Array<f64>, v2: &mut Array<f64>) {
    let i = tid();
    v2[i] = v[i] - 0.1 * pull[0] * x[i] * x[i];
    x2[i] = x[i] + 0.1 * v2[i];
}

#[inkle::kernel]
fn shrink(x: &Array<f64>, rate: &Array<f64>, next: &mut Array<f64>) {
    next[0] = x[0] * rate[0];
}

#[test]
fn gradients_of_parameters_flow_from_checkpoints_of_states_without_gradients() -> Result<()> {
    let x = Array::from_slice(&[3.0f64])?;
    let rate = Array::from_slice(&[0.5f64])?.with_grad()?;
    let mut last = None;
    let tape = Tape::record(|| {
        let rate = rate.share();
        last = Some(checkpoint(move |_, x, next| shrink.launch(1, (x, &rate, next)), &x, 9, None)?);
        Ok(())
    })?;
    tape.backward_from(&mut last.unwrap())?;
    assert_eq!(rate.grad().unwrap().to_vec()?, [3.0 * 9.0 * 0.5f64.powi(8)]);
    Ok(())
}

/// The gradients of a swing by its start and its pull, every state kept and only some.
fn swung(steps: usize, every: Option<usize>) -> Result<[Vec<f64>; 4]> {
    let x = Array::from_slice(&[1.0f64, -0.5])?.with_grad()?;
    let v = Array::from_slice(&[0.0f64, 0.25])?.with_grad()?;
    let pull = Array::from_slice(&[2.0f64])?.with_grad()?;
    let state = (x, v);
    let mut end = None;
    let tape = Tape::record(|| {
        let by = pull.share();
        end = Some(match every {
            Some(every) => {
                let step =
                    move |_, (x, v): &(Array<f64>, Array<f64>), next: &mut (Array<f64>, Array<f64>)| {
                        swing.launch(2, (x, v, &by, &mut next.0, &mut next.1))
                    };
                checkpoint(step, &state, steps, Some(every))?
            }
            None => {
                let mut current = (state.0.share(), state.1.share());
                for _ in 0..steps {
                    let made = || Array::<f64>::zeros(2)?.with_grad();
                    let mut next = (made()?, made()?);
                    swing.launch(2, (&current.0, &current.1, &by, &mut next.0, &mut next.1))?;
                    current = next;
                }
                current
            }
        });
        Ok(())
    })?;
    let mut end = end.unwrap();
    end.0.grad_mut().unwrap().copy_from_slice(&[1.0, 2.0])?;
    end.1.grad_mut().unwrap().copy_from_slice(&[0.5, -1.0])?;
    tape.backward()?;
    let found = [&state.0, &state.1, &pull].map(|array| array.grad().unwrap().to_vec());
    let [a, b, c] = found;
    let all = [a?, b?, c?, end.0.to_vec()?];
    tape.zero()?;
    assert_eq!(pull.grad().unwrap().to_vec()?, [0.0]);
    Ok(all)
}

#[test]
fn few_states_give_the_gradients_that_all_do() -> Result<()> {
    let all = swung(7, None)?;
    for every in [1, 2, 3, 7, 20] {
        let few = swung(7, Some(every))?;
        for (few, all) in few.iter().flatten().zip(all.iter().flatten()) {
            assert!((few - all).abs() < 1e-12, "every {every}: {few} and {all}");
        }
    }
    assert_eq!(swung(0, Some(1))?[0], [1.0, 2.0]);
    Ok(())
}

#[test]
fn algorithms_pass_gradients_on() -> Result<()> {
    let x = Array::from_shape([2, 3], &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0])?.with_grad()?;
    let w = Array::from_shape([2, 3], &[6.0f32, 5.0, 4.0, 3.0, 2.0, 1.0])?.with_grad()?;
    let (mut rows, mut whole) =
        (Array::<f32, 2>::zeros([2, 1])?.with_grad()?, Array::<f32>::zeros(1)?.with_grad()?);
    let tape = Tape::record(|| {
        utils::array_sum_into(&x, Some(1), &mut rows)?;
        utils::array_inner_into(&x, &w, None, &mut whole)
    })?;
    rows.grad_mut().unwrap().copy_from_slice(&[1.0, 10.0])?;
    whole.grad_mut().unwrap().fill(2.0)?;
    tape.backward()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [13.0, 11.0, 9.0, 16.0, 14.0, 12.0]);
    assert_eq!(w.grad().unwrap().to_vec()?, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    assert_eq!(whole.grad().unwrap().to_vec()?, [0.0]);

    let points = Array::from_slice(&[Vec2::new(1.0, 2.0), Vec2::new(3.0, 4.0)])?.with_grad()?;
    let others = Array::from_slice(&[Vec2::new(5.0, 6.0), Vec2::new(7.0, 8.0)])?.with_grad()?;
    let mut sums = Array::<Vec2>::zeros(2)?.with_grad()?;
    let mut product = Array::<f32>::zeros(1)?.with_grad()?;
    let mut wide = Array::<Vec2d>::zeros(2)?.with_grad()?;
    for inclusive in [false, true] {
        let tape = Tape::record(|| {
            utils::array_scan(&points, &mut sums, inclusive)?;
            utils::array_inner_into(&points, &others, None, &mut product)?;
            utils::array_cast(&points, &mut wide)
        })?;
        sums.grad_mut().unwrap().copy_from_slice(&[Vec2::new(1.0, 0.0), Vec2::new(10.0, 20.0)])?;
        product.grad_mut().unwrap().fill(100.0)?;
        wide.grad_mut().unwrap().fill(Vec2d::new(1000.0, 0.0))?;
        tape.backward()?;
        let from_sums = match inclusive {
            false => [Vec2::new(10.0, 20.0), Vec2::zero()],
            true => [Vec2::new(11.0, 20.0), Vec2::new(10.0, 20.0)],
        };
        let expected =
            [0, 1].map(|i| from_sums[i] + others.to_vec().unwrap()[i] * 100.0 + Vec2::new(1000.0, 0.0));
        assert_eq!(points.grad().unwrap().to_vec()?, expected);
        tape.zero()?;
    }
    Ok(())
}

#[test]
fn tapes_have_scopes_drawings_and_steps_of_the_program() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0])?.with_grad()?;
    let mut y = Array::<f32>::zeros(2)?.with_grad()?;
    let mut z = Array::<f32>::zeros(2)?.with_grad()?;
    let tape = Tape::record(|| {
        tape_scope("twice", || {
            for _ in 0..3 {
                scale.launch(2, (&x, 2.0, &mut y))?;
                scale.launch(2, (&y, 2.0, &mut z))?;
            }
            Ok(())
        })?;
        tape_scope("nothing", || Ok(()))?;
        on_backward_of(&[&x], || Ok(()))
    })?;
    let dot = tape.drawing().label(&y, "the \"middle\"").to_dot();
    for part in ["label=\"twice\"", "label=\"3 times\"", "the \\\"middle\\\"", "op6 [shape=box, style=dashed"]
    {
        assert!(dot.contains(part), "{part} is not in {dot}");
    }
    assert!(!dot.contains("nothing") && !dot.contains("op2 ["), "{dot}");
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    let all = tape.drawing().unfolded().without_read_only().to_dot();
    assert_eq!(all.matches("label=\"scale\"").count(), 6);
    y.fill(1.0)?;
    x.share().grad_mut().unwrap().fill(5.0)?;
    tape.zero()?;
    assert_eq!(x.grad().unwrap().to_vec()?, [0.0; 2]);
    let plain = Array::<f32>::zeros(1)?;
    assert!(matches!(on_backward_of(&[&x, &plain], || Ok(())), Err(Error::NoGradient { .. })));
    Ok(())
}

#[inkle::kernel]
fn squared(x: &Array<f32>, y: &mut Array<f32>) {
    let i = tid();
    y[i] = x[i] * x[i];
}

#[inkle::kernel]
fn square_at(order: &Array<i32>, y: &mut Array<f32>) {
    let i = tid();
    y[i] = y[order[i]] * y[order[i]];
}

#[test]
fn writes_that_spoil_gradients_are_found() -> Result<()> {
    let x = Array::from_slice(&[1.0f32, 2.0])?.with_grad()?;
    let mut y = Array::<f32>::zeros(2)?.with_grad()?;
    let mut z = Array::<f32>::zeros(2)?.with_grad()?;
    let fine = Tape::record(|| {
        squared.launch(2, (&x, &mut y))?;
        squared.launch(2, (&y, &mut z))?;
        // Linear: nobody asks what it was.
        scale.launch(2, (&z, 2.0, &mut y.share()))
    })?;
    let found = fine.overwrites()?;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].reader, "argument `x` of kernel `squared`");
    assert_eq!(found[0].writer, "argument `y` of kernel `scale`");
    let linear = Tape::record(|| {
        scale.launch(2, (&x, 2.0, &mut y))?;
        scale.launch(2, (&y, 2.0, &mut z))?;
        y.fill(0.0)
    })?;
    assert_eq!(linear.overwrites()?, []);
    let order = Array::from_slice(&[1, 0])?;
    let moved = Tape::record(|| {
        square_at.launch(2, (&order, &mut y))?;
        square_at.launch(2, (&order, &mut y))
    })?;
    let found = moved.overwrites()?;
    let doubt = found.iter().find(|found| !found.is_certain).expect("it is not known where the order leads");
    assert!(
        doubt.reader.starts_with("kernel `square_at` at ") && doubt.writer.contains("host.rs:"),
        "{doubt}"
    );
    assert_eq!(found.iter().filter(|found| !found.is_certain).count(), 1);
    Ok(())
}

#[inkle::options(checks = true, launch_bounds = (64, 2))]
mod chosen {
    use inkle::prelude::*;

    #[inkle::kernel]
    pub fn beyond(x: &mut Array<f32>) {
        x[tid() + 5] = 1.0;
    }

    pub mod inner {
        use inkle::prelude::*;

        #[inkle::kernel(optimization_level = 1)]
        pub fn beyond_too(x: &mut Array<f32>) {
            x[tid() + 5] = 1.0;
        }
    }
}

#[inkle::options(checks = true)]
mod not_chosen {
    #[inkle::options(checks = false)]
    pub mod inner {
        use inkle::prelude::*;

        #[inkle::kernel]
        pub fn unchecked(x: &mut Array<f32>) {
            let i = tid();
            if i < 0 {
                x[i + 5] = 1.0;
            }
        }
    }
}

#[test]
fn a_module_has_options_and_kernels_are_loaded_at_once() -> Result<()> {
    let kernels = [
        chosen::beyond.into(),
        chosen::inner::beyond_too.into(),
        not_chosen::inner::unchecked.into(),
        scale.of::<f32>(),
        scale.of::<f64>(),
    ];
    load_kernels(&kernels, Device::cpu())?;
    let mut x = Array::<f32>::zeros(3)?;
    assert!(chosen::beyond.launch(1, (&mut x,)).is_err());
    assert!(chosen::inner::beyond_too.launch(1, (&mut x,)).is_err());
    not_chosen::inner::unchecked.launch(1, (&mut x,))?;
    assert!(matches!(
        load_kernels(&[squared.into(), to_and_fro.into()], Device::cpu()),
        Err(Error::Compile(_))
    ));
    Ok(())
}

#[test]
fn a_function_of_a_line_is_mapped() -> Result<()> {
    let (i, result) = (Array::from_slice(&[1.0f32, 2.0])?, Array::from_slice(&[3, 4])?);
    let mut out = Array::<Vec2>::zeros(2)?;
    inkle::map!(
        |i: f32, result: i32| -> Vec2 { Vec2::new(i * 2.0, result as f32) },
        (&i, &result),
        &mut out
    )?;
    assert_eq!(out.to_vec()?, [Vec2::new(2.0, 3.0), Vec2::new(4.0, 4.0)]);
    let short = Array::<f32>::zeros(1)?;
    let error = inkle::map!(|x: f32| -> Vec2 { Vec2::splat(x) }, (&short,), &mut out).unwrap_err();
    assert!(matches!(error, Error::Length { expected: 2, found: 1 }));
    Ok(())
}

#[test]
fn a_condition_is_one_number() -> Result<()> {
    let two = Array::from_slice(&[1, 0])?;
    let if_ = inkle::capture_if(&two, || Ok(()), || Ok(()));
    let while_ = inkle::capture_while(&two, || Ok(()));
    let captured = Graph::capture(Device::cpu(), || inkle::capture_while(&two, || Ok(())));
    for outcome in [if_, while_, captured.map(drop)] {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains("a single element") && text.contains("[2]"), "{text}");
    }
    Ok(())
}
