//! Gradients of functions, in kernels.

use inkle_value::{Value, only_in_kernels};

use crate::array::Array;

/// The gradients of a function or built-in by its arguments, which are a tuple: a value, or a tuple of values, for those that
/// are no arrays. The gradients of the function's results are taken to be one, and no gradient flows into arrays.
///
/// The gradient of a function with a [gradient of its own](macro@crate::func#gradients) is what that gives. A function takes up to six arguments
/// for this.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::func]
/// fn area(width: f32, height: f32) -> f32 {
///     width * height
/// }
///
/// #[inkle::kernel]
/// fn slopes(of: &mut Array<f32>) {
///     let (by_width, by_height) = grad(area, (2.0, 5.0));
///     of[0] = by_width;
///     of[1] = by_height;
///     of[2] = grad(sin, (0.0,));
/// }
///
/// let mut of = Array::<f32>::zeros(3)?;
/// slopes.launch(1, (&mut of,))?;
/// assert_eq!(of.to_vec()?, [5.0, 2.0, 1.0]);
/// # Ok::<(), inkle::Error>(())
/// ```
#[track_caller]
pub fn grad<A: GradientArgs, F: Differentiable<A>>(f: F, args: A) -> A::Gradients {
    let _ = (f, args);
    only_in_kernels("`grad`")
}

/// A function that takes the arguments `A`.
#[diagnostic::on_unimplemented(
    message = "`grad` cannot differentiate `{Self}` with the arguments `{A}`",
    label = "`grad(f, (x, y))` takes a function and a tuple of its arguments"
)]
pub trait Differentiable<A> {}

/// A tuple of arguments: values, and arrays by `&`.
#[diagnostic::on_unimplemented(
    message = "there is nothing in `{Self}` by which `grad` could differentiate",
    label = "up to six arguments in a tuple, one of them no array"
)]
pub trait GradientArgs {
    /// A value for one argument that is no array, for several a tuple.
    type Gradients;
}

macro_rules! functions {
    ($($arg:ident)*) => {
        impl<F: Fn($($arg),*) -> R, R, $($arg),*> Differentiable<($($arg,)*)> for F {}
    };
}

functions!(A);
functions!(A B);
functions!(A B C);
functions!(A B C D);
functions!(A B C D E);
functions!(A B C D E G);

/// One implementation for each choice of arrays and values.
macro_rules! arguments {
    // Everything is chosen: arrays have a dimension and no gradient.
    ([$($value:ident)*] [$($elem:ident $dim:ident)*] [$($ty:ty),*]) => {
        arguments!(@ [$($value)*] [$($elem $dim)*] [$($ty),*]);
    };
    (@ [] [$($elem:ident $dim:ident)*] [$($ty:ty),*]) => {};
    (@ [$value:ident] [$($elem:ident $dim:ident)*] [$($ty:ty),*]) => {
        impl<$value: Value, $($elem: Value, const $dim: usize),*> GradientArgs for ($($ty,)*) {
            type Gradients = $value;
        }
    };
    (@ [$($value:ident)*] [$($elem:ident $dim:ident)*] [$($ty:ty),*]) => {
        impl<$($value: Value,)* $($elem: Value, const $dim: usize),*> GradientArgs for ($($ty,)*) {
            type Gradients = ($($value,)*);
        }
    };
    ([$($value:ident)*] [$($array:ident $dim:ident)*] [$($ty:ty),*] $next:ident $size:ident $($rest:ident)*) => {
        arguments!([$($value)* $next] [$($array $dim)*] [$($ty,)* $next] $($rest)*);
        arguments!([$($value)*] [$($array $dim)* $next $size] [$($ty,)* &Array<$next, $size>] $($rest)*);
    };
}

arguments!([] [] [] A I);
arguments!([] [] [] A I B J);
arguments!([] [] [] A I B J C K);
arguments!([] [] [] A I B J C K D L);
arguments!([] [] [] A I B J C K D L E M);
arguments!([] [] [] A I B J C K D L E M G N);
