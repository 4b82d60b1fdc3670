//! Which values the reverse sweep of a block needs, and what they take to compute.

use std::rc::Rc;

use inkle_ir::{AtomicOp, BinaryOp, Block, Constant, Function, Op, OpData, OpKind, Value, ValueDef};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::Activity;
use crate::nest::Nest;
use crate::rules::{self, Derivative, derivative};

/// A set of values that holds what its members are computed from, too.
pub(crate) type Need = FxHashSet<Value>;

/// Answers what blocks need.
pub(crate) struct Needs<'a> {
    f: &'a Function,
    nest: Nest,
    /// The operands of active calls that the callee's adjoint function looks at.
    looked_at: FxHashMap<Op, Rc<[bool]>>,
    memo: FxHashMap<Block, Rc<Need>>,
    plans: FxHashMap<Op, Rc<LoopPlan>>,
}

/// How the reverse sweep gets at what a loop carries: rule and bounds are in the crate's documentation.
pub(crate) struct LoopPlan {
    /// Carried values that follow from the iteration's number: a start and a step that does not change.
    pub linear: Vec<(usize, Value)>,
    /// Carried values that are recorded or run again.
    pub stored: Vec<usize>,
    /// The number of iterations, if it is known and small enough to record them all.
    pub recorded: Option<u32>,
}

/// The most bytes of recorded values that a loop of known length may take per thread.
const MAX_RECORD: u64 = 2048;

