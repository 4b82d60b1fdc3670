//! Places in memory, seen through calls: a numbering of values in which what is certainly equal has one number.
//!
//! Integers are sums of multiples, so that `n - 1 + i` and `i + (n - 1)` are one; a load is as good as a value where
//! nothing writes to such elements; what a call gives is looked for in the function that it calls.

mod asked;
mod effects;
mod interval;
mod place;
mod sum;

use std::rc::Rc;

use inkle_ir::{
    BinaryOp, CmpOp, Constant, Function, FunctionId, Module, Op, OpData, OpKind, Type, UnaryOp, Value,
    ValueDef,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::nest::Nest;
use effects::{Effects, Kinds};
pub(crate) use place::Place;
pub(crate) use sum::Sum;

/// How deep it is looked at what a value is made of.
const MAX_DEPTH: u32 = 100;

/// How many calls are looked into.
const MAX_CALLS: usize = 4096;

/// A run of a function: the outermost one, or that of one call in another run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Frame(u32);

impl Frame {
    pub const OUTERMOST: Frame = Frame(0);
}

/// What certainly is equal has one number. A number that [varies](Places::varies_in) in a loop is one in every iteration
/// by itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Number(u32);

/// What a number is.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Node {
    /// A value of which nothing more is known.
    Value(Frame, Value),
    /// The index of a `for`.
    Index(Frame, Value),
    /// Some index of a `for` with these bounds: the index of the n-th such loop around it.
    Range([Number; 3], u32),
    /// How an integer compares to zero; its first multiple is positive.
    Compare(CmpOp, Sum),
    /// An operation that always gives the same for the same operands.
    Op(OpKind, Type, SmallVec<[Number; 4]>),
    /// What lies at a place where nothing is written.
    Load(Type, Place),
    Sum(Sum),
}

/// A frame's function and what is known of its values.
struct Run<'m> {
    id: FunctionId,
    f: &'m Function,
    /// The call that it is the run of.
    caller: Option<(Frame, Op)>,
    numbers: FxHashMap<Value, Number>,
    calls: FxHashMap<Op, Frame>,
}

/// The places that a function and those that it calls read and write.
pub(crate) struct Places<'m> {
    module: &'m Module,
    runs: Vec<Run<'m>>,
    nodes: Vec<Node>,
    known: FxHashMap<Node, Number>,
    nests: FxHashMap<FunctionId, Rc<Nest>>,
    /// Of every function of the module.
    effects: Vec<Effects>,
    depth: u32,
}

impl<'m> Places<'m> {
    /// Those of a run of function `id`.
    pub fn new(module: &'m Module, id: FunctionId) -> Places<'m> {
        let mut effects = Vec::new();
        for f in &module.functions {
            effects.push(Effects::of(f, &effects));
        }
        let mut places = Places {
            module,
            runs: Vec::new(),
            nodes: Vec::new(),
            known: FxHashMap::default(),
            nests: FxHashMap::default(),
            effects,
            depth: 0,
        };
        places.run(id, None);
        places
    }

    /// A run of a function for a call, which passes it the arguments that come first.
    pub fn run(&mut self, id: FunctionId, caller: Option<(Frame, Op)>) -> Frame {
        let frame = Frame(self.runs.len() as u32);
        let f = self.module.function(id);
        let (numbers, calls) = (FxHashMap::default(), FxHashMap::default());
        self.runs.push(Run { id, f, caller, numbers, calls });
        frame
    }

    /// The function that runs in a frame.
    pub fn function(&self, frame: Frame) -> &'m Function {
        self.runs[frame.0 as usize].f
    }

    /// Whether anything is written in the outermost frame or in calls there.
    pub fn has_writes(&self) -> bool {
        self.written() != Kinds::default()
    }

    fn written(&self) -> Kinds {
        self.effects[self.runs[0].id.index()].writes
    }

    /// The frame of a call, if its function is there to be looked at.
    pub fn call(&mut self, frame: Frame, op: Op) -> Option<Frame> {
        let run = &self.runs[frame.0 as usize];
        if let Some(&known) = run.calls.get(&op) {
            return Some(known);
        }
        let OpKind::Call(callee) = run.f.op(op).kind else { return None };
        if self.module.function(callee).native().is_some() || self.runs.len() > MAX_CALLS {
            return None;
        }
        let made = self.run(callee, Some((frame, op)));
        self.runs[frame.0 as usize].calls.insert(op, made);
        Some(made)
    }

    /// The frame of a call that reads or writes memory.
    pub fn call_with_effects(&mut self, frame: Frame, op: Op) -> Option<Frame> {
        let OpKind::Call(callee) = self.function(frame).op(op).kind else { return None };
        let Effects { reads, writes } = self.effects[callee.index()];
        if reads || writes != Kinds::default() { self.call(frame, op) } else { None }
    }

