//! Operators: typing rules, constant folding, lowering.

use inkle_diag::{Diagnostic, Span};
use inkle_ir::{BinaryOp, CmpOp, Constant, OpKind, Scalar, Type, UnaryOp, Value};

use super::assign::conversion;
use super::call::Args;
use super::codes;
use super::function::{FunctionCx, Origin};
use super::val::{R, Reported, Val};
use crate::env::{Binding, ConstValue, FunctionKey};
use crate::tree::{self, BinOp, UnOp};

/// The operator as written.
pub(super) fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::FloorDiv => "//",
        BinOp::Mod => "%",
        BinOp::Pow => "**",
        BinOp::MatMul => "@",
        BinOp::BitAnd => "&",
        BinOp::BitOr => "|",
        BinOp::BitXor => "^",
        BinOp::Shl => "<<",
        BinOp::Shr => ">>",
    }
}

fn ir_op(op: BinOp) -> Option<BinaryOp> {
    Some(match op {
        BinOp::Add => BinaryOp::Add,
        BinOp::Sub => BinaryOp::Sub,
        BinOp::Mul => BinaryOp::Mul,
        BinOp::Div => BinaryOp::Div,
        BinOp::FloorDiv => BinaryOp::FloorDiv,
        BinOp::Mod => BinaryOp::Rem,
        BinOp::Pow => BinaryOp::Pow,
        BinOp::BitAnd => BinaryOp::And,
        BinOp::BitOr => BinaryOp::Or,
        BinOp::BitXor => BinaryOp::Xor,
        BinOp::Shl => BinaryOp::Shl,
        BinOp::Shr => BinaryOp::Shr,
        BinOp::MatMul => return None,
    })
}

fn is_bitwise(op: BinOp) -> bool {
    matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor | BinOp::Shl | BinOp::Shr)
}

/// Folds two plain numbers as Python would, keeping all digits; `None` when it is left to run time.
fn fold(op: BinOp, a: &ConstValue, b: &ConstValue) -> Option<ConstValue> {
    match (a, b) {
        (ConstValue::Float(x), ConstValue::Float(y)) => Some(ConstValue::Float(match op {
            BinOp::Add => x + y,
            BinOp::Sub => x - y,
            BinOp::Mul => x * y,
            BinOp::Div if *y != 0.0 => x / y,
            BinOp::FloorDiv if *y != 0.0 => (x / y).floor(),
            BinOp::Mod if *y != 0.0 => x % y,
            BinOp::Pow => x.powf(*y),
            _ => return None,
        })),
        (ConstValue::Int(x), ConstValue::Int(y)) => {
            let (x, y) = (*x, *y);
            Some(ConstValue::Int(match op {
                BinOp::Add => x.checked_add(y)?,
                BinOp::Sub => x.checked_sub(y)?,
                BinOp::Mul => x.checked_mul(y)?,
                BinOp::Div => x.checked_div(y)?,
                BinOp::FloorDiv => x.checked_div(y)? - i128::from(x % y != 0 && (x < 0) != (y < 0)),
                BinOp::Mod => x.checked_rem(y)?,
                BinOp::BitAnd => x & y,
                BinOp::BitOr => x | y,
                BinOp::BitXor => x ^ y,
                BinOp::Shl if (0..63).contains(&y) => x.checked_mul(1i128 << y)?,
                BinOp::Shr if (0..63).contains(&y) => x >> y,
                _ => return None,
            }))
        }
        (ConstValue::Typed(Constant::Int(x), s), ConstValue::Typed(Constant::Int(y), t)) if s == t => {
            let folded = fold(op, &ConstValue::Int(*x), &ConstValue::Int(*y))?;
            Some(ConstValue::Typed(folded.scalar()?.convert(*s), *s))
        }
        // A typed integer, such as the index of an unrolled loop, with a plain one.
        (ConstValue::Typed(Constant::Int(_), Scalar::I32), ConstValue::Int(y)) => {
            fold(op, a, &ConstValue::Typed(Constant::Int(*y), Scalar::I32))
        }
        (ConstValue::Int(x), ConstValue::Typed(Constant::Int(_), Scalar::I32)) => {
            fold(op, &ConstValue::Typed(Constant::Int(*x), Scalar::I32), b)
        }
        _ => None,
    }
}

