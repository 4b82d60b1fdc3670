//! Sums that a GPU's blocks keep for themselves.
//!
//! Where all that a kernel does to some arrays is that it adds to them, as to the bins of a histogram, and they are small,
//! each block adds to a copy in the memory that its threads share, and adds the copy to the arrays at its end. That pays
//! once a block adds several times as often as there are elements, so the threads of such code loop over the launch, and
//! the name of the entry asks for a grid of few blocks.
//!
//! Whether it pays, and whether the arrays lie apart from all others that the kernel touches, is looked at in each launch.
//! Updates of which the code does not know the array go to the array itself: sums may be made in any order.
//!
//! *Invariant:* as for updates that are put off, all threads of a block come to the end of the kernel.

use std::mem::offset_of;

use inkle_ir::{ArrayDesc, AtomicOp, Scalar, TouchedArray, Updates, Use};
use inkwell::llvm_sys::LLVMOpcode;
use smallvec::SmallVec;

use super::warp::Place;
use super::{Lower, Result};
use crate::emitter::{Emitter, Int, V};

/// The most that a block keeps, bytes.
const MOST_BYTES: i64 = 8 << 10;
/// Smaller launches are over before sums of blocks would pay.
const FEWEST_THREADS: i64 = 2048;
/// Sizes of arrays are counted up to this, so that products of extents fit.
const COUNTED: i64 = 1 << 24;
/// The copy of each array starts at a multiple of this.
const ALIGN: i64 = 8;

/// The arrays of which blocks may keep sums.
pub(crate) struct BlockSums {
    arrays: SmallVec<[BlockSum; 2]>,
    /// Where the copies lie, one after the other.
    memory: V,
    /// Whether this block keeps sums.
    active: V,
    /// Goes where that is decided.
    branch: V,
    /// Some update of the code goes to a copy.
    happens: bool,
}

#[derive(Clone, Copy)]
struct BlockSum {
    scalar: Scalar,
    /// The address of the first element, as it was loaded.
    address: V,
    /// Bytes of all elements.
    bytes: V,
    /// Where the copy lies among the copies.
    offset: V,
}

