//! Live recordings: operations run as always, and a graph of some of them is made meanwhile.
//!
//! Which ones, an [`Observer`] says: it is shown every operation of its thread before it runs. The graph that comes out is
//! a function of its inputs. It works on memory of its own, which starts each run as the program's memory was before the
//! first recorded operation touched it; inputs are never written, and the program's arrays are left alone.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use inkle_ir::{Scalar, Type};
use inkle_runtime::record::Operation;
use inkle_runtime::{Allocation, Array, Device, MemoryKind, RuntimeError};

use super::{Group, Launched, Seen, Session, State, begin_with, find, forget, watch};
use crate::access::accesses;
use crate::bundle::{Direction, Param};
use crate::error::GraphError;
use crate::graph::{Graph, Parts};
use crate::ops::{Node, Op, OpStream, Region, RegionKind, View};
use crate::replay::Bound;

/// An array that an operation uses.
#[derive(Clone, Debug)]
pub struct Use {
    /// The array.
    pub array: Array,
    /// Whether it may be read.
    pub reads: bool,
    /// Whether it may be written.
    pub writes: bool,
    /// The serial number of its allocation; zero for memory that somebody else owns.
    pub serial: u64,
}

/// An operation that is about to run.
#[derive(Clone, Debug)]
pub struct Observed {
    /// `launch`, `copy`, `fill`, `algorithm`, `graph`, `if` or `while`.
    pub kind: &'static str,
    /// What is launched or run; empty for copies and fills.
    pub name: String,
    /// The device it runs on.
    pub device: Device,
    /// The rest of what it does, addresses left out: equal operations on equal arrays have equal bytes.
    pub detail: Vec<u8>,
    /// The arrays it uses.
    pub arrays: Vec<Use>,
}

impl Observed {
    fn new(kind: &'static str, name: &str, device: Device, detail: Vec<u8>) -> Observed {
        Observed { kind, name: name.to_owned(), device, detail, arrays: Vec::new() }
    }

    fn uses(mut self, array: &Array, reads: bool, writes: bool) -> Observed {
        let memory = array.memory();
        let serial = if memory.kind() == MemoryKind::Foreign { 0 } else { memory.serial() };
        self.arrays.push(Use { array: array.clone(), reads, writes, serial });
        self
    }

    pub(super) fn of(operation: &Operation<'_>, device: Device) -> Option<Observed> {
        Some(match operation {
            Operation::Copy { dst, src, .. } => {
                Observed::new("copy", "", device, Vec::new()).uses(src, true, false).uses(dst, false, true)
            }
            Operation::Fill { dst, pattern, .. } => {
                Observed::new("fill", "", device, pattern.to_vec()).uses(dst, false, true)
            }
            Operation::Algorithm(algorithm) => {
                let detail = algorithm.try_map(|_| Ok::<_, std::convert::Infallible>(()));
                let detail = format!("{detail:?}").into_bytes();
                let mut observed = Observed::new("algorithm", algorithm.name(), device, detail);
                algorithm.each(|array, writes| observed = observed.clone().uses(array, true, writes));
                observed
            }
            Operation::RecordEvent { .. } | Operation::WaitEvent { .. } => return None,
        })
    }

    pub(super) fn of_launch(launched: &Launched<'_>, device: Device) -> Option<Observed> {
        let mut params = launched.params.clone();
        for pointer in &launched.pointers {
            if let Some(word) = params.get_mut(pointer.word as usize) {
                *word = 0;
            }
        }
        let detail = params.iter().flat_map(|word| word.to_le_bytes()).collect();
        let observed = Observed::new("launch", launched.name, device, detail);
        Some(launched.pointers.iter().fold(observed, |all, p| all.uses(&p.array, p.reads, p.writes)))
    }
}

/// Who is shown what a thread does with arrays.
pub trait Observer {
    /// Looks at an operation before it runs, and says whether the live recording on its device, which this may begin, is
    /// to have it. In a body of the recording everything is recorded.
    ///
    /// # Errors
    /// When the operation must not run; the caller gets the error.
    fn operation(&self, observed: &Observed) -> Result<bool, RuntimeError>;
}

