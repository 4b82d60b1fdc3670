//! Compiles the robot's kernels, so that its program needs no compiler.

#[path = "src/kernels.rs"]
#[allow(dead_code, reason = "the program uses the rest")]
mod kernels;

fn main() -> Result<(), inkle_build::Error> {
    let kernels = inkle_build::Kernels::new().kernel(kernels::control).kernel(kernels::smooth.of::<f32>());
    if cfg!(feature = "gpu") {
        // PTX is for every GPU from the one it names on: the driver makes code of it, so building takes nothing of NVIDIA's.
        kernels.usual_targets().target("compute_75").build()
    } else {
        kernels.build()
    }
}
