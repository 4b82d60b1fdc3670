//! Loops: over constant items, unrolled; over ranges and conditions, with what they change as carried values.

use std::collections::HashSet;

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, Block, CmpOp, FunctionKind, OpKind, Type, UnaryOp, Value};

use super::codes;
use super::flow::{Exit, rebuild_val};
use super::function::FunctionCx;
use super::scan;
use super::val::{Gap, Mark, R, Reported, Slot, States, Val, VarId};
use crate::env::ConstValue;
use crate::tree::{Expr, ExprKind, Stmt, StmtKind, UnOp};

/// A loop being checked.
pub(super) struct Loop {
    /// Set when the loop was left by `break`; `None` when the body has none.
    pub broke: Option<VarId>,
    /// Set when the rest of a turn is skipped.
    pub continued: VarId,
    /// Variables that the body assigns and that had no value before it.
    fresh: Vec<VarId>,
    /// Those of them without a value where some `break` is.
    unset_at_break: HashSet<VarId>,
    /// Those of them without a value where some `continue` is.
    unset_at_continue: HashSet<VarId>,
}

/// A variable that a loop's body sets first and that holds its last value after the loop.
struct Kept {
    var: VarId,
    val: Val,
    /// The values when the body never ran; zeros if there are none.
    start: Option<Value>,
}

/// The values that a range runs through.
pub(super) struct Range {
    /// First value, end and step, of one type.
    pub bounds: [Value; 3],
    /// The step, when it is known.
    pub step: Option<i128>,
    /// Whether the body is known to run at least once.
    pub runs: bool,
}

impl FunctionCx<'_, '_> {
    /// The flag of `break` and of `continue` in the innermost loop.
    pub(super) fn loop_flags(&self) -> (Option<VarId>, Option<VarId>) {
        let last = self.loops.last();
        (last.and_then(|l| l.broke), last.map(|l| l.continued))
    }

    /// Leaves the loop or the turn; `false` outside a loop.
    pub(super) fn leave_turn(&mut self, is_break: bool) -> bool {
        let (broke, continued) = self.loop_flags();
        let Some(flag) = (if is_break { broke } else { continued }) else { return false };
        if let Some(last) = self.loops.last_mut() {
            let slots = &self.slots;
            let unset = last.fresh.iter().copied().filter(|var| !matches!(slots[var.0], Slot::Set(_)));
            let seen = if is_break { &mut last.unset_at_break } else { &mut last.unset_at_continue };
            seen.extend(unset);
        }
        self.slots.set(flag, Slot::Set(Val::bool(true)));
        self.diverged = true;
        true
    }

    fn enter_loop(&mut self, broke: Option<VarId>, continued: VarId, body: &[Stmt]) {
        self.nest(self.span);
        let (unset_at_break, unset_at_continue) = Default::default();
        let mut fresh = Vec::new();
        if scan::has_loop_exit(body) {
            fresh.extend(
                scan::assigned_names(body).into_iter().filter_map(|name| self.names.get(name).copied()),
            );
            fresh.retain(|var| !matches!(self.slots[var.0], Slot::Set(_)));
        }
        self.loops.push(Loop { broke, continued, fresh, unset_at_break, unset_at_continue });
    }

    fn leave_loop(&mut self) -> Loop {
        self.depth -= 1;
        self.loops.pop().expect("a loop was entered")
    }

    /// Marks variables that have a value here but not on every path that led here.
    fn mark_unset(&mut self, vars: &HashSet<VarId>, at: Span) {
        let mut vars: Vec<VarId> = vars.iter().copied().collect();
        vars.sort_unstable();
        for var in vars {
            if let Slot::Set(val) = &self.slots[var.0] {
                let gap = self.gap(at, Some(val));
                self.slots.set(var, gap);
            }
        }
    }

