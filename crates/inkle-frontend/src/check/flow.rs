//! Control flow: branches merged by yields, early exits turned into conditions.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{Block, MAX_NESTING, OpKind, Type, Value};

use super::codes;
use super::expr::{RED_ZONE, STACK};
use super::function::FunctionCx;
use super::scan;
use super::val::{Gap, R, Slot, States, Val, VarId};
use crate::env::ConstValue;
use crate::tree::{Expr, Stmt};

/// Whether the code after a statement runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Exit {
    /// It always runs.
    Never,
    /// It never runs.
    Always,
    /// It does not run when the value is true.
    When(Value),
}

/// The deepest nesting of branches and loops, a little less than the IR allows.
const DEEPEST: usize = MAX_NESTING - 8;

/// One side of a branch after it was checked.
struct Side {
    block: Block,
    /// What the side changed, and to what.
    changes: States,
    diverged: bool,
}

/// How a variable comes out of a branch.
enum Merged {
    Keep(Slot),
    /// Yielded: what each side gives (`None`: zero), and the shape to rebuild.
    Yield(Option<Val>, Option<Val>, Val),
}

impl FunctionCx<'_, '_> {
    /// The flags that end the current statement list.
    fn exit_flags(&self) -> impl Iterator<Item = VarId> + use<> {
        let last = self.loops.last();
        let (continued, broke) = (last.map(|l| l.continued), last.and_then(|l| l.broke));
        std::iter::once(self.returned).chain(continued).chain(broke)
    }

    /// Whether the current statement list may have been left.
    pub(super) fn may_have_left(&self) -> bool {
        self.diverged || self.exit_flags().any(|flag| self.slots[flag.0] != Slot::Set(Val::bool(false)))
    }

    /// Whether the flags say that the current statement list was left.
    pub(super) fn exit_condition(&mut self) -> Exit {
        if self.diverged {
            return Exit::Always;
        }
        let mut condition: Option<Value> = None;
        for flag in self.exit_flags() {
            match self.slots[flag.0].clone() {
                Slot::Set(Val::Const(ConstValue::Bool(true))) => return Exit::Always,
                Slot::Set(Val::Ir(value)) => {
                    condition = Some(match condition {
                        Some(other) => self.builder().binary(inkle_ir::BinaryOp::Or, other, value),
                        None => value,
                    });
                }
                _ => {}
            }
        }
        condition.map_or(Exit::Never, Exit::When)
    }

    /// Counts a level of nesting.
    pub(super) fn nest(&mut self, span: Span) {
        self.depth += 1;
        if self.depth == DEEPEST {
            self.report(Diagnostic::new(codes::STATEMENT, span, "the code is nested too deeply").help(
                "split the function; each early `return`, `break` or `continue` nests what follows it",
            ));
        }
    }

    /// Checks both sides of an `if`, each from the state before it, and merges them.
    pub(super) fn branch(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        orelse: impl FnOnce(&mut Self),
    ) {
        let span = self.span;
        let parent = self.block;
        self.nest(span);
        let first_new = self.slots.len();
        let was_diverged = self.diverged;
        let run = |cx: &mut Self, body: &mut dyn FnMut(&mut Self)| {
            let mark = cx.slots.mark();
            cx.block = cx.function.add_block();
            cx.diverged = was_diverged;
            // What is too deep was reported; going on would only use up the stack.
            if cx.depth < DEEPEST {
                stacker::maybe_grow(RED_ZONE, STACK, || body(cx));
            }
            Side { block: cx.block, changes: cx.slots.undo(mark), diverged: cx.diverged }
        };
        let (mut then, mut orelse) = (Some(then), Some(orelse));
        let a = run(self, &mut |cx| (then.take().expect("called once"))(cx));
        let b = run(self, &mut |cx| (orelse.take().expect("called once"))(cx));
        self.block = parent;
        self.span = span;
        self.depth -= 1;
        self.merge(condition, a, b, first_new);
        self.forget_hidden(first_new);
    }

    fn holds_result(&self, var: VarId) -> bool {
        self.results.as_ref().is_some_and(|results| results.iter().any(|(result, _)| *result == var))
    }

    /// Drops hidden variables made since there were `count` variables; nothing refers to them any more.
    fn forget_hidden(&mut self, count: usize) {
        let mut left = self.slots.len();
        while left > count && self.is_hidden(VarId(left - 1)) && !self.holds_result(VarId(left - 1)) {
            left -= 1;
        }
        self.slots.truncate(left);
        self.var_names.truncate(left);
    }

