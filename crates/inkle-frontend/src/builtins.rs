//! The registry of built-ins that are operations or special forms.
//!
//! Each entry says what users can call, in which group of the documentation it stands, its signatures (patterns in
//! the notation of [`crate::pattern`]) and how it is lowered. Built-ins written in the kernel language are
//! registered by the library (`inkle-prelude`) through their own declarations; together they are the one registry
//! that overload resolution, stubs and documentation are made from.

use inkle_ir::{AtomicOp, BinaryOp, UnaryOp};

use crate::tree::BinOp;

/// How a built-in becomes IR.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lower {
    /// One operation on one operand.
    Unary(UnaryOp),
    /// One operation on two operands of one type.
    Binary(BinaryOp),
    /// The function form of a binary operator.
    Operator(BinOp),
    /// An atomic update of an array element; the result is the old value.
    Atomic(AtomicOp),
    /// Handled by the checker.
    Special(Special),
}

/// Built-ins with typing rules of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is the built-in of that name")]
pub enum Special {
    AddressOf,
    Address,
    ArrayAt,
    AtomicCas,
    Bitcast,
    BitCount,
    BlockDim,
    Breakpoint,
    Cast,
    ExpectEq,
    ExpectNear,
    ExpectNeq,
    Extract,
    Grad,
    Identity,
    IsInstance,
    LaunchDim,
    Len,
    Load,
    Matrix,
    MatrixFromCols,
    MatrixFromRows,
    Max,
    Min,
    Neg,
    Pos,
    Print,
    Printf,
    QuatIdentity,
    Quaternion,
    Range,
    Reversed,
    Select,
    Static,
    Store,
    Tid,
    TransformIdentity,
    Transformation,
    Tuple,
    TypeOf,
    Unot,
    Vector,
    View,
    Where,
    Zeros,
}

/// One entry of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// What users call.
    pub name: &'static str,
    /// The group in the documentation.
    pub group: &'static str,
    /// The signatures: `a: F, b: F -> F`.
    pub signatures: &'static [&'static str],
    /// How it is lowered.
    pub lower: Lower,
    /// What it does, for users.
    pub doc: &'static str,
}

const fn entry(
    name: &'static str,
    group: &'static str,
    signatures: &'static [&'static str],
    lower: Lower,
    doc: &'static str,
) -> Builtin {
    Builtin { name, group, signatures, lower, doc }
}

const SCALAR: &str = "Scalar Math";
const OPERATORS: &str = "Operators";
const UTILITY: &str = "Utility";
const VECTOR: &str = "Vector Math";
const QUATERNION: &str = "Quaternion Math";
const TRANSFORM: &str = "Transformations";

const F_TO_F: &[&str] = &["x: F -> F"];
const F_TEST: &[&str] = &["x: F -> bool"];
const ATOMIC: &[&str] = &[
    "arr: array[T, 1], i: I, value: T -> T",
    "arr: array[T, 2], i: I, j: I, value: T -> T",
    "arr: array[T, 3], i: I, j: I, k: I, value: T -> T",
    "arr: array[T, 4], i: I, j: I, k: I, l: I, value: T -> T",
];
const STORE: &[&str] = &[
    "arr: array[T, 1], i: I, value: T",
    "arr: array[T, 2], i: I, j: I, value: T",
    "arr: array[T, 3], i: I, j: I, k: I, value: T",
    "arr: array[T, 4], i: I, j: I, k: I, l: I, value: T",
];
const ELEMENT: &[&str] = &[
    "arr: array[T, 1], i: I -> T",
    "arr: array[T, 2], i: I, j: I -> T",
    "arr: array[T, 3], i: I, j: I, k: I -> T",
    "arr: array[T, 4], i: I, j: I, k: I, l: I -> T",
];
const ARITHMETIC: &[&str] = &["a: R, b: R -> R", "a: vec[N, R], b: vec[N, R] -> vec[N, R]"];
const BITWISE: &[&str] = &["a: B, b: B -> B", "a: vec[N, I], b: vec[N, I] -> vec[N, I]"];