thread_local! {
    static OBSERVER: RefCell<Option<Rc<dyn Observer>>> = const { RefCell::new(None) };
    static OBSERVING: Cell<bool> = const { Cell::new(false) };
}

/// Sets this thread's observer, or removes it.
pub fn set_observer(observer: Option<Rc<dyn Observer>>) {
    OBSERVER.with(|slot| slot.replace(observer));
    watch();
}

/// Whether this thread has an observer.
pub fn has_observer() -> bool {
    OBSERVER.with(|slot| slot.borrow().is_some())
}

/// Whether the captures of the thread are to see an operation on `device`. What the observer does itself is not observed.
pub(super) fn observe(
    device: Device,
    observed: impl FnOnce() -> Option<Observed>,
) -> Result<bool, RuntimeError> {
    let observer = OBSERVER.with(|slot| slot.borrow().clone());
    let (Some(observer), false) = (observer, OBSERVING.get()) else {
        return Ok(!OBSERVING.get());
    };
    let session = find(device);
    if session.as_ref().is_some_and(|session| !session.live) {
        return Ok(true);
    }
    let in_body = session.is_some_and(|session| session.state.borrow().lists.len() > 1);
    let Some(observed) = observed() else { return Ok(true) };
    OBSERVING.set(true);
    let recorded = observer.operation(&observed);
    OBSERVING.set(false);
    Ok(recorded? || in_body)
}

/// Shows the observer what is done by other means than operations: a launch of `graph`, or a choice or loop whose
/// `condition` is given. Whether the live recording is to have it is the result.
///
/// # Errors
/// The observer's.
pub fn observe_graph(
    kind: &'static str,
    graph: Option<&Graph>,
    condition: Option<&Array>,
) -> Result<bool, RuntimeError> {
    let device = match (graph, condition) {
        (Some(graph), _) => graph.device(),
        (None, Some(condition)) => condition.device(),
        (None, None) => return Ok(false),
    };
    let observed = || {
        let mut observed = Observed::new(kind, "", device, Vec::new());
        if let Some(condition) = condition {
            observed = observed.uses(condition, true, false);
        }
        if let Some(graph) = graph {
            observed.detail = graph.ops().to_string().into_bytes();
            for (index, bound) in graph.memory().iter().enumerate() {
                let writes = is_written(graph.ops(), index as u32);
                let bytes = i64::try_from(bound.memory.bytes()).unwrap_or(i64::MAX);
                let whole = Array::from_parts(bound.memory.clone(), 0, BYTE, &[bytes], None);
                if let Ok(whole) = whole {
                    observed = observed.uses(&whole, true, writes);
                }
            }
        }
        Some(observed)
    };
    Ok(observe(device, observed)? && find(device).is_some_and(|session| session.live))
}

const BYTE: Type = Type::Scalar(Scalar::U8);

/// Begins a live recording on `device`: what this thread's observer chooses of its operations runs and is recorded.
///
/// # Errors
/// [`GraphError::AlreadyCapturing`].
pub fn begin_live(device: Device) -> Result<(), GraphError> {
    begin_with(device, None, true)
}

/// Ends a live recording. Its graph has the given parameters: `inputs`, in the program's memory before the recording, and
/// `outputs`, in it after the recording.
///
/// # Errors
/// [`GraphError::NotCapturing`]; [`GraphError::InsideBody`]; [`GraphError::ParamMismatch`] for arrays of another device;
/// the runtime's.
pub fn end_live(
    device: Device,
    inputs: &[(String, Array)],
    outputs: &[(String, Array)],
) -> Result<Graph, GraphError> {
    let Some(session) = find(device).filter(|session| session.live) else {
        return Err(GraphError::NotCapturing { device: device.to_string() });
    };
    if session.state.borrow().lists.len() > 1 {
        return Err(GraphError::InsideBody { what: "end" });
    }
    forget(&session);
    let mut state = session.state.take();
    for (_, array) in inputs.iter().chain(outputs) {
        // What crosses the edge belongs to the graph whole, however little of it the operations name.
        state.view(&session, array);
    }
    if let Some(failure) = state.failure.take() {
        return Err(failure.into());
    }
    let (mut parts, before) = state.finish(device);
    close(&mut parts, before, inputs, outputs)?;
    Graph::from_parts(parts)
}

