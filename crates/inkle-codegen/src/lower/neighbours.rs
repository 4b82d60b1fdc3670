//! Addresses per lane that may turn out to be neighbours.
//!
//! Where lanes read or update elements at indices of their own, the indices often count up: edges of a grid, particles in the
//! order of their cells. Elements of several parts are then moved as whole vectors, if a look at the indices shows that
//! they do. It costs a few instructions, and an access per lane takes dozens.

use inkle_ir::{Function, OpData, OpKind, Type, Value};
use smallvec::SmallVec;

use super::Lower;
use super::memory::alike_parts;
use crate::emitter::{Bb, Int, V};
use crate::value::{Parts, Val};

/// Of more lanes than this it is not looked at whether the last ones are neighbours where the first are.
pub(super) const MOST_GROUPED: u32 = 16;

/// Another form of an address.
pub(crate) struct Neighbours {
    /// Whether the other form is wrong; `None` where it never is.
    pub apart: Option<V>,
    /// What the addresses are otherwise.
    pub at: Val,
    /// Whether they are neighbours for all lanes only, so that no mask is needed.
    pub is_of_all: bool,
    /// Whether the other form is nearly always right.
    pub is_likely: bool,
    /// What they may be where it is wrong.
    groups: Option<Groups>,
}

impl Neighbours {
    /// The same without a form for lanes in two groups.
    pub fn in_one_group(self) -> Neighbours {
        Neighbours { groups: None, ..self }
    }

    /// A form that is nearly always right.
    pub fn likely(apart: V, at: Val) -> Neighbours {
        Neighbours { apart: Some(apart), at, is_of_all: false, is_likely: true, groups: None }
    }
}

/// Addresses that are neighbours for the first lanes, as in the other form, and for the rest elsewhere: where a row of a grid
/// ends.
struct Groups {
    counting: Counting,
    /// Bytes of an element.
    size: u32,
    /// Its parts.
    parts: u32,
}

/// The second of two groups of lanes whose elements are neighbours.
#[derive(Clone, Copy)]
pub(crate) struct SecondGroup {
    /// Its lanes.
    pub mask: V,
    /// How far its elements are from where they would be if they were the first group's, bytes.
    pub distance: V,
}

/// What is known of an index over the lanes.
#[derive(Clone, Copy)]
pub(crate) struct Counting {
    /// The first lane's.
    pub first: V,
    /// The lanes that have as much more as they are farther on.
    counts: V,
    /// Whether these are not all lanes.
    pub apart: V,
    rest: Option<Rest>,
}

/// The active lanes that do not count on from the first one, as far as that was looked at.
#[derive(Clone, Copy)]
struct Rest {
    /// Whether these are the last ones, and count on from another index.
    counts: V,
    mask: V,
    /// What the first lane's index would be if it were one of them.
    first: V,
}

/// An index that was looked at: whether it counts from the end where it is negative, whether the lanes that do not count on were
/// looked at, and the active lanes.
pub(crate) type CountingKey = (V, bool, bool, Option<V>);

/// What an index over the lanes was before it was wrapped where it is negative.
#[derive(Clone, Copy)]
pub(crate) enum Unwrapped {
    /// The first lane's, and how far lanes are apart.
    Linear(V, i64),
    Varying(V),
}

/// An index as it is before it is wrapped where it is negative.
pub(super) fn before_wrap(function: &Function, index: Value) -> Value {
    match function.defining_op(index) {
        Some(OpData { kind: OpKind::Select, operands, .. }) => operands.last().copied().unwrap_or(index),
        _ => index,
    }
}

