//! Turns arrays of a thread's own into values: a vector of all components that is carried through branches and loops
//! as every other value is, so that it can be differentiated, and found again, as they are.

use inkle_ir::{
    AtomicOp, BinaryOp, Block, Builder, Constant, Function, Op, OpKind, Scalar, Type, Value, ValueDef,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most components of an array that becomes a value.
const MAX_COMPONENTS: u32 = 1024;

/// An array that becomes a value.
#[derive(Clone)]
struct Local {
    extents: Vec<u32>,
    elem: Type,
    /// The vector of all components.
    ty: Type,
}

/// The function with its own arrays made values, those of which only elements are read and written.
pub(crate) fn promote(function: &Function) -> Option<Function> {
    let locals = promotable(function);
    if locals.is_empty() {
        return None;
    }
    let params = function.params.clone();
    let mut new =
        Function::new(function.name.clone(), function.kind.clone(), params, function.results.clone());
    new.span = function.span;
    new.links = function.links;
    let mut promoter = Promoter {
        old: function,
        values: vec![None; function.value_count()],
        current: FxHashMap::default(),
        locals,
        block: new.body,
        new,
    };
    let body = promoter.new.body;
    for (&old, &new) in function.block(function.body).params.iter().zip(&promoter.new.block(body).params) {
        promoter.values[old.index()] = Some(new);
    }
    promoter.ops(function.body, &[]);
    Some(promoter.new)
}

/// The arrays of which nothing is used but elements, by value.
fn promotable(f: &Function) -> FxHashMap<Value, Local> {
    let mut found: FxHashMap<Value, Local> = FxHashMap::default();
    let mut escaped: FxHashSet<Value> = FxHashSet::default();
    let mut stack = vec![f.body];
    while let Some(block) = stack.pop() {
        for &op in &f.block(block).ops {
            let data = f.op(op);
            stack.extend(&data.blocks);
            if let OpKind::Local(extents) = &data.kind {
                let result = data.results[0];
                let elem = f.ty(result).as_array().expect("verified").elem;
                if let (Some(scalar), Some(count)) = (elem.scalar(), elem.component_count()) {
                    let total = extents.iter().fold(count, |n, &e| n.saturating_mul(e));
                    if total <= MAX_COMPONENTS {
                        let ty = Type::vec(total, scalar);
                        found.insert(result, Local { extents: extents.to_vec(), elem, ty });
                    }
                }
            }
            for (position, &operand) in data.operands.iter().enumerate() {
                let is_fine = position == 0
                    && match data.kind {
                        OpKind::Elem | OpKind::Comp | OpKind::Load | OpKind::Store | OpKind::Shape(_) => true,
                        OpKind::Atomic(kind) => update(kind).is_some(),
                        _ => false,
                    };
                if !is_fine && let Some(root) = root(f, operand) {
                    escaped.insert(root);
                }
            }
        }
    }
    found.retain(|value, _| !escaped.contains(value));
    found
}

/// What an atomic update of an array that no other thread has does to an element.
fn update(kind: AtomicOp) -> Option<BinaryOp> {
    match kind {
        AtomicOp::Add => Some(BinaryOp::Add),
        AtomicOp::Sub => Some(BinaryOp::Sub),
        AtomicOp::Min => Some(BinaryOp::Min),
        AtomicOp::Max => Some(BinaryOp::Max),
        _ => None,
    }
}

/// The array, made by a `local`, that an array or address is of.
fn root(f: &Function, value: Value) -> Option<Value> {
    let mut at = value;
    loop {
        let ValueDef::Result { op, .. } = f.value(at).def else { return None };
        let data = f.op(op);
        match data.kind {
            OpKind::Local(_) => return Some(at),
            OpKind::Elem | OpKind::Comp | OpKind::Field(_) | OpKind::View(_) | OpKind::Window(_) => {
                at = data.operands[0];
            }
            _ => return None,
        }
    }
}

struct Promoter<'f> {
    old: &'f Function,
    new: Function,
    block: Block,
    values: Vec<Option<Value>>,
    locals: FxHashMap<Value, Local>,
    /// What each array holds here.
    current: FxHashMap<Value, Value>,
}

