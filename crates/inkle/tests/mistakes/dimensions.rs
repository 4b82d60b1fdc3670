use inkle::prelude::*;

#[inkle::kernel]
fn k(x: &mut Array<f32, 2>) {
    let (i, j) = tid3();
    x[(i, j, 0)] = 1.0;
}

pub fn run() -> inkle::Result<()> {
    let mut x = Array::<f32, 2>::zeros(3)?;
    let part = x.select((0, 1, ..))?;
    let line: inkle::ArrayView<'_, f32, 2> = x.select((0, ..))?;
    k.launch((1, 2, 3, 4, 5), (&mut x,))
}
