//! Captures: how operations come into a stream.
//!
//! A capture belongs to one device and to the thread that began it. Several, of different devices, can be under way.
//!
//! Regions are found by allocation: every view of one allocation is in one region. Memory of others (numpy's,
//! PyTorch's) has an allocation for each array that looks at it; where those overlap they become one region when the
//! capture ends.
//!
//! A [live recording](live) is a capture whose operations run as well, and an [`Observer`] decides which they are.

mod live;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use inkle_ir::Type;
use inkle_runtime::cuda::{CaptureMode, PausedCapture};
use inkle_runtime::record::{self, Operation, Recorder, Verdict};
use inkle_runtime::{Allocation, Array, Device, Loaded, MemoryKind, RuntimeError, Stream, next_serial};

use crate::access::{Access, each_access};
use crate::error::GraphError;
use crate::graph::{Graph, KernelSource, Parts};
use crate::ops::{Condition, Kernel, Launch, Node, Op, OpStream, Pointer, Region, RegionKind, Space, View};
use crate::replay::{Bound, emit_nodes};

use live::observe;
pub use live::{Observed, Observer, Use, begin_live, end_live, has_observer, observe_graph, set_observer};

/// A launch as it is shown to a capture.
pub struct Launched<'a> {
    /// The kernel's name.
    pub name: &'a str,
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
    /// Of a live recording: its bytes before the first operation of the recording that touches it.
    before: Option<Vec<u8>>,
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
    /// The CUDA streams that take part, by handle: queue 0 is the one of the capture.
    queues: Vec<u64>,
    /// The numbers of the events that were recorded on them, by handle.
    events: BTreeMap<u64, u32>,
    event_count: u32,
    /// Whatever has to live as long as the graph.
    held: Vec<Box<dyn Any + Send + Sync>>,
    /// Whether operations run while they are recorded.
    live: bool,
    /// Why the bytes of some memory could not be kept.
    failure: Option<RuntimeError>,
}

/// What a capture on a GPU is about.
#[derive(Clone, Debug, Default)]
pub struct CudaOptions {
    /// The stream whose work is recorded; the device's current one for `None`.
    pub stream: Option<Stream>,
    /// Whether somebody else began the capture of the stream, and will end it.
    pub external: bool,
    /// How strict the driver is about calls that cannot be captured.
    pub mode: CaptureMode,
}

/// The driver's capture, in which operations on a GPU are recorded beside ours.
struct Driver {
    stream: Stream,
    external: bool,
    mode: CaptureMode,
    paused: RefCell<Option<PausedCapture>>,
}

