//! Writes the text form; this is its reference.
//!
//! # The text form
//!
//! A module is struct declarations, then functions in order, the kernel last. White space and line breaks only
//! separate; `;` starts a comment that runs to the end of the line.
//!
//! ```text
//! struct Particle { pos: vec<3, f32>, mass: f32 }
//!
//! func @square(%0 x: f32) -> (f32) {
//!   %1 = mul %0, %0 : f32
//!   return %1
//! }
//!
//! native @twice(%0 x: f32) -> (f32) "return 2.0f * x;"
//!
//! kernel @weigh(%0 ps: array<struct Particle, 1>, %1 n: i32) {
//!   %2 = tid 0 : i32
//!   %3 = elem %0, %2 : ref<struct Particle>
//!   %4 = field %3, 1 : ref<f32>
//!   %5 = load %4 : f32
//!   %6 = call @square(%5) : f32
//!   store %4, %6
//!   return
//! }
//! ```
//!
//! **Names.** Values are `%` and letters, digits, `_` or `.`; each is defined once in its function. The printer
//! numbers them in the order in which they appear, so printing does not depend on how the function was built.
//! Functions are `@name`; a name with characters other than letters, digits, `_`, `.` and `$` is quoted,
//! `@"a b"`; `@#2` is the module's third function, written where a name would not find it. A parameter is
//! `%0 name: T`; without a name it is called as its value is. Names of parameters, fields and structs are
//! quoted where they are not plain. After the results of a function, `gradient @g`, `replay @r` and `derivative @f`
//! name its [`Links`](crate::Links).
//!
//! A native function is its signature, its links and its C++ text.
//!
//! **Types.** `bool`, `i8` ... `f64`, `vec<3, f32>`, `mat<2x3, f32>`, `quat<f32>`, `transform<f32>`, `struct S`,
//! `array<T, 2>`, `indexedarray<T, 1>`, `ref<T>`. A struct is declared once, before its use.
//!
//! **Operations.** `results = keyword operands : result types`, as listed in [`OpKind`]; without results there
//! is neither `=` nor `:`. Operands are values and, where the operation asks for them, an index, extents, a
//! literal, a string or a function.
//!
//! **Literals.** Of bools `true` and `false`; integers are decimal; floats have a point or an exponent and are
//! the shortest decimal that gives the value in the constant's type, or `inf`, `-inf`, `nan` (all NaNs are one),
//! or `0x` and the 16 digits of the bits of an f64 for a constant that its type cannot hold. Strings are in
//! `"` with the escapes `\"`, `\\`, `\n`, `\r`, `\t` and `\u{1b}`.
//!
//! **Blocks.** The operations that own blocks name the blocks' parameters with what they start from:
//!
//! ```text
//! %5 = if %4 -> (f32) {
//!   yield %1
//! } else {
//!   yield %2
//! }
//! %6, %7 = for %8: i32 = %lo, %hi, %step carry(%9: f32 = %1, %10: i32 = %2) -> (f32, i32) {
//!   yield %9, %8
//! }
//! %11 = while carry(%12: i32 = %3) -> (i32) {
//!   %13 = lt %12, %3 : bool
//!   yield %13
//! } do(%14: i32) {
//!   yield %14
//! }
//! ```
//!
//! Broken modules have a text too, so that the verifier's tests can be written in it: `_` stands for a missing
//! operand or parameter in `for` and `carry`, `then(%1: T)` and `else(%1: T)` give parameters to blocks that
//! should have none, and `block(...)` is a block that the operation does not know.
//!
//! Source spans are not part of the text form.

use std::collections::HashSet;
use std::fmt::{self, Write};

