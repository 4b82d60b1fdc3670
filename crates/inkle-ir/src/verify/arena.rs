//! V007 and V008: references between the arenas of a function.

use super::Checker;
use crate::MAX_NESTING;
use crate::ir::{Block, Op, Value, ValueDef};
use crate::op::OpKind;

impl Checker<'_> {
    /// Whether every reference holds. It keeps its own stack, so no depth of nesting is too much for it.
    pub(super) fn arenas(&mut self) -> bool {
        let function = self.function;
        let mut ok = true;
        let mut blocks = vec![false; function.block_count()];
        let mut ops = vec![false; function.op_count()];
        let mut values = vec![false; function.value_count()];
        if function.body.index() >= blocks.len() {
            self.report("V007", None, "the body does not exist");
            return false;
        }
        let mut stack: Vec<(Block, Option<Op>, usize)> = vec![(function.body, None, 0)];
        let mut deep = false;
        while let Some((block, owner, depth)) = stack.pop() {
            match blocks.get_mut(block.index()) {
                None => {
                    self.report("V007", owner, format!("{block} does not exist"));
                    ok = false;
                    continue;
                }
                Some(true) => {
                    self.report("V007", owner, format!("{block} has another owner"));
                    ok = false;
                    continue;
                }
                Some(seen) => *seen = true,
            }
            if depth >= MAX_NESTING && !deep {
                self.report("V008", None, format!("blocks are nested more than {MAX_NESTING} deep"));
                deep = true;
            }
            let data = function.block(block);
            for (index, &param) in data.params.iter().enumerate() {
                ok &= self.defined(param, ValueDef::Param { block, index: index as u32 }, owner, &mut values);
            }
            for &op in &data.ops {
                match ops.get_mut(op.index()) {
                    None => {
                        self.report("V007", owner, format!("{op} does not exist"));
                        ok = false;
                        continue;
                    }
                    Some(true) => {
                        self.report("V007", Some(op), "the operation is in a block already");
                        ok = false;
                        continue;
                    }
                    Some(seen) => *seen = true,
                }
                let op_data = function.op(op);
                for (index, &result) in op_data.results.iter().enumerate() {
                    ok &= self.defined(
                        result,
                        ValueDef::Result { op, index: index as u32 },
                        Some(op),
                        &mut values,
                    );
                }
                for (index, operand) in op_data.operands.iter().enumerate() {
                    if operand.index() >= values.len() {
                        self.report("V007", Some(op), format!("operand {} does not exist", index + 1));
                        ok = false;
                    }
                }
                if let OpKind::Call(callee) = op_data.kind
                    && callee.index() >= self.module.functions.len()
                {
                    self.report("V007", Some(op), "the callee does not exist");
                    ok = false;
                }
                stack.extend(op_data.blocks.iter().rev().map(|&inner| (inner, Some(op), depth + 1)));
            }
        }
        ok && !deep
    }

    fn defined(&mut self, value: Value, def: ValueDef, op: Option<Op>, values: &mut [bool]) -> bool {
        let problem = match values.get_mut(value.index()) {
            None => "does not exist",
            Some(true) => "is defined twice",
            Some(seen) => {
                *seen = true;
                if self.function.value(value).def == def {
                    return true;
                }
                "has another definition on record"
            }
        };
        self.report("V007", op, format!("a value defined here {problem}"));
        false
    }
}
