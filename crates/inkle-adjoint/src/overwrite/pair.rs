//! A read and a write of one array: whether the write is to what was read, after it.

use inkle_ir::{BinaryOp, Op, OpKind, Value};
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
    /// They are the same when the write's iteration is that many indices of the loop ahead.
    Ahead(i128),
    Never,
    Unknown,
}

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
        if read.meets(&write) {
            return Verdict::Certainly;
        }
        let (read, write) = (&self.read.place, &self.write.place);
        let are_apart =
            read.has_parts_apart(write) || pairs(read, write).any(|(i, j)| self.places.are_apart(i, j));
        if are_apart { Verdict::Never } else { Verdict::Perhaps }
    }

    /// In a later iteration of the loop at a depth.
    fn in_a_later_iteration(&mut self, depth: usize) -> Verdict {
        let step = self.read.path[depth];
        let outer = (step.frame, step.op(self.places));
        if self.is_either_or(Some(outer)) {
            return Verdict::Never;
        }
        let (read, write) = self.anywhere_from(depth + 1);
        match self.later(&read, &write, outer) {
            Verdict::Certainly => Verdict::Certainly,
            // Somewhere in inner loops is not everywhere there.
            _ => self.later(&self.read.place, &self.write.place, outer).min(Verdict::Perhaps),
        }
    }

    /// Whether a later iteration of a loop writes what one reads: the place is the same in all iterations, or indices grow
    /// evenly, the write's ahead of the read's by a number of steps.
    fn later(&mut self, read: &Place, write: &Place, outer: (Frame, Op)) -> Verdict {
        if read.has_parts_apart(write) {
            return Verdict::Never;
        }
        let induction = self.induction(outer);
        let varies = read.fixed().chain(write.fixed()).any(|number| self.places.varies_in(number, outer));
        let mut is_known = !varies && read.has_parts_in_common(write);
        let mut ahead = None;
        for (i, j) in pairs(read, write) {
            match self.meeting(i, j, outer, induction.map(|(index, _)| index)) {
                Meeting::Always => {}
                Meeting::Ahead(count) if *ahead.get_or_insert(count) == count => {}
                Meeting::Ahead(_) | Meeting::Never => return Verdict::Never,
                Meeting::Unknown => is_known = false,
            }
        }
        let is_later = match (ahead, induction) {
            (Some(ahead), Some((_, step))) => ahead.checked_rem(step) == Some(0) && ahead / step > 0,
            _ => true,
        };
        match (is_later, is_known) {
            (false, _) => Verdict::Never,
            (true, false) => Verdict::Perhaps,
            (true, true) => Verdict::Certainly,
        }
    }

    fn meeting(&mut self, i: Number, j: Number, outer: (Frame, Op), index: Option<Number>) -> Meeting {
        let (i, j) = (self.places.sum(i), self.places.sum(j));
        let Some(distance) = i.minus(&j).and_then(|difference| difference.as_constant()) else {
            return Meeting::Unknown;
        };
        let mut others = i.numbers().filter(|&number| Some(number) != index);
        if others.any(|number| self.places.varies_in(number, outer)) {
            return Meeting::Unknown;
        }
        // With index k the read is at `count * k + distance` if the write is at `count * k`.
        match index.map_or(0, |index| i.count(index)) {
            0 if distance == 0 => Meeting::Always,
            0 => Meeting::Never,
            count if distance.checked_rem(count) == Some(0) => Meeting::Ahead(distance / count),
            _ => Meeting::Never,
        }
    }

    /// By another thread, where threads do not keep to elements of their own.
    fn in_another_thread(&mut self) -> Verdict {
        let (read, write) = (&self.read.place, &self.write.place);
        if read.has_parts_apart(write) {
            return Verdict::Never;
        }
        let (mut own, mut used) = (0, 0);
        for (i, j) in pairs(read, write) {
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

    /// The value of a loop that grows evenly, and by how much.
    fn induction(&mut self, (frame, op): (Frame, Op)) -> Option<(Number, i128)> {
        let f = self.places.function(frame);
        let data = f.op(op);
        let mut constant = |value: Value| {
            let number = self.places.number(frame, value);
            self.places.sum(number).as_constant().filter(|&step| step != 0)
        };
        match data.kind {
            OpKind::For => {
                let step = constant(data.operands[2])?;
                Some((self.places.index_and_bounds(frame, op).0, step))
            }
            OpKind::While => {
                let body = f.block(data.blocks[1]);
                let last = f.op(*body.ops.last()?);
                let (param, step) = body.params.iter().zip(&last.operands).find_map(|(&param, &next)| {
                    let add = f.defining_op(next).filter(|d| d.kind == OpKind::Binary(BinaryOp::Add))?;
                    if add.operands[0] != param {
                        return None;
                    }
                    Some((param, constant(add.operands[1])?))
                })?;
                Some((self.places.number(frame, param), step))
            }
            _ => None,
        }
    }
}

/// The indices of two places in one array.
fn pairs(a: &Place, b: &Place) -> impl Iterator<Item = (Number, Number)> {
    a.indices.iter().copied().zip(b.indices.iter().copied())
}
