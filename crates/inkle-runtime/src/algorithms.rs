//! Algorithms over whole arrays: scans, sorts, run-length encoding, sums and conversions.
//!
//! They work on packed copies in CPU memory, so an array on a GPU is fetched and the result sent back, each in the
//! order of the device's current stream. While a graph is captured they become part of it. The Python package has kernels
//! for arrays on a GPU, and asks here only whether the arguments are right.

mod call;
mod reduce;

use std::ops::Range;

use half::{bf16, f16};
use inkle_ir::{Scalar, Type};
use rayon::slice::ParallelSliceMut;

pub use call::Algorithm;
pub use reduce::{Reduction, check_inner, check_sum, inner, inner_into, sum, sum_into};

use crate::array::Array;
use crate::error::{RuntimeError, Tuple};
use crate::record::{self, Operation};

fn bad(operation: &'static str, problem: impl Into<String>) -> RuntimeError {
    RuntimeError::BadInput { operation, problem: problem.into() }
}

/// Whether the algorithm runs now; what is recorded instead is the same with the arrays it has.
fn runs_now(algorithm: impl FnOnce() -> Algorithm<Array>) -> Result<bool, RuntimeError> {
    if !record::may_be_recording() {
        return Ok(true);
    }
    record::runs_now(&Operation::Algorithm(&algorithm()))
}

/// Checks that the array's device is not recorded: the result would be needed before the operations have run.
///
/// # Errors
/// [`RuntimeError::NotInGraph`].
pub fn needs_result_now(
    operation: &'static str,
    array: &Array,
    instead: &'static str,
) -> Result<(), RuntimeError> {
    if record::is_recording(array.device()) && !array.is_empty() {
        return Err(RuntimeError::NotInGraph { operation, instead });
    }
    Ok(())
}

fn unsupported(operation: &'static str, dtype: Type) -> RuntimeError {
    bad(operation, format!("Unsupported data type: {}", dtype.python_name()))
}

/// A number that is stored in memory as its little-endian bytes.
trait Number: Copy + PartialEq + Send + Sync + 'static {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn read(bytes: &[u8]) -> Vec<Self>;
    fn write(values: &[Self]) -> Vec<u8>;
}

macro_rules! number {
    ($($ty:ty: $plus:expr;)*) => {$(
        impl Number for $ty {
            const ZERO: Self = 0 as $ty;
            fn plus(self, other: Self) -> Self {
                let plus: fn($ty, $ty) -> $ty = $plus;
                plus(self, other)
            }
            fn read(bytes: &[u8]) -> Vec<Self> {
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$ty>() }>();
                chunks.iter().map(|c| <$ty>::from_le_bytes(*c)).collect()
            }
            fn write(values: &[Self]) -> Vec<u8> {
                values.iter().flat_map(|v| v.to_le_bytes()).collect()
            }
        }
    )*};
}

number! {
    i8: i8::wrapping_add;
    u8: u8::wrapping_add;
    i16: i16::wrapping_add;
    u16: u16::wrapping_add;
    i32: i32::wrapping_add;
    u32: u32::wrapping_add;
    i64: i64::wrapping_add;
    u64: u64::wrapping_add;
    f32: |a, b| a + b;
    f64: |a, b| a + b;
}

/// The elements of a one-dimensional prefix of an array, for reading or writing.
fn prefix(array: &Array, count: usize) -> Result<Array, RuntimeError> {
    array.slice(0, crate::Slice { stop: Some(count as i64), ..crate::Slice::ALL })
}

fn same_device(operation: &'static str, arrays: &[&Array]) -> Result<(), RuntimeError> {
    for pair in arrays.windows(2) {
        if pair[0].device() != pair[1].device() {
            let (a, b) = (pair[0].device(), pair[1].device());
            return Err(bad(operation, format!("array storage devices do not match ({a} vs {b})")));
        }
    }
    Ok(())
}

