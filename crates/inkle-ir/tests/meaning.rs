//! Simplified modules compute what they did before.
//!
//! The small evaluator here knows what [`inkle_ir::arbitrary`] makes and nothing else. It does its arithmetic in
//! f64 and i128 and rounds at the end, unlike the folder that it checks.

use std::collections::HashMap;

use half::{bf16, f16};
use inkle_ir::arbitrary::{self, Options};
use inkle_ir::{
    AtomicOp, BinaryOp, Block, CmpOp, Constant, Function, Module, Op, OpKind, Scalar, Type, UnaryOp, Value,
    simplify,
};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Datum {
    Number(Constant),
    Parts(Vec<Datum>),
    /// The array's number and the leading indices of a view.
    Array(usize, Vec<usize>),
    /// Part of a dimension of an array: the dimension, the start and the step.
    Window(Box<Datum>, usize, i128, i128),
    /// The array's number, an element, and a component of it.
    Address(usize, usize, Option<usize>),
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
        self.number() == Constant::Bool(true)
    }

    fn parts(&mut self) -> &mut Vec<Datum> {
        match self {
            Datum::Parts(parts) => parts,
            other => panic!("{other:?} has no parts"),
        }
    }

    /// The bits, with one NaN for all.
    fn show(&self, out: &mut Vec<String>) {
        match self {
            Datum::Number(Constant::Float(f)) if f.is_nan() => out.push("nan".into()),
            Datum::Number(c) => out.push(format!("{c:?}")),
            Datum::Parts(parts) => parts.iter().for_each(|p| p.show(out)),
            other => panic!("{other:?} in memory"),
        }
    }
}

fn zero(ty: Type) -> Datum {
    match ty {
        Type::Scalar(s) => Datum::Number(Constant::Int(0).convert(s)),
        Type::Struct(s) => Datum::Parts(s.fields.iter().map(|f| zero(f.ty)).collect()),
        _ => {
            let part = zero(Type::Scalar(ty.scalar().expect("it has components")));
            Datum::Parts(vec![part; ty.component_count().expect("it has components") as usize])
        }
    }
}

fn unary(op: UnaryOp, x: Constant, s: Scalar) -> Constant {
    match x {
        Constant::Bool(b) => Constant::Bool(!b),
        Constant::Int(i) => {
            let bits: Vec<bool> = (0..s.size() * 8).map(|bit| (i >> bit) & 1 == 1).collect();
            let run = |mut bits: Box<dyn Iterator<Item = &bool> + '_>| {
                let mut count = 0;
                while bits.next() == Some(&false) {
                    count += 1;
                }
                count
            };
            Constant::Int(match op {
                UnaryOp::Neg => -i,
                UnaryOp::Abs => i.abs(),
                UnaryOp::Invert => -1 - i,
                UnaryOp::Popcount => bits.iter().filter(|&&b| b).count() as i128,
                UnaryOp::Clz => run(Box::new(bits.iter().rev())),
                UnaryOp::Ctz => run(Box::new(bits.iter())),
                other => panic!("{other}"),
            })
            .convert(s)
        }
        Constant::Float(f) => Constant::Float(match op {
            UnaryOp::IsNan => return Constant::Bool(f.is_nan()),
            UnaryOp::IsInf => return Constant::Bool(f.is_infinite()),
            UnaryOp::IsFinite => return Constant::Bool(f.is_finite()),
            UnaryOp::Neg => -f,
            UnaryOp::Abs => f.abs(),
            UnaryOp::Sqrt => f.sqrt(),
            UnaryOp::Floor => f.floor(),
            UnaryOp::Ceil => f.ceil(),
            UnaryOp::Trunc => f.trunc(),
            UnaryOp::Round => f.round(),
            UnaryOp::Rint => f.round_ties_even(),
            other => panic!("{other}"),
        })
        .convert(s),
    }
}

