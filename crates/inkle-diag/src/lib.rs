//! Source files, spans and diagnostics; and a recorder of where time goes.
//!
//! A diagnostic is data until the edge: a stable code, one terse message, a primary span, labelled secondary
//! spans and an optional help. Spans are byte offsets into a source file; lines and columns (1-based) exist
//! only while rendering.
#![forbid(unsafe_code)]

mod diagnostic;
mod source;
pub mod trace;

pub use diagnostic::{Code, Diagnostic, Diagnostics, Label, Severity};
pub use source::{FileId, SourceFile, Span};
