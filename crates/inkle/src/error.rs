//! What can go wrong.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

use inkle_graph::GraphError;
use inkle_ir::Type;
use inkle_module::{AotError, CompileError};
use inkle_runtime::{Device, RuntimeError};

/// The result of calls that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Error {
    /// Code of a kernel could not be made or loaded.
    Compile(CompileError),
    /// A device, memory or an array refused.
    Runtime(RuntimeError),
    /// A graph could not be captured, saved, loaded or run.
    Graph(GraphError),
    /// The arguments of a launch are on different devices.
    Devices {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        param: String,
        /// The device of its array.
        found: Device,
        /// The device of the launch.
        expected: Device,
    },
    /// A kernel failed on a GPU; found when the program [waits for each launch](crate::set_verify_cuda).
    Failed {
        /// The kernel.
        kernel: &'static str,
        /// What the driver said.
        error: RuntimeError,
    },
    /// What a prepared launch is to have as an argument fits none of its parameters.
    Argument {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        param: String,
        /// The parameter's type; nothing if the kernel has no such parameter.
        expected: Option<Type>,
        /// The argument's type.
        found: Type,
    },
    /// A prepared launch is to have `&` of an array that the kernel writes.
    Shared {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        param: String,
    },
    /// The extents of a launch are negative or too large.
    Extents {
        /// The kernel.
        kernel: &'static str,
        /// The extents.
        extents: [i64; 4],
    },
    /// A slice has another length than the array.
    Length {
        /// The array's number of elements.
        expected: usize,
        /// The slice's.
        found: usize,
    },
    /// An array has no gradient.
    NoGradient {
        /// Which array.
        what: String,
    },
    /// The memory of an array is not laid out as it has to be.
    Layout {
        /// The array.
        array: String,
        /// What it would have to be.
        wanted: String,
    },
    /// A file could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: Arc<io::Error>,
    },
    /// Kernels that were compiled when the program was built cannot be read.
    Ahead(Arc<AotError>),
    /// The program has neither code of a kernel nor a compiler.
    NotCompiled {
        /// The kernel and the types of its parameters.
        kernel: String,
        /// What there is, and what to do.
        reason: String,
    },
    /// Gradients are not those of difference quotients.
    Gradients {
        /// The gradients of what by what.
        what: String,
        /// The number of the output.
        row: usize,
        /// The number of the input.
        column: usize,
        /// What the backward pass gives.
        gradient: f64,
        /// The difference quotient.
        difference: f64,
    },
    /// The kernel was declared without a backward pass.
    NoBackward {
        /// The kernel.
        kernel: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Compile(error) => error.fmt(f),
            Error::Runtime(error) => error.fmt(f),
            Error::Graph(error) => error.fmt(f),
            Error::Devices { kernel, param, found, expected } => write!(
                f,
                "kernel `{kernel}`: argument `{param}` is an array on device {found}, but the kernel is launched on {expected}"
            ),
            Error::Failed { kernel, error } => write!(f, "kernel `{kernel}` failed: {error}"),
            Error::Argument { kernel, param, expected: None, .. } => {
                write!(f, "kernel `{kernel}` has no parameter `{param}`")
            }
            Error::Argument { kernel, param, expected: Some(expected), found } => {
                write!(
                    f,
                    "kernel `{kernel}`: parameter `{param}` is of type {expected}, and the argument of type {found}"
                )
            }
            Error::Shared { kernel, param } => {
                write!(f, "kernel `{kernel}` writes to `{param}`, so the argument has to be `&mut`")
            }
            Error::Extents { kernel, extents } => write!(
                f,
                "kernel `{kernel}`: a launch over {extents:?} is not possible; extents are not below 0, and their product is below 2^63; \
                 a kernel that asks for its index has one of 32 bits in each dimension"
            ),
            Error::Length { expected, found } => {
                write!(f, "a slice of {found} values for an array of {expected}")
            }
            Error::NoGradient { what } => {
                write!(f, "{what} has no gradient: make it with `with_grad`")
            }
            Error::Layout { array, wanted } => write!(f, "{array} cannot be used as {wanted}"),
            Error::File { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Ahead(error) => error.fmt(f),
            Error::NotCompiled { kernel, reason } => write!(
                f,
                "the program has no code of kernel `{kernel}` and no compiler (inkle is built without its feature `llvm`): {reason}"
            ),
            Error::Gradients { what, row, column, gradient, difference } => write!(
                f,
                "the gradients of {what} are not those of difference quotients: for number {row} by number {column} the backward \
                 pass gives {gradient} and the quotient is {difference}"
            ),
            Error::NoBackward { kernel } => write!(
                f,
                "kernel `{kernel}` has no backward pass: it is declared with `enable_backward = false`"
            ),
        }
    }
}

impl Error {
    /// What waiting for a launch reported: a failed check names its kernel by itself.
    pub(crate) fn failed(kernel: &'static str, error: RuntimeError) -> Error {
        match error {
            RuntimeError::Cuda(_) => Error::Failed { kernel, error },
            other => Error::Runtime(other),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Compile(error) => Some(error),
            Error::Runtime(error) | Error::Failed { error, .. } => Some(error),
            Error::Graph(error) => Some(error),
            Error::Ahead(error) => Some(&**error),
            Error::File { error, .. } => Some(&**error),
            _ => None,
        }
    }
}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        Error::Compile(error)
    }
}

impl From<AotError> for Error {
    fn from(error: AotError) -> Error {
        Error::Ahead(Arc::new(error))
    }
}

impl From<RuntimeError> for Error {
    fn from(error: RuntimeError) -> Error {
        Error::Runtime(error)
    }
}

impl From<GraphError> for Error {
    fn from(error: GraphError) -> Error {
        Error::Graph(error)
    }
}