/// The running sums of `input`, element by element of vectors, into `output`; without `inclusive` each sum leaves
/// its own element out.
///
/// # Errors
/// [`RuntimeError::BadInput`] when sizes or types differ, or the elements are not made of 32- or 64-bit numbers.
pub fn scan(input: &Array, output: &Array, inclusive: bool) -> Result<(), RuntimeError> {
    fn run<T: Number>(bytes: &[u8], lanes: usize, inclusive: bool) -> Vec<u8> {
        let values = T::read(bytes);
        let mut sums = vec![T::ZERO; lanes];
        let mut out = Vec::with_capacity(values.len());
        for element in values.chunks_exact(lanes) {
            for (sum, value) in sums.iter_mut().zip(element) {
                let next = sum.plus(*value);
                out.push(if inclusive { next } else { *sum });
                *sum = next;
            }
        }
        T::write(&out)
    }
    let (scalar, lanes) = check_scan(input, output)?;
    let run = match scalar {
        Scalar::I32 | Scalar::U32 => run::<i32>,
        Scalar::I64 | Scalar::U64 => run::<i64>,
        Scalar::F32 => run::<f32>,
        _ => run::<f64>,
    };
    if !runs_now(|| Algorithm::Scan { input: input.clone(), output: output.clone(), inclusive })? {
        return Ok(());
    }
    output.write_now(&run(&input.to_bytes()?, lanes as usize, inclusive))
}

/// The numbers that [`scan`] adds up, and how many an element has.
///
/// # Errors
/// As [`scan`].
pub fn check_scan(input: &Array, output: &Array) -> Result<(Scalar, u32), RuntimeError> {
    const NAME: &str = "array_scan";
    if input.len() != output.len() {
        let sizes = format!("{} vs {}", input.len(), output.len());
        return Err(bad(NAME, format!("In and out array storage sizes do not match ({sizes})")));
    }
    same_device(NAME, &[input, output])?;
    let dtype = input.dtype();
    if dtype != output.dtype() {
        let types = format!("{} vs {}", dtype.python_name(), output.dtype().python_name());
        return Err(bad(NAME, format!("In and out array data types do not match ({types})")));
    }
    match (dtype.scalar(), dtype.component_count()) {
        (Some(scalar), Some(lanes)) if scalar.size() >= 4 => Ok((scalar, lanes)),
        _ => Err(unsupported(NAME, dtype)),
    }
}

/// The bits of a key in an order that unsigned comparison keeps.
fn sortable_keys(scalar: Scalar, bytes: &[u8]) -> Option<Vec<u64>> {
    const SIGN32: u32 = 1 << 31;
    const SIGN64: u64 = 1 << 63;
    let float32 = |b: u32| if b & SIGN32 == 0 { b | SIGN32 } else { !b };
    let float64 = |b: u64| if b & SIGN64 == 0 { b | SIGN64 } else { !b };
    let wide =
        |keys: Vec<u32>, order: &dyn Fn(u32) -> u32| keys.into_iter().map(|k| order(k).into()).collect();
    Some(match scalar {
        Scalar::I32 => wide(u32::read(bytes), &|k| k ^ SIGN32),
        Scalar::U32 => wide(u32::read(bytes), &|k| k),
        // Both zeros are the same key, as they are the same number.
        Scalar::F32 => wide(u32::read(bytes), &|k| float32(if k == SIGN32 { 0 } else { k })),
        Scalar::I64 => u64::read(bytes).into_iter().map(|k| k ^ SIGN64).collect(),
        Scalar::U64 => u64::read(bytes),
        Scalar::F64 => {
            u64::read(bytes).into_iter().map(|k| float64(if k == SIGN64 { 0 } else { k })).collect()
        }
        _ => return None,
    })
}

