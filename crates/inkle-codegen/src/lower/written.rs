//! Updates of elements beside those that were updated just before.
//!
//! A processor can read what it is about to write as long as one write has all of it; a read of what several writes have waits
//! until they are in the cache, and so is everything before them. Where a vector updates elements and then those that begin
//! one farther on or one before, as at both ends of the edges along a row, it would wait in each vector. So what the second
//! update finds is taken from where the first has it.

use smallvec::SmallVec;

use super::Lower;
use crate::emitter::{Bb, Int, V};

/// What an update of neighbouring elements has just written.
pub(crate) struct Written {
    base: V,
    vectors: SmallVec<[V; 4]>,
    block: Bb,
    /// The last instruction of the update.
    last: V,
}

impl Lower<'_, '_> {
    /// Makes new vectors of those at `base`, one after the other, and of `others`; their scalars have `size` bytes.
    pub(super) fn change_vectors(
        &mut self,
        base: V,
        size: u32,
        others: &[V],
        change: &mut impl FnMut(&mut Self, V, V) -> V,
    ) {
        let old = self.vectors_at(base, size, others);
        let new: SmallVec<[V; 4]> = old.iter().zip(others).map(|(&old, &v)| change(self, old, v)).collect();
        for (k, &v) in (0..).zip(&new) {
            let at = self.e.byte_offset(base, k * self.lanes * size);
            self.e.store(v, at, size);
        }
        let block = self.e.current_block();
        self.written = self.e.last_instruction(block).map(|last| Written { base, vectors: new, block, last });
    }

    /// The vectors at `base`, which are like `others`.
    fn vectors_at(&mut self, base: V, size: u32, others: &[V]) -> SmallVec<[V; 4]> {
        let (lanes, n) = (self.lanes, others.len() as u32);
        let block = self.e.current_block();
        let written = self.written.take().filter(|written| {
            let are_alike = |(&a, &b): (&V, &V)| self.e.type_of(a) == self.e.type_of(b);
            written.vectors.len() == others.len()
                && written.vectors.iter().zip(others).all(are_alike)
                && written.block == block
                && !self.e.may_write_after(written.last)
        });
        let Some(written) = written.filter(|_| n < lanes) else {
            return self.read_vectors(base, size, others);
        };
        let int64 = self.e.int(64);
        let [from, to] = [written.base, base].map(|at| self.e.ptr_to_int(at, int64));
        let distance = self.e.sub(to, from);
        let element = i64::from(n * size);
        let [behind, ahead, elsewhere, other, join] =
            ["behind", "ahead", "elsewhere", "other", "join"].map(|name| self.e.new_block(name));
        let mut forms: SmallVec<[(SmallVec<[V; 4]>, Bb); 3]> = SmallVec::new();
        for (way, block, otherwise) in [(1, behind, elsewhere), (-1, ahead, other)] {
            let is_it = self.e.icmp(Int::LLVMIntEQ, distance, self.e.i64(way * element));
            self.e.cond_br(is_it, block, otherwise);
            self.e.at_end(block);
            forms.push((self.beside(&written, base, way, size), block));
            self.e.br(join);
            self.e.at_end(otherwise);
        }
        forms.push((self.read_vectors(base, size, others), other));
        self.e.br(join);
        self.e.at_end(join);
        let either = (0..others.len()).map(|k| {
            let v = self.e.phi(self.e.type_of(others[k]));
            forms.iter().for_each(|(vectors, block)| self.e.add_incoming(v, vectors[k], *block));
            v
        });
        either.collect()
    }

    /// The vectors at `base`, which begin one element behind those that were written, or ahead of them.
    fn beside(&self, written: &Written, base: V, way: i64, size: u32) -> SmallVec<[V; 4]> {
        let (lanes, vectors) = (self.lanes, &written.vectors);
        let n = vectors.len() as u32;
        let scalar = self.e.scalar_type(self.e.type_of(vectors[0]));
        let at = if way > 0 { self.e.byte_offset(written.base, n * lanes * size) } else { base };
        let element = self.e.load(self.e.vector(scalar, n), at, size);
        // The element at the beginning, or at the end where it comes before the others.
        let place = |lane: u32| if way > 0 { lane % n } else { (lane + n).saturating_sub(lanes) };
        let element = self.e.shuffle(element, element, &(0..lanes).map(place).collect::<Vec<_>>());
        let first = if way > 0 { n } else { lanes - n };
        let order: Vec<u32> = (first..first + lanes).collect();
        let all: SmallVec<[V; 5]> = match way > 0 {
            true => vectors.iter().copied().chain([element]).collect(),
            false => [element].into_iter().chain(vectors.iter().copied()).collect(),
        };
        all.windows(2).map(|pair| self.e.shuffle(pair[0], pair[1], &order)).collect()
    }

    fn read_vectors(&self, base: V, size: u32, others: &[V]) -> SmallVec<[V; 4]> {
        let one = |(k, &other): (u32, &V)| {
            let at = self.e.byte_offset(base, k * self.lanes * size);
            self.e.load(self.e.type_of(other), at, size)
        };
        (0..).zip(others).map(one).collect()
    }
}
