use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<i32>) {
    let i = tid();
    x[i] = match i {
        0 => 1,
        1..=5 => 2,
    };
}
