//! Checks a module.
//!
//! The promise: for a module that passes, code generation returns code or an error and never panics. All
//! violations are collected; each names the function and the operation as the printed module shows it.
//!
//! # The rules
//!
//! Of the module:
//! - **V001** No two functions have the same name.
//! - **V002** No two structs have the same name.
//! - **V003** The last function is a kernel and no other function is.
//! - **V004** A kernel returns nothing, and none of its parameters is a `ref`.
//!
//! Of a function, its types and its arenas:
//! - **V005** The body's parameters have the types of the function's.
//! - **V006** Types are sound: vectors and matrices have 1 to 65536 components, arrays 1 to 4 dimensions; an array's
//!   element is neither array nor `ref`, a `ref`'s target is not a `ref`, a struct holds no `ref`; no value is
//!   larger than 1 GiB in memory.
//! - **V007** Every value, operation, block and function that is referred to exists; an operation is in one block,
//!   a block has one owner, a value has one definition, and knows it.
//! - **V008** Blocks are nested at most [`MAX_NESTING`] deep.
//!
//! Of blocks and scopes:
//! - **V009** The last operation of a block is its terminator, and no other operation is one: `return` in a
//!   function's body, `yield` elsewhere.
//! - **V010** An operation owns as many blocks as its kind says.
//! - **V011** An operand is defined before its use, in the same block or one around it.
//!
//! Of operations:
//! - **V012** The number of operands is the kind's.
//! - **V013** The number of results is the kind's.
//! - **V014** Operands have types that the kind takes.
//! - **V015** Results have the types that follow from kind and operands.
//! - **V016** The constant index of `extract`, `insert`, `field`, `view`, `window`, `shape`, `stride`, `tid` and
//!   `launch_dim` is in range; a `local` has one extent per dimension, none of them zero, and is not too large.
//! - **V017** A constant is a value of its type.
//! - **V018** A block's parameters have the types of what its owner passes in.
//! - **V019** `yield` gives what the owner takes: the results of an `if`, the carried values of a loop, one `bool`
//!   from the first block of a `while`; `return` gives the function's results.
//! - **V020** A callee comes before its caller and is not a kernel.
//! - **V021** A `print` has one conversion for each scalar component that it prints, of the component's family;
//!   `%s`, `%n` and `*` are not to be had.
//!
//! Of links between functions:
//! - **V022** A linked function exists, is no kernel, and has the signature that the link asks for.
//!
//! Of native functions:
//! - **V023** A native function has an empty body and at most one result, which is neither struct nor `ref`; its
//!   parameters' names are identifiers of C, each used once; none of its types holds an array of Fabric.
//!
//! # What is not checked
//! Indices that are not constants, division by zero, the step of a `for`: these are the program's business.

mod arena;
mod format;
mod operation;
mod types;

use std::collections::{HashMap, HashSet};
use std::fmt;

#[cfg(doc)]
use crate::MAX_NESTING;
use crate::ir::{Block, Function, FunctionKind, Module, Op, Value};
use crate::op::OpKind;
use crate::print::op_texts;
use crate::types::{ArrayKind, Type};

/// One violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The rule's code, `V001` and up.
    pub code: &'static str,
    /// What is wrong, with the function and the operation's text.
    pub message: String,
}

/// `V014: @f, "%2 = add %0, %1 : f32": operand 2 is i32, not f32`.
impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// All violations found in a module; not empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyErrors(pub Vec<VerifyError>);

/// One violation a line.
impl fmt::Display for VerifyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifyErrors {}

/// Checks every rule.
///
/// # Errors
/// Every violation, in the order of the module's text.
pub fn verify(module: &Module) -> Result<(), VerifyErrors> {
    let mut errors = Vec::new();
    let mut names: HashSet<&str> = HashSet::new();
    let mut types = types::TypeChecker::default();
    for (index, function) in module.functions.iter().enumerate() {
        let mut checker = Checker::new(module, index, function);
        if !names.insert(&function.name) {
            checker.report("V001", None, "an earlier function has this name");
        }
        checker.kind();
        // The walk relies on sound references, and code that asks for sizes on sound types.
        if checker.arenas() && checker.types(&mut types) {
            checker.signature();
            checker.links();
            match function.native() {
                Some(_) => checker.native(),
                None => checker.block(function.body, None, 0),
            }
        }
        checker.finish(&mut errors);
    }
    if module.functions.is_empty() {
        errors.push(VerifyError { code: "V003", message: "the module has no kernel".to_owned() });
    }
    for (first, second) in types.clashes {
        let message =
            format!("two structs are called `{}`: {:?} and {:?}", first.name, first.fields, second.fields);
        errors.push(VerifyError { code: "V002", message });
    }
    if errors.is_empty() { Ok(()) } else { Err(VerifyErrors(errors)) }
}

