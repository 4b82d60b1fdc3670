//! Moving a decoded tree into a source file of this process.
//!
//! A file's id is only valid in the process that registered it, so the ids in stored spans mean nothing; every
//! span of a stored function is in the one file that the function was parsed from.

use crate::tree::{Expr, ExprKind, FormatPart, FunctionDef, Stmt, StmtKind};
use inkle_diag::{FileId, Span};

/// Puts every span of `def` into `file`.
pub fn set_file(def: &mut FunctionDef, file: FileId) {
    walk(def, Walk { file: Some(file) });
}

/// Takes every span away: what is left is what the function does.
pub fn clear(def: &mut FunctionDef) {
    walk(def, Walk { file: None });
}

fn walk(def: &mut FunctionDef, mut walk: Walk) {
    walk.span(&mut def.name_span);
    walk.span(&mut def.span);
    for param in &mut def.params {
        walk.span(&mut param.span);
        param.annotation.iter_mut().chain(&mut param.default).for_each(|e| walk.expr(e));
    }
    def.returns.iter_mut().chain(&mut def.decorators).for_each(|e| walk.expr(e));
    walk.body(&mut def.body);
}

struct Walk {
    /// Where spans go; without, they go away.
    file: Option<FileId>,
}

impl Walk {
    fn span(&mut self, span: &mut Span) {
        match self.file {
            Some(file) => span.file = file,
            None => *span = Span::NONE,
        }
    }

    fn body(&mut self, body: &mut [Stmt]) {
        for stmt in body {
            self.span(&mut stmt.span);
            self.stmt_kind(&mut stmt.kind);
        }
    }

    fn stmt_kind(&mut self, kind: &mut StmtKind) {
        match kind {
            StmtKind::Assign { targets, value } => {
                self.exprs(targets);
                self.expr(value);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                self.expr(target);
                self.expr(annotation);
                self.exprs(value.as_mut_slice());
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
            }
            StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.body(body);
                self.body(orelse);
            }
            StmtKind::For { target, iter, body, orelse } => {
                self.expr(target);
                self.expr(iter);
                self.body(body);
                self.body(orelse);
            }
            StmtKind::Return(value) => self.exprs(value.as_mut_slice()),
            StmtKind::Expr(value) => self.expr(value),
            StmtKind::Assert { test, message } => {
                self.expr(test);
                self.exprs(message.as_mut_slice());
            }
            StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Pass
            | StmtKind::FunctionDef(_)
            | StmtKind::Unsupported(_) => {}
        }
    }

    fn exprs(&mut self, exprs: &mut [Expr]) {
        exprs.iter_mut().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, expr: &mut Expr) {
        self.span(&mut expr.span);
        match &mut *expr.kind {
            ExprKind::Attribute { value, attr_span, .. } => {
                self.span(attr_span);
                self.expr(value);
            }
            ExprKind::FormatStr(parts) => {
                for part in parts {
                    if let FormatPart::Value(value, _) = part {
                        self.expr(value);
                    }
                }
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Logic { values, .. } => self.exprs(values),
            ExprKind::Compare { first, rest } => {
                self.expr(first);
                rest.iter_mut().for_each(|(_, e)| self.expr(e));
            }
            ExprKind::IfElse { test, then, orelse } => {
                self.expr(test);
                self.expr(then);
                self.expr(orelse);
            }
            ExprKind::Call { func, args, keywords } => {
                self.expr(func);
                self.exprs(args);
                keywords.iter_mut().for_each(|(_, e)| self.expr(e));
            }
            ExprKind::Subscript { value, indices } => {
                self.expr(value);
                self.exprs(indices);
            }
            ExprKind::Slice { start, stop, step } => {
                start.iter_mut().chain(stop).chain(step).for_each(|e| self.expr(e));
            }
            ExprKind::Tuple(elements) | ExprKind::List(elements) => self.exprs(elements),
            ExprKind::Starred(value) | ExprKind::Lambda { body: value, .. } => self.expr(value),
            ExprKind::Name(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Str(_)
            | ExprKind::None
            | ExprKind::Ellipsis
            | ExprKind::Unsupported(_) => {}
        }
    }
}
