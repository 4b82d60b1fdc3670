//! Two clusters of stars fall through each other; the picture at the end is `nbody.png`.
//!
//!     cargo run --release --example nbody -- [stars] [steps] [picture]

use inkle::builtins::{dot, rand_init, randf, sqrt};
use inkle::prelude::*;

/// Softens the pull of close stars.
const SOFTENING: f32 = 0.05;
const SIDE: usize = 512;

/// Two discs of stars, each turning around its centre.
#[inkle::kernel]
fn place(position: &mut Array<Vec3>, velocity: &mut Array<Vec3>) {
    let i = tid();
    let mut state = rand_init(i);
    let radius = 0.1 + randf(&mut state);
    let angle = 6.283_185_5 * randf(&mut state);
    let side = if i % 2 == 0 { -1.0 } else { 1.0 };
    let speed = 0.5 * (1.0 / radius).sqrt();
    position[i] = Vec3::new(side * 1.5 + radius * angle.cos(), radius * angle.sin(), 0.1 * randf(&mut state));
    velocity[i] = Vec3::new(-speed * angle.sin(), speed * angle.cos() + side * 0.2, 0.0);
}

/// What the mass at `there`, of a whole cluster of one, pulls a star at `here` with.
#[inkle::func]
fn pull(here: Vec3, there: Vec3) -> Vec3 {
    let way = there - here;
    let square = dot(way, way) + SOFTENING * SOFTENING;
    way / (square * sqrt(square))
}

#[inkle::kernel]
fn accelerate(position: &Array<Vec3>, velocity: &mut Array<Vec3>, mass: f32, dt: f32) {
    let i = tid();
    let here = position[i];
    let mut sum = Vec3::zero();
    for k in 0..position.shape()[0] {
        sum += pull(here, position[k]);
    }
    velocity[i] += sum * (mass * dt);
}

#[inkle::kernel]
fn drift(position: &mut Array<Vec3>, velocity: &Array<Vec3>, dt: f32) {
    let i = tid();
    position[i] += velocity[i] * dt;
}

#[inkle::kernel]
fn draw(position: &Array<Vec3>, picture: &mut Array<f32, 2>, scale: f32) {
    let p = position[tid()];
    let [rows, columns] = picture.shape();
    let (r, c) = ((p.y * scale) as i32 + rows / 2, (p.x * scale) as i32 + columns / 2);
    if r >= 0 && r < rows && c >= 0 && c < columns {
        atomic_add(picture, (r, c), 1.0);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let stars: usize = args.next().map_or(Ok(4096), |n| n.parse())?;
    let steps: usize = args.next().map_or(Ok(200), |n| n.parse())?;
    let path = args.next().unwrap_or_else(|| "nbody.png".into());
    let seen = run(stars, steps, path.as_ref())?;
    println!("{seen} of {stars} stars are in {path}");
    Ok(())
}

/// Runs the simulation and writes the picture; gives the number of stars in it.
fn run(stars: usize, steps: usize, path: &std::path::Path) -> Result<f32, Box<dyn std::error::Error>> {
    let mut position = Array::<Vec3>::zeros(stars)?;
    let mut velocity = Array::<Vec3>::zeros(stars)?;
    place.launch(stars, (&mut position, &mut velocity))?;
    let (mass, dt) = (1.0 / stars as f32, 0.01);
    let step = Graph::capture(position.device(), || {
        accelerate.launch(stars, (&position, &mut velocity, mass, dt))?;
        drift.launch(stars, (&mut position, &velocity, dt))
    })?;
    for _ in 0..steps {
        step.launch()?;
    }

    let mut picture = Array::<f32, 2>::zeros([SIDE, SIDE])?;
    draw.launch(stars, (&position, &mut picture, SIDE as f32 / 8.0))?;
    let counts = picture.to_vec()?;
    let brightness = |count: &f32| (255.0 * (1.0 - (-0.7 * count).exp())) as u8;
    let pixels: Vec<u8> = counts.iter().map(brightness).collect();
    image::GrayImage::from_raw(SIDE as u32, SIDE as u32, pixels)
        .ok_or("the picture has another size")?
        .save(path)?;
    Ok(counts.iter().sum())
}

#[test]
fn stars_stay_together_and_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nbody.png");
    let seen = run(256, 20, &path).unwrap();
    assert!(seen > 230.0, "{seen}");
    assert_eq!(image::image_dimensions(&path).unwrap(), (512, 512));
}
