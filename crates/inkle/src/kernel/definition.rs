//! The source of a kernel or function: its tree, and what the names in it stand for.

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::marker::PhantomData;
#[cfg(feature = "llvm")]
use std::sync::Arc;
use std::sync::{Mutex, OnceLock, PoisonError};

#[cfg(feature = "llvm")]
use inkle_diag::SourceFile;
#[cfg(feature = "llvm")]
use inkle_diag::trace::{self, Stage};
#[cfg(feature = "llvm")]
use inkle_frontend::env::{Binding, FunctionOutline, FunctionSource, FunctionText};
use inkle_frontend::env::{ConstValue, FunctionKey, ParamSpec};
use inkle_frontend::pattern::{Pattern, ScalarPattern};
#[cfg(feature = "llvm")]
use inkle_frontend::{respan, tree::FunctionDef};
use inkle_ir::{Constant, Field, Scalar, Type};
use inkle_value::builtins::Builtin;
use inkle_value::{Typed, Value};

/// Where a function is written, and its tree.
#[derive(Debug)]
pub struct Text {
    /// Its name.
    pub name: &'static str,
    /// The names of its parameters.
    pub params: &'static [&'static str],
    /// A digest of the tree without the places where it was written.
    pub digest: &'static [u8; 32],
    /// The file.
    pub file: &'static str,
    /// The line that `text` begins with.
    pub first_line: u32,
    /// Its lines; nothing in a program without a compiler.
    pub text: &'static str,
    /// Its tree; nothing in a program without a compiler.
    pub tree: &'static [u8],
}

/// A function or an instance of a kernel.
#[derive(Debug)]
pub struct Definition {
    text: &'static Text,
    params: fn() -> Vec<ParamSpec>,
    returns: Option<fn() -> Vec<Pattern>>,
    names: fn() -> Vec<Name>,
    given: Given,
    #[cfg(feature = "llvm")]
    source: OnceLock<Arc<FunctionSource>>,
    resolved: OnceLock<Vec<Name>>,
}

/// What a function does for another one, which names it in its attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It gives the gradients of the other's parameters.
    Gradient,
    /// A backward pass calls it where it needs the other's results.
    Replay,
}

/// The functions that an attribute names, by their roles.
pub type Given = &'static [(Role, fn() -> Name)];

/// What a name of a tree stands for.
#[derive(Clone, Debug)]
pub enum Name {
    /// A type.
    Type(Type),
    /// A built-in.
    Builtin(&'static str),
    /// A function.
    Function(FunctionKey),
    /// A constant.
    Constant(ConstValue),
}

/// What calls in kernels can name. The macros make such a type beside each function, of the same name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no function of kernels",
    label = "functions that kernels call are declared with `#[inkle::func]`"
)]
pub trait Callable {
    /// What is called.
    fn callee() -> Name;
}

impl<B: Builtin> Callable for B {
    fn callee() -> Name {
        Name::Builtin(B::NAME)
    }
}

/// Holds the type that rustc infers for a place in a kernel.
#[derive(Debug)]
pub struct Site<T>(PhantomData<fn(T)>);

impl<T> Site<T> {
    /// A site of a type that is yet to be inferred.
    #[expect(clippy::new_without_default, reason = "only macros make sites")]
    pub const fn new() -> Site<T> {
        Site(PhantomData)
    }
}

impl<T> Site<T> {
    /// The type.
    pub fn ty(&self) -> Type
    where
        T: Typed,
    {
        T::ty()
    }

    /// A value of the type, where none is ever made.
    pub fn value(&self) -> T {
        unreachable!("the macros put it where nothing comes")
    }
}

/// The value itself; its type is the site's.
pub fn pass<T>(_: &Site<T>, value: T) -> T {
    value
}

/// The definitions by their keys, which are their addresses.
fn definitions() -> &'static Mutex<HashMap<u64, &'static Definition>> {
    static DEFINITIONS: OnceLock<Mutex<HashMap<u64, &'static Definition>>> = OnceLock::new();
    DEFINITIONS.get_or_init(Mutex::default)
}

impl Definition {
    /// A function of these parameters and results, and what its attribute gives it for backward passes.
    pub const fn new(
        text: &'static Text,
        params: fn() -> Vec<ParamSpec>,
        returns: Option<fn() -> Vec<Pattern>>,
        names: fn() -> Vec<Name>,
        given: Given,
    ) -> Definition {
        Definition {
            text,
            params,
            returns,
            names,
            given,
            #[cfg(feature = "llvm")]
            source: OnceLock::new(),
            resolved: OnceLock::new(),
        }
    }

