//! Control flow: branches merged by yields, early exits turned into conditions, loops with carried values.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{Block, OpKind, Type, Value};

use super::codes;
use super::function::FunctionCx;
use super::val::{R, Reported, Slot, Val, VarId};
use crate::env::ConstValue;
use crate::tree::{Expr, ExprKind, Stmt, StmtKind};

/// A range a loop runs over.
pub(super) struct Range {
    /// Start, end and step, of one integer type.
    pub bounds: [Value; 3],
    /// The step when it is constant.
    pub step: Option<i128>,
    /// Whether the body is known to run at least once.
    pub runs: bool,
}

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

/// The names that statements assign, in order of appearance, nested functions excluded.
pub(super) fn assigned_names(stmts: &[Stmt]) -> Vec<String> {
    fn target(expr: &Expr, names: &mut Vec<String>) {
        match &*expr.kind {
            ExprKind::Name(name) if !names.contains(name) => names.push(name.clone()),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| target(item, names))
            }
            ExprKind::Starred(value) => target(value, names),
            _ => {}
        }
    }
    fn walk(stmts: &[Stmt], names: &mut Vec<String>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| target(t, names)),
                StmtKind::AnnAssign { target: t, .. } | StmtKind::AugAssign { target: t, .. } => {
                    target(t, names)
                }
                StmtKind::If { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                    walk(body, names);
                    walk(orelse, names);
                }
                StmtKind::For { target: t, body, orelse, .. } => {
                    target(t, names);
                    walk(body, names);
                    walk(orelse, names);
                }
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    walk(stmts, &mut names);
    names
}

/// The names whose value statements change: assigned ones and the roots of `x.y = `, `x[i] = `.
fn changed_names(stmts: &[Stmt]) -> Vec<String> {
    fn root(expr: &Expr, names: &mut Vec<String>) {
        match &*expr.kind {
            ExprKind::Name(name) if !names.contains(name) => names.push(name.clone()),
            ExprKind::Attribute { value, .. }
            | ExprKind::Subscript { value, .. }
            | ExprKind::Starred(value) => root(value, names),
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().for_each(|item| root(item, names)),
            _ => {}
        }
    }
    fn walk(stmts: &[Stmt], names: &mut Vec<String>) {
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| root(t, names)),
                StmtKind::AnnAssign { target, .. } | StmtKind::AugAssign { target, .. } => {
                    root(target, names)
                }
                StmtKind::If { body, orelse, .. } | StmtKind::While { body, orelse, .. } => {
                    walk(body, names);
                    walk(orelse, names);
                }
                StmtKind::For { target, body, orelse, .. } => {
                    root(target, names);
                    walk(body, names);
                    walk(orelse, names);
                }
                _ => {}
            }
        }
    }
    let mut names = Vec::new();
    walk(stmts, &mut names);
    names
}

/// The names that a turn of a loop with this body sets before anything can leave the turn.
fn always_set(body: &[Stmt]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for stmt in body {
        let one = std::slice::from_ref(stmt);
        if has_loop_exit(one) || has_return(one) {
            break;
        }
        match &stmt.kind {
            StmtKind::Assign { .. } | StmtKind::AnnAssign { value: Some(_), .. } => {
                names.extend(assigned_names(one))
            }
            StmtKind::If { body, orelse, .. } => {
                let other = always_set(orelse);
                names.extend(always_set(body).into_iter().filter(|name| other.contains(name)));
            }
            _ => {}
        }
    }
    names.sort();
    names.dedup();
    names
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
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If { body, orelse, .. }
        | StmtKind::While { body, orelse, .. }
        | StmtKind::For { body, orelse, .. } => has_return(body) || has_return(orelse),
        _ => false,
    })
}

/// One side of a branch after it was checked.
struct Side {
    block: Block,
    slots: Vec<Slot>,
    diverged: bool,
}

/// How a variable comes out of a branch.
enum Merged {
    Keep(Slot),
    /// Yielded: what each side gives (`None`: zero), and the shape to rebuild.
    Yield(Option<Val>, Option<Val>, Val),
}

