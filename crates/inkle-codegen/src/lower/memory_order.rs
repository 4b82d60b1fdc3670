//! Values of a few equal parts whose lanes lie as in memory.
//!
//! Elements of three numbers that lanes read one after the other come as three vectors, and shuffles make a vector of each
//! part. What is done to all parts alike, such as adding two elements, can be done to the vectors as they were read, and when
//! the result is written as it is, no shuffles are needed at all: those that nobody uses in the end are dropped with other
//! dead code.

use inkle_ir::{BinaryOp, Block, Function, OpData, OpKind, Scalar, UnaryOp, Value};
use smallvec::SmallVec;

use super::{Frame, Lower, Result};
use crate::emitter::V;
use crate::value::{Parts, Val};

/// A value's parts, and the same numbers as they lie in memory.
pub(crate) struct InMemoryOrder {
    parts: SmallVec<[V; 4]>,
    vectors: SmallVec<[V; 4]>,
    /// It is a product, which may be fused with a sum, and its parts were made one by one.
    is_product: bool,
}

impl<'m> Lower<'_, 'm> {
    /// The parts of vectors that lie in memory order.
    pub fn parts_of(&mut self, vectors: SmallVec<[V; 4]>) -> SmallVec<[V; 4]> {
        let parts = self.taken_apart(&vectors);
        self.note_order(&parts, vectors, false);
        parts
    }

    fn note_order(&mut self, parts: &[V], vectors: SmallVec<[V; 4]>, is_product: bool) {
        let parts = SmallVec::from_slice(parts);
        self.in_order.insert(parts[0], InMemoryOrder { parts, vectors, is_product });
    }

    /// A value in memory order, if it is there without shuffles.
    pub fn ordered(&self, value: &[Val]) -> Option<SmallVec<[V; 4]>> {
        self.order_of(value).map(|known| known.vectors.clone())
    }

    fn order_of(&self, value: &[Val]) -> Option<&InMemoryOrder> {
        let Val::Varying(first) = *value.first()? else { return None };
        let known = self.in_order.get(&first).filter(|known| known.parts.len() == value.len())?;
        let same = |(&v, &part): (&Val, &V)| matches!(v, Val::Varying(v) if v == part);
        value.iter().zip(&known.parts).all(same).then_some(known)
    }

    /// A value that is the same in all lanes, in memory order.
    fn repeated(&mut self, value: &[Val]) -> Option<SmallVec<[V; 4]>> {
        let uniform = |&v: &Val| if let Val::Uniform(v) = v { Some(v) } else { None };
        let parts: SmallVec<[V; 4]> = value.iter().map(uniform).collect::<Option<_>>()?;
        let (lanes, n) = (self.lanes, parts.len() as u32);
        if parts.iter().all(|&part| part == parts[0]) {
            let all = self.e.splat(parts[0], lanes);
            return Some(parts.iter().map(|_| all).collect());
        }
        let part_at = |k: u32, i: u32| (k * lanes + i) % n;
        if parts.iter().all(|&part| self.e.is_constant(part)) {
            let vector = |k| {
                let all: Vec<V> = (0..lanes).map(|i| parts[part_at(k, i) as usize]).collect();
                self.e.const_vector(&all)
            };
            return Some((0..n).map(vector).collect());
        }
        let mut one = self.e.poison(self.e.vector(self.e.type_of(parts[0]), n));
        for (k, &part) in (0..).zip(&parts) {
            one = self.e.insert_element(one, part, self.e.i32(k));
        }
        let none = self.e.poison(self.e.type_of(one));
        let vector = |k| self.e.shuffle(one, none, &(0..lanes).map(|i| part_at(k, i)).collect::<Vec<_>>());
        Some((0..n).map(vector).collect())
    }

    /// An operation on all parts of two values alike, in memory order; `None` if that would save no shuffles: if the
    /// parts are needed anyway.
    pub fn binary_in_order(
        &mut self,
        frame: &Frame<'m>,
        op: BinaryOp,
        scalar: Scalar,
        data: &OpData,
    ) -> Result<Option<Parts>> {
        if self.in_order.is_empty() || !matches!(scalar, Scalar::F32 | Scalar::F64) || !is_alike(op) {
            return Ok(None);
        }
        let ([x, y], [result]) = (data.operands.as_slice(), data.results.as_slice()) else {
            return Ok(None);
        };
        let is_product = op == BinaryOp::Mul && self.e.fast_math != 0;
        if is_product && frame.uses_alike(*result) != Some(1) {
            return Ok(None);
        }
        let (xs, ys) = (frame.get(*x)?, frame.get(*y)?);
        let (a, b) = (self.ordered(xs), self.ordered(ys));
        let spares = |v: &Value, found: bool| found && frame.uses_alike(*v).is_some();
        if !(spares(x, a.is_some()) || spares(y, b.is_some())) {
            return Ok(None);
        }
        // Of one value's shuffles nothing is gained if they are the result's then, which may be in a loop.
        if frame.uses_alike(*result).is_none() && (a.is_none() || b.is_none()) {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (a.or_else(|| self.repeated(xs)), b.or_else(|| self.repeated(ys))) else {
            return Ok(None);
        };
        let mut vectors = SmallVec::new();
        for (&a, &b) in a.iter().zip(&b) {
            let v = self.binary(op, scalar, Val::Varying(a), Val::Varying(b))?;
            vectors.push(self.wide(v));
        }
        if !is_product {
            return Ok(Some(self.parts_of(vectors).into_iter().map(Val::Varying).collect()));
        }
        // Whether it is fused with a sum must not depend on where it is looked for: its parts are products, not parts of one.
        let pairs = xs.iter().zip(ys);
        let parts: Parts = pairs.map(|(&x, &y)| self.binary(op, scalar, x, y)).collect::<Result<_>>()?;
        let made: SmallVec<[V; 4]> = parts.iter().map(|&v| self.wide(v)).collect();
        self.note_order(&made, vectors, true);
        Ok(Some(made.into_iter().map(Val::Varying).collect()))
    }

    /// The same for the negative of a value.
    pub fn negated_in_order(
        &mut self,
        frame: &Frame<'m>,
        op: UnaryOp,
        scalar: Scalar,
        operand: Value,
    ) -> Result<Option<Parts>> {
        let plain = op == UnaryOp::Neg && matches!(scalar, Scalar::F32 | Scalar::F64);
        let known = self.order_of(frame.get(operand)?).filter(|known| !known.is_product);
        let Some(known) = known.filter(|_| plain && frame.uses_alike(operand).is_some()) else {
            return Ok(None);
        };
        let negative = known.vectors.iter().map(|&v| self.e.fneg(v)).collect();
        Ok(Some(self.parts_of(negative).into_iter().map(Val::Varying).collect()))
    }
}

fn is_alike(op: BinaryOp) -> bool {
    use BinaryOp::{Add, Div, Max, Min, Mul, Sub};
    matches!(op, Add | Sub | Mul | Div | Min | Max)
}

/// Per value of a function: how many operations take it, if all do the same to all its parts and can do so in the order of memory.
pub(super) fn uses_alike(function: &Function) -> Vec<Option<u32>> {
    let mut alike = vec![Some(0); function.value_count()];
    for block in 0..function.block_count() {
        for &op in &function.block(Block::new(block)).ops {
            let data = function.op(op);
            for (k, v) in data.operands.iter().enumerate() {
                let is_alike = match data.kind {
                    OpKind::Store | OpKind::Atomic(_) => k == 1,
                    OpKind::Binary(op) => is_alike(op),
                    OpKind::Unary(op) => op == UnaryOp::Neg,
                    _ => false,
                };
                let uses = &mut alike[v.index()];
                *uses = uses.filter(|_| is_alike).map(|uses| uses + 1);
            }
        }
    }
    alike
}
