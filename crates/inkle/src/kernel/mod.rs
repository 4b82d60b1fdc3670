//! Kernels and functions as the macros leave them, and their way to a launch.

mod ahead;
mod code;
mod defaults;
mod definition;
#[cfg(feature = "llvm")]
mod environment;
mod instance;
mod launch;
mod packer;

pub use ahead::add_kernels;
pub use defaults::{Defaults, set_defaults};
pub use definition::{Callable, Definition, Name, Role, Site, Text, exact, param, pass, scalar, structure};
#[cfg(feature = "llvm")]
pub use instance::compile_ahead;
pub use instance::{AnyKernel, Family, Instance, Settings, any, load_kernels};
pub use launch::{LaunchOptions, Prepared, launch, launch_with, prepare, set_verify_cuda};
pub(crate) use launch::{Ready, run_again};
pub use packer::{Argument, FieldOffsets, Packer};

pub(crate) use instance::Facts;
pub(crate) use packer::Held;
