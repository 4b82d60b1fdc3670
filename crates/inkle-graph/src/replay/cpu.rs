//! Replay on the CPU: the stream as steps with addresses filled in.
//!
//! Steps that do not depend on each other stand together in a group. A group is run one step after the other, unless
//! the steps are long enough that sharing them with the worker threads pays; steps that are long by themselves already
//! use all threads.

use std::sync::Arc;

use inkle_ir::Type;
use inkle_runtime::algorithms::Algorithm;
use inkle_runtime::{Array, Loaded, Prepared, RuntimeError, run_together};

use super::Bound;
use crate::error::GraphError;
use crate::ops::{Condition, Launch, Node, Op, OpStream, View};
use crate::schedule::levels;

/// Steps together above this many ticks (of about half a nanosecond) are shared with the workers, whom waking costs
/// some microseconds.
const SHARED_TICKS: u64 = 40_000;
/// Steps above this many ticks are cut up by themselves.
const OWN_TICKS: u64 = 60_000;
/// About what moving a byte takes, ticks times 16.
const TICKS_PER_16_BYTES: u64 = 4;

/// A stream made ready for one set of addresses.
#[derive(Debug)]
pub struct CpuProgram {
    body: Vec<Group>,
}

/// Steps that do not depend on each other.
#[derive(Debug)]
struct Group {
    steps: Vec<Step>,
    /// Whether running them at the same time is possible and worth asking about.
    sharable: bool,
}

#[derive(Debug)]
enum Step {
    Launch { code: Arc<Loaded>, params: Box<[u64]>, size: u64 },
    Move(Prepared),
    Algorithm(Algorithm<Array>),
    If { condition: Flag, on_true: Vec<Group>, on_false: Vec<Group> },
    While { condition: Flag, body: Vec<Group> },
}

/// An `int32` in the graph's memory.
#[derive(Debug)]
struct Flag(Array);

impl Flag {
    fn is_set(&self) -> Result<bool, GraphError> {
        Ok(self.0.to_bytes()?.iter().any(|byte| *byte != 0))
    }
}

struct Maker<'a> {
    memory: &'a [Bound],
    code: &'a [Arc<Loaded>],
}

impl CpuProgram {
    /// The steps of a stream whose regions have the memory `memory` and whose kernels the code `code`.
    ///
    /// # Errors
    /// [`GraphError::NotCapturable`] for operations that the CPU does not have; the runtime's for views that do not lie in
    /// their regions.
    pub fn new(stream: &OpStream, memory: &[Bound], code: &[Arc<Loaded>]) -> Result<CpuProgram, GraphError> {
        let maker = Maker { memory, code };
        Ok(CpuProgram { body: maker.groups(&stream.body)? })
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// The first failure; later steps have not run then.
    pub fn run(&self) -> Result<(), GraphError> {
        run_groups(&self.body)
    }
}

impl Maker<'_> {
    fn groups(&self, nodes: &[Node]) -> Result<Vec<Group>, GraphError> {
        let mut groups: Vec<Group> = Vec::new();
        for level in levels(nodes) {
            let steps: Result<Vec<Option<Step>>, GraphError> =
                level.iter().map(|&i| self.step(&nodes[i].op)).collect();
            let steps: Vec<Step> = steps?.into_iter().flatten().collect();
            let simple = steps.iter().all(|s| matches!(s, Step::Launch { .. } | Step::Move(_)));
            let sharable = simple && steps.len() > 1;
            match groups.last_mut() {
                // One after the other is one after the other.
                Some(last) if !sharable && !last.sharable => last.steps.extend(steps),
                _ => groups.push(Group { steps, sharable }),
            }
        }
        Ok(groups)
    }

