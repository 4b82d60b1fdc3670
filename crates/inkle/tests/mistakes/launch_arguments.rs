use inkle::prelude::*;

#[inkle::kernel]
fn k(x: &Array<f32>, y: &mut Array<f32>, a: f32) {
    let i = tid();
    y[i] = a * x[i];
}

pub fn run(x: &Array<f32>, y: &mut Array<f32>, z: &Array<f64>, m: &Array<f32, 2>) -> inkle::Result<()> {
    k.launch(3, (x, y))?;
    k.launch(3, (x, x, 1.0))?;
    k.launch(3, (z, y, 1.0))?;
    k.launch(3, (m, y, 1.0))?;
    k.launch(3, (x, y, 1))?;
    k.launch("3", (x, y, 1.0))
}
