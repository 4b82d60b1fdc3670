//! Components and fields of composite values.

use inkle_ir::{Type, Value};

use super::{Frame, Lower, Result};
use crate::emitter::Int;
use crate::error::CodegenError;
use crate::value::{Parts, Val, part_count};

/// Values of more components than this are indexed through memory.
const SELECT_LIMIT: usize = 16;

/// Which parts of a value a component or field takes.
fn part_range(ty: Type, index: u32) -> Option<std::ops::Range<usize>> {
    let index = index as usize;
    match (ty, ty.fields()) {
        (_, Some(s)) => {
            let field = s.fields.get(index)?;
            let start = s.fields[..index].iter().map(|f| part_count(f.ty)).sum();
            Some(start..start + part_count(field.ty))
        }
        (other, None) => (index < other.component_count()? as usize).then_some(index..index + 1),
    }
}

impl<'m> Lower<'_, 'm> {
    pub fn extract(&mut self, frame: &Frame<'m>, x: Value, index: u32) -> Result<Parts> {
        let range = part_range(frame.function.ty(x), index)
            .ok_or_else(|| CodegenError::broken(format!("{x} has no component {index}")))?;
        let parts = frame.get(x)?;
        parts
            .get(range)
            .map(|parts| parts.iter().copied().collect())
            .ok_or_else(|| CodegenError::broken(format!("{x} lacks parts")))
    }

    pub fn insert(&mut self, frame: &Frame<'m>, x: Value, v: Value, index: u32) -> Result<Parts> {
        let range = part_range(frame.function.ty(x), index)
            .ok_or_else(|| CodegenError::broken(format!("{x} has no component {index}")))?;
        let mut parts = frame.get(x)?.clone();
        let new = frame.get(v)?;
        if range.len() != new.len() || range.end > parts.len() {
            return Err(CodegenError::broken(format!("{v} does not fit component {index} of {x}")));
        }
        parts[range].copy_from_slice(new);
        Ok(parts)
    }

    pub fn extract_dyn(&mut self, frame: &Frame<'m>, x: Value, index: Value) -> Result<Parts> {
        let parts = frame.get(x)?.clone();
        self.check_component(frame, frame.function.ty(x), index)?;
        let index = frame.get1(index)?;
        if let Val::Uniform(i) = index
            && let Some(k) = self.e.as_const_int(i)
        {
            let last = parts.len().saturating_sub(1);
            return Ok(parts.get((k.max(0) as usize).min(last)).copied().into_iter().collect());
        }
        if let (true, Val::Uniform(i)) = (self.lanes == 1 && parts.len() > SELECT_LIMIT, index) {
            let align = frame.function.ty(x).align();
            let slot = self.spill(&parts, align)?;
            let element = self.spilled_element(&parts, slot, i)?;
            let ty = self.e.type_of(self.uniform(parts[0])?);
            return Ok([Val::Uniform(self.e.load(ty, element, align))].into_iter().collect());
        }
        let Some((&first, rest)) = parts.split_first() else {
            return Err(CodegenError::broken(format!("{x} has no components")));
        };
        let mut result = first;
        for (k, &part) in rest.iter().enumerate() {
            let hit = self.is_index(index, k + 1);
            result = self.select(hit, part, result);
        }
        Ok([result].into_iter().collect())
    }

    pub fn insert_dyn(&mut self, frame: &Frame<'m>, x: Value, v: Value, index: Value) -> Result<Parts> {
        let mut parts = frame.get(x)?.clone();
        self.check_component(frame, frame.function.ty(x), index)?;
        let (v, index) = (frame.get1(v)?, frame.get1(index)?);
        if let Val::Uniform(i) = index
            && let Some(k) = self.e.as_const_int(i)
        {
            if let Some(slot) = usize::try_from(k).ok().and_then(|k| parts.get_mut(k)) {
                *slot = v;
            }
            return Ok(parts);
        }
        if let (true, Val::Uniform(i)) = (self.lanes == 1 && parts.len() > SELECT_LIMIT, index) {
            let align = frame.function.ty(x).align();
            let slot = self.spill(&parts, align)?;
            let element = self.spilled_element(&parts, slot, i)?;
            let v = self.uniform(v)?;
            let ty = self.e.type_of(v);
            self.e.store(v, element, align);
            let int = self.e.int(64);
            let array = self.e.array(ty, 1);
            return Ok((0..parts.len())
                .map(|k| {
                    let at = self.e.gep(array, slot, self.e.const_int(int, k as i64));
                    Val::Uniform(self.e.load(ty, at, align))
                })
                .collect());
        }
        for (k, part) in parts.iter_mut().enumerate() {
            let hit = self.is_index(index, k);
            *part = self.select(hit, v, *part);
        }
        Ok(parts)
    }

    fn is_index(&mut self, index: Val, k: usize) -> Val {
        self.map([index], |l, [i]| l.e.icmp(Int::LLVMIntEQ, i, l.e.const_int(l.e.type_of(i), k as i64)))
    }

    /// Writes scalar parts to a stack slot.
    fn spill(&mut self, parts: &Parts, align: u32) -> Result<crate::emitter::V> {
        let first = self.uniform(parts[0])?;
        let ty = self.e.type_of(first);
        let slot = self.e.alloca(self.e.array(ty, parts.len() as u64));
        let array = self.e.array(ty, 1);
        for (k, &part) in parts.iter().enumerate() {
            let v = self.uniform(part)?;
            let at = self.e.gep(array, slot, self.e.i64(k as i64));
            self.e.store(v, at, align);
        }
        Ok(slot)
    }

    /// The address of a spilled component; an index out of range means the last one.
    fn spilled_element(
        &mut self,
        parts: &Parts,
        slot: crate::emitter::V,
        index: crate::emitter::V,
    ) -> Result<crate::emitter::V> {
        let first = self.uniform(parts[0])?;
        let ty = self.e.type_of(index);
        let last = self.e.const_int(ty, parts.len() as i64 - 1);
        let index = self.e.intrinsic("llvm.umin", &[ty], &[index, last]);
        let index = self.e.zext(index, self.e.int(64));
        let array = self.e.array(self.e.type_of(first), 1);
        Ok(self.e.gep(array, slot, index))
    }
}