    fn merge(&mut self, condition: Value, a: Side, b: Side, first_new: usize) {
        let mut types: Vec<Type> = Vec::new();
        let mut yields: (Vec<Value>, Vec<Value>) = Default::default();
        let mut rebuild: Vec<(VarId, Val)> = Vec::new();
        let mut vars: Vec<VarId> = a.changes.iter().chain(&b.changes).map(|(var, _)| *var).collect();
        vars.sort_unstable();
        vars.dedup();
        // A hidden variable made inside a side is of no use after it, unless it holds a result.
        vars.retain(|var| var.0 < first_new || !self.is_hidden(*var) || self.holds_result(*var));
        for var in vars {
            match self.merge_slot(var, &a, &b) {
                Merged::Keep(slot) => self.slots.set(var, slot),
                Merged::Yield(x, y, shape) => {
                    let before = types.len();
                    self.flat_types(&shape, &mut types);
                    let wanted = types[before..].to_vec();
                    let left = self.flat_values(x.as_ref(), &wanted, a.block);
                    let right = self.flat_values(y.as_ref(), &wanted, b.block);
                    yields.0.extend(left);
                    yields.1.extend(right);
                    rebuild.push((var, shape));
                }
            }
        }
        let parent = self.block;
        for (block, values) in [(a.block, yields.0), (b.block, yields.1)] {
            self.block = block;
            self.builder().effect(OpKind::Yield, values);
        }
        self.block = parent;
        // The blocks of the operation are where each side started; sides never switch blocks, they nest.
        let op = self.builder().op(OpKind::If, [condition], types, [a.block, b.block]);
        let results: Vec<Value> = self.function.op(op).results.to_vec();
        let mut results = results.into_iter();
        for (var, shape) in rebuild {
            self.slots.set(var, Slot::Set(rebuild_val(&shape, &mut results)));
        }
        self.diverged = a.diverged && b.diverged;
    }

