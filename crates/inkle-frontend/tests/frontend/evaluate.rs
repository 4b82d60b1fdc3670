//! A small evaluator for one thread, for tests of control flow: numbers, composites and arrays, slow and direct.

use std::collections::HashMap;

use inkle_frontend::tree::{Expr, ExprKind, FunctionDef};
use inkle_ir::{
    AtomicOp, BinaryOp, Block, CmpOp, Constant, Function, Module, Op, OpKind, Scalar, Type, UnaryOp, Value,
};

#[derive(Clone, Debug)]
enum Datum {
    Number(Constant),
    Parts(Vec<Datum>),
    /// The last argument, or an array that was not passed.
    Array(bool),
    /// An element, and the path to a part of it.
    Address(i128, Vec<usize>),
}

/// Runs the kernel with `args` and an array of `count` zeros; gives the array's numbers.
pub fn run(module: &Module, args: &[&str], count: usize) -> Vec<String> {
    let kernel = module.kernel().expect("a module has a kernel");
    let (last, params) = kernel.params.split_last().expect("a kernel has an output");
    let elem = last.ty.as_array().expect("the last parameter is an array").elem;
    let mut machine = Machine { module, memory: vec![zero(elem); count], fuel: 200_000 };
    assert_eq!(params.len(), args.len(), "arguments of {}", kernel.name);
    let mut values: Vec<Datum> = params.iter().zip(args).map(|(p, text)| argument(p.ty, text)).collect();
    values.push(Datum::Array(true));
    machine.call(kernel, values);
    machine.memory.iter().map(show).collect()
}

fn argument(ty: Type, text: &str) -> Datum {
    let scalar = match ty {
        Type::Scalar(s) => s,
        Type::Array(_) if text == "None" => return Datum::Array(false),
        other => panic!("no argument of type {other}"),
    };
    let constant = match text {
        "True" => Constant::Bool(true),
        "False" => Constant::Bool(false),
        _ if scalar.is_float() => Constant::Float(text.parse().expect("a float")),
        _ => Constant::Int(text.parse().expect("an integer")),
    };
    Datum::Number(constant.convert(scalar))
}

fn show(datum: &Datum) -> String {
    match datum {
        Datum::Number(Constant::Int(i)) => i.to_string(),
        Datum::Number(Constant::Float(f)) => f.to_string(),
        Datum::Number(Constant::Bool(b)) => b.to_string(),
        Datum::Parts(parts) => parts.iter().map(show).collect::<Vec<_>>().join(","),
        other => panic!("{other:?} in memory"),
    }
}

fn zero(ty: Type) -> Datum {
    match ty {
        Type::Scalar(s) => Datum::Number(Constant::Int(0).convert(s)),
        Type::Struct(s) => Datum::Parts(s.fields.iter().map(|f| zero(f.ty)).collect()),
        Type::Array(_) => Datum::Array(false),
        Type::Ref(_) => Datum::Address(-1, Vec::new()),
        composite => {
            let scalar = Type::Scalar(composite.scalar().expect("a composite"));
            Datum::Parts(vec![zero(scalar); composite.component_count().expect("a composite") as usize])
        }
    }
}

impl Datum {
    fn number(&self) -> Constant {
        match self {
            Datum::Number(c) => *c,
            other => panic!("{other:?} is not a number"),
        }
    }

    fn int(&self) -> i128 {
        match self.number() {
            Constant::Int(i) => i,
            other => panic!("{other:?} is not an integer"),
        }
    }

    fn truth(&self) -> bool {
        match self.number() {
            Constant::Bool(b) => b,
            other => panic!("{other:?} is not a bool"),
        }
    }

    fn part(&mut self, path: &[usize]) -> &mut Datum {
        match path.split_first() {
            None => self,
            Some((first, rest)) => match self {
                Datum::Parts(parts) => parts[*first].part(rest),
                other => panic!("{other:?} has no parts"),
            },
        }
    }
}

struct Machine<'m> {
    module: &'m Module,
    memory: Vec<Datum>,
    fuel: u32,
}

