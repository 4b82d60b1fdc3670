//! The part of the fake driver that captures: streams put nodes into graphs, and launches of graphs run them.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard};

use super::driver;

#[derive(Clone, Debug)]
enum Work {
    Copy { to: u64, from: u64, bytes: usize },
    Set { to: u64, word: Vec<u8>, count: usize },
    Kernel { name: String, params: Vec<u8> },
    Conditional { handle: u64, repeats: bool, body: usize },
}

#[derive(Clone, Debug)]
struct Node {
    work: Work,
    waits: Vec<usize>,
}

#[derive(Default)]
struct Capture {
    graph: usize,
    waits: Vec<usize>,
    /// The stream on which it was begun.
    origin: usize,
}

#[derive(Default)]
pub struct Graphs {
    graphs: BTreeMap<usize, Vec<Node>>,
    captures: BTreeMap<usize, Capture>,
    events: BTreeMap<usize, (usize, Vec<usize>)>,
    execs: BTreeMap<usize, usize>,
    handles: BTreeMap<u64, u32>,
    /// What is kept, with the function that gives it back, and by which graphs and executable graphs.
    objects: BTreeMap<usize, (usize, unsafe extern "C" fn(*mut c_void), Vec<usize>)>,
    next: usize,
    /// The nodes of a conditional node's body, where the runtime is told of it.
    #[expect(clippy::vec_box, reason = "the runtime keeps the addresses while more are added")]
    told: Vec<Box<usize>>,
}

static GRAPHS: LazyLock<Mutex<Graphs>> = LazyLock::new(Mutex::default);

fn graphs() -> MutexGuard<'static, Graphs> {
    GRAPHS.lock().unwrap_or_else(|e| e.into_inner())
}

/// How many graphs and executable graphs are alive.
pub fn alive() -> (usize, usize) {
    let graphs = graphs();
    (graphs.graphs.len(), graphs.execs.len())
}

/// Forgets the captures of a test that failed.
pub fn reset() {
    let mut graphs = graphs();
    graphs.captures.clear();
    graphs.events.clear();
}

impl Graphs {
    fn handle(&mut self) -> usize {
        self.next += 0x10;
        0x9_0000 + self.next
    }

    /// A graph, or an executable graph, is gone: what only it kept is given back.
    fn gone(&mut self, graph: usize) {
        self.objects.values_mut().for_each(|(.., keepers)| keepers.retain(|keeper| *keeper != graph));
        for (_, (kept, destroy, _)) in self.objects.extract_if(.., |_, (.., keepers)| keepers.is_empty()) {
            // SAFETY: what the runtime gave, once.
            unsafe { destroy(std::ptr::with_exposed_provenance_mut(kept)) };
        }
    }

    /// Puts work into the capture of a stream; false if the stream is not captured.
    fn put(&mut self, stream: usize, work: Work) -> bool {
        let Some(capture) = self.captures.get_mut(&stream) else { return false };
        let nodes = self.graphs.get_mut(&capture.graph).expect("the graph is alive");
        nodes.push(Node { work, waits: capture.waits.clone() });
        capture.waits = vec![nodes.len() - 1];
        true
    }

    fn run(&mut self, graph: usize) {
        let nodes = self.graphs[&graph].clone();
        for (index, node) in nodes.into_iter().enumerate() {
            assert!(node.waits.iter().all(|wait| *wait < index), "a node waits for earlier ones");
            match node.work {
                Work::Copy { to, from, bytes } => copy(to, from, bytes),
                Work::Set { to, word, count } => {
                    for i in 0..count {
                        let from = word.as_ptr().expose_provenance() as u64;
                        copy(to + (i * word.len()) as u64, from, word.len());
                    }
                }
                Work::Kernel { name, params } => self.kernel(&name, &params),
                Work::Conditional { handle, repeats, body } => {
                    while self.handles[&handle] != 0 {
                        self.run(body);
                        if !repeats {
                            break;
                        }
                    }
                }
            }
        }
    }

