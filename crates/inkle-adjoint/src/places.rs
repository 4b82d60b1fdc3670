//! Places in memory, seen through calls: a numbering of values in which what is certainly equal has one number.
//!
//! Integers are sums of multiples, so that `n - 1 + i` and `i + (n - 1)` are one; a load is as good as a value where
//! nothing writes to such elements; what a call gives is looked for in the function that it calls.

mod effects;
mod sum;

use std::rc::Rc;

use inkle_ir::{
    BinaryOp, CmpOp, Constant, Function, FunctionId, Module, Op, OpData, OpKind, Type, UnaryOp, Value,
    ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use crate::nest::Nest;
use effects::{Effects, Kinds};
pub(crate) use sum::Sum;
use sum::gcd;

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
    /// An operation that always gives the same for the same operands.
    Op(OpKind, Type, SmallVec<[Number; 4]>),
    /// What lies at a place where nothing is written.
    Load(Type, Place),
    Sum(Sum),
}

/// An element of an array, or a part of one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The array, or an address.
    pub root: Number,
    /// The index in every dimension.
    pub indices: SmallVec<[Number; 4]>,
    parts: SmallVec<[Part; 2]>,
}

impl Place {
    /// Whether two places certainly are one, or one is a part of the other.
    pub fn meets(&self, other: &Place) -> bool {
        self.root == other.root && self.indices == other.indices && self.has_parts_in_common(other)
    }

    /// Whether this holds for places in one element.
    pub fn has_parts_in_common(&self, other: &Place) -> bool {
        self.parts.iter().zip(&other.parts).all(|(a, b)| a == b)
    }

    /// Whether two places are in different fields.
    pub fn has_parts_apart(&self, other: &Place) -> bool {
        let mut parts = self.parts.iter().zip(&other.parts);
        parts.any(|(a, b)| matches!((a, b), (Part::Field(a), Part::Field(b)) if a != b))
    }

    fn numbers(&self) -> impl Iterator<Item = Number> {
        self.fixed().chain(self.indices.iter().copied())
    }

    /// What the place is made of besides the indices.
    pub fn fixed(&self) -> impl Iterator<Item = Number> {
        let parts = self.parts.iter().filter_map(|part| match *part {
            Part::Field(_) => None,
            Part::Component(index) => Some(index),
        });
        std::iter::once(self.root).chain(parts)
    }

    fn map(&self, mut change: impl FnMut(Number) -> Number) -> Place {
        let mut part = |part: &Part| match *part {
            Part::Field(field) => Part::Field(field),
            Part::Component(index) => Part::Component(change(index)),
        };
        let parts = self.parts.iter().map(&mut part).collect();
        Place { root: change(self.root), indices: self.indices.iter().map(|&i| change(i)).collect(), parts }
    }
}

/// A step into an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Field(u32),
    Component(Number),
}

/// A dimension of an array that views are taken of: index `i` of the view is `start + i * step`.
struct Dimension {
    start: Number,
    step: Number,
    is_fixed: bool,
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

    fn run(&mut self, id: FunctionId, caller: Option<(Frame, Op)>) -> Frame {
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
                    frame = caller;
                    value = self.function(caller).op(op).operands[index as usize];
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
        self.intern(Node::Op(kind, ty, operands))
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
            OpKind::Load if !self.written().overlaps(Kinds::of(ty)) => {
                let place = self.place(frame, data.operands[0]);
                Some(self.intern(Node::Load(ty, place)))
            }
            _ => self.repeatable(frame, data, ty),
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
        let (at, condition) = self.origin(frame, condition);
        let compared = self.function(at).defining_op(condition)?;
        if compared.kind != OpKind::Cmp(CmpOp::Lt) {
            return None;
        }
        let [left, right] = [0, 1].map(|i| self.number(at, compared.operands[i]));
        let is_wrap = left == index && self.sum(right).as_constant() == Some(0);
        is_wrap.then(|| self.sum(index).as_constant().is_some_and(|index| index < 0))
    }

