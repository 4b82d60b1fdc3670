//! Which values carry gradients: those that depend on an array with a gradient and that such an array, or a result
//! whose gradient is asked for, depends on.

use inkle_ir::{AtomicOp, Block, Function, FunctionId, Module, Op, OpKind, Type, Value, ValueDef};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::ArrayGrad;
use crate::nest::Nest;
use crate::rules::{Derivative, derivative};

/// What is known of an array's gradient.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum State {
    /// There is none.
    No,
    /// There is one; stores clear it.
    Clear,
    /// There is one; stores leave it.
    Keep,
    /// It turns out at run time.
    Maybe,
}

impl From<ArrayGrad> for State {
    fn from(grad: ArrayGrad) -> State {
        match grad {
            ArrayGrad::None => State::No,
            ArrayGrad::Clear => State::Clear,
            ArrayGrad::Keep => State::Keep,
        }
    }
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Info {
    /// Whether its floats depend on an array with a gradient.
    pub varied: bool,
    /// The arrays in it; of an address the array that it lies in.
    pub arrays: SmallVec<[State; 1]>,
}

impl Info {
    /// No gradient anywhere.
    pub fn nothing(ty: Type) -> Info {
        Info { varied: false, arrays: SmallVec::from_elem(State::No, array_count(ty)) }
    }

    fn join(&self, other: &Info) -> Info {
        let join = |(&a, &b): (&State, &State)| match (a, b) {
            (a, b) if a == b => a,
            (State::Clear, State::Keep) | (State::Keep, State::Clear) => State::Clear,
            _ => State::Maybe,
        };
        Info {
            varied: self.varied || other.varied,
            arrays: self.arrays.iter().zip(&other.arrays).map(join).collect(),
        }
    }
}

/// The number of arrays that a value of a type holds.
pub(crate) fn array_count(ty: Type) -> usize {
    match (ty, ty.fields()) {
        (_, Some(s)) => s.fields.iter().map(|f| array_count(f.ty)).sum(),
        (Type::Array(_) | Type::Ref(_), None) => 1,
        _ => 0,
    }
}

/// Whether a value of the type has floats of its own.
pub(crate) fn has_float(ty: Type) -> bool {
    match ty {
        Type::Struct(s) => s.fields.iter().any(|f| has_float(f.ty)),
        Type::Array(_) | Type::Ref(_) => false,
        other => other.scalar().is_some_and(|s| s.is_float()),
    }
}

/// What a call does, seen from outside.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub results: Vec<Info>,
    /// Whether it writes to arrays with gradients.
    pub writes: bool,
}

type Memo = FxHashMap<(FunctionId, Vec<Info>), Summary>;

/// Summaries of the functions met so far.
#[derive(Default)]
pub(crate) struct Summaries {
    memo: Memo,
}

impl Summaries {
    /// What a call of `id` does when `params` is known of its arguments.
    pub fn get(&mut self, module: &Module, id: FunctionId, params: &[Info]) -> Summary {
        let key = (id, params.to_vec());
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let function = module.function(id);
        let summary = if function.links.gradient.is_some() {
            // What flows is the business of the function that gives the gradients.
            let flows = params.iter().any(|p| p.varied || p.arrays.iter().any(|&s| s != State::No));
            let info = |&ty: &Type| Info {
                varied: flows && has_float(ty),
                arrays: SmallVec::from_elem(State::Maybe, array_count(ty)),
            };
            Summary { results: function.results.iter().map(info).collect(), writes: flows }
        } else if function.native().is_some() {
            // Without a function for it no gradient flows, and none can where C++ changes what has one.
            let has_gradient = |info: &Info, ty: Type| {
                matches!(ty, Type::Ref(_)) && info.arrays.iter().any(|&s| s != State::No)
            };
            let writes = params.iter().zip(&function.params).any(|(info, p)| has_gradient(info, p.ty));
            let info =
                |&ty: &Type| Info { varied: false, arrays: SmallVec::from_elem(State::No, array_count(ty)) };
            Summary { results: function.results.iter().map(info).collect(), writes }
        } else {
            let mut varied = Varied::new(module, function, self);
            varied.params(params);
            let body = function.body;
            varied.block(body);
            let last = *function.block(body).ops.last().expect("verified");
            let results = function.op(last).operands.iter().map(|&v| varied.info(v)).collect();
            Summary { results, writes: varied.writes }
        };
        self.memo.insert(key, summary.clone());
        summary
    }
}