struct Frame<'m> {
    function: &'m Function,
    values: HashMap<Value, Datum>,
}

impl<'m> Machine<'m> {
    fn call(&mut self, function: &'m Function, args: Vec<Datum>) -> Vec<Datum> {
        let mut frame = Frame { function, values: HashMap::new() };
        self.block(&mut frame, function.body, args)
    }

    fn block(&mut self, frame: &mut Frame<'m>, block: Block, args: Vec<Datum>) -> Vec<Datum> {
        let data = frame.function.block(block);
        assert_eq!(data.params.len(), args.len());
        frame.values.extend(data.params.iter().copied().zip(args));
        for op in &data.ops {
            self.fuel = self.fuel.checked_sub(1).expect("the kernel ends");
            let data = frame.function.op(*op);
            let operands: Vec<Datum> = data.operands.iter().map(|v| frame.values[v].clone()).collect();
            if data.kind.is_terminator() {
                return operands;
            }
            let results = self.op(frame, *op, operands);
            frame.values.extend(data.results.iter().copied().zip(results));
        }
        unreachable!("blocks end in a terminator")
    }

    fn op(&mut self, frame: &mut Frame<'m>, op: Op, operands: Vec<Datum>) -> Vec<Datum> {
        let data = frame.function.op(op);
        let result = data.results.first().map(|v| frame.function.ty(*v));
        let operand_ty = data.operands.first().map(|v| frame.function.ty(*v));
        let one = |datum| vec![datum];
        match &data.kind {
            OpKind::Const(c) => one(Datum::Number(*c)),
            OpKind::Zero => one(zero(result.expect("a result"))),
            OpKind::Unary(u) => {
                let scalar = operand_ty.and_then(Type::scalar).expect("numbers");
                one(map(&operands[0], &mut |x| unary(*u, x, scalar)))
            }
            OpKind::Binary(b) => {
                let scalar = operand_ty.and_then(Type::scalar).expect("numbers");
                one(zip(&operands[0], &operands[1], &mut |x, y| binary(*b, x, y, scalar)))
            }
            OpKind::Cmp(c) => {
                one(Datum::Number(Constant::Bool(compare(*c, operands[0].number(), operands[1].number()))))
            }
            OpKind::Select => one(operands[if operands[0].truth() { 1 } else { 2 }].clone()),
            OpKind::Cast => {
                let scalar = result.and_then(Type::scalar).expect("a number");
                one(map(&operands[0], &mut |x| x.convert(scalar)))
            }
            OpKind::Construct => one(Datum::Parts(operands)),
            OpKind::Extract(i) => one(operands[0].clone().part(&[*i as usize]).clone()),
            OpKind::ExtractDyn => one(operands[0].clone().part(&[operands[1].int() as usize]).clone()),
            OpKind::Insert(i) => {
                let mut whole = operands[0].clone();
                *whole.part(&[*i as usize]) = operands[1].clone();
                one(whole)
            }
            OpKind::InsertDyn => {
                let mut whole = operands[0].clone();
                *whole.part(&[operands[2].int() as usize]) = operands[1].clone();
                one(whole)
            }
            OpKind::Elem => one(Datum::Address(operands[1].int(), Vec::new())),
            OpKind::Field(i) => match &operands[0] {
                Datum::Address(at, path) => {
                    one(Datum::Address(*at, path.iter().copied().chain([*i as usize]).collect()))
                }
                other => panic!("{other:?} is no address"),
            },
            OpKind::Comp => match &operands[0] {
                Datum::Address(at, path) => {
                    let index = operands[1].int() as usize;
                    one(Datum::Address(*at, path.iter().copied().chain([index]).collect()))
                }
                other => panic!("{other:?} is no address"),
            },
            OpKind::Shape(0) => one(Datum::Number(Constant::Int(self.memory.len() as i128))),
            OpKind::Address => {
                one(Datum::Number(Constant::Int(i128::from(matches!(operands[0], Datum::Array(true))))))
            }
            OpKind::Load => one(self.at(&operands[0]).clone()),
            OpKind::Store => {
                *self.at(&operands[0]) = operands[1].clone();
                Vec::new()
            }
            OpKind::Atomic(a) => {
                let scalar = result.and_then(Type::scalar).expect("numbers");
                let b = match a {
                    AtomicOp::Add => BinaryOp::Add,
                    AtomicOp::Sub => BinaryOp::Sub,
                    AtomicOp::Min => BinaryOp::Min,
                    AtomicOp::Max => BinaryOp::Max,
                    AtomicOp::And => BinaryOp::And,
                    AtomicOp::Or => BinaryOp::Or,
                    AtomicOp::Xor => BinaryOp::Xor,
                    AtomicOp::Exch => panic!("no exchange here"),
                };
                let place = self.at(&operands[0]);
                let old = place.clone();
                *place = zip(&old, &operands[1], &mut |x, y| binary(b, x, y, scalar));
                one(old)
            }
            OpKind::Tid(_) => one(Datum::Number(Constant::Int(0))),
            OpKind::Print(_) | OpKind::Assert(_) => Vec::new(),
            OpKind::If => {
                let side = usize::from(!operands[0].truth());
                self.block(frame, data.blocks[side], Vec::new())
            }
            OpKind::For => {
                let (mut at, hi, step) = (operands[0].int(), operands[1].int(), operands[2].int());
                let mut carried = operands[3..].to_vec();
                while if step > 0 { at < hi } else { step < 0 && at > hi } {
                    let args = std::iter::once(Datum::Number(Constant::Int(at))).chain(carried).collect();
                    carried = self.block(frame, data.blocks[0], args);
                    at += step;
                }
                carried
            }
            OpKind::While => {
                let mut carried = operands;
                while self.block(frame, data.blocks[0], carried.clone())[0].truth() {
                    carried = self.block(frame, data.blocks[1], carried);
                }
                carried
            }
            OpKind::Call(f) => {
                let module = self.module;
                self.call(module.function(*f), operands)
            }
            other => panic!("the evaluator does not know `{}`", other.keyword()),
        }
    }

