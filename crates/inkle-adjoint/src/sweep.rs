//! Writing a function from another one: the forward sweep, which computes values that are needed.

use std::rc::Rc;

use inkle_diag::Span;
use inkle_ir::{BinaryOp, Block, Builder, Function, FunctionId, Op, OpKind, Param, Type, Value};
use rustc_hash::FxHashMap;

use crate::activity::Activity;
use crate::driver::Driver;
use crate::error::AdjointError;
use crate::need::{LoopPlan, Need, Needs};
use crate::overwrite::Repeated;

pub(crate) type Result<T> = std::result::Result<T, AdjointError>;

/// Writes `out` from `f`.
pub(crate) struct Sweep<'d, 'm> {
    pub driver: &'d mut Driver<'m>,
    pub f: &'m Function,
    pub activity: Rc<Activity>,
    pub needs: Needs<'m>,
    pub out: Function,
    /// Where operations are appended.
    pub block: Block,
    pub span: Span,
    /// The latest computation of each value of `f`.
    map: Vec<Option<Value>>,
    /// The gradients of values of `f`, in the block that is being reversed.
    pub adjoints: FxHashMap<Value, Value>,
    /// How often each `while` ran.
    pub counts: FxHashMap<Op, Value>,
    /// Where loops recorded their values: one array per stored value.
    pub records: FxHashMap<Op, Vec<Value>>,
    /// The addresses of gradients, for parameters of `f` that are addresses.
    pub gradients: FxHashMap<Value, Value>,
    /// What is done again here.
    pub repeated: Repeated,
}

impl<'d, 'm> Sweep<'d, 'm> {
    /// Writes a function of the parameters of `f` and `more` ones.
    pub fn new(
        driver: &'d mut Driver<'m>,
        id: FunctionId,
        activity: Activity,
        name: String,
        more: Vec<Param>,
        results: Vec<Type>,
    ) -> Sweep<'d, 'm> {
        let f = driver.module.function(id);
        let params = f.params.iter().cloned().chain(more).collect();
        let mut out = Function::new(name, f.kind.clone(), params, results);
        out.span = f.span;
        let mut map = vec![None; f.value_count()];
        for (&old, &new) in f.block(f.body).params.iter().zip(&out.block(out.body).params) {
            map[old.index()] = Some(new);
        }
        let block = out.body;
        let needs = driver.needs(f, &activity);
        Sweep {
            driver,
            f,
            activity: Rc::new(activity),
            needs,
            out,
            block,
            span: f.span,
            map,
            adjoints: FxHashMap::default(),
            counts: FxHashMap::default(),
            records: FxHashMap::default(),
            gradients: FxHashMap::default(),
            repeated: Repeated::default(),
        }
    }

