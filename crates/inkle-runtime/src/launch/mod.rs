//! Running compiled kernels.

mod apart;
mod cost;
mod cpu;
mod cuda;
mod late;
pub(crate) mod pool;
mod share;
mod updates;

pub use cpu::{CpuEntry, CpuFunction};
pub use cuda::{CudaFunction, CudaModule, LaunchConfig};
pub use late::MakeLate;
pub use pool::{MAX_CPU_THREADS, cpu_threads, default_cpu_threads, run_together, set_cpu_threads};

/// A kernel loaded on a device.
#[derive(Debug)]
pub enum Loaded {
    /// On the CPU.
    Cpu(CpuFunction),
    /// On a GPU.
    Cuda {
        /// The kernel.
        function: CudaFunction,
        /// Threads of a launch that one hardware thread runs.
        lanes: u32,
    },
}
