//! Why a command failed.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use inkle_graph::GraphError;
use inkle_graph::bundle::BundleError;
use inkle_module::{CacheError, TargetNameError};

/// Why a command failed.
#[derive(Debug)]
pub enum CliError {
    /// The kernel cache could not be read or changed.
    Cache(CacheError),
    /// The output could not be written.
    Output(io::Error),
    /// A file could not be read, or is not what it should be.
    Read {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A file could not be written.
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no such target.
    Target(TargetNameError),
    /// There is no such target of code in graph files.
    CodeTarget(BundleError),
    /// A graph from a file could not be made ready or run.
    Graph {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: Box<GraphError>,
    },
    /// PTX was asked of a CPU.
    NoPtx {
        /// The target.
        target: String,
    },
    /// The file has no kernel of this name.
    NoKernel {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// The names it has.
        known: Vec<String>,
    },
    /// Python raised.
    Python {
        /// The exception, with its traceback.
        message: String,
    },
    /// A program could not be started.
    Start {
        /// The program.
        program: String,
        /// What the system says.
        error: io::Error,
    },
    /// A script failed.
    Script {
        /// The script.
        path: PathBuf,
        /// How it ended.
        status: ExitStatus,
    },
    /// The system gives no random numbers.
    Random {
        /// What it says.
        message: String,
    },
    /// A script ran and recorded nothing.
    NoTrace {
        /// The script.
        path: PathBuf,
    },
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CliError::Cache(error) => error.fmt(f),
            CliError::Output(error) => write!(f, "the output cannot be written: {error}"),
            CliError::Read { path, message } => write!(f, "{}: {message}", path.display()),
            CliError::Write { path, error } => write!(f, "{}: {error}", path.display()),
            CliError::Target(error) => error.fmt(f),
            CliError::CodeTarget(error) => error.fmt(f),
            CliError::Graph { path, error } => write!(f, "{}: {error}", path.display()),
            CliError::NoPtx { target } => {
                write!(
                    f,
                    "`{target}` is a CPU and has no PTX; name a GPU, `--target sm_90`, or use `--emit asm`"
                )
            }
            CliError::NoKernel { path, name, known } => {
                write!(f, "{} has no kernel `{name}`; it has {}", path.display(), known.join(", "))
            }
            CliError::Python { message } => f.write_str(message),
            CliError::Start { program, error } => write!(f, "{program} cannot be started: {error}"),
            CliError::Script { path, status } => write!(f, "{} failed: {status}", path.display()),
            CliError::Random { message } => write!(f, "the system gives no random numbers: {message}"),
            CliError::NoTrace { path } => write!(
                f,
                "{} recorded nothing: it does not import inkle, or its process was replaced or killed",
                path.display()
            ),
        }
    }
}

impl std::error::Error for CliError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CliError::Cache(error) => Some(error),
            CliError::Target(error) => Some(error),
            CliError::CodeTarget(error) => Some(error),
            CliError::Graph { error, .. } => Some(error),
            CliError::Output(error) | CliError::Write { error, .. } | CliError::Start { error, .. } => {
                Some(error)
            }
            _ => None,
        }
    }
}

impl From<CacheError> for CliError {
    fn from(error: CacheError) -> CliError {
        CliError::Cache(error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> CliError {
        CliError::Output(error)
    }
}

impl From<TargetNameError> for CliError {
    fn from(error: TargetNameError) -> CliError {
        CliError::Target(error)
    }
}