impl Lower<'_, '_> {
    /// Of addresses of elements of `size` bytes that look like others: when they are neighbours, and what they are then.
    /// `None` if they never are, or if elements are not moved as whole vectors and nothing is gained. `parts` is how many parts
    /// elements have that are moved so, and `masks` whether they can be moved under masks.
    pub fn neighbours(&mut self, at: Val, size: u32, parts: Option<u32>, masks: bool) -> Option<Neighbours> {
        let Val::Indexed { base, index, scale } = at else { return None };
        if self.machine.gpu {
            return None;
        }
        let unwrapped = self.wrapped.get(&index).copied();
        if let Some(Unwrapped::Linear(first, stride)) = unwrapped {
            if stride.checked_mul(scale.into())? != i64::from(size) {
                return None;
            }
            let apart = self.e.icmp(Int::LLVMIntSLT, first, self.e.null(self.e.type_of(first)));
            let start = self.scalar_offset(base, first, self.e.i64(scale.into()));
            let at = Val::Linear { base: start, stride: size.into() };
            return Some(Neighbours::likely(apart, at));
        }
        let (plain, wraps) = self.index_to_look_at(at, size, parts)?;
        let parts = parts?;
        let sure = self.counts_surely(plain, wraps);
        if let Some(first) = sure {
            let start = self.scalar_offset(base, first, self.e.i64(scale.into()));
            let at = Val::Linear { base: start, stride: size.into() };
            return Some(Neighbours { apart: None, at, is_of_all: false, is_likely: true, groups: None });
        }
        // Vectors of two groups are cut where that is possible.
        let grouped = self.machine.masked_memory
            && masks
            && self.lanes <= MOST_GROUPED
            && self.second_form.is_none_or(|form| form.of_two_groups);
        let counting = self.counting(plain, wraps, grouped);
        let start = self.scalar_offset(base, counting.first, self.e.i64(scale.into()));
        let at = Val::Linear { base: start, stride: size.into() };
        let groups = grouped.then_some(Groups { counting, size, parts });
        Some(Neighbours { apart: Some(counting.apart), at, is_of_all: true, is_likely: false, groups })
    }

    /// The index, as it is before it is wrapped where it is negative, and whether it is, of addresses for which it is worth a look
    /// whether it counts up; the arguments are those of [`Self::neighbours`].
    fn index_to_look_at(&self, at: Val, size: u32, parts: Option<u32>) -> Option<(V, bool)> {
        let Val::Indexed { index, scale, .. } = at else { return None };
        let is_worth_it = parts.is_some() && scale == size && !self.rare && !self.machine.gpu;
        match self.wrapped.get(&index).copied() {
            _ if !is_worth_it => None,
            Some(Unwrapped::Linear(..)) => None,
            Some(Unwrapped::Varying(plain)) => Some((plain, true)),
            None => Some((index, false)),
        }
    }

    /// Looks now whether the index of addresses counts up, if the first form takes it for one that does.
    pub fn look_whether_counting(&mut self, ty: Type, at: Val) {
        if let Some((index, wraps)) = self.index_to_look_at(at, ty.size(), alike_parts(ty)) {
            self.counts_surely(index, wraps);
        }
    }

    /// Which lanes have an index that is as much more as they are farther on; if it counts from the end where it is negative,
    /// none of these is.
    pub fn counting(&mut self, index: V, wraps: bool, grouped: bool) -> Counting {
        let key = (index, wraps, grouped, self.mask);
        if let Some(&(_, known)) = self.countings.iter().rev().find(|(other, _)| *other == key) {
            return known;
        }
        let first = self.first_index(index);
        let mut counts = self.counting_from(index, first, wraps);
        if let Some(mask) = self.mask {
            counts = self.e.and(counts, mask);
        }
        let bits = self.mask_bits(counts);
        let apart = self.e.icmp(Int::LLVMIntNE, bits, self.e.all_ones(self.e.int(self.lanes)));
        let rest = grouped.then(|| self.rest(index, wraps, bits, apart));
        let known = Counting { first, counts, apart, rest };
        self.countings.push((key, known));
        known
    }

    /// The lanes whose index is as much more than `first` as they are from the first lane.
    pub fn counting_from(&mut self, index: V, first: V, wraps: bool) -> V {
        let ty = self.e.type_of(index);
        let distance = self.e.sub(index, self.e.splat(first, self.lanes));
        let counts = self.e.icmp(Int::LLVMIntEQ, distance, self.ramp(self.e.scalar_type(ty), 1));
        if !wraps {
            return counts;
        }
        // Of lanes that count up from an index that is not negative only those beyond the largest number are.
        let is_positive = self.e.icmp(Int::LLVMIntSGE, index, self.e.null(ty));
        self.e.and(counts, is_positive)
    }

