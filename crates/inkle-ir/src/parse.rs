//! Reads the text form.

use crate::ir::Module;

/// Why text is not a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// 1-based line.
    pub line: usize,
    /// What is wrong there.
    pub message: String,
}

/// Reads a module.
pub fn parse(_text: &str) -> Result<Module, ParseError> {
    Err(ParseError { line: 1, message: "not written yet".into() })
}
