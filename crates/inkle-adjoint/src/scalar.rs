//! The formulas of elementwise operations.

use crate::activity::has_float;
use inkle_ir::{BinaryOp, Builder, CmpOp, Constant, OpKind, Type, UnaryOp, Value};

/// `value` in all components.
fn splat(b: &mut Builder<'_>, ty: Type, value: f64) -> Value {
    let scalar = ty.scalar().expect("formulas are for floats");
    let part = b.constant(Constant::Float(value), scalar);
    if ty.as_scalar().is_some() {
        return part;
    }
    let count = ty.component_count().expect("it has components") as usize;
    b.value(OpKind::Construct, std::iter::repeat_n(part, count), ty)
}

/// One in all floats.
pub(crate) fn ones(b: &mut Builder<'_>, ty: Type) -> Value {
    match ty {
        Type::Struct(s) => {
            let mut whole = b.zero(ty);
            for (index, field) in s.fields.iter().enumerate() {
                if has_float(field.ty) {
                    let part = ones(b, field.ty);
                    whole = b.insert(whole, part, index as u32);
                }
            }
            whole
        }
        _ if has_float(ty) => splat(b, ty, 1.0),
        _ => b.zero(ty),
    }
}

/// Applies `f` to each component of the operands, which have one type.
fn each(
    b: &mut Builder<'_>,
    operands: &[Value],
    mut f: impl FnMut(&mut Builder<'_>, &[Value]) -> Value,
) -> Value {
    let ty = b.ty(operands[0]);
    if ty.as_scalar().is_some() {
        return f(b, operands);
    }
    let count = ty.component_count().expect("it has components");
    let parts: Vec<Value> = (0..count)
        .map(|index| {
            let parts: Vec<Value> = operands.iter().map(|&v| b.extract(v, index)).collect();
            f(b, &parts)
        })
        .collect();
    b.value(OpKind::Construct, parts, ty)
}

/// Emits products, quotients and the like of one type.
struct Calc<'b, 'f> {
    b: &'b mut Builder<'f>,
    ty: Type,
}

impl Calc<'_, '_> {
    fn c(&mut self, value: f64) -> Value {
        splat(self.b, self.ty, value)
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.b.binary(BinaryOp::Mul, a, b)
    }

    fn div(&mut self, a: Value, b: Value) -> Value {
        self.b.binary(BinaryOp::Div, a, b)
    }

    fn add(&mut self, a: Value, b: Value) -> Value {
        self.b.binary(BinaryOp::Add, a, b)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.b.binary(BinaryOp::Sub, a, b)
    }

    fn un(&mut self, op: UnaryOp, x: Value) -> Value {
        self.b.unary(op, x)
    }

    fn scaled(&mut self, factor: f64, x: Value) -> Value {
        let factor = self.c(factor);
        self.mul(x, factor)
    }

    /// `exp(sign * x * x)`.
    fn bell(&mut self, x: Value, sign: f64) -> Value {
        let square = self.mul(x, x);
        let exponent = if sign < 0.0 { self.un(UnaryOp::Neg, square) } else { square };
        self.un(UnaryOp::Exp, exponent)
    }
}

const TWO_OVER_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;
const HALF_SQRT_PI: f64 = 1.0 / TWO_OVER_SQRT_PI;

/// The gradient of the operand, when `x` is the operand, `r` the result and `g` the result's gradient. `x` or `r`
/// is only looked at where the table of rules says so. `None` where nothing flows.
pub(crate) fn unary(b: &mut Builder<'_>, op: UnaryOp, x: Value, r: Value, g: Value) -> Option<Value> {
    use UnaryOp as U;
    let ty = b.ty(g);
    let mut k = Calc { b, ty };
    Some(match op {
        U::Neg => k.un(U::Neg, g),
        U::Abs => each(k.b, &[x, g], |b, parts| {
            let zero = b.zero(b.ty(parts[0]));
            let is_negative = b.cmp(CmpOp::Lt, parts[0], zero);
            let negative = b.unary(U::Neg, parts[1]);
            b.select(is_negative, negative, parts[1])
        }),
        // At zero the slope is infinite, but where nothing flows it does not matter: a root that only one branch reads
        // is computed in front of both.
        U::Sqrt => each(k.b, &[r, g], |b, parts| {
            let ty = b.ty(parts[0]);
            let mut k = Calc { b, ty };
            let zero = k.c(0.0);
            let half = k.scaled(0.5, parts[1]);
            // Of roots the program often has the reciprocal already.
            let (one, root) = (k.c(1.0), parts[0]);
            let reciprocal = k.div(one, root);
            let over = k.mul(half, reciprocal);
            let flows = k.b.cmp(CmpOp::Ne, parts[1], zero);
            k.b.select(flows, over, zero)
        }),
        U::Rsqrt => {
            let square = k.mul(r, r);
            let cube = k.mul(square, r);
            let factor = k.scaled(-0.5, cube);
            k.mul(g, factor)
        }
        U::Sin => {
            let cos = k.un(U::Cos, x);
            k.mul(g, cos)
        }
        U::Cos => {
            let sin = k.un(U::Sin, x);
            let product = k.mul(g, sin);
            k.un(U::Neg, product)
        }
        U::Tan => {
            let (one, square) = (k.c(1.0), k.mul(r, r));
            let factor = k.add(one, square);
            k.mul(g, factor)
        }
        U::Asin | U::Acos => {
            let sign = if op == U::Acos { -1.0 } else { 1.0 };
            each(k.b, &[x, g], |b, parts| {
                let ty = b.ty(parts[0]);
                let mut k = Calc { b, ty };
                let (one, zero, square) = (k.c(1.0), k.c(0.0), k.mul(parts[0], parts[0]));
                let rest = k.sub(one, square);
                // Beyond one the argument is clamped, so nothing flows.
                let is_inside = k.b.cmp(CmpOp::Gt, rest, zero);
                let root = k.un(U::Sqrt, rest);
                let slope = k.div(parts[1], root);
                let signed = if sign < 0.0 { k.un(U::Neg, slope) } else { slope };
                k.b.select(is_inside, signed, zero)
            })
        }
        U::Atan => {
            let (one, square) = (k.c(1.0), k.mul(x, x));
            let below = k.add(one, square);
            k.div(g, below)
        }
        U::Sinh => {
            let cosh = k.un(U::Cosh, x);
            k.mul(g, cosh)
        }
        U::Cosh => {
            let sinh = k.un(U::Sinh, x);
            k.mul(g, sinh)
        }
        U::Tanh => {
            let (one, square) = (k.c(1.0), k.mul(r, r));
            let factor = k.sub(one, square);
            k.mul(g, factor)
        }
        U::Exp => k.mul(g, r),
        U::Exp2 => {
            let factor = k.scaled(std::f64::consts::LN_2, r);
            k.mul(g, factor)
        }
        U::Log => k.div(g, x),
        U::Log2 | U::Log10 => {
            let base = if op == U::Log2 { std::f64::consts::LN_2 } else { std::f64::consts::LN_10 };
            let below = k.scaled(base, x);
            k.div(g, below)
        }
        U::Cbrt => {
            let square = k.mul(r, r);
            let below = k.scaled(3.0, square);
            k.div(g, below)
        }
        U::Erf | U::Erfc => {
            let bell = k.bell(x, -1.0);
            let sign = if op == U::Erfc { -1.0 } else { 1.0 };
            let factor = k.scaled(sign * TWO_OVER_SQRT_PI, bell);
            k.mul(g, factor)
        }
        U::Erfinv | U::Erfcinv => {
            let bell = k.bell(r, 1.0);
            let sign = if op == U::Erfcinv { -1.0 } else { 1.0 };
            let factor = k.scaled(sign * HALF_SQRT_PI, bell);
            k.mul(g, factor)
        }
        U::Floor
        | U::Ceil
        | U::Trunc
        | U::Round
        | U::Rint
        | U::Not
        | U::Invert
        | U::IsNan
        | U::IsInf
        | U::IsFinite
        | U::Popcount
        | U::Clz
        | U::Ctz => return None,
    })
}

/// The operands, the result and its gradient.
pub(crate) struct Binary {
    pub a: Option<Value>,
    pub b: Option<Value>,
    pub r: Option<Value>,
    pub g: Value,
    /// Whether it is one divided by the second operand.
    pub is_reciprocal: bool,
    /// The scalar that all components of the second operand are, if that is known.
    pub scalar_divisor: Option<Value>,
}

/// The gradients of the operands; which of the values are there is what the table of rules says. Gradients that are
/// not `wanted` are not made.
pub(crate) fn binary(
    builder: &mut Builder<'_>,
    op: BinaryOp,
    values: &Binary,
    wanted: [bool; 2],
) -> [Option<Value>; 2] {
    let g = values.g;
    let ty = builder.ty(g);
    let (a, b, r) = (values.a, values.b, values.r);
    let there = |value: Option<Value>| value.expect("the table says that it is needed");
    let mut k = Calc { b: builder, ty };
    let mut first = None;
    let mut second = None;
    match op {
        BinaryOp::Add => (first, second) = (Some(g), Some(g)),
        BinaryOp::Sub => {
            first = Some(g);
            second = wanted[1].then(|| k.un(UnaryOp::Neg, g));
        }
        BinaryOp::Mul => {
            first = wanted[0].then(|| k.mul(g, there(b)));
            second = wanted[1].then(|| k.mul(g, there(a)));
        }
        BinaryOp::Div => {
            let over = match values.scalar_divisor {
                _ if values.is_reciprocal => k.mul(g, there(r)),
                // One division for all components.
                Some(divisor) => {
                    let one = splat(k.b, k.b.ty(divisor), 1.0);
                    let reciprocal = k.div(one, divisor);
                    let count = ty.component_count().expect("it has components") as usize;
                    let all = k.b.value(OpKind::Construct, std::iter::repeat_n(reciprocal, count), ty);
                    k.mul(g, all)
                }
                None => k.div(g, there(b)),
            };
            first = Some(over);
            second = wanted[1].then(|| {
                let product = k.mul(over, there(r));
                k.un(UnaryOp::Neg, product)
            });
        }
        BinaryOp::Rem => {
            first = Some(g);
            second = wanted[1].then(|| {
                let quotient = k.div(there(a), there(b));
                let whole = k.un(UnaryOp::Trunc, quotient);
                let product = k.mul(g, whole);
                k.un(UnaryOp::Neg, product)
            });
        }
        BinaryOp::Min | BinaryOp::Max => {
            let cmp = if op == BinaryOp::Min { CmpOp::Lt } else { CmpOp::Gt };
            let mut pick = |is_first: bool| {
                each(k.b, &[there(a), there(b), g], |b, parts| {
                    let zero = b.zero(b.ty(parts[0]));
                    let takes_first = b.cmp(cmp, parts[0], parts[1]);
                    if is_first {
                        b.select(takes_first, parts[2], zero)
                    } else {
                        b.select(takes_first, zero, parts[2])
                    }
                })
            };
            first = wanted[0].then(|| pick(true));
            second = wanted[1].then(|| pick(false));
        }
        BinaryOp::Pow => {
            first = wanted[0].then(|| {
                let one = k.c(1.0);
                let less = k.sub(there(b), one);
                let power = k.b.binary(BinaryOp::Pow, there(a), less);
                let factor = k.mul(there(b), power);
                k.mul(g, factor)
            });
            second = wanted[1].then(|| {
                each(k.b, &[there(a), there(r), g], |b, parts| {
                    let zero = b.zero(b.ty(parts[0]));
                    // Elsewhere the power is zero, or there is none near the exponent.
                    let is_positive = b.cmp(CmpOp::Gt, parts[0], zero);
                    let log = b.unary(UnaryOp::Log, parts[0]);
                    let factor = b.binary(BinaryOp::Mul, log, parts[1]);
                    let product = b.binary(BinaryOp::Mul, parts[2], factor);
                    b.select(is_positive, product, zero)
                })
            });
        }
        BinaryOp::Atan2 => {
            let (y, x) = (there(a), there(b));
            let (yy, xx) = (k.mul(y, y), k.mul(x, x));
            let below = k.add(yy, xx);
            // The origin has no angle.
            let over = each(k.b, &[g, below], |b, parts| {
                let zero = b.zero(b.ty(parts[0]));
                let over = b.binary(BinaryOp::Div, parts[0], parts[1]);
                let is_away = b.cmp(CmpOp::Gt, parts[1], zero);
                b.select(is_away, over, zero)
            });
            first = wanted[0].then(|| k.mul(over, x));
            second = wanted[1].then(|| {
                let product = k.mul(over, y);
                k.un(UnaryOp::Neg, product)
            });
        }
        BinaryOp::FloorDiv | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
        }
    }
    let keep = |value: Option<Value>, wanted: bool| if wanted { value } else { None };
    [keep(first, wanted[0]), keep(second, wanted[1])]
}
