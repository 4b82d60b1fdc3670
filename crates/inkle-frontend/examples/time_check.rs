//! Measures how long the kernels of a Python file take from text to IR: `cargo run --release --example time_check
//! [file.py]`. Without a file it makes one of 500 lines with branches, loops, early exits and calls.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use inkle_diag::SourceFile;
use inkle_frontend::env::LibraryFunction;
use inkle_frontend::{CheckOptions, check_kernel};
use inkle_ir::{simplify, verify};
use inkle_python::{FileEnvironment, Library};

const RUNS: u32 = 20;

fn library() -> Library {
    Library {
        functions: |name| {
            let functions = inkle_prelude::lookup(name).iter();
            functions
                .map(|f| LibraryFunction { key: std::ptr::from_ref(f).addr() as u64, def: f.def().clone() })
                .collect()
        },
        names: || inkle_prelude::names().map(str::to_owned).collect(),
    }
}

/// One kernel of about `lines` lines.
fn sample(lines: usize) -> String {
    let mut text = String::from(
        "import inkle as wp\n\n@wp.func\ndef soften(x: float, k: float):\n    if x > k:\n        return k\n    return x * x / k\n\n@wp.kernel\ndef large(p: wp.array(dtype=wp.vec3), q: wp.array(dtype=wp.quat), n: int, out: wp.array(dtype=float)):\n    i = wp.tid()\n    if i >= n:\n        return\n    x = p[i]\n    r = q[i]\n    total = float(0.0)\n",
    );
    let mut k = 0;
    while text.lines().count() < lines {
        let _ = write!(
            text,
            "    a{k} = wp.dot(x, p[i + {k}]) + total\n    b{k} = soften(a{k}, {k}.5)\n    if b{k} > a{k} and x[0] < {k}.0:\n        total += b{k}\n        x = wp.quat_rotate(r, x)\n    elif b{k} < 0.0:\n        total -= wp.sqrt(wp.abs(b{k}))\n    else:\n        x[1] += b{k}\n    for j{k} in range(n):\n        if j{k} == {k}:\n            continue\n        total += float(j{k}) * a{k}\n        if total > 1000.0:\n            break\n    out[i] = total if total < b{k} else b{k}\n"
        );
        k += 1;
    }
    text
}

fn main() {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(&path).expect("the file can be read"),
        None => sample(500),
    };
    println!("{} lines", text.lines().count());
    let (mut parse, mut check, mut simplified) = (Duration::MAX, Duration::MAX, Duration::MAX);
    let (mut kernels, mut refused, mut ops, mut left) = (0, 0, 0, 0);
    for run in 0..RUNS {
        // Another name is another file, so nothing is shared between the runs.
        let start = Instant::now();
        let env = FileEnvironment::new(&SourceFile::register(&format!("run{run}.py"), &text), library());
        parse = parse.min(start.elapsed());
        (kernels, refused, ops, left) = (0, 0, 0, 0);
        let (mut check_time, mut simplify_time) = (Duration::ZERO, Duration::ZERO);
        for (_, key) in env.kernels() {
            let Ok(Some(types)) = env.kernel_types(key) else { continue };
            let start = Instant::now();
            let checked = check_kernel(&env, key, &types, CheckOptions::default());
            check_time += start.elapsed();
            kernels += 1;
            let Ok(mut module) = checked else {
                refused += 1;
                continue;
            };
            verify(&module).expect("the checker makes right IR");
            ops += module.functions.iter().map(|f| f.op_count()).sum::<usize>();
            let start = Instant::now();
            simplify(&mut module);
            simplify_time += start.elapsed();
            left += module.functions.iter().map(|f| f.op_count()).sum::<usize>();
        }
        check = check.min(check_time);
        simplified = simplified.min(simplify_time);
    }
    println!("{kernels} kernels, {refused} refused; best of {RUNS} runs:");
    println!("parse    {:8.3} ms", parse.as_secs_f64() * 1e3);
    println!("check    {:8.3} ms, {ops} operations", check.as_secs_f64() * 1e3);
    println!("simplify {:8.3} ms, {left} operations left", simplified.as_secs_f64() * 1e3);
}
