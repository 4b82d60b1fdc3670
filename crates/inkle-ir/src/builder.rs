//! Appends operations to a function, working out result types.

use inkle_diag::Span;

use crate::ir::{Block, Function, FunctionId, Op, Value};
use crate::op::{AtomicOp, BinaryOp, CmpOp, Constant, OpKind, UnaryOp};
use crate::types::{Scalar, Type};

/// A cursor at the end of a block. Operands must have the types that [`OpKind`] asks for; the verifier checks.
pub struct Builder<'f> {
    /// The function being built.
    pub function: &'f mut Function,
    /// Where operations are appended.
    pub block: Block,
    /// The span given to new operations.
    pub span: Span,
}

impl<'f> Builder<'f> {
    /// A builder at the end of `block`.
    pub fn new(function: &'f mut Function, block: Block) -> Builder<'f> {
        Builder { function, block, span: Span::NONE }
    }

    /// The type of a value.
    pub fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }

    /// Appends any operation.
    pub fn op(
        &mut self,
        kind: OpKind,
        operands: impl IntoIterator<Item = Value>,
        results: impl IntoIterator<Item = Type>,
        blocks: impl IntoIterator<Item = Block>,
    ) -> Op {
        self.function.add_op(self.block, kind, operands, results, blocks, self.span)
    }

    /// Appends an operation with one result.
    pub fn value(&mut self, kind: OpKind, operands: impl IntoIterator<Item = Value>, ty: Type) -> Value {
        let op = self.op(kind, operands, [ty], []);
        self.function.op(op).results[0]
    }

    /// Appends an operation without results.
    pub fn effect(&mut self, kind: OpKind, operands: impl IntoIterator<Item = Value>) {
        self.op(kind, operands, [], []);
    }

    /// A scalar constant, converted to `scalar`.
    pub fn constant(&mut self, constant: Constant, scalar: Scalar) -> Value {
        self.value(OpKind::Const(constant.convert(scalar)), [], Type::Scalar(scalar))
    }

    /// An i32 constant.
    pub fn i32(&mut self, value: i32) -> Value {
        self.constant(Constant::Int(value.into()), Scalar::I32)
    }

    /// A bool constant.
    pub fn bool(&mut self, value: bool) -> Value {
        self.constant(Constant::Bool(value), Scalar::Bool)
    }

    /// The zero of a type.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.value(OpKind::Zero, [], ty)
    }

    /// A unary operation.
    pub fn unary(&mut self, op: UnaryOp, x: Value) -> Value {
        let ty = op.result_type(self.ty(x));
        self.value(OpKind::Unary(op), [x], ty)
    }

    /// A binary operation.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.value(OpKind::Binary(op), [a, b], ty)
    }

    /// A comparison.
    pub fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        self.value(OpKind::Cmp(op), [a, b], Type::BOOL)
    }

    /// `if c then a else b`, both evaluated.
    pub fn select(&mut self, c: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.value(OpKind::Select, [c, a, b], ty)
    }

    /// A numeric conversion; the value itself when the type is already right.
    pub fn cast(&mut self, x: Value, ty: Type) -> Value {
        if self.ty(x) == ty { x } else { self.value(OpKind::Cast, [x], ty) }
    }

    /// A component or field by constant index.
    pub fn extract(&mut self, x: Value, index: u32) -> Value {
        let ty = match (self.ty(x), self.ty(x).fields()) {
            (_, Some(s)) => s.fields[index as usize].ty,
            (other, None) => Type::Scalar(other.scalar().expect("extract takes a composite")),
        };
        self.value(OpKind::Extract(index), [x], ty)
    }

    /// `x` with a component or field replaced.
    pub fn insert(&mut self, x: Value, v: Value, index: u32) -> Value {
        let ty = self.ty(x);
        self.value(OpKind::Insert(index), [x, v], ty)
    }

    /// The address of an array's element.
    pub fn elem(&mut self, array: Value, indices: &[Value]) -> Value {
        let target = self.ty(array).as_array().expect("elem takes an array").elem;
        let operands: Vec<Value> = std::iter::once(array).chain(indices.iter().copied()).collect();
        self.value(OpKind::Elem, operands, Type::reference(target))
    }

    /// The sub-array at an index of one of several dimensions.
    pub fn view(&mut self, array: Value, index: Value, dim: u32) -> Value {
        let ty = self.ty(array).as_array().expect("view takes an array");
        let result = Type::array_of_kind(ty.elem, ty.ndim - 1, ty.kind);
        self.value(OpKind::View(dim), [array, index], result)
    }

    /// The sub-array of `extent` elements of a dimension, from `start` on with a distance of `step`.
    pub fn window(&mut self, array: Value, start: Value, extent: Value, step: Value, dim: u32) -> Value {
        let ty = self.ty(array);
        self.value(OpKind::Window(dim), [array, start, extent, step], ty)
    }

    /// A cleared array of this thread's alone.
    pub fn local(&mut self, elem: Type, extents: &[u32]) -> Value {
        let ty = Type::array(elem, extents.len() as u32);
        self.value(OpKind::Local(extents.into()), [], ty)
    }

    /// The address of a struct's field.
    pub fn field(&mut self, reference: Value, index: u32) -> Value {
        let target =
            self.ty(reference).as_ref_target().and_then(Type::as_struct).expect("field takes a struct ref");
        let ty = Type::reference(target.fields[index as usize].ty);
        self.value(OpKind::Field(index), [reference], ty)
    }

    /// The address of a scalar component by flat index.
    pub fn comp(&mut self, reference: Value, index: Value) -> Value {
        let target =
            self.ty(reference).as_ref_target().and_then(Type::scalar).expect("comp takes a vector ref");
        self.value(OpKind::Comp, [reference, index], Type::reference(Type::Scalar(target)))
    }

    /// Reads memory.
    pub fn load(&mut self, reference: Value) -> Value {
        let ty = self.ty(reference).as_ref_target().expect("load takes a ref");
        self.value(OpKind::Load, [reference], ty)
    }

    /// Writes memory.
    pub fn store(&mut self, reference: Value, value: Value) {
        self.effect(OpKind::Store, [reference, value]);
    }

    /// An atomic update; the result is the old value.
    pub fn atomic(&mut self, op: AtomicOp, reference: Value, value: Value) -> Value {
        let ty = self.ty(value);
        self.value(OpKind::Atomic(op), [reference, value], ty)
    }

    /// A call.
    pub fn call(&mut self, callee: FunctionId, args: &[Value], results: &[Type]) -> Op {
        self.op(OpKind::Call(callee), args.iter().copied(), results.iter().copied(), [])
    }
}
