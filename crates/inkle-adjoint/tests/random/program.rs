//! Random kernels of which every part is differentiable: branches, loops of all kinds, functions, vectors and structs.

use inkle_ir::{
    AtomicOp, BinaryOp, Block, Builder, CmpOp, Constant, Field, Function, FunctionId, FunctionKind, Module,
    OpKind, Param, Scalar, Type, UnaryOp, Value,
};

pub const F: Type = Type::F64;
const V: Type = Type::vec(3, Scalar::F64);

fn pair() -> Type {
    let field = |name: &str, ty| Field { name: name.into(), ty };
    Type::structure("Pair", vec![field("a", F), field("n", Type::I32), field("v", V)])
}

/// A small generator of numbers, so that a seed names a program.
pub struct Source(u64);

impl Source {
    pub fn new(seed: u64) -> Source {
        Source(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    pub fn unit(&mut self) -> f64 {
        self.below(2001) as f64 / 1000.0 - 1.0
    }
}

pub struct Maker<'s> {
    source: &'s mut Source,
    function: Function,
    block: Block,
    scope: Vec<Value>,
    nesting: usize,
    budget: usize,
    /// Functions that can be called: `(f64, vec3) -> (f64, vec3)`.
    callees: usize,
    arrays: Option<[Value; 2]>,
    /// Arrays of the thread's own that are in scope.
    locals: Vec<Value>,
}

/// A kernel of `(x: array<f64>, n: i32, y: array<f64>)`, where thread i writes `y[i]`.
pub fn kernel(source: &mut Source) -> Module {
    let mut module = Module::default();
    for index in 0..source.below(3) {
        let params = vec![Param { name: "s".into(), ty: F }, Param { name: "v".into(), ty: V }];
        let function = Function::new(format!("f{index}"), FunctionKind::Func, params, vec![F, V]);
        let mut maker = Maker::new(source, function, index);
        maker.statements(3);
        let returned = [maker.value(F), maker.value(V)];
        maker.build().effect(OpKind::Return, returned);
        module.functions.push(maker.function);
    }
    let param = |name: &str, ty| Param { name: name.into(), ty };
    let array = Type::array(F, 1);
    let params = vec![param("x", array), param("n", Type::I32), param("y", array)];
    let function = Function::new("k", FunctionKind::Kernel, params, Vec::new());
    let callees = module.functions.len();
    let mut maker = Maker::new(source, function, callees);
    let [x, _, y] = maker.scope[..] else { unreachable!("there are three parameters") };
    maker.scope = vec![maker.scope[1]];
    maker.arrays = Some([x, y]);
    let tid = maker.build().value(OpKind::Tid(0), [], Type::I32);
    maker.scope.push(tid);
    let first = maker.read();
    maker.scope.push(first);
    maker.statements(6);
    let value = maker.value(F);
    let mut b = maker.build();
    let reference = b.elem(y, &[tid]);
    b.store(reference, value);
    b.effect(OpKind::Return, []);
    module.functions.push(maker.function);
    module
}

impl<'s> Maker<'s> {
    fn new(source: &'s mut Source, function: Function, callees: usize) -> Maker<'s> {
        let block = function.body;
        let scope = function.block(block).params.to_vec();
        Maker {
            source,
            function,
            block,
            scope,
            nesting: 0,
            budget: 40,
            callees,
            arrays: None,
            locals: Vec::new(),
        }
    }

    fn build(&mut self) -> Builder<'_> {
        Builder::new(&mut self.function, self.block)
    }

    fn constant(&mut self, value: f64) -> Value {
        self.build().constant(Constant::Float(value), Scalar::F64)
    }

    /// A value in scope, or a new one.
    fn value(&mut self, ty: Type) -> Value {
        let found: Vec<Value> = self.scope.iter().copied().filter(|&v| self.function.ty(v) == ty).collect();
        if !found.is_empty() {
            // Late ones more often: they depend on more.
            let back = self.source.below(found.len()).min(self.source.below(found.len()));
            return found[found.len() - 1 - back];
        }
        match ty {
            Type::I32 => self.build().i32(2),
            _ if ty == V => {
                let parts = [0; 3].map(|_| self.value(F));
                self.build().value(OpKind::Construct, parts, V)
            }
            _ if ty == pair() => {
                let parts = [self.value(F), self.value(Type::I32), self.value(V)];
                self.build().value(OpKind::Construct, parts, ty)
            }
            _ => {
                let number = self.source.unit();
                self.constant(number)
            }
        }
    }

    fn condition(&mut self) -> Value {
        let op = [CmpOp::Lt, CmpOp::Gt][self.source.below(2)];
        let (a, b) = (self.value(F), self.value(F));
        self.build().cmp(op, a, b)
    }

    /// Keeps numbers near one.
    fn tame(&mut self, value: Value) -> Value {
        let op = [UnaryOp::Sin, UnaryOp::Tanh, UnaryOp::Cos][self.source.below(3)];
        self.build().unary(op, value)
    }