/// The forward half.
struct Varied<'a> {
    module: &'a Module,
    f: &'a Function,
    summaries: &'a mut Summaries,
    infos: Vec<Option<Info>>,
    writes: bool,
    /// Calls that write to arrays with gradients.
    writing_calls: Vec<Op>,
}

impl<'a> Varied<'a> {
    fn new(module: &'a Module, f: &'a Function, summaries: &'a mut Summaries) -> Varied<'a> {
        let infos = vec![None; f.value_count()];
        Varied { module, f, summaries, infos, writes: false, writing_calls: Vec::new() }
    }

    fn params(&mut self, params: &[Info]) {
        for (&value, info) in self.f.block(self.f.body).params.iter().zip(params) {
            self.infos[value.index()] = Some(info.clone());
        }
    }

    fn info(&self, value: Value) -> Info {
        self.infos[value.index()].clone().unwrap_or_else(|| Info::nothing(self.f.ty(value)))
    }

    /// Adds to what is known of a value; whether that changed it.
    fn add(&mut self, value: Value, info: Info) -> bool {
        let slot = &mut self.infos[value.index()];
        let new = slot.as_ref().map_or_else(|| info.clone(), |old| old.join(&info));
        let changed = slot.as_ref() != Some(&new);
        *slot = Some(new);
        changed
    }

    fn block(&mut self, block: Block) {
        for &op in &self.f.block(block).ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: Op) {
        let data = self.f.op(op);
        match &data.kind {
            OpKind::Store | OpKind::Atomic(_) if self.info(data.operands[0]).arrays[0] != State::No => {
                self.writes = true;
            }
            _ => {}
        }
        match &data.kind {
            OpKind::If => {
                for &block in &data.blocks {
                    self.block(block);
                    self.yields(op, block);
                }
            }
            OpKind::For => self.carried(op, 3, 1),
            OpKind::While => self.carried(op, 0, 0),
            OpKind::Call(callee) => {
                let args: Vec<Info> = data.operands.iter().map(|&v| self.info(v)).collect();
                let summary = self.summaries.get(self.module, *callee, &args);
                if summary.writes {
                    self.writes = true;
                    self.writing_calls.push(op);
                }
                for (&result, info) in data.results.iter().zip(summary.results) {
                    self.add(result, info);
                }
            }
            _ => {
                if let [result] = data.results[..] {
                    let info = self.result(op, result);
                    self.add(result, info);
                }
            }
        }
    }

    fn yields(&mut self, op: Op, block: Block) -> bool {
        let last = *self.f.block(block).ops.last().expect("verified");
        let mut changed = false;
        for (index, &result) in self.f.op(op).results.iter().enumerate() {
            let info = self.info(self.f.op(last).operands[index]);
            changed |= self.add(result, info);
        }
        changed
    }

    fn carried(&mut self, op: Op, first: usize, param: usize) {
        let data = self.f.op(op);
        for (index, &result) in data.results.iter().enumerate() {
            let info = self.info(data.operands[first + index]);
            self.add(result, info);
        }
        let body = *data.blocks.last().expect("verified");
        loop {
            for &block in &data.blocks {
                for (index, &result) in data.results.iter().enumerate() {
                    let info = self.info(result);
                    self.add(self.f.block(block).params[param + index], info);
                }
                self.block(block);
            }
            if !self.yields(op, body) {
                break;
            }
        }
    }

    fn result(&self, op: Op, result: Value) -> Info {
        let data = self.f.op(op);
        let ty = self.f.ty(result);
        let none = |state| SmallVec::from_elem(state, array_count(ty));
        let operand = |index: usize| self.info(data.operands[index]);
        match &data.kind {
            OpKind::Elem | OpKind::Field(_) | OpKind::Comp | OpKind::View(_) | OpKind::Window(_) => {
                Info { varied: false, arrays: operand(0).arrays }
            }
            OpKind::Local(_) | OpKind::ArrayAt | OpKind::GradArray | OpKind::Zero => {
                Info { varied: false, arrays: none(State::No) }
            }
            OpKind::Load => Info {
                varied: operand(0).arrays[0] != State::No && has_float(ty),
                // Arrays that lie in memory say themselves what they have.
                arrays: none(State::Maybe),
            },
            OpKind::Atomic(_) => Info {
                varied: operand(0).arrays[0] != State::No
                    && has_float(ty)
                    && derivative(&data.kind) != Derivative::Zero,
                arrays: none(State::No),
            },
            OpKind::Select => operand(1).join(&operand(2)),
            OpKind::Construct => Info {
                varied: data.operands.iter().any(|&v| self.info(v).varied),
                arrays: data.operands.iter().flat_map(|&v| self.info(v).arrays).collect(),
            },
            OpKind::Extract(index) => {
                let whole = operand(0);
                let skipped = fields_before(self.f.ty(data.operands[0]), *index);
                let arrays = whole.arrays.iter().skip(skipped).take(array_count(ty)).copied().collect();
                Info { varied: whole.varied && has_float(ty), arrays }
            }
            OpKind::Insert(index) => {
                let (mut whole, part) = (operand(0), operand(1));
                let skipped = fields_before(ty, *index);
                for (slot, state) in whole.arrays.iter_mut().skip(skipped).zip(part.arrays) {
                    *slot = state;
                }
                whole.varied |= part.varied;
                whole
            }
            kind => Info {
                varied: has_float(ty)
                    && derivative(kind) != Derivative::Zero
                    && data.operands.iter().any(|&v| self.info(v).varied),
                arrays: none(State::Maybe),
            },
        }
    }
}

/// The number of arrays in the fields before field `index`.
fn fields_before(ty: Type, index: u32) -> usize {
    ty.fields().map_or(0, |s| s.fields[..index as usize].iter().map(|f| array_count(f.ty)).sum())
}

/// What is known of a function's values for definite arguments and wanted results.
pub(crate) struct Activity {
    infos: Vec<Info>,
    useful: Vec<bool>,
    writing_calls: Vec<Op>,
    active_ops: Vec<bool>,
}

impl Activity {
    /// Of `function`, when `params` is known of its arguments and the gradients of `results` are given.
    pub fn new(
        module: &Module,
        f: &Function,
        summaries: &mut Summaries,
        params: &[Info],
        results: &[bool],
    ) -> Activity {
        let mut varied = Varied::new(module, f, summaries);
        varied.params(params);
        varied.block(f.body);
        let infos = (0..f.value_count()).map(|index| varied.info(Value::new(index))).collect();
        let writing_calls = std::mem::take(&mut varied.writing_calls);
        let mut activity = Activity {
            infos,
            useful: vec![false; f.value_count()],
            writing_calls,
            active_ops: vec![false; f.op_count()],
        };
        let mut work = Vec::new();
        activity.seeds(f, f.body, results, &mut work);
        activity.propagate(f, work);
        activity.mark_ops(f, f.body);
        activity
    }

