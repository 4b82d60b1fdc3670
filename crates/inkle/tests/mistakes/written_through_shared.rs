use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &Array<f32>) {
    x[tid()] = 1.0;
}
