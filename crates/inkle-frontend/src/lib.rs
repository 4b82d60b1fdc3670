//! From the untyped kernel tree to typed kernel IR: names, types, overloads, constants. One checker for kernels
//! written in Python and in Rust.
#![forbid(unsafe_code)]

pub mod tree;
