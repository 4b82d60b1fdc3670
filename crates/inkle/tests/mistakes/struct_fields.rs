#[derive(Clone, inkle::Struct)]
pub struct Named {
    name: String,
    size: f32,
}

#[derive(Clone, Copy, inkle::Struct)]
pub struct Pair(f32, f32);

#[derive(Clone, Copy, inkle::Struct)]
pub enum Shape {
    Ball(f32),
}
