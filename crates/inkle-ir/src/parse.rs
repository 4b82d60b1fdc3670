//! Reads the text form that [`print`](crate::print) documents.
//!
//! The reader accepts broken modules (wrong types, wrong counts, values out of scope) as long as the text says
//! what they are: the verifier judges. It refuses what has no meaning, and never panics.

mod lexer;
mod operation;
mod types;

use std::collections::HashMap;
use std::fmt;

use smallvec::SmallVec;

use crate::ir::{Block, Function, FunctionId, FunctionKind, Module, Op, Param, Value};
use crate::op::OpKind;
use crate::types::Type;
use lexer::{Lexer, Token};

/// How deep blocks may be nested in each other; the verifier's and the reader's limit.
pub const MAX_NESTING: usize = 512;

/// Why text is not a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

/// `line:column: message`.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Reads a module.
///
/// # Errors
/// The first thing that is not the text form, with its place.
pub fn parse(text: &str) -> Result<Module, ParseError> {
    let failed = |f: Fail| {
        let before = &text[..f.at];
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|&c| c != '\n').count() + 1,
            message: f.message,
        }
    };
    Reader::new(text).and_then(Reader::module).map_err(failed)
}

/// An error at a byte offset.
struct Fail {
    at: usize,
    message: String,
}

type Parsed<T> = Result<T, Fail>;

/// A call whose callee is known by name only until all functions are read.
struct Call<'t> {
    function: usize,
    what: Callee,
    name: std::borrow::Cow<'t, str>,
    at: usize,
}

/// What names the function.
enum Callee {
    Call(Op),
    Gradient,
    Replay,
    Derivative,
}

struct Reader<'t> {
    lexer: Lexer<'t>,
    /// The token to be read next, and where it starts.
    token: Token<'t>,
    at: usize,
    structs: HashMap<String, types::Declared>,
    calls: Vec<Call<'t>>,
    /// The values of the function being read.
    values: HashMap<&'t str, Value>,
    /// Operands that were read before their definition: operation, position, name and place.
    pending: Vec<(Op, usize, &'t str, usize)>,
}

/// A name in the text and where it stands.
type Label<'t> = (&'t str, usize);

