//! Conditions and loops.

use inkle_diag::Span;
use inkle_frontend::tree::{BinOp, Expr, ExprKind, Stmt, StmtKind, UnOp};
use quote::ToTokens;

use super::{Dest, Loop, Lower, Name, builtin, call, int, named};

impl Lower<'_> {
    pub(super) fn if_(&mut self, expr: &mut syn::Expr, dest: &Dest, span: Span) {
        let syn::Expr::If(if_) = expr else { unreachable!("the caller saw an if") };
        let test = self.expr(&mut if_.cond);
        let (body, body_ends) = self.branch(|this| this.block(&mut if_.then_branch, dest));
        let (orelse, else_ends) = match &mut if_.else_branch {
            Some((_, orelse)) => self.branch(|this| this.into(orelse, dest)),
            None => (Vec::new(), true),
        };
        self.push(StmtKind::If { test, body, orelse }, span);
        self.dead |= !body_ends && !else_ends;
    }

    /// Statements of a branch, and whether its end can be reached.
    pub(super) fn branch(&mut self, run: impl FnOnce(&mut Self)) -> (Vec<Stmt>, bool) {
        let (mut stmts, dead) = self.collect(run);
        if stmts.is_empty() {
            stmts.push(Stmt { kind: StmtKind::Pass, span: Span::NONE });
        }
        (stmts, !dead)
    }

    /// The body of a loop, with the flags that jumps to outer loops need.
    fn loop_body(
        &mut self,
        label: &Option<syn::Label>,
        result: Option<String>,
        run: impl FnOnce(&mut Self),
    ) -> (Vec<Stmt>, Loop) {
        let label = label.as_ref().map(|l| l.name.ident.to_string());
        self.loops.push(Loop {
            label,
            result,
            zero: None,
            breaks: None,
            continues: None,
            leaves: Vec::new(),
        });
        let (mut stmts, _) = self.branch(run);
        let done = self.loops.pop().expect("it was pushed");
        if let Some(flag) = &done.continues {
            stmts.insert(0, set(flag, false));
        }
        (stmts, done)
    }

    /// Adds a loop and the jumps that follow it: those out of it to loops further out.
    fn add_loop(&mut self, kind: StmtKind, done: Loop, span: Span) {
        if let Some(flag) = &done.breaks {
            self.push(set(flag, false).kind, span);
        }
        if let (Some(result), Some(zero)) = (&done.result, &done.zero) {
            self.assign(result, zero.clone(), span);
        }
        // They must be known when the loop is not entered.
        for (_, _, flag) in &done.leaves {
            self.push(set(flag, false).kind, span);
        }
        self.push(kind, span);
        let here = self.loops.len().checked_sub(1);
        for (target, is_break, flag) in done.leaves {
            let jump = if Some(target) == here && !is_break { StmtKind::Continue } else { StmtKind::Break };
            if Some(target) != here
                && let Some(outer) = self.loops.last_mut()
                && !outer.leaves.iter().any(|(_, _, known)| *known == flag)
            {
                outer.leaves.push((target, is_break, flag.clone()));
            }
            let body = vec![Stmt { kind: jump, span }];
            self.push(StmtKind::If { test: named(&flag, span), body, orelse: Vec::new() }, span);
        }
    }

    pub(super) fn loop_(&mut self, expr: &mut syn::Expr, dest: &Dest, span: Span) {
        let syn::Expr::Loop(loop_) = expr else { unreachable!("the caller saw a loop") };
        let result = match dest {
            Dest::Ignore => None,
            Dest::Var(name) => Some(name.clone()),
            Dest::Return => Some(self.hidden()),
        };
        let (body, done) = self.loop_body(&loop_.label, result.clone(), |this| {
            this.block(&mut loop_.body, &Dest::Ignore);
        });
        let test = Expr::new(ExprKind::Bool(true), span);
        let ends = has_break(&body) || done.breaks.is_some();
        self.add_loop(StmtKind::While { test, body, orelse: Vec::new() }, done, span);
        if !ends {
            self.dead = true;
        } else if let (Dest::Return, Some(result)) = (dest, result) {
            // A function without a result has nothing to return, and `break` sets nothing.
            if self.assigned(&result) {
                self.push(StmtKind::Return(Some(named(&result, span))), span);
                self.dead = true;
            }
        }
    }

    fn assigned(&self, name: &str) -> bool {
        self.stmts.iter().any(|stmt| assigns(stmt, name))
    }

    pub(super) fn while_(&mut self, expr: &mut syn::Expr, span: Span) {
        let syn::Expr::While(while_) = expr else { unreachable!("the caller saw a while") };
        let mut test = None;
        let (before, _) = self.collect(|this| test = Some(this.expr(&mut while_.cond)));
        let test = test.expect("it was lowered");
        let (mut body, done) =
            self.loop_body(&while_.label, None, |this| this.block(&mut while_.body, &Dest::Ignore));
        if before.is_empty() {
            return self.add_loop(StmtKind::While { test, body, orelse: Vec::new() }, done, span);
        }
        let leave = Expr::new(ExprKind::Unary { op: UnOp::Not, operand: test }, span);
        let jump = vec![Stmt { kind: StmtKind::Break, span }];
        let stop = Stmt { kind: StmtKind::If { test: leave, body: jump, orelse: Vec::new() }, span };
        body.splice(0..0, before.into_iter().chain([stop]));
        let forever = Expr::new(ExprKind::Bool(true), span);
        self.add_loop(StmtKind::While { test: forever, body, orelse: Vec::new() }, done, span);
    }

    pub(super) fn for_(&mut self, expr: &mut syn::Expr, span: Span) {
        let syn::Expr::ForLoop(for_) = expr else { unreachable!("the caller saw a for") };
        if let Some(items) = self.items_of(&mut for_.expr) {
            let head = items.span;
            let count = call(builtin("len", head), vec![items.clone()], head);
            let iter = call(builtin("range", head), vec![count], head);
            let item =
                |counter| Expr::new(ExprKind::Subscript { value: items, indices: vec![counter] }, head);
            return self.counted(for_, iter, item, span);
        }
        let Some(range) = self.range(&mut for_.expr) else { return };
        let Range { bounds, closed, step, reversed, site } = range;
        let head = bounds[1].span;
        let carrier = self.name(Name::Carrier(site), head);
        let [first, end] = bounds.map(|bound| call(carrier.clone(), vec![bound], head));
        let one = || call(carrier.clone(), vec![int(1, head)], head);
        let end = match closed {
            true => Expr::new(ExprKind::Binary { op: BinOp::Add, left: end, right: one() }, head),
            false => end,
        };
        let mut args = vec![first, end];
        if let Some(step) = step {
            args.push(call(carrier.clone(), vec![step], head));
        } else {
            args.push(one());
        }
        let mut iter = call(builtin("range", head), args, head);
        if reversed {
            iter = call(builtin("reversed", head), vec![iter], head);
        }
        let ty = self.name(Name::Type(site), head);
        self.counted(for_, iter, |counter| call(ty, vec![counter], head), span);
    }

    /// The loop whose variable is what `item` makes of the numbers of a range.
    fn counted(
        &mut self,
        for_: &mut syn::ExprForLoop,
        iter: Expr,
        item: impl FnOnce(Expr) -> Expr,
        span: Span,
    ) {
        let (counter, head) = (self.hidden(), iter.span);
        let label = for_.label.clone();
        let pat = &for_.pat;
        let (body, done) = self.scoped(|this| {
            let mut target = None;
            this.loop_body(&label, None, |this| {
                match this.target(pat) {
                    Some(found) => target = Some(found),
                    None => {
                        this.error(pat, "a loop in a kernel has one variable");
                    }
                }
                if let Some(target) = target.clone() {
                    let value = item(named(&counter, head));
                    this.push(StmtKind::Assign { targets: vec![target], value }, head);
                }
                this.block(&mut for_.body, &Dest::Ignore);
            })
        });
        let target = named(&counter, head);
        self.add_loop(StmtKind::For { target, iter, body, orelse: Vec::new() }, done, span);
    }

    /// The array that a `for` loop runs over, written out or a variable.
    fn items_of(&mut self, expr: &mut syn::Expr) -> Option<Expr> {
        match expr {
            syn::Expr::Paren(inner) => self.items_of(&mut inner.expr),
            syn::Expr::Group(inner) => self.items_of(&mut inner.expr),
            syn::Expr::Reference(reference) if reference.mutability.is_none() => {
                self.items_of(&mut reference.expr)
            }
            syn::Expr::Array(_) | syn::Expr::Path(_) => {
                let items = self.expr(expr);
                Some(self.keep(items))
            }
            _ => None,
        }
    }

    /// What a `for` loop runs over: `a..b`, `a..=b`, with `.rev()` and `.step_by(n)`.
    fn range(&mut self, expr: &mut syn::Expr) -> Option<Range> {
        match expr {
            syn::Expr::Paren(inner) => self.range(&mut inner.expr),
            syn::Expr::Group(inner) => self.range(&mut inner.expr),
            syn::Expr::Range(range) => {
                let closed = matches!(range.limits, syn::RangeLimits::Closed(_));
                let (Some(start), Some(end)) = (&mut range.start, &mut range.end) else {
                    self.error(expr, "a range in a kernel has a first number and an end: `0..n`");
                    return None;
                };
                let mut bounds = self.exprs([&mut **start, &mut **end].into_iter());
                let site = self.pass(end);
                let end = bounds.pop().expect("two bounds");
                let start = bounds.pop().expect("two bounds");
                Some(Range { bounds: [start, end], closed, step: None, reversed: false, site })
            }
            syn::Expr::MethodCall(method) if method.method == "rev" && method.args.is_empty() => {
                let mut range = self.range(&mut method.receiver)?;
                range.reversed = !range.reversed;
                Some(range)
            }
            syn::Expr::MethodCall(method) if method.method == "step_by" && method.args.len() == 1 => {
                let mut range = self.range(&mut method.receiver)?;
                if range.step.is_some() || range.reversed {
                    self.error(expr, "write `.step_by(n)` once, before `.rev()`");
                    return None;
                }
                let step = self.expr(&mut method.args[0]);
                range.step = Some(step);
                Some(range)
            }
            other => {
                self.error(
                    other,
                    "kernels loop over ranges, `for i in 0..n`, and over `[f32; 3]` and the like",
                );
                None
            }
        }
    }

    pub(super) fn break_(&mut self, expr: &mut syn::Expr, span: Span) {
        let syn::Expr::Break(break_) = expr else { unreachable!("the caller saw a break") };
        let Some(target) = self.loop_named(&break_.label, &break_.break_token) else { return };
        if let Some(expr) = &mut break_.expr {
            let value = self.expr(expr);
            if let Some(result) = self.loops[target].result.clone() {
                self.loops[target].zero = Some(self.zero_like(expr, span));
                self.assign(&result, value, span);
            }
        }
        self.jump(target, true, span);
    }

    /// A value of the type of an expression that was lowered.
    fn zero_like(&mut self, expr: &mut syn::Expr, span: Span) -> Expr {
        if let syn::Expr::Tuple(tuple) = expr {
            let items = tuple.elems.iter_mut().map(|item| self.zero_like(item, span)).collect();
            return Expr::new(ExprKind::Tuple(items), span);
        }
        let site = self.pass(expr);
        let ty = self.name(Name::Type(site), span);
        call(ty, Vec::new(), span)
    }

    pub(super) fn continue_(&mut self, expr: &mut syn::Expr, span: Span) {
        let syn::Expr::Continue(continue_) = expr else { unreachable!("the caller saw a continue") };
        let Some(target) = self.loop_named(&continue_.label, &continue_.continue_token) else { return };
        self.jump(target, false, span);
    }

    fn loop_named(&mut self, label: &Option<syn::Lifetime>, at: &impl ToTokens) -> Option<usize> {
        let found = match label {
            None => self.loops.len().checked_sub(1),
            Some(label) => {
                let name = label.ident.to_string();
                self.loops.iter().rposition(|l| l.label.as_ref() == Some(&name))
            }
        };
        if found.is_none() {
            self.error(at, "there is no such loop around this");
        }
        found
    }

    fn jump(&mut self, target: usize, is_break: bool, span: Span) {
        let inner = self.loops.len() - 1;
        if target == inner {
            self.push(if is_break { StmtKind::Break } else { StmtKind::Continue }, span);
            self.dead = true;
            return;
        }
        let known = if is_break { &self.loops[target].breaks } else { &self.loops[target].continues };
        let flag = match known {
            Some(flag) => flag.clone(),
            None => {
                let flag = self.hidden();
                let place = &mut self.loops[target];
                *(if is_break { &mut place.breaks } else { &mut place.continues }) = Some(flag.clone());
                flag
            }
        };
        let leaves = &mut self.loops[inner].leaves;
        if !leaves.iter().any(|(_, _, other)| *other == flag) {
            leaves.push((target, is_break, flag.clone()));
        }
        self.push(set(&flag, true).kind, span);
        self.push(StmtKind::Break, span);
        self.dead = true;
    }
}

/// What a loop runs over.
struct Range {
    bounds: [Expr; 2],
    closed: bool,
    step: Option<Expr>,
    reversed: bool,
    /// Of the type of the bounds.
    site: usize,
}

fn set(flag: &str, value: bool) -> Stmt {
    let targets = vec![named(flag, Span::NONE)];
    let value = Expr::new(ExprKind::Bool(value), Span::NONE);
    Stmt { kind: StmtKind::Assign { targets, value }, span: Span::NONE }
}

/// Whether a loop's body leaves the loop by `break`.
fn has_break(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::If { body, orelse, .. } => has_break(body) || has_break(orelse),
        _ => false,
    })
}

fn assigns(stmt: &Stmt, name: &str) -> bool {
    let any = |body: &[Stmt]| body.iter().any(|stmt| assigns(stmt, name));
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => {
            targets.iter().any(|t| matches!(&*t.kind, ExprKind::Name(target) if target == name))
        }
        StmtKind::If { body, orelse, .. } => any(body) || any(orelse),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } => any(body),
        _ => false,
    }
}
