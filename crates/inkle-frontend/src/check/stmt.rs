//! Statements.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{FunctionKind, OpKind, Scalar, Type};

use super::codes;
use super::flow::{self, Exit};
use super::function::{FunctionCx, Origin};
use super::val::{R, Reported, Slot, Val};
use crate::builtins::{Lower, Special};
use crate::env::ConstValue;
use crate::tree::{Expr, ExprKind, Stmt, StmtKind};

/// A library loop over a size is always unrolled up to this many turns.
const LIBRARY_UNROLL: i128 = 1024;

/// The values of all `return` statements, innermost last.
pub(super) fn returned_exprs(stmts: &[Stmt]) -> Vec<&Expr> {
    let mut out = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Return(Some(value)) => out.push(value),
            StmtKind::If { body, orelse, .. }
            | StmtKind::While { body, orelse, .. }
            | StmtKind::For { body, orelse, .. } => {
                out.extend(returned_exprs(body));
                out.extend(returned_exprs(orelse));
            }
            _ => {}
        }
    }
    out
}

pub(super) fn returns_values(stmts: &[Stmt]) -> bool {
    !returned_exprs(stmts).is_empty()
}

impl FunctionCx<'_, '_> {
    /// Checks statements in order; what follows one that may leave early is guarded.
    pub(super) fn statements(&mut self, stmts: &[Stmt]) {
        for (index, stmt) in stmts.iter().enumerate() {
            if self.diverged {
                return;
            }
            let rest = &stmts[index + 1..];
            let consumed = match self.statement(stmt, rest) {
                Ok(consumed) => consumed,
                Err(Reported) => {
                    self.poison(std::slice::from_ref(stmt));
                    false
                }
            };
            if consumed {
                return;
            }
            let compound =
                matches!(stmt.kind, StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. });
            if compound && !rest.is_empty() && self.exit_condition() != Exit::Never {
                self.rest(rest);
                return;
            }
        }
    }

    /// Checks one statement; says whether `rest` was checked with it.
    fn statement(&mut self, stmt: &Stmt, rest: &[Stmt]) -> R<bool> {
        self.span = stmt.span;
        match &stmt.kind {
            StmtKind::Assign { targets, value } => self.assign_statement(targets, value)?,
            StmtKind::AnnAssign { target, annotation, value } => {
                self.annotated(target, annotation, value.as_ref())?
            }
            StmtKind::AugAssign { target, op, value } => self.augmented(target, *op, value)?,
            StmtKind::If { test, body, orelse } => {
                self.span = test.span;
                return self.if_statement(test, body, orelse, rest);
            }
            StmtKind::For { target, iter, body, orelse } => {
                self.no_loop_else(orelse)?;
                self.for_statement(target, iter, body, stmt.span)?;
            }
            StmtKind::While { test, body, orelse } => {
                self.no_loop_else(orelse)?;
                self.while_statement(test, body, stmt.span)?;
            }
            StmtKind::Break => match self.loops.last().map(|l| l.broke) {
                Some(Some(flag)) => {
                    self.slots[flag.0] = Slot::Set(Val::bool(true));
                    self.diverged = true;
                }
                _ => return Err(self.outside_loop("break", stmt.span)),
            },
            StmtKind::Continue => match self.loops.last().map(|l| l.continued) {
                Some(flag) => {
                    self.slots[flag.0] = Slot::Set(Val::bool(true));
                    self.diverged = true;
                }
                None => return Err(self.outside_loop("continue", stmt.span)),
            },
            StmtKind::Return(value) => self.return_statement(value.as_ref(), stmt.span)?,
            StmtKind::Expr(expr) => {
                // A documentation string anywhere is allowed, as in Python.
                if !matches!(*expr.kind, ExprKind::Str(_) | ExprKind::Ellipsis) {
                    self.effect(expr)?;
                }
            }
            StmtKind::Assert { test, message } => self.assert_statement(test, message.as_ref())?,
            StmtKind::Pass => {}
            StmtKind::FunctionDef(name) => {
                return Err(self.report(
                    Diagnostic::new(
                        codes::STATEMENT,
                        stmt.span,
                        format!("function `{name}` is defined inside a kernel function"),
                    )
                    .help("define it outside and decorate it with `@wp.func`"),
                ));
            }
            StmtKind::Unsupported(what) => {
                return Err(self.report(Diagnostic::new(
                    codes::STATEMENT,
                    stmt.span,
                    format!("kernels cannot contain `{what}`"),
                )));
            }
        }
        Ok(false)
    }

    fn no_loop_else(&mut self, orelse: &[Stmt]) -> R<()> {
        match orelse.first() {
            None => Ok(()),
            Some(first) => Err(self.report(
                Diagnostic::new(codes::STATEMENT, first.span, "kernels cannot use `else` on a loop")
                    .help("set a variable before `break` and test it after the loop"),
            )),
        }
    }

    fn outside_loop(&mut self, what: &str, span: Span) -> Reported {
        self.report(Diagnostic::new(codes::OUTSIDE_LOOP, span, format!("`{what}` outside a loop")))
    }

    fn assert_statement(&mut self, test: &Expr, message: Option<&Expr>) -> R<()> {
        let condition = self.expr(test)?;
        let condition = self.truth(&condition, test.span)?;
        let condition = self.value_of(&condition, test.span)?;
        let text = match message {
            None => String::new(),
            Some(expr) => match self.expr(expr)? {
                Val::Const(ConstValue::Str(text)) => text,
                other => {
                    let what = self.describe(&other);
                    return Err(self.report(Diagnostic::new(
                        codes::NEEDS_CONSTANT,
                        expr.span,
                        format!("the message of `assert` must be a string, not {what}"),
                    )));
                }
            },
        };
        let place = match inkle_diag::SourceFile::get(test.span.file) {
            Some(file) => {
                let line = file.line_column(test.span.start).0;
                let source =
                    file.text().get(test.span.start as usize..test.span.end as usize).unwrap_or_default();
                format!("{}:{line}: assertion failed in `{}`: {source}", file.name(), self.name)
            }
            None => format!("assertion failed in `{}`", self.name),
        };
        let text = if text.is_empty() { place } else { format!("{place}: {text}") };
        self.span = test.span;
        self.builder().effect(OpKind::Assert(text), [condition]);
        Ok(())
    }

    fn return_statement(&mut self, value: Option<&Expr>, span: Span) -> R<()> {
        let value = value.filter(|v| !matches!(*v.kind, ExprKind::None));
        if let Some(expr) = value
            && self.function.kind == FunctionKind::Kernel
        {
            let name = self.name.clone();
            return Err(self.report(
                Diagnostic::new(
                    codes::KERNEL_RETURNS,
                    span,
                    format!("kernel `{name}` returns a value, but kernels cannot return values"),
                )
                .label(format!("this is {}", self.text_of(expr.span)))
                .help("pass an array to write the result to, or make it a function with `@wp.func`"),
            ));
        }
        if let Some(expr) = value {
            self.span = expr.span;
            let val = self.expr(expr)?;
            let items: Vec<Val> = match &val {
                Val::Tuple(items) => items.to_vec(),
                _ => vec![val],
            };
            self.return_values(&items, expr.span)?;
        } else if let Some(results) = &self.results
            && !results.is_empty()
        {
            let first = self.returns_span;
            return Err(self.report(
                Diagnostic::new(codes::RETURN_TYPE, span, "this `return` has no value, another one has")
                    .also(first, "a value is returned here"),
            ));
        }
        self.slots[self.returned.0] = Slot::Set(Val::bool(true));
        self.diverged = true;
        Ok(())
    }

    fn return_values(&mut self, items: &[Val], span: Span) -> R<()> {
        let wanted: Option<Vec<Type>> = match (&self.results, &self.declared) {
            (Some(results), _) => Some(results.iter().map(|(_, ty)| *ty).collect()),
            (None, Some(declared)) if !declared.is_empty() => Some(declared.clone()),
            _ => None,
        };
        let mut values = Vec::new();
        match &wanted {
            Some(types) => {
                let given = items.iter().map(|v| self.describe(v)).collect::<Vec<_>>().join(", ");
                let matched = items.len() == types.len();
                if matched {
                    for (item, ty) in items.iter().zip(types) {
                        values.extend(self.coerce(item, *ty, span));
                    }
                }
                if values.len() != types.len() {
                    let expected = types.iter().map(|t| t.python_name()).collect::<Vec<_>>().join(", ");
                    let first = self.returns_span;
                    let by_declaration = self.results.is_none();
                    let mut diagnostic = Diagnostic::new(
                        codes::RETURN_TYPE,
                        span,
                        format!(
                            "function `{}` returns ({given}) here but ({expected}) is expected",
                            self.name
                        ),
                    );
                    diagnostic = if by_declaration {
                        diagnostic.help("make the annotation and the value agree")
                    } else {
                        diagnostic.also(first, "by this `return`")
                    };
                    return Err(self.report(diagnostic));
                }
            }
            None => {
                for item in items {
                    values.push(self.value_of(item, span)?);
                }
            }
        }
        if self.results.is_none() {
            let types: Vec<Type> = values.iter().map(|v| self.function.ty(*v)).collect();
            self.make_results(&types, span);
        }
        for ((var, _), value) in self.results.clone().unwrap_or_default().into_iter().zip(values) {
            self.slots[var.0] = Slot::Set(Val::Ir(value));
        }
        Ok(())
    }

    /// The source text of a span, for messages.
    pub(super) fn text_of(&self, span: Span) -> String {
        inkle_diag::SourceFile::get(span.file)
            .and_then(|file| file.text().get(span.start as usize..span.end as usize).map(str::to_owned))
            .unwrap_or_default()
    }

    fn for_statement(&mut self, target: &Expr, iter: &Expr, body: &[Stmt], span: Span) -> R<()> {
        if let ExprKind::Call { func, args, keywords } = &*iter.kind {
            let callee = self.expr(func)?;
            if let Val::Builtin(name) = &callee {
                match crate::builtins::lookup(name).map(|b| b.lower) {
                    Some(Lower::Special(Special::Range)) if keywords.is_empty() => {
                        return self.for_range(target, iter, args, body, span);
                    }
                    Some(Lower::Special(Special::Static)) => {}
                    _ => {}
                }
            }
        }
        let items = self.expr(iter)?;
        let Some(items) = self.items_of(&items) else {
            let what = self.describe(&items);
            return Err(self.report(
                Diagnostic::new(codes::EXPRESSION, iter.span, format!("cannot loop over {what}"))
                    .help("loop over `range(...)`, a tuple or a vector"),
            ));
        };
        self.unrolled(target, &items, body, span)
    }

    /// The items of something a loop can be unrolled over.
    pub(super) fn items_of(&mut self, val: &Val) -> Option<Vec<Val>> {
        match val {
            Val::Tuple(items) => Some(items.to_vec()),
            Val::Ir(value) => match self.function.ty(*value) {
                Type::Vec { len, .. } => {
                    Some((0..len).map(|i| Val::Ir(self.builder().extract(*value, i))).collect())
                }
                Type::Quat(_) => Some((0..4).map(|i| Val::Ir(self.builder().extract(*value, i))).collect()),
                _ => None,
            },
            Val::Const(ConstValue::Composite { ty, components }) => {
                let scalar = ty.scalar()?;
                Some(components.iter().map(|c| Val::Const(ConstValue::Typed(*c, scalar))).collect())
            }
            _ => None,
        }
    }

    fn for_range(&mut self, target: &Expr, iter: &Expr, args: &[Expr], body: &[Stmt], span: Span) -> R<()> {
        let vals = args.iter().map(|a| self.expr(a)).collect::<R<Vec<Val>>>()?;
        let (lo, hi, step) = match vals.as_slice() {
            [hi] => (Val::int(0), hi.clone(), Val::int(1)),
            [lo, hi] => (lo.clone(), hi.clone(), Val::int(1)),
            [lo, hi, step] => (lo.clone(), hi.clone(), step.clone()),
            _ => {
                return Err(self.report(Diagnostic::new(
                    codes::ARGUMENTS,
                    iter.span,
                    format!("`range` takes 1 to 3 arguments, not {}", vals.len()),
                )));
            }
        };
        if step.const_int() == Some(0) {
            return Err(self.report(Diagnostic::new(
                codes::ARGUMENTS,
                iter.span,
                "the step of `range` is zero",
            )));
        }
        let mut runs = false;
        if let (Some(lo), Some(hi), Some(step)) = (lo.const_int(), hi.const_int(), step.const_int()) {
            let turns = if step > 0 {
                (hi - lo + step - 1).div_euclid(step)
            } else {
                (lo - hi - step - 1).div_euclid(-step)
            }
            .max(0);
            runs = turns > 0;
            let limit = match self.origin {
                Origin::User(_) => i128::from(self.checker.options.max_unroll),
                Origin::Library(_) => LIBRARY_UNROLL,
            };
            if turns <= limit && !flow::has_loop_exit(body) {
                let items: Vec<Val> =
                    (0..turns).map(|k| Val::typed_int(lo + k * step, Scalar::I32)).collect();
                return self.unrolled(target, &items, body, span);
            }
        }
        let wide = [&lo, &hi, &step].iter().any(|v| {
            matches!(self.type_of(v), Some(Type::Scalar(Scalar::I64 | Scalar::U64 | Scalar::U32)))
                && !v.is_literal()
        });
        let scalar = if wide { Scalar::I64 } else { Scalar::I32 };
        let mut bounds = Vec::new();
        for (val, place) in [(&lo, 0), (&hi, 1), (&step, 2)] {
            let arg = if args.len() == 1 { &args[0] } else { args.get(place).unwrap_or(iter) };
            let value = if val.is_literal() && val.const_int().is_some() && wide {
                self.builder().constant(val.const_scalar().expect("an integer"), scalar)
            } else {
                self.value_of(val, arg.span)?
            };
            if !self.function.ty(value).is_int() {
                let what = self.describe(val);
                return Err(self.report(
                    Diagnostic::new(codes::INDEX, arg.span, format!("`range` takes integers, not {what}"))
                        .help("convert with `int(...)`"),
                ));
            }
            bounds.push(self.builder().cast(value, Type::Scalar(scalar)));
        }
        self.span = iter.span;
        let range = flow::Range { bounds: [bounds[0], bounds[1], bounds[2]], step: step.const_int(), runs };
        self.range_loop(target, range, body, span)
    }

    /// Checks the body once per item.
    fn unrolled(&mut self, target: &Expr, items: &[Val], body: &[Stmt], span: Span) -> R<()> {
        if flow::has_loop_exit(body) {
            return self.unrolled_with_exits(target, items, body, span);
        }
        for (index, item) in items.iter().enumerate() {
            self.assign(target, item.clone(), target.span)?;
            self.statements(body);
            self.span = span;
            match self.exit_condition() {
                Exit::Never => {}
                Exit::Always => {
                    self.diverged = true;
                    return Ok(());
                }
                Exit::When(left) => {
                    let rest = &items[index + 1..];
                    if rest.is_empty() {
                        return Ok(());
                    }
                    let mut outcome = Ok(());
                    self.branch(
                        left,
                        |cx| cx.diverged = true,
                        |cx| {
                            cx.slots[cx.returned.0] = Slot::Set(Val::bool(false));
                            outcome = cx.unrolled(target, rest, body, span);
                        },
                    );
                    return outcome;
                }
            }
        }
        Ok(())
    }

    /// A loop over items, with `break` or `continue`: each turn has its flags.
    fn unrolled_with_exits(&mut self, target: &Expr, items: &[Val], body: &[Stmt], span: Span) -> R<()> {
        let Some((item, rest)) = items.split_first() else { return Ok(()) };
        let broke = self.hidden(Val::bool(false));
        let continued = self.hidden(Val::bool(false));
        self.assign(target, item.clone(), target.span)?;
        self.loops.push(super::function::Loop { broke: Some(broke), continued });
        self.statements(body);
        self.loops.pop();
        self.span = span;
        // `continue` and `break` end the turn only; `return` leaves everything.
        self.diverged = matches!(self.slots[self.returned.0], Slot::Set(Val::Const(ConstValue::Bool(true))));
        if self.diverged || rest.is_empty() {
            return Ok(());
        }
        let mut left = Vec::new();
        for flag in [broke, self.returned] {
            match self.slots[flag.0].clone() {
                Slot::Set(Val::Const(ConstValue::Bool(true))) => return Ok(()),
                Slot::Set(Val::Ir(value)) => left.push(value),
                _ => {}
            }
        }
        let mut outcome = Ok(());
        match left.as_slice() {
            [] => outcome = self.unrolled_with_exits(target, rest, body, span),
            [first, more @ ..] => {
                let mut any = *first;
                for flag in more {
                    any = self.builder().binary(inkle_ir::BinaryOp::Or, any, *flag);
                }
                self.branch(any, |_| {}, |cx| outcome = cx.unrolled_with_exits(target, rest, body, span));
            }
        }
        outcome
    }
}
