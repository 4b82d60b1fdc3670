//! The same kernel compiled in every way must give the same bits.
//!
//! The reference is one lane without optimisation on the host. Kernels are written so that their results do not
//! depend on the order of threads.

mod common;

use common::ways::{WAYS, ints, launches, same, same_everywhere, units};
use common::{Arg, Code, Numbers, as_f32s, exact, f32s, i32s, module, runnable_targets};
use inkle_codegen::{CpuTarget, Lanes, Options};

fn permutation(n: i32, numbers: &mut Numbers) -> Vec<i32> {
    let mut all: Vec<i32> = (0..n).collect();
    for i in (1..all.len()).rev() {
        all.swap(i, numbers.below(i as u64 + 1) as usize);
    }
    all
}

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("kernels/", $name, ".ink"))
    };
}

#[test]
fn saxpy() {
    let launches =
        launches(|n, r| vec![Arg::f32(units(n, r)), Arg::f32(units(n, r)), Arg::Bytes(f32s([1.5]))]);
    let out = same_everywhere(kernel!("saxpy"), &launches, 3);
    let (args, _) = &launches[2];
    let (x, y) = (as_f32s(args[0].data()), as_f32s(args[1].data()));
    let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 1.5 * x + y).collect();
    assert_eq!(as_f32s(out[2][1].data()), want);
}

#[test]
fn strides_that_are_not_the_element_size() {
    let spread = |values: Vec<f32>, step: usize| -> Arg {
        let n = values.len();
        let mut data = vec![0u8; (n * step).max(1) * 4];
        for (i, v) in values.iter().enumerate() {
            data[i * step * 4..][..4].copy_from_slice(&v.to_ne_bytes());
        }
        Arg::Array { data, shape: vec![n as i32], strides: vec![step as i64 * 4] }
    };
    let launches =
        launches(|n, r| vec![spread(units(n, r), 3), spread(units(n, r), 1), Arg::Bytes(f32s([1.5]))]);
    same_everywhere(kernel!("saxpy"), &launches, 2);
}

#[test]
fn indices_that_count_from_the_end() {
    let vectors = |n: i32, r: &mut Numbers| {
        let data = f32s((0..3 * n).map(|_| r.unit()));
        Arg::Array { data, shape: vec![n], strides: vec![12] }
    };
    // Rows long enough that an index which was negative is not in the same vector's reach again.
    let launches: Vec<(Vec<Arg>, Vec<i32>)> = [37, 64, 130]
        .map(|n| {
            let mut r = Numbers(n as u64);
            let args = vec![
                Arg::f32(units(n, &mut r)),
                vectors(n, &mut r),
                Arg::f32(vec![0.0; n as usize]),
                vectors(n, &mut r),
            ];
            (args, vec![n])
        })
        .into();
    let out = same_everywhere(kernel!("shift"), &launches, 15);
    for ((before, _), after) in launches.iter().zip(&out) {
        let (x, y) = (as_f32s(before[0].data()), as_f32s(after[2].data()));
        let n = x.len();
        assert!((0..n).all(|i| y[(i + n - 5) % n] == x[(i + n - 2) % n]));
    }
}

#[test]
fn angles_large_and_small() {
    // One in eight is large, so that vectors have some, none or all kinds.
    let angles = |n: i32, r: &mut Numbers| -> Vec<f32> {
        let one = |r: &mut Numbers| if r.below(8) == 0 { r.unit() * 1e9 } else { r.unit() * 7.0 };
        (0..n).map(|_| one(r)).collect()
    };
    let launches = launches(|n, r| {
        vec![Arg::f32(angles(n, r)), Arg::f32(angles(n, r)), Arg::f32(vec![0.0; n as usize])]
    });
    // Without fused operations angles are reduced another way.
    let targets: Vec<CpuTarget> =
        runnable_targets().into_iter().filter(|target| target.cpu != "x86-64-v2").collect();
    let out = same(kernel!("angles"), &launches, 7, &targets, &WAYS);
    assert!(as_f32s(out[3][2].data()).iter().all(|v| v.is_finite() && *v != 0.0));
}

