//! Which operations may run at the same time.

use std::ops::Range;

use crate::access::{Access, each_access};
use crate::ops::{Node, Region};
use crate::replay::Bound;

/// Operations in levels.
#[derive(Debug, Default)]
pub struct Levels {
    /// The indices of the nodes, level by level, in recorded order within a level.
    order: Vec<u32>,
    /// Where each level ends in `order`.
    ends: Vec<u32>,
}

impl Levels {
    /// The levels, first to last.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.order[start as usize..*end as usize])
    }
}

/// Which regions have memory in common, as they may when a graph gets other arrays than those that were captured.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overlaps {
    /// For each region, the one that stands for all that it overlaps with, directly or through others, and how far behind the first
    /// of these it begins, bytes; empty if there are no overlaps.
    places: Vec<(u32, u64)>,
}

impl Overlaps {
    /// Those of regions with this memory.
    pub fn of(regions: &[Region], memory: &[Bound]) -> Overlaps {
        let mut extents: Vec<(Range<u64>, usize)> =
            memory.iter().zip(regions).map(|(bound, region)| bound.extent(region.bytes)).zip(0..).collect();
        extents.retain(|(extent, _)| !extent.is_empty());
        extents.sort_unstable_by_key(|(extent, _)| extent.start);
        let mut of = Vec::from_iter(0..regions.len());
        let mut joined = (0, 0);
        for (extent, region) in &extents {
            joined = match joined {
                (end, first) if extent.start < end => {
                    of[*region] = first;
                    (end.max(extent.end), first)
                }
                _ => (extent.end, *region),
            };
        }
        if of.iter().zip(0..).all(|(&first, region)| first == region) {
            return Overlaps::default();
        }
        let mut bases: Vec<u64> = memory.iter().map(|bound| bound.base).collect();
        for (&first, bound) in of.iter().zip(memory) {
            bases[first] = bases[first].min(bound.base);
        }
        let places = of.iter().zip(memory).map(|(&first, bound)| (first as u32, bound.base - bases[first]));
        Overlaps { places: places.collect() }
    }

    /// Whether there are any.
    pub fn exist(&self) -> bool {
        !self.places.is_empty()
    }

    /// An access as one to the region that stands for all that overlap.
    fn place(&self, access: Access) -> Access {
        let Some(&(region, behind)) = self.places.get(access.region as usize) else { return access };
        let span = access.span.start.saturating_add(behind)..access.span.end.saturating_add(behind);
        Access { region, span, ..access }
    }
}

/// Puts operations into levels: those of one level do not touch each other's bytes, and each comes after all earlier
/// ones that it depends on.
pub fn levels(nodes: &[Node], overlaps: &Overlaps) -> Levels {
    let mut level_of: Vec<u32> = Vec::with_capacity(nodes.len());
    let mut ends: Vec<u32> = Vec::new();
    // Per region: what was touched, and at which level.
    let mut touched: Vec<Vec<(Access, u32)>> = Vec::new();
    let mut mine: Vec<Access> = Vec::new();
    for node in nodes {
        mine.clear();
        each_access(&node.op, &mut |access| mine.push(overlaps.place(access)));
        let mut level = 0;
        for access in &mine {
            let Some(others) = touched.get(access.region as usize) else { continue };
            for (other, at) in others {
                if access.conflicts(other) {
                    level = level.max(at + 1);
                }
            }
        }
        for access in mine.drain(..) {
            let region = access.region as usize;
            if touched.len() <= region {
                touched.resize_with(region + 1, Vec::new);
            }
            touch(&mut touched[region], access, level);
        }
        level_of.push(level);
        if ends.len() <= level as usize {
            ends.resize(level as usize + 1, 0);
        }
        ends[level as usize] += 1;
    }
    // Sizes become starts, which become ends as the levels fill up.
    let mut sum = 0;
    for end in &mut ends {
        sum += std::mem::replace(end, sum);
    }
    let mut order = vec![0; nodes.len()];
    for (node, level) in level_of.into_iter().enumerate() {
        let place = &mut ends[level as usize];
        order[*place as usize] = node as u32;
        *place += 1;
    }
    Levels { order, ends }
}

