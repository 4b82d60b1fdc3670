//! `inkle strip`: a graph file with the code of some machines only.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use inkle_graph::bundle::{CodeTarget, write_file};
use serde::Serialize;

use crate::report::bytes;
use crate::{CliError, Context, Outcome, Report, graph_file};

/// Leave the code of other machines out of a graph file, in place unless `--output` names another file. A signature goes:
/// sign the result.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The file.
    path: PathBuf,
    /// A machine whose code stays, as `inkle inspect` names it: `x86-64-v3`, `aarch64`, `sm_90`, `compute_75` ...; may be
    /// repeated.
    #[arg(long, value_name = "TARGET", required = true)]
    target: Vec<String>,
    /// Leave out the kernels' IR too, from which inkle compiles them for other machines.
    #[arg(long)]
    without_ir: bool,
    /// Where to write.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Serialize)]
struct Stripped {
    path: PathBuf,
    bytes_before: u64,
    bytes: u64,
    /// Whether the file was signed, which the result is not.
    was_signed: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let fail = |message: String| CliError::Read { path: arguments.path.clone(), message };
    let targets = arguments.target.iter().map(|name| name.parse::<CodeTarget>());
    let targets = targets.collect::<Result<Vec<_>, _>>().map_err(CliError::CodeTarget)?;
    let (mut bundle, bytes_before) = graph_file::read(&arguments.path)?;
    for target in &targets {
        for (index, kernel) in bundle.stream.kernels.iter().enumerate() {
            let mut known = bundle.code.iter().filter(|entry| entry.kernel as usize == index);
            if !known.clone().any(|entry| entry.target == *target) {
                let has: Vec<String> = known.by_ref().map(|entry| entry.target.to_string()).collect();
                return Err(fail(format!(
                    "has no code of kernel `{}` for {target}; it has code for {}",
                    kernel.name,
                    if has.is_empty() { "nothing".to_owned() } else { has.join(", ") }
                )));
            }
        }
    }
    bundle.code.retain(|entry| targets.contains(&entry.target));
    if arguments.without_ir {
        bundle.ir.iter_mut().for_each(String::clear);
    }
    let path = arguments.output.as_ref().unwrap_or(&arguments.path);
    let file = bundle.to_bytes();
    write_file(path, &file).map_err(|error| CliError::Write { path: path.clone(), error })?;
    let (path, bytes, was_signed) = (path.clone(), file.len() as u64, bundle.signer.is_some());
    context.show(&Stripped { path, bytes_before, bytes, was_signed })?;
    Ok(Outcome::Right)
}

impl Report for Stripped {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let signature = if self.was_signed { ", no longer signed" } else { "" };
        writeln!(
            out,
            "{}: {} instead of {}{signature}",
            self.path.display(),
            bytes(self.bytes),
            bytes(self.bytes_before)
        )
    }
}