#[test]
fn divergent_if() {
    let launches = launches(|n, r| vec![Arg::f32(units(n, r)), Arg::f32(units(n, r)), Arg::Bytes(i32s([n]))]);
    same_everywhere(kernel!("divergent_if"), &launches, 3);
}

#[test]
fn trip_counts() {
    let launches = launches(|n, r| vec![Arg::i32(ints(n, r)), Arg::i32(ints(n, r)), Arg::Bytes(i32s([n]))]);
    same_everywhere(kernel!("trip_counts"), &launches, 3);
}

#[test]
fn early_exit() {
    let launches = launches(|n, r| vec![Arg::i32(ints(n, r)), Arg::i32(ints(n, r)), Arg::Bytes(i32s([n]))]);
    same_everywhere(kernel!("collatz"), &launches, 3);
}

#[test]
fn gather_scatter() {
    let launches = launches(|n, r| {
        let halves: Vec<u8> =
            (0..n).flat_map(|_| (0x3c00 + (r.next() as u16 & 0x3ff)).to_ne_bytes()).collect();
        vec![
            Arg::i32(permutation(n, r)),
            Arg::array(f32s(units(3 * n, r)), 12, &[n]),
            Arg::array((0..n).map(|_| (r.next() & 1) as u8).collect(), 1, &[n]),
            Arg::array(f32s(units(n.max(2) * n.max(2), r)), 4, &[n.max(2), n.max(2)]),
            Arg::array(f32s(units(3 * n, r)), 12, &[n]),
            Arg::array(vec![0; n as usize], 1, &[n]),
            Arg::array(halves, 2, &[n]),
            Arg::array(vec![0; 8 * n as usize], 8, &[n]),
        ]
    });
    same_everywhere(kernel!("gather_scatter"), &launches, 0xff);
}

#[test]
fn elements_are_read_before_they_are_overwritten() {
    let launches = launches(|n, r| {
        let mut whole = |count: i32| (0..count).map(|_| r.below(9) as f32).collect::<Vec<_>>();
        let doubles = |values: Vec<f32>| values.iter().flat_map(|&v| f64::from(v).to_ne_bytes()).collect();
        vec![
            Arg::f32(whole(n)),
            Arg::array(doubles(whole(n)), 8, &[n]),
            Arg::f32([0.0]),
            Arg::array(doubles(vec![0.0]), 8, &[1]),
            Arg::f32(whole(n)),
        ]
    });
    let out = same_everywhere(kernel!("drain"), &launches, u64::MAX);
    for ((before, _), after) in launches.iter().zip(&out) {
        let sum: f32 = as_f32s(before[0].data()).iter().sum();
        assert_eq!(as_f32s(after[2].data()), [sum]);
    }
}

/// Rows that are longer than the constants say have numbers between them that nobody asks for.
#[test]
fn rows_of_numbers() {
    let launches: Vec<(Vec<Arg>, Vec<i32>)> = [(1, 0), (16, 0), (37, 0), (130, 0), (37, 1), (130, 3)]
        .map(|(n, more)| {
            let mut r = Numbers(n as u64);
            let mut rows = |size: usize, length: i32| -> Arg {
                let length = length + more;
                let numbers = (0..n * length).map(|_| r.below(1000) as i32);
                let data = match size {
                    4 if length == 2 + more => i32s(numbers),
                    4 => f32s(numbers.map(|v| v as f32)),
                    _ => numbers.flat_map(|v| f64::from(v).to_ne_bytes()).collect(),
                };
                let strides = vec![i64::from(length) * size as i64, size as i64];
                Arg::Array { data, shape: vec![n, length], strides }
            };
            let args = vec![rows(4, 2), rows(4, 3), rows(8, 4), Arg::array(vec![0; 8 * n as usize], 8, &[n])];
            (args, vec![n])
        })
        .into();
    let out = same_everywhere(kernel!("number_rows"), &launches, u64::MAX);
    for ((before, _), after) in launches.iter().zip(&out) {
        let number = |arg: usize, size: usize, row: usize, at: usize| {
            let Arg::Array { data, strides, .. } = &before[arg] else { unreachable!("an array") };
            let bytes = &data[row * strides[0] as usize + at * size..][..size];
            match arg {
                0 => f64::from(i32::from_ne_bytes(bytes.try_into().unwrap())),
                1 => f64::from(f32::from_ne_bytes(bytes.try_into().unwrap())),
                _ => f64::from_ne_bytes(bytes.try_into().unwrap()),
            }
        };
        for (i, found) in after[3].data().chunks(8).enumerate() {
            let mut expected = (number(0, 4, i, 0) - number(0, 4, i, 1)) * number(1, 4, i, 1);
            if i % 3 != 0 {
                expected += number(2, 8, i, 0) - number(2, 8, i, 3) + number(1, 4, i, 2);
            }
            assert_eq!(f64::from_ne_bytes(found.try_into().unwrap()), expected, "row {i}");
        }
    }
}

