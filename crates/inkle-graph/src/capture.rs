//! Captures: how operations come into a stream.
//!
//! A capture belongs to one device and to the thread that began it. Several, of different devices, can be under way.
//!
//! Regions are found by allocation: every view of one allocation is in one region. Memory of others (numpy's,
//! PyTorch's) has an allocation for each array that looks at it; where those overlap they become one region when the
//! capture ends.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use inkle_ir::Type;
use inkle_runtime::record::{self, Operation, Recorder, Verdict};
use inkle_runtime::{Allocation, Array, Device, Loaded, RuntimeError, next_serial};

use crate::error::GraphError;
use crate::graph::{Graph, KernelSource, Parts};
use crate::ops::{Condition, Kernel, Launch, Node, Op, OpStream, Pointer, Region, RegionKind, Space, View};
use crate::replay::Bound;

/// A launch as it is shown to a capture.
pub struct Launched<'a> {
    /// The kernel's code on the capture's device. Equal code is that of equal kernels.
    pub code: Arc<Loaded>,
    /// The kernel, and where its code for other devices comes from; asked for when the capture sees the code first.
    pub kernel: &'a dyn Fn() -> (Kernel, Option<Arc<dyn KernelSource>>),
    /// The parameter block, addresses included.
    pub params: Vec<u64>,
    /// Which words of the block are addresses, and of what.
    pub pointers: Vec<Address>,
    /// Threads per block on a GPU.
    pub block_dim: u32,
    /// The most blocks on a GPU; zero for no limit.
    pub max_blocks: u32,
    /// Dynamic shared memory per block on a GPU, bytes.
    pub shared_bytes: u32,
}

/// An address in the parameter block of a launch.
pub struct Address {
    /// The index of the word.
    pub word: u32,
    /// The array whose elements are reached through it; the word is the address of its first element.
    pub array: Array,
    /// Whether the kernel may read them.
    pub reads: bool,
    /// Whether the kernel may write them.
    pub writes: bool,
}

/// Memory that a capture has seen.
struct Seen {
    memory: Arc<Allocation>,
    region: Region,
    made_inside: bool,
}

/// What has been recorded so far.
#[derive(Default)]
struct State {
    seen: Vec<Seen>,
    /// The index in `seen` of each allocation, by the address of its record, which stays while `seen` has it.
    by_allocation: BTreeMap<usize, u32>,
    kernels: Vec<Arc<Kernel>>,
    /// The index in `kernels` of each code, by its address, which stays while `code` has it.
    by_code: BTreeMap<usize, u32>,
    code: Vec<Arc<Loaded>>,
    sources: Vec<Option<Arc<dyn KernelSource>>>,
    /// The list that operations are put into, and the ones around it.
    lists: Vec<Vec<Node>>,
    /// Whatever has to live as long as the graph.
    held: Vec<Box<dyn Any + Send + Sync>>,
}

/// A capture under way.
struct Session {
    device: Device,
    /// Allocations with this serial number or a later one were made inside the capture.
    first_serial: u64,
    paused: Cell<bool>,
    state: RefCell<State>,
}

/// A capture that was paused: only the thread that began it can go on with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Paused {
    session: u64,
    device: Device,
}

impl Paused {
    /// The capture's device.
    pub fn device(self) -> Device {
        self.device
    }
}

thread_local! {
    static SESSIONS: RefCell<Vec<Rc<Session>>> = const { RefCell::new(Vec::new()) };
}

/// Shows the thread's operations to its captures.
struct Watch;

impl Recorder for Watch {
    fn show(&self, operation: &Operation<'_>) -> Result<Verdict, RuntimeError> {
        let device = match operation {
            Operation::Copy { dst, src, .. } if dst.device().is_cpu() => src.device(),
            Operation::Copy { dst, .. } | Operation::Fill { dst, .. } => dst.device(),
            Operation::Algorithm(algorithm) => {
                let mut device = Device::cpu();
                algorithm.each(|array, _| device = array.device());
                device
            }
        };
        let Some(session) = find(device) else { return Ok(Verdict::Run) };
        let mut state = session.state.borrow_mut();
        let op = match operation {
            Operation::Copy { dst, src, .. } => {
                Op::Copy { dst: state.view(&session, dst), src: state.view(&session, src) }
            }
            Operation::Fill { dst, pattern, .. } => {
                Op::Fill { dst: state.view(&session, dst), pattern: (*pattern).into() }
            }
            Operation::Algorithm(algorithm) => {
                Op::Algorithm(algorithm.try_map(|array| Ok::<_, RuntimeError>(state.view(&session, array)))?)
            }
        };
        state.push(op);
        Ok(if session.device.is_cpu() { Verdict::Keep } else { Verdict::Run })
    }

