//! Recorded spans as a file that Perfetto and other viewers of trace events open.

use std::io;
use std::path::Path;
use std::time::UNIX_EPOCH;

use inkle_diag::trace::{self, Event};
use serde::{Deserialize, Serialize};

/// A trace in the trace event format: JSON, times in microseconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// The events.
    #[serde(rename = "traceEvents")]
    pub events: Vec<TraceEvent>,
    /// The unit that viewers show.
    #[serde(rename = "displayTimeUnit")]
    pub unit: String,
    /// What else is known.
    #[serde(rename = "otherData")]
    pub other: TraceOrigin,
}

/// Where a trace was made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceOrigin {
    /// The version of inkle and of the compiler.
    pub compiler: String,
    /// The time 0 of the events: microseconds since 1970.
    pub epoch_us: u64,
}

/// One event.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TraceEvent {
    /// What a viewer writes into the span.
    pub name: String,
    /// The stage.
    pub cat: String,
    /// The kind of event: `X`, a span.
    pub ph: String,
    /// The start.
    pub ts: f64,
    /// How long it took.
    pub dur: f64,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
}

impl Trace {
    /// What was recorded until now; it is recorded no more.
    pub fn take() -> Trace {
        let mut events = trace::take();
        events.sort_by_key(|e| (e.start, std::cmp::Reverse(e.length)));
        let epoch = trace::epoch().1.duration_since(UNIX_EPOCH).unwrap_or_default();
        Trace {
            events: events.iter().map(TraceEvent::from).collect(),
            unit: "ms".to_owned(),
            other: TraceOrigin {
                compiler: inkle_codegen::compiler_version().to_owned(),
                epoch_us: epoch.as_micros().try_into().unwrap_or(u64::MAX),
            },
        }
    }

    /// Writes the trace to a file. Folders are made.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, serde_json::to_vec(self).map_err(io::Error::from)?)
    }

    /// Reads a trace from a file.
    ///
    /// # Errors
    /// When the file cannot be read or is no trace of inkle's.
    pub fn read(path: &Path) -> io::Result<Trace> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    }
}

impl From<&Event> for TraceEvent {
    fn from(event: &Event) -> TraceEvent {
        let stage = event.stage.name();
        let name =
            if event.subject.is_empty() { stage.to_owned() } else { format!("{stage} {}", event.subject) };
        TraceEvent {
            name,
            cat: stage.to_owned(),
            ph: "X".to_owned(),
            ts: event.start.as_nanos() as f64 / 1e3,
            dur: event.length.as_nanos() as f64 / 1e3,
            pid: std::process::id(),
            tid: event.thread,
        }
    }
}
