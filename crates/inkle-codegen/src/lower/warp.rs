//! Atomic updates of one place by many threads of a GPU's warp: combined in registers, and done once.
//!
//! Threads that are at the same instruction at the same time take part, however many those are: the hardware says
//! which, and everything after that is synchronised between just those. Sums of floats round as they do when threads
//! meet in another order, as they may from run to run anyway.

use inkle_ir::{ArrayKind, AtomicOp, OpKind, Scalar, ScalarKind, Value};
use smallvec::SmallVec;

use super::spread::Spread;
use super::{Frame, Lower, Result};
use crate::emitter::{AddressRoot, Int, V};
use crate::value::{ArrayParts, Val};

/// The last thread of a warp.
const LAST: i32 = 31;
/// The first architecture that reduces integers of a warp in one instruction.
const REDUX: u32 = 80;
/// An update of more components than this goes without asking whether a warp's threads mean the same place.
const CHECKED_PARTS: usize = 6;
/// In an array of at most this many elements threads of a warp are likely to meet.
const SMALL_ARRAY: i64 = 256;

/// Which threads of a warp take part in something.
#[derive(Clone, Copy)]
pub(super) enum Present {
    /// As many as the block has, which are the first ones: their mask, and the last one's number.
    First { mask: V, last: V },
    /// Those of a mask.
    Some(V),
}

/// A component of what is updated: its type and its offset in bytes.
pub(super) type Place = (Scalar, u32);

