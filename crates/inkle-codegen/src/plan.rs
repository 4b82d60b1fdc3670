//! How many lanes a kernel gets, and how the threads that do not fill a vector are run.

use inkle_diag::Span;
use inkle_ir::{AtomicOp, Block, Function, Module, OpData, OpKind, Scalar, Type, Value};

use crate::lower::arith::is_library_call;
use crate::lower::entry::{ENTRY, Tail};
use crate::lower::{for_each_op, lane_dim, local_bytes};
use crate::options::{Lanes, Options, ScalarReason};
use crate::target::CpuTarget;
use crate::uniformity::{Analyser, Uniformity};
use crate::value::part_count;

/// A kernel of more operations than this, after expansion of its calls, keeps one lane by default: its masks and
/// vectors would take too long to compile.
const AUTO_LIMIT: usize = 6000;
/// A kernel of more operations than this is not emitted twice for the sake of its last vector: compiling it takes half
/// the time, and asking at each access whether all lanes have threads costs it nothing that could be measured.
const COPY_LIMIT: usize = 60;
/// A kernel of more operations than this has one form only, even if it updates memory atomically.
const ALONE_LIMIT: usize = 200;

/// A kernel of more operations than this is not run in several vectors at a time: their values would fill the registers,
/// and there is enough to do while one waits.
const SEVERAL_LIMIT: usize = 80;
/// The most vectors at a time: then hardly anything waits any more.
const MOST_VECTORS: usize = 4;
/// Vectors that the registers of AVX-512 and of AVX2 hold, less those that are the same in all rounds of a loop or needed for a
/// moment.
const REGISTERS: usize = 28;
const REGISTERS_AVX2: usize = 14;

/// A kernel of more operations than this does not compute the places of its updates for several vectors first.
const SCATTER_LIMIT: usize = 40;

/// A kernel of more operations than this keeps constants in memory, not in registers.
const HOIST_LIMIT: usize = 100;

/// Lanes of more arrays of their own than this, bytes together, would not stay in the cache.
const MAX_LOCAL_OF_LANES: u64 = 256 << 10;

/// A GPU kernel of more operations, or components of their results, than this over its lanes keeps one lane: its
/// values would fill the registers and leave too few threads to hide the memory's latency.
const GPU_LIMIT: usize = 512;
/// A GPU kernel that calls more functions of the math library than this over its lanes keeps one lane: each is
/// expanded in each lane, and such a kernel waits for arithmetic more than for memory.
const GPU_CALL_LIMIT: usize = 16;
/// A GPU kernel that has a value of more components than this over its lanes keeps one lane.
const GPU_PARTS_LIMIT: usize = 40;
/// The most lanes of a GPU thread.
const GPU_MAX_LANES: u32 = 8;
/// Bytes of the widest access of a GPU thread.
pub(crate) const GPU_ACCESS: u32 = 16;

/// The choice for one kernel.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub lanes: u32,
    pub tail: Tail,
    /// The lanes of the code's second form, to run on one thread and alone, if it has one.
    pub alone: Option<u32>,
    pub reason: Option<ScalarReason>,
    /// What lanes do one after the other, once the code is made.
    pub lane_by_lane: Vec<ScalarReason>,
    /// The symbol of the entry.
    pub entry: &'static str,
}

