//! Calls on a GPU: they are queued on the caller's stream, and nobody waits.
//!
//! A *lane* is memory for one call at a time and driver's graphs that work in it. One graph copies from and to tensors
//! wherever they are. When the same addresses come again, as they do in a loop whose allocator gives out the same memory,
//! the lane makes a graph that works in the tensors themselves. Work of one lane is ordered by an event, whatever streams
//! the calls come on; calls on several streams use several lanes, so that they do not wait for each other.
//!
//! A stream that is being captured gets the operations themselves as part of its capture, in memory that lives as long as
//! what was captured.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use inkle_runtime::cuda::{CudaGraph, relaxed};
use inkle_runtime::{Allocation, Array, Event, Loaded, RuntimeError, Stream};

use super::{OnDevice, is_aligned, put_tensors};
use crate::bundle::region_memory;
use crate::error::GraphError;
use crate::function::plan::{Home, Plan};
use crate::ops::{Space, View};
use crate::replay::{Bound, build, emit};

/// The most lanes: calls on more streams than that share them.
const MAX_LANES: usize = 8;
/// How many graphs for definite addresses a lane keeps, and how many sets of addresses it remembers having seen.
const MAX_GRAPHS: usize = 4;
const MAX_SEEN: usize = 8;

/// The lanes of a function on one GPU.
#[derive(Default)]
pub struct Lanes(Mutex<State>);

#[derive(Default)]
struct State {
    idle: Vec<Lane>,
    /// How many there are, those in use included.
    count: usize,
}

struct Lane {
    /// Per region; for tensors, memory that their elements are copied to or from.
    memory: Vec<Bound>,
    copying: CudaGraph,
    /// Graphs that work in tensors at these addresses, the latest last.
    graphs: VecDeque<(Vec<u64>, CudaGraph)>,
    seen: VecDeque<Vec<u64>>,
    /// Recorded after each call.
    done: Event,
    /// The handle of the stream of the latest call.
    stream: u64,
}

impl Drop for Lane {
    /// The memory goes back in the order of the device's current stream, where it came from: after the latest call.
    fn drop(&mut self) {
        if let Ok(stream) = self.done.device().stream() {
            let _ = stream.wait_event(&self.done);
        }
    }
}

impl OnDevice {
    pub(super) fn call_on_gpu(
        &self,
        plan: &Plan,
        inputs: &[Array],
        outputs: &[Array],
        stream: &Stream,
    ) -> Result<(), GraphError> {
        if stream.is_capturing()? {
            return self.capture(plan, inputs, outputs, stream);
        }
        let mut lane = self.take_lane(plan, stream)?;
        let outcome = self.run_lane(plan, &mut lane, inputs, outputs, stream);
        let recorded = lane.done.record(stream);
        lane.stream = stream.handle();
        self.gpu.0.lock().unwrap_or_else(PoisonError::into_inner).idle.push(lane);
        outcome?;
        Ok(recorded?)
    }

    /// A lane of the stream's own, one that has nothing to do, a new one, or any.
    fn take_lane(&self, plan: &Plan, stream: &Stream) -> Result<Lane, GraphError> {
        let mut state = self.gpu.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = state.idle.iter().position(|lane| lane.stream == stream.handle());
        let idle = || state.idle.iter().position(|lane| lane.done.is_complete().unwrap_or(true));
        let most = if plan.keeps { 1 } else { MAX_LANES };
        let chosen = match own.or_else(idle) {
            None if state.count >= most && !state.idle.is_empty() => Some(0),
            chosen => chosen,
        };
        if let Some(chosen) = chosen {
            return Ok(state.idle.remove(chosen));
        }
        state.count += 1;
        drop(state);
        let made = self.new_lane(plan);
        if made.is_err() {
            self.gpu.0.lock().unwrap_or_else(PoisonError::into_inner).count -= 1;
        }
        made
    }

    fn new_lane(&self, plan: &Plan) -> Result<Lane, GraphError> {
        let mut memory = self.own_memory(plan)?;
        for slot in &plan.slots {
            let region = &self.stream.regions[slot.region as usize];
            memory[slot.region as usize] = region_memory(self.device, region, None)?;
        }
        let copying = build(self.device, &self.stream, &memory, &self.code)?;
        let done = Event::new(self.device, false)?;
        let (graphs, seen) = (VecDeque::new(), VecDeque::new());
        Ok(Lane { memory, copying, graphs, seen, done, stream: 0 })
    }

