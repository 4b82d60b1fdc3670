use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>, y: &Array<f32, 2>) {
    let i = tid();
    x[1.5] = y[i];
}
