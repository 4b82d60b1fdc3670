//! Rust's statements and expressions mean in kernels what they mean in Rust.

use inkle::prelude::*;
use inkle::{Result, Struct};

/// Runs a kernel of one array of results.
macro_rules! results {
    ($kernel:ident, $ty:ty, $n:expr) => {{
        let mut out = Array::<$ty>::zeros($n)?;
        $kernel.launch($n, (&mut out,))?;
        out.to_vec()?
    }};
}

#[inkle::kernel]
fn shadowing(out: &mut Array<f64>) {
    let i = tid();
    let x = i;
    let x = x as f64 + 0.5;
    let y = {
        let x = x * 2.0;
        x + 1.0
    };
    let mut sum = 0.0;
    sum += x;
    out[i] = y + sum;
}

#[test]
fn let_shadows_and_blocks_are_values() -> Result<()> {
    assert_eq!(results!(shadowing, f64, 3), [2.5, 5.5, 8.5]);
    Ok(())
}

#[inkle::kernel]
fn conditions(out: &mut Array<i32>) {
    let i = tid();
    let kind = if i == 0 {
        10
    } else if i < 3 && i != 2 {
        20
    } else {
        let j = i * 2;
        j + 30
    };
    let late;
    if i % 2 == 0 {
        late = 1;
    } else {
        late = 2;
    }
    out[i] = kind + late;
}

#[test]
fn if_is_an_expression() -> Result<()> {
    assert_eq!(results!(conditions, i32, 5), [11, 22, 35, 38, 39]);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Struct)]
#[repr(u8)]
enum Mode {
    Off,
    Slow = 3,
    Fast,
}

const LIMIT: i32 = 7;

#[inkle::kernel]
fn matching(modes: &Array<Mode>, out: &mut Array<i32>) {
    let i = tid();
    let speed = match modes[i] {
        Mode::Off => 0,
        Mode::Slow => 1,
        Mode::Fast => 5,
    };
    let class = match i {
        0 => 100,
        1 | 2 => 200,
        3..=5 => 300,
        LIMIT => 400,
        n if n > 8 => n,
        _ => -1,
    };
    let pair = match (speed, i) {
        (0, _) => 1000,
        (s, 1) => 2000 + s,
        (_, n) => n,
    };
    out[i] = speed + class + pair;
}

#[test]
fn match_takes_numbers_ranges_constants_variants_and_tuples() -> Result<()> {
    let modes: Vec<Mode> = (0..10).map(|i| [Mode::Off, Mode::Slow, Mode::Fast][i % 3]).collect();
    let expected: Vec<i32> = (0..10)
        .map(|i| {
            let speed = [0, 1, 5][i as usize % 3];
            let class = match i {
                0 => 100,
                1 | 2 => 200,
                3..=5 => 300,
                LIMIT => 400,
                n if n > 8 => n,
                _ => -1,
            };
            let pair = match (speed, i) {
                (0, _) => 1000,
                (s, 1) => 2000 + s,
                (_, n) => n,
            };
            speed + class + pair
        })
        .collect();
    let modes = Array::from_slice(&modes)?;
    let mut out = Array::zeros(10)?;
    matching.launch(10, (&modes, &mut out))?;
    assert_eq!(out.to_vec()?, expected);
    Ok(())
}

#[inkle::kernel]
fn loops(out: &mut Array<i32>) {
    let i = tid();
    let mut sum = 0;
    for k in (0..10).step_by(3).rev() {
        if k == 6 {
            continue;
        }
        sum = sum * 10 + k;
    }
    let mut n = i;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        sum += 1;
    }
    let found = loop {
        n += 3;
        if n * n > 50 {
            break n;
        }
    };
    out[i] = sum + 10000 * found;
}

fn loops_on_the_host(i: i32) -> i32 {
    let mut sum = 0;
    for k in (0..10).step_by(3).rev() {
        if k == 6 {
            continue;
        }
        sum = sum * 10 + k;
    }
    let mut n = i;
    while n > 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        sum += 1;
    }
    let found = loop {
        n += 3;
        if n * n > 50 {
            break n;
        }
    };
    sum + 10000 * found
}

#[test]
fn loops_count_continue_and_break_with_values() -> Result<()> {
    assert_eq!(results!(loops, i32, 12), (0..12).map(loops_on_the_host).collect::<Vec<_>>());
    Ok(())
}