    /// Where a value is made: arguments are what the caller passes, and what a call gives is what is returned.
    fn origin(&mut self, mut frame: Frame, mut value: Value) -> (Frame, Value) {
        loop {
            let run = &self.runs[frame.0 as usize];
            let f = run.f;
            match f.value(value).def {
                ValueDef::Param { block, index } => {
                    let Some((caller, op)) = run.caller.filter(|_| block == f.body) else { break };
                    // What a gradient gets besides are gradients.
                    let operands = &self.function(caller).op(op).operands;
                    let Some(&operand) = operands.get(index as usize) else { break };
                    (frame, value) = (caller, operand);
                }
                ValueDef::Result { op, index } => match f.op(op).kind {
                    OpKind::Call(_) => {
                        let Some(callee) = self.call(frame, op) else { break };
                        let called = self.function(callee);
                        let last = *called.block(called.body).ops.last().expect("verified");
                        frame = callee;
                        value = called.op(last).operands[index as usize];
                    }
                    OpKind::Extract(field) => {
                        let (whole_frame, whole) = self.origin(frame, f.op(op).operands[0]);
                        match self.function(whole_frame).defining_op(whole) {
                            Some(made) if made.kind == OpKind::Construct => {
                                frame = whole_frame;
                                value = made.operands[field as usize];
                            }
                            _ => break,
                        }
                    }
                    _ => break,
                },
            }
        }
        (frame, value)
    }

    fn intern(&mut self, node: Node) -> Number {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let number = Number(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, number);
        number
    }

    fn node(&self, number: Number) -> &Node {
        &self.nodes[number.0 as usize]
    }

    fn intern_sum(&mut self, sum: Sum) -> Number {
        match sum.terms[..] {
            [(number, 1)] if sum.constant == 0 => number,
            _ => self.intern(Node::Sum(sum)),
        }
    }

    fn intern_op(&mut self, kind: OpKind, ty: Type, mut operands: SmallVec<[Number; 4]>) -> Number {
        let is_symmetric = matches!(
            kind,
            OpKind::Binary(
                BinaryOp::Mul
                    | BinaryOp::Add
                    | BinaryOp::Min
                    | BinaryOp::Max
                    | BinaryOp::And
                    | BinaryOp::Or
                    | BinaryOp::Xor
            )
        );
        if is_symmetric {
            operands.sort_unstable();
        }
        if kind == OpKind::Binary(BinaryOp::Rem)
            && ty.is_int()
            && let Some(divisor) = self.sum(operands[1]).as_constant().filter(|&divisor| divisor > 0)
        {
            operands[0] = self.remainder(operands[0], divisor);
            if self.sum(operands[0]).as_constant().is_some() {
                return operands[0];
            }
        }
        self.intern(Node::Op(kind, ty, operands))
    }

    /// `sum kind 0`.
    fn compare(&mut self, kind: CmpOp, sum: Sum) -> Option<Number> {
        let (kind, sum) = match sum.terms.first() {
            Some(&(_, count)) if count < 0 => (kind.mirrored(), Sum::default().minus(&sum)?),
            _ => (kind, sum),
        };
        Some(self.intern(Node::Compare(kind, sum)))
    }

    /// The remainder of what is not negative, as an index.
    fn remainder(&mut self, number: Number, divisor: i128) -> Number {
        let mut sum = self.sum(number);
        sum.terms.iter_mut().for_each(|(_, count)| *count = count.rem_euclid(divisor));
        sum.terms.retain(|&mut (_, count)| count != 0);
        sum.constant = sum.constant.rem_euclid(divisor);
        self.intern_sum(sum)
    }

    /// A number as a sum.
    pub fn sum(&self, number: Number) -> Sum {
        match self.node(number) {
            Node::Sum(sum) => sum.clone(),
            _ => Sum { terms: smallvec![(number, 1)], constant: 0 },
        }
    }

    /// `a + b * factor`.
    fn add(&mut self, a: Number, b: Number, factor: i128) -> Option<Number> {
        let sum = self.sum(a).plus(&self.sum(b), factor)?;
        Some(self.intern_sum(sum))
    }

    fn multiply(&mut self, a: Number, b: Number, ty: Type) -> Option<Number> {
        let zero = Sum::default();
        let product = match (self.sum(a).as_constant(), self.sum(b).as_constant()) {
            (_, Some(factor)) => zero.plus(&self.sum(a), factor)?,
            (Some(factor), _) => zero.plus(&self.sum(b), factor)?,
            _ => return Some(self.intern_op(OpKind::Binary(BinaryOp::Mul), ty, smallvec![a, b])),
        };
        Some(self.intern_sum(product))
    }

    /// The number of a value.
    pub fn number(&mut self, frame: Frame, value: Value) -> Number {
        if let Some(&known) = self.runs[frame.0 as usize].numbers.get(&value) {
            return known;
        }
        self.depth += 1;
        let (at, origin) = self.origin(frame, value);
        let number = if self.depth > MAX_DEPTH {
            self.intern(Node::Value(at, origin))
        } else if (at, origin) == (frame, value) {
            self.made(frame, value)
        } else {
            self.number(at, origin)
        };
        self.depth -= 1;
        self.runs[frame.0 as usize].numbers.insert(value, number);
        number
    }