    fn kernel(&mut self, name: &str, params: &[u8]) {
        let word = |i: usize| u64::from_le_bytes(params[8 * i..8 * i + 8].try_into().unwrap());
        match name {
            "inkle_set_condition" => {
                let mut value = [0; 4];
                copy(value.as_mut_ptr().expose_provenance() as u64, word(2), 4);
                let value = i32::from_le_bytes(value) != 0;
                for (handle, set) in [(word(0), value), (word(1), !value)] {
                    if handle != 0 {
                        *self.handles.get_mut(&handle).expect("the handle exists") = set.into();
                    }
                }
            }
            "add_one" => {
                // SAFETY: the tests pass the address of an `i32` of the fake device.
                unsafe { *std::ptr::with_exposed_provenance_mut::<i32>(word(3) as usize) += 1 }
            }
            "take_one" => {
                // SAFETY: as above.
                unsafe { *std::ptr::with_exposed_provenance_mut::<i32>(word(3) as usize) -= 1 }
            }
            other => panic!("no kernel {other}"),
        }
    }
}

fn copy(to: u64, from: u64, bytes: usize) {
    let to = std::ptr::with_exposed_provenance_mut::<u8>(to as usize);
    // SAFETY: memory of the fake device, or of the caller, of that many bytes.
    unsafe { std::ptr::copy(std::ptr::with_exposed_provenance::<u8>(from as usize), to, bytes) };
}

fn give<T>(place: *mut T, value: T) -> c_int {
    // SAFETY: the runtime passes a valid place for each result.
    unsafe { place.write(value) };
    0
}

/// Calls the plain fake's function.
macro_rules! plain {
    ($name:literal($($arg:expr => $ty:ty),*)) => {{
        let function = driver::lookup($name);
        // SAFETY: the plain fake has the function with this signature.
        let function: extern "C" fn($($ty),*) -> c_int = unsafe { std::mem::transmute(function) };
        function($($arg),*)
    }};
}

macro_rules! api {
    ($($symbol:ident($($arg:ident: $ty:ty),*) $body:block)*) => {
        $(
            #[allow(non_snake_case, reason = "the driver's names")]
            extern "C" fn $symbol($($arg: $ty),*) -> c_int { $body }
        )*

        /// The functions of the fake driver, captures included.
        pub fn lookup(name: &'static str) -> *const () {
            match name {
                $(stringify!($symbol) => $symbol as extern "C" fn($($ty),*) -> c_int as *const (),)*
                other => driver::lookup(other),
            }
        }
    };
}

const NOT_PERMITTED: c_int = 900;

