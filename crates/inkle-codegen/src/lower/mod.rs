//! Kernel IR to LLVM IR.
//!
//! One lowering serves every target and every lane width. A value is a list of parts ([`Val`]); a part that is
//! the same in all lanes stays an LLVM scalar, any other becomes a vector over the lanes. With one lane all parts
//! are uniform and the code is ordinary scalar code: that is what most kernels get on GPUs, and the reference on the
//! CPU.
//!
//! # Lanes
//!
//! With W lanes the code runs W threads in lockstep. Every operation is done for all active lanes before the next
//! one, so the result is that of one possible interleaving of the threads: what unordered loads and stores of
//! different threads may see, lockstep shows. Three consequences:
//! - A load through a uniform address is one scalar load.
//! - A store of several lanes to one address leaves the last active lane's value, as threads run in order would.
//! - A thread that waits in a loop for another thread of its own vector waits forever; kernels with such loops
//!   (a compare-and-swap or an exchange in a `while`) get one lane.
//!
//! # Masks
//!
//! `mask` is `None` while all lanes are active. Arithmetic ignores it: inactive lanes compute values nobody reads.
//! Whatever can be seen (loads, stores, atomics, calls with effects) honours it.
//! *Invariant:* code that can be seen is only reached while at least one lane is active.
//! *Invariant:* inactive lanes hold ordinary values, never poison that was made up here, because a mask is the
//! `and` of conditions and `false & poison` is poison.

mod abilities;
mod alignment;
pub(crate) mod arith;
mod array;
mod atomic;
mod block;
mod call;
mod check;
mod composite;
mod control;
mod convert;
mod cut;
mod division;
mod effect;
pub(crate) mod entry;
mod frame;
mod interleave;
mod lanes;
mod local;
mod memory;
mod memory_order;
mod native;
mod neighbours;
pub(crate) mod ranges;
mod root;
mod scattered;
mod speculation;
mod spread;
mod stream;
mod sums;
mod warp;
mod written;

pub(crate) use abilities::Machine;
pub(crate) use local::local_bytes;

use std::collections::HashMap;
use std::rc::Rc;

use inkle_diag::Span;
use inkle_ir::{AtomicOp, Block, Function, Module, Op, OpData, OpKind, Scalar, Type, Value};
use inkwell::context::Context;
use smallvec::{SmallVec, smallvec};

use self::frame::Frame;
use crate::emitter::{Emitter, Ty, V};
use crate::error::CodegenError;
use crate::lines::Lines;
use crate::options::{Options, ScalarReason};
use crate::uniformity::Analyser;
use crate::value::{Part, Parts, Val, parts};

type Result<T> = std::result::Result<T, CodegenError>;

/// Lanes of a mask in code for several vectors at a time: see `CpuTarget::features_of_several_vectors`.
const LANES_OF_MASK: u32 = 16;

/// The thread that code is being made for.
#[derive(Clone)]
pub(crate) struct Thread {
    /// Indices in the launch dimensions.
    pub tid: SmallVec<[Val; 4]>,
    /// Extents of the launch.
    pub dims: SmallVec<[V; 4]>,
}

/// The lanes that have a thread: the first ones.
#[derive(Clone, Copy)]
pub(crate) struct Existing {
    pub mask: V,
    pub count: V,
    /// Whether these may be all lanes.
    pub may_be_all: bool,
}

