//! Vectors of the first form that end where a row does.
//!
//! The indices of a grid's edges count up along a row, and go on elsewhere at its end. A vector across such a place is cut: it does
//! the threads before it only, and the next vector begins with the next row. What lies beyond is read for the other lanes, where
//! the arrays have it, and not used. All that can be seen is done at the end: at once for all lanes, or in vectors that are cut
//! under a mask.
//!
//! That is for vectors whose indices go on elsewhere once, and for kernels whose threads all do the same: first they read, at
//! indices that are read at most, and in the end they write.

use std::collections::HashMap;

use inkle_ir::{ArrayKind, Block, Function, Module, Op, OpKind, Value, ValueDef};
use smallvec::SmallVec;

use super::frame::used_values;
use super::memory::NARROWEST_MASKED;
use super::neighbours::before_wrap;
use super::{Existing, Frame, Lower, Result};
use crate::emitter::{Bb, Int, V};
use crate::error::CodegenError;
use crate::value::{ArrayParts, Val, parts};

/// Vectors that go on as they are, for one that is cut: as along rows of some hundred elements.
const WHOLE_VECTORS: u32 = 16;

/// Where the vectors of a kernel may be cut.
pub(crate) struct Cuts {
    /// How many threads of the vector are done, if these may be fewer than there are lanes.
    pub count: Option<V>,
    /// Per index, the parameters, arrays, of which it is in the last dimension; `None` where it is in others, too.
    arrays: HashMap<Value, Option<SmallVec<[Value; 4]>>>,
    /// The same once the index is there: how long these are.
    lengths: HashMap<V, Option<SmallVec<[V; 4]>>>,
}

impl Cuts {
    /// Those of a kernel, if its vectors may be cut at all.
    pub fn of(module: &Module) -> Option<Cuts> {
        let kernel = module.kernel()?;
        let others = module.functions.iter().filter(|&function| !std::ptr::eq(function, kernel));
        let only_writes_at_end = Reads::of(kernel).is_some();
        if !only_writes_at_end || !others.into_iter().all(|f| f.native().is_none() && computes(f, f.body)) {
            return None;
        }
        let mut cuts = Cuts { count: None, arrays: HashMap::new(), lengths: HashMap::new() };
        for &op in &kernel.block(kernel.body).ops {
            let data = kernel.op(op);
            if let (OpKind::Elem, [array, .., index]) = (&data.kind, data.operands.as_slice()) {
                cuts.note_array(kernel, *array, *index);
            }
        }
        Some(cuts)
    }

    fn note_array(&mut self, kernel: &Function, array: Value, index: Value) {
        let whole = match kernel.defining_op(array) {
            Some(data) if data.kind == OpKind::GradArray => data.operands.first().copied(),
            _ => Some(array),
        };
        let is_param = |&array: &Value| matches!(kernel.value(array).def, ValueDef::Param { .. });
        let known = self.arrays.entry(before_wrap(kernel, index)).or_insert_with(|| Some(SmallVec::new()));
        match (whole.filter(is_param), &mut *known) {
            (Some(array), Some(known)) => known.push(array),
            _ => *known = None,
        }
    }
}

/// Whether all operations of a block and of those in it compute something and touch no memory.
fn computes(function: &Function, block: Block) -> bool {
    function.block(block).ops.iter().all(|&op| {
        let data = function.op(op);
        let touches = matches!(data.kind, OpKind::Elem | OpKind::View(_));
        let is_known = data.kind.is_pure() && !touches
            || data.kind.is_terminator()
            || matches!(data.kind, OpKind::If | OpKind::Call(_));
        is_known && data.blocks.iter().all(|&inner| computes(function, inner))
    })
}

/// How many reads it takes, one at what the other read, to know each value of a kernel.
struct Reads(Vec<u32>);

