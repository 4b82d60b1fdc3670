//! Python source -> the untyped kernel tree.
//!
//! [`parse_file`] parses a whole file once; [`ParsedFile::function_at_line`] then lowers the one function a
//! caller asks for. Nothing here knows names or types: a construct that kernels cannot have becomes an
//! `Unsupported` node and is judged by the checker, so that all mistakes of a kernel are reported together.
//!
//! This crate is the only user of the Python parser crates.
//!
//! Diagnostics of this layer:
//! - `S001`: not valid Python.
//! - `S002`: an integer literal that does not fit 128 bits.
//! - `S003`: no such function at the given line.
//! - `S004`: an expression or statement is nested too deeply.
#![forbid(unsafe_code)]

mod docstring;
mod expr;
mod file_env;
mod find;
mod function;
mod stmt;

pub use file_env::{FileEnvironment, Library};

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use inkle_diag::{Code, Diagnostic, Diagnostics, FileId, SourceFile, Span, trace};
use inkle_frontend::tree;
use ruff_python_ast::{Expr, Mod, ModModule, StmtFunctionDef};
use ruff_python_parser::{
    Mode, ParseError, ParseOptions, parse_parenthesized_expression_range, parse_unchecked,
};
use ruff_text_size::{TextRange, TextSize};

const SYNTAX: Code = Code("S001");
const INTEGER_RANGE: Code = Code("S002");
const NO_FUNCTION: Code = Code("S003");
const TOO_DEEP: Code = Code("S004");

/// One parse of a [`SourceFile`]. Functions are lowered when asked for, and once.
pub struct ParsedFile {
    file: Arc<SourceFile>,
    module: ModModule,
    /// In source order.
    errors: Vec<Diagnostic>,
    /// By the byte offset of the function's name.
    lowered: Mutex<HashMap<u32, Lowered>>,
}

type Lowered = Result<Arc<tree::FunctionDef>, Diagnostics>;

/// A function definition of a [`ParsedFile`], at any depth.
#[derive(Clone, Copy)]
pub struct Function<'a> {
    file: &'a ParsedFile,
    node: &'a StmtFunctionDef,
}

/// The parse of `file`, made at the first call and shared by later ones in this process.
///
/// A syntax error is no failure here; it is reported by whatever asks for the function it lies in.
pub fn parse_file(file: &Arc<SourceFile>) -> Arc<ParsedFile> {
    static PARSED: OnceLock<Mutex<HashMap<FileId, Arc<ParsedFile>>>> = OnceLock::new();
    let parsed = PARSED.get_or_init(Mutex::default);
    if let Some(hit) = parsed.lock().unwrap_or_else(|e| e.into_inner()).get(&file.id()) {
        return hit.clone();
    }
    let fresh = Arc::new(ParsedFile::parse(file.clone()));
    parsed.lock().unwrap_or_else(|e| e.into_inner()).entry(file.id()).or_insert(fresh).clone()
}

/// The one expression that `file` consists of. Line breaks are allowed as if it stood in parentheses.
///
/// # Errors
/// `S001` when the text is not one expression; `S002` for an integer beyond 128 bits; `S004` for one nested
/// too deeply.
pub fn parse_expression(file: &Arc<SourceFile>) -> Result<tree::Expr, Diagnostics> {
    parse_expression_at(file, Span::new(file.id(), 0, file.text().len() as u32))
}

/// The one expression in the bytes `span` of `file`; its spans are offsets in the whole file.
///
/// # Errors
/// As [`parse_expression`]. `S001` too when `span` is not a range of whole characters in `file`.
pub fn parse_expression_at(file: &Arc<SourceFile>, span: Span) -> Result<tree::Expr, Diagnostics> {
    if file.text().get(span.start as usize..span.end as usize).is_none() {
        return Err(Diagnostic::new(SYNTAX, span, "the expression lies outside its file").into());
    }
    let range = TextRange::new(TextSize::new(span.start), TextSize::new(span.end));
    let parsed = parse_parenthesized_expression_range(file.text(), range)
        .map_err(|error| Diagnostics::from(syntax_diagnostic(file, &error)))?;
    let mut lowering = Lowering::new(file);
    let expr = lowering.expr(&parsed.syntax().body);
    lowering.finish(expr)
}