impl<'m> Lower<'_, 'm> {
    /// Whether several updates can become one.
    pub fn can_combine(&self, op: AtomicOp, scalar: Scalar) -> bool {
        let has_order = match scalar.kind() {
            ScalarKind::Bool => true,
            ScalarKind::Float => matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor),
            ScalarKind::Signed | ScalarKind::Unsigned => false,
        };
        self.machine.gpu && self.options.optimization_level > 0 && op != AtomicOp::Exch && !has_order
    }

    /// Updates the places from `at` on by a thread's values, of which nobody asks for the old ones.
    /// `is_small` says, where that is known to the code, whether they lie in an array of few elements.
    pub fn update_places(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: V,
        values: &[V],
        is_small: Option<V>,
    ) -> Result<()> {
        let combines = places.iter().all(|&(scalar, _)| self.can_combine(op, scalar));
        // Memory of a thread's own has the same addresses in all threads.
        if !combines || self.e.address_root(at) != AddressRoot::Global {
            return self.update_each(op, places, at, values);
        }
        match self.spread(at) {
            Spread::Same => {
                let mask = self.active_threads();
                self.update_by_first(op, places, at, values, mask, Present::Some(mask))
            }
            Spread::Rows | Spread::Unknown => self.add_in_block(op, places, at, values, |l| {
                if places.len() <= CHECKED_PARTS {
                    l.update_groups(op, places, at, values, is_small)
                } else {
                    l.update_each(op, places, at, values)
                }
            }),
            Spread::Apart => self.update_each(op, places, at, values),
        }
    }

    /// Whether an element belongs to an array of few.
    pub fn in_small_array(&mut self, frame: &Frame<'m>, reference: Value) -> Result<Option<V>> {
        let Some(elem) = frame.function.defining_op(reference).filter(|op| op.kind == OpKind::Elem) else {
            return Ok(None);
        };
        let array = elem.operands[0];
        let Some(ty) = frame.function.ty(array).as_array() else { return Ok(None) };
        // The product of more extents might not fit.
        if ty.kind != ArrayKind::Strided || ty.ndim > 2 {
            return Ok(None);
        }
        let int64 = self.e.int(64);
        let mut count = self.e.i64(1);
        for dim in 0..ty.ndim as usize {
            let extent = self.uniform(frame.get(array)?[ArrayParts::of(ty).shape(dim)])?;
            count = self.e.mul(count, self.e.zext(extent, int64));
        }
        Ok(Some(self.e.icmp(Int::LLVMIntULE, count, self.e.i64(SMALL_ARRAY))))
    }

    fn update_each(&mut self, op: AtomicOp, places: &[Place], at: V, values: &[V]) -> Result<()> {
        for (&(scalar, offset), &v) in places.iter().zip(values) {
            let at = self.e.byte_offset(at, offset);
            self.atomic_scalar(op, scalar, at, v, false)?;
        }
        Ok(())
    }

    /// Combines the updates of threads that are found to mean the same place: of all that are here, if they do, and in an
    /// array of few elements of each group that does. To look for groups elsewhere costs more than it gives.
    fn update_groups(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: V,
        values: &[V],
        is_small: Option<V>,
    ) -> Result<()> {
        let int = self.e.int(32);
        let mask = self.active_threads();
        let address = self.e.ptr_to_int(at, self.e.int(64));
        let matched = self.e.intrinsic("llvm.nvvm.match.all.sync.i64p", &[], &[mask, address]);
        let same = self.e.extract_value(matched, 1);
        let [together, apart, join] = ["together", "apart", "updated"].map(|name| self.e.new_block(name));
        let mut peers = mask;
        match is_small {
            None => {
                self.e.cond_br(same, together, apart);
                self.e.at_end(together);
            }
            Some(is_small) => {
                let [groups, search] = ["groups", "search"].map(|name| self.e.new_block(name));
                let wanted = self.e.or(same, is_small);
                self.e.cond_br(wanted, groups, apart);
                self.e.at_end(groups);
                self.e.cond_br(same, together, search);
                self.e.at_end(search);
                let found = self.e.intrinsic("llvm.nvvm.match.any.sync.i64", &[], &[mask, address]);
                self.e.br(together);
                self.e.at_end(together);
                peers = self.e.phi(int);
                self.e.add_incoming(peers, mask, groups);
                self.e.add_incoming(peers, found, search);
            }
        }
        let within = if op == AtomicOp::Sub { AtomicOp::Add } else { op };
        let scalars: SmallVec<[Scalar; 4]> = places.iter().map(|&(scalar, _)| scalar).collect();
        let all = self.reduce_groups(within, &scalars, values, mask, peers)?;
        self.update_if_first(op, places, at, &all, peers)?;
        self.sync_warp(mask);
        self.e.br(join);
        self.e.at_end(apart);
        self.update_each(op, places, at, values)?;
        self.e.br(join);
        self.e.at_end(join);
        Ok(())
    }

    /// The first thread of `mask` makes the update of all of them.
    fn update_by_first(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: V,
        values: &[V],
        mask: V,
        present: Present,
    ) -> Result<()> {
        // What is taken away is summed up too.
        let within = if op == AtomicOp::Sub { AtomicOp::Add } else { op };
        let mut all: SmallVec<[V; 4]> = SmallVec::new();
        for (&(scalar, _), &v) in places.iter().zip(values) {
            all.push(self.reduce_warp(within, scalar, v, present)?);
        }
        self.update_if_first(op, places, at, &all, mask)?;
        self.sync_warp(mask);
        Ok(())
    }

    /// Makes the update if this is the first thread of `mask`.
    fn update_if_first(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: V,
        values: &[V],
        mask: V,
    ) -> Result<()> {
        let is_first = self.is_first(mask);
        let [first, join] = ["first", "updated"].map(|name| self.e.new_block(name));
        self.e.cond_br(is_first, first, join);
        self.e.at_end(first);
        self.update_each(op, places, at, values)?;
        self.e.br(join);
        self.e.at_end(join);
        Ok(())
    }

    /// A sum of one number, the same in all threads, into one place: each thread gets the old value that it would see
    /// if the threads went in order. `None` for any other update.
    pub fn count_by_warp(&mut self, op: AtomicOp, scalar: Scalar, at: V, v: V) -> Result<Option<V>> {
        let counts = matches!(op, AtomicOp::Add | AtomicOp::Sub)
            && matches!(scalar.kind(), ScalarKind::Signed | ScalarKind::Unsigned)
            && scalar.size() >= 4
            && self.can_combine(op, scalar)
            && self.e.address_root(at) == AddressRoot::Global;
        if !counts || self.spread(at) != Spread::Same || self.spread(v) != Spread::Same {
            return Ok(None);
        }
        let ty = self.scalar_type(scalar);
        let mask = self.active_threads();
        let times = |l: &mut Self, threads: V| {
            let count = l.e.intrinsic("llvm.ctpop", &[l.e.int(32)], &[threads]);
            let count = if scalar.size() == 8 { l.e.zext(count, ty) } else { count };
            l.e.mul(count, v)
        };
        let below = self.threads_below(mask);
        let all = times(self, mask);
        let before = times(self, below);
        let is_first = self.e.icmp(Int::LLVMIntEQ, below, self.e.i32(0));
        let start = self.e.current_block();
        let [first, join] = ["first", "counted"].map(|name| self.e.new_block(name));
        self.e.cond_br(is_first, first, join);
        self.e.at_end(first);
        let old = self.atomic_scalar(op, scalar, at, all, true)?;
        let first_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(join);
        let seen = self.e.phi(ty);
        self.e.add_incoming(seen, self.e.null(ty), start);
        self.e.add_incoming(seen, old, first_end);
        let leader = self.e.intrinsic("llvm.cttz", &[self.e.int(32)], &[mask, self.e.i1(true)]);
        let (seen, _) = self.shuffle("idx", mask, seen, leader, self.e.i32(LAST));
        Ok(Some(if op == AtomicOp::Sub { self.e.sub(seen, before) } else { self.e.add(seen, before) }))
    }

    /// Waits for all threads of `mask`: a thread that reads the place afterwards must see its own update, which another
    /// has made.
    fn sync_warp(&mut self, mask: V) {
        self.e.intrinsic("llvm.nvvm.bar.warp.sync", &[], &[mask]);
    }

    /// The threads of the warp that are here, a bit for each.
    fn active_threads(&mut self) -> V {
        self.e.intrinsic("llvm.nvvm.activemask", &[], &[])
    }

    fn is_full(&mut self, mask: V) -> V {
        self.e.icmp(Int::LLVMIntEQ, mask, self.e.i32(-1))
    }

    /// Those of `mask` that come before this thread.
    fn threads_below(&mut self, mask: V) -> V {
        let below = self.e.intrinsic("llvm.nvvm.read.ptx.sreg.lanemask.lt", &[], &[]);
        self.e.and(mask, below)
    }

    /// Whether this is the first thread of `mask`.
    fn is_first(&mut self, mask: V) -> V {
        let below = self.threads_below(mask);
        self.e.icmp(Int::LLVMIntEQ, below, self.e.i32(0))
    }

    fn reduces_in_one(&self, scalar: Scalar) -> bool {
        self.machine.arch >= REDUX && !scalar.is_float() && scalar.size() <= 4
    }

    /// What the threads that are present, all of which come here, have together; the first of them gets it.
    pub(super) fn reduce_warp(&mut self, op: AtomicOp, scalar: Scalar, v: V, present: Present) -> Result<V> {
        if self.reduces_in_one(scalar) {
            let (Present::First { mask, .. } | Present::Some(mask)) = present;
            return Ok(self.redux(op, scalar, v, mask));
        }
        let small = matches!(scalar, Scalar::F16 | Scalar::BF16);
        let (within, start) = if small { (Scalar::F32, self.half_to_f32(v, scalar)) } else { (scalar, v) };
        let reduced = match present {
            Present::First { mask, last } => self.reduce_first(op, within, start, Some((mask, last)))?,
            Present::Some(mask) => self.reduce_some(op, within, start, mask)?,
        };
        Ok(if small { self.f32_to_half(reduced, scalar) } else { reduced })
    }

    fn redux(&mut self, op: AtomicOp, scalar: Scalar, v: V, mask: V) -> V {
        let signed = scalar.is_signed();
        let name = match op {
            AtomicOp::Min if signed => "min",
            AtomicOp::Min => "umin",
            AtomicOp::Max if signed => "max",
            AtomicOp::Max => "umax",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Exch => "add",
        };
        let (int, ty) = (self.e.int(32), self.scalar_type(scalar));
        let wide = match scalar.size() {
            4 => v,
            _ if signed => self.e.sext(v, int),
            _ => self.e.zext(v, int),
        };
        let all = self.e.intrinsic(&format!("llvm.nvvm.redux.sync.{name}"), &[], &[wide, mask]);
        if scalar.size() == 4 { all } else { self.e.trunc(all, ty) }
    }

    /// One update's effect after another's.
    pub fn joined_updates(&mut self, op: AtomicOp, scalar: Scalar, a: V, b: V) -> Result<V> {
        let joined = self.updated(op, scalar, Val::Uniform(a), Val::Uniform(b))?;
        self.uniform(joined)
    }

    /// Each thread takes in another one further up, of the whole warp or of the first ones, as far as it exists.
    fn reduce_first(&mut self, op: AtomicOp, scalar: Scalar, v: V, first: Option<(V, V)>) -> Result<V> {
        let mut v = v;
        let (mask, last) = first.unwrap_or((self.e.i32(-1), self.e.i32(LAST)));
        for distance in [16, 8, 4, 2, 1] {
            let (other, exists) = self.shuffle("down", mask, v, self.e.i32(distance), last);
            let joined = self.joined_updates(op, scalar, v, other)?;
            // Past the end of a whole warp a thread meets itself, and nobody looks at what it makes of that.
            v = if first.is_some() { self.e.select(exists, joined, v) } else { joined };
        }
        Ok(v)
    }

    /// The same for any threads.
    fn reduce_some(&mut self, op: AtomicOp, scalar: Scalar, v: V, mask: V) -> Result<V> {
        let [whole, some, join] = ["whole", "some", "reduced"].map(|name| self.e.new_block(name));
        let full = self.is_full(mask);
        self.e.cond_br(full, whole, some);
        self.e.at_end(whole);
        let of_whole = self.reduce_first(op, scalar, v, None)?;
        let whole_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(some);
        let of_some = self.reduce_groups(op, &[scalar], &[v], mask, mask)?[0];
        let some_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(join);
        let reduced = self.e.phi(self.e.type_of(v));
        self.e.add_incoming(reduced, of_whole, whole_end);
        self.e.add_incoming(reduced, of_some, some_end);
        Ok(reduced)
    }

    /// What each group has together; the first of each gets it. `peers` are those of this thread's group, which are among
    /// those of `mask`, all of which come here. Each thread takes in the next one that is left in its group, and every
    /// second one drops out, until the first is alone.
    fn reduce_groups(
        &mut self,
        op: AtomicOp,
        scalars: &[Scalar],
        values: &[V],
        mask: V,
        peers: V,
    ) -> Result<SmallVec<[V; 4]>> {
        let int = self.e.int(32);
        let is_half = |scalar| matches!(scalar, Scalar::F16 | Scalar::BF16);
        let lane = self.e.intrinsic("llvm.nvvm.read.ptx.sreg.laneid", &[], &[]);
        let below = self.threads_below(peers);
        let rank = self.e.intrinsic("llvm.ctpop", &[int], &[below]);
        let above = self.e.shl(self.e.i32(-2), lane);
        let others = self.e.and(peers, above);
        let own: SmallVec<[V; 4]> =
            scalars.iter().zip(values).map(|(&scalar, &v)| self.half_to_f32(v, scalar)).collect();
        let before = self.e.current_block();
        let [head, round, done] = ["pairs", "pair", "alone"].map(|name| self.e.new_block(name));
        self.e.br(head);

        self.e.at_end(head);
        let phi = |l: &Self, start: V| {
            let phi = l.e.phi(l.e.type_of(start));
            l.e.add_incoming(phi, start, before);
            phi
        };
        let mine: SmallVec<[V; 4]> = own.iter().map(|&v| phi(self, v)).collect();
        let (left, place) = (phi(self, others), phi(self, rank));
        let has_next = self.e.icmp(Int::LLVMIntNE, left, self.e.i32(0));
        let more = self.e.intrinsic("llvm.nvvm.vote.any.sync", &[], &[mask, has_next]);
        self.e.cond_br(more, round, done);

        self.e.at_end(round);
        let next = self.e.intrinsic("llvm.cttz", &[int], &[left, self.e.i1(false)]);
        let from = self.e.select(has_next, next, lane);
        let mut sums: SmallVec<[V; 4]> = SmallVec::new();
        for (&scalar, &v) in scalars.iter().zip(&mine) {
            let (other, _) = self.shuffle("idx", mask, v, from, self.e.i32(LAST));
            let within = if is_half(scalar) { Scalar::F32 } else { scalar };
            let sum = self.joined_updates(op, within, v, other)?;
            sums.push(self.e.select(has_next, sum, v));
        }
        let odd = self.e.and(place, self.e.i32(1));
        let stays = self.e.icmp(Int::LLVMIntEQ, odd, self.e.i32(0));
        let staying = self.e.intrinsic("llvm.nvvm.vote.ballot.sync", &[], &[mask, stays]);
        let rest = self.e.and(left, staying);
        let half = self.e.lshr(place, self.e.i32(1));
        let round_end = self.e.current_block();
        self.e.br(head);
        let phis = mine.iter().copied().chain([left, place]);
        for (phi, next) in phis.zip(sums.iter().copied().chain([rest, half])) {
            self.e.add_incoming(phi, next, round_end);
        }

        self.e.at_end(done);
        Ok(scalars.iter().zip(&mine).map(|(&scalar, &v)| self.f32_to_half(v, scalar)).collect())
    }

    /// Another thread's value, of the one `by` threads further `down` or of the thread `idx`, and whether that is within
    /// those up to `last`; if not, the value is the thread's own.
    fn shuffle(&mut self, kind: &str, mask: V, v: V, by: V, last: V) -> (V, V) {
        let (ty, int) = (self.e.type_of(v), self.e.int(32));
        let name = format!("llvm.nvvm.shfl.sync.{kind}.i32p");
        let one = |l: &Self, v: V| {
            let pair = l.e.intrinsic(&name, &[], &[mask, v, by, last]);
            (l.e.extract_value(pair, 0), l.e.extract_value(pair, 1))
        };
        if ty == self.e.double() || ty == self.e.int(64) {
            let pair = self.e.vector(int, 2);
            let halves = self.e.bitcast(v, pair);
            let moved = [0, 1].map(|i| {
                let half = self.e.extract_element(halves, self.e.i32(i));
                one(self, half)
            });
            let low = self.e.insert_element(self.e.poison(pair), moved[0].0, self.e.i32(0));
            let both = self.e.insert_element(low, moved[1].0, self.e.i32(1));
            return (self.e.bitcast(both, ty), moved[0].1);
        }
        if ty == self.e.float() || ty == int {
            let bits = self.e.bitcast(v, int);
            let (moved, exists) = one(self, bits);
            return (self.e.bitcast(moved, ty), exists);
        }
        let wide = self.e.zext(v, int);
        let (moved, exists) = one(self, wide);
        (self.e.trunc(moved, ty), exists)
    }
}
