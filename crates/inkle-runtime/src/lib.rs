//! Devices, streams, memory, arrays and launches.
#![warn(missing_docs)]

mod array;
pub mod cuda;
mod device;
pub mod elf;
mod error;
mod launch;
mod memory;
mod stream;
pub mod symbols;

pub use array::{Array, Index, Slice};
pub use device::{
    Device, cuda_device_count, cuda_driver_version, cuda_status, default_device, device, devices,
    set_default_device,
};
pub use error::{CudaError, ErrorClass, RuntimeError};
pub use launch::{
    CpuEntry, CpuFunction, CudaFunction, CudaModule, LaunchConfig, MAX_CPU_THREADS, cpu_threads,
    set_cpu_threads,
};
pub use memory::{Allocation, HOST_ALIGN, KeepAlive, MemoryKind, collect_retired};
pub use stream::{Event, Stream};