impl Reads {
    /// `None` if the kernel does anything else than to read, to compute and then to write, if the masks of its elements are none of the
    /// hardware's, or if what it reads depends on more than one read: for lanes that are not active such an address may be
    /// any.
    fn of(kernel: &Function) -> Option<Reads> {
        let mut reads = Reads(vec![0; kernel.value_count()]);
        let (used, mut writes) = (used_values(kernel), false);
        for &op in &kernel.block(kernel.body).ops {
            let data = kernel.op(op);
            let deepest = data.operands.iter().map(|v| reads.0[v.index()]).max().unwrap_or(0);
            let depth = match &data.kind {
                OpKind::Load if !writes && deepest <= 1 => deepest + 1,
                OpKind::Store | OpKind::Atomic(_) if data.results.iter().all(|r| !used[r.index()]) => {
                    writes = true;
                    deepest
                }
                OpKind::Elem => {
                    let array = kernel.ty(*data.operands.first()?).as_array()?;
                    let has_masks = parts(array.elem).iter().all(|(part, _)| part.size() >= NARROWEST_MASKED);
                    if array.kind != ArrayKind::Strided || !has_masks {
                        return None;
                    }
                    deepest
                }
                // What the sides of one give depends on what they see.
                OpKind::If if data.blocks.iter().all(|&block| computes(kernel, block)) => u32::MAX,
                OpKind::Call(_) | OpKind::Return => deepest,
                kind if kind.is_pure() && !matches!(kind, OpKind::View(_)) => deepest,
                _ => return None,
            };
            data.results.iter().for_each(|result| reads.0[result.index()] = depth);
        }
        Some(reads)
    }
}

