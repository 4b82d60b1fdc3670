//! Calls: expanded at the call, or an LLVM function of their own when that keeps the code small.

use std::rc::Rc;

use inkle_ir::{Block, Function, Module, OpData, OpKind, Scalar};
use smallvec::SmallVec;

use super::{Frame, Lower, Result, Thread};
use crate::emitter::{Ty, V};
use crate::error::CodegenError;
use crate::value::{Part, Parts, Val, parts};

/// A callee of at most this many operations is always expanded: a call would hardly be smaller.
const SMALL: usize = 48;
/// Other callees are expanded while the LLVM function they go into has at most this many operations.
const INLINE_BUDGET: usize = 3000;

/// Per function, the number of operations after expansion of its calls.
pub(super) fn expanded_sizes(ir: &Module) -> Vec<usize> {
    let mut sizes: Vec<usize> = Vec::with_capacity(ir.functions.len());
    for function in &ir.functions {
        // What is in a native function only clang knows; the call and its memory are what is made here.
        let mut size = if function.native().is_some() { 16 } else { 0usize };
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                size = size.saturating_add(match &function.op(op).kind {
                    OpKind::Call(callee) => sizes.get(callee.index()).copied().unwrap_or(0),
                    _ => 1,
                });
            }
        }
        sizes.push(size);
    }
    sizes
}

fn is_float(part: Part) -> bool {
    matches!(part, Part::Scalar(Scalar::F32 | Scalar::F64))
}

/// What one LLVM function is made for: a function, and per parameter whether it varies.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct OutlinedKey {
    function: usize,
    varying: Vec<bool>,
    masked: bool,
    lanes: u32,
    alone: bool,
}

/// A function that was emitted.
#[derive(Clone)]
pub(super) struct Outlined {
    function: V,
    /// Per result and part: whether it varies.
    results: Rc<Vec<Vec<bool>>>,
    /// The type of the returned struct; `None` when nothing is returned.
    result_type: Option<Ty>,
}

/// What code inside an outlined function needs to return early.
pub(super) struct OutlinedContext {
    pub result_type: Ty,
    /// The field that says that a check failed.
    pub failed_flag: u32,
}

