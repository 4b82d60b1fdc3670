//! V010 and V012 to V021: what each operation takes and gives.

use super::Checker;
use super::format::conversions;
use crate::ir::{FunctionKind, Op, OpData, Value};
use crate::layout::{MAX_DIMS, MAX_LOCAL_SIZE};
use crate::op::{AtomicOp, BinaryOp, OpKind, UnaryOp};
use crate::types::{ArrayKind, Scalar, ScalarKind, Type};

/// What an operation violates: the rule and what to say.
type Violation = (&'static str, String);
type Checked<T> = Result<T, Violation>;

fn wrong<T>(code: &'static str, message: impl Into<String>) -> Checked<T> {
    Err((code, message.into()))
}

/// Refuses operand `position` (from 0), which should have been `what`.
fn wrong_operand<T>(position: usize, ty: Type, what: &str) -> Checked<T> {
    wrong("V014", format!("operand {} is {ty}, not {what}", position + 1))
}

/// Which element scalars an operation works on.
#[derive(Clone, Copy)]
enum Family {
    Any,
    Bool,
    Int,
    Float,
    Number,
    IntOrBool,
}

impl Family {
    fn holds(self, scalar: Scalar) -> bool {
        match self {
            Family::Any => true,
            Family::Bool => scalar.kind() == ScalarKind::Bool,
            Family::Int => scalar.is_int(),
            Family::Float => scalar.is_float(),
            Family::Number => scalar.kind() != ScalarKind::Bool,
            Family::IntOrBool => !scalar.is_float(),
        }
    }

    fn text(self) -> &'static str {
        match self {
            Family::Any => "of scalars",
            Family::Bool => "of bools",
            Family::Int => "of integers",
            Family::Float => "of floats",
            Family::Number => "of numbers",
            Family::IntOrBool => "of integers or bools",
        }
    }
}

fn unary_family(op: UnaryOp) -> Family {
    match op {
        UnaryOp::Neg | UnaryOp::Abs => Family::Number,
        UnaryOp::Not => Family::Bool,
        UnaryOp::Invert | UnaryOp::Popcount | UnaryOp::Clz | UnaryOp::Ctz => Family::Int,
        _ => Family::Float,
    }
}

fn binary_family(op: BinaryOp) -> Family {
    match op {
        BinaryOp::Pow | BinaryOp::Atan2 => Family::Float,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => Family::IntOrBool,
        BinaryOp::Shl | BinaryOp::Shr => Family::Int,
        _ => Family::Number,
    }
}

fn atomic_family(op: AtomicOp) -> Family {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => Family::Int,
        _ => Family::Number,
    }
}

