use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

use serde::{Deserialize, Serialize};

/// A source file known to this process. `FileId::NONE` marks code that no file holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct FileId(u32);

impl FileId {
    /// The id of no file: generated code, IR built by a test.
    pub const NONE: FileId = FileId(0);
}

/// A range of bytes `start..end` in a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Span {
    /// The file the offsets are in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span in no file.
    pub const NONE: Span = Span { file: FileId::NONE, start: 0, end: 0 };

    /// The bytes `start..end` of `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// The smallest span that covers both; `self` when they are in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether the span lies in a known file.
    pub fn is_some(self) -> bool {
        self.file != FileId::NONE
    }
}

/// One version of a source file: its text and where its lines start.
pub struct SourceFile {
    id: FileId,
    name: String,
    text: String,
    line_starts: Vec<u32>,
}

struct Registry {
    files: Vec<Arc<SourceFile>>,
    by_content: HashMap<(String, String), FileId>,
}

fn registry() -> &'static Mutex<Registry> {
    static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();
    REGISTRY.get_or_init(|| Mutex::new(Registry { files: Vec::new(), by_content: HashMap::new() }))
}

impl SourceFile {
    /// Registers `text` under `name` (a path, or a label such as `<stdin>`), or finds it registered.
    ///
    /// A file that changed on disk is registered again and gets another id, so spans keep pointing at the
    /// text they were made from.
    pub fn register(name: &str, text: &str) -> Arc<SourceFile> {
        let mut registry = registry().lock().unwrap_or_else(|e| e.into_inner());
        let key = (name.to_owned(), text.to_owned());
        if let Some(id) = registry.by_content.get(&key) {
            return registry.files[id.0 as usize - 1].clone();
        }
        let id = FileId(registry.files.len() as u32 + 1);
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1));
        let file = Arc::new(SourceFile { id, name: name.to_owned(), text: text.to_owned(), line_starts });
        registry.files.push(file.clone());
        registry.by_content.insert(key, id);
        file
    }

    /// The file of `id`, if it is registered.
    pub fn get(id: FileId) -> Option<Arc<SourceFile>> {
        let registry = registry().lock().unwrap_or_else(|e| e.into_inner());
        registry.files.get((id.0 as usize).checked_sub(1)?).cloned()
    }

    /// This file's id.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// The path or label the file was registered under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The 1-based line and 1-based column (in characters) of a byte offset.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let offset = (offset as usize).min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start as usize <= offset);
        let start = self.line_starts[line - 1] as usize;
        let column = self.text.get(start..offset).map_or(offset - start, |s| s.chars().count());
        (line, column + 1)
    }

    /// The byte offset where a 1-based line starts, or the end of the text for a line past it.
    pub fn line_start(&self, line: usize) -> u32 {
        self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len() as u32)
    }

    /// The text of a 1-based line, without its line break.
    pub fn line_text(&self, line: usize) -> &str {
        let start = self.line_start(line) as usize;
        let end = self.line_start(line + 1) as usize;
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceFile({:?})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_one_based() {
        let file = SourceFile::register("a.py", "x = 1\nyé = 2\n");
        assert_eq!(file.line_column(0), (1, 1));
        assert_eq!(file.line_column(6), (2, 1));
        assert_eq!(file.line_column(9), (2, 3));
        assert_eq!(file.line_text(2), "yé = 2");
    }

    #[test]
    fn a_changed_file_gets_another_id() {
        let one = SourceFile::register("b.py", "1");
        let two = SourceFile::register("b.py", "2");
        assert_ne!(one.id(), two.id());
        assert_eq!(one.id(), SourceFile::register("b.py", "1").id());
    }
}
