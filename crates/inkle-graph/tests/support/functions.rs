//! A bundle for tests of functions.

use inkle_graph::bundle::{Blob, Bundle, Direction, Param};
use inkle_graph::{Node, Op, OpStream, Region, RegionKind, Space, View};
use inkle_ir::Type;

fn two(region: u32) -> View {
    View { region, offset: 0, dtype: Type::I32, shape: vec![2], strides: vec![4] }
}

/// A graph that gives what its state is, (3, 4) in the file, and replaces it by its input.
pub fn bundle() -> Bundle {
    let op = |dst, src| Node { queue: 0, op: Op::Copy { dst: two(dst), src: two(src) } };
    let region = Region { bytes: 8, space: Space::Host, kind: RegionKind::Given };
    let param = |name: &str, direction, region| Param { name: name.into(), direction, view: two(region) };
    let contents: Vec<u8> = [3i32, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
    Bundle {
        producer: "test".into(),
        notes: Vec::new(),
        stream: OpStream { regions: vec![region; 3], body: vec![op(2, 1), op(1, 0)], ..OpStream::default() },
        params: vec![
            param("x", Direction::Input, 0),
            param("before", Direction::Output, 2),
            param("now", Direction::Output, 1),
        ],
        code: Vec::new(),
        ir: Vec::new(),
        memory: vec![None, Some(Blob::from(contents)), None],
        signer: None,
    }
}
