//! A cloth hangs from two corners, and gradients find the wind that blows its lowest corner to a target.
//!
//!     cargo run --release --example cloth -- [side] [rounds]

use inkle::builtins::{dot, length};
use inkle::prelude::*;

const STEPS: usize = 40;
const DT: f32 = 0.02;
const STIFFNESS: f32 = 200.0;
const DAMPING: f32 = 1.5;

/// How a spring of length `rest` from `here` to `there` pulls.
#[inkle::func]
fn spring(here: Vec3, there: Vec3, rest: f32) -> Vec3 {
    let way = there - here;
    let distance = length(way);
    way * (STIFFNESS * (distance - rest) / distance)
}

/// One step: every point is pulled by its neighbours, by its weight and by the wind.
#[inkle::kernel]
fn step(
    position: &Array<Vec3, 2>,
    velocity: &Array<Vec3, 2>,
    wind: &Array<Vec3>,
    next_position: &mut Array<Vec3, 2>,
    next_velocity: &mut Array<Vec3, 2>,
    rest: f32,
) {
    let (r, c) = tid2();
    let [rows, columns] = position.shape();
    let here = position[(r, c)];
    let mut force = wind[0] + Vec3::new(0.0, -1.0, 0.0) - velocity[(r, c)] * DAMPING;
    if r > 0 {
        force += spring(here, position[(r - 1, c)], rest);
    }
    if r + 1 < rows {
        force += spring(here, position[(r + 1, c)], rest);
    }
    if c > 0 {
        force += spring(here, position[(r, c - 1)], rest);
    }
    if c + 1 < columns {
        force += spring(here, position[(r, c + 1)], rest);
    }
    let is_pinned = r == 0 && (c == 0 || c + 1 == columns);
    let v = if is_pinned { Vec3::zero() } else { velocity[(r, c)] + force * DT };
    next_velocity[(r, c)] = v;
    next_position[(r, c)] = here + v * DT;
}

#[inkle::kernel]
fn miss(position: &Array<Vec3, 2>, target: Vec3, loss: &mut Array<f32>) {
    let [rows, columns] = position.shape();
    let way = position[(rows - 1, columns / 2)] - target;
    loss[0] = dot(way, way);
}

#[inkle::kernel]
fn descend(wind: &mut Array<Vec3>, gradient: &Array<Vec3>, rate: f32) {
    wind[0] -= gradient[0] * rate;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let side: usize = args.next().map_or(Ok(16), |n| n.parse())?;
    let rounds: usize = args.next().map_or(Ok(30), |n| n.parse())?;
    let [first, last] = run(side, rounds)?;
    println!("the corner missed by {:.4} and misses by {:.4}", first.sqrt(), last.sqrt());
    Ok(())
}

/// Looks for the wind; gives the squared distance from the target before and after.
fn run(side: usize, rounds: usize) -> inkle::Result<[f32; 2]> {
    let rest = 1.0 / (side - 1) as f32;
    let grid =
        (0..side * side).map(|i| Vec3::new((i % side) as f32 * rest, 1.0 - (i / side) as f32 * rest, 0.0));
    let start = grid.collect::<Vec<_>>();
    let mut positions = vec![Array::from_shape([side, side], &start)?.with_grad()?];
    let mut velocities = vec![Array::<Vec3, 2>::zeros([side, side])?.with_grad()?];
    for _ in 0..STEPS {
        positions.push(Array::<Vec3, 2>::zeros([side, side])?.with_grad()?);
        velocities.push(Array::<Vec3, 2>::zeros([side, side])?.with_grad()?);
    }
    let mut wind = Array::from_slice(&[Vec3::zero()])?.with_grad()?;
    let mut loss = Array::<f32>::zeros(1)?.with_grad()?;
    let target = Vec3::new(0.5, 0.1, 0.3);

    let mut first = None;
    for _ in 0..rounds {
        let tape = Tape::record(|| {
            for t in 0..STEPS {
                let (before, after) = positions.split_at_mut(t + 1);
                let (slow, fast) = velocities.split_at_mut(t + 1);
                let next = (&mut after[0], &mut fast[0]);
                step.launch((side, side), (&before[t], &slow[t], &wind, next.0, next.1, rest))?;
            }
            miss.launch(1, (&positions[STEPS], target, &mut loss))
        })?;
        first.get_or_insert(loss.to_vec()?[0]);
        tape.zero()?;
        tape.backward_from(&mut loss)?;
        let gradient = wind.grad().expect("it was given one").try_clone()?;
        descend.launch(1, (&mut wind, &gradient, 2.0))?;
    }
    Ok([first.unwrap_or_default(), loss.to_vec()?[0]])
}

#[test]
fn gradients_find_the_wind() {
    let [first, last] = run(6, 20).unwrap();
    assert!(last < 0.01 * first, "from {first} to {last}");
}
