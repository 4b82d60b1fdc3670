//! Functions, blocks, operations and values. References are typed `u32` indices into a function's arenas, and
//! the `Display` of each is its text form.

use std::fmt;
use std::num::NonZeroU32;

use inkle_diag::Span;
use smallvec::SmallVec;

use crate::op::OpKind;
use crate::types::Type;

macro_rules! index {
    ($(#[$meta:meta])* $name:ident, $sigil:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(NonZeroU32);

        const _: () = assert!(size_of::<Option<$name>>() == 4);

        impl $name {
            /// The reference to the entry at `index`.
            pub fn new(index: usize) -> $name {
                $name(NonZeroU32::new(index as u32 + 1).expect("fewer than 2^32 - 1 entries"))
            }

            /// The position in the arena.
            pub fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($sigil, "{}"), self.index())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

index! {
    /// An SSA value of one function; printed as `%7`.
    Value, "%"
}
index! {
    /// An operation of one function.
    Op, "op"
}
index! {
    /// A block of one function.
    Block, "block"
}
index! {
    /// A function of one module; printed by name in the text form.
    FunctionId, "fn"
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the variants say it")]
pub enum ValueDef {
    /// The `index`-th result of an operation.
    Result { op: Op, index: u32 },
    /// The `index`-th parameter of a block.
    Param { block: Block, index: u32 },
}

/// What is known of a value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its definition.
    pub def: ValueDef,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct OpData {
    /// What it does.
    pub kind: OpKind,
    /// What it takes.
    pub operands: SmallVec<[Value; 4]>,
    /// What it gives.
    pub results: SmallVec<[Value; 2]>,
    /// The blocks it owns.
    pub blocks: SmallVec<[Block; 2]>,
    /// Where it was written.
    pub span: Span,
}

/// A block: parameters and operations, the last of which is a terminator.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// The values the owner passes in.
    pub params: SmallVec<[Value; 4]>,
    /// The operations in order.
    pub ops: Vec<Op>,
}

/// A parameter of a function, for messages and the launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// The name in the source.
    pub name: String,
    /// The type.
    pub ty: Type,
}

/// Whether a function can be launched, and what it is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FunctionKind {
    /// An entry point; it returns nothing.
    Kernel,
    /// A function that kernels call.
    Func,
    /// A function that kernels call and that is written in C++: these statements, in which the parameters' names stand
    /// for the arguments, and which `return` the result. Its body is empty, and it may do anything.
    Native(Box<str>),
}

/// What a function has to do with others when kernels run backwards. Forward code looks at none of it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Links {
    /// The function that gives the gradients in place of one made by differentiation. It takes the function's parameters,
    /// the gradients of its results, and for each parameter the gradient so far (zero, or for an array the array of
    /// gradients); it gives the gradients of the parameters that are no arrays.
    pub gradient: Option<FunctionId>,
    /// The function, of the same signature, that a backward pass calls in place of this one when it needs its results.
    pub replay: Option<FunctionId>,
    /// Differentiation is to replace the body: the function gives the gradients of that one's parameters that are no
    /// arrays, when the gradients of all its results are one; it has the same parameters.
    pub derivative_of: Option<FunctionId>,
}

impl Links {
    /// All of them, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut FunctionId> {
        [&mut self.gradient, &mut self.replay, &mut self.derivative_of].into_iter().flatten()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = FunctionId> + use<> {
        [self.gradient, self.replay, self.derivative_of].into_iter().flatten()
    }
}

/// A kernel or function. The body block's parameters are the function's.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name, unique in the module.
    pub name: String,
    /// Kernel or function.
    pub kind: FunctionKind,
    /// Names and types of the parameters; the types repeat the body block's.
    pub params: Vec<Param>,
    /// Result types.
    pub results: Vec<Type>,
    /// Where the function was written.
    pub span: Span,
    /// How it is differentiated, where not by what its body says. Linked functions may come later in the module.
    pub links: Links,
    /// The body.
    pub body: Block,
    ops: Vec<OpData>,
    blocks: Vec<BlockData>,
    values: Vec<ValueData>,
}

