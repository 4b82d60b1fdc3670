use inkle::prelude::*;

pub fn first(x: &Array<f32>) -> f32 {
    x[0]
}
