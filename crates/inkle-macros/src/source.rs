//! Places in the source file: what diagnostics of the compiler point at when the program runs.

use inkle_diag::{FileId, SourceFile, Span};
use proc_macro2::{LineColumn, Span as Place};

/// The lines of a function in its file.
pub struct Source {
    /// The 1-based line that `text` begins with.
    pub first_line: u32,
    /// The function's lines; empty when the file cannot be read, and then no place is known.
    pub text: String,
    starts: Vec<u32>,
    file: FileId,
}

impl Source {
    /// The lines from the place `first` to the place `last`.
    pub fn new(first: Place, last: Place) -> Source {
        let (from, to) = (first.start().line.max(1), last.end().line);
        let read = first.local_file().and_then(|path| std::fs::read_to_string(path).ok());
        let lines = read.iter().flat_map(|text| text.split_inclusive('\n'));
        let lines: Vec<&str> = lines.take(to).skip(from - 1).collect();
        let complete = lines.len() == (to + 1).saturating_sub(from);
        let text: String = if complete { lines.concat() } else { String::new() };
        // Offsets count from the file's first line, with nothing but line ends before the function.
        let mut at = from as u32 - 1;
        let mut starts = Vec::new();
        for line in text.split_inclusive('\n') {
            starts.push(at);
            at += line.len() as u32;
        }
        let file =
            if starts.is_empty() { FileId::NONE } else { SourceFile::register("<kernel>", &text).id() };
        Source { first_line: from as u32, text, starts, file }
    }

    /// The span of a place.
    pub fn span(&self, place: Place) -> Span {
        match (self.offset(place.start()), self.offset(place.end())) {
            (Some(start), Some(end)) if start <= end => Span::new(self.file, start, end),
            _ => Span::NONE,
        }
    }

    fn offset(&self, at: LineColumn) -> Option<u32> {
        let line = at.line.checked_sub(self.first_line as usize)?;
        let start = *self.starts.get(line)?;
        let text = self.text.split_inclusive('\n').nth(line)?;
        let bytes: usize = text.chars().take(at.column).map(char::len_utf8).sum();
        Some(start + bytes as u32)
    }
}