impl Function {
    /// A function with an empty body; `body` has one parameter per entry of `params`.
    pub fn new(
        name: impl Into<String>,
        kind: FunctionKind,
        params: Vec<Param>,
        results: Vec<Type>,
    ) -> Function {
        let mut function = Function {
            name: name.into(),
            kind,
            params: Vec::new(),
            results,
            span: Span::NONE,
            links: Links::default(),
            body: Block::new(0),
            ops: Vec::new(),
            blocks: vec![BlockData::default()],
            values: Vec::new(),
        };
        for param in &params {
            function.add_block_param(function.body, param.ty);
        }
        function.params = params;
        function
    }

    /// An operation.
    pub fn op(&self, op: Op) -> &OpData {
        &self.ops[op.index()]
    }

    /// An operation, to change it.
    pub fn op_mut(&mut self, op: Op) -> &mut OpData {
        &mut self.ops[op.index()]
    }

    /// A block.
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block.index()]
    }

    /// A block, to change it.
    pub fn block_mut(&mut self, block: Block) -> &mut BlockData {
        &mut self.blocks[block.index()]
    }

    /// A value.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value.index()]
    }

    /// A value, to change where it is defined.
    pub(crate) fn value_mut(&mut self, value: Value) -> &mut ValueData {
        &mut self.values[value.index()]
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// The operation that defines a value, unless it is a block's parameter.
    pub fn defining_op(&self, value: Value) -> Option<&OpData> {
        match self.value(value).def {
            ValueDef::Result { op, .. } => Some(self.op(op)),
            ValueDef::Param { .. } => None,
        }
    }

    /// The number of operations ever made, including ones no block holds: a measure of size.
    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// The number of values.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// The number of blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Makes an empty block.
    pub fn add_block(&mut self) -> Block {
        self.blocks.push(BlockData::default());
        Block::new(self.blocks.len() - 1)
    }

    /// The C++ text of a native function.
    pub fn native(&self) -> Option<&str> {
        match &self.kind {
            FunctionKind::Native(text) => Some(text),
            FunctionKind::Kernel | FunctionKind::Func => None,
        }
    }

    /// Adds a parameter to a block.
    pub fn add_block_param(&mut self, block: Block, ty: Type) -> Value {
        let value = Value::new(self.values.len());
        let index = self.blocks[block.index()].params.len() as u32;
        self.values.push(ValueData { ty, def: ValueDef::Param { block, index } });
        self.blocks[block.index()].params.push(value);
        value
    }

    /// Appends an operation to a block.
    pub fn add_op(
        &mut self,
        block: Block,
        kind: OpKind,
        operands: impl IntoIterator<Item = Value>,
        result_types: impl IntoIterator<Item = Type>,
        blocks: impl IntoIterator<Item = Block>,
        span: Span,
    ) -> Op {
        let op = Op::new(self.ops.len());
        let mut results = SmallVec::new();
        for (index, ty) in result_types.into_iter().enumerate() {
            results.push(Value::new(self.values.len()));
            self.values.push(ValueData { ty, def: ValueDef::Result { op, index: index as u32 } });
        }
        self.ops.push(OpData {
            kind,
            operands: operands.into_iter().collect(),
            results,
            blocks: blocks.into_iter().collect(),
            span,
        });
        self.blocks[block.index()].ops.push(op);
        op
    }
}

/// A kernel with the functions it reaches. The last function is the kernel; every function comes before its
/// callers, so there is no recursion.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// The functions.
    pub functions: Vec<Function>,
}

impl Module {
    /// A function.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// Whether operations of `function`, or what they call, may write to memory.
    pub fn writes(&self, ops: &[Op], function: &Function) -> bool {
        ops.iter().any(|&op| {
            let data = function.op(op);
            match data.kind {
                OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas => true,
                OpKind::Call(callee) => {
                    let callee = self.function(callee);
                    callee.native().is_some() || self.writes(&callee.block(callee.body).ops, callee)
                }
                _ => data.blocks.iter().any(|&block| self.writes(&function.block(block).ops, function)),
            }
        })
    }

    /// Whether any function is native.
    pub fn has_native(&self) -> bool {
        self.functions.iter().any(|f| f.native().is_some())
    }

    /// The kernel: the last function, if it is one.
    pub fn kernel(&self) -> Option<&Function> {
        self.functions.last().filter(|f| f.kind == FunctionKind::Kernel)
    }
}