impl FunctionCx<'_, '_> {
    /// `a op b`.
    pub(super) fn binary(
        &mut self,
        op: BinOp,
        a: &Val,
        a_span: Span,
        b: &Val,
        b_span: Span,
        span: Span,
    ) -> R<Val> {
        if let (Val::Const(x), Val::Const(y)) = (a, b)
            && let Some(folded) = fold(op, x, y)
        {
            return Ok(Val::Const(folded));
        }
        if let (Val::Const(ConstValue::Str(x)), Val::Const(ConstValue::Str(y)), BinOp::Add) = (a, b, op) {
            return Ok(Val::Const(ConstValue::Str(format!("{x}{y}"))));
        }
        if let (Val::Tuple(x), Val::Tuple(y), BinOp::Add) = (a, b, op) {
            return Ok(Val::tuple(x.iter().chain(y.iter()).cloned().collect()));
        }
        let (Some(ta), Some(tb)) = (self.type_of(a), self.type_of(b)) else {
            return Err(self.operand_types(op, a, a_span, b, b_span, span));
        };
        if (ta.as_struct().is_some() || tb.as_struct().is_some())
            && let Some(key) = self.operator_function(op)
        {
            let args = Args { positional: vec![(a.clone(), a_span), (b.clone(), b_span)], ..Args::default() };
            return match self.call_user(key, args, span)? {
                Some(val) => Ok(val),
                None => Err(self.operand_types(op, a, a_span, b, b_span, span)),
            };
        }
        let outer = std::mem::replace(&mut self.span, span);
        let result = self.typed_binary(op, a, a_span, ta, b, b_span, tb, span);
        self.span = outer;
        result
    }