#[inkle::kernel]
fn labels(out: &mut Array<i32>) {
    let i = tid();
    let mut count = 0;
    'outer: for a in 0..6 {
        let mut b = 0;
        loop {
            b += 1;
            if b > a {
                continue 'outer;
            }
            for c in 0..3 {
                if a * b * c > 4 + i {
                    break 'outer;
                }
                count += 1;
            }
        }
    }
    out[i] = count;
}

fn labels_on_the_host(i: i32) -> i32 {
    let mut count = 0;
    'outer: for a in 0..6 {
        let mut b = 0;
        loop {
            b += 1;
            if b > a {
                continue 'outer;
            }
            for c in 0..3 {
                if a * b * c > 4 + i {
                    break 'outer;
                }
                count += 1;
            }
        }
    }
    count
}

#[test]
fn labels_leave_outer_loops() -> Result<()> {
    assert_eq!(results!(labels, i32, 40), (0..40).map(labels_on_the_host).collect::<Vec<_>>());
    Ok(())
}

#[inkle::kernel]
fn wide(out: &mut Array<u64>, n: usize) {
    let i = tid();
    let mut sum = 0;
    for k in 0..n {
        sum += k as u64 * 3_000_000_000;
    }
    let x = [1.5, 2.5, i as f64];
    let mut y = [0u64; 4];
    y[2] = 7;
    out[i as usize] = sum + x[i] as u64 + y[2];
}

#[test]
fn ranges_count_in_the_type_of_their_bounds() -> Result<()> {
    let mut out = Array::zeros(3)?;
    wide.launch(3, (&mut out, 4))?;
    assert_eq!(out.to_vec()?, [18_000_000_008, 18_000_000_009, 18_000_000_009]);
    Ok(())
}

#[inkle::kernel]
fn wraps(out: &mut Array<i32>) {
    let i = tid();
    let big: u8 = 250 + i as u8;
    let word = !(i as u32) >> 28;
    let not = !(i > 1);
    let largest = i32::MAX + i;
    out[i] = match i {
        0 => (big + 10) as i32,
        1 => word as i32,
        2 => largest,
        _ => {
            let mut bits = 1i64 << i;
            bits >>= 1u8;
            not as i32 + 2 + (bits as i32 - 4)
        }
    };
}

#[test]
fn integers_wrap_and_not_is_of_bits_or_truth() -> Result<()> {
    assert_eq!(results!(wraps, i32, 4), [4, 15, i32::MIN + 1, 2]);
    Ok(())
}

#[inkle::func]
fn narrowed(x: f32) -> [i64; 5] {
    [x as u8 as i64, x as i8 as i64, x as u16 as i64, x as u32 as i64, x as i32 as i64]
}

#[inkle::kernel]
fn narrows(x: &Array<f32>, out: &mut Array<i64>) {
    let i = tid();
    let all = narrowed(x[i]);
    for k in 0..5 {
        out[5 * i + k] = all[k];
    }
    out[5 * i] += 300.7f32 as u8 as i64 + -1.5f32 as u16 as i64;
}

#[test]
fn casts_of_floats_are_those_of_the_host() -> Result<()> {
    let numbers = [-1.5f32, 300.7, -300.7, 7e4, 5e9, -5e9, f32::NAN, 2.9];
    let mut out = Array::zeros(5 * numbers.len())?;
    narrows.launch(numbers.len(), (&Array::from_slice(&numbers)?, &mut out))?;
    let expected = numbers.iter().flat_map(|x| {
        let [first, rest @ ..] = narrowed(*x);
        [first + 255].into_iter().chain(rest)
    });
    assert_eq!(out.to_vec()?, expected.collect::<Vec<_>>());
    Ok(())
}

#[inkle::func]
fn first_above(x: &Array<f32>, limit: f32) -> i32 {
    for k in 0..x.shape()[0] {
        if x[k] > limit {
            return k;
        }
    }
    -1
}

#[inkle::kernel]
fn searches(x: &Array<f32>, out: &mut Array<i32>) {
    let i = tid();
    out[i] = first_above(x, i as f32);
}

