//! Makes a module smaller without changing what it computes, before it is hashed and compiled.
//!
//! The passes take verified IR and leave verified IR; each is one walk over a function and lies in its own file:
//!
//! - [`fold`]: constants, exact identities, branches that are decided, casts and composites undone;
//! - [`merge_common`]: a pure operation that was evaluated before, in scope, is not evaluated again;
//! - [`fix_carried`]: carried values that no iteration changes become what they start from;
//! - [`remove_dead`]: operations, carried values and results without use;
//! - [`remove_uncalled`]: functions that the kernel does not reach;
//! - [`compact`]: a function without the remains of the other passes.
//!
//! Results stay the same bit by bit, save which NaN a NaN is. So float sums are not reordered, `x + 0.0` stays
//! (it turns `-0.0` into `0.0`), and functions that are not correctly rounded everywhere are not evaluated here.

mod carried;
mod common;
mod compact;
mod dead;
mod effects;
mod eval;
mod fold;
mod functions;
mod results;
mod rules;
mod substitution;

pub use carried::fix_carried;
pub use common::merge_common;
pub use compact::compact;
pub use dead::remove_dead;
pub use effects::{Effects, effects};
pub use fold::fold;
pub use functions::remove_uncalled;

use crate::ir::Module;

/// Each round only helps where the one before decided a branch or stopped a carried value; programs that need
/// more than a few are not worth the time.
const MAX_ROUNDS: usize = 4;

/// Runs all passes. The module must be verified; it is then, too.
pub fn simplify(module: &mut Module) {
    remove_uncalled(module);
    // Callees come first, so what a call does is known when its caller is reached.
    let mut known: Vec<Effects> = Vec::with_capacity(module.functions.len());
    for function in &mut module.functions {
        for _ in 0..MAX_ROUNDS {
            fold(function);
            let merged = merge_common(function, &known);
            let fixed = fix_carried(function);
            if !merged && !fixed {
                break;
            }
        }
        remove_dead(function, &known);
        compact(function);
        known.push(effects(function, &known));
    }
    // Branches that are gone, or dead, may have held the only calls.
    remove_uncalled(module);
}
