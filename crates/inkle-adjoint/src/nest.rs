//! What lies in what: the blocks of operations and the operations of blocks.

use inkle_ir::{Block, Function, Op, Value, ValueDef};

/// The nesting of a function's blocks, seen from the inside.
pub(crate) struct Nest {
    /// The operation that owns each block.
    owners: Vec<Option<Op>>,
    /// The block that holds each operation.
    holders: Vec<Option<Block>>,
}

impl Nest {
    pub fn new(f: &Function) -> Nest {
        let mut nest = Nest { owners: vec![None; f.block_count()], holders: vec![None; f.op_count()] };
        let mut stack = vec![f.body];
        while let Some(block) = stack.pop() {
            for &op in &f.block(block).ops {
                nest.holders[op.index()] = Some(block);
                for &inner in &f.op(op).blocks {
                    nest.owners[inner.index()] = Some(op);
                    stack.push(inner);
                }
            }
        }
        nest
    }

    /// The operation that owns a block; none owns a function's body.
    pub fn owner(&self, block: Block) -> Option<Op> {
        self.owners[block.index()]
    }

    /// The block that holds an operation.
    pub fn holder(&self, op: Op) -> Option<Block> {
        self.holders[op.index()]
    }

    /// The block in which a value is defined.
    pub fn home(&self, f: &Function, value: Value) -> Option<Block> {
        match f.value(value).def {
            ValueDef::Result { op, .. } => self.holder(op),
            ValueDef::Param { block, .. } => Some(block),
        }
    }

    /// The block and those around it, from the inside.
    pub fn around(&self, block: Option<Block>) -> impl Iterator<Item = Block> {
        std::iter::successors(block, |&block| self.holder(self.owner(block)?))
    }

    /// Whether a value is defined in a block or in one that is nested there.
    pub fn is_inside(&self, f: &Function, value: Value, block: Block) -> bool {
        self.around(self.home(f, value)).any(|around| around == block)
    }
}
