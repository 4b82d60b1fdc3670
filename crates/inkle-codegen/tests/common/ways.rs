//! The same kernel compiled in every way.

use super::{Arg, Code, Numbers, as_f32s, exact, module, runnable_targets};
use inkle_codegen::{CpuTarget, Options};

/// Levels of optimisation and lanes.
pub const WAYS: [(u8, u32); 7] = [(2, 1), (0, 4), (2, 4), (2, 8), (2, 16), (2, 32), (2, 64)];

/// Compiles and runs in every way, on launches with and without a tail and in several ranges.
pub fn same_everywhere(text: &str, launches: &[(Vec<Arg>, Vec<i32>)], contiguous: u64) -> Vec<Vec<Arg>> {
    same(text, launches, contiguous, &runnable_targets(), &WAYS)
}

pub fn same(
    text: &str,
    launches: &[(Vec<Arg>, Vec<i32>)],
    contiguous: u64,
    targets: &[CpuTarget],
    ways: &[(u8, u32)],
) -> Vec<Vec<Arg>> {
    let module = module(text);
    let reference = Code::new(&module, &CpuTarget::host(), &exact(0, 1));
    let want: Vec<Vec<Arg>> = launches.iter().map(|(args, dims)| reference.run(args, dims, &[])).collect();
    for target in targets {
        for &(level, lanes) in ways {
            for contiguous in [0, contiguous] {
                let options = Options { contiguous, ..exact(level, lanes) };
                let code = Code::new(&module, target, &options);
                for ((args, dims), want) in launches.iter().zip(&want) {
                    let size: u64 = dims.iter().map(|&d| d as u64).product();
                    for cuts in [vec![], vec![size / 3, size / 2 + 1]] {
                        let got = code.run(args, dims, &cuts);
                        for (i, (got, want)) in got.iter().zip(want).enumerate() {
                            assert!(
                                got.data() == want.data(),
                                "argument {i} differs: {} level {level} lanes {lanes} (used {}) dims {dims:?} cuts {cuts:?}\n got {:?}\nwant {:?}",
                                target.cpu,
                                code.artifact.lanes,
                                as_f32s(got.data()),
                                as_f32s(want.data()),
                            );
                        }
                    }
                }
            }
        }
    }
    want
}

pub const SIZES: [i32; 4] = [1, 16, 37, 130];

/// A launch of each size.
pub fn launches(make: impl Fn(i32, &mut Numbers) -> Vec<Arg>) -> Vec<(Vec<Arg>, Vec<i32>)> {
    SIZES.iter().map(|&n| (make(n, &mut Numbers(n as u64)), vec![n])).collect()
}

pub fn units(n: i32, numbers: &mut Numbers) -> Vec<f32> {
    (0..n).map(|_| numbers.unit()).collect()
}

pub fn ints(n: i32, numbers: &mut Numbers) -> Vec<i32> {
    (0..n).map(|_| numbers.next() as i32).collect()
}
