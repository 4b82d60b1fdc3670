//! Whether the order of a kernel's atomic updates matters.

use inkle_ir::{AtomicOp, Function, Module, OpData, OpKind, Scalar, Value};

/// Whether what a kernel leaves in memory, or an update gives back, depends on the order of its atomic updates.
pub(crate) fn depends_on_order(module: &Module) -> bool {
    module.functions.iter().any(|function| {
        (0..function.block_count())
            .flat_map(|block| &function.block(inkle_ir::Block::new(block)).ops)
            .any(|&op| op_depends_on_order(function, function.op(op)))
    })
}

fn op_depends_on_order(function: &Function, data: &OpData) -> bool {
    let seen = || data.results.iter().any(|&r| is_used(function, r));
    match data.kind {
        OpKind::AtomicCas | OpKind::Atomic(AtomicOp::Exch) => true,
        OpKind::Atomic(AtomicOp::Add | AtomicOp::Sub) => {
            let scalar = data.operands.get(1).and_then(|&v| function.ty(v).scalar());
            scalar.is_none_or(Scalar::is_float) || seen()
        }
        OpKind::Atomic(_) => seen(),
        _ => false,
    }
}

fn is_used(function: &Function, value: Value) -> bool {
    (0..function.block_count())
        .flat_map(|block| &function.block(inkle_ir::Block::new(block)).ops)
        .any(|&op| function.op(op).operands.contains(&value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_integers_do_not_depend_on_the_order() {
        let depends = |ty: &str, op: &str, then: &str| {
            let text = format!(
                "kernel @k(%sums: array<{ty}, 1>, %v: {ty}) {{
                   %i = tid 0 : i32
                   %e = elem %sums, %i : ref<{ty}>
                   %old = {op} %e, %v : {ty}
                   {then}
                   return
                 }}"
            );
            depends_on_order(&inkle_ir::parse(&text).expect("valid text"))
        };
        assert!(!depends("i32", "atomic_add", ""));
        assert!(!depends("f32", "atomic_max", ""));
        assert!(depends("f32", "atomic_add", ""));
        assert!(depends("f64", "atomic_sub", ""));
        assert!(depends("i32", "atomic_exch", ""));
        // A place in a list, given out in the order of arrival.
        assert!(depends("i32", "atomic_add", "store %e, %old"));
    }
}
