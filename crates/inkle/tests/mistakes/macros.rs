use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>) {
    let i = tid();
    assert!(i < 3, "index {i}");
    println!("{} {}", i);
    println!("{}", i, i);
    let v = vec![1.0];
    panic!("no");
}