#[test]
fn return_leaves_a_function_early() -> Result<()> {
    let x = Array::from_slice(&[0.5f32, 1.5, 1.0, 2.5])?;
    let mut out = Array::zeros(4)?;
    searches.launch(4, (&x, &mut out))?;
    assert_eq!(out.to_vec()?, [0, 1, 3, -1]);
    Ok(())
}

#[inkle::kernel]
fn order(out: &mut Array<i32>) {
    let i = tid();
    let mut x = i;
    let sum = x + {
        x += 10;
        x
    } * 100;
    let mut a = 1;
    let mut b = 2;
    (a, b) = (b, a + b);
    out[i] = sum + 10000 * (10 * a + b);
}

#[test]
fn operands_are_evaluated_from_left_to_right() -> Result<()> {
    assert_eq!(results!(order, i32, 2), [231000, 231101]);
    Ok(())
}

#[inkle::kernel]
fn methods(out: &mut Array<f32>) {
    let i = tid();
    let x = i as f32 - 1.5;
    out[i] = match i {
        0 => x.abs().sqrt(),
        1 => x.powi(2) + f32::max(x, 3.0),
        2 => x.signum() + (-x).signum() + 0.0f32.signum(),
        3 => 2.0f32.powf(x).mul_add(2.0, x.fract()),
        _ => ((i - 9).rem_euclid(4)) as f32,
    };
}

#[test]
fn methods_of_numbers_are_those_of_rust() -> Result<()> {
    let out = results!(methods, f32, 5);
    assert_eq!(out[..3], [1.5f32.sqrt(), 3.25, 1.0]);
    assert!((out[3] - (2.0f32.powf(1.5) * 2.0 + 0.5)).abs() < 1e-5, "{out:?}");
    assert_eq!(out[4], 3.0);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug, Struct)]
struct Walk {
    place: Vec2,
    steps: i32,
}

#[derive(Clone, Copy, PartialEq, Debug, Struct)]
enum Turn {
    Left,
    Right,
    Back,
}

/// What a function can have, without built-ins: the host runs it too.
#[inkle::func]
fn walked(walk: Walk, turn: Turn, bits: u16, heading: &mut [f32; 2]) -> (Walk, u16) {
    let mut place = walk.place;
    let [x, y] = *heading;
    match turn {
        Turn::Left => *heading = [-y, x],
        Turn::Right => *heading = [y, -x],
        Turn::Back => *heading = [-x, -y],
    }
    let mut m = Mat22::identity();
    m[(0, 1)] = 0.25;
    let mut total = 0;
    'rows: for row in (0..2).rev() {
        for column in 0..2 {
            if row == 0 && column == 1 {
                continue 'rows;
            }
            place[row] += heading[column] * m[(row, column)] + m[row][column].abs().powi(2);
            total += row * 2 + column;
        }
    }
    let found = loop {
        total -= 1;
        if total < walk.steps {
            break total;
        }
    };
    place.x = place.x.max(-4.0).mul_add(0.5, 0.125);
    assert!(found < walk.steps, "it ends below");
    println!("{found} {:.2} {place}", place.y);
    let steps = if found % 2 == 0 { found.rem_euclid(3) } else { -found };
    (Walk { steps, ..Walk { place, steps: 0 } }, (bits << 2) ^ bits)
}

#[inkle::kernel]
fn walk_on(walks: &mut Array<Walk>, turns: &Array<Turn>, bits: &mut Array<u16>, headings: &mut Array<Vec2>) {
    let i = tid();
    let mut heading = headings[i].to_array();
    let (walk, mixed) = walked(walks[i], turns[i], bits[i], &mut heading);
    walks[i] = walk;
    bits[i] = mixed;
    headings[i] = Vec2::from_array(heading);
}

#[test]
fn a_function_is_the_same_on_the_host() -> Result<()> {
    let start = |i: i32| Walk { place: Vec2::new(i as f32 - 2.0, 0.5), steps: i - 3 };
    let walks: Vec<Walk> = (0..9).map(start).collect();
    let turns: Vec<Turn> = (0..9).map(|i| [Turn::Left, Turn::Right, Turn::Back][i % 3]).collect();
    let bits: Vec<u16> = (0..9).map(|i| i * 7 + 1).collect();
    let headings: Vec<Vec2> = (0..9).map(|i| Vec2::new(i as f32, 1.0)).collect();
    let mut after = (Array::from_slice(&walks)?, Array::from_slice(&bits)?, Array::from_slice(&headings)?);
    walk_on.launch(9, (&mut after.0, &Array::from_slice(&turns)?, &mut after.1, &mut after.2))?;
    let (walks_after, bits_after, headings_after) = (after.0.to_vec()?, after.1.to_vec()?, after.2.to_vec()?);
    for i in 0..9 {
        let mut heading = headings[i].to_array();
        let expected = walked(walks[i], turns[i], bits[i], &mut heading);
        assert_eq!((walks_after[i], bits_after[i]), expected, "{i}");
        assert_eq!(headings_after[i].to_array(), heading, "{i}");
    }
    Ok(())
}

