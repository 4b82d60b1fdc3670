//! Workers' own ranges of arrays that they add to.
//!
//! Code with plain updates can be run by several workers if each adds to a copy of its own. Where threads that are neighbours
//! add to elements that are, a worker that has its share of the threads mostly adds to its share of the array, and the copy is
//! a detour. So the code asks, before each update, whether all that a vector adds to is in the worker's own range of the
//! array: then it goes there, and else to the copy. What is touched of copies is noted, so that they are looked at only
//! where there is something in them.
//!
//! Elements of several arrays at the indices that a kernel has read are asked for once, with a range that is in all of theirs.
//!
//! All that needs to know of each update which array it is of. Where one address may be of several arrays, or is the same for
//! all lanes, as those of totals, the array has no ranges ([`TouchedArray::has_range`]).

use std::collections::HashMap;
use std::mem::offset_of;

use inkle_ir::{
    Block, Function, OpData, OpKind, OwnRange, TouchedArray, Type, Updates, Use, Value, ValueDef,
};
use smallvec::SmallVec;

use super::neighbours::{Unwrapped, before_wrap};
use super::sums::loaded_pointer;
use super::{Frame, Lower};
use crate::emitter::{Int, Ty, V};
use crate::value::Val;

/// The ranges of a kernel's arrays, in code that several workers may run.
pub(crate) struct Ranges {
    arrays: SmallVec<[ArrayRange; 4]>,
    /// Indices that were asked for in this block, or around it.
    known: Vec<Known>,
    /// Per function, the indices of elements that it updates.
    updated: HashMap<*const Function, Vec<Value>>,
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

impl<'m> Lower<'_, 'm> {
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
                is_everything: false,
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
        self.ranges = Some(Ranges { arrays, known: Vec::new(), updated: HashMap::new() });
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
    pub fn in_own_range(&mut self, frame: &Frame<'m>, ty: Type, at: Val) -> Val {
        let Some(moved) = self.moved_from_range(frame, ty, at) else { return at };
        let byte = self.e.int(8);
        match at {
            Val::Uniform(v) => Val::Uniform(self.e.gep(byte, v, moved)),
            Val::Linear { base, stride } => Val::Linear { base: self.e.gep(byte, base, moved), stride },
            Val::Indexed { base, index, scale } => {
                Val::Indexed { base: self.e.gep(byte, base, moved), index, scale }
            }
            Val::Varying(v) => Val::Varying(self.e.gep(byte, v, moved)),
        }
    }