/// Chooses for a kernel of `size` operations after expansion.
pub(crate) fn plan(module: &Module, size: usize, cpu: &CpuTarget, options: &Options) -> Plan {
    let auto = options.lanes == Lanes::Auto;
    let wanted = match options.lanes {
        Lanes::Fixed(n) if matches!(n, 1 | 2 | 4 | 8 | 16 | 32 | 64) => n,
        Lanes::Fixed(_) => 1,
        Lanes::Auto if options.optimization_level == 0 => 1,
        Lanes::Auto => natural_lanes(module, cpu),
    };
    let is_one_vector = auto && wanted == cpu.natural_lanes() && size <= SEVERAL_LIMIT;
    let several = is_one_vector && cpu.has_masked_memory();
    let wanted =
        if several || is_one_vector && cpu.has("avx2") { vectors(module, cpu) * wanted } else { wanted };
    let alone = options.optimization_level > 0 && size <= ALONE_LIMIT && has_updates(module);
    let scalar = |reason| Plan {
        lanes: 1,
        tail: Tail::Scalar,
        alone: alone.then_some(1),
        reason,
        lane_by_lane: Vec::new(),
        entry: ENTRY,
    };
    if wanted == 1 {
        let span = module.kernel().map_or(Span::NONE, |k| k.span);
        let reason = || ScalarReason { span, message: "the kernel is compiled without optimisation".into() };
        return scalar(auto.then(reason));
    }
    if let Some(reason) = obstacle(module, options).or_else(|| local_obstacle(module, wanted)) {
        return scalar(Some(reason));
    }
    if auto && size > AUTO_LIMIT {
        let span = module.kernel().map_or(Span::NONE, |k| k.span);
        return scalar(Some(ScalarReason {
            span,
            message: "the kernel is too large to compile quickly with lanes".into(),
        }));
    }
    // Asking which lanes have threads costs little beside a loop, and several vectors are much code to have twice.
    let shared = size > COPY_LIMIT || wanted > cpu.natural_lanes();
    let tail = match (cpu.has_masked_memory(), shared) {
        (true, true) => Tail::Shared,
        (true, false) => Tail::Masked,
        (false, _) => Tail::Scalar,
    };
    let together =
        if several && size <= SCATTER_LIMIT && only_scatters(module) { MOST_VECTORS as u32 } else { 1 };
    let alone = alone.then_some(wanted * together);
    Plan { lanes: wanted, tail, alone, reason: None, lane_by_lane: Vec::new(), entry: ENTRY }
}

/// Whether a kernel updates memory atomically.
pub(crate) fn has_updates(module: &Module) -> bool {
    let mut found = false;
    for_each_op(module, |data| found |= matches!(data.kind, OpKind::Atomic(_) | OpKind::AtomicCas));
    found
}

/// Whether a kernel has loops of its own.
pub(crate) fn has_loops(module: &Module) -> bool {
    let mut found = false;
    for_each_op(module, |data| found |= matches!(data.kind, OpKind::For | OpKind::While));
    found
}

/// Whether a kernel of `size` operations is short and has many constants in proportion: those of functions of the math library, or
/// any in a loop of its own.
pub(crate) fn has_many_constants(module: &Module, size: usize) -> bool {
    let mut found = false;
    if size <= HOIST_LIMIT {
        for function in &module.functions {
            for block in 0..function.block_count() {
                for &op in &function.block(Block::new(block)).ops {
                    let data = function.op(op);
                    found |= matches!(data.kind, OpKind::For | OpKind::While)
                        || is_library_call(&data.kind, || result_scalar(function, &data.results));
                }
            }
        }
    }
    found
}

/// How many consecutive threads of a launch one GPU thread may run, for a kernel of `size` operations after
/// expansion: as few as make one of its accesses as wide as the hardware's. One when the kernel is not of the kind
/// that gains: straight code that moves elements. Whether the accesses lie as they must, the lowering finds out.
pub(crate) fn gpu_lanes(module: &Module, size: usize, options: &Options) -> u32 {
    if module.has_native()
        || !options.aligned
        || options.checks
        || options.verify_fp
        || options.optimization_level == 0
    {
        return 1;
    }
    let mut lanes = match options.lanes {
        Lanes::Fixed(n) if matches!(n, 2 | 4 | 8) => n,
        Lanes::Fixed(_) => return 1,
        Lanes::Auto => GPU_MAX_LANES,
    };
    let (mut straight, mut uses_tid, mut calls, mut largest, mut parts) = (true, false, 0, 0, 0);
    for function in &module.functions {
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                let data = function.op(op);
                uses_tid |= data.kind == OpKind::Tid(0);
                straight &= is_straight(&data.kind);
                for &r in data.results.iter().filter(|&&r| function.ty(r).as_array().is_none()) {
                    let count = part_count(function.ty(r));
                    largest = largest.max(count);
                    parts += count;
                }
                calls += usize::from(is_library_call(&data.kind, || result_scalar(function, &data.results)));
                let moved = match data.kind {
                    OpKind::Load => data.results.first(),
                    OpKind::Store => data.operands.get(1),
                    _ => None,
                };
                if let (Some(&moved), Lanes::Auto) = (moved, options.lanes) {
                    lanes = lanes.min(filling_lanes(function.ty(moved).size()));
                }
            }
        }
    }
    let over_lanes = |n: usize| n.saturating_mul(lanes as usize);
    let fits = over_lanes(size.max(parts)) <= GPU_LIMIT
        && over_lanes(calls) <= GPU_CALL_LIMIT
        && over_lanes(largest) <= GPU_PARTS_LIMIT;
    if straight && uses_tid && fits { lanes } else { 1 }
}

