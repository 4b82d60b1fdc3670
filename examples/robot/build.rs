//! Compiles the robot's kernels, so that its program needs no compiler.

#[path = "src/kernels.rs"]
#[allow(dead_code, reason = "the program uses the rest")]
mod kernels;

fn main() -> Result<(), inkle_build::Error> {
    inkle_build::Kernels::new().kernel(kernels::control).kernel(kernels::smooth.of::<f32>()).build()
}