    fn run_lane(
        &self,
        plan: &Plan,
        lane: &mut Lane,
        inputs: &[Array],
        outputs: &[Array],
        stream: &Stream,
    ) -> Result<(), GraphError> {
        stream.wait_event(&lane.done)?;
        let addresses: Vec<u64> = inputs.iter().chain(outputs).map(Array::address).collect();
        if let Some((_, graph)) = lane.graphs.iter().find(|(known, _)| *known == addresses) {
            return Ok(graph.launch(stream)?);
        }
        if inputs.iter().chain(outputs).all(is_aligned) {
            if let Some(at) = lane.seen.iter().position(|known| *known == addresses) {
                lane.seen.remove(at);
                let mut memory = lane.memory.clone();
                put_tensors(&mut memory, plan, inputs.iter().chain(outputs));
                let graph = build(self.device, &self.stream, &memory, &self.code)?;
                graph.launch(stream)?;
                if lane.graphs.len() == MAX_GRAPHS {
                    lane.graphs.pop_front();
                }
                lane.graphs.push_back((addresses, graph));
                return Ok(());
            }
            if lane.seen.len() == MAX_SEEN {
                lane.seen.pop_front();
            }
            lane.seen.push_back(addresses);
        }
        let (slots_in, slots_out) = plan.slots.split_at(inputs.len());
        let own = |slot: &View| lane.memory[slot.region as usize].array(slot);
        for (slot, array) in slots_in.iter().zip(inputs) {
            own(slot)?.copy_untracked_from(array, stream)?;
        }
        lane.copying.launch(stream)?;
        for (slot, array) in slots_out.iter().zip(outputs) {
            array.copy_untracked_from(&own(slot)?, stream)?;
        }
        Ok(())
    }

    /// Makes the operations part of the capture of `stream`.
    fn capture(
        &self,
        plan: &Plan,
        inputs: &[Array],
        outputs: &[Array],
        stream: &Stream,
    ) -> Result<(), GraphError> {
        // A stream of our own takes part in the capture, because memory remembers the streams that used it.
        let own = relaxed(|| Stream::unordered(self.device))?;
        let fork = relaxed(|| Event::new(self.device, false))?;
        fork.record(stream)?;
        own.wait_event(&fork)?;
        let mut memory = match plan.keeps {
            true => self.memory_kept(plan, stream)?,
            false => self.captured_memory(plan, &own)?,
        };
        // Tensors are the caller's; the rest is the capture's from now on.
        let mut kept = memory.clone();
        let mut copies: Vec<(&Array, Array)> = Vec::new();
        for (index, (slot, tensor)) in plan.slots.iter().zip(inputs.iter().chain(outputs)).enumerate() {
            let region = slot.region as usize;
            if is_aligned(tensor) {
                let base = tensor.address().wrapping_sub(slot.offset);
                memory[region] = Bound { memory: tensor.memory().clone(), base };
                continue;
            }
            memory[region] = self.on(&own, region)?;
            kept.push(memory[region].clone());
            let array = memory[region].array(slot)?;
            if index < inputs.len() {
                array.copy_untracked_from(tensor, &own)?;
            } else {
                copies.push((tensor, array));
            }
        }
        emit(&own, &self.stream, &memory, &self.code)?;
        for (tensor, array) in &copies {
            tensor.copy_untracked_from(array, &own)?;
        }
        let join = relaxed(|| Event::new(self.device, false))?;
        join.record(&own)?;
        stream.wait_event(&join)?;
        let kept: (Vec<Bound>, Vec<Arc<Loaded>>) = (kept, self.code.clone());
        Ok(stream.keep_with_capture(Box::new(kept))?)
    }

    /// The memory of the only lane, which lives on.
    fn memory_kept(&self, plan: &Plan, stream: &Stream) -> Result<Vec<Bound>, GraphError> {
        let lane = relaxed(|| self.take_lane(plan, stream))?;
        let memory = lane.memory.clone();
        self.gpu.0.lock().unwrap_or_else(PoisonError::into_inner).idle.push(lane);
        Ok(memory)
    }

    /// Memory of a region for a capture that `stream` takes part in.
    fn on(&self, stream: &Stream, region: usize) -> Result<Bound, RuntimeError> {
        let region = &self.stream.regions[region];
        if region.space == Space::Host {
            return region_memory(self.device, region, None);
        }
        let bytes = usize::try_from(region.bytes).unwrap_or(usize::MAX);
        Ok(Bound::whole(Allocation::on_stream(stream, bytes)?))
    }

    /// Memory for every region but those of tensors. What the plan does not restore starts with zeros.
    fn captured_memory(&self, plan: &Plan, stream: &Stream) -> Result<Vec<Bound>, GraphError> {
        let mut memory = Vec::with_capacity(plan.homes.len());
        for (index, home) in plan.homes.iter().enumerate() {
            memory.push(match (&self.shared[index], home) {
                (Some(shared), _) => shared.clone(),
                (None, Home::Own(_)) => {
                    let bound = self.on(stream, index)?;
                    let span = 0..self.stream.regions[index].bytes;
                    for piece in crate::function::plan::pieces(index as u32, &span) {
                        bound.array(&piece)?.zero(Some(stream))?;
                    }
                    bound
                }
                (None, _) => Bound::whole(Allocation::new(inkle_runtime::Device::cpu(), 0)?),
            });
        }
        Ok(memory)
    }
}
