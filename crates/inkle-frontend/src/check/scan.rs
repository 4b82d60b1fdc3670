//! What statements hold, judged by their form alone.

use crate::tree::{Expr, ExprKind, FormatPart, Stmt, StmtKind};

/// Calls `visit` on every statement, outer ones before those inside them.
fn statements<'a>(stmts: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in stmts {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If { body, orelse, .. }
            | StmtKind::While { body, orelse, .. }
            | StmtKind::For { body, orelse, .. } => {
                statements(body, visit);
                statements(orelse, visit);
            }
            _ => {}
        }
    }
}

/// Calls `visit` on every target of an assignment or loop.
fn targets<'a>(stmts: &'a [Stmt], visit: &mut dyn FnMut(&'a Expr)) {
    statements(stmts, &mut |stmt| match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(&mut *visit),
        StmtKind::AnnAssign { target, .. }
        | StmtKind::AugAssign { target, .. }
        | StmtKind::For { target, .. } => visit(target),
        _ => {}
    });
}

/// Calls `visit` on every expression, outer ones before those inside them.
fn expressions<'a>(stmts: &'a [Stmt], visit: &mut dyn FnMut(&'a Expr)) {
    statements(stmts, &mut |stmt| match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            targets.iter().for_each(|t| parts(t, visit));
            parts(value, visit);
        }
        StmtKind::AnnAssign { target, value, .. } => {
            parts(target, visit);
            value.iter().for_each(|v| parts(v, visit));
        }
        StmtKind::AugAssign { target, value, .. } => {
            parts(target, visit);
            parts(value, visit);
        }
        StmtKind::If { test, .. } | StmtKind::While { test, .. } => parts(test, visit),
        StmtKind::For { iter, .. } => parts(iter, visit),
        StmtKind::Return(Some(value)) | StmtKind::Expr(value) => parts(value, visit),
        StmtKind::Assert { test, .. } => parts(test, visit),
        _ => {}
    });
}

/// Calls `visit` on an expression and every one inside it.
fn parts<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    let mut all = |exprs: &'a [Expr]| exprs.iter().for_each(|e| parts(e, visit));
    match &*expr.kind {
        ExprKind::Attribute { value, .. } | ExprKind::Starred(value) => parts(value, visit),
        ExprKind::Binary { left, right, .. } => {
            parts(left, visit);
            parts(right, visit);
        }
        ExprKind::Unary { operand, .. } => parts(operand, visit),
        ExprKind::Logic { values, .. } => all(values),
        ExprKind::Compare { first, rest } => {
            parts(first, visit);
            rest.iter().for_each(|(_, e)| parts(e, visit));
        }
        ExprKind::IfElse { test, then, orelse } => {
            parts(test, visit);
            parts(then, visit);
            parts(orelse, visit);
        }
        ExprKind::Call { func, args, keywords } => {
            all(args);
            parts(func, visit);
            keywords.iter().for_each(|(_, e)| parts(e, visit));
        }
        ExprKind::Subscript { value, indices } => {
            all(indices);
            parts(value, visit);
        }
        ExprKind::Slice { start, stop, step } => {
            [start, stop, step].into_iter().flatten().for_each(|e| parts(e, visit));
        }
        ExprKind::Tuple(items) | ExprKind::List(items) => all(items),
        ExprKind::FormatStr(pieces) => {
            for piece in pieces {
                if let FormatPart::Value(value, _) = piece {
                    parts(value, visit);
                }
            }
        }
        _ => {}
    }
}

/// The names that an expression mentions.
pub(super) fn mentioned(expr: &Expr) -> Vec<&str> {
    let mut names = Vec::new();
    parts(expr, &mut |part| {
        if let ExprKind::Name(name) = &*part.kind {
            names.push(name.as_str());
        }
    });
    names
}

/// Calls `visit` on the names that a target binds.
fn bound<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a str)) {
    match &*target.kind {
        ExprKind::Name(name) => visit(name),
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| bound(item, visit)),
        ExprKind::Starred(value) => bound(value, visit),
        _ => {}
    }
}

/// Calls `visit` on the names that a target binds, and on `x` of `x.y` and `x[i]`.
fn roots<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a str)) {
    match &*target.kind {
        ExprKind::Name(name) => visit(name),
        ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } | ExprKind::Starred(value) => {
            roots(value, visit)
        }
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| roots(item, visit)),
        _ => {}
    }
}

/// The names that statements assign, in order of appearance, nested functions excluded.
pub(super) fn assigned_names(stmts: &[Stmt]) -> Vec<&str> {
    let mut names = Vec::new();
    targets(stmts, &mut |target| bound(target, &mut |name| names.push(name)));
    unique(names)
}

