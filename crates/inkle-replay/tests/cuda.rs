//! The functions for C on a real GPU.

#[path = "common/gpu.rs"]
mod gpu;

use inkle_runtime::{Device, cuda_status};

#[test]
fn a_graph_runs_on_the_caller_s_streams_and_memory() {
    match cuda_status() {
        Ok(()) => gpu::check(Device::cuda(0).unwrap()),
        Err(error) => println!("skipped: no CUDA driver ({error})"),
    }
}
