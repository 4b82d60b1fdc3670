use inkle::prelude::*;

#[inkle::kernel]
pub fn k<T: Float>(x: &mut Array<T>, v: &mut Array<Vector<3, T>>, a: T) {
    let i = tid();
    x[i] = 0.5;
    x[i] = x[i] * 2.0 + a;
    x[i] += 1.0;
    if x[i] > 1e3 {
        x[i] = -(a / 3.0f32) - -2.5;
    }
    v[i] = v[i] * 0.25;
    v[i].x = 0;
    let half: T = 0.5;
    let mut sum = 0.0;
    for j in 0..3 {
        sum += v[i][j];
    }
    x[i] = sum * half;
}

#[inkle::func]
pub fn above<const N: usize, T: Int>(x: Vector<N, T>, limit: T) -> T {
    for i in 0..N {
        if x[i] > limit {
            return 7;
        }
    }
    if limit % 2 == T::ZERO { limit } else { 0 }
}

#[inkle::func]
pub fn in_a_built_in<T: Float>(x: T) -> T {
    max(x, 0.0)
}

#[inkle::func]
pub fn between<T: Float>(x: T, y: f32) -> T {
    let scaled = y * 2.0;
    let other = if scaled > 1.0 { x } else { 0.0 };
    other
}
