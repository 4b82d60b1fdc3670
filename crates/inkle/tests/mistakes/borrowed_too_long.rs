use inkle::prelude::*;

#[inkle::kernel]
fn k(x: &Array<f32>, y: &mut Array<f32>) {
    let i = tid();
    y[i] = x[i];
}

pub fn run(x: Array<f32>, mut y: Array<f32>) -> inkle::Result<()> {
    let prepared = k.prepare(3, (&x, &mut y))?;
    y.fill(0.0)?;
    prepared.run()?;
    let host = y.host()?;
    k.launch(3, (&x, &mut y))?;
    drop(host);
    let view = {
        let z = Array::<f32>::zeros(3)?;
        z.slice(1..)?
    };
    k.launch(2, (&view, &mut y))
}
