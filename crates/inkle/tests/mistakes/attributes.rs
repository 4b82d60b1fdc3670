use inkle::prelude::*;

#[inkle::kernel]
pub struct NoFunction;

#[inkle::func(inline)]
pub fn options(x: f32) -> f32 {
    x
}

#[inkle::kernel(block_dim)]
pub fn no_value(x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel(max_unroll = "16")]
pub fn no_number(x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel]
pub fn flags<const B: bool>(x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

