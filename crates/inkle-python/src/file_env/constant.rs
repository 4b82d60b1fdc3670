//! Evaluation of constant expressions as Python would, as far as literals, named constants, conversions and
//! constructors go.

use inkle_frontend::env::{Binding, ConstValue, Environment};
use inkle_frontend::tree::{BinOp, CmpOp, Expr, ExprKind, LogicOp, UnOp};
use inkle_ir::{Constant, Scalar, Type};

use super::FileEnvironment;

impl FileEnvironment {
    /// The value or type of an expression; an error says in a few words why it is not known.
    pub(super) fn evaluate(&self, expr: &Expr, locals: &[(String, ConstValue)]) -> Result<Binding, String> {
        let value = |v: ConstValue| Ok(Binding::Const(v));
        match &*expr.kind {
            ExprKind::Int(i) => value(ConstValue::Int(*i)),
            ExprKind::Float(f) => value(ConstValue::Float(*f)),
            ExprKind::Bool(b) => value(ConstValue::Bool(*b)),
            ExprKind::Str(s) => value(ConstValue::Str(s.clone())),
            ExprKind::None => value(ConstValue::None),
            ExprKind::Name(name) => {
                if let Some((_, local)) = locals.iter().find(|(n, _)| n == name) {
                    return value(local.clone());
                }
                let known = self.names.get(name).cloned().or_else(|| super::names::python_builtin(name));
                known.ok_or_else(|| format!("`{name}` is not defined"))
            }
            ExprKind::Attribute { value: base, attr, .. } => match self.evaluate(base, locals)? {
                Binding::Object(object) => self
                    .attribute(object, attr)
                    .ok_or_else(|| format!("{} has no attribute `{attr}`", self.describe(object))),
                _ => Err(format!("the attribute `{attr}` is not constant")),
            },
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let items = items.iter().map(|i| self.constant_value(i, locals));
                value(ConstValue::Tuple(items.collect::<Result<_, _>>()?))
            }
            ExprKind::Unary { op, operand } => value(unary(*op, &self.constant_value(operand, locals)?)?),
            ExprKind::Binary { op, left, right } => {
                let (a, b) = (self.constant_value(left, locals)?, self.constant_value(right, locals)?);
                value(binary(*op, &a, &b)?)
            }
            ExprKind::Logic { op, values } => {
                let mut last = ConstValue::None;
                for expr in values {
                    last = self.constant_value(expr, locals)?;
                    if truth(&last)? == (*op == LogicOp::Or) {
                        break;
                    }
                }
                value(last)
            }
            ExprKind::Compare { first, rest } => {
                let mut left = self.constant_value(first, locals)?;
                for (op, right) in rest {
                    let right = self.constant_value(right, locals)?;
                    if !compare(*op, &left, &right)? {
                        return value(ConstValue::Bool(false));
                    }
                    left = right;
                }
                value(ConstValue::Bool(true))
            }
            ExprKind::IfElse { test, then, orelse } => {
                let chosen = if truth(&self.constant_value(test, locals)?)? { then } else { orelse };
                self.evaluate(chosen, locals)
            }
            ExprKind::Subscript { value: base, indices } => self.item(base, indices, locals),
            ExprKind::Call { func, args, keywords } => self.call(func, args, keywords, locals),
            _ => Err("it is not a constant expression".into()),
        }
    }

    /// Whether a call such as `vector(...)` makes a type: always in the module of types, elsewhere when only
    /// keywords are given.
    fn is_type_maker(&self, func: &Expr, args: &[Expr], sized: bool) -> bool {
        let in_types = match func.path().as_deref() {
            Some([.., module, _]) => *module == "types",
            _ => false,
        };
        sized && (in_types || args.is_empty())
    }

    fn constant_value(&self, expr: &Expr, locals: &[(String, ConstValue)]) -> Result<ConstValue, String> {
        match self.evaluate(expr, locals)? {
            Binding::Const(value) => Ok(value),
            _ => Err("it is not a value".into()),
        }
    }

    fn item(
        &self,
        base: &Expr,
        indices: &[Expr],
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String> {
        let base = self.constant_value(base, locals)?;
        let [index] = indices else { return Err("it has several indices".into()) };
        let ConstValue::Int(index) = plain(&self.constant_value(index, locals)?) else {
            return Err("the index is not an integer".into());
        };
        let items: Vec<ConstValue> = match base {
            ConstValue::Tuple(items) => items,
            ConstValue::Composite { ty, components } => {
                let scalar = ty.scalar().ok_or("it cannot be indexed")?;
                components.into_iter().map(|c| ConstValue::Typed(c, scalar)).collect()
            }
            _ => return Err("it cannot be indexed".into()),
        };
        let length = items.len() as i128;
        let index = if index < 0 { index + length } else { index };
        let item = usize::try_from(index).ok().and_then(|i| items.into_iter().nth(i));
        item.map(Binding::Const).ok_or_else(|| "the index is out of range".into())
    }

    fn call(
        &self,
        func: &Expr,
        args: &[Expr],
        keywords: &[(Option<String>, Expr)],
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String> {
        let name = func.path().and_then(|p| p.last().map(|n| (*n).to_owned())).unwrap_or_default();
        let keyword = |name: &str| keywords.iter().find(|(n, _)| n.as_deref() == Some(name)).map(|(_, e)| e);
        if let ([arg], "constant" | "static") = (args, name.as_str()) {
            return self.evaluate(arg, locals);
        }
        let scalar_type = |expr: Option<&Expr>| match expr.map(|e| self.evaluate(e, locals)) {
            None => Some(Scalar::F32),
            Some(Ok(Binding::Type(Type::Scalar(s)))) => Some(s),
            _ => None,
        };
        let given = |index: usize, name: &str| args.get(index).or(keyword(name));
        match name.as_str() {
            // A type with its sizes: `wp.types.vector(length=5, dtype=float)`.
            "vector" | "vec" if self.is_type_maker(func, args, given(0, "length").is_some()) => {
                let length = given(0, "length").map(|e| self.constant_value(e, locals)).transpose()?;
                let (Some(ConstValue::Int(n @ 1..=65536)), Some(scalar)) =
                    (length, scalar_type(given(1, "dtype")))
                else {
                    return Err("a vector type takes a constant length and a scalar type".into());
                };
                return Ok(Binding::Type(Type::vec(n as u32, scalar)));
            }
            "matrix" | "mat" if self.is_type_maker(func, args, given(0, "shape").is_some()) => {
                let shape = given(0, "shape").map(|e| self.constant_value(e, locals)).transpose()?;
                let sizes = match &shape {
                    Some(ConstValue::Tuple(items)) => match items.as_slice() {
                        [ConstValue::Int(r @ 1..=256), ConstValue::Int(c @ 1..=256)] => Some((*r, *c)),
                        _ => None,
                    },
                    _ => None,
                };
                let (Some((r, c)), Some(scalar)) = (sizes, scalar_type(given(1, "dtype"))) else {
                    return Err("a matrix type takes a constant shape and a scalar type".into());
                };
                return Ok(Binding::Type(Type::mat(r as u32, c as u32, scalar)));
            }
            "quaternion" | "transformation" if self.is_type_maker(func, args, true) => {
                let scalar = scalar_type(given(0, "dtype")).ok_or("the dtype is not a scalar type")?;
                return Ok(Binding::Type(if name == "quaternion" {
                    Type::Quat(scalar)
                } else {
                    Type::Transform(scalar)
                }));
            }
            _ => {}
        }
        let values = args.iter().map(|a| self.constant_value(a, locals)).collect::<Result<Vec<_>, _>>()?;
        match self.evaluate(func, locals)? {
            Binding::Type(ty) if keywords.is_empty() => construct(ty, &values).map(Binding::Const),
            Binding::Builtin(name) => match (name.as_str(), values.as_slice()) {
                ("len", [ConstValue::Tuple(items)]) => {
                    Ok(Binding::Const(ConstValue::Int(items.len() as i128)))
                }
                ("min" | "max", [first, rest @ ..]) if !rest.is_empty() => {
                    let wanted = if name == "min" { CmpOp::Lt } else { CmpOp::Gt };
                    let mut best = first;
                    for value in rest {
                        if compare(wanted, value, best)? {
                            best = value;
                        }
                    }
                    Ok(Binding::Const(best.clone()))
                }
                ("abs", [v]) => {
                    let negative = compare(CmpOp::Lt, v, &ConstValue::Int(0))?;
                    Ok(Binding::Const(if negative { unary(UnOp::Neg, v)? } else { v.clone() }))
                }
                ("sqrt", [v]) => Ok(Binding::Const(ConstValue::Float(float(v)?.sqrt()))),
                _ => Err(format!("`{name}` is not evaluated without running Python")),
            },
            _ => Err("the call is not evaluated without running Python".into()),
        }
    }
}

fn construct(ty: Type, values: &[ConstValue]) -> Result<ConstValue, String> {
    let scalar = ty.scalar().ok_or("a struct is not a constant")?;
    if ty.as_scalar().is_some() {
        let [value] = values else { return Err("a conversion takes one value".into()) };
        let constant = constant(value).ok_or("it is not a number")?.convert(scalar);
        return Ok(match (scalar, constant) {
            // Python's own types stay plain numbers.
            (Scalar::I32, Constant::Int(i)) if matches!(value, ConstValue::Int(_)) => ConstValue::Int(i),
            (Scalar::Bool, Constant::Bool(b)) => ConstValue::Bool(b),
            (Scalar::I32, Constant::Int(i)) if matches!(value, ConstValue::Float(_)) => ConstValue::Int(i),
            (Scalar::F32, _) if matches!(value, ConstValue::Float(_)) => value.clone(),
            (Scalar::F32, Constant::Float(f)) if matches!(value, ConstValue::Int(_)) => ConstValue::Float(f),
            (_, c) => ConstValue::Typed(c, scalar),
        });
    }
    let count = ty.component_count().expect("a composite") as usize;
    let mut components = Vec::new();
    for value in values {
        match value {
            ConstValue::Composite { components: inner, .. } => {
                components.extend(inner.iter().map(|c| c.convert(scalar)));
            }
            other => components.push(constant(other).ok_or("a component is not a number")?.convert(scalar)),
        }
    }
    match components.len() {
        0 => components = vec![Constant::Int(0).convert(scalar); count],
        1 if count > 1 => components = vec![components[0]; count],
        n if n == count => {}
        n => return Err(format!("{} has {count} components, {n} were given", ty.python_name())),
    }
    Ok(ConstValue::Composite { ty, components })
}

fn constant(value: &ConstValue) -> Option<Constant> {
    Some(match value {
        ConstValue::Int(i) => Constant::Int(*i),
        ConstValue::Float(f) => Constant::Float(*f),
        ConstValue::Bool(b) => Constant::Bool(*b),
        ConstValue::Typed(c, _) => *c,
        _ => return None,
    })
}

/// A number without its width, for index and count computations.
fn plain(value: &ConstValue) -> ConstValue {
    match value {
        ConstValue::Typed(Constant::Int(i), _) => ConstValue::Int(*i),
        ConstValue::Typed(Constant::Float(f), _) => ConstValue::Float(*f),
        ConstValue::Typed(Constant::Bool(b), _) => ConstValue::Bool(*b),
        ConstValue::Bool(b) => ConstValue::Int(i128::from(*b)),
        other => other.clone(),
    }
}

fn float(value: &ConstValue) -> Result<f64, String> {
    match plain(value) {
        ConstValue::Int(i) => Ok(i as f64),
        ConstValue::Float(f) => Ok(f),
        _ => Err("it is not a number".into()),
    }
}

fn truth(value: &ConstValue) -> Result<bool, String> {
    Ok(match value {
        ConstValue::Str(s) => !s.is_empty(),
        ConstValue::Tuple(items) => !items.is_empty(),
        ConstValue::None => false,
        other => float(other)? != 0.0,
    })
}

fn unary(op: UnOp, value: &ConstValue) -> Result<ConstValue, String> {
    let width = if let ConstValue::Typed(_, s) = value { Some(*s) } else { None };
    let result = match (op, plain(value)) {
        (UnOp::Not, _) => return Ok(ConstValue::Bool(!truth(value)?)),
        (UnOp::Pos, v @ (ConstValue::Int(_) | ConstValue::Float(_))) => v,
        (UnOp::Neg, ConstValue::Int(i)) => ConstValue::Int(i.checked_neg().ok_or("the number is too large")?),
        (UnOp::Neg, ConstValue::Float(f)) => ConstValue::Float(-f),
        (UnOp::Invert, ConstValue::Int(i)) => ConstValue::Int(!i),
        _ => return Err("the operator does not take this value".into()),
    };
    Ok(with_width(result, width))
}

fn with_width(value: ConstValue, width: Option<Scalar>) -> ConstValue {
    match (width, constant(&value)) {
        (Some(scalar), Some(c)) => ConstValue::Typed(c.convert(scalar), scalar),
        _ => value,
    }
}

fn binary(op: BinOp, a: &ConstValue, b: &ConstValue) -> Result<ConstValue, String> {
    if let (BinOp::Add, ConstValue::Tuple(x), ConstValue::Tuple(y)) = (op, a, b) {
        return Ok(ConstValue::Tuple(x.iter().chain(y).cloned().collect()));
    }
    if let (BinOp::Add, ConstValue::Str(x), ConstValue::Str(y)) = (op, a, b) {
        return Ok(ConstValue::Str(format!("{x}{y}")));
    }
    let width = match (a, b) {
        (ConstValue::Typed(_, s), ConstValue::Typed(_, t)) if s == t => Some(*s),
        // An unrolled loop's index is an int32 and behaves as a Python integer here.
        (ConstValue::Typed(_, Scalar::I32), ConstValue::Int(_))
        | (ConstValue::Int(_), ConstValue::Typed(_, Scalar::I32)) => None,
        (ConstValue::Typed(..), _) | (_, ConstValue::Typed(..)) => {
            return Err("the operands have different types".into());
        }
        _ => None,
    };
    let large = "the result is too large";
    let result = match (plain(a), plain(b)) {
        (ConstValue::Int(x), ConstValue::Int(y)) => match op {
            BinOp::Add => ConstValue::Int(x.checked_add(y).ok_or(large)?),
            BinOp::Sub => ConstValue::Int(x.checked_sub(y).ok_or(large)?),
            BinOp::Mul => ConstValue::Int(x.checked_mul(y).ok_or(large)?),
            BinOp::Div if y != 0 => ConstValue::Float(x as f64 / y as f64),
            BinOp::FloorDiv if y != 0 => {
                let quotient = x.checked_div(y).ok_or(large)?;
                ConstValue::Int(quotient - i128::from(x % y != 0 && (x < 0) != (y < 0)))
            }
            BinOp::Mod if y != 0 => {
                let rest = x.checked_rem(y).ok_or(large)?;
                ConstValue::Int(if rest != 0 && (rest < 0) != (y < 0) { rest + y } else { rest })
            }
            BinOp::Pow if (0..128).contains(&y) => ConstValue::Int(x.checked_pow(y as u32).ok_or(large)?),
            BinOp::BitAnd => ConstValue::Int(x & y),
            BinOp::BitOr => ConstValue::Int(x | y),
            BinOp::BitXor => ConstValue::Int(x ^ y),
            BinOp::Shl if (0..64).contains(&y) => ConstValue::Int(x.checked_mul(1i128 << y).ok_or(large)?),
            BinOp::Shr if (0..127).contains(&y) => ConstValue::Int(x >> y),
            _ => return Err("the operator does not take these values".into()),
        },
        (p, q) => {
            let (x, y) = (float(&p)?, float(&q)?);
            ConstValue::Float(match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                BinOp::Mul => x * y,
                BinOp::Div if y != 0.0 => x / y,
                BinOp::FloorDiv if y != 0.0 => (x / y).floor(),
                BinOp::Mod if y != 0.0 => x - y * (x / y).floor(),
                BinOp::Pow => x.powf(y),
                _ => return Err("the operator does not take these values".into()),
            })
        }
    };
    Ok(with_width(result, width))
}

fn compare(op: CmpOp, a: &ConstValue, b: &ConstValue) -> Result<bool, String> {
    use std::cmp::Ordering;
    let ordering = match (plain(a), plain(b)) {
        (ConstValue::Int(x), ConstValue::Int(y)) => Some(x.cmp(&y)),
        (ConstValue::Str(x), ConstValue::Str(y)) => Some(x.cmp(&y)),
        (ConstValue::None, ConstValue::None) => Some(Ordering::Equal),
        (x, y) => float(&x)?.partial_cmp(&float(&y)?),
    };
    Ok(match op {
        CmpOp::Eq | CmpOp::Is => ordering == Some(Ordering::Equal),
        CmpOp::NotEq | CmpOp::IsNot => ordering != Some(Ordering::Equal),
        CmpOp::Lt => ordering == Some(Ordering::Less),
        CmpOp::LtE => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
        CmpOp::Gt => ordering == Some(Ordering::Greater),
        CmpOp::GtE => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
        CmpOp::In | CmpOp::NotIn => return Err("`in` is not evaluated without running Python".into()),
    })
}