impl ParsedFile {
    fn parse(file: Arc<SourceFile>) -> ParsedFile {
        let _span = trace::span(trace::Stage::Parse, || file.name());
        let parsed = parse_unchecked(file.text(), ParseOptions::from(Mode::Module));
        let mut errors: Vec<_> = parsed.errors().iter().map(|e| syntax_diagnostic(&file, e)).collect();
        errors.sort_by_key(|e| (e.span.start, e.span.end));
        let module = match parsed.into_syntax() {
            Mod::Module(module) => module,
            Mod::Expression(_) => unreachable!("module mode gives a module"),
        };
        ParsedFile { file, module, errors, lowered: Mutex::default() }
    }

    /// The source this was parsed from.
    pub fn source(&self) -> &Arc<SourceFile> {
        &self.file
    }

    /// Every syntax error of the file, in source order.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }

    /// The function `name` whose definition starts on the 1-based `line`: CPython's `co_firstlineno`, which is
    /// the line of the first decorator or else of `def`. The line of `def` is accepted in both cases.
    ///
    /// # Errors
    /// `S001` for syntax errors inside the function, or for all of the file's when they hide the function;
    /// `S002` for integers beyond 128 bits; `S003` when no function `name` starts there; `S004` for code nested
    /// too deeply.
    pub fn function_at_line(&self, line: usize, name: &str) -> Result<Arc<tree::FunctionDef>, Diagnostics> {
        self.at_line(line, name)?.def()
    }

    /// The function that [`ParsedFile::function_at_line`] finds.
    ///
    /// # Errors
    /// As there; `S002` and `S004` excepted.
    pub fn at_line(&self, line: usize, name: &str) -> Result<Function<'_>, Diagnostics> {
        let found = find::functions_on_line(&self.module, &self.file, line)
            .into_iter()
            .find(|node| node.name.as_str() == name);
        match found {
            Some(node) => Ok(Function { file: self, node }),
            None if !self.errors.is_empty() => Err(Diagnostics(self.errors.clone())),
            None => {
                let start = self.file.line_start(line);
                let span = Span::new(self.file.id(), start, start + self.file.line_text(line).len() as u32);
                Err(Diagnostic::new(NO_FUNCTION, span, format!("no function `{name}` starts on line {line}"))
                    .help("the file may have changed since it was imported; restart the program")
                    .into())
            }
        }
    }

    /// All function definitions, outer ones before those inside them.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        find::all_functions(&self.module).into_iter().map(|node| Function { file: self, node })
    }

    /// The lambda expressions whose `lambda` keyword is on the 1-based `line`, from left to right.
    ///
    /// # Errors
    /// As [`parse_expression`], `S001` excepted.
    pub fn lambdas_at_line(&self, line: usize) -> Result<Vec<tree::Expr>, Diagnostics> {
        let mut lowering = Lowering::new(&self.file);
        let lambdas = find::lambdas_on_line(&self.module, &self.file, line);
        let lambdas = lambdas.into_iter().map(|lambda| lowering.lambda(lambda)).collect();
        lowering.finish(lambdas)
    }

    /// The syntax errors that belong to `node`: those in it, or between it and the next text after it.
    fn errors_in(&self, node: &StmtFunctionDef) -> Vec<Diagnostic> {
        let (start, end) = (node.range.start().to_usize(), node.range.end().to_usize());
        let gap = self.file.text()[end..].bytes().take_while(u8::is_ascii_whitespace).count();
        let inside = |error: &&Diagnostic| (start..=end + gap).contains(&(error.span.start as usize));
        self.errors.iter().filter(inside).cloned().collect()
    }
}

