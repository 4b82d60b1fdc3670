//! Code for vectors whose indices all count up.
//!
//! Each access at an index of the lanes' own would choose between forms, and what the forms give would meet behind it. In a kernel
//! with several, such as that of the springs of a mesh, most vectors take the same way each time. So there is a first form of
//! the whole kernel, for vectors with all their threads, that takes every index for one that counts up: it looks whether that
//! is so, and if it is not, all starts again in the second form, which asks at each access. That is possible until something
//! was done that can be seen; indices that were looked at before need no look later.

use inkle_ir::{Block, Function, Module, OpKind, Type, Value};

use super::Lower;
use super::cut::Cuts;
use crate::emitter::{Bb, V};

/// Fewer accesses at such indices do not pay for a second form.
const FEWEST_ACCESSES: usize = 2;
/// How far back it is looked for where an index comes from.
const DEPTH: u32 = 4;

/// Code that may turn out to be for other vectors.
pub(crate) struct Speculation {
    /// The second form.
    exit: Bb,
    /// Nothing was done yet that can be seen.
    may_exit: bool,
    /// Where vectors may be cut.
    pub cuts: Option<Cuts>,
    /// Indices that count up; whether none of them is negative was looked at, and the first lane's.
    counting: Vec<(V, bool, V)>,
    /// What was read for the lanes, where the first lane's lies and how many bytes that is.
    read: Vec<(V, V, u32)>,
}

/// The form for other vectors.
#[derive(Clone, Copy)]
pub(crate) struct SecondForm {
    /// Vectors whose indices count up in two groups come here, too.
    pub of_two_groups: bool,
}

impl Speculation {
    pub fn new(exit: Bb, cuts: Option<Cuts>) -> Speculation {
        Speculation { exit, may_exit: true, cuts, counting: Vec::new(), read: Vec::new() }
    }
}

impl Lower<'_, '_> {
    /// Notes what is done next: when that can be seen, there is no way back any more.
    pub fn speculate_up_to(&mut self, next: &OpKind) {
        // What is in calls is seen when it is emitted, and calls that are not inlined end it themselves.
        let can_be_seen = !next.is_pure() && !matches!(next, OpKind::Load | OpKind::Call(_) | OpKind::Return);
        if can_be_seen {
            self.end_speculation();
        }
    }

    pub fn end_speculation(&mut self) {
        if let Some(speculation) = &mut self.speculation {
            speculation.may_exit = false;
        }
    }

    /// Notes where the first lane's value, of `size` bytes, of those lies that were read for all lanes.
    pub fn note_read(&mut self, values: V, first: V, size: u32) {
        if let Some(speculation) = self.speculation.as_mut().filter(|speculation| speculation.may_exit) {
            speculation.read.push((values, first, size));
        }
    }

    /// The first lane's index. Where indices were read from memory it is read once more by itself: addresses that follow from it
    /// are known sooner than by taking it out of a vector. Whoever looks whether lanes count up from it sees if it has changed.
    pub fn first_index(&mut self, index: V) -> V {
        let speculation = self.speculation.as_ref().filter(|speculation| speculation.may_exit);
        let read = speculation.and_then(|known| known.read.iter().find(|(values, ..)| *values == index));
        let Some(&(_, at, size)) = read else { return self.e.extract_element(index, self.e.i32(0)) };
        self.e.load(self.e.scalar_type(self.e.type_of(index)), at, size)
    }

    /// The first lane's index, if the lanes' indices count up wherever the code goes on.
    pub fn counts_surely(&mut self, index: V, wraps: bool) -> Option<V> {
        let speculation = self.speculation.as_ref()?;
        let known = |&&(other, positive, _): &&(V, bool, V)| other == index && (positive || !wraps);
        if let Some(&(_, _, first)) = speculation.counting.iter().find(known) {
            return Some(first);
        }
        if !speculation.may_exit {
            return None;
        }
        let exit = speculation.exit;
        let first = if let Some(first) = self.cut_where_apart(index, wraps, exit) {
            first
        } else {
            let counting = self.counting(index, wraps, false);
            let on = self.e.new_block("counting");
            self.e.cond_br(counting.apart, exit, on);
            self.e.at_end(on);
            counting.first
        };
        self.speculation.as_mut()?.counting.push((index, wraps, first));
        Some(first)
    }
}

/// Whether a kernel has several accesses to elements of a few parts at indices that it reads.
pub(crate) fn reads_indices(module: &Module) -> bool {
    let Some(kernel) = module.kernel() else { return false };
    let ops = (0..kernel.block_count()).flat_map(|block| &kernel.block(Block::new(block)).ops);
    let accesses = ops.filter(|&&op| {
        let data = kernel.op(op);
        let of_parts = data.results.first().is_some_and(
            |&r| matches!(kernel.ty(r), Type::Ref(element) if crate::value::part_count(*element) > 1),
        );
        data.kind == OpKind::Elem
            && of_parts
            && data.operands.last().is_some_and(|&index| is_read(kernel, index, DEPTH))
    });
    accesses.count() >= FEWEST_ACCESSES
}

/// Whether a value was read from memory, or made of such by little arithmetic.
fn is_read(function: &Function, value: Value, depth: u32) -> bool {
    let Some(op) = function.defining_op(value) else { return false };
    match op.kind {
        OpKind::Load => true,
        OpKind::Select | OpKind::Binary(_) | OpKind::Cast => {
            depth > 0 && op.operands.iter().any(|&v| is_read(function, v, depth - 1))
        }
        _ => false,
    }
}
