use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &Array<f32>) -> f32 {
    x[0]
}