    fn step(&self, op: &Op) -> Result<Option<Step>, GraphError> {
        Ok(Some(match op {
            Op::Launch(launch) => return self.launch(launch),
            Op::Copy { dst, src } => Step::Move(Prepared::copy(&self.array(dst)?, &self.array(src)?)?),
            Op::Fill { dst, pattern } => Step::Move(Prepared::fill(&self.array(dst)?, pattern)?),
            Op::Algorithm(algorithm) => Step::Algorithm(algorithm.try_map(|view| self.array(view))?),
            Op::If { condition, on_true, on_false } => Step::If {
                condition: self.flag(condition)?,
                on_true: self.groups(on_true)?,
                on_false: self.groups(on_false)?,
            },
            Op::While { condition, body } => {
                Step::While { condition: self.flag(condition)?, body: self.groups(body)? }
            }
            // One queue has nothing to wait for.
            Op::Record { .. } | Op::Wait { .. } => return Ok(None),
        }))
    }

    fn launch(&self, launch: &Launch) -> Result<Option<Step>, GraphError> {
        let size = launch.size();
        if size == 0 {
            return Ok(None);
        }
        let mut params = launch.params.clone();
        for pointer in &launch.pointers {
            params[pointer.word as usize] =
                self.memory[pointer.region as usize].base.wrapping_add(pointer.offset);
        }
        Ok(Some(Step::Launch { code: self.code[launch.kernel as usize].clone(), params, size }))
    }

    fn array(&self, view: &View) -> Result<Array, GraphError> {
        Ok(self.memory[view.region as usize].array(view)?)
    }

    fn flag(&self, condition: &Condition) -> Result<Flag, GraphError> {
        let Condition { region, offset } = *condition;
        let view = View { region, offset, dtype: Type::I32, shape: Vec::new(), strides: Vec::new() };
        Ok(Flag(self.array(&view)?))
    }
}

fn run_groups(groups: &[Group]) -> Result<(), GraphError> {
    for group in groups {
        if group.sharable && group.is_worth_sharing() {
            run_together(group.steps.len(), &|i| group.steps[i].run_simple())?;
        } else {
            group.steps.iter().try_for_each(Step::run)?;
        }
    }
    Ok(())
}

impl Group {
    fn is_worth_sharing(&self) -> bool {
        let (mut sum, mut largest) = (0u64, 0);
        for step in &self.steps {
            let Some(ticks) = step.estimate() else { return false };
            sum = sum.saturating_add(ticks);
            largest = largest.max(ticks);
        }
        largest < OWN_TICKS && sum > SHARED_TICKS
    }
}

impl Step {
    /// About how long it takes on one thread, ticks; `None` if nobody knows.
    fn estimate(&self) -> Option<u64> {
        match self {
            Step::Launch { code, size, .. } => match &**code {
                Loaded::Cpu(function) => function.estimate(*size),
                Loaded::Cuda { .. } => None,
            },
            Step::Move(moves) => Some(moves.bytes() as u64 * TICKS_PER_16_BYTES / 16),
            Step::Algorithm(_) | Step::If { .. } | Step::While { .. } => None,
        }
    }

    #[inline]
    fn run_simple(&self) -> Result<(), RuntimeError> {
        match self {
            Step::Launch { code, params, size } => match &**code {
                Loaded::Cpu(function) => function.launch(params, *size),
                Loaded::Cuda { function, .. } => Err(RuntimeError::WrongDevice {
                    what: "the code",
                    expected: "cpu".into(),
                    found: function.device().to_string(),
                }),
            },
            Step::Move(moves) => moves.run(),
            Step::Algorithm(algorithm) => algorithm.run(),
            Step::If { .. } | Step::While { .. } => Ok(()),
        }
    }

    #[inline]
    fn run(&self) -> Result<(), GraphError> {
        match self {
            Step::Launch { .. } | Step::Move(_) | Step::Algorithm(_) => Ok(self.run_simple()?),
            Step::If { condition, on_true, on_false } => {
                run_groups(if condition.is_set()? { on_true } else { on_false })
            }
            Step::While { condition, body } => {
                while condition.is_set()? {
                    run_groups(body)?;
                }
                Ok(())
            }
        }
    }
}
