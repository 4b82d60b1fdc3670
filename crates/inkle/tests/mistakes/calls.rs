use inkle::prelude::*;

#[inkle::kernel]
pub fn other(x: &mut Array<f32>) {
    x[tid()] = 1.0;
}

#[inkle::kernel]
pub fn k(x: &mut Array<f32>) {
    let i = tid();
    let f = i;
    x[i] = f(2);
    x[i] = f32::from_bits(7);
    x[i] = x[i].next_up();
    x[i] = Default::default();
    x[i] = std::mem::take(&mut x[i]);
    other(x);
}