#[test]
fn atomics() {
    let launches = launches(|n, r| {
        vec![
            Arg::i32(ints(n, r)),
            Arg::i32([0, 0, i32::MAX, i32::MIN, -1, 0]),
            Arg::f32([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN, 100.0]),
            Arg::array(vec![0; 64], 8, &[8]),
            Arg::array(vec![0; 2], 2, &[1]),
            Arg::array(vec![0; 8], 1, &[8]),
        ]
    });
    same_everywhere(kernel!("atomics"), &launches, 0x3f);
}

/// With the lanes that are chosen for it; `Code::run` compares the form that runs alone with the other.
#[test]
fn updates_of_several_vectors() {
    let text = "kernel @k(%x: array<i32, 1>, %bins: array<i32, 1>) {
      %i = tid 0 : i32
      %e = elem %x, %i : ref<i32>
      %v = load %e : i32
      %mask = const 7 : i32
      %b = and %v, %mask : i32
      %be = elem %bins, %b : ref<i32>
      %o = atomic_add %be, %v : i32
      return
    }";
    let launches = launches(|n, r| vec![Arg::i32(ints(n, r)), Arg::i32([0; 8])]);
    let reference = Code::new(&module(text), &CpuTarget::host(), &exact(0, 1));
    let chosen = Options { lanes: Lanes::Auto, contiguous: u64::MAX, ..exact(2, 1) };
    for target in runnable_targets() {
        let code = Code::new(&module(text), &target, &chosen);
        for (args, dims) in &launches {
            let (got, want) = (code.run(args, dims, &[5]), reference.run(args, dims, &[]));
            assert!(got[1].data() == want[1].data(), "{} of {dims:?}", target.cpu);
        }
    }
}

#[test]
fn old_values() {
    let launches = launches(|n, r| vec![Arg::i32(ints(n, r)), Arg::i32(ints(n, r)), Arg::f32(units(n, r))]);
    same_everywhere(kernel!("old_values"), &launches, 7);
}

#[test]
fn structs() {
    let launches = launches(|n, r| {
        // Outer: a, Inner (flag, v), an array descriptor, a matrix.
        let mut outer = vec![0u8; 136];
        outer[..4].copy_from_slice(&1.25f32.to_ne_bytes());
        let data: &'static mut [u8] = Box::leak(f32s(units(5, r)).into_boxed_slice());
        let address = data.as_mut_ptr().expose_provenance() as u64;
        outer[32..40].copy_from_slice(&address.to_ne_bytes());
        outer[48..52].copy_from_slice(&5i32.to_ne_bytes());
        outer[64..72].copy_from_slice(&4i64.to_ne_bytes());
        outer[96..132].copy_from_slice(&f32s(units(9, r)));
        let inners: Vec<u8> = (0..n)
            .flat_map(|i| {
                let mut inner = [0u8; 24];
                inner[0] = (i & 1) as u8;
                inner[8..16].copy_from_slice(&f64::from(r.unit()).to_ne_bytes());
                inner[16..24].copy_from_slice(&f64::from(r.unit()).to_ne_bytes());
                inner
            })
            .collect();
        vec![Arg::array(inners, 24, &[n]), Arg::Bytes(outer), Arg::i32(ints(n, r)), Arg::f32(units(n, r))]
    });
    same_everywhere(kernel!("structs"), &launches, 0xd);
}

