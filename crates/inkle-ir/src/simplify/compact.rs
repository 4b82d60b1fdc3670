use crate::ir::{Block, Function, Op, Value};

/// Rebuilds a function with only what its blocks hold, in order, so that sizes and numbers mean what they say.
pub fn compact(function: &mut Function) {
    let params = std::mem::take(&mut function.params);
    let results = std::mem::take(&mut function.results);
    let name = std::mem::take(&mut function.name);
    let mut new = Function::new(name, function.kind.clone(), params, results);
    new.span = function.span;
    new.links = function.links;
    let values = vec![None; function.value_count()];
    let (from, to) = (function.body, new.body);
    let mut copier = Copier { old: function, new, values };
    for index in 0..copier.old.block(from).params.len() {
        let (old, new) = (copier.old.block(from).params[index], copier.new.block(to).params[index]);
        copier.values[old.index()] = Some(new);
    }
    copier.block(from, to);
    *function = copier.new;
}

struct Copier<'f> {
    old: &'f mut Function,
    new: Function,
    /// The new value for each old one.
    values: Vec<Option<Value>>,
}

impl Copier<'_> {
    fn block(&mut self, from: Block, to: Block) {
        let ops = std::mem::take(&mut self.old.block_mut(from).ops);
        for op in ops {
            self.op(op, to);
        }
    }

    fn op(&mut self, op: Op, to: Block) {
        let data = self.old.op_mut(op);
        let kind = std::mem::replace(&mut data.kind, crate::OpKind::Zero);
        let operands = std::mem::take(&mut data.operands);
        let results = std::mem::take(&mut data.results);
        let blocks = std::mem::take(&mut data.blocks);
        let span = data.span;
        let (old, values) = (&self.old, &self.values);
        // Verified: operands are defined before their use.
        let operands =
            operands.iter().map(|v| values[v.index()].expect("an operand is defined before its use"));
        let made = self.new.add_op(to, kind, operands, results.iter().map(|&r| old.ty(r)), [], span);
        for (result, &new) in results.iter().zip(&self.new.op(made).results) {
            self.values[result.index()] = Some(new);
        }
        for block in blocks {
            let inner = self.new.add_block();
            self.new.op_mut(made).blocks.push(inner);
            for index in 0..self.old.block(block).params.len() {
                let param = self.old.block(block).params[index];
                let new = self.new.add_block_param(inner, self.old.ty(param));
                self.values[param.index()] = Some(new);
            }
            self.block(block, inner);
        }
    }
}
