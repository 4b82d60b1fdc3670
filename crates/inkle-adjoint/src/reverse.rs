//! The reverse sweep: what flows back through each operation.

use inkle_ir::{BinaryOp, Block, Builder, Constant, Function, FunctionId, Op, OpKind, Type, Value};
use rustc_hash::FxHashMap;

use crate::activity::{State, has_float};
use crate::error::AdjointError;
use crate::rules::{self, Derivative, Uses, derivative};
use crate::scalar;
use crate::sweep::{Result, Sweep};

/// The sum of two gradients.
pub(crate) fn add(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let ty = b.ty(x);
    let Type::Struct(s) = ty else { return b.binary(BinaryOp::Add, x, y) };
    let mut sum = x;
    for (index, field) in s.fields.iter().enumerate() {
        if has_float(field.ty) {
            let (left, right) = (b.extract(x, index as u32), b.extract(y, index as u32));
            let part = add(b, left, right);
            sum = b.insert(sum, part, index as u32);
        }
    }
    sum
}

/// Whether a part of a composite was made zero and not changed since.
fn is_zero(f: &Function, whole: Value, part: u32) -> bool {
    let mut at = whole;
    while let Some(data) = f.defining_op(at) {
        match data.kind {
            OpKind::Zero => return true,
            OpKind::Insert(index) if index != part => at = data.operands[0],
            _ => return false,
        }
    }
    false
}

/// The scalar that all components of a value are.
fn splat_of(f: &Function, value: Value) -> Option<Value> {
    let data = f.defining_op(value).filter(|data| data.kind == OpKind::Construct)?;
    let (&first, rest) = data.operands.split_first()?;
    (f.ty(first).as_scalar().is_some() && !rest.is_empty() && rest.iter().all(|&v| v == first))
        .then_some(first)
}

/// Whether a value is the constant one.
fn is_one(f: &Function, value: Value) -> bool {
    f.defining_op(value).is_some_and(|data| data.kind == OpKind::Const(Constant::Float(1.0)))
}

impl Sweep<'_, '_> {
    /// Adds to the gradient of a value.
    pub fn accumulate(&mut self, value: Value, gradient: Value) {
        if !self.activity.is_active(value) {
            return;
        }
        let sum = match self.adjoints.get(&value).copied() {
            Some(before) => add(&mut self.build(), before, gradient),
            None => gradient,
        };
        self.adjoints.insert(value, sum);
    }

    /// The gradient of a value whose definition was reached.
    fn take(&mut self, value: Value) -> Option<Value> {
        self.adjoints.remove(&value)
    }

    /// The gradient of a value whose definition was reached, zero if nothing flowed.
    pub fn take_or_zero(&mut self, value: Value) -> Value {
        let ty = self.f.ty(value);
        match self.take(value) {
            Some(gradient) => gradient,
            None => self.build().zero(ty),
        }
    }

    /// Reverses a block whose needed values were computed here.
    pub fn reverse(&mut self, block: Block) -> Result<()> {
        let f = self.f;
        for &op in f.block(block).ops.iter().rev() {
            self.span = f.op(op).span;
            if self.activity.is_active_op(op) {
                self.reverse_op(op)?;
            }
        }
        Ok(())
    }

