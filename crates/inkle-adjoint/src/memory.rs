//! Gradients of what is read from and written to arrays.

use inkle_ir::{AtomicOp, Builder, CmpOp, Op, OpKind, Type, UnaryOp, Value};

use crate::activity::{State, has_float};
use crate::error::AdjointError;
use crate::sweep::{Result, Sweep};

/// Adds `gradient` to memory.
fn add_to(b: &mut Builder<'_>, reference: Value, gradient: Value) {
    let Type::Struct(s) = b.ty(gradient) else {
        b.atomic(AtomicOp::Add, reference, gradient);
        return;
    };
    for (index, field) in s.fields.iter().enumerate() {
        if has_float(field.ty) {
            let part = b.extract(gradient, index as u32);
            let at = b.field(reference, index as u32);
            add_to(b, at, part);
        }
    }
}

/// The gradient in memory.
fn read(b: &mut Builder<'_>, reference: Value, ty: Type) -> Value {
    let Type::Struct(s) = ty else { return b.load(reference) };
    let mut whole = b.zero(ty);
    for (index, field) in s.fields.iter().enumerate() {
        if has_float(field.ty) {
            let at = b.field(reference, index as u32);
            let part = read(b, at, field.ty);
            whole = b.insert(whole, part, index as u32);
        }
    }
    whole
}

/// Makes the gradient in memory zero.
fn clear(b: &mut Builder<'_>, reference: Value, ty: Type) {
    let Type::Struct(s) = ty else {
        let zero = b.zero(ty);
        b.store(reference, zero);
        return;
    };
    for (index, field) in s.fields.iter().enumerate() {
        if has_float(field.ty) {
            let at = b.field(reference, index as u32);
            clear(b, at, field.ty);
        }
    }
}

impl Sweep<'_, '_> {
    /// The array that an address lies in.
    fn array_of(&self, reference: Value) -> Result<Value> {
        let mut at = reference;
        while let Some(data) = self.f.defining_op(at) {
            match data.kind {
                OpKind::Field(_) | OpKind::Comp => at = data.operands[0],
                OpKind::Elem => return Ok(data.operands[0]),
                _ => break,
            }
        }
        Err(AdjointError::ChosenAddress(self.span))
    }

    /// The address of the gradient of what lies at an address.
    pub fn gradient_of(&mut self, reference: Value) -> Result<Value> {
        if let Some(&address) = self.gradients.get(&reference) {
            return Ok(address);
        }
        let f = self.f;
        let data = f.defining_op(reference).ok_or(AdjointError::ChosenAddress(self.span))?;
        match data.kind {
            OpKind::Field(index) => {
                let whole = self.gradient_of(data.operands[0])?;
                Ok(self.build().field(whole, index))
            }
            OpKind::Comp => {
                let whole = self.gradient_of(data.operands[0])?;
                let index = self.primal(data.operands[1]);
                Ok(self.build().comp(whole, index))
            }
            OpKind::Elem => {
                let array = self.primal(data.operands[0]);
                let indices: Vec<Value> = data.operands[1..].iter().map(|&v| self.primal(v)).collect();
                let ty = self.out.ty(array);
                let mut b = self.build();
                let gradients = b.value(OpKind::GradArray, [array], ty);
                Ok(b.elem(gradients, &indices))
            }
            _ => Err(AdjointError::ChosenAddress(self.span)),
        }
    }

    /// Does something with the gradient of what lies at an address, unless the array has none. What comes out is a
    /// value of type `ty`, zero without a gradient.
    fn with_gradient(
        &mut self,
        reference: Value,
        ty: Option<Type>,
        act: impl FnOnce(&mut Self, Value) -> Result<Option<Value>>,
    ) -> Result<Option<Value>> {
        match self.activity.state(reference) {
            State::No => Ok(None),
            State::Clear | State::Keep => {
                let at = self.gradient_of(reference)?;
                act(self, at)
            }
            State::Maybe => {
                let array = self.array_of(reference)?;
                let array = self.primal(array);
                let array_type = self.out.ty(array);
                let mut b = self.build();
                let gradients = b.value(OpKind::GradArray, [array], array_type);
                let address = b.value(OpKind::Address, [gradients], Type::U64);
                let null = b.zero(Type::U64);
                let exists = b.cmp(CmpOp::Ne, address, null);
                let blocks = [self.out.add_block(), self.out.add_block()];
                self.in_block(blocks[0], |s| {
                    let at = s.gradient_of(reference)?;
                    let value = act(s, at)?;
                    s.build().effect(OpKind::Yield, value);
                    Ok(())
                })?;
                self.in_block(blocks[1], |s| {
                    let mut b = s.build();
                    let zero = ty.map(|ty| b.zero(ty));
                    b.effect(OpKind::Yield, zero);
                    Ok(())
                })?;
                let made = self.build().op(OpKind::If, [exists], ty, blocks);
                Ok(self.out.op(made).results.first().copied())
            }
        }
    }

