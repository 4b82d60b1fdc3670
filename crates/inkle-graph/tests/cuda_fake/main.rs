//! Graphs of a GPU over a driver made of host memory: what is captured, what the driver's graph does, and that the graph
//! made of the stream does the same.

#[path = "../../../inkle-runtime/tests/fake_driver/driver.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod driver;
mod functions;
mod graphs;
#[path = "../support/functions.rs"]
mod support;
#[path = "../support/warp.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod warp;

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};

use inkle_graph::bundle::{Anew, Bundle, CodeTarget, Compiler, SaveOptions};
use inkle_graph::capture::{self, Address, CudaOptions, Launched};
use inkle_graph::{CompiledCode, Graph, GraphError, Kernel, KernelSource, KernelUse, Op};
use inkle_ir::{Scalar, Type};
use inkle_runtime::algorithms::scan;
use inkle_runtime::record::Verdict;
use inkle_runtime::{Array, CudaFunction, CudaModule, Device, LaunchConfig, Loaded, Stream, collect_retired};

fn turn() -> (MutexGuard<'static, ()>, Device) {
    static TURN: Mutex<()> = Mutex::new(());
    let guard = TURN.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: the fake's functions have the driver's signatures.
    unsafe { inkle_runtime::cuda::install_driver(&graphs::lookup) };
    driver::clear_contexts();
    collect_retired();
    graphs::reset();
    (guard, Device::cuda(0).unwrap())
}