use crate::ir::{Block, Function, FunctionId, FunctionKind, Module, Op, OpData, Value};
use crate::op::{Constant, OpKind};
use crate::types::{Scalar, StructType, Type};

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut structs = Structs::default();
        let callees = Callees::new(self);
        let mut text = String::with_capacity(self.functions.iter().map(|f| f.op_count() * 32 + 64).sum());
        for (index, function) in self.functions.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            Printer::new(Some(&callees), function, &mut structs).function(&mut text, |_, _| ())?;
        }
        for declared in &structs.order {
            let mut separator = " ";
            f.write_str("struct ")?;
            write_name(f, &declared.name)?;
            f.write_str(" {")?;
            for field in &declared.fields {
                f.write_str(separator)?;
                separator = ", ";
                write_name(f, &field.name)?;
                f.write_str(": ")?;
                write_type(f, field.ty)?;
            }
            f.write_str(" }\n")?;
        }
        if !structs.order.is_empty() {
            f.write_str("\n")?;
        }
        f.write_str(&text)
    }
}

/// The function alone: calls are to `@#index`, and structs are not declared.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Printer::new(None, self, &mut Structs::default()).function(f, |_, _| ())
    }
}

/// The first lines of the operations for which `wanted` holds, numbered as the whole module's text is.
pub(crate) fn op_texts(module: &Module, function: &Function, wanted: &HashSet<Op>) -> Vec<(Op, String)> {
    let mut texts = Vec::new();
    let callees = Callees::new(module);
    // There is nothing that could fail to be written.
    let _ =
        Printer::new(Some(&callees), function, &mut Structs::default()).function(&mut Nowhere, |op, text| {
            if wanted.contains(&op) {
                texts.push((op, text.to_owned()));
            }
        });
    texts
}

struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

/// The structs met so far, each after the structs it holds.
#[derive(Default)]
struct Structs {
    order: Vec<&'static StructType>,
    seen: HashSet<*const StructType>,
}

impl Structs {
    fn visit(&mut self, ty: Type) {
        match ty {
            Type::Array(a) => self.visit(a.elem),
            Type::Ref(t) => self.visit(*t),
            Type::Struct(s) if self.seen.insert(std::ptr::from_ref(s)) => {
                for field in &s.fields {
                    self.visit(field.ty);
                }
                self.order.push(s);
            }
            _ => {}
        }
    }
}

/// How calls name the functions of a module.
struct Callees<'a> {
    /// The name, unless an earlier function has it: a name finds the first.
    names: Vec<Option<&'a str>>,
}

impl<'a> Callees<'a> {
    fn new(module: &'a Module) -> Callees<'a> {
        let mut seen: HashSet<&str> = HashSet::new();
        let name = |f: &'a Function| seen.insert(&f.name).then_some(f.name.as_str());
        Callees { names: module.functions.iter().map(name).collect() }
    }
}

struct Printer<'a> {
    callees: Option<&'a Callees<'a>>,
    function: &'a Function,
    structs: &'a mut Structs,
    /// The number of each value of the arena; `u32::MAX` until it is met.
    numbers: Vec<u32>,
    next: u32,
    /// A block is printed once, so a block that owns itself does not print for ever.
    printed: Vec<bool>,
    /// The first line of the current operation.
    line: String,
}

struct Frame {
    /// The operation that owns the blocks; none for the body.
    owner: Option<Op>,
    /// Which of the owner's blocks this is.
    number: usize,
    block: Block,
    next: usize,
}