    /// The user's function that defines an operator for structs: `add` for `+` and so on.
    fn operator_function(&self, op: BinOp) -> Option<FunctionKey> {
        let Origin::User(key) = self.origin else { return None };
        let name = match op {
            BinOp::Add => "add",
            BinOp::Sub => "sub",
            BinOp::Mul => "mul",
            BinOp::Div => "div",
            BinOp::FloorDiv => "floordiv",
            BinOp::Mod => "mod",
            _ => return None,
        };
        match self.checker.env.resolve(key, name)? {
            Binding::Function(function) => Some(function),
            _ => None,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "two operands, each with its span and type")]
    fn typed_binary(
        &mut self,
        op: BinOp,
        a: &Val,
        a_span: Span,
        ta: Type,
        b: &Val,
        b_span: Span,
        tb: Type,
        span: Span,
    ) -> R<Val> {
        let same_scalar = ta.scalar().is_some() && ta.scalar() == tb.scalar();
        let float = ta.scalar().is_some_and(Scalar::is_float);
        let int = ta.scalar().is_some_and(Scalar::is_int);
        match (ta, tb) {
            (Type::Scalar(s), Type::Scalar(_)) if same_scalar => {
                let ok = match op {
                    BinOp::MatMul => false,
                    BinOp::Pow => float,
                    _ if is_bitwise(op) => int,
                    _ => s != Scalar::Bool,
                };
                if ok {
                    let (x, y) = (self.value_of(a, a_span)?, self.value_of(b, b_span)?);
                    let op = ir_op(op).expect("`@` is excluded");
                    return Ok(Val::Ir(self.builder().binary(op, x, y)));
                }
            }
            // Products of linear algebra and composition.
            (Type::Mat { .. }, Type::Mat { .. })
                if same_scalar && matches!(op, BinOp::Mul | BinOp::MatMul) =>
            {
                return self.library_call("_mat_mul", a, a_span, b, b_span, op, span);
            }
            (Type::Mat { .. }, Type::Vec { .. })
                if same_scalar && matches!(op, BinOp::Mul | BinOp::MatMul) =>
            {
                return self.library_call("_mat_vec", a, a_span, b, b_span, op, span);
            }
            (Type::Vec { .. }, Type::Mat { .. })
                if same_scalar && matches!(op, BinOp::Mul | BinOp::MatMul) =>
            {
                return self.library_call("_vec_mat", a, a_span, b, b_span, op, span);
            }
            (Type::Quat(_), Type::Quat(_)) if same_scalar && op == BinOp::Mul => {
                return self.library_call("_quat_mul", a, a_span, b, b_span, op, span);
            }
            (Type::Transform(_), Type::Transform(_)) if same_scalar && op == BinOp::Mul => {
                return self.library_call("transform_multiply", a, a_span, b, b_span, op, span);
            }
            // Elementwise on equal shapes.
            _ if ta == tb && ta.scalar().is_some() && ta.scalar() != Some(Scalar::Bool) => {
                let is_vec = matches!(ta, Type::Vec { .. });
                let ok = match op {
                    BinOp::Add | BinOp::Sub => true,
                    BinOp::Mod => is_vec,
                    _ if is_bitwise(op) => int && matches!(ta, Type::Vec { .. } | Type::Mat { .. }),
                    _ => false,
                };
                if ok {
                    let (x, y) = (self.value_of(a, a_span)?, self.value_of(b, b_span)?);
                    let op = ir_op(op).expect("`@` is excluded");
                    return Ok(Val::Ir(self.builder().binary(op, x, y)));
                }
                if is_vec && matches!(op, BinOp::Mul | BinOp::Div) {
                    let what = ta.python_name();
                    return Err(self.report(
                        Diagnostic::new(
                            codes::OPERAND_TYPES,
                            span,
                            format!("`{}` is not defined for {what} and {what}", symbol(op)),
                        )
                        .help(if op == BinOp::Mul {
                            "use `wp.cw_mul(a, b)` for the elementwise product, or `wp.dot(a, b)`"
                        } else {
                            "use `wp.cw_div(a, b)` for the elementwise quotient"
                        }),
                    ));
                }
            }
            // A composite scaled by a scalar.
            (_, Type::Scalar(_))
                if same_scalar
                    && matches!(op, BinOp::Mul | BinOp::Div)
                    && !matches!((ta, op), (Type::Transform(_), BinOp::Div)) =>
            {
                let x = self.value_of(a, a_span)?;
                let y = self.value_of(b, b_span)?;
                let y = self.splat(y, ta);
                let op = ir_op(op).expect("`@` is excluded");
                return Ok(Val::Ir(self.builder().binary(op, x, y)));
            }
            (Type::Scalar(_), _)
                if same_scalar
                    && (op == BinOp::Mul || (op == BinOp::Div && !matches!(tb, Type::Transform(_)))) =>
            {
                let x = self.value_of(a, a_span)?;
                let y = self.value_of(b, b_span)?;
                let x = self.splat(x, tb);
                let op = ir_op(op).expect("`@` is excluded");
                return Ok(Val::Ir(self.builder().binary(op, x, y)));
            }
            _ => {}
        }
        Err(self.operand_types(op, a, a_span, b, b_span, span))
    }

    #[expect(clippy::too_many_arguments, reason = "two operands, each with its span")]
    fn library_call(
        &mut self,
        name: &str,
        a: &Val,
        a_span: Span,
        b: &Val,
        b_span: Span,
        op: BinOp,
        span: Span,
    ) -> R<Val> {
        let args = [(a.clone(), a_span), (b.clone(), b_span)];
        match self.call_library(name, &args, span)? {
            Some(val) => Ok(val),
            None => Err(self.operand_types(op, a, a_span, b, b_span, span)),
        }
    }

    pub(super) fn splat(&mut self, scalar: Value, ty: Type) -> Value {
        let count = ty.component_count().expect("a composite");
        self.builder().value(OpKind::Construct, std::iter::repeat_n(scalar, count as usize), ty)
    }