    /// A builder at the current place.
    pub fn build(&mut self) -> Builder<'_> {
        let mut builder = Builder::new(&mut self.out, self.block);
        builder.span = self.span;
        builder
    }

    /// What stands for a value of `f` here.
    pub fn primal(&self, value: Value) -> Value {
        self.repeated.whole.borrow_mut().insert(value);
        self.computed(value)
    }

    /// What stands for a value of `f` of which only a part is used.
    fn computed(&self, value: Value) -> Value {
        self.map[value.index()].expect("needed values are computed before")
    }

    /// From now on `new` stands for a value of `f`.
    pub fn set_primal(&mut self, value: Value, new: Value) {
        self.map[value.index()] = Some(new);
    }

    /// What a block needs in its reverse sweep.
    pub fn need(&mut self, block: Block) -> Rc<Need> {
        self.needs.of(&self.activity, block)
    }

    /// How a loop's values are kept.
    pub fn plan(&mut self, op: Op) -> Rc<LoopPlan> {
        self.needs.plan(&self.activity, op)
    }

    /// What a block yields or returns.
    pub fn yielded(&self, block: Block) -> &'m [Value] {
        let f = self.f;
        &f.op(*f.block(block).ops.last().expect("verified")).operands
    }

    /// Computes what is needed of a block, here. If the block is `reversed` here afterwards, loops leave behind what
    /// that takes.
    pub fn forward(&mut self, block: Block, need: &Need, reversed: bool) -> Result<()> {
        let f = self.f;
        let outer = self.span;
        for &op in &f.block(block).ops {
            let data = f.op(op);
            self.span = data.span;
            let is_needed = data.results.iter().any(|r| need.contains(r));
            let reversed = reversed && self.activity.is_active_op(op);
            match &data.kind {
                OpKind::Store
                | OpKind::Print(_)
                | OpKind::Assert(_)
                | OpKind::Breakpoint
                | OpKind::Yield
                | OpKind::Return => {}
                OpKind::For => self.forward_for(op, need, reversed)?,
                OpKind::While => self.forward_while(op, need, reversed)?,
                _ if !is_needed => {}
                OpKind::Atomic(_) | OpKind::AtomicCas => return Err(AdjointError::AtomicResult(data.span)),
                // What was written there is not written again.
                OpKind::Local(_) => return Err(AdjointError::LocalArray(data.span)),
                OpKind::If => self.forward_if(op, need)?,
                OpKind::Call(callee) => {
                    let replay = self.driver.replay(*callee)?;
                    match self.driver.module.function(*callee).links.replay {
                        Some(custom) => self.repeated.customs.insert((op, custom)),
                        None => self.repeated.calls.insert((op, replay)),
                    };
                    self.copy(op, OpKind::Call(replay));
                }
                OpKind::Load => {
                    self.repeated.loads.insert(op);
                    self.copy(op, OpKind::Load);
                }
                kind => self.copy(op, kind.clone()),
            }
        }
        self.span = outer;
        Ok(())
    }

    /// An operation without blocks.
    fn copy(&mut self, op: Op, kind: OpKind) {
        let f = self.f;
        let data = f.op(op);
        let operands: Vec<Value> = match kind {
            OpKind::Extract(part) => {
                self.repeated.parts.insert((data.operands[0], part));
                vec![self.computed(data.operands[0])]
            }
            _ => data.operands.iter().map(|&v| self.primal(v)).collect(),
        };
        let types: Vec<Type> = data.results.iter().map(|&r| f.ty(r)).collect();
        let made = self.build().op(kind, operands, types, []);
        for (index, &result) in data.results.iter().enumerate() {
            let new = self.out.op(made).results[index];
            self.set_primal(result, new);
        }
    }

    /// Fills a new block and comes back.
    pub fn in_block<T>(&mut self, block: Block, fill: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.block, block);
        let filled = fill(self)?;
        self.block = outer;
        Ok(filled)
    }

    fn forward_if(&mut self, op: Op, need: &Need) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        let kept: Vec<usize> = (0..data.results.len()).filter(|&k| need.contains(&data.results[k])).collect();
        let condition = self.primal(data.operands[0]);
        let mut blocks = Vec::new();
        for &inner in &data.blocks {
            let block = self.out.add_block();
            blocks.push(block);
            self.in_block(block, |s| {
                s.forward(inner, need, false)?;
                let yielded: Vec<Value> = kept.iter().map(|&k| s.primal(s.yielded(inner)[k])).collect();
                s.build().effect(OpKind::Yield, yielded);
                Ok(())
            })?;
        }
        let types: Vec<Type> = kept.iter().map(|&k| f.ty(data.results[k])).collect();
        let made = self.build().op(OpKind::If, [condition], types, blocks);
        self.results(op, &kept, made);
        Ok(())
    }

    fn results(&mut self, op: Op, kept: &[usize], made: Op) {
        for (position, &k) in kept.iter().enumerate() {
            let new = self.out.op(made).results[position];
            self.set_primal(self.f.op(op).results[k], new);
        }
    }

    fn forward_for(&mut self, op: Op, need: &Need, reversed: bool) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        let body = data.blocks[0];
        let plan = if reversed { Some(self.plan(op)) } else { None };
        let record = plan.as_ref().and_then(|p| p.recorded);
        let params = &f.block(body).params[1..];
        let is_kept = |k: usize| {
            need.contains(&data.results[k])
                || need.contains(&params[k])
                || record.is_some() && plan.as_ref().is_some_and(|p| p.stored.contains(&k))
        };
        let kept: Vec<usize> = (0..data.results.len()).filter(|&k| is_kept(k)).collect();
        if kept.is_empty() {
            return Ok(());
        }
        let mut operands: Vec<Value> = data.operands[..3].iter().map(|&v| self.primal(v)).collect();
        operands.extend(kept.iter().map(|&k| self.primal(data.operands[3 + k])));
        let mut records = Vec::new();
        if let (Some(count), Some(plan)) = (record, &plan) {
            for &k in &plan.stored {
                records.push(self.record(f.ty(data.results[k]), count)?);
            }
            operands.push(self.build().i32(0));
        }
        let types: Vec<Type> = operands[3..].iter().map(|&v| self.out.ty(v)).collect();
        let index = f.ty(f.block(body).params[0]);
        let block = self.loop_block(std::iter::once(index).chain(types.iter().copied()));
        let new_params = self.out.block(block).params.clone();
        self.set_primal(f.block(body).params[0], new_params[0]);
        for (position, &k) in kept.iter().enumerate() {
            self.set_primal(params[k], new_params[1 + position]);
        }
        self.in_block(block, |s| {
            if let (Some(_), Some(plan)) = (record, &plan) {
                let at = new_params[new_params.len() - 1];
                for (&array, &k) in records.iter().zip(&plan.stored) {
                    let value = s.primal(params[k]);
                    let mut b = s.build();
                    let reference = b.elem(array, &[at]);
                    b.store(reference, value);
                }
            }
            s.forward(body, need, false)?;
            let mut yielded: Vec<Value> = kept.iter().map(|&k| s.primal(s.yielded(body)[k])).collect();
            if record.is_some() {
                let at = new_params[new_params.len() - 1];
                let mut b = s.build();
                let one = b.i32(1);
                yielded.push(b.binary(BinaryOp::Add, at, one));
            }
            s.build().effect(OpKind::Yield, yielded);
            Ok(())
        })?;
        let made = self.build().op(OpKind::For, operands, types, [block]);
        self.results(op, &kept, made);
        if record.is_some() {
            self.records.insert(op, records);
        }
        Ok(())
    }

    /// A block with parameters of these types.
    pub fn loop_block(&mut self, types: impl IntoIterator<Item = Type>) -> Block {
        let block = self.out.add_block();
        for ty in types {
            self.out.add_block_param(block, ty);
        }
        block
    }

    /// Memory for `count` values of a type.
    pub fn record(&mut self, ty: Type, count: u32) -> Result<Value> {
        if let Type::Array(_) | Type::Ref(_) = ty {
            return Err(AdjointError::Carried { at: self.span, ty });
        }
        Ok(self.build().local(ty, &[count.max(1)]))
    }

    fn forward_while(&mut self, op: Op, need: &Need, reversed: bool) -> Result<()> {
        let f = self.f;
        let data = f.op(op);
        let [head, body] = [data.blocks[0], data.blocks[1]];
        let is_kept = |k: &usize| {
            let params = [f.block(head).params[*k], f.block(body).params[*k], data.results[*k]];
            params.iter().any(|p| need.contains(p))
        };
        let kept: Vec<usize> = (0..data.results.len()).filter(is_kept).collect();
        if kept.is_empty() && !reversed {
            return Ok(());
        }
        let mut operands: Vec<Value> = kept.iter().map(|&k| self.primal(data.operands[k])).collect();
        if reversed {
            operands.push(self.build().i32(0));
        }
        let types: Vec<Type> = operands.iter().map(|&v| self.out.ty(v)).collect();
        let blocks = [self.loop_block(types.iter().copied()), self.loop_block(types.iter().copied())];
        for (&old, &new) in data.blocks.iter().zip(&blocks) {
            for (position, &k) in kept.iter().enumerate() {
                let param = self.out.block(new).params[position];
                self.set_primal(f.block(old).params[k], param);
            }
        }
        self.in_block(blocks[0], |s| {
            s.forward(head, need, false)?;
            let condition = s.primal(s.yielded(head)[0]);
            s.build().effect(OpKind::Yield, [condition]);
            Ok(())
        })?;
        self.in_block(blocks[1], |s| {
            s.forward(body, need, false)?;
            let mut yielded: Vec<Value> = kept.iter().map(|&k| s.primal(s.yielded(body)[k])).collect();
            if reversed {
                let count = *s.out.block(blocks[1]).params.last().expect("the count");
                let mut b = s.build();
                let one = b.i32(1);
                yielded.push(b.binary(BinaryOp::Add, count, one));
            }
            s.build().effect(OpKind::Yield, yielded);
            Ok(())
        })?;
        let made = self.build().op(OpKind::While, operands, types, blocks);
        self.results(op, &kept, made);
        if reversed {
            let count = *self.out.op(made).results.last().expect("the count");
            self.counts.insert(op, count);
        }
        Ok(())
    }

    /// Ends the function, and puts it into the backward module.
    pub fn finish(mut self, results: Vec<Value>) -> FunctionId {
        self.span = self.f.span;
        self.build().effect(OpKind::Return, results);
        let made = self.driver.push(self.out);
        self.driver.repeated.insert(made, self.repeated);
        made
    }
}
