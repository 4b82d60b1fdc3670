//! Algorithms over whole arrays: sums, running sums, sorting, run lengths, conversions; and colouring of graphs.
//!
//! On the CPU they are done when they return. Arrays of a GPU are brought to the CPU for them. In a
//! [capture](crate::Graph::capture) those that write into arrays become part of the graph. Gradients flow through
//! [`array_sum_into`], [`array_inner_into`], [`array_scan`] and [`array_cast`], and through no others.
//!
//! ```
//! use inkle::{Array, utils};
//!
//! let mut keys = Array::from_slice(&[3, 1, 2])?;
//! let mut values = Array::from_slice(&[30, 10, 20])?;
//! utils::radix_sort_pairs(&mut keys, &mut values)?;
//! assert_eq!((keys.to_vec()?, values.to_vec()?), (vec![1, 2, 3], vec![10, 20, 30]));
//! assert_eq!(utils::array_sum(&Array::from_slice(&[0.5f32, 2.0])?)?, 2.5);
//! # Ok::<(), inkle::Error>(())
//! ```

mod gradients;

use inkle_runtime::algorithms::{self, Reduction};
use inkle_runtime::{self as rt, RuntimeError, Slice};
use inkle_value::{Float, Int, Numbers, Value};

pub use inkle_runtime::coloring;

use crate::array::Array;
use crate::error::Result;
use crate::tape;

const ALL: Reduction = Reduction { axis: None, count: None };

/// The running sums of `input`, of vectors component by component, into `output`; without `inclusive` each leaves its own
/// element out.
///
/// # Errors
/// When sizes or devices differ, or the numbers have fewer than 32 bits.
pub fn array_scan<T: Numbers, const D: usize>(
    input: &Array<T, D>,
    output: &mut Array<T, D>,
    inclusive: bool,
) -> Result<()> {
    algorithms::scan(input.runtime(), output.runtime(), inclusive)?;
    gradients::scan(input.runtime(), output.runtime(), inclusive);
    Ok(())
}

/// The sum of all elements, added in double precision.
///
/// # Errors
/// While a graph is captured, where [`array_sum_into`] is the one to use; what the device reports.
pub fn array_sum<T: Numbers, const D: usize>(values: &Array<T, D>) -> Result<T>
where
    T::Component: Float,
{
    Ok(T::fetch(&algorithms::sum(values.runtime(), ALL)?))
}

/// The sum of all elements, or of those along `axis`, into `output`, whose extent is one there.
///
/// # Errors
/// When `output` has another shape or is elsewhere, or there is no such axis.
pub fn array_sum_into<T: Numbers, const D: usize, const E: usize>(
    values: &Array<T, D>,
    axis: Option<usize>,
    output: &mut Array<T, E>,
) -> Result<()>
where
    T::Component: Float,
{
    algorithms::sum_into(values.runtime(), output.runtime(), along(axis))?;
    gradients::sum(values.runtime(), output.runtime());
    Ok(())
}

/// The sum of the products of elements, of vectors of their dot products, added in double precision.
///
/// # Errors
/// When shapes or devices differ; while a graph is captured, where [`array_inner_into`] is the one to use.
pub fn array_inner<T: Numbers, const D: usize>(a: &Array<T, D>, b: &Array<T, D>) -> Result<T::Component>
where
    T::Component: Float,
{
    Ok(T::Component::fetch(&algorithms::inner(a.runtime(), b.runtime(), ALL)?))
}

/// As [`array_inner`], or along `axis`, into `output`, whose extent is one there.
///
/// # Errors
/// When shapes or devices differ, or there is no such axis.
pub fn array_inner_into<T: Numbers, const D: usize, const E: usize>(
    a: &Array<T, D>,
    b: &Array<T, D>,
    axis: Option<usize>,
    output: &mut Array<T::Component, E>,
) -> Result<()>
where
    T::Component: Float,
{
    algorithms::inner_into(a.runtime(), b.runtime(), output.runtime(), along(axis))?;
    gradients::inner::<T>(a.runtime(), b.runtime(), output.runtime());
    Ok(())
}

fn along(axis: Option<usize>) -> Reduction {
    Reduction { axis: axis.map(|axis| i64::try_from(axis).unwrap_or(i64::MAX)), count: None }
}

/// Converts each element, as the conversions of kernels do: numbers, or vectors of as many.
///
/// # Errors
/// When shapes, numbers of components or devices differ.
pub fn array_cast<T: Numbers, U: Numbers, const D: usize>(
    input: &Array<T, D>,
    output: &mut Array<U, D>,
) -> Result<()> {
    algorithms::cast(input.runtime(), output.runtime(), None)?;
    gradients::cast(input.runtime(), output.runtime());
    Ok(())
}

/// Sorts keys, numbers of 32 or 64 bits, in ascending order, and values with them. Equal keys keep their order.
///
/// # Errors
/// When there are fewer values than keys, or the types are others.
pub fn radix_sort_pairs<K: Numbers, V: Value>(keys: &mut Array<K>, values: &mut Array<V>) -> Result<()> {
    let count = keys.len();
    sort(keys, values, |keys, values| algorithms::sort_pairs(keys, values, count, 0, None))
}

/// Sorts each segment of the keys by itself, and values with them: segment `i` begins at `starts[i]` and ends before `ends[i]`,
/// or where the next one begins, in which case `starts` has the end of the last one too.
///
/// # Errors
/// As [`radix_sort_pairs`]; when segments are not within the keys.
pub fn segmented_sort_pairs<K: Numbers, V: Value>(
    keys: &mut Array<K>,
    values: &mut Array<V>,
    starts: &Array<i32>,
    ends: Option<&Array<i32>>,
) -> Result<()> {
    let (count, starts, ends) = (keys.len(), starts.runtime(), ends.map(Array::runtime));
    sort(keys, values, |keys, values| algorithms::segmented_sort_pairs(keys, values, count, starts, ends))
}

