//! Code that tells a worker's own range of what it adds to from the rest, in every way a kernel is compiled.

mod common;

use common::ways::WAYS;
use common::{Arg, Code, Numbers, exact, f32s, i32s, module, runnable_targets};
use inkle_codegen::{CpuTarget, Options};
use inkle_ir::Use;

/// Compiles in every way that has a form for running alone, and runs launches by some numbers of workers: what comes out must
/// be what one thread makes of it. Gives which of the arrays that are added to have ranges where there are several lanes.
fn same_apart(text: &str, launches: &[(Vec<Arg>, Vec<i32>)]) -> Vec<bool> {
    let module = module(text);
    let reference = Code::new(&module, &CpuTarget::host(), &exact(0, 1));
    let want: Vec<Vec<Arg>> = launches.iter().map(|(args, dims)| reference.run(args, dims, &[])).collect();
    let mut has_ranges = Vec::new();
    for target in runnable_targets() {
        for (level, lanes) in WAYS.into_iter().filter(|(level, _)| *level > 0) {
            let options = Options { contiguous: u64::MAX, ..exact(level, lanes) };
            let code = Code::new(&module, &target, &options);
            let sums = code.updates().expect("workers can run it").arrays.into_iter();
            let sums = sums.filter(|array| matches!(array.used, Use::Sums(_)));
            if lanes > 1 {
                has_ranges = sums.map(|array| array.has_range).collect();
            }
            for ((args, dims), want) in launches.iter().zip(&want) {
                for workers in [1, 2, 3] {
                    let got = code.run_apart(args, dims, workers);
                    for (i, (got, want)) in got.iter().zip(want).enumerate() {
                        let cpu = &target.cpu;
                        assert!(
                            got.data() == want.data(),
                            "argument {i} differs: {cpu} lanes {lanes} dims {dims:?} workers {workers}"
                        );
                    }
                }
            }
        }
    }
    has_ranges
}

/// Pairs of indices below `n`: rows of a grid and what is beside, negative ones that count from the end, any.
fn pairs(n: i32, kind: i32, numbers: &mut Numbers) -> Vec<i32> {
    (0..n)
        .flat_map(|e| match kind {
            0 => [e, (e + 1) % n],
            1 => [e, (e + 20) % n],
            // Here and there as many as a vector has.
            4 => [(e / 16 * 77 + e % 16) % n, (e / 16 * 85 + e % 16) % n],
            2 => [e + e / 31 - n / 30 * i32::from(e > n / 2), e - n],
            _ => [0, 0].map(|_| numbers.below(n as u64) as i32),
        })
        .map(|i| i.clamp(-n, n - 1))
        .collect()
}

/// Whole numbers, whose sums do not depend on their order.
fn wholes(count: i32, numbers: &mut Numbers) -> Vec<f32> {
    (0..count).map(|_| numbers.below(20) as f32).collect()
}

const SIZES: [i32; 5] = [1, 16, 37, 130, 1000];

#[test]
fn edges_of_grids_and_of_anything() {
    let make = |n: i32, kind: i32| {
        let mut r = Numbers((n + kind) as u64);
        // The first of a pair is not wrapped.
        let ends =
            pairs(n, kind, &mut r).chunks(2).flat_map(|ij| [ij[0].rem_euclid(n), ij[1]]).collect::<Vec<_>>();
        let args = vec![
            Arg::array(i32s(ends), 4, &[n, 2]),
            Arg::array(f32s(wholes(3 * n, &mut r)), 12, &[n]),
            Arg::array(f32s(wholes(4 * n, &mut r)), 16, &[n]),
            Arg::array(f32s(wholes(3 * n, &mut r)), 12, &[n]),
            Arg::Bytes(f32s([2.0, -3.0, 5.0])),
            Arg::Bytes(f32s([4.0])),
            Arg::array(f32s(wholes(3 * n, &mut r)), 12, &[n]),
            Arg::array(f32s(vec![-50.0; 4 * n as usize]), 16, &[n]),
        ];
        (args, vec![n])
    };
    let launches: Vec<_> = SIZES
        .iter()
        .flat_map(|&n| [0, 1, 2, 3, 4].map(|kind| (n, kind)))
        .map(|(n, kind)| make(n, kind))
        .collect();
    assert_eq!(same_apart(include_str!("kernels/edges.ink"), &launches), [true, true]);
}