impl<'a> Function<'a> {
    /// The name.
    pub fn name(self) -> &'a str {
        self.node.name.as_str()
    }

    /// The 1-based line of the first decorator, or else of `def`.
    pub fn line(self) -> usize {
        self.file.file.line_column(self.node.range.start().to_u32()).0
    }

    /// The text from `def` to the end of the body: the span of the kernel tree.
    pub fn text(self) -> &'a str {
        let start = find::def_start(&self.file.file, self.node);
        &self.file.file.text()[TextRange::new(start, self.node.range.end())]
    }

    /// The names of the parameters, in the order of the kernel tree's.
    pub fn parameter_names(self) -> Vec<String> {
        let params = &self.node.parameters;
        let named = |p: &ruff_python_ast::Parameter| p.name.as_str().to_owned();
        let normal = params.posonlyargs.iter().chain(&params.args).map(|p| named(&p.parameter));
        let rest = params.vararg.as_deref().map(named).into_iter();
        let keyword = params.kwonlyargs.iter().map(|p| named(&p.parameter));
        let keywords = params.kwarg.as_deref().map(named).into_iter();
        normal.chain(rest).chain(keyword).chain(keywords).collect()
    }

    /// The function as a kernel tree.
    ///
    /// # Errors
    /// As [`ParsedFile::function_at_line`], `S003` excepted.
    pub fn def(self) -> Result<Arc<tree::FunctionDef>, Diagnostics> {
        let key = self.node.name.range.start().to_u32();
        if let Some(hit) = self.file.lowered.lock().unwrap_or_else(|e| e.into_inner()).get(&key) {
            return hit.clone();
        }
        let lowered = self.lower();
        let mut cache = self.file.lowered.lock().unwrap_or_else(|e| e.into_inner());
        cache.entry(key).or_insert(lowered).clone()
    }

    fn lower(self) -> Lowered {
        let errors = self.file.errors_in(self.node);
        if !errors.is_empty() {
            return Err(Diagnostics(errors));
        }
        let mut lowering = Lowering::new(&self.file.file);
        let def = lowering.function(self.node);
        lowering.finish(Arc::new(def))
    }
}

/// The state of turning one function or expression into a tree.
struct Lowering<'a> {
    file: &'a SourceFile,
    diagnostics: Diagnostics,
    depth: u32,
}

/// Keeps lowering, and the passes after it, well inside the smallest usual thread stack.
const MAX_DEPTH: u32 = 600;

impl<'a> Lowering<'a> {
    fn new(file: &'a SourceFile) -> Lowering<'a> {
        Lowering { file, diagnostics: Diagnostics::default(), depth: 0 }
    }

    fn span(&self, range: TextRange) -> Span {
        span_in(self.file, range)
    }

    fn text(&self, range: TextRange) -> &'a str {
        &self.file.text()[range]
    }

    /// Runs `inner` one level deeper, or reports that the level is too deep and gives `fallback`.
    fn nested<T>(&mut self, range: TextRange, fallback: T, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.depth >= MAX_DEPTH {
            // One report per function: every level above it would only repeat it.
            if !self.diagnostics.0.iter().any(|d| d.code == TOO_DEEP) {
                let message = format!("code is nested more than {MAX_DEPTH} levels deep");
                let diagnostic = Diagnostic::new(TOO_DEEP, self.span(range), message)
                    .help("split the expression into several statements");
                self.diagnostics.push(diagnostic);
            }
            return fallback;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn boxed(&mut self, expr: &Option<Box<Expr>>) -> Option<tree::Expr> {
        expr.as_deref().map(|e| self.expr(e))
    }

    fn finish<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.diagnostics.is_empty() { Ok(value) } else { Err(self.diagnostics) }
    }
}

fn span_in(file: &SourceFile, range: TextRange) -> Span {
    Span::new(file.id(), range.start().to_u32(), range.end().to_u32())
}

fn syntax_diagnostic(file: &SourceFile, error: &ParseError) -> Diagnostic {
    let message = error.error.to_string();
    // Diagnostics start lower case, but an all-caps word or a quoted token must stay as it is.
    let mut chars = message.chars();
    let message = match (chars.next(), chars.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && second.is_lowercase() => {
            first.to_lowercase().chain(message.chars().skip(1)).collect()
        }
        _ => message,
    };
    Diagnostic::new(SYNTAX, span_in(file, error.location), message)
}
