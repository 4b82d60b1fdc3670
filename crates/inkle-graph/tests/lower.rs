//! Algorithms of a bundle as recorded operations.

use std::cell::RefCell;

use inkle_graph::bundle::Bundle;
use inkle_graph::{Condition, Graph, Node, Op, OpStream, Region, RegionKind, Space, View, capture};
use inkle_ir::Type;
use inkle_runtime::algorithms::Algorithm;
use inkle_runtime::{Array, Device};

fn view(region: u32, offset: u64, count: i32) -> View {
    View { region, offset, dtype: Type::F32, shape: vec![count], strides: vec![4] }
}

fn scan(input: View, output: View) -> Op {
    Op::Algorithm(Box::new(Algorithm::Scan { input, output, inclusive: true }))
}

fn bundle(body: Vec<Node>) -> Bundle {
    let region = |bytes| Region { bytes, space: Space::Device, kind: RegionKind::Given };
    let regions = vec![region(400), region(256), region(4)];
    Bundle {
        producer: "test".into(),
        notes: Vec::new(),
        memory: vec![None; regions.len()],
        stream: OpStream { regions, body, ..OpStream::default() },
        params: Vec::new(),
        code: Vec::new(),
        ir: Vec::new(),
        signer: None,
    }
}

/// Operations that say with what an algorithm was called: its output is filled, by way of other memory.
fn record(algorithm: &Algorithm<Array>) -> Result<Graph, String> {
    let Algorithm::Scan { output, .. } = algorithm else { return Err("it is no scan".to_owned()) };
    let text = |error: &dyn std::fmt::Display| error.to_string();
    capture::begin(Device::cpu()).map_err(|e| text(&e))?;
    let shape = [output.len() as i64];
    let between = Array::empty(Device::cpu(), Type::F32, &shape).map_err(|e| text(&e))?;
    between.fill(&1f32.to_le_bytes(), None).map_err(|e| text(&e))?;
    output.copy_from(&between, None).map_err(|e| text(&e))?;
    capture::end(Device::cpu()).map_err(|e| text(&e))
}

fn lines(bundle: &Bundle) -> Vec<String> {
    bundle.stream.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn what_is_recorded_takes_the_place_of_the_algorithm() {
    let loop_body = vec![Node { queue: 0, op: scan(view(0, 0, 3), view(0, 12, 3)) }];
    let condition = Condition { region: 2, offset: 0 };
    let mut bundle = bundle(vec![
        Node { queue: 3, op: scan(view(0, 80, 2), view(1, 200, 2)) },
        Node { queue: 0, op: Op::While { condition, body: loop_body } },
    ]);
    assert_eq!(bundle.algorithm_count(), 2);
    bundle.lower_algorithms(&record, None).unwrap();
    assert_eq!(bundle.algorithm_count(), 0);
    assert_eq!(
        lines(&bundle),
        [
            "r0: 400 bytes, device, given",
            "r1: 256 bytes, device, given",
            "r2: 4 bytes, device, given",
            "r3: 8 bytes, device, internal",
            "r4: 12 bytes, device, internal",
            "queue 3: fill r3+0 f32 [2] with 0000803f",
            "queue 3: copy r1+200 f32 [2] from r3+0",
            "while r2+0 {",
            "    fill r4+0 f32 [3] with 0000803f",
            "    copy r0+12 f32 [3] from r4+0",
            "}",
        ]
    );
    assert_eq!(bundle.memory, vec![None; 5]);
    assert_eq!(Bundle::from_bytes(bundle.to_bytes()).unwrap(), bundle);
}

#[test]
fn arrays_lie_to_each_other_as_in_the_graph() {
    let mut bundle = bundle(vec![Node { queue: 0, op: scan(view(0, 100, 5), view(0, 132, 5)) }]);
    let seen = RefCell::new(Vec::new());
    let record = |algorithm: &Algorithm<Array>| {
        algorithm.each(|array, _| seen.borrow_mut().push((array.address(), array.shape().to_vec())));
        record(algorithm)
    };
    bundle.lower_algorithms(&record, None).unwrap();
    let seen = seen.into_inner();
    assert_eq!(seen[1].0 - seen[0].0, 32);
    assert_eq!((seen[0].0 % 64, &seen[0].1), (100 % 64, &vec![5]));
}

#[test]
fn an_algorithm_that_cannot_be_recorded_is_named() {
    let (values, output) = (view(0, 0, 4), view(1, 0, 1));
    let reduction = inkle_runtime::algorithms::Reduction { axis: None, count: None };
    let sum = Op::Algorithm(Box::new(Algorithm::Sum { values, output, reduction }));
    let error = bundle(vec![Node { queue: 0, op: sum }]).lower_algorithms(&record, None).unwrap_err();
    assert_eq!(error.to_string(), "array_sum() as kernels (it is no scan) cannot be part of a graph");
}
