//! The `inkle` command, as the package's console script runs it.

use std::ffi::OsString;

use inkle_cli::Host;
use pyo3::prelude::*;

/// This interpreter.
struct Interpreter {
    executable: OsString,
}

impl Host for Interpreter {
    fn python(&self) -> OsString {
        self.executable.clone()
    }
}

/// Runs the `inkle` command with these arguments, the program's name first, and gives its exit code.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let executable = py.import("sys")?.getattr("executable")?.extract()?;
    let host = Interpreter { executable };
    Ok(py.detach(|| inkle_cli::run(arguments, &host, &mut std::io::stdout().lock())))
}