impl<'a> Printer<'a> {
    fn new(callees: Option<&'a Callees>, function: &'a Function, structs: &'a mut Structs) -> Printer<'a> {
        Printer {
            callees,
            function,
            structs,
            numbers: vec![u32::MAX; function.value_count()],
            next: 0,
            printed: vec![false; function.block_count()],
            line: String::new(),
        }
    }

    /// Prints the function and hands the first line of each operation to `each`.
    fn function(mut self, out: &mut impl Write, mut each: impl FnMut(Op, &str)) -> fmt::Result {
        let function = self.function;
        self.signature(out)?;
        if let Some(text) = function.native() {
            out.write_str(" ")?;
            write_string(out, text)?;
            return out.write_str("\n");
        }
        out.write_str(" {\n")?;
        let mut stack = vec![Frame { owner: None, number: 0, block: function.body, next: 0 }];
        self.printed[function.body.index()] = true;
        while let Some(frame) = stack.last_mut() {
            if let Some(&op) = function.block(frame.block).ops.get(frame.next) {
                frame.next += 1;
                let level = stack.len();
                indent(out, level)?;
                let mut line = std::mem::take(&mut self.line);
                line.clear();
                self.head(&mut line, op)?;
                each(op, &line);
                out.write_str(&line)?;
                self.line = line;
                match self.enter(op, 0) {
                    Some(block) => {
                        self.open(out, op, 0)?;
                        stack.push(Frame { owner: Some(op), number: 0, block, next: 0 });
                    }
                    None => out.write_str("\n")?,
                }
            } else {
                let (owner, number) = (frame.owner, frame.number + 1);
                indent(out, stack.len() - 1)?;
                out.write_str("}")?;
                stack.pop();
                if let Some(op) = owner
                    && let Some(block) = self.enter(op, number)
                {
                    self.open(out, op, number)?;
                    stack.push(Frame { owner: Some(op), number, block, next: 0 });
                } else {
                    out.write_str("\n")?;
                }
            }
        }
        Ok(())
    }

    /// The `number`-th block of `op`, if it exists and was not printed yet.
    fn enter(&mut self, op: Op, number: usize) -> Option<Block> {
        let block = *self.function.op(op).blocks.get(number)?;
        let printed = self.printed.get_mut(block.index())?;
        (!std::mem::replace(printed, true)).then_some(block)
    }

    fn signature(&mut self, out: &mut impl Write) -> fmt::Result {
        let function = self.function;
        out.write_str(match function.kind {
            FunctionKind::Native(_) => "native @",
            FunctionKind::Kernel => "kernel @",
            FunctionKind::Func => "func @",
        })?;
        write_function_name(out, &function.name)?;
        out.write_str("(")?;
        for (index, &value) in function.block(function.body).params.iter().enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            self.value(out, value)?;
            if let Some(param) = function.params.get(index) {
                out.write_str(" ")?;
                write_name(out, &param.name)?;
            }
            out.write_str(": ")?;
            self.ty_of(out, value)?;
        }
        out.write_str(")")?;
        self.arrow(out, &function.results)?;
        let links = function.links;
        for (keyword, id) in
            [("gradient", links.gradient), ("replay", links.replay), ("derivative", links.derivative_of)]
        {
            if let Some(id) = id {
                write!(out, " {keyword} @")?;
                self.callee(out, id)?;
            }
        }
        Ok(())
    }

    fn arrow(&mut self, out: &mut impl Write, types: &[Type]) -> fmt::Result {
        for (index, &ty) in types.iter().enumerate() {
            out.write_str(if index == 0 { " -> (" } else { ", " })?;
            self.ty(out, ty)?;
        }
        if types.is_empty() { Ok(()) } else { out.write_str(")") }
    }

