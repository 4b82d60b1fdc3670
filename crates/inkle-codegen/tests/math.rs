//! Accuracy of math functions on the CPU, their special values, and that the lane width changes no bit.

mod common;

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, PI, SQRT_2, TAU};

use common::{Arg, Code, Numbers, as_f32s, exact, module, runnable_targets};
use inkle_codegen::{CpuTarget, Emit, Options, Target, emit_text};

fn unary_kernel(op: &str) -> String {
    format!(
        "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>) {{
          %i = tid 0 : i32
          %xe = elem %x, %i : ref<f32>
          %v = load %xe : f32
          %r = {op} %v : f32
          %ye = elem %y, %i : ref<f32>
          store %ye, %r
          return
        }}"
    )
}

fn run_unary(op: &str, xs: &[f32], target: &CpuTarget, options: &Options) -> Vec<f32> {
    let code = Code::new(&module(&unary_kernel(op)), target, options);
    let n = xs.len() as i32;
    let out = code.run(&[Arg::f32(xs.iter().copied()), Arg::f32(vec![0.0; xs.len()])], &[n], &[]);
    as_f32s(out[1].data())
}

/// The error of `got` in units of the last place of the f32 nearest to `want`.
fn ulps(got: f32, want: f64) -> f64 {
    let near = want as f32;
    if near.is_nan() || got.is_nan() {
        return if near.is_nan() && got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if near.is_infinite() || got.is_infinite() {
        return if near == got { 0.0 } else { f64::INFINITY };
    }
    let unit =
        f64::from(f32::from_bits((near.abs().to_bits() & 0x7f80_0000).max(0x0080_0000))) * 2f64.powi(-23);
    (f64::from(got) - want).abs() / unit
}

/// Floats spread over exponents and signs, more of them near one, and all that is special.
fn inputs() -> Vec<f32> {
    let mut numbers = Numbers(1);
    let mut xs = vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        1e-45,
        -1e-45,
        88.72283,
        88.7229,
        -103.97,
        -104.1,
        -87.33,
        0.6249999,
        0.625,
        127.999,
        128.0,
        -149.0,
        -150.0,
        1048575.9,
        1048576.0,
        PI,
        FRAC_PI_2,
        TAU,
        71476.0,
        16777216.0,
        FRAC_1_SQRT_2,
        SQRT_2,
    ];
    for x in [FRAC_1_SQRT_2, SQRT_2] {
        xs.extend([x.next_down(), x.next_up()]);
    }
    for _ in 0..40_000 {
        xs.push(f32::from_bits(numbers.next() as u32));
        xs.push(numbers.unit() * 4.0);
        xs.push(numbers.unit() * 100.0);
        xs.push(1.0 + numbers.unit() * 1e-3);
        xs.push(numbers.unit() * 1e5);
    }
    xs
}

type Reference = fn(f64) -> f64;

const INLINE: [(&str, Reference, f64); 16] = [
    ("exp", f64::exp, 2.0),
    ("exp2", f64::exp2, 2.0),
    ("log", f64::ln, 2.0),
    ("log2", f64::log2, 3.0),
    ("log10", f64::log10, 3.0),
    ("sin", f64::sin, 2.0),
    ("cos", f64::cos, 2.0),
    ("tan", f64::tan, 4.0),
    ("tanh", f64::tanh, 3.0),
    ("asin", f64::asin, 3.0),
    ("acos", f64::acos, 3.0),
    ("atan", f64::atan, 3.0),
    ("sinh", f64::sinh, 3.0),
    ("cosh", f64::cosh, 3.0),
    ("cbrt", f64::cbrt, 2.0),
    ("erf", libm::erf, 3.0),
];

#[test]
fn errors_are_small() {
    let xs = inputs();
    for target in runnable_targets() {
        for (op, reference, limit) in INLINE {
            let got = run_unary(op, &xs, &target, &exact(2, 1));
            let (mut worst, mut at) = (0.0, 0.0);
            for (&x, &g) in xs.iter().zip(&got) {
                let error = ulps(g, reference(f64::from(x)));
                if error > worst {
                    (worst, at) = (error, x);
                }
            }
            println!("{op} on {}: {worst:.2} ULP at {at:e}", target.cpu);
            assert!(worst <= limit, "{op} on {}: {worst} ULP at {at:e}", target.cpu);
        }
    }
}

