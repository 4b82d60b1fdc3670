//! Which operations may run at the same time.

use crate::access::{Access, each_access};
use crate::ops::Node;

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

/// Puts operations into levels: those of one level do not touch each other's bytes, and each comes after all earlier
/// ones that it depends on.
pub fn levels(nodes: &[Node]) -> Levels {
    let mut level_of: Vec<u32> = Vec::with_capacity(nodes.len());
    let mut ends: Vec<u32> = Vec::new();
    // Per region: what was touched, and at which level.
    let mut touched: Vec<Vec<(Access, u32)>> = Vec::new();
    let mut mine: Vec<Access> = Vec::new();
    for node in nodes {
        mine.clear();
        each_access(&node.op, &mut |access| mine.push(access));
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
    use crate::ops::{Condition, Op, View};
    use inkle_ir::Type;

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
        super::levels(nodes).iter().map(<[u32]>::to_vec).collect()
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
