//! Loads and stores: scalar, contiguous, interleaved, or one address per lane.

use std::convert::Infallible;
use std::iter;
use std::ops::Range;

use inkle_ir::{Scalar, Type};
use smallvec::{SmallVec, smallvec};

use super::neighbours::Neighbours;
use super::{Existing, Lower};
use crate::emitter::{Int, Ty, V};
use crate::value::{Part, Parts, Val, parts};

/// Elements of up to this many equal parts are moved as whole vectors and shuffled.
const MAX_INTERLEAVE: usize = 4;
/// The same on GPUs, where whole vectors are several accesses and shuffles are free: matrices of three by three.
const GPU_MAX_INTERLEAVE: usize = 9;
/// Masks of narrower parts, bytes, are no masks of the hardware's.
pub(super) const NARROWEST_MASKED: u32 = 4;

/// How many equal parts elements have, if they are moved as whole vectors.
pub(super) fn alike_parts(ty: Type) -> Option<u32> {
    let layout = parts(ty);
    let first = layout.first()?.0;
    let alike = (2..=MAX_INTERLEAVE).contains(&layout.len())
        && ty.size() == first.size() * layout.len() as u32
        && layout.iter().all(|&(part, _)| part == first);
    alike.then_some(layout.len() as u32)
}

/// Masks of the vectors of lanes' elements, of so many parts.
pub(crate) struct MasksOfParts {
    /// The mask of the lanes.
    lanes: V,
    parts: u32,
    masks: SmallVec<[V; 4]>,
}

/// Masks of vectors that lie one after the other.
#[derive(Clone, Copy)]
struct Masks<'a> {
    lanes: &'a [V],
    /// Those of a second group of lanes, and how many bytes farther on these have their values.
    second: Option<(&'a [V], V)>,
}

impl Masks<'_> {
    fn of(lanes: &[V]) -> Masks<'_> {
        Masks { lanes, second: None }
    }

    /// The one of a vector.
    fn of_vector(&self, k: u32) -> Mask {
        let k = k as usize;
        Mask { lanes: self.lanes[k], second: self.second.map(|(lanes, distance)| (lanes[k], distance)) }
    }
}

/// The same of one vector.
#[derive(Clone, Copy)]
struct Mask {
    lanes: V,
    second: Option<(V, V)>,
}

impl Mask {
    fn of(lanes: V) -> Mask {
        Mask { lanes, second: None }
    }
}