    /// The operation up to its first block's brace.
    fn head(&mut self, out: &mut String, op: Op) -> fmt::Result {
        let data = self.function.op(op);
        for (index, &result) in data.results.iter().enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            self.value(out, result)?;
        }
        if !data.results.is_empty() {
            out.write_str(" = ")?;
        }
        out.write_str(data.kind.keyword())?;
        match &data.kind {
            OpKind::For => self.for_head(out, data)?,
            OpKind::While => self.carried(out, data, 0, 0)?,
            OpKind::Call(callee) => {
                out.write_str(" @")?;
                self.callee(out, *callee)?;
                out.write_str("(")?;
                self.values(out, &data.operands, "")?;
                out.write_str(")")?;
            }
            OpKind::Const(constant) => {
                self.values(out, &data.operands, " ")?;
                out.write_str(if data.operands.is_empty() { " " } else { ", " })?;
                let scalar = data.results.first().and_then(|&r| self.scalar_of(r));
                write_constant(out, *constant, scalar)?;
            }
            OpKind::Print(format) => {
                out.write_str(" ")?;
                write_string(out, format)?;
                self.values(out, &data.operands, ", ")?;
            }
            OpKind::Assert(message) => {
                self.values(out, &data.operands, " ")?;
                out.write_str(if data.operands.is_empty() { " " } else { ", " })?;
                write_string(out, message)?;
            }
            OpKind::Local(extents) => {
                for (index, extent) in extents.iter().enumerate() {
                    write!(out, "{}{extent}", if index == 0 { " " } else { ", " })?;
                }
                self.values(out, &data.operands, ", ")?;
            }
            OpKind::Extract(index)
            | OpKind::Insert(index)
            | OpKind::View(index)
            | OpKind::Window(index)
            | OpKind::Field(index)
            | OpKind::Shape(index)
            | OpKind::Stride(index)
            | OpKind::Tid(index)
            | OpKind::LaunchDim(index) => {
                self.values(out, &data.operands, " ")?;
                out.write_str(if data.operands.is_empty() { " " } else { ", " })?;
                write!(out, "{index}")?;
            }
            _ => self.values(out, &data.operands, " ")?,
        }
        if data.kind.block_count() > 0 {
            for (index, &result) in data.results.iter().enumerate() {
                out.write_str(if index == 0 { " -> (" } else { ", " })?;
                self.ty_of(out, result)?;
            }
            if !data.results.is_empty() {
                out.write_str(")")?;
            }
        } else {
            for (index, &result) in data.results.iter().enumerate() {
                out.write_str(if index == 0 { " : " } else { ", " })?;
                self.ty_of(out, result)?;
            }
        }
        Ok(())
    }

    fn for_head(&mut self, out: &mut String, data: &OpData) -> fmt::Result {
        out.write_str(" ")?;
        let index = self.block_param(data, 0);
        self.param(out, index)?;
        out.write_str(" = ")?;
        for position in 0..3 {
            if position > 0 {
                out.write_str(", ")?;
            }
            self.operand(out, data.operands.get(position).copied())?;
        }
        self.carried(out, data, 1, 3)
    }

    /// `carry(...)`: the first block's parameters from `param` on, with the operands from `operand` on.
    fn carried(&mut self, out: &mut String, data: &OpData, param: usize, operand: usize) -> fmt::Result {
        let params = data.blocks.first().map_or(0, |&b| self.params_of(b).len()).saturating_sub(param);
        let count = params.max(data.operands.len().saturating_sub(operand));
        for index in 0..count {
            out.write_str(if index == 0 { " carry(" } else { ", " })?;
            let value = self.block_param(data, param + index);
            self.param(out, value)?;
            out.write_str(" = ")?;
            self.operand(out, data.operands.get(operand + index).copied())?;
        }
        if count > 0 { out.write_str(")") } else { Ok(()) }
    }

    /// What stands between the operation, or the block before, and the block's operations.
    fn open(&mut self, out: &mut impl Write, op: Op, number: usize) -> fmt::Result {
        let data = self.function.op(op);
        let params = self.params_of(data.blocks[number]);
        let (label, params) = match (&data.kind, number) {
            (OpKind::For | OpKind::While, 0) => ("", &[][..]),
            (OpKind::If, 0) if params.is_empty() => ("", params),
            (OpKind::If, 0) => ("then", params),
            (OpKind::If, 1) => ("else", params),
            (OpKind::While, 1) => ("do", params),
            _ => ("block", params),
        };
        if !label.is_empty() {
            out.write_str(" ")?;
            out.write_str(label)?;
        }
        for (index, &value) in params.iter().enumerate() {
            out.write_str(if index == 0 { "(" } else { ", " })?;
            self.param(out, Some(value))?;
        }
        out.write_str(if params.is_empty() { " {\n" } else { ") {\n" })
    }

    fn params_of(&self, block: Block) -> &'a [Value] {
        if block.index() < self.function.block_count() { &self.function.block(block).params } else { &[] }
    }

    fn block_param(&self, data: &OpData, index: usize) -> Option<Value> {
        self.params_of(*data.blocks.first()?).get(index).copied()
    }

    fn param(&mut self, out: &mut impl Write, value: Option<Value>) -> fmt::Result {
        let Some(value) = value else { return out.write_str("_") };
        self.value(out, value)?;
        out.write_str(": ")?;
        self.ty_of(out, value)
    }

    fn operand(&mut self, out: &mut impl Write, value: Option<Value>) -> fmt::Result {
        match value {
            Some(value) => self.value(out, value),
            None => out.write_str("_"),
        }
    }

    fn values(&mut self, out: &mut impl Write, values: &[Value], before: &str) -> fmt::Result {
        let mut separator = before;
        for &value in values {
            out.write_str(separator)?;
            separator = ", ";
            self.value(out, value)?;
        }
        Ok(())
    }

    fn value(&mut self, out: &mut impl Write, value: Value) -> fmt::Result {
        let Some(number) = self.numbers.get_mut(value.index()) else {
            return write!(out, "%invalid{}", value.index());
        };
        if *number == u32::MAX {
            *number = self.next;
            self.next += 1;
        }
        write!(out, "%{number}")
    }

    fn scalar_of(&self, value: Value) -> Option<Scalar> {
        if value.index() < self.numbers.len() { self.function.ty(value).as_scalar() } else { None }
    }

    fn ty_of(&mut self, out: &mut impl Write, value: Value) -> fmt::Result {
        if value.index() >= self.numbers.len() {
            return out.write_str("invalid");
        }
        self.ty(out, self.function.ty(value))
    }

    fn ty(&mut self, out: &mut impl Write, ty: Type) -> fmt::Result {
        self.structs.visit(ty);
        write_type(out, ty)
    }

    fn callee(&self, out: &mut impl Write, callee: FunctionId) -> fmt::Result {
        let name = self.callees.and_then(|callees| *callees.names.get(callee.index())?);
        match name {
            Some(name) => write_function_name(out, name),
            None => write!(out, "#{}", callee.index()),
        }
    }
}

