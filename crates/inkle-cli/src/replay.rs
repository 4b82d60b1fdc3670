//! `inkle replay`: runs a graph from a file on arrays from files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use inkle_graph::bundle::{Anew, Compiler};
use inkle_graph::{Graph, GraphError};
use inkle_runtime::{Array, Device, device};
use serde::Serialize;

use crate::{CliError, Context, Outcome, Report, graph_file, npy, sign};

/// Run a graph from a file. Inputs come from arrays that `numpy.save` wrote, outputs become such files; inputs that are
/// not named are as they were when the graph was saved.
#[derive(Args, Debug)]
pub(crate) struct Arguments {
    /// The file.
    path: PathBuf,
    /// An array for a parameter; may be repeated.
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = named)]
    input: Vec<(String, PathBuf)>,
    /// Where to write a parameter when the graph has run; may be repeated.
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = named)]
    output: Vec<(String, PathBuf)>,
    /// Where to run: `cpu`, `cuda:0` ...
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Refuse a file that is not signed with this public key, a file in PEM.
    #[arg(long, value_name = "PUBLIC.pem")]
    key: Option<PathBuf>,
    /// When the kernels are compiled for this machine, from the IR in the file: where that is better than the code in the
    /// file (there is none, or a driver would compile it too), always, or never.
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    recompile: Recompile,
    /// How many times to run, one after the other.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
}

/// When kernels are compiled anew.
#[derive(Clone, Copy, clap::ValueEnum, Debug)]
enum Recompile {
    Auto,
    Always,
    Never,
}

impl From<Recompile> for Anew {
    fn from(when: Recompile) -> Anew {
        match when {
            Recompile::Auto => Anew::WhenBetter,
            Recompile::Always => Anew::Always,
            Recompile::Never => Anew::Never,
        }
    }
}

fn named(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("write NAME=FILE.npy".into()),
    }
}

#[derive(Serialize)]
struct Replayed {
    path: PathBuf,
    device: String,
    /// From the file to a graph that can run, milliseconds.
    load_ms: f64,
    /// The first run, milliseconds.
    first_ms: f64,
    runs: u64,
    /// All runs, milliseconds.
    run_ms: f64,
    outputs: Vec<Output>,
}

#[derive(Serialize)]
struct Output {
    name: String,
    dtype: String,
    shape: Vec<i32>,
    file: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let path = &arguments.path;
    let device = device(&arguments.device).map_err(|error| failed(path)(error.into()))?;
    let compiler = Compiler { recompile: &inkle_module::recompile, when: arguments.recompile.into() };
    let key = arguments.key.as_deref().map(sign::public_key).transpose()?;
    let start = Instant::now();
    let (bundle, _) = graph_file::read(path)?;
    if let Some(key) = &key {
        bundle.require_signer(key).map_err(|error| failed(path)(error.into()))?;
    }
    let graph = bundle.load(device, Some(compiler)).map_err(failed(path))?;
    let load_ms = ms(start);
    // What is asked for is looked up before anything runs.
    for (name, _) in arguments.input.iter().chain(&arguments.output) {
        graph.param(name).map_err(failed(path))?;
    }
    for (name, file) in &arguments.input {
        set(&graph, name, file).map_err(|error| error.of(path))?;
    }
    let start = Instant::now();
    launch(&graph).map_err(failed(path))?;
    let first_ms = ms(start);
    for _ in 1..arguments.repeat {
        graph.launch(None).map_err(failed(path))?;
    }
    synchronize(&graph).map_err(failed(path))?;
    let run_ms = ms(start);
    let mut outputs = Vec::new();
    for (name, file) in &arguments.output {
        outputs.push(get(&graph, name, file).map_err(|error| error.of(path))?);
    }
    let device = device.to_string();
    let runs = arguments.repeat;
    context.show(&Replayed { path: path.clone(), device, load_ms, first_ms, runs, run_ms, outputs })?;
    Ok(Outcome::Right)
}

/// A failure of the graph, or one that already says which file it is about.
enum Failure {
    Graph(GraphError),
    Command(CliError),
}

impl Failure {
    fn of(self, path: &Path) -> CliError {
        match self {
            Failure::Graph(error) => failed(path)(error),
            Failure::Command(error) => error,
        }
    }
}

impl<E: Into<GraphError>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Graph(error.into())
    }
}

fn failed(path: &Path) -> impl Fn(GraphError) -> CliError {
    move |error| CliError::Graph { path: path.to_owned(), error: Box::new(error) }
}

fn ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Runs the graph and waits for it.
fn launch(graph: &Graph) -> Result<(), GraphError> {
    graph.launch(None)?;
    synchronize(graph)
}

fn synchronize(graph: &Graph) -> Result<(), GraphError> {
    if graph.device().is_cuda() {
        graph.device().stream()?.synchronize()?;
    }
    Ok(())
}

fn set(graph: &Graph, name: &str, file: &Path) -> Result<(), Failure> {
    let view = graph.param(name)?.view.clone();
    let bytes = npy::read(file, view.dtype, &view.shape).map_err(Failure::Command)?;
    let shape: Vec<i64> = view.shape.iter().map(|&n| n.into()).collect();
    let array = Array::from_bytes(Device::cpu(), view.dtype, &shape, &bytes)?;
    Ok(graph.write(name, &view, &array, None)?)
}

fn get(graph: &Graph, name: &str, file: &Path) -> Result<Output, Failure> {
    let view = graph.param(name)?.view.clone();
    let shape: Vec<i64> = view.shape.iter().map(|&n| n.into()).collect();
    let array = Array::zeros(Device::cpu(), view.dtype, &shape)?;
    graph.read(name, &view, &array, None)?;
    npy::write(file, view.dtype, &view.shape, &array.to_bytes()?).map_err(Failure::Command)?;
    Ok(Output {
        name: name.to_owned(),
        dtype: view.dtype.python_name(),
        shape: view.shape,
        file: file.to_owned(),
    })
}

impl Report for Replayed {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        let Replayed { path, device, load_ms, first_ms, runs, run_ms, .. } = self;
        let times = if *runs == 1 { String::new() } else { format!(", {runs} runs in {run_ms:.3} ms") };
        writeln!(
            out,
            "{} on {device}: loaded in {load_ms:.3} ms, first run {first_ms:.3} ms{times}",
            path.display()
        )?;
        for Output { name, dtype, shape, file } in &self.outputs {
            writeln!(out, "{name}: {dtype} {shape:?} in {}", file.display())?;
        }
        Ok(())
    }
}
