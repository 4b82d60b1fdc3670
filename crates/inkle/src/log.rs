//! What the program's log is told.

use inkle_diag::Diagnostic;

/// Warnings of the checker.
pub(crate) fn warnings(warnings: &[Diagnostic]) {
    for warning in warnings {
        tracing::warn!(target: "inkle", "{}", warning.render());
    }
}
