//! A read and a write of one array: whether the write is to what was read, after it.

use inkle_ir::{Op, OpKind};
use rustc_hash::FxHashMap;

use super::Access;
use crate::places::{Frame, Number, Place, Places};

/// Whether what was read is overwritten in some run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Verdict {
    /// In none.
    Never,
    /// That depends on what is not known.
    Perhaps,
    /// The write certainly is to the place of the read, after it.
    Certainly,
}

/// What one index of the read and that of a write in a later iteration of a loop have to do with each other.
enum Meeting {
    /// They are the same in all iterations.
    Always,
    /// They are the same when the write's iteration is that many ahead.
    Ahead(i128),
    Never,
    Unknown,
}

/// How many iterations ahead it is looked for a write at an index that does not grow evenly, as `t % 2`.
const MAX_AHEAD: i128 = 4;

/// A read and a write of one array.
pub(super) struct Pair<'a, 'm> {
    places: &'a mut Places<'m>,
    read: &'a Access,
    write: &'a Access,
    /// How many operations both are nested in.
    shared: usize,
}

impl<'a, 'm> Pair<'a, 'm> {
    pub fn new(places: &'a mut Places<'m>, read: &'a Access, write: &'a Access) -> Pair<'a, 'm> {
        let shared = read.path.iter().zip(&write.path).take_while(|(a, b)| a == b).count();
        Pair { places, read, write, shared }
    }

    pub fn verdict(&mut self) -> Verdict {
        let mut verdict = self.in_this_iteration().max(self.in_another_thread());
        for depth in 0..self.shared {
            let data = self.read.path[depth].data(self.places);
            if matches!(data.kind, OpKind::For | OpKind::While) {
                verdict = verdict.max(self.in_a_later_iteration(depth));
            }
        }
        verdict
    }

    /// Without a further iteration of any loop around both.
    fn in_this_iteration(&mut self) -> Verdict {
        // Both are in one block, the write after the read; else they are in two branches of one `if`.
        let follows = match (self.read.path.get(self.shared), self.write.path.get(self.shared)) {
            (Some(read), Some(write)) => {
                (read.frame, read.block) == (write.frame, write.block) && read.position < write.position
            }
            _ => false,
        };
        if !follows || self.is_either_or(None) {
            return Verdict::Never;
        }
        let (read, write) = self.anywhere_from(self.shared);
        if self.meet_somewhere(&read, &write) {
            return Verdict::Certainly;
        }
        let (read, write) = (&self.read.place, &self.write.place);
        let mut pairs = read.pairs(write).into_iter();
        let are_apart = read.has_parts_apart(write) || pairs.any(|(i, j)| self.places.are_apart(i, j));
        if are_apart { Verdict::Never } else { Verdict::Perhaps }
    }

