//! The kernel IR: types, operations, functions, the text form and the verifier.
//!
//! # The form
//!
//! A [`Module`] is one kernel and the functions it reaches. A [`Function`] owns one body [`Block`]; a block is a
//! list of operations ended by one terminator; `if`, `for` and `while` are operations that own blocks and
//! yield values. There is no basic-block graph and there are no mutable locals: a variable that changes in a
//! loop is a carried value of the loop, and early `return`, `break` and `continue` have been turned into
//! conditions by the front end.
//!
//! # Semantics
//!
//! - Operations of a block are evaluated in order, once. Pure operations ([`OpKind::is_pure`]) may be moved,
//!   merged or dropped when unused; all others keep their order.
//! - A value is in scope after its definition, in the rest of its block and in the blocks nested there.
//! - Integer arithmetic wraps. Integer division and remainder by zero, and shifts by the width or more, give
//!   an unspecified value but do not trap (unless the kernel was built with checks).
//! - Floating-point operations are IEEE 754 in round-to-nearest, except that a multiplication and an addition
//!   may be contracted when [`Options`](Function) of the target say so. Conversions from float to integer
//!   saturate; NaN gives zero.
//! - Arithmetic on vectors, matrices and quaternions is elementwise. Products of linear algebra are prelude
//!   functions.
//! - Composite values (vectors, structs ...) are values: `insert` makes a new one. Memory is reached through
//!   `ref<T>` values made by `elem`, `field` and `comp`; `load`, `store` and `atomic` act on them. Indices count
//!   elements, not bytes. Out of bounds is undefined unless the kernel was built with checks.
//! - Loads and stores of different threads are unordered; atomics are relaxed and device-wide.
//!
//! # Around the form
//!
//! - Text: `Display` of a [`Module`] writes it and [`parse`] reads it; `print.rs` is its reference. Two modules are
//!   the same when their texts are.
//! - [`verify`] checks a module; its rules are numbered in `verify.rs`. Everything below relies on verified IR.
//! - [`KernelAccess`] tells which arrays a kernel may read and write.
//! - [`simplify()`] makes it smaller, before it is hashed and compiled.
//! - `arbitrary` (a feature) makes random modules for tests.
//!
//! *Invariant:* this crate never sees a device. Anything that asks "which GPU?" belongs in `inkle-codegen` or later.
#![forbid(unsafe_code)]

mod access;
#[cfg(feature = "arbitrary")]
pub mod arbitrary;
mod builder;
mod ir;
mod layout;
mod op;
mod parse;
mod print;
pub mod simplify;
mod types;
mod updates;
mod verify;

pub use access::{Access, ArrayAccess, KernelAccess, array_names};
pub use builder::Builder;
pub use ir::{
    Block, BlockData, Function, FunctionId, FunctionKind, Links, Module, Op, OpData, Param, Value, ValueData,
    ValueDef,
};
pub use layout::{
    ArrayDesc, CheckRecord, FABRIC_COLUMNS, FEW_BLOCKS_ENTRY, FabricArrayDesc, FieldLayout, IN_ORDER,
    IndexedArrayDesc, LaunchBounds, MAX_DIMS, MAX_LOCAL_SIZE, ParamLayout,
};
pub use op::{AtomicOp, BinaryOp, CmpOp, Constant, OpKind, UnaryOp};
pub use parse::{MAX_NESTING, ParseError, parse};
pub use simplify::simplify;
pub use types::{ArrayKind, ArrayType, Field, Scalar, ScalarKind, StructType, Type};
pub use updates::{OwnRange, TouchedArray, Updates, Use};
pub use verify::{VerifyError, VerifyErrors, verify};
