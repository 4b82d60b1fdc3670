//! Loops, backwards. How the values that an iteration started from are found again is said in the crate's
//! documentation.

use inkle_ir::{BinaryOp, Block, CmpOp, Constant, Op, OpKind, Scalar, Type, UnaryOp, Value};
use rustc_hash::FxHashMap;

use crate::activity::has_float;
use crate::need::{Need, is_constant};
use crate::sweep::{Result, Sweep};

/// The checkpoints of a loop: its state at the start of some iterations, in ascending order.
struct Checkpoints {
    /// The iterations' numbers.
    at: Value,
    /// One array per stored value.
    states: Vec<Value>,
}

impl Sweep<'_, '_> {
    /// Reverses a loop.
    pub fn reverse_loop(&mut self, op: Op) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        let is_for = data.kind == OpKind::For;
        let (first, skipped) = if is_for { (3, 1) } else { (0, 0) };
        let body = data.blocks[data.blocks.len() - 1];
        let given: FxHashMap<usize, Value> = (0..data.results.len())
            .filter_map(|k| Some((k, self.adjoints.remove(&data.results[k])?)))
            .collect();
        if given.is_empty() && !self.has_effects(body) {
            return Ok(());
        }
        let params = &f.block(body).params[skipped..];
        let plan = self.plan(op);
        let number = if is_for { f.ty(f.block(body).params[0]) } else { Type::I32 };
        let count = if is_for { self.trip_count(op) } else { self.counts[&op] };

        let checkpoints = if plan.stored.is_empty() || plan.recorded.is_some() {
            None
        } else {
            Some(self.checkpoints(op, &plan.stored, number)?)
        };
        // What flows from iteration to iteration, and what flows out of the loop from each of them.
        let passed: Vec<usize> = (0..params.len())
            .filter(|&k| self.activity.is_active(params[k]) || self.activity.is_active(data.results[k]))
            .collect();
        let sums = self.active_from_outside(body);

