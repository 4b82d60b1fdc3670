//! Evaluates operations on constants, where the result is the same on every device.

use half::{bf16, f16};

use crate::op::{BinaryOp, CmpOp, Constant, UnaryOp};
use crate::types::{Scalar, ScalarKind};

pub(super) fn unary(op: UnaryOp, x: Constant, scalar: Scalar) -> Option<Constant> {
    Some(match x {
        Constant::Bool(b) => match op {
            UnaryOp::Not => Constant::Bool(!b),
            _ => return None,
        },
        Constant::Int(i) => {
            let width = scalar.size() * 8;
            let bits = (i as u64) & (u64::MAX >> (64 - width));
            let result = match op {
                UnaryOp::Neg => -i,
                UnaryOp::Invert => !i,
                UnaryOp::Abs => i.abs(),
                UnaryOp::Popcount => bits.count_ones().into(),
                UnaryOp::Clz => (bits.leading_zeros() - (64 - width)).into(),
                UnaryOp::Ctz => bits.trailing_zeros().min(width).into(),
                _ => return None,
            };
            Constant::Int(result).convert(scalar)
        }
        Constant::Float(f) => Constant::Float(match op {
            UnaryOp::IsNan => return Some(Constant::Bool(f.is_nan())),
            UnaryOp::IsInf => return Some(Constant::Bool(f.is_infinite())),
            UnaryOp::IsFinite => return Some(Constant::Bool(f.is_finite())),
            UnaryOp::Neg => -f,
            UnaryOp::Abs => f.abs(),
            UnaryOp::Floor => f.floor(),
            UnaryOp::Ceil => f.ceil(),
            UnaryOp::Trunc => f.trunc(),
            UnaryOp::Round => f.round(),
            UnaryOp::Rint => f.round_ties_even(),
            UnaryOp::Sqrt => return Some(rounded(scalar, [f, 0.0], |[x, _]| x.sqrt(), |[x, _]| x.sqrt())),
            _ => return None,
        }),
    })
}

/// Evaluates in f64 or, for the narrower types, in f32 with one more rounding: f32 has more than twice the digits
/// of f16 and bf16, so for one sum, difference, product, quotient or root both roundings give what one would.
fn rounded<const N: usize>(
    scalar: Scalar,
    x: [f64; N],
    wide: impl Fn([f64; N]) -> f64,
    narrow: impl Fn([f32; N]) -> f32,
) -> Constant {
    Constant::Float(if scalar == Scalar::F64 { wide(x) } else { round(scalar, narrow(x.map(|x| x as f32))) })
}

fn round(scalar: Scalar, x: f32) -> f64 {
    match scalar {
        Scalar::F16 => f16::from_f32(x).to_f64(),
        Scalar::BF16 => bf16::from_f32(x).to_f64(),
        _ => f64::from(x),
    }
}

pub(super) fn binary(op: BinaryOp, a: Constant, b: Constant, scalar: Scalar) -> Option<Constant> {
    match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => Some(Constant::Bool(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            _ => return None,
        })),
        (Constant::Int(a), Constant::Int(b)) => int_binary(op, a, b, scalar),
        (Constant::Float(a), Constant::Float(b)) => float_binary(op, a, b, scalar),
        _ => None,
    }
}

fn int_binary(op: BinaryOp, a: i128, b: i128, scalar: Scalar) -> Option<Constant> {
    let width = i128::from(scalar.size() * 8);
    let result = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        // Products of two u64 may pass i128; the low bits are right all the same.
        BinaryOp::Mul => a.wrapping_mul(b),
        // Division by zero and shifts too far are unspecified: the device decides.
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Rem if b == 0 => return None,
        BinaryOp::Shl | BinaryOp::Shr if !(0..width).contains(&b) => return None,
        BinaryOp::Div => a / b,
        BinaryOp::FloorDiv => (a / b) - i128::from(a % b != 0 && (a < 0) != (b < 0)),
        BinaryOp::Rem => a % b,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => a << b,
        BinaryOp::Shr => a >> b,
        BinaryOp::Pow | BinaryOp::Atan2 => return None,
    };
    Some(Constant::Int(result).convert(scalar))
}

