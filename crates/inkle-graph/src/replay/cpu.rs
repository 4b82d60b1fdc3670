//! Replay on the CPU: the stream as steps with addresses filled in.
//!
//! Steps that do not depend on each other stand together in a group. A group is run one step after the other, unless
//! the steps are long enough that sharing them with the worker threads pays; steps that are long by themselves already
//! use all threads.

use std::ops::Range;
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
    /// The parameter blocks of all launches, one after the other.
    words: Vec<u64>,
}

/// Steps that do not depend on each other.
#[derive(Debug)]
struct Group {
    steps: Vec<Step>,
    /// Whether running them at the same time is possible and worth asking about.
    sharable: bool,
}

/// What is large is boxed: most steps are launches, and there are many of them.
#[derive(Debug)]
enum Step {
    Launch { code: Arc<Loaded>, params: Range<usize>, size: u64 },
    Move(Box<Prepared>),
    Algorithm(Box<Algorithm<Array>>),
    If { condition: Box<Flag>, on_true: Vec<Group>, on_false: Vec<Group> },
    While { condition: Box<Flag>, body: Vec<Group> },
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
    words: Vec<u64>,
}

impl CpuProgram {
    /// The steps of a stream whose regions have the memory `memory` and whose kernels the code `code`.
    ///
    /// # Errors
    /// [`GraphError::NotCapturable`] for operations that the CPU does not have; the runtime's for views that do not lie in
    /// their regions.
    pub fn new(stream: &OpStream, memory: &[Bound], code: &[Arc<Loaded>]) -> Result<CpuProgram, GraphError> {
        let mut maker = Maker { memory, code, words: Vec::new() };
        let body = maker.groups(&stream.body)?;
        Ok(CpuProgram { body, words: maker.words })
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// The first failure; later steps have not run then.
    pub fn run(&self) -> Result<(), GraphError> {
        run_groups(&self.body, &self.words)
    }
}

impl Maker<'_> {
    fn groups(&mut self, nodes: &[Node]) -> Result<Vec<Group>, GraphError> {
        let mut groups: Vec<Group> = Vec::new();
        for level in levels(nodes).iter() {
            let ops = level.iter().map(|&i| &nodes[i as usize].op);
            let simple = |op: &Op| !matches!(op, Op::Algorithm(_) | Op::If { .. } | Op::While { .. });
            let sharable = level.len() > 1 && ops.clone().all(simple);
            let group = match groups.last_mut() {
                // One after the other is one after the other.
                Some(last) if !sharable && !last.sharable => last,
                _ => {
                    // Most graphs are one chain.
                    let capacity = if groups.is_empty() && !sharable { nodes.len() } else { level.len() };
                    groups.push_mut(Group { steps: Vec::with_capacity(capacity), sharable })
                }
            };
            for op in ops {
                group.steps.extend(self.step(op)?);
            }
        }
        groups.iter_mut().for_each(|group| group.steps.shrink_to_fit());
        Ok(groups)
    }

    fn step(&mut self, op: &Op) -> Result<Option<Step>, GraphError> {
        Ok(Some(match op {
            Op::Launch(launch) => return self.launch(launch),
            Op::Copy { dst, src } => {
                Step::Move(Box::new(Prepared::copy(&self.array(dst)?, &self.array(src)?)?))
            }
            Op::Fill { dst, pattern } => Step::Move(Box::new(Prepared::fill(&self.array(dst)?, pattern)?)),
            Op::Algorithm(algorithm) => {
                Step::Algorithm(Box::new(algorithm.try_map(|view| self.array(view))?))
            }
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

    fn launch(&mut self, launch: &Launch) -> Result<Option<Step>, GraphError> {
        let size = launch.size();
        if size == 0 {
            return Ok(None);
        }
        let start = self.words.len();
        self.words.extend_from_slice(&launch.params);
        for pointer in &launch.pointers {
            self.words[start + pointer.word as usize] =
                self.memory[pointer.region as usize].base.wrapping_add(pointer.offset);
        }
        let (code, params) = (self.code[launch.kernel as usize].clone(), start..self.words.len());
        Ok(Some(Step::Launch { code, params, size }))
    }

    fn array(&self, view: &View) -> Result<Array, GraphError> {
        Ok(self.memory[view.region as usize].array(view)?)
    }

    fn flag(&self, condition: &Condition) -> Result<Box<Flag>, GraphError> {
        let Condition { region, offset } = *condition;
        let view = View { region, offset, dtype: Type::I32, shape: Vec::new(), strides: Vec::new() };
        Ok(Box::new(Flag(self.array(&view)?)))
    }
}

fn run_groups(groups: &[Group], words: &[u64]) -> Result<(), GraphError> {
    for group in groups {
        if group.sharable && group.is_worth_sharing() {
            run_together(group.steps.len(), &|i| group.steps[i].run_simple(words))?;
        } else {
            group.steps.iter().try_for_each(|step| step.run(words))?;
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
    fn run_simple(&self, words: &[u64]) -> Result<(), RuntimeError> {
        match self {
            Step::Launch { code, params, size } => match &**code {
                Loaded::Cpu(function) => function.launch(&words[params.clone()], *size),
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
    fn run(&self, words: &[u64]) -> Result<(), GraphError> {
        match self {
            Step::Launch { .. } | Step::Move(_) | Step::Algorithm(_) => Ok(self.run_simple(words)?),
            Step::If { condition, on_true, on_false } => {
                run_groups(if condition.is_set()? { on_true } else { on_false }, words)
            }
            Step::While { condition, body } => {
                while condition.is_set()? {
                    run_groups(body, words)?;
                }
                Ok(())
            }
        }
    }
}