/// Sorts ranges of pairs, stably, by the bits `bits` of the keys; writes both arrays' first elements back.
fn sort_ranges(
    keys: &Array,
    values: &Array,
    count: usize,
    ranges: &[Range<usize>],
    bits: Range<u32>,
) -> Result<Option<()>, RuntimeError> {
    let (keys, values) = (prefix(keys, count)?, prefix(values, count)?);
    let (key_bytes, value_bytes) = (keys.to_bytes()?, values.to_bytes()?);
    let Some(order) = keys.dtype().as_scalar().and_then(|s| sortable_keys(s, &key_bytes)) else {
        return Ok(None);
    };
    let mask = if bits.end - bits.start >= 64 { u64::MAX } else { (1 << (bits.end - bits.start)) - 1 };
    let mut places: Vec<u32> = (0..count as u32).collect();
    for range in ranges {
        places[range.clone()]
            .par_sort_by_key(|i| order[*i as usize].checked_shr(bits.start).unwrap_or(0) & mask);
    }
    let gather = |bytes: &[u8], size: usize| -> Vec<u8> {
        places.iter().flat_map(|i| &bytes[*i as usize * size..][..size]).copied().collect()
    };
    keys.write_now(&gather(&key_bytes, keys.elem_bytes()))?;
    values.write_now(&gather(&value_bytes, values.elem_bytes()))?;
    Ok(Some(()))
}

fn sort_checks(
    operation: &'static str,
    keys: &Array,
    values: &Array,
    room: &'static str,
    count: usize,
) -> Result<(), RuntimeError> {
    same_device(operation, &[keys, values])?;
    for (name, array) in [("keys", keys), ("values", values)] {
        if !array.is_contiguous() {
            let types = format!("{}, {}", keys.dtype().python_name(), values.dtype().python_name());
            let problem = format!(
                "{operation}() requires a contiguous {name} array, got non-contiguous {name} with data types: {types}"
            );
            return Err(bad(operation, problem));
        }
    }
    if keys.len() < 2 * count || values.len() < 2 * count {
        return Err(bad(operation, format!("{room} must be large enough to contain 2*count elements")));
    }
    Ok(())
}

/// Sorts the first `count` pairs of `keys` and `values` by the bits `begin_bit..end_bit` of the keys, stably. Without
/// `end_bit` all bits from `begin_bit` on count.
///
/// # Errors
/// [`RuntimeError::BadInput`] when the arrays are not contiguous, have no room for twice `count`, or have types that
/// cannot be sorted; and for bits that keys do not have.
pub fn sort_pairs(
    keys: &Array,
    values: &Array,
    count: usize,
    begin_bit: i64,
    end_bit: Option<i64>,
) -> Result<(), RuntimeError> {
    let Some(bits) = check_sort_pairs(keys, values, count, begin_bit, end_bit)? else { return Ok(()) };
    if !runs_now(|| Algorithm::SortPairs {
        keys: keys.clone(),
        values: values.clone(),
        count: count as u64,
        begin_bit: bits.start.into(),
        end_bit: bits.end.into(),
    })? {
        return Ok(());
    }
    let whole = 0..count;
    sort_ranges(keys, values, count, std::slice::from_ref(&whole), bits)?
        .ok_or_else(|| unsupported("radix_sort_pairs", keys.dtype()))
}

/// The bits that [`sort_pairs`] sorts by; `None` when there is nothing to sort.
///
/// # Errors
/// As [`sort_pairs`].
pub fn check_sort_pairs(
    keys: &Array,
    values: &Array,
    count: usize,
    begin_bit: i64,
    end_bit: Option<i64>,
) -> Result<Option<Range<u32>>, RuntimeError> {
    const NAME: &str = "radix_sort_pairs";
    if count == 0 {
        return Ok(None);
    }
    sort_checks(NAME, keys, values, "Keys and values array storage", count)?;
    let width = keys.elem_bytes() as i64 * 8;
    let end_bit = end_bit.unwrap_or(width);
    if begin_bit < 0 || begin_bit > end_bit || end_bit > width {
        let problem = format!("Invalid radix sort bit range [{begin_bit}, {end_bit}) for {width}-bit keys");
        return Err(bad(NAME, problem));
    }
    let types = || {
        let types = format!("{}, {}", keys.dtype().python_name(), values.dtype().python_name());
        bad(NAME, format!("Unsupported keys and values data types: {types}"))
    };
    if !values.elem_bytes().is_multiple_of(4) {
        return Err(types());
    }
    if keys.dtype().as_scalar().and_then(|s| sortable_keys(s, &[])).is_none() {
        return Err(types());
    }
    Ok(Some(begin_bit as u32..end_bit as u32))
}