    pub fn reverse_load(&mut self, op: Op) -> Result<()> {
        let data = self.f.op(op);
        let Some(gradient) = self.adjoints.remove(&data.results[0]) else { return Ok(()) };
        self.with_gradient(data.operands[0], None, |s, at| {
            add_to(&mut s.build(), at, gradient);
            Ok(None)
        })?;
        Ok(())
    }

    pub fn reverse_store(&mut self, op: Op) -> Result<()> {
        let data = self.f.op(op);
        let [reference, value] = data.operands[..] else { return Ok(()) };
        let ty = self.f.ty(value);
        let is_active = self.activity.is_active(value);
        let is_kept = self.activity.state(reference) == State::Keep;
        let gradient = self.with_gradient(reference, is_active.then_some(ty), |s, at| {
            let mut b = s.build();
            let gradient = is_active.then(|| read(&mut b, at, ty));
            // What was there before had no part in what comes after.
            if !is_kept {
                clear(&mut b, at, ty);
            }
            Ok(gradient)
        })?;
        if let Some(gradient) = gradient {
            self.accumulate(value, gradient);
        }
        Ok(())
    }

    pub fn reverse_atomic(&mut self, op: Op, kind: AtomicOp) -> Result<()> {
        let data = self.f.op(op);
        let [reference, value] = data.operands[..] else { return Ok(()) };
        let ty = self.f.ty(value);
        let old = data.results.first().and_then(|r| self.adjoints.remove(r));
        let is_active = self.activity.is_active(value);
        let is_kept = self.activity.state(reference) == State::Keep;
        let gradient = self.with_gradient(reference, is_active.then_some(ty), |s, at| {
            let gradient = match kind {
                AtomicOp::Min | AtomicOp::Max => Some(s.won(reference, value, at, is_kept)),
                AtomicOp::Sub => is_active.then(|| {
                    let mut b = s.build();
                    let gradient = read(&mut b, at, ty);
                    b.unary(UnaryOp::Neg, gradient)
                }),
                _ => is_active.then(|| read(&mut s.build(), at, ty)),
            };
            if kind == AtomicOp::Exch && !is_kept {
                clear(&mut s.build(), at, ty);
            }
            if let Some(old) = old {
                add_to(&mut s.build(), at, old);
            }
            Ok(gradient.filter(|_| is_active))
        })?;
        if let Some(gradient) = gradient {
            self.accumulate(value, gradient);
        }
        Ok(())
    }

    /// The gradient at `at` where the value is the minimum or maximum that memory now holds, else zero. It is taken away
    /// from there, so that of several equal values one gets it, and what was there before none of it.
    fn won(&mut self, reference: Value, value: Value, at: Value, is_kept: bool) -> Value {
        let (memory, own) = (self.primal(reference), self.primal(value));
        let mut b = self.build();
        let ty = b.ty(own);
        let last = b.load(memory);
        if ty.as_scalar().is_some() {
            return self.won_component(own, last, at, is_kept);
        }
        let count = ty.component_count().expect("atomics are on scalars and composites of them");
        let mut parts = Vec::new();
        for index in 0..count {
            let mut b = self.build();
            let [own, last] = [own, last].map(|v| b.extract(v, index));
            let place = b.i32(index as i32);
            let at = b.comp(at, place);
            parts.push(self.won_component(own, last, at, is_kept));
        }
        self.build().value(OpKind::Construct, parts, ty)
    }

    fn won_component(&mut self, own: Value, last: Value, at: Value, is_kept: bool) -> Value {
        let mut b = self.build();
        let ty = b.ty(own);
        let is_equal = b.cmp(CmpOp::Eq, own, last);
        if is_kept {
            let (gradient, zero) = (b.load(at), b.zero(ty));
            return b.select(is_equal, gradient, zero);
        }
        let blocks = [self.out.add_block(), self.out.add_block()];
        for (block, wins) in blocks.into_iter().zip([true, false]) {
            let mut b = Builder::new(&mut self.out, block);
            let zero = b.zero(ty);
            let given = if wins { b.atomic(AtomicOp::Exch, at, zero) } else { zero };
            b.effect(OpKind::Yield, [given]);
        }
        let made = self.build().op(OpKind::If, [is_equal], [ty], blocks);
        self.out.op(made).results[0]
    }
}