    /// The functions of a role.
    #[cfg(feature = "llvm")]
    pub(crate) fn given(&self, role: Role) -> impl Iterator<Item = &'static Definition> {
        let named = self.given.iter().filter(move |(of, _)| *of == role);
        named.filter_map(|(_, name)| match name() {
            Name::Function(key) => Definition::of(key),
            _ => None,
        })
    }

    /// The definition of a key that was given out.
    pub(crate) fn of(key: FunctionKey) -> Option<&'static Definition> {
        definitions().lock().unwrap_or_else(PoisonError::into_inner).get(&key.0).copied()
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.text.name
    }

    /// The name of a parameter; empty when there is none of this number.
    pub(crate) fn param_name(&self, index: usize) -> &'static str {
        self.text.params.get(index).copied().unwrap_or_default()
    }

    /// Its key.
    pub(crate) fn key(&'static self) -> FunctionKey {
        let key = std::ptr::from_ref(self).addr() as u64;
        definitions().lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(self);
        FunctionKey(key)
    }

    /// Its parameters.
    pub(crate) fn params(&self) -> Vec<ParamSpec> {
        (self.params)()
    }

    /// What its names stand for.
    fn names(&self) -> &[Name] {
        self.resolved.get_or_init(self.names)
    }

    /// A digest of its source and of everything that reaches: equal digests, equal functions.
    pub(crate) fn identity(&'static self) -> blake3::Hash {
        let mut reached = vec![self];
        let mut hasher = blake3::Hasher::new_derive_key("inkle functions written in Rust");
        // Functions go by the order in which they are reached; those that are new are added to the end.
        let mut next = 0;
        while let Some(&definition) = reached.get(next) {
            next += 1;
            hasher.update(definition.text.digest);
            let mut add = |text: &str| {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            };
            add(definition.text.name);
            add(&format!("{:?}", definition.params()));
            add(&format!("{:?}", definition.returns.map(|returns| returns())));
            let given = definition.given.iter().map(|(role, name)| (Some(*role), name()));
            for (role, name) in definition.names().iter().map(|name| (None, name.clone())).chain(given) {
                if let Some(role) = role {
                    add(&format!("{role:?}"));
                }
                let called = match &name {
                    Name::Function(key) => Definition::of(*key),
                    _ => None,
                };
                let Some(called) = called else {
                    add(&format!("{name:?}"));
                    continue;
                };
                let index = reached.iter().position(|known| std::ptr::eq(*known, called));
                let index = index.unwrap_or_else(|| {
                    reached.push(called);
                    reached.len() - 1
                });
                add(&format!("function {index}"));
            }
        }
        hasher.finalize()
    }

    /// What the checker reads.
    #[cfg(feature = "llvm")]
    pub(crate) fn source(&'static self) -> &'static Arc<FunctionSource> {
        self.source.get_or_init(|| {
            let Text { name, file, first_line, text, tree, .. } = *self.text;
            let _span = trace::span(Stage::Parse, || name);
            let mut def: FunctionDef =
                postcard::from_bytes(tree).expect("the macro stored the tree in the format of this version");
            let lines = "\n".repeat(first_line.saturating_sub(1) as usize) + text;
            respan::set_file(&mut def, SourceFile::register(file, &lines).id());
            Arc::new(FunctionSource {
                key: self.key(),
                name: name.to_owned(),
                def: Arc::new(def),
                params: self.params(),
                returns: self.returns.map(|returns| returns()),
                native: None,
            })
        })
    }

    /// What the checker asks instead of the source where it only has to know whether that is the same. Of what macros make
    /// several functions may have one text, so the tree is what counts.
    #[cfg(feature = "llvm")]
    pub(crate) fn outline(&'static self) -> FunctionOutline {
        let text = FunctionText {
            digest: blake3::Hash::from_bytes(*self.text.digest),
            names: self.text.params.iter().map(|&name| name.to_owned()).collect(),
        };
        FunctionOutline {
            key: self.key(),
            name: self.text.name.to_owned(),
            text: Arc::new(text),
            params: self.params(),
            returns: self.returns.map(|returns| returns()),
            native: None,
        }
    }

    /// What a name of the tree stands for.
    #[cfg(feature = "llvm")]
    pub(crate) fn resolve(&self, name: &str) -> Option<Binding> {
        if let Some(builtin) = name.strip_prefix('@') {
            return Some(match Scalar::from_name(builtin) {
                Some(scalar) => Binding::Type(Type::Scalar(scalar)),
                None => Binding::Builtin(builtin.to_owned()),
            });
        }
        let index: usize = name.strip_prefix('$')?.parse().ok()?;
        Some(match self.names().get(index)?.clone() {
            Name::Type(ty) => Binding::Type(ty),
            Name::Builtin(name) => Binding::Builtin(name.to_owned()),
            Name::Function(key) => Binding::Function(key),
            Name::Constant(value) => Binding::Const(value),
        })
    }
}

impl Name {
    /// A function.
    pub fn function(definition: &'static Definition) -> Name {
        Name::Function(definition.key())
    }