fn float_binary(op: BinaryOp, a: f64, b: f64, scalar: Scalar) -> Option<Constant> {
    let x = [a, b];
    Some(match op {
        BinaryOp::Add => rounded(scalar, x, |[a, b]| a + b, |[a, b]| a + b),
        BinaryOp::Sub => rounded(scalar, x, |[a, b]| a - b, |[a, b]| a - b),
        BinaryOp::Mul => rounded(scalar, x, |[a, b]| a * b, |[a, b]| a * b),
        BinaryOp::Div => rounded(scalar, x, |[a, b]| a / b, |[a, b]| a / b),
        BinaryOp::FloorDiv => match float_binary(BinaryOp::Div, a, b, scalar)? {
            Constant::Float(quotient) => Constant::Float(quotient.floor()),
            _ => return None,
        },
        // Exact in every format.
        BinaryOp::Rem => Constant::Float(a % b),
        // Of two zeros either may come back.
        BinaryOp::Min | BinaryOp::Max if a == b && a.to_bits() != b.to_bits() => return None,
        BinaryOp::Min => Constant::Float(a.min(b)),
        BinaryOp::Max => Constant::Float(a.max(b)),
        _ => return None,
    })
}

pub(super) fn cmp(op: CmpOp, a: Constant, b: Constant) -> Option<bool> {
    let order = match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => Some(a.cmp(&b)),
        (Constant::Int(a), Constant::Int(b)) => Some(a.cmp(&b)),
        (Constant::Float(a), Constant::Float(b)) => a.partial_cmp(&b),
        _ => return None,
    };
    Some(match op {
        CmpOp::Eq => order.is_some_and(|o| o.is_eq()),
        CmpOp::Ne => order.is_none_or(|o| o.is_ne()),
        CmpOp::Lt => order.is_some_and(|o| o.is_lt()),
        CmpOp::Le => order.is_some_and(|o| o.is_le()),
        CmpOp::Gt => order.is_some_and(|o| o.is_gt()),
        CmpOp::Ge => order.is_some_and(|o| o.is_ge()),
    })
}

pub(super) fn cast(x: Constant, to: Scalar) -> Option<Constant> {
    match (x, to) {
        // `convert` goes through f64, which would round twice.
        (Constant::Int(i), Scalar::F32) => Some(Constant::Float(f64::from(i as f32))),
        // Whether there is a stop at f32 shows only for numbers that f32 cannot hold.
        (Constant::Int(i), Scalar::F16 | Scalar::BF16) if i.unsigned_abs() > 1 << 24 => None,
        _ => Some(x.convert(to)),
    }
}

pub(super) fn bitcast(x: Constant, from: Scalar, to: Scalar) -> Option<Constant> {
    let bits = match (x, from) {
        (Constant::Int(i), _) => i as u64,
        // The payload of a NaN is not kept in a constant.
        (Constant::Float(f), _) if f.is_nan() => return None,
        (Constant::Float(f), Scalar::F64) => f.to_bits(),
        (Constant::Float(f), Scalar::F32) => u64::from((f as f32).to_bits()),
        (Constant::Float(f), Scalar::F16) => u64::from(f16::from_f64(f).to_bits()),
        (Constant::Float(f), Scalar::BF16) => u64::from(bf16::from_f64(f).to_bits()),
        _ => return None,
    };
    let float = match to {
        Scalar::F64 => f64::from_bits(bits),
        Scalar::F32 => f64::from(f32::from_bits(bits as u32)),
        Scalar::F16 => f16::from_bits(bits as u16).to_f64(),
        Scalar::BF16 => bf16::from_bits(bits as u16).to_f64(),
        _ => return Some(Constant::Int(bits.into()).convert(to)),
    };
    if float.is_nan() { None } else { Some(Constant::Float(float)) }
}

