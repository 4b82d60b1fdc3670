//! Arrays and addresses: where an element lies.

use std::collections::HashMap;

use inkle_ir::{ArrayType, Block, CmpOp, Constant, Function, OpData, OpKind, Scalar, Type, Value};

use super::neighbours::Unwrapped;
use super::{Frame, Lower, Result};
use crate::emitter::{Int, V};
use crate::error::CodegenError;
use crate::value::{ArrayParts, Parts, Val, part_count};

/// An index that is a constant.
fn constant_index(function: &Function, index: Value) -> Option<u32> {
    match function.defining_op(index)?.kind {
        OpKind::Const(Constant::Int(index)) => u32::try_from(index).ok(),
        _ => None,
    }
}

/// Per array of several dimensions: one more than the largest constant that is the last index.
pub(super) fn row_lengths(function: &Function) -> HashMap<Value, u32> {
    let mut lengths = HashMap::new();
    for block in 0..function.block_count() {
        for &op in &function.block(Block::new(block)).ops {
            let data = function.op(op);
            if let (OpKind::Elem, [array, _, .., last]) = (&data.kind, data.operands.as_slice())
                && let Some(index) = constant_index(function, *last)
            {
                let length: &mut u32 = lengths.entry(*array).or_default();
                *length = index.saturating_add(1).max(*length);
            }
        }
    }
    lengths
}

