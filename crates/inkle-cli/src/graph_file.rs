//! Graph files, for the commands that take one.

use std::path::Path;

use inkle_graph::bundle::{Bundle, code_beside, read_file};

use crate::CliError;

/// The graph in a file, of inkle's or of Warp's, and the file's size, bytes.
pub(crate) fn read(path: &Path) -> Result<(Bundle, u64), CliError> {
    let fail = |message: String| CliError::Read { path: path.to_owned(), message };
    let bytes = read_file(path).map_err(|error| fail(error.to_string()))?;
    let size = bytes.len() as u64;
    let bundle = Bundle::from_bytes_and_code(bytes, &code_beside(path));
    Ok((bundle.map_err(|error| fail(error.to_string()))?, size))
}