fn binary(op: BinaryOp, a: Constant, b: Constant, s: Scalar) -> Constant {
    match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => Constant::Bool(match op {
            BinaryOp::And => a && b,
            BinaryOp::Or => a || b,
            BinaryOp::Xor => a != b,
            other => panic!("{other}"),
        }),
        (Constant::Int(a), Constant::Int(b)) => Constant::Int(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a.wrapping_mul(b),
            BinaryOp::Div => a / b,
            BinaryOp::FloorDiv => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
            BinaryOp::Rem => a - a / b * b,
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            BinaryOp::And => a & b,
            BinaryOp::Or => a | b,
            BinaryOp::Xor => a ^ b,
            BinaryOp::Shl => a * (1 << b),
            BinaryOp::Shr => a.div_euclid(1 << b),
            other => panic!("{other}"),
        })
        .convert(s),
        (Constant::Float(a), Constant::Float(b)) => Constant::Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::FloorDiv => match binary(BinaryOp::Div, Constant::Float(a), Constant::Float(b), s) {
                Constant::Float(quotient) => quotient.floor(),
                other => panic!("{other:?}"),
            },
            BinaryOp::Rem => a % b,
            BinaryOp::Min => a.min(b),
            BinaryOp::Max => a.max(b),
            other => panic!("{other}"),
        })
        .convert(s),
        other => panic!("{other:?}"),
    }
}

fn cmp(op: CmpOp, a: Constant, b: Constant) -> bool {
    let (lt, eq) = match (a, b) {
        (Constant::Bool(a), Constant::Bool(b)) => (!a & b, a == b),
        (Constant::Int(a), Constant::Int(b)) => (a < b, a == b),
        (Constant::Float(a), Constant::Float(b)) if a.is_nan() || b.is_nan() => return op == CmpOp::Ne,
        (Constant::Float(a), Constant::Float(b)) => (a < b, a == b),
        other => panic!("{other:?}"),
    };
    match op {
        CmpOp::Eq => eq,
        CmpOp::Ne => !eq,
        CmpOp::Lt => lt,
        CmpOp::Le => lt || eq,
        CmpOp::Gt => !lt && !eq,
        CmpOp::Ge => !lt,
    }
}

fn cast(x: Constant, to: Scalar) -> Constant {
    match (x, to) {
        (Constant::Int(i), Scalar::F32) => Constant::Float(f64::from(i as f32)),
        (Constant::Int(i), Scalar::F16) => Constant::Float(f16::from_f32(i as f32).to_f64()),
        (Constant::Int(i), Scalar::BF16) => Constant::Float(bf16::from_f32(i as f32).to_f64()),
        _ => x.convert(to),
    }
}

fn elementwise(x: &[&Datum], f: &impl Fn(&[Constant]) -> Constant) -> Datum {
    if let Datum::Parts(first) = x[0] {
        let at = |d: &&Datum, i: usize| match d {
            Datum::Parts(parts) => parts[i].clone(),
            other => panic!("{other:?}"),
        };
        let parts = (0..first.len()).map(|i| {
            let operands: Vec<Datum> = x.iter().map(|d| at(d, i)).collect();
            elementwise(&operands.iter().collect::<Vec<_>>(), f)
        });
        return Datum::Parts(parts.collect());
    }
    Datum::Number(f(&x.iter().map(|d| d.number()).collect::<Vec<_>>()))
}

struct Machine<'m> {
    module: &'m Module,
    arrays: Vec<Vec<Datum>>,
    tid: i128,
    count: i128,
}

type Frame = HashMap<Value, Datum>;