/// Deeper levels are not told apart: indenting them all would make the text grow with the square of the depth.
const MAX_INDENT: usize = 64;

fn indent(out: &mut impl Write, level: usize) -> fmt::Result {
    for _ in 0..level.min(MAX_INDENT) {
        out.write_str("  ")?;
    }
    Ok(())
}

/// As `Type`'s own `Display`, with struct names quoted where needed.
fn write_type(out: &mut impl Write, ty: Type) -> fmt::Result {
    match ty {
        Type::Scalar(s) => out.write_str(s.name()),
        Type::Struct(s) => {
            out.write_str("struct ")?;
            write_name(out, &s.name)
        }
        Type::Array(a) => {
            write!(out, "{}<", a.kind.name())?;
            write_type(out, a.elem)?;
            write!(out, ", {}>", a.ndim)
        }
        Type::Ref(t) => {
            out.write_str("ref<")?;
            write_type(out, *t)?;
            out.write_str(">")
        }
        other => write!(out, "{other}"),
    }
}

/// Whether a name of a parameter, field or struct needs no quotes.
pub(crate) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name != "_"
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn write_name(out: &mut impl Write, name: &str) -> fmt::Result {
    if is_plain_name(name) { out.write_str(name) } else { write_string(out, name) }
}

/// Whether a byte may stand in a function's name without quotes.
pub(crate) fn is_function_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$')
}

fn write_function_name(out: &mut impl Write, name: &str) -> fmt::Result {
    let plain = !name.is_empty() && name.bytes().all(is_function_name_byte);
    if plain { out.write_str(name) } else { write_string(out, name) }
}

fn write_string(out: &mut impl Write, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if (c as u32) < 0x20 || c as u32 == 0x7f => write!(out, "\\u{{{:x}}}", c as u32)?,
            c => out.write_char(c)?,
        }
    }
    out.write_str("\"")
}

fn write_constant(out: &mut impl Write, constant: Constant, scalar: Option<Scalar>) -> fmt::Result {
    let float = match constant {
        Constant::Bool(b) => return write!(out, "{b}"),
        Constant::Int(i) => return write!(out, "{i}"),
        Constant::Float(f) => f,
    };
    if float.is_nan() {
        return out.write_str("nan");
    }
    if float.is_infinite() {
        return out.write_str(if float > 0.0 { "inf" } else { "-inf" });
    }
    match scalar {
        Some(narrow @ (Scalar::F16 | Scalar::BF16 | Scalar::F32)) => {
            if constant.convert(narrow) == constant {
                // Every f16 and bf16 is an f32, so its shortest decimal as f32 identifies it.
                write!(out, "{:?}", float as f32)
            } else {
                write!(out, "{:#018x}", float.to_bits())
            }
        }
        _ => write!(out, "{float:?}"),
    }
}
