//! Workers' own ranges of arrays that they add to.
//!
//! Code with plain updates can be run by several workers if each adds to a copy of its own. Where threads that are neighbours
//! add to elements that are, a worker that has its share of the threads mostly adds to its share of the array, and the copy is
//! a detour. So the code asks, before each update, whether all that a vector adds to is in the worker's own range of the
//! array: then it goes there, and else to the copy, of which the touched blocks are marked. Copies then are looked at
//! only where there is something in them.
//!
//! Elements of several arrays at one index are asked for once, with a range that is in all of theirs.
//!
//! All that needs to know of each update which array it is of. Where one address may be of several arrays, or is the same for
//! all lanes, as those of totals, the array has no ranges ([`TouchedArray::has_range`]).

use std::mem::offset_of;

use inkle_ir::{OwnRange, TouchedArray, Type, Updates, Use};
use smallvec::SmallVec;

use super::neighbours::Unwrapped;
use super::sums::loaded_pointer;
use super::{Lower, Result};
use crate::emitter::{Int, Ty, V};
use crate::value::Val;

/// The ranges of a kernel's arrays, in code that several workers may run.
pub(crate) struct Ranges {
    arrays: SmallVec<[ArrayRange; 4]>,
    /// Indices that were asked for in this block, or around it.
    known: Vec<Known>,
}

struct ArrayRange {
    /// The address of the array's first element, as it was loaded.
    array: V,
    /// The size of an element, bytes.
    size: u32,
    /// Where the range is described.
    described: V,
    /// What all arrays' ranges have in common that have elements of this size, in bytes from the first one.
    bytes: Span,
    /// The same as indices.
    indices: Span,
    /// It is not asked before each update, so the range must be everything.
    is_everything: bool,
}

/// Numbers from one on; the length is without a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Span {
    begin: V,
    length: V,
}

/// An index of elements that are updated, maybe in several arrays.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    index: V,
    size: u32,
}

struct Known {
    key: Key,
    /// For each of these arrays, how far from its elements those are that are updated.
    moved: SmallVec<[(usize, V); 4]>,
}

/// What is asked for.
#[derive(Clone, Copy)]
enum Asked {
    /// An index of lanes that counts up from this one.
    Counting(V),
    /// The lanes' indices.
    Indices(V),
    /// Addresses, by their distance from the array's first element.
    Distance(Val),
}

impl Lower<'_, '_> {
    /// Reads the ranges from where they lie.
    pub fn read_ranges(&mut self, updates: &Updates, at: V) {
        let mut arrays: SmallVec<[ArrayRange; 4]> = SmallVec::new();
        for (k, array) in summed(updates).enumerate() {
            let described = self.e.byte_offset(at, (k * size_of::<OwnRange>()) as u32);
            let Some(address) = self.pointer_of(array) else { return };
            arrays.push(ArrayRange {
                array: address,
                size: array.size,
                described,
                bytes: self.span(described, 64, [offset_of!(OwnRange, begin), offset_of!(OwnRange, end)]),
                indices: self.span(described, 32, [offset_of!(OwnRange, first), offset_of!(OwnRange, last)]),
                is_everything: u64::from(array.size) > OwnRange::BLOCK,
            });
        }
        let own: SmallVec<[(u32, [Span; 2]); 4]> =
            arrays.iter().map(|range| (range.size, [range.bytes, range.indices])).collect();
        for range in &mut arrays {
            let alike = own.iter().filter(|(size, _)| *size == range.size);
            for (_, [bytes, indices]) in alike {
                range.bytes = self.common(range.bytes, *bytes);
                range.indices = self.common(range.indices, *indices);
            }
        }
        self.ranges = Some(Ranges { arrays, known: Vec::new() });
    }

    /// What is between two words of a range.
    fn span(&mut self, described: V, bits: u32, [begin, end]: [usize; 2]) -> Span {
        let [begin, end] = [begin, end].map(|offset| self.of_range(self.e.int(bits), described, offset));
        Span { begin, length: self.e.sub(end, begin) }
    }

    /// What two spans have in common.
    fn common(&mut self, a: Span, b: Span) -> Span {
        if a == b {
            return a;
        }
        let ty = [self.e.type_of(a.begin)];
        let [end_a, end_b] = [a, b].map(|span| self.e.add(span.begin, span.length));
        let begin = self.e.intrinsic("llvm.smax", &ty, &[a.begin, b.begin]);
        let end = self.e.intrinsic("llvm.smin", &ty, &[end_a, end_b]);
        let is_some = self.e.icmp(Int::LLVMIntSGT, end, begin);
        let length = self.e.sub(end, begin);
        Span { begin, length: self.e.select(is_some, length, self.e.null(ty[0])) }
    }