/// Sorts copies, which have the room behind their elements that sorting asks for.
fn sort<K: Numbers, V: Value>(
    keys: &mut Array<K>,
    values: &mut Array<V>,
    run: impl FnOnce(&rt::Array, &rt::Array) -> std::result::Result<(), RuntimeError>,
) -> Result<()> {
    let (keys, values) = (keys.runtime(), values.runtime());
    tape::overwritten("a sort", &[], &[keys, values]);
    let count = keys.len() as i64;
    let roomy = |array: &rt::Array| -> std::result::Result<_, RuntimeError> {
        let room = rt::Array::empty(array.device(), array.dtype(), &[2 * count])?;
        let (front, of) = (Slice::range(0, count), array.slice(0, Slice::range(0, count))?);
        let front = room.slice(0, front)?;
        front.copy_from(&of, None)?;
        Ok((room, front, of))
    };
    let ((all_keys, sorted_keys, keys), (all_values, sorted_values, values)) = (roomy(keys)?, roomy(values)?);
    run(&all_keys, &all_values)?;
    keys.copy_from(&sorted_keys, None)?;
    Ok(values.copy_from(&sorted_values, None)?)
}

/// The runs of equal neighbours: the value of each, and its length.
///
/// # Errors
/// While a graph is captured, where [`runlength_encode_into`] is the one to use; when the numbers have fewer than 32 bits.
pub fn runlength_encode<T: Int>(values: &Array<T>) -> Result<(Array<T>, Array<i32>)> {
    let (count, device) = (values.len(), values.device());
    let found = Array::<T>::zeros_on(device, count)?;
    let lengths = Array::<i32>::zeros_on(device, count)?;
    let runs = algorithms::runlength_encode(values.runtime(), found.runtime(), lengths.runtime(), count)?;
    Ok((found.slice(..runs)?.try_clone()?, lengths.slice(..runs)?.try_clone()?))
}

/// As [`runlength_encode`], into the first elements of arrays with room for as many runs as there are values, and with the
/// number of runs in an array of one.
///
/// # Errors
/// When an array is too small or elsewhere; when the numbers have fewer than 32 bits.
pub fn runlength_encode_into<T: Int>(
    values: &Array<T>,
    run_values: &mut Array<T>,
    run_lengths: &mut Array<i32>,
    run_count: &mut Array<i32>,
) -> Result<()> {
    let (found, lengths) = (run_values.runtime(), run_lengths.runtime());
    tape::overwritten("runlength_encode", &[values.runtime()], &[found, lengths, run_count.runtime()]);
    let count = values.len();
    Ok(algorithms::runlength_encode_into(values.runtime(), found, lengths, run_count.runtime(), count)?)
}

/// Computes each element of an array from those of others, by a kernel that is written where it is launched.
///
/// `map!(|x: f32, y: Vec3| -> Vec3 { x * y }, (&xs, &ys), &mut out)` runs the block for each index of `out`, an array of one
/// dimension; the others have as many elements ([`flatten`](crate::Array::flatten) makes one dimension of several). In the block
/// are the parameters, and whatever [kernels](macro@crate::kernel) can name. It gives a [`Result`](crate::Result).
///
/// ```
/// use inkle::prelude::*;
///
/// let (x, y) = (Array::from_slice(&[1.0f32, 2.0])?, Array::from_slice(&[10.0f32, 20.0])?);
/// let mut out = Array::<f32>::zeros(2)?;
/// inkle::map!(|a: f32, b: f32| -> f32 { a * b + sqrt(b - 4.0 * a - 6.0) }, (&x, &y), &mut out)?;
/// assert_eq!(out.to_vec()?, [10.0, 40.0 + 6.0f32.sqrt()]);
/// # Ok::<(), inkle::Error>(())
/// ```
///
/// # Errors
/// [`Error::Length`](crate::Error::Length) when the arrays have different numbers of elements; those of a launch.
#[macro_export]
macro_rules! map {
    (|$($name:ident: $ty:ty),+ $(,)?| -> $result:ty $body:block, ($($array:expr),+ $(,)?), $out:expr $(,)?) => {{
        #[::inkle::kernel]
        fn mapped($($name: &::inkle::Array<$ty>,)+ __result: &mut ::inkle::Array<$result>) {
            let __index = ::inkle::builtins::tid();
            $(let $name = $name[__index];)+
            __result[__index] = $body;
        }
        // Borrowed for a moment each: what is launched is checked against what it is launched on.
        (|result: &mut ::inkle::Array<$result>, arrays: ($(&::inkle::Array<$ty>,)+)| -> ::inkle::Result<()> {
            let ($($name,)+) = arrays;
            $($crate::utils::same_length(result.len(), $name.len())?;)+
            mapped.launch(result.len(), ($($name,)+ result))
        })($out, ($($array,)+))
    }};
    ($($other:tt)*) => {
        ::core::compile_error!(
            "`map!` takes a function with its types and in braces, the arrays in a tuple, and the array of results: \
             `map!(|x: f32, y: f32| -> f32 { x * y }, (&xs, &ys), &mut out)`"
        )
    };
}

/// What [`map!`](crate::map) checks.
#[doc(hidden)]
pub fn same_length(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(crate::error::Error::Length { expected, found }) }
}