    /// A constant.
    pub fn constant<T: Value>(value: T) -> Name {
        let ty = T::ty();
        let mut bytes = vec![0; ty.size() as usize];
        value.store(&mut bytes);
        Name::Constant(constant(ty, &bytes))
    }

    /// The type in which a range of a type counts: signed, and as wide as it has to be.
    pub fn carrier(ty: Type) -> Name {
        Name::Type(match ty {
            Type::Scalar(Scalar::I64 | Scalar::U32 | Scalar::U64) => Type::I64,
            _ => Type::I32,
        })
    }

    /// `!` for a type.
    pub fn not(ty: Type) -> Name {
        Name::Builtin(if ty == Type::BOOL { "unot" } else { "invert" })
    }

    /// What `signum` gives for zero.
    pub fn sign_of_zero(ty: Type) -> Name {
        let scalar = ty.scalar().unwrap_or(Scalar::I32);
        let value = i128::from(scalar.is_float());
        Name::Constant(ConstValue::Typed(Constant::Int(value).convert(scalar), scalar))
    }
}

/// The constant of a type that bytes hold.
fn constant(ty: Type, bytes: &[u8]) -> ConstValue {
    match ty {
        Type::Scalar(scalar) => ConstValue::Typed(number(scalar, bytes), scalar),
        Type::Struct(structure) => {
            let places = structure.layout().0;
            let fields = structure.fields.iter().zip(places);
            let fields =
                fields.map(|(field, place)| constant(field.ty, &bytes[place.offset as usize..])).collect();
            ConstValue::Struct { ty, fields }
        }
        _ => {
            let scalar = ty.scalar().unwrap_or(Scalar::F32);
            let components = bytes.chunks_exact(scalar.size() as usize);
            let count = ty.component_count().unwrap_or(0) as usize;
            ConstValue::Composite {
                ty,
                components: components.take(count).map(|b| number(scalar, b)).collect(),
            }
        }
    }
}

fn number(scalar: Scalar, bytes: &[u8]) -> Constant {
    match scalar {
        Scalar::Bool => Constant::Bool(bool::fetch(bytes)),
        Scalar::I8 => Constant::Int(i8::fetch(bytes).into()),
        Scalar::I16 => Constant::Int(i16::fetch(bytes).into()),
        Scalar::I32 => Constant::Int(i32::fetch(bytes).into()),
        Scalar::I64 => Constant::Int(i64::fetch(bytes).into()),
        Scalar::U8 => Constant::Int(u8::fetch(bytes).into()),
        Scalar::U16 => Constant::Int(u16::fetch(bytes).into()),
        Scalar::U32 => Constant::Int(u32::fetch(bytes).into()),
        Scalar::U64 => Constant::Int(u64::fetch(bytes).into()),
        Scalar::F16 => Constant::Float(inkle_value::f16::fetch(bytes).to_f64()),
        Scalar::BF16 => Constant::Float(inkle_value::bf16::fetch(bytes).to_f64()),
        Scalar::F32 => Constant::Float(f32::fetch(bytes).into()),
        Scalar::F64 => Constant::Float(f64::fetch(bytes)),
    }
}

/// A parameter of a kernel, of a definite type.
pub fn exact(ty: Type) -> ParamSpec {
    ParamSpec { pattern: Some(Pattern::Exact(ty)), default: None, by_reference: false }
}

/// A parameter of a function; of a `&mut` to anything but an array the caller sees changes.
pub fn param(pattern: Pattern, is_mut: bool) -> ParamSpec {
    let is_array = matches!(pattern, Pattern::Array(..) | Pattern::Exact(Type::Array(_)));
    ParamSpec { pattern: Some(pattern), default: None, by_reference: is_mut && !is_array }
}

/// The pattern of a scalar type.
pub fn scalar(ty: Type) -> ScalarPattern {
    ScalarPattern::Exact(ty.as_scalar().unwrap_or(Scalar::F32))
}

/// The type of a struct. In a kernel no two structs have one name, so a second one of the name gets another.
pub fn structure<S>(name: &'static str, fields: impl FnOnce() -> Vec<(&'static str, Type)>) -> Type {
    static NAMES: OnceLock<Mutex<HashMap<&'static str, Vec<&'static str>>>> = OnceLock::new();
    let fields = fields().into_iter().map(|(name, ty)| Field { name: name.to_owned(), ty }).collect();
    let mut names = NAMES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    let known = names.entry(name).or_default();
    let full = type_name::<S>();
    let index = known.iter().position(|k| *k == full).unwrap_or_else(|| {
        known.push(full);
        known.len() - 1
    });
    let name = if index == 0 { name.to_owned() } else { format!("{name}_{}", index + 1) };
    Type::structure(name, fields)
}

/// What tells the instances of a generic kernel apart.
pub(crate) fn instance_key<K: 'static>() -> TypeId {
    TypeId::of::<K>()
}