impl<'m> Lower<'_, 'm> {
    /// What the kernel touches, if blocks may keep sums of some of it.
    fn arrays_with_sums(&self) -> Vec<TouchedArray> {
        let options = self.options;
        if options.optimization_level == 0
            || options.checks
            || options.verify_fp
            || super::block::waits(self.ir)
        {
            return Vec::new();
        }
        let touched = Updates::of(self.ir).map_or_else(Vec::new, |updates| updates.arrays);
        if touched.iter().any(|array| matches!(array.used, Use::Sums(_))) { touched } else { Vec::new() }
    }

    /// Makes the kernel ready for sums of its blocks, if it has a use for them: each thread learns whether its block keeps
    /// sums, which start as nothing. To be called where every thread comes by; `size` is that of the launch.
    pub fn prepare_sums(&mut self, size: V) -> Result<()> {
        let touched = self.arrays_with_sums();
        let (int, int64) = (self.e.int(32), self.e.int(64));
        let mut arrays: SmallVec<[BlockSum; 2]> = SmallVec::new();
        let mut total = self.e.i64(0);
        for array in &touched {
            let Use::Sums(scalar) = array.used else { continue };
            let Some(address) = self.pointer_of(array) else { return Ok(()) };
            let bytes = self.counted_bytes(array);
            let offset = self.e.trunc(total, int);
            let rounded = self.e.and(self.e.add(bytes, self.e.i64(ALIGN - 1)), self.e.i64(-ALIGN));
            total = self.e.add(total, rounded);
            arrays.push(BlockSum { scalar, address, bytes: self.e.trunc(bytes, int), offset });
        }
        if arrays.is_empty() {
            return Ok(());
        }
        let memory = self.e.shared_array(int64, MOST_BYTES as u64 / 8);
        let blocks = self.e.intrinsic("llvm.nvvm.read.ptx.sreg.nctaid.x", &[], &[]);
        let blocks = self.e.zext(blocks, int64);
        let fits = self.e.icmp(Int::LLVMIntULE, total, self.e.i64(MOST_BYTES));
        // As many updates as there are words, each of which starts as nothing and is added at the end.
        let updates = self.e.mul(size, self.e.i64(4));
        let pays = self.e.icmp(Int::LLVMIntUGE, updates, self.e.mul(total, blocks));
        let many = self.e.icmp(Int::LLVMIntUGE, size, self.e.i64(FEWEST_THREADS));
        let wanted = self.e.and(self.e.and(fits, pays), many);
        let before = self.e.current_block();
        let [look, zero, begin] = ["sums.look", "sums.start", "sums"].map(|name| self.e.new_block(name));
        let branch = self.e.cond_br(wanted, look, begin);

        self.e.at_end(look);
        let apart = self.lie_apart(&touched);
        let looked = self.e.current_block();
        self.e.cond_br(apart, zero, begin);

        self.e.at_end(zero);
        for array in &arrays {
            let nothing = self.identity(AtomicOp::Add, array.scalar);
            self.each_sum(array, |l, index| {
                let at = l.sum(memory, array, index);
                l.e.store(nothing, at, array.scalar.size());
                Ok(())
            })?;
        }
        self.wait_for_block();
        let zeroed = self.e.current_block();
        self.e.br(begin);

        self.e.at_end(begin);
        let active = self.e.phi(self.e.int(1));
        for (keeps, from) in [(false, before), (false, looked), (true, zeroed)] {
            self.e.add_incoming(active, self.e.i1(keeps), from);
        }
        self.sums = Some(BlockSums { arrays, memory, active, branch, happens: false });
        Ok(())
    }

    /// Whether blocks of the code that was made keep sums.
    pub fn keeps_sums(&self) -> bool {
        self.sums.as_ref().is_some_and(|sums| sums.happens)
    }

    /// Adds to what the block keeps, or does what `otherwise` does where it keeps nothing.
    pub fn add_in_block(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: V,
        values: &[V],
        otherwise: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let root = loaded_pointer(&self.e, at);
        let Some((array, memory, active)) = self.sums.as_mut().and_then(|sums| {
            let array = *sums.arrays.iter().find(|array| Some(array.address) == root)?;
            sums.happens = true;
            Some((array, sums.memory, sums.active))
        }) else {
            return otherwise(self);
        };
        let [keep, give, join] = ["keep", "give", "added"].map(|name| self.e.new_block(name));
        self.e.cond_br(active, keep, give);
        self.e.at_end(keep);
        let int64 = self.e.int(64);
        let distance = self.e.sub(self.e.ptr_to_int(at, int64), self.e.ptr_to_int(array.address, int64));
        let distance = self.e.trunc(distance, self.e.int(32));
        let copy = self.e.gep(self.e.int(8), memory, self.e.add(array.offset, distance));
        for (&(scalar, offset), &v) in places.iter().zip(values) {
            let at = self.e.byte_offset(copy, offset);
            self.add_to_shared(op, scalar, at, v);
        }
        self.e.br(join);
        self.e.at_end(give);
        otherwise(self)?;
        self.e.br(join);
        self.e.at_end(join);
        Ok(())
    }

    /// Adds what the block kept to the arrays. All threads of a block come here.
    pub fn flush_sums(&mut self) -> Result<()> {
        let Some(sums) = self.sums.take() else { return Ok(()) };
        if !sums.happens {
            self.e.set_condition(sums.branch, self.e.i1(false));
            return Ok(());
        }
        let [give, done] = ["sums.give", "sums.end"].map(|name| self.e.new_block(name));
        self.e.cond_br(sums.active, give, done);
        self.e.at_end(give);
        self.wait_for_block();
        for array in &sums.arrays {
            let BlockSum { scalar, address, .. } = *array;
            let nothing = self.identity(AtomicOp::Add, scalar);
            self.each_sum(array, |l, index| {
                let at = l.sum(sums.memory, array, index);
                let ty = l.scalar_type(scalar);
                let bits = l.e.int(8 * scalar.size());
                let sum = l.e.load(ty, at, scalar.size());
                let is_some = l.e.icmp(Int::LLVMIntNE, l.e.bitcast(sum, bits), l.e.bitcast(nothing, bits));
                let [some, next] = ["some", "next"].map(|name| l.e.new_block(name));
                l.e.cond_br(is_some, some, next);
                l.e.at_end(some);
                let place = l.e.gep(ty, address, index);
                l.atomic_scalar(AtomicOp::Add, scalar, place, sum, false)?;
                l.e.br(next);
                l.e.at_end(next);
                Ok(())
            })?;
        }
        self.e.br(done);
        self.e.at_end(done);
        Ok(())
    }

    fn wait_for_block(&mut self) {
        self.e.intrinsic("llvm.nvvm.barrier.cta.sync.all", &[], &[self.e.i32(0)]);
    }

    /// A number in a copy.
    fn sum(&mut self, memory: V, array: &BlockSum, index: V) -> V {
        let start = self.e.gep(self.e.int(8), memory, array.offset);
        self.e.gep(self.scalar_type(array.scalar), start, index)
    }

    /// Does something for each number of an array, of which every thread of the block takes its part.
    fn each_sum(&mut self, array: &BlockSum, body: impl FnOnce(&mut Self, V) -> Result<()>) -> Result<()> {
        let int = self.e.int(32);
        let first = self.e.intrinsic("llvm.nvvm.read.ptx.sreg.tid.x", &[], &[]);
        let step = self.e.intrinsic("llvm.nvvm.read.ptx.sreg.ntid.x", &[], &[]);
        let count = self.e.udiv(array.bytes, self.e.i32(array.scalar.size() as i32));
        let before = self.e.current_block();
        let [head, inside, done] = ["each", "one", "all"].map(|name| self.e.new_block(name));
        self.e.br(head);
        self.e.at_end(head);
        let index = self.e.phi(int);
        self.e.add_incoming(index, first, before);
        let more = self.e.icmp(Int::LLVMIntULT, index, count);
        self.e.cond_br(more, inside, done);
        self.e.at_end(inside);
        body(self, index)?;
        let next = self.e.add(index, step);
        self.e.add_incoming(index, next, self.e.current_block());
        let back = self.e.br(head);
        // A round or two: more copies of the body would only take time to compile.
        self.e.set_unroll(back, 1);
        self.e.at_end(done);
        Ok(())
    }

    /// Whether the arrays of sums have no gaps and no memory in common with others that are touched in another way.
    fn lie_apart(&mut self, touched: &[TouchedArray]) -> V {
        let extents: Vec<[V; 2]> = touched.iter().map(|array| self.extent(array)).collect();
        let mut apart = self.e.i1(true);
        for (array, [from, to]) in touched.iter().zip(&extents) {
            if !matches!(array.used, Use::Sums(_)) {
                continue;
            }
            let packed = self.is_packed(array);
            apart = self.e.and(apart, packed);
            // Sums of one type may be of the same memory, and so the array itself is passed over too.
            let others = touched.iter().zip(&extents).filter(|(other, _)| other.used != array.used);
            for (_, [start, end]) in others {
                let is_after = self.e.icmp(Int::LLVMIntUGE, *start, *to);
                let is_before = self.e.icmp(Int::LLVMIntUGE, *from, *end);
                let meets_not = self.e.or(is_after, is_before);
                apart = self.e.and(apart, meets_not);
            }
        }
        apart
    }

    /// From where to where the elements of an array lie; more where it has none.
    fn extent(&mut self, array: &TouchedArray) -> [V; 2] {
        let (int64, zero) = (self.e.int(64), self.e.i64(0));
        let address = if array.gradient { offset_of!(ArrayDesc, grad) } else { offset_of!(ArrayDesc, data) };
        let start = self.word(array, address, 8);
        let (mut from, mut to) = (start, self.e.add(start, self.e.i64(array.size.into())));
        for dim in 0..array.ndim.into() {
            let (extent, stride) = (self.extent_of(array, dim), self.stride_of(array, dim));
            let last = self.e.mul(self.e.sub(extent, self.e.i64(1)), stride);
            let [down, up] =
                ["llvm.smin", "llvm.smax"].map(|name| self.e.intrinsic(name, &[int64], &[last, zero]));
            (from, to) = (self.e.add(from, down), self.e.add(to, up));
        }
        [from, to]
    }

    /// Whether an array's elements lie one after the other.
    fn is_packed(&mut self, array: &TouchedArray) -> V {
        let (mut packed, mut step) = (self.e.i1(true), self.e.i64(array.size.into()));
        for dim in (0..array.ndim.into()).rev() {
            let stride = self.stride_of(array, dim);
            let fits = self.e.icmp(Int::LLVMIntEQ, stride, step);
            packed = self.e.and(packed, fits);
            let extent = self.extent_of(array, dim);
            step = self.e.mul(step, extent);
        }
        packed
    }

    /// Bytes of an array without gaps, or at least [`COUNTED`] if there are more.
    fn counted_bytes(&mut self, array: &TouchedArray) -> V {
        let (int64, most) = (self.e.int(64), self.e.i64(COUNTED));
        let mut bytes = self.e.i64(array.size.into());
        for dim in 0..array.ndim.into() {
            let extent = self.extent_of(array, dim);
            bytes = self.e.mul(bytes, extent);
            bytes = self.e.intrinsic("llvm.umin", &[int64], &[bytes, most]);
        }
        bytes
    }

    fn extent_of(&mut self, array: &TouchedArray, dim: usize) -> V {
        let extent = self.word(array, offset_of!(ArrayDesc, shape) + 4 * dim, 4);
        self.e.zext(extent, self.e.int(64))
    }

    fn stride_of(&mut self, array: &TouchedArray, dim: usize) -> V {
        self.word(array, offset_of!(ArrayDesc, strides) + 8 * dim, 8)
    }

    /// A number in an array's descriptor.
    fn word(&mut self, array: &TouchedArray, offset: usize, bytes: u32) -> V {
        let block = self.param_block.expect("kernels of GPUs have a block of parameters");
        let at = self.e.byte_offset(block, array.descriptor + offset as u32);
        let v = self.e.load(self.e.int(8 * bytes), at, bytes);
        self.e.set_invariant(v);
        v
    }

    /// The address of the elements that are touched, as it was loaded with the parameters.
    pub fn pointer_of(&self, array: &TouchedArray) -> Option<V> {
        let offset = if array.gradient { offset_of!(ArrayDesc, grad) } else { offset_of!(ArrayDesc, data) };
        let wanted = array.descriptor + offset as u32;
        self.pointers.iter().find(|(known, _)| *known == wanted).map(|(_, address)| *address)
    }
}

/// The address that an address was made of by adding to it.
pub(super) fn loaded_pointer(e: &Emitter<'_>, at: V) -> Option<V> {
    let mut at = at;
    loop {
        match e.opcode(at)? {
            LLVMOpcode::LLVMLoad => return Some(at),
            LLVMOpcode::LLVMGetElementPtr | LLVMOpcode::LLVMAddrSpaceCast => at = e.operand(at, 0),
            _ => return None,
        }
    }
}
