//! The CUDA driver, in three layers: `sys` is the driver's functions, found at run time; `owned` has one
//! owner for each handle; the safe API is the rest of the crate.
//!
//! The driver is loaded on first use. Nothing here runs when only the CPU is used, and contexts are made
//! for a device when that device is first used.

mod graph;
pub(crate) mod owned;
pub(crate) mod record;
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "only a driver has use for all of it"))]
pub(crate) mod sys;

pub use graph::{
    Body, CaptureMode, CudaGraph, PausedCapture, has_conditional_nodes, relaxed, require_conditional_nodes,
};
pub(crate) use graph::{Relaxed, drop_unkept};
#[cfg(feature = "cuda")]
pub use sys::{SymbolLookup, install_driver};