impl<'m> Lower<'_, 'm> {
    /// The LLVM type of a part in memory: bools take a byte.
    pub fn memory_type(&self, part: Part) -> Ty {
        match part {
            Part::Scalar(Scalar::Bool) => self.e.int(8),
            other => self.part_type(other),
        }
    }

    /// A part as it was read from memory, as registers hold it.
    pub fn in_register(&self, v: V, part: Part) -> V {
        match part {
            Part::Scalar(Scalar::Bool) => self.e.icmp(Int::LLVMIntNE, v, self.e.null(self.e.type_of(v))),
            _ => v,
        }
    }

    /// A part as registers hold it, for memory.
    fn in_memory(&self, v: V, part: Part) -> V {
        match part {
            Part::Scalar(Scalar::Bool) => self.e.zext(v, self.e.type_like(self.e.int(8), v)),
            _ => v,
        }
    }

    /// Reads a value.
    pub fn load(&mut self, ty: Type, at: Val) -> Parts {
        let read = match self.other_form(ty, at).or_else(|| self.row_form(ty, at)) {
            Some(other) => {
                let access = |l: &mut Self, at| Ok::<_, Infallible>(l.load_at(ty, at));
                let Ok(read) = self.in_either_form(at, &other, access);
                read
            }
            None => self.load_at(ty, at),
        };
        if let (Some(first), &[Val::Varying(v)]) = (self.first_address(at), read.as_slice()) {
            self.note_read(v, first, ty.size());
        }
        read
    }

    /// The address of the first lane, if it is known by itself.
    fn first_address(&self, at: Val) -> Option<V> {
        match at {
            Val::Linear { base, .. } => Some(base),
            Val::Indexed { base, index, scale: 1 } if self.rows.contains_key(&index) => Some(base),
            _ => None,
        }
    }

    /// The form of addresses in which they are neighbours, if it makes an access quicker.
    pub fn other_form(&mut self, ty: Type, at: Val) -> Option<Neighbours> {
        let first = parts(ty).first()?.0;
        self.neighbours(at, ty.size(), alike_parts(ty), first.size() >= NARROWEST_MASKED)
    }

    fn load_at(&mut self, ty: Type, at: Val) -> Parts {
        let layout = parts(ty);
        if let Some((base, part)) = self.interleaved(&layout, ty, at) {
            return self.load_interleaved(base, part, layout.len());
        }
        if let Some(part) = self.scattered(&layout, ty, at) {
            return self.load_scattered(at, part, layout.len());
        }
        layout
            .iter()
            .map(|&(part, offset)| {
                let at = self.byte_offset(at, offset);
                self.load_part(part, at)
            })
            .collect()
    }

    fn load_part(&mut self, part: Part, at: Val) -> Val {
        let ty = self.memory_type(part);
        let size = part.size();
        match at {
            Val::Uniform(at) => {
                let v = self.e.load(ty, at, size);
                Val::Uniform(self.in_register(v, part))
            }
            Val::Linear { base, stride } if stride == i64::from(size) => {
                let wide = self.e.vector(ty, self.lanes);
                let v = self.under_masks(1, |l, masks| {
                    smallvec![l.load_lanes(wide, base, size, masks.map(|m| m.of_vector(0)))]
                })[0];
                Val::Varying(self.in_register(v, part))
            }
            Val::Linear { base, stride } if let Some(n) = self.strided(part, stride) => {
                Val::Varying(self.load_strided(base, part, n))
            }
            at => {
                self.note_narrow();
                let v = self.gather(ty, at, size);
                Val::Varying(self.in_register(v, part))
            }
        }
    }

    /// Every how manieth number of memory lanes hold, where they are read by whole vectors and picked: up to as many vectors
    /// as are quicker than an address per lane.
    fn strided(&self, part: Part, stride: i64) -> Option<u32> {
        let size = part.size();
        let n = u32::try_from(stride).ok().filter(|stride| stride.is_multiple_of(size))? / size;
        let possible = !self.machine.gpu
            && (2..=MAX_INTERLEAVE).contains(&(n as usize))
            && size >= NARROWEST_MASKED
            && self.lanes.is_multiple_of(4)
            && (self.mask.is_none() || self.machine.masked_memory);
        possible.then_some(n)
    }

    /// Reads every `n`th number for the lanes, two to four. Nothing is read in front of the first or behind the last.
    fn load_strided(&mut self, base: V, part: Part, n: u32) -> V {
        let (lanes, size) = (self.lanes, part.size());
        let wide = self.e.vector(self.memory_type(part), lanes);
        self.under_masks(n, |l, masks| {
            // Without masks the last vector ends with the last lane's number, and so begins earlier.
            let earlier = if masks.is_none() { n - 1 } else { 0 };
            let start = |k: u32| k * lanes - if k + 1 == n { earlier } else { 0 };
            let vectors: SmallVec<[V; 4]> = (0..n)
                .map(|k| {
                    let mask = masks.map(|masks| {
                        let is_lanes = |i: u32| l.e.i1((k * lanes + i).is_multiple_of(n));
                        let all: Vec<V> = (0..lanes).map(is_lanes).collect();
                        Mask::of(l.e.and(masks.of_vector(k).lanes, l.e.const_vector(&all)))
                    });
                    let at = l.e.byte_offset(base, start(k) * size);
                    l.load_lanes(wide, at, size, mask)
                })
                .collect();
            // Where it is among the elements of all vectors, counted through.
            let place = |lane: u32| {
                let k = lane * n / lanes;
                k * lanes + lane * n - start(k)
            };
            let [a, b, c, d] = *vectors.as_slice() else {
                return smallvec![l.picked_from(&vectors, place)];
            };
            let [low, high] =
                [[a, b], [c, d]].map(|pair| l.picked_from(&pair, |lane| place(lane) % (2 * lanes)));
            let halves = (0..lanes).map(|lane| if lane < lanes / 2 { lane } else { lanes + lane });
            smallvec![l.e.shuffle(low, high, &halves.collect::<Vec<_>>())]
        })[0]
    }

    /// The form of addresses in rows whose length is as it seems.
    fn row_form(&mut self, ty: Type, at: Val) -> Option<Neighbours> {
        let Val::Indexed { base, index, scale: 1 } = at else { return None };
        let &(stride, bytes) = self.rows.get(&index)?;
        let [(part, 0)] = *parts(ty).as_slice() else { return None };
        self.strided(part, bytes.into())?;
        let apart = self.e.icmp(Int::LLVMIntNE, stride, self.e.i64(bytes.into()));
        Some(Neighbours::likely(apart, Val::Linear { base, stride: bytes.into() }))
    }

    /// Reads at an address per lane.
    fn gather(&mut self, ty: Ty, at: Val, size: u32) -> V {
        let wide = self.e.vector(ty, self.lanes);
        let addresses = self.wide(at);
        if self.machine.reads_lanes {
            return self.gather_lanes(ty, addresses, size);
        }
        let types = [wide, self.e.type_of(addresses)];
        let mask = self.mask_vector();
        let v = self.e.intrinsic("llvm.masked.gather", &types, &[addresses, mask, self.e.null(wide)]);
        self.e.set_argument_align(v, 0, size);
        // As of reads of neighbours.
        self.e.freeze(v)
    }

    /// Reads at an address per lane by a read for each; lanes that are not active read zeros of our own, which takes no
    /// branches.
    fn gather_lanes(&mut self, ty: Ty, mut addresses: V, size: u32) -> V {
        if let Some(mask) = self.mask {
            let zero = self.e.alloca(ty);
            self.e.store(self.e.null(ty), zero, size);
            addresses = self.e.select(mask, addresses, self.e.splat(zero, self.lanes));
        }
        self.note_lane_by_lane("elements that are no neighbours are read");
        let mut v = self.e.poison(self.e.vector(ty, self.lanes));
        for lane in 0..self.lanes as i32 {
            let address = self.e.extract_element(addresses, self.e.i32(lane));
            v = self.e.insert_element(v, self.e.load(ty, address, size), self.e.i32(lane));
        }
        v
    }

    /// Writes at an address per lane.
    fn scatter(&mut self, v: V, at: Val, size: u32) {
        if self.machine.reads_lanes {
            self.note_lane_by_lane("elements that are no neighbours are written");
        }
        let addresses = self.wide(at);
        let types = [self.e.type_of(v), self.e.type_of(addresses)];
        let mask = self.mask_vector();
        let call = self.e.intrinsic("llvm.masked.scatter", &types, &[v, addresses, mask]);
        self.e.set_argument_align(call, 1, size);
    }

    /// Writes a value.
    pub fn store(&mut self, ty: Type, at: Val, value: &Parts) {
        let Some(other) = self.other_form(ty, at) else { return self.store_at(ty, at, value) };
        // Made here, where it dominates both.
        let value: Parts = value.iter().map(|&v| Val::Varying(self.wide(v))).collect();
        let Ok(_) = self.in_either_form(at, &other, |l, at| {
            l.store_at(ty, at, &value);
            Ok::<_, Infallible>(Parts::new())
        });
    }

    fn store_at(&mut self, ty: Type, at: Val, value: &Parts) {
        let layout = parts(ty);
        if let Some((base, part)) = self.interleaved(&layout, ty, at) {
            return self.store_interleaved(base, part, value);
        }
        for (&(part, offset), &v) in layout.iter().zip(value) {
            let at = self.byte_offset(at, offset);
            self.store_part(part, at, v);
        }
    }

    fn store_part(&mut self, part: Part, at: Val, value: Val) {
        let size = part.size();
        match (at, value) {
            (Val::Uniform(at), value) => {
                if self.lanes > 1 {
                    self.note_narrow();
                }
                let v = match value {
                    Val::Uniform(v) => v,
                    // Threads in order would leave the last one's value.
                    other => self.last_active(other),
                };
                let v = self.in_memory(v, part);
                self.e.store(v, at, size);
            }
            (Val::Linear { base, stride }, value) if stride == i64::from(size) => {
                let v = self.wide(value);
                let v = self.in_memory(v, part);
                self.under_masks(1, |l, masks| {
                    l.store_vectors(&[v], base, size, masks);
                    SmallVec::new()
                });
            }
            (at, value) => {
                self.note_narrow();
                let v = self.wide(value);
                let v = self.in_memory(v, part);
                self.scatter(v, at, size);
            }
        }
    }

    /// The alignment of an access of all lanes to neighbouring elements of `size` bytes.
    fn lanes_align(&mut self, base: V, size: u32) -> u32 {
        if self.machine.gpu { self.note_wide(base, size * self.lanes).max(size) } else { size }
    }

    /// The value of the last active lane.
    fn last_active(&mut self, value: Val) -> V {
        let v = self.wide(value);
        let last = self.e.i32(self.lanes as i32 - 1);
        match self.mask {
            None => self.e.extract_element(v, last),
            Some(mask) => {
                let bits = self.mask_bits(mask);
                let ty = self.e.type_of(bits);
                let zeros = self.e.intrinsic("llvm.ctlz", &[ty], &[bits, self.e.i1(true)]);
                let lane = self.e.sub(self.e.const_int(ty, i64::from(self.lanes) - 1), zeros);
                let lane = if self.lanes < 32 { self.e.zext(lane, self.e.int(32)) } else { lane };
                self.e.extract_element(v, lane)
            }
        }
    }

    /// Whether lanes hold neighbouring elements of a few equal parts: then whole vectors are read or written and
    /// shuffled, which is faster than an address per lane.
    pub fn interleaved(&self, layout: &[(Part, u32)], ty: Type, at: Val) -> Option<(V, Part)> {
        let Val::Linear { base, stride } = at else { return None };
        let (first, n) = (layout.first()?.0, layout.len());
        let most = if self.machine.gpu { GPU_MAX_INTERLEAVE } else { MAX_INTERLEAVE };
        let masks = self.mask.is_none() || self.machine.masked_memory && first.size() >= NARROWEST_MASKED;
        let whole = (2..=most).contains(&n)
            && masks
            && stride == i64::from(ty.size())
            && ty.size() == first.size() * n as u32
            && layout.iter().all(|&(part, _)| part == first);
        whole.then_some((base, first))
    }

    fn load_interleaved(&mut self, base: V, part: Part, n: usize) -> Parts {
        if self.machine.gpu {
            return self.load_pieces(base, part, n as u32);
        }
        let (wide, size) = (self.e.vector(self.memory_type(part), self.lanes), part.size());
        // Vectors as long as the hardware's: longer ones LLVM takes apart slowly.
        let vectors = self.under_masks(n as u32, |l, masks| {
            let mut all = SmallVec::new();
            for k in 0..n as u32 {
                let at = l.e.byte_offset(base, k * l.lanes * size);
                all.push(l.load_lanes(wide, at, size, masks.map(|m| m.of_vector(k))));
            }
            all
        });
        let parts = if part == Part::Scalar(Scalar::Bool) {
            self.taken_apart(&vectors)
        } else {
            self.parts_of(vectors)
        };
        parts.into_iter().map(|v| Val::Varying(self.in_register(v, part))).collect()
    }

    fn store_interleaved(&mut self, base: V, part: Part, value: &Parts) {
        if self.machine.gpu {
            let all = self.all_in_memory(part, value);
            return self.store_pieces(base, part, &all);
        }
        let (vectors, size) = (self.in_memory_order(part, value), part.size());
        self.under_masks(value.len() as u32, |l, masks| {
            l.store_vectors(&vectors, base, size, masks);
            SmallVec::new()
        });
    }

    /// Values of a few equal parts as those of all lanes lie in memory: as they are there, else by shuffles.
    pub fn in_memory_order(&self, part: Part, value: &[Val]) -> SmallVec<[V; 4]> {
        self.ordered(value).unwrap_or_else(|| self.put_together(&self.all_in_memory(part, value)))
    }

    /// Values of equal parts, a vector per part, for memory.
    fn all_in_memory(&self, part: Part, value: &[Val]) -> SmallVec<[V; 4]> {
        value.iter().map(|&v| self.in_memory(self.wide(v), part)).collect()
    }

    /// Reads vectors that lie one after the other, and writes what `change` makes of each and of another.
    pub fn change_lanes(
        &mut self,
        base: V,
        size: u32,
        others: &[V],
        mut change: impl FnMut(&mut Self, V, V) -> V,
    ) {
        self.under_masks(others.len() as u32, |l, masks| {
            let Some(masks) = masks else {
                l.change_vectors(base, size, others, &mut change);
                return SmallVec::new();
            };
            let mut change_one = |l: &mut Self, k: usize, base, lanes: V| {
                let at = l.e.byte_offset(base, k as u32 * l.lanes * size);
                let mask = Some(Mask::of(lanes));
                let old = l.load_lanes(l.e.type_of(others[k]), at, size, mask);
                let new = change(l, old, others[k]);
                l.store_lanes(new, at, size, mask);
            };
            (0..others.len()).for_each(|k| change_one(l, k, base, masks.lanes[k]));
            // The second group is done afterwards: its elements may be the same ones.
            if let Some((lanes, distance)) = masks.second {
                let base = l.e.far_offset(base, distance);
                (0..others.len()).for_each(|k| change_one(l, k, base, lanes[k]));
            }
            SmallVec::new()
        });
    }

    /// Reads the lanes' neighbouring values, those of a mask when it is given.
    fn load_lanes(&mut self, ty: Ty, base: V, size: u32, mask: Option<Mask>) -> V {
        let Some(mask) = mask else {
            let align = self.lanes_align(base, size);
            return self.e.load(ty, base, align);
        };
        let types = [ty, self.e.type_of(base)];
        let mut v = self.e.null(ty);
        for (lanes, at) in self.groups_of(mask, base) {
            v = self.e.intrinsic("llvm.masked.load", &types, &[at, lanes, v]);
            self.e.set_argument_align(v, 0, size);
        }
        // LLVM would make it one with a later choice between it and others by the same mask, and read there, behind stores.
        self.e.freeze(v)
    }

    /// Writes what [`Self::load_lanes`] reads.
    fn store_lanes(&mut self, v: V, base: V, size: u32, mask: Option<Mask>) {
        let Some(mask) = mask else {
            let align = self.lanes_align(base, size);
            return self.e.store(v, base, align);
        };
        let types = [self.e.type_of(v), self.e.type_of(base)];
        for (lanes, at) in self.groups_of(mask, base) {
            let call = self.e.intrinsic("llvm.masked.store", &types, &[v, at, lanes]);
            self.e.set_argument_align(call, 1, size);
        }
    }

    /// The lanes of each group, and where these have their values.
    fn groups_of(&self, mask: Mask, base: V) -> SmallVec<[(V, V); 2]> {
        let second = mask.second.map(|(lanes, distance)| (lanes, self.e.far_offset(base, distance)));
        iter::once((mask.lanes, base)).chain(second).collect()
    }

    /// Writes vectors of parts of `size` bytes that lie one after the other.
    fn store_vectors(&mut self, vectors: &[V], base: V, size: u32, masks: Option<Masks<'_>>) {
        if self.streaming && masks.is_none() {
            return self.store_streamed(vectors, base, size);
        }
        for (k, &v) in (0..).zip(vectors) {
            let at = self.e.byte_offset(base, k * self.lanes * size);
            self.store_lanes(v, at, size, masks.map(|m| m.of_vector(k)));
        }
    }

    /// Makes an access to `n` vectors of neighbouring parts with the masks that they need. When the active lanes are those
    /// that have a thread, these are none for all vectors but the last: the hardware is several times faster without a
    /// mask where it has to wait for memory.
    fn under_masks(
        &mut self,
        n: u32,
        mut access: impl FnMut(&mut Self, Option<Masks<'_>>) -> SmallVec<[V; 4]>,
    ) -> SmallVec<[V; 4]> {
        let Some(mask) = self.mask else { return access(self, None) };
        let lanes = self.lanes;
        if let Some(second) = self.second_group {
            let (first, rest) = (self.masks_of_parts(mask, n), self.masks_of_parts(second.mask, n));
            let masks = Masks { lanes: &first, second: Some((&rest, second.distance)) };
            return access(self, Some(masks));
        }
        let Some(existing) = self.existing.filter(|existing| existing.mask == mask) else {
            let masks = self.masks_of_parts(mask, n);
            if self.machine.masked_moves {
                return access(self, Some(Masks::of(&masks)));
            }
            // Each lane would be asked, where mostly all are active.
            let bits = self.mask_bits(mask);
            let full = self.e.icmp(Int::LLVMIntEQ, bits, self.e.all_ones(self.e.type_of(bits)));
            return self.whole_or_part(full, access, |_| masks);
        };
        if !existing.may_be_all {
            let masks = self.existing_parts(existing, n);
            return access(self, Some(Masks::of(&masks)));
        }
        let full = self.e.icmp(Int::LLVMIntEQ, existing.count, self.e.i32(lanes as i32));
        self.whole_or_part(full, access, |l| l.existing_parts(existing, n))
    }

    /// The bit of each lane, for each of its `n` parts.
    fn masks_of_parts(&self, mask: V, n: u32) -> SmallVec<[V; 4]> {
        if n == 1 {
            return smallvec![mask];
        }
        let is_it = |known: &&MasksOfParts| known.lanes == mask && known.parts == n;
        if let Some(known) = self.masks_of_parts.iter().rev().find(is_it) {
            return known.masks.clone();
        }
        let lanes = self.lanes;
        let spread = |k: u32| {
            let picks: Vec<u32> = (k * lanes..(k + 1) * lanes).map(|part| part / n).collect();
            self.e.shuffle(mask, self.e.poison(self.e.type_of(mask)), &picks)
        };
        (0..n).map(spread).collect()
    }

    /// Makes them now, where they dominate what comes in this block.
    pub fn prepare_masks(&mut self, mask: V, n: u32) {
        let masks = self.masks_of_parts(mask, n);
        self.masks_of_parts.push(MasksOfParts { lanes: mask, parts: n, masks });
    }

    /// Makes an access without masks where `full` holds, elsewhere with those that `masks` gives.
    fn whole_or_part(
        &mut self,
        full: V,
        mut access: impl FnMut(&mut Self, Option<Masks<'_>>) -> SmallVec<[V; 4]>,
        masks: impl FnOnce(&mut Self) -> SmallVec<[V; 4]>,
    ) -> SmallVec<[V; 4]> {
        let [all, some, join] = ["all", "some", "join"].map(|name| self.e.new_block(name));
        self.e.cond_br(full, all, some);
        self.e.at_end(all);
        let whole = access(self, None);
        let all_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(some);
        let masks = masks(self);
        let part = access(self, Some(Masks::of(&masks)));
        self.e.br(join);
        self.e.at_end(join);
        let merge = |(&a, &b)| {
            let v = self.e.phi(self.e.type_of(a));
            self.e.add_incoming(v, a, all_end);
            self.e.add_incoming(v, b, some);
            v
        };
        whole.iter().zip(&part).map(merge).collect()
    }

    /// Masks of `n` vectors that hold the elements, of `n` parts each, of the lanes that have a thread.
    fn existing_parts(&self, existing: Existing, n: u32) -> SmallVec<[V; 4]> {
        if n == 1 {
            return smallvec![existing.mask];
        }
        let parts = self.e.mul(existing.count, self.e.i32(n as i32));
        let parts = self.e.splat(parts, self.lanes);
        (0..n)
            .map(|k| {
                let at: Vec<V> = (0..self.lanes).map(|i| self.e.i32((k * self.lanes + i) as i32)).collect();
                self.e.icmp(Int::LLVMIntULT, self.e.const_vector(&at), parts)
            })
            .collect()
    }

    /// The accesses of all lanes to elements of `n` parts: per access its address and the parts it moves, counted
    /// over the lanes, and the alignment.
    fn pieces(&mut self, base: V, part: Part, n: u32) -> (Vec<(V, Range<u32>)>, u32) {
        let (size, bytes) = (part.size(), n * part.size() * self.lanes);
        let align = self.note_wide(base, bytes).max(size);
        let step = Self::access_bytes(bytes);
        let pieces = (0..bytes).step_by(step as usize);
        (pieces.map(|at| (self.e.byte_offset(base, at), at / size..(at + step) / size)).collect(), align)
    }

    /// [`Self::load_interleaved`] by accesses of the hardware's width.
    fn load_pieces(&mut self, base: V, part: Part, n: u32) -> Parts {
        let ty = self.memory_type(part);
        let (pieces, align) = self.pieces(base, part, n);
        let wide = self.e.vector(ty, self.lanes);
        let mut all = vec![self.e.poison(wide); n as usize];
        for (at, range) in pieces {
            let v = self.e.load(self.e.vector(ty, range.len() as u32), at, align);
            for (k, i) in range.enumerate() {
                let one = self.e.extract_element(v, self.e.i32(k as i32));
                let slot = &mut all[(i % n) as usize];
                *slot = self.e.insert_element(*slot, one, self.e.i32((i / n) as i32));
            }
        }
        all.into_iter().map(|v| Val::Varying(self.in_register(v, part))).collect()
    }

    /// [`Self::store_interleaved`] by accesses of the hardware's width; `value` has a vector per part.
    fn store_pieces(&mut self, base: V, part: Part, value: &[V]) {
        let ty = self.memory_type(part);
        let n = value.len() as u32;
        let (pieces, align) = self.pieces(base, part, n);
        for (at, range) in pieces {
            let mut v = self.e.poison(self.e.vector(ty, range.len() as u32));
            for (k, i) in range.enumerate() {
                let one = self.e.extract_element(value[(i % n) as usize], self.e.i32((i / n) as i32));
                v = self.e.insert_element(v, one, self.e.i32(k as i32));
            }
            self.e.store(v, at, align);
        }
    }
}
