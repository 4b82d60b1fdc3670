use std::fmt::{self, Write as _};

use crate::source::{SourceFile, Span};

/// A stable diagnostic code such as `T003`: a letter for the stage and a number that is never used again.
///
/// `S`: syntax; `N`: names; `T`: types; `F`: flow (returns, loops, unset variables); `U`: unsupported.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A labelled secondary span.
#[derive(Clone, PartialEq, Debug)]
pub struct Label {
    /// What the label points at.
    pub span: Span,
    /// What to say about it.
    pub text: String,
}

/// How bad what a diagnostic reports is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The kernel cannot be compiled.
    Error,
    /// The kernel is compiled, and may not do what was meant.
    Warning,
}

/// A mistake in a user's kernel, or something doubtful, as data.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagnostic {
    /// Whether the kernel is refused for it.
    pub severity: Severity,
    /// The stable code.
    pub code: Code,
    /// One terse sentence, lower case, without a full stop. If only one thing can be shown, it is this.
    pub message: String,
    /// Where the mistake is.
    pub span: Span,
    /// What to say under the caret; may be empty.
    pub label: String,
    /// Further places that explain the mistake.
    pub secondary: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with a message and a primary span only.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code,
            message: message.into(),
            span,
            label: String::new(),
            secondary: Vec::new(),
            help: None,
        }
    }

    /// Makes it a warning.
    pub fn warning(mut self) -> Diagnostic {
        self.severity = Severity::Warning;
        self
    }

    /// Sets the text under the caret.
    pub fn label(mut self, text: impl Into<String>) -> Diagnostic {
        self.label = text.into();
        self
    }

    /// Adds a secondary place.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do.
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The full rendering: message, file and line, source lines with carets, labels, help.
    pub fn render(&self) -> String {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let mut out = format!("{severity}[{}]: {}\n", self.code, self.message);
        let mut places = vec![(self.span, self.label.as_str(), '^')];
        places.extend(self.secondary.iter().map(|l| (l.span, l.text.as_str(), '-')));
        places.retain(|(span, ..)| span.is_some());
        let width =
            places.iter().filter_map(|(s, ..)| Some(line_of(*s)?.to_string().len())).max().unwrap_or(1);
        let mut last_file = None;
        for (span, text, mark) in places {
            let Some(file) = SourceFile::get(span.file) else { continue };
            let (line, column) = file.line_column(span.start);
            if last_file != Some(span.file) || mark == '^' {
                let arrow = if mark == '^' { "-->" } else { ":::" };
                let _ = writeln!(out, "{:width$}{arrow} {}:{line}:{column}", "", file.name());
            }
            last_file = Some(span.file);
            let source = file.line_text(line).replace('\t', " ");
            let (end_line, end_column) = file.line_column(span.end);
            let line_length = source.chars().count() + 1;
            let end = if end_line == line { end_column } else { line_length };
            let carets = mark.to_string().repeat(end.saturating_sub(column).max(1));
            let _ = writeln!(out, "{line:>width$} | {source}");
            let marked = format!("{:width$} | {:pad$}{carets} {text}", "", "", pad = column - 1);
            let _ = writeln!(out, "{}", marked.trim_end());
        }
        if let Some(help) = &self.help {
            let _ = writeln!(out, "{:width$} = help: {help}", "");
        }
        out
    }
}

fn line_of(span: Span) -> Option<usize> {
    Some(SourceFile::get(span.file)?.line_column(span.start).0)
}

/// Every mistake found in one kernel, in source order. Never empty when it is an error.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a diagnostic, once: the same code at the same place is kept only the first time.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.0.iter().any(|d| d.code == diagnostic.code && d.span == diagnostic.span) {
            self.0.push(diagnostic);
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All diagnostics rendered in full, separated by blank lines.
    pub fn render(&self) -> String {
        self.0.iter().map(Diagnostic::render).collect::<Vec<_>>().join("\n")
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendering_points_at_the_source() {
        let file = SourceFile::register("blur.py", "import inkle as wp\n    acc = acc + w * i\n");
        let at = Span::new(file.id(), 35, 40);
        let text = Diagnostic::new(Code("T003"), at, "cannot multiply f32 by i32")
            .label("`w` is f32, `i` is i32")
            .help("convert explicitly: `float(i)`")
            .render();
        assert_eq!(
            text,
            "error[T003]: cannot multiply f32 by i32\n --> blur.py:2:17\n2 |     acc = acc + w * i\n  |                 ^^^^^ `w` is f32, `i` is i32\n  = help: convert explicitly: `float(i)`\n"
        );
    }
}