    fn of_range(&self, ty: Ty, described: V, offset: usize) -> V {
        let word = self.e.load(ty, self.e.byte_offset(described, offset as u32), 4);
        self.e.set_invariant(word);
        word
    }

    /// Notes which arrays have ranges, once all updates were emitted.
    pub fn note_ranges(&mut self, updates: &mut Updates) {
        let Some(ranges) = self.ranges.take() else { return };
        let summed = updates.arrays.iter_mut().filter(|array| matches!(array.used, Use::Sums(_)));
        for (array, range) in summed.zip(&ranges.arrays) {
            array.has_range = !range.is_everything;
        }
    }

    /// How many indices were asked for.
    pub fn known_ranges(&self) -> usize {
        self.ranges.as_ref().map_or(0, |ranges| ranges.known.len())
    }

    /// Forgets all that were asked for after so many.
    pub fn forget_ranges(&mut self, known: usize) {
        if let Some(ranges) = &mut self.ranges {
            ranges.known.truncate(known);
        }
    }

    /// Where an update of elements at `at` goes: there, or to the same elements of the worker's copy.
    pub fn in_own_range(&mut self, ty: Type, at: Val) -> Result<Val> {
        let Some(moved) = self.moved_from_range(ty, at)? else { return Ok(at) };
        let byte = self.e.int(8);
        Ok(match at {
            Val::Uniform(v) => Val::Uniform(self.e.gep(byte, v, moved)),
            Val::Linear { base, stride } => Val::Linear { base: self.e.gep(byte, base, moved), stride },
            Val::Indexed { base, index, scale } => {
                Val::Indexed { base: self.e.gep(byte, base, moved), index, scale }
            }
            Val::Varying(v) => Val::Varying(self.e.gep(byte, v, moved)),
        })
    }

    /// How far from `at` the elements are that are updated in their place, if there are ranges.
    fn moved_from_range(&mut self, ty: Type, at: Val) -> Result<Option<V>> {
        let lanes = self.lanes;
        let (Val::Uniform(base) | Val::Linear { base, .. } | Val::Indexed { base, .. } | Val::Varying(base)) =
            at;
        let Some(ranges) = &mut self.ranges else { return Ok(None) };
        let Some(root) = loaded_pointer(&self.e, base) else {
            ranges.arrays.iter_mut().for_each(|range| range.is_everything = true);
            return Ok(None);
        };
        let own = ranges.arrays.iter().position(|range| range.array == root);
        let Some(own) = own else { return Ok(None) };
        let range = &mut ranges.arrays[own];
        range.is_everything |= lanes > 1 && matches!(at, Val::Uniform(_));
        if range.is_everything {
            return Ok(None);
        }
        let (size, bytes, indices) = (range.size, range.bytes, range.indices);
        let index = match at {
            Val::Indexed { base, index, scale } if base == root && scale == size => {
                match self.wrapped.get(&index).copied() {
                    Some(Unwrapped::Varying(plain)) => Some((plain, true)),
                    Some(Unwrapped::Linear(..)) => None,
                    None => Some((index, false)),
                }
            }
            _ => None,
        };
        let (key, asked_for) = match index {
            Some((index, wraps)) => {
                let key = Key { index, size };
                if let Some(known) = self.known_range(key, own) {
                    return Ok(Some(known));
                }
                let counting = self.counts_surely(index, wraps);
                (Some(key), counting.map_or(Asked::Indices(index), Asked::Counting))
            }
            None => {
                // Addresses that count up are known by where they begin.
                let counting = self.other_form(ty, at).filter(|other| other.apart.is_none());
                (None, Asked::Distance(counting.map_or(at, |other| other.at)))
            }
        };
        let is_out = self.is_out(asked_for, root, bytes, indices);
        let before = self.e.current_block();
        let [copy, go] = ["copy", "go"].map(|name| self.e.new_block(name));
        let branch = self.e.cond_br(is_out, copy, go);
        self.e.set_branch_weights(branch, 1, 1 << 10);
        self.e.at_end(copy);
        // Of other elements than those of an index it is not known that other arrays' are updated, too.
        let Some(ranges) = &self.ranges else { return Ok(None) };
        let arrays = ranges.arrays.iter().enumerate();
        let alike = |(k, range): &(usize, &ArrayRange)| *k == own || key.is_some() && range.size == size;
        let ranged: SmallVec<[(usize, V); 4]> =
            arrays.filter(alike).map(|(k, range)| (k, range.described)).collect();
        match asked_for {
            Asked::Counting(first) if size * lanes <= OwnRange::BLOCK as u32 => {
                ranged.iter().for_each(|&(_, described)| self.mark_neighbours(described, first, size));
            }
            _ => {
                // An index is taken for one of all arrays, so that the distance is the same.
                let distances = match index {
                    Some((index, _)) => {
                        let ty = self.e.type_like(self.e.int(64), index);
                        self.e.mul(self.e.sext(index, ty), self.e.const_int(ty, size.into()))
                    }
                    None => self.distance(self.wide(at), root),
                };
                let mut args: SmallVec<[V; 3]> = [distances].into_iter().collect();
                if lanes > 1 {
                    args.push(self.e.zext(self.mask_bits(self.mask_vector()), self.e.int(32.max(lanes))));
                }
                let mark = self.marking(size)?;
                for &(_, described) in &ranged {
                    let args: SmallVec<[V; 4]> =
                        [described].into_iter().chain(args.iter().copied()).collect();
                    self.e.call(mark, &args);
                }
            }
        }
        let to_copy = ranged
            .iter()
            .map(|&(_, described)| self.of_range(self.e.int(64), described, offset_of!(OwnRange, to_copy)));
        let to_copy: SmallVec<[V; 4]> = to_copy.collect();
        let marked = self.e.current_block();
        self.e.br(go);
        self.e.at_end(go);
        let moved = ranged.iter().zip(to_copy).map(|(&(k, _), to_copy)| {
            let moved = self.e.phi(self.e.int(64));
            self.e.add_incoming(moved, self.e.i64(0), before);
            self.e.add_incoming(moved, to_copy, marked);
            (k, moved)
        });
        let moved: SmallVec<[(usize, V); 4]> = moved.collect();
        let found = moved.iter().find(|(k, _)| *k == own).map(|(_, moved)| *moved);
        if let (Some(key), Some(ranges)) = (key, &mut self.ranges) {
            ranges.known.push(Known { key, moved });
        }
        Ok(found)
    }

