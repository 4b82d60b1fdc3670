//! Running compiled kernels.

mod cpu;
mod cuda;
pub(crate) mod pool;

pub use cpu::{CpuEntry, CpuFunction};
pub use cuda::{CudaFunction, CudaModule, LaunchConfig};
pub use pool::{MAX_CPU_THREADS, cpu_threads, set_cpu_threads};
