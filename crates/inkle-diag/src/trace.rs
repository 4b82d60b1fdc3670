//! Where compilation spends its time: spans that a program can record and look at.
//!
//! A [`span`] lasts as long as its value. While nothing is recorded it costs one load of a flag. Spans of one thread lie
//! within each other or apart, so a tool can draw them as a tree. A program can also [`observe`] spans as they begin and end.

use std::any::Any;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Whether spans are recorded, and whether they are observed.
static WANTED: AtomicU8 = AtomicU8::new(0);
const RECORDED: u8 = 1;
const OBSERVED: u8 = 2;
static OBSERVER: OnceLock<Observer> = OnceLock::new();
static EVENTS: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// A stage of the way from source to launch, as traces name it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Stage {
    /// A kernel being made ready; the other stages lie within.
    Kernel,
    /// A source file being read and parsed.
    Parse,
    /// Names, types and overloads.
    Types,
    /// Simplification of the kernel IR.
    Ir,
    /// Differentiation.
    Adjoint,
    /// Looking for code in the kernel cache, waiting for another process that makes it, and keeping it.
    Cache,
    /// Kernel IR to LLVM IR.
    Lower,
    /// LLVM's optimisation.
    Llvm,
    /// LLVM's machine code for a CPU.
    Object,
    /// LLVM's PTX.
    Ptx,
    /// nvJitLink.
    Cubin,
    /// The GPU driver compiling or loading code.
    Driver,
    /// Linking and mapping code for the CPU.
    Load,
}

impl Stage {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Kernel => "kernel",
            Stage::Parse => "parse",
            Stage::Types => "types",
            Stage::Ir => "IR",
            Stage::Adjoint => "adjoint",
            Stage::Cache => "cache",
            Stage::Lower => "lower",
            Stage::Llvm => "LLVM",
            Stage::Object => "object",
            Stage::Ptx => "PTX",
            Stage::Cubin => "CUBIN",
            Stage::Driver => "driver",
            Stage::Load => "load",
        }
    }
}

/// A recorded span.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// What was being done.
    pub stage: Stage,
    /// What it was done to: a kernel, a file; empty within another span that says it.
    pub subject: String,
    /// A number for the thread, from 0.
    pub thread: u32,
    /// The start, from [`epoch`] on.
    pub start: Duration,
    /// How long it took.
    pub length: Duration,
}

/// What is told of every span that begins; what it gives is dropped when the span ends, on the same thread.
pub type Observer = fn(Stage, &str) -> Option<Box<dyn Any>>;

/// A span that is being recorded, if anything is.
#[derive(Debug)]
#[must_use = "a span ends when its value is dropped"]
pub struct Span {
    recorded: Option<(Stage, String, Instant)>,
    _observed: Option<Box<dyn Any>>,
}

/// The beginning of time for events: on the clock that measures them, and on the calendar.
pub fn epoch() -> (Instant, SystemTime) {
    static EPOCH: OnceLock<(Instant, SystemTime)> = OnceLock::new();
    *EPOCH.get_or_init(|| (Instant::now(), SystemTime::now()))
}

/// Records spans from now on, or stops.
pub fn record(on: bool) {
    epoch();
    match on {
        true => WANTED.fetch_or(RECORDED, Ordering::Relaxed),
        false => WANTED.fetch_and(!RECORDED, Ordering::Relaxed),
    };
}

/// Shows every span from now on to `observer`; the first observer of a process stays.
pub fn observe(observer: Observer) {
    OBSERVER.get_or_init(|| observer);
    WANTED.fetch_or(OBSERVED, Ordering::Release);
}

/// Whether spans are recorded.
pub fn is_recording() -> bool {
    WANTED.load(Ordering::Relaxed) & RECORDED != 0
}

/// Starts a span; `subject` is asked for only if it is recorded.
#[inline]
pub fn span<S: Into<String>>(stage: Stage, subject: impl FnOnce() -> S) -> Span {
    match WANTED.load(Ordering::Acquire) {
        0 => Span { recorded: None, _observed: None },
        wanted => begin(wanted, stage, subject().into()),
    }
}

#[cold]
fn begin(wanted: u8, stage: Stage, subject: String) -> Span {
    let observer = OBSERVER.get().filter(|_| wanted & OBSERVED != 0);
    let _observed = observer.and_then(|observer| observer(stage, &subject));
    let recorded = (wanted & RECORDED != 0).then(|| (stage, subject, Instant::now()));
    Span { recorded, _observed }
}

/// Starts a span within another one that has the subject.
#[inline]
pub fn part(stage: Stage) -> Span {
    span(stage, String::new)
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some((stage, subject, started)) = self.recorded.take() {
            finish(stage, subject, started);
        }
    }
}

#[cold]
fn finish(stage: Stage, subject: String, started: Instant) {
    let length = started.elapsed();
    let start = started.saturating_duration_since(epoch().0);
    let event = Event { stage, subject, thread: thread_number(), start, length };
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner).push(event);
}

fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    thread_local! {
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

/// Takes what was recorded, in the order in which spans ended.
pub fn take() -> Vec<Event> {
    std::mem::take(&mut EVENTS.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is recorded and observed is the process's, so one test at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn spans_are_shown_to_the_observer() {
        let _alone = ALONE.lock();
        use std::cell::RefCell;
        thread_local! {
            static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
        }
        struct Ended(String);
        impl Drop for Ended {
            fn drop(&mut self) {
                SEEN.with_borrow_mut(|seen| seen.push(format!("end {}", self.0)));
            }
        }
        observe(|stage, subject| {
            SEEN.with_borrow_mut(|seen| seen.push(format!("{} {subject}", stage.name())));
            Some(Box::new(Ended(stage.name().to_owned())))
        });
        let outer = span(Stage::Kernel, || "blur");
        drop(part(Stage::Load));
        drop(outer);
        assert_eq!(SEEN.take(), ["kernel blur", "load ", "end load", "end kernel"]);
    }

    #[test]
    fn spans_are_recorded_while_recording_is_on() {
        let _alone = ALONE.lock();
        drop(span(Stage::Kernel, || "not recorded"));
        record(true);
        let outer = span(Stage::Kernel, || "saxpy");
        drop(part(Stage::Llvm));
        drop(outer);
        std::thread::spawn(|| drop(part(Stage::Ptx))).join().unwrap();
        record(false);
        drop(part(Stage::Types));
        let events = take();
        let stages: Vec<_> = events.iter().map(|e| e.stage).collect();
        assert_eq!(stages, [Stage::Llvm, Stage::Kernel, Stage::Ptx]);
        let (inner, outer) = (&events[0], &events[1]);
        assert_eq!((outer.subject.as_str(), inner.subject.as_str()), ("saxpy", ""));
        assert!(outer.start <= inner.start && inner.start + inner.length <= outer.start + outer.length);
        assert!(inner.thread == outer.thread && events[2].thread != outer.thread);
        assert_eq!(take(), []);
    }
}
