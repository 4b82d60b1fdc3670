use inkle::prelude::*;

#[inkle::func]
fn larger(a: &mut f32, b: &mut f32) {
    let chosen = if *a > *b { a } else { b };
    *chosen = 0.0;
}

#[inkle::func]
fn pairs(a: &mut f32, b: &mut f32) {
    let mut first = &mut *a;
    let pair = (first, &mut *b);
    *pair.0 = 1.0;
    let later;
    later = b;
    *later = 2.0;
}

#[inkle::func]
fn of_the_caller(a: &mut Vec3) -> &mut f32 {
    &mut a.x
}

#[inkle::func]
fn used_meanwhile(a: &mut Vec3) {
    let x = &mut a.x;
    a.x = 1.0;
    *x = 2.0;
}
