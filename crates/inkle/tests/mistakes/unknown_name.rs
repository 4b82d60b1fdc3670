use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>) {
    x[tid()] = scale * 2.0;
}
