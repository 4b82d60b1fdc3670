//! The operation stream as data.

use std::ops::Range;
use std::sync::Arc;

use inkle_ir::{LaunchBounds, MAX_DIMS, Scalar, Type};
use inkle_runtime::algorithms::Algorithm;

/// What a graph does.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OpStream {
    /// The memory that the operations use.
    pub regions: Vec<Region>,
    /// The kernels that they launch.
    pub kernels: Vec<Arc<Kernel>>,
    /// How many events there are.
    pub events: u32,
    /// The operations, in the order in which they were recorded.
    pub body: Vec<Node>,
}

/// A piece of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its size, bytes.
    pub bytes: u64,
    /// Where it lies.
    pub space: Space,
    /// What its contents mean.
    pub kind: RegionKind,
}

/// Where a region lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    /// In the CPU's memory.
    Host,
    /// In the memory of the GPU that runs the graph.
    Device,
}

/// What the contents of a region mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionKind {
    /// The program's memory from before the capture.
    Given,
    /// Data that operations only read.
    Constant,
    /// Memory of the graph itself, written before it is read.
    Internal,
}

/// A kernel for definite argument types and one set of options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// Its name, for people.
    pub name: String,
    /// The digest of its IR.
    pub digest: [u8; 32],
    /// The options that it is compiled with, as their stable text.
    pub options: String,
    /// How its code is called.
    pub abi: Abi,
    /// The size of its parameter block, bytes; what launches hold is a whole number of words.
    pub params_bytes: u32,
    /// Its parameters; none are known of a kernel of another compiler.
    pub params: Vec<KernelParam>,
}

/// How the code of a kernel is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Abi {
    /// As inkle compiles it: it gets the whole block, and finds the extents of the launch at its head.
    #[default]
    Inkle,
    /// As CUDA's compiler makes it, for GPUs only: the extents at the head of the block are the numbers of blocks of
    /// threads, and the code gets what follows them, laid out as CUDA lays out parameters.
    Cuda,
}

/// The words at the head of every parameter block: extents, and their product.
pub const BOUNDS_WORDS: usize = size_of::<LaunchBounds>() / 8;

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelParam {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it starts in the parameter block, bytes.
    pub offset: u32,
}

/// An operation and the queue it was put on.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The number of the queue; 0 is the one of the capture.
    pub queue: u32,
    /// What is done.
    pub op: Op,
}

/// An operation.
#[derive(Clone, PartialEq, Debug)]
pub enum Op {
    /// A kernel is launched.
    Launch(Launch),
    /// The elements of `src` are copied to `dst`, of the same shape and element size.
    Copy {
        /// Where to.
        dst: View,
        /// Where from.
        src: View,
    },
    /// Every element of `dst` becomes the bytes `pattern`.
    Fill {
        /// What is filled.
        dst: View,
        /// One element.
        pattern: Box<[u8]>,
    },
    /// An algorithm over arrays is run.
    Algorithm(Box<Algorithm<View>>),
    /// One of two lists of operations is done.
    If {
        /// What decides.
        condition: Condition,
        /// Done if the condition is not zero.
        on_true: Vec<Node>,
        /// Done if the condition is zero.
        on_false: Vec<Node>,
    },
    /// Operations are done as long as the condition, looked at before each time, is not zero.
    While {
        /// What decides.
        condition: Condition,
        /// What is done.
        body: Vec<Node>,
    },
    /// An event stands for all that is on the queue now.
    Record {
        /// The number of the event.
        event: u32,
    },
    /// What is put on the queue from now on waits for the event.
    Wait {
        /// The number of the event.
        event: u32,
    },
}

/// An `int32` in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// The region that holds it.
    pub region: u32,
    /// Where it starts there, bytes.
    pub offset: u64,
}

/// A launch of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    /// The index of the kernel.
    pub kernel: u32,
    /// The parameter block in 8-byte words: bounds, then the arguments. Words that are addresses are zero.
    pub params: Box<[u64]>,
    /// The addresses in the block.
    pub pointers: Box<[Pointer]>,
    /// Threads per block on a GPU.
    pub block_dim: u32,
    /// The most blocks on a GPU; zero for no limit.
    pub max_blocks: u32,
    /// Dynamic shared memory per block on a GPU, bytes.
    pub shared_bytes: u32,
}

impl Launch {
    /// The number of threads (of blocks, for [`Abi::Cuda`]), which the bounds at the head of the block hold.
    pub fn size(&self) -> u64 {
        self.params.get(2).copied().unwrap_or(0)
    }

