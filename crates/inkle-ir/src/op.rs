//! The operations, each declared once: what it is called, what it takes and what it gives.

use std::fmt;
use std::hash::{Hash, Hasher};

use smallvec::SmallVec;

use crate::types::{Scalar, Type};

/// A scalar constant, exact. The result type of the `const` operation says how it is read.
#[derive(Clone, Copy, Debug)]
pub enum Constant {
    /// `true` or `false`.
    Bool(bool),
    /// An integer, sign-extended or zero-extended to 128 bits so that every i64 and u64 fits.
    Int(i128),
    /// A float; f16, bf16 and f32 constants are rounded from it once.
    Float(f64),
}

impl PartialEq for Constant {
    fn eq(&self, other: &Constant) -> bool {
        match (self, other) {
            (Constant::Bool(a), Constant::Bool(b)) => a == b,
            (Constant::Int(a), Constant::Int(b)) => a == b,
            // Bit equality: NaN equals itself and -0.0 differs from 0.0.
            (Constant::Float(a), Constant::Float(b)) => a.to_bits() == b.to_bits(),
            _ => false,
        }
    }
}

impl Eq for Constant {}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Constant::Bool(value) => value.hash(state),
            Constant::Int(value) => value.hash(state),
            Constant::Float(value) => value.to_bits().hash(state),
        }
    }
}

macro_rules! keyword_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $keyword:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// Every variant, in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// The keyword of the text form.
            pub const fn keyword(self) -> &'static str {
                match self { $($name::$variant => $keyword,)* }
            }

            /// The variant of a keyword.
            pub fn from_keyword(keyword: &str) -> Option<$name> {
                match keyword { $($keyword => Some($name::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.keyword())
            }
        }
    };
}

keyword_enum! {
    /// `%r = <op> %x`: elementwise on numbers, vectors, matrices and quaternions; result type is the operand's,
    /// except for the tests, which take a scalar float and give `bool`.
    UnaryOp {
        /// Negation; wraps for integers.
        Neg = "neg",
        /// Logical not; `bool` only.
        Not = "not",
        /// Bitwise complement; integers.
        Invert = "invert",
        /// Absolute value; wraps for the smallest integer.
        Abs = "abs",
        /// Square root, correctly rounded.
        Sqrt = "sqrt",
        /// Reciprocal square root; at most 2 ULP.
        Rsqrt = "rsqrt",
        /// Largest whole number not above.
        Floor = "floor",
        /// Smallest whole number not below.
        Ceil = "ceil",
        /// Towards zero.
        Trunc = "trunc",
        /// Nearest whole number, halves away from zero.
        Round = "round",
        /// Nearest whole number, halves to even.
        Rint = "rint",
        /// Sine, radians.
        Sin = "sin",
        /// Cosine, radians.
        Cos = "cos",
        /// Tangent, radians.
        Tan = "tan",
        /// Arc sine.
        Asin = "asin",
        /// Arc cosine.
        Acos = "acos",
        /// Arc tangent.
        Atan = "atan",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// e to the x.
        Exp = "exp",
        /// 2 to the x.
        Exp2 = "exp2",
        /// Natural logarithm.
        Log = "log",
        /// Logarithm to base 2.
        Log2 = "log2",
        /// Logarithm to base 10.
        Log10 = "log10",
        /// Cube root.
        Cbrt = "cbrt",
        /// Error function.
        Erf = "erf",
        /// Complementary error function.
        Erfc = "erfc",
        /// Inverse error function.
        Erfinv = "erfinv",
        /// Inverse complementary error function.
        Erfcinv = "erfcinv",
        /// Whether the float is NaN.
        IsNan = "isnan",
        /// Whether the float is infinite.
        IsInf = "isinf",
        /// Whether the float is neither NaN nor infinite.
        IsFinite = "isfinite",
        /// Number of one bits; integers.
        Popcount = "popcount",
        /// Number of zero bits above the highest one; the width for zero.
        Clz = "clz",
        /// Number of zero bits below the lowest one; the width for zero.
        Ctz = "ctz",
    }
}