    /// Looks at the lanes that do not count on from the first one, where there are any.
    fn rest(&mut self, index: V, wraps: bool, bits: V, apart: V) -> Rest {
        let (int, of_index) = (self.e.int(self.lanes), self.e.scalar_type(self.e.type_of(index)));
        let before = self.e.current_block();
        let [look, join] = ["rest", "seen"].map(|name| self.e.new_block(name));
        self.e.cond_br(apart, look, join);
        self.e.at_end(look);
        let active = self.mask.map_or(self.e.all_ones(int), |mask| self.mask_bits(mask));
        let lanes = self.e.and(active, self.e.not(bits));
        // If there are none, of an inactive vector's end, any lane will do.
        let lane = self.e.intrinsic("llvm.cttz", &[int], &[lanes, self.e.i1(false)]);
        let lane = self.e.and(lane, self.e.const_int(int, i64::from(self.lanes) - 1));
        let lane = self.e.zext(lane, self.e.int(32));
        let first = self.e.extract_element(index, lane);
        let first = self.e.sub(first, self.e.zext(lane, of_index));
        let counts = self.counting_from(index, first, wraps);
        let counting = self.e.and(self.mask_bits(counts), lanes);
        let all = self.e.icmp(Int::LLVMIntEQ, counting, lanes);
        let next = self.e.add(bits, self.e.const_int(int, 1));
        let before_are_first = self.e.icmp(Int::LLVMIntEQ, self.e.and(bits, next), self.e.null(int));
        let counts = self.e.and(all, before_are_first);
        let mask = self.e.bitcast(lanes, self.e.vector(self.e.int(1), self.lanes));
        self.e.br(join);
        self.e.at_end(join);
        let [counts, mask, first] = [counts, mask, first].map(|v| {
            let ty = self.e.type_of(v);
            let merged = self.e.phi(ty);
            self.e.add_incoming(merged, self.e.null(ty), before);
            self.e.add_incoming(merged, v, look);
            merged
        });
        Rest { counts, mask, first }
    }

    /// Does something with addresses in either form, and merges what it gives. Lanes in two groups are done at once.
    pub fn in_either_form<E>(
        &mut self,
        at: Val,
        other: &Neighbours,
        mut access: impl FnMut(&mut Self, Val) -> Result<Parts, E>,
    ) -> Result<Parts, E> {
        let Some(is_apart) = other.apart else { return access(self, other.at) };
        let groups = other.groups.as_ref().and_then(|groups| self.second_group(groups));
        let [apart, join] = ["apart", "join"].map(|name| self.e.new_block(name));
        let (mask, existing) = (self.mask, self.existing);
        let mut ends: SmallVec<[(SmallVec<[V; 4]>, Bb); 3]> = SmallVec::new();
        let mut form = |l: &mut Self, at: Val| {
            let given = access(l, at)?;
            let given = l.all_wide(given);
            ends.push((given, l.e.current_block()));
            l.e.br(join);
            (l.mask, l.existing, l.second_group) = (mask, existing, None);
            Ok(())
        };
        // Where all indices count up is the first form at work, so that here they seldom do: then as the first of two groups, of
        // which the other has no lanes.
        let near_is_grouped = self.second_form.is_some() && groups.is_some();
        if near_is_grouped {
            self.e.br(apart);
        } else {
            let near = self.e.new_block("near");
            let branch = self.e.cond_br(is_apart, apart, near);
            if other.is_likely {
                self.e.set_branch_weights(branch, 1, 1 << 10);
            }
            self.e.at_end(near);
            if other.is_of_all {
                (self.mask, self.existing) = (None, None);
            }
            form(self, other.at)?;
        }
        self.e.at_end(apart);
        if let Some((first, second, in_groups)) = groups {
            let [grouped, each] = ["grouped", "each"].map(|name| self.e.new_block(name));
            let in_groups =
                if near_is_grouped { self.e.or(in_groups, self.e.not(is_apart)) } else { in_groups };
            self.e.cond_br(in_groups, grouped, each);
            self.e.at_end(grouped);
            (self.mask, self.existing, self.second_group) = (Some(first), None, Some(second));
            form(self, other.at)?;
            self.e.at_end(each);
        }
        form(self, at)?;
        self.e.at_end(join);
        let count = ends[0].0.len();
        let merge = |i: usize| {
            let v = self.e.phi(self.e.type_of(ends[0].0[i]));
            ends.iter().for_each(|(given, end)| self.e.add_incoming(v, given[i], *end));
            Val::Varying(v)
        };
        Ok((0..count).map(merge).collect())
    }

    /// The lanes of the first group, the second group, and whether the lanes are in these two.
    fn second_group(&mut self, groups: &Groups) -> Option<(V, SecondGroup, V)> {
        let Counting { first, counts, rest, .. } = groups.counting;
        let rest = rest?;
        let int64 = self.e.int(64);
        let distance = self.e.sub(self.e.sext(rest.first, int64), self.e.sext(first, int64));
        let distance = self.e.mul(distance, self.e.i64(groups.size.into()));
        // Made here, where they dominate all accesses at this index.
        self.prepare_masks(counts, groups.parts);
        self.prepare_masks(rest.mask, groups.parts);
        Some((counts, SecondGroup { mask: rest.mask, distance }, rest.counts))
    }

    fn all_wide(&mut self, parts: Parts) -> SmallVec<[V; 4]> {
        parts.into_iter().map(|v| self.wide(v)).collect()
    }
}