#[test]
fn integer_division() {
    let launches = launches(|n, r| {
        let mut a = ints(n, r);
        let mut b: Vec<i32> = (0..n).map(|_| (r.next() as i32) >> r.below(31)).collect();
        for (i, (x, y)) in
            [(i32::MIN, -1), (5, 0), (i32::MIN, 1), (i32::MAX, -1), (-7, 2), (7, -2)].iter().enumerate()
        {
            if i < a.len() {
                (a[i], b[i]) = (*x, *y);
            }
        }
        vec![
            Arg::i32(a),
            Arg::i32(b),
            Arg::i32(ints(n, r)),
            Arg::array(vec![0; 8 * n as usize], 8, &[n]),
            Arg::i32(ints(n, r)),
            Arg::array(vec![0; n as usize], 1, &[n]),
        ]
    });
    let out = same_everywhere(kernel!("integer_division"), &launches, 0x3f);
    let (args, _) = &launches[3];
    let (a, b) = (common::as_i32s(args[0].data()), common::as_i32s(args[1].data()));
    for ((a, b), got) in a.iter().zip(&b).zip(common::as_i32s(out[3][2].data())) {
        if let (Some(q), Some(r)) = (a.checked_div(*b), a.checked_rem(*b)) {
            let floor = if r != 0 && (r < 0) != (*b < 0) { q - 1 } else { q };
            assert_eq!(got, (q.wrapping_mul(*b).wrapping_add(r)) ^ floor, "{a} / {b}");
        }
    }
}

#[test]
fn conversions() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        65504.0,
        65519.99,
        65520.0,
        1e300,
        -1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        5.96e-8,
        2.98e-8,
        2.980232238769531e-8,
        2.980232238769532e-8,
        6.1e-5,
        6.097e-5,
        127.5,
        -128.5,
        300.0,
        1.8446744073709552e19,
        9.3e18,
        2147483648.0,
        -2147483649.0,
        1.00048828125,
        1.000488281250001,
        3.3895313892515355e38,
        3.4e38,
        1e-40,
        1e-45,
        7e-46,
    ];
    let launches = launches(|n, r| {
        let values = (0..n as usize).map(|i| match special.get(i) {
            Some(&v) => v,
            None => f64::from_bits((r.next() & 0x800f_ffff_ffff_ffff) | ((1023 - 20 + r.below(40)) << 52)),
        });
        let bytes: Vec<u8> = values.flat_map(f64::to_ne_bytes).collect();
        let room = |size: usize| Arg::array(vec![0; size * n as usize], size as i64, &[n]);
        vec![Arg::array(bytes, 8, &[n]), room(2), room(2), room(1), room(8), room(4), room(4)]
    });
    let out = same_everywhere(kernel!("conversions"), &launches, 0x7f);
    // The reference itself, against conversions written by others.
    for ((args, _), out) in launches.iter().zip(&out) {
        let values: Vec<f64> =
            args[0].data().as_chunks::<8>().0.iter().map(|&c| f64::from_ne_bytes(c)).collect();
        for (i, &v) in values.iter().enumerate() {
            let bits = |arg: usize| u16::from_ne_bytes(out[arg].data().as_chunks::<2>().0[i]);
            if v.is_nan() {
                assert!(half::f16::from_bits(bits(1)).is_nan() && half::bf16::from_bits(bits(2)).is_nan());
            } else {
                assert_eq!(bits(1), f16_bits(v), "f16 of {v:e}");
                assert_eq!(bits(2), half::bf16::from_f64(v).to_bits(), "bf16 of {v:e}");
            }
            assert_eq!(out[3].data()[i] as i8, v as f32 as i8, "i8 of {v:e}");
            assert_eq!(u64::from_ne_bytes(out[4].data().as_chunks::<8>().0[i]), v as u64, "u64 of {v:e}");
        }
    }
}

