//! What kernels print, and failed checks.

mod common;

use std::sync::{Arc, Mutex};

use common::{Arg, Code, exact, i32s, module};
use inkle_codegen::{CpuTarget, Options};
use inkle_runtime::symbols::set_print_sink;

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
