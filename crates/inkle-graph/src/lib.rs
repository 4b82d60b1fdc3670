//! Graphs: a sequence of launches, copies, fills and control flow, recorded once and run again and again.
//!
//! # The operation stream
//!
//! [`OpStream`] is what a capture records, what a live graph runs and what a file holds: there is no other form. It
//! is plain data (no addresses, no handles, no Python) and refers to three tables by index:
//!
//! - *Regions* ([`Region`]): the memory that the operations use, one per allocation. A place in memory is a region and
//!   an offset; which addresses the regions have is known only where the stream runs. A region is *given* (it existed
//!   before the capture; a file holds its contents), *constant* (data copied in by the capture, which no operation
//!   writes) or *internal* (allocated inside the capture; its contents matter only between operations).
//! - *Kernels* ([`Kernel`]): name, parameters, the digest of the kernel's IR and the options it is compiled with. Code
//!   for a device is looked up by the kernel's index, beside the stream.
//! - *Events*: points of one queue that another waits for. A queue is a CUDA stream as the program saw it; on the CPU
//!   there is one.
//!
//! An operation ([`Op`]) is
//!
//! - a launch: kernel, parameter block, and the [`Pointer`]s: which words of the block are addresses, of which region
//!   and offset, which bytes may be reached through them, and whether they are read or written;
//! - a copy or a fill of strided [`View`]s, or an algorithm over them;
//! - `if` and `while`, which own operations and look at one `int32` when they are reached;
//! - the recording of an event, or a wait for one.
//!
//! # Capture
//!
//! [`capture::begin`] makes this thread record. Copies and fills come by [`inkle_runtime::record`], launches from whoever
//! packs their arguments, by [`capture::launch`]. On the CPU a recorded operation does not run. On a GPU it is queued on a
//! stream that the driver captures, so that work of other libraries on that stream is in the graph too (and such a graph can
//! be launched, but not saved). What other threads, and other devices, do is not recorded. Launching a graph while another
//! is captured makes its operations part of it.
//!
//! # Replay
//!
//! A [`Graph`] is a stream with memory for its regions and code for its kernels. On the CPU it is turned once into steps
//! with addresses filled in ([`replay`]), so that a launch of a graph only runs them, without locks, allocation or
//! Python. Operations are ordered by what they read and write: those that do not touch each other's bytes may run at the
//! same time, and do where that is quicker. Results do not depend on it. On a GPU the stream is put on CUDA streams that are
//! captured; bodies become conditional nodes. A capture that somebody else began takes the operations in the same way.
//!
//! [`Graph::rebind`] gives a region other memory, so that a graph works on other arrays without another capture.
//! [`function`] makes a function of tensors of a bundle, for operators of other frameworks.
#![forbid(unsafe_code)]

mod access;
pub mod arguments;
pub mod bundle;
pub mod capture;
mod dot;
mod error;
pub mod function;
mod graph;
mod ops;
mod print;
pub mod replay;
mod schedule;
mod svg;
mod validate;

pub use access::Access;
pub use dot::{bodies, dot, label};
pub use error::GraphError;
pub use graph::{CompiledCode, Graph, KernelSource, KernelUse};
pub use ops::{
    Abi, Condition, Kernel, KernelParam, Launch, Node, Op, OpStream, Pointer, Region, RegionKind, Space, View,
};
pub use svg::svg;
pub use validate::validate;