/// A capture under way.
struct Session {
    device: Device,
    driver: Option<Driver>,
    /// Whether operations run while they are recorded.
    live: bool,
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
            Operation::RecordEvent { stream, .. } | Operation::WaitEvent { stream, .. } => stream.device(),
        };
        if !observe(device, || Observed::of(operation, device))? {
            return Ok(Verdict::Run);
        }
        let Some(session) = find(device) else { return Ok(Verdict::Run) };
        let mut state = session.state.borrow_mut();
        let queue = match operation {
            // Operations of a live recording are in the order in which they were asked for.
            Operation::RecordEvent { .. } | Operation::WaitEvent { .. } if session.live => None,
            Operation::Copy { stream, .. } | Operation::Fill { stream, .. } => {
                session.queue(&state, *stream)?
            }
            Operation::Algorithm(algorithm) if device.is_cuda() => {
                let instead = "arrays on the CPU";
                return Err(RuntimeError::NotInGraph { operation: algorithm.name(), instead });
            }
            Operation::Algorithm(_) => Some(0),
            Operation::RecordEvent { stream, .. } => session.queue(&state, Some(stream))?,
            Operation::WaitEvent { event, stream } => state.join(*event, stream),
        };
        let Some(queue) = queue else { return Ok(Verdict::Run) };
        let op = match operation {
            Operation::RecordEvent { event, .. } => Op::Record { event: state.event(*event) },
            Operation::WaitEvent { event, .. } => Op::Wait { event: state.events[event] },
            Operation::Copy { dst, src, .. } => {
                Op::Copy { dst: state.view(&session, dst), src: state.view(&session, src) }
            }
            Operation::Fill { dst, pattern, .. } => {
                Op::Fill { dst: state.view(&session, dst), pattern: (*pattern).into() }
            }
            Operation::Algorithm(algorithm) => {
                let shown = algorithm.try_map(|array| Ok::<_, RuntimeError>(state.view(&session, array)))?;
                Op::Algorithm(Box::new(shown))
            }
        };
        state.push(queue, op);
        Ok(session.verdict(&state))
    }

    fn records(&self, device: Device) -> bool {
        is_capturing(device)
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

/// Whether this thread records what it does on `device` for a graph, live recordings left out.
#[inline]
pub fn is_capturing(device: Device) -> bool {
    record::may_be_recording() && find(device).is_some_and(|session| !session.live)
}

/// Whether launches of this thread on `device` are to be shown to [`launch`].
#[inline]
pub fn watches(device: Device) -> bool {
    record::may_be_recording() && (has_observer() || find(device).is_some())
}

impl Session {
    /// What becomes of an operation that was recorded: the driver captures those on a GPU, but for bodies, which are put
    /// into its graph when they are complete.
    fn verdict(&self, state: &State) -> Verdict {
        let runs = (self.driver.is_some() || self.live) && state.lists.len() == 1;
        if runs { Verdict::Run } else { Verdict::Keep }
    }

    /// The queue that a stream is in the capture; `None` if it has no part in it.
    fn queue(&self, state: &State, stream: Option<&Stream>) -> Result<Option<u32>, RuntimeError> {
        if self.driver.is_none() {
            return Ok(Some(0));
        }
        let handle = match stream {
            Some(stream) => stream.handle(),
            None => self.device.stream()?.handle(),
        };
        Ok(state.queues.iter().position(|known| *known == handle).map(|queue| queue as u32))
    }

    /// Puts operations that were recorded into the driver's capture, or runs those of a live recording, unless they are in
    /// a body.
    fn emit(&self, state: &State, nodes: &[Node]) -> Result<(), GraphError> {
        if self.live && state.lists.len() == 1 {
            return self.run(state, nodes);
        }
        let Some(driver) = self.driver.as_ref().filter(|_| state.lists.len() == 1) else { return Ok(()) };
        let memory: Vec<Bound> = state.seen.iter().map(|seen| Bound::whole(seen.memory.clone())).collect();
        emit_nodes(&driver.stream, 0, nodes, state.event_count, &memory, &state.code)
    }
}

/// Begins a capture on `device`: from now on this thread records what it does there. On the CPU nothing of it runs; on a
/// GPU this is [`begin_cuda`] with the device's current stream.
///
/// # Errors
/// [`GraphError::AlreadyCapturing`].
pub fn begin(device: Device) -> Result<(), GraphError> {
    if device.is_cuda() {
        begin_cuda(device, CudaOptions::default())
    } else {
        begin_with(device, None, false)
    }
}

/// Begins a capture on a GPU: what this thread queues on the stream, and on those that come to wait for it, is recorded.
///
/// # Errors
/// [`GraphError::AlreadyCapturing`]; the driver's.
pub fn begin_cuda(device: Device, options: CudaOptions) -> Result<(), GraphError> {
    let stream = match options.stream {
        Some(stream) => stream,
        None => device.stream()?,
    };
    let (external, mode) = (options.external, options.mode);
    let driver = Driver { stream: stream.clone(), external, mode, paused: RefCell::new(None) };
    begin_with(device, Some(driver), false)?;
    if !external && let Err(error) = stream.begin_capture(mode) {
        abandon_records(device);
        return Err(error.into());
    }
    Ok(())
}

fn begin_with(device: Device, driver: Option<Driver>, live: bool) -> Result<(), GraphError> {
    let known = |s: &Rc<Session>| s.device == device;
    if SESSIONS.with(|sessions| sessions.borrow().iter().any(known)) {
        return Err(GraphError::AlreadyCapturing { device: device.to_string() });
    }
    let queues = driver.iter().map(|driver| driver.stream.handle()).collect();
    let state = State { lists: vec![Vec::new()], queues, live, ..State::default() };
    let session = Session {
        device,
        driver,
        live,
        first_serial: next_serial(),
        paused: Cell::new(false),
        state: RefCell::new(state),
    };
    SESSIONS.with(|sessions| sessions.borrow_mut().push(Rc::new(session)));
    watch();
    Ok(())
}

/// Has this thread's operations shown to [`Watch`] as long as somebody wants to see them.
fn watch() {
    let wanted = has_observer() || SESSIONS.with(|sessions| !sessions.borrow().is_empty());
    record::set_recorder(wanted.then(|| Rc::new(Watch) as Rc<dyn Recorder>));
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
    let captured = match &session.driver {
        Some(driver) if !driver.external => Some(driver.stream.end_capture()?),
        _ => None,
    };
    let (mut parts, _) = session.state.take().finish(device);
    parts.captured = captured;
    Graph::from_parts(parts)
}

/// Gives up the capture on `device`, wherever in it the thread is. Does nothing when there is none.
pub fn abandon(device: Device) {
    if let Some(session) = abandon_records(device)
        && let Some(driver) = &session.driver
        && !driver.external
        && !session.paused.get()
    {
        driver.stream.abandon_capture();
    }
}

fn abandon_records(device: Device) -> Option<Rc<Session>> {
    let known = |s: &&Rc<Session>| s.device == device;
    let session = SESSIONS.with(|sessions| sessions.borrow().iter().find(known).cloned())?;
    forget(&session);
    Some(session)
}

fn forget(session: &Rc<Session>) {
    SESSIONS.with(|sessions| sessions.borrow_mut().retain(|s| !Rc::ptr_eq(s, session)));
    watch();
}

/// Stops recording on `device` for a while: operations run as always.
///
/// # Errors
/// [`GraphError::NotCapturing`].
pub fn pause(device: Device) -> Result<Paused, GraphError> {
    let session = recording(device)?;
    if session.state.borrow().lists.len() > 1 {
        return Err(GraphError::InsideBody { what: "pause" });
    }
    if let Some(driver) = session.driver.as_ref().filter(|driver| !driver.external) {
        *driver.paused.borrow_mut() = Some(driver.stream.pause_capture()?);
    }
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
    let Some(session) = session.filter(|session| session.paused.get()) else {
        return Err(GraphError::NotPaused);
    };
    if let Some(driver) = &session.driver
        && let Some(paused) = driver.paused.take()
    {
        driver.stream.resume_capture(paused, driver.mode)?;
    }
    session.paused.set(false);
    Ok(())
}

/// Keeps something as long as the graph of the capture on `device` lives; does nothing if there is none.
pub fn hold(device: Device, kept: Box<dyn Any + Send + Sync>) {
    if let Some(session) = find(device) {
        session.state.borrow_mut().held.push(kept);
    }
}

/// Checks that the host may read elements now: not while this thread captures operations that write them, for those have not
/// run yet.
///
/// # Errors
/// [`RuntimeError::NotInGraph`], of `operation`.
pub fn check_read(array: &Array, operation: &'static str) -> Result<(), RuntimeError> {
    if !record::may_be_recording() {
        return Ok(());
    }
    let Some(session) = find(array.device()).filter(|session| !session.live) else { return Ok(()) };
    let mut state = session.state.borrow_mut();
    if !state.by_allocation.contains_key(&Arc::as_ptr(array.memory()).addr()) {
        return Ok(());
    }
    let read = Access::of_view(&state.view(&session, array), false);
    let mut written = false;
    for node in state.lists.iter().flatten() {
        each_access(&node.op, &mut |access| written |= access.conflicts(&read));
    }
    if written {
        return Err(RuntimeError::NotInGraph {
            operation,
            instead: "elements that the graph does not write",
        });
    }
    Ok(())
}

/// Shows a launch on `device`, on a GPU on `stream`, to the thread's observer and capture. Whether it has to run now is
/// the result: not in a capture on the CPU.
///
/// # Errors
/// [`GraphError::UnknownMemory`] if an address is not in its array's memory; the observer's.
pub fn launch(
    device: Device,
    stream: Option<&Stream>,
    launched: Launched<'_>,
) -> Result<Verdict, GraphError> {
    if !observe(device, || Observed::of_launch(&launched, device))? {
        return Ok(Verdict::Run);
    }
    let Some(session) = find(device) else { return Ok(Verdict::Run) };
    let mut state = session.state.borrow_mut();
    let Some(queue) = session.queue(&state, stream)? else { return Ok(Verdict::Run) };
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
    state.push(queue, Op::Launch(Launch { kernel, params, pointers, block_dim, max_blocks, shared_bytes }));
    Ok(session.verdict(&state))
}

/// Makes the operations of `graph` part of the capture on its device.
///
/// # Errors
/// [`GraphError::NotCapturing`].
pub fn insert(graph: &Graph) -> Result<(), GraphError> {
    let session = recording(graph.device())?;
    let mut state = session.state.borrow_mut();
    if session.driver.is_some() {
        graph.whole("be part of another graph")?;
    }
    let nodes = state.adopt(graph);
    session.emit(&state, &nodes)?;
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
    let op = Op::If { condition, on_true: on_true.0, on_false: on_false.0 };
    session.emit(&state, &[Node { queue: 0, op: op.clone() }])?;
    state.push(0, op);
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
    let op = Op::While { condition, body: body.0 };
    session.emit(&state, &[Node { queue: 0, op: op.clone() }])?;
    state.push(0, op);
    Ok(())
}

/// Fails unless the array can be the condition of `capture_if` and `capture_while`.
///
/// # Errors
/// [`GraphError::ParamMismatch`].
pub fn check_condition(condition: &Array) -> Result<(), GraphError> {
    if condition.dtype() != Type::I32 || condition.len() != 1 {
        return Err(GraphError::ParamMismatch {
            name: "condition".into(),
            expected: "an array of int32 with a single element".into(),
            found: format!(
                "{} of shape {:?}",
                Type::array(condition.dtype(), condition.ndim() as u32).python_name(),
                condition.shape()
            ),
        });
    }
    Ok(())
}

impl State {
    fn current(&mut self) -> &mut Vec<Node> {
        self.lists.last_mut().expect("a session has a list until it ends")
    }

    fn push(&mut self, queue: u32, op: Op) {
        self.current().push(Node { queue, op });
    }

    /// The number of an event that is recorded now. Recorded again it is another event.
    fn event(&mut self, handle: u64) -> u32 {
        let number = self.event_count;
        self.event_count += 1;
        self.events.insert(handle, number);
        number
    }

    /// The queue that a stream is once it waits for an event; `None` if the event has no part in the capture.
    fn join(&mut self, event: u64, stream: &Stream) -> Option<u32> {
        self.events.get(&event)?;
        let handle = stream.handle();
        let known = self.queues.iter().position(|queue| *queue == handle);
        let queue = known.unwrap_or_else(|| {
            self.queues.push(handle);
            self.queues.len() - 1
        });
        Some(queue as u32)
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
        let before = match self.live && !made_inside {
            true => memory.contents().map_err(|error| self.failure = Some(error)).ok(),
            false => None,
        };
        self.seen.push(Seen { memory: memory.clone(), region, made_inside, before });
        let index = self.seen.len() as u32 - 1;
        self.by_allocation.insert(key, index);
        index
    }

    fn view(&mut self, session: &Session, array: &Array) -> View {
        let memory = array.memory();
        // Memory of others may be older than the allocation that stands for it.
        let known_age = !session.live || memory.kind() != MemoryKind::Foreign;
        let region = self.region(memory, known_age && memory.serial() >= session.first_serial);
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
        let first_event = self.event_count;
        self.event_count += stream.events;
        let mut nodes = stream.body.clone();
        for node in &mut nodes {
            node.op.each_mut(&mut |op| {
                op.renumber(&|region, offset| {
                    let (found, start) = regions[region as usize];
                    (found, start.wrapping_add(offset))
                });
                match op {
                    Op::Launch(launch) => launch.kernel = kernels[launch.kernel as usize],
                    Op::Record { event } | Op::Wait { event } => *event += first_event,
                    _ => {}
                }
            });
        }
        self.held.extend(graph.held());
        nodes
    }

    /// The parts of the finished graph, and per region its bytes before the recording, if they were kept.
    fn finish(mut self, device: Device) -> (Parts, Vec<Option<Vec<u8>>>) {
        let body = self.lists.pop().unwrap_or_default();
        let mut stream =
            OpStream { regions: Vec::new(), kernels: self.kernels, events: self.event_count, body };
        let merged = merge(&self.seen);
        let (mut memory, mut before) = (Vec::new(), Vec::new());
        for group in &merged.groups {
            before.push(live::before(&self.seen, group));
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
            node.op.each_mut(&mut |op| op.renumber(&|region, offset| merged.place(region, offset)));
        }
        let mut written = vec![false; stream.regions.len()];
        stream.each(|op| {
            if matches!(op, Op::If { .. } | Op::While { .. }) {
                return;
            }
            each_access(op, &mut |access| written[access.region as usize] |= access.writes);
        });
        for (region, written) in stream.regions.iter_mut().zip(written) {
            if region.kind == RegionKind::Internal && !written {
                region.kind = RegionKind::Constant;
            }
        }
        let (params, loaded, captured) = (Vec::new(), false, None);
        let (code, sources, held) = (self.code, self.sources, self.held);
        (Parts { device, stream, memory, code, sources, held, params, loaded, captured }, before)
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
