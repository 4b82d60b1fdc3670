//! Kernel entry points: which threads run, and with which arguments.
//!
//! The last launch dimension that the kernel asks for runs along the lanes, so that neighbouring lanes touch
//! neighbouring elements. Dimensions after it only repeat threads that the kernel cannot tell apart; they are
//! taken as the slowest, which gives every thread exactly once and keeps the usual case, where they are one, free.

use inkle_ir::{FEW_BLOCKS_ENTRY, LaunchBounds, MAX_DIMS, ParamLayout, Updates};
use inkwell::llvm_sys::LLVMOpcode;
use smallvec::SmallVec;

use super::cut::Cuts;
use super::speculation::{SecondForm, Speculation};
use super::{Existing, Lower, Result, Thread, lane_dim};
use crate::emitter::{Bb, Int, V};
use crate::error::CodegenError;
use crate::plan::GPU_ACCESS;
use crate::value::{ArrayParts, Part, Parts, Val, parts};

/// The symbol of every kernel's entry point.
pub(crate) const ENTRY: &str = "inkle_kernel";
/// The symbol of the form that runs alone, in CPU code that has one.
pub(crate) const ENTRY_ALONE: &str = "inkle_kernel_alone";
/// The symbol of [`inkle_ir::Updates`] as words: how workers can run that form beside each other, if they can.
pub(crate) const UPDATES: &str = "inkle_kernel_updates";

/// LLVM's calling convention of GPU kernels.
const PTX_KERNEL: u32 = 71;

/// How the threads that do not fill a vector are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tail {
    /// By the same code, under a mask that is computed for every vector: least code.
    Shared,
    /// By the same lanes under a mask, in a second copy of the code.
    Masked,
    /// One by one, in a second copy of the code with one lane.
    Scalar,
}

/// The first form of the code of a vector.
struct FirstForm {
    /// Where it meets the second one, and where it comes from.
    joined: Bb,
    end: Bb,
    /// How many threads it has done, if these may be fewer than there are lanes.
    done: Option<V>,
    form: SecondForm,
}

