//! What kernels print, and failed checks.

mod common;

use std::sync::{Arc, Mutex};

use common::{Arg, Code, exact, f32s, i32s, module};
use inkle_codegen::{CpuTarget, Options};
use inkle_runtime::symbols::set_print_sink;
use inkle_runtime::{CpuFunction, RuntimeError, elf::LoadedObject};

/// The sink is the process's, so tests that print take turns.
static TURN: Mutex<()> = Mutex::new(());

/// What is printed while `work` runs.
fn capture(work: impl FnOnce()) -> String {
    let text = Arc::new(Mutex::new(String::new()));
    let sink = text.clone();
    set_print_sink(Some(Box::new(move |line| sink.lock().expect("nobody panics holding it").push_str(line))));
    work();
    set_print_sink(None);
    let text = text.lock().expect("nobody panics holding it");
    text.clone()
}

#[test]
fn each_active_thread_prints_its_values() {
    let _turn = TURN.lock();
    let text = include_str!("kernels/printing.ink");
    for lanes in [1, 8, 16] {
        let lines = capture(|| {
            let code = Code::new(&module(text), &CpuTarget::host(), &exact(2, lanes));
            code.run(&[Arg::i32(0..21)], &[21], &[]);
        });
        let want: String = (0..21).filter(|i| i % 2 == 1).map(|i| format!("{i} is {i}, 100%\n")).collect();
        assert_eq!(lines, want, "{lanes} lanes");
    }
}

#[test]
fn a_failed_check_ends_the_threads() {
    let _turn = TURN.lock();
    // Thread 5 reads out of bounds; later threads of the range do not run.
    let text = "kernel @k(%x: array<i32, 1>, %y: array<i32, 1>) {
      %i = tid 0 : i32
      %xe = elem %x, %i : ref<i32>
      %v = load %xe : i32
      %ye = elem %y, %i : ref<i32>
      store %ye, %v
      return
    }";
    let options = Options { checks: true, ..exact(2, 16) };
    let code = Code::new(&module(text), &CpuTarget::host(), &options);
    assert_eq!(code.artifact.lanes, 1);
    let out = code.run(&[Arg::i32(1..6), Arg::i32([0; 9])], &[9], &[]);
    assert_eq!(common::as_i32s(out[1].data()), [1, 2, 3, 4, 5, 0, 0, 0, 0]);
}

#[test]
fn a_failed_check_in_a_function_ends_the_threads() {
    let _turn = TURN.lock();
    let mut text = String::from("func @large(%a: i32, %n: i32) -> (i32) {\n  %v0 = add %a, %a : i32\n");
    for i in 0..3200 {
        text += &format!("  %v{} = add %v{i}, %a : i32\n", i + 1);
    }
    text += "  %ok = lt %a, %n : bool
      assert %ok, \"too large\"
      return %v3200
    }
    kernel @k(%y: array<i32, 1>, %n: i32) {
      %i = tid 0 : i32
      %v = call @large(%i, %n) : i32
      %w = call @large(%i, %n) : i32
      %ye = elem %y, %i : ref<i32>
      %s = add %v, %w : i32
      store %ye, %s
      return
    }";
    let options = Options { checks: true, ..exact(2, 1) };
    let code = Code::new(&module(&text), &CpuTarget::host(), &options);
    let out = code.run(&[Arg::i32([7; 6]), Arg::Bytes(i32s([3]))], &[6], &[]);
    assert_eq!(common::as_i32s(out[0].data()), [0, 2 * 3202, 4 * 3202, 7, 7, 7]);
}

/// What a launch of one kernel over `dims` reports, with the arrays given as (shape, byte strides, data).
fn report(text: &str, options: &Options, args: &[Arg], dims: &[i32]) -> Option<String> {
    let module = module(text);
    let code = Code::new(&module, &CpuTarget::host(), options);
    code.with_params(&mut args.to_vec(), dims, |params| {
        let object = Arc::new(LoadedObject::load(&code.artifact.code).expect("the object loads"));
        let function = CpuFunction::new(object, &code.artifact.entry, params.len() * 8, code.artifact.lanes)
            .expect("the entry exists");
        match function.launch(params, dims.iter().map(|&d| d as u64).product()) {
            Ok(()) => None,
            Err(RuntimeError::CheckFailed { message }) => Some(message),
            Err(other) => panic!("{other}"),
        }
    })
}

fn checked() -> Options {
    Options { checks: true, ..exact(2, 16) }
}

#[test]
fn a_report_names_index_dimension_extent_argument_and_thread() {
    let text = "func @at(%a: array<i32, 1>, %i: i32) -> (i32) {
      %e = elem %a, %i : ref<i32>
      %v = load %e : i32
      return %v
    }
    kernel @k(%0 grid: array<i32, 2>, %1 out: array<i32, 1>) {
      %i = tid 0 : i32
      %j = tid 1 : i32
      %row = view %0, %i, 0 : array<i32, 1>
      %v = call @at(%row, %j) : i32
      return
    }";
    let grid = Arg::array(i32s(0..6), 4, &[3, 2]);
    let out = Arg::i32([0]);
    let found = report(text, &checked(), &[grid.clone(), out.clone()], &[1, 3]);
    // The row is dimension 1 of the grid, and its name in the function is not what the launch knows.
    let want = "index 2 is out of bounds for dimension 1 of extent 2 of argument `grid`, in kernel `k`, thread (0, 2)";
    assert_eq!(found.as_deref(), Some(want));
    let found = report(text, &checked(), &[grid.clone(), out.clone()], &[5, 1]);
    let want = "index 3 is out of bounds for dimension 0 of extent 3 of argument `grid`, in kernel `k`, thread (3, 0)";
    assert_eq!(found.as_deref(), Some(want));
    assert_eq!(report(text, &checked(), &[grid, out], &[3, 2]), None);
}