impl Checker<'_> {
    /// Any operation but a terminator.
    pub(super) fn operation(&mut self, op: Op) {
        let data = self.function.op(op);
        if data.blocks.len() != data.kind.block_count() {
            let message = format!("owns {} blocks, not {}", data.blocks.len(), data.kind.block_count());
            return self.report("V010", Some(op), message);
        }
        let checked = match data.kind {
            OpKind::If | OpKind::For | OpKind::While => self.structured(data),
            OpKind::Print(ref format) => self.print(data, format),
            OpKind::Store | OpKind::Assert(_) | OpKind::Breakpoint => self.effect(data),
            OpKind::Call(_) => self.call(data),
            _ => self.value(data),
        };
        if let Err((code, message)) = checked {
            self.report(code, Some(op), message);
        }
    }

    /// `yield` or `return`, in the right place.
    pub(super) fn terminator(&mut self, op: Op, owner: Option<Op>, number: usize) {
        let data = self.function.op(op);
        if !data.results.is_empty() || !data.blocks.is_empty() {
            self.report("V013", Some(op), "a terminator gives nothing");
        }
        let expected: Vec<Type> = match owner.map(|owner| self.function.op(owner)) {
            None => self.function.results.clone(),
            Some(OpData { kind: OpKind::While, .. }) if number == 0 => vec![Type::BOOL],
            Some(owner) => match owner.kind {
                OpKind::For => self.types_of(owner.operands.get(3..).unwrap_or_default()),
                OpKind::While => self.types_of(&owner.operands),
                _ => self.types_of(&owner.results),
            },
        };
        let found = self.types_of(&data.operands);
        if found != expected {
            self.report("V019", Some(op), format!("gives {}, not {}", list(&found), list(&expected)));
        }
    }

    fn types_of(&self, values: &[Value]) -> Vec<Type> {
        values.iter().map(|&v| self.function.ty(v)).collect()
    }

    fn operands<const N: usize>(&self, data: &OpData) -> Checked<[Type; N]> {
        match <[Value; N]>::try_from(&data.operands[..]) {
            Ok(values) => Ok(values.map(|v| self.function.ty(v))),
            Err(_) => wrong("V012", format!("takes {N} operands, has {}", data.operands.len())),
        }
    }

    fn no_results(&self, data: &OpData) -> Checked<()> {
        if data.results.is_empty() { Ok(()) } else { wrong("V013", "gives nothing") }
    }

    fn results(&self, data: &OpData, expected: &[Type]) -> Checked<()> {
        let found = self.types_of(&data.results);
        if found.len() != expected.len() {
            return wrong("V013", format!("gives {} values, not {}", expected.len(), found.len()));
        }
        if found != expected {
            return wrong("V015", format!("gives {}, not {}", list(expected), list(&found)));
        }
        Ok(())
    }

    /// Operations with one result.
    fn value(&self, data: &OpData) -> Checked<()> {
        let [result] = data.results[..] else {
            return wrong("V013", format!("gives 1 value, not {}", data.results.len()));
        };
        let result = self.function.ty(result);
        let expected = match data.kind {
            OpKind::Construct => return self.construct(data, result),
            OpKind::Elem => self.element(data)?,
            OpKind::View(dim) => {
                let [array, index] = self.operands(data)?;
                let Some(parts) = array.as_array().filter(|a| a.ndim > 1 && !a.kind.is_fabric()) else {
                    return wrong_operand(0, array, "an array of several dimensions");
                };
                is_index(1, index)?;
                in_range(dim, parts.ndim as usize)?;
                Type::array_of_kind(parts.elem, parts.ndim - 1, parts.kind)
            }
            OpKind::Window(dim) => {
                let [array, start, extent, step] = self.operands(data)?;
                let Some(parts) = array.as_array().filter(|a| a.kind == ArrayKind::Strided) else {
                    return wrong_operand(0, array, "a strided array");
                };
                for (position, ty) in [start, extent, step].into_iter().enumerate() {
                    same(position + 1, ty, Type::I32)?;
                }
                in_range(dim, parts.ndim as usize)?;
                array
            }
            OpKind::Local(ref extents) => {
                self.operands::<0>(data)?;
                local(extents, result)?;
                result
            }
            OpKind::ArrayAt => {
                let Some(parts) = result.as_array().filter(|a| a.kind == ArrayKind::Strided) else {
                    return wrong("V015", format!("gives a strided array, not {result}"));
                };
                let Some((&address, extents)) = data.operands.split_first() else {
                    return wrong("V012", "takes an address and extents, has 0 operands");
                };
                same(0, self.function.ty(address), Type::U64)?;
                for (position, &extent) in extents.iter().enumerate() {
                    same(position + 1, self.function.ty(extent), Type::I32)?;
                }
                if extents.len() != parts.ndim as usize {
                    let message = format!("takes {} extents, has {}", parts.ndim, extents.len());
                    return wrong("V012", message);
                }
                result
            }
            OpKind::Const(constant) => {
                self.operands::<0>(data)?;
                let Some(scalar) = result.as_scalar() else {
                    return wrong("V015", format!("gives a scalar, not {result}"));
                };
                if constant.convert(scalar) != constant && !(scalar.is_float() && is_nan(constant)) {
                    return wrong("V017", format!("the constant is not a value of {scalar}"));
                }
                result
            }
            OpKind::Zero => {
                self.operands::<0>(data)?;
                result
            }
            OpKind::Tid(dim) | OpKind::LaunchDim(dim) => {
                self.operands::<0>(data)?;
                in_range(dim, MAX_DIMS)?;
                Type::I32
            }
            OpKind::BlockDim => {
                self.operands::<0>(data)?;
                Type::I32
            }
            OpKind::Unary(op) => {
                let [x] = self.operands(data)?;
                if op.is_test() && !x.is_float() {
                    return wrong_operand(0, x, "a float");
                }
                elementwise(0, x, unary_family(op))?;
                op.result_type(x)
            }
            OpKind::Binary(op) => {
                let [a, b] = self.operands(data)?;
                elementwise(0, a, binary_family(op))?;
                same(1, b, a)?;
                a
            }
            OpKind::Cmp(_) => {
                let [a, b] = self.operands(data)?;
                if a.as_scalar().is_none() {
                    return wrong_operand(0, a, "a scalar");
                }
                same(1, b, a)?;
                Type::BOOL
            }
            OpKind::Select => {
                let [c, a, b] = self.operands(data)?;
                same(0, c, Type::BOOL)?;
                same(2, b, a)?;
                a
            }
            OpKind::Cast => {
                let [x] = self.operands(data)?;
                elementwise(0, x, Family::Any)?;
                match result.scalar().and_then(|scalar| x.with_scalar(scalar)) {
                    Some(ty) => ty,
                    None => return wrong("V015", format!("{x} cannot be cast to {result}")),
                }
            }
            OpKind::Bitcast => {
                let [x] = self.operands(data)?;
                match (x.as_scalar(), result.as_scalar()) {
                    (Some(a), Some(b)) if a.size() == b.size() && a != Scalar::Bool && b != Scalar::Bool => {
                        result
                    }
                    _ => return wrong("V014", format!("the bits of {x} are not those of {result}")),
                }
            }
            OpKind::Extract(index) => {
                let [x] = self.operands(data)?;
                member(0, x, index)?
            }
            OpKind::Insert(index) => {
                let [x, v] = self.operands(data)?;
                same(1, v, member(0, x, index)?)?;
                x
            }
            OpKind::ExtractDyn => {
                let [x, i] = self.operands(data)?;
                let scalar = composite(0, x)?;
                same(1, i, Type::I32)?;
                scalar
            }
            OpKind::InsertDyn => {
                let [x, v, i] = self.operands(data)?;
                same(1, v, composite(0, x)?)?;
                same(2, i, Type::I32)?;
                x
            }
            OpKind::Field(index) => {
                let [r] = self.operands(data)?;
                let Some(Type::Struct(_)) = r.as_ref_target() else {
                    return wrong_operand(0, r, "a ref to a struct");
                };
                Type::reference(member(0, target(0, r)?, index)?)
            }
            OpKind::Comp => {
                let [r, i] = self.operands(data)?;
                let scalar = composite(0, target(0, r)?)?;
                same(1, i, Type::I32)?;
                Type::reference(scalar)
            }
            OpKind::Address if matches!(data.operands[..], [of] if matches!(self.function.ty(of), Type::Ref(_))) => {
                Type::U64
            }
            OpKind::GradArray | OpKind::Shape(_) | OpKind::Stride(_) | OpKind::Address => {
                let [array] = self.operands(data)?;
                let Some(parts) = array.as_array().filter(|a| !a.kind.is_fabric()) else {
                    return wrong_operand(0, array, "an array that is not in buckets");
                };
                match data.kind {
                    OpKind::Shape(dim) | OpKind::Stride(dim) => in_range(dim, parts.ndim as usize)?,
                    _ => {}
                }
                match data.kind {
                    OpKind::GradArray => array,
                    OpKind::Shape(_) => Type::I32,
                    OpKind::Stride(_) => Type::I64,
                    _ => Type::U64,
                }
            }
            OpKind::Load => {
                let [r] = self.operands(data)?;
                target(0, r)?
            }
            OpKind::Atomic(op) => {
                let [r, v] = self.operands(data)?;
                let ty = target(0, r)?;
                elementwise(0, ty, atomic_family(op))?;
                same(1, v, ty)?;
                ty
            }
            OpKind::AtomicCas => {
                let [r, compare, new] = self.operands(data)?;
                let ty = target(0, r)?;
                if ty.as_scalar().is_none_or(|s| s.size() < 4) {
                    return wrong_operand(0, r, "a ref to a scalar of 32 or 64 bits");
                }
                same(1, compare, ty)?;
                same(2, new, ty)?;
                ty
            }
            // The caller dispatched everything else.
            _ => return Ok(()),
        };
        self.results(data, &[expected])
    }

    fn construct(&self, data: &OpData, result: Type) -> Checked<()> {
        let count = data.operands.len();
        let takes = |expected: usize| {
            if count == expected {
                Ok(())
            } else {
                wrong("V012", format!("{result} is made of {expected} parts, not {count}"))
            }
        };
        match result {
            Type::Struct(s) => {
                takes(s.fields.len())?;
                for (index, field) in s.fields.iter().enumerate() {
                    same(index, self.function.ty(data.operands[index]), field.ty)?;
                }
            }
            Type::Vec { .. } | Type::Mat { .. } | Type::Quat(_) | Type::Transform(_) => {
                takes(result.component_count().map_or(0, |n| n as usize))?;
                for (index, &operand) in data.operands.iter().enumerate() {
                    same(index, self.function.ty(operand), composite(0, result)?)?;
                }
            }
            _ => return wrong("V015", format!("gives a composite, not {result}")),
        }
        Ok(())
    }

    /// The result type of `elem`.
    fn element(&self, data: &OpData) -> Checked<Type> {
        let Some((&array, indices)) = data.operands.split_first() else {
            return wrong("V012", "takes an array and indices, has 0 operands");
        };
        let array = self.function.ty(array);
        let Some(parts) = array.as_array().filter(|a| !a.kind.is_fabric()) else {
            return wrong_operand(0, array, "an array that is not in buckets");
        };
        let (count, ndim) = (indices.len(), parts.ndim as usize);
        for (position, &index) in indices.iter().enumerate() {
            is_index(position + 1, self.function.ty(index))?;
        }
        if count != ndim {
            return wrong("V012", format!("takes {ndim} indices, has {count}"));
        }
        Ok(Type::reference(parts.elem))
    }

    /// `store` and `assert`.
    fn effect(&self, data: &OpData) -> Checked<()> {
        self.no_results(data)?;
        if data.kind == OpKind::Store {
            let [r, v] = self.operands(data)?;
            same(1, v, target(0, r)?)
        } else if data.kind == OpKind::Breakpoint {
            let [] = self.operands(data)?;
            Ok(())
        } else {
            let [c] = self.operands(data)?;
            same(0, c, Type::BOOL)
        }
    }

    fn print(&self, data: &OpData, format: &str) -> Checked<()> {
        self.no_results(data)?;
        let conversions = conversions(format).map_err(|message| ("V021", message))?;
        let mut next = 0;
        for (position, &operand) in data.operands.iter().enumerate() {
            let ty = self.function.ty(operand);
            let (Some(scalar), Some(count)) = (ty.scalar(), ty.component_count()) else {
                return wrong_operand(position, ty, "made of scalars");
            };
            let end = next + count as usize;
            for conversion in conversions.get(next..end).unwrap_or_default() {
                if !conversion.prints(scalar.kind()) {
                    let message = format!("operand {} is {ty}; its conversion is for others", position + 1);
                    return wrong("V021", message);
                }
            }
            next = end;
        }
        if next != conversions.len() {
            return wrong("V021", format!("has {} conversions for {next} components", conversions.len()));
        }
        Ok(())
    }

    fn call(&self, data: &OpData) -> Checked<()> {
        let OpKind::Call(id) = data.kind else { return Ok(()) };
        let callee = self.module.function(id);
        if id.index() >= self.index {
            return wrong("V020", "the callee does not come before its caller");
        }
        if callee.kind == FunctionKind::Kernel {
            return wrong("V020", "the callee is a kernel");
        }
        if data.operands.len() != callee.params.len() {
            let message = format!("takes {} operands, has {}", callee.params.len(), data.operands.len());
            return wrong("V012", message);
        }
        for (position, (&operand, param)) in data.operands.iter().zip(&callee.params).enumerate() {
            same(position, self.function.ty(operand), param.ty)?;
        }
        self.results(data, &callee.results)
    }

    fn structured(&self, data: &OpData) -> Checked<()> {
        let params = |block: usize| self.types_of(&self.function.block(data.blocks[block]).params);
        let passes = |block: usize, expected: &[Type]| {
            let found = params(block);
            if found == expected {
                return Ok(());
            }
            wrong("V018", format!("block {} takes {}, not {}", block + 1, list(&found), list(expected)))
        };
        if data.kind == OpKind::If {
            let [c] = self.operands(data)?;
            same(0, c, Type::BOOL)?;
            passes(0, &[])?;
            return passes(1, &[]);
        }
        let operands = self.types_of(&data.operands);
        if data.kind == OpKind::While {
            passes(0, &operands)?;
            passes(1, &operands)?;
            return self.results(data, &operands);
        }
        let [lo, hi, step, ..] = operands[..] else {
            return wrong("V012", format!("takes 3 or more operands, has {}", operands.len()));
        };
        if lo != Type::I32 && lo != Type::I64 {
            return wrong_operand(0, lo, "i32 or i64");
        }
        same(1, hi, lo)?;
        same(2, step, lo)?;
        // The index stands where the step does.
        passes(0, &operands[2..])?;
        self.results(data, &operands[3..])
    }
}