    fn at(&mut self, address: &Datum) -> &mut Datum {
        let Datum::Address(at, path) = address else { panic!("{address:?} is no address") };
        let length = self.memory.len();
        let element = usize::try_from(*at).ok().and_then(|at| self.memory.get_mut(at));
        element.unwrap_or_else(|| panic!("index {at} is out of bounds of {length}")).part(path)
    }
}

fn map(x: &Datum, f: &mut dyn FnMut(Constant) -> Constant) -> Datum {
    match x {
        Datum::Number(c) => Datum::Number(f(*c)),
        Datum::Parts(parts) => Datum::Parts(parts.iter().map(|p| map(p, f)).collect()),
        other => panic!("{other:?} has no numbers"),
    }
}

fn zip(x: &Datum, y: &Datum, f: &mut dyn FnMut(Constant, Constant) -> Constant) -> Datum {
    match (x, y) {
        (Datum::Number(a), Datum::Number(b)) => Datum::Number(f(*a, *b)),
        (Datum::Parts(a), Datum::Parts(b)) => {
            Datum::Parts(a.iter().zip(b).map(|(p, q)| zip(p, q, f)).collect())
        }
        other => panic!("{other:?} have no numbers"),
    }
}

fn unary(op: UnaryOp, x: Constant, scalar: Scalar) -> Constant {
    match (op, x) {
        (UnaryOp::Neg, Constant::Int(i)) => Constant::Int(-i).convert(scalar),
        (UnaryOp::Neg, Constant::Float(f)) => Constant::Float(-f),
        (UnaryOp::Not, Constant::Bool(b)) => Constant::Bool(!b),
        (UnaryOp::Invert, Constant::Int(i)) => Constant::Int(!i).convert(scalar),
        (UnaryOp::Abs, Constant::Int(i)) => Constant::Int(i.abs()).convert(scalar),
        (UnaryOp::Abs, Constant::Float(f)) => Constant::Float(f.abs()),
        (UnaryOp::Sqrt, Constant::Float(f)) => Constant::Float(f.sqrt()).convert(scalar),
        other => panic!("the evaluator does not know {other:?}"),
    }
}