/// The bytes that a group of allocations had before the recording touched them.
pub(super) fn before(seen: &[Seen], group: &Group) -> Option<Vec<u8>> {
    let kept = |&&member: &&u32| seen[member as usize].before.is_some();
    group.members.iter().find(kept)?;
    let mut bytes = vec![0; usize::try_from(group.range.end - group.range.start).ok()?];
    // Those that were seen first knew the memory longest.
    let mut members = group.members.clone();
    members.sort_unstable_by(|a, b| b.cmp(a));
    for member in members {
        let Seen { memory, before: Some(before), .. } = &seen[member as usize] else { continue };
        let start = (memory.address() - group.range.start) as usize;
        bytes[start..start + before.len()].copy_from_slice(before);
    }
    Some(bytes)
}

impl Session {
    /// Runs operations that were recorded.
    pub(super) fn run(&self, state: &State, nodes: &[Node]) -> Result<(), GraphError> {
        let stream = OpStream {
            regions: state.seen.iter().map(|seen| seen.region).collect(),
            kernels: state.kernels.clone(),
            events: state.event_count,
            body: nodes.to_vec(),
        };
        let graph = Graph::from_parts(Parts {
            device: self.device,
            stream,
            memory: state.seen.iter().map(|seen| Bound::whole(seen.memory.clone())).collect(),
            code: state.code.clone(),
            sources: vec![None; state.code.len()],
            held: Vec::new(),
            params: Vec::new(),
            loaded: false,
            captured: None,
        })?;
        graph.launch(None)
    }
}

/// What becomes of the bytes that a region has before a stream runs.
enum Kept {
    /// They may be read.
    Read,
    /// They are all written before any is read.
    Gone,
    /// None is read, and some may be left.
    Rest,
}

fn keeps_before(stream: &OpStream, region: u32) -> Kept {
    for node in &stream.body {
        for access in accesses(&node.op).into_iter().filter(|access| access.region == region) {
            if access.reads {
                return Kept::Read;
            }
            if access.overwrites && access.span == (0..stream.regions[region as usize].bytes) {
                return Kept::Gone;
            }
        }
    }
    Kept::Rest
}

fn is_written(stream: &OpStream, region: u32) -> bool {
    let mut written = false;
    for node in &stream.body {
        written |= accesses(&node.op).iter().any(|access| access.region == region && access.writes);
    }
    written
}

