//! Whether a kernel's numbers must be computed as they are written.
//!
//! Which products and sums are fused to one operation is LLVM's decision, and it may decide otherwise in another kernel. Where
//! the same number is computed in two places and compared, nothing is fused. So it is with minima and maxima of atomic
//! updates: the backward pass computes the values of all threads again, and compares them with the one that memory holds.

use inkle_ir::{AtomicOp, CmpOp, Function, Module, OpKind, Scalar, Value};

use crate::lower::for_each_function_op;

/// Whether floats that the kernel computes are compared for equality, in it or by its backward pass.
pub(crate) fn compares_exactly(module: &Module) -> bool {
    let mut found = false;
    for_each_function_op(module, |function, data| {
        let is_float = |v: &Value| function.ty(*v).scalar().is_some_and(Scalar::is_float);
        found |= match (&data.kind, data.operands.as_slice()) {
            (OpKind::Atomic(AtomicOp::Min | AtomicOp::Max), [_, value]) => is_float(value),
            (OpKind::Cmp(CmpOp::Eq | CmpOp::Ne), [a, b]) => {
                is_float(a) && ![a, b].into_iter().any(|v| is_constant(function, *v))
            }
            _ => false,
        };
    });
    found
}

fn is_constant(function: &Function, value: Value) -> bool {
    function.defining_op(value).is_some_and(|data| matches!(data.kind, OpKind::Const(_) | OpKind::Zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_met_whatever_is_fused() {
        let compares = |then: &str| {
            let text = format!(
                "kernel @k(%a: array<f32, 1>, %x: f32) {{
                   %i = tid 0 : i32
                   %e = elem %a, %i : ref<f32>
                   %v = load %e : f32
                   %p = mul %v, %x : f32
                   {then}
                   return
                 }}"
            );
            compares_exactly(&inkle_ir::parse(&text).expect("valid text"))
        };
        assert!(compares("%s = eq %p, %v : bool"));
        assert!(compares("%s = ne %p, %v : bool"));
        assert!(compares("%o = atomic_max %e, %p : f32"));
        assert!(!compares("%o = atomic_add %e, %p : f32"));
        assert!(!compares("%c = const 0.0 : f32\n %s = ne %p, %c : bool"));
        assert!(!compares("%s = eq %i, %i : bool"));
        assert!(!compares("%s = lt %p, %v : bool"));
    }
}