/// Sorts each segment `starts[i]..ends[i]` of the first `count` pairs by the keys, stably. Without `ends` each
/// segment ends where the next one starts.
///
/// # Errors
/// [`RuntimeError::BadInput`] as for [`sort_pairs`], for segments outside `0..count`, and for keys that are neither
/// `int32` nor `float32` or values that are not `int32`.
pub fn segmented_sort_pairs(
    keys: &Array,
    values: &Array,
    count: usize,
    starts: &Array,
    ends: Option<&Array>,
) -> Result<(), RuntimeError> {
    const NAME: &str = SEGMENTS;
    check_segments(keys, values, count, starts, ends)?;
    if !runs_now(|| Algorithm::SegmentedSortPairs {
        keys: keys.clone(),
        values: values.clone(),
        count: count as u64,
        starts: starts.clone(),
        ends: ends.cloned(),
    })? {
        return Ok(());
    }
    let starts = i32::read(&starts.to_bytes()?);
    let (starts, ends) = match ends {
        Some(ends) => (starts, i32::read(&ends.to_bytes()?)),
        None => (starts[..starts.len().saturating_sub(1)].to_vec(), starts.get(1..).unwrap_or(&[]).to_vec()),
    };
    let mut ranges = Vec::with_capacity(starts.len());
    for (i, (start, end)) in starts.into_iter().zip(ends).enumerate() {
        if start < 0 || end < start || end as usize > count {
            let problem = format!("Invalid segment range at index {i}: [{start}, {end}) of {count} elements");
            return Err(bad(NAME, problem));
        }
        ranges.push(start as usize..end as usize);
    }
    if count == 0 || ranges.is_empty() {
        return Ok(());
    }
    sort_ranges(keys, values, count, &ranges, 0..32)?.ok_or_else(|| unsupported(NAME, keys.dtype()))
}

const SEGMENTS: &str = "segmented_sort_pairs";

/// Whether [`segmented_sort_pairs`] takes these arrays; what the lists say is not looked at.
///
/// # Errors
/// As [`segmented_sort_pairs`].
pub fn check_segments(
    keys: &Array,
    values: &Array,
    count: usize,
    starts: &Array,
    ends: Option<&Array>,
) -> Result<(), RuntimeError> {
    const NAME: &str = SEGMENTS;
    same_device(NAME, &[keys, starts])?;
    let named = [("segment_start_indices", Some(starts)), ("segment_end_indices", ends)];
    for (name, array) in named {
        let Some(array) = array else { continue };
        if array.ndim() != 1 {
            return Err(bad(
                NAME,
                format!("{name} must be one-dimensional, not of {} dimensions", array.ndim()),
            ));
        }
        if !array.is_contiguous() {
            return Err(bad(NAME, format!("{NAME}() requires a contiguous {name} array")));
        }
        if array.dtype() != Type::I32 {
            return Err(bad(
                NAME,
                format!("{name} must be of type int32, not {}", array.dtype().python_name()),
            ));
        }
    }
    if let Some(ends) = ends
        && ends.len() != starts.len()
    {
        let sizes = format!("{} vs {}", starts.len(), ends.len());
        return Err(bad(
            NAME,
            format!("segment_start_indices and segment_end_indices must have the same size ({sizes})"),
        ));
    }
    sort_checks(NAME, keys, values, "Array storage", count)?;
    if !matches!(keys.dtype(), Type::I32 | Type::F32) || values.dtype() != Type::I32 {
        return Err(unsupported(NAME, keys.dtype()));
    }
    Ok(())
}