impl<'m> Lower<'_, 'm> {
    pub fn call(&mut self, frame: &mut Frame<'m>, callee: usize, data: &OpData) -> Result<()> {
        let ir: &'m Module = self.ir;
        let Some(function) = ir.functions.get(callee) else {
            return Err(CodegenError::broken("a call of a function that does not exist"));
        };
        let args = data.operands.iter().map(|&v| frame.get(v).cloned()).collect::<Result<Vec<_>>>()?;
        if args.len() != function.params.len() {
            return Err(CodegenError::broken(format!(
                "a call of {} with {} arguments",
                function.name,
                args.len()
            )));
        }
        if function.native().is_some() {
            let results = self.call_native(callee, function, args)?;
            return self.set_results(frame, data, results);
        }
        let size = self.sizes[callee];
        let fits = size <= SMALL || self.emitted.saturating_add(size) <= INLINE_BUDGET;
        let results = if fits || self.returns_local[callee] {
            let subjects = self.subjects_of_call(frame, &data.operands);
            let mut inner = self.frame(callee, args, subjects);
            self.block(&mut inner, function.body)?
        } else {
            self.call_outlined(callee, function, args, data)?
        };
        self.set_results(frame, data, results)
    }

    fn call_outlined(
        &mut self,
        callee: usize,
        function: &'m Function,
        args: Vec<Parts>,
        data: &OpData,
    ) -> Result<Vec<Parts>> {
        self.end_speculation();
        let varying: Vec<bool> = args.iter().map(|parts| parts.iter().any(|p| !p.is_uniform())).collect();
        let key = OutlinedKey {
            function: callee,
            varying: varying.clone(),
            masked: self.mask.is_some(),
            lanes: self.lanes,
            alone: self.alone,
        };
        let outlined = match self.outlined.get(&key) {
            Some(known) => known.clone(),
            None => {
                let made = self.outline(callee, function, &varying)?;
                self.outlined.insert(key, made.clone());
                made
            }
        };
        let mut values: Vec<V> = Vec::new();
        for (parts, varies) in args.iter().zip(&varying) {
            for &p in parts {
                values.push(if *varies { self.wide(p) } else { self.uniform(p)? });
            }
        }
        values.extend(self.mask);
        for tid in self.thread.tid.clone() {
            values.push(if tid.is_uniform() { self.uniform(tid)? } else { self.wide(tid) });
        }
        values.extend(self.thread.dims.iter().copied());
        self.set_line(data.span);
        let returned = self.e.call(outlined.function, &values);
        let mut field = 0;
        let mut results = Vec::new();
        for (flags, &ty) in outlined.results.iter().zip(&function.results) {
            let mut result = Parts::new();
            for (&varies, &(part, _)) in flags.iter().zip(&parts(ty)) {
                let v = self.e.extract_value(returned, field);
                let ty = self.part_type(part);
                let v = self.e.bitcast(v, if varies { self.wide_type(ty) } else { ty });
                field += 1;
                result.push(if varies { Val::Varying(v) } else { Val::Uniform(v) });
            }
            results.push(result);
        }
        if self.options.checks && !self.machine.gpu {
            let failed = self.e.extract_value(returned, field);
            let leave = self.e.new_block("failed");
            let pass = self.e.new_block("pass");
            let branch = self.e.cond_br(failed, leave, pass);
            self.e.set_branch_weights(branch, 1, 1 << 20);
            self.e.at_end(leave);
            self.leave_failed();
            self.e.at_end(pass);
        }
        debug_assert!(outlined.result_type.is_some() || results.iter().all(|r| r.is_empty()));
        Ok(results)
    }

    /// Whether an LLVM function for `function` returns floats as the integers of their bits.
    ///
    /// x86-64 has two vector registers for results; the floats after them LLVM returns on the x87 stack, slowly,
    /// and without taking from it those that the caller does not use.
    fn returns_bits(&self, function: &Function) -> bool {
        let floats =
            function.results.iter().flat_map(|&ty| parts(ty)).filter(|&(part, _)| is_float(part)).count();
        floats > 2 && !self.machine.gpu
    }

    fn bits_type(&self, part: Part) -> Ty {
        if is_float(part) { self.e.int(8 * part.size()) } else { self.part_type(part) }
    }

    /// Emits a function of its own for `function`.
    fn outline(&mut self, callee: usize, function: &'m Function, varying: &[bool]) -> Result<Outlined> {
        let known = self.analyser.function(callee, varying);
        let mut param_types: Vec<Ty> = Vec::new();
        for (param, &varies) in function.params.iter().zip(varying) {
            for &(part, _) in &parts(param.ty) {
                let ty = self.part_type(part);
                param_types.push(if varies { self.wide_type(ty) } else { ty });
            }
        }
        let mask_type = self.e.vector(self.e.int(1), self.lanes.max(1));
        if self.mask.is_some() {
            param_types.push(mask_type);
        }
        let tid_varies: Vec<bool> = self.thread.tid.iter().map(|t| !t.is_uniform()).collect();
        for &varies in &tid_varies {
            let int = self.e.int(32);
            param_types.push(if varies { self.wide_type(int) } else { int });
        }
        for _ in 0..self.thread.dims.len() {
            param_types.push(self.e.int(32));
        }
        let mut result_fields: Vec<Ty> = Vec::new();
        let as_bits = self.returns_bits(function);
        let mut result_flags: Vec<Vec<bool>> = Vec::new();
        for (i, &ty) in function.results.iter().enumerate() {
            let varies = self.lanes > 1 && known.results.get(i).copied().unwrap_or(true);
            let layout = parts(ty);
            for &(part, _) in &layout {
                let ty = if as_bits { self.bits_type(part) } else { self.part_type(part) };
                result_fields.push(if varies { self.wide_type(ty) } else { ty });
            }
            result_flags.push(vec![varies; layout.len()]);
        }
        let flagged = self.options.checks && !self.machine.gpu;
        let failed_flag = result_fields.len() as u32;
        if flagged {
            result_fields.push(self.e.int(1));
        }
        let result_type = (!result_fields.is_empty()).then(|| self.e.structure(&result_fields));
        let ty = self.e.function_type(result_type.unwrap_or_else(|| self.e.void()), &param_types);
        let f = self.e.internal_function(&format!("fn.{}", function.name), ty);
        self.function_attributes(f);
        self.e.attribute(f, u32::MAX, "noinline", 0);

        // Everything that belongs to the function being emitted is set aside.
        let here = self.e.current_block();
        let saved_mask = self.mask;
        let saved_thread = self.thread.clone();
        let saved_emitted = std::mem::replace(&mut self.emitted, 0);
        let context =
            result_type.filter(|_| flagged).map(|result_type| OutlinedContext { result_type, failed_flag });
        let saved_context = std::mem::replace(&mut self.in_outlined, context);
        let saved_form = (self.speculation.take(), self.second_form.take());

        let saved_lines = self.lines.as_mut().map(|l| l.enter(f, &function.name, function.span));

        let entry = self.e.append_block(f, "entry");
        self.e.at_end(entry);
        self.set_line(function.span);
        let mut next = 0;
        let mut take = |l: &Self| {
            let v = l.e.param(f, next);
            next += 1;
            v
        };
        let mut args = Vec::new();
        for (param, &varies) in function.params.iter().zip(varying) {
            let bound: Parts = parts(param.ty)
                .iter()
                .map(|_| {
                    let v = take(self);
                    if varies { self.varying(v) } else { Val::Uniform(v) }
                })
                .collect();
            args.push(bound);
        }
        if self.mask.is_some() {
            self.mask = Some(take(self));
        }
        let tid: SmallVec<[Val; 4]> = tid_varies
            .iter()
            .map(|&varies| {
                let v = take(self);
                if varies { self.varying(v) } else { Val::Uniform(v) }
            })
            .collect();
        let dims: SmallVec<[V; 4]> = (0..saved_thread.dims.len()).map(|_| take(self)).collect();
        self.thread = Thread { tid, dims };
        let subjects = self.own_subjects(callee);
        let mut frame = self.frame(callee, args, subjects);
        let emitted = self.block(&mut frame, function.body)?;
        match result_type {
            None => self.e.ret_void(),
            Some(ty) => {
                let mut result = self.e.null(ty);
                let mut field = 0;
                for (value, flags) in emitted.iter().zip(&result_flags) {
                    for (&part, &varies) in value.iter().zip(flags) {
                        let v = if varies { self.wide(part) } else { self.uniform(part)? };
                        let v = self.e.bitcast(v, result_fields[field as usize]);
                        result = self.e.insert_value(result, v, field);
                        field += 1;
                    }
                }
                self.e.ret(result);
            }
        }
        if let (Some(lines), Some(saved)) = (&mut self.lines, saved_lines) {
            lines.leave(saved);
        }
        (self.speculation, self.second_form) = saved_form;
        self.in_outlined = saved_context;
        self.emitted = saved_emitted;
        self.thread = saved_thread;
        self.mask = saved_mask;
        self.e.at_end(here);
        Ok(Outlined { function: f, results: Rc::new(result_flags), result_type })
    }
}
