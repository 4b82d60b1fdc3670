//! Which bytes an operation touches.

use std::ops::Range;

use crate::ops::{Op, View};

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
    fn of_view(view: &View, writes: bool) -> Access {
        Access {
            region: view.region,
            span: view.span().unwrap_or(0..u64::MAX),
            reads: !writes,
            writes,
            overwrites: writes && view.is_dense(),
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

/// What an operation touches, itself and through what it owns, in no particular order.
pub fn accesses(op: &Op) -> Vec<Access> {
    let mut found = Vec::new();
    collect(op, false, &mut found);
    found
}

fn collect(op: &Op, may_not_run: bool, found: &mut Vec<Access>) {
    let start = found.len();
    match op {
        Op::Launch(launch) => found.extend(launch.pointers.iter().map(|pointer| Access {
            region: pointer.region,
            span: pointer.span.clone(),
            reads: pointer.reads,
            writes: pointer.writes,
            overwrites: false,
        })),
        Op::Copy { dst, src } => found.extend([Access::of_view(src, false), Access::of_view(dst, true)]),
        Op::Fill { dst, .. } => found.push(Access::of_view(dst, true)),
        // How much of what it may write an algorithm writes depends on the data.
        Op::Algorithm(algorithm) => algorithm.each(|view, writes| {
            found.push(Access { reads: true, overwrites: false, ..Access::of_view(view, writes) });
        }),
        Op::If { condition, on_true, on_false } => {
            found.push(Access {
                region: condition.region,
                span: condition.offset..condition.offset + 4,
                reads: true,
                writes: false,
                overwrites: false,
            });
            on_true.iter().chain(on_false).for_each(|node| collect(&node.op, true, found));
        }
        Op::While { condition, body } => {
            found.push(Access {
                region: condition.region,
                span: condition.offset..condition.offset + 4,
                reads: true,
                writes: false,
                overwrites: false,
            });
            body.iter().for_each(|node| collect(&node.op, true, found));
        }
        Op::Record { .. } | Op::Wait { .. } => {}
    }
    if may_not_run {
        found[start..].iter_mut().for_each(|access| access.overwrites = false);
    }
}
