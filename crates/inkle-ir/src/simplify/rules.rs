//! The rules for operations without blocks. A rule looks at the operations that define the operands and either
//! names a value that stands in for the result or changes the operation in place.

use smallvec::SmallVec;

use super::eval;
use crate::ir::{Block, Function, Op, OpData, Value};
use crate::op::{BinaryOp, CmpOp, Constant, OpKind, UnaryOp};
use crate::types::{Scalar, ScalarKind, Type};

/// Composites with more components are not put together from chains of `insert`: each look at the chain would
/// cost as much as there are components.
const MAX_CHAIN: u32 = 16;

pub(super) enum Outcome {
    Keep,
    /// The operation is another one now; more rules may fit.
    Changed,
    /// This value is the result.
    Replace(Value),
    /// The operation does nothing.
    Drop,
}

/// The constant that a scalar value is.
pub(super) fn constant(f: &Function, value: Value) -> Option<Constant> {
    match f.defining_op(value)?.kind {
        OpKind::Const(constant) => Some(constant),
        OpKind::Zero => Some(Constant::Int(0).convert(f.ty(value).as_scalar()?)),
        _ => None,
    }
}

/// The constant that every component of a value is.
fn uniform(f: &Function, value: Value) -> Option<Constant> {
    let data = f.defining_op(value)?;
    match data.kind {
        OpKind::Const(constant) => Some(constant),
        OpKind::Zero => Some(Constant::Int(0).convert(f.ty(value).scalar()?)),
        OpKind::Construct => {
            f.ty(value).scalar()?;
            let first = constant(f, *data.operands.first()?)?;
            data.operands[1..].iter().all(|&v| constant(f, v) == Some(first)).then_some(first)
        }
        _ => None,
    }
}

/// The operation that defines `value`, if it is of this kind.
fn defined_by<'f>(f: &'f Function, value: Value, kind: &OpKind) -> Option<&'f OpData> {
    f.defining_op(value).filter(|data| data.kind == *kind)
}

/// Makes `op` something else.
fn become_op(f: &mut Function, op: Op, kind: OpKind, operands: &[Value]) -> Outcome {
    let data = f.op_mut(op);
    data.kind = kind;
    data.operands = SmallVec::from_slice(operands);
    Outcome::Changed
}

/// Makes `op` a constant; `None` leaves it.
fn become_constant(f: &mut Function, op: Op, constant: Option<Constant>) -> Outcome {
    match constant {
        Some(constant) => become_op(f, op, OpKind::Const(constant), &[]),
        None => Outcome::Keep,
    }
}

/// Tries the rules for `op`, which `block` is about to hold; constants that a rule needs are appended there.
pub(super) fn rewrite(f: &mut Function, block: Block, op: Op) -> Outcome {
    let data = f.op(op);
    let Some(&x) = data.operands.first() else { return leaf(f, op) };
    match data.kind {
        OpKind::Unary(unary) => unary_rules(f, op, unary, x),
        OpKind::Binary(binary) => binary_rules(f, block, op, binary),
        OpKind::Cmp(cmp) => cmp_rules(f, op, cmp),
        OpKind::Select => select_rules(f, op),
        OpKind::Cast => cast_rules(f, op, x),
        OpKind::Bitcast => bitcast_rules(f, op, x),
        OpKind::Construct => construct_rules(f, op),
        OpKind::Extract(index) => extract_rules(f, op, x, index),
        OpKind::Insert(index) => insert_rules(f, op, index),
        OpKind::ExtractDyn => match component(f, x, data.operands[1]) {
            Some(index) => become_op(f, op, OpKind::Extract(index), &[x]),
            None => Outcome::Keep,
        },
        OpKind::InsertDyn => match component(f, x, data.operands[2]) {
            Some(index) => become_op(f, op, OpKind::Insert(index), &[x, data.operands[1]]),
            None => Outcome::Keep,
        },
        OpKind::Elem => elem_rules(f, op, x),
        OpKind::Shape(dim) => shape_rules(f, op, x, dim),
        OpKind::Stride(dim) => match f.defining_op(x).map(|of| (&of.kind, of.operands[0])) {
            Some((&OpKind::View(lacks), array)) => {
                become_op(f, op, OpKind::Stride(dim + u32::from(dim >= lacks)), &[array])
            }
            Some((&OpKind::Window(other), array)) if other != dim => {
                become_op(f, op, OpKind::Stride(dim), &[array])
            }
            _ => Outcome::Keep,
        },
        OpKind::Assert(_) if constant(f, x) == Some(Constant::Bool(true)) => Outcome::Drop,
        _ => Outcome::Keep,
    }
}

