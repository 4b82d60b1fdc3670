use inkle::prelude::*;

pub fn run(x: &Array<f32>, y: &mut Array<f32>) -> inkle::Result<()> {
    inkle::map!(|a| a * 2.0, x, y)?;
    inkle::map!(|a: f32| -> f32 { a * 2.0 }, x, y)
}