fn result_scalar(function: &Function, results: &[Value]) -> Option<Scalar> {
    results.first().and_then(|&r| function.ty(r).scalar())
}

/// The fewest lanes whose neighbouring elements of `size` bytes fill whole accesses.
fn filling_lanes(size: u32) -> u32 {
    let odd = size.trailing_zeros().min(GPU_ACCESS.trailing_zeros());
    (GPU_ACCESS >> odd).min(GPU_MAX_LANES)
}

/// Whether an operation may be done for several threads of a GPU in turn by one: no loops, nothing that waits for
/// or is ordered with other threads.
fn is_straight(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::Const(_)
            | OpKind::Zero
            | OpKind::Unary(_)
            | OpKind::Binary(_)
            | OpKind::Cmp(_)
            | OpKind::Select
            | OpKind::Cast
            | OpKind::Bitcast
            | OpKind::Construct
            | OpKind::Extract(_)
            | OpKind::Insert(_)
            | OpKind::Elem
            | OpKind::View(_)
            | OpKind::Field(_)
            | OpKind::Comp
            | OpKind::GradArray
            | OpKind::Shape(_)
            | OpKind::Stride(_)
            | OpKind::Address
            | OpKind::Load
            | OpKind::Store
            | OpKind::Tid(0)
            | OpKind::LaunchDim(_)
            // Those that lanes can do together; others are found in the lowering.
            | OpKind::Atomic(_)
            | OpKind::If
            | OpKind::Call(_)
            | OpKind::Assert(_)
            | OpKind::Yield
            | OpKind::Return
    )
}

/// Lanes that fill the CPU's vectors with the scalars this kernel mostly computes in.
fn natural_lanes(module: &Module, cpu: &CpuTarget) -> u32 {
    let (mut wide, mut narrow) = (0u32, 0u32);
    for function in &module.functions {
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                let data = function.op(op);
                if matches!(data.kind, OpKind::Unary(_) | OpKind::Binary(_)) {
                    match data.results.first().and_then(|&r| function.ty(r).scalar()) {
                        Some(Scalar::F64 | Scalar::I64 | Scalar::U64) => wide += 1,
                        _ => narrow += 1,
                    }
                }
            }
        }
    }
    let lanes = cpu.natural_lanes();
    if wide > narrow { (lanes / 2).max(2) } else { lanes }
}

/// Whether there are numbers of less than four bytes, or bools in memory. Without AVX-512BW LLVM makes poor code of vectors
/// of them, and of some it cannot make any.
pub(crate) fn has_narrow_values(module: &Module) -> bool {
    let narrow = |ty: Type, in_memory: bool| match (ty, ty.scalar()) {
        (Type::Array(_) | Type::Ref(_), _) => false,
        (_, Some(Scalar::Bool)) => in_memory,
        (_, Some(scalar)) => scalar.size() < 4,
        (_, None) => true,
    };
    module.functions.iter().any(|function| {
        (0..function.block_count())
            .flat_map(|block| &function.block(Block::new(block)).ops)
            .map(|&op| function.op(op))
            .any(|data| {
                let in_memory = matches!(data.kind, OpKind::Load | OpKind::Store);
                data.operands.iter().chain(&data.results).any(|&v| narrow(function.ty(v), in_memory))
            })
    })
}

/// How many vectors run at a time. Several where most of a kernel's time goes by in a loop whose rounds wait for each other
/// and which lanes leave at different times, so that the processor cannot begin with the next vector meanwhile: then several go
/// round nearly as fast as one.
fn vectors(module: &Module, cpu: &CpuTarget) -> u32 {
    if module.has_native() || local_bytes(module) > 0 || has_narrow_values(module) {
        return 1;
    }
    let Some(kernel) = module.functions.len().checked_sub(1) else { return 1 };
    let params = vec![false; module.functions[kernel].params.len()];
    let mut analyser = Analyser::new(module, lane_dim(module));
    let mut found = Found::default();
    look_at(module, &mut analyser, kernel, &params, &mut found);
    if found.loops != 1 || found.others {
        return 1;
    }
    match found.live {
        live if !cpu.has_mask_registers() => 1 + u32::from(live * 2 <= REGISTERS_AVX2),
        live if live * MOST_VECTORS <= REGISTERS => MOST_VECTORS as u32,
        _ => 2,
    }
}

