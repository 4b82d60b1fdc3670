//! Arrays of a thread's own: stack memory, cleared where they are made.
//!
//! With lanes the elements of all lanes alternate: element `i` of lane `l` is at `(i * lanes + l) * size`, so that
//! lanes that look at one index read and write neighbours.

use inkle_ir::{Block, Module, OpKind, Type};

use super::{Lower, Result};
use crate::emitter::{Int, V};
use crate::error::CodegenError;
use crate::value::{Parts, Val};

/// Under a mask up to this many elements are cleared one after another, more in a loop.
const CLEAR_UNROLLED: u64 = 8;
/// Alignment of the memory, bytes: a cache line, which is also the widest vector.
const ALIGN: u32 = 64;

/// Per function, something added up over its operations and the functions that it calls.
fn sums<T: Copy + Default>(
    module: &Module,
    of: impl Fn(&OpKind, Option<Type>) -> T,
    add: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut sums: Vec<T> = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let mut sum = T::default();
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                let data = function.op(op);
                let part = match &data.kind {
                    OpKind::Call(callee) => sums.get(callee.index()).copied().unwrap_or_default(),
                    kind => of(kind, data.results.first().map(|&r| function.ty(r))),
                };
                sum = add(sum, part);
            }
        }
        sums.push(sum);
    }
    sums
}

fn size(kind: &OpKind, ty: Option<Type>) -> u64 {
    match (kind, ty.and_then(Type::as_array)) {
        (OpKind::Local(extents), Some(array)) => {
            extents.iter().fold(array.elem.size().into(), |n: u64, &extent| n.saturating_mul(extent.into()))
        }
        _ => 0,
    }
}

/// Bytes of arrays that one thread of the kernel has, its calls expanded.
pub(crate) fn local_bytes(module: &Module) -> u64 {
    sums(module, size, u64::saturating_add).last().copied().unwrap_or(0)
}

/// Per function, whether it may return an array of the thread's own.
pub(super) fn returns_local(module: &Module) -> Vec<bool> {
    fn holds_array(ty: Type) -> bool {
        match ty {
            Type::Array(_) => true,
            Type::Struct(s) => s.fields.iter().any(|f| holds_array(f.ty)),
            _ => false,
        }
    }
    let has = sums(module, |kind, _| matches!(kind, OpKind::Local(_)), |a, b| a | b);
    let functions = module.functions.iter().zip(has);
    functions.map(|(f, has)| has && f.results.iter().any(|&ty| holds_array(ty))).collect()
}

impl<'m> Lower<'_, 'm> {
    /// A cleared array of type `ty`.
    pub fn local(&mut self, ty: Type, extents: &[u32]) -> Result<Parts> {
        let Some(array) = ty.as_array().filter(|a| a.ndim as usize == extents.len()) else {
            return Err(CodegenError::broken(format!("local {extents:?} gives {ty}")));
        };
        let (elem, lanes) = (array.elem, u64::from(self.lanes));
        let count = extents.iter().fold(1u64, |n, &extent| n * u64::from(extent));
        let pitch = u64::from(elem.size()) * lanes;
        let slot = self.e.alloca(self.e.array(self.e.int(8), count * pitch));
        self.e.set_slot_align(slot, ALIGN);
        let base = if self.machine.gpu {
            let generic = self.pointer_type();
            self.e.address_space_cast(slot, generic)
        } else {
            slot
        };
        let data =
            if lanes == 1 { Val::Uniform(base) } else { Val::Linear { base, stride: elem.size().into() } };
        self.clear(elem, data, count, pitch);
        let mut result: Parts = [data, Val::Uniform(self.e.null(self.pointer_type()))].into_iter().collect();
        result.extend(extents.iter().map(|&extent| Val::Uniform(self.e.i32(extent as i32))));
        for dim in 1..=extents.len() {
            let stride = extents[dim..].iter().fold(pitch, |n, &extent| n * u64::from(extent));
            result.push(Val::Uniform(self.e.i64(stride as i64)));
        }
        Ok(result)
    }

    /// Clears `count` elements of all active lanes; the others may hold arrays that are still looked at.
    fn clear(&mut self, elem: Type, data: Val, count: u64, pitch: u64) {
        let (Val::Uniform(base) | Val::Linear { base, .. }, None) = (data, self.mask) else {
            return self.clear_masked(elem, data, count, pitch);
        };
        let (int64, zero) = (self.e.int(64), self.e.null(self.e.int(8)));
        let length = self.e.i64((count * pitch) as i64);
        let types = [self.e.type_of(base), int64];
        let call = self.e.intrinsic("llvm.memset", &types, &[base, zero, length, self.e.i1(false)]);
        self.e.set_argument_align(call, 0, ALIGN);
    }

    fn clear_masked(&mut self, elem: Type, data: Val, count: u64, pitch: u64) {
        let zero = self.zero(elem);
        let stride = Val::Uniform(self.e.i64(pitch as i64));
        let clear = |l: &mut Self, i: V| {
            let at = l.offset(data, Val::Uniform(i), stride);
            l.store(elem, at, &zero);
        };
        if count <= CLEAR_UNROLLED {
            for i in 0..count {
                let i = self.e.i64(i as i64);
                clear(self, i);
            }
            return;
        }
        let before = self.e.current_block();
        let head = self.e.new_block("clear");
        let done = self.e.new_block("cleared");
        self.e.br(head);
        self.e.at_end(head);
        let i = self.e.phi(self.e.int(64));
        self.e.add_incoming(i, self.e.i64(0), before);
        clear(self, i);
        let next = self.e.add_nsw(i, self.e.i64(1));
        let end = self.e.current_block();
        self.e.add_incoming(i, next, end);
        let more = self.e.icmp(Int::LLVMIntSLT, next, self.e.i64(count as i64));
        self.e.cond_br(more, head, done);
        self.e.at_end(done);
    }
}
