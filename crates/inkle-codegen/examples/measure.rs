//! Measures compile times and the speed of a few kernels on this CPU.
//!
//! `cargo run --profile fast -p inkle-codegen --example measure`
//!
//! Times are milliseconds of this thread's CPU time: the first compilation of the process, the first of each kernel, and the
//! median of later ones; then the best of several runs on one thread.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Arg, Code, cpu_ms, f32s, module};
use inkle_codegen::{CpuTarget, CudaOutput, CudaTarget, Lanes, Options, Target, compile};

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("../tests/kernels/", $name, ".ink"))
    };
}

const MAP: &str = "kernel @map(%x: array<f32, 1>, %y: array<f32, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %v = load %xe : f32
  %s = sin %v : f32
  %e = exp %v : f32
  %a = abs %v : f32
  %q = sqrt %a : f32
  %m = mul %s, %e : f32
  %r = add %m, %q : f32
  %ye = elem %y, %i : ref<f32>
  store %ye, %r
  return
}";

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let kernels = [
        ("saxpy", kernel!("saxpy")),
        ("nbody", kernel!("nbody")),
        ("map", MAP),
        ("collatz", kernel!("collatz")),
    ];
    let targets = [
        ("cpu", Target::Cpu(CpuTarget::host())),
        ("ptx", Target::Cuda(CudaTarget { arch: 90, output: CudaOutput::Ptx })),
    ];
    println!("compile, ms: first, then median of 20");
    for (name, text) in kernels {
        let module = module(text);
        for (target_name, target) in &targets {
            for lanes in [Lanes::Auto, Lanes::Fixed(1)] {
                let options = Options { lanes, contiguous: 0xff, ..Options::default() };
                let start = cpu_ms();
                let first = compile(&module, target, &options);
                let first_ms = cpu_ms() - start;
                let Ok(artifact) = first else { continue };
                let steady = median(
                    (0..20)
                        .map(|_| {
                            let start = cpu_ms();
                            let _ = compile(&module, target, &options);
                            cpu_ms() - start
                        })
                        .collect(),
                );
                println!(
                    "  {name:8} {target_name} lanes {:2}: {first_ms:6.2} {steady:6.2}   {} bytes",
                    artifact.lanes,
                    artifact.code.len()
                );
                if *target_name == "ptx" {
                    break;
                }
            }
        }
    }

    println!("run, ms, one thread, best of 9");
    let n = 1 << 24;
    let data: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 * 0.01 - 5.0).collect();
    let vectors = |n: usize| Arg::array(f32s((0..3 * n).map(|i| (i as f32 * 0.37).sin())), 12, &[n as i32]);
    let runs: [(&str, &str, Vec<Arg>, i32); 4] = [
        ("map", MAP, vec![Arg::f32(data.clone()), Arg::f32(vec![0.0; n])], n as i32),
        (
            "saxpy",
            kernel!("saxpy"),
            vec![Arg::f32(data.clone()), Arg::f32(data), Arg::Bytes(f32s([2.0]))],
            n as i32,
        ),
        (
            "histogram",
            kernel!("histogram"),
            vec![
                Arg::i32((0..1 << 20).map(|i: i32| i.wrapping_mul(-1640531527) >> 7)),
                Arg::i32([0; 256]),
                Arg::f32([0.0]),
            ],
            1 << 20,
        ),
        ("nbody", kernel!("nbody"), vec![vectors(4096), vectors(4096), Arg::Bytes(f32s([0.01]))], 4096),
    ];
    for (name, text, args, n) in runs {
        let module = module(text);
        for lanes in [Lanes::Fixed(1), Lanes::Fixed(4), Lanes::Fixed(8), Lanes::Auto] {
            for fast_math in [false, true] {
                let options = Options { lanes, fast_math, contiguous: 0xff, ..Options::default() };
                let code = Code::new(&module, &CpuTarget::host(), &options);
                let best = code.time(&args, &[n], 9);
                println!("  {name:8} lanes {:2} fast {fast_math}: {best:8.2}", code.artifact.lanes);
            }
        }
    }
}