/// f64 to f16, rounded once: the two neighbours are compared exactly, in f64.
fn f16_bits(v: f64) -> u16 {
    let sign = if v.is_sign_negative() { 0x8000 } else { 0 };
    let v = v.abs();
    // The largest f16 that is not above; its neighbour stands for 65536 when it is infinity.
    let (mut low, mut high) = (0u16, 0x7c00u16);
    let value = |bits: u16| if bits == 0x7c00 { 65536.0 } else { half::f16::from_bits(bits).to_f64_const() };
    if v >= 65536.0 {
        return sign | 0x7c00;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if value(middle) <= v { low = middle } else { high = middle }
    }
    let (below, above) = (v - value(low), value(high) - v);
    let up = above < below || (above == below && low & 1 == 1);
    sign | if up { high } else { low }
}

#[test]
fn operations() {
    let special =
        [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388609.0, 1e30, f32::NAN, f32::INFINITY];
    let launches = launches(|n, r| {
        let values = (0..n as usize).map(|i| special.get(i).copied().unwrap_or_else(|| r.unit() * 100.0));
        let values: Vec<f32> = values.collect();
        let mut whole = ints(n, r);
        whole[0] = 0;
        vec![Arg::f32(values), Arg::i32(whole), Arg::f32(units(n, r)), Arg::i32(ints(n, r))]
    });
    same_everywhere(kernel!("unary"), &launches, 0xf);
}

#[test]
fn rows() {
    let make = |a: i32, b: i32, c: i32| {
        let count = (a * b * c) as usize;
        (vec![Arg::array(vec![0; 4 * count], 4, &[a, b, c]), Arg::i32([0])], vec![a, b, c])
    };
    let launches = [make(2, 3, 5), make(1, 1, 1), make(3, 2, 16), make(2, 5, 33), make(4, 7, 3)];
    let out = same_everywhere(kernel!("rows"), &launches, 3);
    for ((_, dims), out) in launches.iter().zip(&out) {
        let mut want = Vec::new();
        for i in 0..dims[0] {
            for j in 0..dims[1] {
                for k in 0..dims[2] {
                    want.push((i * 100 + j) * 100 + k + dims[1]);
                }
            }
        }
        assert_eq!(common::as_i32s(out[0].data()), want);
        assert_eq!(common::as_i32s(out[1].data()), [want.len() as i32]);
    }
}

#[test]
fn more_dimensions_than_the_kernel_asks_for() {
    // The kernel asks for one index; the launch has two. Each index comes as often as the rest is large.
    let text = "kernel @k(%c: array<i32, 1>) {
      %i = tid 0 : i32
      %one = const 1 : i32
      %e = elem %c, %i : ref<i32>
      %o = atomic_add %e, %one : i32
      return
    }";
    let launches = [(vec![Arg::i32([0; 20])], vec![20, 3]), (vec![Arg::i32([0; 5])], vec![5, 2, 2])];
    let out = same_everywhere(text, &launches, 1);
    assert_eq!(common::as_i32s(out[0][0].data()), [3; 20]);
    assert_eq!(common::as_i32s(out[1][0].data()), [4; 5]);
}

#[test]
fn indexed_arrays() {
    let make = |n: i32, m: i32, rows: Option<Vec<i32>>, cols: Option<Vec<i32>>| {
        let mut numbers = Numbers(7);
        let (a, b) =
            (rows.as_ref().map_or(n, |r| r.len() as i32), cols.as_ref().map_or(m, |c| c.len() as i32));
        let array = Arg::Indexed {
            data: f32s(units(n * m, &mut numbers)),
            strides: vec![4 * i64::from(m), 4],
            lists: vec![rows, cols],
            shape: vec![a, b],
        };
        (vec![array, Arg::array(vec![0; 4 * (a * b) as usize], 4, &[a, b])], vec![a, b])
    };
    let launches = [
        make(5, 40, Some(vec![4, 0, 2]), None),
        make(3, 50, None, Some((0..37).map(|i| (i * 7) % 50).collect())),
        make(4, 20, None, None),
    ];
    same_everywhere(kernel!("indexed"), &launches, 2);
}

#[test]
fn nbody() {
    let launches = launches(|n, r| {
        vec![
            Arg::array(f32s(units(3 * n, r)), 12, &[n]),
            Arg::array(f32s(units(3 * n, r)), 12, &[n]),
            Arg::Bytes(f32s([0.01])),
        ]
    });
    same_everywhere(kernel!("nbody"), &launches, 3);
}

