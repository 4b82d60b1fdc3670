use inkle::prelude::*;

use inkle::builtins::dot;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>, v: Vec3, w: Vec2) {
    x[tid()] = dot(v, w);
}