    /// The number of a value that is made in this frame.
    fn made(&mut self, frame: Frame, value: Value) -> Number {
        let f = self.function(frame);
        let found = match f.value(value).def {
            ValueDef::Param { block, index } => {
                let owner = self.nest(frame).owner(block);
                let is_index = index == 0 && owner.is_some_and(|op| f.op(op).kind == OpKind::For);
                is_index.then(|| self.intern(Node::Index(frame, value)))
            }
            ValueDef::Result { op, .. } => self.computed(frame, f.op(op), f.ty(value)),
        };
        found.unwrap_or_else(|| self.intern(Node::Value(frame, value)))
    }

    /// The number of what an operation gives, if that is always the same.
    fn computed(&mut self, frame: Frame, data: &OpData, ty: Type) -> Option<Number> {
        let is_integer = |ty: Type| ty.as_scalar().is_some_and(|_| ty.is_int());
        match data.kind {
            OpKind::Const(Constant::Int(value)) => Some(self.intern_sum(Sum::constant(value))),
            OpKind::Zero if is_integer(ty) => Some(self.intern_sum(Sum::default())),
            OpKind::Binary(kind @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)) if is_integer(ty) => {
                let [a, b] = [0, 1].map(|i| self.number(frame, data.operands[i]));
                match kind {
                    BinaryOp::Add => self.add(a, b, 1),
                    BinaryOp::Sub => self.add(a, b, -1),
                    _ => self.multiply(a, b, ty),
                }
            }
            OpKind::Unary(UnaryOp::Neg) if is_integer(ty) => {
                let operand = self.number(frame, data.operands[0]);
                let negated = Sum::default().minus(&self.sum(operand))?;
                Some(self.intern_sum(negated))
            }
            // An index does not overflow.
            OpKind::Cast if is_integer(ty) && ty.size() >= 4 => {
                let operand = data.operands[0];
                if is_integer(self.function(frame).ty(operand)) {
                    return Some(self.number(frame, operand));
                }
                self.repeatable(frame, data, ty)
            }
            OpKind::Select => {
                let [yes, no] = [1, 2].map(|i| self.number(frame, data.operands[i]));
                if yes == no {
                    return Some(yes);
                }
                match self.wrapped(frame, data.operands[0], no) {
                    Some(true) => Some(yes),
                    Some(false) => Some(no),
                    None => self.repeatable(frame, data, ty),
                }
            }
            OpKind::Cmp(kind) if is_integer(self.function(frame).ty(data.operands[0])) => {
                let [a, b] = [0, 1].map(|i| self.number(frame, data.operands[i]));
                let difference = self.sum(a).minus(&self.sum(b))?;
                self.compare(kind, difference)
            }
            OpKind::Shape(dim) => Some(self.shape(frame, data.operands[0], dim, ty)),
            OpKind::Load if !self.written().overlaps(Kinds::of(ty)) => {
                let place = self.place(frame, data.operands[0]);
                Some(self.intern(Node::Load(ty, place)))
            }
            _ => self.repeatable(frame, data, ty),
        }
    }

    /// The extent of a dimension, of a view by those of the array.
    fn shape(&mut self, frame: Frame, array: Value, dim: u32, ty: Type) -> Number {
        let (at, array) = self.origin(frame, array);
        let Some(data) = self.function(at).defining_op(array) else {
            let array = self.number(at, array);
            return self.intern_op(OpKind::Shape(dim), ty, smallvec![array]);
        };
        match data.kind {
            OpKind::View(taken) => self.shape(at, data.operands[0], dim + u32::from(dim >= taken), ty),
            OpKind::Window(changed) if changed == dim => {
                let extent = self.number(at, data.operands[2]);
                self.unclamped(extent)
            }
            OpKind::Window(_) => self.shape(at, data.operands[0], dim, ty),
            _ => {
                let array = self.number(at, array);
                self.intern_op(OpKind::Shape(dim), ty, smallvec![array])
            }
        }
    }

    /// The number of an operation that gives the same for the same operands.
    fn repeatable(&mut self, frame: Frame, data: &OpData, ty: Type) -> Option<Number> {
        if !data.kind.is_pure() || data.results.len() != 1 {
            return None;
        }
        let operands = data.operands.iter().map(|&v| self.number(frame, v)).collect();
        Some(self.intern_op(data.kind.clone(), ty, operands))
    }

    /// Whether `i < 0` holds, for the `i` of `i < 0 ? i + n : i`; an index of which nothing is known is not negative.
    fn wrapped(&mut self, frame: Frame, condition: Value, index: Number) -> Option<bool> {
        let condition = self.number(frame, condition);
        let Node::Compare(kind, compared) = self.node(condition) else {
            return None;
        };
        let index = self.sum(index);
        let is_wrap = *kind == CmpOp::Lt && *compared == index
            || *kind == CmpOp::Gt && Sum::default().minus(&index).is_some_and(|minus| minus == *compared);
        is_wrap.then(|| index.as_constant().is_some_and(|index| index < 0))
    }

    fn nest(&mut self, frame: Frame) -> Rc<Nest> {
        let Run { id, f, .. } = self.runs[frame.0 as usize];
        self.nests.entry(id).or_insert_with(|| Rc::new(Nest::new(f))).clone()
    }
}