    /// Whether two places are one for some indices of the loops that are anywhere.
    fn meet_somewhere(&self, read: &Place, write: &Place) -> bool {
        if read.meets(write) {
            return true;
        }
        let pairs = read.pairs(write);
        let (differ, same): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|(i, j)| i != j);
        let [(i, j)] = differ[..] else { return false };
        // Each loop's index is free if it is in one dimension only.
        let ranges = self.places.ranges(i).into_iter().chain(self.places.ranges(j));
        let is_free = |range: Number| same.iter().all(|&(i, _)| !self.places.ranges(i).contains(&range));
        !read.has_parts_apart(write) && ranges.into_iter().all(is_free) && self.places.meet(i, j)
    }

    /// In a later iteration of the loop at a depth.
    fn in_a_later_iteration(&mut self, depth: usize) -> Verdict {
        let step = self.read.path[depth];
        let outer = (step.frame, step.op(self.places));
        let inductions = self.places.inductions(outer);
        if self.is_either_or(Some(outer)) || self.is_in_one_iteration(depth, &inductions) {
            return Verdict::Never;
        }
        let (read, write) = self.anywhere_from(depth + 1);
        match self.later(&read, &write, outer, &inductions) {
            Verdict::Certainly => Verdict::Certainly,
            // Somewhere in inner loops is not everywhere there.
            _ => self.later(&self.read.place, &self.write.place, outer, &inductions).min(Verdict::Perhaps),
        }
    }

    /// Whether conditions on what grows in a loop let the write be done in no iteration but the first, or the one of the read.
    fn is_in_one_iteration(&mut self, depth: usize, inductions: &[[Number; 3]]) -> bool {
        let [read, write] = [self.read, self.write].map(|access| {
            let mut facts = Vec::new();
            for (step, next) in access.path.iter().zip(&access.path[1..]).skip(depth + 1) {
                let data = step.data(self.places);
                if data.kind == OpKind::If {
                    let condition = self.places.number(step.frame, data.operands[0]);
                    facts.extend(self.places.facts((condition, next.block == data.blocks[0])));
                }
            }
            facts
        });
        inductions.iter().any(|&[number, start, step]| {
            if self.places.sum(step).as_constant().is_none_or(|step| step == 0) {
                return false;
            }
            let [read, write] =
                [&read, &write].map(|facts| facts.iter().find_map(|&fact| self.places.pinned(fact, number)));
            write.is_some_and(|write| write == self.places.sum(start) || read == Some(write))
        })
    }

    /// Whether a later iteration of a loop writes what one reads: the place is the same in all iterations, or indices grow
    /// evenly, the write's ahead of the read's by a number of steps.
    fn later(
        &mut self,
        read: &Place,
        write: &Place,
        outer: (Frame, Op),
        inductions: &[[Number; 3]],
    ) -> Verdict {
        if read.has_parts_apart(write) {
            return Verdict::Never;
        }
        let growing: Vec<Number> = inductions.iter().map(|&[number, ..]| number).collect();
        let mut numbers = read.numbers().chain(write.numbers());
        let is_known = !numbers.any(|number| self.places.varies_by_others(number, outer, &growing));
        let after = |places: &mut Places<'_>, count| {
            let by =
                inductions.iter().map(|&[number, _, step]| (number, places.advanced(number, step, count)));
            let by = by.collect();
            places.replaced(write, &by)
        };
        if is_known && (1..=MAX_AHEAD).any(|count| read.meets(&after(self.places, count))) {
            return Verdict::Certainly;
        }
        let next = after(self.places, 1);
        let (mut is_known, mut ahead) = (is_known, None);
        for ((i, j), (_, next)) in read.pairs(write).into_iter().zip(read.pairs(&next)) {
            match self.meeting([i, j, next], outer, &growing) {
                Meeting::Always => {}
                Meeting::Ahead(count) if *ahead.get_or_insert(count) == count => {}
                Meeting::Ahead(_) | Meeting::Never => return Verdict::Never,
                Meeting::Unknown => is_known = false,
            }
        }
        match (ahead.is_none_or(|ahead| ahead > 0), is_known) {
            (false, _) => Verdict::Never,
            (true, false) => Verdict::Perhaps,
            (true, true) => Verdict::Certainly,
        }
    }

    /// What index `i` of the read has to do with `j` of the write, which is `next` an iteration later.
    fn meeting(&mut self, [i, j, next]: [Number; 3], outer: (Frame, Op), growing: &[Number]) -> Meeting {
        if [i, j].iter().any(|&number| self.places.varies_by_others(number, outer, growing)) {
            return Meeting::Unknown;
        }
        let [i, j, next] = [i, j, next].map(|number| self.places.sum(number));
        let distance = i.minus(&j).and_then(|difference| difference.as_constant());
        let step = next.minus(&j).and_then(|difference| difference.as_constant());
        match (distance, step) {
            (Some(0), Some(0)) => Meeting::Always,
            (Some(_), Some(0)) => Meeting::Never,
            (Some(distance), Some(step)) if distance.checked_rem(step) == Some(0) => {
                Meeting::Ahead(distance / step)
            }
            (Some(_), Some(_)) => Meeting::Never,
            _ => Meeting::Unknown,
        }
    }

    /// By another thread, where threads do not keep to elements of their own.
    fn in_another_thread(&mut self) -> Verdict {
        let (read, write) = (&self.read.place, &self.write.place);
        if read.has_parts_apart(write) {
            return Verdict::Never;
        }
        let (mut own, mut used) = (0, 0);
        for (i, j) in read.pairs(write) {
            let threads = self.places.threads(i) | self.places.threads(j);
            used |= threads;
            if i == j {
                own |= threads;
            } else if self.places.are_apart_in_all_threads(i, j) {
                return Verdict::Never;
            }
        }
        if used & !own == 0 { Verdict::Never } else { Verdict::Perhaps }
    }

    /// Whether the two are done under conditions that exclude each other, and that do not change in a loop around both.
    fn is_either_or(&mut self, outer: Option<(Frame, Op)>) -> bool {
        let [reads, writes] = [self.read, self.write].map(|access| self.conditions(access, outer));
        reads.iter().any(|a| writes.iter().any(|b| self.places.excludes(*a, *b)))
    }

    /// The conditions under which an access of the two is done and the other one may not be, and whether they hold. Those
    /// that change in the loop are left out.
    fn conditions(&mut self, access: &Access, outer: Option<(Frame, Op)>) -> Vec<(Number, bool)> {
        let mut conditions = Vec::new();
        for (step, next) in access.path.iter().zip(&access.path[1..]).skip(self.shared) {
            let data = step.data(self.places);
            if data.kind == OpKind::If {
                let condition = self.places.number(step.frame, data.operands[0]);
                if !outer.is_some_and(|outer| self.places.varies_in(condition, outer)) {
                    conditions.push((condition, next.block == data.blocks[0]));
                }
            }
        }
        conditions
    }

    /// The places, with any index of the loops from a depth on, as all of them are reached. Where that depends on a
    /// condition, in loops that are not those of the other one, they stay as they are.
    fn anywhere_from(&mut self, depth: usize) -> (Place, Place) {
        let [read, write] = [self.read, self.write].map(|access| {
            let own = &access.path[self.shared..];
            let has_condition = own.iter().any(|step| step.data(self.places).kind == OpKind::If);
            let end = if has_condition { self.shared } else { access.path.len() };
            let mut ranges = FxHashMap::default();
            let mut counts: FxHashMap<[Number; 3], u32> = FxHashMap::default();
            for step in &access.path[depth.min(end)..end] {
                if step.data(self.places).kind == OpKind::For {
                    let (index, bounds) = self.places.index_and_bounds(step.frame, step.op(self.places));
                    let count = counts.entry(bounds).or_default();
                    ranges.insert(index, self.places.range(bounds, *count));
                    *count += 1;
                }
            }
            self.places.replaced(&access.place, &ranges)
        });
        (read, write)
    }
}