    fn index3(&mut self) -> Value {
        let any = self.value(Type::I32);
        let mut b = self.build();
        let three = b.i32(3);
        let zero = b.zero(Type::I32);
        let rest = b.binary(BinaryOp::Rem, any, three);
        b.binary(BinaryOp::Max, rest, zero)
    }

    fn read(&mut self) -> Value {
        let Some([x, _]) = self.arrays else { return self.value(F) };
        let any = self.value(Type::I32);
        let mut b = self.build();
        let extent = b.value(OpKind::Shape(0), [x], Type::I32);
        let zero = b.zero(Type::I32);
        let positive = b.binary(BinaryOp::Max, any, zero);
        let index = b.binary(BinaryOp::Rem, positive, extent);
        let reference = b.elem(x, &[index]);
        b.load(reference)
    }

    fn statements(&mut self, count: usize) {
        for _ in 0..=self.source.below(count) {
            if self.budget == 0 {
                return;
            }
            self.budget -= 1;
            let choice = self.source.below(20);
            let made = match choice {
                0 | 1 if self.nesting < 3 => {
                    self.branch();
                    continue;
                }
                2 | 3 if self.nesting < 3 => {
                    self.count_loop();
                    continue;
                }
                4 if self.nesting < 3 => {
                    self.condition_loop();
                    continue;
                }
                5 if self.callees > 0 => {
                    self.call();
                    continue;
                }
                14 => {
                    let ty = [F, V][self.source.below(2)];
                    let local = self.build().local(ty, &[3]);
                    self.locals.push(local);
                    continue;
                }
                15 | 16 if !self.locals.is_empty() => {
                    let reference = self.own_place();
                    let ty = self.function.ty(reference).as_ref_target().expect("an address");
                    let value = self.value(ty);
                    if self.source.below(3) == 0 {
                        self.build().atomic(AtomicOp::Add, reference, value);
                    } else {
                        self.build().store(reference, value);
                    }
                    continue;
                }
                17 if !self.locals.is_empty() => {
                    let reference = self.own_place();
                    self.build().load(reference)
                }
                6 => self.read(),
                7 => {
                    let whole = self.value(V);
                    let index = self.index3();
                    self.build().value(OpKind::ExtractDyn, [whole, index], F)
                }
                8 => {
                    let (whole, part, index) = (self.value(V), self.value(F), self.index3());
                    self.build().value(OpKind::InsertDyn, [whole, part, index], V)
                }
                9 => {
                    let (whole, part) = (self.value(V), self.value(F));
                    let index = self.source.below(3) as u32;
                    self.build().insert(whole, part, index)
                }
                10 => {
                    let (a, b) = (self.value(V), self.value(V));
                    let op =
                        [BinaryOp::Add, BinaryOp::Mul, BinaryOp::Sub, BinaryOp::Max][self.source.below(4)];
                    self.build().binary(op, a, b)
                }
                11 => {
                    let (whole, part) = (self.value(pair()), self.value(V));
                    self.build().insert(whole, part, 2)
                }
                12 => {
                    let whole = self.value(pair());
                    let index = [0, 2][self.source.below(2)];
                    self.build().extract(whole, index)
                }
                13 => {
                    let ty = [F, V, pair()][self.source.below(3)];
                    let (condition, a, b) = (self.condition(), self.value(ty), self.value(ty));
                    self.build().select(condition, a, b)
                }
                _ => self.formula(),
            };
            self.scope.push(made);
        }
    }

    /// The address of an element of an own array, or of a component of one.
    fn own_place(&mut self) -> Value {
        let local = self.locals[self.source.below(self.locals.len())];
        let index = self.index3();
        let reference = self.build().elem(local, &[index]);
        if self.function.ty(reference) == Type::reference(V) && self.source.below(2) == 0 {
            let index = self.index3();
            return self.build().comp(reference, index);
        }
        reference
    }

    fn formula(&mut self) -> Value {
        let (a, b) = (self.value(F), self.value(F));
        match self.source.below(8) {
            0 => self.tame(a),
            1 => {
                let one = self.constant(1.5);
                let mut build = self.build();
                let square = build.binary(BinaryOp::Mul, b, b);
                let below = build.binary(BinaryOp::Add, square, one);
                let root = build.unary(UnaryOp::Sqrt, below);
                build.binary(BinaryOp::Div, a, root)
            }
            2 => {
                let tame = self.tame(a);
                self.build().unary(UnaryOp::Exp, tame)
            }
            3 => self.build().binary(BinaryOp::Min, a, b),
            4 => {
                let two = self.constant(2.5);
                let tame = self.tame(b);
                let x = self.build().binary(BinaryOp::Add, tame, two);
                self.build().binary(BinaryOp::Atan2, a, x)
            }
            5 => self.build().binary(BinaryOp::Sub, a, b),
            _ => {
                let product = self.build().binary(BinaryOp::Mul, a, b);
                self.tame(product)
            }
        }
    }

