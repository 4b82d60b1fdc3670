//! GPU code whose threads have lanes, run on the CPU: its LLVM IR with the GPU's registers made arguments must give
//! the bits of the reference, which is one lane without optimisation.

mod common;

use common::{Arg, Code, Numbers, as_f32s, exact, f32s, gpu, module};
use inkle_codegen::{CpuTarget, Lanes, Options, compile};
use inkle_ir::Module;

/// Threads of a block, and blocks of a grid that does not cover the launch.
const BLOCK: u32 = 4;
const GRID: u32 = 3;

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("kernels/", $name, ".ink"))
    };
}

fn lanes(module: &Module, options: &Options) -> u32 {
    compile(module, &gpu::target(), options).unwrap_or_else(|e| panic!("{e}")).lanes
}

/// The GPU's code as a CPU kernel that runs the blocks and their threads in order.
fn on_cpu(module: &Module, options: &Options) -> Code {
    let mut text = gpu::kernel_text(module, options, "");
    let limit = if options.grid_stride { (BLOCK * GRID).to_string() } else { "%end".to_owned() };
    text.push_str(&format!(
        "
define void @run_threads(ptr %params, i64 %begin, i64 %end) {{
entry:
  br label %thread
thread:
  %t = phi i64 [ 0, %entry ], [ %next, %thread ]
  %short = trunc i64 %t to i32
  %tid = urem i32 %short, {BLOCK}
  %ctaid = udiv i32 %short, {BLOCK}
  call void @inkle_kernel(ptr %params, i32 %tid, i32 %ctaid, i32 {BLOCK}, i32 {GRID})
  %next = add i64 %t, 1
  %more = icmp ult i64 %next, {limit}
  br i1 %more, label %thread, label %done
done:
  ret void
}}
"
    ));
    gpu::load(module, text, "run_threads")
}

/// Runs launches of all sizes in all GPU forms; `wide` is the number of lanes that the kernel should get.
fn same(text: &str, wide: u32, shapes: &[&[i32]], make: impl Fn(i32, &mut Numbers) -> Vec<Arg>) {
    let module = module(text);
    let base = Options { contiguous: u64::MAX, aligned: true, ..exact(2, 1) };
    let auto = Options { lanes: Lanes::Auto, ..base.clone() };
    assert_eq!(lanes(&module, &auto), wide);
    let reference = Code::new(&module, &CpuTarget::host(), &exact(0, 1));
    for grid_stride in [false, true] {
        for lanes in [Lanes::Auto, Lanes::Fixed(1), Lanes::Fixed(2), Lanes::Fixed(4), Lanes::Fixed(8)] {
            let options = Options { lanes, grid_stride, ..base.clone() };
            let code = on_cpu(&module, &options);
            for dims in shapes {
                let args = make(dims[0], &mut Numbers(dims[0] as u64));
                let want = reference.run(&args, dims, &[]);
                let got = code.run(&args, dims, &[]);
                for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                    let (got, want) = (got.data(), want.data());
                    assert!(got == want, "argument {i}, {lanes:?}, {dims:?}:\n got {got:?}\nwant {want:?}");
                }
            }
        }
    }
}

const SIZES: [&[i32]; 9] = [&[1], &[2], &[4], &[7], &[8], &[9], &[16], &[37], &[130]];

fn floats(n: i32, per: i32, numbers: &mut Numbers) -> Arg {
    Arg::array(f32s((0..n * per).map(|_| numbers.unit())), 4 * i64::from(per), &[n])
}

#[test]
fn saxpy() {
    let make = |n, r: &mut Numbers| vec![floats(n, 1, r), floats(n, 1, r), Arg::Bytes(f32s([1.5]))];
    same(kernel!("saxpy"), 4, &SIZES, make);
}

#[test]
fn dimensions_that_only_repeat_threads() {
    let text = "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %xv = load %xe : f32
  %ye = elem %y, %i : ref<f32>
  store %ye, %xv
  return
}";
    let make = |n, r: &mut Numbers| vec![floats(n, 1, r), floats(n, 1, r)];
    same(text, 4, &[&[5, 3], &[4, 2], &[16, 1, 3], &[1, 9], &[9, 1, 1, 1]], make);
}

#[test]
fn elements_of_all_sizes() {
    same(kernel!("wide_moves"), 4, &SIZES, |n, r| {
        let bools = (0..n).map(|_| (r.next() & 1) as u8).collect();
        let shorts = (0..2 * n).map(|_| r.next() as u8).collect();
        let arrays = [Arg::array(bools, 1, &[n]), Arg::array(shorts, 2, &[n])];
        let [bools, shorts] = arrays;
        vec![floats(n, 1, r), floats(n, 3, r), bools, shorts, floats(n, 9, r), Arg::Bytes(f32s([0.5]))]
    });
}

