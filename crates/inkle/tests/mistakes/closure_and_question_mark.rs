use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>) {
    let twice = |v: f32| v * 2.0;
    x[tid()] = Some(1.0)?;
}