/// Emits one module.
pub(crate) struct Lower<'c, 'm> {
    pub e: Emitter<'c>,
    pub ir: &'m Module,
    pub options: &'m Options,
    pub machine: Machine,
    /// Products and sums may be fused.
    pub fuses: bool,
    /// Lanes of the code that is being emitted.
    pub lanes: u32,
    /// Active lanes; `None` is all.
    pub mask: Option<V>,
    /// The threads that exist, while they may be others than those of all lanes.
    pub existing: Option<Existing>,
    /// The CPU's features where code is made for others than the target's.
    pub features: Option<String>,
    /// The code runs on one thread and no other code that updates memory atomically runs meanwhile.
    pub alone: bool,
    /// The code is hardly ever run, so it is to be small.
    pub rare: bool,
    pub thread: Thread,
    analyser: Analyser<'m>,
    /// Per function, which values are used, once it is known.
    used: HashMap<usize, Rc<Vec<bool>>>,
    alike: HashMap<usize, Rc<Vec<Option<u32>>>>,
    row_lengths: HashMap<usize, Rc<HashMap<Value, u32>>>,
    outlined: HashMap<call::OutlinedKey, call::Outlined>,
    /// Per function, operations after expansion of its calls.
    sizes: Vec<usize>,
    /// Per function, whether it may return an array of the thread's own, which must outlive it.
    returns_local: Vec<bool>,
    /// Functions that update places of each lane.
    updates: HashMap<(AtomicOp, SmallVec<[warp::Place; 4]>, u32), V>,
    /// Functions that read or change elements at addresses of each lane's own.
    scattered: HashMap<scattered::Scattered, V>,
    /// Operations emitted into the current LLVM function so far.
    emitted: usize,
    /// What the lanes of a GPU thread access so far.
    pub accesses: alignment::Accesses,
    /// Addresses and integers that are multiples of more than their types say.
    pub multiples: HashMap<V, u64>,
    /// A GPU kernel's parameter block.
    pub param_block: Option<V>,
    /// How values differ between a GPU's threads, as far as someone asked.
    spreads: HashMap<V, spread::Spread>,
    /// Atomic updates that a GPU's threads may put off until they end.
    deferred: Vec<block::Deferred>,
    /// Sums that a GPU's blocks may keep.
    sums: Option<sums::BlockSums>,
    /// Addresses among a kernel's parameters, as they were loaded, and where they lie in the block: a GPU kernel's, and of code
    /// that runs alone.
    pointers: Vec<(u32, V)>,
    /// How many loops there are around what is being emitted.
    loops: u32,
    /// Workers' own ranges of what code that runs alone adds to.
    ranges: Option<ranges::Ranges>,
    /// Indices that were wrapped where they are negative, and what they were before.
    pub wrapped: HashMap<V, neighbours::Unwrapped>,
    /// Indices that were looked at in this block, or around it, to see whether they count up.
    pub countings: Vec<(neighbours::CountingKey, neighbours::Counting)>,
    /// Making an access for lanes in two groups: the second one. The mask is the first one's.
    second_group: Option<neighbours::SecondGroup>,
    /// What the last update of neighbouring elements has written.
    written: Option<written::Written>,
    /// Masks of the lanes' parts that were made in this block, or around it.
    masks_of_parts: Vec<memory::MasksOfParts>,
    /// By their first part, values that are there in the order of memory, too.
    in_order: HashMap<V, memory_order::InMemoryOrder>,
    /// Making code that takes indices for such that count up.
    pub speculation: Option<speculation::Speculation>,
    /// How many threads a vector of the first form does, if these may be fewer than there are lanes.
    first_form_done: Option<V>,
    /// Making code for vectors in which some index does not count up.
    pub second_form: Option<speculation::SecondForm>,
    /// Distances of lanes whose neighbours' is known only at run time, in bytes, and that distance.
    pub strides: HashMap<V, V>,
    /// The same of rows that have as many bytes, it seems.
    pub rows: HashMap<V, (V, u32)>,
    /// Per function, type and position: where arguments of the runtime's functions over lanes go.
    pub math_slots: HashMap<(V, Ty, usize), V>,
    /// Where the operation that is being emitted was written.
    pub span: Span,
    /// The last of them in the kernel's file.
    own_span: Span,
    /// What lanes do one after the other.
    pub lane_by_lane: Vec<ScalarReason>,
    /// Source lines, when they are wanted.
    pub lines: Option<Lines<'c>>,
    /// Emitting an outlined function, in which a failed check returns a flag.
    in_outlined: Option<call::OutlinedContext>,
    /// What of the entry that is being made may be written past the caches.
    streams: Option<stream::Streams>,
    /// Making one of those stores.
    streaming: bool,
}

/// The launch dimension that runs along the lanes: the last one the kernel asks for.
pub(crate) fn lane_dim(module: &Module) -> u32 {
    let mut last = 0;
    for_each_op(module, |data| {
        if let OpKind::Tid(dim) = data.kind {
            last = last.max(dim);
        }
    });
    last
}

