//! The `inkle` command, as the package's console script runs it.

use std::ffi::OsString;
use std::path::Path;

use inkle_cli::{CliError, Host, Program};
use inkle_graph::Graph;
use inkle_runtime::Array;
use inkle_runtime::algorithms::Algorithm;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::kernel::Kernel;
use crate::lowering::record_algorithm;
use crate::module::all_modules;

/// Messages of this level and worse are shown.
const WARNING: i64 = 30;

/// Sets `inkle.config.log_level` and gives what it was.
fn set_log_level(py: Python<'_>, level: i64) -> PyResult<i64> {
    let config = py.import("inkle.config")?;
    let before = config.getattr("log_level")?.extract()?;
    config.setattr("log_level", level)?;
    Ok(before)
}

/// This interpreter.
struct Interpreter {
    executable: OsString,
}

impl Host for Interpreter {
    fn python(&self) -> OsString {
        self.executable.clone()
    }

    fn kernels(&self, path: &Path) -> Result<Vec<Program>, CliError> {
        // What is shown of kernels points into their source.
        inkle_module::recall_kernels(false);
        let found = Python::attach(|py| {
            kernels(py, path).map_err(|error| {
                let traceback = error.traceback(py).and_then(|t| t.format().ok()).unwrap_or_default();
                CliError::Python { message: format!("{traceback}{error}") }
            })
        });
        inkle_module::recall_kernels(true);
        found
    }

    fn algorithm(&self, algorithm: &Algorithm<Array>) -> Result<Graph, String> {
        // What is loaded on the way is no part of what the command prints.
        let before = Python::attach(|py| set_log_level(py, WARNING)).map_err(|error| error.to_string())?;
        let recorded = record_algorithm(algorithm);
        Python::attach(|py| set_log_level(py, before)).map_err(|error| error.to_string())?;
        recorded
    }
}

/// Imports the file and looks at the kernels it defines: those of its modules, and those that its variables hold.
fn kernels(py: Python<'_>, path: &Path) -> PyResult<Vec<Program>> {
    let path = py.import("os.path")?.call_method1("realpath", (path,))?;
    let namespace = py.import("inkle._program")?.call_method1("load", (&path,))?.cast_into::<PyDict>()?;
    let mut found: Vec<Bound<'_, Kernel>> = Vec::new();
    let modules = all_modules(py).into_iter().map(|module| module.get().kernels(py));
    for kernels in modules.collect::<PyResult<Vec<_>>>()?.iter().chain([&namespace]) {
        for value in kernels.values() {
            if let Ok(kernel) = value.cast_into::<Kernel>()
                && !found.iter().any(|known| known.get().definition().key == kernel.get().definition().key)
                && py
                    .import("os.path")?
                    .call_method1("realpath", (kernel.get().definition().origin.file(),))?
                    .eq(&path)?
            {
                found.push(kernel);
            }
        }
    }
    found.sort_by_key(|kernel| kernel.get().definition().origin.line());
    let mut programs = Vec::new();
    for kernel in &found {
        let kernel = kernel.get();
        let types = match kernel.exact_types(py) {
            Ok(Some(types)) => Ok(vec![types]),
            Ok(None) => Ok(kernel.overloads()),
            Err(error) => Err(error.value(py).to_string()),
        };
        let fail = |message: String| Program { name: kernel.key().to_owned(), kernel: Err(message) };
        match types {
            Err(message) => programs.push(fail(message)),
            Ok(types) if types.is_empty() => {
                programs.push(fail("a generic kernel without overloads; wp.overload() declares them".into()));
            }
            Ok(types) => {
                for types in types {
                    let instance = kernel.instance_of_types(py, types)?;
                    programs.push(match instance.kernel(py) {
                        Ok((compiled, options)) => Program {
                            name: kernel.key().to_owned(),
                            kernel: Ok((compiled.ir().module().clone(), options)),
                        },
                        Err(error) => fail(error.value(py).to_string()),
                    });
                }
            }
        }
    }
    Ok(programs)
}

/// Runs the `inkle` command with these arguments, the program's name first, and gives its exit code.
#[pyfunction]
pub fn run_command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let executable = py.import("sys")?.getattr("executable")?.extract()?;
    let host = Interpreter { executable };
    Ok(py.detach(|| inkle_cli::run(arguments, &host, &mut std::io::stdout().lock())))
}
