//! `match`: a chain of conditions on a value that is kept in a variable.

use inkle_diag::Span;
use inkle_frontend::tree::{CmpOp, Expr, ExprKind, LogicOp, Stmt, StmtKind};

use super::{Dest, Local, Lower, Name, Said, int};

/// When a pattern matches.
enum Test {
    Always,
    When(Expr),
}

impl Lower<'_> {
    pub(super) fn match_(&mut self, expr: &mut syn::Expr, dest: &Dest, span: Span) {
        let syn::Expr::Match(match_) = expr else { unreachable!("the caller saw a match") };
        let subject = self.expr(&mut match_.expr);
        let subject = self.keep(subject);
        let mut arms = Vec::new();
        let count = match_.arms.len();
        for (index, arm) in match_.arms.iter_mut().enumerate() {
            let arm_span = self.span(&arm.pat);
            let mut test = Test::Always;
            let (body, ends) = self.scoped(|this| {
                test = this.test(&arm.pat, &subject);
                this.bind(&arm.pat, &subject);
                if let Some((_, guard)) = &mut arm.guard {
                    let mut value = None;
                    let (before, _) = this.collect(|this| value = Some(this.expr(guard)));
                    if !before.is_empty() {
                        this.error(
                            guard,
                            "kernels cannot evaluate this in a guard; write an `if` in the arm",
                        );
                    }
                    let guard = value.expect("it was lowered");
                    test = Test::When(match std::mem::replace(&mut test, Test::Always) {
                        Test::Always => guard,
                        Test::When(first) => and(first, guard),
                    });
                } else if index + 1 == count {
                    // rustc saw to it that some arm matches.
                    test = Test::Always;
                }
                this.branch(|this| this.into(&mut arm.body, dest))
            });
            arms.push((test, body, ends, arm_span));
        }
        let ends = arms.iter().any(|(_, _, ends, _)| *ends);
        let mut chain: Vec<Stmt> = Vec::new();
        for (test, body, _, arm_span) in arms.into_iter().rev() {
            chain = match test {
                Test::Always => body,
                Test::When(test) => {
                    vec![Stmt { kind: StmtKind::If { test, body, orelse: chain }, span: arm_span.to(span) }]
                }
            };
        }
        for stmt in chain {
            self.push(stmt.kind, stmt.span);
        }
        self.dead |= !ends;
    }

    /// When `subject` matches a pattern.
    fn test(&mut self, pat: &syn::Pat, subject: &Expr) -> Test {
        let span = self.span(pat);
        let compare = |op, right: Expr| {
            Test::When(Expr::new(ExprKind::Compare { first: subject.clone(), rest: vec![(op, right)] }, span))
        };
        match pat {
            syn::Pat::Wild(_) | syn::Pat::Rest(_) => Test::Always,
            syn::Pat::Paren(inner) => self.test(&inner.pat, subject),
            syn::Pat::Reference(inner) => self.test(&inner.pat, subject),
            syn::Pat::Type(typed) => self.test(&typed.pat, subject),
            syn::Pat::Lit(lit) => {
                let expr = syn::Expr::Lit(lit.clone());
                match self.pattern_literal(&expr) {
                    Some(value) => compare(CmpOp::Eq, value),
                    None => self.no_pattern(pat),
                }
            }
            syn::Pat::Path(path) => {
                let value = self.name(Name::Constant(Box::new(syn::Expr::Path(path.clone()))), span);
                compare(CmpOp::Eq, value)
            }
            syn::Pat::Ident(ident) => match &ident.subpat {
                Some((_, inner)) => self.test(inner, subject),
                None if is_constant(&ident.ident) => {
                    let name = &ident.ident;
                    let value = self.name(Name::Constant(Box::new(syn::parse_quote!(#name))), span);
                    compare(CmpOp::Eq, value)
                }
                None => Test::Always,
            },
            syn::Pat::Range(range) => {
                let mut parts = Vec::new();
                let mut bound = |this: &mut Self, expr: &Option<Box<syn::Expr>>, op| {
                    let Some(expr) = expr else { return true };
                    let value = match &**expr {
                        syn::Expr::Path(path) => {
                            Some(this.name(Name::Constant(Box::new(syn::Expr::Path(path.clone()))), span))
                        }
                        other => this.pattern_literal(other),
                    };
                    let Some(value) = value else { return false };
                    parts.push(Expr::new(
                        ExprKind::Compare { first: subject.clone(), rest: vec![(op, value)] },
                        span,
                    ));
                    true
                };
                let end = match range.limits {
                    syn::RangeLimits::HalfOpen(_) => CmpOp::Lt,
                    syn::RangeLimits::Closed(_) => CmpOp::LtE,
                };
                if !bound(self, &range.start, CmpOp::GtE) || !bound(self, &range.end, end) {
                    return self.no_pattern(pat);
                }
                match parts.into_iter().reduce(and) {
                    Some(test) => Test::When(test),
                    None => Test::Always,
                }
            }
            syn::Pat::Or(or) => {
                let mut values = Vec::new();
                for case in &or.cases {
                    match self.test(case, subject) {
                        Test::Always => return Test::Always,
                        Test::When(test) => values.push(test),
                    }
                }
                Test::When(Expr::new(ExprKind::Logic { op: LogicOp::Or, values }, span))
            }
            syn::Pat::Tuple(_) | syn::Pat::Struct(_) => {
                let mut all: Option<Expr> = None;
                for (part, inner) in self.parts(pat, subject) {
                    if let Test::When(test) = self.test(&inner, &part) {
                        all = Some(match all {
                            Some(before) => and(before, test),
                            None => test,
                        });
                    }
                }
                all.map_or(Test::Always, Test::When)
            }
            other => self.no_pattern(other),
        }
    }

    fn no_pattern(&mut self, pat: &syn::Pat) -> Test {
        self.error(
            pat,
            "kernels match on numbers, ranges of them, constants, variants without fields, tuples and structs",
        );
        Test::Always
    }

    /// Binds the names of a pattern to parts of `value`, which does not change.
    pub(super) fn bind(&mut self, pat: &syn::Pat, value: &Expr) {
        match pat {
            syn::Pat::Ident(ident) if ident.subpat.is_none() && is_constant(&ident.ident) => {}
            syn::Pat::Ident(ident) => {
                let span = self.span(&ident.ident);
                if ident.mutability.is_some() {
                    let unique = self.declare(&ident.ident.to_string(), span);
                    self.assign(&unique, value.clone(), span);
                } else {
                    self.let_be(
                        ident.ident.to_string(),
                        Local { value: value.clone(), refers: false, said: Said::Nothing },
                    );
                }
                if let Some((_, inner)) = &ident.subpat {
                    self.bind(inner, value);
                }
            }
            syn::Pat::Paren(inner) => self.bind(&inner.pat, value),
            syn::Pat::Reference(inner) => self.bind(&inner.pat, value),
            syn::Pat::Type(typed) => self.bind(&typed.pat, value),
            syn::Pat::Or(or) => {
                // Alternatives that bind names would need a value per alternative.
                for case in &or.cases {
                    if binds(case) {
                        self.error(case, "kernels cannot bind names in alternatives");
                    }
                }
            }
            syn::Pat::Tuple(_) | syn::Pat::Struct(_) => {
                for (part, inner) in self.parts(pat, value) {
                    self.bind(&inner, &part);
                }
            }
            _ => {}
        }
    }

    /// The parts of a value that a tuple or struct pattern looks at.
    fn parts(&mut self, pat: &syn::Pat, value: &Expr) -> Vec<(Expr, syn::Pat)> {
        let span = self.span(pat);
        match pat {
            syn::Pat::Tuple(tuple) => {
                if let Some(rest) = tuple.elems.iter().find(|p| matches!(p, syn::Pat::Rest(_))) {
                    self.error(rest, "kernels cannot leave out parts of a tuple; write `_` for each");
                }
                let item = |(index, inner): (usize, &syn::Pat)| {
                    let indices = vec![int(index as i128, span)];
                    (Expr::new(ExprKind::Subscript { value: value.clone(), indices }, span), inner.clone())
                };
                tuple.elems.iter().enumerate().map(item).collect()
            }
            syn::Pat::Struct(structure) => {
                let fields: Vec<_> =
                    structure.fields.iter().map(|f| (f.member.clone(), (*f.pat).clone())).collect();
                fields
                    .into_iter()
                    .map(|(member, inner)| (self.member(value.clone(), &member, span), inner))
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

fn and(first: Expr, second: Expr) -> Expr {
    let span = first.span.to(second.span);
    Expr::new(ExprKind::Logic { op: LogicOp::And, values: vec![first, second] }, span)
}

/// Whether a lone name in a pattern is one of a constant, by the way Rust's names are written.
fn is_constant(name: &syn::Ident) -> bool {
    let name = name.to_string();
    name.chars().any(char::is_uppercase) && !name.chars().any(char::is_lowercase)
}

fn binds(pat: &syn::Pat) -> bool {
    match pat {
        syn::Pat::Ident(ident) => !is_constant(&ident.ident),
        syn::Pat::Paren(inner) => binds(&inner.pat),
        syn::Pat::Tuple(tuple) => tuple.elems.iter().any(binds),
        syn::Pat::Struct(structure) => structure.fields.iter().any(|f| binds(&f.pat)),
        _ => false,
    }
}