/// Makes a recorded stream a function of its inputs.
fn close(
    parts: &mut Parts,
    before: Vec<Option<Vec<u8>>>,
    inputs: &[(String, Array)],
    outputs: &[(String, Array)],
) -> Result<(), GraphError> {
    let placed = |parts: &Parts, (name, array): &(String, Array)| {
        let found = parts.memory.iter().position(|bound| {
            bound.memory.device() == array.device()
                && array.address() >= bound.memory.address()
                && array.address() - bound.memory.address() < bound.memory.bytes() as u64
        });
        match found {
            Some(region) => Ok(parts.memory[region].view(region as u32, array)),
            None => Err(GraphError::ParamMismatch {
                name: name.clone(),
                expected: format!("an array on {}", parts.device),
                found: format!("one on {}", array.device()),
            }),
        }
    };
    let inputs: Vec<(&String, View)> = inputs
        .iter()
        .map(|named| Ok((&named.0, placed(parts, named)?)))
        .collect::<Result<_, GraphError>>()?;
    let outputs: Vec<(&String, View)> = outputs
        .iter()
        .map(|named| Ok((&named.0, placed(parts, named)?)))
        .collect::<Result<_, GraphError>>()?;
    let mut params: Vec<Option<View>> = vec![None; inputs.len()];
    let (mut resets, mut loads) = (Vec::new(), Vec::new());
    for (region, before) in before.into_iter().enumerate() {
        let of_region = |view: &View| view.region as usize == region;
        let within: Vec<usize> = (0..inputs.len()).filter(|&i| of_region(&inputs[i].1)).collect();
        let about = parts.stream.regions[region];
        let written = is_written(&parts.stream, region as u32);
        let whole = within.iter().copied().find(|&i| {
            inputs[i].1.is_dense() && inputs[i].1.span().is_some_and(|span| span == (0..about.bytes))
        });
        let home = parts.memory[region].memory.device();
        let is_kept = within.is_empty() && about.kind != RegionKind::Internal && !written;
        let kept = if is_kept { Some(parts.memory[region].memory.contents()?) } else { None };
        parts.memory[region] = fresh(home, about.bytes, kept.as_deref())?;
        if within.is_empty() && (about.kind != RegionKind::Given || !written) {
            continue;
        }
        if let (Some(only), false, 1) = (whole, written, within.len())
            && is_contiguous(&inputs[only].1)
        {
            params[only] = Some(inputs[only].1.clone());
            continue;
        }
        // What an output has of it besides what was written counts as read at the end.
        let first = match keeps_before(&parts.stream, region as u32) {
            Kept::Read => true,
            Kept::Gone => false,
            Kept::Rest => outputs.iter().any(|(_, view)| of_region(view)),
        };
        parts.stream.regions[region].kind = RegionKind::Internal;
        if whole.is_none()
            && (first || !written)
            && let Some(before) = before
        {
            let bytes = i32::try_from(about.bytes).map_err(|_| GraphError::NotCapturable {
                what: format!("{} bytes that are changed in place", about.bytes),
            })?;
            let kept = put(parts, Region { kind: RegionKind::Constant, ..about }, home, Some(&before))?;
            let view = |region| View { region, offset: 0, dtype: BYTE, shape: vec![bytes], strides: vec![1] };
            resets.push(Op::Copy { dst: view(region as u32), src: view(kept) });
        }
        for i in within {
            let dst = inputs[i].1.clone();
            let (strides, bytes) = packed(&dst);
            let own = put(parts, Region { kind: RegionKind::Given, bytes, ..about }, home, None)?;
            let src = View { region: own, offset: 0, strides, ..dst.clone() };
            params[i] = Some(src.clone());
            loads.push(Op::Copy { dst, src });
        }
    }
    let ops = resets.into_iter().chain(loads).map(|op| Node { queue: 0, op });
    parts.stream.body.splice(0..0, ops);
    let named = inputs.iter().zip(params).map(|((name, view), own)| Param {
        name: (*name).clone(),
        direction: Direction::Input,
        view: own.unwrap_or_else(|| view.clone()),
    });
    let given = outputs.iter().map(|(name, view)| Param {
        name: (*name).clone(),
        direction: Direction::Output,
        view: view.clone(),
    });
    parts.params = named.chain(given).collect();
    Ok(())
}

/// Adds a region and gives its number.
fn put(parts: &mut Parts, region: Region, home: Device, contents: Option<&[u8]>) -> Result<u32, GraphError> {
    parts.memory.push(fresh(home, region.bytes, contents)?);
    parts.stream.regions.push(region);
    Ok(parts.stream.regions.len() as u32 - 1)
}

fn fresh(home: Device, bytes: u64, contents: Option<&[u8]>) -> Result<Bound, RuntimeError> {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    Ok(Bound::whole(Allocation::with_contents(home, bytes, contents)?))
}

/// The strides of a view's elements one after the other, and how many bytes they take.
fn packed(view: &View) -> (Vec<i64>, u64) {
    let mut bytes = i64::from(view.dtype.size());
    let mut strides = vec![0; view.shape.len()];
    for (stride, &extent) in strides.iter_mut().zip(&view.shape).rev() {
        *stride = bytes;
        bytes *= i64::from(extent);
    }
    (strides, bytes.unsigned_abs())
}

fn is_contiguous(view: &View) -> bool {
    let (strides, _) = packed(view);
    view.shape.iter().zip(view.strides.iter().zip(&strides)).all(|(&n, (a, b))| n <= 1 || a == b)
}