#[test]
fn interleaved_vectors() {
    let launches = launches(|n, r| {
        vec![
            Arg::array(f32s(units(2 * n, r)), 8, &[n]),
            Arg::array(f32s(units(3 * n, r)), 12, &[n]),
            Arg::array(f32s(units(4 * n, r)), 16, &[n]),
            Arg::Bytes(f32s([3.5])),
        ]
    });
    same_everywhere(kernel!("interleaved"), &launches, 7);
    let out = same_everywhere(kernel!("interleaved_some"), &launches, 7);
    // Only lanes of the mask wrote.
    let ((before, _), after) = (&launches[3], &out[3]);
    let (a, b, written) = (as_f32s(before[0].data()), as_f32s(before[1].data()), as_f32s(after[1].data()));
    for (lane, a) in a.chunks(2).enumerate() {
        let range = 3 * lane..3 * lane + 3;
        assert_eq!(b[range.clone()] == written[range], a[0] >= 0.5, "lane {lane}");
    }
}

#[test]
fn uniform_flow() {
    for mode in [1, 2] {
        let launches = launches(|n, r| {
            vec![
                Arg::f32(units(n, r)),
                Arg::Bytes(i32s([mode])),
                Arg::Bytes(i32s([n.min(6)])),
                Arg::f32(units(n, r)),
            ]
        });
        same_everywhere(kernel!("uniform_flow"), &launches, 9);
    }
}

#[test]
fn halves() {
    let launches = launches(|n, r| {
        let halves = |base: u16, r: &mut Numbers| -> Vec<u8> {
            (0..n).flat_map(|_| (base ^ (r.next() as u16 & 0x8fff)).to_ne_bytes()).collect()
        };
        vec![Arg::array(halves(0x3000, r), 2, &[n]), Arg::array(halves(0x3000, r), 2, &[n])]
    });
    same_everywhere(kernel!("halves"), &launches, 3);
}

/// A module whose function is too large to be expanded at its calls.
fn module_with_large_function() -> String {
    let mut text = String::from(
        "func @large(%a: f32, %k: i32, %y: array<f32, 1>) -> (f32, i32) {
          %t = tid 0 : i32
          %d = launch_dim 0 : i32
          %zero = const 0 : i32
          %one = const 1 : i32
          %c = const 0.5 : f32
          %v0 = mul %a, %c : f32\n",
    );
    for i in 0..3200 {
        text += &format!("  %v{} = add %v{i}, %c : f32\n", i + 1);
    }
    text += "  %l = for %j: i32 = %zero, %k, %one carry(%s: f32 = %v3200) -> (f32) {
            %e = elem %y, %j : ref<f32>
            %x = load %e : f32
            %s2 = add %s, %x : f32
            yield %s2
          }
          %td = sub %d, %t : i32
          return %l, %td
        }
        kernel @k(%x: array<f32, 1>, %y: array<f32, 1>, %o: array<i32, 1>, %n: i32) {
          %i = tid 0 : i32
          %xe = elem %x, %i : ref<f32>
          %v = load %xe : f32
          %three = const 3 : i32
          %k = and %i, %three : i32
          %u, %ut = call @large(%v, %n, %y) : f32, i32
          %zf = const 0.0 : f32
          %pos = gt %v, %zf : bool
          %oe = elem %o, %i : ref<i32>
          %r = if %pos -> (f32) {
            %w, %wt = call @large(%u, %k, %y) : f32, i32
            store %oe, %wt
            yield %w
          } else {
            yield %u
          }
          store %xe, %r
          return
        }";
    text
}