    /// The place that an address is of.
    pub fn place(&mut self, frame: Frame, address: Value) -> Place {
        let (mut at, mut value) = self.origin(frame, address);
        let mut steps = Vec::new();
        while let Some(data) = self.function(at).defining_op(value)
            && let OpKind::Elem | OpKind::Field(_) | OpKind::Comp | OpKind::View(_) | OpKind::Window(_) =
                data.kind
        {
            steps.push((at, data));
            (at, value) = self.origin(at, data.operands[0]);
        }
        let count = self.function(at).ty(value).as_array().map_or(0, |array| array.ndim);
        let root = self.number(at, value);
        let [zero, one] = [0, 1].map(|constant| self.intern_sum(Sum::constant(constant)));
        let mut dimensions: Vec<Dimension> =
            (0..count).map(|_| Dimension { start: zero, step: one, is_fixed: false }).collect();
        let mut parts = SmallVec::new();
        for (at, data) in steps.into_iter().rev() {
            let operands: SmallVec<[Number; 4]> =
                data.operands[1..].iter().map(|&v| self.number(at, v)).collect();
            let mut open = dimensions.iter_mut().filter(|dimension| !dimension.is_fixed);
            match data.kind {
                OpKind::Field(field) => parts.push(Part::Field(field)),
                OpKind::Comp => parts.push(Part::Component(operands[0])),
                OpKind::Elem => open.zip(&operands).for_each(|(dimension, &i)| self.fix(dimension, i)),
                OpKind::View(dim) => {
                    let dimension = open.nth(dim as usize).expect("verified");
                    self.fix(dimension, operands[0]);
                }
                OpKind::Window(dim) => {
                    let dimension = open.nth(dim as usize).expect("verified");
                    let start = self.unclamped(operands[0]);
                    dimension.start = self.along(dimension, start);
                    dimension.step = self.product(dimension.step, operands[2]);
                }
                _ => unreachable!("only these are steps"),
            }
        }
        Place { root, indices: dimensions.iter().map(|dimension| dimension.start).collect(), parts }
    }

    /// Where a window starts that has elements: it is not put back into the array.
    fn unclamped(&self, mut start: Number) -> Number {
        loop {
            let Node::Op(OpKind::Binary(kind), _, operands) = self.node(start) else { return start };
            let is_bound = |&number: &Number| match kind {
                BinaryOp::Min => matches!(self.node(number), Node::Op(OpKind::Shape(_), ..)),
                BinaryOp::Max => self.sum(number).as_constant() == Some(0),
                _ => false,
            };
            start = match operands[..] {
                [bound, inner] | [inner, bound] if is_bound(&bound) => inner,
                _ => return start,
            };
        }
    }

    fn fix(&mut self, dimension: &mut Dimension, index: Number) {
        dimension.start = self.along(dimension, index);
        dimension.is_fixed = true;
    }

    /// The array's index for one of the view.
    fn along(&mut self, dimension: &Dimension, index: Number) -> Number {
        let way = self.product(index, dimension.step);
        self.add(dimension.start, way, 1).unwrap_or(way)
    }

    fn product(&mut self, a: Number, b: Number) -> Number {
        self.multiply(a, b, Type::I64).unwrap_or(a)
    }

    fn nest(&mut self, frame: Frame) -> Rc<Nest> {
        let Run { id, f, .. } = self.runs[frame.0 as usize];
        self.nests.entry(id).or_insert_with(|| Rc::new(Nest::new(f))).clone()
    }

    /// Whether a number may be another one in each iteration of a loop.
    pub fn varies_in(&mut self, number: Number, (frame, op): (Frame, Op)) -> bool {
        let mut values = Vec::new();
        self.each_part(number, |node| {
            if let Node::Value(at, value) | Node::Index(at, value) = *node {
                values.push((at, value));
            }
        });
        values.into_iter().any(|(mut at, value)| {
            let mut block = self.nest(at).home(self.function(at), value);
            while at != frame
                && let Some((caller, call)) = self.runs[at.0 as usize].caller
            {
                at = caller;
                block = self.nest(at).holder(call);
            }
            let nest = self.nest(at);
            at == frame && nest.around(block).any(|around| nest.owner(around) == Some(op))
        })
    }

    /// Whether two integers of one thread, at one time, certainly differ.
    pub fn are_apart(&self, a: Number, b: Number) -> bool {
        let difference = self.sum(a).minus(&self.sum(b)).and_then(|difference| difference.as_constant());
        difference.is_some_and(|difference| difference != 0)
    }

    /// Whether an integer of one thread certainly differs from one of any other, as `2 * i` does from `2 * i + 1`.
    pub fn are_apart_in_all_threads(&self, a: Number, b: Number) -> bool {
        let (mut step, mut distance) = (0, Sum::default());
        for (sum, sign) in [(self.sum(a), 1), (self.sum(b), -1)] {
            let (own, common): (SmallVec<_>, _) =
                sum.terms.iter().copied().partition(|&(number, _)| self.threads(number) != 0);
            step = own.iter().fold(step, |step, &(_, count): &(Number, i128)| gcd(step, count));
            let common = Sum { terms: common, constant: sum.constant };
            match distance.plus(&common, sign) {
                Some(sum) => distance = sum,
                None => return false,
            }
        }
        match distance.as_constant() {
            Some(distance) if step == 0 => distance != 0,
            Some(distance) => distance.checked_rem(step).is_some_and(|rest| rest != 0),
            None => false,
        }
    }