impl Machine<'_> {
    fn function(&mut self, function: &Function, args: Vec<Datum>) -> Vec<Datum> {
        self.block(function, function.body, args, &mut Frame::new())
    }

    fn block(&mut self, f: &Function, block: Block, args: Vec<Datum>, frame: &mut Frame) -> Vec<Datum> {
        frame.extend(f.block(block).params.iter().copied().zip(args));
        for &op in &f.block(block).ops {
            let data = f.op(op);
            let operands: Vec<Datum> = data.operands.iter().map(|v| frame[v].clone()).collect();
            if data.kind.is_terminator() {
                return operands;
            }
            let results = self.op(f, op, operands, frame);
            frame.extend(data.results.iter().copied().zip(results));
        }
        panic!("no terminator")
    }

    fn op(&mut self, f: &Function, op: Op, mut x: Vec<Datum>, frame: &mut Frame) -> Vec<Datum> {
        let data = f.op(op);
        let result = data.results.first().map_or(Type::BOOL, |&r| f.ty(r));
        let operand = data.operands.first().map_or(Type::BOOL, |&v| f.ty(v));
        let scalar = operand.scalar().unwrap_or(Scalar::Bool);
        vec![match data.kind {
            OpKind::Const(c) => Datum::Number(c),
            OpKind::Zero => zero(result),
            OpKind::Unary(op) => elementwise(&[&x[0]], &|x| unary(op, x[0], scalar)),
            OpKind::Binary(op) => elementwise(&[&x[0], &x[1]], &|x| binary(op, x[0], x[1], scalar)),
            OpKind::Cmp(op) => Datum::Number(Constant::Bool(cmp(op, x[0].number(), x[1].number()))),
            OpKind::Select => x.swap_remove(if x[0].truth() { 1 } else { 2 }),
            OpKind::Cast => {
                let to = result.scalar().expect("it has components");
                elementwise(&[&x[0]], &|x| cast(x[0], to))
            }
            OpKind::Bitcast => Datum::Number(match x[0].number() {
                Constant::Float(f) => Constant::Int((f as f32).to_bits().into()).convert(Scalar::I32),
                other => panic!("{other:?}"),
            }),
            OpKind::Construct => Datum::Parts(x),
            OpKind::Extract(i) => x[0].parts()[i as usize].clone(),
            OpKind::ExtractDyn => {
                let i = x[1].int() as usize;
                x[0].parts()[i].clone()
            }
            OpKind::Insert(i) => {
                let part = x[1].clone();
                x[0].parts()[i as usize] = part;
                x.swap_remove(0)
            }
            OpKind::InsertDyn => {
                let (part, i) = (x[1].clone(), x[2].int() as usize);
                x[0].parts()[i] = part;
                x.swap_remove(0)
            }
            OpKind::Window(dim) => {
                let (start, step) = (x[1].int(), x[3].int());
                Datum::Window(Box::new(x.swap_remove(0)), dim as usize, start, step)
            }
            OpKind::Local(ref extents) => {
                let elem = result.as_array().expect("an array").elem;
                self.arrays.push(vec![zero(elem); extents.iter().product::<u32>() as usize]);
                Datum::Array(self.arrays.len() - 1, vec![])
            }
            OpKind::Elem if matches!(x[0], Datum::Window(..)) => {
                let Datum::Window(whole, dim, start, step) = x[0].clone() else { unreachable!() };
                let i = x[1 + dim].int();
                x[1 + dim] = Datum::Number(Constant::Int(start + i * step));
                x[0] = *whole;
                return self.op(f, op, x, frame);
            }
            OpKind::View(0) if matches!(x[0], Datum::Window(..)) => {
                let Datum::Window(whole, dim, start, step) = x[0].clone() else { unreachable!() };
                assert_ne!(dim, 0);
                x[0] = *whole;
                let view = self.op(f, op, x, frame).swap_remove(0);
                Datum::Window(Box::new(view), dim - 1, start, step)
            }
            OpKind::Elem | OpKind::View(_) => {
                let Datum::Array(array, mut indices) = x[0].clone() else { panic!("not an array") };
                indices.extend(x[1..].iter().map(|i| i.int() as usize));
                if let OpKind::View(dim) = data.kind {
                    assert_eq!(dim, 0);
                    return vec![Datum::Array(array, indices)];
                }
                // The one array of two dimensions has rows of 4.
                Datum::Address(
                    array,
                    indices.into_iter().reduce(|row, column| row * 4 + column).unwrap_or(0),
                    None,
                )
            }
            OpKind::Comp => match x[0] {
                Datum::Address(array, element, None) => {
                    Datum::Address(array, element, Some(x[1].int() as usize))
                }
                ref other => panic!("{other:?}"),
            },
            OpKind::Load => self.place(&x[0]).clone(),
            OpKind::Store => {
                *self.place(&x[0]) = x[1].clone();
                return vec![];
            }
            OpKind::Atomic(op) => {
                let place = self.place(&x[0]);
                let old = place.clone();
                let (a, b) = (old.int(), x[1].int());
                let new = match op {
                    AtomicOp::Add => a + b,
                    AtomicOp::Sub => a - b,
                    AtomicOp::Min => a.min(b),
                    AtomicOp::Max => a.max(b),
                    AtomicOp::And => a & b,
                    AtomicOp::Or => a | b,
                    AtomicOp::Xor => a ^ b,
                    AtomicOp::Exch => b,
                };
                *place = Datum::Number(Constant::Int(new).convert(Scalar::I32));
                old
            }
            OpKind::Tid(_) => Datum::Number(Constant::Int(self.tid)),
            OpKind::LaunchDim(_) => Datum::Number(Constant::Int(self.count)),
            OpKind::BlockDim => Datum::Number(Constant::Int(1)),
            OpKind::If => return self.block(f, data.blocks[usize::from(!x[0].truth())], vec![], frame),
            OpKind::For => {
                let (lo, hi, step) = (x[0].int(), x[1].int(), x[2].int());
                let mut carried = x.split_off(3);
                let mut i = lo;
                while if step > 0 { i < hi } else { i > hi } {
                    carried.insert(0, Datum::Number(Constant::Int(i)));
                    carried = self.block(f, data.blocks[0], carried, frame);
                    i += step;
                }
                return carried;
            }
            OpKind::While => {
                while self.block(f, data.blocks[0], x.clone(), frame)[0].truth() {
                    x = self.block(f, data.blocks[1], x, frame);
                }
                return x;
            }
            OpKind::Call(callee) => {
                let module = self.module;
                return self.function(module.function(callee), x);
            }
            ref other => panic!("{}", other.keyword()),
        }]
    }

    fn place(&mut self, address: &Datum) -> &mut Datum {
        let Datum::Address(array, element, part) = *address else { panic!("{address:?} is not an address") };
        let place = &mut self.arrays[array][element];
        match part {
            Some(part) => &mut place.parts()[part],
            None => place,
        }
    }
}

