//! Replay on a GPU: the stream is put on CUDA streams while they are captured, which makes the driver's graph of it.
//!
//! The same walk serves a graph of its own, a body of a condition or a loop, and a capture that somebody else began.

use std::sync::Arc;

use inkle_ir::Type;
use inkle_runtime::cuda::{Body, CaptureMode, CudaGraph, require_conditional_nodes};
use inkle_runtime::record::set_recorder;
use inkle_runtime::{Array, Device, Event, LaunchConfig, Loaded, RuntimeError, Stream};

use super::Bound;
use crate::error::GraphError;
use crate::ops::{Condition, Launch, Node, Op, OpStream, View};

/// Makes the driver's graph of a stream.
///
/// # Errors
/// [`GraphError::NotCapturable`] for what the GPU cannot do in a graph; the driver's.
pub fn build(
    device: Device,
    stream: &OpStream,
    memory: &[Bound],
    code: &[Arc<Loaded>],
) -> Result<CudaGraph, GraphError> {
    let queue = Stream::unordered(device)?;
    queue.begin_capture(CaptureMode::ThreadLocal)?;
    match emit(&queue, stream, memory, code) {
        Ok(()) => Ok(queue.end_capture()?),
        Err(error) => {
            queue.abandon_capture();
            Err(error)
        }
    }
}

/// Puts the operations on a CUDA stream that is being captured.
///
/// # Errors
/// As [`build`].
pub fn emit(
    queue: &Stream,
    stream: &OpStream,
    memory: &[Bound],
    code: &[Arc<Loaded>],
) -> Result<(), GraphError> {
    emit_nodes(queue, 0, &stream.body, stream.events, memory, code)
}

/// Puts some operations on a CUDA stream that is being captured: `queue` stands for the queue `number`.
///
/// # Errors
/// As [`build`].
pub fn emit_nodes(
    queue: &Stream,
    number: u32,
    nodes: &[Node],
    events: u32,
    memory: &[Bound],
    code: &[Arc<Loaded>],
) -> Result<(), GraphError> {
    check_capturable(queue.device(), nodes)?;
    // What is put on the stream here was recorded before.
    let recorder = set_recorder(None);
    let outcome = Emitter::new(queue, number, events, memory, code).nodes(nodes);
    set_recorder(recorder);
    Ok(outcome?)
}

/// Fails for what a GPU cannot do in a graph.
///
/// # Errors
/// [`GraphError::NotCapturable`]; [`RuntimeError::Unsupported`] for conditions and loops that the driver does not have.
pub fn check_capturable(device: Device, nodes: &[Node]) -> Result<(), GraphError> {
    let (mut algorithm, mut branches) = (None, false);
    for node in nodes {
        node.op.each(&mut |op| match op {
            Op::Algorithm(found) => algorithm = Some(found.name()),
            Op::If { .. } | Op::While { .. } => branches = true,
            _ => {}
        });
    }
    if let Some(name) = algorithm {
        let what = format!("{name}() on a GPU, before `inkle convert` put kernels in its place,");
        return Err(GraphError::NotCapturable { what });
    }
    if branches { Ok(require_conditional_nodes(device)?) } else { Ok(()) }
}

struct Emitter<'a> {
    memory: &'a [Bound],
    code: &'a [Arc<Loaded>],
    /// The CUDA stream of each queue that was used.
    queues: Vec<(u32, Stream)>,
    events: Vec<Option<Event>>,
}

impl<'a> Emitter<'a> {
    /// Puts operations of the queue `first` on `stream`.
    fn new(
        stream: &Stream,
        first: u32,
        events: u32,
        memory: &'a [Bound],
        code: &'a [Arc<Loaded>],
    ) -> Emitter<'a> {
        Emitter { memory, code, queues: vec![(first, stream.clone())], events: vec![None; events as usize] }
    }

    fn queue(&mut self, queue: u32) -> Result<Stream, RuntimeError> {
        if let Some((_, stream)) = self.queues.iter().find(|(number, _)| *number == queue) {
            return Ok(stream.clone());
        }
        let stream = Stream::unordered(self.queues[0].1.device())?;
        self.queues.push((queue, stream.clone()));
        Ok(stream)
    }

    fn nodes(&mut self, nodes: &[Node]) -> Result<(), RuntimeError> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &Node) -> Result<(), RuntimeError> {
        let stream = self.queue(node.queue)?;
        let (memory, code, events) = (self.memory, self.code, self.events.len() as u32);
        match &node.op {
            Op::Launch(launch) => self.launch(&stream, launch),
            Op::Copy { dst, src } => self.array(dst)?.copy_from(&self.array(src)?, Some(&stream)),
            Op::Fill { dst, pattern } => self.array(dst)?.fill(pattern, Some(&stream)),
            Op::Algorithm(algorithm) => algorithm.try_map(|view| self.array(view))?.run(),
            Op::If { condition, on_true, on_false } => {
                let address = self.condition(condition)?;
                let mut yes =
                    |stream: &Stream| Emitter::new(stream, node.queue, events, memory, code).nodes(on_true);
                let mut no =
                    |stream: &Stream| Emitter::new(stream, node.queue, events, memory, code).nodes(on_false);
                let yes: Option<Body<'_>> = if on_true.is_empty() { None } else { Some(&mut yes) };
                let no: Option<Body<'_>> = if on_false.is_empty() { None } else { Some(&mut no) };
                stream.capture_if(address, yes, no)
            }
            Op::While { condition, body } => {
                let address = self.condition(condition)?;
                stream.capture_while(address, &mut |stream| {
                    Emitter::new(stream, node.queue, events, memory, code).nodes(body)
                })
            }
            Op::Record { event } => {
                let made = match &self.events[*event as usize] {
                    Some(made) => made.clone(),
                    None => Event::new(stream.device(), false)?,
                };
                made.record(&stream)?;
                self.events[*event as usize] = Some(made);
                Ok(())
            }
            Op::Wait { event } => match &self.events[*event as usize] {
                Some(event) => stream.wait_event(event),
                // An event that recorded nothing has nothing to wait for.
                None => Ok(()),
            },
        }
    }

    fn array(&self, view: &View) -> Result<Array, RuntimeError> {
        self.memory[view.region as usize].array(view)
    }

    fn condition(&self, condition: &Condition) -> Result<u64, RuntimeError> {
        let Condition { region, offset } = *condition;
        let view = View { region, offset, dtype: Type::I32, shape: Vec::new(), strides: Vec::new() };
        Ok(self.array(&view)?.address())
    }

    fn launch(&self, stream: &Stream, launch: &Launch) -> Result<(), RuntimeError> {
        let Loaded::Cuda { function, lanes } = &*self.code[launch.kernel as usize] else {
            return Err(RuntimeError::WrongDevice {
                what: "the code",
                expected: stream.device().to_string(),
                found: "cpu".into(),
            });
        };
        let mut params = launch.params.clone();
        for pointer in &launch.pointers {
            params[pointer.word as usize] =
                self.memory[pointer.region as usize].base.wrapping_add(pointer.offset);
        }
        let config = LaunchConfig {
            block_dim: launch.block_dim,
            max_blocks: launch.max_blocks,
            shared_bytes: launch.shared_bytes,
            threads_per_lane: *lanes,
            ..LaunchConfig::new(launch.size())
        };
        function.launch(stream, &params, &config)
    }
}