    /// Checks the body once per item.
    pub(super) fn unrolled(&mut self, target: &Expr, items: &[Val], body: &[Stmt], head: Span) -> R<()> {
        if scan::has_loop_exit(body) {
            return self.unrolled_with_exits(target, items, body, head);
        }
        for (index, item) in items.iter().enumerate() {
            self.assign(target, item.clone(), target.span)?;
            self.statements(body);
            self.span = head;
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
                            cx.slots.set(cx.returned, Slot::Set(Val::bool(false)));
                            outcome = cx.unrolled(target, rest, body, head);
                        },
                    );
                    return outcome;
                }
            }
        }
        Ok(())
    }

    /// A loop over items, with `break` or `continue`: each turn has its flags.
    fn unrolled_with_exits(&mut self, target: &Expr, items: &[Val], body: &[Stmt], head: Span) -> R<()> {
        let Some((item, rest)) = items.split_first() else { return Ok(()) };
        let broke = self.hidden(Val::bool(false));
        let continued = self.hidden(Val::bool(false));
        self.assign(target, item.clone(), target.span)?;
        self.enter_loop(Some(broke), continued, body);
        self.statements(body);
        let turn = self.leave_loop();
        self.span = head;
        // `continue` and `break` end the turn only; `return` leaves everything.
        self.diverged = self.slots[self.returned.0] == Slot::Set(Val::bool(true));
        if self.diverged {
            return Ok(());
        }
        self.mark_unset(&turn.unset_at_continue, head);
        let mut left = Vec::new();
        for flag in [broke, self.returned] {
            match self.slots[flag.0].clone() {
                Slot::Set(Val::Const(ConstValue::Bool(true))) => {
                    self.mark_unset(&turn.unset_at_break, head);
                    return Ok(());
                }
                Slot::Set(Val::Ir(value)) => left.push(value),
                _ => {}
            }
        }
        if rest.is_empty() {
            self.mark_unset(&turn.unset_at_break, head);
            return Ok(());
        }
        let Some(any) = self.any(&left) else {
            return self.unrolled_with_exits(target, rest, body, head);
        };
        let mut outcome = Ok(());
        self.branch(
            any,
            |cx| cx.mark_unset(&turn.unset_at_break, head),
            |cx| {
                cx.slots.set(cx.returned, Slot::Set(Val::bool(false)));
                outcome = cx.unrolled_with_exits(target, rest, body, head);
            },
        );
        outcome
    }

    /// Whether one of the conditions holds; `None` for no conditions.
    fn any(&mut self, conditions: &[Value]) -> Option<Value> {
        let (first, more) = conditions.split_first()?;
        Some(more.iter().fold(*first, |any, flag| self.builder().binary(BinaryOp::Or, any, *flag)))
    }

    /// The variables a loop changes that hold a value before it, hidden flags included.
    fn carried(&mut self, body: &[Stmt], target: Option<&Expr>, flags: &[VarId]) -> Vec<VarId> {
        let assigned = scan::assigned_names(body);
        // What is called by names that the loop assigns may be another function in each turn.
        let by_assigned = |func: &Expr| scan::mentioned(func).iter().any(|name| assigned.contains(name));
        let changed =
            scan::changed_names(body, &mut |func| by_assigned(func) || self.changes_arguments(func));
        let mut vars: Vec<VarId> = Vec::new();
        for name in changed {
            let Some(var) = self.names.get(name).copied() else { continue };
            if let Slot::Set(val) = &self.slots[var.0] {
                // What arrays and references lead to changes; where they lead only does when they are assigned,
                // and a reference never is.
                let changes = match self.type_of(val) {
                    Some(Type::Array(_)) => assigned.contains(&name),
                    Some(Type::Ref(_)) => false,
                    _ => true,
                };
                if changes && self.shape_types(val).is_some() {
                    vars.push(var);
                }
            }
        }
        if let Some(ExprKind::Name(name)) = target.map(|t| &*t.kind)
            && let Some(var) = self.names.get(name).copied()
            && !vars.contains(&var)
        {
            vars.push(var);
        }
        let watched: Vec<VarId> = vars.iter().filter_map(|var| self.watched.get(var).copied()).collect();
        vars.extend(watched);
        vars.extend(flags);
        if scan::has_return(body) {
            vars.push(self.returned);
            vars.extend(self.results.iter().flatten().map(|(var, _)| *var));
        }
        vars
    }

    /// The values that the carried variables start with.
    fn init_carried(&mut self, vars: &[VarId]) -> (Vec<(VarId, Val)>, Vec<Value>) {
        let mut carried = Vec::new();
        let mut init = Vec::new();
        for var in vars {
            if let Slot::Set(val) = self.slots[var.0].clone()
                && self.shape_types(&val).is_some()
            {
                self.flatten(&val, &mut init);
                carried.push((*var, val));
            }
        }
        (carried, init)
    }

    /// Enters a loop's block: the carried variables become its parameters.
    fn enter(&mut self, block: Block, carried: &[(VarId, Val)]) {
        self.block = block;
        for (var, shape) in carried {
            let params = self.block_params(block, shape);
            self.slots.set(*var, Slot::Set(rebuild_val(shape, &mut params.into_iter())));
        }
    }

    fn block_params(&mut self, block: Block, shape: &Val) -> Vec<Value> {
        let mut types = Vec::new();
        self.flat_types(shape, &mut types);
        types.iter().map(|ty| self.function.add_block_param(block, *ty)).collect()
    }

    /// The carried variables' values at the end of a turn.
    fn turn_values(&mut self, carried: &[(VarId, Val)], span: Span) -> Vec<Value> {
        let mut out = Vec::new();
        for (var, shape) in carried {
            let wanted = self.shape_types(shape).unwrap_or_default();
            let slot = self.slots[var.0].clone();
            let name = self.var_names[var.0].clone().unwrap_or_default();
            match slot {
                Slot::Set(val) if self.shape_types(&val).as_ref() == Some(&wanted) => {
                    self.flatten(&val, &mut out);
                    continue;
                }
                Slot::Set(val) => {
                    self.changed_type(&name, shape, &val, span);
                }
                Slot::Conflict(..) => {
                    let _ = self.read(*var, &name, span);
                }
                // A poisoned variable was reported before.
                Slot::MaybeUnset(_) | Slot::Unset | Slot::Poisoned => {}
            }
            out.extend(wanted.iter().map(|ty| self.builder().zero(*ty)));
        }
        out
    }

    /// The variables that a turn sets first and that have a value after the loop: `certain` says which. Their
    /// values are given to `yields`, and `blocks` get parameters for them, which nothing reads.
    fn keep(
        &mut self,
        mark: Mark,
        blocks: &[Block],
        yields: &mut Vec<Value>,
        certain: impl Fn(VarId) -> bool,
        target: Option<(VarId, Value)>,
    ) -> Vec<Kept> {
        let mut kept = Vec::new();
        for (var, before) in self.slots.before(mark) {
            if self.is_hidden(var) || !matches!(before, Slot::Unset | Slot::MaybeUnset(_)) {
                continue;
            }
            let Slot::Set(val) = self.slots[var.0].clone() else { continue };
            let is_target = target.is_some_and(|(t, _)| t == var);
            if !is_target && !certain(var) {
                continue;
            }
            let start = target.filter(|(t, _)| *t == var).map(|(_, start)| start);
            if self.shape_types(&val).is_some() && !self.stays(&val) {
                self.flatten(&val, yields);
                for block in blocks {
                    self.block_params(*block, &val);
                }
            }
            kept.push(Kept { var, val, start });
        }
        kept
    }

    /// Whether a variable's state is the same inside a block and behind it: a constant, or the address of memory.
    pub(super) fn stays(&self, val: &Val) -> bool {
        match val {
            Val::Const(_) => true,
            Val::Ir(value) => matches!(self.function.ty(*value), Type::Ref(_)),
            _ => false,
        }
    }

    /// The values that kept variables start with, made where the loop is.
    fn init_kept(&mut self, kept: &[Kept], init: &mut Vec<Value>) {
        for Kept { val, start, .. } in kept {
            if self.stays(val) {
                continue;
            }
            if let Some(start) = start {
                init.push(*start);
                continue;
            }
            let mut types = Vec::new();
            self.flat_types(val, &mut types);
            init.extend(types.iter().map(|ty| self.builder().zero(*ty)));
        }
    }

    /// After a loop: carried and kept variables hold its results, others first set inside may be unset.
    fn leave(
        &mut self,
        inside: States,
        carried: &[(VarId, Val)],
        kept: &[Kept],
        results: Vec<Value>,
        head: Span,
    ) {
        for (var, state) in inside {
            if self.is_hidden(var) {
                continue;
            }
            match (&self.slots[var.0], state) {
                (_, Slot::Poisoned) => self.slots.set(var, Slot::Poisoned),
                (Slot::Unset, Slot::Set(val)) => self.slots.set(var, self.gap(head, Some(&val))),
                (Slot::Unset, Slot::MaybeUnset(gap)) => {
                    let gap = Gap { at: head, block: self.block, ..gap };
                    self.slots.set(var, Slot::MaybeUnset(gap));
                }
                (Slot::Unset, Slot::Conflict(..)) => self.slots.set(var, self.gap(head, None)),
                _ => {}
            }
        }
        let mut results = results.into_iter();
        for (var, shape) in carried {
            let val = rebuild_val(shape, &mut results);
            if self.slots[var.0] != Slot::Poisoned {
                self.slots.set(*var, Slot::Set(val));
            }
        }
        for Kept { var, val, .. } in kept {
            let is_static = self.stays(val) || self.shape_types(val).is_none();
            let val = if is_static { val.clone() } else { rebuild_val(val, &mut results) };
            self.slots.set(*var, Slot::Set(val));
        }
    }

    /// Makes the hidden variables of the returned values.
    pub(super) fn make_results(&mut self, types: &[Type], span: Span) {
        let vars = types
            .iter()
            .map(|ty| {
                // Unset from the start: undoing a branch must not bring back anything else.
                self.var_names.push(None);
                (self.slots.push(Slot::Unset), *ty)
            })
            .collect();
        self.results = Some(vars);
        self.returns_span = span;
    }

    /// Fills result variables that are unset, so that a loop can carry them.
    fn fill_results(&mut self) {
        for (var, ty) in self.results.clone().unwrap_or_default() {
            if self.slots[var.0] == Slot::Unset {
                let zero = self.builder().zero(ty);
                self.slots.set(var, Slot::Set(Val::Ir(zero)));
            }
        }
    }

    /// A loop over a range known only at run time.
    pub(super) fn range_loop(&mut self, target: &Expr, range: Range, body: &[Stmt], head: Span) -> R<()> {
        let ty = self.function.ty(range.bounds[0]);
        self.learn_results(body, |cx| {
            let block = cx.block;
            let index = cx.function.add_block_param(block, ty);
            let _ = cx.assign(target, Val::Ir(index), target.span);
        });
        if scan::has_break(body) || scan::has_return(body) {
            return self.range_loop_with_exits(target, range, body, head);
        }
        let [lo, ..] = range.bounds;
        let continued = self.hidden(Val::bool(false));
        let vars = self.carried(body, Some(target), &[]);
        let (carried, mut init) = self.init_carried(&vars);
        let parent = self.block;
        let start = self.function.add_block();
        let index = self.function.add_block_param(start, ty);
        if range.step.is_some_and(|step| step > 0) && self.not_negative(lo) {
            self.rising.insert(index);
        }
        let mark = self.slots.mark();
        self.enter(start, &carried);
        self.enter_loop(None, continued, body);
        let assigned = self.assign(target, Val::Ir(index), target.span);
        if assigned.is_ok() {
            self.statements(body);
        }
        let turn = self.leave_loop();
        self.diverged = false;
        self.span = head;
        let mut values = self.turn_values(&carried, head);
        let certain = |var: VarId| range.runs && !turn.unset_at_continue.contains(&var);
        let target_var = self.target_var(target, lo);
        let kept = self.keep(mark, &[start], &mut values, certain, target_var);
        self.builder().effect(OpKind::Yield, values);
        let inside = self.slots.undo(mark);
        self.block = parent;
        self.init_kept(&kept, &mut init);
        let types: Vec<Type> = init.iter().map(|v| self.function.ty(*v)).collect();
        let op = self.builder().op(OpKind::For, range.bounds.into_iter().chain(init), types, [start]);
        let results = self.function.op(op).results.to_vec();
        self.leave(inside, &carried, &kept, results, head);
        assigned
    }

    /// A loop variable keeps its last value, as in Python; if there is none, it holds `start`.
    fn target_var(&self, target: &Expr, start: Value) -> Option<(VarId, Value)> {
        match &*target.kind {
            ExprKind::Name(name) => self.names.get(name).map(|var| (*var, start)),
            _ => None,
        }
    }

    /// A `for` that can be left early: a `while` over an explicit index.
    fn range_loop_with_exits(&mut self, target: &Expr, range: Range, body: &[Stmt], head: Span) -> R<()> {
        let [lo, hi, step_value] = range.bounds;
        let index = self.hidden(Val::Ir(lo));
        let rises = range.step.is_some_and(|step| step > 0) && self.not_negative(lo);
        let spec = General {
            body,
            head,
            target: Some(target),
            start: Some(lo),
            index: Some(index),
            runs: range.runs,
            forever: false,
            harmless: true,
        };
        self.general_loop(
            spec,
            |cx| {
                let Slot::Set(Val::Ir(at)) = cx.slots[index.0] else { return Err(Reported) };
                Ok(cx.in_range(at, hi, step_value, range.step))
            },
            |cx| {
                let Slot::Set(Val::Ir(at)) = cx.slots[index.0] else { return Err(Reported) };
                if rises {
                    cx.rising.insert(at);
                }
                let next = cx.builder().binary(BinaryOp::Add, at, step_value);
                cx.slots.set(index, Slot::Set(Val::Ir(next)));
                cx.assign(target, Val::Ir(at), target.span)
            },
        )
    }

    fn in_range(&mut self, at: Value, hi: Value, step_value: Value, step: Option<i128>) -> Value {
        match step {
            Some(step) => self.builder().cmp(if step > 0 { CmpOp::Lt } else { CmpOp::Gt }, at, hi),
            None => {
                let ty = self.function.ty(step_value);
                let zero = self.builder().zero(ty);
                let up = self.builder().cmp(CmpOp::Gt, step_value, zero);
                let below = self.builder().cmp(CmpOp::Lt, at, hi);
                let above = self.builder().cmp(CmpOp::Gt, at, hi);
                let down = self.builder().cmp(CmpOp::Lt, step_value, zero);
                let rising = self.builder().binary(BinaryOp::And, up, below);
                let falling = self.builder().binary(BinaryOp::And, down, above);
                self.builder().binary(BinaryOp::Or, rising, falling)
            }
        }
    }

    /// `while test: body`.
    pub(super) fn while_statement(&mut self, test: &Expr, body: &[Stmt]) -> R<()> {
        if scan::changes_names(test, &mut |func| self.changes_arguments(func)) {
            // What the test changes must be carried, so it becomes a part of the body.
            let span = test.span;
            let failed = Expr::new(ExprKind::Unary { op: UnOp::Not, operand: test.clone() }, span);
            let leave = Stmt { kind: StmtKind::Break, span };
            let guard =
                Stmt { kind: StmtKind::If { test: failed, body: vec![leave], orelse: Vec::new() }, span };
            let guarded: Vec<Stmt> = std::iter::once(guard).chain(body.iter().cloned()).collect();
            return self.while_statement(&Expr::new(ExprKind::Bool(true), span), &guarded);
        }
        self.learn_results(body, |_| {});
        let forever = scan::is_forever(test);
        let spec = General {
            body,
            head: test.span,
            target: None,
            start: None,
            index: None,
            runs: forever,
            forever,
            harmless: self.is_cheap(test),
        };
        self.general_loop(
            spec,
            |cx| {
                let condition = cx.expr(test)?;
                let condition = cx.truth(&condition, test.span)?;
                cx.value_of(&condition, test.span)
            },
            |_| Ok(()),
        )?;
        if forever && !scan::has_break(body) {
            // Left only by `return`.
            self.diverged = true;
        }
        Ok(())
    }

    /// A loop with a condition, `break` and `return`: a `while` operation whose flags are carried.
    fn general_loop(
        &mut self,
        spec: General<'_>,
        condition: impl FnOnce(&mut Self) -> R<Value>,
        start_turn: impl FnOnce(&mut Self) -> R<()>,
    ) -> R<()> {
        let General { body, head, .. } = spec;
        let results_before = self.results.is_some();
        let returns = scan::has_return(body);
        if returns {
            self.fill_results();
        }
        let broke = scan::has_break(body).then(|| self.hidden(Val::bool(false)));
        let continued = self.hidden(Val::bool(false));
        let flags: Vec<VarId> = spec.index.into_iter().chain(broke).collect();
        let vars = self.carried(body, spec.target, &flags);
        let (carried, mut init) = self.init_carried(&vars);
        let exits: Vec<VarId> = broke.into_iter().chain(returns.then_some(self.returned)).collect();
        let parent = self.block;

        let test_block = self.function.add_block();
        let mark = self.slots.mark();
        self.enter(test_block, &carried);
        let go_on = match self.loop_condition(&exits, condition, spec.harmless, head) {
            Ok(value) => value,
            Err(Reported) => {
                self.block = parent;
                self.slots.undo(mark);
                self.poison(body);
                return Err(Reported);
            }
        };
        self.builder().effect(OpKind::Yield, [go_on]);

        let turn_block = self.function.add_block();
        self.slots.undo(mark);
        self.enter(turn_block, &carried);
        // Inside a turn the loop has not been left yet.
        for flag in exits {
            self.slots.set(flag, Slot::Set(Val::bool(false)));
        }
        self.enter_loop(broke, continued, body);
        let started = start_turn(self);
        if started.is_ok() {
            self.statements(body);
        }
        let turn = self.leave_loop();
        self.diverged = false;
        self.span = head;
        let mut values = self.turn_values(&carried, head);
        let certain = |var: VarId| {
            let skipped = !spec.forever && turn.unset_at_continue.contains(&var);
            spec.runs && !skipped && !turn.unset_at_break.contains(&var)
        };
        let target = spec.target.zip(spec.start).and_then(|(target, start)| self.target_var(target, start));
        let kept = self.keep(mark, &[test_block, turn_block], &mut values, certain, target);
        self.builder().effect(OpKind::Yield, values);

        let inside = self.slots.undo(mark);
        self.block = parent;
        self.init_kept(&kept, &mut init);
        let types: Vec<Type> = init.iter().map(|v| self.function.ty(*v)).collect();
        let op = self.builder().op(OpKind::While, init, types, [test_block, turn_block]);
        let results = self.function.op(op).results.to_vec();
        self.leave(inside, &carried, &kept, results, head);
        if !results_before && self.results.is_some() {
            let (name, span) = (self.name.clone(), self.returns_span);
            return Err(self.report(
                Diagnostic::new(
                    codes::RETURN_TYPE,
                    span,
                    format!("the result type of `{name}` is not clear from this `return` inside a loop"),
                )
                .help(format!("declare it: `def {name}(...) -> float:`")),
            ));
        }
        started
    }

    /// The condition of a loop; unless it is harmless it is not evaluated once the loop was left.
    fn loop_condition(
        &mut self,
        exits: &[VarId],
        condition: impl FnOnce(&mut Self) -> R<Value>,
        harmless: bool,
        span: Span,
    ) -> R<Value> {
        let left: Vec<Value> = exits
            .iter()
            .filter_map(|flag| match self.slots[flag.0] {
                Slot::Set(Val::Ir(value)) => Some(value),
                _ => None,
            })
            .collect();
        let Some(any) = self.any(&left) else { return condition(self) };
        if harmless {
            let holds = condition(self)?;
            let inside = self.builder().unary(UnaryOp::Not, any);
            return Ok(self.builder().binary(BinaryOp::And, inside, holds));
        }
        let holds = self.hidden(Val::bool(false));
        let mut failed = false;
        let mut condition = Some(condition);
        self.branch(
            any,
            |_| {},
            |cx| match (condition.take().expect("called once"))(cx) {
                Ok(value) => cx.slots.set(holds, Slot::Set(Val::Ir(value))),
                Err(Reported) => failed = true,
            },
        );
        match self.slots[holds.0].clone() {
            Slot::Set(val) if !failed => self.value_of(&val, span),
            _ => Err(Reported),
        }
    }

    /// Marks everything statements assign as already reported.
    pub(super) fn poison(&mut self, stmts: &[Stmt]) {
        for name in scan::assigned_names(stmts) {
            let var = self.variable(name);
            self.slots.set(var, Slot::Poisoned);
        }
    }

    /// A loop carries the returned values, so their types must be known before it: when they are neither declared
    /// nor known, the body is checked once to learn them, and what that made is thrown away.
    fn learn_results(&mut self, body: &[Stmt], bind: impl FnOnce(&mut Self)) {
        if self.results.is_some() || !scan::returns_values(body) || self.function.kind == FunctionKind::Kernel
        {
            return;
        }
        if let Some(types) = self.declared.clone().filter(|types| !types.is_empty()) {
            let span = self.returns_span;
            return self.make_results(&types, span);
        }
        let function = self.function.clone();
        let (mark, count) = (self.slots.mark(), self.slots.len());
        let (block, diverged, span) = (self.block, self.diverged, self.span);
        let rising = self.rising.clone();
        let (errors, failed) = (self.checker.diagnostics.0.len(), self.failed);
        let start = self.function.add_block();
        let vars = self.carried(body, None, &[]);
        let (carried, _) = self.init_carried(&vars);
        self.enter(start, &carried);
        let (broke, continued) = (self.hidden(Val::bool(false)), self.hidden(Val::bool(false)));
        self.enter_loop(Some(broke), continued, body);
        bind(self);
        self.statements(body);
        self.leave_loop();
        if self.checker.diagnostics.0.len() > errors {
            self.checker.diagnostics.0.truncate(errors);
            // What failed is checked again, so that its mistakes are reported then.
            self.checker.instances.retain(|_, instance| instance.is_ok());
        }
        self.failed = failed;
        let learnt = self.results.take();
        self.function = function;
        self.slots.undo(mark);
        self.slots.truncate(count);
        self.var_names.truncate(count);
        self.rising = rising;
        (self.block, self.diverged, self.span) = (block, diverged, span);
        if let Some(results) = learnt {
            let types: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
            let span = self.returns_span;
            self.make_results(&types, span);
        }
    }
}

/// What [`FunctionCx::general_loop`] is told of a loop.
struct General<'a> {
    body: &'a [Stmt],
    /// The loop's head, for messages.
    head: Span,
    target: Option<&'a Expr>,
    /// The first value of the loop variable.
    start: Option<Value>,
    /// The hidden index.
    index: Option<VarId>,
    /// Whether the body is known to run at least once.
    runs: bool,
    /// Whether only `break` and `return` leave the loop.
    forever: bool,
    /// Whether the condition can be evaluated though the loop was left.
    harmless: bool,
}
