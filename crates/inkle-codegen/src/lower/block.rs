//! Atomic updates that are the last thing a GPU's thread does, combined over its block.
//!
//! An update of a place that is the same in the whole launch, after which a thread touches no memory but by updates of
//! the same kind, may be made when the thread ends: nothing in between could see the difference. So a thread keeps
//! what it would do in registers, together with what it did before as another of the launch's threads, and at the end
//! of the kernel each block updates the place once.
//!
//! *Invariant:* all threads of a block come to the end of the kernel: code with checks, where they may end before, and
//! code that waits for other threads are left alone.

use inkle_ir::{ArrayKind, AtomicOp, Block, Function, Module, Op, OpData, OpKind, Scalar, Value};
use smallvec::SmallVec;

use super::frame::used_values;
use super::spread::Spread;
use super::warp::{Place, Present};
use super::{Frame, Lower, Result};
use crate::emitter::{AddressRoot, Int, V};
use crate::value::parts;

/// Registers that a kernel spends on what it has put off.
const MAX_PARTS: usize = 8;
/// The most warps of a block.
const MAX_WARPS: u64 = 32;
/// Threads of a warp.
const WARP: i32 = 32;

/// An update that may be put off.
pub(crate) struct Deferred {
    op: Op,
    atomic: AtomicOp,
    scalar: Scalar,
    offsets: SmallVec<[u32; 4]>,
    /// Whether a thread may end without it.
    conditional: bool,
    /// What this thread has put off so far, for each component.
    values: SmallVec<[V; 4]>,
    /// Whether that is anything, and where it goes.
    flag: V,
    address: V,
    /// The code puts it off.
    happens: bool,
}

/// The updates of a kernel that may be put off, and whether each is conditional.
fn last_updates(module: &Module) -> Vec<(Op, bool)> {
    let Some(kernel) = module.kernel() else { return Vec::new() };
    if module.has_native() || waits(module) {
        return Vec::new();
    }
    let mut search = Search { f: kernel, used: used_values(kernel), kind: None, found: Vec::new() };
    search.block(kernel.body, false);
    search.found
}

/// Whether a loop may wait for what another thread does.
pub(crate) fn waits(module: &Module) -> bool {
    module.functions.iter().any(|function| {
        let ops = (0..function.block_count()).flat_map(|b| &function.block(Block::new(b)).ops);
        ops.map(|&op| function.op(op)).any(|data| {
            data.kind == OpKind::While && !data.blocks.iter().all(|&b| only_computes(function, b))
        })
    })
}

/// Whether a block and those in it touch no memory.
fn only_computes(f: &Function, block: Block) -> bool {
    f.block(block).ops.iter().all(|&op| {
        let data = f.op(op);
        let computes = (data.kind.is_pure() && !reads_lists(f, data))
            || data.kind.is_terminator()
            || matches!(data.kind, OpKind::If | OpKind::For | OpKind::While | OpKind::Assert(_));
        computes && data.blocks.iter().all(|&b| only_computes(f, b))
    })
}

/// Whether an operation that computes an address reads memory for it.
fn reads_lists(f: &Function, data: &OpData) -> bool {
    let kind = data.operands.first().and_then(|&v| f.ty(v).as_array()).map(|array| array.kind);
    matches!(data.kind, OpKind::Elem | OpKind::View(_)) && kind != Some(ArrayKind::Strided)
}

/// Walks a kernel from its end.
struct Search<'a> {
    f: &'a Function,
    used: Vec<bool>,
    /// The kind of the updates found; others do not commute with them.
    kind: Option<(AtomicOp, Scalar)>,
    found: Vec<(Op, bool)>,
}

impl Search<'_> {
    /// Whether the walk came to the start of the block.
    fn block(&mut self, block: Block, conditional: bool) -> bool {
        let f = self.f;
        f.block(block).ops.iter().rev().all(|&op| {
            let data = f.op(op);
            match &data.kind {
                OpKind::Atomic(atomic) => {
                    let kind = data.operands.get(1).and_then(|&v| self.kind_of(*atomic, v));
                    let unseen = data.results.iter().all(|r| !self.used[r.index()]);
                    let fits = unseen && kind.is_some() && (self.kind.is_none() || self.kind == kind);
                    if fits {
                        self.kind = kind;
                        self.found.push((op, conditional));
                    }
                    fits
                }
                OpKind::If => {
                    let sides: Vec<bool> = data.blocks.iter().map(|&b| self.block(b, true)).collect();
                    sides.iter().all(|&whole| whole)
                }
                OpKind::For | OpKind::While => data.blocks.iter().all(|&b| only_computes(f, b)),
                OpKind::Assert(_) => true,
                kind => (kind.is_pure() && !reads_lists(f, data)) || kind.is_terminator(),
            }
        })
    }

    /// The kind of an update that has a value which changes nothing.
    fn kind_of(&self, op: AtomicOp, value: Value) -> Option<(AtomicOp, Scalar)> {
        let scalar = self.f.ty(value).scalar()?;
        let op = if op == AtomicOp::Sub { AtomicOp::Add } else { op };
        let exact = match scalar {
            Scalar::F32 | Scalar::F64 => op == AtomicOp::Add,
            Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64 => op != AtomicOp::Exch,
            _ => false,
        };
        exact.then_some((op, scalar))
    }
}