    /// Whether gradients flow through the value.
    pub fn is_active(&self, value: Value) -> bool {
        self.infos[value.index()].varied && self.useful[value.index()]
    }

    /// What the operation does in the reverse sweep is more than nothing.
    pub fn is_active_op(&self, op: Op) -> bool {
        self.active_ops[op.index()]
    }

    /// What is known of a value.
    pub fn info(&self, value: Value) -> &Info {
        &self.infos[value.index()]
    }

    /// Whether the array of an address has a gradient.
    pub fn state(&self, reference: Value) -> State {
        self.infos[reference.index()].arrays[0]
    }

    /// Whether a call writes to arrays with gradients.
    pub fn call_writes(&self, op: Op) -> bool {
        self.writing_calls.contains(&op)
    }

    fn seeds(&self, f: &Function, block: Block, results: &[bool], work: &mut Vec<Value>) {
        for &op in &f.block(block).ops {
            let data = f.op(op);
            match data.kind {
                OpKind::Store | OpKind::Atomic(_) if self.state(data.operands[0]) != State::No => {
                    work.push(data.operands[1]);
                }
                OpKind::Call(_) if self.call_writes(op) => work.extend(&data.operands),
                OpKind::Return => {
                    let wanted = data.operands.iter().zip(results).filter(|(_, wanted)| **wanted);
                    work.extend(wanted.map(|(&v, _)| v));
                }
                _ => {}
            }
            for &inner in &data.blocks {
                self.seeds(f, inner, results, work);
            }
        }
    }

