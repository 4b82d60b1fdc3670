//! Finds values that are needed from array elements which are overwritten afterwards.

use inkle_ir::{BinaryOp, Block, Constant, Function, Module, Op, OpData, OpKind, Scalar, Value, ValueDef};

use crate::error::AdjointError;
use crate::need::Need;
use crate::sweep::Result;

/// How far back it is looked at what two indices are made of.
const DEPTH: u32 = 8;

/// A read or write of memory and the blocks and operations that it is nested in, from the outside.
struct Access {
    op: Op,
    path: Vec<(Block, usize)>,
}

/// Refuses a function in which a value of the needed ones is read from an element that certainly is overwritten later.
pub(crate) fn check<'a>(module: &Module, f: &Function, needs: impl Iterator<Item = &'a Need>) -> Result<()> {
    let mut writes = Vec::new();
    let mut reads = Vec::new();
    let mut path = Vec::new();
    collect(f, f.body, &mut path, &mut reads, &mut writes);
    if writes.is_empty() || reads.is_empty() {
        return Ok(());
    }
    let f = &Places { function: f, written: written_scalars(module, f) };
    let needs: Vec<&Need> = needs.collect();
    for read in &reads {
        let value = f.op(read.op).results[0];
        if !needs.iter().any(|need| need.contains(&value)) {
            continue;
        }
        for write in &writes {
            let (from, to) = (f.op(read.op).operands[0], f.op(write.op).operands[0]);
            if is_same_place(f, from, to) && follows(f, read, write, from)
                || is_reached_later(f, read, write, from, to)
            {
                return Err(AdjointError::Overwritten {
                    read: f.op(read.op).span,
                    write: f.op(write.op).span,
                });
            }
        }
    }
    Ok(())
}

fn collect(
    f: &Function,
    block: Block,
    path: &mut Vec<(Block, usize)>,
    reads: &mut Vec<Access>,
    writes: &mut Vec<Access>,
) {
    for (position, &op) in f.block(block).ops.iter().enumerate() {
        path.push((block, position));
        let data = f.op(op);
        match data.kind {
            OpKind::Load => reads.push(Access { op, path: path.clone() }),
            OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas => {
                writes.push(Access { op, path: path.clone() });
            }
            _ => {}
        }
        for &inner in &data.blocks {
            collect(f, inner, path, reads, writes);
        }
        path.pop();
    }
}

/// Whether a later iteration of a loop around both writes to the element that an iteration reads: their indices are the
/// loop's index with constants added, and differ in one dimension only.
fn is_reached_later(f: &Places<'_>, read: &Access, write: &Access, from: Value, to: Value) -> bool {
    let (from, to) = (steps(f, from), steps(f, to));
    let shared = read.path.iter().zip(&write.path).take_while(|(a, b)| a == b).count();
    read.path[..shared].iter().any(|&(block, position)| {
        let op = f.block(block).ops[position];
        let Some((index, step)) = induction(f, op) else { return false };
        let mut distance = None;
        for (&a, &b) in from.iter().zip(&to) {
            if is_same_step(f, a, b) {
                continue;
            }
            let (Some(x), Some(y)) = (f.defining_op(a), f.defining_op(b)) else { return false };
            if x.kind != OpKind::Elem || y.kind != OpKind::Elem || x.operands.len() != y.operands.len() {
                return false;
            }
            for (&i, &j) in x.operands[1..].iter().zip(&y.operands[1..]) {
                if is_equal(f, i, j) {
                    continue;
                }
                let (Some((i, a)), Some((j, b))) = (offset(f, i), offset(f, j)) else { return false };
                // At iteration k the read is at k + a, the write at k + b: they meet when the write is a - b ahead.
                if i != index || j != index || distance.replace(a - b).is_some() {
                    return false;
                }
            }
        }
        distance.is_some_and(|d| d % step == 0 && d / step > 0)
    })
}