impl Promoter<'_> {
    fn build(&mut self, op: Op) -> Builder<'_> {
        let mut b = Builder::new(&mut self.new, self.block);
        b.span = self.old.op(op).span;
        b
    }

    fn value(&self, value: Value) -> Value {
        self.values[value.index()].expect("an operand is defined before its use")
    }

    fn promoted(&self, value: Value) -> Option<Value> {
        root(self.old, value).filter(|root| self.locals.contains_key(root))
    }

    /// Copies a block's operations; what its end gives goes before what `changed` arrays hold.
    fn ops(&mut self, from: Block, changed: &[Value]) {
        let old = self.old;
        for &op in &old.block(from).ops {
            self.op(op, changed);
        }
    }

    fn op(&mut self, op: Op, changed: &[Value]) {
        let old = self.old;
        let data = old.op(op);
        let place = data.operands.first().and_then(|&v| self.promoted(v));
        match &data.kind {
            OpKind::Local(_) if self.locals.contains_key(&data.results[0]) => {
                let ty = self.locals[&data.results[0]].ty;
                let zero = self.build(op).zero(ty);
                self.current.insert(data.results[0], zero);
            }
            OpKind::Elem | OpKind::Comp if place.is_some() => {}
            OpKind::Shape(dim) if place.is_some() => {
                let extent = self.locals[&data.operands[0]].extents[*dim as usize];
                let value = self.build(op).i32(extent as i32);
                self.values[data.results[0].index()] = Some(value);
            }
            OpKind::Load if let Some(local) = place => {
                let value = self.read(op, local);
                self.values[data.results[0].index()] = Some(value);
            }
            OpKind::Store if let Some(local) = place => {
                let value = self.value(data.operands[1]);
                self.write(op, local, value);
            }
            OpKind::Atomic(kind) if let (Some(local), Some(update)) = (place, update(*kind)) => {
                let before = self.read(op, local);
                let value = self.value(data.operands[1]);
                let after = self.build(op).binary(update, before, value);
                self.write(op, local, after);
                self.values[data.results[0].index()] = Some(before);
            }
            _ => self.copy(op, changed),
        }
    }

    /// The flat index of the first component at an address.
    fn place(&mut self, op: Op, reference: Value, local: Value) -> Value {
        let old = self.old;
        let Local { extents, elem, .. } = self.locals[&local].clone();
        let data = old.defining_op(reference).expect("an address of a local array is made of it");
        let count = elem.component_count().expect("checked before");
        if data.kind == OpKind::Comp {
            let first = self.place(op, data.operands[0], local);
            let index = self.value(data.operands[1]);
            return self.build(op).binary(BinaryOp::Add, first, index);
        }
        let indices: Vec<Value> = data.operands[1..].iter().map(|&v| self.value(v)).collect();
        let mut b = self.build(op);
        let mut flat = None;
        for (index, extent) in indices.into_iter().zip(extents) {
            let index = b.cast(index, Type::I32);
            flat = Some(match flat {
                None => index,
                Some(outer) => {
                    let extent = b.i32(extent as i32);
                    let scaled = b.binary(BinaryOp::Mul, outer, extent);
                    b.binary(BinaryOp::Add, scaled, index)
                }
            });
        }
        let flat = flat.expect("an array has a dimension");
        let count = b.constant(Constant::Int(count.into()), Scalar::I32);
        b.binary(BinaryOp::Mul, flat, count)
    }

    /// The flat indices of the components at an address, and the type there.
    fn places(&mut self, op: Op, local: Value) -> (Vec<Value>, Type) {
        let reference = self.old.op(op).operands[0];
        let ty = self.old.ty(reference).as_ref_target().expect("verified");
        let first = self.place(op, reference, local);
        let count = ty.component_count().expect("checked before");
        let mut b = self.build(op);
        let places = (0..count).map(|offset| {
            let offset = b.i32(offset as i32);
            b.binary(BinaryOp::Add, first, offset)
        });
        (places.collect(), ty)
    }

    fn read(&mut self, op: Op, local: Value) -> Value {
        let (places, ty) = self.places(op, local);
        let whole = self.current[&local];
        let scalar = Type::Scalar(ty.scalar().expect("checked before"));
        let mut b = self.build(op);
        let parts: Vec<Value> =
            places.into_iter().map(|at| b.value(OpKind::ExtractDyn, [whole, at], scalar)).collect();
        if ty.as_scalar().is_some() { parts[0] } else { b.value(OpKind::Construct, parts, ty) }
    }

    fn write(&mut self, op: Op, local: Value, value: Value) {
        let (places, ty) = self.places(op, local);
        let mut whole = self.current[&local];
        let mut b = self.build(op);
        for (index, at) in places.into_iter().enumerate() {
            let part = if ty.as_scalar().is_some() { value } else { b.extract(value, index as u32) };
            let vector = b.ty(whole);
            whole = b.value(OpKind::InsertDyn, [whole, part, at], vector);
        }
        self.current.insert(local, whole);
    }

    /// The arrays in scope that an operation's blocks write to.
    fn written(&self, op: Op) -> Vec<Value> {
        let mut found = Vec::new();
        let mut stack: Vec<Block> = self.old.op(op).blocks.to_vec();
        while let Some(block) = stack.pop() {
            for &inner in &self.old.block(block).ops {
                let data = self.old.op(inner);
                stack.extend(&data.blocks);
                if let OpKind::Store | OpKind::Atomic(_) = data.kind {
                    found.extend(
                        self.promoted(data.operands[0]).filter(|local| self.current.contains_key(local)),
                    );
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn copy(&mut self, op: Op, changed: &[Value]) {
        let old = self.old;
        let data = old.op(op);
        let mut operands: Vec<Value> = data.operands.iter().map(|&v| self.value(v)).collect();
        let mut types: Vec<Type> = data.results.iter().map(|&r| old.ty(r)).collect();
        let written = self.written(op);
        match data.kind {
            OpKind::Yield => operands.extend(changed.iter().map(|local| self.current[local])),
            OpKind::If | OpKind::For | OpKind::While => {
                types.extend(written.iter().map(|local| self.locals[local].ty));
                if data.kind != OpKind::If {
                    operands.extend(written.iter().map(|local| self.current[local]));
                }
            }
            _ => {}
        }
        let made = self.new.add_op(self.block, data.kind.clone(), operands, types, [], data.span);
        let results = self.new.op(made).results.clone();
        let before = self.current.clone();
        for (number, &from) in data.blocks.iter().enumerate() {
            let to = self.new.add_block();
            self.new.op_mut(made).blocks.push(to);
            for &param in &old.block(from).params {
                let new = self.new.add_block_param(to, old.ty(param));
                self.values[param.index()] = Some(new);
            }
            self.current = before.clone();
            if data.kind != OpKind::If {
                for local in &written {
                    let ty = self.locals[local].ty;
                    let new = self.new.add_block_param(to, ty);
                    self.current.insert(*local, new);
                }
            }
            let outer = std::mem::replace(&mut self.block, to);
            // The condition of a `while` gives a bool and nothing else.
            let is_head = data.kind == OpKind::While && number == 0;
            self.ops(from, if is_head { &[] } else { &written });
            self.block = outer;
        }
        self.current = before;
        for (&result, &new) in data.results.iter().zip(&results) {
            self.values[result.index()] = Some(new);
        }
        for (local, &new) in written.iter().zip(&results[data.results.len()..]) {
            self.current.insert(*local, new);
        }
    }
}
