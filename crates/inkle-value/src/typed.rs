//! What has a type in kernels: values, arrays of numbers and references to either.

use inkle_ir::Type;

use crate::scalar::Number;

/// What kernels and their functions can have as a variable.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no type of kernels",
    label = "kernels know numbers, vectors, matrices, arrays and `#[derive(inkle::Struct)]` structs",
    note = "write `#[derive(Clone, Copy, inkle::Struct)]` before a struct of your own to make it a value"
)]
pub trait Typed {
    /// The type as the compiler knows it.
    fn ty() -> Type;
}

/// In kernels an array of numbers is a vector.
impl<T: Number, const N: usize> Typed for [T; N] {
    fn ty() -> Type {
        Type::vec(N as u32, T::KIND)
    }
}

impl<T: Typed> Typed for &T {
    fn ty() -> Type {
        T::ty()
    }
}

impl<T: Typed> Typed for &mut T {
    fn ty() -> Type {
        T::ty()
    }
}