fn is_nan(constant: crate::Constant) -> bool {
    matches!(constant, crate::Constant::Float(f) if f.is_nan())
}

fn list(types: &[Type]) -> String {
    format!("({})", types.iter().map(Type::to_string).collect::<Vec<_>>().join(", "))
}

fn in_range(index: u32, count: usize) -> Checked<()> {
    if (index as usize) < count { Ok(()) } else { wrong("V016", format!("index {index} of {count}")) }
}

fn is_index(position: usize, ty: Type) -> Checked<()> {
    if ty == Type::I32 || ty == Type::I64 { Ok(()) } else { wrong_operand(position, ty, "i32 or i64") }
}

/// The extents of a `local` fit its type and are not too large.
fn local(extents: &[u32], result: Type) -> Checked<()> {
    let Some(parts) = result.as_array().filter(|a| a.kind == ArrayKind::Strided) else {
        return wrong("V015", format!("gives a strided array, not {result}"));
    };
    if extents.len() != parts.ndim as usize {
        return wrong("V016", format!("has {} extents, not {}", extents.len(), parts.ndim));
    }
    if extents.contains(&0) {
        return wrong("V016", "an extent is zero");
    }
    let size = extents.iter().fold(u64::from(parts.elem.size()), |n, &e| n.saturating_mul(e.into()));
    if size > MAX_LOCAL_SIZE {
        return wrong("V016", format!("takes {size} bytes, more than {MAX_LOCAL_SIZE}"));
    }
    Ok(())
}

