//! Python source in, kernel trees out.

mod dump;
mod find;
mod kinds;
mod odd_syntax;
mod spans;

use std::sync::Arc;

use inkle_diag::{Diagnostics, SourceFile};
use inkle_frontend::tree::FunctionDef;
use inkle_python::{ParsedFile, parse_file};

fn parse(source: &str) -> Arc<ParsedFile> {
    parse_file(&SourceFile::register("test.py", source))
}

/// The first function of a source text.
fn first(source: &str) -> Result<Arc<FunctionDef>, Diagnostics> {
    parse(source).functions().next().expect("the source has a function").def()
}
