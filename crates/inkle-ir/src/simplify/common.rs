//! Merges operations that compute the same.

use std::mem::Discriminant;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::effects::Effects;
use super::substitution::Substitution;
use crate::ir::{Block, Function, Op, OpData, Value};
use crate::op::{BinaryOp, CmpOp, Constant, OpKind};
use crate::types::Type;

/// Replaces pure operations, and calls of pure functions, by an equal one before them that is in scope.
/// `known` holds the effects of the module's functions before this one. Whether anything was merged.
pub fn merge_common(function: &mut Function, known: &[Effects]) -> bool {
    let body = function.body;
    let substitution = Substitution::new(function);
    let mut merger = Merger { function, known, substitution, available: FxHashMap::default(), merged: false };
    merger.block(body);
    merger.merged
}

/// What makes two operations equal.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: Discriminant<OpKind>,
    /// The constant, index or operation within the kind.
    detail: (u64, u64),
    operands: SmallVec<[Value; 4]>,
    /// The result type, where operands and kind leave it open.
    ty: (u64, u64),
}

struct Merger<'a> {
    function: &'a mut Function,
    known: &'a [Effects],
    substitution: Substitution,
    available: FxHashMap<Key, Op>,
    merged: bool,
}

impl Merger<'_> {
    fn block(&mut self, block: Block) {
        let mut added: Vec<Key> = Vec::new();
        let ops = std::mem::take(&mut self.function.block_mut(block).ops);
        let mut kept = Vec::with_capacity(ops.len());
        for op in ops {
            self.substitution.apply(self.function, op);
            let Some(key) = key(self.function, self.known, op) else {
                for inner in self.function.op(op).blocks.clone() {
                    self.block(inner);
                }
                kept.push(op);
                continue;
            };
            if let Some(&before) = self.available.get(&key) {
                for index in 0..self.function.op(op).results.len() {
                    let (result, with) =
                        (self.function.op(op).results[index], self.function.op(before).results[index]);
                    self.substitution.set(result, with);
                }
                self.merged = true;
                continue;
            }
            added.push(Key { operands: key.operands.clone(), ..key });
            self.available.insert(key, op);
            kept.push(op);
        }
        self.function.block_mut(block).ops = kept;
        for key in added {
            self.available.remove(&key);
        }
    }
}

/// The key of an operation that may be merged.
fn key(f: &Function, known: &[Effects], op: Op) -> Option<Key> {
    let data = f.op(op);
    let detail = match data.kind {
        OpKind::Const(Constant::Bool(b)) => (0, u64::from(b)),
        OpKind::Const(Constant::Int(i)) => ((i >> 64) as u64, i as u64),
        OpKind::Const(Constant::Float(x)) => (0, x.to_bits()),
        OpKind::Unary(op) => (0, op as u64),
        OpKind::Binary(op) => (0, op as u64),
        OpKind::Cmp(op) => (0, op as u64),
        OpKind::Extract(i)
        | OpKind::Insert(i)
        | OpKind::Field(i)
        | OpKind::View(i)
        | OpKind::Window(i)
        | OpKind::Shape(i)
        | OpKind::Stride(i)
        | OpKind::Tid(i)
        | OpKind::LaunchDim(i) => (0, i.into()),
        OpKind::Call(callee) if known.get(callee.index()).is_some_and(|e| e.is_pure) => {
            (0, callee.index() as u64)
        }
        _ if data.kind.is_pure() => (0, 0),
        _ => return None,
    };
    let ty = match data.kind {
        OpKind::Const(_)
        | OpKind::Zero
        | OpKind::Cast
        | OpKind::Bitcast
        | OpKind::Construct
        | OpKind::ArrayAt => type_key(f.ty(*data.results.first()?)),
        _ => (0, 0),
    };
    let mut operands = data.operands.clone();
    if is_symmetric(data) {
        operands.sort_unstable();
    }
    Some(Key { kind: std::mem::discriminant(&data.kind), detail, operands, ty })
}

fn is_symmetric(data: &OpData) -> bool {
    matches!(
        data.kind,
        OpKind::Binary(BinaryOp::Add | BinaryOp::Mul | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
            | OpKind::Cmp(CmpOp::Eq | CmpOp::Ne)
    )
}

/// Equal for equal types; the parts of composite types are interned, so their addresses tell them apart.
fn type_key(ty: Type) -> (u64, u64) {
    match ty {
        Type::Scalar(s) => (0, s as u64),
        Type::Vec { len, elem } => (1 | (elem as u64) << 8, len.into()),
        Type::Mat { rows, cols, elem } => (2 | (elem as u64) << 8, u64::from(rows) << 32 | u64::from(cols)),
        Type::Quat(s) => (3, s as u64),
        Type::Transform(s) => (4, s as u64),
        Type::Struct(s) => (5, std::ptr::from_ref(s) as u64),
        Type::Array(a) => (6, std::ptr::from_ref(a) as u64),
        Type::Ref(t) => (7, std::ptr::from_ref(t) as u64),
    }
}
