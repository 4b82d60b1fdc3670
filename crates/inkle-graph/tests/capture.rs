//! Capture and replay from Rust.

use std::sync::Arc;

use inkle_graph::bundle::{BundleError, SaveOptions};
use inkle_graph::capture::{self, Address, Launched};
use inkle_graph::{GraphError, Kernel, Op, RegionKind};
use inkle_ir::Type;
use inkle_runtime::record::Verdict;
use inkle_runtime::{Array, CpuFunction, Device, Loaded, Slice};

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array::from_bytes(Device::cpu(), Type::F32, &[values.len() as i64], &bytes).unwrap()
}

fn values(array: &Array) -> Vec<f32> {
    array.to_bytes().unwrap().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn part(array: &Array, start: i64, stop: i64) -> Array {
    array.slice(0, Slice { start: Some(start), stop: Some(stop), ..Slice::ALL }).unwrap()
}

#[test]
fn copies_and_fills_wait_for_the_launch_of_the_graph() {
    let (a, b) = (floats(&[1.0, 2.0]), floats(&[0.0, 0.0]));
    capture::begin(Device::cpu()).unwrap();
    b.copy_from(&a, None).unwrap();
    part(&a, 0, 1).fill(&7f32.to_le_bytes(), None).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    assert_eq!((values(&a), values(&b)), (vec![1.0, 2.0], vec![0.0, 0.0]));
    graph.launch(None).unwrap();
    assert_eq!((values(&a), values(&b)), (vec![7.0, 2.0], vec![1.0, 2.0]));
    assert_eq!(
        graph.ops().to_string(),
        "r0: 8 bytes, host, given\nr1: 8 bytes, host, given\ncopy r0+0 f32 [2] from r1+0\nfill r1+0 f32 [1] with 0000e040\n"
    );
}

#[test]
fn memory_that_others_gave_out_in_overlapping_pieces_is_one_region() {
    let whole = floats(&[0.0; 8]);
    let piece = |first: u64, count: i64| {
        let keep = Box::new(whole.clone());
        // SAFETY: the keep-alive owns the memory, and the piece lies in it.
        unsafe { Array::foreign(Device::cpu(), Type::F32, whole.address() + 4 * first, &[count], None, keep) }
            .unwrap()
    };
    capture::begin(Device::cpu()).unwrap();
    piece(4, 2).fill(&1f32.to_le_bytes(), None).unwrap();
    piece(1, 4).copy_from(&piece(3, 4), None).unwrap();
    piece(7, 1).fill(&2f32.to_le_bytes(), None).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    let sizes: Vec<u64> = graph.ops().regions.iter().map(|r| r.bytes).collect();
    assert_eq!(sizes, [24, 4], "places 1 to 6 belong together, 7 is apart");
    graph.launch(None).unwrap();
    assert_eq!(values(&whole), [0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 2.0]);
}

#[test]
fn kinds_of_regions() {
    let given = floats(&[1.0]);
    capture::begin(Device::cpu()).unwrap();
    let made = Array::zeros(Device::cpu(), Type::F32, &[1]).unwrap();
    made.copy_from(&given, None).unwrap();
    given.write_bytes(&5f32.to_le_bytes()).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    let kinds: Vec<RegionKind> = graph.ops().regions.iter().map(|r| r.kind).collect();
    assert_eq!(kinds, [RegionKind::Internal, RegionKind::Given, RegionKind::Constant]);
}

/// Adds one to the element whose address is the first argument.
unsafe extern "C" fn increment(params: *const u8, _begin: u64, _end: u64) {
    // SAFETY: the tests pass the bounds and then the address of a live, aligned `f32`.
    unsafe {
        let address = params.cast::<u64>().add(3).read();
        *std::ptr::with_exposed_provenance_mut::<f32>(address as usize) += 1.0;
    }
}

fn show(code: &Arc<Loaded>, array: &Array, address: u64) -> Result<Verdict, GraphError> {
    let kernel = || (Kernel { name: "increment".into(), params_bytes: 32, ..Kernel::default() }, None);
    let pointers = vec![Address { word: 3, array: array.clone(), reads: true, writes: true }];
    let launched = Launched {
        name: "k",
        code: code.clone(),
        kernel: &kernel,
        params: vec![1 | 1 << 32, 1 | 1 << 32, 1, address],
        pointers,
        block_dim: 256,
        max_blocks: 0,
        shared_bytes: 0,
    };
    capture::launch(Device::cpu(), None, launched)
}

#[test]
fn launches_are_relocated_when_the_graph_gets_other_memory() {
    // SAFETY: called with the blocks that `show` makes.
    let code = Arc::new(Loaded::Cpu(unsafe { CpuFunction::from_entry(increment, 32, 1) }));
    let (a, b) = (floats(&[1.0, 2.0, 3.0]), floats(&[10.0, 20.0, 30.0]));
    capture::begin(Device::cpu()).unwrap();
    let second = part(&a, 1, 2);
    assert_eq!(show(&code, &second, second.address()), Ok(Verdict::Keep));
    show(&code, &second, second.address()).unwrap();
    let elsewhere = show(&code, &second, b.address());
    assert!(matches!(elsewhere, Err(GraphError::UnknownMemory { .. })), "{elsewhere:?}");
    let graph = capture::end(Device::cpu()).unwrap();
    assert_eq!((graph.ops().kernels.len(), graph.ops().op_count()), (1, 2));
    graph.launch(None).unwrap();
    assert_eq!(values(&a), [1.0, 4.0, 3.0]);
    let view = graph.find(&a).unwrap();
    graph.rebind("a", &view, &b).unwrap();
    graph.launch(None).unwrap();
    assert_eq!((values(&a), values(&b)), (vec![1.0, 4.0, 3.0], vec![10.0, 22.0, 30.0]));
    assert_eq!((graph.find(&a), graph.find(&b)), (None, Some(view.clone())));
    assert_eq!((graph.place_of(&a), graph.place_of(&b)), (Some(view.clone()), Some(view)));
}

#[test]
fn arrays_that_become_one_keep_the_order_of_what_is_done_with_them() {
    let [a, t, y, z, out] = [1.0, 2.0, 3.0, 4.0, 5.0].map(|value| floats(&[value; 4]));
    capture::begin(Device::cpu()).unwrap();
    t.copy_from(&a, None).unwrap();
    y.copy_from(&t, None).unwrap();
    out.copy_from(&z, None).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    let whole = graph.find(&z).unwrap();
    graph.rebind("z", &whole, &y).unwrap();
    graph.launch(None).unwrap();
    assert_eq!(values(&out), [1.0; 4]);
    let saved = graph.save(&SaveOptions::default());
    assert!(
        matches!(saved, Err(GraphError::Bundle(BundleError::NotSavable { .. }))),
        "their values would part: {saved:?}"
    );
    graph.rebind("z", &whole, &a).unwrap();
    graph.rebind("z", &graph.place_of(&z).unwrap(), &z).unwrap();
    graph.launch(None).unwrap();
    assert_eq!(values(&out), [4.0; 4]);
    graph.save(&SaveOptions::default()).unwrap();
}

#[test]
fn a_graph_inside_another_and_bodies() {
    let (a, n) = (floats(&[0.0]), Array::zeros(Device::cpu(), Type::I32, &[1]).unwrap());
    let code = Arc::new(Loaded::Cpu(unsafe {
        // SAFETY: called with the blocks that `show` makes.
        CpuFunction::from_entry(increment, 32, 1)
    }));
    capture::begin(Device::cpu()).unwrap();
    show(&code, &a, a.address()).unwrap();
    let child = capture::end(Device::cpu()).unwrap();
    capture::begin(Device::cpu()).unwrap();
    capture::insert(&child).unwrap();
    capture::begin_body(Device::cpu()).unwrap();
    capture::insert(&child).unwrap();
    capture::insert(&child).unwrap();
    assert!(matches!(capture::end(Device::cpu()), Err(GraphError::InsideBody { .. })));
    let body = capture::end_body(Device::cpu()).unwrap();
    capture::push_if(&n, body, capture::Body::empty()).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    graph.launch(None).unwrap();
    assert_eq!(values(&a), [1.0]);
    n.fill(&1i32.to_le_bytes(), None).unwrap();
    graph.launch(None).unwrap();
    assert_eq!(values(&a), [4.0]);
    assert!(matches!(graph.ops().body[1].op, Op::If { .. }));
}
