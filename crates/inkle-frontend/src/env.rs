//! What the checker asks of the outside: what a name means where a function was written, and the source of the
//! functions it reaches. `inkle-py` answers from Python objects, `inkle-macros` from Rust items, tests from tables.

use std::sync::Arc;

use inkle_diag::{Diagnostic, Diagnostics, SourceFile};
use inkle_ir::{Constant, Scalar, Type};

use crate::pattern::Pattern;
use crate::tree::{Expr, FunctionDef};

/// Names a function of the environment: two functions with the same key are the same function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FunctionKey(pub u64);

/// Names an object of the environment whose attributes can be asked for (a Python module, class or instance).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ObjectKey(pub u64);

/// A value known while compiling.
#[derive(Clone, PartialEq, Debug)]
pub enum ConstValue {
    /// A plain integer, not yet of any width; `int32` unless something asks for another type.
    Int(i128),
    /// A plain float with all its digits; `float32` unless something asks for another type.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A scalar of a definite type.
    Typed(Constant, Scalar),
    /// A vector, matrix, quaternion or transform: all components, row-major.
    #[expect(missing_docs, reason = "the variant says it")]
    Composite { ty: Type, components: Vec<Constant> },
    /// A struct: its fields in order.
    #[expect(missing_docs, reason = "the variant says it")]
    Struct { ty: Type, fields: Vec<ConstValue> },
    /// A string.
    Str(String),
    /// A tuple or list.
    Tuple(Vec<ConstValue>),
    /// `None`.
    None,
}

/// What a name or attribute stands for.
#[derive(Clone, PartialEq, Debug)]
pub enum Binding {
    /// A compile-time constant.
    Const(ConstValue),
    /// A type: annotation, constructor, conversion.
    Type(Type),
    /// A function of the kernel language, or several overloads under one key.
    Function(FunctionKey),
    /// A built-in of the kernel language by its registry name; also the special forms (`range`, `len` ...).
    Builtin(String),
    /// Something with attributes.
    Object(ObjectKey),
    /// Something kernels cannot use; the text says what it is (`a list`, `an object of class Foo`).
    Unsupported(String),
}

/// A parameter of a function as its annotation declares it.
#[derive(Clone, PartialEq, Debug)]
pub struct ParamSpec {
    /// What it accepts; `None` when it is not annotated (anything goes).
    pub pattern: Option<Pattern>,
    /// The default value.
    pub default: Option<Binding>,
    /// Whether assignments to the parameter change the caller's variable or array element.
    pub by_reference: bool,
}

/// C++ statements that a function is made of; the parameters' names stand for the arguments.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NativeText {
    /// What the function does; a result is given by `return`.
    pub forward: String,
    /// Its backward pass: for each parameter `x` it may add to `adj_x`, and it may read `adj_ret`, the gradient of the
    /// result. Without it no gradient flows.
    pub adjoint: Option<String>,
    /// What a backward pass does in place of `forward` where it needs the result.
    pub replay: Option<String>,
}

/// A function the checker can look into.
#[derive(Clone, Debug)]
pub struct FunctionSource {
    /// Its key.
    pub key: FunctionKey,
    /// Its name, for messages and as the stem of its IR name.
    pub name: String,
    /// Its tree.
    pub def: Arc<FunctionDef>,
    /// Its parameters, one per parameter of `def`.
    pub params: Vec<ParamSpec>,
    /// The declared results; `None` when not declared.
    pub returns: Option<Vec<Pattern>>,
    /// The C++ text of a function whose body is only a stub.
    pub native: Option<NativeText>,
}

/// The text of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionText {
    /// The digest of the text from `def` to the end of the body.
    pub digest: blake3::Hash,
    /// The names of its parameters.
    pub names: Vec<String>,
}

/// A function as everything that its meaning depends on shows it: what [`FunctionSource`] says, with the source text in place
/// of the tree, which follows from it but for its spans.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionOutline {
    /// Its key.
    pub key: FunctionKey,
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: Arc<FunctionText>,
    /// Its parameters.
    pub params: Vec<ParamSpec>,
    /// The declared results; `None` when not declared.
    pub returns: Option<Vec<Pattern>>,
    /// The C++ text of a function whose body is only a stub.
    pub native: Option<NativeText>,
}

impl FunctionSource {
    /// The function with its text in place of its tree; `None` when the text is in no file.
    pub fn outline(&self) -> Option<FunctionOutline> {
        let span = self.def.span;
        let file = SourceFile::get(span.file)?;
        Some(FunctionOutline {
            key: self.key,
            name: self.name.clone(),
            text: Arc::new(FunctionText {
                digest: blake3::hash(file.text().get(span.start as usize..span.end as usize)?.as_bytes()),
                names: self.def.params.iter().map(|p| p.name.clone()).collect(),
            }),
            params: self.params.clone(),
            returns: self.returns.clone(),
            native: self.native.clone(),
        })
    }
}