/// Whether what a kernel does comes down to one update a thread, at a place of its own. In code that makes updates one after the
/// other it computes the places for several vectors first: then reads of places do not wait for the writes before them.
fn only_scatters(module: &Module) -> bool {
    if module.has_native() || module.functions.len() != 1 || has_narrow_values(module) {
        return false;
    }
    let function = &module.functions[0];
    let params = vec![false; function.params.len()];
    let known = Analyser::new(module, lane_dim(module)).function(0, &params);
    let (mut updates, mut straight, mut old) = (0, true, None);
    for_each_op(module, |data| {
        let scalar = || result_scalar(function, &data.results);
        straight &= is_straight(&data.kind) && !is_library_call(&data.kind, scalar) && data.blocks.is_empty();
        // What was there before would have to be put into lanes.
        straight &= !data.operands.iter().any(|&v| old == Some(v));
        if let (OpKind::Atomic(_), [at, value]) = (&data.kind, data.operands.as_slice()) {
            updates += 1;
            old = data.results.first().copied();
            straight &= known.is_varying(*at) && part_count(function.ty(*value)) == 1;
        }
    });
    straight && updates == 1
}

#[derive(Default)]
struct Found {
    /// Loops that lanes leave at different times and that have no loop in them.
    loops: usize,
    /// Other loops, or something that is done for one lane after the other.
    others: bool,
    /// The most values that such a loop has at once.
    live: usize,
}

fn look_at(module: &Module, analyser: &mut Analyser<'_>, index: usize, params: &[bool], found: &mut Found) {
    let function = &module.functions[index];
    let known = analyser.function(index, params);
    let varies = |v: &Value| known.is_varying(*v);
    for block in 0..function.block_count() {
        for &op in &function.block(Block::new(block)).ops {
            let data = function.op(op);
            let scalar = || result_scalar(function, &data.results);
            let mut leaves = false;
            match &data.kind {
                OpKind::For if data.operands.iter().take(3).any(varies) => leaves = true,
                OpKind::While => {
                    let test = data.blocks.first().and_then(|&b| function.block(b).ops.last());
                    leaves = test.is_some_and(|&last| function.op(last).operands.iter().any(varies));
                    found.others |= !leaves;
                }
                OpKind::For | OpKind::Atomic(_) | OpKind::AtomicCas | OpKind::Print(_) => found.others = true,
                OpKind::Call(callee) => {
                    let params: Vec<bool> = data.operands.iter().map(varies).collect();
                    look_at(module, analyser, callee.index(), &params, found);
                }
                kind if is_library_call(kind, scalar) => found.others = true,
                _ => {}
            }
            if leaves {
                found.loops += 1;
                found.live = found.live.max(live_values(function, &known, data));
            }
        }
    }
}

/// The most values, in parts, that a loop has at once and that differ between lanes.
fn live_values(function: &Function, known: &Uniformity, data: &OpData) -> usize {
    let mut walk = Lives { function, at: 0, lives: vec![None; function.value_count()] };
    data.blocks.iter().for_each(|&block| walk.block(block));
    let Lives { at: end, mut lives, .. } = walk;
    if let [test, body] = *data.blocks.as_slice() {
        // What the test is given is what the body is given.
        for (a, b) in function.block(test).params.iter().zip(&function.block(body).params) {
            let first = lives[a.index()].take();
            let last = lives[b.index()].or(first);
            lives[b.index()] = last;
        }
    }
    let size = |v: Value| match function.ty(v) {
        // Addresses are an index, which has been counted; masks have registers of their own.
        Type::Array(_) | Type::Ref(_) | Type::Scalar(Scalar::Bool) => 0,
        ty if known.is_varying(v) => part_count(ty),
        _ => 0,
    };
    let live_at = |at: usize| {
        let lives = lives.iter().enumerate();
        let here = lives.filter(|(_, life)| life.is_some_and(|(first, last)| first < at && at <= last));
        here.map(|(v, _)| size(Value::new(v))).sum::<usize>()
    };
    // What lanes had when they left the loop.
    let carried = data.blocks.first().map_or(&[][..], |&block| &function.block(block).params);
    let carried = &carried[carried.len().saturating_sub(data.results.len())..];
    let left = carried.iter().zip(&data.results).filter(|(param, _)| !known.is_varying(**param));
    let left: usize = left.map(|(_, &result)| size(result)).sum();
    left + (1..=end).map(live_at).max().unwrap_or(0)
}

