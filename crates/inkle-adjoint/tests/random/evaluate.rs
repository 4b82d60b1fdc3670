//! Runs kernels in double precision and, along with every number, its derivative in one direction.

use std::collections::HashMap;

use inkle_ir::{
    AtomicOp, BinaryOp, Block, CmpOp, Constant, Function, Module, Op, OpKind, Type, UnaryOp, Value,
};

/// A value; floats with their derivatives.
#[derive(Clone, Debug)]
pub enum Datum {
    Float(f64, f64),
    Int(i64),
    Bool(bool),
    Parts(Vec<Datum>),
    Array(usize),
    Address { array: usize, element: usize, path: Vec<usize> },
}

impl Datum {
    pub fn float(&self) -> (f64, f64) {
        match self {
            Datum::Float(x, d) => (*x, *d),
            other => panic!("{other:?} is no float"),
        }
    }

    fn int(&self) -> i64 {
        match self {
            Datum::Int(i) => *i,
            other => panic!("{other:?} is no integer"),
        }
    }

    fn truth(&self) -> bool {
        match self {
            Datum::Bool(b) => *b,
            other => panic!("{other:?} is no bool"),
        }
    }

    fn parts(&mut self) -> &mut Vec<Datum> {
        match self {
            Datum::Parts(parts) => parts,
            other => panic!("{other:?} has no parts"),
        }
    }
}

pub fn zero(ty: Type) -> Datum {
    match ty {
        Type::Scalar(s) if s.is_float() => Datum::Float(0.0, 0.0),
        Type::Scalar(s) if s.is_int() => Datum::Int(0),
        Type::Scalar(_) => Datum::Bool(false),
        Type::Struct(s) => Datum::Parts(s.fields.iter().map(|f| zero(f.ty)).collect()),
        other => {
            let part = zero(Type::Scalar(other.scalar().expect("it has components")));
            Datum::Parts(vec![part; other.component_count().expect("it has components") as usize])
        }
    }
}

fn unary(op: UnaryOp, x: Datum) -> Datum {
    let (x, d) = match x {
        Datum::Bool(b) => return Datum::Bool(!b),
        Datum::Int(i) => return Datum::Int(-i),
        Datum::Float(x, d) => (x, d),
        Datum::Parts(parts) => return Datum::Parts(parts.into_iter().map(|p| unary(op, p)).collect()),
        other => panic!("{op} of {other:?}"),
    };
    let (r, slope) = match op {
        UnaryOp::Neg => (-x, -1.0),
        UnaryOp::Abs => (x.abs(), if x < 0.0 { -1.0 } else { 1.0 }),
        UnaryOp::Sqrt => (x.sqrt(), 0.5 / x.sqrt()),
        UnaryOp::Sin => (x.sin(), x.cos()),
        UnaryOp::Cos => (x.cos(), -x.sin()),
        UnaryOp::Tanh => (x.tanh(), 1.0 - x.tanh().powi(2)),
        UnaryOp::Exp => (x.exp(), x.exp()),
        UnaryOp::Floor => (x.floor(), 0.0),
        other => panic!("{other}"),
    };
    Datum::Float(r, slope * d)
}

fn binary(op: BinaryOp, a: Datum, b: Datum) -> Datum {
    match (a, b) {
        (Datum::Parts(a), Datum::Parts(b)) => {
            Datum::Parts(a.into_iter().zip(b).map(|(a, b)| binary(op, a, b)).collect())
        }
        (Datum::Bool(a), Datum::Bool(b)) => Datum::Bool(match op {
            BinaryOp::And => a && b,
            BinaryOp::Or => a || b,
            other => panic!("{other}"),
        }),
        (Datum::Int(a), Datum::Int(b)) => Datum::Int(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::Rem => a % b,
            BinaryOp::Max => a.max(b),
            BinaryOp::Min => a.min(b),
            other => panic!("{other}"),
        }),
        (Datum::Float(a, da), Datum::Float(b, db)) => {
            let (r, d) = match op {
                BinaryOp::Add => (a + b, da + db),
                BinaryOp::Sub => (a - b, da - db),
                BinaryOp::Mul => (a * b, da * b + a * db),
                BinaryOp::Div => (a / b, (da * b - a * db) / (b * b)),
                BinaryOp::Min => (a.min(b), if a < b { da } else { db }),
                BinaryOp::Max => (a.max(b), if a > b { da } else { db }),
                BinaryOp::Atan2 => (a.atan2(b), (da * b - a * db) / (a * a + b * b)),
                other => panic!("{other}"),
            };
            Datum::Float(r, d)
        }
        (a, b) => panic!("{op} of {a:?} and {b:?}"),
    }
}

