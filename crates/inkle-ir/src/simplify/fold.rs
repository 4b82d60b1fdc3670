//! Folds what is known while building: constants, identities, decided branches and loops.

use super::rules::{Outcome, constant, rewrite};
use super::substitution::Substitution;
use crate::ir::{Block, Function, Op, Value};
use crate::op::{Constant, OpKind, UnaryOp};

/// Folds constants and exact identities, and puts decided branches, loops of one iteration and branches that
/// only choose values in the place of their operations.
pub fn fold(function: &mut Function) {
    let body = function.body;
    let substitution = Substitution::new(function);
    Folder { function, substitution }.block(body);
}

struct Folder<'f> {
    function: &'f mut Function,
    substitution: Substitution,
}

/// What is known of a branch or loop.
enum Structured {
    /// Nothing.
    Keep,
    /// The operation is what this block does; the values are the block's parameters.
    Inline(Block, Vec<Value>),
    /// A loop that never runs its body.
    Skip,
    /// A branch whose blocks do nothing.
    Choose,
}

impl Folder<'_> {
    fn block(&mut self, block: Block) {
        let ops = std::mem::take(&mut self.function.block_mut(block).ops);
        self.function.block_mut(block).ops.reserve(ops.len());
        for op in ops {
            self.op(block, op);
        }
    }

    /// Appends `op` to `block`, or what it folds to.
    fn op(&mut self, block: Block, op: Op) {
        self.substitution.apply(self.function, op);
        if self.function.op(op).blocks.is_empty() {
            return self.simple(block, op);
        }
        match self.structured(op) {
            Structured::Keep => self.function.block_mut(block).ops.push(op),
            Structured::Inline(inner, arguments) => self.inline(block, op, inner, arguments),
            Structured::Skip => {
                let first = if self.function.op(op).kind == OpKind::For { 3 } else { 0 };
                let inits = self.function.op(op).operands[first..].to_vec();
                self.replace_results(op, &inits);
            }
            Structured::Choose => self.choose(block, op),
        }
    }

    fn simple(&mut self, block: Block, op: Op) {
        // Each change makes the operation simpler; the bound only guards against a pair of rules that undo
        // each other.
        for _ in 0..16 {
            match rewrite(self.function, block, op) {
                Outcome::Keep => break,
                Outcome::Changed => {}
                Outcome::Replace(with) => {
                    let result = self.function.op(op).results[0];
                    return self.substitution.set(result, with);
                }
                Outcome::Drop => return,
            }
        }
        self.function.block_mut(block).ops.push(op);
    }

    /// Decides what to do with an operation that owns blocks, and folds these where they stay or are inlined later.
    fn structured(&mut self, op: Op) -> Structured {
        let data = self.function.op(op);
        let (operands, blocks) = (data.operands.clone(), data.blocks.clone());
        match data.kind {
            OpKind::If => {
                if let Some(Constant::Bool(c)) = constant(self.function, operands[0]) {
                    return Structured::Inline(blocks[usize::from(!c)], Vec::new());
                }
                if let Some(not) = self.function.defining_op(operands[0])
                    && not.kind == OpKind::Unary(UnaryOp::Not)
                {
                    let positive = not.operands[0];
                    let data = self.function.op_mut(op);
                    data.operands[0] = positive;
                    data.blocks.swap(0, 1);
                }
                let blocks = self.function.op(op).blocks.clone();
                self.block(blocks[0]);
                self.block(blocks[1]);
                self.unify(op);
                let empty = |b: Block| self.function.block(b).ops.len() == 1;
                if empty(blocks[0]) && empty(blocks[1]) { Structured::Choose } else { Structured::Keep }
            }
            OpKind::For => {
                let bound = |i: usize| match constant(self.function, operands[i]) {
                    Some(Constant::Int(i)) => Some(i),
                    _ => None,
                };
                match (bound(0), bound(1), bound(2)) {
                    (Some(lo), Some(hi), Some(step)) if step != 0 => {
                        let runs = |i: i128| if step > 0 { i < hi } else { i > hi };
                        if !runs(lo) {
                            return Structured::Skip;
                        }
                        if !runs(lo + step) {
                            let mut arguments = vec![operands[0]];
                            arguments.extend(&operands[3..]);
                            return Structured::Inline(blocks[0], arguments);
                        }
                    }
                    // An empty range is empty whatever its step.
                    _ if operands[0] == operands[1] => return Structured::Skip,
                    _ => {}
                }
                self.block(blocks[0]);
                Structured::Keep
            }
            _ => {
                self.block(blocks[0]);
                if let Some(condition) = self.yielded(blocks[0]).first()
                    && constant(self.function, *condition) == Some(Constant::Bool(false))
                {
                    return Structured::Inline(blocks[0], operands.to_vec());
                }
                self.block(blocks[1]);
                Structured::Keep
            }
        }
    }

    fn yielded(&self, block: Block) -> &[Value] {
        match self.function.block(block).ops.last() {
            Some(&last) => &self.function.op(last).operands,
            None => &[],
        }
    }

    /// Results that both blocks of an `if` yield from outside are these values.
    fn unify(&mut self, op: Op) {
        let blocks = self.function.op(op).blocks.clone();
        for index in 0..self.function.op(op).results.len() {
            let value = self.yielded(blocks[0])[index];
            // A value that both blocks can see is defined around them.
            if value == self.yielded(blocks[1])[index] {
                self.substitution.set(self.function.op(op).results[index], value);
            }
        }
    }

    /// Puts the operations of `inner` into `block` in place of `op`.
    fn inline(&mut self, block: Block, op: Op, inner: Block, arguments: Vec<Value>) {
        let params = std::mem::take(&mut self.function.block_mut(inner).params);
        for (param, argument) in params.into_iter().zip(&arguments) {
            self.substitution.set(param, *argument);
        }
        for inner_op in std::mem::take(&mut self.function.block_mut(inner).ops) {
            if self.function.op(inner_op).kind != OpKind::Yield {
                self.op(block, inner_op);
                continue;
            }
            self.substitution.apply(self.function, inner_op);
            let yielded = self.function.op(inner_op).operands.to_vec();
            match self.function.op(op).kind {
                // The first block of a `while` yields the condition.
                OpKind::While => self.replace_results(op, &arguments),
                _ => self.replace_results(op, &yielded),
            }
        }
    }

    fn replace_results(&mut self, op: Op, values: &[Value]) {
        for (index, &value) in values.iter().enumerate() {
            let result = self.function.op(op).results[index];
            self.substitution.set(result, value);
        }
    }

    /// An `if` with empty blocks is one `select` for each result.
    fn choose(&mut self, block: Block, op: Op) {
        let data = self.function.op(op);
        let (condition, span, blocks) = (data.operands[0], data.span, data.blocks.clone());
        for (index, result) in data.results.clone().into_iter().enumerate() {
            let (a, b) = (self.yielded(blocks[0])[index], self.yielded(blocks[1])[index]);
            if a == b {
                continue;
            }
            let ty = self.function.ty(a);
            let select = self.function.add_op(block, OpKind::Select, [condition, a, b], [ty], [], span);
            self.function.block_mut(block).ops.pop();
            self.substitution.set(result, self.function.op(select).results[0]);
            self.simple(block, select);
        }
    }
}
