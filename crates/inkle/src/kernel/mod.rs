//! Kernels and functions as the macros leave them, and their way to a launch.

mod ahead;
mod code;
mod definition;
#[cfg(feature = "llvm")]
mod environment;
mod instance;
mod launch;
mod packer;

pub use ahead::add_kernels;
pub use definition::{Callable, Definition, Name, Site, Text, exact, param, pass, scalar, structure};
#[cfg(feature = "llvm")]
pub use instance::compile_ahead;
pub use instance::{AnyKernel, Family, Instance, Settings, any};
pub use launch::{LaunchOptions, Prepared, launch, launch_with, prepare};
pub(crate) use launch::{Ready, run_backward};
pub use packer::{Argument, FieldOffsets, Packer};

pub(crate) use instance::Facts;
pub(crate) use packer::Held;