    fn merge_slot(&self, var: VarId, a: &Side, b: &Side) -> Merged {
        let state = |side: &'_ Side| match side.changes.binary_search_by_key(&var, |(var, _)| *var) {
            Ok(at) => side.changes[at].1.clone(),
            Err(_) => self.slots[var.0].clone(),
        };
        let (x, y) = (&state(a), &state(b));
        if x == y {
            return Merged::Keep(x.clone());
        }
        let hidden = self.is_hidden(var);
        match (x, y) {
            (Slot::Poisoned, _) | (_, Slot::Poisoned) => Merged::Keep(Slot::Poisoned),
            (Slot::Set(p), Slot::Set(q)) => {
                let (tp, tq) = (self.shape_types(p), self.shape_types(q));
                if tp.is_some() && tp == tq {
                    let shape = p.clone();
                    return Merged::Yield(Some(p.clone()), Some(q.clone()), shape);
                }
                if b.diverged {
                    return self.one_sided(p, true);
                }
                if a.diverged {
                    return self.one_sided(q, false);
                }
                Merged::Keep(Slot::Conflict(self.span, self.describe(p), self.describe(q)))
            }
            (Slot::Set(p), other) => {
                if b.diverged || hidden {
                    return self.one_sided(p, true);
                }
                Merged::Keep(if a.diverged { other.clone() } else { self.maybe(other, p) })
            }
            (other, Slot::Set(q)) => {
                if a.diverged || hidden {
                    return self.one_sided(q, false);
                }
                Merged::Keep(if b.diverged { other.clone() } else { self.maybe(other, q) })
            }
            (x, y) => Merged::Keep(if a.diverged {
                y.clone()
            } else if b.diverged {
                x.clone()
            } else {
                match (x, y) {
                    (Slot::Conflict(..), _) => x.clone(),
                    (_, Slot::Conflict(..)) => y.clone(),
                    (Slot::MaybeUnset(_), _) => x.clone(),
                    _ => y.clone(),
                }
            }),
        }
    }

    /// The state after paths met of which one gives `val` and the other leaves `other`.
    fn maybe(&self, other: &Slot, val: &Val) -> Slot {
        match other {
            Slot::Conflict(..) => other.clone(),
            Slot::MaybeUnset(gap) => Slot::MaybeUnset(Gap { cases: true, ..gap.clone() }),
            _ => self.gap(self.span, Some(val)),
        }
    }

    /// A value that only one side has; the other side does not go on, so its zero is never seen.
    fn one_sided(&self, val: &Val, on_then: bool) -> Merged {
        if self.shape_types(val).is_none() {
            return Merged::Keep(Slot::Set(val.clone()));
        }
        if self.stays(val) {
            return Merged::Keep(Slot::Set(val.clone()));
        }
        if on_then {
            Merged::Yield(Some(val.clone()), None, val.clone())
        } else {
            Merged::Yield(None, Some(val.clone()), val.clone())
        }
    }

    /// The types of the IR values a value is made of; `None` when it is not made of values.
    pub(super) fn shape_types(&self, val: &Val) -> Option<Vec<Type>> {
        match val {
            Val::Tuple(items) => {
                let mut types = Vec::new();
                for item in items.iter() {
                    types.extend(self.shape_types(item)?);
                }
                Some(types)
            }
            other => self.type_of(other).map(|ty| vec![ty]),
        }
    }

    pub(super) fn flat_types(&self, val: &Val, types: &mut Vec<Type>) {
        types.extend(self.shape_types(val).unwrap_or_default());
    }

    /// The IR values of a value, made at the end of `block`; zeros for a value that side does not have.
    fn flat_values(&mut self, val: Option<&Val>, types: &[Type], block: Block) -> Vec<Value> {
        let saved = std::mem::replace(&mut self.block, block);
        let mut out = Vec::new();
        match val {
            None => out.extend(types.iter().map(|ty| self.builder().zero(*ty))),
            Some(val) => self.flatten(val, &mut out),
        }
        self.block = saved;
        out
    }

    pub(super) fn flatten(&mut self, val: &Val, out: &mut Vec<Value>) {
        match val {
            Val::Tuple(items) => items.iter().for_each(|item| self.flatten(item, out)),
            other => {
                // Shapes are checked before, so only a literal out of range can fail, and it is reported.
                let span = self.span;
                if let Ok(value) = self.value_of(other, span) {
                    out.push(value);
                } else if let Some(ty) = self.type_of(other) {
                    let zero = self.builder().zero(ty);
                    out.push(zero);
                }
            }
        }
    }

    /// Checks an `if` statement and, where it can leave early, the statements after it. Says whether `rest` was
    /// checked too.
    pub(super) fn if_statement(
        &mut self,
        test: &Expr,
        body: &[Stmt],
        orelse: &[Stmt],
        rest: &[Stmt],
    ) -> R<bool> {
        let condition = self.expr(test)?;
        let condition = self.truth(&condition, test.span)?;
        if let Val::Const(ConstValue::Bool(known)) = condition {
            self.statements(if known { body } else { orelse });
            return Ok(false);
        }
        let condition = self.value_of(&condition, test.span)?;
        // A side that never goes on takes no part in what follows, so what follows belongs to the other side.
        let (then_ends, else_ends) = (scan::ends(body), scan::ends(orelse));
        let nest_in_else = then_ends && !else_ends && !rest.is_empty();
        let nest_in_then = else_ends && !then_ends && !rest.is_empty();
        self.branch(
            condition,
            |cx| {
                cx.statements(body);
                if nest_in_then {
                    cx.rest(rest);
                }
            },
            |cx| {
                cx.statements(orelse);
                if nest_in_else {
                    cx.rest(rest);
                }
            },
        );
        Ok(nest_in_else || nest_in_then)
    }

    /// Checks statements that follow one that may have left early.
    pub(super) fn rest(&mut self, rest: &[Stmt]) {
        if rest.is_empty() {
            return;
        }
        match self.exit_condition() {
            Exit::Never => self.statements(rest),
            Exit::Always => self.diverged = true,
            Exit::When(left) => {
                self.branch(left, |cx| cx.diverged = true, |cx| cx.statements_after_guard(rest));
            }
        }
    }

    /// Checks statements where the flags are known to be unset.
    fn statements_after_guard(&mut self, rest: &[Stmt]) {
        for flag in self.exit_flags() {
            self.slots.set(flag, Slot::Set(Val::bool(false)));
        }
        self.statements(rest);
    }
}

/// A value of the same shape from other IR values.
pub(super) fn rebuild_val(shape: &Val, values: &mut impl Iterator<Item = Value>) -> Val {
    match shape {
        Val::Tuple(items) => Val::tuple(items.iter().map(|item| rebuild_val(item, values)).collect()),
        _ => Val::Ir(values.next().expect("as many values as the shape has")),
    }
}