    fn records(&self, device: Device) -> bool {
        find(device).is_some()
    }
}

/// The capture of a device that this thread is recording, unless it is paused.
fn find(device: Device) -> Option<Rc<Session>> {
    SESSIONS
        .with(|sessions| sessions.borrow().iter().find(|s| s.device == device && !s.paused.get()).cloned())
}

fn recording(device: Device) -> Result<Rc<Session>, GraphError> {
    find(device).ok_or_else(|| GraphError::NotCapturing { device: device.to_string() })
}

/// Whether this thread records what it does on `device`.
#[inline]
pub fn is_capturing(device: Device) -> bool {
    record::may_be_recording() && find(device).is_some()
}

/// Begins a capture on `device`: from now on this thread records what it does there. On the CPU nothing of it runs.
///
/// # Errors
/// [`GraphError::AlreadyCapturing`].
pub fn begin(device: Device) -> Result<(), GraphError> {
    let known = |s: &Rc<Session>| s.device == device;
    if SESSIONS.with(|sessions| sessions.borrow().iter().any(known)) {
        return Err(GraphError::AlreadyCapturing { device: device.to_string() });
    }
    let state = State { lists: vec![Vec::new()], ..State::default() };
    let session =
        Session { device, first_serial: next_serial(), paused: Cell::new(false), state: RefCell::new(state) };
    SESSIONS.with(|sessions| sessions.borrow_mut().push(Rc::new(session)));
    record::set_recorder(Some(Rc::new(Watch)));
    Ok(())
}

/// Ends the capture on `device` and gives its graph.
///
/// # Errors
/// [`GraphError::NotCapturing`], [`GraphError::InsideBody`]; those of making the graph ready.
pub fn end(device: Device) -> Result<Graph, GraphError> {
    let session = recording(device)?;
    if session.state.borrow().lists.len() > 1 {
        return Err(GraphError::InsideBody { what: "end" });
    }
    forget(&session);
    let state = session.state.take();
    Graph::from_parts(state.finish(device))
}

/// Gives up the capture on `device`, wherever in it the thread is. Does nothing when there is none.
pub fn abandon(device: Device) {
    let session = SESSIONS.with(|sessions| sessions.borrow().iter().find(|s| s.device == device).cloned());
    if let Some(session) = session {
        forget(&session);
    }
}

fn forget(session: &Rc<Session>) {
    let none_left = SESSIONS.with(|sessions| {
        let mut sessions = sessions.borrow_mut();
        sessions.retain(|s| !Rc::ptr_eq(s, session));
        sessions.is_empty()
    });
    if none_left {
        record::set_recorder(None);
    }
}

/// Stops recording on `device` for a while: operations run as always.
///
/// # Errors
/// [`GraphError::NotCapturing`].
pub fn pause(device: Device) -> Result<Paused, GraphError> {
    let session = recording(device)?;
    session.paused.set(true);
    Ok(Paused { session: session.first_serial, device })
}

/// Goes on with a capture that was paused.
///
/// # Errors
/// [`GraphError::NotPaused`] if it is not paused, or has ended, or was begun by another thread.
pub fn resume(paused: Paused) -> Result<(), GraphError> {
    let known = |s: &&Rc<Session>| s.first_serial == paused.session;
    let session = SESSIONS.with(|sessions| sessions.borrow().iter().find(known).cloned());
    match session {
        Some(session) if session.paused.replace(false) => Ok(()),
        _ => Err(GraphError::NotPaused),
    }
}

