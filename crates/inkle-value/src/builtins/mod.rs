//! The built-ins of kernels that take values: functions that kernels call, and the host, where each is a kernel of one thread.
//!
//! Their forms come from the registry that Python kernels are checked against; `generated` is made from it.

mod generated;

pub use generated::*;

use crate::scalar::Number;
use crate::value::Outcome;
use crate::vector::Vector;

/// The forms of the built-in `B`: implemented by the tuples of arguments it takes.
#[diagnostic::on_unimplemented(
    message = "the built-in `{B}` does not take the arguments `{Self}`",
    label = "no form of the built-in takes these types"
)]
pub trait Overload<B> {
    /// The result.
    type Out: Outcome;
}

/// What stands beside a built-in: a type of the same name.
#[doc(hidden)]
pub trait Builtin {
    /// The name in the registry.
    const NAME: &'static str;
}

macro_rules! builtin {
    (
        $(#[$doc:meta])* $name:ident = $of:literal ($($arg:ident: $(&$by:ident)? $var:ident),*);
        $([$($generics:tt)*] ($($ty:ty),* $(,)?) -> $out:ty;)*
    ) => {
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "it stands beside the function of the name")]
        #[derive(Debug)]
        pub enum $name {}

        impl Builtin for $name {
            const NAME: &'static str = $of;
        }

        $(
            impl<$($generics)*> Overload<$name> for ($($ty,)*) {
                type Out = $out;
            }
        )*

        $(#[$doc])*
        #[track_caller]
        #[allow(non_camel_case_types, clippy::too_many_arguments, reason = "as the registry has it")]
        pub fn $name<$($var),*>($($arg: $(&$by)? $var),*) -> <($($var,)*) as Overload<$name>>::Out
        where
            ($($var,)*): Overload<$name>,
            $($var: $crate::Value,)*
        {
            $crate::host::call::<$name, ($($var,)*), _>(&mut [$($crate::builtins::place!($($by)? $arg)),*])
        }
    };
}

/// An argument of a call by the host.
macro_rules! place {
    (mut $arg:ident) => {
        $crate::host::changed($arg)
    };
    ($arg:ident) => {
        $crate::host::given(&$arg)
    };
}

pub(crate) use {builtin, place};

builtin! {
    /// The smaller of two numbers, of vectors component by component.
    min = "min" (a: A, b: B);
    [T: Number] (T, T) -> T;
    [T: Number, const N: usize] (Vector<N, T>, Vector<N, T>) -> Vector<N, T>;
}

builtin! {
    /// The larger of two numbers, of vectors component by component.
    max = "max" (a: A, b: B);
    [T: Number] (T, T) -> T;
    [T: Number, const N: usize] (Vector<N, T>, Vector<N, T>) -> Vector<N, T>;
}