#[inkle::func]
fn half_of_element(x: &Array<f32>, i: i32) -> f32 {
    0.5 * x[i]
}

#[test]
fn elements_of_arrays_are_for_kernels_only() -> Result<()> {
    let x = Array::from_slice(&[1.0f32])?;
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| half_of_element(&x, 0)));
    let message = panicked.unwrap_err();
    let text = message.downcast_ref::<String>().cloned().unwrap_or_default();
    assert!(text.contains("an element of an array can be used in kernels only"), "{text}");
    Ok(())
}

/// What is referred to by names of its own; run on the host too.
#[inkle::func]
fn referred(a: &mut f32, b: &mut Vec2, turns: &mut [i32; 3]) -> f32 {
    let first = a;
    *first += 2.0;
    let x = &mut b.x;
    *x *= *first;
    let mut i = 1;
    let turn = &mut turns[i];
    i += 1;
    *turn += 10 * i as i32;
    let again = &mut *turn;
    *again += 1;
    let last: &mut i32 = &mut turns[i];
    *last = -3;
    bump(last, if *first > 0.0 { 5 } else { 7 });
    let mut own = 1.5f32;
    let of_own = &mut own;
    *of_own = of_own.max(*first);
    own + first.sqrt()
}

#[inkle::func]
fn bump(what: &mut i32, by: i32) {
    let it = &mut *what;
    *it += by;
}

#[inkle::kernel]
fn refer(
    a: &mut Array<f32>,
    b: &mut Array<Vec2>,
    turns: &mut Array<Vec3i>,
    walks: &mut Array<Walk, 2>,
    sums: &mut Array<f32>,
) {
    let mut i = tid();
    let row = &mut turns[i];
    let mut own = row.to_array();
    // The places are those before the block of a later argument changed `i`.
    sums[i] = referred(&mut a[i], &mut b[i], &mut own);
    *row = Vec3i::from_array(own);
    let walk = &mut walks[(i, 1)];
    i += 100;
    walk.steps = i;
    walk.place.y += 0.5;
    bump(&mut walk.steps, {
        let by = walk.place.x as i32;
        by + 1
    });
}

#[test]
fn names_refer_to_places() -> Result<()> {
    let n = 4;
    let (a, b) = ([1.0f32, -3.0, 0.5, 7.0], [Vec2::new(2.0, 1.0); 4]);
    let turns: Vec<Vec3i> = (0..4).map(|i| Vec3i::new(i, 2 * i, 3 * i)).collect();
    let walks = [Walk { place: Vec2::new(3.0, 1.0), steps: 1 }; 8];
    let (mut x, mut y, mut z) = (Array::from_slice(&a)?, Array::from_slice(&b)?, Array::from_slice(&turns)?);
    let (mut w, mut sums) = (Array::from_shape([4, 2], &walks)?, Array::<f32>::zeros(n)?);
    refer.launch(n, (&mut x, &mut y, &mut z, &mut w, &mut sums))?;
    let (x, y, z, w, sums) = (x.to_vec()?, y.to_vec()?, z.to_vec()?, w.to_vec()?, sums.to_vec()?);
    for i in 0..n {
        let (mut first, mut second, mut own) = (a[i], b[i], turns[i].to_array());
        let sum = referred(&mut first, &mut second, &mut own);
        assert_eq!((x[i], y[i], z[i].to_array()), (first, second, own), "{i}");
        assert!(sums[i] == sum || sum.is_nan() && sums[i].is_nan(), "{i}");
        assert_eq!((w[2 * i], w[2 * i + 1].steps), (walks[0], i as i32 + 104), "{i}");
        assert_eq!(w[2 * i + 1].place, Vec2::new(3.0, 1.5), "{i}");
    }
    Ok(())
}