fn cmp(op: CmpOp, a: &Datum, b: &Datum) -> bool {
    let (a, b) = match (a, b) {
        (Datum::Float(a, _), Datum::Float(b, _)) => (*a, *b),
        (a, b) => (a.int() as f64, b.int() as f64),
    };
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Lt => a < b,
        CmpOp::Le => a <= b,
        CmpOp::Gt => a > b,
        CmpOp::Ge => a >= b,
    }
}

/// The arrays of a run, and which is the gradient of which.
#[derive(Default)]
pub struct Machine {
    pub arrays: Vec<Vec<Datum>>,
    pub gradients: HashMap<usize, usize>,
    tid: i64,
}

impl Machine {
    /// Runs the kernel for every index below `threads`.
    pub fn launch(&mut self, module: &Module, args: &[Datum], threads: usize) {
        let kernel = module.kernel().expect("a kernel");
        for tid in 0..threads {
            self.tid = tid as i64;
            self.call(module, kernel, args.to_vec());
        }
    }

    fn call(&mut self, module: &Module, f: &Function, args: Vec<Datum>) -> Vec<Datum> {
        let mut values: Vec<Option<Datum>> = vec![None; f.value_count()];
        self.block(module, f, f.body, args, &mut values)
    }

    /// What the block yields or returns.
    fn block(
        &mut self,
        module: &Module,
        f: &Function,
        block: Block,
        params: Vec<Datum>,
        values: &mut Vec<Option<Datum>>,
    ) -> Vec<Datum> {
        for (&param, datum) in f.block(block).params.iter().zip(params) {
            values[param.index()] = Some(datum);
        }
        for &op in &f.block(block).ops {
            let data = f.op(op);
            let operands: Vec<Datum> =
                data.operands.iter().map(|v| values[v.index()].clone().expect("it is defined")).collect();
            if data.kind.is_terminator() {
                return operands;
            }
            let results = self.op(module, f, op, operands, values);
            for (&result, datum) in data.results.iter().zip(results) {
                values[result.index()] = Some(datum);
            }
        }
        panic!("a block without an end")
    }

    fn place(&mut self, reference: &Datum) -> &mut Datum {
        let Datum::Address { array, element, path } = reference else { panic!("{reference:?}") };
        let mut at = &mut self.arrays[*array][*element];
        for &step in path {
            at = &mut at.parts()[step];
        }
        at
    }

