//! What is known of every operation's derivative: the one table. The matches have no catch-all arm, so that an
//! operation cannot be added without deciding about its derivative.

use inkle_ir::{AtomicOp, BinaryOp, OpKind, UnaryOp};

/// How gradients pass through an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Derivative {
    /// Not at all: the result is no float, does not depend on floats, or only in jumps.
    Zero,
    /// A formula in the operands and the result; the reverse sweep needs the values that it says.
    Formula(Uses),
    /// Parts are moved: what flows back is moved the other way. Indices and conditions are needed.
    Moves,
    /// An array or an address: gradients take the same way through the array of gradients.
    Address,
    /// A read, write or update of memory.
    Memory,
    /// Has blocks, or a body elsewhere, which are differentiated.
    Nested,
}

/// Which values of an operation a formula needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Uses {
    /// The operands.
    pub operands: bool,
    /// The result.
    pub result: bool,
}

const NOTHING: Derivative = Derivative::Formula(Uses { operands: false, result: false });
const OPERANDS: Derivative = Derivative::Formula(Uses { operands: true, result: false });
const RESULT: Derivative = Derivative::Formula(Uses { operands: false, result: true });

/// The derivative of an operation.
pub(crate) fn derivative(kind: &OpKind) -> Derivative {
    match kind {
        OpKind::Unary(op) => unary(*op),
        OpKind::Binary(op) => binary(*op),
        OpKind::Const(_)
        | OpKind::Zero
        | OpKind::Cmp(_)
        | OpKind::Bitcast
        | OpKind::Shape(_)
        | OpKind::Stride(_)
        | OpKind::Address
        // Compares bits; what it stores is no smooth function of anything.
        | OpKind::AtomicCas
        | OpKind::Tid(_)
        | OpKind::LaunchDim(_)
        | OpKind::BlockDim
        | OpKind::Print(_)
        | OpKind::Assert(_)
        | OpKind::Breakpoint => Derivative::Zero,
        OpKind::Cast => NOTHING,
        OpKind::Select
        | OpKind::Construct
        | OpKind::Extract(_)
        | OpKind::ExtractDyn
        | OpKind::Insert(_)
        | OpKind::InsertDyn => Derivative::Moves,
        OpKind::Elem
        | OpKind::View(_)
        | OpKind::Window(_)
        | OpKind::Local(_)
        | OpKind::ArrayAt
        | OpKind::Field(_)
        | OpKind::Comp
        | OpKind::GradArray => Derivative::Address,
        OpKind::Load | OpKind::Store => Derivative::Memory,
        OpKind::Atomic(op) => match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Min | AtomicOp::Max | AtomicOp::Exch => Derivative::Memory,
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => Derivative::Zero,
        },
        OpKind::If | OpKind::For | OpKind::While | OpKind::Call(_) | OpKind::Yield | OpKind::Return => {
            Derivative::Nested
        }
    }
}

fn unary(op: UnaryOp) -> Derivative {
    match op {
        UnaryOp::Neg => NOTHING,
        UnaryOp::Abs
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Asin
        | UnaryOp::Acos
        | UnaryOp::Atan
        | UnaryOp::Sinh
        | UnaryOp::Cosh
        | UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Log10
        | UnaryOp::Erf
        | UnaryOp::Erfc => OPERANDS,
        UnaryOp::Sqrt
        | UnaryOp::Rsqrt
        | UnaryOp::Tan
        | UnaryOp::Tanh
        | UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Cbrt
        | UnaryOp::Erfinv
        | UnaryOp::Erfcinv => RESULT,
        UnaryOp::Floor
        | UnaryOp::Ceil
        | UnaryOp::Trunc
        | UnaryOp::Round
        | UnaryOp::Rint
        | UnaryOp::Not
        | UnaryOp::Invert
        | UnaryOp::IsNan
        | UnaryOp::IsInf
        | UnaryOp::IsFinite
        | UnaryOp::Popcount
        | UnaryOp::Clz
        | UnaryOp::Ctz => Derivative::Zero,
    }
}

fn binary(op: BinaryOp) -> Derivative {
    match op {
        BinaryOp::FloorDiv | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
            Derivative::Zero
        }
        _ => {
            let [first, second, result] = binary_uses(op, [true, true]);
            Derivative::Formula(Uses { operands: first || second, result })
        }
    }
}

/// Which of a binary operation's operands and result its formulas need for the gradients of the operands that one is wanted of.
pub(crate) fn binary_uses(op: BinaryOp, wanted: [bool; 2]) -> [bool; 3] {
    let [first, second] = wanted;
    let any = first || second;
    match op {
        BinaryOp::Add | BinaryOp::Sub => [false, false, false],
        BinaryOp::Mul => [second, first, false],
        BinaryOp::Div => [false, any, second],
        BinaryOp::Rem => [second, second, false],
        BinaryOp::Pow => [any, first, second],
        BinaryOp::Min | BinaryOp::Max | BinaryOp::Atan2 => [any, any, false],
        BinaryOp::FloorDiv | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => {
            [false, false, false]
        }
    }
}
