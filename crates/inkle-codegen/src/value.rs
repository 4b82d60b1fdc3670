//! How kernel values appear in LLVM: a list of parts, each a scalar or one vector over the lanes.
//!
//! Composite values are never LLVM aggregates. A vec3 is three parts, a struct the parts of its fields, an array
//! its address, gradient address, extents and strides. So no pass has to take aggregates apart again, and with
//! W lanes each part simply becomes a vector of W.

use inkle_ir::{ArrayKind, Scalar, Type};
use smallvec::SmallVec;

use crate::emitter::V;

/// What one part of a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// A scalar.
    Scalar(Scalar),
    /// An address in device memory.
    Pointer,
}

impl Part {
    /// Size and alignment in memory, bytes.
    pub fn size(self) -> u32 {
        match self {
            Part::Scalar(s) => s.size(),
            Part::Pointer => 8,
        }
    }
}

/// The parts of a type, in order, with their offsets in memory, bytes. An empty struct has none.
pub(crate) fn parts(ty: Type) -> SmallVec<[(Part, u32); 8]> {
    let mut out = SmallVec::new();
    push_parts(ty, 0, &mut out);
    out
}

fn push_parts(ty: Type, base: u32, out: &mut SmallVec<[(Part, u32); 8]>) {
    match ty {
        Type::Struct(s) => {
            for (field, layout) in s.fields.iter().zip(s.layout().0) {
                push_parts(field.ty, base + layout.offset, out);
            }
        }
        Type::Array(a) if let Some(fields) = a.fabric_fields() => push_parts(Type::Struct(fields), base, out),
        Type::Array(a) => {
            out.push((Part::Pointer, base + array_offset::DATA));
            out.push((Part::Pointer, base + array_offset::GRAD));
            for d in 0..a.ndim {
                out.push((Part::Scalar(Scalar::I32), base + array_offset::SHAPE + 4 * d));
            }
            for d in 0..a.ndim {
                out.push((Part::Scalar(Scalar::I64), base + array_offset::STRIDES + 8 * d));
            }
            if a.kind == ArrayKind::Indexed {
                for d in 0..a.ndim {
                    out.push((Part::Pointer, base + array_offset::INDICES + 8 * d));
                }
                for d in 0..a.ndim {
                    out.push((Part::Scalar(Scalar::I32), base + array_offset::INDEXED_SHAPE + 4 * d));
                }
            }
        }
        Type::Ref(_) => out.push((Part::Pointer, base)),
        Type::Scalar(s) => out.push((Part::Scalar(s), base)),
        Type::Vec { .. } | Type::Mat { .. } | Type::Quat(_) | Type::Transform(_) => {
            if let (Some(s), Some(n)) = (ty.scalar(), ty.component_count()) {
                out.extend((0..n).map(|i| (Part::Scalar(s), base + i * s.size())));
            }
        }
    }
}

/// Offsets in array descriptors, from the structs the runtime fills in.
mod array_offset {
    use std::mem::offset_of;

    use inkle_ir::{ArrayDesc, IndexedArrayDesc};

    pub const DATA: u32 = offset_of!(ArrayDesc, data) as u32;
    pub const GRAD: u32 = offset_of!(ArrayDesc, grad) as u32;
    pub const SHAPE: u32 = offset_of!(ArrayDesc, shape) as u32;
    pub const STRIDES: u32 = offset_of!(ArrayDesc, strides) as u32;
    pub const INDICES: u32 = offset_of!(IndexedArrayDesc, indices) as u32;
    pub const INDEXED_SHAPE: u32 = offset_of!(IndexedArrayDesc, shape) as u32;
}

/// The number of parts of a type.
pub(crate) fn part_count(ty: Type) -> usize {
    match ty {
        Type::Struct(s) => s.fields.iter().map(|f| part_count(f.ty)).sum(),
        Type::Array(a) if let Some(fields) = a.fabric_fields() => part_count(Type::Struct(fields)),
        Type::Array(a) => {
            let per_dim = if a.kind == ArrayKind::Indexed { 4 } else { 2 };
            2 + per_dim * a.ndim as usize
        }
        Type::Ref(_) => 1,
        other => other.component_count().unwrap_or(0) as usize,
    }
}

/// Positions of an array's parts.
#[derive(Clone, Copy)]
pub(crate) struct ArrayParts {
    pub ndim: usize,
    pub indexed: bool,
}

impl ArrayParts {
    pub const DATA: usize = 0;
    pub const GRAD: usize = 1;

    pub fn of(ty: &inkle_ir::ArrayType) -> ArrayParts {
        ArrayParts { ndim: ty.ndim as usize, indexed: ty.kind == ArrayKind::Indexed }
    }

    /// Extent of the memory's own dimension; for indexed arrays not what the kernel sees.
    pub fn inner_shape(self, dim: usize) -> usize {
        2 + dim
    }

    pub fn stride(self, dim: usize) -> usize {
        2 + self.ndim + dim
    }

    pub fn index_list(self, dim: usize) -> usize {
        2 + 2 * self.ndim + dim
    }

    /// Extent as the kernel sees it.
    pub fn shape(self, dim: usize) -> usize {
        if self.indexed { 2 + 3 * self.ndim + dim } else { self.inner_shape(dim) }
    }
}

/// One part of a value over the lanes. With one lane every part is `Uniform`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Val {
    /// The same in all active lanes: an LLVM scalar.
    Uniform(V),
    /// `base + lane * stride`: an integer, or an address with the stride in bytes.
    Linear { base: V, stride: i64 },
    /// One element per lane: an LLVM vector.
    Varying(V),
    /// An address `base + index[lane] * scale` bytes; `index` is a vector of i32 or i64. Kept apart because
    /// gathers and scatters of this form are single instructions.
    Indexed { base: V, index: V, scale: u32 },
}

impl Val {
    pub fn is_uniform(self) -> bool {
        matches!(self, Val::Uniform(_))
    }
}

/// A whole value: its parts in order.
pub(crate) type Parts = SmallVec<[Val; 4]>;

#[cfg(test)]
mod tests {
    use super::*;
    use inkle_ir::Field;

    #[test]
    fn parts_follow_the_layout() {
        let field = |name: &str, ty| Field { name: name.into(), ty };
        let s = Type::structure(
            "S",
            vec![
                field("flag", Type::BOOL),
                field("v", Type::vec(2, Scalar::F64)),
                field("a", Type::array_of_kind(Type::F32, 1, ArrayKind::Indexed)),
            ],
        );
        let offsets: Vec<u32> = parts(s).iter().map(|p| p.1).collect();
        assert_eq!(offsets, [0, 8, 16, 24, 32, 40, 56, 88, 120]);
        assert_eq!(part_count(s), offsets.len());
    }
}