#[test]
fn integers_of_32_bits() {
    same(kernel!("integer_division"), 2, &SIZES, |n, r| {
        let mut ints = |n: i32| Arg::i32((0..n).map(|_| (r.next() as i32) >> (r.next() % 31)));
        let (a, b, c, d) = (ints(n), ints(n), ints(n), ints(n));
        vec![
            a,
            b,
            c,
            Arg::array(vec![0; 8 * n as usize], 8, &[n]),
            d,
            Arg::array(vec![0; n as usize], 1, &[n]),
        ]
    });
}

#[test]
fn lanes_need_wide_accesses() {
    let aligned = Options { contiguous: u64::MAX, aligned: true, ..Options::default() };
    let of = |text: &str, options: &Options| lanes(&module(text), options);
    let saxpy = kernel!("saxpy");
    assert_eq!(of(saxpy, &aligned), 4);
    for options in [
        Options { aligned: false, ..aligned.clone() },
        Options { contiguous: 1, ..aligned.clone() },
        Options { checks: true, ..aligned.clone() },
        Options { optimization_level: 0, ..aligned.clone() },
        Options { lanes: Lanes::Fixed(1), ..aligned.clone() },
    ] {
        assert_eq!(of(saxpy, &options), 1, "{options:?}");
    }
    // A neighbour's element lies off the 16 bytes; one a whole access away does not.
    let shifted = |by: &str| {
        saxpy
            .replace("elem %x, %i", "elem %x, %j")
            .replace("%xe =", &format!("%by = const {by} : i32\n  %j = add %i, %by : i32\n  %xe ="))
    };
    assert_eq!(of(&shifted("1"), &aligned), 1);
    assert_eq!(of(&shifted("-8"), &aligned), 4);
    assert_eq!(of(&saxpy.replace("f32", "f64"), &aligned), 2);
    assert_eq!(of(&saxpy.replace("f32", "f16"), &aligned), 8);
    assert_eq!(of(&saxpy.replace("f32", "i8"), &aligned), 8);
    assert_eq!(
        of(
            &saxpy
                .replace("store %ye", "store %xe")
                .replace("elem %x, %i", "elem %x, %z")
                .replace("%xe =", "%z = const 0 : i32\n  %xe =",),
            &aligned
        ),
        1,
        "all lanes would store to one place"
    );
    for text in [
        kernel!("atomics"),
        kernel!("collatz"),
        kernel!("divergent_if"),
        kernel!("gather_scatter"),
        kernel!("histogram"),
        kernel!("nbody"),
        kernel!("printing"),
        kernel!("rows"),
        kernel!("structs"),
    ] {
        assert_eq!(of(text, &aligned), 1, "{text}");
    }
}

#[test]
fn sines_and_cosines_are_accurate_near_and_far() {
    let text = "kernel @k(%x: array<f32, 1>, %s: array<f32, 1>, %c: array<f32, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %v = load %xe : f32
  %sv = sin %v : f32
  %cv = cos %v : f32
  %se = elem %s, %i : ref<f32>
  store %se, %sv
  %ce = elem %c, %i : ref<f32>
  store %ce, %cv
  return
}";
    let module = module(text);
    let options = Options { contiguous: u64::MAX, aligned: true, ..exact(2, 1) };
    let mut numbers = Numbers(7);
    // Small, usual, near a multiple of a quarter turn, and far angles, which share hardware threads with near ones.
    let mut angles = vec![0.0f32, -0.0, f32::NAN, f32::INFINITY, 1e-30, -1e-40, 65_535.9, -65_536.0, 3.0e38];
    for k in 0..4000 {
        let quarter = (k as f64 * std::f64::consts::FRAC_PI_2) as f32;
        angles.extend([quarter, -quarter, numbers.unit() * 10.0, numbers.unit() * 7e4, numbers.unit() * 1e9]);
    }
    let n = angles.len() as i32;
    let args =
        [Arg::f32(angles.iter().copied()), Arg::f32(vec![0.0; n as usize]), Arg::f32(vec![0.0; n as usize])];
    let mut results = Vec::new();
    for lanes in [Lanes::Auto, Lanes::Fixed(1)] {
        let got = on_cpu(&module, &Options { lanes, ..options.clone() }).run(&args, &[n], &[]);
        results.push([as_f32s(got[1].data()), as_f32s(got[2].data())]);
    }
    let bits = |r: &[Vec<f32>; 2]| r.iter().flatten().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&results[0]), bits(&results[1]), "lanes agree with single threads");
    for (i, &x) in angles.iter().enumerate() {
        let exact = [libm::sin(f64::from(x)), libm::cos(f64::from(x))];
        for (got, want) in results[0].iter().map(|r| r[i]).zip(exact) {
            let ulp = f64::from(
                (want as f32).abs().max(f32::MIN_POSITIVE).next_up()
                    - (want as f32).abs().max(f32::MIN_POSITIVE),
            );
            let close = (f64::from(got) - want).abs() <= 2.0 * ulp || (got.is_nan() && want.is_nan());
            assert!(close, "of {x:e}: {got:e}, not {want:e}");
        }
    }
    assert!(results[0][0][1].is_sign_negative(), "the sine of -0");
}
