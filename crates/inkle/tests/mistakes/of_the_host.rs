use inkle::prelude::*;

#[inkle::func]
fn root(x: f32) -> Option<f32> {
    if x < 0.0 { None } else { Some(sqrt(x)) }
}

#[inkle::func]
fn sum(values: &[f32]) -> f32 {
    values[0]
}

#[inkle::kernel]
pub fn collects(x: &mut Array<f32>) {
    let mut seen = Vec::new();
    seen.push(x[0]);
    if tid() > 3 {
        return 1.0;
    }
    x[0] = x[0].exp_m1();
}