/// From where to where each value of a loop is needed, in the order of operations.
struct Lives<'a> {
    function: &'a Function,
    at: usize,
    lives: Vec<Option<(usize, usize)>>,
}

impl Lives<'_> {
    fn block(&mut self, block: Block) {
        let function = self.function;
        let block = function.block(block);
        for param in &block.params {
            self.lives[param.index()] = Some((self.at, self.at));
        }
        for &op in &block.ops {
            let data = function.op(op);
            self.at += 1;
            for v in &data.operands {
                // What comes from outside is needed in each round.
                let life = self.lives[v.index()].get_or_insert((0, usize::MAX));
                life.1 = life.1.max(self.at);
            }
            data.blocks.iter().for_each(|&block| self.block(block));
            for v in &data.results {
                self.lives[v.index()] = Some((self.at, self.at));
            }
        }
    }
}

/// What keeps a kernel from having lanes.
fn obstacle(module: &Module, options: &Options) -> Option<ScalarReason> {
    let kernel_span = module.kernel().map_or(Span::NONE, |k| k.span);
    if options.checks || options.verify_fp {
        return Some(ScalarReason { span: kernel_span, message: "the kernel is built with checks".into() });
    }
    let lane = lane_dim(module);
    let mut uses_lane = false;
    for_each_op(module, |data| uses_lane |= data.kind == OpKind::Tid(lane));
    if !uses_lane {
        return Some(ScalarReason {
            span: kernel_span,
            message: "the kernel does not ask for its thread index".into(),
        });
    }
    for function in &module.functions {
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                let data = function.op(op);
                if data.kind == OpKind::While
                    && let Some(span) = waits(module, function, &data.blocks)
                {
                    let message =
                        "a loop that swaps values with other threads may wait for a thread of its own vector";
                    return Some(ScalarReason { span, message: message.into() });
                }
                if data.results.iter().any(|&r| holds_too_much(function.ty(r))) {
                    let message = "a value with hundreds of components does not fit the vector registers";
                    return Some(ScalarReason { span: data.span, message: message.into() });
                }
            }
        }
    }
    None
}

/// What about arrays of a thread's own keeps a kernel from having lanes.
fn local_obstacle(module: &Module, lanes: u32) -> Option<ScalarReason> {
    let bytes = local_bytes(module);
    if bytes == 0 {
        return None;
    }
    // C++ may reckon with elements that lie one after another.
    let takes_array =
        |f: &Function| f.native().is_some() && f.params.iter().any(|p| p.ty.as_array().is_some());
    let mut asks = module.functions.iter().find(|f| takes_array(f)).map(|f| f.span);
    for_each_op(module, |data| {
        if matches!(data.kind, OpKind::Address | OpKind::Stride(_)) {
            asks = asks.or(Some(data.span));
        }
    });
    if let Some(span) = asks {
        let message = "the kernel asks where an array lies, and lanes mix their local arrays in memory";
        return Some(ScalarReason { span, message: message.into() });
    }
    let (mut largest, mut span) = (0, Span::NONE);
    for_each_op(module, |data| {
        if let OpKind::Local(extents) = &data.kind {
            let elements = extents.iter().fold(1u64, |n, &extent| n.saturating_mul(extent.into()));
            if elements > largest {
                (largest, span) = (elements, data.span);
            }
        }
    });
    (bytes.saturating_mul(lanes.into()) > MAX_LOCAL_OF_LANES).then(|| ScalarReason {
        span,
        message: "arrays local to a thread are too large to keep one for each lane".into(),
    })
}

fn holds_too_much(ty: Type) -> bool {
    part_count(ty) > 256
}

/// The operation in a loop by which one thread may wait for another.
fn waits(module: &Module, function: &Function, blocks: &[Block]) -> Option<Span> {
    for &block in blocks {
        for &op in &function.block(block).ops {
            let data = function.op(op);
            let found = match &data.kind {
                OpKind::AtomicCas | OpKind::Atomic(AtomicOp::Exch) => Some(data.span),
                OpKind::Call(callee) => module
                    .functions
                    .get(callee.index())
                    .and_then(|f| waits(module, f, &[f.body]))
                    .map(|_| data.span),
                _ => waits(module, function, &data.blocks),
            };
            if found.is_some() {
                return found;
            }
        }
    }
    None
}
