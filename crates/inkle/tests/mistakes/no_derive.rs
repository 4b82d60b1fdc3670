use inkle::prelude::*;

#[derive(Clone, Copy)]
pub struct Plain {
    pub size: f32,
}

const UNIT: Plain = Plain { size: 1.0 };

#[inkle::kernel]
pub fn by_value(x: &mut Array<f32>, p: Plain) {
    x[tid()] = p.size;
}

#[inkle::kernel]
pub fn elements(plain: &Array<Plain>, x: &mut Array<f32>) {
    let i = tid();
    x[i] = plain[i].size;
}

#[inkle::kernel]
pub fn made(x: &mut Array<f32>) {
    let p = Plain { size: 1.0 };
    x[tid()] = p.size;
}

#[inkle::kernel]
pub fn constant(x: &mut Array<f32>) {
    x[tid()] = UNIT.size;
}

#[inkle::func]
pub fn passed(p: Plain) -> f32 {
    p.size
}

#[inkle::func]
pub fn returned(size: f32) -> Plain {
    Plain { size }
}

#[derive(Clone, Copy, inkle::Struct)]
pub struct Outer {
    pub plain: Plain,
}

pub fn on_the_host() -> inkle::Result<()> {
    let x = Array::from_slice(&[UNIT])?;
    let y = Array::<Plain>::zeros(3)?;
    let z = Array::full([2, 2], UNIT)?;
    Ok(())
}
