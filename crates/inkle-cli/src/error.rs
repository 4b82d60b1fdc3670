//! Why a command failed.

use std::fmt;
use std::io;

use inkle_module::CacheError;

/// Why a command failed.
#[derive(Debug)]
pub enum CliError {
    /// The kernel cache could not be read or changed.
    Cache(CacheError),
    /// The output could not be written.
    Output(io::Error),
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CliError::Cache(error) => error.fmt(f),
            CliError::Output(error) => write!(f, "the output cannot be written: {error}"),
        }
    }
}

impl std::error::Error for CliError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CliError::Cache(error) => Some(error),
            CliError::Output(error) => Some(error),
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