/// The value of a loop that grows evenly, and by how much.
fn induction(f: &Function, op: Op) -> Option<(Value, i128)> {
    let data = f.op(op);
    let constant = |value: Value| match f.defining_op(value)?.kind {
        OpKind::Const(Constant::Int(step)) if step != 0 => Some(step),
        _ => None,
    };
    match data.kind {
        OpKind::For => Some((f.block(data.blocks[0]).params[0], constant(data.operands[2])?)),
        OpKind::While => {
            let body = f.block(data.blocks[1]);
            let last = f.op(*body.ops.last()?);
            body.params.iter().zip(&last.operands).find_map(|(&param, &next)| {
                let add = f.defining_op(next).filter(|d| d.kind == OpKind::Binary(BinaryOp::Add))?;
                let step = if add.operands[0] == param { constant(add.operands[1]) } else { None };
                Some((param, step?))
            })
        }
        _ => None,
    }
}

/// An index as a value and a constant added to it; wrapping round of negative ones is left out.
fn offset(f: &Function, mut index: Value) -> Option<(Value, i128)> {
    let mut sum = 0;
    while let Some(data) = f.defining_op(index) {
        let constant = |value: Value| match f.defining_op(value).map(|d| &d.kind) {
            Some(OpKind::Const(Constant::Int(c))) => Some(*c),
            _ => None,
        };
        match data.kind {
            OpKind::Binary(BinaryOp::Add) => match (constant(data.operands[0]), constant(data.operands[1])) {
                (_, Some(c)) => (index, sum) = (data.operands[0], sum + c),
                (Some(c), _) => (index, sum) = (data.operands[1], sum + c),
                _ => break,
            },
            OpKind::Binary(BinaryOp::Sub) => match constant(data.operands[1]) {
                Some(c) => (index, sum) = (data.operands[0], sum - c),
                None => break,
            },
            // `i < 0 ? i + n : i`.
            OpKind::Select => index = data.operands[2],
            OpKind::Cast => index = data.operands[0],
            _ => break,
        }
    }
    Some((index, sum))
}

/// Whether two addresses are certainly of one element, or of one and a part of it.
fn is_same_place(f: &Places<'_>, a: Value, b: Value) -> bool {
    let (a, b) = (steps(f, a), steps(f, b));
    a.iter().zip(&b).all(|(&a, &b)| is_same_step(f, a, b))
}

/// An address from the array to the innermost part.
fn steps(f: &Function, mut value: Value) -> Vec<Value> {
    let mut steps = vec![value];
    while let Some(data) = f.defining_op(value)
        && let OpKind::Elem | OpKind::Field(_) | OpKind::Comp | OpKind::View(_) | OpKind::Window(_) =
            data.kind
    {
        value = data.operands[0];
        steps.push(value);
    }
    steps.reverse();
    steps
}

fn is_same_step(f: &Places<'_>, a: Value, b: Value) -> bool {
    if a == b {
        return true;
    }
    let (Some(a), Some(b)) = (f.defining_op(a), f.defining_op(b)) else { return false };
    let is_step = matches!(
        a.kind,
        OpKind::Elem | OpKind::Field(_) | OpKind::Comp | OpKind::View(_) | OpKind::Window(_)
    );
    is_step
        && a.kind == b.kind
        && a.operands.len() == b.operands.len()
        && a.operands[1..].iter().zip(&b.operands[1..]).all(|(&x, &y)| is_equal(f, x, y))
}

/// Whether two indices certainly are equal: the same, or made alike of what is, as an index that is read twice.
fn is_equal(f: &Places<'_>, a: Value, b: Value) -> bool {
    is_made_alike(f, a, b, DEPTH)
}

