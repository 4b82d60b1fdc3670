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
use crate::schedule::{Overlaps, levels};

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
    parts: Parts,
    patches: Patches,
    /// Of the memory that the steps were made for.
    overlaps: Overlaps,
}

/// What steps work with.
#[derive(Debug, Default)]
struct Parts {
    /// The parameter blocks of launches, one after the other.
    blocks: Vec<u64>,
    moves: Vec<Prepared>,
    algorithms: Vec<Algorithm<Array>>,
    flags: Vec<Flag>,
}

/// Which parts depend on the addresses of regions that change from run to run.
#[derive(Debug, Default)]
struct Patches {
    /// Per region, whether its address changes.
    movable: Vec<bool>,
    /// A word of the parameter blocks that is the address of a region plus an offset.
    words: Vec<(usize, u32, u64)>,
    moves: Vec<(usize, Op)>,
    algorithms: Vec<(usize, Algorithm<View>)>,
    flags: Vec<(usize, Condition)>,
}

impl Patches {
    fn moves(&self, region: u32) -> bool {
        self.movable.get(region as usize).copied().unwrap_or(false)
    }
}

/// Steps that do not depend on each other.
#[derive(Debug)]
struct Group {
    steps: Vec<Step>,
    /// Whether running them at the same time is possible and worth asking about.
    sharable: bool,
}

/// What is done with which part.
#[derive(Debug)]
enum Step {
    Launch { code: Arc<Loaded>, block: Range<usize>, size: u64 },
    Move(usize),
    Algorithm(usize),
    If { flag: usize, on_true: Vec<Group>, on_false: Vec<Group> },
    While { flag: usize, body: Vec<Group> },
}

/// An `int32` in the graph's memory.
#[derive(Debug)]
struct Flag(Array);

impl Flag {
    fn is_set(&self) -> Result<bool, GraphError> {
        Ok(self.0.to_bytes()?.iter().any(|byte| *byte != 0))
    }
}

/// Where regions are.
struct Places<'a>(&'a [Bound]);

impl Places<'_> {
    fn address(&self, region: u32, offset: u64) -> u64 {
        self.0[region as usize].base.wrapping_add(offset)
    }

    fn array(&self, view: &View) -> Result<Array, GraphError> {
        Ok(self.0[view.region as usize].array(view)?)
    }

    fn flag(&self, condition: &Condition) -> Result<Flag, GraphError> {
        let Condition { region, offset } = *condition;
        let view = View { region, offset, dtype: Type::I32, shape: Vec::new(), strides: Vec::new() };
        Ok(Flag(self.array(&view)?))
    }

    fn prepared(&self, op: &Op) -> Result<Option<Prepared>, GraphError> {
        Ok(match op {
            Op::Copy { dst, src } => Some(Prepared::copy(&self.array(dst)?, &self.array(src)?)?),
            Op::Fill { dst, pattern } => Some(Prepared::fill(&self.array(dst)?, pattern)?),
            _ => None,
        })
    }
}

struct Maker<'a> {
    places: Places<'a>,
    overlaps: Overlaps,
    code: &'a [Arc<Loaded>],
    parts: Parts,
    patches: Patches,
}

impl CpuProgram {
    /// The steps of a stream whose regions have the memory `memory` and whose kernels the code `code`.
    ///
    /// # Errors
    /// [`GraphError::NotCapturable`] for operations that the CPU does not have; the runtime's for views that do not lie in
    /// their regions.
    pub fn new(stream: &OpStream, memory: &[Bound], code: &[Arc<Loaded>]) -> Result<CpuProgram, GraphError> {
        CpuProgram::movable(stream, memory, code, &[])
    }

    /// As [`new`](CpuProgram::new), for regions that get other memory between runs by [`rebase`](CpuProgram::rebase).
    ///
    /// # Errors
    /// As for [`new`](CpuProgram::new).
    pub fn movable(
        stream: &OpStream,
        memory: &[Bound],
        code: &[Arc<Loaded>],
        regions: &[u32],
    ) -> Result<CpuProgram, GraphError> {
        let mut movable = vec![false; if regions.is_empty() { 0 } else { memory.len() }];
        regions.iter().for_each(|region| movable[*region as usize] = true);
        let patches = Patches { movable, ..Patches::default() };
        let overlaps = Overlaps::of(&stream.regions, memory);
        let mut maker = Maker { places: Places(memory), overlaps, code, parts: Parts::default(), patches };
        let body = maker.groups(&stream.body)?;
        Ok(CpuProgram { body, parts: maker.parts, patches: maker.patches, overlaps: maker.overlaps })
    }

    /// Whether the program, of this stream, can go on with this memory: where regions have memory in common that had none, or not the
    /// same, other steps depend on each other.
    pub fn can_move_to(&self, stream: &OpStream, memory: &[Bound]) -> bool {
        Overlaps::of(&stream.regions, memory) == self.overlaps
    }

    /// Goes on with other memory for the regions that [`movable`](CpuProgram::movable) was told of.
    ///
    /// # Errors
    /// The runtime's for views that do not lie in their regions. The program must not be run then.
    pub fn rebase(&mut self, memory: &[Bound]) -> Result<(), GraphError> {
        let places = Places(memory);
        let (parts, patches) = (&mut self.parts, &self.patches);
        for &(word, region, offset) in &patches.words {
            parts.blocks[word] = places.address(region, offset);
        }
        for (index, op) in &patches.moves {
            if let Some(prepared) = places.prepared(op)? {
                parts.moves[*index] = prepared;
            }
        }
        for (index, algorithm) in &patches.algorithms {
            parts.algorithms[*index] = algorithm.try_map(|view| places.array(view))?;
        }
        for (index, condition) in &patches.flags {
            parts.flags[*index] = places.flag(condition)?;
        }
        Ok(())
    }

