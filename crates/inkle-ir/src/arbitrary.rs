//! Random modules for tests.
//!
//! Every module is verified IR whose kernel ends soon, stays inside its arrays and computes nothing unspecified: it
//! divides integers by odd numbers only, masks shifts, and does not look at the sign of a `min` of zeros or at
//! the bits of a NaN. So all ways to run it must agree: bit by bit on integers and, as long as products and sums
//! are not contracted and [`Options::transcendental`] is off, on floats, where one NaN is as good as another.
//!
//! # The kernel
//! The launch has one dimension of 1 to 2^30 threads, `n`. The parameters, in order, are [`params`]:
//!
//! - `x: array<f32, 1>` of `n` elements: read anywhere, never written;
//! - `y: array<f32, 1>`, `k: array<i32, 1>`, `v: array<vec<3, f32>, 1>` of `n` elements each: a thread reads and
//!   writes its own element;
//! - `g: array<f32, 2>` of `n` by 4 elements: a thread reads and writes its own row;
//! - `h: array<i32, 1>` of `n` elements: threads update any element by atomics, all with the same operation, and
//!   do not look at it;
//! - `s: f32` and `m: i32`: any value.

use crate::Builder;
use crate::ir::{Block, Function, FunctionId, FunctionKind, Module, Param, Value};
use crate::op::{AtomicOp, BinaryOp, CmpOp, Constant, OpKind, UnaryOp};
use crate::types::{Field, Scalar, Type};

/// What modules may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// About how many operations the kernel has at most; each function has a quarter.
    pub size: usize,
    /// Functions that are not rounded the same everywhere: sin, exp, pow ...
    pub transcendental: bool,
    /// f16 and bf16 arithmetic.
    pub half: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { size: 200, transcendental: false, half: true }
    }
}

/// The parameters of every kernel.
pub fn params() -> Vec<Param> {
    let param = |name: &str, ty| Param { name: name.into(), ty };
    vec![
        param("x", Type::array(Type::F32, 1)),
        param("y", Type::array(Type::F32, 1)),
        param("k", Type::array(Type::I32, 1)),
        param("v", Type::array(VEC3, 1)),
        param("g", Type::array(Type::F32, 2)),
        param("h", Type::array(Type::I32, 1)),
        param("s", Type::F32),
        param("m", Type::I32),
    ]
}

/// The module that `bytes` describe. Fewer bytes and smaller ones make smaller modules, so a test that fails can be
/// made smaller by way of its bytes.
pub fn module(bytes: &[u8], options: Options) -> Module {
    let mut source = Source { bytes, at: 0 };
    let mut module = Module::default();
    let mut costs: Vec<u64> = Vec::new();
    for index in 0..source.below(4) {
        let params: Vec<Param> = (0..=source.below(3))
            .map(|i| Param { name: format!("p{i}"), ty: source.pick(&types(options)) })
            .collect();
        let results: Vec<Type> = (0..=source.below(2)).map(|_| source.pick(&types(options))).collect();
        let mut function = Function::new(format!("f{index}"), FunctionKind::Func, params, results);
        let mut generator = Generator::new(&mut source, &mut function, &module, &costs, options);
        generator.fuel = options.size / 4;
        generator.func();
        costs.push(generator.cost);
        module.functions.push(function);
    }
    let mut kernel = Function::new("kernel", FunctionKind::Kernel, params(), vec![]);
    let mut generator = Generator::new(&mut source, &mut kernel, &module, &costs, options);
    generator.kernel();
    module.functions.push(kernel);
    module
}

/// The module of a seed: bytes that look random, as many as the size can use.
pub fn module_from_seed(seed: u64, options: Options) -> Module {
    let mut state = seed;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        // The splitmix64 generator.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)).to_le_bytes()
    })
    .flatten()
    .take(options.size * 16)
    .collect();
    module(&bytes, options)
}

const VEC3: Type = Type::vec(3, Scalar::F32);

/// How many operations a kernel may run in a thread.
const MAX_COST: u64 = 100_000;