fn binary(op: BinaryOp, x: Constant, y: Constant, scalar: Scalar) -> Constant {
    match (x, y) {
        (Constant::Int(a), Constant::Int(b)) => Constant::Int(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div if b != 0 => a / b,
            BinaryOp::FloorDiv if b != 0 => a / b - i128::from(a % b != 0 && (a < 0) != (b < 0)),
            BinaryOp::Rem if b != 0 => a % b,
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Shl => a << b,
            BinaryOp::Shr => a >> b,
            other => panic!("`{other}` of {a} and {b}"),
        }),
        (Constant::Bool(a), Constant::Bool(b)) => Constant::Bool(match op {
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            other => panic!("`{other}` of booleans"),
        }),
        (Constant::Float(a), Constant::Float(b)) => Constant::Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::FloorDiv => (a / b).floor(),
            BinaryOp::Rem => a % b,
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::Pow => a.powf(b),
            other => panic!("`{other}` of floats"),
        }),
        other => panic!("`{op}` of {other:?}"),
    }
    .convert(scalar)
}

fn compare(op: CmpOp, x: Constant, y: Constant) -> bool {
    let ordering = match (x, y) {
        (Constant::Int(a), Constant::Int(b)) => Some(a.cmp(&b)),
        (Constant::Bool(a), Constant::Bool(b)) => Some(a.cmp(&b)),
        (Constant::Float(a), Constant::Float(b)) => a.partial_cmp(&b),
        other => panic!("`{op}` of {other:?}"),
    };
    match op {
        CmpOp::Eq => ordering.is_some_and(|o| o.is_eq()),
        CmpOp::Ne => !ordering.is_some_and(|o| o.is_eq()),
        CmpOp::Lt => ordering.is_some_and(|o| o.is_lt()),
        CmpOp::Le => ordering.is_some_and(|o| o.is_le()),
        CmpOp::Gt => ordering.is_some_and(|o| o.is_gt()),
        CmpOp::Ge => ordering.is_some_and(|o| o.is_ge()),
    }
}

/// Parameters and arguments that call a library function once, with usual types for its variables; `None` for
/// parameters that no kernel can pass.
pub fn sample_parameters(def: &FunctionDef) -> Option<(String, String)> {
    let mut params = Vec::new();
    let mut args = Vec::new();
    for param in &def.params {
        let name = format!("p_{}", param.name);
        params.push(format!("{name}: {}", sample(param.annotation.as_ref()?)?));
        args.push(name);
    }
    Some((params.join(", "), args.join(", ")))
}

fn sample(annotation: &Expr) -> Option<String> {
    match &*annotation.kind {
        ExprKind::Int(n) => Some(n.to_string()),
        ExprKind::Name(name) => Some(
            match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
                "S" | "R" | "F" | "T" | "U" => "wp.float32",
                "I" | "B" => "wp.int32",
                "N" | "M" | "K" => "3",
                "D" => "1",
                "Callable" => return None,
                _ => return Some(format!("wp.{name}")),
            }
            .to_owned(),
        ),
        ExprKind::Subscript { value, indices } => {
            let parts = indices.iter().map(sample).collect::<Option<Vec<_>>>()?;
            match (value.path()?.as_slice(), parts.as_slice()) {
                (["ref"], [inner]) => Some(inner.clone()),
                (["vec"], [n, s]) => Some(format!("wp.types.vector(length={n}, dtype={s})")),
                (["mat"], [r, c, s]) => Some(format!("wp.types.matrix(shape=({r}, {c}), dtype={s})")),
                (["quat"], [s]) => Some(format!("wp.types.quaternion(dtype={s})")),
                (["transform"], [s]) => Some(format!("wp.types.transformation(dtype={s})")),
                (["array"], [t, d]) => Some(format!("wp.array(dtype={t}, ndim={d})")),
                _ => None,
            }
        }
        _ => None,
    }
}