impl<'m> Lower<'_, 'm> {
    fn array_type(&self, frame: &Frame<'m>, array: Value) -> Result<&'static ArrayType> {
        frame
            .function
            .ty(array)
            .as_array()
            .filter(|a| !a.kind.is_fabric())
            .ok_or_else(|| CodegenError::broken(format!("{array} is not an array")))
    }

    /// Fetches an array's parts and checks their number.
    fn array_parts(&self, frame: &Frame<'m>, array: Value) -> Result<(ArrayParts, Parts)> {
        let layout = ArrayParts::of(self.array_type(frame, array)?);
        let parts = frame.get(array)?.clone();
        if parts.len() != part_count(frame.function.ty(array)) {
            return Err(CodegenError::broken(format!("{array} lacks parts of an array")));
        }
        Ok((layout, parts))
    }

    pub fn elem(&mut self, frame: &Frame<'m>, data: &OpData) -> Result<Val> {
        let Some((&array, indices)) = data.operands.split_first() else {
            return Err(CodegenError::broken("elem without an array"));
        };
        let (layout, parts) = self.array_parts(frame, array)?;
        if indices.len() != layout.ndim {
            return Err(CodegenError::broken("elem needs an index per dimension"));
        }
        let mut address = parts[ArrayParts::DATA];
        for (dim, &index) in indices.iter().enumerate() {
            self.check_index(frame, array, dim, index, parts[layout.shape(dim)])?;
            let index = frame.get1(index)?;
            let index = self.through_list(layout, &parts, dim, index);
            address = self.offset(address, index, parts[layout.stride(dim)]);
        }
        self.note_row(frame, array, indices, address);
        Ok(address)
    }

    /// Remembers how long rows of numbers seem to be of which lanes hold one each: as many as constant indices name.
    fn note_row(&mut self, frame: &Frame<'m>, array: Value, indices: &[Value], address: Val) {
        if let (Val::Indexed { index, scale: 1, .. }, [_, .., last]) = (address, indices)
            && let Some(&stride) = self.strides.get(&index)
            && let Some(size) = frame.function.ty(array).as_array().and_then(|a| a.elem.as_scalar())
            && constant_index(frame.function, *last).is_some()
            && !self.rare
        {
            let bytes = frame.row_length(array).saturating_mul(size.size());
            self.rows.insert(index, (stride, bytes));
        }
    }

    /// Remembers an index over the lanes that counts from the end where it is negative (`select %i < 0, %i + extent, %i`): in
    /// nearly all vectors it is not, and then lanes may be neighbours.
    pub fn note_wrap(&mut self, frame: &Frame<'m>, data: &OpData, chosen: &Parts) {
        let ([condition, _, plain], [Val::Varying(index)]) = (data.operands.as_slice(), chosen.as_slice())
        else {
            return;
        };
        let function = frame.function;
        let is_zero = |v: &Value| {
            matches!(function.defining_op(*v).map(|d| &d.kind), Some(OpKind::Const(Constant::Int(0))))
        };
        let tests = function.defining_op(*condition).is_some_and(|test| {
            test.kind == OpKind::Cmp(CmpOp::Lt)
                && matches!(test.operands.as_slice(), [x, zero] if x == plain && is_zero(zero))
        });
        if !tests || self.machine.gpu {
            return;
        }
        let unwrapped = match frame.get1(*plain) {
            Ok(Val::Linear { base, stride: stride @ 1.. }) => Unwrapped::Linear(base, stride),
            Ok(Val::Varying(plain)) => Unwrapped::Varying(plain),
            _ => return,
        };
        self.wrapped.insert(*index, unwrapped);
    }

    /// The sub-array at an index of dimension `dim`.
    pub fn view(&mut self, frame: &Frame<'m>, array: Value, index: Value, dim: u32) -> Result<Parts> {
        let (layout, parts) = self.array_parts(frame, array)?;
        let dim = dim as usize;
        if layout.ndim < 2 || dim >= layout.ndim {
            return Err(CodegenError::broken(format!("{array} has no views at dimension {dim}")));
        }
        self.check_index(frame, array, dim, index, parts[layout.shape(dim)])?;
        let index = frame.get1(index)?;
        let index = self.through_list(layout, &parts, dim, index);
        let kept = || (0..layout.ndim).filter(|&d| d != dim);
        let mut result = self.moved(&parts, index, parts[layout.stride(dim)]);
        result.extend(kept().map(|d| parts[layout.inner_shape(d)]));
        result.extend(kept().map(|d| parts[layout.stride(d)]));
        if layout.indexed {
            result.extend(kept().map(|d| parts[layout.index_list(d)]));
            result.extend(kept().map(|d| parts[layout.shape(d)]));
        }
        Ok(result)
    }

    /// Part of dimension `dim`.
    pub fn window(&mut self, frame: &Frame<'m>, data: &OpData, dim: u32) -> Result<Parts> {
        let [array, start, extent, step] = *data.operands.as_slice() else {
            return Err(CodegenError::broken("window takes an array, a start, an extent and a step"));
        };
        let (layout, parts) = self.array_parts(frame, array)?;
        let dim = dim as usize;
        if layout.indexed || dim >= layout.ndim {
            return Err(CodegenError::broken(format!("{array} has no windows at dimension {dim}")));
        }
        let (start, extent, step) = (frame.get1(start)?, frame.get1(extent)?, frame.get1(step)?);
        let stride = parts[layout.stride(dim)];
        let moved = self.moved(&parts, start, stride);
        let mut result = parts;
        result[..2].copy_from_slice(&moved);
        result[layout.shape(dim)] = extent;
        let is_one = matches!(step, Val::Uniform(s) if self.e.as_const_int(s) == Some(1));
        if !is_one {
            result[layout.stride(dim)] = self.map([stride, step], |l, [stride, step]| {
                let ty = l.e.type_like(l.e.int(64), step);
                let step = l.e.sext(step, ty);
                l.e.mul(stride, step)
            });
        }
        Ok(result)
    }

    /// The addresses of an array and its gradient, `index * stride` bytes on.
    fn moved(&mut self, parts: &Parts, index: Val, stride: Val) -> Parts {
        let grad = parts[ArrayParts::GRAD];
        let address = self.offset(parts[ArrayParts::DATA], index, stride);
        let grad_address = self.offset(grad, index, stride);
        // An array without gradients has views without gradients.
        let has_grad = self.map([grad], |l, [g]| l.e.icmp(Int::LLVMIntNE, g, l.e.null(l.e.type_of(g))));
        let null = Val::Uniform(self.e.null(self.pointer_type()));
        let grad_address = self.select(has_grad, grad_address, null);
        [address, grad_address].into_iter().collect()
    }

    /// The array whose elements lie one after another from an address on.
    pub fn array_at(&mut self, frame: &Frame<'m>, data: &OpData, ty: Type) -> Result<Parts> {
        let (Some(array), Some((&address, extents))) = (ty.as_array(), data.operands.split_first()) else {
            return Err(CodegenError::broken("array_at takes an address and gives an array"));
        };
        let address = frame.get1(address)?;
        let address = self.map([address], |l, [a]| {
            let ty = l.e.type_like(l.pointer_type(), a);
            l.e.int_to_ptr(a, ty)
        });
        let null = Val::Uniform(self.e.null(self.pointer_type()));
        let extents = extents.iter().map(|&v| frame.get1(v)).collect::<Result<Vec<_>>>()?;
        let mut stride = Val::Uniform(self.e.i64(array.elem.size().into()));
        let mut strides = Vec::new();
        for &extent in extents.iter().rev() {
            strides.push(stride);
            stride = self.map([stride, extent], |l, [stride, extent]| {
                let ty = l.e.type_like(l.e.int(64), extent);
                let extent = l.e.sext(extent, ty);
                l.e.mul(stride, extent)
            });
        }
        Ok([address, null].into_iter().chain(extents).chain(strides.into_iter().rev()).collect())
    }

    /// The index in memory of an index that the kernel sees: looked up in the dimension's list, if it has one.
    fn through_list(&mut self, layout: ArrayParts, parts: &Parts, dim: usize, index: Val) -> Val {
        if !layout.indexed {
            return index;
        }
        let list = parts[layout.index_list(dim)];
        let index = self.map([index], |l, [i]| {
            let ty = l.e.type_like(l.e.int(64), i);
            l.e.sext(i, ty)
        });
        let int = Type::I32;
        match list {
            Val::Uniform(list) => {
                let has_list = self.e.icmp(Int::LLVMIntNE, list, self.e.null(self.pointer_type()));
                let before = self.e.current_block();
                let lookup = self.e.new_block("lookup");
                let join = self.e.new_block("looked_up");
                // The plain index is made here, where it dominates the join.
                let plain = if index.is_uniform() { index } else { Val::Varying(self.wide(index)) };
                self.e.cond_br(has_list, lookup, join);
                self.e.at_end(lookup);
                let stride = Val::Uniform(self.e.i64(4));
                let at = self.offset(Val::Uniform(list), index, stride);
                let found = self.load(int, at)[0];
                let found = self.cast(found, Scalar::I32, Scalar::I64);
                let end = self.e.current_block();
                let (found, plain) = match (found, plain) {
                    (Val::Uniform(f), Val::Uniform(p)) => (f, p),
                    (f, p) => (self.wide(f), self.wide(p)),
                };
                self.e.br(join);
                self.e.at_end(join);
                let phi = self.e.phi(self.e.type_of(found));
                self.e.add_incoming(phi, plain, before);
                self.e.add_incoming(phi, found, end);
                if self.e.is_vector(phi) { Val::Varying(phi) } else { Val::Uniform(phi) }
            }
            _ => {
                // Lanes with and without a list: those without read nothing.
                let lists = self.wide(list);
                let has_list = self.e.icmp(Int::LLVMIntNE, lists, self.e.null(self.e.type_of(lists)));
                let outer = self.mask;
                self.mask = Some(match outer {
                    Some(mask) => self.e.and(mask, has_list),
                    None => has_list,
                });
                let stride = Val::Uniform(self.e.i64(4));
                let at = self.offset(list, index, stride);
                let found = self.load(int, Val::Varying(self.wide(at)))[0];
                self.mask = outer;
                let found = self.cast(found, Scalar::I32, Scalar::I64);
                self.select(Val::Varying(has_list), found, index)
            }
        }
    }

    /// The address of a struct's field.
    pub fn field(&mut self, frame: &Frame<'m>, reference: Value, index: u32) -> Result<Val> {
        let layout = frame
            .function
            .ty(reference)
            .as_ref_target()
            .and_then(Type::as_struct)
            .and_then(|s| s.layout().0.get(index as usize).copied())
            .ok_or_else(|| CodegenError::broken(format!("{reference} has no field {index}")))?;
        let address = frame.get1(reference)?;
        Ok(self.byte_offset(address, layout.offset))
    }

    /// The address of a component.
    pub fn comp(&mut self, frame: &Frame<'m>, data: &OpData) -> Result<Val> {
        let [reference, index] = *data.operands.as_slice() else {
            return Err(CodegenError::broken("comp takes a ref and an index"));
        };
        let scalar = frame
            .function
            .ty(reference)
            .as_ref_target()
            .and_then(Type::scalar)
            .ok_or_else(|| CodegenError::broken(format!("{reference} has no components")))?;
        if let Some(target) = frame.function.ty(reference).as_ref_target() {
            self.check_component(frame, target, index)?;
        }
        let (address, index) = (frame.get1(reference)?, frame.get1(index)?);
        let stride = Val::Uniform(self.e.i64(scalar.size().into()));
        Ok(self.offset(address, index, stride))
    }

    pub fn grad_array(&mut self, frame: &Frame<'m>, array: Value) -> Result<Parts> {
        let (_, mut parts) = self.array_parts(frame, array)?;
        parts[ArrayParts::DATA] = parts[ArrayParts::GRAD];
        parts[ArrayParts::GRAD] = Val::Uniform(self.e.null(self.pointer_type()));
        Ok(parts)
    }

    pub fn shape(&mut self, frame: &Frame<'m>, array: Value, dim: u32) -> Result<Val> {
        let (layout, parts) = self.array_parts(frame, array)?;
        if dim as usize >= layout.ndim {
            return Err(CodegenError::broken(format!("{array} has no dimension {dim}")));
        }
        Ok(parts[layout.shape(dim as usize)])
    }

    pub fn stride(&mut self, frame: &Frame<'m>, array: Value, dim: u32) -> Result<Val> {
        let (layout, parts) = self.array_parts(frame, array)?;
        if dim as usize >= layout.ndim {
            return Err(CodegenError::broken(format!("{array} has no dimension {dim}")));
        }
        Ok(parts[layout.stride(dim as usize)])
    }

    pub fn address(&mut self, frame: &Frame<'m>, of: Value) -> Result<Val> {
        let pointer = match frame.function.ty(of) {
            Type::Ref(_) => frame.get1(of)?,
            _ => self.array_parts(frame, of)?.1[ArrayParts::DATA],
        };
        Ok(self.map([pointer], |l, [p]| {
            let ty = l.e.type_like(l.e.int(64), p);
            l.e.ptr_to_int(p, ty)
        }))
    }

    /// `address + index * stride` bytes, in the form that says most about it.
    pub fn offset(&mut self, address: Val, index: Val, stride: Val) -> Val {
        let fixed = match stride {
            Val::Uniform(s) => self.e.as_const_int(s).filter(|s| (1..1 << 24).contains(s)),
            _ => None,
        };
        match (address, index, stride) {
            (Val::Uniform(a), Val::Uniform(i), Val::Uniform(s)) => Val::Uniform(self.scalar_offset(a, i, s)),
            (Val::Linear { base, stride: lane }, Val::Uniform(i), Val::Uniform(s)) => {
                Val::Linear { base: self.scalar_offset(base, i, s), stride: lane }
            }
            (Val::Indexed { base, index, scale }, Val::Uniform(i), Val::Uniform(s)) => {
                Val::Indexed { base: self.scalar_offset(base, i, s), index, scale }
            }
            (Val::Uniform(a), Val::Linear { base: i, stride: lane }, Val::Uniform(s))
                if let Some(fixed) = fixed.and_then(|f| f.checked_mul(lane)) =>
            {
                Val::Linear { base: self.scalar_offset(a, i, s), stride: fixed }
            }
            (Val::Linear { base, stride: outer }, Val::Linear { base: i, stride: lane }, Val::Uniform(s))
                if let Some(fixed) = fixed.and_then(|f| f.checked_mul(lane)) =>
            {
                Val::Linear { base: self.scalar_offset(base, i, s), stride: outer.wrapping_add(fixed) }
            }
            // How far lanes are apart is the same in all vectors, so it is not worked out again in each.
            (Val::Uniform(a), Val::Linear { base: i, stride: lane }, Val::Uniform(s))
                if fixed.is_none() && !self.machine.gpu =>
            {
                let index = self.ramp_of(lane, s);
                if lane == 1 {
                    self.strides.insert(index, s);
                }
                Val::Indexed { base: self.scalar_offset(a, i, s), index, scale: 1 }
            }
            (Val::Linear { base, stride: outer }, Val::Linear { base: i, stride: lane }, Val::Uniform(s))
                if fixed.is_none() && !self.machine.gpu =>
            {
                let (first, second) = (self.ramp(self.e.int(64), outer), self.ramp_of(lane, s));
                let index = self.e.add(first, second);
                Val::Indexed { base: self.scalar_offset(base, i, s), index, scale: 1 }
            }
            (Val::Uniform(a), index, Val::Uniform(s)) => match fixed {
                Some(fixed) => Val::Indexed { base: a, index: self.wide(index), scale: fixed as u32 },
                None => Val::Indexed { base: a, index: self.scaled(index, Val::Uniform(s)), scale: 1 },
            },
            (Val::Linear { base, stride: lane }, index, stride) => {
                let ramp = self.ramp(self.e.int(64), lane);
                let bytes = self.scaled(index, stride);
                Val::Indexed { base, index: self.e.add(ramp, bytes), scale: 1 }
            }
            (Val::Indexed { base, index: first, scale }, index, stride) => {
                let wide = self.e.vector(self.e.int(64), self.lanes);
                let first = self.e.sext(first, wide);
                let first = self.e.mul(first, self.e.const_int(wide, scale.into()));
                let bytes = self.scaled(index, stride);
                Val::Indexed { base, index: self.e.add(first, bytes), scale: 1 }
            }
            (address, index, stride) => {
                let bytes = self.scaled(index, stride);
                let address = self.wide(address);
                Val::Varying(self.e.gep(self.e.int(8), address, bytes))
            }
        }
    }

    /// `0, step * stride, 2 * step * stride, ...` over the lanes, as i64.
    fn ramp_of(&mut self, step: i64, stride: V) -> V {
        let steps = self.ramp(self.e.int(64), step);
        self.e.mul(steps, self.e.splat(stride, self.lanes))
    }

    /// `index * stride` over the lanes, bytes as i64.
    fn scaled(&mut self, index: Val, stride: Val) -> V {
        let wide = self.e.vector(self.e.int(64), self.lanes);
        let index = self.wide(index);
        let index = self.e.sext(index, wide);
        let stride = self.wide(stride);
        self.e.mul(index, stride)
    }

    pub fn scalar_offset(&mut self, address: V, index: V, stride: V) -> V {
        let index = self.e.sext(index, self.e.int(64));
        match self.e.as_const_int(stride) {
            Some(size @ 1..) => {
                let unit = self.e.array(self.e.int(8), size as u64);
                self.e.gep(unit, address, index)
            }
            _ => {
                let bytes = self.e.mul_nsw(index, stride);
                self.e.gep(self.e.int(8), address, bytes)
            }
        }
    }

    /// `address + bytes`.
    pub fn byte_offset(&mut self, address: Val, bytes: u32) -> Val {
        match address {
            Val::Uniform(a) => Val::Uniform(self.e.byte_offset(a, bytes)),
            Val::Linear { base, stride } => Val::Linear { base: self.e.byte_offset(base, bytes), stride },
            Val::Indexed { base, index, scale } => {
                Val::Indexed { base: self.e.byte_offset(base, bytes), index, scale }
            }
            Val::Varying(a) => Val::Varying(self.e.byte_offset(a, bytes)),
        }
    }
}