keyword_enum! {
    /// `%r = <op> %a, %b`: elementwise, both operands and the result of one type.
    BinaryOp {
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Elementwise product.
        Mul = "mul",
        /// Quotient; integers truncate towards zero.
        Div = "div",
        /// Quotient rounded towards minus infinity; for floats `floor(a / b)`.
        FloorDiv = "floordiv",
        /// Remainder with the sign of the dividend (C's `%` and `fmod`).
        Rem = "rem",
        /// Smaller; a NaN operand gives the other.
        Min = "min",
        /// Larger; a NaN operand gives the other.
        Max = "max",
        /// Power; floats.
        Pow = "pow",
        /// Angle of the point (b, a); floats.
        Atan2 = "atan2",
        /// Bitwise and; also `bool`.
        And = "and",
        /// Bitwise or; also `bool`.
        Or = "or",
        /// Bitwise exclusive or; also `bool`.
        Xor = "xor",
        /// Shift left.
        Shl = "shl",
        /// Shift right, arithmetic for signed integers.
        Shr = "shr",
    }
}

keyword_enum! {
    /// `%r = <op> %a, %b`: two scalars of one type to `bool`. Float comparisons with NaN are false, `ne` true.
    CmpOp {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
        /// Greater.
        Gt = "gt",
        /// Greater or equal.
        Ge = "ge",
    }
}

impl CmpOp {
    /// The comparison with left and right exchanged.
    pub fn mirrored(self) -> CmpOp {
        match self {
            CmpOp::Lt => CmpOp::Gt,
            CmpOp::Le => CmpOp::Ge,
            CmpOp::Gt => CmpOp::Lt,
            CmpOp::Ge => CmpOp::Le,
            same => same,
        }
    }

    /// The comparison that is true of integers where this one is false; floats may be unordered.
    pub fn negated(self) -> CmpOp {
        match self {
            CmpOp::Eq => CmpOp::Ne,
            CmpOp::Ne => CmpOp::Eq,
            CmpOp::Lt => CmpOp::Ge,
            CmpOp::Le => CmpOp::Gt,
            CmpOp::Gt => CmpOp::Le,
            CmpOp::Ge => CmpOp::Lt,
        }
    }
}

keyword_enum! {
    /// `%old = atomic_<op> %ref, %v`: relaxed, device-wide; elementwise and not atomic as a whole on composites.
    AtomicOp {
        /// Adds.
        Add = "atomic_add",
        /// Subtracts.
        Sub = "atomic_sub",
        /// Keeps the smaller.
        Min = "atomic_min",
        /// Keeps the larger.
        Max = "atomic_max",
        /// Bitwise and.
        And = "atomic_and",
        /// Bitwise or.
        Or = "atomic_or",
        /// Bitwise exclusive or.
        Xor = "atomic_xor",
        /// Replaces.
        Exch = "atomic_exch",
    }
}