/// One overload of a built-in that is written in the kernel language.
#[derive(Clone)]
pub struct LibraryFunction {
    /// Distinguishes overloads and functions; stable within the process.
    pub key: u64,
    /// The tree; its annotations declare the signature (see [`crate::pattern`]).
    pub def: Arc<FunctionDef>,
}

/// Where the languages differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// Indices below zero count from the end; ranges count in `int32`.
    Python,
    /// Indices are never below zero; ranges count in the integer type of their bounds.
    Rust,
}

/// The outside world of one check.
pub trait Environment {
    /// The source of a function, and of the overloads declared under the same key (at least one).
    ///
    /// # Errors
    /// When the source cannot be found or does not parse.
    fn function(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics>;

    /// The outlines of what [`Environment::function`] gives, in the same order, without lowering the text if that can be done;
    /// `None` when that fails.
    fn outlines(&self, key: FunctionKey) -> Option<Vec<FunctionOutline>> {
        self.function(key).ok()?.iter().map(|source| self.outline(source)).collect()
    }

    /// The outline of a function that this environment gave.
    fn outline(&self, source: &FunctionSource) -> Option<FunctionOutline> {
        source.outline()
    }

    /// The functions given to be the gradient of `key` or of one of its overloads, oldest first.
    ///
    /// # Errors
    /// When the source of one cannot be found or does not parse.
    fn gradients(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let _ = key;
        Ok(Vec::new())
    }

    /// The functions given to be the replay of `key` or of one of its overloads, oldest first.
    ///
    /// # Errors
    /// When the source of one cannot be found or does not parse.
    fn replays(&self, key: FunctionKey) -> Result<Vec<Arc<FunctionSource>>, Diagnostics> {
        let _ = key;
        Ok(Vec::new())
    }

    /// What `name` means in the body of `function`; `None` when nothing has the name.
    fn resolve(&self, function: FunctionKey, name: &str) -> Option<Binding>;

    /// What `object.name` means; `None` when there is no such attribute.
    fn attribute(&self, object: ObjectKey, name: &str) -> Option<Binding>;

    /// What an object is, for messages: `module numpy`.
    fn describe(&self, object: ObjectKey) -> String;

    /// The value of `static(expr)` evaluated by the source language where `function` was written, with the
    /// unrolled loop variables in `locals` visible.
    ///
    /// # Errors
    /// What went wrong, as one sentence.
    fn static_value(
        &self,
        function: FunctionKey,
        expr: &Expr,
        locals: &[(String, ConstValue)],
    ) -> Result<Binding, String>;

    /// [`Environment::static_value`] of an expression's text, with no variables visible.
    ///
    /// # Errors
    /// What went wrong, as one sentence.
    fn static_text(&self, function: FunctionKey, text: &str) -> Result<Binding, String> {
        let _ = (function, text);
        Err("this source language evaluates no text".to_owned())
    }

    /// Does `work`, which asks many questions in a row, with whatever it takes to ask one taken once.
    fn together(&self, work: &mut dyn FnMut()) {
        work();
    }

    /// The overloads of a built-in written in the kernel language; empty when there is none of that name.
    fn library(&self, name: &str) -> Vec<LibraryFunction>;

    /// All names of the library, for suggestions.
    fn library_names(&self) -> Vec<String>;

    /// What `object.member.name` means where `object.member` is a constant: members of enumerations have a name and a
    /// value beside being one. `None` when there is no such attribute.
    fn member_attribute(&self, object: ObjectKey, member: &str, name: &str) -> Option<Binding> {
        let _ = (object, member, name);
        None
    }

    /// What `name` means in the class of the struct type of that name, for a value of it in `function`: what was written there
    /// beside the fields. `None` when there is no such attribute.
    fn struct_attribute(&self, function: FunctionKey, structure: &str, name: &str) -> Option<Binding> {
        let _ = (function, structure, name);
        None
    }

    /// The rules of the source language.
    fn rules(&self) -> Rules {
        Rules::Python
    }

    /// Takes what is doubtful in a kernel that is accepted.
    fn warn(&self, warning: Diagnostic) {
        let _ = warning;
    }

    /// The names that [`Environment::resolve`] knows for `function`, for suggestions; the common built-ins of the
    /// source language need not be among them.
    fn visible_names(&self, function: FunctionKey) -> Vec<String> {
        let _ = function;
        Vec::new()
    }
}