/// Every built-in that is not written in the kernel language, by name.
pub const BUILTINS: &[Builtin] = &[
    entry(
        "abs",
        SCALAR,
        &["x: R -> R", "x: vec[N, R] -> vec[N, R]"],
        Lower::Unary(UnaryOp::Abs),
        "Absolute value, elementwise on vectors.",
    ),
    entry(
        "acos",
        SCALAR,
        F_TO_F,
        Lower::Unary(UnaryOp::Acos),
        "Arc cosine, radians. The argument is clamped to [-1, 1].",
    ),
    entry(
        "asin",
        SCALAR,
        F_TO_F,
        Lower::Unary(UnaryOp::Asin),
        "Arc sine, radians. The argument is clamped to [-1, 1].",
    ),
    entry("atan", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Atan), "Arc tangent, radians."),
    entry(
        "atan2",
        SCALAR,
        &["y: F, x: F -> F"],
        Lower::Binary(BinaryOp::Atan2),
        "Angle of the point (x, y), radians.",
    ),
    entry("cbrt", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Cbrt), "Cube root."),
    entry("ceil", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Ceil), "Smallest whole number not below `x`."),
    entry("cos", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Cos), "Cosine of an angle in radians."),
    entry("cosh", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Cosh), "Hyperbolic cosine."),
    entry("erf", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Erf), "Error function."),
    entry("erfc", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Erfc), "Complementary error function."),
    entry("erfcinv", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Erfcinv), "Inverse of `erfc`."),
    entry("erfinv", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Erfinv), "Inverse of `erf`."),
    entry("exp", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Exp), "e to the power of `x`."),
    entry("exp2", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Exp2), "2 to the power of `x`."),
    entry("floor", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Floor), "Largest whole number not above `x`."),
    entry(
        "isfinite",
        SCALAR,
        F_TEST,
        Lower::Unary(UnaryOp::IsFinite),
        "Whether `x` is neither infinite nor NaN.",
    ),
    entry("isinf", SCALAR, F_TEST, Lower::Unary(UnaryOp::IsInf), "Whether `x` is infinite."),
    entry("isnan", SCALAR, F_TEST, Lower::Unary(UnaryOp::IsNan), "Whether `x` is NaN."),
    entry("log", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Log), "Natural logarithm."),
    entry("log10", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Log10), "Logarithm to base 10."),
    entry("log2", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Log2), "Logarithm to base 2."),
    entry(
        "max",
        SCALAR,
        ARITHMETIC,
        Lower::Special(Special::Max),
        "The larger of two values, elementwise on vectors; of one vector its largest component.",
    ),
    entry(
        "min",
        SCALAR,
        ARITHMETIC,
        Lower::Special(Special::Min),
        "The smaller of two values, elementwise on vectors; of one vector its smallest component.",
    ),
    entry("pow", SCALAR, &["x: F, y: F -> F"], Lower::Operator(BinOp::Pow), "`x` to the power of `y`."),
    entry("rint", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Rint), "Nearest whole number, halves to even."),
    entry(
        "round",
        SCALAR,
        F_TO_F,
        Lower::Unary(UnaryOp::Round),
        "Nearest whole number, halves away from zero.",
    ),
    entry("rsqrt", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Rsqrt), "One over the square root."),
    entry("sin", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Sin), "Sine of an angle in radians."),
    entry("sinh", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Sinh), "Hyperbolic sine."),
    entry("sqrt", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Sqrt), "Square root."),
    entry("tan", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Tan), "Tangent of an angle in radians."),
    entry("tanh", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Tanh), "Hyperbolic tangent."),
    entry("trunc", SCALAR, F_TO_F, Lower::Unary(UnaryOp::Trunc), "`x` without its fraction."),
    entry(
        "bit_count",
        SCALAR,
        &["x: I -> int32"],
        Lower::Special(Special::BitCount),
        "Number of bits that are one.",
    ),
    entry(
        "popcount",
        SCALAR,
        &["x: I -> I"],
        Lower::Unary(UnaryOp::Popcount),
        "Number of bits that are one, in the type of `x`.",
    ),
    entry(
        "clz",
        SCALAR,
        &["x: I -> I"],
        Lower::Unary(UnaryOp::Clz),
        "Number of zero bits above the highest one.",
    ),
    entry(
        "ctz",
        SCALAR,
        &["x: I -> I"],
        Lower::Unary(UnaryOp::Ctz),
        "Number of zero bits below the lowest one.",
    ),
    entry("add", OPERATORS, ARITHMETIC, Lower::Operator(BinOp::Add), "`a + b`."),
    entry("sub", OPERATORS, ARITHMETIC, Lower::Operator(BinOp::Sub), "`a - b`."),
    entry("mul", OPERATORS, &["a: R, b: R -> R"], Lower::Operator(BinOp::Mul), "`a * b`."),
    entry("div", OPERATORS, &["a: R, b: R -> R"], Lower::Operator(BinOp::Div), "`a / b`; integers truncate."),
    entry(
        "floordiv",
        OPERATORS,
        &["a: R, b: R -> R"],
        Lower::Operator(BinOp::FloorDiv),
        "`a // b`, rounded towards minus infinity.",
    ),
    entry("mod", OPERATORS, ARITHMETIC, Lower::Operator(BinOp::Mod), "`a % b`, with the sign of `a`."),
    entry("bit_and", OPERATORS, BITWISE, Lower::Operator(BinOp::BitAnd), "`a & b`."),
    entry("bit_or", OPERATORS, BITWISE, Lower::Operator(BinOp::BitOr), "`a | b`."),
    entry("bit_xor", OPERATORS, BITWISE, Lower::Operator(BinOp::BitXor), "`a ^ b`."),
    entry("lshift", OPERATORS, BITWISE, Lower::Operator(BinOp::Shl), "`a << b`."),
    entry("rshift", OPERATORS, BITWISE, Lower::Operator(BinOp::Shr), "`a >> b`."),
    entry(
        "invert",
        OPERATORS,
        &["x: I -> I", "x: vec[N, I] -> vec[N, I]"],
        Lower::Unary(UnaryOp::Invert),
        "`~x`.",
    ),
    entry("neg", OPERATORS, &["x: R -> R"], Lower::Special(Special::Neg), "`-x`."),
    entry("pos", OPERATORS, &["x: R -> R"], Lower::Special(Special::Pos), "`+x`."),
    entry("unot", OPERATORS, &["a: B -> bool"], Lower::Special(Special::Unot), "`not a`."),
    entry(
        "address",
        UTILITY,
        ELEMENT,
        Lower::Special(Special::Address),
        "The value at an index of an array.",
    ),
    entry(
        "atomic_add",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Add),
        "Atomically adds to an array element; gives the old value.",
    ),
    entry(
        "atomic_sub",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Sub),
        "Atomically subtracts from an array element; gives the old value.",
    ),
    entry(
        "atomic_min",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Min),
        "Atomically keeps the smaller value; gives the old one.",
    ),
    entry(
        "atomic_max",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Max),
        "Atomically keeps the larger value; gives the old one.",
    ),
    entry(
        "atomic_and",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::And),
        "Atomic bitwise and; gives the old value.",
    ),
    entry(
        "atomic_or",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Or),
        "Atomic bitwise or; gives the old value.",
    ),
    entry(
        "atomic_xor",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Xor),
        "Atomic bitwise exclusive or; gives the old value.",
    ),
    entry(
        "atomic_exch",
        UTILITY,
        ATOMIC,
        Lower::Atomic(AtomicOp::Exch),
        "Atomically replaces a value; gives the old one.",
    ),
    entry(
        "atomic_cas",
        UTILITY,
        &["arr: array[S, 1], i: I, compare: S, value: S -> S"],
        Lower::Special(Special::AtomicCas),
        "Replaces an element by `value` if it equals `compare`; gives the old value.",
    ),
    entry(
        "block_dim",
        UTILITY,
        &[" -> int32"],
        Lower::Special(Special::BlockDim),
        "How many threads run as one block; 1 on CPUs.",
    ),
    entry(
        "cast",
        UTILITY,
        &[],
        Lower::Special(Special::Cast),
        "Reinterprets the bits of a scalar as another type of the same size.",
    ),
    entry(
        "bitcast",
        UTILITY,
        &[],
        Lower::Special(Special::Bitcast),
        "Reinterprets the bits of a scalar as another type of the same size.",
    ),
    entry(
        "expect_eq",
        UTILITY,
        &["a: T, b: T"],
        Lower::Special(Special::ExpectEq),
        "Prints a message when the values differ.",
    ),
    entry(
        "expect_near",
        UTILITY,
        &[
            "a: F, b: F, tolerance: F",
            "a: vec[N, F], b: vec[N, F], tolerance: F",
            "a: mat[N, M, F], b: mat[N, M, F], tolerance: F",
            "a: quat[F], b: quat[F], tolerance: F",
        ],
        Lower::Special(Special::ExpectNear),
        "Prints a message when values or components differ by more than `tolerance`, by default 1e-6, or are NaN.",
    ),
    entry(
        "expect_neq",
        UTILITY,
        &["a: T, b: T"],
        Lower::Special(Special::ExpectNeq),
        "Prints a message when the values are equal.",
    ),
    entry(
        "extract",
        UTILITY,
        &[
            "a: vec[N, S], i: I -> S",
            "a: quat[F], i: I -> F",
            "a: transform[F], i: I -> F",
            "a: mat[N, M, S], i: I, j: I -> S",
        ],
        Lower::Special(Special::Extract),
        "A component of a vector, matrix, quaternion or transform.",
    ),
    entry(
        "isinstance",
        UTILITY,
        &[],
        Lower::Special(Special::IsInstance),
        "Whether a value has a type, decided while compiling.",
    ),
    entry(
        "launch_dim",
        UTILITY,
        &["dim: int32 -> int32"],
        Lower::Special(Special::LaunchDim),
        "The extent of the launch in a dimension.",
    ),
    entry(
        "len",
        UTILITY,
        &["a: T -> int32"],
        Lower::Special(Special::Len),
        "Number of components of a vector, rows of a matrix, extent of an array's first dimension.",
    ),
    entry(
        "address_of",
        UTILITY,
        &["place: T -> uint64"],
        Lower::Special(Special::AddressOf),
        "The address of a variable, a field or component of one, or an element of an array, for functions in C++. That of a variable is valid until its function returns.",
    ),
    entry("load", UTILITY, ELEMENT, Lower::Special(Special::Load), "Reads a reference."),
    entry("store", UTILITY, STORE, Lower::Special(Special::Store), "Writes through a reference."),
    entry(
        "breakpoint",
        UTILITY,
        &[],
        Lower::Special(Special::Breakpoint),
        "Stops in the debugger that the process runs under; without one the process or the kernel ends.",
    ),
    entry("print", UTILITY, &["value: T"], Lower::Special(Special::Print), "Prints values and a line break."),
    entry("printf", UTILITY, &[], Lower::Special(Special::Printf), "Prints by C's format rules."),
    entry("range", UTILITY, &[], Lower::Special(Special::Range), "The numbers of a `for` loop."),
    entry(
        "reversed",
        UTILITY,
        &[],
        Lower::Special(Special::Reversed),
        "The numbers of a `range(...)` from the last to the first, for a `for` loop.",
    ),
    entry(
        "select",
        UTILITY,
        &["cond: B, value_if_false: T, value_if_true: T -> T"],
        Lower::Special(Special::Select),
        "`value_if_true` where `cond`, else `value_if_false`; both are evaluated.",
    ),
    entry(
        "static",
        "Code Generation",
        &[],
        Lower::Special(Special::Static),
        "A Python expression evaluated while compiling.",
    ),
    entry(
        "grad",
        "Code Generation",
        &[],
        Lower::Special(Special::Grad),
        "`grad(f)(x, y)` gives the gradients of the parameters of a function or built-in `f` that are no arrays, as a \
         number or a tuple; those of its results are taken to be one.",
    ),
    entry(
        "tid",
        UTILITY,
        &[" -> int32"],
        Lower::Special(Special::Tid),
        "This thread's index: one number, or as many as are unpacked.",
    ),
    entry("tuple", UTILITY, &[], Lower::Special(Special::Tuple), "A tuple of values."),
    entry(
        "type",
        UTILITY,
        &[],
        Lower::Special(Special::TypeOf),
        "The type of a value, usable as a constructor.",
    ),
    entry(
        "array",
        UTILITY,
        &[],
        Lower::Special(Special::ArrayAt),
        "The array at an address, `ptr`, with a `shape` and a `dtype`; its elements lie one after another.",
    ),
    entry(
        "view",
        UTILITY,
        &["arr: array[T, D], i: I -> array[T, D]"],
        Lower::Special(Special::View),
        "The sub-array at leading indices.",
    ),
    entry(
        "where",
        UTILITY,
        &["cond: B, value_if_true: T, value_if_false: T -> T"],
        Lower::Special(Special::Where),
        "`value_if_true` where `cond`, else `value_if_false`; both are evaluated.",
    ),
    entry(
        "zeros",
        UTILITY,
        &[],
        Lower::Special(Special::Zeros),
        "An array of zeros that belongs to the thread, with a constant `shape` and a `dtype`.",
    ),
    entry(
        "identity",
        VECTOR,
        &["n: int32, dtype: S -> mat[N, N, S]"],
        Lower::Special(Special::Identity),
        "The `n` x `n` identity matrix.",
    ),
    entry(
        "matrix_from_cols",
        VECTOR,
        &[],
        Lower::Special(Special::MatrixFromCols),
        "The matrix whose columns are the given vectors, as many as there are.",
    ),
    entry(
        "matrix_from_rows",
        VECTOR,
        &[],
        Lower::Special(Special::MatrixFromRows),
        "The matrix whose rows are the given vectors, as many as there are.",
    ),
    entry(
        "matrix",
        VECTOR,
        &[],
        Lower::Special(Special::Matrix),
        "A matrix from its components, rows or one value for all.",
    ),
    entry(
        "vector",
        VECTOR,
        &[],
        Lower::Special(Special::Vector),
        "A vector from its components or one value for all.",
    ),
    entry(
        "quaternion",
        QUATERNION,
        &[
            "x: F, y: F, z: F, w: F -> quat[F]",
            "ijk: vec[3, F], real: F -> quat[F]",
            "quat: quat[F] -> quat[F]",
        ],
        Lower::Special(Special::Quaternion),
        "A quaternion from x, y, z, w, or from a vector and a real part.",
    ),
    entry(
        "quat_identity",
        QUATERNION,
        &[" -> quat[float32]", "dtype: F -> quat[F]"],
        Lower::Special(Special::QuatIdentity),
        "The quaternion that rotates nothing.",
    ),
    entry(
        "transformation",
        TRANSFORM,
        &["p: vec[3, F] -> transform[F]", "p: vec[3, F], q: quat[F] -> transform[F]"],
        Lower::Special(Special::Transformation),
        "A rigid transform from a position and a rotation.",
    ),
    entry(
        "transform_identity",
        TRANSFORM,
        &[" -> transform[float32]", "dtype: F -> transform[F]"],
        Lower::Special(Special::TransformIdentity),
        "The transform that moves nothing.",
    ),
];

/// The entry of a name.
pub fn lookup(name: &str) -> Option<&'static Builtin> {
    BUILTINS.iter().find(|b| b.name == name)
}
