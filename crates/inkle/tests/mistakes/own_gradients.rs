use inkle::prelude::*;

#[inkle::func(gradient = lacks_a_parameter)]
pub fn halved(x: f32) -> f32 {
    0.5 * x
}

#[inkle::func]
pub fn lacks_a_parameter(x: f32, of: f32) {
    let _ = x * of;
}

#[inkle::func(replay = gives_another)]
pub fn doubled(x: f32) -> f32 {
    2.0 * x
}

#[inkle::func]
pub fn gives_another(x: f32) -> f64 {
    2.0 * x as f64
}

#[inkle::func(gradient = lacks_a_parameter)]
pub fn changes(x: &mut f32) {
    *x *= 2.0;
}

#[inkle::func(gradient = 1.0)]
pub fn no_function(x: f32) -> f32 {
    x
}

#[inkle::func(gradient = halved, gradient = halved)]
pub fn twice(x: f32) -> f32 {
    x
}

#[inkle::kernel]
pub fn differentiates(x: &mut Array<f32>) {
    x[0] = grad(halved, (1.0, 2.0));
    x[1] = grad(halved, (1,));
}

#[inkle::options(fast = true)]
mod kernels {}
