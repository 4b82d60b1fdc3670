//! Kernels and functions as the macros leave them, and their way to a launch.

mod definition;
mod environment;
mod instance;
mod launch;
mod packer;

pub use definition::{Callable, Definition, Name, Site, Text, exact, param, pass, scalar, structure};
pub use instance::{Family, Instance, Settings};
pub use launch::{LaunchOptions, Prepared, launch, launch_with, prepare};
pub(crate) use launch::{Ready, run_backward};
pub use packer::{Argument, FieldOffsets, Packer};

pub(crate) use instance::Facts;
pub(crate) use packer::Held;
