//! The `inkle` command without Python; see the library.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::process::ExitCode;

/// A program of its own: scripts run in the interpreter that `INKLE_PYTHON` names, else in `python3`.
struct Program;

impl inkle_cli::Host for Program {
    fn python(&self) -> OsString {
        std::env::var_os("INKLE_PYTHON").unwrap_or_else(|| "python3".into())
    }
}

fn main() -> ExitCode {
    ExitCode::from(inkle_cli::run(std::env::args_os(), &Program, &mut std::io::stdout().lock()))
}