    /// Marks the blocks of a copy in which the elements are of lanes whose index counts up from this one: two at most.
    fn mark_neighbours(&mut self, described: V, first: V, size: u32) {
        let (byte, int64) = (self.e.int(8), self.e.int(64));
        let [marks, blocks] = [offset_of!(OwnRange, marks), offset_of!(OwnRange, blocks)]
            .map(|offset| self.of_range(int64, described, offset));
        let marks = self.e.int_to_ptr(marks, self.pointer_type());
        // An index beyond all is a fault of the program's, and not to do more harm here.
        let most = self.e.sub(blocks, self.e.i64(1));
        let from = self.e.mul(self.e.sext(first, int64), self.e.i64(size.into()));
        for distance in [0, i64::from(size * self.lanes) - 1] {
            let at = self.e.add(from, self.e.i64(distance));
            let block = self.e.lshr(at, self.e.i64(OwnRange::BLOCK.ilog2().into()));
            let block = self.e.intrinsic("llvm.umin", &[int64], &[block, most]);
            self.e.store(self.e.const_int(byte, 1), self.e.gep(byte, marks, block), 1);
        }
    }

    /// How far elements of an index that was asked for are moved of an array.
    fn known_range(&self, key: Key, array: usize) -> Option<V> {
        let known = self.ranges.as_ref()?.known.iter().filter(|known| known.key == key);
        known.flat_map(|known| &known.moved).find(|(k, _)| *k == array).map(|(_, moved)| *moved)
    }

    /// Whether some of the elements are not in a range of an array.
    fn is_out(&mut self, asked: Asked, array: V, bytes: Span, indices: Span) -> V {
        let others = i64::from(self.lanes - 1);
        let (found, span) = match asked {
            Asked::Counting(first) => {
                let span = self.span_like(indices, first);
                (first, Span { length: self.less(span.length, others), ..span })
            }
            Asked::Indices(indices_of_lanes) => (indices_of_lanes, self.span_like(indices, indices_of_lanes)),
            Asked::Distance(Val::Linear { base, stride }) => {
                let way = stride * others;
                let lowest = self.e.gep(self.e.int(8), base, self.e.i64(way.min(0)));
                let length = self.less(bytes.length, way.abs());
                (self.distance(lowest, array), Span { length, ..bytes })
            }
            Asked::Distance(Val::Uniform(address)) => (self.distance(address, array), bytes),
            Asked::Distance(at) => {
                let distance = self.distance(self.wide(at), array);
                (distance, self.span_like(bytes, distance))
            }
        };
        let outside = self.e.icmp(Int::LLVMIntUGE, self.e.sub(found, span.begin), span.length);
        if !self.e.is_vector(outside) {
            return outside;
        }
        let mask = self.mask;
        self.any(mask.map_or(outside, |mask| self.e.and(outside, mask)))
    }

    /// A length less what others take, or zero.
    fn less(&mut self, length: V, others: i64) -> V {
        let ty = self.e.type_of(length);
        self.e.intrinsic("llvm.usub.sat", &[ty], &[length, self.e.const_int(ty, others)])
    }

