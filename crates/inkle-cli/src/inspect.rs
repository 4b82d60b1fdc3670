//! `inkle inspect`: what is in a graph file.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use inkle_graph::bundle::{Bundle, Direction, FORMAT_VERSION};
use inkle_graph::{Node, OpStream, RegionKind, Space, bodies, dot, label, svg};
use serde::Serialize;

use crate::report::bytes;
use crate::{CliError, Context, Outcome, Report, graph_file};

/// Show what is in a graph file: its parameters, memory, operations, and the code it has for each machine. Nothing of it
/// is run.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The file.
    path: PathBuf,
    /// Draw the operations, and which of them wait for which, in Graphviz's language.
    #[arg(long, conflicts_with = "svg")]
    dot: bool,
    /// Draw the same as an SVG picture.
    #[arg(long)]
    svg: bool,
    /// In drawings, say all about each operation.
    #[arg(long)]
    details: bool,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let (bundle, file_bytes) = graph_file::read(&arguments.path)?;
    if arguments.dot || arguments.svg {
        let draw = if arguments.svg { svg } else { dot };
        context.show(&Drawing { drawing: draw(&bundle.stream, arguments.details) })?;
    } else {
        context.show(&Inspection::new(arguments.path.clone(), file_bytes, &bundle))?;
    }
    Ok(Outcome::Right)
}

#[derive(Serialize)]
struct Drawing {
    drawing: String,
}

impl Report for Drawing {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(self.drawing.as_bytes())
    }
}

#[derive(Serialize)]
struct Inspection {
    path: PathBuf,
    bytes: u64,
    format: u32,
    producer: String,
    /// The public key of whoever signed it.
    signer: Option<String>,
    params: Vec<Param>,
    memory: Vec<Region>,
    kernels: Vec<Kernel>,
    operations: Vec<Operation>,
    code: Vec<Code>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Param {
    name: String,
    direction: &'static str,
    dtype: String,
    shape: Vec<i32>,
    region: u32,
}

#[derive(Serialize)]
struct Region {
    kind: &'static str,
    space: &'static str,
    bytes: u64,
    /// How many of them are in the file; the others start as zeros.
    file_bytes: u64,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    params: Vec<String>,
    /// The digest of its IR.
    digest: String,
    options: String,
    ir_bytes: u64,
}

#[derive(Serialize)]
struct Operation {
    queue: u32,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bodies: Vec<Body>,
}

#[derive(Serialize)]
struct Body {
    name: &'static str,
    operations: Vec<Operation>,
}

#[derive(Serialize)]
struct Code {
    kernel: String,
    target: String,
    lanes: u32,
    bytes: u64,
}

impl Inspection {
    fn new(path: PathBuf, file_bytes: u64, bundle: &Bundle) -> Inspection {
        let stream = &bundle.stream;
        let name =
            |kernel: u32| stream.kernels.get(kernel as usize).map_or(String::new(), |k| k.name.clone());
        Inspection {
            path,
            bytes: file_bytes,
            format: FORMAT_VERSION,
            producer: bundle.producer.clone(),
            signer: bundle.signer.map(|signer| signer.to_string()),
            params: bundle
                .params
                .iter()
                .map(|param| Param {
                    name: param.name.clone(),
                    direction: match param.direction {
                        Direction::Input => "input",
                        Direction::Output => "output",
                    },
                    dtype: param.view.dtype.python_name(),
                    shape: param.view.shape.clone(),
                    region: param.view.region,
                })
                .collect(),
            memory: stream
                .regions
                .iter()
                .zip(&bundle.memory)
                .map(|(region, contents)| Region {
                    kind: match region.kind {
                        RegionKind::Given => "given",
                        RegionKind::Constant => "constant",
                        RegionKind::Internal => "internal",
                    },
                    space: match region.space {
                        Space::Host => "host",
                        Space::Device => "device",
                    },
                    bytes: region.bytes,
                    file_bytes: contents.as_ref().map_or(0, |contents| contents.bytes().len() as u64),
                })
                .collect(),
            kernels: stream
                .kernels
                .iter()
                .zip(&bundle.ir)
                .map(|(kernel, ir)| Kernel {
                    name: kernel.name.clone(),
                    params: kernel.params.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect(),
                    digest: kernel.digest.iter().map(|byte| format!("{byte:02x}")).collect(),
                    options: kernel.options.clone(),
                    ir_bytes: ir.len() as u64,
                })
                .collect(),
            operations: operations(stream, &stream.body),
            code: bundle
                .code
                .iter()
                .map(|entry| Code {
                    kernel: name(entry.kernel),
                    target: entry.target.to_string(),
                    lanes: entry.lanes,
                    bytes: entry.image.bytes().len() as u64,
                })
                .collect(),
            notes: bundle.notes.clone(),
        }
    }
}

fn operations(stream: &OpStream, nodes: &[Node]) -> Vec<Operation> {
    nodes
        .iter()
        .map(|node| Operation {
            queue: node.queue,
            text: label(stream, &node.op, true),
            bodies: bodies(&node.op)
                .into_iter()
                .filter(|(_, body)| !body.is_empty())
                .map(|(name, body)| Body { name, operations: operations(stream, body) })
                .collect(),
        })
        .collect()
}

fn write_operations(operations: &[Operation], depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let indent = "  ".repeat(depth);
    for operation in operations {
        let queue = if operation.queue == 0 { String::new() } else { format!("queue {}: ", operation.queue) };
        writeln!(out, "{indent}{queue}{}", operation.text)?;
        for body in &operation.bodies {
            writeln!(out, "{indent}  {}:", body.name)?;
            write_operations(&body.operations, depth + 2, out)?;
        }
    }
    Ok(())
}

impl Report for Inspection {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Inspection { path, format, producer, .. } = self;
        writeln!(out, "{}: {}, format {format}, from {producer}", path.display(), bytes(self.bytes))?;
        if let Some(signer) = &self.signer {
            writeln!(out, "signed with {signer}")?;
        }
        writeln!(out, "\nparameters")?;
        for Param { direction, name, dtype, shape, region } in &self.params {
            writeln!(out, "  {direction:<6} {name}: {dtype} {shape:?}, in r{region}")?;
        }
        let total = |of: fn(&Region) -> u64| bytes(self.memory.iter().map(of).sum());
        writeln!(out, "\nmemory: {}, {} in the file", total(|r| r.bytes), total(|r| r.file_bytes))?;
        for (index, Region { kind, space, bytes: size, file_bytes }) in self.memory.iter().enumerate() {
            let held = if *file_bytes > 0 { ", in the file" } else { "" };
            writeln!(out, "  r{index}: {}, {space}, {kind}{held}", bytes(*size))?;
        }
        writeln!(out, "\noperations")?;
        write_operations(&self.operations, 1, out)?;
        writeln!(out, "\nkernels")?;
        for Kernel { name, params, options, ir_bytes, .. } in &self.kernels {
            let ir = if *ir_bytes > 0 { format!("IR {}", bytes(*ir_bytes)) } else { "no IR".into() };
            writeln!(out, "  {name}({}), {options}, {ir}", params.join(", "))?;
        }
        writeln!(out, "\ncode: {}", bytes(self.code.iter().map(|code| code.bytes).sum()))?;
        for Code { kernel, target, lanes, bytes: size } in &self.code {
            writeln!(out, "  {kernel:<32} {target:<12} {lanes:>2} lanes  {:>10}", bytes(*size))?;
        }
        for note in &self.notes {
            writeln!(out, "note: {note}")?;
        }
        Ok(())
    }
}
