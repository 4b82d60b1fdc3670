//! Random kernels: every way of compiling one must give the same results.
//!
//! `INKLE_RANDOM_SEEDS=first..last` chooses other seeds than the usual ones.

mod common;

use common::{Arg, Code, Numbers, exact, f32s, i32s, runnable_targets};
use inkle_codegen::{CodegenError, CpuTarget, CudaOutput, CudaTarget, Options, Target, compile};
use inkle_ir::{Module, arbitrary, verify};

fn seeds(count: u64) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("INKLE_RANDOM_SEEDS") else { return 0..count };
    let (first, last) = text.split_once("..").expect("first..last");
    first.parse().expect("a number")..last.parse().expect("a number")
}

fn args(n: i32, numbers: &mut Numbers) -> Vec<Arg> {
    let mut floats = |count: i32| f32s((0..count).map(|_| numbers.unit() * 4.0).collect::<Vec<_>>());
    let (x, y, v, g) = (floats(n), floats(n), floats(3 * n), floats(4 * n));
    let mut ints =
        |count: i32| i32s((0..count).map(|_| numbers.next() as i32 >> numbers.below(31)).collect::<Vec<_>>());
    let (k, h, m) = (ints(n), ints(n), ints(1));
    vec![
        Arg::array(x, 4, &[n]),
        Arg::array(y, 4, &[n]),
        Arg::array(k, 4, &[n]),
        Arg::array(v, 12, &[n]),
        Arg::array(g, 4, &[n, 4]),
        Arg::array(h, 4, &[n]),
        Arg::Bytes(f32s([0.75])),
        Arg::Bytes(m),
    ]
}

/// Equal bits, or two NaNs in an array of floats.
fn same(index: usize, got: &[u8], want: &[u8]) -> bool {
    let is_float = [0, 1, 3, 4].contains(&index);
    got.len() == want.len()
        && got.as_chunks::<4>().0.iter().zip(want.as_chunks::<4>().0).all(|(g, w)| {
            g == w || (is_float && f32::from_ne_bytes(*g).is_nan() && f32::from_ne_bytes(*w).is_nan())
        })
}

fn random_module(seed: u64, options: arbitrary::Options) -> Module {
    let module = arbitrary::module_from_seed(seed, options);
    if let Err(errors) = verify(&module) {
        panic!("seed {seed}: {errors}\n{module}");
    }
    module
}

#[test]
fn all_ways_agree() {
    let targets = runnable_targets();
    for seed in seeds(40) {
        // Large ones too, whose last vector shares the code of the others.
        let size = 40 + (seed as usize * 37) % 700;
        let module = random_module(seed, arbitrary::Options { size, ..Default::default() });
        let n = [1, 7, 16, 45][seed as usize % 4];
        let args = args(n, &mut Numbers(seed));
        let reference = Code::new(&module, &CpuTarget::host(), &exact(0, 1));
        let want = reference.run(&args, &[n], &[]);
        let other = &targets[seed as usize % targets.len()];
        let host = CpuTarget::host();
        let ways = [(&host, 2, 1), (&host, 2, 16), (&host, 0, 8), (other, 2, 4), (other, 2, 8)];
        for (target, level, lanes) in ways {
            let options = Options { contiguous: seed & 0xff, ..exact(level, lanes) };
            let code = Code::new(&module, target, &options);
            let got = code.run(&args, &[n], &[u64::from(n as u32) / 2]);
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                assert!(
                    same(i, got.data(), want.data()),
                    "seed {seed} size {size}: argument {i} differs on {} level {level} lanes {lanes} n {n}\n got {:?}\nwant {:?}\n{module}",
                    target.cpu,
                    got.data(),
                    want.data(),
                );
            }
        }
    }
}

#[test]
fn every_target_takes_every_kernel() {
    let targets = [
        Target::Cpu(CpuTarget::baseline_aarch64()),
        Target::Cuda(CudaTarget { arch: 75, output: CudaOutput::Ptx }),
        Target::Cuda(CudaTarget { arch: 90, output: CudaOutput::Ptx }),
    ];
    for seed in seeds(30) {
        let module = random_module(seed + 1000, arbitrary::Options { size: 150, ..Default::default() });
        for target in &targets {
            for options in
                [Options::default(), Options { checks: true, lineinfo: true, ..Options::default() }]
            {
                match compile(&module, target, &options) {
                    // Functions of NVIDIA's library; the PTX tests link them where it is installed.
                    Ok(_) | Err(CodegenError::MissingLibrary { .. }) => {}
                    Err(e) => panic!("seed {} on {target}: {e}\n{module}", seed + 1000),
                }
            }
        }
    }
}
