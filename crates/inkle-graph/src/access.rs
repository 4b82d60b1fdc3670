//! Which bytes an operation touches.

use std::ops::Range;

use crate::ops::{Condition, Node, Op, View};

/// Bytes of a region that an operation may touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The region.
    pub region: u32,
    /// The bytes.
    pub span: Range<u64>,
    /// Whether they may be read.
    pub reads: bool,
    /// Whether they may be written.
    pub writes: bool,
    /// Whether all of them are written, whatever they were.
    pub overwrites: bool,
}

impl Access {
    /// All bytes that a view may reach.
    pub(crate) fn of_view(view: &View, writes: bool) -> Access {
        Access {
            region: view.region,
            span: view.span().unwrap_or(0..u64::MAX),
            reads: !writes,
            writes,
            overwrites: writes && view.is_dense(),
        }
    }

    fn of_condition(condition: &Condition) -> Access {
        Access {
            region: condition.region,
            span: condition.offset..condition.offset.saturating_add(4),
            reads: true,
            writes: false,
            overwrites: false,
        }
    }

    /// Whether the order of the two matters.
    pub fn conflicts(&self, other: &Access) -> bool {
        self.region == other.region
            && (self.writes || other.writes)
            && self.span.start < other.span.end
            && other.span.start < self.span.end
    }
}

/// Calls `visit` with what an operation touches, itself and through what it owns, in no particular order.
pub fn each_access(op: &Op, visit: &mut dyn FnMut(Access)) {
    match op {
        Op::Launch(launch) => launch.pointers.iter().for_each(|pointer| {
            visit(Access {
                region: pointer.region,
                span: pointer.span.clone(),
                reads: pointer.reads,
                writes: pointer.writes,
                overwrites: false,
            });
        }),
        Op::Copy { dst, src } => {
            visit(Access::of_view(src, false));
            visit(Access::of_view(dst, true));
        }
        Op::Fill { dst, .. } => visit(Access::of_view(dst, true)),
        // How much of what it may write an algorithm writes depends on the data.
        Op::Algorithm(algorithm) => algorithm.each(|view, writes| {
            visit(Access { reads: true, overwrites: false, ..Access::of_view(view, writes) });
        }),
        Op::If { condition, on_true, on_false } => {
            visit(Access::of_condition(condition));
            on_true.iter().chain(on_false).for_each(|node| each_access_that_may_not_be(node, visit));
        }
        Op::While { condition, body } => {
            visit(Access::of_condition(condition));
            body.iter().for_each(|node| each_access_that_may_not_be(node, visit));
        }
        Op::Record { .. } | Op::Wait { .. } => {}
    }
}

fn each_access_that_may_not_be(node: &Node, visit: &mut dyn FnMut(Access)) {
    each_access(&node.op, &mut |access| visit(Access { overwrites: false, ..access }));
}

/// What an operation touches, as [`each_access`] tells it.
pub fn accesses(op: &Op) -> Vec<Access> {
    let mut found = Vec::new();
    each_access(op, &mut |access| found.push(access));
    found
}