    fn operand_types(
        &mut self,
        op: BinOp,
        a: &Val,
        a_span: Span,
        b: &Val,
        b_span: Span,
        span: Span,
    ) -> Reported {
        let (ta, tb) = (self.describe(a), self.describe(b));
        let mut diagnostic = Diagnostic::new(
            codes::OPERAND_TYPES,
            span,
            format!("`{}` is not defined for {ta} and {tb}", symbol(op)),
        )
        .label(format!("`{}` is {ta}, `{}` is {tb}", self.text_of(a_span), self.text_of(b_span)));
        // Offer the conversion of a literal, else of the narrower operand.
        let (ta, tb) = (self.type_of(a), self.type_of(b));
        let help = match (ta.and_then(Type::scalar), tb.and_then(Type::scalar)) {
            (Some(x), Some(y)) if is_bitwise(op) && (x.is_float() || y.is_float()) => {
                operator_help(op, x, ta, tb)
            }
            (Some(x), Some(y)) if x != y => {
                // A literal gives way, unless that would drop its fraction.
                let convert_b = if b.is_literal() {
                    x.is_float() || !y.is_float()
                } else if a.is_literal() {
                    x.is_float() && !y.is_float()
                } else {
                    rank(x) >= rank(y)
                };
                let (target, other_span, other) = if convert_b { (x, b_span, tb) } else { (y, a_span, ta) };
                if other.is_some_and(|ty| ty.as_scalar().is_some()) {
                    let text = self.text_of(other_span);
                    format!(
                        "both operands must have the same scalar type; convert one: `{}`",
                        conversion(target, &text)
                    )
                } else {
                    "both operands must have the same scalar type; convert one".to_owned()
                }
            }
            (Some(x), Some(_)) => operator_help(op, x, ta, tb),
            _ => "operators take numbers, vectors, matrices, quaternions and transforms".to_owned(),
        };
        diagnostic = diagnostic.help(help);
        self.report(diagnostic)
    }

    /// `-x`, `+x`, `~x`.
    pub(super) fn unary(&mut self, op: UnOp, val: &Val, span: Span) -> R<Val> {
        match (op, val) {
            (UnOp::Neg, Val::Const(ConstValue::Int(i))) => return Ok(Val::int(i.wrapping_neg())),
            (UnOp::Neg, Val::Const(ConstValue::Float(f))) => return Ok(Val::Const(ConstValue::Float(-f))),
            (UnOp::Neg, Val::Const(ConstValue::Typed(Constant::Int(i), s))) => {
                return Ok(Val::Const(ConstValue::Typed(Constant::Int(i.wrapping_neg()).convert(*s), *s)));
            }
            (UnOp::Neg, Val::Const(ConstValue::Typed(Constant::Float(f), s))) => {
                return Ok(Val::Const(ConstValue::Typed(Constant::Float(-f), *s)));
            }
            (UnOp::Pos, Val::Const(ConstValue::Int(_) | ConstValue::Float(_))) => return Ok(val.clone()),
            (UnOp::Invert, Val::Const(ConstValue::Int(i))) => return Ok(Val::int(!i)),
            _ => {}
        }
        let ty = self.type_of(val);
        let scalar = ty.and_then(Type::scalar);
        let number = scalar.is_some_and(|s| s != Scalar::Bool) && !matches!(ty, Some(Type::Transform(_)));
        let outer = std::mem::replace(&mut self.span, span);
        let result = match op {
            UnOp::Neg if number => {
                self.value_of(val, span).map(|x| Val::Ir(self.builder().unary(UnaryOp::Neg, x)))
            }
            UnOp::Pos if number => Ok(val.clone()),
            UnOp::Invert if scalar.is_some_and(Scalar::is_int) => {
                self.value_of(val, span).map(|x| Val::Ir(self.builder().unary(UnaryOp::Invert, x)))
            }
            _ => {
                let what = self.describe(val);
                let sign = match op {
                    UnOp::Neg => "-",
                    UnOp::Pos => "+",
                    UnOp::Invert => "~",
                    UnOp::Not => "not",
                };
                Err(self.report(
                    Diagnostic::new(
                        codes::OPERAND_TYPES,
                        span,
                        format!("`{sign}` is not defined for {what}"),
                    )
                    .help(match (op, scalar) {
                        (_, Some(Scalar::Bool)) => "use `not`",
                        (UnOp::Invert, _) => "it takes integers",
                        _ => "it takes numbers, vectors, matrices and quaternions",
                    }),
                ))
            }
        };
        self.span = outer;
        result
    }