    /// How far from `at` the elements are that are updated in their place, if there are ranges.
    fn moved_from_range(&mut self, frame: &Frame<'m>, ty: Type, at: Val) -> Option<V> {
        let (lanes, in_loop) = (self.lanes, self.loops > 0);
        let (Val::Uniform(base) | Val::Linear { base, .. } | Val::Indexed { base, .. } | Val::Varying(base)) =
            at;
        let ranges = self.ranges.as_mut()?;
        let Some(root) = loaded_pointer(&self.e, base) else {
            ranges.arrays.iter_mut().for_each(|range| range.is_everything = true);
            return None;
        };
        let own = ranges.arrays.iter().position(|range| range.array == root)?;
        let range = &mut ranges.arrays[own];
        // In a loop, what is not read from somewhere goes through the array whatever thread it is.
        let is_read = matches!(at, Val::Indexed { .. } | Val::Varying(_));
        range.is_everything |= lanes > 1 && matches!(at, Val::Uniform(_)) || in_loop && !is_read;
        if range.is_everything {
            return None;
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
        // What is asked for at once, with the index where it is one.
        let mut asked: SmallVec<[(Option<V>, Asked); 2]> = SmallVec::new();
        match index {
            Some((index, wraps)) => {
                if let Some(known) = self.known_range(Key { index, size }, own) {
                    return Some(known);
                }
                let counting = self.counts_surely(index, wraps);
                asked.push((Some(index), counting.map_or(Asked::Indices(index), Asked::Counting)));
                for other in self.updated_indices(frame) {
                    let is_new = self.known_range(Key { index: other, size }, own).is_none();
                    if is_new && asked.iter().all(|(index, _)| *index != Some(other)) {
                        let counting = self.counts_surely(other, true);
                        asked.push((Some(other), counting.map_or(Asked::Indices(other), Asked::Counting)));
                    }
                }
            }
            None => {
                // Addresses that count up are known by where they begin.
                let counting = self.other_form(ty, at).filter(|other| other.apart.is_none());
                asked.push((None, Asked::Distance(counting.map_or(at, |other| other.at))));
            }
        }
        let mut is_out = self.e.i1(false);
        for &(_, asked) in &asked {
            let outside = self.is_out(asked, root, bytes, indices);
            is_out = self.e.or(is_out, outside);
        }
        let before = self.e.current_block();
        let [copy, go] = ["copy", "go"].map(|name| self.e.new_block(name));
        let branch = self.e.cond_br(is_out, copy, go);
        self.e.set_branch_weights(branch, 1, 1 << 10);
        self.e.at_end(copy);
        // Of other elements than those of an index it is not known that other arrays' are updated, too.
        let ranges = self.ranges.as_ref()?;
        let arrays = ranges.arrays.iter().enumerate();
        let alike = |(k, range): &(usize, &ArrayRange)| *k == own || index.is_some() && range.size == size;
        let ranged: SmallVec<[(usize, V); 4]> =
            arrays.filter(alike).map(|(k, range)| (k, range.described)).collect();
        for &(_, asked) in &asked {
            let [lowest, highest] = self.bounds(asked, root, size);
            for &(_, described) in &ranged {
                self.note_touched(described, lowest, highest);
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
        let ranges = self.ranges.as_mut()?;
        let known = asked.iter().filter_map(|(index, _)| *index);
        ranges.known.extend(known.map(|index| Known { key: Key { index, size }, moved: moved.clone() }));
        found
    }

    /// The indices over the lanes of elements that a function updates, as far as it has them already.
    fn updated_indices(&mut self, frame: &Frame<'m>) -> Vec<V> {
        let Some(ranges) = &mut self.ranges else { return Vec::new() };
        let function: &Function = frame.function;
        let of_function = ranges.updated.entry(std::ptr::from_ref(function));
        let all = of_function.or_insert_with(|| updated_indices(function)).iter();
        all.filter_map(|&value| match frame.get1(value) {
            Ok(Val::Varying(index)) => Some(index),
            _ => None,
        })
        .collect()
    }

    /// Where the first and the last byte of the elements lie, from the array's first one on.
    fn bounds(&mut self, asked: Asked, array: V, size: u32) -> [V; 2] {
        let (int64, lanes) = (self.e.int(64), i64::from(self.lanes));
        let size = i64::from(size);
        let (first, last, unit) = match asked {
            Asked::Counting(first) => {
                let first = self.e.sext(first, int64);
                (first, self.e.add(first, self.e.i64(lanes - 1)), size)
            }
            Asked::Indices(indices) => {
                let [first, last] = self.extremes(indices).map(|v| self.e.sext(v, int64));
                (first, last, size)
            }
            Asked::Distance(Val::Linear { base, stride }) => {
                let [first, last] = [stride.min(0), stride.max(0)].map(|stride| {
                    let end = self.e.gep(self.e.int(8), base, self.e.i64(stride * (lanes - 1)));
                    self.distance(end, array)
                });
                (first, last, 1)
            }
            Asked::Distance(Val::Uniform(address)) => {
                let distance = self.distance(address, array);
                (distance, distance, 1)
            }
            Asked::Distance(at) => {
                let distances = self.distance(self.wide(at), array);
                let [first, last] = self.extremes(distances);
                (first, last, 1)
            }
        };
        let [first, last] = [first, last].map(|v| self.e.mul(v, self.e.i64(unit)));
        [first, self.e.add(last, self.e.i64(size - 1))]
    }

    /// The least and the greatest of the active lanes' numbers.
    fn extremes(&mut self, numbers: V) -> [V; 2] {
        let ty = self.e.type_of(numbers);
        let is_narrow = self.e.scalar_type(ty) == self.e.int(32);
        let ends = if is_narrow { [i32::MAX.into(), i32::MIN.into()] } else { [i64::MAX, i64::MIN] };
        let names = ["llvm.vector.reduce.smin", "llvm.vector.reduce.smax"];
        [0, 1].map(|k| {
            let end = self.e.const_int(ty, ends[k]);
            let active = self.mask.map_or(numbers, |mask| self.e.select(mask, numbers, end));
            self.e.intrinsic(names[k], &[ty], &[active])
        })
    }

    /// Notes that a copy is touched between two bytes.
    fn note_touched(&mut self, described: V, lowest: V, highest: V) {
        let int64 = self.e.int(64);
        for (name, offset, end) in [
            ("llvm.smin", offset_of!(OwnRange, low), lowest),
            ("llvm.smax", offset_of!(OwnRange, high), highest),
        ] {
            let at = self.e.byte_offset(described, offset as u32);
            let old = self.e.load(int64, at, 8);
            let new = self.e.intrinsic(name, &[int64], &[old, end]);
            self.e.store(new, at, 8);
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
}

/// Whether code is made with ranges for what it adds to.
pub(crate) fn has_ranges(updates: &Updates) -> bool {
    (1..=OwnRange::MOST).contains(&summed(updates).count())
}

fn summed(updates: &Updates) -> impl Iterator<Item = &TouchedArray> {
    updates.arrays.iter().filter(|array| matches!(array.used, Use::Sums(_)))
}

/// The indices of the elements that a function updates, as they are before they are wrapped where they are negative: those that
/// are there wherever the code behind them is.
fn updated_indices(function: &Function) -> Vec<Value> {
    let body = &function.block(function.body).ops;
    let mut found: Vec<Value> = Vec::new();
    for block in 0..function.block_count() {
        for &op in &function.block(Block::new(block)).ops {
            let OpData { kind: OpKind::Atomic(_), operands, .. } = function.op(op) else { continue };
            let element = operands.first().and_then(|&reference| function.defining_op(reference));
            let Some(OpData { kind: OpKind::Elem, operands, .. }) = element else { continue };
            let Some(&index) = operands.last() else { continue };
            let plain = before_wrap(function, index);
            let is_everywhere =
                matches!(function.value(plain).def, ValueDef::Result { op, .. } if body.contains(&op));
            if is_everywhere && !found.contains(&plain) {
                found.push(plain);
            }
        }
    }
    found
}
