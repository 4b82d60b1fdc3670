//! The functions for C over a driver made of host memory.

#[path = "../../inkle-runtime/tests/fake_driver/driver.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod driver;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "../../inkle-graph/tests/cuda_fake/graphs.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod graphs;

use inkle_runtime::Device;

#[test]
fn a_graph_runs_on_the_caller_s_streams_and_memory() {
    // SAFETY: the fake's functions have the driver's signatures.
    unsafe { inkle_runtime::cuda::install_driver(&graphs::lookup) };
    gpu::check(Device::cuda(0).unwrap());
}