fn ints(device: Device, values: &[i32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array::from_bytes(device, Type::I32, &[values.len() as i64], &bytes).unwrap()
}

fn values(array: &Array) -> Vec<i32> {
    array.to_bytes().unwrap().chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn code(device: Device, name: &str) -> Arc<Loaded> {
    let module = CudaModule::load(device, b"// PTX").unwrap();
    let function = CudaFunction::new(module, name, 32).unwrap();
    Arc::new(Loaded::Cuda { function, lanes: 1 })
}

/// Shows a launch to the capture and, as a launch does, makes it unless it was kept.
fn launch(code: &Arc<Loaded>, array: &Array, stream: &Stream) {
    launch_from(code, array, stream, None);
}

fn launch_from(code: &Arc<Loaded>, array: &Array, stream: &Stream, source: Option<Arc<dyn KernelSource>>) {
    let kernel = || (Kernel { name: "kernel".into(), params_bytes: 32, ..Kernel::default() }, source.clone());
    let params = vec![1 | 1 << 32, 1 | 1 << 32, 1, array.address()];
    let pointers = vec![Address { word: 3, array: array.clone(), reads: true, writes: true }];
    let launched = Launched {
        name: "k",
        code: code.clone(),
        kernel: &kernel,
        params: params.clone(),
        pointers,
        block_dim: 64,
        max_blocks: 0,
        shared_bytes: 0,
    };
    if capture::launch(array.device(), Some(stream), launched).unwrap() == Verdict::Run {
        let Loaded::Cuda { function, .. } = &**code else { panic!("code of a GPU") };
        let config = LaunchConfig { block_dim: 64, ..LaunchConfig::new(1) };
        function.launch(stream, &params, &config).unwrap();
    }
}

/// The graph as the driver captured it, and as it is made of the stream after its arrays were given back to it.
fn both_ways(graph: &Graph, array: &Array, check: &dyn Fn(&str)) {
    check("as captured");
    let view = graph.find(array).unwrap();
    graph.rebind("array", &view, array).unwrap();
    check("as made of the stream");
}

#[test]
fn launches_copies_and_fills_are_captured_and_run_when_the_graph_does() {
    let (_turn, device) = turn();
    let (a, b) = (ints(device, &[0, 5]), ints(device, &[0, 0]));
    let add = code(device, "add_one");
    let stream = device.stream().unwrap();
    capture::begin(device).unwrap();
    assert!(stream.is_capturing().unwrap());
    a.fill(&7i32.to_le_bytes(), None).unwrap();
    launch(&add, &a, &stream);
    b.copy_from(&a, None).unwrap();
    let graph = capture::end(device).unwrap();
    assert!(!stream.is_capturing().unwrap());
    assert_eq!((values(&a), values(&b)), (vec![0, 5], vec![0, 0]));
    both_ways(&graph, &a, &|how| {
        b.zero(None).unwrap();
        graph.launch(None).unwrap();
        assert_eq!((values(&a), values(&b)), (vec![8, 7], vec![8, 7]), "{how}");
    });
    assert_eq!(graph.with_cuda_graph(|g| g.node_count()), Ok(Some(3)));
}

#[test]
fn memory_made_inside_lies_outside_the_driver_s_graph() {
    let (_turn, device) = turn();
    let out = ints(device, &[0, 0]);
    capture::begin(device).unwrap();
    let inside = Array::zeros(device, Type::I32, &[2]).unwrap();
    inside.fill(&3i32.to_le_bytes(), None).unwrap();
    out.copy_from(&inside, None).unwrap();
    let address = inside.address();
    drop(inside);
    let graph = capture::end(device).unwrap();
    graph.launch(None).unwrap();
    assert_eq!(values(&out), [3, 3]);
    assert!(driver::state().blocks.contains_key(&address));
    drop(graph);
    device.synchronize().unwrap();
    collect_retired();
    assert!(!driver::state().blocks.contains_key(&address), "it goes with the graph");
    assert_eq!(graphs::alive(), (0, 0));
}

#[test]
fn conditions_and_loops_are_nodes_of_the_driver() {
    let (_turn, device) = turn();
    let (count, total, flag) = (ints(device, &[0]), ints(device, &[0]), ints(device, &[0]));
    let (add, take) = (code(device, "add_one"), code(device, "take_one"));
    let stream = device.stream().unwrap();
    capture::begin(device).unwrap();
    capture::begin_body(device).unwrap();
    launch(&add, &total, &stream);
    launch(&take, &count, &stream);
    let body = capture::end_body(device).unwrap();
    capture::push_while(&count, body).unwrap();
    let branch = |value: i32| {
        capture::begin_body(device).unwrap();
        // What decides changes in the branch: the other one must not run for that.
        flag.fill(&value.to_le_bytes(), None).unwrap();
        launch(&add, &total, &stream);
        capture::end_body(device).unwrap()
    };
    let (yes, no) = (branch(0), branch(0));
    capture::push_if(&flag, yes, no).unwrap();
    let graph = capture::end(device).unwrap();
    assert_eq!(values(&total), [0]);
    both_ways(&graph, &total, &|how| {
        for (rounds, decides) in [(3, 1), (0, 0)] {
            total.zero(None).unwrap();
            count.fill(&i32::to_le_bytes(rounds), None).unwrap();
            flag.fill(&i32::to_le_bytes(decides), None).unwrap();
            graph.launch(None).unwrap();
            assert_eq!((values(&total), values(&count)), (vec![rounds + 1], vec![0]), "{how}");
        }
    });
}

#[test]
fn streams_that_come_to_wait_take_part_and_others_do_not() {
    let (_turn, device) = turn();
    let (a, b, apart) = (ints(device, &[0]), ints(device, &[0]), ints(device, &[0]));
    let add = code(device, "add_one");
    let main = device.stream().unwrap();
    let (side, other) = (Stream::new(device, 0).unwrap(), Stream::new(device, 0).unwrap());
    capture::begin(device).unwrap();
    launch(&add, &a, &main);
    side.wait_stream(&main).unwrap();
    b.copy_from(&a, Some(&side)).unwrap();
    launch(&add, &b, &side);
    apart.fill(&9i32.to_le_bytes(), Some(&other)).unwrap();
    main.wait_stream(&side).unwrap();
    launch(&add, &b, &main);
    let graph = capture::end(device).unwrap();
    assert_eq!(values(&apart), [9], "the other stream ran at once");
    let queues: Vec<u32> = graph.ops().body.iter().map(|node| node.queue).collect();
    assert_eq!(queues, [0, 0, 1, 1, 1, 1, 0, 0]);
    both_ways(&graph, &a, &|how| {
        a.zero(None).unwrap();
        graph.launch(None).unwrap();
        assert_eq!((values(&a), values(&b)), (vec![1], vec![3]), "{how}");
    });
}

#[test]
fn a_graph_becomes_part_of_another_and_of_a_capture_of_somebody_else() {
    let (_turn, device) = turn();
    let (a, n) = (ints(device, &[0]), ints(device, &[1]));
    let add = code(device, "add_one");
    let stream = device.stream().unwrap();
    capture::begin(device).unwrap();
    capture::begin_body(device).unwrap();
    launch(&add, &a, &stream);
    let body = capture::end_body(device).unwrap();
    capture::push_if(&n, body, capture::Body::empty()).unwrap();
    let child = capture::end(device).unwrap();
    capture::begin(device).unwrap();
    capture::insert(&child).unwrap();
    capture::insert(&child).unwrap();
    let parent = capture::end(device).unwrap();
    parent.launch(None).unwrap();
    assert_eq!(values(&a), [2]);
    // PyTorch's, for one.
    let theirs = Stream::new(device, 0).unwrap();
    theirs.begin_capture(inkle_runtime::cuda::CaptureMode::Global).unwrap();
    child.launch(Some(&theirs)).unwrap();
    let captured = theirs.end_capture().unwrap();
    assert_eq!(values(&a), [2]);
    captured.launch(&theirs).unwrap();
    assert_eq!(values(&a), [3]);
}

#[test]
fn a_capture_that_somebody_else_began_is_recorded_and_left_to_them() {
    let (_turn, device) = turn();
    let a = ints(device, &[0]);
    let add = code(device, "add_one");
    let theirs = Stream::new(device, 0).unwrap();
    theirs.begin_capture(inkle_runtime::cuda::CaptureMode::Global).unwrap();
    let options = CudaOptions { stream: Some(theirs.clone()), external: true, ..CudaOptions::default() };
    capture::begin_cuda(device, options).unwrap();
    launch(&add, &a, &theirs);
    let ours = capture::end(device).unwrap();
    assert!(theirs.is_capturing().unwrap());
    let captured = theirs.end_capture().unwrap();
    captured.launch(&theirs).unwrap();
    assert_eq!(values(&a), [1]);
    ours.launch(None).unwrap();
    assert_eq!(values(&a), [2]);
}

#[test]
fn work_of_others_is_in_the_graph_but_not_in_what_is_saved() {
    let (_turn, device) = turn();
    let (a, b) = (ints(device, &[0]), ints(device, &[0]));
    let stream = device.stream().unwrap();
    capture::begin(device).unwrap();
    a.fill(&1i32.to_le_bytes(), None).unwrap();
    // Another library queues work on the stream.
    let recorder = inkle_runtime::record::set_recorder(None);
    b.fill(&2i32.to_le_bytes(), Some(&stream)).unwrap();
    inkle_runtime::record::set_recorder(recorder);
    let graph = capture::end(device).unwrap();
    graph.launch(None).unwrap();
    assert_eq!((values(&a), values(&b)), (vec![1], vec![2]));
    let view = graph.find(&a).unwrap();
    for refused in [graph.rebind("a", &view, &b), graph.save(&Default::default()).map(drop)] {
        assert!(matches!(&refused, Err(GraphError::NotCapturable { .. })), "{refused:?}");
    }
}

#[test]
fn a_pause_runs_what_comes_and_goes_on_in_the_same_graph() {
    let (_turn, device) = turn();
    let a = ints(device, &[0, 0]);
    let add = code(device, "add_one");
    let stream = device.stream().unwrap();
    capture::begin(device).unwrap();
    launch(&add, &a, &stream);
    let paused = capture::pause(device).unwrap();
    assert!(!stream.is_capturing().unwrap());
    a.fill(&5i32.to_le_bytes(), None).unwrap();
    assert_eq!(values(&a), [5, 5]);
    capture::resume(paused).unwrap();
    launch(&add, &a, &stream);
    let graph = capture::end(device).unwrap();
    graph.launch(None).unwrap();
    assert_eq!(values(&a), [7, 5]);
    assert!(
        matches!(graph.ops().body[..], [ref one, ref two] if matches!((&one.op, &two.op), (Op::Launch(_), Op::Launch(_))))
    );
}

#[test]
fn algorithms_that_go_through_host_memory_are_refused() {
    let (_turn, device) = turn();
    let a = ints(device, &[1, 2]);
    capture::begin(device).unwrap();
    let error = scan(&a, &a, true).unwrap_err().to_string();
    capture::abandon(device);
    assert!(error.contains("array_scan"), "{error}");
    scan(&a, &a, true).unwrap();
    assert_eq!(values(&a), [1, 3]);
}

#[test]
fn an_abandoned_capture_leaves_the_stream_as_it_was() {
    let (_turn, device) = turn();
    let a = ints(device, &[0]);
    capture::begin(device).unwrap();
    assert!(matches!(capture::begin(device), Err(GraphError::AlreadyCapturing { .. })));
    a.fill(&1i32.to_le_bytes(), None).unwrap();
    capture::abandon(device);
    a.fill(&2i32.to_le_bytes(), None).unwrap();
    assert_eq!(values(&a), [2]);
    assert_eq!(graphs::alive(), (0, 0));
}

#[test]
fn a_file_of_warp_s_runs() {
    let (_turn, device) = turn();
    let mut file = warp::WarpFile::new(18);
    file.kernels = vec!["add_one", "take_one"];
    file.params = vec![("a", 1), ("rounds", 2)];
    file.regions = vec![(1, [7i32.to_le_bytes(), [0; 4]].concat()), (2, 2i32.to_le_bytes().to_vec())];
    let spread = warp::Spread { block_dim: 32, ..warp::Spread::over(100) };
    let add = warp::launch("add_one", spread, &[warp::Argument::array(1, 4, 1)]);
    let take = warp::launch("take_one", spread, &[warp::Argument::array(2, 0, 1)]);
    file.operations = vec![add.clone(), warp::condition(true, 2, &[add, take], &[])];
    let bundle = Bundle::from_bytes_and_code(file.bytes(), &|_| Ok(file.code.clone())).unwrap();
    let graph = bundle.load(device, None).unwrap();
    let view = |name: &str| graph.param(name).unwrap().view.clone();
    for (rounds, expected) in [(2, 3), (0, 1)] {
        // Of a parameter only its size is known: whatever has as many bytes may be copied to and from it.
        graph.write("a", &view("a"), &ints(device, &[7, 0]), None).unwrap();
        graph.write("rounds", &view("rounds"), &ints(Device::cpu(), &[rounds]), None).unwrap();
        graph.launch(None).unwrap();
        let out = ints(device, &[0, 0]);
        graph.read("a", &view("a"), &out, None).unwrap();
        assert_eq!(values(&out), [7, expected]);
    }
    let short = graph.write("a", &view("a"), &ints(device, &[7]), None).unwrap_err().to_string();
    assert!(short.contains("`a`"), "{short}");
}

#[test]
fn the_driver_s_graph_is_made_once_a_launch_or_somebody_else_wants_it() {
    let (_turn, device) = turn();
    let mut file = warp::WarpFile::new(18);
    file.kernels = vec!["add_one"];
    file.params = vec![("a", 1)];
    file.regions = vec![(1, 0i32.to_le_bytes().to_vec())];
    let spread = warp::Spread { block_dim: 32, ..warp::Spread::over(100) };
    file.operations = vec![warp::launch("add_one", spread, &[warp::Argument::array(1, 0, 1)])];
    let load = || {
        let bundle = Bundle::from_bytes_and_code(file.bytes(), &|_| Ok(file.code.clone())).unwrap();
        bundle.load(device, None).unwrap()
    };
    let made = || graphs::alive().1;
    let (graph, before) = (load(), made());
    let view = graph.param("a").unwrap().view.clone();
    // Of a parameter of such a file only its size is known.
    let bytes =
        |value: i32| Array::from_bytes(device, Type::Scalar(Scalar::U8), &[4], &value.to_le_bytes()).unwrap();
    let (first, second) = (bytes(5), bytes(7));
    graph.rebind("a", &view, &first).unwrap();
    graph.rebind("a", &view, &second).unwrap();
    assert_eq!(made(), before, "nobody launched it");
    graph.launch(None).unwrap();
    graph.launch(None).unwrap();
    assert_eq!((made(), values(&first), values(&second)), (before + 1, vec![5], vec![9]));
    graph.rebind("a", &view, &first).unwrap();
    assert_eq!(made(), before, "the old one is gone");
    graph.prepare().unwrap();
    graph.prepare().unwrap();
    assert_eq!((made(), values(&first)), (before + 1, vec![5]));
    graph.launch(None).unwrap();
    assert_eq!((made(), values(&first)), (before + 1, vec![6]));
    // Two threads that come first make it together.
    let shared = load();
    let view = shared.param("a").unwrap().view.clone();
    shared.rebind("a", &view, &second).unwrap();
    std::thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(|| shared.launch(None).unwrap())));
    });
    assert_eq!((made(), values(&second)), (before + 2, vec![11]));
}

