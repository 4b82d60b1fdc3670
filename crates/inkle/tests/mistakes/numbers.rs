use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>, n: usize, d: f64) {
    let i = tid();
    x[i] = 1;
    x[i] = d;
    x[i] = x[i] * i;
    let last = n - i;
    let byte: u8 = 256;
    let v = Vec3::new(1.0, 2.0);
    x[i] = v.w;
}