/// Whether threads have arrays of their own.
pub(crate) fn has_local_arrays(module: &Module) -> bool {
    let mut found = false;
    for_each_op(module, |data| found |= matches!(data.kind, OpKind::Local(_)));
    found
}

/// Operations of the kernel after expansion of its calls.
pub(crate) fn expanded_size(module: &Module) -> usize {
    call::expanded_sizes(module).last().copied().unwrap_or(0)
}

/// Visits the operations that blocks hold.
pub(crate) fn for_each_op(module: &Module, mut visit: impl FnMut(&OpData)) {
    for_each_function_op(module, |_, data| visit(data));
}

/// The same with the function of each.
pub(crate) fn for_each_function_op(module: &Module, mut visit: impl FnMut(&Function, &OpData)) {
    for function in &module.functions {
        for block in 0..function.block_count() {
            for &op in &function.block(Block::new(block)).ops {
                visit(function, function.op(op));
            }
        }
    }
}

impl<'c, 'm> Lower<'c, 'm> {
    pub fn new(
        context: &'c Context,
        ir: &'m Module,
        options: &'m Options,
        machine: Machine,
    ) -> Lower<'c, 'm> {
        let e = Emitter::new(context, "inkle");
        let kernel_span = ir.kernel().map_or(Span::NONE, |k| k.span);
        let lines = options.lineinfo.then(|| Lines::new(&e.module, kernel_span));
        Lower {
            e,
            ir,
            options,
            machine,
            fuses: options.fuse_fp && !crate::exact::compares_exactly(ir),
            lanes: 1,
            mask: None,
            existing: None,
            features: None,
            alone: false,
            rare: false,
            thread: Thread { tid: SmallVec::new(), dims: SmallVec::new() },
            analyser: Analyser::new(ir, lane_dim(ir)),
            used: HashMap::new(),
            alike: HashMap::new(),
            in_order: HashMap::new(),
            row_lengths: HashMap::new(),
            outlined: HashMap::new(),
            updates: HashMap::new(),
            scattered: HashMap::new(),
            sizes: call::expanded_sizes(ir),
            returns_local: local::returns_local(ir),
            emitted: 0,
            accesses: alignment::Accesses::default(),
            multiples: HashMap::new(),
            param_block: None,
            spreads: HashMap::new(),
            deferred: Vec::new(),
            sums: None,
            pointers: Vec::new(),
            loops: 0,
            ranges: None,
            wrapped: HashMap::new(),
            countings: Vec::new(),
            second_group: None,
            written: None,
            masks_of_parts: Vec::new(),
            speculation: None,
            first_form_done: None,
            second_form: None,
            strides: HashMap::new(),
            rows: HashMap::new(),
            math_slots: HashMap::new(),
            span: kernel_span,
            own_span: kernel_span,
            lane_by_lane: Vec::new(),
            lines,
            in_outlined: None,
            streams: None,
            streaming: false,
        }
    }

