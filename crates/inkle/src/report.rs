//! Errors as reports for people: what `main` returns, and what `miette` shows.

use std::fmt;

use inkle_diag::{Diagnostic, SourceFile, Span};
use inkle_graph::GraphError;
use inkle_module::CompileError;
use inkle_runtime::{ErrorClass, RuntimeError};

use crate::error::Error;

/// An error for people to read: `main` can return it, and its `Debug` form is the whole text, with the lines of the source that
/// a mistake in a kernel is in.
///
/// With the feature `miette` it is a `miette::Diagnostic`, with code, help and labelled places in the source, and `?` makes a
/// `miette::Report` of any [`Error`] of this crate.
///
/// ```
/// use inkle::prelude::*;
///
/// fn main() -> Result<(), inkle::Report> {
///     let x = Array::from_slice(&[1.0f32, 2.0])?;
///     assert_eq!(x.len(), 2);
///     Ok(())
/// }
/// ```
pub struct Report {
    error: Error,
    mistakes: Vec<Mistake>,
}

/// A mistake in a kernel, with the source it is in.
#[derive(Debug)]
struct Mistake {
    diagnostic: Diagnostic,
    #[cfg(feature = "miette")]
    source: Option<miette::NamedSource<String>>,
}

impl Report {
    /// The error.
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The stable code of the error: that of the first mistake in a kernel, such as `T003`, or a class, such as
    /// `inkle::out_of_memory`.
    pub fn code(&self) -> &'static str {
        if let Some(mistake) = self.mistakes.first() {
            return mistake.diagnostic.code.0;
        }
        match &self.error {
            Error::Compile(CompileError::Broken { .. }) => "inkle::bug",
            Error::Compile(CompileError::Load(error)) => class(error),
            Error::Compile(_) => "inkle::code",
            Error::Runtime(error) | Error::Graph(GraphError::Runtime(error)) => class(error),
            Error::Graph(_) => "inkle::graph",
            Error::File { .. } => "inkle::file",
            _ => "inkle::argument",
        }
    }

    /// The mistakes in the kernel, if that is what the error is about: each with its place in the source.
    pub fn mistakes(&self) -> impl Iterator<Item = &Diagnostic> {
        self.mistakes.iter().map(|mistake| &mistake.diagnostic)
    }

    /// The file, the line and the column, both from one on, of a place that a mistake names.
    pub fn place(span: Span) -> Option<(String, usize, usize)> {
        let file = SourceFile::get(span.file)?;
        let (line, column) = file.line_column(span.start);
        Some((file.name().to_owned(), line, column))
    }
}

fn class(error: &RuntimeError) -> &'static str {
    match error.class() {
        ErrorClass::InvalidArgument => "inkle::argument",
        ErrorClass::OutOfRange => "inkle::out_of_range",
        ErrorClass::OutOfMemory => "inkle::out_of_memory",
        ErrorClass::Unavailable => "inkle::unavailable",
        ErrorClass::NotInGraph => "inkle::not_in_graph",
        ErrorClass::Driver => "inkle::driver",
        ErrorClass::Kernel => "inkle::kernel",
        ErrorClass::BadCode => "inkle::code",
    }
}

impl<E: Into<Error>> From<E> for Report {
    fn from(error: E) -> Report {
        let error = error.into();
        let found = match &error {
            Error::Compile(CompileError::Rejected(diagnostics)) => diagnostics.0.clone(),
            _ => Vec::new(),
        };
        let mistakes = found.into_iter().map(Mistake::new).collect();
        Report { error, mistakes }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mistakes.first() {
            Some(mistake) => f.write_str(&mistake.diagnostic.message),
            None => self.error.fmt(f),
        }
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What the standard library prints before it is `Error: `.
        write!(f, "{}", self.error)
    }
}

impl std::error::Error for Report {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.mistakes.is_empty() {
            true => std::error::Error::source(&self.error),
            false => None,
        }
    }
}

impl Mistake {
    fn new(diagnostic: Diagnostic) -> Mistake {
        Mistake {
            #[cfg(feature = "miette")]
            source: SourceFile::get(diagnostic.span.file)
                .map(|file| miette::NamedSource::new(file.name(), file.text().to_owned())),
            diagnostic,
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Mistake {}

#[cfg(feature = "miette")]
mod for_miette {
    use std::fmt::Display;

    use inkle_diag::Severity;
    use miette::{LabeledSpan, SourceCode};

    use super::*;

    type Labels<'a> = Option<Box<dyn Iterator<Item = LabeledSpan> + 'a>>;
    type Text<'a> = Option<Box<dyn Display + 'a>>;

    impl miette::Diagnostic for Mistake {
        fn code<'a>(&'a self) -> Text<'a> {
            Some(Box::new(self.diagnostic.code))
        }

        fn severity(&self) -> Option<miette::Severity> {
            Some(match self.diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
            })
        }

        fn help<'a>(&'a self) -> Text<'a> {
            // Places in other files cannot be shown in the source of this one.
            let Diagnostic { help, secondary, span, .. } = &self.diagnostic;
            let elsewhere = secondary.iter().filter(|label| label.span.file != span.file);
            let elsewhere = elsewhere.filter_map(|label| {
                let (file, line, column) = Report::place(label.span)?;
                Some(format!("{file}:{line}:{column}: {}", label.text))
            });
            let lines: Vec<String> = help.iter().cloned().chain(elsewhere).collect();
            (!lines.is_empty()).then(|| Box::new(lines.join("\n")) as Box<dyn Display>)
        }

        fn source_code(&self) -> Option<&dyn SourceCode> {
            self.source.as_ref().map(|source| source as &dyn SourceCode)
        }

        fn labels(&self) -> Labels<'_> {
            let Diagnostic { span, label, secondary, .. } = &self.diagnostic;
            self.source.as_ref()?;
            let place = |span: &Span| (span.start as usize, (span.end - span.start) as usize);
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let primary = LabeledSpan::new_primary_with_span(text(label), place(span));
            let same_file = secondary.iter().filter(|label| label.span.file == span.file);
            let others =
                same_file.map(move |label| LabeledSpan::new_with_span(text(&label.text), place(&label.span)));
            Some(Box::new(std::iter::once(primary).chain(others)))
        }
    }

    impl miette::Diagnostic for Report {
        fn code<'a>(&'a self) -> Text<'a> {
            Some(Box::new(self.code()))
        }

        fn severity(&self) -> Option<miette::Severity> {
            Some(miette::Severity::Error)
        }

        fn help<'a>(&'a self) -> Text<'a> {
            self.mistakes.first()?.help()
        }

        fn source_code(&self) -> Option<&dyn SourceCode> {
            self.mistakes.first()?.source_code()
        }

        fn labels(&self) -> Labels<'_> {
            self.mistakes.first()?.labels()
        }

        fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
            let rest = self.mistakes.get(1..).filter(|rest| !rest.is_empty())?;
            Some(Box::new(rest.iter().map(|mistake| mistake as &dyn miette::Diagnostic)))
        }
    }

    impl From<Error> for miette::Report {
        fn from(error: Error) -> miette::Report {
            miette::Report::new(Report::from(error))
        }
    }
}
