use crate::ir::{Function, OpData};
use crate::op::OpKind;

/// What a call of a function does besides its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effects {
    /// The results follow from the arguments: memory is neither read nor written.
    pub is_pure: bool,
    /// A call whose results have no use may be dropped: it writes nothing, says nothing, and ends.
    pub is_removable: bool,
}

/// The effects of `function`; `known` holds those of the module's functions before it.
pub fn effects(function: &Function, known: &[Effects]) -> Effects {
    if function.native().is_some() {
        return Effects { is_pure: false, is_removable: false };
    }
    let mut found = Effects { is_pure: true, is_removable: true };
    let mut stack = vec![function.body];
    while let Some(block) = stack.pop() {
        for &op in &function.block(block).ops {
            let data = function.op(op);
            found.is_removable &= is_removable(data, known);
            found.is_pure &= found.is_removable
                && match data.kind {
                    // Two calls give two arrays.
                    OpKind::Load | OpKind::Local(_) => false,
                    OpKind::Call(callee) => known.get(callee.index()).is_some_and(|e| e.is_pure),
                    _ => true,
                };
            stack.extend(&data.blocks);
        }
    }
    found
}

/// Whether an operation may be dropped when its results have no use; blocks are judged by what is in them, and
/// terminators go with their blocks.
pub(super) fn is_removable(data: &OpData, known: &[Effects]) -> bool {
    match data.kind {
        OpKind::Store
        | OpKind::Atomic(_)
        | OpKind::AtomicCas
        | OpKind::Print(_)
        | OpKind::Assert(_)
        | OpKind::Breakpoint => false,
        // It may not end.
        OpKind::While => false,
        OpKind::Call(callee) => known.get(callee.index()).is_some_and(|e| e.is_removable),
        _ => true,
    }
}