/// The element of a view is one of the array.
fn elem_rules(f: &mut Function, op: Op, array: Value) -> Outcome {
    let Some(&OpData { kind: OpKind::View(dim), ref operands, .. }) = f.defining_op(array) else {
        return Outcome::Keep;
    };
    let (whole, index) = (operands[0], operands[1]);
    let mut operands = f.op(op).operands.clone();
    operands[0] = whole;
    operands.insert(1 + dim as usize, index);
    become_op(f, op, OpKind::Elem, &operands)
}

fn shape_rules(f: &mut Function, op: Op, array: Value, dim: u32) -> Outcome {
    let Some(of) = f.defining_op(array) else { return Outcome::Keep };
    match of.kind {
        OpKind::View(lacks) => {
            let whole = of.operands[0];
            become_op(f, op, OpKind::Shape(dim + u32::from(dim >= lacks)), &[whole])
        }
        OpKind::Window(limited) if limited == dim => Outcome::Replace(of.operands[2]),
        OpKind::Window(_) => {
            let whole = of.operands[0];
            become_op(f, op, OpKind::Shape(dim), &[whole])
        }
        OpKind::ArrayAt => match of.operands.get(1 + dim as usize) {
            Some(&extent) => Outcome::Replace(extent),
            None => Outcome::Keep,
        },
        OpKind::Local(ref extents) => {
            let extent = extents.get(dim as usize).map(|&n| Constant::Int(n.into()));
            become_constant(f, op, extent)
        }
        _ => Outcome::Keep,
    }
}

/// A constant flat index, in range.
fn component(f: &Function, composite: Value, index: Value) -> Option<u32> {
    match constant(f, index)? {
        Constant::Int(i) => u32::try_from(i).ok().filter(|&i| f.ty(composite).component_count() > Some(i)),
        _ => None,
    }
}

/// Operations without operands.
fn leaf(f: &mut Function, op: Op) -> Outcome {
    let data = f.op(op);
    match (&data.kind, data.results.first().and_then(|&r| f.ty(r).as_scalar())) {
        (OpKind::Zero, Some(scalar)) => become_constant(f, op, Some(Constant::Int(0).convert(scalar))),
        _ => Outcome::Keep,
    }
}

fn unary_rules(f: &mut Function, op: Op, unary: UnaryOp, x: Value) -> Outcome {
    if let (Some(c), Some(scalar)) = (constant(f, x), f.ty(x).as_scalar()) {
        return become_constant(f, op, eval::unary(unary, c, scalar));
    }
    let is_unsigned = f.ty(x).scalar().is_some_and(|s| s.kind() == ScalarKind::Unsigned);
    if unary == UnaryOp::Abs && is_unsigned {
        return Outcome::Replace(x);
    }
    let Some(inner) = f.defining_op(x) else { return Outcome::Keep };
    match (unary, &inner.kind) {
        (UnaryOp::Neg, OpKind::Unary(UnaryOp::Neg))
        | (UnaryOp::Not, OpKind::Unary(UnaryOp::Not))
        | (UnaryOp::Invert, OpKind::Unary(UnaryOp::Invert)) => Outcome::Replace(inner.operands[0]),
        (UnaryOp::Abs, OpKind::Unary(UnaryOp::Abs)) => Outcome::Replace(x),
        (UnaryOp::Abs, OpKind::Unary(UnaryOp::Neg)) => {
            let positive = inner.operands[0];
            become_op(f, op, OpKind::Unary(UnaryOp::Abs), &[positive])
        }
        (UnaryOp::Not, OpKind::Cmp(cmp)) => {
            let (a, b) = (inner.operands[0], inner.operands[1]);
            let inverse = match cmp {
                CmpOp::Eq => CmpOp::Ne,
                CmpOp::Ne => CmpOp::Eq,
                // With a NaN both `a < b` and `a >= b` are false.
                _ if f.ty(a).is_float() => return Outcome::Keep,
                CmpOp::Lt => CmpOp::Ge,
                CmpOp::Le => CmpOp::Gt,
                CmpOp::Gt => CmpOp::Le,
                CmpOp::Ge => CmpOp::Lt,
            };
            become_op(f, op, OpKind::Cmp(inverse), &[a, b])
        }
        _ => Outcome::Keep,
    }
}

