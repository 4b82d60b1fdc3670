//! Addresses per lane that may turn out to be neighbours.
//!
//! Where lanes read or update elements at indices of their own, the indices often count up: edges of a grid, particles in the
//! order of their cells. Elements of several parts are then moved as whole vectors, if a look at the indices shows that
//! they do. It costs a few instructions, and an access per lane takes dozens.

use smallvec::SmallVec;

use super::Lower;
use crate::emitter::{Bb, Int, V};
use crate::value::{Parts, Val};

/// Another form of an address.
pub(crate) struct Neighbours {
    /// Whether the other form is wrong.
    pub apart: V,
    /// What the addresses are otherwise.
    pub at: Val,
    /// Whether they are neighbours for all lanes only, so that no mask is needed.
    pub is_of_all: bool,
    /// Whether the other form is nearly always right.
    pub is_likely: bool,
}

/// What an index over the lanes was before it was wrapped where it is negative.
#[derive(Clone, Copy)]
pub(crate) enum Unwrapped {
    /// The first lane's, and how far lanes are apart.
    Linear(V, i64),
    Varying(V),
}

impl Lower<'_, '_> {
    /// Of addresses of elements of `size` bytes that look like others: when they are neighbours, and what they are then.
    /// `None` if they never are, or if elements are not moved as whole vectors and nothing is gained.
    pub fn neighbours(&mut self, at: Val, size: u32, moved_whole: bool) -> Option<Neighbours> {
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
            return Some(Neighbours { apart, at, is_of_all: false, is_likely: true });
        }
        if !moved_whole || scale != size || self.rare {
            return None;
        }
        let plain = match unwrapped {
            Some(Unwrapped::Varying(plain)) => plain,
            _ => index,
        };
        let (first, mut count_up) = self.counting(plain, unwrapped.is_some());
        if let Some(mask) = self.mask {
            count_up = self.e.and(count_up, mask);
        }
        let bits = self.mask_bits(count_up);
        let apart = self.e.icmp(Int::LLVMIntNE, bits, self.e.all_ones(self.e.int(self.lanes)));
        let start = self.scalar_offset(base, first, self.e.i64(scale.into()));
        let at = Val::Linear { base: start, stride: size.into() };
        Some(Neighbours { apart, at, is_of_all: true, is_likely: false })
    }

    /// The first lane's index, and which lanes have one that is as much more as they are farther on; if the index counts from
    /// the end where it is negative, none of these is.
    fn counting(&mut self, index: V, wraps: bool) -> (V, V) {
        let key = (index, wraps, self.e.current_block());
        if let Some(&known) = self.countings.get(&key) {
            return known;
        }
        let int = self.e.scalar_type(self.e.type_of(index));
        let first = self.e.extract_element(index, self.e.i32(0));
        let distance = self.e.sub(index, self.e.splat(first, self.lanes));
        let mut counts = self.e.icmp(Int::LLVMIntEQ, distance, self.ramp(int, 1));
        if wraps {
            // Of lanes that count up from an index that is not negative only those beyond the largest number are.
            let ty = self.e.type_of(index);
            let is_positive = self.e.icmp(Int::LLVMIntSGE, index, self.e.null(ty));
            counts = self.e.and(counts, is_positive);
        }
        self.countings.insert(key, (first, counts));
        (first, counts)
    }

    /// Does something with addresses in either form, and merges what it gives.
    pub fn in_either_form<E>(
        &mut self,
        at: Val,
        other: &Neighbours,
        mut access: impl FnMut(&mut Self, Val) -> Result<Parts, E>,
    ) -> Result<Parts, E> {
        let [apart, near, join] = ["apart", "near", "join"].map(|name| self.e.new_block(name));
        let branch = self.e.cond_br(other.apart, apart, near);
        if other.is_likely {
            self.e.set_branch_weights(branch, 1, 1 << 10);
        }
        let mut ends: SmallVec<[(SmallVec<[V; 4]>, Bb); 2]> = SmallVec::new();
        for (block, at) in [(near, other.at), (apart, at)] {
            self.e.at_end(block);
            let (mask, existing) = (self.mask, self.existing);
            if other.is_of_all && block == near {
                (self.mask, self.existing) = (None, None);
            }
            let given = access(self, at)?;
            (self.mask, self.existing) = (mask, existing);
            let given = given.into_iter().map(|v| self.wide(v)).collect();
            ends.push((given, self.e.current_block()));
            self.e.br(join);
        }
        self.e.at_end(join);
        let [(near, near_end), (apart, apart_end)] = [&ends[0], &ends[1]];
        let merge = |(&a, &b)| {
            let v = self.e.phi(self.e.type_of(a));
            self.e.add_incoming(v, a, *near_end);
            self.e.add_incoming(v, b, *apart_end);
            Val::Varying(v)
        };
        Ok(near.iter().zip(apart).map(merge).collect())
    }
}
