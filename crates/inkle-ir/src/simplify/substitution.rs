use crate::ir::{Block, Function, Op, Value};

/// Values that others stand in for.
pub(super) struct Substitution {
    by: Vec<Option<Value>>,
}

impl Substitution {
    pub(super) fn new(function: &Function) -> Substitution {
        Substitution { by: vec![None; function.value_count()] }
    }

    /// From now on `with` stands in for `value`.
    pub(super) fn set(&mut self, value: Value, with: Value) {
        let with = self.resolve(with);
        debug_assert_ne!(value, with, "a value cannot stand in for itself");
        if value.index() >= self.by.len() {
            self.by.resize(value.index() + 1, None);
        }
        self.by[value.index()] = Some(with);
    }

    /// What stands in for `value`, or itself.
    pub(super) fn resolve(&self, mut value: Value) -> Value {
        while let Some(Some(with)) = self.by.get(value.index()) {
            value = *with;
        }
        value
    }

    /// Rewrites the operands of an operation.
    pub(super) fn apply(&self, function: &mut Function, op: Op) {
        for operand in &mut function.op_mut(op).operands {
            *operand = self.resolve(*operand);
        }
    }

    /// Rewrites the operands of all operations.
    pub(super) fn apply_everywhere(&self, function: &mut Function) {
        let mut stack: Vec<Block> = vec![function.body];
        while let Some(block) = stack.pop() {
            for index in 0..function.block(block).ops.len() {
                let op = function.block(block).ops[index];
                self.apply(function, op);
                stack.extend(&function.op(op).blocks);
            }
        }
    }
}