impl<'a> Needs<'a> {
    pub fn new(f: &'a Function, looked_at: FxHashMap<Op, Rc<[bool]>>) -> Needs<'a> {
        Needs { f, nest: Nest::new(f), looked_at, memo: FxHashMap::default(), plans: FxHashMap::default() }
    }

    /// The operands of an active call that its reverse step looks at.
    pub fn looked_at(&self, op: Op) -> Rc<[bool]> {
        self.looked_at[&op].clone()
    }

    /// What the reverse sweep of `block` needs.
    pub fn of(&mut self, activity: &Activity, block: Block) -> Rc<Need> {
        if let Some(known) = self.memo.get(&block) {
            return known.clone();
        }
        let mut seeds = Vec::new();
        for &op in &self.f.block(block).ops {
            if activity.is_active_op(op) {
                self.seeds(activity, op, &mut seeds);
            }
        }
        let need = Rc::new(self.closure(seeds));
        self.memo.insert(block, need.clone());
        need
    }

    /// Whether a value is defined in a block or in one that is nested there.
    pub fn is_inside(&self, value: Value, block: Block) -> bool {
        self.nest.is_inside(self.f, value, block)
    }

    /// What `values` are computed from, and they themselves.
    pub fn closure(&self, values: impl IntoIterator<Item = Value>) -> Need {
        let mut need = Need::default();
        let mut work: Vec<Value> = values.into_iter().collect();
        while let Some(value) = work.pop() {
            if need.insert(value) {
                self.sources(value, &mut work);
            }
        }
        need
    }

    fn yielded(&self, block: Block, index: usize) -> Value {
        let last = *self.f.block(block).ops.last().expect("verified");
        self.f.op(last).operands[index]
    }

    /// What a value is computed from directly.
    fn sources(&self, value: Value, work: &mut Vec<Value>) {
        let (op, index) = match self.f.value(value).def {
            ValueDef::Result { op, index } => (op, index as usize),
            ValueDef::Param { block, index } => {
                let Some(op) = self.nest.owner(block) else { return };
                let data = self.f.op(op);
                let mut index = index as usize;
                if data.kind == OpKind::For {
                    if index == 0 {
                        work.extend(&data.operands[..3]);
                        return;
                    }
                    index -= 1;
                }
                return self.carried(op, index, work);
            }
        };
        let data = self.f.op(op);
        match data.kind {
            OpKind::If => {
                work.push(data.operands[0]);
                work.extend(data.blocks.iter().map(|&b| self.yielded(b, index)));
            }
            OpKind::For => {
                work.extend(&data.operands[..3]);
                self.carried(op, index, work);
            }
            OpKind::While => {
                work.push(self.yielded(data.blocks[0], 0));
                self.carried(op, index, work);
            }
            _ => work.extend(&data.operands),
        }
    }

    /// What carried value `index` of a loop starts from and becomes.
    fn carried(&self, op: Op, index: usize, work: &mut Vec<Value>) {
        let data = self.f.op(op);
        let first = if data.kind == OpKind::For { 3 } else { 0 };
        work.push(data.operands[first + index]);
        work.push(self.yielded(data.blocks[data.blocks.len() - 1], index));
    }

    /// How what a loop carries is kept for its reverse sweep.
    pub fn plan(&mut self, activity: &Activity, op: Op) -> Rc<LoopPlan> {
        if let Some(known) = self.plans.get(&op) {
            return known.clone();
        }
        let f = self.f;
        let data = f.op(op);
        let body = data.blocks[data.blocks.len() - 1];
        let first = usize::from(data.kind == OpKind::For);
        let need = self.of(activity, body);
        let mut plan = LoopPlan { linear: Vec::new(), stored: Vec::new(), recorded: None };
        for (index, &param) in f.block(body).params[first..].iter().enumerate() {
            if !need.contains(&param) {
                continue;
            }
            match self.linear_step(param, self.yielded(body, index), body) {
                Some(step) => plan.linear.push((index, step)),
                None => plan.stored.push(index),
            }
        }
        let bytes: u64 = plan.stored.iter().map(|&k| u64::from(f.ty(data.results[k]).size())).sum();
        plan.recorded = constant_trip_count(f, data)
            .filter(|&n| bytes > 0 && n.saturating_mul(bytes) <= MAX_RECORD)
            .map(|n| n as u32);
        let plan = Rc::new(plan);
        self.plans.insert(op, plan.clone());
        plan
    }

    /// The step of a carried integer that always grows by the same.
    fn linear_step(&self, param: Value, next: Value, body: Block) -> Option<Value> {
        let f = self.f;
        if !f.ty(param).is_int() {
            return None;
        }
        let add = f.defining_op(next).filter(|d| d.kind == OpKind::Binary(BinaryOp::Add))?;
        let step = match add.operands[..] {
            [a, step] | [step, a] if a == param => step,
            _ => return None,
        };
        (is_constant(f, step) || !self.is_inside(step, body)).then_some(step)
    }

    /// What the reverse step of an operation reads.
    fn seeds(&mut self, activity: &Activity, op: Op, seeds: &mut Vec<Value>) {
        let f = self.f;
        let data = f.op(op);
        match &data.kind {
            OpKind::Binary(kind) => {
                let wanted = [0, 1].map(|i| activity.is_active(data.operands[i]));
                let values = data.operands.iter().chain(&data.results);
                let used = rules::binary_uses(*kind, wanted);
                seeds.extend(values.zip(used).filter(|(_, used)| *used).map(|(&value, _)| value));
            }
            OpKind::Unary(_) => {
                let Derivative::Formula(uses) = derivative(&data.kind) else { return };
                if uses.result {
                    seeds.extend(&data.results);
                }
                if uses.operands {
                    seeds.extend(&data.operands);
                }
            }
            OpKind::Select | OpKind::If => seeds.push(data.operands[0]),
            OpKind::ExtractDyn => seeds.push(data.operands[1]),
            OpKind::InsertDyn => seeds.push(data.operands[2]),
            OpKind::Load | OpKind::Store => seeds.push(data.operands[0]),
            OpKind::Atomic(AtomicOp::Min | AtomicOp::Max) => seeds.extend(&data.operands),
            OpKind::Atomic(_) => seeds.push(data.operands[0]),
            OpKind::Call(_) => {
                let looked_at = self.looked_at[&op].iter();
                seeds.extend(data.operands.iter().zip(looked_at).filter(|(_, is)| **is).map(|(&v, _)| v));
            }
            OpKind::For => seeds.extend(&data.operands[..3]),
            // How often it ran is counted.
            OpKind::While => seeds.push(self.yielded(data.blocks[0], 0)),
            _ => {}
        }
        if let OpKind::For | OpKind::While = data.kind {
            let plan = self.plan(activity, op);
            seeds.extend(plan.linear.iter().map(|&(_, step)| step).filter(|&step| !is_constant(f, step)));
            if plan.recorded.is_some() {
                // The loop is run, and its values recorded, before it is reversed.
                let body = data.blocks[0];
                seeds.extend(plan.stored.iter().map(|&k| f.block(body).params[1 + k]));
            }
        }
        // The condition of a `while` has no reverse sweep: a bool carries no gradient.
        let skipped = usize::from(data.kind == OpKind::While);
        for &inner in &data.blocks[skipped..] {
            let need = self.of(activity, inner);
            for &value in need.iter() {
                if !self.is_inside(value, inner) {
                    seeds.push(value);
                } else if let ValueDef::Param { block, index } = f.value(value).def
                    && block == inner
                {
                    // What is run again starts from here.
                    match data.kind {
                        OpKind::For if index > 0 => seeds.push(data.operands[2 + index as usize]),
                        OpKind::While => seeds.push(data.operands[index as usize]),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Whether a value is a constant, which can be made again anywhere.
pub(crate) fn is_constant(f: &Function, value: Value) -> bool {
    f.defining_op(value).is_some_and(|d| matches!(d.kind, OpKind::Const(_)))
}

/// How often a `for` runs, if that is known and its bounds are sane.
fn constant_trip_count(f: &Function, data: &OpData) -> Option<u64> {
    if data.kind != OpKind::For {
        return None;
    }
    let mut bounds = [0i128; 3];
    for (bound, &operand) in bounds.iter_mut().zip(&data.operands) {
        *bound = match f.defining_op(operand)?.kind {
            OpKind::Const(Constant::Int(value)) => value,
            OpKind::Zero => 0,
            _ => return None,
        };
    }
    let [lo, hi, step] = bounds;
    if step == 0 {
        return None;
    }
    let count = if step > 0 { (hi - lo + step - 1) / step } else { (lo - hi - step - 1) / -step };
    u64::try_from(count.max(0)).ok()
}
