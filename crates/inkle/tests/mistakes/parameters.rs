use inkle::prelude::*;

#[inkle::kernel]
pub fn text(name: String, x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel]
pub fn list(values: Vec<f32>, x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel]
pub fn slice(values: &[f32], x: &mut Array<f32>) {
    x[tid()] = values[0];
}

#[inkle::kernel]
pub fn pattern((a, b): (f32, f32), x: &mut Array<f32>) {
    x[tid()] = a + b;
}

#[inkle::kernel]
pub fn optional(a: Option<f32>, x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel]
pub fn by_value(y: Array<f32>, x: &mut Array<f32>) {
    x[tid()] = y[0];
}

#[inkle::kernel]
pub fn function(f: fn(f32) -> f32, x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

pub struct Plain {
    pub size: f32,
}

#[inkle::kernel]
pub fn plain(p: Plain, x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel]
pub async fn later(x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

pub struct Sim;

impl Sim {
    #[inkle::kernel]
    pub fn method(&self, x: &mut Array<f32>) {
        x[tid()] = 1.0;
    }
}
