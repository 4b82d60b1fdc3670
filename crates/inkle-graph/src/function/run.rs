//! Calls of a function: on the CPU here, on a GPU in [`cuda`].
//!
//! Calls that run at the same time each have a worker of their own, with memory for what the graph writes. A worker that
//! is done waits for the next call; there are as many as there were calls at one time.

mod cuda;

use std::sync::{Arc, Mutex, PoisonError};

use inkle_runtime::cuda::relaxed;
use inkle_runtime::{Array, Device, Loaded, RuntimeError, Stream};

use super::plan::{Home, Plan, TENSOR_ALIGN};
use crate::bundle::{Bundle, place, region_memory};
use crate::error::GraphError;
use crate::ops::{OpStream, Region};
use crate::replay::{Bound, CpuProgram};

/// A function on one device.
pub struct OnDevice {
    device: Device,
    stream: OpStream,
    code: Vec<Arc<Loaded>>,
    /// Per region its memory, if all calls share it.
    shared: Vec<Option<Bound>>,
    workers: Mutex<Vec<Worker>>,
    gpu: cuda::Lanes,
    /// Held by a call that goes on with the memory of the one before.
    alone: Mutex<()>,
}

/// What a call on the CPU needs, and keeps for the next one.
struct Worker {
    /// Per region.
    memory: Vec<Bound>,
    /// What is run, at the addresses of the call before.
    program: Option<CpuProgram>,
}

impl OnDevice {
    pub fn new(bundle: &Bundle, plan: &Plan, device: Device) -> Result<OnDevice, GraphError> {
        // Somebody else's stream may be being captured.
        relaxed(|| {
            let code = bundle.code_for(device, None)?;
            let mut stream = plan.stream.clone();
            place(&mut stream, device);
            let shared = plan.homes.iter().zip(&stream.regions).map(|(home, region)| match home {
                Home::Shared(contents) => region_memory(device, region, contents.as_ref()).map(Some),
                Home::Own(_) | Home::Tensor => Ok(None),
            });
            let shared = shared.collect::<Result<_, RuntimeError>>()?;
            let (workers, gpu, alone) = (Mutex::default(), cuda::Lanes::default(), Mutex::default());
            Ok(OnDevice { device, stream, code, shared, workers, gpu, alone })
        })
    }

    pub fn device(&self) -> Device {
        self.device
    }

    pub fn call(
        &self,
        plan: &Plan,
        inputs: &[Array],
        outputs: &[Array],
        stream: Option<&Stream>,
    ) -> Result<(), GraphError> {
        let _alone = plan.keeps.then(|| self.alone.lock().unwrap_or_else(PoisonError::into_inner));
        if self.device.is_cpu() {
            return self.call_on_cpu(plan, inputs, outputs);
        }
        match stream {
            Some(stream) => self.call_on_gpu(plan, inputs, outputs, stream),
            None => self.call_on_gpu(plan, inputs, outputs, &self.device.stream()?),
        }
    }

    fn call_on_cpu(&self, plan: &Plan, inputs: &[Array], outputs: &[Array]) -> Result<(), GraphError> {
        let found = self.workers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut worker = match found {
            Some(worker) => worker,
            None => Worker { memory: self.own_memory(plan)?, program: None },
        };
        let outcome = self.run(plan, &mut worker, inputs, outputs);
        self.workers.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
        outcome
    }

    fn run(
        &self,
        plan: &Plan,
        worker: &mut Worker,
        inputs: &[Array],
        outputs: &[Array],
    ) -> Result<(), GraphError> {
        let moved_in = aligned(inputs, |array| array.to_contiguous(None))?;
        let moved_out = aligned(outputs, |array| {
            let extents: Vec<i64> = array.shape().iter().map(|&n| n.into()).collect();
            Array::empty(self.device, array.dtype(), &extents)
        })?;
        let tensors = || pick(inputs, &moved_in).chain(pick(outputs, &moved_out));
        let Worker { memory, program } = worker;
        put_tensors(memory, plan, tensors());
        let ready = match program.take().filter(|ready| ready.can_move_to(&self.stream, memory)) {
            Some(mut ready) => {
                ready.rebase(memory)?;
                ready
            }
            None => {
                let regions: Vec<u32> = plan.slots.iter().map(|slot| slot.region).collect();
                CpuProgram::movable(&self.stream, memory, &self.code, &regions)?
            }
        };
        program.insert(ready).run()?;
        for (array, moved) in outputs.iter().zip(&moved_out) {
            if let Some(moved) = moved {
                array.copy_from(moved, None)?;
            }
        }
        Ok(())
    }

    /// Memory for every region. That of tensors is empty: it is put in by [`put_tensors`].
    fn own_memory(&self, plan: &Plan) -> Result<Vec<Bound>, RuntimeError> {
        let regions = plan.homes.iter().zip(&self.stream.regions).zip(&self.shared);
        regions
            .map(|((home, region), shared)| match (shared, home) {
                (Some(shared), _) => Ok(shared.clone()),
                (None, Home::Own(initial)) => region_memory(self.device, region, initial.as_ref()),
                (None, _) => region_memory(self.device, &Region { bytes: 0, ..*region }, None),
            })
            .collect()
    }
}

/// Makes the regions of tensors the tensors' memory.
fn put_tensors<'a>(memory: &mut [Bound], plan: &Plan, tensors: impl Iterator<Item = &'a Array>) {
    for (slot, tensor) in plan.slots.iter().zip(tensors) {
        let base = tensor.address().wrapping_sub(slot.offset);
        memory[slot.region as usize] = Bound { memory: tensor.memory().clone(), base };
    }
}

fn is_aligned(array: &Array) -> bool {
    array.address().is_multiple_of(TENSOR_ALIGN)
}

/// Per array another one, if it does not start where the code needs it.
fn aligned(
    arrays: &[Array],
    make: impl Fn(&Array) -> Result<Array, RuntimeError>,
) -> Result<Vec<Option<Array>>, RuntimeError> {
    if arrays.iter().all(is_aligned) {
        return Ok(Vec::new());
    }
    arrays.iter().map(|array| if is_aligned(array) { Ok(None) } else { make(array).map(Some) }).collect()
}

/// The arrays, or those that stand for them.
fn pick<'a>(arrays: &'a [Array], instead: &'a [Option<Array>]) -> impl Iterator<Item = &'a Array> {
    arrays.iter().enumerate().map(|(i, array)| match instead.get(i) {
        Some(Some(other)) => other,
        _ => array,
    })
}
