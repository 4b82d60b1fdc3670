//! Lowering of statements.

use inkle_frontend::tree::{self, StmtKind};
use ruff_python_ast::{ElifElseClause, Expr, Operator, Stmt, StmtIf};
use ruff_text_size::{Ranged, TextRange};

use crate::Lowering;

impl Lowering<'_> {
    pub(crate) fn body(&mut self, body: &[Stmt]) -> Vec<tree::Stmt> {
        body.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> tree::Stmt {
        let span = self.span(stmt.range());
        let kind = self.nested(stmt.range(), StmtKind::Pass, |this| this.stmt_kind(stmt));
        tree::Stmt { kind, span }
    }

    fn stmt_kind(&mut self, stmt: &Stmt) -> StmtKind {
        match stmt {
            Stmt::Assign(s) => StmtKind::Assign {
                targets: s.targets.iter().map(|t| self.target(t)).collect(),
                value: self.expr(&s.value),
            },
            Stmt::AnnAssign(s) => StmtKind::AnnAssign {
                target: self.target(&s.target),
                annotation: self.expr(&s.annotation),
                value: self.boxed(&s.value),
            },
            Stmt::AugAssign(s) => StmtKind::AugAssign {
                target: self.target(&s.target),
                op: bin_op(s.op),
                value: self.expr(&s.value),
            },
            Stmt::If(s) => self.if_stmt(s),
            Stmt::For(s) if s.is_async => unsupported("async for"),
            Stmt::For(s) => StmtKind::For {
                target: self.target(&s.target),
                iter: self.expr(&s.iter),
                body: self.body(&s.body),
                orelse: self.body(&s.orelse),
            },
            Stmt::While(s) => StmtKind::While {
                test: self.expr(&s.test),
                body: self.body(&s.body),
                orelse: self.body(&s.orelse),
            },
            Stmt::Break(_) => StmtKind::Break,
            Stmt::Continue(_) => StmtKind::Continue,
            Stmt::Return(s) => StmtKind::Return(self.boxed(&s.value)),
            Stmt::Expr(s) => StmtKind::Expr(self.expr(&s.value)),
            Stmt::Assert(s) => StmtKind::Assert { test: self.expr(&s.test), message: self.boxed(&s.msg) },
            Stmt::Pass(_) => StmtKind::Pass,
            Stmt::FunctionDef(s) => StmtKind::FunctionDef(s.name.as_str().to_owned()),
            Stmt::ClassDef(_) => unsupported("class"),
            Stmt::Delete(_) => unsupported("del"),
            Stmt::TypeAlias(_) => unsupported("type"),
            Stmt::With(s) => unsupported(if s.is_async { "async with" } else { "with" }),
            Stmt::Match(_) => unsupported("match"),
            Stmt::Raise(_) => unsupported("raise"),
            Stmt::Try(_) => unsupported("try"),
            Stmt::Import(_) | Stmt::ImportFrom(_) => unsupported("import"),
            Stmt::Global(_) => unsupported("global"),
            Stmt::Nonlocal(_) => unsupported("nonlocal"),
            Stmt::IpyEscapeCommand(_) => unsupported("IPython command"),
        }
    }

    fn if_stmt(&mut self, stmt: &StmtIf) -> StmtKind {
        StmtKind::If {
            test: self.expr(&stmt.test),
            body: self.body(&stmt.body),
            orelse: self.else_clauses(&stmt.elif_else_clauses),
        }
    }

    fn else_clauses(&mut self, clauses: &[ElifElseClause]) -> Vec<tree::Stmt> {
        // Folded from the end, so that a long `elif` chain costs no stack here.
        let end = clauses.last().map(Ranged::end);
        let mut orelse = Vec::new();
        for clause in clauses.iter().rev() {
            let body = self.body(&clause.body);
            orelse = match &clause.test {
                None => body,
                Some(test) => {
                    let range = TextRange::new(clause.range.start(), end.unwrap_or(clause.range.end()));
                    let kind = StmtKind::If { test: self.expr(test), body, orelse };
                    vec![tree::Stmt { kind, span: self.span(range) }]
                }
            };
        }
        orelse
    }

    /// An assignment target: a list is the same as a tuple here.
    fn target(&mut self, target: &Expr) -> tree::Expr {
        let elements = match target {
            Expr::Tuple(tuple) => &tuple.elts,
            Expr::List(list) => &list.elts,
            _ => return self.expr(target),
        };
        let span = self.span(target.range());
        let kind = self.nested(target.range(), tree::ExprKind::None, |this| {
            tree::ExprKind::Tuple(elements.iter().map(|e| this.target(e)).collect())
        });
        tree::Expr::new(kind, span)
    }
}

fn unsupported(name: &str) -> StmtKind {
    StmtKind::Unsupported(name.to_owned())
}

pub(crate) fn bin_op(op: Operator) -> tree::BinOp {
    match op {
        Operator::Add => tree::BinOp::Add,
        Operator::Sub => tree::BinOp::Sub,
        Operator::Mult => tree::BinOp::Mul,
        Operator::Div => tree::BinOp::Div,
        Operator::FloorDiv => tree::BinOp::FloorDiv,
        Operator::Mod => tree::BinOp::Mod,
        Operator::Pow => tree::BinOp::Pow,
        Operator::MatMult => tree::BinOp::MatMul,
        Operator::BitAnd => tree::BinOp::BitAnd,
        Operator::BitOr => tree::BinOp::BitOr,
        Operator::BitXor => tree::BinOp::BitXor,
        Operator::LShift => tree::BinOp::Shl,
        Operator::RShift => tree::BinOp::Shr,
    }
}