    fn op(
        &mut self,
        module: &Module,
        f: &Function,
        op: Op,
        mut operands: Vec<Datum>,
        values: &mut Vec<Option<Datum>>,
    ) -> Vec<Datum> {
        let data = f.op(op);
        let ty = |v: Value| f.ty(v);
        let one = match &data.kind {
            OpKind::Const(Constant::Float(x)) => Datum::Float(*x, 0.0),
            OpKind::Const(Constant::Int(i)) => Datum::Int(*i as i64),
            OpKind::Const(Constant::Bool(b)) => Datum::Bool(*b),
            OpKind::Zero => zero(ty(data.results[0])),
            OpKind::Unary(op) => unary(*op, operands.remove(0)),
            OpKind::Binary(op) => {
                let b = operands.remove(1);
                binary(*op, operands.remove(0), b)
            }
            OpKind::Cmp(op) => Datum::Bool(cmp(*op, &operands[0], &operands[1])),
            OpKind::Select => {
                let index = if operands[0].truth() { 1 } else { 2 };
                operands.swap_remove(index)
            }
            OpKind::Cast => match (&operands[0], ty(data.results[0])) {
                (Datum::Int(i), to) if to.is_float() => Datum::Float(*i as f64, 0.0),
                (Datum::Float(x, _), to) if to.is_int() => Datum::Int(*x as i64),
                _ => operands.remove(0),
            },
            OpKind::Construct => Datum::Parts(operands),
            OpKind::Extract(index) => operands[0].parts()[*index as usize].clone(),
            OpKind::ExtractDyn => {
                let index = operands[1].int() as usize;
                operands[0].parts()[index].clone()
            }
            OpKind::Insert(index) => {
                let part = operands.remove(1);
                operands[0].parts()[*index as usize] = part;
                operands.remove(0)
            }
            OpKind::InsertDyn => {
                let index = operands[2].int() as usize;
                let part = operands.remove(1);
                operands[0].parts()[index] = part;
                operands.remove(0)
            }
            OpKind::Elem => {
                let Datum::Array(array) = operands[0] else { panic!("{:?}", operands[0]) };
                Datum::Address { array, element: operands[1].int() as usize, path: Vec::new() }
            }
            OpKind::Field(index) => {
                if let Datum::Address { path, .. } = &mut operands[0] {
                    path.push(*index as usize);
                }
                operands.remove(0)
            }
            OpKind::Comp => {
                let index = operands[1].int() as usize;
                if let Datum::Address { path, .. } = &mut operands[0] {
                    path.push(index);
                }
                operands.remove(0)
            }
            OpKind::GradArray => {
                let Datum::Array(array) = operands[0] else { panic!("{:?}", operands[0]) };
                Datum::Array(self.gradients[&array])
            }
            OpKind::Shape(_) => {
                let Datum::Array(array) = operands[0] else { panic!("{:?}", operands[0]) };
                Datum::Int(self.arrays[array].len() as i64)
            }
            OpKind::Local(extents) => {
                let elem = ty(data.results[0]).as_array().expect("an array").elem;
                self.arrays.push(vec![zero(elem); extents.iter().product::<u32>() as usize]);
                Datum::Array(self.arrays.len() - 1)
            }
            OpKind::Load => self.place(&operands[0]).clone(),
            OpKind::Store => {
                let value = operands.remove(1);
                *self.place(&operands[0]) = value;
                return Vec::new();
            }
            OpKind::Atomic(AtomicOp::Add) => {
                let value = operands.remove(1);
                let place = self.place(&operands[0]);
                let old = place.clone();
                *place = binary(BinaryOp::Add, old.clone(), value);
                old
            }
            OpKind::Tid(_) => Datum::Int(self.tid),
            OpKind::If => {
                let index = usize::from(!operands[0].truth());
                return self.block(module, f, data.blocks[index], Vec::new(), values);
            }
            OpKind::For => {
                let [lo, hi, step] = [0, 1, 2].map(|i| operands[i].int());
                let mut carried = operands.split_off(3);
                let mut at = lo;
                while if step > 0 { at < hi } else { at > hi } {
                    let mut params = vec![Datum::Int(at)];
                    params.append(&mut carried);
                    carried = self.block(module, f, data.blocks[0], params, values);
                    at += step;
                }
                return carried;
            }
            OpKind::While => {
                let mut carried = operands;
                while self.block(module, f, data.blocks[0], carried.clone(), values)[0].truth() {
                    carried = self.block(module, f, data.blocks[1], carried, values);
                }
                return carried;
            }
            OpKind::Call(callee) => return self.call(module, module.function(*callee), operands),
            other => panic!("{other:?}"),
        };
        vec![one]
    }
}