fn is_made_alike(f: &Places<'_>, a: Value, b: Value, depth: u32) -> bool {
    if a == b {
        return true;
    }
    let (Some(x), Some(y)) = (f.defining_op(a), f.defining_op(b)) else { return false };
    // What a load gives depends on when it is done, if there are writes to such elements.
    let again = match &x.kind {
        OpKind::Load => f.ty(a).scalar().is_some_and(|scalar| !f.written.contains(&scalar)),
        kind => kind.is_pure() && x.results.len() == 1,
    };
    again
        && depth > 0
        && x.kind == y.kind
        && x.operands.len() == y.operands.len()
        && x.operands.iter().zip(&y.operands).all(|(&x, &y)| is_made_alike(f, x, y, depth - 1))
}

/// A function, and what is known of the memory that its indices are read from.
struct Places<'f> {
    function: &'f Function,
    /// The scalars of the elements that it may write to.
    written: Vec<Scalar>,
}

impl std::ops::Deref for Places<'_> {
    type Target = Function;

    fn deref(&self) -> &Function {
        self.function
    }
}

/// The scalars of what a function and those that it calls may write to; all there are where that is not known.
fn written_scalars(module: &Module, f: &Function) -> Vec<Scalar> {
    if f.native().is_some() {
        return Scalar::ALL.to_vec();
    }
    let mut written = Vec::new();
    for block in 0..f.block_count() {
        for &op in &f.block(Block::new(block)).ops {
            let data: &OpData = f.op(op);
            match data.kind {
                OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas => {
                    match f.ty(data.operands[1]).scalar() {
                        Some(scalar) => written.push(scalar),
                        None => return Scalar::ALL.to_vec(),
                    }
                }
                OpKind::Call(callee) => written.extend(written_scalars(module, module.function(callee))),
                _ => {}
            }
        }
    }
    written.sort_unstable();
    written.dedup();
    written
}

/// Whether the write happens after the read in some run, to the same element.
fn follows(f: &Function, read: &Access, write: &Access, address: Value) -> bool {
    let shared = read.path.iter().zip(&write.path).take_while(|(a, b)| a == b).count();
    // A loop around both in which the address does not change.
    for &(block, position) in &read.path[..shared] {
        let op = f.block(block).ops[position];
        if matches!(f.op(op).kind, OpKind::For | OpKind::While) && is_fixed_in(f, address, op) {
            return true;
        }
    }
    match (read.path.get(shared), write.path.get(shared)) {
        // In one block, one after the other; else they are in two branches of one `if`.
        (Some((a, before)), Some((b, after))) => a == b && before < after,
        _ => false,
    }
}

/// Whether an address is the same in all iterations of a loop: nothing that it is made of is defined in there.
fn is_fixed_in(f: &Function, address: Value, op: Op) -> bool {
    let mut work = vec![address];
    while let Some(value) = work.pop() {
        match f.value(value).def {
            ValueDef::Param { block, .. } => {
                if holds(f, op, block) {
                    return false;
                }
            }
            ValueDef::Result { op: definition, .. } => {
                let data = f.op(definition);
                match data.kind {
                    OpKind::Const(_) | OpKind::Zero => {}
                    OpKind::Elem
                    | OpKind::Field(_)
                    | OpKind::Comp
                    | OpKind::View(_)
                    | OpKind::Window(_)
                    | OpKind::Unary(_)
                    | OpKind::Binary(_)
                    | OpKind::Cmp(_)
                    | OpKind::Select
                    | OpKind::Cast
                    | OpKind::Shape(_) => work.extend(&data.operands),
                    _ => {
                        if is_defined_in(f, op, definition) {
                            return false;
                        }
                    }
                }
            }
        }
    }
    true
}

fn holds(f: &Function, op: Op, block: Block) -> bool {
    f.op(op)
        .blocks
        .iter()
        .any(|&inner| inner == block || f.block(inner).ops.iter().any(|&nested| holds(f, nested, block)))
}

fn is_defined_in(f: &Function, op: Op, definition: Op) -> bool {
    f.op(op).blocks.iter().any(|&inner| {
        f.block(inner).ops.iter().any(|&nested| nested == definition || is_defined_in(f, nested, definition))
    })
}
