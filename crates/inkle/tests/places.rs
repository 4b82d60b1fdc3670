//! Names of places, and functions that change what they are passed: the host and kernels do the same.

use inkle::prelude::*;
use inkle::{Result, Struct};

#[derive(Clone, Copy, Struct, Default, PartialEq, Debug)]
struct Leg {
    q: Vec3,
    load: [f32; 4],
    n: i32,
}

#[derive(Clone, Copy, Struct, Default, PartialEq, Debug)]
struct Robot {
    left: Leg,
    right: Leg,
    m: Mat33,
}

#[inkle::func]
fn add(x: &mut f32, y: f32) -> f32 {
    let old = *x;
    *x += y;
    old
}

#[inkle::func]
fn two(a: &mut f32, b: &mut f32) {
    let t = *a;
    *a = *b;
    *b = t + 1.0;
}

#[inkle::func]
fn leg(l: &mut Leg, k: i32) -> f32 {
    let q = &mut l.q;
    for axis in 0..3 {
        let c = &mut q[axis];
        if axis == k {
            continue;
        }
        *c += add(&mut l.load[axis as usize], *c);
    }
    l.n += 1;
    let n = &mut l.n;
    while *n < 5 {
        *n += 2;
        if *n == k {
            break;
        }
    }
    l.load[3] = add(&mut q[0], 1.0) + (*n as f32);
    q.x
}

#[inkle::func]
fn robot(r: &mut Robot, k: i32) -> f32 {
    let side = k % 2;
    let mut sum = 0.0;
    if side == 0 {
        sum += leg(&mut r.left, k);
    } else {
        let l = &mut r.right;
        sum += leg(l, k);
        l.q.y = 9.0;
    }
    let e = &mut r.m[(0, 1)];
    *e += 2.0;
    let mut own = [1.0f32, 2.0, 3.0];
    let i = (k.rem_euclid(3)) as usize;
    own[i] = 10.0;
    let (first, rest) = (own[0], own[2]);
    two(&mut own[1], &mut sum);
    let row = &mut r.m[2];
    row[1] = first + rest;
    let again = &mut *row;
    again[0] -= own[1];
    let mut j = 0;
    let at = &mut own[j];
    j += 1;
    *at = add(at, {
        j += 1;
        j as f32
    });
    sum + own[0] * 100.0 + j as f32
}

#[inkle::kernel]
fn run(rs: &mut Array<Robot>, out: &mut Array<f32>) {
    let i = tid();
    let r = &mut rs[i];
    out[i] = robot(r, i);
    out[i] += robot(&mut *r, i + 1);
    let mut own = *r;
    let o = &mut own;
    out[i] += robot(o, i + 2);
    rs[i].left.n = own.left.n;
}

#[test]
fn places_are_those_of_the_host() -> Result<()> {
    let start: Vec<Robot> = (0..7)
        .map(|i| {
            let mut r = Robot { m: Mat33::identity(), ..Robot::default() };
            r.left.q = Vec3::new(i as f32, 1.0, 2.0);
            r.right.load = [1.0, 2.0, 3.0, i as f32];
            r
        })
        .collect();
    let (mut rs, mut out) = (Array::from_slice(&start)?, Array::<f32>::zeros(7)?);
    run.launch(7, (&mut rs, &mut out))?;
    let (rs, out) = (rs.to_vec()?, out.to_vec()?);
    for i in 0..7 {
        let mut r = start[i];
        let mut sum = robot(&mut r, i as i32);
        sum += robot(&mut r, i as i32 + 1);
        let mut own = r;
        sum += robot(&mut own, i as i32 + 2);
        r.left.n = own.left.n;
        assert_eq!((sum, r), (out[i], rs[i]), "{i}");
    }
    Ok(())
}
