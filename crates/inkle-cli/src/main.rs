//! The `inkle` command without Python; see the library.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use inkle_cli::{CliError, Program};
use inkle_diag::SourceFile;
use inkle_graph::Graph;
use inkle_module::{CheckOptions, KernelIr, Options, library_function, library_names};
use inkle_python::{FileEnvironment, Library};
use inkle_runtime::Array;
use inkle_runtime::algorithms::Algorithm;

/// Without an interpreter of its own: files are read, not run, and scripts run in the interpreter that `INKLE_PYTHON` names, else in `python3`.
struct Standalone;

impl inkle_cli::Host for Standalone {
    fn python(&self) -> OsString {
        std::env::var_os("INKLE_PYTHON").unwrap_or_else(|| "python3".into())
    }

    fn kernels(&self, path: &Path) -> Result<Vec<Program>, CliError> {
        let fail = |message: String| CliError::Read { path: path.to_owned(), message };
        let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
        let file = SourceFile::register(&path.display().to_string(), &text);
        let library = Library { functions: library_function, names: library_names };
        let env = FileEnvironment::new(&file, library);
        let kernel = |key| {
            let types = env.kernel_types(key).map_err(|e| e.render())?;
            let types = types.ok_or("a generic kernel, which only a program gives types")?;
            let ir =
                KernelIr::build(&env, key, &types, CheckOptions::default()).map_err(|e| e.to_string())?;
            Ok((ir.module().clone(), Options::default()))
        };
        let kernels = env.kernels();
        Ok(kernels
            .iter()
            .map(|(name, key)| Program { name: (*name).to_owned(), kernel: kernel(*key) })
            .collect())
    }

    fn algorithm(&self, _: &Algorithm<Array>) -> Result<Graph, String> {
        Err("the kernels of algorithms are part of the Python package, whose `inkle` command has them"
            .to_owned())
    }
}

fn main() -> ExitCode {
    ExitCode::from(inkle_cli::run(std::env::args_os(), &Standalone, &mut std::io::stdout().lock()))
}