/// What is in memory after a launch of three threads.
fn run(module: &Module) -> Vec<String> {
    let float = |f: f32| Datum::Number(Constant::Float(f.into()));
    let floats = |from: &[f32]| from.iter().map(|&f| float(f)).collect::<Vec<_>>();
    let ints = |from: [i128; 3]| from.map(|i| Datum::Number(Constant::Int(i))).to_vec();
    let vectors = (0..3).map(|i| Datum::Parts(floats(&[i as f32, -0.5, 1e20]))).collect();
    let mut machine = Machine {
        module,
        arrays: vec![
            floats(&[1.5, f32::NAN, -3.75e9]),
            floats(&[0.1, -0.0, 7.0]),
            ints([5, -2_147_483_648, 77]),
            vectors,
            floats(&[0.25; 12]),
            ints([0, 1, -1]),
        ],
        tid: 0,
        count: 3,
    };
    let kernel = module.kernel().expect("there is one");
    for tid in 0..3 {
        machine.tid = tid;
        let mut args: Vec<Datum> = (0..6).map(|i| Datum::Array(i, vec![])).collect();
        args.extend([float(2.625), Datum::Number(Constant::Int(-19))]);
        machine.function(kernel, args);
    }
    let mut out = Vec::new();
    machine.arrays[..6].iter().flatten().for_each(|d| d.show(&mut out));
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn simplified_modules_compute_the_same(module in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..3000).prop_map(|bytes| arbitrary::module(&bytes, Options::default())),
        any::<u64>().prop_map(|seed| arbitrary::module_from_seed(seed, Options::default())),
    ]) {
        let mut simple = module.clone();
        simplify(&mut simple);
        prop_assert_eq!(run(&module), run(&simple), "{}\n{}", module, simple);
    }
}