/// The names whose value statements change: assigned ones, the roots of `x.y = ` and `x[i] = `, and arguments of
/// calls of functions for which `by_reference` holds.
pub(super) fn changed_names<'a>(
    stmts: &'a [Stmt],
    by_reference: &mut dyn FnMut(&Expr) -> bool,
) -> Vec<&'a str> {
    let mut names = Vec::new();
    targets(stmts, &mut |target| roots(target, &mut |name| names.push(name)));
    expressions(stmts, &mut |expr| passed(expr, by_reference, &mut names));
    unique(names)
}

/// The expression that a call of `static` is about.
pub(super) fn static_argument(expr: &Expr) -> Option<&Expr> {
    match &*expr.kind {
        ExprKind::Call { func, args, .. } if is_static(func) => args.first(),
        _ => None,
    }
}

fn is_static(func: &Expr) -> bool {
    func.path().is_some_and(|path| path.last() == Some(&"static"))
}

/// The names of which `address_of` is asked, or of parts of which it is.
pub(super) fn addressed_names(stmts: &[Stmt]) -> Vec<&str> {
    let mut names = Vec::new();
    let is_address_of = |func: &Expr| func.path().is_some_and(|path| path.last() == Some(&"address_of"));
    expressions(stmts, &mut |expr| passed(expr, &mut |func| is_address_of(func), &mut names));
    unique(names)
}

/// Whether an expression calls something that changes its arguments.
pub(super) fn changes_names(expr: &Expr, by_reference: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let mut names = Vec::new();
    parts(expr, &mut |part| passed(part, by_reference, &mut names));
    !names.is_empty()
}

fn passed<'a>(expr: &'a Expr, by_reference: &mut dyn FnMut(&Expr) -> bool, names: &mut Vec<&'a str>) {
    if let ExprKind::Call { func, args, keywords } = &*expr.kind
        && by_reference(func)
    {
        args.iter().chain(keywords.iter().map(|(_, e)| e)).for_each(|a| roots(a, &mut |n| names.push(n)));
    }
}

fn unique(names: Vec<&str>) -> Vec<&str> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

/// Whether the statements hold a `break` of the loop they are the body of.
pub(super) fn has_break(stmts: &[Stmt]) -> bool {
    leaves(stmts, |kind| matches!(kind, StmtKind::Break))
}

/// Whether the statements hold a `break` or `continue` of the loop they are the body of.
pub(super) fn has_loop_exit(stmts: &[Stmt]) -> bool {
    leaves(stmts, |kind| matches!(kind, StmtKind::Break | StmtKind::Continue))
}

fn leaves(stmts: &[Stmt], wanted: fn(&StmtKind) -> bool) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::If { body, orelse, .. } => leaves(body, wanted) || leaves(orelse, wanted),
        kind => wanted(kind),
    })
}

/// Whether the statements hold a `return`, at any depth.
pub(super) fn has_return(stmts: &[Stmt]) -> bool {
    let mut found = false;
    statements(stmts, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Return(_)));
    found
}

/// How many `return` statements there are, at any depth.
pub(super) fn count_returns(stmts: &[Stmt]) -> usize {
    let mut count = 0;
    statements(stmts, &mut |stmt| count += usize::from(matches!(stmt.kind, StmtKind::Return(_))));
    count
}

/// Whether the statements hold a `return` with a value, at any depth.
pub(super) fn returns_values(stmts: &[Stmt]) -> bool {
    let mut found = false;
    statements(stmts, &mut |stmt| {
        if let StmtKind::Return(Some(value)) = &stmt.kind {
            found |= !matches!(*value.kind, ExprKind::None);
        }
    });
    found
}

/// Whether the statements ask for an expression to be evaluated while compiling.
pub(super) fn has_static(stmts: &[Stmt]) -> bool {
    let mut found = false;
    expressions(stmts, &mut |expr| {
        if let ExprKind::Call { func, .. } = &*expr.kind {
            found |= is_static(func);
        }
    });
    found
}

/// Whether the statements never go on to what follows.
pub(super) fn ends(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { body, orelse, .. } => ends(body) && ends(orelse),
        _ => false,
    })
}

/// Whether a condition is written to hold always.
pub(super) fn is_forever(test: &Expr) -> bool {
    matches!(*test.kind, ExprKind::Bool(true) | ExprKind::Int(1))
}

/// Whether every path through the statements ends in `return`.
pub(super) fn always_returns(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If { body, orelse, .. } => always_returns(body) && always_returns(orelse),
        StmtKind::While { test, body, .. } => is_forever(test) && !has_break(body),
        _ => false,
    })
}
