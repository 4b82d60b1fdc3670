//! Runs graphs from files.
//!
//! A program captures a graph with inkle and saves it (`capture_save` in Python); this library opens the file and runs
//! it: on CPUs, and on NVIDIA GPUs through the driver. It has no compiler, no Python, and needs the C library only. The
//! CUDA driver is loaded when a GPU is first asked for.
//!
//! ```no_run
//! use inkle_replay::{Device, Replay};
//!
//! let replay = Replay::open("policy.inkle", Device::cpu())?;
//! for param in replay.params() {
//!     println!("{} {} {:?}", param.name, param.view.dtype.python_name(), param.view.shape);
//! }
//! replay.set("observation", &[0.0f32; 12])?;
//! replay.launch(None)?;
//! let action: Vec<f32> = replay.get("action")?;
//! # Ok::<(), inkle_replay::ReplayError>(())
//! ```
//!
//! From C and C++ the same is in `include/inkle_replay.h`, which [`c`] is the source of.
//!
//! *Invariant:* whatever a file holds, opening it gives a replay or an error; no panic leaves the C functions.

pub mod c;
mod error;
mod number;
mod replay;

pub use error::{ErrorKind, ReplayError};
pub use inkle_graph::bundle::{Direction, Param, PublicKey};
pub use inkle_runtime::{Array, Device, Stream, device, set_cpu_threads};
pub use number::Number;
pub use replay::{Place, Replay, param_bytes, param_span};