#[test]
fn precise_functions_are_rounded_once() {
    let xs = inputs();
    for target in runnable_targets() {
        for (op, reference, _) in INLINE {
            for lanes in [1, 16] {
                let options = Options { precise_math: true, ..exact(2, lanes) };
                let got = run_unary(op, &xs, &target, &options);
                for (&x, &g) in xs.iter().zip(&got) {
                    let error = ulps(g, reference(f64::from(x)));
                    assert!(error <= 0.500_001, "{op}({x:e}) on {}: {error} ULP", target.cpu);
                }
            }
        }
    }
}

#[test]
fn signed_zeros_are_kept() {
    for op in ["sin", "tan", "tanh", "asin", "atan", "sinh", "cbrt", "erf"] {
        let got = run_unary(op, &[0.0, -0.0], &CpuTarget::host(), &exact(2, 1));
        assert_eq!(got.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), [0, 0x8000_0000], "{op}");
    }
}

/// What people expect to the last bit.
#[test]
fn turns_and_powers_of_zero_are_whole() {
    for target in runnable_targets() {
        for lanes in [1, 16] {
            for op in ["cos", "exp", "exp2", "cosh"] {
                let got = run_unary(op, &[0.0, -0.0], &target, &exact(2, lanes));
                assert_eq!(got, [1.0, 1.0], "{op} on {}", target.cpu);
            }
            let got = run_unary("sin", &[FRAC_PI_2, -FRAC_PI_2], &target, &exact(2, lanes));
            assert_eq!(got, [1.0, -1.0], "{}", target.cpu);
        }
    }
}

#[test]
fn lane_width_changes_no_bit() {
    let xs: Vec<f32> = inputs().into_iter().take(2003).collect();
    let ops = INLINE.iter().map(|(op, ..)| *op).chain(["erfc", "erfinv"]);
    for op in ops {
        for target in runnable_targets() {
            let want = run_unary(op, &xs, &target, &exact(0, 1));
            for lanes in [1, 4, 8, 16, 32] {
                for fuse_fp in [false, true] {
                    let options = Options { fuse_fp, ..exact(2, lanes) };
                    let got = run_unary(op, &xs, &target, &options);
                    let differs = xs
                        .iter()
                        .zip(want.iter().zip(&got))
                        .find(|(_, (w, g))| w.to_bits() != g.to_bits() && !(w.is_nan() && g.is_nan()));
                    assert!(differs.is_none(), "{op} on {} with {lanes} lanes: {differs:?}", target.cpu);
                }
            }
        }
    }
}

/// Runs a function of two arguments on special values, on `more` and at several lane widths; each result must be
/// within `limit` ULP and have the sign that the reference's zero has.
fn check_binary(
    op: &str,
    reference: fn(f64, f64) -> f64,
    limit: f64,
    more: impl Fn(&mut Numbers) -> [(f32, f32); 4],
) {
    let text = format!(
        "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>, %z: array<f32, 1>) {{
          %i = tid 0 : i32
          %xe = elem %x, %i : ref<f32>
          %a = load %xe : f32
          %ye = elem %y, %i : ref<f32>
          %b = load %ye : f32
          %r = {op} %a, %b : f32
          %ze = elem %z, %i : ref<f32>
          store %ze, %r
          return
        }}"
    );
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1e30,
        -1e30,
        16777217.0,
        16777215.0,
        -16777215.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-45,
        1e-30,
    ];
    let mut pairs: Vec<(f32, f32)> = special.iter().flat_map(|&x| special.map(|y| (x, y))).collect();
    let mut numbers = Numbers(2);
    for _ in 0..50_000 {
        pairs.extend(more(&mut numbers));
    }
    let (xs, ys): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
    let n = pairs.len() as i32;
    let args = [Arg::f32(xs), Arg::f32(ys), Arg::f32(vec![0.0; pairs.len()])];
    for target in runnable_targets() {
        let mut first: Option<Vec<f32>> = None;
        for lanes in [1, 8, 16] {
            let code = Code::new(&module(&text), &target, &exact(2, lanes));
            let got = as_f32s(code.run(&args, &[n], &[])[2].data());
            for (&(x, y), &g) in pairs.iter().zip(&got) {
                let want = reference(f64::from(x), f64::from(y));
                let on = &target.cpu;
                assert!(ulps(g, want) <= limit, "{op}({x:e}, {y:e}) is {g:e}, not {want:e}, on {on}");
                if want == 0.0 {
                    assert_eq!(g.is_sign_negative(), want.is_sign_negative(), "{op}({x:e}, {y:e})");
                }
            }
            let bits =
                |v: &[f32]| v.iter().map(|v| if v.is_nan() { 0 } else { v.to_bits() }).collect::<Vec<_>>();
            let first = first.get_or_insert_with(|| got.clone());
            assert_eq!(bits(first), bits(&got));
        }
    }
}