/// Writes each run of equal values among the first `count` as its value and its length, and returns the number of
/// runs.
///
/// # Errors
/// [`RuntimeError::BadInput`] when types differ, an output is too small, or the values are no integers.
pub fn runlength_encode(
    values: &Array,
    run_values: &Array,
    run_lengths: &Array,
    count: usize,
) -> Result<usize, RuntimeError> {
    if count > 0 {
        needs_result_now("runlength_encode", values, "an array for the number of runs")?;
    }
    check_runs(values, run_values, run_lengths, count)?;
    encode_runs(values, run_values, run_lengths, count)
}

/// As [`runlength_encode`], with the number of runs in an array of one `int32`.
///
/// # Errors
/// As [`runlength_encode`]; [`RuntimeError::BadInput`] for another `run_count`.
pub fn runlength_encode_into(
    values: &Array,
    run_values: &Array,
    run_lengths: &Array,
    run_count: &Array,
    count: usize,
) -> Result<(), RuntimeError> {
    check_run_count(values, run_count)?;
    check_runs(values, run_values, run_lengths, count)?;
    if !runs_now(|| Algorithm::RunLengths {
        values: values.clone(),
        run_values: run_values.clone(),
        run_lengths: run_lengths.clone(),
        run_count: run_count.clone(),
        count: count as u64,
    })? {
        return Ok(());
    }
    let runs = encode_runs(values, run_values, run_lengths, count)?;
    run_count.write_now(&(runs as i32).to_le_bytes())
}

const RUNS: &str = "runlength_encode";

/// Whether an array can take the number of runs.
///
/// # Errors
/// As [`runlength_encode_into`].
pub fn check_run_count(values: &Array, run_count: &Array) -> Result<(), RuntimeError> {
    let problem = if run_count.device() != values.device() {
        Some("run_count storage device does not match other arrays")
    } else if run_count.dtype() != Type::I32 {
        Some("run_count array must be of type int32")
    } else if run_count.len() != 1 {
        Some("run_count array must have one element")
    } else {
        None
    };
    problem.map_or(Ok(()), |problem| Err(bad(RUNS, problem)))
}

/// Whether [`runlength_encode`] takes these arrays.
///
/// # Errors
/// As [`runlength_encode`].
pub fn check_runs(
    values: &Array,
    run_values: &Array,
    run_lengths: &Array,
    count: usize,
) -> Result<(), RuntimeError> {
    if values.device() != run_values.device() || values.device() != run_lengths.device() {
        return Err(bad(RUNS, "run_values, run_lengths and values storage devices do not match"));
    }
    if run_values.len() < count || run_lengths.len() < count {
        return Err(bad(
            RUNS,
            format!("Output array storage sizes must be at least equal to value_count ({count})"),
        ));
    }
    let dtype = values.dtype();
    if dtype != run_values.dtype() {
        let types = format!("{} vs {}", dtype.python_name(), run_values.dtype().python_name());
        return Err(bad(RUNS, format!("values and run_values data types do not match ({types})")));
    }
    if run_lengths.dtype() != Type::I32 {
        return Err(bad(RUNS, "run_lengths array must be of type int32"));
    }
    if !matches!(dtype.as_scalar(), Some(Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)) {
        return Err(unsupported(RUNS, dtype));
    }
    Ok(())
}

