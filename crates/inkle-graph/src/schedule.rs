//! Which operations may run at the same time.

use crate::access::{Access, accesses};
use crate::ops::Node;

/// Puts operations into levels: those of one level do not touch each other's bytes, and each comes after all earlier
/// ones that it depends on. Gives the indices of the nodes, level by level, in recorded order within a level.
pub fn levels(nodes: &[Node]) -> Vec<Vec<usize>> {
    let mut levels: Vec<Vec<usize>> = Vec::new();
    // Per region: what was touched, and at which level.
    let mut touched: Vec<Vec<(Access, usize)>> = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let mine = accesses(&node.op);
        let mut level = 0;
        for access in &mine {
            let Some(others) = touched.get(access.region as usize) else { continue };
            for (other, at) in others {
                if access.conflicts(other) {
                    level = level.max(at + 1);
                }
            }
        }
        for access in mine {
            let region = access.region as usize;
            if touched.len() <= region {
                touched.resize_with(region + 1, Vec::new);
            }
            let others = &mut touched[region];
            // What is later than everything it covers, and conflicts with it, stands for it.
            others.retain(|(other, _)| {
                !(access.writes && access.span.start <= other.span.start && other.span.end <= access.span.end)
            });
            others.push((access, level));
        }
        if levels.len() <= level {
            levels.resize_with(level + 1, Vec::new);
        }
        levels[level].push(index);
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Op, View};
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
