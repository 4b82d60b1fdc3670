//! Finds values that are needed from array elements which are overwritten afterwards, in a function or in those that it
//! calls.

use inkle_ir::{BinaryOp, Block, FunctionId, Module, Op, OpData, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::AdjointError;
use crate::places::{Frame, Number, Place, Places};
use crate::sweep::Result;

/// What a function of the backward module does again of the function that it is made from.
#[derive(Default)]
pub(crate) struct Repeated {
    /// What it loads.
    pub loads: FxHashSet<Op>,
    /// Calls, and the functions that are called for them.
    pub calls: FxHashSet<(Op, FunctionId)>,
}

/// An operation and where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    frame: Frame,
    block: Block,
    position: usize,
}

impl Step {
    fn op(self, places: &Places<'_>) -> Op {
        places.function(self.frame).block(self.block).ops[self.position]
    }

    fn data<'m>(self, places: &Places<'m>) -> &'m OpData {
        places.function(self.frame).op(self.op(places))
    }
}

/// A read or write of memory.
struct Access {
    /// The operations that it is nested in, from the outside, and the operation itself.
    path: Vec<Step>,
    place: Place,
}

impl Access {
    fn data<'m>(&self, places: &Places<'m>) -> &'m OpData {
        self.path.last().expect("it ends with the operation").data(places)
    }
}

/// Refuses function `id` of a module if `made`, in the backward module, loads a value again that certainly is overwritten
/// after the function loaded it. `repeated` says what functions of the backward module do.
pub(crate) fn check(
    module: &Module,
    id: FunctionId,
    made: FunctionId,
    repeated: &FxHashMap<FunctionId, Repeated>,
) -> Result<()> {
    let mut places = Places::new(module, id);
    if !places.has_writes() {
        return Ok(());
    }
    let loads = loads(&mut places, made, repeated);
    let mut finder = Finder { places, loads, reads: Vec::new(), writes: FxHashMap::default() };
    let body = module.function(id).body;
    finder.collect(Frame::OUTERMOST, body, &mut Vec::new());
    let Finder { mut places, reads, writes, .. } = finder;
    for read in &reads {
        for write in writes.get(&read.place.root).into_iter().flatten() {
            let shared = read.path.iter().zip(&write.path).take_while(|(a, b)| a == b).count();
            let mut pair = Pair { places: &mut places, read, write, shared };
            if pair.is_overwritten() {
                let (read, write) = (read.data(&places).span, write.data(&places).span);
                return Err(AdjointError::Overwritten { read, write });
            }
        }
    }
    Ok(())
}

/// The loads that are done again, by frame.
fn loads(
    places: &mut Places<'_>,
    made: FunctionId,
    repeated: &FxHashMap<FunctionId, Repeated>,
) -> FxHashSet<(Frame, Op)> {
    let mut loads = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut work = vec![(Frame::OUTERMOST, made)];
    while let Some((frame, made)) = work.pop() {
        // A function with a replay of its own has another one called.
        let Some(found) = repeated.get(&made).filter(|_| seen.insert((frame, made))) else { continue };
        loads.extend(found.loads.iter().map(|&op| (frame, op)));
        for &(op, made) in &found.calls {
            if let Some(callee) = places.call_with_effects(frame, op) {
                work.push((callee, made));
            }
        }
    }
    loads
}

/// Collects accesses.
struct Finder<'m> {
    places: Places<'m>,
    loads: FxHashSet<(Frame, Op)>,
    /// Loads that are done again.
    reads: Vec<Access>,
    /// By root.
    writes: FxHashMap<Number, Vec<Access>>,
}

impl Finder<'_> {
    fn collect(&mut self, frame: Frame, block: Block, path: &mut Vec<Step>) {
        let f = self.places.function(frame);
        for (position, &op) in f.block(block).ops.iter().enumerate() {
            path.push(Step { frame, block, position });
            let data = f.op(op);
            match data.kind {
                OpKind::Load if self.loads.contains(&(frame, op)) => {
                    let place = self.places.place(frame, data.operands[0]);
                    self.reads.push(Access { path: path.clone(), place });
                }
                OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas => {
                    let place = self.places.place(frame, data.operands[0]);
                    let write = Access { path: path.clone(), place };
                    self.writes.entry(write.place.root).or_default().push(write);
                }
                OpKind::Call(_) => {
                    if let Some(callee) = self.places.call_with_effects(frame, op) {
                        let body = self.places.function(callee).body;
                        self.collect(callee, body, path);
                    }
                }
                _ => {}
            }
            for &inner in &data.blocks {
                self.collect(frame, inner, path);
            }
            path.pop();
        }
    }
}