fn encode_runs(
    values: &Array,
    run_values: &Array,
    run_lengths: &Array,
    count: usize,
) -> Result<usize, RuntimeError> {
    fn run<T: Number>(bytes: &[u8]) -> (Vec<u8>, Vec<i32>) {
        let (mut found, mut lengths) = (Vec::new(), Vec::new());
        for group in T::read(bytes).chunk_by(|a, b| a == b) {
            found.push(group[0]);
            lengths.push(group.len() as i32);
        }
        (T::write(&found), lengths)
    }
    let dtype = values.dtype();
    let run = match dtype.as_scalar() {
        Some(Scalar::I32 | Scalar::U32) => run::<i32>,
        Some(Scalar::I64 | Scalar::U64) => run::<i64>,
        _ => return Err(unsupported(RUNS, dtype)),
    };
    let (found, lengths) = run(&prefix(values, count)?.to_bytes()?);
    prefix(run_values, lengths.len())?.write_now(&found)?;
    prefix(run_lengths, lengths.len())?.write_now(&i32::write(&lengths))?;
    Ok(lengths.len())
}

fn float_bytes(scalar: Scalar, values: &[f64]) -> Vec<u8> {
    match scalar {
        Scalar::F32 => f32::write(&values.iter().map(|v| *v as f32).collect::<Vec<_>>()),
        _ => f64::write(values),
    }
}

/// A number on its way from one scalar type to another.
#[derive(Clone, Copy)]
enum Value {
    Int(i128),
    Float(f64),
}

fn read_values(scalar: Scalar, bytes: &[u8]) -> Vec<Value> {
    fn ints<T: Number + Into<i128>>(bytes: &[u8]) -> Vec<Value> {
        T::read(bytes).into_iter().map(|v| Value::Int(v.into())).collect()
    }
    let halves = |to: fn(u16) -> f64| u16::read(bytes).into_iter().map(|b| Value::Float(to(b))).collect();
    match scalar {
        Scalar::Bool | Scalar::U8 => ints::<u8>(bytes),
        Scalar::I8 => ints::<i8>(bytes),
        Scalar::I16 => ints::<i16>(bytes),
        Scalar::U16 => ints::<u16>(bytes),
        Scalar::I32 => ints::<i32>(bytes),
        Scalar::U32 => ints::<u32>(bytes),
        Scalar::I64 => ints::<i64>(bytes),
        Scalar::U64 => ints::<u64>(bytes),
        Scalar::F16 => halves(|b| f16::from_bits(b).to_f64()),
        Scalar::BF16 => halves(|b| bf16::from_bits(b).to_f64()),
        Scalar::F32 => f32::read(bytes).into_iter().map(|v| Value::Float(v.into())).collect(),
        Scalar::F64 => f64::read(bytes).into_iter().map(Value::Float).collect(),
    }
}

fn write_values(scalar: Scalar, values: &[Value]) -> Vec<u8> {
    let float = |v: &Value| match *v {
        Value::Int(i) => i as f64,
        Value::Float(f) => f,
    };
    // As kernels convert: integers keep their low bits, floats lose their fraction and become the nearest number of
    // the second type, of which the first keeps the low bits.
    macro_rules! ints {
        ($ty:ty, $wide:ty) => {
            <$ty>::write(
                &values
                    .iter()
                    .map(|v| match *v {
                        Value::Int(i) => i as $ty,
                        Value::Float(f) => f as $wide as $ty,
                    })
                    .collect::<Vec<_>>(),
            )
        };
    }
    match scalar {
        Scalar::Bool => values.iter().map(|v| u8::from(float(v) != 0.0)).collect(),
        Scalar::I8 => ints!(i8, i32),
        Scalar::U8 => ints!(u8, i32),
        Scalar::I16 => ints!(i16, i32),
        Scalar::U16 => ints!(u16, i32),
        Scalar::I32 => ints!(i32, i32),
        Scalar::U32 => ints!(u32, i64),
        Scalar::I64 => ints!(i64, i64),
        Scalar::U64 => ints!(u64, u64),
        Scalar::F16 => {
            u16::write(&values.iter().map(|v| f16::from_f64(float(v)).to_bits()).collect::<Vec<_>>())
        }
        Scalar::BF16 => {
            u16::write(&values.iter().map(|v| bf16::from_f64(float(v)).to_bits()).collect::<Vec<_>>())
        }
        Scalar::F32 | Scalar::F64 => float_bytes(scalar, &values.iter().map(float).collect::<Vec<_>>()),
    }
}