impl FunctionCx<'_, '_> {
    /// Whether the flags say that the current statement list was left.
    pub(super) fn exit_condition(&mut self) -> Exit {
        if self.diverged {
            return Exit::Always;
        }
        let mut flags = vec![self.returned];
        if let Some(last) = self.loops.last() {
            flags.push(last.continued);
            flags.extend(last.broke);
        }
        let mut condition: Option<Value> = None;
        for flag in flags {
            match self.slots[flag.0].clone() {
                Slot::Set(Val::Const(ConstValue::Bool(false))) => {}
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

    /// Checks both sides of an `if` on copies of the slots and merges them.
    pub(super) fn branch(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Self),
        orelse: impl FnOnce(&mut Self),
    ) {
        let span = self.span;
        let parent = self.block;
        let before = self.slots.clone();
        let was_diverged = self.diverged;
        let first_new = before.len();
        let run = |cx: &mut Self, body: &mut dyn FnMut(&mut Self)| {
            let start = cx.function.add_block();
            cx.block = start;
            cx.slots.clone_from(&before);
            // Hidden variables made on the other side start out as they were made.
            cx.slots.resize(cx.var_names.len(), Slot::Unset);
            cx.diverged = was_diverged;
            body(cx);
            Side { block: cx.block, slots: std::mem::take(&mut cx.slots), diverged: cx.diverged }
        };
        let (mut then, mut orelse) = (Some(then), Some(orelse));
        let a = run(self, &mut |cx| (then.take().expect("called once"))(cx));
        let b = run(self, &mut |cx| (orelse.take().expect("called once"))(cx));
        self.block = parent;
        self.span = span;
        self.merge(condition, a, b, first_new);
    }

    fn merge(&mut self, condition: Value, mut a: Side, mut b: Side, first_new: usize) {
        let count = self.var_names.len();
        a.slots.resize(count, Slot::Unset);
        b.slots.resize(count, Slot::Unset);
        let mut slots = Vec::with_capacity(count);
        let mut types: Vec<Type> = Vec::new();
        let mut yields: (Vec<Value>, Vec<Value>) = Default::default();
        let mut rebuild: Vec<(usize, Val)> = Vec::new();
        for index in 0..count {
            let var = VarId(index);
            // A hidden variable made inside a side is of no use after it, unless it holds a result.
            let is_result =
                self.results.as_ref().is_some_and(|results| results.iter().any(|(r, _)| *r == var));
            if index >= first_new && self.is_hidden(var) && !is_result {
                slots.push(Slot::Unset);
                continue;
            }
            let merged = self.merge_slot(var, &a, &b);
            match merged {
                Merged::Keep(slot) => slots.push(slot),
                Merged::Yield(x, y, shape) => {
                    let before = types.len();
                    self.flat_types(&shape, &mut types);
                    let wanted = types[before..].to_vec();
                    let left = self.flat_values(x.as_ref(), &wanted, a.block);
                    let right = self.flat_values(y.as_ref(), &wanted, b.block);
                    yields.0.extend(left);
                    yields.1.extend(right);
                    rebuild.push((index, shape));
                    slots.push(Slot::Unset);
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
        for (index, shape) in rebuild {
            slots[index] = Slot::Set(rebuild_val(&shape, &mut results));
        }
        self.slots = slots;
        self.diverged = a.diverged && b.diverged;
    }

    fn merge_slot(&self, var: VarId, a: &Side, b: &Side) -> Merged {
        let (x, y) = (&a.slots[var.0], &b.slots[var.0]);
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
                Merged::Keep(self.maybe(other))
            }
            (other, Slot::Set(q)) => {
                if a.diverged || hidden {
                    return self.one_sided(q, false);
                }
                Merged::Keep(self.maybe(other))
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

    fn maybe(&self, other: &Slot) -> Slot {
        match other {
            Slot::Conflict(..) | Slot::MaybeUnset(_) => other.clone(),
            _ => Slot::MaybeUnset(self.span),
        }
    }

    /// A value that only one side has; the other side does not go on, so its zero is never seen.
    fn one_sided(&self, val: &Val, on_then: bool) -> Merged {
        if self.shape_types(val).is_none() {
            return Merged::Keep(Slot::Set(val.clone()));
        }
        if let Val::Const(_) = val {
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

    fn flat_types(&self, val: &Val, types: &mut Vec<Type>) {
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

    fn flatten(&mut self, val: &Val, out: &mut Vec<Value>) {
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
        let (then_ends, else_ends) = (ends(body), ends(orelse));
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
        let mut flags = vec![self.returned];
        if let Some(last) = self.loops.last() {
            flags.push(last.continued);
            flags.extend(last.broke);
        }
        for flag in flags {
            self.slots[flag.0] = Slot::Set(Val::bool(false));
        }
        self.statements(rest);
    }

    /// The variables a loop changes that hold a value before it, hidden flags included.
    fn carried(&mut self, body: &[Stmt], flags: &[VarId]) -> Vec<VarId> {
        let mut vars: Vec<VarId> = Vec::new();
        for name in changed_names(body) {
            let Some(var) = self.names.get(&name).copied() else { continue };
            let assigned = assigned_names(body).contains(&name);
            if let Slot::Set(val) = &self.slots[var.0] {
                let is_place = matches!(self.type_of(val), Some(Type::Array(_) | Type::Ref(_)));
                if self.shape_types(val).is_some() && (assigned || !is_place) {
                    vars.push(var);
                }
            }
        }
        vars.extend(flags);
        if has_return(body) {
            vars.push(self.returned);
            if let Some(results) = &self.results {
                vars.extend(results.iter().map(|(var, _)| *var));
            }
        }
        vars
    }

    /// Enters a loop's block: the carried variables become its parameters.
    fn enter(&mut self, block: Block, carried: &[(VarId, Val)]) {
        self.block = block;
        for (var, shape) in carried {
            let mut types = Vec::new();
            self.flat_types(shape, &mut types);
            let params: Vec<Value> =
                types.iter().map(|ty| self.function.add_block_param(block, *ty)).collect();
            self.slots[var.0] = Slot::Set(rebuild_val(shape, &mut params.into_iter()));
        }
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
                    let (was, is) = (self.describe(shape), self.describe(&val));
                    self.report(
                        Diagnostic::new(
                            codes::LOOP_TYPE,
                            span,
                            format!("variable `{name}` is {was} before the loop and {is} after a turn of it"),
                        )
                        .help("give it one type, or use another name inside the loop"),
                    );
                }
                Slot::Conflict(..) => {
                    self.slots[var.0] = slot;
                    let _ = self.read(*var, &name, span);
                }
                // A poisoned variable was reported before.
                Slot::MaybeUnset(_) | Slot::Unset | Slot::Poisoned => {}
            }
            out.extend(wanted.iter().map(|ty| self.builder().zero(*ty)));
        }
        out
    }

    /// After a loop: carried variables hold its results; variables first set inside may be unset.
    fn leave(&mut self, before: &[Slot], carried: &[(VarId, Val)], results: Vec<Value>, span: Span) {
        let inside = std::mem::take(&mut self.slots);
        self.slots = before.to_vec();
        self.slots.resize(self.var_names.len(), Slot::Unset);
        for (index, slot) in inside.into_iter().enumerate() {
            if self.var_names[index].is_none() {
                continue;
            }
            match (&self.slots[index], slot) {
                (Slot::Unset, Slot::Set(_) | Slot::MaybeUnset(_)) => {
                    self.slots[index] = Slot::MaybeUnset(span)
                }
                (_, Slot::Poisoned) => self.slots[index] = Slot::Poisoned,
                _ => {}
            }
        }
        let mut results = results.into_iter();
        for (var, shape) in carried {
            let val = rebuild_val(shape, &mut results);
            if self.slots[var.0] != Slot::Poisoned {
                self.slots[var.0] = Slot::Set(val);
            }
        }
    }

    /// Return values take part in loops only when their types are known before: finds them.
    fn announce_results(&mut self, body: &[Stmt]) {
        if self.results.is_some() || !has_return(body) {
            return;
        }
        if let Some(types) = self.declared.clone()
            && !types.is_empty()
        {
            let span = self.span;
            self.make_results(&types, span);
        }
    }

    /// Makes the hidden variables of the returned values.
    pub(super) fn make_results(&mut self, types: &[Type], span: Span) {
        let vars = types
            .iter()
            .map(|ty| {
                let var = self.hidden(Val::bool(false));
                self.slots[var.0] = Slot::Unset;
                (var, *ty)
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
                self.slots[var.0] = Slot::Set(Val::Ir(zero));
            }
        }
    }

    fn init_carried(&mut self, vars: &[VarId]) -> (Vec<(VarId, Val)>, Vec<Value>) {
        let mut carried = Vec::new();
        let mut init = Vec::new();
        for var in vars {
            if let Slot::Set(val) = self.slots[var.0].clone() {
                self.flatten(&val, &mut init);
                carried.push((*var, val));
            }
        }
        (carried, init)
    }

    /// A loop over a range known only at run time.
    pub(super) fn range_loop(&mut self, target: &Expr, range: Range, body: &[Stmt], span: Span) -> R<()> {
        self.announce_results(body);
        self.probe_results(body)?;
        self.start_target(target, range.bounds[0]);
        if has_break(body) || has_return(body) {
            return self.range_loop_with_exits(target, range, body, span);
        }
        let Range { bounds, step, runs } = range;
        let before = self.slots.clone();
        let continued = self.hidden(Val::bool(false));
        let mut vars = self.carried(body, &[]);
        self.carry_target(target, &mut vars);
        let (mut carried, mut init) = self.init_carried(&vars);
        let parent = self.block;
        let ty = self.function.ty(bounds[0]);
        let start = self.function.add_block();
        let index = self.function.add_block_param(start, ty);
        if step.is_some_and(|step| step > 0) && self.not_negative(bounds[0]) {
            self.rising.insert(index);
        }
        self.enter(start, &carried);
        self.loops.push(super::function::Loop { broke: None, continued });
        let assigned = self.assign(target, Val::Ir(index), target.span);
        if assigned.is_ok() {
            self.statements(body);
        }
        self.loops.pop();
        self.diverged = false;
        self.span = span;
        if runs {
            self.carry_new(&before, parent, &[start], body, &mut carried, &mut init);
        }
        let values = self.turn_values(&carried, span);
        self.builder().effect(OpKind::Yield, values);
        self.block = parent;
        let types: Vec<Type> = init.iter().map(|v| self.function.ty(*v)).collect();
        let op = self.builder().op(OpKind::For, bounds.into_iter().chain(init), types, [start]);
        let results = self.function.op(op).results.to_vec();
        self.leave(&before, &carried, results, span);
        assigned
    }

    /// The loop variable can be read after the loop: it has its last value, or the start of the range when the body
    /// never ran.
    fn start_target(&mut self, target: &Expr, lo: Value) {
        if let ExprKind::Name(name) = &*target.kind {
            let var = self.variable(name);
            if !matches!(self.slots[var.0], Slot::Set(_)) {
                self.slots[var.0] = Slot::Set(Val::Ir(lo));
            }
        }
    }

    /// In a loop whose body is known to run, what the body sets on every path is set after it: such variables are
    /// carried too, from a zero that is never seen. Called at the end of a turn.
    fn carry_new(
        &mut self,
        before: &[Slot],
        parent: Block,
        blocks: &[Block],
        body: &[Stmt],
        carried: &mut Vec<(VarId, Val)>,
        init: &mut Vec<Value>,
    ) {
        for name in always_set(body) {
            let var = self.variable(&name);
            let Slot::Set(val) = self.slots[var.0].clone() else { continue };
            if matches!(before[var.0], Slot::Set(_)) {
                continue;
            }
            let Some(types) = self.shape_types(&val) else { continue };
            for block in blocks {
                for ty in &types {
                    self.function.add_block_param(*block, *ty);
                }
            }
            init.extend(self.flat_values(None, &types, parent));
            carried.push((var, val));
        }
    }

    /// A loop variable that was set before the loop keeps its last value after it.
    fn carry_target(&mut self, target: &Expr, vars: &mut Vec<VarId>) {
        for name in target.path().into_iter().filter(|p| p.len() == 1).flatten() {
            if let Some(var) = self.names.get(name).copied()
                && matches!(&self.slots[var.0], Slot::Set(val) if self.shape_types(val).is_some())
                && !vars.contains(&var)
            {
                vars.push(var);
            }
        }
    }

    /// A `for` that can be left early: a `while` over an explicit index.
    fn range_loop_with_exits(&mut self, target: &Expr, range: Range, body: &[Stmt], span: Span) -> R<()> {
        let Range { bounds: [lo, hi, step_value], step, runs } = range;
        let index = self.hidden(Val::Ir(lo));
        let rises = step.is_some_and(|step| step > 0) && self.not_negative(lo);
        let mut extra = vec![index];
        let mut early = Vec::new();
        self.carry_target(target, &mut early);
        extra.extend(early);
        self.general_loop(
            body,
            span,
            &extra,
            runs,
            |cx| {
                let Slot::Set(Val::Ir(at)) = cx.slots[index.0] else { return Err(Reported) };
                Ok(cx.in_range(at, hi, step_value, step))
            },
            |cx| {
                let Slot::Set(Val::Ir(at)) = cx.slots[index.0] else { return Err(Reported) };
                if rises {
                    cx.rising.insert(at);
                }
                let next = cx.builder().binary(inkle_ir::BinaryOp::Add, at, step_value);
                cx.slots[index.0] = Slot::Set(Val::Ir(next));
                cx.assign(target, Val::Ir(at), target.span)
            },
        )
    }

    fn in_range(&mut self, at: Value, hi: Value, step_value: Value, step: Option<i128>) -> Value {
        use inkle_ir::{BinaryOp, CmpOp};
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
    pub(super) fn while_statement(&mut self, test: &Expr, body: &[Stmt], span: Span) -> R<()> {
        self.announce_results(body);
        self.probe_results(body)?;
        let forever = matches!(*test.kind, ExprKind::Bool(true) | ExprKind::Int(1));
        self.general_loop(
            body,
            span,
            &[],
            forever,
            |cx| {
                let condition = cx.expr(test)?;
                let condition = cx.truth(&condition, test.span)?;
                cx.value_of(&condition, test.span)
            },
            |_| Ok(()),
        )?;
        if forever && !has_break(body) {
            // Left only by `return`.
            self.diverged = true;
        }
        Ok(())
    }

    /// A loop with a condition, `break` and `return`: a `while` operation whose flags are carried.
    fn general_loop(
        &mut self,
        body: &[Stmt],
        span: Span,
        extra: &[VarId],
        runs: bool,
        condition: impl FnOnce(&mut Self) -> R<Value>,
        start_turn: impl FnOnce(&mut Self) -> R<()>,
    ) -> R<()> {
        if has_return(body) {
            self.fill_results();
        }
        let before = self.slots.clone();
        let broke = has_break(body).then(|| self.hidden(Val::bool(false)));
        let continued = self.hidden(Val::bool(false));
        let mut flags: Vec<VarId> = extra.to_vec();
        flags.extend(broke);
        let vars = self.carried(body, &flags);
        let (mut carried, mut init) = self.init_carried(&vars);
        let parent = self.block;

        let test_block = self.function.add_block();
        self.enter(test_block, &carried);
        let mut left: Vec<Value> = Vec::new();
        for flag in broke.into_iter().chain(has_return(body).then_some(self.returned)) {
            if let Slot::Set(Val::Ir(value)) = self.slots[flag.0] {
                left.push(value);
            }
        }
        let outcome = if left.is_empty() {
            condition(self)
        } else {
            let mut any = left[0];
            for flag in &left[1..] {
                any = self.builder().binary(inkle_ir::BinaryOp::Or, any, *flag);
            }
            // The test is not evaluated once the loop was left.
            let holds = self.hidden(Val::bool(false));
            let mut failed = false;
            let mut condition = Some(condition);
            self.branch(
                any,
                |_| {},
                |cx| match (condition.take().expect("called once"))(cx) {
                    Ok(value) => cx.slots[holds.0] = Slot::Set(Val::Ir(value)),
                    Err(Reported) => failed = true,
                },
            );
            match (&self.slots[holds.0], failed) {
                (Slot::Set(val), false) => {
                    let val = val.clone();
                    self.value_of(&val, span)
                }
                _ => Err(Reported),
            }
        };
        let go_on = match outcome {
            Ok(value) => value,
            Err(Reported) => {
                self.block = parent;
                self.slots = before;
                self.slots.resize(self.var_names.len(), Slot::Unset);
                self.poison(body);
                return Err(Reported);
            }
        };
        self.builder().effect(OpKind::Yield, [go_on]);

        let turn_block = self.function.add_block();
        self.slots.clone_from(&before);
        self.slots.resize(self.var_names.len(), Slot::Unset);
        self.slots[continued.0] = Slot::Set(Val::bool(false));
        self.enter(turn_block, &carried);
        // Inside a turn the loop has not been left yet.
        for flag in broke.into_iter().chain(has_return(body).then_some(self.returned)) {
            self.slots[flag.0] = Slot::Set(Val::bool(false));
        }
        self.loops.push(super::function::Loop { broke, continued });
        let started = start_turn(self);
        if started.is_ok() {
            self.statements(body);
        }
        self.loops.pop();
        self.diverged = false;
        self.span = span;
        if runs {
            self.carry_new(&before, parent, &[test_block, turn_block], body, &mut carried, &mut init);
        }
        let values = self.turn_values(&carried, span);
        self.builder().effect(OpKind::Yield, values);

        self.block = parent;
        let types: Vec<Type> = init.iter().map(|v| self.function.ty(*v)).collect();
        let op = self.builder().op(OpKind::While, init, types, [test_block, turn_block]);
        let results = self.function.op(op).results.to_vec();
        self.leave(&before, &carried, results, span);
        started
    }

    /// Marks everything statements assign as already reported.
    pub(super) fn poison(&mut self, stmts: &[Stmt]) {
        for name in assigned_names(stmts) {
            let var = self.variable(&name);
            self.slots[var.0] = Slot::Poisoned;
        }
    }

    /// When a loop returns values of types not known yet, checks the body once to learn them and throws the
    /// operations away.
    fn probe_results(&mut self, body: &[Stmt]) -> R<()> {
        if self.results.is_some() || !has_return(body) || self.function.kind == inkle_ir::FunctionKind::Kernel
        {
            return Ok(());
        }
        let (slots, block, diverged, span) = (self.slots.clone(), self.block, self.diverged, self.span);
        let errors = self.checker.diagnostics.0.len();
        self.block = self.function.add_block();
        let continued = self.hidden(Val::bool(false));
        let broke = Some(self.hidden(Val::bool(false)));
        // Loop variables and other names first set inside are unknown here; what depends on them is skipped.
        self.loops.push(super::function::Loop { broke, continued });
        let reachable = super::stmt::returned_exprs(body);
        for expr in reachable {
            let types = self.expr(expr).ok().and_then(|val| self.shape_types(&val));
            if let Some(types) = types {
                self.make_results(&types, expr.span);
                break;
            }
        }
        self.loops.pop();
        self.checker.diagnostics.0.truncate(errors);
        let results = self.results.clone();
        self.slots = slots;
        self.slots.resize(self.var_names.len(), Slot::Unset);
        (self.block, self.diverged, self.span) = (block, diverged, span);
        if results.is_none() && super::stmt::returns_values(body) {
            return Err(self.report(
                Diagnostic::new(
                    codes::RETURN_TYPE,
                    span,
                    format!("the result type of `{}` is not clear from a `return` inside a loop", self.name),
                )
                .help("declare it: `def f(...) -> float:`"),
            ));
        }
        Ok(())
    }
}

/// Whether the statements never go on to what follows, judged by their form.
fn ends(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::If { body, orelse, .. } => ends(body) && ends(orelse),
        _ => false,
    })
}

fn rebuild_val(shape: &Val, values: &mut impl Iterator<Item = Value>) -> Val {
    match shape {
        Val::Tuple(items) => Val::tuple(items.iter().map(|item| rebuild_val(item, values)).collect()),
        _ => Val::Ir(values.next().expect("as many values as the shape has")),
    }
}
