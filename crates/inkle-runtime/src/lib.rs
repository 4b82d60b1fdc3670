//! Devices, streams, memory, arrays and launches: everything between compiled code and a running kernel.
//!
//! - [`Device`]: the CPU, and each GPU that the CUDA driver finds. The driver is loaded when a GPU is first asked
//!   for; without one, everything else works. A GPU's context is made when that GPU is first used.
//! - [`Stream`] and [`Event`]: the order of work on a GPU. Work on the CPU is done when the call returns.
//! - [`Allocation`] and [`Array`]: memory with one owner, and typed strided views of it.
//! - [`elf::LoadedObject`] and [`CudaModule`]: code; [`CpuFunction`] and [`CudaFunction`]: kernels to launch.
//! - [`symbols`]: the functions that CPU code may call.
//! - [`record`]: how a graph gets to see what a thread does.
//!
//! *Invariant:* no device is ever synchronised behind the caller's back. The calls that wait say so: those named
//! `synchronize`, copies to or from ordinary (not page-locked) CPU memory, which wait for their own stream, and an
//! allocation that would otherwise fail.
//!
//! *Invariant:* this crate knows neither the compiler nor Python. Compiled code is trusted: loading checks that
//! it is well-formed, and nobody can check what it does.
//!
//! ```
//! use inkle_ir::Type;
//! use inkle_runtime::{Array, Device, Slice};
//!
//! let a = Array::zeros(Device::cpu(), Type::F32, &[2, 3])?;
//! let column = a.index(1, -1)?;
//! column.fill(&1f32.to_le_bytes(), None)?;
//! let packed = a.slice(1, Slice { step: -1, ..Slice::ALL })?.to_contiguous(None)?;
//! let values: Vec<f32> = packed.to_bytes()?.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
//! assert_eq!(values, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
//! # Ok::<(), inkle_runtime::RuntimeError>(())
//! ```
#![warn(missing_docs)]

pub mod algorithms;
mod arena;
mod array;
pub mod coloring;
pub mod cuda;
mod device;
pub mod elf;
mod error;
mod launch;
mod memory;
pub mod record;
mod stream;
pub mod symbols;

pub use array::{Array, HostBytes, HostBytesMut, Index, Prepared, Referent, Slice, Units};
pub use device::{
    Device, cuda_device_count, cuda_driver_version, cuda_status, default_device, device, devices,
    set_default_device,
};
pub use error::{CudaError, ErrorClass, RuntimeError};
pub use launch::{
    CpuEntry, CpuFunction, CudaFunction, CudaModule, LaunchConfig, Loaded, MAX_CPU_THREADS, MakeLate,
    cpu_threads, default_cpu_threads, run_together, set_cpu_threads,
};
pub use memory::{
    Allocation, HOST_ALIGN, KeepAlive, MemoryKind, any_memory_lent, collect_retired, next_serial,
};
pub use stream::{Event, Stream};
