use inkle::prelude::*;

#[inkle::kernel(fast = true)]
pub fn k(x: &mut Array<f32>) {
    x[tid()] = 1.0;
}