api! {
    cuThreadExchangeStreamCaptureMode(_mode: *mut c_int) { 0 }
    cuStreamBeginCapture_v2(stream: *mut c_void, _mode: c_int) {
        let mut graphs = graphs();
        if graphs.captures.contains_key(&stream.addr()) {
            return NOT_PERMITTED;
        }
        let graph = graphs.handle();
        graphs.graphs.insert(graph, Vec::new());
        graphs.captures.insert(stream.addr(), Capture { graph, waits: Vec::new(), origin: stream.addr() });
        0
    }
    cuStreamBeginCaptureToGraph(stream: *mut c_void, graph: usize, waits: *const usize, _edges: usize, count: usize, _mode: c_int) {
        // SAFETY: the runtime passes `count` nodes.
        let waits = if count == 0 { Vec::new() } else { unsafe { std::slice::from_raw_parts(waits, count) }.to_vec() };
        let waits = waits.into_iter().map(|node| node - 1).collect();
        graphs().captures.insert(stream.addr(), Capture { graph, waits, origin: stream.addr() });
        0
    }
    cuStreamEndCapture(stream: *mut c_void, graph: *mut usize) {
        let mut graphs = graphs();
        let capture = graphs.captures.remove(&stream.addr()).expect("a capture was begun");
        assert_eq!(capture.origin, stream.addr(), "it ends where it began");
        graphs.captures.retain(|_, other| other.graph != capture.graph);
        give(graph, capture.graph)
    }
    cuStreamIsCapturing(stream: *mut c_void, status: *mut c_int) {
        give(status, graphs().captures.contains_key(&stream.addr()).into())
    }
    cuStreamGetCaptureInfo_v2(stream: *mut c_void, status: *mut c_int, id: *mut u64, graph: *mut usize, waits: *mut *const usize, count: *mut usize) {
        let graphs = graphs();
        let Some(capture) = graphs.captures.get(&stream.addr()) else { return give(status, 0) };
        // Nodes are told as their place plus one. Leaked: the runtime reads them after this returns.
        let nodes: Vec<usize> = capture.waits.iter().map(|wait| wait + 1).collect();
        give(waits, Box::leak(nodes.into_boxed_slice()).as_ptr());
        give(count, capture.waits.len());
        give(id, 1);
        give(graph, capture.graph);
        give(status, 1)
    }
    cuStreamUpdateCaptureDependencies(stream: *mut c_void, waits: *mut usize, count: usize, flags: c_uint) {
        assert_eq!((count, flags), (1, 1));
        // SAFETY: the runtime passes one node.
        let node = unsafe { *waits };
        graphs().captures.get_mut(&stream.addr()).expect("it is captured").waits = vec![node - 1];
        0
    }
    cuGraphConditionalHandleCreate(handle: *mut u64, graph: usize, _context: usize, value: c_uint, _flags: c_uint) {
        let mut graphs = graphs();
        assert!(graphs.graphs.contains_key(&graph));
        let made = graphs.handle() as u64;
        graphs.handles.insert(made, value);
        give(handle, made)
    }
    cuGraphAddNode(node: *mut usize, graph: usize, waits: *const usize, count: usize, params: *mut c_int) {
        // SAFETY: the runtime passes the parameters of a conditional node.
        let (kind, handle, condition, size) = unsafe {
            (*params, *params.byte_add(16).cast::<u64>(), *params.byte_add(24), *params.byte_add(28))
        };
        assert_eq!((kind, size), (13, 1));
        // SAFETY: the runtime passes `count` nodes.
        let waits = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(waits, count) } };
        let waits = waits.iter().map(|wait| wait - 1).collect();
        let mut graphs = graphs();
        let body = graphs.handle();
        graphs.graphs.insert(body, Vec::new());
        let nodes = graphs.graphs.get_mut(&graph).expect("the graph is alive");
        nodes.push(Node { work: Work::Conditional { handle, repeats: condition == 1, body }, waits });
        let made = nodes.len();
        graphs.told.push(Box::new(body));
        let told: *const usize = &raw const **graphs.told.last().unwrap();
        // SAFETY: the place of the bodies' graphs.
        unsafe { params.byte_add(32).cast::<*const usize>().write(told) };
        give(node, made)
    }
    cuGraphGetNodes(graph: usize, _nodes: usize, count: *mut usize) { give(count, graphs().graphs[&graph].len()) }
    cuGraphInstantiateWithFlags(exec: *mut usize, graph: usize, _flags: u64) {
        let mut graphs = graphs();
        let made = graphs.handle();
        graphs.execs.insert(made, graph);
        for (.., keepers) in graphs.objects.values_mut().filter(|(.., keepers)| keepers.contains(&graph)) {
            keepers.push(made);
        }
        give(exec, made)
    }
    cuGraphLaunch(exec: usize, stream: *mut c_void) {
        let mut graphs = graphs();
        assert!(!graphs.captures.contains_key(&stream.addr()), "launched, not captured");
        let graph = graphs.execs[&exec];
        graphs.run(graph);
        0
    }
    cuGraphExecDestroy(exec: usize) {
        let mut graphs = graphs();
        assert!(graphs.execs.remove(&exec).is_some());
        graphs.gone(exec);
        0
    }
    cuGraphDestroy(graph: usize) {
        let mut graphs = graphs();
        let mut pending = vec![graph];
        while let Some(graph) = pending.pop() {
            graphs.gone(graph);
            for node in graphs.graphs.remove(&graph).expect("the graph is alive") {
                if let Work::Conditional { body, .. } = node.work {
                    pending.push(body);
                }
            }
        }
        0
    }
    cuUserObjectCreate(object: *mut usize, kept: *mut c_void, destroy: unsafe extern "C" fn(*mut c_void), count: c_uint, flags: c_uint) {
        assert_eq!((count, flags), (1, 1));
        let mut graphs = graphs();
        let made = graphs.handle();
        graphs.objects.insert(made, (kept.expose_provenance(), destroy, Vec::new()));
        give(object, made)
    }
    cuGraphRetainUserObject(graph: usize, object: usize, count: c_uint, flags: c_uint) {
        assert_eq!((count, flags), (1, 1));
        graphs().objects.get_mut(&object).expect("the object is alive").2.push(graph);
        0
    }
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        if graphs().put(stream.addr(), Work::Copy { to, from, bytes }) { return 0 }
        plain!("cuMemcpyDtoDAsync_v2"(to => u64, from => u64, bytes => usize, stream => *mut c_void))
    }
    cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: *mut c_void) {
        if graphs().put(stream.addr(), Work::Copy { to, from, bytes }) { return 0 }
        plain!("cuMemcpyHtoDAsync_v2"(to => u64, from => u64, bytes => usize, stream => *mut c_void))
    }
    cuMemsetD8Async(to: u64, value: u8, count: usize, stream: *mut c_void) {
        if graphs().put(stream.addr(), Work::Set { to, word: vec![value], count }) { return 0 }
        plain!("cuMemsetD8Async"(to => u64, value => u8, count => usize, stream => *mut c_void))
    }
    cuMemsetD32Async(to: u64, value: u32, count: usize, stream: *mut c_void) {
        if graphs().put(stream.addr(), Work::Set { to, word: value.to_le_bytes().to_vec(), count }) { return 0 }
        plain!("cuMemsetD32Async"(to => u64, value => u32, count => usize, stream => *mut c_void))
    }
    cuEventRecord(event: *mut c_void, stream: *mut c_void) {
        let mut graphs = graphs();
        if let Some(capture) = graphs.captures.get(&stream.addr()) {
            let recorded = (capture.graph, capture.waits.clone());
            graphs.events.insert(event.addr(), recorded);
            return 0;
        }
        graphs.events.remove(&event.addr());
        drop(graphs);
        plain!("cuEventRecord"(event => *mut c_void, stream => *mut c_void))
    }
    cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, flags: c_uint) {
        let mut graphs = graphs();
        if let Some((graph, waits)) = graphs.events.get(&event.addr()).cloned() {
            let capture = graphs.captures.entry(stream.addr()).or_insert(Capture { graph, ..Capture::default() });
            assert_eq!(capture.graph, graph, "streams of one capture");
            capture.waits.extend(waits);
            return 0;
        }
        drop(graphs);
        plain!("cuStreamWaitEvent"(stream => *mut c_void, event => *mut c_void, flags => c_uint))
    }
    cuLaunchKernel(
        function: *const c_char, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
        shared: c_uint, stream: *mut c_void, params: *mut *mut c_void, extra: *mut *mut c_void
    ) {
        // SAFETY: the handle is the name that the plain fake gave; `extra` is pointer, block, size, its place, end.
        let (name, block) = unsafe {
            let extra = std::slice::from_raw_parts(extra, 5);
            let block = std::slice::from_raw_parts(extra[1].cast::<u8>(), *extra[3].cast::<usize>());
            (CStr::from_ptr(function).to_str().unwrap().to_owned(), block.to_vec())
        };
        if graphs().put(stream.addr(), Work::Kernel { name, params: block }) { return 0 }
        plain!("cuLaunchKernel"(
            function => *const c_char, gx => c_uint, gy => c_uint, gz => c_uint, bx => c_uint, by => c_uint,
            bz => c_uint, shared => c_uint, stream => *mut c_void, params => *mut *mut c_void,
            extra => *mut *mut c_void
        ))
    }
}