/// What an operation does. Operands, results and blocks are in [`OpData`](crate::OpData).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OpKind {
    /// `%r = const <literal> : T`, T scalar.
    Const(Constant),
    /// `%r = zero : T`: all components zero; arrays are empty, refs null.
    Zero,
    /// See [`UnaryOp`].
    Unary(UnaryOp),
    /// See [`BinaryOp`].
    Binary(BinaryOp),
    /// See [`CmpOp`].
    Cmp(CmpOp),
    /// `%r = select %c, %a, %b`: `a` where `c` else `b`; any type, both evaluated.
    Select,
    /// `%r = cast %x : T`: numeric conversion, elementwise between same shapes. To bool: `x != 0`.
    Cast,
    /// `%r = bitcast %x : T`: same bits; scalars of equal size.
    Bitcast,
    /// `%r = construct %a, %b, ... : T`: from all components (row-major scalars) or, for structs, all fields.
    Construct,
    /// `%r = extract %x, <index>`: component (flat, row-major) or struct field by constant index; of a Fabric array the
    /// table of buckets, the index list, or the number of elements.
    Extract(u32),
    /// `%r = extract_dyn %x, %i`: scalar component by flat i32 index; vectors, matrices, quaternions, transforms.
    ExtractDyn,
    /// `%r = insert %x, %v, <index>`: `x` with one component or field replaced.
    Insert(u32),
    /// `%r = insert_dyn %x, %v, %i`: `x` with the scalar component at a flat i32 index replaced.
    InsertDyn,
    /// `%r = elem %array, %i, ...`: the address of an element, one i32 or i64 index per dimension, not negative.
    Elem,
    /// `%r = view %array, %i, <dim>`: the sub-array at an index of one of several dimensions, i32 or i64, not
    /// negative; the result lacks the dimension.
    View(u32),
    /// `%r = window %array, %start, %extent, %step, <dim>`: every `step`-th element of a dimension, `extent` of them
    /// from `start` on; i32, all within the array. The array is a strided one.
    Window(u32),
    /// `%r = local <extent>, ... : array<T, n>`: an array of this thread's alone, all components zero, of at most
    /// [`MAX_LOCAL_SIZE`](crate::MAX_LOCAL_SIZE) bytes. Evaluated again, in a loop, the operation may give the same
    /// memory. Where neighbours lie is the device's choice, unless the module asks with `stride` or `address`.
    Local(SmallVec<[u32; 4]>),
    /// `%r = array_at %address, %extent, ... : array<T, n>`: the array whose elements lie one after another from an
    /// address on; u64 and one i32 per dimension.
    ArrayAt,
    /// `%r = field %ref, <index>`: the address of a struct's field.
    Field(u32),
    /// `%r = comp %ref, %i`: the address of a scalar component by flat index.
    Comp,
    /// `%r = grad_array %array`: the array of gradients that belongs to an array, of the same type.
    GradArray,
    /// `%r = shape %array, <dim>`: extent of a dimension, i32.
    Shape(u32),
    /// `%r = stride %array, <dim>`: bytes between neighbours of a dimension, i64.
    Stride(u32),
    /// `%r = address %array`: the address of the first element, u64; zero for an array that was not passed. Of a
    /// reference, the address it is.
    Address,
    /// `%r = load %ref`.
    Load,
    /// `store %ref, %v`.
    Store,
    /// See [`AtomicOp`].
    Atomic(AtomicOp),
    /// `%old = atomic_cas %ref, %compare, %new`: scalars of 32 or 64 bits and, by bits, floats.
    AtomicCas,
    /// `%r = tid <dim>`: this thread's index in a launch dimension, i32.
    Tid(u32),
    /// `%r = launch_dim <dim>`: the launch's extent in a dimension, i32.
    LaunchDim(u32),
    /// `%r = block_dim`: how many threads run as one block, i32; 1 on CPUs.
    BlockDim,
    /// `%r... = if %c -> (T...) {then} else {else}`: blocks end in `yield`.
    If,
    /// `%r... = for %lo, %hi, %step, %init...`: Python's `range` with a step that is not zero. The block takes the
    /// index (type of `lo`: i32 or i64) and the carried values and yields the next ones; results are the last.
    For,
    /// `%r... = while %init...`: the first block takes the carried values and yields one `bool`; while it is true
    /// the second takes them and yields the next; results are the last.
    While,
    /// `%r... = call @f(%a, ...)`.
    Call(crate::FunctionId),
    /// `print "format", %v...`: printf conversions, one per scalar component.
    Print(String),
    /// `assert %c, "message"`: stops the kernel with the message when false, in kernels built with checks.
    Assert(String),
    /// `breakpoint`: stops in a debugger.
    Breakpoint,
    /// `yield %v...`: ends a block of `if`, `for`, `while`.
    Yield,
    /// `return %v...`: ends a function's body.
    Return,
}

impl OpKind {
    /// Whether the operation neither reads nor writes memory and has no other effect. `if`, `for`, `while` and
    /// calls are judged by what is in them, so they are not pure here.
    pub fn is_pure(&self) -> bool {
        !matches!(
            self,
            OpKind::Load
                | OpKind::Store
                // Each evaluation clears the memory, and two operations never share it.
                | OpKind::Local(_)
                | OpKind::Atomic(_)
                | OpKind::AtomicCas
                | OpKind::If
                | OpKind::For
                | OpKind::While
                | OpKind::Call(_)
                | OpKind::Print(_)
                | OpKind::Assert(_)
                | OpKind::Breakpoint
                | OpKind::Yield
                | OpKind::Return
        )
    }

    /// Whether the operation ends a block.
    pub fn is_terminator(&self) -> bool {
        matches!(self, OpKind::Yield | OpKind::Return)
    }