fn is_commutative(binary: BinaryOp) -> bool {
    matches!(
        binary,
        BinaryOp::Add
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Min
            | BinaryOp::Max
    )
}

/// Makes `op` the zero of its type.
fn become_zero(f: &mut Function, op: Op) -> Outcome {
    become_op(f, op, OpKind::Zero, &[])
}

fn binary_rules(f: &mut Function, block: Block, op: Op, binary: BinaryOp) -> Outcome {
    let (a, b) = (f.op(op).operands[0], f.op(op).operands[1]);
    let ty = f.ty(a);
    let Some(scalar) = ty.scalar() else { return Outcome::Keep };
    let (left, right) = (uniform(f, a), uniform(f, b));
    if let (Some(left), Some(right)) = (left, right)
        && ty.as_scalar().is_some()
    {
        return become_constant(f, op, eval::binary(binary, left, right, scalar));
    }
    if left.is_some() && right.is_none() && is_commutative(binary) {
        return become_op(f, op, OpKind::Binary(binary), &[b, a]);
    }
    if a == b {
        match binary {
            BinaryOp::Sub if scalar.is_int() => return become_zero(f, op),
            BinaryOp::Xor => return become_zero(f, op),
            BinaryOp::And | BinaryOp::Or | BinaryOp::Min | BinaryOp::Max => return Outcome::Replace(a),
            _ => {}
        }
    }
    let Some(right) = right else { return Outcome::Keep };
    match right {
        Constant::Bool(right) => match (binary, right) {
            (BinaryOp::And, true) | (BinaryOp::Or | BinaryOp::Xor, false) => Outcome::Replace(a),
            (BinaryOp::And, false) | (BinaryOp::Or, true) => Outcome::Replace(b),
            (BinaryOp::Xor, true) => become_op(f, op, OpKind::Unary(UnaryOp::Not), &[a]),
            _ => Outcome::Keep,
        },
        Constant::Int(right) => {
            let ones = Constant::Int(right) == Constant::Int(-1).convert(scalar);
            match (binary, right) {
                (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Or | BinaryOp::Xor, 0)
                | (BinaryOp::Shl | BinaryOp::Shr, 0)
                | (BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv, 1) => Outcome::Replace(a),
                (BinaryOp::And, _) if ones => Outcome::Replace(a),
                (BinaryOp::Mul | BinaryOp::And, 0) => Outcome::Replace(b),
                (BinaryOp::Or, _) if ones => Outcome::Replace(b),
                (BinaryOp::Rem, 1) => become_zero(f, op),
                (BinaryOp::Add | BinaryOp::Mul, _) if ty.as_scalar().is_some() => {
                    reassociate(f, block, op, binary, scalar)
                }
                _ => Outcome::Keep,
            }
        }
        Constant::Float(right) => {
            // `x + 0.0` is not `x` for -0.0, `x - 0.0` is.
            let neutral = match binary {
                BinaryOp::Mul | BinaryOp::Div => 1.0f64,
                BinaryOp::Sub => 0.0,
                BinaryOp::Add => -0.0,
                _ => return Outcome::Keep,
            };
            if right.to_bits() == neutral.to_bits() { Outcome::Replace(a) } else { Outcome::Keep }
        }
    }
}

/// `(x + 1) + 2` is `x + 3`; integers wrap, so it is exact.
fn reassociate(f: &mut Function, block: Block, op: Op, binary: BinaryOp, scalar: Scalar) -> Outcome {
    let (a, b) = (f.op(op).operands[0], f.op(op).operands[1]);
    let Some(inner) = defined_by(f, a, &OpKind::Binary(binary)) else { return Outcome::Keep };
    let (x, c) = (inner.operands[0], inner.operands[1]);
    let (Some(c), Some(b)) = (constant(f, c), constant(f, b)) else { return Outcome::Keep };
    let Some(sum) = eval::binary(binary, c, b, scalar) else { return Outcome::Keep };
    let span = f.op(op).span;
    let made = f.add_op(block, OpKind::Const(sum), [], [Type::Scalar(scalar)], [], span);
    let made = f.op(made).results[0];
    become_op(f, op, OpKind::Binary(binary), &[x, made])
}