/// Compiles to text for GPUs, and says what it compiles for.
struct Text;

impl KernelSource for Text {
    fn ir(&self) -> String {
        "the kernel".into()
    }

    fn compile(&self, target: CodeTarget, _: &KernelUse) -> Result<CompiledCode, String> {
        match target.is_cuda() {
            true => Ok(CompiledCode { symbol: "add_one".into(), lanes: 1, image: b"// PTX".to_vec() }),
            false => Err("there is no CPU compiler here".into()),
        }
    }
}

#[test]
fn code_is_made_anew_of_the_ir_where_that_is_better_than_what_is_in_the_file() {
    let (_turn, device) = turn();
    let (array, add) = (ints(device, &[0]), code(device, "add_one"));
    capture::begin(device).unwrap();
    launch_from(&add, &array, &device.stream().unwrap(), Some(Arc::new(Text)));
    let graph = capture::end(device).unwrap();
    let arch = device.arch();
    let named = vec![CodeTarget::Cubin { arch }, CodeTarget::Ptx { arch }];
    let bundle = graph.save(&SaveOptions { targets: named.clone(), ..SaveOptions::default() }).unwrap();
    let load = |kept: &[CodeTarget], when: Anew, works: bool| {
        let mut bundle = bundle.clone();
        bundle.code.retain(|entry| kept.contains(&entry.target));
        let asked = Cell::new(0);
        let recompile = |_: &Kernel, _: &KernelUse, ir: &str, on: Device| {
            assert_eq!((ir, on), ("the kernel", device));
            asked.set(asked.get() + 1);
            if works { Ok(add.clone()) } else { Err("no compiler".to_owned()) }
        };
        let outcome = bundle.load(device, Some(Compiler { recompile: &recompile, when }));
        (asked.get(), outcome.is_ok())
    };
    let (machine, text, old) = (named[0], named[1], CodeTarget::Ptx { arch: 75 });
    assert!(arch > 75, "the driver's GPU is newer than the oldest");
    for (kept, asks) in [(vec![old, machine], 0), (vec![old, text], 0), (vec![old], 1), (vec![], 1)] {
        assert_eq!(load(&kept, Anew::WhenBetter, true), (asks, true), "{kept:?}");
        assert_eq!(load(&kept, Anew::WhenBetter, false), (asks, !kept.is_empty()), "{kept:?}");
        assert_eq!(load(&kept, Anew::Always, true), (1, true), "{kept:?}");
        assert_eq!(load(&kept, Anew::Always, false), (1, false), "{kept:?}");
        assert_eq!(load(&kept, Anew::Never, true), (0, !kept.is_empty()), "{kept:?}");
    }
}