/// Converts elements to another type, number by number: the first `count` elements of one-dimensional arrays, or all.
///
/// # Errors
/// [`RuntimeError::BadInput`] when shapes or component counts do not fit, or `count` exceeds a size.
pub fn cast(input: &Array, output: &Array, count: Option<usize>) -> Result<(), RuntimeError> {
    let (from, to, numbers) = check_cast(input, output, count)?;
    let count = count.unwrap_or(input.len());
    if !runs_now(|| Algorithm::Cast {
        input: input.clone(),
        output: output.clone(),
        count: Some(count as u64),
    })? {
        return Ok(());
    }
    let mut values = read_values(from, &input.to_bytes()?);
    values.truncate(numbers);
    let mut bytes = output.to_bytes()?;
    let converted = write_values(to, &values);
    bytes[..converted.len()].copy_from_slice(&converted);
    output.write_now(&bytes)
}

/// The scalars that [`cast`] converts between, and how many.
///
/// # Errors
/// As [`cast`].
pub fn check_cast(
    input: &Array,
    output: &Array,
    count: Option<usize>,
) -> Result<(Scalar, Scalar, usize), RuntimeError> {
    const NAME: &str = "array_cast";
    same_device(NAME, &[input, output])?;
    let ((Some(from), Some(from_lanes)), (Some(to), Some(to_lanes))) = (
        (input.dtype().scalar(), input.dtype().component_count()),
        (output.dtype().scalar(), output.dtype().component_count()),
    ) else {
        return Err(unsupported(NAME, input.dtype()));
    };
    let (from_lanes, to_lanes) = (from_lanes as usize, to_lanes as usize);
    let flat = input.ndim() == 1 || output.ndim() == 1;
    if !flat && input.shape() != output.shape() {
        let shapes = format!("{} vs {}", Tuple(input.shape()), Tuple(output.shape()));
        return Err(bad(NAME, format!("Array shapes do not match ({shapes})")));
    }
    if !flat && count.is_some_and(|c| c != input.len()) {
        return Err(bad(NAME, "Partial cast is not supported for arrays with more than one dimension"));
    }
    let count = count.unwrap_or(input.len());
    let numbers = count * from_lanes;
    if count > input.len() || numbers.div_ceil(to_lanes) > output.len() {
        let sizes = format!("input size ({}) or output size ({})", input.len(), output.len());
        return Err(bad(NAME, format!("Cast count ({count}) exceeds the {sizes}")));
    }
    Ok((from, to, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    fn array<T: Number>(dtype: Type, values: &[T]) -> Array {
        let lanes = dtype.component_count().unwrap() as i64;
        let shape = [values.len() as i64 / lanes];
        Array::from_bytes(Device::cpu(), dtype, &shape, &T::write(values)).unwrap()
    }

    #[test]
    fn scan_sums_by_component() {
        let input = array(Type::vec(2, Scalar::I32), &[1, 10, 2, 20, 3, 30]);
        let output = Array::zeros(Device::cpu(), input.dtype(), &[3]).unwrap();
        scan(&input, &output, true).unwrap();
        assert_eq!(i32::read(&output.to_bytes().unwrap()), [1, 10, 3, 30, 6, 60]);
        scan(&input, &output, false).unwrap();
        assert_eq!(i32::read(&output.to_bytes().unwrap()), [0, 0, 1, 10, 3, 30]);
    }

    #[test]
    fn casts_of_floats_wrap_where_those_of_kernels_do() {
        let floats = [-1.5f32, 300.7, 7e4, 5e9, -5e9, f32::NAN];
        let cast_to = |scalar| {
            let output = Array::zeros(Device::cpu(), Type::Scalar(scalar), &[6]).unwrap();
            cast(&array(Type::F32, &floats), &output, None).unwrap();
            output.to_bytes().unwrap()
        };
        assert_eq!(cast_to(Scalar::U8), [255, 44, 112, 255, 0, 0]);
        assert_eq!(i16::read(&cast_to(Scalar::I16)), [-1, 300, 4464, -1, 0, 0]);
        assert_eq!(u32::read(&cast_to(Scalar::U32)), [u32::MAX, 300, 70000, 705032704, 3589934592, 0]);
        assert_eq!(i32::read(&cast_to(Scalar::I32)), [-1, 300, 70000, i32::MAX, i32::MIN, 0]);
        assert_eq!(u64::read(&cast_to(Scalar::U64)), [0, 300, 70000, 5000000000, 0, 0]);
    }

    #[test]
    fn sort_is_stable_and_signed() {
        let keys = array(Type::F32, &[1.0f32, -2.0, 1.0, -0.0, 0.0, 9.0, 9.0, 9.0, 9.0, 9.0]);
        let values = array(Type::I32, &[0, 1, 2, 3, 4, 9, 9, 9, 9, 9]);
        sort_pairs(&keys, &values, 5, 0, None).unwrap();
        assert_eq!(i32::read(&values.to_bytes().unwrap()), [1, 3, 4, 0, 2, 9, 9, 9, 9, 9]);
    }

    #[test]
    fn sort_by_some_bits_keeps_the_order_of_the_rest() {
        let keys = array(Type::Scalar(Scalar::U32), &[0x21u32, 0x12, 0x11, 0, 0, 0]);
        let values = array(Type::I32, &[0, 1, 2, 0, 0, 0]);
        sort_pairs(&keys, &values, 3, 0, Some(4)).unwrap();
        assert_eq!(u32::read(&keys.to_bytes().unwrap())[..3], [0x21, 0x11, 0x12]);
        let problem = sort_pairs(&keys, &values, 3, 0, Some(33)).unwrap_err().to_string();
        assert!(problem.ends_with("[0, 33) for 32-bit keys"), "{problem}");
    }

    #[test]
    fn runs_are_values_and_lengths() {
        let values = array(Type::I32, &[5, 5, 7, 5]);
        let (found, lengths) = (array(Type::I32, &[0; 4]), array(Type::I32, &[0; 4]));
        assert_eq!(runlength_encode(&values, &found, &lengths, 4).unwrap(), 3);
        assert_eq!(i32::read(&found.to_bytes().unwrap()), [5, 7, 5, 0]);
        assert_eq!(i32::read(&lengths.to_bytes().unwrap()), [2, 1, 1, 0]);
    }

    #[test]
    fn sums_along_an_axis() {
        let values = array(Type::F32, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).reshape(&[2, 3]).unwrap();
        let along = |axis, count| f32::read(&sum(&values, Reduction { axis, count }).unwrap());
        assert_eq!(along(None, None), [21.0]);
        assert_eq!(along(Some(0), None), [5.0, 7.0, 9.0]);
        assert_eq!(along(Some(-1), Some(2)), [3.0, 9.0]);
        let reduction = Reduction { axis: Some(2), count: None };
        assert!(matches!(sum(&values, reduction), Err(RuntimeError::AxisOutOfRange { axis: 2, .. })));
    }

    #[test]
    fn cast_converts_number_by_number() {
        let input = array(Type::vec(2, Scalar::F32), &[1.9f32, -2.9, 3.0, 4.0]);
        let output = array(Type::I32, &[0; 4]);
        cast(&input, &output, Some(1)).unwrap();
        assert_eq!(i32::read(&output.to_bytes().unwrap()), [1, -2, 0, 0]);
        cast(&input, &output, None).unwrap();
        assert_eq!(i32::read(&output.to_bytes().unwrap()), [1, -2, 3, 4]);
    }
}