#[test]
fn functions_of_their_own() {
    let text = module_with_large_function();
    let launches = launches(|n, r| {
        vec![Arg::f32(units(n, r)), Arg::f32(units(8, r)), Arg::i32(ints(n, r)), Arg::Bytes(i32s([2]))]
    });
    // Compiling thousands of operations takes a while: only the widest and the narrowest.
    same(&text, &launches, 7, &[CpuTarget::host()], &[(2, 1), (2, 16)]);
    let llvm = inkle_codegen::emit_text(
        &module(&text),
        &inkle_codegen::Target::Cpu(CpuTarget::host()),
        &exact(2, 8),
        inkle_codegen::Emit::Llvm,
    )
    .expect("it compiles");
    assert!(llvm.contains("define internal") && llvm.contains("@fn.large"), "the function was expanded");
}

/// A module whose function is too large to be expanded and returns more floats than there are registers for.
fn module_with_many_results() -> String {
    let mut text = String::from("func @many(%a: f32) -> (f32, f32, f32, f64) {\n  %c = const 0.5 : f32\n");
    text += "  %v0 = mul %a, %c : f32\n";
    for i in 0..3200 {
        text += &format!("  %v{} = add %v{i}, %c : f32\n", i + 1);
    }
    text += "  %d = cast %v7 : f64
          return %v3200, %v1, %v2, %d
        }
        kernel @k(%x: array<f32, 1>) {
          %i = tid 0 : i32
          %xe = elem %x, %i : ref<f32>
          %v = load %xe : f32
          %p, %q, %r, %s = call @many(%v) : f32, f32, f32, f64
          %sum = add %p, %r : f32
          store %xe, %sum
          return
        }";
    text
}

#[test]
fn floats_are_not_returned_on_the_x87_stack() {
    let text = module_with_many_results();
    let launches = launches(|n, r| vec![Arg::f32(units(n, r))]);
    same(&text, &launches, 1, &[CpuTarget::host()], &[(2, 1), (2, 8)]);
    #[cfg(target_arch = "x86_64")]
    {
        let mut state = [0u32; 7];
        // SAFETY: stores the 28 bytes of the x87 environment into `state` and loads them back unchanged.
        unsafe { std::arch::asm!("fnstenv [{0}]", "fldenv [{0}]", in(reg) state.as_mut_ptr()) };
        assert_eq!(state[2] & 0xffff, 0xffff, "values are left on the x87 stack");
    }
}

#[test]
fn a_loop_that_swaps_gets_one_lane() {
    let text = "kernel @k(%lock: array<i32, 1>, %sum: array<i32, 1>) {
      %i = tid 0 : i32
      %zero = const 0 : i32
      %one = const 1 : i32
      %le = elem %lock, %zero : ref<i32>
      %se = elem %sum, %zero : ref<i32>
      %t = const true : bool
      %r = while carry(%held: bool = %t) -> (bool) {
        yield %held
      } do(%h: bool) {
        %old = atomic_cas %le, %zero, %one : i32
        %busy = ne %old, %zero : bool
        yield %busy
      }
      %v = load %se : i32
      %w = add %v, %i : i32
      store %se, %w
      %o = atomic_exch %le, %zero : i32
      return
    }";
    let launches = [(vec![Arg::i32([0]), Arg::i32([0])], vec![50])];
    let out = same_everywhere(text, &launches, 3);
    assert_eq!(common::as_i32s(out[0][1].data()), [1225]);
    let code = Code::new(&module(text), &CpuTarget::host(), &exact(2, 16));
    assert_eq!(code.artifact.lanes, 1);
    assert!(code.artifact.scalar_reason.is_some());
}

#[test]
fn histogram() {
    let launches = launches(|n, r| vec![Arg::i32(ints(n, r)), Arg::i32([0; 256]), Arg::f32([0.0])]);
    same_everywhere(kernel!("histogram"), &launches, 7);
}

