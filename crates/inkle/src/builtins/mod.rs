//! The built-ins of kernels: functions that kernels, and functions with `#[inkle::func]`, call, and the host too.
//!
//! Their forms come from the registry that Python kernels are checked against.
//!
//! On the host a built-in runs as a kernel of one thread on the CPU, compiled at the first call with arguments of its types, in
//! some milliseconds, or found in the cache. So it gives what it gives in a kernel, except that a kernel may fuse a product in it
//! with a sum around it. It takes the feature `llvm`; without it the call panics. Only kernels have [`tid`] and [`block_dim`],
//! atomic updates and [`grad`].
//!
//! ```
//! use inkle::prelude::*;
//!
//! let quarter = quat_from_axis_angle(Vec3::new(0.0, 0.0, 1.0), 0.5 * std::f32::consts::PI);
//! let turned = quat_rotate(quarter, Vec3::new(2.0, 0.0, 0.0));
//! assert!(length(turned - Vec3::new(0.0, 2.0, 0.0)) < 1e-6);
//! let mut state = rand_init(42);
//! assert_ne!(randf(&mut state), randf(&mut state));
//! ```

mod grad;

use inkle_ir::Type;
use inkle_value::{Subscripts, Value, host, only_in_kernels};

pub use grad::{Differentiable, GradientArgs, grad};
pub use inkle_value::builtins::*;

use crate::array::{Array, IndexedArray};

impl<T: Value> host::Stored for &Array<T> {
    fn ty(&self) -> Type {
        Type::array(T::ty(), 1)
    }

    fn store(&self, bytes: &mut [u8]) {
        let device = self.device();
        assert!(
            device.is_cpu(),
            "a built-in that the host calls takes arrays of the CPU; this one is on {device}"
        );
        for (place, word) in bytes.chunks_exact_mut(8).zip(self.runtime().desc().words()) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
    }
}

/// What atomic updates work on: an [`Array`] or an [`IndexedArray`] of `D` dimensions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no array of {D} dimensions",
    label = "atomic updates are of elements of a `&mut Array` or a `&mut IndexedArray`, with an index for each dimension"
)]
pub trait Elements<const D: usize> {
    /// An element.
    type Elem;
}

impl<T, const D: usize> Elements<D> for Array<T, D> {
    type Elem = T;
}

impl<T, const D: usize> Elements<D> for IndexedArray<T, D> {
    type Elem = T;
}

macro_rules! callables {
    ($($name:ident = $builtin:literal),* $(,)?) => { $(
        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "it stands beside the function of the name")]
        #[derive(Debug)]
        pub enum $name {}

        impl Builtin for $name {
            const NAME: &'static str = $builtin;
        }
    )* };
}

callables! {
    tid = "tid",
    tid2 = "tid",
    tid3 = "tid",
    tid4 = "tid",
    block_dim = "block_dim",
    atomic_add = "atomic_add",
    atomic_sub = "atomic_sub",
    atomic_min = "atomic_min",
    atomic_max = "atomic_max",
    atomic_and = "atomic_and",
    atomic_or = "atomic_or",
    atomic_xor = "atomic_xor",
    atomic_exch = "atomic_exch",
    atomic_cas = "atomic_cas",
    lower_bound = "lower_bound",
    lower_bound_arr_begin_arr_end = "lower_bound",
    sample_cdf = "sample_cdf",
}

/// The index of the thread in a launch over one dimension.
#[track_caller]
pub fn tid() -> i32 {
    only_in_kernels("`tid`")
}

/// The indices of the thread in a launch over two dimensions.
#[track_caller]
pub fn tid2() -> (i32, i32) {
    only_in_kernels("`tid2`")
}

/// The indices of the thread in a launch over three dimensions.
#[track_caller]
pub fn tid3() -> (i32, i32, i32) {
    only_in_kernels("`tid3`")
}

/// The indices of the thread in a launch over four dimensions.
#[track_caller]
pub fn tid4() -> (i32, i32, i32, i32) {
    only_in_kernels("`tid4`")
}

/// The number of threads in a block.
#[track_caller]
pub fn block_dim() -> i32 {
    only_in_kernels("`block_dim`")
}

macro_rules! atomics {
    ($($name:ident $doc:literal),* $(,)?) => { $(
        #[doc = $doc]
        ///
        /// Several indices are written as a tuple. The result is what the element held before.
        #[track_caller]
        pub fn $name<A: Elements<D>, I: Subscripts<D>, const D: usize>(
            array: &mut A,
            index: I,
            value: A::Elem,
        ) -> A::Elem {
            let _ = (array, index, value);
            only_in_kernels(concat!("`", stringify!($name), "`"))
        }
    )* };
}

atomics! {
    atomic_add "Adds to an element of an array, as one step that no other thread comes between.",
    atomic_sub "Subtracts from an element of an array, as one step that no other thread comes between.",
    atomic_min "Makes an element of an array no larger than a value, as one step that no other thread comes between.",
    atomic_max "Makes an element of an array no smaller than a value, as one step that no other thread comes between.",
    atomic_and "`&=` of an element of an array, as one step that no other thread comes between.",
    atomic_or "`|=` of an element of an array, as one step that no other thread comes between.",
    atomic_xor "`^=` of an element of an array, as one step that no other thread comes between.",
    atomic_exch "Stores into an element of an array and gives what was there, as one step.",
}

/// Stores `new` into an element of an array if it holds `old`, as one step that no other thread comes between.
///
/// Several indices are written as a tuple. The result is what the element held before.
#[track_caller]
pub fn atomic_cas<A: Elements<D>, I: Subscripts<D>, const D: usize>(
    array: &mut A,
    index: I,
    old: A::Elem,
    new: A::Elem,
) -> A::Elem {
    let _ = (array, index, old, new);
    only_in_kernels("`atomic_cas`")
}

/// The number of elements at the front of an ascending array that are below a value.
#[track_caller]
pub fn lower_bound<T: Value>(array: &Array<T>, value: T) -> i32 {
    host::call::<lower_bound, (Array<T>, T), _>(&mut [host::given(&array), host::given(&value)])
}

/// As [`lower_bound`], in the part of the array from `begin` to before `end`; the result counts from the array's first.
#[track_caller]
pub fn lower_bound_arr_begin_arr_end<T: Value>(array: &Array<T>, begin: i32, end: i32, value: T) -> i32 {
    host::call::<lower_bound, (Array<T>, i32, i32, T), _>(&mut [
        host::given(&array),
        host::given(&begin),
        host::given(&end),
        host::given(&value),
    ])
}

/// Draws the index of an element, by the state of a random number generator and a cumulative distribution.
#[track_caller]
pub fn sample_cdf(state: &mut u32, cdf: &Array<f32>) -> i32 {
    host::call::<sample_cdf, (u32, Array<f32>), _>(&mut [host::changed(state), host::given(&cdf)])
}