    /// The finished module.
    pub fn finish(self) -> inkwell::module::Module<'c> {
        if let Some(lines) = self.lines {
            lines.finish();
        }
        self.e.module
    }

    /// Gives the instructions made from now on the line of a span.
    pub fn set_line(&mut self, span: Span) {
        self.span = span;
        if self.ir.kernel().is_some_and(|kernel| kernel.span.file == span.file) {
            self.own_span = span;
        }
        if let Some(lines) = &mut self.lines {
            let place = lines.place(span);
            self.e.set_place(place);
        }
    }

    /// Notes that lanes do something one after the other, for people: where the kernel's own file says so.
    pub fn note_lane_by_lane(&mut self, message: &str) {
        let span = self.own_span;
        let is_known = |known: &ScalarReason| known.span == span && known.message == message;
        if self.lanes > 1 && !self.machine.gpu && !self.lane_by_lane.iter().any(is_known) {
            self.lane_by_lane.push(ScalarReason { span, message: message.to_owned() });
        }
    }

    /// Flags of the user's floating-point operations. Code of ours whose results must not depend on the lane
    /// width (polynomials, conversions) clears them.
    pub fn user_math(&mut self) -> u32 {
        use inkwell::llvm_sys::{LLVMFastMathAll, LLVMFastMathAllowContract};
        if self.options.fast_math {
            self.checked_math(LLVMFastMathAll)
        } else if self.fuses {
            LLVMFastMathAllowContract
        } else {
            0
        }
    }

    /// Emits code without floating-point liberties.
    pub fn strict<T>(&mut self, emit: impl FnOnce(&mut Self) -> T) -> T {
        let saved = std::mem::replace(&mut self.e.fast_math, 0);
        let result = emit(self);
        self.e.fast_math = saved;
        result
    }

    // Types.

    /// The LLVM type of a scalar in a register. On the CPU f16 and bf16 travel as their bits, because not every
    /// CPU has registers for them and conversions are explicit.
    pub fn scalar_type(&self, scalar: Scalar) -> Ty {
        match scalar {
            Scalar::Bool => self.e.int(1),
            Scalar::I8 | Scalar::U8 => self.e.int(8),
            Scalar::I16 | Scalar::U16 => self.e.int(16),
            Scalar::I32 | Scalar::U32 => self.e.int(32),
            Scalar::I64 | Scalar::U64 => self.e.int(64),
            Scalar::F16 if self.machine.gpu => self.e.half(),
            Scalar::BF16 if self.machine.gpu => self.e.bfloat(),
            Scalar::F16 | Scalar::BF16 => self.e.int(16),
            Scalar::F32 => self.e.float(),
            Scalar::F64 => self.e.double(),
        }
    }

    /// The LLVM type of a part in a register.
    pub fn part_type(&self, part: Part) -> Ty {
        match part {
            Part::Scalar(s) => self.scalar_type(s),
            Part::Pointer => self.pointer_type(),
        }
    }

    pub fn pointer_type(&self) -> Ty {
        self.e.ptr(self.machine.data_space)
    }

    /// `ty` with one element per lane.
    pub fn wide_type(&self, ty: Ty) -> Ty {
        if self.lanes == 1 { ty } else { self.e.vector(ty, self.lanes) }
    }

    // Parts over lanes.

    /// A part with one element per lane; the scalar itself with one lane.
    pub fn wide(&self, val: Val) -> V {
        match val {
            Val::Uniform(v) if self.lanes == 1 => v,
            Val::Uniform(v) => self.e.splat(v, self.lanes),
            Val::Varying(v) => v,
            Val::Linear { base, stride } => {
                let ty = self.e.type_of(base);
                if ty == self.pointer_type() {
                    let offsets = self.ramp(self.e.int(64), stride);
                    return self.e.gep(self.e.int(8), base, offsets);
                }
                let start = self.e.splat(base, self.lanes);
                self.e.add(start, self.ramp(ty, stride))
            }
            Val::Indexed { base, index, scale } => {
                let unit = self.e.array(self.e.int(8), scale.into());
                self.e.gep(unit, base, index)
            }
        }
    }

    /// The constant `0, stride, 2 * stride, ...` over the lanes.
    pub fn ramp(&self, ty: Ty, stride: i64) -> V {
        let elems: Vec<V> =
            (0..self.lanes).map(|lane| self.e.const_int(ty, stride.wrapping_mul(lane.into()))).collect();
        self.e.const_vector(&elems)
    }

    /// A part that must be uniform.
    pub fn uniform(&self, val: Val) -> Result<V> {
        match val {
            Val::Uniform(v) => Ok(v),
            _ => Err(CodegenError::broken("a value that the analysis calls uniform varies between lanes")),
        }
    }

    /// Applies an operation on scalars to each lane of vectors.
    pub fn each_lane(&mut self, args: &[V], mut f: impl FnMut(&mut Self, &[V]) -> V) -> V {
        let Some(lanes) = self.e.lanes(args[0]) else { return f(self, args) };
        let mut all: V = std::ptr::null_mut();
        for lane in 0..lanes {
            let lane = self.e.i32(lane as i32);
            let scalars: SmallVec<[V; 2]> = args.iter().map(|&a| self.e.extract_element(a, lane)).collect();
            let one = f(self, &scalars);
            if all.is_null() {
                all = self.e.poison(self.e.vector(self.e.type_of(one), lanes));
            }
            all = self.e.insert_element(all, one, lane);
        }
        all
    }

    /// A result of a vector operation as a part.
    pub fn varying(&self, v: V) -> Val {
        if self.lanes == 1 { Val::Uniform(v) } else { Val::Varying(v) }
    }

    /// Applies an operation that works alike on scalars and vectors.
    pub fn map<const N: usize>(&mut self, vals: [Val; N], f: impl FnOnce(&mut Self, [V; N]) -> V) -> Val {
        let mut scalars = [std::ptr::null_mut(); N];
        let mut all_uniform = true;
        for (slot, val) in scalars.iter_mut().zip(vals) {
            match val {
                Val::Uniform(v) => *slot = v,
                _ => all_uniform = false,
            }
        }
        if all_uniform {
            return Val::Uniform(f(self, scalars));
        }
        let wide = vals.map(|v| self.wide(v));
        Val::Varying(f(self, wide))
    }

    /// `cond ? a : b` for one part.
    pub fn select(&mut self, cond: Val, a: Val, b: Val) -> Val {
        match (cond, a, b) {
            (_, Val::Uniform(x), Val::Uniform(y)) if x == y => a,
            (Val::Uniform(c), Val::Linear { base: x, stride: s }, Val::Linear { base: y, stride: t })
                if s == t =>
            {
                Val::Linear { base: self.e.select(c, x, y), stride: s }
            }
            (Val::Uniform(c), _, _) if self.lanes > 1 && !(a.is_uniform() && b.is_uniform()) => {
                let (a, b) = (self.wide(a), self.wide(b));
                Val::Varying(self.e.select(c, a, b))
            }
            _ => self.map([cond, a, b], |l, [c, a, b]| l.e.select(c, a, b)),
        }
    }

    // Masks.

    /// The mask as a vector of bools.
    pub fn mask_vector(&self) -> V {
        self.mask.unwrap_or_else(|| self.e.all_ones(self.e.vector(self.e.int(1), self.lanes)))
    }

    /// A vector of bools as the bits of an integer with one bit per lane.
    pub fn mask_bits(&self, mask: V) -> V {
        self.e.bitcast(mask, self.e.int(self.lanes))
    }

    /// Whether any lane of a vector of bools is set.
    pub fn any(&self, mask: V) -> V {
        // Of several vectors the masks are joined, which is less to do than to put their bits together.
        let (mut mask, mut lanes) = (mask, self.lanes);
        while self.features.is_some() && lanes > LANES_OF_MASK {
            mask = self.e.or(self.e.half_of(mask, 0), self.e.half_of(mask, 1));
            lanes /= 2;
        }
        let bits = self.e.bitcast(mask, self.e.int(lanes));
        self.e.icmp(crate::emitter::Int::LLVMIntNE, bits, self.e.null(self.e.int(lanes)))
    }

    // Operations.

    /// Emits a block and gives what its terminator passes on.
    pub fn block(&mut self, frame: &mut Frame<'m>, block: Block) -> Result<Vec<Parts>> {
        let function = frame.function;
        let known = (self.countings.len(), self.masks_of_parts.len(), self.known_ranges());
        for &op in &function.block(block).ops {
            let data = function.op(op);
            if data.kind.is_terminator() {
                self.end_first_form(frame, block)?;
                self.countings.truncate(known.0);
                self.masks_of_parts.truncate(known.1);
                self.forget_ranges(known.2);
                return data.operands.iter().map(|&v| frame.get(v).cloned()).collect();
            }
            if self.is_put_off(frame, &data.kind) {
                continue;
            }
            self.emitted += 1;
            self.speculate_up_to(&data.kind);
            self.set_line(data.span);
            self.op(frame, op)?;
            if let &[value] = data.results.as_slice() {
                self.note_index(frame, value)?;
            }
        }
        Err(CodegenError::broken(format!("{block} has no terminator")))
    }

    fn op(&mut self, frame: &mut Frame<'m>, op: Op) -> Result<()> {
        let function = frame.function;
        let data = function.op(op);
        let operands = &data.operands;
        let result_type = data.results.first().map(|&r| function.ty(r));
        let operand = |i: usize| {
            operands
                .get(i)
                .copied()
                .ok_or_else(|| CodegenError::broken(format!("{} lacks operand {i}", data.kind.keyword())))
        };
        let scalar_of = |value: Value| {
            function.ty(value).scalar().ok_or_else(|| {
                CodegenError::broken(format!("{} on a type without scalars", data.kind.keyword()))
            })
        };
        let result: Parts = match &data.kind {
            OpKind::Const(constant) => {
                let Some(Type::Scalar(scalar)) = result_type else {
                    return Err(CodegenError::broken("a constant that is not a scalar"));
                };
                smallvec![Val::Uniform(self.constant(*constant, scalar))]
            }
            OpKind::Zero => {
                let ty = result_type.ok_or_else(|| CodegenError::broken("zero without a type"))?;
                self.zero(ty)
            }
            OpKind::Unary(unary) => {
                let scalar = scalar_of(operand(0)?)?;
                if let Some(result) = self.negated_in_order(frame, *unary, scalar, operand(0)?)? {
                    result
                } else {
                    let xs = frame.get(operand(0)?)?.clone();
                    xs.into_iter().map(|x| self.unary(*unary, scalar, x)).collect::<Result<Parts>>()?
                }
            }
            OpKind::Binary(binary) => {
                let scalar = scalar_of(operand(0)?)?;
                self.check_divisor(*binary, scalar, &frame.get(operand(1)?)?.clone())?;
                if let Some(result) = self.by_reciprocal_sqrt(frame, *binary, operand(0)?, operand(1)?)? {
                    result
                } else if let Some(result) = self.binary_in_order(frame, *binary, scalar, data)? {
                    result
                } else {
                    let (xs, ys) = (frame.get(operand(0)?)?.clone(), frame.get(operand(1)?)?.clone());
                    let pairs = xs.into_iter().zip(ys);
                    pairs.map(|(x, y)| self.binary(*binary, scalar, x, y)).collect::<Result<Parts>>()?
                }
            }
            OpKind::Cmp(cmp) => {
                let scalar = scalar_of(operand(0)?)?;
                let (x, y) = (frame.get1(operand(0)?)?, frame.get1(operand(1)?)?);
                smallvec![self.compare(*cmp, scalar, x, y)]
            }
            OpKind::Select => {
                let cond = frame.get1(operand(0)?)?;
                let (xs, ys) = (frame.get(operand(1)?)?.clone(), frame.get(operand(2)?)?.clone());
                let chosen: Parts = xs.into_iter().zip(ys).map(|(x, y)| self.select(cond, x, y)).collect();
                self.note_wrap(frame, data, &chosen);
                chosen
            }
            OpKind::Cast => {
                let from = scalar_of(operand(0)?)?;
                let to = result_type
                    .and_then(Type::scalar)
                    .ok_or_else(|| CodegenError::broken("cast to no scalar"))?;
                let xs = frame.get(operand(0)?)?.clone();
                xs.into_iter().map(|x| self.cast(x, from, to)).collect()
            }
            OpKind::Bitcast => {
                let to = result_type
                    .and_then(Type::scalar)
                    .ok_or_else(|| CodegenError::broken("bitcast to no scalar"))?;
                let from = scalar_of(operand(0)?)?;
                let x = frame.get1(operand(0)?)?;
                smallvec![self.bitcast(x, from, to)]
            }
            OpKind::Construct => {
                let mut all = Parts::new();
                for &v in operands {
                    all.extend(frame.get(v)?.iter().copied());
                }
                all
            }
            OpKind::Extract(index) => self.extract(frame, operand(0)?, *index)?,
            OpKind::Insert(index) => self.insert(frame, operand(0)?, operand(1)?, *index)?,
            OpKind::ExtractDyn => self.extract_dyn(frame, operand(0)?, operand(1)?)?,
            OpKind::InsertDyn => self.insert_dyn(frame, operand(0)?, operand(1)?, operand(2)?)?,
            OpKind::Elem => smallvec![self.elem(frame, data)?],
            OpKind::View(dim) => self.view(frame, operand(0)?, operand(1)?, *dim)?,
            OpKind::Window(dim) => self.window(frame, data, *dim)?,
            OpKind::Local(extents) => {
                let ty = result_type.ok_or_else(|| CodegenError::broken("local without a type"))?;
                self.local(ty, extents)?
            }
            OpKind::ArrayAt => {
                let ty = result_type.ok_or_else(|| CodegenError::broken("array_at without a type"))?;
                self.array_at(frame, data, ty)?
            }
            OpKind::Field(index) => smallvec![self.field(frame, operand(0)?, *index)?],
            OpKind::Comp => smallvec![self.comp(frame, data)?],
            OpKind::GradArray => self.grad_array(frame, operand(0)?)?,
            OpKind::Shape(dim) => smallvec![self.shape(frame, operand(0)?, *dim)?],
            OpKind::Stride(dim) => smallvec![self.stride(frame, operand(0)?, *dim)?],
            OpKind::Address => smallvec![self.address(frame, operand(0)?)?],
            OpKind::Load => {
                let ty = result_type.ok_or_else(|| CodegenError::broken("load without a type"))?;
                let at = frame.get1(operand(0)?)?;
                self.load(ty, at)
            }
            OpKind::Store => {
                let ty = function.ty(operand(1)?);
                let at = frame.get1(operand(0)?)?;
                let value = frame.get(operand(1)?)?.clone();
                self.verify_written(frame, operand(0)?, ty, &value)?;
                self.streaming = self.may_stream(function, op);
                self.store(ty, at, &value);
                self.streaming = false;
                return Ok(());
            }
            OpKind::Atomic(atomic) => {
                let old = self.atomic(frame, op, *atomic, data)?;
                self.verify_atomic(frame, *atomic, data, &old)?;
                old
            }
            OpKind::AtomicCas => self.atomic_cas(frame, data)?,
            OpKind::Tid(dim) => {
                let tid = self.thread.tid.get(*dim as usize).copied();
                smallvec![tid.ok_or_else(|| CodegenError::broken(format!("tid {dim} does not exist")))?]
            }
            OpKind::LaunchDim(dim) => {
                let extent = self.thread.dims.get(*dim as usize).copied();
                smallvec![Val::Uniform(
                    extent.ok_or_else(|| CodegenError::broken(format!("launch_dim {dim} does not exist")))?
                )]
            }
            OpKind::BlockDim => smallvec![Val::Uniform(if self.machine.gpu {
                self.e.intrinsic("llvm.nvvm.read.ptx.sreg.ntid.x", &[], &[])
            } else {
                self.e.i32(1)
            })],
            OpKind::If => return self.if_op(frame, data),
            OpKind::For | OpKind::While => {
                self.loops += 1;
                let done = match data.kind {
                    OpKind::For => self.for_op(frame, data),
                    _ => self.while_op(frame, data),
                };
                self.loops -= 1;
                return done;
            }
            OpKind::Call(callee) => return self.call(frame, callee.index(), data),
            OpKind::Print(format) => return self.print(frame, format, data),
            OpKind::Assert(message) => {
                let condition = frame.get1(operand(0)?)?;
                return self.check_assert(condition, message);
            }
            OpKind::Breakpoint => {
                self.e.intrinsic("llvm.debugtrap", &[], &[]);
                return Ok(());
            }
            OpKind::Yield | OpKind::Return => return Ok(()),
        };
        if let Some(&r) = data.results.first() {
            frame.set(r, result);
        }
        Ok(())
    }

    /// All parts zero; pointers null.
    pub fn zero(&self, ty: Type) -> Parts {
        parts(ty).iter().map(|&(part, _)| Val::Uniform(self.e.null(self.part_type(part)))).collect()
    }

    /// The location of a value's parts, for results that several operations set.
    pub fn set_results(&self, frame: &mut Frame<'m>, data: &OpData, values: Vec<Parts>) -> Result<()> {
        if values.len() != data.results.len() {
            return Err(CodegenError::broken(format!(
                "{} has {} results, its blocks give {}",
                data.kind.keyword(),
                data.results.len(),
                values.len()
            )));
        }
        for (&r, parts) in data.results.iter().zip(values) {
            frame.set(r, parts);
        }
        Ok(())
    }
}