#[test]
fn deeply_nested_blocks() {
    // Each level adds one in threads whose index is not the level's.
    let levels = 450;
    let mut text = String::from(
        "kernel @k(%y: array<i32, 1>) {
          %i = tid 0 : i32
          %e = elem %y, %i : ref<i32>
          %one = const 1 : i32\n",
    );
    for level in 0..levels {
        text += &format!(
            "%l{level} = const {level} : i32
             %c{level} = ne %i, %l{level} : bool
             if %c{level} {{
               %o{level} = atomic_add %e, %one : i32\n"
        );
    }
    for _ in 0..levels {
        text += "yield } else { yield }\n";
    }
    text += "return }";
    let launches = [(vec![Arg::i32([0; 20])], vec![20])];
    let out = same(&text, &launches, 1, &[CpuTarget::host()], &[(2, 1), (1, 8)]);
    assert_eq!(common::as_i32s(out[0][0].data()), (0..20).collect::<Vec<i32>>());
}

#[test]
fn local_arrays() {
    let launches = launches(|n, r| {
        vec![
            Arg::f32(units(n, r)),
            Arg::i32((0..n).map(|_| r.below(8) as i32).collect::<Vec<_>>()),
            Arg::f32(vec![0.0; n as usize]),
            Arg::i32([0]),
        ]
    });
    let out = same_everywhere(kernel!("local"), &launches, 15);
    for ((args, dims), out) in launches.iter().zip(&out) {
        let (x, turns) = (as_f32s(args[0].data()), common::as_i32s(args[1].data()));
        let want: Vec<f32> = x
            .iter()
            .zip(&turns)
            .map(|(&x, &t)| {
                // The column holds the row's 2x, then k times x on top of it.
                let column = [0.0, 2.0 * x + x, 2.0 * x];
                let b = column[2 - (t % 3) as usize];
                let sum = (0..t).fold(0.0, |sum, _| sum + 0.0 + x);
                let last = if t > 0 { (t - 1) as f32 * x } else { 0.0 };
                let pair = if t > 2 { -x * b } else { b };
                let flag = if t > 2 && t % 3 == 2 { 1.0 } else { 0.0 };
                let ints = (5 + 5.max(t)) as f32;
                ((((b + sum) + last) + pair) + flag) + ints
            })
            .collect();
        assert_eq!(as_f32s(out[2].data()), want);
        assert_eq!(common::as_i32s(out[3].data()), [dims[0]]);
    }
}

#[test]
fn windows() {
    let launches = launches(|n, r| {
        vec![
            Arg::array(f32s(units(n * 9, r)), 4, &[n, 9]),
            Arg::i32((0..n).map(|_| r.below(9) as i32).collect::<Vec<_>>()),
            Arg::Bytes(i32s([9])),
            Arg::array(vec![0; 8 * n as usize], 4, &[2, n]),
        ]
    });
    let out = same_everywhere(kernel!("windows"), &launches, 11);
    for ((args, dims), out) in launches.iter().zip(&out) {
        let (m, starts) = (as_f32s(args[0].data()), common::as_i32s(args[1].data()));
        let row = |i: usize| &m[9 * i..9 * i + 9];
        let threads = || (0..dims[0] as usize).map(|i| (i, starts[i] as usize));
        let sums = threads().map(|(i, s)| row(i)[s..].iter().step_by(2).fold(0.0, |a, v| a + v));
        let cells = threads().map(|(i, s)| row(i)[8 - s]);
        assert_eq!(as_f32s(out[3].data()), sums.chain(cells).collect::<Vec<f32>>());
    }
}

#[test]
fn a_kernel_that_asks_where_its_local_array_lies_finds_it_contiguous() {
    let text = "kernel @k(%out: array<vec<2, f32>, 1>) {
      %i = tid 0 : i32
      %z = const 0 : i32
      %one = const 1 : i32
      %six = const 6 : i32
      %three = const 3 : i32
      %a = local 6 : array<f32, 1>
      for %k: i32 = %z, %six, %one {
        %f = cast %k : f32
        %ae = elem %a, %k : ref<f32>
        store %ae, %f
        yield
      }
      %p = address %a : u64
      %b = array_at %p, %three, %one : array<vec<2, f32>, 2>
      %r = rem %i, %three : i32
      %e = elem %b, %r, %z : ref<vec<2, f32>>
      %v = load %e : vec<2, f32>
      %o = elem %out, %i : ref<vec<2, f32>>
      store %o, %v
      return
    }";
    let launches = [(vec![Arg::array(vec![0; 40], 8, &[5])], vec![5])];
    let out = same_everywhere(text, &launches, 1);
    assert_eq!(as_f32s(out[0][0].data()), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 1.0, 2.0, 3.0]);
}