#[test]
fn powers() {
    check_binary("pow", f64::powf, 1.0, |numbers| {
        [
            (numbers.unit().abs() * 10.0, numbers.unit() * 30.0),
            (1.0 + numbers.unit() * 0.01, numbers.unit() * 5000.0),
            (f32::from_bits(numbers.next() as u32), numbers.unit() * 3.0),
            (numbers.unit() * 10.0, (numbers.unit() * 20.0).round()),
        ]
    });
}

#[test]
fn angles_of_points() {
    check_binary("atan2", f64::atan2, 3.0, |numbers| {
        [
            (numbers.unit(), numbers.unit()),
            (numbers.unit() * 1e-3, numbers.unit()),
            (numbers.unit(), numbers.unit() * 1e-3),
            (f32::from_bits(numbers.next() as u32), f32::from_bits(numbers.next() as u32)),
        ]
    });
}

/// A cube of a square root's reciprocal, as forces between bodies have it, under fast math: it is computed at once, unless its
/// root serves for something else too.
#[test]
fn cubes_of_reciprocals_of_square_roots_are_accurate() {
    let kernel = |root: &str, cube: &str, result: &str| {
        format!(
            "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>) {{
              %i = tid 0 : i32
              %xe = elem %x, %i : ref<f32>
              %v = load %xe : f32
              {root}
              %s = mul %r, %r : f32
              %c = {cube} : f32
              {result}
              %ye = elem %y, %i : ref<f32>
              store %ye, %c
              return
            }}"
        )
    };
    let quotient = "%one = const 1.0 : f32\n%q = sqrt %v : f32\n%r = div %one, %q : f32";
    let root_is_used = "%ye0 = elem %y, %i : ref<f32>\nstore %ye0, %r";
    let kernels = [
        kernel(quotient, "mul %s, %r", ""),
        kernel(quotient, "mul %r, %s", ""),
        kernel("%r = rsqrt %v : f32", "mul %s, %r", ""),
        kernel(quotient, "mul %s, %r", root_is_used),
    ];
    let mut numbers = Numbers(3);
    let mut inputs: Vec<f32> = (0..20_000).map(|_| (numbers.unit() * 50.0).exp2()).collect();
    inputs.extend([1.0, 4.0, 0.25, 1e-20, 1e20]);
    for target in runnable_targets() {
        for lanes in [1, 8, 16, 32] {
            let options = Options { fast_math: true, fuse_fp: true, ..exact(2, lanes) };
            for text in &kernels {
                let code = Code::new(&module(text), &target, &options);
                let args = [Arg::f32(inputs.iter().copied()), Arg::f32(vec![0.0; inputs.len()])];
                let out = code.run(&args, &[inputs.len() as i32], &[]);
                let worst = inputs.iter().zip(as_f32s(out[1].data())).map(|(&x, got)| {
                    let want = f64::from(x).powf(-1.5);
                    (got as f64 - want).abs() / want
                });
                let worst = worst.fold(0.0, f64::max);
                assert!(worst < 1e-6, "{worst:e}, {} lanes {lanes}\n{text}", target.cpu);
            }
        }
    }
    let target = CpuTarget { cpu: "x86-64-v4".into(), ..CpuTarget::baseline_x86_64() };
    let products = |text: &str, fast_math: bool| {
        let options = Options { fast_math, fuse_fp: true, ..exact(2, 16) };
        let text = emit_text(&module(text), &Target::Cpu(target.clone()), &options, Emit::LlvmOptimized);
        text.expect("it compiles").matches("fmul fast").count()
    };
    let (at_once, root_too) = (products(&kernels[0], true), products(&kernels[3], true));
    assert!(at_once > root_too, "{at_once} products, {root_too} where the root is needed");
    assert_eq!(products(&kernels[0], false), 0);
}