fn cmp_rules(f: &mut Function, op: Op, cmp: CmpOp) -> Outcome {
    let (a, b) = (f.op(op).operands[0], f.op(op).operands[1]);
    let (left, right) = (constant(f, a), constant(f, b));
    match (left, right) {
        (Some(left), Some(right)) => {
            return become_constant(f, op, eval::cmp(cmp, left, right).map(Constant::Bool));
        }
        (Some(_), None) => return become_op(f, op, OpKind::Cmp(cmp.mirrored()), &[b, a]),
        _ => {}
    }
    if a == b && !f.ty(a).is_float() {
        let holds = matches!(cmp, CmpOp::Eq | CmpOp::Le | CmpOp::Ge);
        return become_constant(f, op, Some(Constant::Bool(holds)));
    }
    // What was asked of a bool, perhaps made a number on the way, is the bool or its opposite.
    let asked = match right {
        Some(Constant::Bool(c)) => (a, c),
        Some(Constant::Int(0)) => match defined_by(f, a, &OpKind::Cast) {
            Some(cast) if f.ty(cast.operands[0]) == Type::BOOL => (cast.operands[0], false),
            _ => return Outcome::Keep,
        },
        _ => return Outcome::Keep,
    };
    match (cmp, asked) {
        (CmpOp::Ne, (x, false)) | (CmpOp::Eq, (x, true)) => Outcome::Replace(x),
        (CmpOp::Eq, (x, false)) | (CmpOp::Ne, (x, true)) => {
            become_op(f, op, OpKind::Unary(UnaryOp::Not), &[x])
        }
        _ => Outcome::Keep,
    }
}

fn select_rules(f: &mut Function, op: Op) -> Outcome {
    let operands = &f.op(op).operands;
    let (c, a, b) = (operands[0], operands[1], operands[2]);
    if a == b {
        return Outcome::Replace(a);
    }
    if let Some(Constant::Bool(c)) = constant(f, c) {
        return Outcome::Replace(if c { a } else { b });
    }
    if let Some(not) = defined_by(f, c, &OpKind::Unary(UnaryOp::Not)) {
        let positive = not.operands[0];
        return become_op(f, op, OpKind::Select, &[positive, b, a]);
    }
    if f.ty(a) != Type::BOOL {
        return Outcome::Keep;
    }
    match (constant(f, a), constant(f, b)) {
        (Some(Constant::Bool(true)), Some(Constant::Bool(false))) => Outcome::Replace(c),
        (Some(Constant::Bool(false)), Some(Constant::Bool(true))) => {
            become_op(f, op, OpKind::Unary(UnaryOp::Not), &[c])
        }
        (Some(Constant::Bool(true)), _) => become_op(f, op, OpKind::Binary(BinaryOp::Or), &[c, b]),
        (_, Some(Constant::Bool(false))) => become_op(f, op, OpKind::Binary(BinaryOp::And), &[c, a]),
        _ => Outcome::Keep,
    }
}

fn cast_rules(f: &mut Function, op: Op, x: Value) -> Outcome {
    let (from, to) = (f.ty(x), f.ty(f.op(op).results[0]));
    if from == to {
        return Outcome::Replace(x);
    }
    let (Some(from_scalar), Some(to_scalar)) = (from.scalar(), to.scalar()) else { return Outcome::Keep };
    let Some(inner) = f.defining_op(x) else { return Outcome::Keep };
    match inner.kind {
        OpKind::Const(c) => become_constant(f, op, eval::cast(c, to_scalar)),
        OpKind::Zero => become_zero(f, op),
        OpKind::Cast => {
            let first = inner.operands[0];
            match f.ty(first).scalar() {
                Some(scalar) if skips(scalar, from_scalar, to_scalar) => {
                    become_op(f, op, OpKind::Cast, &[first])
                }
                _ => Outcome::Keep,
            }
        }
        _ => Outcome::Keep,
    }
}

/// Whether a cast from `a` by way of `b` to `c` is the cast from `a` to `c`.
fn skips(a: Scalar, b: Scalar, c: Scalar) -> bool {
    if !eval::is_lossless(a, b) {
        // Low bits of low bits.
        return a.is_int() && b.is_int() && c.is_int() && c.size() <= b.size();
    }
    if a.is_float() || !b.is_float() {
        return true;
    }
    match c {
        // From an integer it wraps where from the float it saturates.
        _ if c.is_int() => eval::is_lossless(a, c),
        // From an integer it may round twice.
        Scalar::F16 | Scalar::BF16 => false,
        _ => true,
    }
}

