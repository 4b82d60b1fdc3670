use crate::ir::{Block, FunctionId, Module};
use crate::op::OpKind;

/// Removes the functions that the last one, the kernel, does not reach through calls and links.
pub fn remove_uncalled(module: &mut Module) {
    let count = module.functions.len();
    if count < 2 {
        return;
    }
    let mut reached = vec![false; count];
    let mut work = vec![count - 1];
    while let Some(caller) = work.pop() {
        if !std::mem::replace(&mut reached[caller], true) {
            work.extend(module.functions[caller].links.iter().map(FunctionId::index));
            each_callee(module, caller, |callee| work.push(callee.index()));
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
        let moved = |id: FunctionId| FunctionId::new(positions[id.index()]);
        each_callee(module, caller, |callee| *callee = moved(*callee));
        module.functions[caller].links.iter_mut().for_each(|id| *id = moved(*id));
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