    /// What a number depends on that another thread may have otherwise: a bit for each dimension of the launch, and one for
    /// all else.
    pub fn threads(&self, number: Number) -> u32 {
        let mut threads = 0;
        self.each_part(number, |node| {
            threads |= match node {
                Node::Op(OpKind::Tid(dim), ..) => 1 << dim,
                Node::Value(Frame::OUTERMOST, value)
                    if self.runs[0].f.block(self.runs[0].f.body).params.contains(value) =>
                {
                    0
                }
                Node::Value(..) => 1 << 31,
                _ => 0,
            }
        });
        threads
    }

    /// Calls `visit` for a number and all that it is made of.
    fn each_part(&self, number: Number, mut visit: impl FnMut(&Node)) {
        let mut seen = FxHashSet::default();
        let mut work = vec![number];
        while let Some(number) = work.pop() {
            if !seen.insert(number) {
                continue;
            }
            let node = self.node(number);
            visit(node);
            match node {
                Node::Value(..) | Node::Index(..) => {}
                Node::Range(bounds, _) => work.extend(bounds),
                Node::Op(_, _, operands) => work.extend(operands),
                Node::Load(_, place) => work.extend(place.numbers()),
                Node::Sum(sum) => work.extend(sum.numbers()),
            }
        }
    }

    /// The numbers of a `for`'s index and bounds.
    pub fn index_and_bounds(&mut self, frame: Frame, op: Op) -> (Number, [Number; 3]) {
        let f = self.function(frame);
        let data = f.op(op);
        let bounds = [0, 1, 2].map(|i| self.number(frame, data.operands[i]));
        (self.number(frame, f.block(data.blocks[0]).params[0]), bounds)
    }

    /// Some index of the `n`-th of the loops with such bounds.
    pub fn range(&mut self, bounds: [Number; 3], n: u32) -> Number {
        self.intern(Node::Range(bounds, n))
    }

    /// Whether of two conditions, each true or false, never both are as said.
    pub fn excludes(&self, (a, is_a): (Number, bool), (b, is_b): (Number, bool)) -> bool {
        if a == b {
            return is_a != is_b;
        }
        let equality = OpKind::Cmp(CmpOp::Eq);
        match (self.node(a), self.node(b)) {
            (Node::Op(x, _, a), Node::Op(y, _, b)) if *x == equality && *y == equality && is_a && is_b => {
                let [a, b] = [a, b].map(|sides| self.sum(sides[0]).minus(&self.sum(sides[1])));
                // `x == 1` and `x == 2`.
                let apart = a.zip(b).and_then(|(a, b)| a.minus(&b)?.as_constant());
                apart.is_some_and(|apart| apart != 0)
            }
            _ => false,
        }
    }

    /// The place with numbers replaced.
    pub fn replaced(&mut self, place: &Place, by: &FxHashMap<Number, Number>) -> Place {
        if by.is_empty() {
            return place.clone();
        }
        let mut memo = by.clone();
        place.map(|number| self.replace(number, &mut memo))
    }

    fn replace(&mut self, number: Number, memo: &mut FxHashMap<Number, Number>) -> Number {
        if let Some(&known) = memo.get(&number) {
            return known;
        }
        let new = match self.node(number).clone() {
            Node::Value(..) | Node::Index(..) | Node::Range(..) => number,
            Node::Op(kind, ty, operands) => {
                let operands = operands.iter().map(|&operand| self.replace(operand, memo)).collect();
                self.intern_op(kind, ty, operands)
            }
            Node::Load(ty, place) => {
                let place = place.map(|number| self.replace(number, memo));
                self.intern(Node::Load(ty, place))
            }
            Node::Sum(sum) => {
                let mut new = Some(Sum::constant(sum.constant));
                for &(term, count) in &sum.terms {
                    let term = self.replace(term, memo);
                    new = new.and_then(|new| new.plus(&self.sum(term), count));
                }
                new.map_or(number, |new| self.intern_sum(new))
            }
        };
        memo.insert(number, new);
        new
    }
}
