use inkle::prelude::*;

#[inkle::func]
pub fn factorial(n: i32) -> i32 {
    if n < 2 { 1 } else { n * factorial(n - 1) }
}

#[inkle::kernel]
pub fn k(x: &mut Array<i32>) {
    let i = tid();
    x[i] = factorial(i);
}