/// A read and a write of one array.
struct Pair<'a, 'm> {
    places: &'a mut Places<'m>,
    read: &'a Access,
    write: &'a Access,
    /// How many operations both are nested in.
    shared: usize,
}

impl Pair<'_, '_> {
    /// Whether the write certainly is to the place of the read, after it, in some run.
    fn is_overwritten(&mut self) -> bool {
        let (read, write) = self.anywhere_from(self.shared);
        if read.meets(&write) && self.follows() && !self.is_either_or(None) {
            return true;
        }
        (0..self.shared).any(|depth| {
            let step = self.read.path[depth];
            let is_loop = matches!(step.data(self.places).kind, OpKind::For | OpKind::While);
            is_loop && self.meets_in_a_later_iteration(depth) && !self.is_either_or(Some(depth))
        })
    }

    /// Whether both are in one block, the write after the read; else they are in two branches of one `if`.
    fn follows(&self) -> bool {
        match (self.read.path.get(self.shared), self.write.path.get(self.shared)) {
            (Some(read), Some(write)) => {
                (read.frame, read.block) == (write.frame, write.block) && read.position < write.position
            }
            _ => false,
        }
    }

    /// Whether the two are done under conditions that exclude each other, and that do not change in the loop at a depth.
    fn is_either_or(&mut self, depth: Option<usize>) -> bool {
        let [reads, writes] = [self.read, self.write].map(|access| self.conditions(access));
        reads
            .iter()
            .any(|a| writes.iter().any(|b| self.places.excludes(*a, *b) && !self.changes(*a, *b, depth)))
    }

    fn changes(&mut self, a: (Number, bool), b: (Number, bool), depth: Option<usize>) -> bool {
        depth.is_some_and(|depth| {
            let step = self.read.path[depth];
            let outer = (step.frame, step.op(self.places));
            [a, b].iter().any(|&(condition, _)| self.places.varies_in(condition, outer))
        })
    }

    /// The conditions under which an access of the two is done and the other one may not be, and whether they hold.
    fn conditions(&mut self, access: &Access) -> Vec<(Number, bool)> {
        let mut conditions = Vec::new();
        for (step, next) in access.path.iter().zip(&access.path[1..]).skip(self.shared) {
            let data = step.data(self.places);
            if data.kind == OpKind::If {
                conditions
                    .push((self.places.number(step.frame, data.operands[0]), next.block == data.blocks[0]));
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

    /// Whether a later iteration of the loop at a depth writes what one reads: the place is the same in all iterations, or
    /// indices grow evenly, the write's ahead of the read's by a number of steps.
    fn meets_in_a_later_iteration(&mut self, depth: usize) -> bool {
        let step = self.read.path[depth];
        let outer = (step.frame, step.op(self.places));
        let (read, write) = self.anywhere_from(depth + 1);
        let is_alike = read.indices.len() == write.indices.len() && read.has_part_in_common(&write);
        if !is_alike || read.fixed().chain(write.fixed()).any(|number| self.places.varies_in(number, outer)) {
            return false;
        }
        let induction = self.induction(outer);
        let index = induction.map(|(index, _)| index);
        let mut ahead = None;
        for (&i, &j) in read.indices.iter().zip(&write.indices) {
            let (i, j) = (self.places.sum(i), self.places.sum(j));
            let Some(distance) = i.minus(&j).and_then(|difference| difference.as_constant()) else {
                return false;
            };
            let mut others = i.numbers().filter(|&number| Some(number) != index);
            if others.any(|number| self.places.varies_in(number, outer)) {
                return false;
            }
            // With index k the read is at `count * k + distance` if the write is at `count * k`.
            match index.map_or(0, |index| i.count(index)) {
                0 if distance == 0 => {}
                0 => return false,
                count if distance % count != 0 => return false,
                count if *ahead.get_or_insert(distance / count) != distance / count => return false,
                _ => {}
            }
        }
        match (ahead, induction) {
            (None, _) => true,
            (Some(ahead), Some((_, step))) => ahead % step == 0 && ahead / step > 0,
            (Some(_), None) => false,
        }
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
