//! Conversions to and from the types of other crates, each behind the feature of the crate's name.

#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "nalgebra")]
mod nalgebra;