const TAPS: [f32; 3] = [0.5, 0.25, -1.0];

#[inkle::func]
fn over_arrays(i: i32, own: [i32; 4]) -> f32 {
    let mut sum = 0.0;
    for tap in TAPS {
        sum = sum * 2.0 + tap;
    }
    let mut place = 0;
    'steps: for step in [-1, i, 3] {
        for each in &own {
            if *each > 2 {
                continue 'steps;
            }
            place += step * *each;
        }
    }
    for which in 0..3 {
        sum += TAPS[which] * which as f32;
    }
    sum + place as f32
}

#[inkle::kernel]
fn arrays_in_loops(out: &mut Array<f32>, own: &Array<[i32; 4]>) {
    let i = tid();
    out[i] = over_arrays(i, own[i]);
}

#[test]
fn loops_run_over_arrays() -> Result<()> {
    let own = [[1, 2, 3, 4], [0, 1, 2, 2], [9, 9, 9, 9], [-1, -2, 5, 0]];
    let mut out = Array::<f32>::zeros(4)?;
    arrays_in_loops.launch(4, (&mut out, &Array::from_slice(&own)?))?;
    assert_eq!(out.to_vec()?, (0..4).map(|i| over_arrays(i as i32, own[i])).collect::<Vec<_>>());
    Ok(())
}

#[inkle::func]
fn nearest(x: f32, y: f64) -> (i8, u8, i16, u16) {
    (x as i8, y as u8, y as i16, x as u16)
}

#[inkle::func]
fn nearest_wide(x: f32, y: f64) -> (u32, i32, u64, i64) {
    (x as u32 ^ y as u32, x as i32, y as u64, x as i64)
}

#[derive(Clone, Copy, PartialEq, Debug, Struct)]
struct Converted {
    narrow: [i32; 4],
    wide: [u64; 4],
}

#[inkle::func]
fn converted(x: f32) -> Converted {
    let (a, b, c, d) = nearest(x, x as f64);
    let (e, f, g, h) = nearest_wide(x, x as f64);
    Converted {
        narrow: [a as i32, b as i32, c as i32, d as i32],
        wide: [e as u64, f as u64, g, h as u64 ^ 5_000_000_000 as u64],
    }
}

#[inkle::kernel]
fn convert(x: &Array<f32>, out: &mut Array<Converted>) {
    let i = tid();
    out[i] = converted(x[i]);
}

#[test]
fn as_gives_the_nearest_integer() -> Result<()> {
    let x = [
        0.0,
        -0.5,
        1.9,
        -1.9,
        127.5,
        128.0,
        -129.0,
        255.9,
        256.0,
        -1.0,
        65535.9,
        65536.0,
        3e9,
        -3e9,
        4294967296.0,
        1e30,
    ];
    let x: Vec<f32> = x.into_iter().chain([f32::NAN, f32::INFINITY, f32::NEG_INFINITY]).collect();
    let nothing = Converted { narrow: [0; 4], wide: [0; 4] };
    let mut out = Array::full(x.len(), nothing)?;
    convert.launch(x.len(), (&Array::from_slice(&x)?, &mut out))?;
    for (x, out) in x.iter().zip(out.to_vec()?) {
        assert_eq!(out, converted(*x), "{x}");
    }
    Ok(())
}

#[inkle::kernel]
fn matched(modes: &Array<Mode>, out: &mut Array<bool>) {
    let i = tid();
    let moves = matches!(modes[i], Mode::Slow | Mode::Fast);
    out[i] = moves && !matches!(i, n if n % 2 == 0) || matches!((i, moves), (8.., false));
}

#[test]
fn matches_is_a_match() -> Result<()> {
    let modes: Vec<Mode> = (0..10).map(|i| [Mode::Off, Mode::Slow, Mode::Fast][i % 3]).collect();
    let mut out = Array::zeros(10)?;
    matched.launch(10, (&Array::from_slice(&modes)?, &mut out))?;
    let expected = modes.iter().enumerate().map(|(i, mode)| {
        let moves = matches!(mode, Mode::Slow | Mode::Fast);
        moves && !matches!(i, n if n % 2 == 0) || matches!((i, moves), (8.., false))
    });
    assert_eq!(out.to_vec()?, expected.collect::<Vec<_>>());
    Ok(())
}