    /// `a op b` for one comparison operator.
    pub(super) fn comparison(
        &mut self,
        op: tree::CmpOp,
        a: &Val,
        a_span: Span,
        b: &Val,
        b_span: Span,
    ) -> R<Val> {
        use tree::CmpOp as C;
        let span = a_span.to(b_span);
        if matches!(op, C::In | C::NotIn) {
            return Err(self.report(
                Diagnostic::new(codes::EXPRESSION, span, "kernels cannot use `in`")
                    .help("compare with each value: `x == a or x == b`"),
            ));
        }
        if matches!(op, C::Is | C::IsNot) {
            let help = match self.type_of(a) {
                Some(Type::Array(_)) => "write `if a:` or `if not a:` to ask whether an array was passed",
                _ => "use `==` or `!=`",
            };
            return Err(self.report(
                Diagnostic::new(codes::EXPRESSION, span, "kernels cannot compare with `is`").help(help),
            ));
        }
        let equality = matches!(op, C::Eq | C::NotEq);
        let wants_equal = op == C::Eq;
        if equality && let Some(equal) = static_equal(a, b) {
            return Ok(Val::bool(equal == wants_equal));
        }
        let cmp = match op {
            C::Eq => CmpOp::Eq,
            C::NotEq => CmpOp::Ne,
            C::Lt => CmpOp::Lt,
            C::LtE => CmpOp::Le,
            C::Gt => CmpOp::Gt,
            _ => CmpOp::Ge,
        };
        let (ta, tb) = (self.type_of(a), self.type_of(b));
        if let (Some(x), Some(y)) = (a.const_scalar(), b.const_scalar()) {
            // Two plain numbers compare as in Python; typed ones as at run time.
            let (x, y) = match (ta, tb) {
                (Some(Type::Scalar(s)), Some(Type::Scalar(t))) if !(a.is_literal() && b.is_literal()) => {
                    let common = common_scalar(s, literal_of(a), t, literal_of(b));
                    (x.convert(common), y.convert(common))
                }
                _ => (x, y),
            };
            return Ok(Val::bool(compare_constants(cmp, x, y)));
        }
        let outer = std::mem::replace(&mut self.span, span);
        let result = match (ta, tb) {
            (Some(Type::Scalar(x)), Some(Type::Scalar(y))) => {
                let common = Type::Scalar(common_scalar(x, literal_of(a), y, literal_of(b)));
                let (p, q) = (self.compared(a, a_span, common)?, self.compared(b, b_span, common)?);
                Ok(Val::Ir(self.builder().cmp(cmp, p, q)))
            }
            (Some(x), Some(y)) if x == y && equality && x.scalar().is_some() => {
                let (p, q) = (self.value_of(a, a_span)?, self.value_of(b, b_span)?);
                let mut all: Option<Value> = None;
                for i in 0..x.component_count().expect("a composite") {
                    let (u, v) = (self.builder().extract(p, i), self.builder().extract(q, i));
                    let same = self.builder().cmp(CmpOp::Eq, u, v);
                    all = Some(match all {
                        None => same,
                        Some(before) => self.builder().binary(BinaryOp::And, before, same),
                    });
                }
                let equal = all.map_or_else(|| Val::bool(true), Val::Ir);
                if wants_equal { Ok(equal) } else { self.not(&equal, span) }
            }
            _ => {
                let (x, y) = (self.describe(a), self.describe(b));
                let help = match (ta, tb) {
                    (Some(p), Some(q)) if p == q && p.scalar().is_some() => {
                        "vectors, matrices, quaternions and transforms compare with `==` and `!=` only"
                    }
                    _ => "compare numbers, or two values of one type with `==`",
                };
                Err(self.report(
                    Diagnostic::new(codes::OPERAND_TYPES, span, format!("cannot compare {x} with {y}"))
                        .help(help),
                ))
            }
        };
        self.span = outer;
        result
    }

    fn compared(&mut self, val: &Val, span: Span, ty: Type) -> R<Value> {
        let scalar = ty.as_scalar().expect("comparisons convert to scalars");
        if let Some(c) = val.const_scalar() {
            return Ok(self.builder().constant(c, scalar));
        }
        let value = self.value_of(val, span)?;
        Ok(self.builder().cast(value, ty))
    }
}

/// Whether two things known while compiling are equal; `None` when that is not known.
fn static_equal(a: &Val, b: &Val) -> Option<bool> {
    match (a, b) {
        (Val::Type(x), Val::Type(y)) => Some(x == y),
        (Val::Function(x), Val::Function(y)) => Some(x == y),
        (Val::Builtin(x), Val::Builtin(y)) => Some(x == y),
        (Val::Object(x), Val::Object(y)) => Some(x == y),
        (Val::Const(ConstValue::Str(x)), Val::Const(ConstValue::Str(y))) => Some(x == y),
        _ => None,
    }
}