    /// Runs all steps.
    ///
    /// # Errors
    /// The first failure; later steps have not run then.
    pub fn run(&self) -> Result<(), GraphError> {
        self.parts.run_groups(&self.body)
    }
}

impl Maker<'_> {
    fn groups(&mut self, nodes: &[Node]) -> Result<Vec<Group>, GraphError> {
        let mut groups: Vec<Group> = Vec::new();
        for level in levels(nodes, &self.overlaps).iter() {
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
            Op::Launch(launch) => return Ok(self.launch(launch)),
            Op::Copy { dst: View { region, .. }, .. } | Op::Fill { dst: View { region, .. }, .. } => {
                let index = self.parts.moves.len();
                self.parts.moves.extend(self.places.prepared(op)?);
                let from = if let Op::Copy { src, .. } = op { self.patches.moves(src.region) } else { false };
                if from || self.patches.moves(*region) {
                    self.patches.moves.push((index, op.clone()));
                }
                Step::Move(index)
            }
            Op::Algorithm(algorithm) => {
                let index = self.parts.algorithms.len();
                self.parts.algorithms.push(algorithm.try_map(|view| self.places.array(view))?);
                let mut patched = false;
                algorithm.each(|view, _| patched |= self.patches.moves(view.region));
                if patched {
                    self.patches.algorithms.push((index, (**algorithm).clone()));
                }
                Step::Algorithm(index)
            }
            Op::If { condition, on_true, on_false } => Step::If {
                flag: self.flag(condition)?,
                on_true: self.groups(on_true)?,
                on_false: self.groups(on_false)?,
            },
            Op::While { condition, body } => {
                Step::While { flag: self.flag(condition)?, body: self.groups(body)? }
            }
            // One queue has nothing to wait for.
            Op::Record { .. } | Op::Wait { .. } => return Ok(None),
        }))
    }

    fn launch(&mut self, launch: &Launch) -> Option<Step> {
        let size = launch.size();
        if size == 0 {
            return None;
        }
        let start = self.parts.blocks.len();
        self.parts.blocks.extend_from_slice(&launch.params);
        for pointer in &launch.pointers {
            let word = start + pointer.word as usize;
            self.parts.blocks[word] = self.places.address(pointer.region, pointer.offset);
            if self.patches.moves(pointer.region) {
                self.patches.words.push((word, pointer.region, pointer.offset));
            }
        }
        let block = start..self.parts.blocks.len();
        Some(Step::Launch { code: self.code[launch.kernel as usize].clone(), block, size })
    }

    fn flag(&mut self, condition: &Condition) -> Result<usize, GraphError> {
        let index = self.parts.flags.len();
        self.parts.flags.push(self.places.flag(condition)?);
        if self.patches.moves(condition.region) {
            self.patches.flags.push((index, *condition));
        }
        Ok(index)
    }
}

impl Parts {
    fn run_groups(&self, groups: &[Group]) -> Result<(), GraphError> {
        for group in groups {
            if group.sharable && self.are_worth_sharing(&group.steps) {
                run_together(group.steps.len(), &|i| self.run_simple(&group.steps[i]))?;
            } else {
                group.steps.iter().try_for_each(|step| self.run(step))?;
            }
        }
        Ok(())
    }

    fn are_worth_sharing(&self, steps: &[Step]) -> bool {
        let (mut sum, mut largest) = (0u64, 0);
        for step in steps {
            let Some(ticks) = self.estimate(step) else { return false };
            sum = sum.saturating_add(ticks);
            largest = largest.max(ticks);
        }
        largest < OWN_TICKS && sum > SHARED_TICKS
    }

    /// About how long a step takes on one thread, ticks; `None` if nobody knows.
    fn estimate(&self, step: &Step) -> Option<u64> {
        match step {
            Step::Launch { code, size, .. } => match &**code {
                Loaded::Cpu(function) => function.estimate(*size),
                Loaded::Cuda { .. } => None,
            },
            Step::Move(index) => Some(self.moves[*index].bytes() as u64 * TICKS_PER_16_BYTES / 16),
            Step::Algorithm(_) | Step::If { .. } | Step::While { .. } => None,
        }
    }

    #[inline]
    fn run_simple(&self, step: &Step) -> Result<(), RuntimeError> {
        match step {
            Step::Launch { code, block, size } => match &**code {
                Loaded::Cpu(function) => function.launch(&self.blocks[block.clone()], *size),
                Loaded::Cuda { function, .. } => Err(RuntimeError::WrongDevice {
                    what: "the code",
                    expected: "cpu".into(),
                    found: function.device().to_string(),
                }),
            },
            Step::Move(index) => self.moves[*index].run(),
            Step::Algorithm(index) => self.algorithms[*index].run(),
            Step::If { .. } | Step::While { .. } => Ok(()),
        }
    }

    #[inline]
    fn run(&self, step: &Step) -> Result<(), GraphError> {
        match step {
            Step::Launch { .. } | Step::Move(_) | Step::Algorithm(_) => Ok(self.run_simple(step)?),
            Step::If { flag, on_true, on_false } => {
                self.run_groups(if self.flags[*flag].is_set()? { on_true } else { on_false })
            }
            Step::While { flag, body } => {
                while self.flags[*flag].is_set()? {
                    self.run_groups(body)?;
                }
                Ok(())
            }
        }
    }
}
