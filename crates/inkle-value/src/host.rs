//! Built-ins called by the host: kernels of one thread on the CPU, compiled at the first call with arguments of their types.

use inkle_ir::Type;

use crate::builtins::Builtin;
use crate::value::{Outcome, Value};

/// What can be an argument of a call.
pub trait Stored {
    /// Its type.
    fn ty(&self) -> Type;

    /// Stores it as generated code reads it.
    fn store(&self, bytes: &mut [u8]);
}

impl<T: Value> Stored for T {
    fn ty(&self) -> Type {
        T::ty()
    }

    fn store(&self, bytes: &mut [u8]) {
        Value::store(self, bytes);
    }
}

/// What is stored into what the built-in has changed.
pub trait Changed: Stored {
    /// Becomes the value that bytes hold.
    fn fetch(&mut self, bytes: &[u8]);
}

impl<T: Value> Changed for T {
    fn fetch(&mut self, bytes: &[u8]) {
        *self = T::fetch(bytes);
    }
}

/// An argument.
pub enum Place<'a> {
    /// It stays what it is.
    Given(&'a dyn Stored),
    /// The built-in changes it.
    Changed(&'a mut dyn Changed),
}

/// An argument that stays what it is.
pub fn given(arg: &dyn Stored) -> Place<'_> {
    Place::Given(arg)
}

/// An argument that the built-in changes.
pub fn changed(arg: &mut dyn Changed) -> Place<'_> {
    Place::Changed(arg)
}

/// Calls the built-in `B` with arguments of the types `A`.
///
/// # Panics
/// Without a compiler, and when the code cannot be made or a check in it fails.
#[cfg(feature = "llvm")]
#[track_caller]
pub fn call<B: Builtin + 'static, A: 'static, R: Outcome>(args: &mut [Place<'_>]) -> R {
    let call = match ready::known(std::any::TypeId::of::<(B, A)>(), B::NAME, args) {
        Ok(call) => call,
        Err(error) => panic!("the built-in `{}` cannot be called: {error}", B::NAME),
    };
    let mut few = [0u64; 64];
    let mut many = Vec::new();
    let words = if call.words() <= few.len() {
        &mut few[..call.words()]
    } else {
        many.resize(call.words(), 0);
        &mut many[..]
    };
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
    for (arg, place) in args.iter().zip(call.inputs()) {
        arg.stored().store(&mut bytes[place.offset..][..place.ty.size() as usize]);
    }
    if let Err(error) = call.run(words) {
        panic!("the built-in `{}` failed: {error}", B::NAME);
    }
    let bytes: &[u8] = bytemuck::cast_slice(words);
    for (arg, place) in args.iter_mut().zip(call.inputs()) {
        if let Place::Changed(arg) = arg {
            arg.fetch(&bytes[place.offset..]);
        }
    }
    let mut results = call.results().iter().map(|place| &bytes[place.offset..]);
    R::fetch_each(&mut results)
}

/// Calls the built-in `B`, which takes a compiler.
#[cfg(not(feature = "llvm"))]
#[track_caller]
pub fn call<B: Builtin + 'static, A: 'static, R: Outcome>(args: &mut [Place<'_>]) -> R {
    let _ = args;
    panic!(
        "the built-in `{}` is compiled when the host calls it, so a program that does needs inkle's feature `llvm`",
        B::NAME
    )
}

#[cfg(feature = "llvm")]
impl Place<'_> {
    fn stored(&self) -> &dyn Stored {
        match self {
            Place::Given(arg) => *arg,
            Place::Changed(arg) => &**arg,
        }
    }
}

/// Calls that were made before.
#[cfg(feature = "llvm")]
mod ready {
    use std::any::TypeId;
    use std::collections::HashMap;
    use std::sync::{Arc, LazyLock, PoisonError, RwLock};

    use inkle_module::{CompileError, HostArgument, HostCall, HostShape};

    use super::Place;

    static CALLS: LazyLock<RwLock<HashMap<TypeId, Arc<HostCall>>>> = LazyLock::new(RwLock::default);

    /// The call of a built-in with arguments of these types, which `key` stands for; made at first need.
    pub fn known(key: TypeId, builtin: &str, args: &[Place<'_>]) -> Result<Arc<HostCall>, CompileError> {
        if let Some(call) = CALLS.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(call.clone());
        }
        let kinds = args.iter().map(|arg| match arg {
            Place::Given(arg) => HostArgument::Value(arg.ty()),
            Place::Changed(arg) => HostArgument::Changed(arg.ty()),
        });
        let shape = HostShape { builtin: builtin.to_owned(), args: kinds.collect(), names: Vec::new() };
        let call = Arc::new(HostCall::new(&shape)?);
        Ok(CALLS.write().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert(call).clone())
    }
}