impl<'m> Lower<'_, 'm> {
    /// Attributes of all functions.
    pub fn function_attributes(&self, f: V) {
        self.e.attribute(f, u32::MAX, "nounwind", 0);
        self.e.attribute(f, u32::MAX, "mustprogress", 0);
        if self.machine.gpu {
            if self.ir.has_native() || crate::plan::has_updates(self.ir) {
                // It may wait for other threads, so calls must not be moved across branches.
                self.e.attribute(f, u32::MAX, "convergent", 0);
            }
            if self.options.fast_math {
                self.e.string_attribute(f, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
            }
        } else {
            // LLVM prefers half of AVX-512 on CPUs whose clock once suffered from the whole.
            self.e.string_attribute(f, "prefer-vector-width", "512");
            if let Some(features) = &self.features {
                self.e.string_attribute(f, "target-features", features);
            }
        }
    }

    /// Reads what a kernel takes from its parameter block.
    fn read_params(&mut self, block: V) -> Result<Vec<Parts>> {
        let ir: &'m inkle_ir::Module = self.ir;
        let kernel = ir.kernel().ok_or(CodegenError::NoKernel)?;
        let layout = ParamLayout::new(kernel.params.iter().map(|p| p.ty));
        let mut all = Vec::new();
        for (i, (param, place)) in kernel.params.iter().zip(&layout.args).enumerate() {
            let mut values = Parts::new();
            for &(part, offset) in &parts(param.ty) {
                let at = self.e.byte_offset(block, place.offset + offset);
                let value = self.load_param_part(part, at);
                if (self.machine.gpu || self.alone) && part == Part::Pointer {
                    self.pointers.push((place.offset + offset, self.before_cast(value)));
                }
                values.push(Val::Uniform(value));
            }
            let array = param.ty.as_array().filter(|a| i < 64 && !a.kind.is_fabric());
            if array.is_some() && self.options.aligned {
                for address in [values[ArrayParts::DATA], values[ArrayParts::GRAD]] {
                    let address = self.uniform(address)?;
                    self.e.set_loaded_align(self.before_cast(address), GPU_ACCESS.into());
                    self.multiples.insert(address, GPU_ACCESS.into());
                }
            }
            if let Some(array) = array
                && self.options.contiguous & (1 << i) != 0
            {
                let last = ArrayParts::of(array).stride(array.ndim as usize - 1);
                values[last] = Val::Uniform(self.e.i64(array.elem.size().into()));
            }
            all.push(values);
        }
        Ok(all)
    }

    /// An address as it was loaded.
    fn before_cast(&self, address: V) -> V {
        match self.e.opcode(address) {
            Some(LLVMOpcode::LLVMAddrSpaceCast) => self.e.operand(address, 0),
            _ => address,
        }
    }

    fn load_param_part(&mut self, part: Part, at: V) -> V {
        match part {
            Part::Scalar(inkle_ir::Scalar::Bool) => {
                let byte = self.e.load(self.e.int(8), at, 1);
                self.e.set_invariant(byte);
                self.e.icmp(Int::LLVMIntNE, byte, self.e.null(self.e.int(8)))
            }
            Part::Pointer if self.machine.gpu => {
                // Arguments lie in global memory, which LLVM can make use of even where addresses are generic.
                let v = self.e.load(self.e.ptr(1), at, part.size());
                self.e.set_invariant(v);
                self.e.address_space_cast(v, self.pointer_type())
            }
            part => {
                let v = self.e.load(self.part_type(part), at, part.size());
                self.e.set_invariant(v);
                v
            }
        }
    }

    /// Reads the launch's extents and size.
    fn read_bounds(&mut self, block: V) -> (SmallVec<[V; 4]>, V) {
        let dims = (0..MAX_DIMS as u32)
            .map(|d| {
                let offset = std::mem::offset_of!(LaunchBounds, dims) as u32 + 4 * d;
                let v = self.e.load(self.e.int(32), self.e.byte_offset(block, offset), 4);
                self.e.set_invariant(v);
                v
            })
            .collect();
        let offset = std::mem::offset_of!(LaunchBounds, size) as u32;
        let size = self.e.load(self.e.int(64), self.e.byte_offset(block, offset), 8);
        self.e.set_invariant(size);
        (dims, size)
    }

    /// Emits the body once, for the thread or threads at `tid`.
    fn body(&mut self, params: &[Parts], tid: SmallVec<[Val; 4]>, dims: &SmallVec<[V; 4]>) -> Result<()> {
        let ir: &'m inkle_ir::Module = self.ir;
        let index = ir.functions.len() - 1;
        self.thread = Thread { tid, dims: dims.clone() };
        let subjects = self.own_subjects(index);
        let mut frame = self.frame(index, params.to_vec(), subjects);
        let body = frame.function.body;
        self.block(&mut frame, body)?;
        Ok(())
    }

    /// `void symbol(const u8* params, u64 begin, u64 end)`: runs the threads `begin..end`, row by row. Where these are `updates`
    /// of which a worker may have ranges, the entry takes their address, too.
    pub fn cpu_entry(
        &mut self,
        symbol: &str,
        lanes: u32,
        tail: Tail,
        updates: Option<&Updates>,
    ) -> Result<()> {
        self.emitted = 0;
        self.pointers.clear();
        let layout = self.param_layout()?;
        let (ptr, int64, int32) = (self.e.ptr(0), self.e.int(64), self.e.int(32));
        let with_ranges = updates.filter(|updates| super::ranges::has_ranges(updates));
        let types = [ptr, int64, int64, ptr];
        let types = if with_ranges.is_some() { &types[..] } else { &types[..3] };
        let f = self.e.declare(symbol, self.e.function_type(self.e.void(), types));
        self.function_attributes(f);
        for (name, value) in [
            ("noalias", 0),
            ("readonly", 0),
            ("nonnull", 0),
            ("dereferenceable", u64::from(layout.size)),
            ("align", 8),
        ] {
            self.e.attribute(f, 1, name, value);
        }
        let entry = self.e.append_block(f, "entry");
        self.e.at_end(entry);
        let span = self.ir.kernel().map_or(inkle_diag::Span::NONE, |k| k.span);
        if let Some(lines) = &mut self.lines {
            lines.enter(f, symbol, span);
        }
        self.set_line(span);
        self.e.fast_math = self.user_math();
        let (block, begin, end) = (self.e.param(f, 0), self.e.param(f, 1), self.e.param(f, 2));
        let (dims, size) = self.read_bounds(block);
        let params = self.read_params(block)?;
        if let Some(updates) = with_ranges {
            self.read_ranges(updates, self.e.param(f, 3));
        }
        self.begin_streams(size, &params, lanes)?;
        let k = lane_dim(self.ir) as usize;
        if k >= MAX_DIMS {
            return Err(CodegenError::broken(format!("tid {k} does not exist")));
        }

        let row_length = self.e.zext(dims[k], int64);
        let rows = self.e.append_block(f, "row");
        let done = self.e.append_block(f, "done");
        let start = self.e.append_block(f, "start");
        let any = self.e.icmp(Int::LLVMIntULT, begin, end);
        self.e.cond_br(any, start, done);
        self.e.at_end(start);
        // Where the first row and the place in it are; later rows count on from there.
        let one = self.e.i64(1);
        let safe_length = self.e.intrinsic("llvm.umax", &[int64], &[row_length, one]);
        let (first_row, first_place) = self.divide_unsigned(begin, safe_length);
        let mut rest = first_row;
        let mut starts: Vec<V> = vec![std::ptr::null_mut(); k];
        for d in (0..k).rev() {
            let extent = self.e.zext(dims[d], int64);
            let extent = self.e.intrinsic("llvm.umax", &[int64], &[extent, one]);
            let (quotient, remainder) = self.divide_unsigned(rest, extent);
            starts[d] = self.e.trunc(remainder, int32);
            rest = quotient;
        }
        let start_end = self.e.current_block();
        self.e.br(rows);

        self.e.at_end(rows);
        let at = self.e.phi(int64);
        self.e.add_incoming(at, begin, start_end);
        let place = self.e.phi(int64);
        self.e.add_incoming(place, first_place, start_end);
        let coords: Vec<V> = starts
            .iter()
            .map(|&s| {
                let phi = self.e.phi(int32);
                self.e.add_incoming(phi, s, start_end);
                phi
            })
            .collect();
        let left = self.e.sub(end, at);
        let in_row = self.e.sub(row_length, place);
        let count = self.e.intrinsic("llvm.umin", &[int64], &[left, in_row]);
        let from = self.e.trunc(place, int32);
        let to = self.e.trunc(self.e.add(place, count), int32);
        let tid_of = |lane_tid: Val| -> SmallVec<[Val; 4]> {
            coords.iter().map(|&c| Val::Uniform(c)).chain([lane_tid]).collect()
        };
        match (lanes, tail) {
            (1, _) => {
                self.row_loop(f, from, to, 1, |l, i| l.body(&params, tid_of(Val::Uniform(i)), &dims))?;
            }
            (_, Tail::Shared) => {
                // Counted in vectors, so that the index cannot run over the end of i32.
                self.lanes = lanes;
                self.masked_row(f, [from, to], true, &|l, i| {
                    l.body(&params, tid_of(Val::Linear { base: i, stride: 1 }), &dims)
                })?;
                self.lanes = 1;
            }
            (_, tail) => {
                let length = self.e.sub(to, from);
                let whole = self.e.and(length, self.e.i32(-(lanes as i32)));
                let middle = self.e.add(from, whole);
                self.lanes = lanes;
                self.row_loop(f, from, middle, lanes, |l, i| {
                    l.body(&params, tid_of(Val::Linear { base: i, stride: 1 }), &dims)
                })?;
                self.emitted = 0;
                if tail == Tail::Masked {
                    self.masked_row(f, [middle, to], false, &|l, i| {
                        l.body(&params, tid_of(Val::Linear { base: i, stride: 1 }), &dims)
                    })?;
                    self.lanes = 1;
                } else {
                    self.lanes = 1;
                    self.row_loop(f, middle, to, 1, |l, i| l.body(&params, tid_of(Val::Uniform(i)), &dims))?;
                }
            }
        }
        let next = self.e.add(at, count);
        // The next row's coordinates, as an odometer counts.
        let mut carry = self.e.i1(true);
        let mut nexts = vec![std::ptr::null_mut(); k];
        for d in (0..k).rev() {
            let counted = self.e.add(coords[d], self.e.zext(carry, int32));
            let over = self.e.icmp(Int::LLVMIntEQ, counted, dims[d]);
            nexts[d] = self.e.select(over, self.e.i32(0), counted);
            carry = over;
        }
        let row_end = self.e.current_block();
        let more = self.e.icmp(Int::LLVMIntULT, next, end);
        self.e.cond_br(more, rows, done);
        self.e.add_incoming(at, next, row_end);
        self.e.add_incoming(place, self.e.i64(0), row_end);
        for (&phi, &v) in coords.iter().zip(&nexts) {
            self.e.add_incoming(phi, v, row_end);
        }
        self.e.at_end(done);
        self.end_streams();
        self.e.ret_void();
        Ok(())
    }

    fn divide_unsigned(&mut self, x: V, y: V) -> (V, V) {
        (self.e.udiv(x, y), self.e.urem(x, y))
    }

    /// `for i in from..to step lanes`; the length is a multiple of the step.
    fn row_loop(
        &mut self,
        f: V,
        from: V,
        to: V,
        step: u32,
        body: impl FnOnce(&mut Self, V) -> Result<()>,
    ) -> Result<()> {
        let before = self.e.current_block();
        let head = self.e.append_block(f, "threads");
        let end = self.e.append_block(f, "threads.end");
        let any = self.e.icmp(Int::LLVMIntNE, from, to);
        // The end may be 2^31, but every index is within i32.
        let last = self.e.sub(to, self.e.i32(step as i32));
        self.e.cond_br(any, head, end);
        self.e.at_end(head);
        let i = self.e.phi(self.e.int(32));
        self.e.add_incoming(i, from, before);
        body(self, i)?;
        let next = self.e.add_nsw(i, self.e.i32(step as i32));
        let latch = self.e.current_block();
        self.e.add_incoming(i, next, latch);
        let more = self.e.icmp(Int::LLVMIntSLT, i, last);
        self.e.cond_br(more, head, end);
        self.e.at_end(end);
        Ok(())
    }

    /// Runs `from..to` in vectors, each under the mask of the threads that exist, which may be all lanes if the caller says so.
    fn masked_row(
        &mut self,
        f: V,
        [from, to]: [V; 2],
        may_be_all: bool,
        body: &dyn Fn(&mut Self, V) -> Result<()>,
    ) -> Result<()> {
        let lanes = self.lanes;
        let before = self.e.current_block();
        let head = self.e.append_block(f, "vectors");
        let end = self.e.append_block(f, "vectors.end");
        let any = self.e.icmp(Int::LLVMIntNE, from, to);
        self.e.cond_br(any, head, end);
        self.e.at_end(head);
        let i = self.e.phi(self.e.int(32));
        self.e.add_incoming(i, from, before);
        let left = self.e.sub(to, i);
        let ids = self.ramp(self.e.int(32), 1);
        let left_wide = self.e.splat(left, lanes);
        let mask = self.e.icmp(Int::LLVMIntULT, ids, left_wide);
        let count = self.e.intrinsic("llvm.umin", &[self.e.int(32)], &[left, self.e.i32(lanes as i32)]);
        let whole = may_be_all.then(|| self.e.icmp(Int::LLVMIntEQ, count, self.e.i32(lanes as i32)));
        let first = whole.filter(|_| self.may_speculate()).map(|whole| self.first_form(whole, i, body));
        let first = first.transpose()?;
        self.mask = Some(mask);
        self.existing = Some(Existing { mask, count, may_be_all });
        self.second_form = first.as_ref().map(|first| first.form);
        body(self, i)?;
        self.second_form = None;
        self.mask = None;
        self.existing = None;
        let mut done = self.e.i32(lanes as i32);
        if let Some(first) = first {
            let second_end = self.e.current_block();
            self.e.br(first.joined);
            self.e.at_end(first.joined);
            if let Some(count) = first.done {
                let either = self.e.phi(self.e.int(32));
                self.e.add_incoming(either, count, first.end);
                self.e.add_incoming(either, done, second_end);
                done = either;
            }
        }
        let next = self.e.add(i, done);
        let latch = self.e.current_block();
        self.e.add_incoming(i, next, latch);
        let more = self.e.icmp(Int::LLVMIntUGT, left, done);
        self.e.cond_br(more, head, end);
        self.e.at_end(end);
        Ok(())
    }

    /// Whether there are to be two forms of the code; see [`super::speculation`].
    fn may_speculate(&self) -> bool {
        let groups = self.machine.masked_memory && self.lanes <= super::neighbours::MOST_GROUPED;
        let plain = !self.rare && !self.options.checks && !self.options.verify_fp;
        groups && plain && super::speculation::reads_indices(self.ir)
    }

    /// The first form of the code, for vectors with all their threads if `whole` holds. The second one is next; gives where
    /// both end.
    fn first_form(&mut self, whole: V, i: V, body: &dyn Fn(&mut Self, V) -> Result<()>) -> Result<FirstForm> {
        let [first, second, joined] = ["first", "second", "joined"].map(|name| self.e.new_block(name));
        let cuts = Cuts::of(self.ir);
        let of_two_groups = cuts.is_none();
        self.e.cond_br(whole, first, second);
        self.e.at_end(first);
        self.speculation = Some(Speculation::new(second, cuts));
        body(self, i)?;
        self.speculation = None;
        let done = self.first_form_done.take();
        self.emitted = 0;
        let end = self.e.current_block();
        self.e.br(joined);
        self.e.at_end(second);
        Ok(FirstForm { joined, end, done, form: SecondForm { of_two_groups } })
    }

    fn param_layout(&self) -> Result<ParamLayout> {
        let kernel = self.ir.kernel().ok_or(CodegenError::NoKernel)?;
        Ok(ParamLayout::new(kernel.params.iter().map(|p| p.ty)))
    }

    /// The GPU entry point: the parameter block by value, `lanes` consecutive threads of the launch per hardware
    /// thread. Gives its symbol.
    pub fn gpu_entry(&mut self, lanes: u32) -> Result<&'static str> {
        let layout = self.param_layout()?;
        let int64 = self.e.int(64);
        let ty = self.e.function_type(self.e.void(), &[self.e.ptr(0)]);
        let f = self.e.declare(ENTRY, ty);
        self.function_attributes(f);
        self.e.set_calling_convention(f, PTX_KERNEL);
        let block_type = self.e.array(self.e.int(8), layout.size.into());
        self.e.type_attribute(f, 1, "byval", block_type);
        self.e.attribute(f, 1, "align", 8);
        self.e.attribute(f, 1, "readonly", 0);
        self.e.attribute(f, 1, "noalias", 0);
        if let Some((threads, blocks)) = self.options.launch_bounds {
            self.e.string_attribute(f, "nvvm.maxntid", &threads.to_string());
            if let Some(blocks) = blocks {
                self.e.string_attribute(f, "nvvm.minctasm", &blocks.to_string());
            }
        }
        if let Some(registers) = self.options.max_registers {
            self.e.string_attribute(f, "nvvm.maxnreg", &registers.to_string());
        }
        let entry = self.e.append_block(f, "entry");
        self.e.at_end(entry);
        let span = self.ir.kernel().map_or(inkle_diag::Span::NONE, |k| k.span);
        if let Some(lines) = &mut self.lines {
            lines.enter(f, ENTRY, span);
        }
        self.set_line(span);
        self.e.fast_math = self.user_math();
        let block = self.e.param(f, 0);
        self.param_block = Some(block);
        let (dims, size) = self.read_bounds(block);
        let params = self.read_params(block)?;
        self.prepare_deferred();
        if lanes == 1 {
            self.prepare_sums(size)?;
        }
        // What is added up per block is the less to add in the end the more threads of the launch a block does.
        let loops = self.options.grid_stride || self.sums.is_some() || !self.deferred.is_empty();
        let special = |l: &Self, name: &str| {
            let v = l.e.intrinsic(name, &[], &[]);
            l.e.zext(v, int64)
        };
        let block_dim = special(self, "llvm.nvvm.read.ptx.sreg.ntid.x");
        let block_index = special(self, "llvm.nvvm.read.ptx.sreg.ctaid.x");
        let thread = special(self, "llvm.nvvm.read.ptx.sreg.tid.x");
        let mut first = self.e.add(self.e.mul(block_index, block_dim), thread);
        if lanes > 1 {
            first = self.e.mul(first, self.e.i64(lanes.into()));
        }
        let run = self.e.append_block(f, "run");
        let done = self.e.append_block(f, "done");
        let inside = self.e.icmp(Int::LLVMIntULT, first, size);
        let before = self.e.current_block();
        self.e.cond_br(inside, run, done);
        self.e.at_end(run);
        let linear = if loops {
            let phi = self.e.phi(int64);
            self.e.add_incoming(phi, first, before);
            phi
        } else {
            first
        };
        if lanes > 1 {
            self.gpu_lanes(lanes, linear, size, &params, &dims)?;
        } else {
            let tid = self.gpu_coordinates(linear, size, &dims)?;
            self.body(&params, tid.into_iter().map(Val::Uniform).collect(), &dims)?;
        }
        let few_blocks = self.keeps_sums() || self.puts_off();
        if loops && (self.options.grid_stride || few_blocks) {
            let grid = special(self, "llvm.nvvm.read.ptx.sreg.nctaid.x");
            let mut step = self.e.mul(grid, block_dim);
            if lanes > 1 {
                step = self.e.mul(step, self.e.i64(lanes.into()));
            }
            let next = self.e.add(linear, step);
            let latch = self.e.current_block();
            self.e.add_incoming(linear, next, latch);
            let more = self.e.icmp(Int::LLVMIntULT, next, size);
            self.e.cond_br(more, run, done);
        } else {
            self.e.br(done);
        }
        self.e.at_end(done);
        self.flush_sums()?;
        self.flush_deferred()?;
        self.e.ret_void();
        if !few_blocks {
            return Ok(ENTRY);
        }
        self.e.set_name(f, FEW_BLOCKS_ENTRY);
        Ok(FEW_BLOCKS_ENTRY)
    }

    /// Runs the threads `linear..linear + lanes`, as far as they exist: in lockstep when all do, else one by one.
    fn gpu_lanes(
        &mut self,
        lanes: u32,
        linear: V,
        size: V,
        params: &[Parts],
        dims: &SmallVec<[V; 4]>,
    ) -> Result<()> {
        let (int64, int32) = (self.e.int(64), self.e.int(32));
        let together = self.e.new_block("together");
        let single = self.e.new_block("single");
        let join = self.e.new_block("ran");
        let end = self.e.add(linear, self.e.i64(lanes.into()));
        let all_exist = self.e.icmp(Int::LLVMIntULE, end, size);
        // Further dimensions repeat the first one's coordinates, which then start anew between any two lanes.
        let extent = self.e.zext(dims[0], int64);
        let counts_up = self.e.icmp(Int::LLVMIntEQ, extent, size);
        let whole = self.e.and(all_exist, counts_up);
        let branch = self.e.cond_br(whole, together, single);
        self.e.set_branch_weights(branch, 1 << 20, 1);

        self.e.at_end(together);
        let base = self.e.trunc(linear, int32);
        self.multiples.insert(base, lanes.into());
        self.lanes = lanes;
        self.body(params, [Val::Linear { base, stride: 1 }].into_iter().collect(), dims)?;
        self.lanes = 1;
        self.emitted = 0;
        self.e.br(join);

        self.e.at_end(single);
        let last = self.e.intrinsic("llvm.umin", &[int64], &[end, size]);
        let head = self.e.new_block("threads");
        self.e.br(head);
        self.e.at_end(head);
        let at = self.e.phi(int64);
        self.e.add_incoming(at, linear, single);
        let tid = self.gpu_coordinates(at, size, dims)?;
        self.body(params, tid.into_iter().map(Val::Uniform).collect(), dims)?;
        let next = self.e.add(at, self.e.i64(1));
        let latch = self.e.current_block();
        self.e.add_incoming(at, next, latch);
        let more = self.e.icmp(Int::LLVMIntULT, next, last);
        let back = self.e.cond_br(more, head, join);
        // Rare, and a handful of rounds: more copies of the body would only take time to compile.
        self.e.set_unroll(back, 1);
        self.e.at_end(join);
        Ok(())
    }

    /// A thread's coordinates from its linear index.
    fn gpu_coordinates(&mut self, linear: V, size: V, dims: &SmallVec<[V; 4]>) -> Result<Vec<V>> {
        let k = lane_dim(self.ir) as usize;
        if k >= MAX_DIMS {
            return Err(CodegenError::broken(format!("tid {k} does not exist")));
        }
        let (int64, int32) = (self.e.int(64), self.e.int(32));
        // One dimension and no repetition: the index is the coordinate.
        let total = {
            let mut total = self.e.zext(dims[0], int64);
            for &d in &dims[1..=k] {
                let d = self.e.zext(d, int64);
                total = self.e.mul(total, d);
            }
            total
        };
        let repeats = self.e.icmp(Int::LLVMIntUGE, linear, total);
        let f = self.e.current_function();
        let before = self.e.current_block();
        let wrap = self.e.append_block(f, "wrap");
        let decode = self.e.append_block(f, "decode");
        let branch = self.e.cond_br(repeats, wrap, decode);
        self.e.set_branch_weights(branch, 1, 1 << 20);
        self.e.at_end(wrap);
        let wrapped = self.e.urem(linear, total);
        self.e.br(decode);
        self.e.at_end(decode);
        let index = self.e.phi(int64);
        self.e.add_incoming(index, linear, before);
        self.e.add_incoming(index, wrapped, wrap);
        if k == 0 {
            return Ok(vec![self.e.trunc(index, int32)]);
        }
        let narrow = self.e.append_block(f, "narrow");
        let wide = self.e.append_block(f, "wide");
        let join = self.e.append_block(f, "coordinates");
        let small = self.e.icmp(Int::LLVMIntULE, size, self.e.i64(u32::MAX.into()));
        let branch = self.e.cond_br(small, narrow, wide);
        self.e.set_branch_weights(branch, 1 << 20, 1);
        let mut sides = Vec::new();
        for (block, ty) in [(narrow, int32), (wide, int64)] {
            self.e.at_end(block);
            let mut rest = self.e.trunc(index, ty);
            let mut coords = vec![std::ptr::null_mut(); k + 1];
            for d in (1..=k).rev() {
                let extent = self.e.zext(dims[d], ty);
                let quotient = self.e.udiv(rest, extent);
                let product = self.e.mul(quotient, extent);
                let remainder = self.e.sub(rest, product);
                coords[d] = self.e.trunc(remainder, int32);
                rest = quotient;
            }
            coords[0] = self.e.trunc(rest, int32);
            self.e.br(join);
            sides.push((coords, block));
        }
        self.e.at_end(join);
        Ok((0..=k)
            .map(|d| {
                let phi = self.e.phi(int32);
                for (coords, block) in &sides {
                    self.e.add_incoming(phi, coords[d], *block);
                }
                phi
            })
            .collect())
    }
}