/// Keeps something as long as the graph of the capture on `device` lives.
///
/// # Errors
/// [`GraphError::NotCapturing`].
pub fn hold(device: Device, kept: Box<dyn Any + Send + Sync>) -> Result<(), GraphError> {
    recording(device)?.state.borrow_mut().held.push(kept);
    Ok(())
}

/// Records a launch on `device`. Whether it also has to run now is the result: not on the CPU.
///
/// # Errors
/// [`GraphError::NotCapturing`]; [`GraphError::UnknownMemory`] if an address is not in its array's memory.
pub fn launch(device: Device, launched: Launched<'_>) -> Result<Verdict, GraphError> {
    let session = recording(device)?;
    let mut state = session.state.borrow_mut();
    let kernel = state.kernel(launched.code, launched.kernel);
    let mut params = launched.params.into_boxed_slice();
    let mut pointers = Vec::with_capacity(launched.pointers.len());
    for Address { word, array, reads, writes } in launched.pointers {
        let Some(address) = params.get_mut(word as usize) else { continue };
        if array.is_empty() {
            // Nothing is reached through it, so nothing has to be there.
            *address = 0;
        }
        if *address == 0 {
            continue;
        }
        if *address != array.address() {
            let what = format!("an argument of kernel `{}`", state.kernels[kernel as usize].name);
            return Err(GraphError::UnknownMemory { what });
        }
        let view = state.view(&session, &array);
        let span = view.span().unwrap_or(view.offset..view.offset);
        pointers.push(Pointer { word, region: view.region, offset: view.offset, span, reads, writes });
        *address = 0;
    }
    let (block_dim, max_blocks, shared_bytes) =
        (launched.block_dim, launched.max_blocks, launched.shared_bytes);
    let pointers = pointers.into_boxed_slice();
    state.push(Op::Launch(Launch { kernel, params, pointers, block_dim, max_blocks, shared_bytes }));
    Ok(if session.device.is_cpu() { Verdict::Keep } else { Verdict::Run })
}

/// Makes the operations of `graph` part of the capture on its device.
///
/// # Errors
/// [`GraphError::NotCapturing`].
pub fn insert(graph: &Graph) -> Result<(), GraphError> {
    let session = recording(graph.device())?;
    let mut state = session.state.borrow_mut();
    let nodes = state.adopt(graph);
    state.current().extend(nodes);
    Ok(())
}

/// Begins a list of operations that becomes a body: what is recorded now goes there.
///
/// # Errors
/// [`GraphError::NotCapturing`].
pub fn begin_body(device: Device) -> Result<(), GraphError> {
    recording(device)?.state.borrow_mut().lists.push(Vec::new());
    Ok(())
}

/// A list of operations that was recorded as a body.
pub struct Body(Vec<Node>);

impl Body {
    /// A body that does nothing.
    pub fn empty() -> Body {
        Body(Vec::new())
    }
}

/// Ends the list that [`begin_body`] began.
///
/// # Errors
/// [`GraphError::NotCapturing`] without such a list.
pub fn end_body(device: Device) -> Result<Body, GraphError> {
    let session = recording(device)?;
    let mut state = session.state.borrow_mut();
    if state.lists.len() < 2 {
        return Err(GraphError::NotCapturing { device: device.to_string() });
    }
    Ok(Body(state.lists.pop().unwrap_or_default()))
}

/// Records a choice between two bodies.
///
/// # Errors
/// [`GraphError::NotCapturing`]; [`GraphError::ParamMismatch`] unless the condition is one `int32`.
pub fn push_if(condition: &Array, on_true: Body, on_false: Body) -> Result<(), GraphError> {
    let session = recording(condition.device())?;
    let mut state = session.state.borrow_mut();
    let condition = state.condition(&session, condition)?;
    state.push(Op::If { condition, on_true: on_true.0, on_false: on_false.0 });
    Ok(())
}

/// Records a loop.
///
/// # Errors
/// As [`push_if`].
pub fn push_while(condition: &Array, body: Body) -> Result<(), GraphError> {
    let session = recording(condition.device())?;
    let mut state = session.state.borrow_mut();
    let condition = state.condition(&session, condition)?;
    state.push(Op::While { condition, body: body.0 });
    Ok(())
}