    fn propagate(&mut self, f: &Function, mut work: Vec<Value>) {
        let nest = Nest::new(f);
        while let Some(value) = work.pop() {
            if !has_float(f.ty(value)) || std::mem::replace(&mut self.useful[value.index()], true) {
                continue;
            }
            let (op, index) = match f.value(value).def {
                ValueDef::Result { op, index } => (op, index as usize),
                ValueDef::Param { block, index } => {
                    let Some(op) = nest.owner(block) else { continue };
                    let first = usize::from(f.op(op).kind == OpKind::For);
                    // A loop's index is no float.
                    (op, index as usize - first)
                }
            };
            let data = f.op(op);
            let yielded = |block: Block| f.op(*f.block(block).ops.last().expect("verified")).operands[index];
            match data.kind {
                OpKind::If => work.extend(data.blocks.iter().map(|&b| yielded(b))),
                OpKind::For | OpKind::While => {
                    let (first, param) = if data.kind == OpKind::For { (3, 1) } else { (0, 0) };
                    work.push(data.operands[first + index]);
                    work.push(data.results[index]);
                    work.push(yielded(data.blocks[data.blocks.len() - 1]));
                    work.extend(data.blocks.iter().map(|&b| f.block(b).params[param + index]));
                }
                _ if derivative(&data.kind) == Derivative::Zero => {}
                _ => work.extend(&data.operands),
            }
        }
    }

    fn mark_ops(&mut self, f: &Function, block: Block) -> bool {
        let mut any = false;
        for &op in &f.block(block).ops {
            let data = f.op(op);
            let mut active = data.results.iter().any(|&r| self.is_active(r));
            match &data.kind {
                OpKind::Store => {
                    let state = self.state(data.operands[0]);
                    active = has_float(f.ty(data.operands[1]))
                        && state != State::No
                        && (state != State::Keep || self.is_active(data.operands[1]));
                }
                OpKind::Atomic(AtomicOp::Exch) => {
                    active = self.state(data.operands[0]) != State::No && has_float(f.ty(data.operands[1]));
                }
                // A constant that won leaves nothing for what was there before.
                OpKind::Atomic(AtomicOp::Min | AtomicOp::Max) => {
                    let state = self.state(data.operands[0]);
                    active |= has_float(f.ty(data.operands[1]))
                        && state != State::No
                        && (state != State::Keep || self.is_active(data.operands[1]));
                }
                OpKind::Atomic(kind) if derivative(&OpKind::Atomic(*kind)) != Derivative::Zero => {
                    active |= self.state(data.operands[0]) != State::No && self.is_active(data.operands[1]);
                }
                OpKind::Call(_) => active |= self.call_writes(op),
                _ => {}
            }
            for &inner in &data.blocks {
                active |= self.mark_ops(f, inner);
            }
            self.active_ops[op.index()] = active;
            any |= active;
        }
        any
    }
}