impl<'m> Lower<'_, 'm> {
    /// Where the vectors may be cut of what is being made.
    fn cuts(&self, frame: &Frame<'m>) -> Option<&Cuts> {
        let is_kernel = self.ir.kernel().is_some_and(|kernel| std::ptr::eq(kernel, frame.function));
        self.speculation.as_ref().filter(|_| is_kernel)?.cuts.as_ref()
    }

    /// Whether what an operation does is done at the end.
    pub fn is_put_off(&self, frame: &Frame<'m>, kind: &OpKind) -> bool {
        matches!(kind, OpKind::Store | OpKind::Atomic(_)) && self.cuts(frame).is_some()
    }

    /// Notes how long the arrays are that a value is an index of, now that it is there.
    pub fn note_index(&mut self, frame: &Frame<'m>, value: Value) -> Result<()> {
        let Some(arrays) = self.cuts(frame).and_then(|cuts| cuts.arrays.get(&value)) else { return Ok(()) };
        let Val::Varying(index) = frame.get1(value)? else { return Ok(()) };
        let mut lengths: Option<SmallVec<[V; 4]>> = arrays.as_ref().map(|_| SmallVec::new());
        for &array in arrays.iter().flatten() {
            let ty = frame.function.ty(array).as_array();
            let ty = ty.ok_or_else(|| CodegenError::broken("an element of something that is no array"))?;
            let length = frame.get(array)?[ArrayParts::of(ty).shape(ty.ndim as usize - 1)];
            if let (Val::Uniform(length), Some(lengths)) = (length, &mut lengths) {
                lengths.push(length);
            } else {
                lengths = None;
            }
        }
        let cuts = self.speculation.as_mut().and_then(|speculation| speculation.cuts.as_mut());
        let Some(cuts) = cuts else { return Ok(()) };
        match (cuts.lengths.entry(index).or_insert_with(|| Some(SmallVec::new())), lengths) {
            (Some(known), Some(lengths)) => known.extend(lengths),
            (known, _) => *known = None,
        }
        Ok(())
    }

    /// The first lane's index, if vectors may be cut where those of the lanes go on elsewhere. Of other vectors that do not count up it
    /// goes on at `exit`.
    pub fn cut_where_apart(&mut self, index: V, wraps: bool, exit: Bb) -> Option<V> {
        let cuts = self.speculation.as_ref()?.cuts.as_ref()?;
        let (known, mut lengths) = (cuts.count, cuts.lengths.get(&index)?.clone()?);
        lengths.sort_unstable();
        lengths.dedup();
        let (lanes, int, int32) = (self.lanes, self.e.int(self.lanes), self.e.int(32));
        if self.e.scalar_type(self.e.type_of(index)) != int32 {
            return None;
        }
        let first = self.first_index(index);
        let counts = self.counting_from(index, first, wraps);
        let bits = self.mask_bits(counts);
        let apart = self.e.icmp(Int::LLVMIntNE, bits, self.e.all_ones(int));
        let before = self.e.current_block();
        let [cut, on] = ["cut", "counting"].map(|name| self.e.new_block(name));
        let branch = self.e.cond_br(apart, cut, on);
        self.e.set_branch_weights(branch, 1, WHOLE_VECTORS);
        self.e.at_end(cut);
        let others = self.e.not(bits);
        let first_other = self.e.and(others, self.e.neg(others));
        // The lanes whose index is not one more than the one's before.
        let previous: Vec<u32> = (0..lanes).map(|lane| lane.saturating_sub(1)).collect();
        let step = self.e.sub(index, self.e.shuffle(index, index, &previous));
        let begins = self.e.icmp(Int::LLVMIntNE, step, self.e.const_int(self.e.type_of(index), 1));
        let begins = self.e.and(self.mask_bits(begins), self.e.const_int(int, -2));
        let mut is_cut = self.e.icmp(Int::LLVMIntEQ, begins, first_other);
        for length in lengths {
            let last_start = self.e.sub(length, self.e.i32(lanes as i32));
            let is_there = self.e.icmp(Int::LLVMIntSLE, first, last_start);
            is_cut = self.e.and(is_cut, is_there);
        }
        let count = self.e.intrinsic("llvm.cttz", &[int], &[others, self.e.i1(true)]);
        let mut count = self.e.zext(count, int32);
        if let Some(known) = known {
            count = self.e.intrinsic("llvm.umin", &[int32], &[count, known]);
        }
        self.e.cond_br(is_cut, on, exit);
        self.e.at_end(on);
        let either = self.e.phi(int32);
        self.e.add_incoming(either, known.unwrap_or(self.e.i32(lanes as i32)), before);
        self.e.add_incoming(either, count, cut);
        self.speculation.as_mut()?.cuts.as_mut()?.count = Some(either);
        Some(first)
    }

    /// Does at the end of a kernel what was put off.
    pub fn end_first_form(&mut self, frame: &mut Frame<'m>, block: Block) -> Result<()> {
        if self.cuts(frame).is_none() || block != frame.function.body {
            return Ok(());
        }
        let function = frame.function;
        let is_write = |&op: &Op| matches!(function.op(op).kind, OpKind::Store | OpKind::Atomic(_));
        let writes: Vec<Op> = function.block(block).ops.iter().copied().filter(is_write).collect();
        // All indices are looked at before it is known how many lanes are active.
        for &op in &writes {
            let data = function.op(op);
            let &[to, value] = data.operands.as_slice() else {
                return Err(CodegenError::broken(format!("{} takes two operands", data.kind.keyword())));
            };
            let (ty, at) = (function.ty(value), frame.get1(to)?);
            self.set_line(data.span);
            self.look_whether_counting(ty, at);
            if let (OpKind::Atomic(_), Val::Indexed { .. }) = (&data.kind, at) {
                self.in_own_range(frame, ty, at);
            }
        }
        self.end_speculation();
        let mut make_all = |l: &mut Self| {
            writes.iter().try_for_each(|&op| {
                l.set_line(function.op(op).span);
                l.op(frame, op)
            })
        };
        let count = self.speculation.as_mut().and_then(|speculation| speculation.cuts.take()?.count);
        let Some(count) = count else { return make_all(self) };
        self.first_form_done = Some(count);
        let known = (self.countings.len(), self.masks_of_parts.len(), self.known_ranges());
        let [whole, part, end] = ["whole", "part", "written"].map(|name| self.e.new_block(name));
        let all = self.e.icmp(Int::LLVMIntEQ, count, self.e.i32(self.lanes as i32));
        let branch = self.e.cond_br(all, whole, part);
        self.e.set_branch_weights(branch, WHOLE_VECTORS, 1);
        self.e.at_end(whole);
        make_all(self)?;
        self.e.br(end);
        self.e.at_end(part);
        self.countings.truncate(known.0);
        self.masks_of_parts.truncate(known.1);
        self.forget_ranges(known.2);
        let lanes = self.ramp(self.e.int(32), 1);
        let mask = self.e.icmp(Int::LLVMIntULT, lanes, self.e.splat(count, self.lanes));
        self.mask = Some(mask);
        self.existing = Some(Existing { mask, count, may_be_all: false });
        make_all(self)?;
        (self.mask, self.existing) = (None, None);
        self.e.br(end);
        self.e.at_end(end);
        Ok(())
    }
}
