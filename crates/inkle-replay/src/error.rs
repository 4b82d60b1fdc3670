//! What can go wrong with a replay, as values.

use std::fmt;
use std::io;
use std::path::PathBuf;

use inkle_graph::GraphError;
use inkle_graph::bundle::BundleError;
use inkle_runtime::{ErrorClass, RuntimeError};

/// Every failure of a replay.
#[derive(Debug)]
pub enum ReplayError {
    /// The file cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Something of the graph or of the machine.
    Graph(GraphError),
    /// The caller's memory has another size than the parameter.
    ByteCount {
        /// The parameter.
        name: String,
        /// Its size, bytes.
        expected: usize,
        /// The size of the memory, bytes.
        found: usize,
    },
    /// Numbers of another type than those of the parameter.
    NumberType {
        /// The parameter.
        name: String,
        /// The type of its elements.
        expected: String,
        /// The type of the numbers.
        found: &'static str,
    },
    /// A stream was given to a graph on the CPU.
    StreamOnCpu,
    /// An argument of the C interface that no value of its type may be.
    Argument {
        /// What is wrong.
        what: String,
    },
}

/// The kinds of failures, for callers that act on them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// An argument is wrong.
    InvalidArgument,
    /// No parameter of that name.
    NoSuchParam,
    /// The memory, numbers or device do not fit the parameter.
    Mismatch,
    /// The file cannot be read.
    File,
    /// The file is no graph file, or is damaged.
    BadBundle,
    /// The file is of another version of the format.
    Version,
    /// The file has no code for this machine.
    NoCode,
    /// The file is not signed with the key that it has to be signed with.
    Signer,
    /// The machine lacks a driver, a device or a feature.
    Unavailable,
    /// Memory could not be had.
    OutOfMemory,
    /// The CUDA driver reported a failure.
    Driver,
    /// A kernel reported a failure while it ran.
    Kernel,
}

impl ReplayError {
    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ReplayError::File { .. } => ErrorKind::File,
            ReplayError::ByteCount { .. } | ReplayError::NumberType { .. } => ErrorKind::Mismatch,
            ReplayError::StreamOnCpu | ReplayError::Argument { .. } => ErrorKind::InvalidArgument,
            ReplayError::Graph(error) => graph_kind(error),
        }
    }
}

fn graph_kind(error: &GraphError) -> ErrorKind {
    match error {
        GraphError::Runtime(error) => runtime_kind(error),
        GraphError::Bundle(BundleError::Version { .. }) => ErrorKind::Version,
        GraphError::Bundle(BundleError::NoCode { .. }) => ErrorKind::NoCode,
        GraphError::Bundle(BundleError::Signer { .. }) => ErrorKind::Signer,
        GraphError::Bundle(BundleError::BadKey { .. }) => ErrorKind::InvalidArgument,
        GraphError::Bundle(_) => ErrorKind::BadBundle,
        GraphError::NoSuchParam { .. } => ErrorKind::NoSuchParam,
        GraphError::ParamMismatch { .. }
        | GraphError::WrongDevice { .. }
        | GraphError::CannotRebind { .. } => ErrorKind::Mismatch,
        // On a GPU there are operations that graphs do not have there.
        GraphError::NotCapturable { .. } => ErrorKind::Unavailable,
        _ => ErrorKind::InvalidArgument,
    }
}

fn runtime_kind(error: &RuntimeError) -> ErrorKind {
    match error.class() {
        ErrorClass::InvalidArgument | ErrorClass::OutOfRange | ErrorClass::NotInGraph => {
            ErrorKind::InvalidArgument
        }
        ErrorClass::OutOfMemory => ErrorKind::OutOfMemory,
        ErrorClass::Unavailable => ErrorKind::Unavailable,
        ErrorClass::Driver => ErrorKind::Driver,
        ErrorClass::Kernel => ErrorKind::Kernel,
        ErrorClass::BadCode => ErrorKind::BadBundle,
    }
}

impl From<GraphError> for ReplayError {
    fn from(error: GraphError) -> ReplayError {
        ReplayError::Graph(error)
    }
}

impl From<BundleError> for ReplayError {
    fn from(error: BundleError) -> ReplayError {
        ReplayError::Graph(error.into())
    }
}

impl From<RuntimeError> for ReplayError {
    fn from(error: RuntimeError) -> ReplayError {
        ReplayError::Graph(error.into())
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::File { path, error } => write!(f, "{}: {error}", path.display()),
            ReplayError::Graph(error) => error.fmt(f),
            ReplayError::ByteCount { name, expected, found } => {
                write!(f, "graph parameter `{name}` has {expected} bytes, the memory given for it {found}")
            }
            ReplayError::NumberType { name, expected, found } => {
                write!(f, "graph parameter `{name}` is of {expected}, the numbers given for it are {found}")
            }
            ReplayError::StreamOnCpu => {
                f.write_str("a stream was given for a graph on the CPU, which has none; pass a null pointer")
            }
            ReplayError::Argument { what } => f.write_str(what),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReplayError::File { error, .. } => Some(error),
            ReplayError::Graph(error) => Some(error),
            _ => None,
        }
    }
}
