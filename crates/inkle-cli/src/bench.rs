//! `inkle bench cold-start`: how long a program takes to start where nothing was compiled before, and what for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use inkle_module::{Trace, TraceEvent};
use serde::Serialize;

use crate::{CliError, Context, Outcome, Report};

/// What to measure.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run a script with empty caches, inkle's and the GPU driver's, and again with what that left in them; print how
    /// long both took and what for. What the system itself caches of files is left alone.
    ColdStart(ColdStart),
}

/// The arguments of `cold-start`.
#[derive(Args, Debug)]
pub(crate) struct ColdStart {
    /// How often to measure; the run with the median time is reported.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// The script.
    script: PathBuf,
    /// Its arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub(crate) fn run(command: &Command, context: &mut Context<'_>) -> Result<Outcome, CliError> {
    let Command::ColdStart(arguments) = command;
    let mut runs = Vec::new();
    for _ in 0..arguments.runs {
        let folder = Folder::new()?;
        let cold = measure(arguments, &folder.0, context)?;
        let warm = measure(arguments, &folder.0, context)?;
        runs.push((cold, warm));
    }
    runs.sort_by(|a, b| a.0.total_ms.total_cmp(&b.0.total_ms));
    let (cold, warm) = runs.swap_remove(runs.len() / 2);
    context.show(&Comparison { script: arguments.script.clone(), runs: arguments.runs, cold, warm })?;
    Ok(Outcome::Right)
}

/// A folder for caches, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, CliError> {
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let path = std::env::temp_dir().join(format!("inkle-bench-{}-{nanos}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| CliError::Write { path: path.clone(), error })?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left lies in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What one stage took.
#[derive(Serialize, Default, Clone, PartialEq, Debug)]
struct StageTime {
    /// Without the stages within it, summed over threads.
    ms: f64,
    spans: usize,
}

/// One run.
#[derive(Serialize, Clone, PartialEq, Debug)]
struct Run {
    total_ms: f64,
    /// Until inkle was imported: the interpreter and what the script imports before.
    start_ms: f64,
    /// During which some thread was compiling, loading or looking for code.
    compile_ms: f64,
    /// The rest: the script's own work and its launches.
    other_ms: f64,
    /// Kernels that were made ready.
    kernels: usize,
    stages: BTreeMap<String, StageTime>,
}

#[derive(Serialize)]
struct Comparison {
    script: PathBuf,
    runs: u16,
    cold: Run,
    warm: Run,
}

fn measure(arguments: &ColdStart, folder: &Path, context: &Context<'_>) -> Result<Run, CliError> {
    let trace = folder.join("trace.json");
    let mut process = Process::new(context.host().python());
    process
        .arg(&arguments.script)
        .args(&arguments.arguments)
        .env("INKLE_CACHE_PATH", folder.join("inkle"))
        .env("CUDA_CACHE_PATH", folder.join("driver"))
        .env("INKLE_COMPILE_TIME_TRACE", &trace)
        .env_remove("INKLE_CACHE_REMOTE")
        // The output is the report.
        .stdout(Stdio::from(io::stderr()));
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let start = Instant::now();
    let status = process.status().map_err(|error| CliError::Start {
        program: context.host().python().to_string_lossy().into_owned(),
        error,
    })?;
    let total_ms = start.elapsed().as_secs_f64() * 1e3;
    if !status.success() {
        return Err(CliError::Script { path: arguments.script.clone(), status });
    }
    let trace = Trace::read(&trace).map_err(|_| CliError::NoTrace { path: arguments.script.clone() })?;
    let start_ms = (trace.other.epoch_us as f64 - clock.as_micros() as f64).max(0.0) / 1e3;
    let compile_ms = covered(&trace.events) / 1e3;
    let mut stages: BTreeMap<String, StageTime> = BTreeMap::new();
    for (event, own) in trace.events.iter().zip(own_times(&trace.events)) {
        let stage = stages.entry(event.cat.clone()).or_default();
        stage.ms += own / 1e3;
        stage.spans += 1;
    }
    let kernels = stages.get("kernel").map_or(0, |stage| stage.spans);
    let other_ms = (total_ms - start_ms - compile_ms).max(0.0);
    Ok(Run { total_ms, start_ms, compile_ms, other_ms, kernels, stages })
}

/// The time that some event covers, microseconds. The events are in the order of their starts.
fn covered(events: &[TraceEvent]) -> f64 {
    let (mut sum, mut end) = (0.0, f64::MIN);
    for event in events {
        let stop = event.ts + event.dur;
        sum += (stop - end.max(event.ts)).max(0.0);
        end = end.max(stop);
    }
    sum
}

/// What each event took without those within it, microseconds. The events are in the order of their starts.
fn own_times(events: &[TraceEvent]) -> Vec<f64> {
    let mut own: Vec<f64> = events.iter().map(|e| e.dur).collect();
    let mut open: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, event) in events.iter().enumerate() {
        let stack = open.entry(event.tid).or_default();
        while stack.last().is_some_and(|&outer| events[outer].ts + events[outer].dur <= event.ts) {
            stack.pop();
        }
        if let Some(&outer) = stack.last() {
            own[outer] -= event.dur;
        }
        stack.push(index);
    }
    own
}

impl Report for Comparison {
    fn text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{:<28} {:>12} {:>12}", self.script.display().to_string(), "cold, ms", "warm, ms")?;
        let mut line =
            |name: &str, cold: f64, warm: f64| writeln!(out, "{name:<28} {cold:>12.1} {warm:>12.1}");
        line("total", self.cold.total_ms, self.warm.total_ms)?;
        line("  until inkle is imported", self.cold.start_ms, self.warm.start_ms)?;
        line("  compiling and loading", self.cold.compile_ms, self.warm.compile_ms)?;
        line("  everything else", self.cold.other_ms, self.warm.other_ms)?;
        let mut names: Vec<&String> = self.cold.stages.keys().chain(self.warm.stages.keys()).collect();
        names.sort();
        names.dedup();
        let ms = |run: &Run, name: &str| run.stages.get(name).map_or(0.0, |s| s.ms);
        names.sort_by(|a, b| ms(&self.cold, b).total_cmp(&ms(&self.cold, a)));
        for name in names {
            line(&format!("    {name}"), ms(&self.cold, name), ms(&self.warm, name))?;
        }
        writeln!(out, "{:<28} {:>12} {:>12}", "  kernels made ready", self.cold.kernels, self.warm.kernels)?;
        writeln!(out, "stages are summed over threads and may exceed the time that passed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(cat: &str, ts: f64, dur: f64, tid: u32) -> TraceEvent {
        TraceEvent { name: cat.into(), cat: cat.into(), ph: "X".into(), ts, dur, pid: 1, tid }
    }

    #[test]
    fn stages_are_counted_without_what_lies_within_them() {
        let events = [
            event("kernel", 0.0, 10.0, 0),
            event("LLVM", 1.0, 4.0, 0),
            event("kernel", 2.0, 12.0, 1),
            event("object", 6.0, 3.0, 0),
            event("kernel", 20.0, 5.0, 0),
        ];
        assert_eq!(own_times(&events), [3.0, 4.0, 12.0, 3.0, 5.0]);
        assert_eq!(covered(&events), 19.0);
    }
}
