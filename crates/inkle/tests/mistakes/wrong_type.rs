use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>, n: i32) {
    let i = tid();
    x[i] = x[i] * n;
}