impl<'m> Lower<'_, 'm> {
    /// Makes the kernel ready for putting updates off. To be called where every thread comes by.
    pub fn prepare_deferred(&mut self) {
        let options = self.options;
        if options.optimization_level == 0 || options.checks || options.verify_fp {
            return;
        }
        let ir: &'m Module = self.ir;
        let Some(kernel) = ir.kernel() else { return };
        let mut left = MAX_PARTS;
        for (op, conditional) in last_updates(ir) {
            let data = kernel.op(op);
            let OpKind::Atomic(atomic) = data.kind else { continue };
            let ty = kernel.ty(data.operands[1]);
            let layout = parts(ty);
            let Some(scalar) = ty.scalar().filter(|_| layout.len() <= left) else { continue };
            left -= layout.len();
            let atomic = if atomic == AtomicOp::Sub { AtomicOp::Add } else { atomic };
            let identity = self.identity(atomic, scalar);
            let values: SmallVec<[V; 4]> = layout
                .iter()
                .map(|_| {
                    let slot = self.e.alloca(self.scalar_type(scalar));
                    self.e.store(identity, slot, scalar.size());
                    slot
                })
                .collect();
            let (flag, address) = (self.e.alloca(self.e.int(1)), self.e.alloca(self.e.ptr(1)));
            self.e.store(self.e.i1(false), flag, 1);
            self.e.store(self.e.null(self.e.ptr(1)), address, 8);
            let offsets = layout.iter().map(|&(_, offset)| offset).collect();
            self.deferred.push(Deferred {
                op,
                atomic,
                scalar,
                offsets,
                conditional,
                values,
                flag,
                address,
                happens: false,
            });
        }
    }

    /// The value that changes nothing.
    pub(super) fn identity(&mut self, op: AtomicOp, scalar: Scalar) -> V {
        let ty = self.scalar_type(scalar);
        let (bits, signed) = (8 * scalar.size(), scalar.is_signed());
        match op {
            // Not zero, which would turn a negative zero.
            _ if scalar.is_float() => self.e.const_real(ty, -0.0),
            AtomicOp::And => self.e.const_int(ty, -1),
            AtomicOp::Min if signed => self.e.const_int(ty, i64::MAX >> (64 - bits)),
            AtomicOp::Max if signed => self.e.const_int(ty, i64::MIN >> (64 - bits)),
            AtomicOp::Min => self.e.const_int(ty, -1),
            _ => self.e.null(ty),
        }
    }

    /// Puts an update off if that is possible.
    pub fn defer(
        &mut self,
        frame: &Frame<'m>,
        op: Op,
        atomic: AtomicOp,
        places: &[Place],
        at: V,
        values: &[V],
    ) -> Result<bool> {
        if !self.ir.kernel().is_some_and(|kernel| std::ptr::eq(kernel, frame.function)) {
            return Ok(false);
        }
        let Some(index) = self.deferred.iter().position(|d| d.op == op) else { return Ok(false) };
        if self.e.address_root(at) != AddressRoot::Global || self.spread(at) != Spread::Same {
            return Ok(false);
        }
        let deferred = &mut self.deferred[index];
        deferred.happens = true;
        let (slots, flag, address) = (deferred.values.clone(), deferred.flag, deferred.address);
        let within = deferred.atomic;
        for ((&slot, &(scalar, _)), &v) in slots.iter().zip(places).zip(values) {
            let v = match (atomic, scalar.is_float()) {
                (AtomicOp::Sub, true) => self.strict(|l| l.e.fneg(v)),
                (AtomicOp::Sub, false) => self.e.neg(v),
                _ => v,
            };
            let before = self.e.load(self.scalar_type(scalar), slot, scalar.size());
            let now = self.joined_updates(within, scalar, before, v)?;
            self.e.store(now, slot, scalar.size());
        }
        self.e.store(self.e.i1(true), flag, 1);
        let at = self.e.address_space_cast(at, self.e.ptr(1));
        self.e.store(at, address, 8);
        Ok(true)
    }

    /// Whether the code that was made puts updates off.
    pub fn puts_off(&self) -> bool {
        self.deferred.iter().any(|d| d.happens)
    }

    /// Makes the updates that were put off. All threads of a block come here.
    pub fn flush_deferred(&mut self) -> Result<()> {
        let all = std::mem::take(&mut self.deferred);
        for deferred in all.iter().filter(|d| d.happens) {
            if deferred.conditional {
                let own = self.e.load(self.e.int(1), deferred.flag, 1);
                let any = self.e.intrinsic("llvm.nvvm.barrier.cta.red.or.all", &[], &[self.e.i32(0), own]);
                let [some, next] = ["some", "none"].map(|name| self.e.new_block(name));
                self.e.cond_br(any, some, next);
                self.e.at_end(some);
                self.flush(deferred)?;
                self.e.br(next);
                self.e.at_end(next);
            } else {
                self.flush(deferred)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, deferred: &Deferred) -> Result<()> {
        let (op, scalar) = (deferred.atomic, deferred.scalar);
        let (int, ty, size) = (self.e.int(32), self.scalar_type(scalar), scalar.size());
        let register = |l: &Self, name: &str| l.e.intrinsic(name, &[], &[]);
        let thread = register(self, "llvm.nvvm.read.ptx.sreg.tid.x");
        let threads = register(self, "llvm.nvvm.read.ptx.sreg.ntid.x");
        let lane = self.e.and(thread, self.e.i32(WARP - 1));
        let warp = self.e.lshr(thread, self.e.i32(5));
        // The threads of this warp: the last one of a block may have fewer.
        let others = self.e.sub(threads, self.e.sub(thread, lane));
        let some = self.e.icmp(Int::LLVMIntULT, others, self.e.i32(WARP));
        let bits = self.e.sub(self.e.shl(self.e.i32(1), others), self.e.i32(1));
        let mask = self.e.select(some, bits, self.e.i32(-1));
        let count = self.e.select(some, others, self.e.i32(WARP));
        let present = Present::First { mask, last: self.e.sub(count, self.e.i32(1)) };
        // Of a conditional update's address any thread that has it tells the one that makes the update.
        let told = deferred.conditional.then(|| self.e.shared_array(self.e.ptr(1), 1));
        if let Some(told) = told {
            let own = self.e.load(self.e.int(1), deferred.flag, 1);
            let [tell, join] = ["tell", "told"].map(|name| self.e.new_block(name));
            self.e.cond_br(own, tell, join);
            self.e.at_end(tell);
            let address = self.e.load(self.e.ptr(1), deferred.address, 8);
            self.e.store(address, told, 8);
            self.e.br(join);
            self.e.at_end(join);
        }
        let mut of_warp: SmallVec<[V; 4]> = SmallVec::new();
        for &slot in &deferred.values {
            let own = self.e.load(ty, slot, size);
            of_warp.push(self.reduce_warp(op, scalar, own, present)?);
        }
        let shared: SmallVec<[V; 4]> = of_warp.iter().map(|_| self.e.shared_array(ty, MAX_WARPS)).collect();
        let [leader, barrier] = ["leader", "barrier"].map(|name| self.e.new_block(name));
        let leads = self.e.icmp(Int::LLVMIntEQ, lane, self.e.i32(0));
        self.e.cond_br(leads, leader, barrier);
        self.e.at_end(leader);
        for (&array, &v) in shared.iter().zip(&of_warp) {
            let at = self.e.gep(ty, array, warp);
            self.e.store(v, at, size);
        }
        self.e.br(barrier);
        self.e.at_end(barrier);
        self.e.intrinsic("llvm.nvvm.barrier.cta.sync.all", &[], &[self.e.i32(0)]);

        let [first, update, done] = ["first.warp", "update", "flushed"].map(|name| self.e.new_block(name));
        let is_first_warp = self.e.icmp(Int::LLVMIntEQ, warp, self.e.i32(0));
        self.e.cond_br(is_first_warp, first, done);
        self.e.at_end(first);
        let rounded = self.e.add(threads, self.e.i32(WARP - 1));
        let warps = self.e.lshr(rounded, self.e.i32(5));
        let is_warp = self.e.icmp(Int::LLVMIntULT, lane, warps);
        let identity = self.identity(op, scalar);
        let mut of_block: SmallVec<[V; 4]> = SmallVec::new();
        for &array in &shared {
            // What lies after the last warp's is not read: it is of the block's shared memory, but nobody wrote it.
            let index = self.e.select(is_warp, lane, self.e.null(int));
            let at = self.e.gep(ty, array, index);
            let v = self.e.load(ty, at, size);
            let v = self.e.select(is_warp, v, identity);
            of_block.push(self.reduce_warp(op, scalar, v, present)?);
        }
        let is_first = self.e.icmp(Int::LLVMIntEQ, thread, self.e.i32(0));
        self.e.cond_br(is_first, update, done);
        self.e.at_end(update);
        let address = self.e.load(self.e.ptr(1), told.unwrap_or(deferred.address), 8);
        for (&v, &offset) in of_block.iter().zip(&deferred.offsets) {
            let at = self.e.byte_offset(address, offset);
            self.atomic_scalar(op, scalar, at, v, false)?;
        }
        self.e.br(done);
        self.e.at_end(done);
        Ok(())
    }
}
