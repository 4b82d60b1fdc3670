//! Statements.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{FunctionKind, OpKind, Scalar, Type};

use super::codes;
use super::function::{FunctionCx, Origin};
use super::loops::Range;
use super::scan;
use super::val::{Nest, R, Reported, Slot, Val};
use crate::builtins::{Lower, Special};
use crate::env::ConstValue;
use crate::tree::{BinOp, Expr, ExprKind, Stmt, StmtKind, UnOp};

/// A library loop over a size is always unrolled up to this many turns.
const LIBRARY_UNROLL: i128 = 1024;

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
                    self.failed = true;
                    self.poison(std::slice::from_ref(stmt));
                    false
                }
            };
            if consumed {
                return;
            }
            let compound =
                matches!(stmt.kind, StmtKind::If { .. } | StmtKind::For { .. } | StmtKind::While { .. });
            if compound && !rest.is_empty() && self.may_have_left() {
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
                self.for_statement(target, iter, body)?;
            }
            StmtKind::While { test, body, orelse } => {
                self.no_loop_else(orelse)?;
                self.while_statement(test, body)?;
            }
            StmtKind::Break if self.leave_turn(true) => {}
            StmtKind::Break => return Err(self.outside_loop("break", stmt.span)),
            StmtKind::Continue if self.leave_turn(false) => {}
            StmtKind::Continue => return Err(self.outside_loop("continue", stmt.span)),
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
                let message = format!("kernels cannot contain `{what}`");
                let help = match what.as_str() {
                    "import" => "import at the top of the file",
                    "with" | "try" | "raise" => "do it in Python, around the launch",
                    _ => "kernels are made of assignments, `if`, `for`, `while`, `return` and calls",
                };
                return Err(self.report(Diagnostic::new(codes::STATEMENT, stmt.span, message).help(help)));
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
        self.report(
            Diagnostic::new(codes::OUTSIDE_LOOP, span, format!("`{what}` outside a loop"))
                .help("use `return` to leave the function"),
        )
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
                    return Err(self.report(
                        Diagnostic::new(
                            codes::NEEDS_CONSTANT,
                            expr.span,
                            format!("the message of `assert` must be a string, not {what}"),
                        )
                        .help("print values before the `assert`"),
                    ));
                }
            },
        };
        // The place is not part of the text: a kernel that moves in its file stays the same kernel.
        let file = inkle_diag::SourceFile::get(test.span.file);
        let source =
            file.as_ref().and_then(|f| f.text().get(test.span.start as usize..test.span.end as usize));
        let asserted = source.map(|s| s.split_whitespace().collect::<Vec<_>>().join(" "));
        let text = match asserted {
            None if text.is_empty() => "Assertion failed".to_owned(),
            None => format!("Assertion failed: {text}"),
            Some(asserted) if text.is_empty() => format!("Assertion failed: assert {asserted}"),
            Some(asserted) => format!("Assertion failed: assert {asserted}: {text}"),
        };
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
                    expr.span,
                    format!("kernel `{name}` returns a value, but kernels cannot return values"),
                )
                .help("pass an array to write the result to, or make it a function with `@wp.func`"),
            ));
        }
        if let Some(expr) = value {
            self.span = expr.span;
            let val = self.expr(expr)?;
            let mut items = Vec::new();
            let nest = Nest::flatten(&val, &mut items);
            self.return_values(&items, expr.span)?;
            self.group_results(nest, expr.span)?;
        } else if let Some(results) = &self.results
            && !results.is_empty()
        {
            let first = self.returns_span;
            return Err(self.report(
                Diagnostic::new(codes::RETURN_TYPE, span, "this `return` has no value, another one has")
                    .help("return a value on every path, or on none")
                    .also(first, "a value is returned here"),
            ));
        }
        self.slots.set(self.returned, Slot::Set(Val::bool(true)));
        self.diverged = true;
        Ok(())
    }

    /// Notes how the returned values are grouped, which all `return`s must agree in.
    fn group_results(&mut self, nest: Nest, span: Span) -> R<()> {
        match &self.nest {
            Some(first) if *first != nest => {
                let first = self.returns_span;
                Err(self.report(
                    Diagnostic::new(
                        codes::RETURN_TYPE,
                        span,
                        "the values are grouped in tuples differently here",
                    )
                    .also(first, "than by this `return`")
                    .help("return the same tuples everywhere"),
                ))
            }
            _ => {
                self.nest = Some(nest);
                Ok(())
            }
        }
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
                let given = listed(items.iter().map(|v| self.describe(v)).collect());
                let matched = items.len() == types.len();
                if matched {
                    for (item, ty) in items.iter().zip(types) {
                        values.extend(self.coerce(item, *ty, span));
                    }
                }
                if values.len() != types.len() {
                    let expected = listed(types.iter().map(|t| t.python_name()).collect());
                    let first = self.returns_span;
                    let by_declaration = self.results.is_none();
                    let mut diagnostic = Diagnostic::new(
                        codes::RETURN_TYPE,
                        span,
                        format!("function `{}` returns {given} here but {expected} is expected", self.name),
                    );
                    diagnostic = if by_declaration {
                        diagnostic.help("make the annotation and the value agree")
                    } else {
                        diagnostic.also(first, "by this `return`").help("return the same types everywhere")
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
            self.slots.set(var, Slot::Set(Val::Ir(value)));
        }
        Ok(())
    }

    /// The source text of a span, for messages; `...` when there is too much of it.
    pub(super) fn text_of(&self, span: Span) -> String {
        const SHOWN: usize = 60;
        let text = inkle_diag::SourceFile::get(span.file)
            .and_then(|file| file.text().get(span.start as usize..span.end as usize).map(str::to_owned))
            .unwrap_or_default();
        if text.len() > SHOWN || text.contains('\n') { "...".into() } else { text }
    }

    fn for_statement(&mut self, target: &Expr, iter: &Expr, body: &[Stmt]) -> R<()> {
        if let Some((Special::Range, args)) = self.special_call(iter)? {
            return self.for_range(target, iter, args, false, body);
        }
        if let Some((Special::Reversed, [inner])) = self.special_call(iter)?
            && let Some((Special::Range, args)) = self.special_call(inner)?
        {
            return self.for_range(target, iter, args, true, body);
        }
        let items = self.expr(iter)?;
        let allowed = matches!(self.origin, Origin::Library(_));
        let Some(items) = self.items_of(&items).filter(|_| allowed) else {
            let what = self.describe(&items);
            return Err(self.report(
                Diagnostic::new(codes::EXPRESSION, iter.span, format!("kernels cannot loop over {what}"))
                    .help("loop over `range(...)` and index inside the loop"),
            ));
        };
        self.unrolled(target, &items, body, target.span.to(iter.span))
    }

    /// A call of a built-in with typing rules of its own, with its arguments, if it is one without keywords.
    fn special_call<'a>(&mut self, expr: &'a Expr) -> R<Option<(Special, &'a [Expr])>> {
        let ExprKind::Call { func, args, keywords } = &*expr.kind else { return Ok(None) };
        if !keywords.is_empty() || func.path().is_none() {
            return Ok(None);
        }
        let Val::Builtin(name) = self.expr(func)? else { return Ok(None) };
        Ok(match crate::builtins::lookup(&name).map(|b| b.lower) {
            Some(Lower::Special(special)) => Some((special, args)),
            _ => None,
        })
    }

    /// `range(lo, hi, step)` from its last number to its first.
    fn reverse(&mut self, [lo, hi, step]: [Val; 3], span: Span) -> R<[Val; 3]> {
        if step.const_int() == Some(0) {
            return Ok([lo, hi, step]);
        }
        let mut op = |op, a: &Val, b: &Val| self.binary(op, a, span, b, span, span);
        // There are `-((lo - hi) // step)` numbers; with none or fewer the reversed range is empty as well.
        let distance = op(BinOp::Sub, &lo, &hi)?;
        let turns = op(BinOp::FloorDiv, &distance, &step)?;
        let beyond = op(BinOp::Mul, &turns, &step)?;
        let end = op(BinOp::Sub, &lo, &step)?;
        let last = op(BinOp::Sub, &end, &beyond)?;
        let back = self.unary(UnOp::Neg, &step, span)?;
        Ok([last, end, back])
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
                Type::Mat { rows, cols, elem } => {
                    let row = Type::vec(cols, elem);
                    Some((0..rows).map(|r| Val::Ir(self.run_of(*value, r * cols, row))).collect())
                }
                _ => None,
            },
            Val::Const(ConstValue::Composite { ty, components }) => {
                let scalar = ty.scalar()?;
                Some(components.iter().map(|c| Val::Const(ConstValue::Typed(*c, scalar))).collect())
            }
            _ => None,
        }
    }

    fn for_range(
        &mut self,
        target: &Expr,
        iter: &Expr,
        args: &[Expr],
        reversed: bool,
        body: &[Stmt],
    ) -> R<()> {
        let head = target.span.to(iter.span);
        let mut vals = args.iter().map(|a| self.expr(a)).collect::<R<Vec<Val>>>()?;
        for val in &mut vals {
            if let Val::Const(ConstValue::Bool(known)) = val {
                *val = Val::int((*known).into());
            }
        }
        let (lo, hi, step) = match vals.as_slice() {
            [hi] => (Val::int(0), hi.clone(), Val::int(1)),
            [lo, hi] => (lo.clone(), hi.clone(), Val::int(1)),
            [lo, hi, step] => (lo.clone(), hi.clone(), step.clone()),
            _ => {
                return Err(self.report(
                    Diagnostic::new(
                        codes::ARGUMENTS,
                        iter.span,
                        format!("`range` takes 1 to 3 arguments, not {}", vals.len()),
                    )
                    .help("write `range(end)`, `range(start, end)` or `range(start, end, step)`"),
                ));
            }
        };
        let counts = match self.type_of(&lo) {
            Some(Type::I64) if self.follows_rust() => Scalar::I64,
            _ => Scalar::I32,
        };
        for (val, place) in [(&lo, 0), (&hi, 1), (&step, 2)] {
            let arg = if args.len() == 1 { &args[0] } else { args.get(place).unwrap_or(iter) };
            if self.type_of(val) != Some(Type::Scalar(counts)) {
                let what = self.describe(val);
                return Err(self.report(
                    Diagnostic::new(codes::INDEX, arg.span, format!("`range` takes int32, not {what}"))
                        .help(format!("convert it: `int({})`", self.text_of(arg.span))),
                ));
            }
        }
        let [lo, hi, step] = if reversed { self.reverse([lo, hi, step], iter.span)? } else { [lo, hi, step] };
        let mut bounds = Vec::new();
        for val in [&lo, &hi, &step] {
            bounds.push(self.value_of(val, iter.span)?);
        }
        if step.const_int() == Some(0) {
            return Err(self.report(
                Diagnostic::new(codes::ARGUMENTS, iter.span, "the step of `range` is zero")
                    .help("the loop would never end; use a step above or below zero"),
            ));
        }
        self.rebind(target, self.function.ty(bounds[0]));
        let mut runs = false;
        // The bounds fit their type here.
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
            // Leaving an unrolled loop early nests its turns, which pays only where the index must be constant.
            if turns <= limit && (!scan::has_loop_exit(body) || scan::has_static(body)) {
                let items: Vec<Val> = (0..turns).map(|k| Val::typed_int(lo + k * step, counts)).collect();
                return self.unrolled(target, &items, body, head);
            }
        }
        self.span = iter.span;
        let bounds = [bounds[0], bounds[1], bounds[2]];
        self.range_loop(target, Range { bounds, step: step.const_int(), runs }, body, head)
    }
}

impl FunctionCx<'_, '_> {
    /// Forgets a variable that was of another type and counts the turns of a loop from now on.
    fn rebind(&mut self, target: &Expr, ty: Type) {
        if let ExprKind::Name(name) = &*target.kind
            && let Some(var) = self.names.get(name).copied()
            && let Slot::Set(val) = &self.slots[var.0]
            && self.type_of(val).is_some_and(|was| was != ty)
        {
            self.slots.set(var, Slot::Unset);
            self.set_at.remove(&var);
        }
    }
}

/// One type, or a tuple of several.
fn listed(types: Vec<String>) -> String {
    match types.as_slice() {
        [one] => one.clone(),
        many => format!("a tuple ({})", many.join(", ")),
    }
}
