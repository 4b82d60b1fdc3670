//! The codes of the checker's diagnostics. A code is never used again for another mistake.

use inkle_diag::Code;

/// A name that nothing defines.
pub const UNDEFINED_NAME: Code = Code("N001");
/// An attribute that the object does not have.
pub const NO_ATTRIBUTE: Code = Code("N002");
/// A Python object that kernels cannot use.
pub const NOT_FOR_KERNELS: Code = Code("N003");

/// Operands of different types.
pub const OPERAND_TYPES: Code = Code("T001");
/// No overload takes these arguments.
pub const NO_OVERLOAD: Code = Code("T002");
/// Wrong number or names of arguments.
pub const ARGUMENTS: Code = Code("T003");
/// A value that cannot become the type asked for.
pub const CONVERSION: Code = Code("T004");
/// A value of another type than the place it is stored in.
pub const STORE_TYPE: Code = Code("T005");
/// An index of a wrong type, or too many indices.
pub const INDEX: Code = Code("T006");
/// Something called that cannot be called.
pub const NOT_CALLABLE: Code = Code("T007");
/// A condition that has no truth value.
pub const CONDITION: Code = Code("T008");
/// A constant index past the end.
pub const INDEX_RANGE: Code = Code("T009");
/// A value that must be known while compiling.
pub const NEEDS_CONSTANT: Code = Code("T010");
/// A number that does not fit its type.
pub const LITERAL_RANGE: Code = Code("T011");
/// A wrong number of values to unpack.
pub const UNPACK: Code = Code("T012");
/// A value where a type, or a type where a value, belongs.
pub const NOT_A_VALUE: Code = Code("T013");

/// A parameter without a type annotation.
pub const ANNOTATION: Code = Code("T014");

/// A kernel that returns a value.
pub const KERNEL_RETURNS: Code = Code("F001");
/// A function that does not return on every path.
pub const MISSING_RETURN: Code = Code("F002");
/// A variable that is not set on every path.
pub const MAYBE_UNSET: Code = Code("F003");
/// A variable that is given a value of another type.
pub const CHANGED_TYPE: Code = Code("F004");
/// A variable whose type depends on the branch taken.
pub const BRANCH_TYPE: Code = Code("F005");
/// Returns of different types.
pub const RETURN_TYPE: Code = Code("F006");
/// A function that calls itself.
pub const RECURSION: Code = Code("F007");
/// `break` or `continue` outside a loop.
pub const OUTSIDE_LOOP: Code = Code("F008");

/// A function written in C++ whose signature C++ cannot have.
pub const NATIVE_SIGNATURE: Code = Code("F009");

/// A statement kernels cannot have.
pub const STATEMENT: Code = Code("U001");
/// An expression kernels cannot have.
pub const EXPRESSION: Code = Code("U002");

/// A mistake in inkle itself.
pub const INTERNAL: Code = Code("X001");
