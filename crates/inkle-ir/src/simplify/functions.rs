use crate::ir::{Block, FunctionId, Module};
use crate::op::OpKind;

/// Removes the functions that the last one, the kernel, does not reach through calls.
pub fn remove_uncalled(module: &mut Module) {
    let count = module.functions.len();
    let mut reached = vec![false; count];
    if let Some(kernel) = reached.last_mut() {
        *kernel = true;
    }
    // Callees come before callers, so one walk from the end meets every caller before its callees.
    for caller in (0..count).rev().filter(|_| count > 1) {
        if reached[caller] {
            each_callee(module, caller, |callee| reached[callee.index()] = true);
        }
    }
    if reached.iter().all(|&r| r) {
        return;
    }
    let mut positions = Vec::with_capacity(count);
    let mut kept = 0;
    for &reached in &reached {
        positions.push(kept);
        kept += usize::from(reached);
    }
    let mut is_reached = reached.iter();
    module.functions.retain(|_| is_reached.next() == Some(&true));
    for caller in 0..module.functions.len() {
        each_callee(module, caller, |callee| *callee = FunctionId::new(positions[callee.index()]));
    }
}

/// Hands every callee of a function to `change`.
fn each_callee(module: &mut Module, caller: usize, mut change: impl FnMut(&mut FunctionId)) {
    let function = &mut module.functions[caller];
    let mut stack: Vec<Block> = vec![function.body];
    while let Some(block) = stack.pop() {
        for index in 0..function.block(block).ops.len() {
            let op = function.block(block).ops[index];
            let data = function.op_mut(op);
            if let OpKind::Call(callee) = &mut data.kind {
                change(callee);
            }
            stack.extend(&data.blocks);
        }
    }
}
