//! The kernels. The build script compiles this file too, so it uses nothing of the rest of the program.

use inkle::prelude::*;

/// A joint as its sensors see it.
#[derive(Clone, Copy, Debug, inkle::Struct)]
pub struct Joint {
    /// The angle, rad.
    pub angle: f32,
    /// Its rate, rad/s.
    pub rate: f32,
}

/// N m per rad/s.
const DAMPING: f32 = 0.8;
/// What a motor can do, N m.
const MOST_TORQUE: f32 = 5.0;

#[inkle::func]
fn limited(x: f32, most: f32) -> f32 {
    x.clamp(-most, most)
}

/// The torques that turn joints to the wanted angles: a spring and a damper each, as strong as the motor is.
#[inkle::kernel(checks = false)]
pub fn control(joints: &Array<Joint>, wanted: &Array<f32>, torques: &mut Array<f32>, stiffness: f32) {
    let i = tid();
    let joint = joints[i];
    torques[i] = limited(stiffness * (wanted[i] - joint.angle) - DAMPING * joint.rate, MOST_TORQUE);
}

/// Moves a smooth signal towards a raw one.
#[inkle::kernel(checks = false)]
pub fn smooth<T: Float>(raw: &Array<T>, state: &mut Array<T>, share: T) {
    let i = tid();
    state[i] += share * (raw[i] - state[i]);
}
