//! Reciprocals of square roots.

use inkle_ir::{BinaryOp, Block, Constant, Function, OpData, OpKind, Scalar, UnaryOp, Value};

use super::{Frame, Lower, Result};
use crate::value::{Parts, Val};

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
            BinaryOp::Mul => self.cube_of_reciprocal_sqrt(frame, x, y),
            _ => Ok(None),
        }
    }

    /// On the GPU `1 / sqrt(x)` is one instruction, as accurate as the two roundings it replaces.
    fn reciprocal_sqrt(&mut self, frame: &Frame<'m>, x: Value, y: Value) -> Result<Option<Parts>> {
        if !self.machine.gpu || !(self.fuses || self.options.fast_math) {
            return Ok(None);
        }
        let Some(radicand) = quotient_radicand(frame.function, x, y) else { return Ok(None) };
        let result = self.unary(UnaryOp::Rsqrt, Scalar::F32, frame.get1(radicand)?)?;
        Ok(Some([result].into_iter().collect()))
    }

    /// With fast math and AVX-512, `r * r * r` for `r = 1 / sqrt(x)`, as forces that fall off with the square of a distance
    /// have it. A step that makes the estimate of the root's reciprocal exact and then the cube are six operations. The
    /// cube of the estimate, `e`, and one step from it are five: with `x e^2 = 1 + d`, `x^-1.5` is `e^3 (1 + d)^-1.5`, and
    /// `1 - 1.5 d` is that to 1.875 d^2, less than 2^-24 as `d` is below 2^-13.
    fn cube_of_reciprocal_sqrt(&mut self, frame: &Frame<'m>, x: Value, y: Value) -> Result<Option<Parts>> {
        if !self.options.fast_math || !self.machine.avx512 || self.lanes != 16 {
            return Ok(None);
        }
        let function = frame.function;
        let Some(radicand) = cube_radicand(function, x, y).or_else(|| cube_radicand(function, y, x)) else {
            return Ok(None);
        };
        let Val::Varying(x) = frame.get1(radicand)? else { return Ok(None) };
        let Some(estimate) = self.reciprocal_sqrt_estimate_512(x) else { return Ok(None) };
        let e = &self.e;
        let real = |value: f64| e.const_real(e.type_of(x), value);
        let square = e.fmul(estimate, estimate);
        let step = e.fsub(real(2.5), e.fmul(e.fmul(x, square), real(1.5)));
        let cube = e.fmul(e.fmul(square, estimate), step);
        Ok(Some([Val::Varying(cube)].into_iter().collect()))
    }
}

/// `v` if `x / y` is `1 / sqrt(v)`.
fn quotient_radicand(function: &Function, x: Value, y: Value) -> Option<Value> {
    let one = function.defining_op(x)?;
    let root = function.defining_op(y)?;
    let is_one = matches!(one.kind, OpKind::Const(Constant::Float(one)) if one == 1.0);
    (is_one && root.kind == OpKind::Unary(UnaryOp::Sqrt)).then(|| root.operands[0])
}

/// `v` if `x` is `r * r`, `y` is `r`, and `r` is `1 / sqrt(v)` and serves for nothing else.
fn cube_radicand(function: &Function, x: Value, y: Value) -> Option<Value> {
    let square = function.defining_op(x)?;
    if square.kind != OpKind::Binary(BinaryOp::Mul) || square.operands.iter().any(|&v| v != y) {
        return None;
    }
    let root = function.defining_op(y)?;
    let radicand = match (&root.kind, root.operands.as_slice()) {
        (OpKind::Unary(UnaryOp::Rsqrt), &[v]) => v,
        (OpKind::Binary(BinaryOp::Div), &[one, root]) => quotient_radicand(function, one, root)?,
        _ => return None,
    };
    (uses(function, x) == 1 && uses(function, y) == 3).then_some(radicand)
}

/// How often operations take a value.
fn uses(function: &Function, value: Value) -> usize {
    let ops = (0..function.block_count()).flat_map(|block| &function.block(Block::new(block)).ops);
    let count = |data: &OpData| data.operands.iter().filter(|&&v| v == value).count();
    ops.map(|&op| count(function.op(op))).sum()
}