/// Notes an access that conflicts with none of its level or a later one.
fn touch(others: &mut Vec<(Access, u32)>, access: Access, level: u32) {
    if access.writes {
        // What is later than everything it covers, and conflicts with it, stands for it.
        others.retain(|(other, _)| other.span.start < access.span.start || access.span.end < other.span.end);
    } else if let Some((_, at)) =
        others.iter_mut().find(|(other, _)| !other.writes && other.span == access.span)
    {
        // Readers of the same bytes hold up the same writers.
        *at = level.max(*at);
        return;
    }
    others.push((access, level));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Condition, Op, RegionKind, Space, View};
    use inkle_ir::Type;
    use inkle_runtime::{Allocation, Device};

    fn view(region: u32, offset: u64, count: i32) -> View {
        View { region, offset, dtype: Type::F32, shape: vec![count], strides: vec![4] }
    }

    fn fill(dst: View) -> Node {
        Node { queue: 0, op: Op::Fill { dst, pattern: Box::new([0; 4]) } }
    }

    fn copy(dst: View, src: View) -> Node {
        Node { queue: 0, op: Op::Copy { dst, src } }
    }

    fn levels(nodes: &[Node]) -> Vec<Vec<u32>> {
        super::levels(nodes, &Overlaps::default()).iter().map(<[u32]>::to_vec).collect()
    }

    #[test]
    fn regions_with_memory_in_common_are_one() {
        let memory = Allocation::new(Device::cpu(), 48).expect("memory");
        let at = |offset| Bound { memory: memory.clone(), base: memory.address() + offset };
        let region = |bytes| Region { bytes, space: Space::Host, kind: RegionKind::Given };
        let regions = [region(16), region(16), region(16), region(0)];
        let nodes = [fill(view(0, 0, 4)), fill(view(1, 0, 2)), copy(view(2, 0, 1), view(1, 12, 1))];
        let of = |places: [u64; 4]| {
            let overlaps = Overlaps::of(&regions, &places.map(at));
            super::levels(&nodes, &overlaps).iter().map(<[u32]>::to_vec).collect::<Vec<_>>()
        };
        assert_eq!(of([16, 0, 32, 0]), [vec![0, 1, 2]]);
        assert_eq!(of([0, 0, 32, 0]), [vec![0], vec![1, 2]]);
        assert_eq!(of([12, 0, 32, 0]), [vec![0, 1], vec![2]], "what the first writes is copied");
        assert_eq!(of([0, 16, 20, 0]), [vec![0, 1], vec![2]], "what the second writes is written again");
        assert_eq!(of([16, 0, 32, 20]), [vec![0, 1, 2]], "a region without bytes is nowhere");
        assert_eq!(of([40, 0, 44, 0]), [vec![0, 1], vec![2]], "regions may end outside of their memory");
    }

    #[test]
    fn what_shares_no_bytes_shares_a_level() {
        let nodes = [
            fill(view(0, 0, 4)),
            fill(view(0, 16, 4)),
            fill(view(1, 0, 4)),
            copy(view(1, 8, 1), view(0, 0, 1)),
        ];
        assert_eq!(levels(&nodes), [vec![0, 1, 2], vec![3]]);
    }

    #[test]
    fn readers_share_and_a_writer_waits_for_all_of_them() {
        let nodes = [
            fill(view(0, 0, 4)),
            copy(view(1, 0, 4), view(0, 0, 4)),
            copy(view(2, 0, 4), view(0, 0, 4)),
            copy(view(3, 0, 4), view(2, 0, 4)),
            fill(view(0, 0, 4)),
            copy(view(4, 0, 2), view(0, 8, 2)),
        ];
        assert_eq!(levels(&nodes), [vec![0], vec![1, 2], vec![3, 4], vec![5]]);
    }

    #[test]
    fn a_later_reader_holds_up_a_writer_as_the_first_one_does() {
        let nodes = [
            copy(view(1, 0, 4), view(0, 0, 4)),
            copy(view(2, 0, 4), view(1, 0, 4)),
            Node {
                queue: 0,
                op: Op::If {
                    condition: Condition { region: 2, offset: 0 },
                    on_true: vec![copy(view(3, 0, 4), view(0, 0, 4))],
                    on_false: Vec::new(),
                },
            },
            fill(view(0, 0, 4)),
        ];
        assert_eq!(levels(&nodes), [[0], [1], [2], [3]]);
    }

    #[test]
    fn a_part_that_was_written_before_the_whole_is_still_ordered() {
        let nodes = [
            fill(view(0, 0, 8)),
            fill(view(0, 0, 2)),
            copy(view(1, 0, 1), view(0, 28, 1)),
            fill(view(0, 0, 8)),
        ];
        assert_eq!(levels(&nodes), [vec![0], vec![1, 2], vec![3]]);
    }
}
