use inkle::prelude::*;

fn helper(x: f32) -> f32 {
    x + 1.0
}

#[inkle::kernel]
pub fn k(x: &mut Array<f32>) {
    let i = tid();
    x[i] = helper(x[i]);
}