fn same(position: usize, ty: Type, expected: Type) -> Checked<()> {
    if ty == expected { Ok(()) } else { wrong_operand(position, ty, &expected.to_string()) }
}

/// The type has components, or is a scalar, of the family.
fn elementwise(position: usize, ty: Type, family: Family) -> Checked<()> {
    match ty.scalar() {
        Some(scalar) if family.holds(scalar) => Ok(()),
        _ => wrong_operand(position, ty, family.text()),
    }
}

/// The scalar type of a vector, matrix, quaternion or transform.
fn composite(position: usize, ty: Type) -> Checked<Type> {
    match ty.scalar() {
        Some(scalar) if ty.as_scalar().is_none() => Ok(Type::Scalar(scalar)),
        _ => wrong_operand(position, ty, "a vector, matrix, quaternion or transform"),
    }
}

/// The type of a component or field.
fn member(position: usize, ty: Type, index: u32) -> Checked<Type> {
    if let Some(s) = ty.fields() {
        in_range(index, s.fields.len())?;
        return Ok(s.fields[index as usize].ty);
    }
    let scalar = composite(position, ty)?;
    in_range(index, ty.component_count().map_or(0, |n| n as usize))?;
    Ok(scalar)
}

fn target(position: usize, ty: Type) -> Checked<Type> {
    match ty.as_ref_target() {
        Some(target) => Ok(target),
        None => wrong_operand(position, ty, "a ref"),
    }
}