    /// A span in numbers like another, which may be a vector.
    fn span_like(&self, span: Span, like: V) -> Span {
        let to = self.e.scalar_type(self.e.type_of(like));
        let is_same = to == self.e.type_of(span.begin);
        let (begin, length) = if is_same {
            (span.begin, span.length)
        } else {
            (self.e.sext(span.begin, to), self.e.zext(span.length, to))
        };
        let wide = |v| self.e.lanes(like).map_or(v, |lanes| self.e.splat(v, lanes));
        Span { begin: wide(begin), length: wide(length) }
    }

    /// How far addresses are behind another.
    fn distance(&self, address: V, from: V) -> V {
        let int64 = self.e.int(64);
        let from = self.e.ptr_to_int(from, int64);
        let from = self.e.lanes(address).map_or(from, |lanes| self.e.splat(from, lanes));
        self.e.sub(self.e.ptr_to_int(address, self.e.type_like(int64, address)), from)
    }

    /// A function `void (range, distances, lanes as bits)` that marks the blocks of a copy in which elements of this size are; of one
    /// lane there are no bits. What is before the first element is counted from the end of some array: then all may be touched.
    fn marking(&mut self, size: u32) -> Result<V> {
        let name = format!("mark.{}.{size}", self.lanes);
        if let Some(known) = self.e.find_function(&name) {
            return Ok(known);
        }
        let (ptr, int64, lanes) = (self.pointer_type(), self.e.int(64), self.lanes);
        let types = [ptr, self.wide_type(int64), self.e.int(32.max(lanes))];
        let types = if lanes > 1 { &types[..] } else { &types[..2] };
        let f = self.e.internal_function(&name, self.e.function_type(self.e.void(), types));
        self.function_attributes(f);
        for name in ["noinline", "cold"] {
            self.e.attribute(f, u32::MAX, name, 0);
        }
        let (here, mask) = (self.e.current_block(), self.mask);
        let lines = self.lines.as_mut().map(|l| l.enter(f, "mark", self.span));
        let entry = self.e.append_block(f, "entry");
        self.e.at_end(entry);
        self.set_line(self.span);
        let range = self.e.param(f, 0);
        let [marks, blocks] = [offset_of!(OwnRange, marks), offset_of!(OwnRange, blocks)]
            .map(|offset| self.of_range(int64, range, offset));
        let marks = self.e.int_to_ptr(marks, ptr);
        let done = self.e.append_block(f, "done");
        self.mask = None;
        if lanes > 1 {
            let bits = self.e.trunc(self.e.param(f, 2), self.e.int(lanes));
            let any = self.e.icmp(Int::LLVMIntNE, bits, self.e.null(self.e.int(lanes)));
            let some = self.e.append_block(f, "some");
            self.e.cond_br(any, some, done);
            self.e.at_end(some);
            self.mask = Some(self.e.bitcast(bits, self.e.vector(self.e.int(1), lanes)));
        }
        let distance = self.e.param(f, 1);
        let distance = if lanes > 1 { Val::Varying(distance) } else { Val::Uniform(distance) };
        self.per_lane_all(&[distance], |l, each| {
            let (byte, one) = (l.e.int(8), l.e.const_int(l.e.int(8), 1));
            let [inside, all, next] = ["inside", "all", "next"].map(|name| l.e.new_block(name));
            let is_negative = l.e.icmp(Int::LLVMIntSLT, each[0], l.e.i64(0));
            l.e.cond_br(is_negative, all, inside);
            l.e.at_end(all);
            l.e.intrinsic("llvm.memset", &[ptr, int64], &[marks, one, blocks, l.e.i1(false)]);
            l.e.br(next);
            l.e.at_end(inside);
            let last = l.e.add(each[0], l.e.i64(i64::from(size) - 1));
            for end in [each[0], last] {
                let block = l.e.lshr(end, l.e.i64(OwnRange::BLOCK.ilog2().into()));
                l.e.store(one, l.e.gep(byte, marks, block), 1);
            }
            l.e.br(next);
            l.e.at_end(next);
            Ok(SmallVec::new())
        })?;
        self.e.br(done);
        self.e.at_end(done);
        self.e.ret_void();
        if let (Some(all), Some(lines)) = (&mut self.lines, lines) {
            all.leave(lines);
        }
        self.mask = mask;
        self.e.at_end(here);
        self.set_line(self.span);
        Ok(f)
    }
}

/// Whether code is made with ranges for what it adds to.
pub(crate) fn has_ranges(updates: &Updates) -> bool {
    (1..=OwnRange::MOST).contains(&summed(updates).count())
}

fn summed(updates: &Updates) -> impl Iterator<Item = &TouchedArray> {
    updates.arrays.iter().filter(|array| matches!(array.used, Use::Sums(_)))
}