fn bitcast_rules(f: &mut Function, op: Op, x: Value) -> Outcome {
    let (from, to) = (f.ty(x), f.ty(f.op(op).results[0]));
    if from == to {
        return Outcome::Replace(x);
    }
    let (Some(from), Some(to)) = (from.as_scalar(), to.as_scalar()) else { return Outcome::Keep };
    if let Some(c) = constant(f, x) {
        return become_constant(f, op, eval::bitcast(c, from, to));
    }
    match defined_by(f, x, &OpKind::Bitcast) {
        Some(inner) => {
            let first = inner.operands[0];
            become_op(f, op, OpKind::Bitcast, &[first])
        }
        None => Outcome::Keep,
    }
}

/// The number of parts of a composite.
fn part_count(ty: Type) -> Option<u32> {
    ty.as_struct().map(|s| s.fields.len() as u32).or_else(|| ty.component_count())
}

fn construct_rules(f: &mut Function, op: Op) -> Outcome {
    let data = f.op(op);
    let ty = f.ty(data.results[0]);
    // Taken apart and put together.
    let whole =
        data.operands.first().and_then(|&v| defined_by(f, v, &OpKind::Extract(0))).map(|e| e.operands[0]);
    if let Some(whole) = whole
        && f.ty(whole) == ty
        && data.operands.iter().enumerate().all(|(index, &v)| {
            defined_by(f, v, &OpKind::Extract(index as u32)).is_some_and(|e| e.operands[0] == whole)
        })
    {
        return Outcome::Replace(whole);
    }
    let zero = |&v: &Value| match f.defining_op(v).map(|data| &data.kind) {
        Some(OpKind::Zero) => true,
        Some(OpKind::Const(c)) => f.ty(v).as_scalar().is_some_and(|s| *c == Constant::Int(0).convert(s)),
        _ => false,
    };
    if data.operands.iter().all(zero) { become_zero(f, op) } else { Outcome::Keep }
}

fn extract_rules(f: &mut Function, op: Op, x: Value, index: u32) -> Outcome {
    let Some(inner) = f.defining_op(x) else { return Outcome::Keep };
    match inner.kind {
        OpKind::Construct => Outcome::Replace(inner.operands[index as usize]),
        OpKind::Zero => become_zero(f, op),
        OpKind::Insert(at) if at == index => Outcome::Replace(inner.operands[1]),
        OpKind::Insert(_) => {
            // Down the chain at once, so that a long one costs one change.
            let mut below = inner.operands[0];
            while let Some(next) = f.defining_op(below)
                && let OpKind::Insert(at) = next.kind
            {
                if at == index {
                    return Outcome::Replace(next.operands[1]);
                }
                below = next.operands[0];
            }
            become_op(f, op, OpKind::Extract(index), &[below])
        }
        _ => Outcome::Keep,
    }
}

fn insert_rules(f: &mut Function, op: Op, index: u32) -> Outcome {
    let (x, v) = (f.op(op).operands[0], f.op(op).operands[1]);
    // Put back where it was taken.
    if let Some(taken) = defined_by(f, v, &OpKind::Extract(index))
        && taken.operands[0] == x
    {
        return Outcome::Replace(x);
    }
    let Some(inner) = f.defining_op(x) else { return Outcome::Keep };
    if let OpKind::Insert(at) = inner.kind
        && at == index
    {
        let below = inner.operands[0];
        return become_op(f, op, OpKind::Insert(index), &[below, v]);
    }
    let count = match part_count(f.ty(x)) {
        Some(count) if count <= MAX_CHAIN => count,
        _ => return Outcome::Keep,
    };
    // All parts may be known: from the inserts, or from a composite put together below them.
    let mut parts: SmallVec<[Option<Value>; 16]> = SmallVec::from_elem(None, count as usize);
    parts[index as usize] = Some(v);
    let mut below = x;
    for _ in 0..count {
        let Some(next) = f.defining_op(below) else { break };
        match next.kind {
            OpKind::Insert(at) => {
                parts[at as usize].get_or_insert(next.operands[1]);
                below = next.operands[0];
            }
            OpKind::Construct => {
                for (part, &operand) in parts.iter_mut().zip(&next.operands) {
                    part.get_or_insert(operand);
                }
                break;
            }
            _ => break,
        }
    }
    match parts.into_iter().collect::<Option<Vec<Value>>>() {
        Some(parts) => become_op(f, op, OpKind::Construct, &parts),
        None => Outcome::Keep,
    }
}