struct Open {
    owner: Option<Op>,
    number: usize,
    block: Block,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Parsed<Reader<'t>> {
        let mut reader = Reader {
            lexer: Lexer::new(text),
            token: Token::End,
            at: 0,
            structs: HashMap::new(),
            calls: Vec::new(),
            values: HashMap::new(),
            pending: Vec::new(),
        };
        reader.advance()?;
        Ok(reader)
    }

    /// Takes the current token.
    fn advance(&mut self) -> Parsed<Token<'t>> {
        let (at, token) = self.lexer.next()?;
        self.at = at;
        Ok(std::mem::replace(&mut self.token, token))
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Fail { at: self.at, message: message.into() })
    }

    /// An error that says what would be right here.
    fn expected<T>(&self, what: &str) -> Parsed<T> {
        self.fail(format!("expected {what}, found {}", self.token))
    }

    /// Takes the token if it is this punctuation.
    fn accept(&mut self, punctuation: &'static str) -> Parsed<bool> {
        if self.token == Token::Punct(punctuation) {
            self.advance()?;
            return Ok(true);
        }
        Ok(false)
    }

    fn expect(&mut self, punctuation: &'static str) -> Parsed<()> {
        if self.accept(punctuation)? { Ok(()) } else { self.expected(&format!("`{punctuation}`")) }
    }

    fn accept_word(&mut self, word: &str) -> Parsed<bool> {
        if self.token == Token::Word(word) {
            self.advance()?;
            return Ok(true);
        }
        Ok(false)
    }

    /// A plain or quoted name.
    fn name(&mut self, what: &str) -> Parsed<String> {
        match self.token {
            Token::Word(_) | Token::String(_) => match self.advance()? {
                Token::Word(word) => Ok(word.to_owned()),
                Token::String(text) => Ok(text),
                _ => self.expected(what),
            },
            _ => self.expected(what),
        }
    }

    /// A string.
    fn text(&mut self, what: &str) -> Parsed<String> {
        match self.token {
            Token::String(_) => self.name(what),
            _ => self.expected(what),
        }
    }

    fn index(&mut self) -> Parsed<u32> {
        if let Token::Number(text) = self.token
            && let Ok(index) = text.parse()
        {
            self.advance()?;
            return Ok(index);
        }
        self.expected("an index")
    }

    fn module(mut self) -> Parsed<Module> {
        let mut module = Module::default();
        let mut names: HashMap<String, FunctionId> = HashMap::new();
        loop {
            match self.token {
                Token::Word("struct") => self.declaration()?,
                Token::Word("func" | "kernel" | "native") => {
                    let function = self.function(module.functions.len())?;
                    names.entry(function.name.clone()).or_insert(FunctionId::new(module.functions.len()));
                    module.functions.push(function);
                }
                Token::End => break,
                _ => return self.expected("`struct`, `func`, `native` or `kernel`"),
            }
        }
        for call in self.calls {
            let Some(&callee) = names.get(&*call.name) else {
                return Err(Fail { at: call.at, message: format!("no function is called `@{}`", call.name) });
            };
            let function = &mut module.functions[call.function];
            match call.what {
                Callee::Call(op) => function.op_mut(op).kind = OpKind::Call(callee),
                Callee::Gradient => function.links.gradient = Some(callee),
                Callee::Replay => function.links.replay = Some(callee),
                Callee::Derivative => function.links.derivative_of = Some(callee),
            }
        }
        Ok(module)
    }

    fn function(&mut self, position: usize) -> Parsed<Function> {
        self.values.clear();
        self.pending.clear();
        let kind = match self.advance()? {
            Token::Word("kernel") => FunctionKind::Kernel,
            Token::Word("native") => FunctionKind::Native("".into()),
            _ => FunctionKind::Func,
        };
        let name = match &self.token {
            Token::Global(name) => name.clone().into_owned(),
            _ => return self.expected("the function's `@name`"),
        };
        self.advance()?;
        self.expect("(")?;
        let mut labels = Vec::new();
        let mut params = Vec::new();
        while self.token != Token::Punct(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            let label = self.label()?;
            let name = if self.token == Token::Punct(":") {
                label.0.to_owned()
            } else {
                self.name("a name or `:`")?
            };
            self.expect(":")?;
            params.push(Param { name, ty: self.ty()? });
            labels.push(label);
        }
        self.expect(")")?;
        let results = self.arrow()?.to_vec();
        let mut function = Function::new(name, kind, params, results);
        let values = function.block(function.body).params.clone();
        for (label, value) in labels.into_iter().zip(values) {
            self.define(label, value)?;
        }
        while let Token::Word(word) = self.token {
            let what = match word {
                "gradient" => Callee::Gradient,
                "replay" => Callee::Replay,
                "derivative" => Callee::Derivative,
                _ => break,
            };
            self.advance()?;
            let at = self.at;
            let Token::Global(name) = self.advance()? else { return self.expected("a function's `@name`") };
            self.calls.push(Call { function: position, what, name, at });
        }
        if let FunctionKind::Native(text) = &mut function.kind {
            *text = self.text("the C++ text")?.into();
            return Ok(function);
        }
        self.expect("{")?;
        self.body(&mut function, position)?;
        for (op, index, name, at) in std::mem::take(&mut self.pending) {
            let Some(&value) = self.values.get(name) else {
                return Err(Fail { at, message: format!("`%{name}` is not defined in this function") });
            };
            function.op_mut(op).operands[index] = value;
        }
        Ok(function)
    }

    /// The operations up to the brace that closes the function.
    fn body(&mut self, function: &mut Function, position: usize) -> Parsed<()> {
        let mut stack = vec![Open { owner: None, number: 0, block: function.body }];
        while let Some(open) = stack.last() {
            if self.accept("}")? {
                let (owner, number) = (open.owner, open.number + 1);
                stack.pop();
                if let Some(owner) = owner {
                    stack.extend(self.following_block(function, owner, number)?);
                }
                continue;
            }
            let block = open.block;
            if stack.len() > MAX_NESTING {
                return self.fail(format!("blocks are nested more than {MAX_NESTING} deep"));
            }
            stack.extend(self.operation(function, block, position)?);
        }
        Ok(())
    }

    /// A block of `owner` after its first one, if there is one here.
    fn following_block(&mut self, function: &mut Function, owner: Op, number: usize) -> Parsed<Option<Open>> {
        let Token::Word("then" | "else" | "do" | "block") = self.token else { return Ok(None) };
        self.advance()?;
        let block = function.add_block();
        function.op_mut(owner).blocks.push(block);
        if self.accept("(")? {
            loop {
                let label = self.label()?;
                self.expect(":")?;
                let ty = self.ty()?;
                let value = function.add_block_param(block, ty);
                self.define(label, value)?;
                if !self.accept(",")? {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect("{")?;
        Ok(Some(Open { owner: Some(owner), number, block }))
    }

    /// `-> (T, ...)`, or nothing.
    fn arrow(&mut self) -> Parsed<SmallVec<[Type; 2]>> {
        let mut types = SmallVec::new();
        if self.accept("->")? {
            self.expect("(")?;
            while self.token != Token::Punct(")") {
                if !types.is_empty() {
                    self.expect(",")?;
                }
                types.push(self.ty()?);
            }
            self.expect(")")?;
        }
        Ok(types)
    }

    /// `%name`.
    fn label(&mut self) -> Parsed<Label<'t>> {
        match self.token {
            Token::Value(name) => {
                let at = self.at;
                self.advance()?;
                Ok((name, at))
            }
            _ => self.expected("a value"),
        }
    }

    fn define(&mut self, (name, at): Label<'t>, value: Value) -> Parsed<()> {
        if self.values.insert(name, value).is_some() {
            return Err(Fail { at, message: format!("`%{name}` is defined twice") });
        }
        Ok(())
    }
}
