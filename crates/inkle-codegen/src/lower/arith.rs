//! Constants, arithmetic and comparisons of single parts.

use inkle_ir::{BinaryOp, CmpOp, Constant, OpKind, Scalar, ScalarKind, UnaryOp};

use super::{Lower, Result};
use crate::emitter::{Int, Real, V};
use crate::error::CodegenError;
use crate::value::Val;

/// Whether an operation costs so much that doing it in vain is worse than a branch.
pub(super) fn is_slow(kind: &OpKind) -> bool {
    match kind {
        OpKind::Unary(op) => is_math(*op) || matches!(op, UnaryOp::Sqrt | UnaryOp::Rsqrt),
        OpKind::Binary(op) => {
            matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem | BinaryOp::Pow | BinaryOp::Atan2)
        }
        _ => false,
    }
}

/// Whether an operation is a function of the math library.
pub(crate) fn is_math(op: UnaryOp) -> bool {
    use UnaryOp::*;
    matches!(
        op,
        Sin | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Exp
            | Exp2
            | Log
            | Log2
            | Log10
            | Cbrt
            | Erf
            | Erfc
            | Erfinv
            | Erfcinv
    )
}

/// Whether an operation, whose result has the scalars that `scalar` gives, calls the math library.
pub(crate) fn is_library_call(kind: &OpKind, scalar: impl FnOnce() -> Option<Scalar>) -> bool {
    match kind {
        OpKind::Unary(op) => is_math(*op),
        OpKind::Binary(BinaryOp::Pow | BinaryOp::Atan2) => true,
        OpKind::Binary(BinaryOp::Rem) => scalar().is_some_and(Scalar::is_float),
        _ => false,
    }
}