#[test]
fn negative_indices_are_reported_as_written() {
    let text = "kernel @k(%0 x: array<i32, 1>, %1 at: i32) {
      %zero = const 0 : i32
      %n = shape %0, 0 : i32
      %below = lt %1, %zero : bool
      %wrapped = add %1, %n : i32
      %index = select %below, %wrapped, %1 : i32
      %e = elem %0, %index : ref<i32>
      store %e, %zero
      return
    }";
    for (at, ok) in [(-5, true), (-6, false), (4, true), (5, false)] {
        let found = report(text, &checked(), &[Arg::i32([1; 5]), Arg::Bytes(i32s([at]))], &[1]);
        match found {
            None => assert!(ok, "{at}"),
            Some(message) => {
                assert!(!ok && message.starts_with(&format!("index {at} is")), "{at}: {message}")
            }
        }
    }
}

#[test]
fn divisors_steps_and_components_are_checked() {
    let text = |body: &str| {
        format!(
            "kernel @k(%0 x: array<vec<3, f32>, 1>, %1 n: i32) {{\n%one = const 1 : i32\n{body}\nreturn\n}}"
        )
    };
    let args = |n: i32| [Arg::array(f32s([0.0; 3]), 12, &[1]), Arg::Bytes(i32s([n]))];
    let component = "%zero = const 0 : i32\n%f = const 2.5 : f32\n%e = elem %0, %zero : ref<vec<3, f32>>\n\
                     %c = comp %e, %1 : ref<f32>\nstore %c, %f";
    let cases = [
        ("%q = div %one, %1 : i32", 0, "integer division by zero"),
        ("%q = floordiv %one, %1 : i32", 0, "integer division by zero"),
        ("%q = rem %one, %1 : i32", 0, "integer division by zero"),
        ("%z = sub %1, %1 : i32\nfor %i: i32 = %z, %one, %1 {\nyield\n}", 0, "the step of a range is zero"),
        (component, 3, "index 3 is out of bounds for vec3f"),
    ];
    for (body, n, want) in cases {
        let found = report(&text(body), &checked(), &args(n), &[1]);
        assert_eq!(found, Some(format!("{want}, in kernel `k`, thread 0")), "{body}");
        assert_eq!(report(&text(body), &checked(), &args(2), &[1]), None, "{body}");
        let unchecked = Options { checks: false, ..checked() };
        if n == 0 {
            assert_eq!(report(&text(body), &unchecked, &args(2), &[1]), None, "{body}");
        }
    }
}

#[test]
fn written_values_that_are_not_finite_are_reported() {
    let _turn = TURN.lock();
    let text = "struct S { a: f32, b: vec<2, f32> }
    kernel @k(%0 s: array<struct S, 1>, %1 x: array<f32, 1>, %2 big: f32) {
      %i = tid 0 : i32
      %e = elem %0, %i : ref<struct S>
      %b = field %e, 1 : ref<vec<2, f32>>
      %xe = elem %1, %i : ref<f32>
      %v = load %xe : f32
      %pair = construct %v, %v : vec<2, f32>
      store %b, %pair
      %old = atomic_add %xe, %2 : f32
      return
    }";
    let args = |x: [f32; 3]| [Arg::array(f32s([0.0; 9]), 12, &[3]), Arg::f32(x), Arg::Bytes(f32s([3e38]))];
    let options = Options { verify_fp: true, ..exact(2, 16) };
    let printed = capture(|| assert_eq!(report(text, &options, &args([1.0, f32::NAN, 3e38]), &[3]), None));
    let want = "nan is written to argument `s.b`, in kernel `k`, thread 1\n\
                nan is written to argument `s.b`, in kernel `k`, thread 1\n\
                nan is written to argument `x`, in kernel `k`, thread 1\n\
                inf is written to argument `x`, in kernel `k`, thread 2\n";
    assert_eq!(printed, want);
    // With fast math the values are looked at all the same, and with checks the first one ends the threads.
    let options = Options { checks: true, fast_math: true, ..options };
    let found = report(text, &options, &args([1.0, f32::NAN, 3e38]), &[3]);
    assert_eq!(found.as_deref(), Some("nan is written to argument `s.b`, in kernel `k`, thread 1"));
    assert_eq!(report(text, &options, &args([1.0, -2.0, 0.0]), &[3]), None);
}

#[test]
fn many_warnings_are_counted() {
    let _turn = TURN.lock();
    let text = "kernel @k(%0 x: array<f32, 1>) {
      %i = tid 0 : i32
      %e = elem %0, %i : ref<f32>
      %v = load %e : f32
      store %e, %v
      return
    }";
    let options = Options { verify_fp: true, ..exact(2, 1) };
    let args = [Arg::f32([f32::INFINITY; 100])];
    let printed = capture(|| assert_eq!(report(text, &options, &args, &[100]), None));
    assert_eq!(printed.lines().count(), 17);
    assert!(printed.ends_with("84 more reports are not shown\n"), "{printed}");
}
