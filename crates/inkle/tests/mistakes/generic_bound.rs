use inkle::prelude::*;

#[inkle::kernel]
pub fn k<T: Copy>(x: &mut Array<T>, a: T) {
    x[tid()] = a;
}

#[inkle::func]
pub fn f<const N: usize>(x: f32) -> f32 {
    x
}