impl<'m> Lower<'_, 'm> {
    /// A constant in a register.
    pub fn constant(&self, constant: Constant, scalar: Scalar) -> V {
        let ty = self.scalar_type(scalar);
        match constant.convert(scalar) {
            Constant::Bool(b) => self.e.const_int(ty, b.into()),
            Constant::Int(i) => self.e.const_int(ty, i as i64),
            Constant::Float(f) => match scalar {
                Scalar::F16 if !self.machine.gpu => self.e.const_int(ty, half_bits(f)),
                Scalar::BF16 if !self.machine.gpu => self.e.const_int(ty, bfloat_bits(f)),
                _ => self.e.const_real(ty, f),
            },
        }
    }

    /// Whether arithmetic on this scalar is done in f32 and rounded back.
    fn promotes(&self, scalar: Scalar) -> bool {
        matches!(scalar, Scalar::F16 | Scalar::BF16) && !self.machine.gpu
    }

    pub fn unary(&mut self, op: UnaryOp, scalar: Scalar, x: Val) -> Result<Val> {
        if scalar.is_float() != is_float_op(op) && !matches!(op, UnaryOp::Neg | UnaryOp::Abs) {
            return Err(CodegenError::broken(format!("{op} on {scalar}")));
        }
        if let (UnaryOp::Neg, Val::Linear { base, stride }) = (op, x)
            && scalar.is_int()
        {
            return Ok(Val::Linear { base: self.e.neg(base), stride: stride.wrapping_neg() });
        }
        if is_math(op) {
            return self.math_unary(op, scalar, x);
        }
        let mut failed = None;
        let result = self.map([x], |l, [x]| match l.unary_value(op, scalar, x) {
            Ok(v) => v,
            Err(e) => {
                failed = Some(e);
                x
            }
        });
        failed.map_or(Ok(result), Err)
    }

    fn unary_value(&mut self, op: UnaryOp, scalar: Scalar, x: V) -> Result<V> {
        let ty = self.e.type_of(x);
        if matches!(scalar, Scalar::F16 | Scalar::BF16) {
            let bits = |l: &Self| l.e.bitcast(x, l.e.type_like(l.e.int(16), x));
            let back = |l: &Self, v: V| l.e.bitcast(v, ty);
            match op {
                UnaryOp::Neg => {
                    let b = bits(self);
                    let flipped = self.e.xor(b, self.e.const_int(self.e.type_of(b), 0x8000));
                    return Ok(back(self, flipped));
                }
                UnaryOp::Abs => {
                    let b = bits(self);
                    let cleared = self.e.and(b, self.e.const_int(self.e.type_of(b), 0x7fff));
                    return Ok(back(self, cleared));
                }
                _ => {
                    let wide = self.half_to_f32(x, scalar);
                    let result = self.unary_value(op, Scalar::F32, wide)?;
                    return Ok(if op.is_test() { result } else { self.f32_to_half(result, scalar) });
                }
            }
        }
        let e = &self.e;
        Ok(match op {
            UnaryOp::Neg if scalar.is_float() => e.fneg(x),
            UnaryOp::Neg => e.neg(x),
            UnaryOp::Not | UnaryOp::Invert => e.not(x),
            UnaryOp::Abs if scalar.is_float() => e.intrinsic("llvm.fabs", &[ty], &[x]),
            UnaryOp::Abs if scalar.is_signed() => e.intrinsic("llvm.abs", &[ty], &[x, e.i1(false)]),
            UnaryOp::Abs => x,
            UnaryOp::Sqrt => e.intrinsic("llvm.sqrt", &[ty], &[x]),
            UnaryOp::Rsqrt if self.machine.gpu => {
                let name = if scalar == Scalar::F32 {
                    "llvm.nvvm.rsqrt.approx.f"
                } else {
                    "llvm.nvvm.rsqrt.approx.d"
                };
                self.each_lane(&[x], |l, x| l.e.intrinsic(name, &[], x))
            }
            UnaryOp::Rsqrt => {
                let root = e.intrinsic("llvm.sqrt", &[ty], &[x]);
                e.fdiv(e.const_real(ty, 1.0), root)
            }
            UnaryOp::Floor => e.intrinsic("llvm.floor", &[ty], &[x]),
            UnaryOp::Ceil => e.intrinsic("llvm.ceil", &[ty], &[x]),
            UnaryOp::Trunc => e.intrinsic("llvm.trunc", &[ty], &[x]),
            UnaryOp::Round => e.intrinsic("llvm.round", &[ty], &[x]),
            UnaryOp::Rint => e.intrinsic("llvm.rint", &[ty], &[x]),
            UnaryOp::IsNan => e.fcmp(Real::LLVMRealUNO, x, x),
            UnaryOp::IsInf | UnaryOp::IsFinite => {
                let magnitude = e.intrinsic("llvm.fabs", &[ty], &[x]);
                let infinity = e.const_real(ty, f64::INFINITY);
                let test = if op == UnaryOp::IsInf { Real::LLVMRealOEQ } else { Real::LLVMRealOLT };
                e.fcmp(test, magnitude, infinity)
            }
            UnaryOp::Popcount => e.intrinsic("llvm.ctpop", &[ty], &[x]),
            UnaryOp::Clz => e.intrinsic("llvm.ctlz", &[ty], &[x, e.i1(false)]),
            UnaryOp::Ctz => e.intrinsic("llvm.cttz", &[ty], &[x, e.i1(false)]),
            _ => return Err(CodegenError::broken(format!("{op} is not arithmetic"))),
        })
    }

    pub fn binary(&mut self, op: BinaryOp, scalar: Scalar, x: Val, y: Val) -> Result<Val> {
        if scalar.is_int()
            && let Some(linear) = self.linear_binary(op, scalar, x, y)
        {
            return Ok(linear);
        }
        match op {
            BinaryOp::Pow | BinaryOp::Atan2 if scalar.is_float() => {
                return self.math_binary(op, scalar, x, y);
            }
            BinaryOp::Rem if scalar.is_float() => return self.math_binary(op, scalar, x, y),
            BinaryOp::Pow | BinaryOp::Atan2 => return Err(CodegenError::broken(format!("{op} on {scalar}"))),
            _ => {}
        }
        let mut failed = None;
        let result = self.map([x, y], |l, [x, y]| match l.binary_value(op, scalar, x, y) {
            Ok(v) => v,
            Err(e) => {
                failed = Some(e);
                x
            }
        });
        failed.map_or(Ok(result), Err)
    }

    /// Keeps `base + lane * stride` in that form through sums and products by constants.
    fn linear_binary(&mut self, op: BinaryOp, scalar: Scalar, x: Val, y: Val) -> Option<Val> {
        let combine = |l: &mut Self, a: V, b: V| l.integer(op, scalar, a, b).ok();
        match (op, x, y) {
            (BinaryOp::Add | BinaryOp::Sub, Val::Linear { base, stride }, Val::Uniform(b)) => {
                Some(Val::Linear { base: combine(self, base, b)?, stride })
            }
            (BinaryOp::Add, Val::Uniform(a), Val::Linear { base, stride }) => {
                Some(Val::Linear { base: combine(self, a, base)?, stride })
            }
            (BinaryOp::Sub, Val::Uniform(a), Val::Linear { base, stride }) => {
                Some(Val::Linear { base: combine(self, a, base)?, stride: stride.wrapping_neg() })
            }
            (BinaryOp::Mul, Val::Linear { base, stride }, Val::Uniform(k))
            | (BinaryOp::Mul, Val::Uniform(k), Val::Linear { base, stride }) => {
                let factor = self.e.as_const_int(k)?;
                Some(Val::Linear { base: combine(self, base, k)?, stride: stride.checked_mul(factor)? })
            }
            _ => None,
        }
    }

    fn binary_value(&mut self, op: BinaryOp, scalar: Scalar, x: V, y: V) -> Result<V> {
        match scalar.kind() {
            ScalarKind::Float => self.float(op, scalar, x, y),
            ScalarKind::Bool => match op {
                BinaryOp::And | BinaryOp::Mul | BinaryOp::Min => Ok(self.e.and(x, y)),
                BinaryOp::Or | BinaryOp::Max => Ok(self.e.or(x, y)),
                BinaryOp::Xor => Ok(self.e.xor(x, y)),
                _ => Err(CodegenError::broken(format!("{op} on bool"))),
            },
            ScalarKind::Signed | ScalarKind::Unsigned => self.integer(op, scalar, x, y),
        }
    }

    fn float(&mut self, op: BinaryOp, scalar: Scalar, x: V, y: V) -> Result<V> {
        if self.promotes(scalar)
            || (scalar == Scalar::BF16 && !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul))
        {
            let (a, b) = (self.half_to_f32(x, scalar), self.half_to_f32(y, scalar));
            let result = self.float(op, Scalar::F32, a, b)?;
            return Ok(self.f32_to_half(result, scalar));
        }
        let e = &self.e;
        let ty = e.type_of(x);
        Ok(match op {
            BinaryOp::Add => e.fadd(x, y),
            BinaryOp::Sub => e.fsub(x, y),
            BinaryOp::Mul => e.fmul(x, y),
            BinaryOp::Div => e.fdiv(x, y),
            BinaryOp::FloorDiv => {
                let quotient = e.fdiv(x, y);
                e.intrinsic("llvm.floor", &[ty], &[quotient])
            }
            BinaryOp::Min => self.float_min_max(Real::LLVMRealOLT, "llvm.minnum", x, y),
            BinaryOp::Max => self.float_min_max(Real::LLVMRealOGT, "llvm.maxnum", x, y),
            _ => return Err(CodegenError::broken(format!("{op} on {scalar}"))),
        })
    }

    /// The smaller or larger float; of a number and NaN the number.
    pub fn float_min_max(&mut self, better: Real, intrinsic: &str, x: V, y: V) -> V {
        if self.machine.min_max {
            return self.e.intrinsic(intrinsic, &[self.e.type_of(x)], &[x, y]);
        }
        // LLVM sometimes calls C's fmin and fmax for the intrinsics on x86.
        let chosen = match better {
            Real::LLVMRealOLT => self.smaller_512(x, y),
            _ => self.larger_512(x, y),
        };
        let chosen = chosen.unwrap_or_else(|| {
            let first = self.e.fcmp(better, x, y);
            self.e.select(first, x, y)
        });
        let y_is_nan = self.e.fcmp(Real::LLVMRealUNO, y, y);
        self.e.select(y_is_nan, x, chosen)
    }

    fn integer(&mut self, op: BinaryOp, scalar: Scalar, x: V, y: V) -> Result<V> {
        let signed = scalar.is_signed();
        let ty = self.e.type_of(x);
        let e = &self.e;
        Ok(match op {
            BinaryOp::Add => e.add(x, y),
            BinaryOp::Sub => e.sub(x, y),
            BinaryOp::Mul => e.mul(x, y),
            BinaryOp::Div => self.divide(scalar, x, y),
            BinaryOp::Rem => self.remainder(scalar, x, y),
            BinaryOp::FloorDiv => self.floor_divide(scalar, x, y),
            BinaryOp::Min => e.intrinsic(if signed { "llvm.smin" } else { "llvm.umin" }, &[ty], &[x, y]),
            BinaryOp::Max => e.intrinsic(if signed { "llvm.smax" } else { "llvm.umax" }, &[ty], &[x, y]),
            BinaryOp::And => e.and(x, y),
            BinaryOp::Or => e.or(x, y),
            BinaryOp::Xor => e.xor(x, y),
            BinaryOp::Shl | BinaryOp::Shr => {
                // LLVM's shifts by the width or more are poison, which spreads; the IR's are merely unspecified.
                let bits = i64::from(scalar.size()) * 8;
                let amount = e.and(y, e.const_int(ty, bits - 1));
                match op {
                    BinaryOp::Shl => e.shl(x, amount),
                    _ if signed => e.ashr(x, amount),
                    _ => e.lshr(x, amount),
                }
            }
            BinaryOp::Pow | BinaryOp::Atan2 => return Err(CodegenError::broken(format!("{op} on {scalar}"))),
        })
    }

    pub fn compare(&mut self, op: CmpOp, scalar: Scalar, x: Val, y: Val) -> Val {
        self.map([x, y], |l, [x, y]| {
            if scalar.is_float() {
                let (a, b) = (l.half_to_f32(x, scalar), l.half_to_f32(y, scalar));
                let predicate = match op {
                    CmpOp::Eq => Real::LLVMRealOEQ,
                    CmpOp::Ne => Real::LLVMRealUNE,
                    CmpOp::Lt => Real::LLVMRealOLT,
                    CmpOp::Le => Real::LLVMRealOLE,
                    CmpOp::Gt => Real::LLVMRealOGT,
                    CmpOp::Ge => Real::LLVMRealOGE,
                };
                return l.e.fcmp(predicate, a, b);
            }
            let signed = scalar.is_signed();
            let predicate = match op {
                CmpOp::Eq => Int::LLVMIntEQ,
                CmpOp::Ne => Int::LLVMIntNE,
                CmpOp::Lt if signed => Int::LLVMIntSLT,
                CmpOp::Lt => Int::LLVMIntULT,
                CmpOp::Le if signed => Int::LLVMIntSLE,
                CmpOp::Le => Int::LLVMIntULE,
                CmpOp::Gt if signed => Int::LLVMIntSGT,
                CmpOp::Gt => Int::LLVMIntUGT,
                CmpOp::Ge if signed => Int::LLVMIntSGE,
                CmpOp::Ge => Int::LLVMIntUGE,
            };
            l.e.icmp(predicate, x, y)
        })
    }
}

/// Whether an operation takes floats only.
fn is_float_op(op: UnaryOp) -> bool {
    !matches!(
        op,
        UnaryOp::Neg
            | UnaryOp::Not
            | UnaryOp::Invert
            | UnaryOp::Abs
            | UnaryOp::Popcount
            | UnaryOp::Clz
            | UnaryOp::Ctz
    )
}

/// The bits of a value that f16 holds exactly.
fn half_bits(value: f64) -> i64 {
    i64::from(half::f16::from_f64(value).to_bits())
}

/// The bits of a value that bf16 holds exactly.
fn bfloat_bits(value: f64) -> i64 {
    i64::from(half::bf16::from_f64(value).to_bits())
}
