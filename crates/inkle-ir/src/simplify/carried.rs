//! Stops carrying values that do not change.

use super::results::retain_results;
use super::substitution::Substitution;
use crate::ir::{Block, Function, Op};
use crate::op::OpKind;

/// Replaces carried values that every iteration passes on unchanged, and the loop's results for them, by what they
/// start from, and stops carrying them. Whether there were any.
pub fn fix_carried(function: &mut Function) -> bool {
    let body = function.body;
    let substitution = Substitution::new(function);
    let mut fixer = Fixer { function, substitution, fixed: Vec::new() };
    fixer.block(body);
    let Fixer { substitution, fixed, .. } = fixer;
    if fixed.is_empty() {
        return false;
    }
    substitution.apply_everywhere(function);
    for (op, keep) in fixed {
        retain_results(function, op, &keep);
    }
    true
}

struct Fixer<'f> {
    function: &'f Function,
    substitution: Substitution,
    /// Loops and, for each carried value, whether it stays.
    fixed: Vec<(Op, Vec<bool>)>,
}

impl Fixer<'_> {
    fn block(&mut self, block: Block) {
        for &op in &self.function.block(block).ops {
            // Inner loops first: what they pass on may be what the outer one does.
            for &inner in &self.function.op(op).blocks {
                self.block(inner);
            }
            match self.function.op(op).kind {
                OpKind::For => self.fix(op, 3, 1),
                OpKind::While => self.fix(op, 0, 0),
                _ => {}
            }
        }
    }

    /// A loop whose carried values start at operand `first` and at parameter `param` of its blocks.
    fn fix(&mut self, op: Op, first: usize, param: usize) {
        let function = self.function;
        let data = function.op(op);
        // The last block yields the next values.
        let Some(&body) = data.blocks.last() else { return };
        let Some(&last) = function.block(body).ops.last() else { return };
        let mut keep = vec![true; data.results.len()];
        for (index, &result) in data.results.iter().enumerate() {
            let init = self.substitution.resolve(data.operands[first + index]);
            let next = self.substitution.resolve(function.op(last).operands[index]);
            if next != init && next != function.block(body).params[param + index] {
                continue;
            }
            for &block in &data.blocks {
                self.substitution.set(function.block(block).params[param + index], init);
            }
            self.substitution.set(result, init);
            keep[index] = false;
        }
        if keep.contains(&false) {
            self.fixed.push((op, keep));
        }
    }
}
