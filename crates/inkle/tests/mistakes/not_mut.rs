use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>) {
    let sum = 0.0;
    sum += x[0];
    x[tid()] = sum;
}
