use inkle::prelude::*;

#[inkle::kernel]
pub fn k(x: &mut Array<f32>, y: &Array<f32>) {
    fn helper(v: f32) -> f32 {
        v
    }
    let first = unsafe { 1.0 };
    let span = 0..3;
    let part = &y[0..2];
    for v in y {}
    if let 1 = tid() {}
    let 3 = tid() else { return };
    let text = "a";
    let letter = 'a';
    let z = 'block: {
        break 'block 1.0;
    };
    let task = async { 1.0 };
    x[0] = z;
}
