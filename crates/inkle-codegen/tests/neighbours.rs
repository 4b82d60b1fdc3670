//! Elements at indices that count up over the lanes, for some of them or for all, in every way a kernel is compiled.

mod common;

use common::ways::{same_everywhere, units};
use common::{Arg, Code, Numbers, as_f32s, f32s, i32s, module, runnable_targets};
use inkle_codegen::Options;

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("kernels/", $name, ".ink"))
    };
}

/// Indices that count up for some lanes, for as many as a vector has, and for more; from the end where they are negative.
fn runs_of_indices(n: i32, numbers: &mut Numbers) -> Vec<i32> {
    let mut all = Vec::new();
    while all.len() < n as usize {
        let length = [1, 5, 16, 17, 40, 70][numbers.below(6) as usize].min(n);
        let first = numbers.below((n - length + 1) as u64) as i32;
        let from_end = if numbers.below(3) == 0 { n } else { 0 };
        all.extend((first..first + length).map(|i| i - from_end));
    }
    all.truncate(n as usize);
    all
}

#[test]
fn neighbours() {
    let sizes = [1, 16, 37, 130, 1000];
    let launches: Vec<(Vec<Arg>, Vec<i32>)> = sizes
        .map(|n| {
            let mut r = Numbers(n as u64);
            // Whole numbers, whose sums do not depend on their order.
            let mut floats = |count: i32| (0..count).map(|_| r.below(100) as f32).collect::<Vec<_>>();
            let doubles = floats(2 * n).iter().flat_map(|&v| f64::from(v).to_ne_bytes()).collect();
            let args = vec![
                Arg::array(f32s(floats(3 * n)), 12, &[n]),
                Arg::array(doubles, 16, &[n]),
                Arg::array(f32s(floats(4 * n)), 16, &[n]),
                Arg::array(f32s(floats(3 * n)), 12, &[n]),
                Arg::array(i32s(vec![-1; 2 * n as usize]), 8, &[n]),
                Arg::array(f32s(floats(3 * n)), 12, &[n]),
                Arg::array(f32s(floats(3 * n)), 12, &[n]),
                Arg::array(f32s(floats(3 * n)), 12, &[n]),
            ];
            let indices = Arg::i32(runs_of_indices(n, &mut r));
            ([indices].into_iter().chain(args).collect(), vec![n])
        })
        .into();
    let out = same_everywhere(kernel!("neighbours"), &launches, u64::MAX);
    let (before, after) = (&launches[4].0, &out[4]);
    let at = |i: usize| {
        let index = i32::from_ne_bytes(before[0].data()[4 * i..][..4].try_into().unwrap());
        index.rem_euclid(1000) as usize
    };
    let (v, mut sums) = (as_f32s(before[1].data()), as_f32s(before[4].data()));
    for i in 0..1000 {
        for k in 0..3 {
            sums[3 * at(i) + k] += v[3 * at(i) + k];
        }
    }
    assert_eq!(as_f32s(after[4].data()), sums);
}

/// Vectors whose indices count up have code of their own; others are grids' ends of rows, negative, or in any order.
#[test]
fn edges() {
    let sizes = [1, 16, 37, 130, 1000];
    let launches: Vec<(Vec<Arg>, Vec<i32>)> = sizes
        .iter()
        .flat_map(|&n| [0, 1, 2].map(|kind| (n, kind)))
        .map(|(n, kind)| {
            let mut r = Numbers((n + kind) as u64);
            let ends: Vec<i32> = match kind {
                0 => (0..n).flat_map(|e| [e, (e + 1) % n]).collect(),
                1 => runs_of_indices(n, &mut r)
                    .into_iter()
                    .zip(runs_of_indices(n, &mut r))
                    .flat_map(|(i, j)| [i.rem_euclid(n), j])
                    .collect(),
                _ => (0..2 * n).map(|_| r.below(n as u64) as i32).collect(),
            };
            // Whole numbers, whose sums do not depend on their order.
            let mut floats = |count: i32| f32s((0..count).map(|_| r.below(20) as f32).collect::<Vec<_>>());
            let args = vec![
                Arg::array(i32s(ends), 4, &[n, 2]),
                Arg::array(floats(3 * n), 12, &[n]),
                Arg::array(floats(4 * n), 16, &[n]),
                Arg::array(floats(3 * n), 12, &[n]),
                Arg::Bytes(f32s([2.0, -3.0, 5.0])),
                Arg::Bytes(f32s([4.0])),
                Arg::array(floats(3 * n), 12, &[n]),
                Arg::array(f32s(vec![-50.0; 4 * n as usize]), 16, &[n]),
            ];
            (args, vec![n])
        })
        .collect();
    let out = same_everywhere(kernel!("edges"), &launches, u64::MAX);
    // `away = -((x[j] - x[i]) * 4 + pull)`, of edges in any order.
    let (before, after) = (&launches[14].0, &out[14]);
    let ends: Vec<i32> =
        before[0].data().chunks_exact(4).map(|b| i32::from_ne_bytes(b.try_into().unwrap())).collect();
    let (x, away) = (as_f32s(before[1].data()), as_f32s(after[6].data()));
    for e in 0..1000 {
        for (k, pull) in [2.0, -3.0, 5.0].into_iter().enumerate() {
            let [i, j] = [ends[2 * e], ends[2 * e + 1]].map(|at| x[3 * at as usize + k]);
            assert_eq!(away[3 * e + k], -((j - i) * 4.0 + pull), "edge {e}");
        }
    }
}

/// Products are fused with sums, or not, whatever form of the code an edge is in.
#[test]
fn an_edge_gives_the_same_wherever_it_is() {
    let n = 500;
    let mut r = Numbers(7);
    let (x, q) = (f32s(units(3 * n, &mut r)), f32s(units(4 * n, &mut r)));
    let rows: Vec<[i32; 2]> = (0..n).map(|e| [e, (e + 20) % n]).collect();
    let mut places: Vec<usize> = (0..rows.len()).collect();
    for i in (1..places.len()).rev() {
        places.swap(i, r.below(i as u64 + 1) as usize);
    }
    for target in runnable_targets() {
        let options = Options { contiguous: u64::MAX, ..Options::default() };
        let code = Code::new(&module(kernel!("edges")), &target, &options);
        let away = |order: &[usize]| {
            let args = [
                Arg::array(i32s(order.iter().flat_map(|&e| rows[e])), 4, &[n, 2]),
                Arg::array(x.clone(), 12, &[n]),
                Arg::array(q.clone(), 16, &[n]),
                Arg::array(f32s(vec![0.0; 3 * n as usize]), 12, &[n]),
                Arg::Bytes(f32s([0.1, -0.7, 0.3])),
                Arg::Bytes(f32s([0.6])),
                Arg::array(f32s(vec![0.0; 3 * n as usize]), 12, &[n]),
                Arg::array(f32s(vec![0.0; 4 * n as usize]), 16, &[n]),
            ];
            as_f32s(code.run_alone(&args, &[n])[6].data())
        };
        let (counted, mixed) = (away(&(0..rows.len()).collect::<Vec<_>>()), away(&places));
        for (at, &e) in places.iter().enumerate() {
            assert_eq!(mixed[3 * at..3 * at + 3], counted[3 * e..3 * e + 3], "edge {e} on {}", target.cpu);
        }
    }
}
