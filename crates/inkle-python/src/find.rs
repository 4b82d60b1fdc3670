//! Finding functions and lambdas by line.

use inkle_diag::SourceFile;
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt as walk_statement};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprLambda, ModModule, Stmt, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};

/// The functions whose first decorator or whose `def` is on the 1-based `line`.
pub(crate) fn functions_on_line<'a>(
    module: &'a ModModule,
    file: &SourceFile,
    line: usize,
) -> Vec<&'a StmtFunctionDef> {
    let line = line_range(file, line);
    let mut finder = Finder { within: Some(line), found: Vec::new() };
    finder.visit_body(&module.body);
    let mut found = finder.found;
    found.retain(|f| line.contains(f.range.start()) || line.contains(def_start(file, f)));
    found
}

/// All functions, outer before inner.
pub(crate) fn all_functions(module: &ModModule) -> Vec<&StmtFunctionDef> {
    let mut finder = Finder { within: None, found: Vec::new() };
    finder.visit_body(&module.body);
    finder.found
}

/// The lambdas whose keyword is on the 1-based `line`, from left to right.
pub(crate) fn lambdas_on_line<'a>(
    module: &'a ModModule,
    file: &SourceFile,
    line: usize,
) -> Vec<&'a ExprLambda> {
    let mut finder = LambdaFinder { line: line_range(file, line), found: Vec::new() };
    finder.visit_body(&module.body);
    finder.found.sort_by_key(|lambda| lambda.range.start());
    finder.found
}

/// Where `def` is; decorators and `async` come before it.
pub(crate) fn def_start(file: &SourceFile, function: &StmtFunctionDef) -> TextSize {
    let name = function.name.range.start();
    let from = function.decorator_list.last().map_or(function.range.start(), Ranged::end);
    let before = &file.text()[TextRange::new(from, name)];
    before.rfind("def").map_or(function.range.start(), |at| from + TextSize::new(at as u32))
}

fn line_range(file: &SourceFile, line: usize) -> TextRange {
    let start = file.line_start(line);
    TextRange::new(TextSize::new(start), TextSize::new(file.line_start(line + 1).max(start)))
}

struct Finder<'a> {
    /// Statements that do not touch this range are skipped.
    within: Option<TextRange>,
    found: Vec<&'a StmtFunctionDef>,
}

impl<'a> StatementVisitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if self.within.is_some_and(|within| within.intersect(stmt.range()).is_none()) {
            return;
        }
        if let Stmt::FunctionDef(function) = stmt {
            self.found.push(function);
        }
        walk_statement(self, stmt);
    }
}

struct LambdaFinder<'a> {
    line: TextRange,
    found: Vec<&'a ExprLambda>,
}

impl<'a> Visitor<'a> for LambdaFinder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if self.line.intersect(stmt.range()).is_some() {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.line.intersect(expr.range()).is_none() {
            return;
        }
        if let Expr::Lambda(lambda) = expr
            && self.line.contains(lambda.range.start())
        {
            self.found.push(lambda);
        }
        walk_expr(self, expr);
    }
}