    /// The number of blocks the operation owns.
    pub fn block_count(&self) -> usize {
        match self {
            OpKind::If | OpKind::While => 2,
            OpKind::For => 1,
            _ => 0,
        }
    }

    /// The keyword of the text form.
    pub fn keyword(&self) -> &'static str {
        match self {
            OpKind::Const(_) => "const",
            OpKind::Zero => "zero",
            OpKind::Unary(op) => op.keyword(),
            OpKind::Binary(op) => op.keyword(),
            OpKind::Cmp(op) => op.keyword(),
            OpKind::Select => "select",
            OpKind::Cast => "cast",
            OpKind::Bitcast => "bitcast",
            OpKind::Construct => "construct",
            OpKind::Extract(_) => "extract",
            OpKind::ExtractDyn => "extract_dyn",
            OpKind::Insert(_) => "insert",
            OpKind::InsertDyn => "insert_dyn",
            OpKind::Elem => "elem",
            OpKind::View(_) => "view",
            OpKind::Window(_) => "window",
            OpKind::Local(_) => "local",
            OpKind::ArrayAt => "array_at",
            OpKind::Field(_) => "field",
            OpKind::Comp => "comp",
            OpKind::GradArray => "grad_array",
            OpKind::Shape(_) => "shape",
            OpKind::Stride(_) => "stride",
            OpKind::Address => "address",
            OpKind::Load => "load",
            OpKind::Store => "store",
            OpKind::Atomic(op) => op.keyword(),
            OpKind::AtomicCas => "atomic_cas",
            OpKind::Tid(_) => "tid",
            OpKind::LaunchDim(_) => "launch_dim",
            OpKind::BlockDim => "block_dim",
            OpKind::If => "if",
            OpKind::For => "for",
            OpKind::While => "while",
            OpKind::Call(_) => "call",
            OpKind::Print(_) => "print",
            OpKind::Assert(_) => "assert",
            OpKind::Breakpoint => "breakpoint",
            OpKind::Yield => "yield",
            OpKind::Return => "return",
        }
    }
}

/// A constant as a value of a scalar type: out-of-range integers wrap, floats round.
impl Constant {
    /// The constant converted to `scalar`, as `cast` would.
    pub fn convert(self, scalar: Scalar) -> Constant {
        match scalar.kind() {
            crate::ScalarKind::Bool => Constant::Bool(match self {
                Constant::Bool(b) => b,
                Constant::Int(i) => i != 0,
                Constant::Float(f) => f != 0.0,
            }),
            crate::ScalarKind::Float => {
                // Through f64 a large integer would be rounded twice.
                if let (Constant::Int(i), Scalar::F32) = (self, scalar) {
                    return Constant::Float(f64::from(i as f32));
                }
                let wide = match self {
                    Constant::Bool(b) => f64::from(u8::from(b)),
                    Constant::Int(i) => i as f64,
                    Constant::Float(f) => f,
                };
                Constant::Float(match scalar {
                    Scalar::F16 => half::f16::from_f64(wide).to_f64(),
                    Scalar::BF16 => half::bf16::from_f64(wide).to_f64(),
                    Scalar::F32 => f64::from(wide as f32),
                    _ => wide,
                })
            }
            crate::ScalarKind::Signed | crate::ScalarKind::Unsigned => Constant::Int(match self {
                Constant::Bool(b) => i128::from(b),
                Constant::Int(i) => wrap(i, scalar),
                Constant::Float(f) => saturate(f, scalar),
            }),
        }
    }
}

fn wrap(value: i128, scalar: Scalar) -> i128 {
    let bits = scalar.size() * 8;
    let mask = (1i128 << bits) - 1;
    let low = value & mask;
    if scalar.is_signed() && low >> (bits - 1) != 0 { low - (1i128 << bits) } else { low }
}

fn saturate(value: f64, scalar: Scalar) -> i128 {
    let bits = scalar.size() * 8;
    let (lo, hi) = if scalar.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    (value as i128).clamp(lo, hi)
}

/// The result type of a unary operation on `operand`.
impl UnaryOp {
    /// Whether the operation takes a float and gives `bool`.
    pub const fn is_test(self) -> bool {
        matches!(self, UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite)
    }

    /// The result type for an operand type.
    pub fn result_type(self, operand: Type) -> Type {
        if self.is_test() { Type::BOOL } else { operand }
    }
}