    fn reverse_op(&mut self, op: Op) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        match &data.kind {
            OpKind::If => return self.reverse_if(op),
            OpKind::For | OpKind::While => return self.reverse_loop(op),
            OpKind::Call(_) => return self.reverse_call(op),
            OpKind::Load => return self.reverse_load(op),
            OpKind::Store => return self.reverse_store(op),
            OpKind::Atomic(kind) => return self.reverse_atomic(op, *kind),
            _ => {}
        }
        let [result] = data.results[..] else { return Ok(()) };
        let Some(g) = self.take(result) else { return Ok(()) };
        let x = |index: usize| data.operands[index];
        match &data.kind {
            OpKind::Unary(kind) => {
                let Derivative::Formula(uses) = derivative(&data.kind) else { return Ok(()) };
                let Uses { operands, result: uses_result } = uses;
                let operand = if operands { self.primal(x(0)) } else { g };
                let value = if uses_result { self.primal(result) } else { g };
                if let Some(gradient) = scalar::unary(&mut self.build(), *kind, operand, value, g) {
                    self.accumulate(x(0), gradient);
                }
            }
            OpKind::Binary(kind) => {
                let wanted = [0, 1].map(|i| self.activity.is_active(x(i)));
                let used = rules::binary_uses(*kind, wanted);
                let [a, b, r] = [0, 1, 2].map(|i| {
                    let value = if i < 2 { x(i) } else { result };
                    used[i].then(|| self.primal(value))
                });
                let is_reciprocal = *kind == BinaryOp::Div && is_one(f, x(0));
                let scalar_divisor = b.and_then(|b| splat_of(&self.out, b));
                let values = scalar::Binary { a, b, r, g, is_reciprocal, scalar_divisor };
                let gradients = scalar::binary(&mut self.build(), *kind, &values, wanted);
                for (index, gradient) in gradients.into_iter().enumerate() {
                    if let Some(gradient) = gradient {
                        self.accumulate(x(index), gradient);
                    }
                }
            }
            OpKind::Cast => {
                let ty = f.ty(x(0));
                let gradient = self.build().cast(g, ty);
                self.accumulate(x(0), gradient);
            }
            OpKind::Select => {
                let condition = self.primal(x(0));
                let ty = f.ty(result);
                for (index, is_first) in [(1, true), (2, false)] {
                    if self.activity.is_active(x(index)) {
                        let mut b = self.build();
                        let zero = b.zero(ty);
                        let gradient = if is_first {
                            b.select(condition, g, zero)
                        } else {
                            b.select(condition, zero, g)
                        };
                        self.accumulate(x(index), gradient);
                    }
                }
            }
            OpKind::Construct => {
                for (index, &operand) in data.operands.iter().enumerate() {
                    if self.activity.is_active(operand) {
                        let part = self.build().extract(g, index as u32);
                        self.accumulate(operand, part);
                    }
                }
            }
            OpKind::Extract(index) => {
                let nothing = self.adjoints.get(&x(0)).is_none_or(|&whole| is_zero(&self.out, whole, *index));
                self.accumulate_part(x(0), |b, whole| {
                    let sum = if nothing {
                        g
                    } else {
                        let before = b.extract(whole, *index);
                        add(b, before, g)
                    };
                    b.insert(whole, sum, *index)
                });
            }
            OpKind::ExtractDyn => {
                let at = self.primal(x(1));
                let part = f.ty(result);
                self.accumulate_part(x(0), |b, whole| {
                    let before = b.value(OpKind::ExtractDyn, [whole, at], part);
                    let sum = add(b, before, g);
                    let ty = b.ty(whole);
                    b.value(OpKind::InsertDyn, [whole, sum, at], ty)
                });
            }
            OpKind::Insert(index) => {
                let mut b = self.build();
                let part = b.extract(g, *index);
                let zero = b.zero(f.ty(x(1)));
                let rest = b.insert(g, zero, *index);
                self.accumulate(x(1), part);
                self.accumulate(x(0), rest);
            }
            OpKind::InsertDyn => {
                let at = self.primal(x(2));
                let (part_ty, ty) = (f.ty(x(1)), f.ty(result));
                let mut b = self.build();
                let part = b.value(OpKind::ExtractDyn, [g, at], part_ty);
                let zero = b.zero(part_ty);
                let rest = b.value(OpKind::InsertDyn, [g, zero, at], ty);
                self.accumulate(x(1), part);
                self.accumulate(x(0), rest);
            }
            _ => {}
        }
        Ok(())
    }

    /// Changes the gradient of a composite in one part.
    fn accumulate_part(&mut self, value: Value, change: impl FnOnce(&mut Builder<'_>, Value) -> Value) {
        if !self.activity.is_active(value) {
            return;
        }
        let ty = self.f.ty(value);
        let before = self.adjoints.get(&value).copied();
        let mut b = self.build();
        let before = before.unwrap_or_else(|| b.zero(ty));
        let changed = change(&mut b, before);
        self.adjoints.insert(value, changed);
    }

    fn reverse_if(&mut self, op: Op) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        let given: Vec<Option<Value>> = data.results.iter().map(|&r| self.take(r)).collect();
        let has_effects = data.blocks.iter().any(|&b| self.has_effects(b));
        if !has_effects && given.iter().all(Option::is_none) {
            return Ok(());
        }
        let condition = self.primal(data.operands[0]);
        let outer = std::mem::take(&mut self.adjoints);
        let mut blocks = Vec::new();
        let mut found: Vec<FxHashMap<Value, Value>> = Vec::new();
        for &inner in &data.blocks {
            let block = self.out.add_block();
            blocks.push(block);
            self.in_block(block, |s| {
                let need = s.need(inner);
                s.forward(inner, &need, true)?;
                for (index, gradient) in given.iter().enumerate() {
                    if let Some(gradient) = gradient {
                        s.accumulate(s.yielded(inner)[index], *gradient);
                    }
                }
                s.reverse(inner)
            })?;
            found.push(std::mem::take(&mut self.adjoints));
        }
        self.adjoints = outer;
        self.span = data.span;
        let mut values: Vec<Value> = found.iter().flat_map(|f| f.keys().copied()).collect();
        values.sort_unstable();
        values.dedup();
        for (&block, found) in blocks.iter().zip(&found) {
            self.in_block(block, |s| {
                let mut yielded = Vec::new();
                for value in &values {
                    let ty = f.ty(*value);
                    yielded.push(found.get(value).copied().unwrap_or_else(|| s.build().zero(ty)));
                }
                s.build().effect(OpKind::Yield, yielded);
                Ok(())
            })?;
        }
        let types: Vec<Type> = values.iter().map(|&v| f.ty(v)).collect();
        let made = self.build().op(OpKind::If, [condition], types, blocks);
        for (position, &value) in values.iter().enumerate() {
            let gradient = self.out.op(made).results[position];
            self.accumulate(value, gradient);
        }
        Ok(())
    }

    /// Whether reversing a block does something even if no gradient is given for what it yields.
    pub fn has_effects(&self, block: Block) -> bool {
        let f = self.f;
        f.block(block).ops.iter().any(|&op| {
            let data = f.op(op);
            match data.kind {
                OpKind::Store | OpKind::Atomic(_) => self.activity.is_active_op(op),
                OpKind::Call(_) => self.activity.call_writes(op),
                _ => data.blocks.iter().any(|&inner| self.has_effects(inner)),
            }
        })
    }

    fn reverse_call(&mut self, op: Op) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        let OpKind::Call(callee) = data.kind else { return Ok(()) };
        let given: Vec<Option<Value>> = data.results.iter().map(|&r| self.take(r)).collect();
        let writes = self.activity.call_writes(op);
        if !writes && given.iter().all(Option::is_none) {
            return Ok(());
        }
        if let Some(gradient) = self.driver.module.function(callee).links.gradient {
            return self.custom_gradient(op, gradient, &given);
        }
        let params: Vec<_> = data.operands.iter().map(|&v| self.activity.info(v).clone()).collect();
        let wanted: Vec<bool> = given.iter().map(Option::is_some).collect();
        let adjoint = self.driver.adjoint(callee, &params, &wanted)?;
        self.repeated.calls.insert((op, adjoint.id));
        let mut args = Vec::new();
        for (&operand, &is_looked_at) in data.operands.iter().zip(&*self.needs.looked_at(op)) {
            let ty = f.ty(operand);
            args.push(if is_looked_at { self.primal(operand) } else { self.build().zero(ty) });
        }
        args.extend(given.into_iter().flatten());
        for &i in &adjoint.addresses {
            if self.activity.state(data.operands[i]) == State::Maybe {
                return Err(AdjointError::ChosenAddress(data.span));
            }
            args.push(self.gradient_of(data.operands[i])?);
        }
        let types: Vec<Type> = adjoint.params.iter().map(|&i| f.ty(data.operands[i])).collect();
        let made = self.build().call(adjoint.id, &args, &types);
        for (position, &i) in adjoint.params.iter().enumerate() {
            let gradient = self.out.op(made).results[position];
            self.accumulate(data.operands[i], gradient);
        }
        Ok(())
    }

    /// Calls the function that gives a call's gradients.
    fn custom_gradient(&mut self, op: Op, gradient: FunctionId, given: &[Option<Value>]) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        self.repeated.customs.insert((op, gradient));
        let gradient = self.driver.copy(gradient)?;
        let mut args: Vec<Value> = data.operands.iter().map(|&v| self.primal(v)).collect();
        for (&result, given) in data.results.iter().zip(given) {
            let ty = f.ty(result);
            args.push(given.unwrap_or_else(|| self.build().zero(ty)));
        }
        let is_value = |v: &&Value| !matches!(f.ty(**v), Type::Array(_) | Type::Ref(_));
        for operand in &data.operands {
            let ty = f.ty(*operand);
            args.push(match ty {
                Type::Array(_) => {
                    let array = self.primal(*operand);
                    self.build().value(OpKind::GradArray, [array], ty)
                }
                Type::Ref(_) => self.gradient_of(*operand)?,
                _ => self.build().zero(ty),
            });
        }
        let values: Vec<Value> = data.operands.iter().filter(is_value).copied().collect();
        let types: Vec<Type> = values.iter().map(|&v| f.ty(v)).collect();
        let made = self.build().call(gradient, &args, &types);
        for (position, &value) in values.iter().enumerate() {
            let gradient = self.out.op(made).results[position];
            self.accumulate(value, gradient);
        }
        Ok(())
    }

    /// An integer constant of an index type.
    pub fn index(&mut self, value: i64, ty: Type) -> Value {
        let scalar = ty.as_scalar().expect("an index is a scalar");
        self.build().constant(Constant::Int(value.into()), scalar)
    }
}
