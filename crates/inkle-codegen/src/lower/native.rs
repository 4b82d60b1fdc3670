//! Calls of functions written in C++: one per active lane, through memory that optimisation takes away again.

use inkle_ir::{Function, Scalar, Type};

use super::{Lower, Result};
use crate::emitter::{Int, Ty, V};
use crate::native::entry_name;
use crate::value::{Part, Parts, Val, parts};

/// An argument of a call.
struct Argument {
    /// Where it lies for the call; null for an address, which is passed as it is.
    slot: V,
    /// Its parts with their places, bytes.
    parts: Vec<(Part, u32, Val)>,
    /// Parts of the descriptor that the type leaves out are zero.
    clear: Option<u32>,
}

impl<'m> Lower<'_, 'm> {
    /// The type of a part in memory that C++ reads and writes.
    fn native_type(&self, part: Part) -> Ty {
        match part {
            Part::Scalar(Scalar::Bool) => self.e.int(8),
            Part::Scalar(s) => self.scalar_type(s),
            Part::Pointer => self.e.ptr(0),
        }
    }

    fn as_written(&self, v: V, part: Part) -> V {
        match part {
            Part::Scalar(Scalar::Bool) => self.e.zext(v, self.e.int(8)),
            Part::Pointer if self.machine.gpu => self.e.address_space_cast(v, self.e.ptr(0)),
            _ => v,
        }
    }

    /// A scalar or a vector of what was read, as registers hold it.
    fn as_read(&self, v: V, part: Part) -> V {
        match part {
            Part::Scalar(Scalar::Bool) => self.e.icmp(Int::LLVMIntNE, v, self.e.null(self.e.type_of(v))),
            Part::Pointer if self.machine.gpu => {
                self.e.address_space_cast(v, self.e.type_like(self.pointer_type(), v))
            }
            _ => v,
        }
    }

    pub fn call_native(
        &mut self,
        callee: usize,
        function: &'m Function,
        args: Vec<Parts>,
    ) -> Result<Vec<Parts>> {
        let ptr = self.e.ptr(0);
        let count = function.params.len() + function.results.len();
        let ty = self.e.function_type(self.e.void(), &vec![ptr; count]);
        let f = self.e.declare(&entry_name(callee), ty);
        let mut arguments = Vec::new();
        for (param, values) in function.params.iter().zip(args) {
            let is_ref = matches!(param.ty, Type::Ref(_));
            let values =
                values.into_iter().map(|v| if v.is_uniform() { v } else { Val::Varying(self.wide(v)) });
            let placed: Vec<_> =
                parts(param.ty).iter().zip(values).map(|(&(part, at), v)| (part, at, v)).collect();
            let slot = if is_ref { std::ptr::null_mut() } else { self.native_slot(param.ty) };
            let clear = holds_array(param.ty).then(|| param.ty.size());
            arguments.push(Argument { slot, parts: placed, clear });
        }
        let result = function.results.first().map(|&ty| (ty, self.native_slot(ty)));
        if self.lanes == 1 {
            self.native_call(f, &arguments, result, None)?;
            let Some((ty, slot)) = result else { return Ok(Vec::new()) };
            let layout = parts(ty);
            let read = layout.iter().map(|&(part, at)| {
                let v = self.e.load(self.native_type(part), self.e.byte_offset(slot, at), part.size());
                Val::Uniform(self.as_read(v, part))
            });
            return Ok(vec![read.collect()]);
        }
        // Each lane's result is put where a vector of all lanes is read afterwards; lanes that do not call give zero.
        let mut gathered = Vec::new();
        if let Some((ty, _)) = result {
            for &(part, at) in &parts(ty) {
                let wide = self.e.vector(self.native_type(part), self.lanes);
                let slot = self.e.alloca(wide);
                self.e.store(self.e.null(wide), slot, part.size());
                gathered.push((part, at, wide, slot));
            }
        }
        let ids = self.ramp(self.e.int(32), 1);
        self.note_lane_by_lane("a function in C++ is called");
        self.per_lane([Val::Varying(ids)], |l, [lane]| {
            l.native_call(f, &arguments, result, Some(lane))?;
            if let Some((_, slot)) = result {
                for &(part, at, _, vector) in &gathered {
                    let ty = l.native_type(part);
                    let v = l.e.load(ty, l.e.byte_offset(slot, at), part.size());
                    let to = l.e.gep(ty, vector, lane);
                    l.e.store(v, to, part.size());
                }
            }
            Ok(lane)
        })?;
        if result.is_none() {
            return Ok(Vec::new());
        }
        let read = gathered.into_iter().map(|(part, _, wide, slot)| {
            let v = self.e.load(wide, slot, part.size());
            Val::Varying(self.as_read(v, part))
        });
        Ok(vec![read.collect()])
    }

    /// Memory for one value.
    fn native_slot(&mut self, ty: Type) -> V {
        let slot = self.e.alloca(self.e.array(self.e.int(8), ty.size().max(1).into()));
        self.e.set_slot_align(slot, ty.align().max(8));
        slot
    }

    /// Fills in the arguments, of one lane where there are several, and calls.
    fn native_call(
        &mut self,
        f: V,
        arguments: &[Argument],
        result: Option<(Type, V)>,
        lane: Option<V>,
    ) -> Result<()> {
        let mut passed = Vec::new();
        for argument in arguments {
            if let (Some(bytes), false) = (argument.clear, argument.slot.is_null()) {
                let zero = self.e.const_int(self.e.int(8), 0);
                let types = [self.e.ptr(0), self.e.int(64)];
                let size = self.e.i64(bytes.into());
                self.e.intrinsic("llvm.memset", &types, &[argument.slot, zero, size, self.e.i1(false)]);
            }
            let mut address = argument.slot;
            for &(part, at, v) in &argument.parts {
                let v = match (v, lane) {
                    (Val::Varying(v), Some(lane)) => self.e.extract_element(v, lane),
                    (v, _) => self.uniform(v)?,
                };
                let v = self.as_written(v, part);
                if argument.slot.is_null() {
                    address = v;
                } else {
                    self.e.store(v, self.e.byte_offset(argument.slot, at), part.size());
                }
            }
            passed.push(address);
        }
        passed.extend(result.map(|(_, slot)| slot));
        self.e.call(f, &passed);
        Ok(())
    }
}

fn holds_array(ty: Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Struct(s) => s.fields.iter().any(|f| holds_array(f.ty)),
        _ => false,
    }
}
