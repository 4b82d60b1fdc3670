//! Reverse-mode differentiation: the kernel that runs a kernel backwards, as a pass from IR to IR.
//!
//! # What a backward kernel does
//!
//! It takes the kernel's arguments. For each thread it computes the values again that the gradients depend on (the
//! forward sweep), then goes through the operations in reverse order and carries gradients from results to operands
//! (the reverse sweep). A value that was loaded adds its gradient to the element of the array's gradient, atomically; a
//! value that was stored takes the gradient of the element, which becomes zero: what the element held before had no
//! part in what came after, so a kernel may overwrite what it, or one before it, wrote. So does an atomic minimum or
//! maximum whose value is what memory holds now: of several equal ones the first takes the gradient. An array whose
//! gradient is to be kept ([`ArrayGrad::Keep`]) is left as it is.
//!
//! The forward sweep writes nothing. It reads memory as the kernel left it, which is what the kernel read unless the
//! element was overwritten afterwards. Where a value is needed that certainly was, by the kernel or by a function that it
//! calls, the kernel is refused with [`AdjointError::Overwritten`]; so is one that needs the old value of an atomic
//! operation. Certain is what follows from what indices are made of (`places.rs`): equal sums, views taken into account, and
//! loops that go over the same elements (`overwrite.rs`). Where indices are not known until the kernel runs, it is trusted
//! to write an element before it reads it, or not at all; [`Backward::doubt`] says where.
//!
//! Only what leads from an array with a gradient to another one is differentiated (`activity.rs`), and only what the
//! formulas need is computed again (`need.rs`). Functions get an adjoint function per set of arguments with gradients,
//! which computes the function again and gives the gradients of its parameters. What is known of each operation's
//! derivative is in one table, `rules.rs`, with the formulas in `scalar.rs`.
//!
//! Arrays of the thread's own become values before all this (`locals.rs`): what is written there is carried through
//! branches and loops as every other value is. One that is large, or passed on, stays an array and carries no gradient;
//! a kernel that needs one is refused.
//!
//! # Branches and loops
//!
//! The reverse of a block first computes again what the block needs, right there, so no value outlives its block. `if`
//! becomes an `if` on the same condition. A loop becomes a `for` from its last iteration to its first that carries the
//! gradients of the carried values and of what the body reads from outside.
//!
//! An iteration is computed again from what it started from, so the carried values that its formulas need must be
//! found again. The rule:
//!
//! 1. What grows by the same integer each time follows from the iteration's number. Nothing is kept.
//! 2. In a `for` whose length is known and whose values take at most 2 KiB, all of them are recorded.
//! 3. Else there are checkpoints: the states at the start of some iterations, each halfway between the one before and
//!    the iteration that is wanted. From the nearest one the loop is run again. There are never more of them than the
//!    iteration's number has bits (34 for 32 bits), and a loop of n iterations runs `n * log2(n) / 2` iterations again.
//!
//! Both are kept in local arrays, so memory is bounded by the program, whatever its input. A carried value that no
//! formula needs, such as a sum, is neither kept nor computed again.
#![forbid(unsafe_code)]

mod activity;
mod driver;
mod error;
mod locals;
mod loops;
mod memory;
mod need;
mod nest;
mod overwrite;
mod places;
mod reverse;
mod rules;
mod scalar;
mod sweep;

use std::borrow::Cow;

use inkle_ir::{Function, FunctionId, Module, Type};

use activity::{Info, State, array_count, has_float};
use driver::Driver;

pub use error::AdjointError;
pub use overwrite::Overwrite;

/// What there is to know of one array of a kernel's arguments.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayGrad {
    /// It has no gradient.
    None,
    /// It has a gradient; overwriting an element clears the element's gradient.
    Clear,
    /// It has a gradient; overwriting an element leaves the element's gradient as it is.
    Keep,
}

/// The number of arrays in arguments of these types, those in structs counted too: how many [`ArrayGrad`]s
/// [`backward`] takes, in order of parameters and fields.
pub fn count_arrays(types: impl IntoIterator<Item = Type>) -> usize {
    types.into_iter().map(array_count).sum()
}

/// Whether an array of such elements can have a gradient that something flows to.
pub fn is_differentiable(element: Type) -> bool {
    has_float(element)
}

/// Gives the functions of a module that stand for derivatives ([`Links::derivative_of`](inkle_ir::Links)) their bodies.
///
/// # Errors
/// When a function cannot be differentiated.
pub fn complete(module: &mut Module) -> Result<(), AdjointError> {
    // The first one needs none of the others: functions come before what they are the derivatives of is used.
    while let Some(stub) = module.functions.iter().position(|f| f.links.derivative_of.is_some()) {
        let source = promoted(module);
        let mut driver = Driver::new(&source);
        driver.complete(FunctionId::new(stub))?;
        *module = driver.out;
    }
    Ok(())
}

/// The module with arrays of the thread's own made values, where they can be.
fn promoted(module: &Module) -> Cow<'_, Module> {
    let changed: Vec<Option<Function>> = module.functions.iter().map(locals::promote).collect();
    if changed.iter().all(Option::is_none) {
        return Cow::Borrowed(module);
    }
    let functions = changed.into_iter().zip(&module.functions);
    Cow::Owned(Module { functions: functions.map(|(new, old)| new.unwrap_or_else(|| old.clone())).collect() })
}

/// What runs a kernel backwards.
#[derive(Debug)]
pub struct Backward {
    /// The module, with the kernel's parameters; gradients are found through the arrays
    /// ([`OpKind::GradArray`](inkle_ir::OpKind::GradArray)). It is verified, and not simplified.
    pub module: Module,
    /// Where an element that the module reads again may have been overwritten: if it was, gradients are wrong.
    pub doubt: Option<Overwrite>,
}

/// What runs the kernel of `module`, which is verified, backwards, for arguments with the given gradients.
///
/// # Errors
/// When the kernel cannot be differentiated.
pub fn backward(module: &Module, grads: &[ArrayGrad]) -> Result<Backward, AdjointError> {
    let kernel = module.kernel().ok_or(AdjointError::NoKernel)?;
    let expected = count_arrays(kernel.params.iter().map(|p| p.ty));
    if expected != grads.len() {
        return Err(AdjointError::WrongCount { expected, found: grads.len() });
    }
    let mut rest = grads.iter().map(|&g| State::from(g));
    let params: Vec<Info> = kernel
        .params
        .iter()
        .map(|p| Info { varied: false, arrays: rest.by_ref().take(array_count(p.ty)).collect() })
        .collect();
    let module = promoted(module);
    let mut driver = Driver::new(&module);
    let doubt = driver.kernel(&params)?;
    Ok(Backward { module: driver.out, doubt })
}