    /// The extents, which the bounds at the head of the block hold.
    pub fn dims(&self) -> [u32; MAX_DIMS] {
        let word = |i: usize| self.params.get(i).copied().unwrap_or(0);
        [word(0) as u32, (word(0) >> 32) as u32, word(1) as u32, (word(1) >> 32) as u32]
    }
}

/// An address in a parameter block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The index of the word in the block.
    pub word: u32,
    /// The region it points into.
    pub region: u32,
    /// Where in the region it points, bytes.
    pub offset: u64,
    /// The bytes of the region that the kernel may reach through it.
    pub span: Range<u64>,
    /// Whether the kernel may read them.
    pub reads: bool,
    /// Whether the kernel may write them.
    pub writes: bool,
}

/// A typed, strided view of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The region.
    pub region: u32,
    /// Where the first element starts, bytes.
    pub offset: u64,
    /// The type of the elements.
    pub dtype: Type,
    /// The extents.
    pub shape: Vec<i32>,
    /// The distances between neighbours, bytes.
    pub strides: Vec<i64>,
}

impl View {
    /// A view of bytes; `None` if they are too many for one.
    pub(crate) fn of_bytes(region: u32, offset: u64, bytes: u64) -> Option<View> {
        let count = i32::try_from(bytes).ok()?;
        Some(View { region, offset, dtype: Type::Scalar(Scalar::U8), shape: vec![count], strides: vec![1] })
    }

    /// The bytes of the region that the elements span; empty if there are none. `None` when they do not lie in a
    /// region of any size.
    pub fn span(&self) -> Option<Range<u64>> {
        span(self.offset, self.dtype.size(), &self.shape, &self.strides)
    }

    /// Whether the elements fill their span, so that writing them all leaves nothing of it as it was.
    pub fn is_dense(&self) -> bool {
        let bytes = self.shape.iter().map(|&n| u128::from(n.unsigned_abs())).product::<u128>()
            * u128::from(self.dtype.size());
        self.span().is_some_and(|span| u128::from(span.end - span.start) == bytes)
    }
}

/// The bytes that elements of `size` bytes span, of which the first is at `offset`; as [`View::span`].
pub(crate) fn span(offset: u64, size: u32, shape: &[i32], strides: &[i64]) -> Option<Range<u64>> {
    if shape.contains(&0) {
        return Some(offset..offset);
    }
    let (mut low, mut high) = (i128::from(offset), i128::from(offset) + i128::from(size));
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = (i128::from(extent) - 1) * i128::from(stride);
        if reach < 0 {
            low += reach;
        } else {
            high += reach;
        }
    }
    Some(u64::try_from(low).ok()?..u64::try_from(high).ok()?)
}

impl Op {
    /// Calls `visit` with this operation and all that it owns.
    pub fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        visit(self);
        match self {
            Op::If { on_true, on_false, .. } => {
                on_true.iter().chain(on_false).for_each(|node| node.op.each(visit));
            }
            Op::While { body, .. } => body.iter().for_each(|node| node.op.each(visit)),
            _ => {}
        }
    }

    /// As [`each`](Op::each), to change them.
    pub fn each_mut(&mut self, visit: &mut impl FnMut(&mut Op)) {
        visit(self);
        match self {
            Op::If { on_true, on_false, .. } => {
                on_true.iter_mut().chain(on_false).for_each(|node| node.op.each_mut(visit));
            }
            Op::While { body, .. } => body.iter_mut().for_each(|node| node.op.each_mut(visit)),
            _ => {}
        }
    }

    /// Applies a mapping of places to all places that this operation names itself.
    pub(crate) fn renumber(&mut self, place: &dyn Fn(u32, u64) -> (u32, u64)) {
        let view = |view: &mut View| (view.region, view.offset) = place(view.region, view.offset);
        match self {
            Op::Launch(launch) => {
                for pointer in &mut launch.pointers {
                    let (region, offset) = place(pointer.region, pointer.offset);
                    let shift = offset.wrapping_sub(pointer.offset);
                    pointer.span =
                        pointer.span.start.wrapping_add(shift)..pointer.span.end.wrapping_add(shift);
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
}

impl OpStream {
    /// Calls `visit` with every operation, those in bodies too.
    pub fn each<'a>(&'a self, mut visit: impl FnMut(&'a Op)) {
        self.body.iter().for_each(|node| node.op.each(&mut visit));
    }

    /// The number of operations, those in bodies too.
    pub fn op_count(&self) -> usize {
        let mut count = 0;
        self.each(|_| count += 1);
        count
    }
}
