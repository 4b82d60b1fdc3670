use crate::ir::{Block, Function, Op, Value, ValueDef};
use crate::op::OpKind;

/// Drops the results of an `if`, `for` or `while` that `keep` is false for, with all that makes them: what the
/// blocks yield, the blocks' parameters and the operands they start from.
pub(super) fn retain_results(f: &mut Function, op: Op, keep: &[bool]) {
    let (first_operand, first_param) = match f.op(op).kind {
        OpKind::For => (3, 1),
        OpKind::While => (0, 0),
        // What an `if` takes and its blocks' parameters stay.
        _ => (usize::MAX, usize::MAX),
    };
    let kept = |index: usize, first: usize| match index.checked_sub(first) {
        Some(position) => keep.get(position).copied().unwrap_or(true),
        None => true,
    };
    let blocks = f.op(op).blocks.clone();
    for (number, &block) in blocks.iter().enumerate() {
        let mut index = 0..;
        f.block_mut(block).params.retain(|_| kept(index.next().unwrap_or(0), first_param));
        number_params(f, block);
        // The first block of a `while` yields the condition.
        if f.op(op).kind == OpKind::While && number == 0 {
            continue;
        }
        if let Some(&last) = f.block(block).ops.last() {
            let mut index = 0..;
            f.op_mut(last).operands.retain(|_| kept(index.next().unwrap_or(0), 0));
        }
    }
    let mut index = 0..;
    f.op_mut(op).operands.retain(|_| kept(index.next().unwrap_or(0), first_operand));
    let mut index = 0..;
    f.op_mut(op).results.retain(|_| kept(index.next().unwrap_or(0), 0));
    for index in 0..f.op(op).results.len() {
        let result: Value = f.op(op).results[index];
        f.value_mut(result).def = ValueDef::Result { op, index: index as u32 };
    }
}

fn number_params(f: &mut Function, block: Block) {
    for index in 0..f.block(block).params.len() {
        let param = f.block(block).params[index];
        f.value_mut(param).def = ValueDef::Param { block, index: index as u32 };
    }
}
