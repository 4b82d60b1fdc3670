//! The `inkle` command.
//!
//! A library, because LLVM is large: the Python package has it once, in its extension module, and its console script
//! calls [`run`] there. The binary of this crate is the same command for people who have no Python.
//!
//! A subcommand is a module with a `clap` argument type and a function that makes a [`Report`]; [`Context::show`] prints the
//! report as text, or as JSON with `--json`, so that each command has both and they say the same.
//!
//! Exit codes: 0 when all went well, 1 when the command failed or found something wrong, 2 for wrong arguments.
#![forbid(unsafe_code)]

mod bench;
mod cache;
mod compile;
mod convert;
mod error;
mod graph_file;
mod inspect;
mod npy;
mod replay;
mod report;
mod sign;
mod strip;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::{Parser, Subcommand};
use inkle_graph::Graph;
use inkle_module::Options;
use inkle_runtime::Array;
use inkle_runtime::algorithms::Algorithm;

pub use error::CliError;
pub use report::{Context, Outcome, Report};

/// What the command needs from the program it is part of.
pub trait Host: Sync {
    /// The Python interpreter that runs people's scripts.
    fn python(&self) -> OsString;

    /// The kernels of a Python file, in the order of their definitions.
    ///
    /// # Errors
    /// When the file cannot be read or run. Mistakes in a kernel are part of the kernel's result.
    fn kernels(&self, path: &Path) -> Result<Vec<Program>, CliError>;

    /// What an algorithm over arrays does, recorded as launches of kernels.
    ///
    /// # Errors
    /// Why there is no such graph.
    fn algorithm(&self, algorithm: &Algorithm<Array>) -> Result<Graph, String>;
}

/// A kernel of a program.
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its simplified IR and its options, or what is wrong with it.
    pub kernel: Result<(inkle_ir::Module, Options), String>,
}

/// Compiles kernels ahead of time, looks into the kernel cache, shows, runs and signs graph files, and measures cold starts.
#[derive(Parser, Debug)]
#[command(name = "inkle", version, arg_required_else_help = true, infer_subcommands = true)]
struct Arguments {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// The cache of compiled kernels.
    #[command(subcommand)]
    Cache(cache::Command),
    Compile(compile::Arguments),
    Inspect(inspect::Arguments),
    Replay(replay::Arguments),
    Strip(strip::Arguments),
    Convert(convert::Arguments),
    Keygen(sign::KeygenArguments),
    Sign(sign::SignArguments),
    Verify(sign::VerifyArguments),
    /// Measurements.
    #[command(subcommand)]
    Bench(bench::Command),
}

/// Runs the command that `arguments` name, the program's own name first, and gives the exit code.
///
/// Everything is written to `out`; mistakes in the arguments and failures to standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>, host: &dyn Host, out: &mut dyn Write) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help that cannot be written, because its reader is gone, is no failure of ours.
            let _ = error.print();
            return if error.use_stderr() { 2 } else { 0 };
        }
    };
    let mut context = Context::new(arguments.json, host, out);
    let outcome = match &arguments.command {
        Command::Cache(command) => cache::run(command, &mut context),
        Command::Compile(arguments) => compile::run(arguments, &mut context),
        Command::Inspect(arguments) => inspect::run(arguments, &mut context),
        Command::Replay(arguments) => replay::run(arguments, &mut context),
        Command::Strip(arguments) => strip::run(arguments, &mut context),
        Command::Convert(arguments) => convert::run(arguments, &mut context),
        Command::Keygen(arguments) => sign::keygen(arguments, &mut context),
        Command::Sign(arguments) => sign::sign(arguments, &mut context),
        Command::Verify(arguments) => sign::verify(arguments, &mut context),
        Command::Bench(command) => bench::run(command, &mut context),
    };
    match outcome {
        Ok(Outcome::Right) => 0,
        Ok(Outcome::Wrong) => 1,
        // Whoever read the output has enough: `inkle cache list | head`.
        Err(CliError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            context.fail(&error);
            1
        }
    }
}