/// A kernel that adds at two indices, one of which may be negative, to arrays of several types and sizes, some under a mask, and to
/// a total.
const SUMS: &str = "kernel @k(%ends: array<i32, 2>, %a: array<vec<3, f32>, 1>, %b: array<vec<3, f32>, 1>, \
    %c: array<vec<2, f64>, 1>, %d: array<i64, 1>, %grid: array<i32, 2>, %total: array<i32, 1>) {
  %e = tid 0 : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %ie = elem %ends, %e, %zero : ref<i32>
  %i = load %ie : i32
  %je = elem %ends, %e, %one : ref<i32>
  %j = load %je : i32
  %na = shape %a, 0 : i32
  %nb = shape %b, 0 : i32
  %ilow = lt %i, %zero : bool
  %iback = add %i, %na : i32
  %ia = select %ilow, %iback, %i : i32
  %jlow = lt %j, %zero : bool
  %jbacka = add %j, %na : i32
  %ja = select %jlow, %jbacka, %j : i32
  %jbackb = add %j, %nb : i32
  %jb = select %jlow, %jbackb, %j : i32
  %x = cast %e : f32
  %v = construct %x, %x, %x : vec<3, f32>
  %aie = elem %a, %ia : ref<vec<3, f32>>
  %o1 = atomic_add %aie, %v : vec<3, f32>
  %bje = elem %b, %jb : ref<vec<3, f32>>
  %o2 = atomic_sub %bje, %v : vec<3, f32>
  %aje = elem %a, %ja : ref<vec<3, f32>>
  %o3 = atomic_sub %aje, %v : vec<3, f32>
  %y = cast %e : f64
  %w = construct %y, %y : vec<2, f64>
  %cie = elem %c, %ia : ref<vec<2, f64>>
  %three = const 3 : i32
  %rem = rem %e, %three : i32
  %is = ne %rem, %zero : bool
  if %is -> () {
    %o4 = atomic_add %cie, %w : vec<2, f64>
    %u = cast %e : i64
    %die = elem %d, %ja : ref<i64>
    %o5 = atomic_add %die, %u : i64
    %bie = elem %b, %ia : ref<vec<3, f32>>
    %o6 = atomic_add %bie, %v : vec<3, f32>
    yield
  } else {
    yield
  }
  %late = cast %e : i64
  %dje = elem %d, %ja : ref<i64>
  %o10 = atomic_sub %dje, %late : i64
  %gie = elem %grid, %ia, %one : ref<i32>
  %o7 = atomic_add %gie, %e : i32
  %row = view %grid, %ja, 0 : array<i32, 1>
  %gje = elem %row, %zero : ref<i32>
  %o8 = atomic_sub %gje, %e : i32
  %te = elem %total, %zero : ref<i32>
  %o9 = atomic_add %te, %one : i32
  return
}";

fn sums(n: i32, kind: i32, more: i32) -> (Vec<Arg>, Vec<i32>) {
    let mut r = Numbers((n + kind) as u64);
    let doubles = wholes(2 * n, &mut r).iter().flat_map(|&v| f64::from(v).to_ne_bytes()).collect();
    let args = vec![
        Arg::array(i32s(pairs(n, kind, &mut r)), 4, &[n, 2]),
        Arg::array(f32s(wholes(3 * n, &mut r)), 12, &[n]),
        // Negative indices count from other ends where it is longer.
        Arg::array(f32s(wholes(3 * (n + more), &mut r)), 12, &[n + more]),
        Arg::array(doubles, 16, &[n]),
        Arg::array((0..i64::from(n)).flat_map(i64::to_ne_bytes).collect(), 8, &[n]),
        Arg::array(i32s(vec![0; 2 * n as usize]), 4, &[n, 2]),
        Arg::i32([0]),
    ];
    (args, vec![n])
}

#[test]
fn several_arrays_at_one_index() {
    let launches: Vec<_> = SIZES
        .iter()
        .flat_map(|&n| [0, 1, 2, 3, 4].map(|kind| (n, kind)))
        .flat_map(|(n, kind)| [0, 500].map(|more| sums(n, kind, more)))
        .collect();
    assert_eq!(same_apart(SUMS, &launches), [true, true, true, true, true, false]);
}

/// Indices that are read in a branch, or first used there, and updates behind it.
const BRANCHES: &str =
    "kernel @k(%ends: array<i32, 2>, %x: array<vec<3, f32>, 1>, %a: array<vec<3, f32>, 1>, \
    %b: array<vec<3, f32>, 1>) {
  %e = tid 0 : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %three = const 3 : i32
  %ie = elem %ends, %e, %zero : ref<i32>
  %i = load %ie : i32
  %rem = rem %e, %three : i32
  %is = ne %rem, %zero : bool
  %f = cast %e : f32
  %v = construct %f, %f, %f : vec<3, f32>
  %w = if %is -> (vec<3, f32>) {
    %je = elem %ends, %e, %one : ref<i32>
    %j = load %je : i32
    %xje = elem %x, %j : ref<vec<3, f32>>
    %xj = load %xje : vec<3, f32>
    %xie = elem %x, %i : ref<vec<3, f32>>
    %xi = load %xie : vec<3, f32>
    %d = add %xi, %xj : vec<3, f32>
    %aje = elem %a, %j : ref<vec<3, f32>>
    %o1 = atomic_add %aje, %d : vec<3, f32>
    yield %d
  } else {
    yield %v
  }
  %aie = elem %a, %i : ref<vec<3, f32>>
  %o2 = atomic_sub %aie, %w : vec<3, f32>
  %bie = elem %b, %i : ref<vec<3, f32>>
  %o3 = atomic_add %bie, %v : vec<3, f32>
  return
}";

#[test]
fn indices_of_branches_are_not_asked_for_behind_them() {
    let make = |n: i32, kind: i32| {
        let mut r = Numbers((n + kind) as u64);
        let ends: Vec<i32> = pairs(n, kind, &mut r).iter().map(|i| i.rem_euclid(n)).collect();
        let arrays = (0..3).map(|_| Arg::array(f32s(wholes(3 * n, &mut r)), 12, &[n]));
        let arrays: Vec<Arg> = arrays.collect();
        ([Arg::array(i32s(ends), 4, &[n, 2])].into_iter().chain(arrays).collect(), vec![n])
    };
    let launches: Vec<_> = SIZES.iter().flat_map(|&n| [0, 1, 2, 3, 4].map(|kind| make(n, kind))).collect();
    assert_eq!(same_apart(BRANCHES, &launches), [true, true]);
}
