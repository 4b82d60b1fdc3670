//! Reciprocals of square roots.

use inkle_ir::{BinaryOp, Constant, Function, OpKind, Scalar, UnaryOp, Value};

use super::{Frame, Lower, Result};
use crate::value::Parts;

impl<'m> Lower<'_, 'm> {
    /// What a division or a product of f32 is by way of reciprocals of square roots, where that is less to do.
    pub fn by_reciprocal_sqrt(
        &mut self,
        frame: &Frame<'m>,
        op: BinaryOp,
        x: Value,
        y: Value,
    ) -> Result<Option<Parts>> {
        if frame.function.ty(x).as_scalar() != Some(Scalar::F32) {
            return Ok(None);
        }
        match op {
            BinaryOp::Div => self.reciprocal_sqrt(frame, x, y),
            _ => Ok(None),
        }
    }

    /// On the GPU `1 / sqrt(x)` is one instruction, as accurate as the two roundings it replaces.
    fn reciprocal_sqrt(&mut self, frame: &Frame<'m>, x: Value, y: Value) -> Result<Option<Parts>> {
        if !self.machine.gpu || !(self.options.fuse_fp || self.options.fast_math) {
            return Ok(None);
        }
        let Some(radicand) = quotient_radicand(frame.function, x, y) else { return Ok(None) };
        let result = self.unary(UnaryOp::Rsqrt, Scalar::F32, frame.get1(radicand)?)?;
        Ok(Some([result].into_iter().collect()))
    }
}

/// `v` if `x / y` is `1 / sqrt(v)`.
fn quotient_radicand(function: &Function, x: Value, y: Value) -> Option<Value> {
    let one = function.defining_op(x)?;
    let root = function.defining_op(y)?;
    let is_one = matches!(one.kind, OpKind::Const(Constant::Float(one)) if one == 1.0);
    (is_one && root.kind == OpKind::Unary(UnaryOp::Sqrt)).then(|| root.operands[0])
}