#[inkle::kernel]
fn unused_values(count: &mut Array<i32>) {
    (atomic_add(count, 0, 1), atomic_add(count, 1, 2));
    let _ = (atomic_add(count, 2, 3), 1);
    ((atomic_add(count, 3, 4), 0), tid());
}

#[test]
fn what_happens_in_unused_values_happens() -> Result<()> {
    let mut count = Array::zeros(4)?;
    unused_values.launch(10, (&mut count,))?;
    assert_eq!(count.to_vec()?, [10, 20, 30, 40]);
    Ok(())
}

#[inkle::func]
fn of_bits(x: f32, n: i32) -> (f32, f32, u32, i64) {
    let (sine, cosine) = x.sin_cos();
    let turned = f32::from_bits(x.to_bits() ^ 0x8000_0000);
    let rounded = x.round_ties_even().copysign(turned);
    let bits = n.count_ones() + 100 * n.leading_zeros() + (n as u8 | 64).trailing_zeros();
    let signs = if n.is_negative() || !(n - 3).is_positive() { 1 } else { 0 };
    (sine * cosine, turned + rounded, bits, (n as i64 - 4).pow(5) + n.pow(0) as i64 + signs)
}

#[inkle::kernel]
fn look_at_bits(
    x: &Array<f32>,
    products: &mut Array<f32>,
    turned: &mut Array<f32>,
    counts: &mut Array<u32>,
    powers: &mut Array<i64>,
) {
    let i = tid();
    (products[i], turned[i], counts[i], powers[i]) = of_bits(x[i], i);
}

#[test]
fn methods_look_at_bits_signs_and_powers() -> Result<()> {
    let x: Vec<f32> = (0..9).map(|i| 0.75 * i as f32 - 2.0).collect();
    let (mut products, mut turned) = (Array::zeros(9)?, Array::zeros(9)?);
    let (mut counts, mut powers) = (Array::zeros(9)?, Array::zeros(9)?);
    look_at_bits
        .launch(9, (&Array::from_slice(&x)?, &mut products, &mut turned, &mut counts, &mut powers))?;
    for (i, x) in x.into_iter().enumerate() {
        let expected = of_bits(x, i as i32);
        assert!((products.get([i])? - expected.0).abs() < 1e-6);
        assert_eq!(
            (turned.get([i])?, counts.get([i])?, powers.get([i])?),
            (expected.1, expected.2, expected.3)
        );
    }
    Ok(())
}

#[inkle::func]
fn composed<const N: usize, T: Float>(v: Vector<N, T>, place: usize, scale: T) -> T {
    let mut unit = Vector::<N, T>::zero();
    unit[place] = scale;
    let turned =
        (Matrix::<N, N, T>::identity() + Matrix::<N, N, T>::zero()) * (Vector::<N, T>::splat(T::ONE) + unit);
    let quat = Quaternion::new(T::ZERO, T::ZERO, T::ZERO, scale);
    let pose = Transform::new(Vector::<3, T>::new(scale, T::ZERO, T::ONE), Quaternion::<T>::identity());
    let mut sum = quat.w + pose.p.x + pose.q.w + Transform::<T>::identity().p.z;
    for i in 0..N {
        sum += turned[i] * v[i];
    }
    sum
}

#[inkle::kernel]
fn compose<const N: usize, T: Float>(v: &Array<Vector<N, T>>, out: &mut Array<T>) {
    let i = tid();
    let other: Vector<2, T> = Vector::zero();
    out[i] = composed(v[i], 1, T::from_f64(2.0)) + other.y + Vector::<2, T>::splat(T::ONE).x;
}

#[test]
fn vectors_and_the_like_are_made_in_generic_code() -> Result<()> {
    let (v, w) = (Vector::<3, f64>::new(1.0, 2.0, 3.0), Vec2::new(4.0, 5.0));
    let (mut x, mut y) = (Array::zeros(1)?, Array::zeros(1)?);
    compose.launch(1, (&Array::from_slice(&[v])?, &mut x))?;
    compose.launch(1, (&Array::from_slice(&[w])?, &mut y))?;
    assert_eq!((x.get([0])?, y.get([0])?), (composed(v, 1, 2.0) + 1.0, composed(w, 1, 2.0) + 1.0));
    Ok(())
}