/// Fails unless the array can be the condition of `capture_if` and `capture_while`.
///
/// # Errors
/// [`GraphError::ParamMismatch`].
pub fn check_condition(condition: &Array) -> Result<(), GraphError> {
    if condition.dtype() != Type::I32 || condition.is_empty() {
        return Err(GraphError::ParamMismatch {
            name: "condition".into(),
            expected: "an array of int32 with a single element".into(),
            found: Type::array(condition.dtype(), condition.ndim() as u32).python_name(),
        });
    }
    Ok(())
}

impl State {
    fn current(&mut self) -> &mut Vec<Node> {
        self.lists.last_mut().expect("a session has a list until it ends")
    }

    fn push(&mut self, op: Op) {
        self.current().push(Node { queue: 0, op });
    }

    fn kernel(
        &mut self,
        code: Arc<Loaded>,
        kernel: &dyn Fn() -> (Kernel, Option<Arc<dyn KernelSource>>),
    ) -> u32 {
        let key = Arc::as_ptr(&code).addr();
        if let Some(&found) = self.by_code.get(&key) {
            return found;
        }
        let (kernel, source) = kernel();
        self.kernels.push(Arc::new(kernel));
        self.code.push(code);
        self.sources.push(source);
        let index = self.kernels.len() as u32 - 1;
        self.by_code.insert(key, index);
        index
    }

    fn region(&mut self, memory: &Arc<Allocation>, made_inside: bool) -> u32 {
        let key = Arc::as_ptr(memory).addr();
        if let Some(&found) = self.by_allocation.get(&key) {
            return found;
        }
        let space = if memory.device().is_cpu() { Space::Host } else { Space::Device };
        let region = Region { bytes: memory.bytes() as u64, space, kind: RegionKind::Given };
        self.seen.push(Seen { memory: memory.clone(), region, made_inside });
        let index = self.seen.len() as u32 - 1;
        self.by_allocation.insert(key, index);
        index
    }

    fn view(&mut self, session: &Session, array: &Array) -> View {
        let memory = array.memory();
        let region = self.region(memory, memory.serial() >= session.first_serial);
        View {
            region,
            offset: array.address().saturating_sub(memory.address()),
            dtype: array.dtype(),
            shape: array.shape().to_vec(),
            strides: array.strides().to_vec(),
        }
    }

    fn condition(&mut self, session: &Session, condition: &Array) -> Result<Condition, GraphError> {
        check_condition(condition)?;
        let view = self.view(session, condition);
        Ok(Condition { region: view.region, offset: view.offset })
    }

    /// The operations of a graph, renumbered for this capture.
    fn adopt(&mut self, graph: &Graph) -> Vec<Node> {
        let stream = graph.ops();
        let regions: Vec<(u32, u64)> = stream
            .regions
            .iter()
            .zip(&graph.memory())
            .map(|(region, bound)| {
                let found = self.region(&bound.memory, region.kind == RegionKind::Internal);
                (found, bound.base.wrapping_sub(bound.memory.address()))
            })
            .collect();
        let kernels: Vec<u32> = (0..stream.kernels.len())
            .map(|k| {
                let (code, source) = graph.kernel_parts(k);
                self.kernel(code, &|| (Kernel::clone(&stream.kernels[k]), source.clone()))
            })
            .collect();
        let mut nodes = stream.body.clone();
        for node in &mut nodes {
            node.op.each_mut(&mut |op| {
                renumber(op, &|region, offset| {
                    let (found, start) = regions[region as usize];
                    (found, start.wrapping_add(offset))
                });
                if let Op::Launch(launch) = op {
                    launch.kernel = kernels[launch.kernel as usize];
                }
            });
        }
        self.held.extend(graph.held());
        nodes
    }

