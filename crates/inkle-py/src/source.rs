//! Where the text of Python functions comes from.
//!
//! A decorator runs at import, so it does next to nothing: it notes file name and line, and holds on to the text of
//! the file as it is then. One read serves all functions of a file until the file changes on disk.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::SystemTime;

use inkle_diag::{Code, Diagnostic, Diagnostics, SourceFile, Span};
use inkle_frontend::env::FunctionText;
use inkle_frontend::tree::FunctionDef;
use pyo3::intern;
use pyo3::prelude::*;

const NO_SOURCE: Code = Code("S005");

/// The text of a file, registered when the first function of it is looked into: finding a registered file again means
/// comparing all of its text.
struct Text {
    name: String,
    text: String,
    registered: OnceLock<Arc<SourceFile>>,
    /// By line, with their names: functions in functions are made over and over.
    outlines: Mutex<HashMap<usize, (String, Arc<FunctionText>)>>,
}

impl Text {
    fn file(&self) -> &Arc<SourceFile> {
        self.registered.get_or_init(|| SourceFile::register(&self.name, &self.text))
    }
}

/// What a file held when it was last looked at.
struct FileText {
    modified: Option<SystemTime>,
    text: Arc<Text>,
}

/// A function's place and the text of its file.
pub struct Origin {
    file: String,
    line: usize,
    name: String,
    text: Option<Arc<Text>>,
}

fn files() -> &'static Mutex<HashMap<String, FileText>> {
    static FILES: OnceLock<Mutex<HashMap<String, FileText>>> = OnceLock::new();
    FILES.get_or_init(Mutex::default)
}

fn current_text(path: &str) -> Option<Arc<Text>> {
    let modified = std::fs::metadata(path).ok()?.modified().ok();
    let mut files = files().lock().unwrap_or_else(|e| e.into_inner());
    if let Some(known) = files.get(path)
        && known.modified == modified
    {
        return Some(known.text.clone());
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    let text = Text { name: path.to_owned(), text, registered: OnceLock::new(), outlines: Mutex::default() };
    let text = Arc::new(text);
    files.insert(path.to_owned(), FileText { modified, text: text.clone() });
    Some(text)
}

impl Origin {
    /// Notes where a Python function was written.
    ///
    /// # Errors
    /// When the object has no code, so it is no Python function.
    pub fn of(function: &Bound<'_, PyAny>) -> PyResult<Origin> {
        let py = function.py();
        let code = function.getattr(intern!(py, "__code__"))?;
        let file: String = code.getattr(intern!(py, "co_filename"))?.extract()?;
        let line = code.getattr(intern!(py, "co_firstlineno"))?.extract()?;
        let name = code.getattr(intern!(py, "co_name"))?.extract()?;
        let text = current_text(&file);
        Ok(Origin { file, line, name, text })
    }

    /// The file name, as Python has it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The 1-based line of the first decorator or else of `def`.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The function as a kernel tree.
    ///
    /// # Errors
    /// `S005` when the text is nowhere to be found; what the parser reports otherwise.
    pub fn parse(&self, py: Python<'_>) -> Result<(Arc<SourceFile>, Arc<FunctionDef>), Diagnostics> {
        let file = self.source_file(py)?;
        let def = inkle_python::parse_file(&file).function_at_line(self.line, &self.name)?;
        Ok((file, def))
    }

    /// The function's text.
    ///
    /// # Errors
    /// As [`Origin::parse`], mistakes in the body excepted.
    pub fn outline(&self, py: Python<'_>) -> Result<Arc<FunctionText>, Diagnostics> {
        let Some(text) = &self.text else { return self.read_outline(py).map(Arc::new) };
        let known = text.outlines.lock().unwrap_or_else(|e| e.into_inner());
        if let Some((name, outline)) = known.get(&self.line)
            && *name == self.name
        {
            return Ok(outline.clone());
        }
        drop(known);
        let outline = Arc::new(self.read_outline(py)?);
        let mut known = text.outlines.lock().unwrap_or_else(|e| e.into_inner());
        known.insert(self.line, (self.name.clone(), outline.clone()));
        Ok(outline)
    }

    fn read_outline(&self, py: Python<'_>) -> Result<FunctionText, Diagnostics> {
        let parsed = inkle_python::parse_file(&self.source_file(py)?);
        let function = parsed.at_line(self.line, &self.name)?;
        let digest = blake3::hash(function.text().as_bytes());
        Ok(FunctionText { digest, names: function.parameter_names() })
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn source_file(&self, py: Python<'_>) -> Result<Arc<SourceFile>, Diagnostics> {
        let known = self.text.as_ref().map(|text| text.file().clone());
        let file = known
            .or_else(|| interactive_text(py, &self.file).map(|text| SourceFile::register(&self.file, &text)));
        file.ok_or_else(|| {
            let message =
                format!("the source of `{}` ({}, line {}) cannot be found", self.name, self.file, self.line);
            let help = "write kernels in a file; text given to `exec` is not kept by Python";
            Diagnostic::new(NO_SOURCE, Span::NONE, message).help(help).into()
        })
    }
}

/// The text of code typed in a session or a notebook, which Python's `linecache` knows.
fn interactive_text(py: Python<'_>, file: &str) -> Option<String> {
    let lines = py.import("linecache").ok()?.call_method1("getlines", (file,)).ok()?;
    let text: String = lines.extract::<Vec<String>>().ok()?.concat();
    if text.is_empty() { None } else { Some(text) }
}
