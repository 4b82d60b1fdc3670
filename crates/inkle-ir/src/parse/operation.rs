//! Reads operations.

use std::borrow::Cow;

use inkle_diag::Span;
use smallvec::SmallVec;

use super::lexer::Token;
use super::{Call, Callee, Fail, Label, Open, Parsed, Reader};
use crate::ir::{Block, Function, FunctionId, Op, Value};
use crate::op::{AtomicOp, BinaryOp, CmpOp, Constant, OpKind, UnaryOp};
use crate::types::{Scalar, Type};

type Labels<'t> = SmallVec<[Label<'t>; 4]>;

/// What stands among the operands and is not a value.
#[derive(Default)]
struct Attributes<'t> {
    /// A number or one of the words for literals, and its place.
    literal: Option<(&'t str, usize)>,
    /// Further numbers.
    more: SmallVec<[(&'t str, usize); 4]>,
    text: Option<String>,
}

impl<'t> Reader<'t> {
    /// One operation, appended to `block`. If it owns a block, that is open then.
    pub(super) fn operation(
        &mut self,
        function: &mut Function,
        block: Block,
        position: usize,
    ) -> Parsed<Option<Open>> {
        let results = self.result_labels()?;
        let Token::Word(keyword) = self.token else { return self.expected("an operation or `}`") };
        let at = self.at;
        self.advance()?;
        match keyword {
            "if" | "for" | "while" => self.structured(function, block, keyword, results).map(Some),
            "call" => {
                self.call(function, block, position, results)?;
                Ok(None)
            }
            _ => {
                self.simple(function, block, (keyword, at), results)?;
                Ok(None)
            }
        }
    }

    /// `%a, %b =`, or nothing.
    fn result_labels(&mut self) -> Parsed<Labels<'t>> {
        let mut labels = Labels::new();
        if let Token::Value(_) = self.token {
            labels.push(self.label()?);
            while self.accept(",")? {
                labels.push(self.label()?);
            }
            self.expect("=")?;
        }
        Ok(labels)
    }

    /// `: T, ...`, if anything is defined.
    fn result_types(&mut self, results: &Labels<'t>) -> Parsed<SmallVec<[Type; 2]>> {
        let mut types = SmallVec::new();
        if self.token == Token::Punct(":") || !results.is_empty() {
            self.expect(":")?;
            types.push(self.ty()?);
            while self.accept(",")? {
                types.push(self.ty()?);
            }
        }
        Ok(types)
    }

    /// Makes the operation; operands that are not defined yet are filled in at the function's end.
    fn append(
        &mut self,
        function: &mut Function,
        block: Block,
        kind: OpKind,
        operands: &[Label<'t>],
        results: Labels<'t>,
        types: SmallVec<[Type; 2]>,
    ) -> Parsed<Op> {
        if results.len() != types.len() {
            return self.fail(format!(
                "the operation gives {} values but {} types",
                results.len(),
                types.len()
            ));
        }
        let mut unknown: SmallVec<[usize; 4]> = SmallVec::new();
        let values: SmallVec<[Value; 4]> = operands
            .iter()
            .enumerate()
            .map(|(index, (name, _))| {
                self.values.get(name).copied().unwrap_or_else(|| {
                    unknown.push(index);
                    Value::new(0)
                })
            })
            .collect();
        let op = function.add_op(block, kind, values, types, [], Span::NONE);
        self.pending
            .extend(unknown.into_iter().map(|index| (op, index, operands[index].0, operands[index].1)));
        for (index, label) in results.into_iter().enumerate() {
            let value = function.op(op).results[index];
            self.define(label, value)?;
        }
        Ok(op)
    }

    fn simple(
        &mut self,
        function: &mut Function,
        block: Block,
        (keyword, at): (&'t str, usize),
        results: Labels<'t>,
    ) -> Parsed<()> {
        let (operands, mut attributes) = self.operands()?;
        let types = self.result_types(&results)?;
        let kind = self.kind(keyword, at, &mut attributes, types.first().copied())?;
        if let Some((literal, at)) = attributes.literal.or(attributes.more.first().copied()) {
            return Err(Fail { at, message: format!("`{keyword}` takes values only, not `{literal}`") });
        }
        if attributes.text.is_some() {
            return Err(Fail { at, message: format!("`{keyword}` takes no string") });
        }
        self.append(function, block, kind, &operands, results, types)?;
        Ok(())
    }

    /// Values, literals, of which only numbers may be several, and at most one string, separated by commas.
    fn operands(&mut self) -> Parsed<(Labels<'t>, Attributes<'t>)> {
        let mut operands = Labels::new();
        let mut attributes = Attributes::default();
        let mut first = true;
        loop {
            match &self.token {
                Token::Value(_) => {
                    // Without a comma between, `%a =` or `%a, %b =` starts the next operation.
                    if first && self.starts_definition() {
                        break;
                    }
                    operands.push(self.label()?);
                }
                &Token::Number(text) => {
                    match attributes.literal {
                        None => attributes.literal = Some((text, self.at)),
                        Some(_) => attributes.more.push((text, self.at)),
                    }
                    self.advance()?;
                }
                &Token::Word(text @ ("true" | "false" | "inf" | "nan")) if attributes.literal.is_none() => {
                    attributes.literal = Some((text, self.at));
                    self.advance()?;
                }
                Token::String(text) if attributes.text.is_none() => {
                    attributes.text = Some(text.clone());
                    self.advance()?;
                }
                _ if first => break,
                _ => return self.expected("an operand"),
            }
            first = false;
            if !self.accept(",")? {
                break;
            }
        }
        Ok((operands, attributes))
    }

    /// Whether the values that follow are the results of an operation: `return` and `yield` without operands
    /// may be followed by one in broken modules.
    fn starts_definition(&self) -> bool {
        let mut ahead = self.lexer.clone();
        loop {
            match ahead.next() {
                Ok((_, Token::Punct("="))) => return true,
                Ok((_, Token::Punct(","))) => {}
                _ => return false,
            }
            if !matches!(ahead.next(), Ok((_, Token::Value(_)))) {
                return false;
            }
        }
    }

    fn kind(
        &mut self,
        keyword: &str,
        at: usize,
        attributes: &mut Attributes<'t>,
        result: Option<Type>,
    ) -> Parsed<OpKind> {
        if let Some(op) = BinaryOp::from_keyword(keyword) {
            return Ok(OpKind::Binary(op));
        }
        if let Some(op) = UnaryOp::from_keyword(keyword) {
            return Ok(OpKind::Unary(op));
        }
        if let Some(op) = CmpOp::from_keyword(keyword) {
            return Ok(OpKind::Cmp(op));
        }
        if let Some(op) = AtomicOp::from_keyword(keyword) {
            return Ok(OpKind::Atomic(op));
        }
        let missing = |what: &str| Err(Fail { at, message: format!("`{keyword}` needs {what}") });
        let make_indexed: fn(u32) -> OpKind = match keyword {
            "const" => {
                let Some((text, at)) = attributes.literal.take() else { return missing("a literal") };
                let scalar = result.and_then(Type::as_scalar);
                return match constant(text, scalar) {
                    Some(constant) => Ok(OpKind::Const(constant)),
                    None => Err(Fail { at, message: format!("`{text}` is not a literal") }),
                };
            }
            "print" | "assert" => {
                let Some(text) = attributes.text.take() else { return missing("a string") };
                return Ok(if keyword == "print" { OpKind::Print(text) } else { OpKind::Assert(text) });
            }
            "local" => {
                let numbers = attributes.literal.take().into_iter().chain(attributes.more.drain(..));
                let extents = numbers.map(|(text, at)| {
                    text.parse().map_err(|_| Fail { at, message: format!("`{text}` is not an extent") })
                });
                return Ok(OpKind::Local(extents.collect::<Parsed<_>>()?));
            }
            "extract" => OpKind::Extract,
            "insert" => OpKind::Insert,
            "field" => OpKind::Field,
            "shape" => OpKind::Shape,
            "stride" => OpKind::Stride,
            "tid" => OpKind::Tid,
            "launch_dim" => OpKind::LaunchDim,
            "view" => OpKind::View,
            "window" => OpKind::Window,
            "block_dim" => return Ok(OpKind::BlockDim),
            "breakpoint" => return Ok(OpKind::Breakpoint),
            "zero" => return Ok(OpKind::Zero),
            "select" => return Ok(OpKind::Select),
            "cast" => return Ok(OpKind::Cast),
            "bitcast" => return Ok(OpKind::Bitcast),
            "construct" => return Ok(OpKind::Construct),
            "extract_dyn" => return Ok(OpKind::ExtractDyn),
            "insert_dyn" => return Ok(OpKind::InsertDyn),
            "elem" => return Ok(OpKind::Elem),
            "array_at" => return Ok(OpKind::ArrayAt),
            "comp" => return Ok(OpKind::Comp),
            "grad_array" => return Ok(OpKind::GradArray),
            "address" => return Ok(OpKind::Address),
            "load" => return Ok(OpKind::Load),
            "store" => return Ok(OpKind::Store),
            "atomic_cas" => return Ok(OpKind::AtomicCas),
            "yield" => return Ok(OpKind::Yield),
            "return" => return Ok(OpKind::Return),
            _ => return Err(Fail { at, message: format!("no operation is called `{keyword}`") }),
        };
        let Some((text, at)) = attributes.literal.take() else { return missing("an index") };
        match text.parse() {
            Ok(index) => Ok(make_indexed(index)),
            Err(_) => Err(Fail { at, message: format!("`{text}` is not an index") }),
        }
    }

    fn call(
        &mut self,
        function: &mut Function,
        block: Block,
        position: usize,
        results: Labels<'t>,
    ) -> Parsed<()> {
        let at = self.at;
        let (name, kind) = match self.advance()? {
            Token::Global(name) => (Some(name), OpKind::Call(FunctionId::new(0))),
            Token::GlobalIndex(index) => (None, OpKind::Call(FunctionId::new(index as usize))),
            _ => return Err(Fail { at, message: "`call` needs the callee's `@name`".to_owned() }),
        };
        self.expect("(")?;
        let mut operands = Labels::new();
        while self.token != Token::Punct(")") {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.label()?);
        }
        self.expect(")")?;
        let types = self.result_types(&results)?;
        let op = self.append(function, block, kind, &operands, results, types)?;
        self.calls.extend(name.map(|name: Cow<'t, str>| Call {
            function: position,
            what: Callee::Call(op),
            name,
            at,
        }));
        Ok(())
    }

    /// The head of an operation with blocks, up to its first brace.
    fn structured(
        &mut self,
        function: &mut Function,
        block: Block,
        keyword: &str,
        results: Labels<'t>,
    ) -> Parsed<Open> {
        let mut operands = Labels::new();
        let mut params: Vec<(Label<'t>, Type)> = Vec::new();
        let kind = match keyword {
            "if" => {
                while let Token::Value(_) = self.token {
                    operands.push(self.label()?);
                    if !self.accept(",")? {
                        break;
                    }
                }
                OpKind::If
            }
            "for" => {
                params.extend(self.optional_param()?);
                self.expect("=")?;
                for index in 0..3 {
                    if index > 0 {
                        self.expect(",")?;
                    }
                    operands.extend(self.optional_operand()?);
                }
                OpKind::For
            }
            _ => OpKind::While,
        };
        if kind != OpKind::If && self.accept_word("carry")? {
            self.expect("(")?;
            loop {
                params.extend(self.optional_param()?);
                self.expect("=")?;
                operands.extend(self.optional_operand()?);
                if !self.accept(",")? {
                    break;
                }
            }
            self.expect(")")?;
        }
        let types = self.arrow()?;
        let op = self.append(function, block, kind, &operands, results, types)?;
        let first = function.add_block();
        function.op_mut(op).blocks.push(first);
        if self.accept_word("then")? && self.accept("(")? {
            loop {
                let label = self.label()?;
                self.expect(":")?;
                params.push((label, self.ty()?));
                if !self.accept(",")? {
                    break;
                }
            }
            self.expect(")")?;
        }
        for (label, ty) in params {
            let value = function.add_block_param(first, ty);
            self.define(label, value)?;
        }
        self.expect("{")?;
        Ok(Open { owner: Some(op), number: 0, block: first })
    }

    /// `%a: T`, or `_`.
    fn optional_param(&mut self) -> Parsed<Option<(Label<'t>, Type)>> {
        if self.accept_word("_")? {
            return Ok(None);
        }
        let label = self.label()?;
        self.expect(":")?;
        Ok(Some((label, self.ty()?)))
    }

    /// `%a`, or `_`.
    fn optional_operand(&mut self) -> Parsed<Option<Label<'t>>> {
        if self.accept_word("_")? { Ok(None) } else { self.label().map(Some) }
    }
}

/// The constant a literal stands for in a type.
fn constant(text: &str, scalar: Option<Scalar>) -> Option<Constant> {
    if let Some(hex) = text.strip_prefix("0x") {
        let bits = (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok())??;
        return Some(Constant::Float(f64::from_bits(bits)));
    }
    Some(match text {
        "true" => Constant::Bool(true),
        "false" => Constant::Bool(false),
        "inf" => Constant::Float(f64::INFINITY),
        "-inf" => Constant::Float(f64::NEG_INFINITY),
        "nan" => Constant::Float(f64::NAN),
        _ if text.contains(['.', 'e', 'E']) => match scalar {
            // Read in the type itself: rounding to f64 first could round twice.
            Some(Scalar::F32) => Constant::Float(f64::from(text.parse::<f32>().ok()?)),
            Some(narrow @ (Scalar::F16 | Scalar::BF16)) => {
                Constant::Float(text.parse::<f64>().ok()?).convert(narrow)
            }
            _ => Constant::Float(text.parse().ok()?),
        },
        _ => Constant::Int(text.parse().ok()?),
    })
}