    /// The parts of the finished graph.
    fn finish(mut self, device: Device) -> Parts {
        let body = self.lists.pop().unwrap_or_default();
        let mut stream = OpStream { regions: Vec::new(), kernels: self.kernels, events: 0, body };
        let merged = merge(&self.seen);
        let mut memory = Vec::new();
        for group in &merged.groups {
            let members: Vec<Arc<Allocation>> =
                group.members.iter().map(|&i| self.seen[i as usize].memory.clone()).collect();
            let first = &self.seen[group.members[0] as usize];
            let made_inside = group.members.iter().all(|&i| self.seen[i as usize].made_inside);
            let kind = if made_inside { RegionKind::Internal } else { RegionKind::Given };
            let joined = Allocation::join(&members).expect("members of a group overlap");
            stream.regions.push(Region { bytes: joined.bytes() as u64, kind, ..first.region });
            memory.push(Bound::whole(joined));
        }
        for node in &mut stream.body {
            node.op.each_mut(&mut |op| renumber(op, &|region, offset| merged.place(region, offset)));
        }
        let mut written = vec![false; stream.regions.len()];
        stream.each(|op| {
            if matches!(op, Op::If { .. } | Op::While { .. }) {
                return;
            }
            for access in crate::access::accesses(op) {
                written[access.region as usize] |= access.writes;
            }
        });
        for (region, written) in stream.regions.iter_mut().zip(written) {
            if region.kind == RegionKind::Internal && !written {
                region.kind = RegionKind::Constant;
            }
        }
        let (params, loaded) = (Vec::new(), false);
        Parts {
            device,
            stream,
            memory,
            code: self.code,
            sources: self.sources,
            held: self.held,
            params,
            loaded,
        }
    }
}

/// Applies a mapping of places to all places that one operation names itself.
fn renumber(op: &mut Op, place: &dyn Fn(u32, u64) -> (u32, u64)) {
    let view = |view: &mut View| (view.region, view.offset) = place(view.region, view.offset);
    match op {
        Op::Launch(launch) => {
            for pointer in &mut launch.pointers {
                let (region, offset) = place(pointer.region, pointer.offset);
                let shift = offset.wrapping_sub(pointer.offset);
                pointer.span = pointer.span.start.wrapping_add(shift)..pointer.span.end.wrapping_add(shift);
                (pointer.region, pointer.offset) = (region, offset);
            }
        }
        Op::Copy { dst, src } => {
            view(dst);
            view(src);
        }
        Op::Fill { dst, .. } => view(dst),
        Op::Algorithm(algorithm) => algorithm.each_mut(view),
        Op::If { condition, .. } | Op::While { condition, .. } => {
            (condition.region, condition.offset) = place(condition.region, condition.offset);
        }
        Op::Record { .. } | Op::Wait { .. } => {}
    }
}

/// Allocations that became one region.
struct Group {
    members: Vec<u32>,
    /// The addresses they span.
    range: Range<u64>,
}

struct Merged {
    groups: Vec<Group>,
    /// Per allocation its group, and where it starts there.
    places: Vec<(u32, u64)>,
}

impl Merged {
    fn place(&self, seen: u32, offset: u64) -> (u32, u64) {
        let (group, start) = self.places[seen as usize];
        (group, start.wrapping_add(offset))
    }
}

/// Puts allocations whose addresses overlap into one group each; groups come in the order of their first allocation.
fn merge(seen: &[Seen]) -> Merged {
    let mut order: Vec<u32> = (0..seen.len() as u32).collect();
    let key = |i: u32| {
        let seen = &seen[i as usize];
        (seen.region.space == Space::Device, seen.memory.address())
    };
    order.sort_by_key(|&i| key(i));
    let mut groups: Vec<Group> = Vec::new();
    let mut space = None;
    for i in order {
        let (device, start) = key(i);
        let end = start + seen[i as usize].region.bytes;
        match groups.last_mut() {
            Some(group) if space == Some(device) && start < group.range.end && start < end => {
                group.members.push(i);
                group.range.end = group.range.end.max(end);
            }
            _ => groups.push(Group { members: vec![i], range: start..end }),
        }
        space = Some(device);
    }
    groups.sort_by_key(|group| group.members.iter().copied().min());
    let mut places = vec![(0, 0); seen.len()];
    for (index, group) in groups.iter().enumerate() {
        for &member in &group.members {
            let start = seen[member as usize].memory.address() - group.range.start;
            places[member as usize] = (index as u32, start);
        }
    }
    Merged { groups, places }
}
