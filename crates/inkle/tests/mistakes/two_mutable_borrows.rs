use inkle::prelude::*;

#[inkle::kernel]
fn k(x: &mut Array<f32>, y: &mut Array<f32>) {
    let i = tid();
    y[i] = x[i];
}

pub fn run() -> inkle::Result<()> {
    let mut x = Array::<f32>::zeros(3)?;
    k.launch(3, (&mut x, &mut x))
}