fn compare_constants(op: CmpOp, a: Constant, b: Constant) -> bool {
    use std::cmp::Ordering;
    let ordering = match (a, b) {
        (Constant::Int(x), Constant::Int(y)) => Some(x.cmp(&y)),
        _ => {
            let wide = |c: Constant| match c.convert(Scalar::F64) {
                Constant::Float(f) => f,
                _ => f64::NAN,
            };
            wide(a).partial_cmp(&wide(b))
        }
    };
    match (op, ordering) {
        (CmpOp::Ne, None) => true,
        (_, None) => false,
        (CmpOp::Eq, Some(o)) => o == Ordering::Equal,
        (CmpOp::Ne, Some(o)) => o != Ordering::Equal,
        (CmpOp::Lt, Some(o)) => o == Ordering::Less,
        (CmpOp::Le, Some(o)) => o != Ordering::Greater,
        (CmpOp::Gt, Some(o)) => o == Ordering::Greater,
        (CmpOp::Ge, Some(o)) => o != Ordering::Less,
    }
}

/// What to do about operands of one scalar type that an operator does not take.
fn operator_help(op: BinOp, scalar: Scalar, a: Option<Type>, b: Option<Type>) -> String {
    let scalars = [a, b].iter().all(|ty| ty.is_some_and(|ty| ty.as_scalar().is_some()));
    if scalar == Scalar::Bool {
        return "combine conditions with `and`, `or`, `not`, `==` and `!=`".into();
    }
    match op {
        BinOp::Pow if scalars => "it takes floats: convert both with `float(...)`, or multiply".into(),
        BinOp::Pow => "it takes scalars; work on the components".into(),
        _ if is_bitwise(op) => "it takes two integers, or two integer vectors, of one type".into(),
        BinOp::MatMul => "it takes matrices and vectors whose sizes fit".into(),
        BinOp::Mul if matches!((a, b), (Some(Type::Quat(_)), Some(Type::Vec { .. }))) => {
            "rotate with `wp.quat_rotate(q, v)`".into()
        }
        BinOp::Mul if matches!((a, b), (Some(Type::Transform(_)), Some(Type::Vec { .. }))) => {
            "use `wp.transform_point(t, v)` or `wp.transform_vector(t, v)`".into()
        }
        BinOp::Mul if !scalars => {
            "sizes must fit: a matrix with as many columns as the other has rows, or a scalar".into()
        }
        BinOp::Add | BinOp::Sub => "both operands must have the same type".into(),
        _ => "work on the components one by one".into(),
    }
}

fn rank(scalar: Scalar) -> u32 {
    u32::from(scalar.is_float()) * 16 + scalar.size()
}

fn literal_of(val: &Val) -> Option<Constant> {
    if val.is_literal() { val.const_scalar() } else { None }
}

/// The type two scalars are compared in: C's usual conversions, with literals taking the other side's type when
/// it can hold them.
fn common_scalar(a: Scalar, a_literal: Option<Constant>, b: Scalar, b_literal: Option<Constant>) -> Scalar {
    if a == b {
        return a;
    }
    let takes = |scalar: Scalar, literal: Option<Constant>| match literal {
        Some(Constant::Int(i)) => scalar.is_int() && Constant::Int(i).convert(scalar) == Constant::Int(i),
        Some(Constant::Float(_)) => scalar.is_float(),
        _ => false,
    };
    if a_literal.is_none() && takes(a, b_literal) {
        return a;
    }
    if b_literal.is_none() && takes(b, a_literal) {
        return b;
    }
    match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        (true, true) => match (a, b) {
            (Scalar::F16, Scalar::BF16) | (Scalar::BF16, Scalar::F16) => Scalar::F32,
            _ if a.size() >= b.size() => a,
            _ => b,
        },
        (false, false) => {
            // Narrow integers and bool count as int32.
            let promote = |s: Scalar| if s.size() < 4 { Scalar::I32 } else { s };
            let (a, b) = (promote(a), promote(b));
            // Of equal sizes the unsigned one wins.
            if a.size() > b.size() || (a.size() == b.size() && !a.is_signed()) { a } else { b }
        }
    }
}