        let mut operands = vec![self.index(0, number), count, self.index(1, number)];
        for &k in &passed {
            let ty = f.ty(params[k]);
            operands.push(match given.get(&k) {
                Some(&gradient) => gradient,
                None => self.build().zero(ty),
            });
        }
        for value in &sums {
            let ty = f.ty(*value);
            operands.push(match self.adjoints.remove(value) {
                Some(gradient) => gradient,
                None => self.build().zero(ty),
            });
        }
        if checkpoints.is_some() {
            operands.push(self.build().i32(0));
        }
        let types: Vec<Type> = operands[3..].iter().map(|&v| self.out.ty(v)).collect();
        let block = self.loop_block(std::iter::once(number).chain(types.iter().copied()));
        let new_params = self.out.block(block).params.clone();
        let outer = std::mem::take(&mut self.adjoints);
        self.in_block(block, |s| {
            let one = s.index(1, number);
            let mut b = s.build();
            let last = b.binary(BinaryOp::Sub, count, one);
            let at = b.binary(BinaryOp::Sub, last, new_params[0]);
            let mut top = None;
            if let Some(checkpoints) = &checkpoints {
                let sp = s.advance(op, checkpoints, *new_params.last().expect("the top"), at, number)?;
                top = Some(sp);
                for (&array, &k) in checkpoints.states.iter().zip(&plan.stored) {
                    let mut b = s.build();
                    let reference = b.elem(array, &[sp]);
                    let value = b.load(reference);
                    s.set_primal(params[k], value);
                }
            } else if plan.recorded.is_some() {
                let records = s.records[&op].clone();
                for (&array, &k) in records.iter().zip(&plan.stored) {
                    let mut b = s.build();
                    let reference = b.elem(array, &[at]);
                    let value = b.load(reference);
                    s.set_primal(params[k], value);
                }
            }
            s.set_iteration(op, at);
            let need = s.need(body);
            s.forward(body, &need, true)?;
            let own = &new_params[1..];
            for (position, value) in sums.iter().enumerate() {
                s.adjoints.insert(*value, own[passed.len() + position]);
            }
            for (position, &k) in passed.iter().enumerate() {
                s.accumulate(s.yielded(body)[k], own[position]);
            }
            s.reverse(body)?;
            let mut yielded: Vec<Value> = Vec::new();
            for &k in &passed {
                yielded.push(s.take_or_zero(params[k]));
            }
            for value in &sums {
                yielded.push(s.take_or_zero(*value));
            }
            yielded.extend(top);
            s.build().effect(OpKind::Yield, yielded);
            Ok(())
        })?;
        self.span = data.span;
        self.adjoints = outer;
        let made = self.build().op(OpKind::For, operands, types, [block]);
        let results = self.out.op(made).results.clone();
        for (position, value) in sums.iter().enumerate() {
            self.adjoints.insert(*value, results[passed.len() + position]);
        }
        for (position, &k) in passed.iter().enumerate() {
            self.accumulate(data.operands[first + k], results[position]);
        }
        Ok(())
    }

    /// The active values that a loop's body reads from outside, in order.
    fn active_from_outside(&self, body: Block) -> Vec<Value> {
        let f = self.f;
        let mut found = Vec::new();
        let mut stack = vec![body];
        while let Some(block) = stack.pop() {
            for &op in &f.block(block).ops {
                let data = f.op(op);
                let outside = |v: &&Value| self.activity.is_active(**v) && !self.needs.is_inside(**v, body);
                found.extend(data.operands.iter().filter(outside).copied());
                stack.extend(&data.blocks);
            }
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|&v| has_float(f.ty(v)));
        found
    }

    /// How often a `for` runs.
    fn trip_count(&mut self, op: Op) -> Value {
        let f = self.f;
        let data = f.op(op);
        let [lo, hi, step] = [0, 1, 2].map(|i| self.primal(data.operands[i]));
        let ty = f.ty(data.operands[0]);
        let is_one = f
            .defining_op(data.operands[2])
            .is_some_and(|d| matches!(d.kind, OpKind::Const(Constant::Int(1))));
        let mut b = self.build();
        let zero = b.zero(ty);
        if is_one {
            let distance = b.binary(BinaryOp::Sub, hi, lo);
            return b.binary(BinaryOp::Max, distance, zero);
        }
        // In 64 bits the distance does not overflow.
        let [lo, hi, step] = [lo, hi, step].map(|v| b.cast(v, Type::I64));
        let one = b.constant(Constant::Int(1), Scalar::I64);
        let zero = b.zero(Type::I64);
        let distance = b.binary(BinaryOp::Sub, hi, lo);
        let goes_up = b.cmp(CmpOp::Gt, step, zero);
        let minus = b.unary(UnaryOp::Neg, one);
        let rounding = b.select(goes_up, minus, one);
        let rounding = b.binary(BinaryOp::Add, step, rounding);
        let whole = b.binary(BinaryOp::Add, distance, rounding);
        let count = b.binary(BinaryOp::Div, whole, step);
        let count = b.binary(BinaryOp::Max, count, zero);
        b.cast(count, ty)
    }

    /// Makes the loop's index and the carried values that grow evenly stand for those of iteration `at`.
    fn set_iteration(&mut self, op: Op, at: Value) {
        let f = self.f;
        let data = f.op(op);
        let plan = self.plan(op);
        let body = data.blocks[data.blocks.len() - 1];
        let mut params = &f.block(body).params[..];
        let mut first = 0;
        if data.kind == OpKind::For {
            let (lo, step) = (self.primal(data.operands[0]), self.primal(data.operands[2]));
            let index = self.on_line(lo, step, at);
            self.set_primal(params[0], index);
            params = &params[1..];
            first = 3;
        }
        for &(k, step) in &plan.linear {
            let start = self.primal(data.operands[first + k]);
            let step = match f.defining_op(step).filter(|_| is_constant(f, step)) {
                Some(data) => {
                    let ty = f.ty(step);
                    self.build().value(data.kind.clone(), [], ty)
                }
                None => self.primal(step),
            };
            let value = self.on_line(start, step, at);
            self.set_primal(params[k], value);
        }
    }

    /// `start + at * step`, in the type of `start`.
    fn on_line(&mut self, start: Value, step: Value, at: Value) -> Value {
        let ty = self.out.ty(start);
        let mut b = self.build();
        let at = b.cast(at, ty);
        let way = b.binary(BinaryOp::Mul, at, step);
        b.binary(BinaryOp::Add, start, way)
    }

    /// Memory for checkpoints, with the first one: where the loop starts.
    fn checkpoints(&mut self, op: Op, stored: &[usize], number: Type) -> Result<Checkpoints> {
        let data = self.f.op(op);
        let first = if data.kind == OpKind::For { 3 } else { 0 };
        // Each halves the distance that the one before leaves, so there are never more than the number has bits.
        let count = number.size() * 8 + 2;
        let at = self.record(number, count)?;
        let mut states = Vec::new();
        for &k in stored {
            let start = self.primal(data.operands[first + k]);
            let array = self.record(self.out.ty(start), count)?;
            let mut b = self.build();
            let zero = b.i32(0);
            let reference = b.elem(array, &[zero]);
            b.store(reference, start);
            states.push(array);
        }
        Ok(Checkpoints { at, states })
    }

    /// Runs the loop again until there is a checkpoint for iteration `target`; gives its place.
    fn advance(
        &mut self,
        op: Op,
        checkpoints: &Checkpoints,
        top: Value,
        target: Value,
        number: Type,
    ) -> Result<Value> {
        let f = self.f;
        let data = f.op(op);
        let body = data.blocks[data.blocks.len() - 1];
        let skipped = usize::from(data.kind == OpKind::For);
        let plan = self.plan(op);
        let mut b = self.build();
        let one = b.i32(1);
        // The iteration above was done last, so at most one checkpoint is behind the target.
        let reference = b.elem(checkpoints.at, &[top]);
        let reached = b.load(reference);
        let is_past = b.cmp(CmpOp::Gt, reached, target);
        let below = b.binary(BinaryOp::Sub, top, one);
        let start = b.select(is_past, below, top);

        let head = self.loop_block([Type::I32]);
        let again = self.loop_block([Type::I32]);
        self.in_block(head, |s| {
            let top = s.out.block(head).params[0];
            let mut b = s.build();
            let reference = b.elem(checkpoints.at, &[top]);
            let reached = b.load(reference);
            let is_before = b.cmp(CmpOp::Lt, reached, target);
            b.effect(OpKind::Yield, [is_before]);
            Ok(())
        })?;
        self.in_block(again, |s| {
            let top = s.out.block(again).params[0];
            let one_step = s.index(1, number);
            let two = s.index(2, number);
            let mut b = s.build();
            let reference = b.elem(checkpoints.at, &[top]);
            let reached = b.load(reference);
            let distance = b.binary(BinaryOp::Sub, target, reached);
            let rounded = b.binary(BinaryOp::Add, distance, one_step);
            let half = b.binary(BinaryOp::Div, rounded, two);
            let middle = b.binary(BinaryOp::Add, reached, half);
            let mut operands = vec![reached, middle, one_step];
            for &array in &checkpoints.states {
                let reference = b.elem(array, &[top]);
                operands.push(b.load(reference));
            }
            let types: Vec<Type> = operands[3..].iter().map(|&v| b.ty(v)).collect();
            let block = s.loop_block(std::iter::once(number).chain(types.iter().copied()));
            let params = s.out.block(block).params.clone();
            let next: Vec<Value> = plan.stored.iter().map(|&k| s.yielded(body)[k]).collect();
            let need: Need = s.needs.closure(next.iter().copied());
            s.in_block(block, |s| {
                for (position, &k) in plan.stored.iter().enumerate() {
                    s.set_primal(f.block(body).params[skipped + k], params[1 + position]);
                }
                s.set_iteration(op, params[0]);
                s.forward(body, &need, false)?;
                let yielded: Vec<Value> = next.iter().map(|&v| s.primal(v)).collect();
                s.build().effect(OpKind::Yield, yielded);
                Ok(())
            })?;
            let run = s.build().op(OpKind::For, operands, types, [block]);
            let results = s.out.op(run).results.clone();
            let mut b = s.build();
            let one = b.i32(1);
            let above = b.binary(BinaryOp::Add, top, one);
            let reference = b.elem(checkpoints.at, &[above]);
            b.store(reference, middle);
            for (&array, &value) in checkpoints.states.iter().zip(&results) {
                let reference = b.elem(array, &[above]);
                b.store(reference, value);
            }
            b.effect(OpKind::Yield, [above]);
            Ok(())
        })?;
        let made = self.build().op(OpKind::While, [start], [Type::I32], [head, again]);
        Ok(self.out.op(made).results[0])
    }
}