/// Whether each value of `from` is one of `to`, the way the cast makes it.
pub(super) fn is_lossless(from: Scalar, to: Scalar) -> bool {
    // The bits that hold an integer's magnitude, or that a float's whole numbers may have.
    let digits = |s: Scalar| match s {
        Scalar::Bool => 1,
        Scalar::F16 => 11,
        Scalar::BF16 => 8,
        Scalar::F32 => 24,
        Scalar::F64 => 53,
        int => int.size() * 8 - u32::from(int.is_signed()),
    };
    match (from.kind(), to.kind()) {
        _ if from == to => true,
        (_, ScalarKind::Bool) | (ScalarKind::Float, ScalarKind::Signed | ScalarKind::Unsigned) => false,
        (ScalarKind::Signed, ScalarKind::Unsigned) => false,
        (ScalarKind::Float, ScalarKind::Float) => {
            matches!((from, to), (_, Scalar::F64) | (Scalar::F16 | Scalar::BF16, Scalar::F32))
        }
        // The smallest i8 needs 7 digits like the largest, and so on.
        _ => digits(from) <= digits(to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_in_their_width() {
        let int = |i| Constant::Int(i);
        assert_eq!(binary(BinaryOp::Add, int(127), int(1), Scalar::I8), Some(int(-128)));
        assert_eq!(
            binary(BinaryOp::Mul, int(u64::MAX.into()), int(u64::MAX.into()), Scalar::U64),
            Some(int(1))
        );
        assert_eq!(binary(BinaryOp::Div, int(-128), int(-1), Scalar::I8), Some(int(-128)));
        assert_eq!(binary(BinaryOp::FloorDiv, int(-7), int(2), Scalar::I32), Some(int(-4)));
        assert_eq!(binary(BinaryOp::Rem, int(-7), int(2), Scalar::I32), Some(int(-1)));
        assert_eq!(binary(BinaryOp::Rem, int(7), int(0), Scalar::I32), None);
        assert_eq!(binary(BinaryOp::Shr, int(-8), int(1), Scalar::I32), Some(int(-4)));
        assert_eq!(binary(BinaryOp::Shl, int(1), int(32), Scalar::I32), None);
        assert_eq!(unary(UnaryOp::Clz, int(1), Scalar::I16), Some(int(15)));
        assert_eq!(unary(UnaryOp::Ctz, int(0), Scalar::U8), Some(int(8)));
        assert_eq!(unary(UnaryOp::Popcount, int(-1), Scalar::I8), Some(int(8)));
        assert_eq!(unary(UnaryOp::Abs, int(-128), Scalar::I8), Some(int(-128)));
    }

    #[test]
    fn floats_round_in_their_own_format() {
        let float = |f: f64| Constant::Float(f);
        let f32_sum = f64::from(0.1f32 + 0.2f32);
        let (a, b) = (float(f64::from(0.1f32)), float(f64::from(0.2f32)));
        assert_eq!(binary(BinaryOp::Add, a, b, Scalar::F32), Some(float(f32_sum)));
        assert_eq!(binary(BinaryOp::Add, float(2048.0), float(1.0), Scalar::F16), Some(float(2048.0)));
        assert_eq!(binary(BinaryOp::Min, float(0.0), float(-0.0), Scalar::F32), None);
        assert_eq!(binary(BinaryOp::Max, float(f64::NAN), float(1.0), Scalar::F32), Some(float(1.0)));
        assert_eq!(unary(UnaryOp::Round, float(2.5), Scalar::F32), Some(float(3.0)));
        assert_eq!(unary(UnaryOp::Rint, float(2.5), Scalar::F32), Some(float(2.0)));
        assert_eq!(unary(UnaryOp::Sin, float(0.0), Scalar::F32), None);
        // Through f64 this would be a tie and go to the even neighbour.
        let i = (1i128 << 60) + (1 << 36) + 1;
        assert_eq!(cast(Constant::Int(i), Scalar::F32), Some(float(f64::from(i as f32))));
    }

    #[test]
    fn bits_survive_a_bitcast() {
        let one = Constant::Float(1.0);
        assert_eq!(bitcast(one, Scalar::F32, Scalar::I32), Some(Constant::Int(0x3f80_0000)));
        assert_eq!(bitcast(Constant::Int(-1), Scalar::I32, Scalar::U32), Some(Constant::Int(0xffff_ffff)));
        assert_eq!(bitcast(Constant::Int(0x3c00), Scalar::U16, Scalar::F16), Some(one));
        assert_eq!(bitcast(Constant::Int(-1), Scalar::I32, Scalar::F32), None);
    }

    #[test]
    fn lossless_means_every_value() {
        use Scalar::{Bool, F16, F32, F64, I8, I32, I64, U8, U32, U64};
        for (from, to) in [(Bool, I8), (I8, I32), (U8, I32), (U32, I64), (I32, F64), (I8, F16), (F16, F32)] {
            assert!(is_lossless(from, to), "{from} {to}");
        }
        for (from, to) in [(I8, U64), (I32, F32), (I64, F64), (F32, I64), (F64, F32), (U32, I32), (I32, Bool)]
        {
            assert!(!is_lossless(from, to), "{from} {to}");
        }
    }
}