fn types(options: Options) -> Vec<Type> {
    let field = |name: &str, ty| Field { name: name.into(), ty };
    let mut types = vec![
        Type::F32,
        Type::I32,
        VEC3,
        Type::BOOL,
        Type::Scalar(Scalar::U32),
        Type::I64,
        Type::F64,
        Type::vec(2, Scalar::I32),
        Type::mat(2, 2, Scalar::F32),
        Type::Scalar(Scalar::U8),
        Type::Scalar(Scalar::I16),
        Type::Scalar(Scalar::U64),
        Type::structure("Pair", vec![field("a", Type::F32), field("b", Type::I32), field("c", VEC3)]),
        Type::vec(5, Scalar::F64),
        Type::Quat(Scalar::F32),
    ];
    if options.half {
        types.extend([Type::Scalar(Scalar::F16), Type::Scalar(Scalar::BF16)]);
    }
    types
}

struct Source<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Source<'_> {
    /// Zero at the end, so every choice has its simplest case at zero.
    fn byte(&mut self) -> usize {
        self.at += 1;
        self.bytes.get(self.at - 1).copied().unwrap_or(0).into()
    }

    fn below(&mut self, count: usize) -> usize {
        self.byte() % count
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

struct Generator<'g, 'b> {
    source: &'g mut Source<'b>,
    function: &'g mut Function,
    block: Block,
    module: &'g Module,
    /// What a call of each function of the module costs, in operations.
    costs: &'g [u64],
    options: Options,
    types: Vec<Type>,
    /// The values in scope.
    scope: Vec<Value>,
    /// How often the current block runs at most.
    runs: u64,
    cost: u64,
    /// How many operations may still be made.
    fuel: usize,
    nesting: usize,
    kernel: Option<KernelParts>,
}

/// What only a kernel has.
#[derive(Clone, Copy)]
struct KernelParts {
    arrays: [Value; 6],
    tid: Value,
    /// The number of threads.
    count: Value,
    atomic: AtomicOp,
}

impl<'g, 'b> Generator<'g, 'b> {
    fn new(
        source: &'g mut Source<'b>,
        function: &'g mut Function,
        module: &'g Module,
        costs: &'g [u64],
        options: Options,
    ) -> Self {
        let block = function.body;
        Generator {
            source,
            function,
            block,
            module,
            costs,
            options,
            types: types(options),
            scope: Vec::new(),
            runs: 1,
            cost: 0,
            fuel: options.size,
            nesting: 0,
            kernel: None,
        }
    }

    fn build(&mut self) -> Builder<'_> {
        self.cost += self.runs;
        self.fuel = self.fuel.saturating_sub(1);
        Builder::new(self.function, self.block)
    }

    fn func(&mut self) {
        self.scope.extend(self.function.block(self.block).params.iter().copied());
        self.statements();
        let types = self.function.results.clone();
        let results: Vec<Value> = types.into_iter().map(|ty| self.value(ty)).collect();
        self.build().effect(OpKind::Return, results);
    }

    fn kernel(&mut self) {
        let params = self.function.block(self.block).params.clone();
        self.scope.extend(&params[6..]);
        let tid = self.build().value(OpKind::Tid(0), [], Type::I32);
        let count = self.build().value(OpKind::LaunchDim(0), [], Type::I32);
        self.scope.push(tid);
        let arrays = [params[0], params[1], params[2], params[3], params[4], params[5]];
        let atomic = self.source.pick(&[
            AtomicOp::Add,
            AtomicOp::Min,
            AtomicOp::Max,
            AtomicOp::And,
            AtomicOp::Or,
            AtomicOp::Xor,
            AtomicOp::Sub,
        ]);
        self.kernel = Some(KernelParts { arrays, tid, count, atomic });
        for array in [arrays[0], arrays[2], arrays[3]] {
            let reference = self.build().elem(array, &[tid]);
            let value = self.build().load(reference);
            self.scope.push(value);
        }
        self.statements();
        let vector = self.value(VEC3);
        let (sum, bits) = self.digest();
        for (array, value) in [(1, sum), (2, bits), (3, vector)] {
            let reference = self.build().elem(arrays[array], &[tid]);
            self.build().store(reference, value);
        }
        self.build().effect(OpKind::Return, []);
    }

    /// Makes an f32 and an i32 of the latest values in scope, so that most of what was computed shows in the end.
    fn digest(&mut self) -> (Value, Value) {
        let latest = self.scope.len().saturating_sub(64);
        let (mut bits, mut sum) = (self.build().i32(0), self.build().zero(Type::F32));
        for value in self.scope.split_off(latest) {
            let ty = self.function.ty(value);
            let parts: Vec<Value> = match (ty, ty.component_count()) {
                (Type::Scalar(_), _) => vec![value],
                (Type::Struct(_), _) => (0..2).map(|i| self.build().extract(value, i)).collect(),
                (_, count) => (0..count.unwrap_or(0)).map(|i| self.build().extract(value, i)).collect(),
            };
            for part in parts {
                if !self.function.ty(part).is_float() {
                    let part = self.build().cast(part, Type::I32);
                    let odd = self.build().i32(31);
                    let spread = self.build().binary(BinaryOp::Mul, bits, odd);
                    bits = self.build().binary(BinaryOp::Xor, spread, part);
                    continue;
                }
                // One NaN or infinity would hide all the others.
                let part = self.build().cast(part, Type::F32);
                let finite = self.build().unary(UnaryOp::IsFinite, part);
                let one = self.build().constant(Constant::Float(1.0), Scalar::F32);
                let part = self.build().select(finite, part, one);
                let weight = self.build().constant(Constant::Float(0.875), Scalar::F32);
                let less = self.build().binary(BinaryOp::Mul, sum, weight);
                sum = self.build().binary(BinaryOp::Add, less, part);
            }
        }
        (sum, bits)
    }

    fn statements(&mut self) {
        let count = self.source.below(8) + if self.nesting == 0 { self.source.below(24) } else { 0 };
        for _ in 0..count {
            if self.fuel == 0 {
                return;
            }
            self.statement();
        }
    }

    fn statement(&mut self) {
        match self.source.below(16) {
            0..=5 => {
                let ty = self.source.pick(&self.types);
                let value = self.expression(ty);
                self.scope.push(value);
            }
            6 | 7 => self.branch(),
            8 | 9 => self.count_loop(),
            10 => self.condition_loop(),
            11 => self.call(),
            12 | 13 => self.read(),
            14 => self.write(),
            _ if self.nesting > 0 => self.write(),
            _ => self.update(),
        }
    }

    /// A value of the type: one in scope, or a new one.
    fn value(&mut self, ty: Type) -> Value {
        let candidates: Vec<Value> =
            self.scope.iter().copied().filter(|&v| self.function.ty(v) == ty).collect();
        if candidates.is_empty() && self.source.below(8) > 1 {
            return self.derived(ty);
        }
        if candidates.is_empty() || self.source.below(16) == 15 {
            return self.literal(ty);
        }
        // Zero bytes pick the latest.
        candidates[candidates.len() - 1 - self.source.below(candidates.len().min(256))]
    }

    /// A value of the type made from a number in scope, if there is one.
    fn derived(&mut self, ty: Type) -> Value {
        let numbers: Vec<Value> =
            self.scope.iter().copied().filter(|&v| self.function.ty(v).as_scalar().is_some()).collect();
        if numbers.is_empty() {
            return self.literal(ty);
        }
        let number = self.source.pick(&numbers);
        match ty {
            Type::Scalar(_) => self.build().cast(number, ty),
            Type::Struct(s) => {
                let parts: Vec<Value> = s.fields.iter().map(|f| self.value(f.ty)).collect();
                self.build().value(OpKind::Construct, parts, ty)
            }
            _ => {
                let scalar = Type::Scalar(ty.scalar().unwrap_or(Scalar::F32));
                let first = self.build().cast(number, scalar);
                let count = ty.component_count().unwrap_or(0) as usize;
                let mut parts = vec![first; count];
                for part in &mut parts[1..] {
                    let one = self.literal(scalar);
                    *part = match ty.scalar() {
                        Some(Scalar::Bool) => first,
                        _ => self.build().binary(BinaryOp::Mul, first, one),
                    };
                }
                self.build().value(OpKind::Construct, parts, ty)
            }
        }
    }

    fn literal(&mut self, ty: Type) -> Value {
        let Some(scalar) = ty.as_scalar() else {
            return match (ty.scalar(), self.source.below(2)) {
                (_, 0) | (None, _) => self.build().zero(ty),
                (Some(scalar), _) => {
                    let part = self.literal(Type::Scalar(scalar));
                    let count = ty.component_count().unwrap_or(0) as usize;
                    self.build().value(OpKind::Construct, vec![part; count], ty)
                }
            };
        };
        let byte = self.source.byte();
        let constant = if scalar == Scalar::Bool {
            Constant::Bool(byte % 2 == 1)
        } else if scalar.is_float() {
            let special = [0.0, 1.0, -0.0, 0.5, -1.0, 1e-3, 65504.0, f64::INFINITY, f64::NAN, 1e30, 1e-42];
            Constant::Float(special.get(byte).copied().unwrap_or(byte as f64 * 0.37 - 40.0))
        } else {
            let special =
                [0, 1, -1, 2, 31, 127, 128, 255, i128::from(i32::MIN), i128::from(i64::MAX), 1 << 31];
            Constant::Int(special.get(byte).copied().unwrap_or(byte as i128 - 100))
        };
        self.build().constant(constant, scalar)
    }

    /// A new value of the type.
    fn expression(&mut self, ty: Type) -> Value {
        if self.source.below(8) == 7 {
            let (c, a, b) = (self.value(Type::BOOL), self.value(ty), self.value(ty));
            return self.build().select(c, a, b);
        }
        let Some(scalar) = ty.scalar() else { return self.structure(ty) };
        if ty.as_scalar().is_none() && self.source.below(3) == 2 {
            return self.composite(ty, scalar);
        }
        if let Some(scalar) = ty.as_scalar()
            && self.source.below(4) == 3
        {
            return self.other_type(scalar);
        }
        match scalar {
            Scalar::Bool => self.truth(ty),
            float if float.is_float() => self.float(ty),
            _ => self.integer(ty, scalar),
        }
    }

    fn structure(&mut self, ty: Type) -> Value {
        let Type::Struct(s) = ty else { return self.build().zero(ty) };
        if self.source.below(2) == 0 {
            let parts: Vec<Value> = s.fields.iter().map(|f| self.value(f.ty)).collect();
            return self.build().value(OpKind::Construct, parts, ty);
        }
        let index = self.source.below(s.fields.len());
        let (whole, part) = (self.value(ty), self.value(s.fields[index].ty));
        self.build().insert(whole, part, index as u32)
    }

    fn composite(&mut self, ty: Type, scalar: Scalar) -> Value {
        let count = ty.component_count().unwrap_or(1);
        match self.source.below(3) {
            0 => {
                let parts: Vec<Value> = (0..count).map(|_| self.value(Type::Scalar(scalar))).collect();
                self.build().value(OpKind::Construct, parts, ty)
            }
            1 => {
                let index = self.source.below(count as usize) as u32;
                let (whole, part) = (self.value(ty), self.value(Type::Scalar(scalar)));
                self.build().insert(whole, part, index)
            }
            _ => {
                let (whole, part) = (self.value(ty), self.value(Type::Scalar(scalar)));
                let index = self.index_below(count);
                self.build().value(OpKind::InsertDyn, [whole, part, index], ty)
            }
        }
    }

    /// An i32 from 0 to `count - 1`.
    fn index_below(&mut self, count: u32) -> Value {
        let any = self.value(Type::Scalar(Scalar::U32));
        let count = self.build().constant(Constant::Int(count.into()), Scalar::U32);
        let index = self.build().binary(BinaryOp::Rem, any, count);
        self.build().cast(index, Type::I32)
    }

    /// A scalar from a value of another type.
    fn other_type(&mut self, scalar: Scalar) -> Value {
        let ty = Type::Scalar(scalar);
        let composites: Vec<Type> = self.types.iter().copied().filter(|t| t.as_scalar().is_none()).collect();
        match self.source.below(4) {
            0 => {
                let scalars: Vec<Type> =
                    self.types.iter().copied().filter(|t| t.as_scalar().is_some()).collect();
                let from = self.source.pick(&scalars);
                let value = self.value(from);
                self.build().cast(value, ty)
            }
            1 if ty == Type::I32 => {
                let float = self.value(Type::F32);
                let nan = self.build().unary(UnaryOp::IsNan, float);
                let zero = self.build().zero(Type::F32);
                let number = self.build().select(nan, zero, float);
                self.build().value(OpKind::Bitcast, [number], ty)
            }
            2 => {
                let from = self.source.pick(&composites);
                let whole = self.value(from);
                let part = if let Type::Struct(s) = from {
                    let fields: Vec<u32> = (0..s.fields.len() as u32)
                        .filter(|&i| s.fields[i as usize].ty.as_scalar().is_some())
                        .collect();
                    let index = self.source.pick(&fields);
                    self.build().extract(whole, index)
                } else {
                    let index = self.source.below(from.component_count().unwrap_or(1) as usize);
                    self.build().extract(whole, index as u32)
                };
                self.build().cast(part, ty)
            }
            _ => {
                let dynamic: Vec<Type> = composites.into_iter().filter(|t| t.scalar().is_some()).collect();
                let from = self.source.pick(&dynamic);
                let whole = self.value(from);
                let index = self.index_below(from.component_count().unwrap_or(1));
                let part = Type::Scalar(from.scalar().unwrap_or(scalar));
                let part = self.build().value(OpKind::ExtractDyn, [whole, index], part);
                self.build().cast(part, ty)
            }
        }
    }

    fn truth(&mut self, ty: Type) -> Value {
        match self.source.below(4) {
            0 | 1 => {
                let scalars: Vec<Type> =
                    self.types.iter().copied().filter(|t| t.as_scalar().is_some()).collect();
                let of = self.source.pick(&scalars);
                let cmp = self.source.pick(CmpOp::ALL);
                let (a, b) = (self.value(of), self.value(of));
                self.build().cmp(cmp, a, b)
            }
            2 => {
                let op = self.source.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]);
                let (a, b) = (self.value(ty), self.value(ty));
                self.build().binary(op, a, b)
            }
            _ => {
                let test =
                    self.source.pick(&[UnaryOp::Not, UnaryOp::IsNan, UnaryOp::IsInf, UnaryOp::IsFinite]);
                let x = self.value(if test == UnaryOp::Not { ty } else { Type::F32 });
                self.build().unary(test, x)
            }
        }
    }

    fn float(&mut self, ty: Type) -> Value {
        use BinaryOp::{Add, Atan2, Div, FloorDiv, Max, Min, Mul, Pow, Rem, Sub};
        use UnaryOp::{Abs, Ceil, Exp, Floor, Log, Neg, Rint, Round, Sin, Sqrt, Tanh, Trunc};
        let rough = self.options.transcendental && self.source.below(4) == 3;
        if self.source.below(3) == 2 {
            let op = if rough {
                self.source.pick(&[Sin, Exp, Log, Tanh])
            } else {
                self.source.pick(&[Neg, Abs, Sqrt, Floor, Ceil, Trunc, Round, Rint])
            };
            let x = self.value(ty);
            return self.build().unary(op, x);
        }
        let op = if rough {
            self.source.pick(&[Pow, Atan2])
        } else {
            self.source.pick(&[Add, Mul, Sub, Add, Mul, Div, Min, Max, FloorDiv, Rem])
        };
        let (mut a, mut b) = (self.value(ty), self.value(ty));
        if let Min | Max = op {
            // Only then are there no zeros of two signs: -0.0 + 0.0 is 0.0.
            let zero = self.build().zero(ty);
            a = self.build().binary(Add, a, zero);
            b = self.build().binary(Add, b, zero);
        }
        self.build().binary(op, a, b)
    }

    fn integer(&mut self, ty: Type, scalar: Scalar) -> Value {
        use BinaryOp::{Add, And, Div, FloorDiv, Max, Min, Mul, Or, Rem, Shl, Shr, Sub, Xor};
        if self.source.below(4) == 3 {
            let op = self.source.pick(&[
                UnaryOp::Neg,
                UnaryOp::Abs,
                UnaryOp::Invert,
                UnaryOp::Popcount,
                UnaryOp::Clz,
                UnaryOp::Ctz,
            ]);
            let x = self.value(ty);
            return self.build().unary(op, x);
        }
        let op =
            self.source.pick(&[Add, Mul, Sub, Add, And, Or, Xor, Min, Max, Shl, Shr, Div, Rem, FloorDiv]);
        let (a, mut b) = (self.value(ty), self.value(ty));
        match op {
            Shl | Shr => {
                let mask = self.splat(ty, scalar, i128::from(scalar.size()) * 8 - 1);
                b = self.build().binary(And, b, mask);
            }
            Div | Rem | FloorDiv => {
                let one = self.splat(ty, scalar, 1);
                b = self.build().binary(Or, b, one);
            }
            _ => {}
        }
        self.build().binary(op, a, b)
    }

    fn splat(&mut self, ty: Type, scalar: Scalar, value: i128) -> Value {
        let part = self.build().constant(Constant::Int(value), scalar);
        if ty.as_scalar().is_some() {
            return part;
        }
        let count = ty.component_count().unwrap_or(0) as usize;
        self.build().value(OpKind::Construct, vec![part; count], ty)
    }

    /// Fills a block that runs `times` as often as this one, and gives what `last` makes at its end.
    fn inside<T>(&mut self, block: Block, times: u64, last: impl FnOnce(&mut Self) -> T) -> T {
        let (outer, in_scope, runs) = (self.block, self.scope.len(), self.runs);
        self.block = block;
        self.runs *= times;
        self.nesting += 1;
        self.scope.extend(self.function.block(block).params.iter().copied());
        if self.nesting < 4 {
            self.statements();
        }
        let made = last(self);
        self.nesting -= 1;
        self.runs = runs;
        self.scope.truncate(in_scope);
        self.block = outer;
        made
    }

    fn some_types(&mut self) -> Vec<Type> {
        (0..self.source.below(4)).map(|_| self.source.pick(&self.types)).collect()
    }

    fn values(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    fn finish(&mut self, kind: OpKind, operands: Vec<Value>, types: &[Type], blocks: &[Block]) {
        let op = self.build().op(kind, operands, types.iter().copied(), blocks.iter().copied());
        self.scope.extend(self.function.op(op).results.iter().copied());
    }

    fn branch(&mut self) {
        let types = self.some_types();
        let condition = self.value(Type::BOOL);
        let blocks = [self.function.add_block(), self.function.add_block()];
        for block in blocks {
            self.inside(block, 1, |this| {
                let values = this.values(&types);
                this.build().effect(OpKind::Yield, values);
            });
        }
        self.finish(OpKind::If, vec![condition], &types, &blocks);
    }

    fn count_loop(&mut self) {
        let index = self.source.pick(&[Scalar::I32, Scalar::I64]);
        let types = self.some_types();
        let lo = self.source.below(5) as i128 - 1;
        let step: i128 = self.source.pick(&[1, 2, -1]);
        let mut operands = vec![self.build().constant(Constant::Int(lo), index)];
        // At most 4 iterations, known or not.
        if self.source.below(2) == 0 {
            let hi = lo + step.signum() * self.source.below(5) as i128;
            operands.push(self.build().constant(Constant::Int(hi), index));
        } else {
            let any = self.value(Type::Scalar(index));
            let three = self.build().constant(Constant::Int(3), index);
            let few = self.build().binary(BinaryOp::And, any, three);
            let op = if step > 0 { BinaryOp::Add } else { BinaryOp::Sub };
            let hi = self.build().binary(op, operands[0], few);
            operands.push(hi);
        }
        operands.push(self.build().constant(Constant::Int(step), index));
        operands.extend(self.values(&types));
        let block = self.function.add_block();
        self.function.add_block_param(block, Type::Scalar(index));
        for &ty in &types {
            self.function.add_block_param(block, ty);
        }
        self.inside(block, 4, |this| {
            let values = this.values(&types);
            this.build().effect(OpKind::Yield, values);
        });
        self.finish(OpKind::For, operands, &types, &[block]);
    }

    /// A `while` that counts down from 7 or less and may stop sooner.
    fn condition_loop(&mut self) {
        let mut types = vec![Type::I32];
        types.extend(self.some_types());
        let any = self.value(Type::I32);
        let seven = self.build().i32(7);
        let mut operands = vec![self.build().binary(BinaryOp::And, any, seven)];
        operands.extend(self.values(&types[1..]));
        let blocks = [self.function.add_block(), self.function.add_block()];
        for block in blocks {
            for &ty in &types {
                self.function.add_block_param(block, ty);
            }
        }
        self.inside(blocks[0], 8, |this| {
            let left = this.function.block(this.block).params[0];
            let zero = this.build().i32(0);
            let more = this.build().cmp(CmpOp::Gt, left, zero);
            let wanted = this.value(Type::BOOL);
            let both = this.build().binary(BinaryOp::And, more, wanted);
            this.build().effect(OpKind::Yield, [both]);
        });
        self.inside(blocks[1], 7, |this| {
            let left = this.function.block(this.block).params[0];
            let one = this.build().i32(1);
            let mut values = vec![this.build().binary(BinaryOp::Sub, left, one)];
            values.extend(this.values(&types[1..]));
            this.build().effect(OpKind::Yield, values);
        });
        self.finish(OpKind::While, operands, &types, &blocks);
    }

    fn call(&mut self) {
        if self.module.functions.is_empty() {
            return;
        }
        let index = self.source.below(self.module.functions.len());
        let cost = self.runs.saturating_mul(self.costs[index]);
        if self.cost.saturating_add(cost) > MAX_COST {
            return;
        }
        let callee = &self.module.functions[index];
        let types: Vec<Type> = callee.params.iter().map(|p| p.ty).collect();
        let args = self.values(&types);
        self.cost += cost;
        let op = self.build().call(FunctionId::new(index), &args, &callee.results);
        self.scope.extend(self.function.op(op).results.iter().copied());
    }

    /// Reads an array.
    fn read(&mut self) {
        let Some(KernelParts { arrays: [x, y, k, v, g, _], tid, count, .. }) = self.kernel else { return };
        let reference = match self.source.below(7) {
            0 => self.build().elem(x, &[tid]),
            6 => self.local_cell(),
            1 => {
                // Wherever an i32 lands in the array; either way to get there.
                let any = self.value(Type::I32);
                let index = if self.source.below(2) == 0 {
                    let rest = self.build().binary(BinaryOp::Rem, any, count);
                    let positive = self.build().binary(BinaryOp::Add, rest, count);
                    self.build().binary(BinaryOp::Rem, positive, count)
                } else {
                    let unsigned = Type::Scalar(Scalar::U32);
                    let (any, count) = (self.build().cast(any, unsigned), self.build().cast(count, unsigned));
                    let rest = self.build().binary(BinaryOp::Rem, any, count);
                    self.build().cast(rest, Type::I64)
                };
                self.build().elem(x, &[index])
            }
            2 => self.build().elem(y, &[tid]),
            3 => self.build().elem(k, &[tid]),
            4 => self.build().elem(v, &[tid]),
            _ => self.own_cell(g, tid),
        };
        let value = self.build().load(reference);
        self.scope.push(value);
    }

    /// The address of an element in this thread's row.
    fn own_cell(&mut self, g: Value, tid: Value) -> Value {
        let column = self.index_below(4);
        let g = if self.source.below(3) == 0 {
            // The columns from right to left.
            let [start, extent, step] = [3, 4, -1].map(|n| self.build().i32(n));
            self.build().window(g, start, extent, step, 1)
        } else {
            g
        };
        if self.source.below(2) == 0 {
            return self.build().elem(g, &[tid, column]);
        }
        let row = self.build().view(g, tid, 0);
        self.build().elem(row, &[column])
    }

    /// The address of an element of a new array of the thread's own, of which another element was written.
    fn local_cell(&mut self) -> Value {
        let ty = self.source.pick(&[Type::F32, Type::I32, VEC3]);
        let local = self.build().local(ty, &[4]);
        let (written, column) = (self.index_below(4), self.index_below(4));
        let value = self.value(ty);
        let reference = self.build().elem(local, &[written]);
        self.build().store(reference, value);
        self.build().elem(local, &[column])
    }

    /// Writes what belongs to this thread.
    fn write(&mut self) {
        let Some(KernelParts { arrays: [_, y, k, v, g, _], tid, .. }) = self.kernel else { return };
        let reference = match self.source.below(5) {
            0 => self.build().elem(y, &[tid]),
            1 => self.build().elem(k, &[tid]),
            2 => self.build().elem(v, &[tid]),
            3 => self.own_cell(g, tid),
            _ => {
                let whole = self.build().elem(v, &[tid]);
                let index = self.index_below(3);
                self.build().comp(whole, index)
            }
        };
        let ty = self.function.ty(reference).as_ref_target().unwrap_or(Type::F32);
        let value = self.value(ty);
        self.build().store(reference, value);
    }

    /// Updates an element that all threads share.
    fn update(&mut self) {
        let Some(KernelParts { arrays: [.., h], count, atomic, .. }) = self.kernel else { return };
        let any = self.value(Type::Scalar(Scalar::U32));
        let count = self.build().cast(count, Type::Scalar(Scalar::U32));
        let index = self.build().binary(BinaryOp::Rem, any, count);
        let index = self.build().cast(index, Type::I32);
        let value = self.value(Type::I32);
        let reference = self.build().elem(h, &[index]);
        self.build().atomic(atomic, reference, value);
    }
}
