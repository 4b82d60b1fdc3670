//! What the program's log is told: spans and events of `tracing`, of the target `inkle`.
//!
//! | span | level | is |
//! |---|---|---|
//! | `kernel` | debug | a kernel being made ready; the others but `launch` lie within |
//! | `parse` | debug | the kernel's tree being read |
//! | `check` | debug | names, types and overloads |
//! | `compile` | debug | a step from typed form to code, in the field `stage` |
//! | `cache` | debug | looking for code in the kernel cache, and keeping it |
//! | `load` | debug | code being made ready to run |
//! | `launch` | trace | a launch: the kernel and how many indices; on a GPU until it is queued |

use std::any::Any;
use std::sync::Once;

#[cfg(feature = "llvm")]
use inkle_diag::Diagnostic;
use inkle_diag::trace::{self, Stage};
use tracing::level_filters::LevelFilter;
use tracing::span::EnteredSpan;
use tracing::{Level, debug_span, trace_span};

const TARGET: &str = "inkle";

/// Warnings of the checker.
#[cfg(feature = "llvm")]
pub(crate) fn warnings(warnings: &[Diagnostic]) {
    for warning in warnings {
        tracing::warn!(target: TARGET, "{}", warning.render());
    }
}

/// Shows the stages of compilation to the log from now on.
pub(crate) fn follow_stages() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| trace::observe(stage));
}

fn stage(stage: Stage, subject: &str) -> Option<Box<dyn Any>> {
    if !tracing::enabled!(target: TARGET, Level::DEBUG) {
        return None;
    }
    let span = match stage {
        Stage::Kernel => debug_span!(target: TARGET, "kernel", kernel = subject),
        Stage::Parse => debug_span!(target: TARGET, "parse", kernel = subject),
        Stage::Types => debug_span!(target: TARGET, "check"),
        Stage::Cache => debug_span!(target: TARGET, "cache"),
        Stage::Load | Stage::Driver => debug_span!(target: TARGET, "load"),
        Stage::Ir
        | Stage::Adjoint
        | Stage::Lower
        | Stage::Llvm
        | Stage::Object
        | Stage::Ptx
        | Stage::Cubin => debug_span!(target: TARGET, "compile", stage = stage.name()),
    };
    Some(Box::new(span.entered()))
}

/// The span of a launch; when nobody listens this is one load and a comparison.
#[inline]
pub(crate) fn launch(kernel: &'static str, size: u64) -> Option<EnteredSpan> {
    if LevelFilter::current() < LevelFilter::TRACE {
        return None;
    }
    launch_span(kernel, size)
}

#[cold]
fn launch_span(kernel: &'static str, size: u64) -> Option<EnteredSpan> {
    Some(trace_span!(target: TARGET, "launch", kernel, size).entered())
}