struct Checker<'m> {
    module: &'m Module,
    /// The function's position in the module.
    index: usize,
    function: &'m Function,
    /// Whether a value is in scope where the walk is.
    in_scope: Vec<bool>,
    errors: Vec<(&'static str, Option<Op>, String)>,
}

impl<'m> Checker<'m> {
    fn new(module: &'m Module, index: usize, function: &'m Function) -> Checker<'m> {
        let in_scope = vec![false; function.value_count()];
        Checker { module, index, function, in_scope, errors: Vec::new() }
    }

    fn report(&mut self, code: &'static str, op: Option<Op>, message: impl Into<String>) {
        self.errors.push((code, op, message.into()));
    }

    /// Adds the violations with the texts of their operations.
    fn finish(self, errors: &mut Vec<VerifyError>) {
        if self.errors.is_empty() {
            return;
        }
        let wanted: HashSet<Op> = self.errors.iter().filter_map(|(_, op, _)| *op).collect();
        let texts: HashMap<Op, String> = op_texts(self.module, self.function, &wanted).into_iter().collect();
        let name = &self.function.name;
        errors.extend(self.errors.into_iter().map(|(code, op, message)| {
            let message = match op {
                Some(op) => format!("@{name}, `{}`: {message}", texts.get(&op).map_or("?", String::as_str)),
                None => format!("@{name}: {message}"),
            };
            VerifyError { code, message }
        }));
    }

    /// V003 and V004.
    fn kind(&mut self) {
        let last = self.index + 1 == self.module.functions.len();
        match self.function.kind {
            FunctionKind::Kernel if !last => {
                self.report("V003", None, "a kernel that is not the last function")
            }
            FunctionKind::Func | FunctionKind::Native(_) if last => {
                self.report("V003", None, "the last function is not a kernel")
            }
            _ => {}
        }
        if self.function.kind == FunctionKind::Kernel {
            if !self.function.results.is_empty() {
                self.report("V004", None, "a kernel returns nothing");
            }
            for param in &self.function.params {
                if let Type::Ref(_) = param.ty {
                    self.report(
                        "V004",
                        None,
                        format!("parameter `{}` of a kernel is a {}", param.name, param.ty),
                    );
                }
            }
        }
    }

    /// V023.
    fn native(&mut self) {
        let function = self.function;
        if !function.block(function.body).ops.is_empty() {
            self.report("V023", None, "a native function has no operations");
        }
        if function.results.len() > 1 {
            let message = format!("a native function gives one result, not {}", function.results.len());
            self.report("V023", None, message);
        }
        for ty in function
            .results
            .iter()
            .filter(|ty| matches!(ty, Type::Struct(_) | Type::Ref(_)) || holds_fabric(**ty))
        {
            self.report("V023", None, format!("a native function cannot give a {ty}"));
        }
        let mut names = HashSet::new();
        for param in &function.params {
            if holds_fabric(param.ty) {
                self.report("V023", None, format!("a native function cannot take a {}", param.ty));
            }
            let mut chars = param.name.chars();
            let is_identifier = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
                && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !is_identifier {
                self.report("V023", None, format!("`{}` is not a name in C", param.name));
            } else if !names.insert(&param.name) {
                self.report("V023", None, format!("two parameters are called `{}`", param.name));
            }
        }
    }

    /// V005.
    fn signature(&mut self) {
        let body = &self.function.block(self.function.body).params;
        if body.len() != self.function.params.len() {
            let message =
                format!("{} parameters, but the body has {}", self.function.params.len(), body.len());
            return self.report("V005", None, message);
        }
        for (param, &value) in self.function.params.iter().zip(body) {
            let inside = self.function.ty(value);
            if inside != param.ty {
                let message = format!("parameter `{}` is {}, but {inside} in the body", param.name, param.ty);
                self.report("V005", None, message);
            }
        }
    }

    /// V022.
    fn links(&mut self) {
        let function = self.function;
        let links = function.links;
        if let Some(id) = links.iter().find(|id| id.index() >= self.module.functions.len()) {
            return self.report(
                "V022",
                None,
                format!("is linked to function {}, which does not exist", id.index()),
            );
        }
        let params = |f: &Function| f.params.iter().map(|p| p.ty).collect::<Vec<_>>();
        let own = params(function);
        let is_value = |ty: &Type| !matches!(ty, Type::Array(_) | Type::Ref(_));
        let values = |types: &[Type]| types.iter().copied().filter(is_value).collect::<Vec<_>>();
        if let Some(id) = links.gradient {
            let linked = self.module.function(id);
            let expected = [&own[..], &function.results, &own].concat();
            self.linked("gradient", linked, &expected, &values(&own));
        }
        if let Some(id) = links.replay {
            self.linked("replay", self.module.function(id), &own, &function.results);
        }
        if let Some(id) = links.derivative_of {
            let of = self.module.function(id);
            self.linked("derivative", of, &own, &of.results);
            if function.results != values(&own) {
                self.report("V022", None, "a derivative gives a value for each parameter that is no array");
            }
        }
    }

    fn linked(&mut self, what: &str, linked: &Function, params: &[Type], results: &[Type]) {
        let found: Vec<Type> = linked.params.iter().map(|p| p.ty).collect();
        if linked.kind == FunctionKind::Kernel || found != params || linked.results != results {
            self.report("V022", None, format!("its {what} @{} has another signature", linked.name));
        }
    }

    /// A block that is the `number`-th of `owner`, or the body.
    fn block(&mut self, block: Block, owner: Option<Op>, number: usize) {
        let function = self.function;
        let data = function.block(block);
        self.enter(&data.params, true);
        for (position, &op) in data.ops.iter().enumerate() {
            let op_data = function.op(op);
            let last = position + 1 == data.ops.len();
            let terminator = match op_data.kind {
                OpKind::Return => Some(owner.is_none()),
                OpKind::Yield => Some(owner.is_some()),
                _ => None,
            };
            match terminator {
                None if last => self.report("V009", Some(op), "a block ends in a terminator"),
                Some(_) if !last => self.report("V009", Some(op), "a terminator before the block's end"),
                Some(false) => {
                    let right = if owner.is_none() { "return" } else { "yield" };
                    self.report("V009", Some(op), format!("this block ends in `{right}`"));
                }
                _ => {}
            }
            for (index, &operand) in op_data.operands.iter().enumerate() {
                if !self.in_scope[operand.index()] {
                    self.report("V011", Some(op), format!("operand {} is not in scope", index + 1));
                }
            }
            if terminator == Some(true) {
                self.terminator(op, owner, number);
            } else if terminator.is_none() {
                self.operation(op);
            }
            for (number, &inner) in op_data.blocks.iter().enumerate() {
                self.block(inner, Some(op), number);
            }
            self.enter(&op_data.results, true);
        }
        if data.ops.is_empty() {
            let what =
                if owner.is_some() { "a block is empty; it ends in `yield`" } else { "the body is empty" };
            self.report("V009", owner, what);
        }
        // What the block defined goes out of scope with it.
        self.enter(&data.params, false);
        for &op in &data.ops {
            self.enter(&function.op(op).results, false);
        }
    }

    fn enter(&mut self, values: &[Value], in_scope: bool) {
        for value in values {
            self.in_scope[value.index()] = in_scope;
        }
    }
}

/// Whether a type holds an array whose elements lie in Fabric's buckets.
fn holds_fabric(ty: Type) -> bool {
    match ty {
        Type::Array(a) => matches!(a.kind, ArrayKind::Fabric | ArrayKind::IndexedFabric),
        Type::Struct(s) => s.fields.iter().any(|f| holds_fabric(f.ty)),
        Type::Ref(target) => holds_fabric(*target),
        _ => false,
    }
}
