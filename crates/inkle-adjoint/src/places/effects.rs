//! What functions do with memory.

use std::ops::BitOr;

use inkle_ir::{Function, OpKind, Scalar, Type};

/// What may lie in memory: scalars, and one bit for arrays and addresses.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds(u16);

impl Kinds {
    pub const ALL: Kinds = Kinds(u16::MAX);
    const ADDRESSES: Kinds = Kinds(1 << Scalar::ALL.len());

    pub fn of(ty: Type) -> Kinds {
        match ty {
            Type::Struct(s) => s.fields.iter().fold(Kinds::default(), |all, f| all | Kinds::of(f.ty)),
            Type::Array(_) | Type::Ref(_) => Kinds::ADDRESSES,
            _ => ty.scalar().map_or(Kinds::ALL, |scalar| Kinds(1 << scalar as u16)),
        }
    }

    pub fn overlaps(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }
}

impl BitOr for Kinds {
    type Output = Kinds;

    fn bitor(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// What a function and those that it calls do with memory.
#[derive(Clone, Copy, Default)]
pub struct Effects {
    pub reads: bool,
    pub writes: Kinds,
}

impl Effects {
    pub fn of(f: &Function, known: &[Effects]) -> Effects {
        if f.native().is_some() {
            return Effects { reads: true, writes: Kinds::ALL };
        }
        let mut effects = Effects::default();
        let mut stack = vec![f.body];
        while let Some(block) = stack.pop() {
            for &op in &f.block(block).ops {
                let data = f.op(op);
                match data.kind {
                    OpKind::Load => effects.reads = true,
                    OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas => {
                        effects.writes = effects.writes | Kinds::of(f.ty(data.operands[1]));
                    }
                    OpKind::Call(callee) => {
                        effects.reads |= known[callee.index()].reads;
                        effects.writes = effects.writes | known[callee.index()].writes;
                    }
                    _ => {}
                }
                stack.extend(&data.blocks);
            }
        }
        effects
    }
}