    /// Fills a block; what it defines is forgotten, but for what `last` makes of it.
    fn inside<T>(&mut self, block: Block, last: impl FnOnce(&mut Self) -> T) -> T {
        let (outer, in_scope, locals) = (self.block, self.scope.len(), self.locals.len());
        self.block = block;
        self.nesting += 1;
        self.scope.extend(self.function.block(block).params.to_vec());
        self.statements(3);
        let made = last(self);
        self.nesting -= 1;
        self.scope.truncate(in_scope);
        self.locals.truncate(locals);
        self.block = outer;
        made
    }

    fn types(&mut self) -> Vec<Type> {
        (0..=self.source.below(3)).map(|_| [F, F, V, pair()][self.source.below(4)]).collect()
    }

    fn values(&mut self, types: &[Type]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    fn branch(&mut self) {
        let types = self.types();
        let condition = self.condition();
        let blocks = [self.function.add_block(), self.function.add_block()];
        for block in blocks {
            self.inside(block, |s| {
                let values = s.values(&types);
                s.build().effect(OpKind::Yield, values);
            });
        }
        let op = self.build().op(OpKind::If, [condition], types, blocks);
        self.scope.extend(self.function.op(op).results.to_vec());
    }

    /// What an iteration passes on: what it was given, changed a little, or anything.
    fn passed(&mut self, types: &[Type], block: Block, skipped: usize) -> Vec<Value> {
        types
            .iter()
            .enumerate()
            .map(|(index, &ty)| {
                let own = self.function.block(block).params[skipped + index];
                if ty == F && self.source.below(2) == 0 {
                    let other = self.value(F);
                    let op = [BinaryOp::Mul, BinaryOp::Add][self.source.below(2)];
                    let changed = self.build().binary(op, own, other);
                    return self.tame(changed);
                }
                self.value(ty)
            })
            .collect()
    }

    fn count_loop(&mut self) {
        let types = self.types();
        let (lo, step) = (self.source.below(3) as i32, [1, 2, -1][self.source.below(3)]);
        let known = self.source.below(2) == 0;
        let length = [0, 1, 3, 7, 11][self.source.below(5)];
        let any = self.value(Type::I32);
        let mut b = self.build();
        let lo_value = b.i32(lo);
        let hi = if known {
            b.i32(lo + step * length)
        } else {
            let five = b.i32(5);
            let few = b.binary(BinaryOp::Rem, any, five);
            let way = b.i32(step * length);
            let end = b.binary(BinaryOp::Add, lo_value, way);
            b.binary(BinaryOp::Add, end, few)
        };
        let step = b.i32(step);
        let mut operands = vec![lo_value, hi, step];
        operands.extend(self.values(&types));
        let block = self.function.add_block();
        self.function.add_block_param(block, Type::I32);
        for &ty in &types {
            self.function.add_block_param(block, ty);
        }
        self.inside(block, |s| {
            let values = s.passed(&types, block, 1);
            s.build().effect(OpKind::Yield, values);
        });
        let op = self.build().op(OpKind::For, operands, types, [block]);
        self.scope.extend(self.function.op(op).results.to_vec());
    }

    /// Counts up while a float is small.
    fn condition_loop(&mut self) {
        let mut types = vec![Type::I32, F];
        types.extend(self.types());
        let most = [0, 4, 9, 20][self.source.below(4)];
        let start = self.build().i32(0);
        let mut operands = vec![start];
        operands.extend(self.values(&types[1..]));
        let blocks = [self.function.add_block(), self.function.add_block()];
        for block in blocks {
            for &ty in &types {
                self.function.add_block_param(block, ty);
            }
        }
        let [head, body] = blocks;
        let outer = std::mem::replace(&mut self.block, head);
        let [count, float] = self.function.block(head).params[..2] else { unreachable!("there are two") };
        let limit = self.source.unit() + 0.8;
        let limit = self.constant(limit);
        let mut b = self.build();
        let most = b.i32(most);
        let more = b.cmp(CmpOp::Lt, count, most);
        let is_small = b.cmp(CmpOp::Lt, float, limit);
        let both = b.binary(BinaryOp::And, more, is_small);
        b.effect(OpKind::Yield, [both]);
        self.block = outer;
        self.inside(body, |s| {
            let count = s.function.block(body).params[0];
            let mut b = s.build();
            let one = b.i32(1);
            let mut values = vec![b.binary(BinaryOp::Add, count, one)];
            values.extend(s.passed(&types[1..], body, 1));
            s.build().effect(OpKind::Yield, values);
        });
        let op = self.build().op(OpKind::While, operands, types, blocks);
        self.scope.extend(self.function.op(op).results.to_vec());
    }

    fn call(&mut self) {
        let callee = FunctionId::new(self.source.below(self.callees));
        let args = [self.value(F), self.value(V)];
        let op = self.build().call(callee, &args, &[F, V]);
        self.scope.extend(self.function.op(op).results.to_vec());
    }
}
