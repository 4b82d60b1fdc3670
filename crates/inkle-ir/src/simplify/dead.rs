//! Removes what has no use.

use super::effects::{Effects, is_removable};
use super::results::retain_results;
use crate::ir::{Block, Function, Op, Value, ValueDef};
use crate::op::OpKind;

/// Removes operations without use or effect, and the results and carried values of branches and loops that
/// nothing reads, be it only in order to carry them on. `known` holds the effects of the functions before this one.
pub fn remove_dead(function: &mut Function, known: &[Effects]) {
    let mut marker = Marker {
        function,
        live_ops: vec![false; function.op_count()],
        live_values: vec![false; function.value_count()],
        holder: vec![None; function.op_count()],
        owner: vec![None; function.block_count()],
        work: Vec::new(),
    };
    let (blocks, roots) = marker.survey(known);
    for op in roots {
        marker.op(op);
    }
    marker.run();
    let Marker { live_ops, live_values, .. } = marker;
    for block in blocks {
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let is_kept = |&op: &Op| live_ops[op.index()] || function.op(op).kind.is_terminator();
        let kept: Vec<Op> = ops.into_iter().filter(is_kept).collect();
        for &op in &kept {
            if function.op(op).kind.block_count() > 0 {
                let keep = live_results(function, op, &live_values);
                retain_results(function, op, &keep);
            }
        }
        function.block_mut(block).ops = kept;
    }
}

/// Which results of a branch or loop are read, or carried because an iteration reads them.
fn live_results(f: &Function, op: Op, live: &[bool]) -> Vec<bool> {
    let data = f.op(op);
    let first_param = usize::from(data.kind == OpKind::For);
    let is_read = |index: usize, result: &Value| {
        let mut params = data.blocks.iter().filter_map(|&b| f.block(b).params.get(first_param + index));
        live[result.index()] || params.any(|p| live[p.index()])
    };
    data.results.iter().enumerate().map(|(index, result)| is_read(index, result)).collect()
}

struct Marker<'f> {
    function: &'f Function,
    live_ops: Vec<bool>,
    live_values: Vec<bool>,
    /// The block that holds each operation.
    holder: Vec<Option<Block>>,
    /// The operation that owns each block, and which of its blocks it is.
    owner: Vec<Option<(Op, usize)>>,
    work: Vec<Work>,
}

enum Work {
    Op(Op),
    Value(Value),
}

impl Marker<'_> {
    /// Notes what holds what; gives all blocks, and the operations that are live whatever happens.
    fn survey(&mut self, known: &[Effects]) -> (Vec<Block>, Vec<Op>) {
        let mut roots = Vec::new();
        let mut blocks = vec![self.function.body];
        let mut next = 0;
        while let Some(&block) = blocks.get(next) {
            next += 1;
            for &op in &self.function.block(block).ops {
                let data = self.function.op(op);
                self.holder[op.index()] = Some(block);
                for (number, &inner) in data.blocks.iter().enumerate() {
                    self.owner[inner.index()] = Some((op, number));
                    blocks.push(inner);
                }
                if data.kind == OpKind::Return || !is_removable(data, known) {
                    roots.push(op);
                }
            }
        }
        (blocks, roots)
    }

    fn op(&mut self, op: Op) {
        if !std::mem::replace(&mut self.live_ops[op.index()], true) {
            self.work.push(Work::Op(op));
        }
    }

    fn value(&mut self, value: Value) {
        if !std::mem::replace(&mut self.live_values[value.index()], true) {
            self.work.push(Work::Value(value));
        }
    }

    fn run(&mut self) {
        while let Some(work) = self.work.pop() {
            match work {
                Work::Op(op) => self.op_needs(op),
                Work::Value(value) => self.value_needs(value),
            }
        }
    }

    /// What an operation needs to run at all.
    fn op_needs(&mut self, op: Op) {
        let function = self.function;
        if let Some((owner, _)) = self.holder[op.index()].and_then(|block| self.owner[block.index()]) {
            self.op(owner);
        }
        let data = function.op(op);
        let needed = match data.kind {
            OpKind::For => &data.operands[..3],
            // Only the condition; what is carried is needed where it is read.
            OpKind::While => match function.block(data.blocks[0]).ops.last() {
                Some(&last) => &function.op(last).operands[..],
                None => &[],
            },
            _ => &data.operands[..],
        };
        for &value in needed {
            self.value(value);
        }
    }

    /// What a value is made from.
    fn value_needs(&mut self, value: Value) {
        let function = self.function;
        let (op, index) = match function.value(value).def {
            ValueDef::Result { op, index } => (op, index as usize),
            ValueDef::Param { block, index } => match self.owner[block.index()] {
                // The index of a `for` comes from its range.
                Some((op, _)) if function.op(op).kind == OpKind::For && index == 0 => return self.op(op),
                Some((op, _)) => (op, index as usize - usize::from(function.op(op).kind == OpKind::For)),
                None => return,
            },
        };
        self.op(op);
        let data = function.op(op);
        let (init, yields) = match data.kind {
            OpKind::If => (None, &data.blocks[..]),
            OpKind::For => (data.operands.get(3 + index), &data.blocks[..]),
            OpKind::While => (data.operands.get(index), &data.blocks[1..]),
            _ => return,
        };
        for &init in init.into_iter() {
            self.value(init);
        }
        for &block in yields {
            if let Some(&last) = function.block(block).ops.last() {
                self.value(function.op(last).operands[index]);
            }
        }
    }
}
