//! `inkle convert`: a graph file that needs nothing of Warp's, nor of Python's, on a GPU.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use inkle_graph::bundle::{CodeTarget, write_file};
use serde::Serialize;

use crate::report::bytes;
use crate::{CliError, Context, Outcome, Report, graph_file};

/// Write a graph file anew, for machines without Python: a file of Warp's, with the code in its folder, becomes one of
/// inkle's, and algorithms of `wp.utils` become kernels, which graphs on GPUs can have. A signature goes: sign the result.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The file.
    path: PathBuf,
    /// Where to write.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// A machine that the kernels of algorithms get code for besides the usual ones, such as `sm_90`; may be repeated.
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
}

#[derive(Serialize)]
struct Converted {
    path: PathBuf,
    bytes: u64,
    /// How many algorithms became kernels.
    algorithms: usize,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let named = arguments.target.iter().map(|name| name.parse::<CodeTarget>());
    let named = named.collect::<Result<Vec<_>, _>>().map_err(CliError::CodeTarget)?;
    let (mut bundle, _) = graph_file::read(&arguments.path)?;
    let algorithms = bundle.algorithm_count();
    if algorithms > 0 {
        let record = |algorithm: &_| context.host().algorithm(algorithm);
        let lowered = bundle.lower_algorithms(&record, Some(&named));
        lowered
            .map_err(|error| CliError::Read { path: arguments.path.clone(), message: error.to_string() })?;
    }
    let file = bundle.to_bytes();
    let path = arguments.output.clone();
    write_file(&path, &file).map_err(|error| CliError::Write { path: path.clone(), error })?;
    context.show(&Converted { path, bytes: file.len() as u64, algorithms })?;
    Ok(Outcome::Right)
}

impl Report for Converted {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let kernels = match self.algorithms {
            0 => String::new(),
            1 => ", one algorithm as kernels".to_owned(),
            count => format!(", {count} algorithms as kernels"),
        };
        writeln!(out, "{}: {}{kernels}", self.path.display(), bytes(self.bytes))
    }
}
