//! What can go wrong with graphs, as values.

use std::fmt;

use inkle_runtime::RuntimeError;

use crate::bundle::BundleError;

/// Every failure of a capture or a graph.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the fields are the values that the variant's sentence and its message name")]
pub enum GraphError {
    /// The runtime's failure.
    Runtime(RuntimeError),
    /// The bundle's failure.
    Bundle(BundleError),
    /// A capture on the device is under way on this thread.
    AlreadyCapturing { device: String },
    /// No capture on the device is under way on this thread.
    NotCapturing { device: String },
    /// A capture ends or pauses inside the body of a condition.
    InsideBody { what: &'static str },
    /// A graph was to be resumed that is not paused.
    NotPaused,
    /// A graph is used while its capture is only paused.
    StillCapturing,
    /// Something cannot be part of a graph.
    NotCapturable { what: String },
    /// An address is in no memory that the graph knows.
    UnknownMemory { what: String },
    /// Arrays of another device than the graph's.
    WrongDevice { what: &'static str, expected: String, found: String },
    /// No parameter of that name.
    NoSuchParam { name: String, known: Vec<String> },
    /// An array does not fit the parameter it is given for.
    ParamMismatch { name: String, expected: String, found: String },
    /// A region cannot get other memory, because the graph uses more of it than the array that stands for it.
    CannotRebind { name: String, reason: String },
}

impl From<RuntimeError> for GraphError {
    fn from(error: RuntimeError) -> Self {
        GraphError::Runtime(error)
    }
}

impl From<BundleError> for GraphError {
    fn from(error: BundleError) -> Self {
        GraphError::Bundle(error)
    }
}

impl fmt::Display for GraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use GraphError::*;
        match self {
            Runtime(error) => error.fmt(f),
            Bundle(error) => error.fmt(f),
            AlreadyCapturing { device } => {
                write!(f, "Graph capture already in progress on {device}; end it before another one begins")
            }
            NotCapturing { device } => {
                write!(f, "no graph capture is in progress on {device} in this thread")
            }
            InsideBody { what } => {
                write!(f, "a capture cannot {what} inside the body of a condition or a loop")
            }
            NotPaused => {
                f.write_str("the graph is not paused: only a graph from `capture_pause` can be resumed")
            }
            StillCapturing => f.write_str("the graph's capture has not ended: resume and end it first"),
            NotCapturable { what } => write!(f, "{what} cannot be part of a graph"),
            UnknownMemory { what } => {
                write!(
                    f,
                    "{what} points to memory that no array passed to the launch owns; pass the array itself"
                )
            }
            WrongDevice { what, expected, found } => {
                write!(f, "{what} is on device {found}, but the graph is on {expected}")
            }
            NoSuchParam { name, known } if known.is_empty() => {
                write!(f, "the graph has no parameter `{name}`; it has none at all")
            }
            NoSuchParam { name, known } => {
                write!(f, "the graph has no parameter `{name}`; it has {}", known.join(", "))
            }
            ParamMismatch { name, expected, found } => {
                write!(f, "graph parameter `{name}`: expected {expected}, got {found}")
            }
            CannotRebind { name, reason } => {
                write!(f, "graph parameter `{name}` cannot be another array: {reason}")
            }
        }
    }
}

impl std::error::Error for GraphError {}
