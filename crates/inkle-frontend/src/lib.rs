//! From the untyped kernel tree to typed kernel IR: names, types, overloads, constants. One checker for kernels
//! written in Python and in Rust.
#![forbid(unsafe_code)]

pub mod builtins;
pub mod codes;
pub mod env;
pub mod pattern;
pub mod questions;
pub mod respan;
pub mod signature;
pub mod tree;

mod check;
mod later;

pub use check::{CheckOptions, check_kernel, converted};
