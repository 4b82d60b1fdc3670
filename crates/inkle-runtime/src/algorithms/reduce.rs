//! Sums and inner products, of whole arrays or along an axis.

use inkle_ir::{Scalar, Type};

use super::{Algorithm, Number, bad, float_bytes, needs_result_now, runs_now, same_device, unsupported};
use crate::array::Array;
use crate::error::{RuntimeError, Tuple};

/// Which axis is summed over, `None` for all, and how many elements along it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reduction {
    /// The axis, from the end when negative.
    pub axis: Option<i64>,
    /// The number of leading elements; all when `None`.
    pub count: Option<usize>,
}

impl Reduction {
    /// The axis counted from the start.
    fn axis_of(self, operation: &'static str, array: &Array) -> Result<Option<usize>, RuntimeError> {
        let ndim = array.ndim() as i64;
        match self.axis {
            None => Ok(None),
            Some(axis) if (-ndim..ndim).contains(&axis) => Ok(Some(axis.rem_euclid(ndim) as usize)),
            Some(axis) => Err(RuntimeError::AxisOutOfRange { operation, axis, ndim: array.ndim() }),
        }
    }

    /// The shape of the result: one, or `array`'s with extent 1 along the axis.
    ///
    /// # Errors
    /// [`RuntimeError::AxisOutOfRange`].
    pub fn shape(self, operation: &'static str, array: &Array) -> Result<Vec<i64>, RuntimeError> {
        Ok(match self.axis_of(operation, array)? {
            None => vec![1],
            Some(axis) => {
                let extents = array.shape().iter().enumerate();
                extents.map(|(i, n)| if i == axis { 1 } else { i64::from(*n) }).collect()
            }
        })
    }

    fn check_count(self, operation: &'static str, array: &Array) -> Result<(), RuntimeError> {
        let extent = match self.axis_of(operation, array)? {
            None => array.len(),
            Some(axis) => array.shape()[axis] as usize,
        };
        match self.count {
            Some(count) if count > extent => {
                Err(bad(operation, format!("count {count} exceeds the extent {extent}")))
            }
            _ => Ok(()),
        }
    }

    /// Adds up `terms(i)`, `lanes` numbers for element `i` of a row-major array, along the axis.
    fn sum(
        self,
        operation: &'static str,
        array: &Array,
        lanes: usize,
        terms: &dyn Fn(usize, &mut [f64]),
    ) -> Result<Vec<f64>, RuntimeError> {
        let shape: Vec<usize> = array.shape().iter().map(|n| *n as usize).collect();
        let (outer, extent, inner) = match self.axis_of(operation, array)? {
            None => (1, array.len(), 1),
            Some(axis) => {
                (shape[..axis].iter().product(), shape[axis], shape[axis + 1..].iter().product::<usize>())
            }
        };
        self.check_count(operation, array)?;
        let count = self.count.unwrap_or(extent);
        let mut sums = vec![0.0; outer * inner * lanes];
        for o in 0..outer {
            for k in 0..count {
                for i in 0..inner {
                    let to = (o * inner + i) * lanes;
                    terms((o * extent + k) * inner + i, &mut sums[to..to + lanes]);
                }
            }
        }
        Ok(sums)
    }
}

fn floats(operation: &'static str, array: &Array) -> Result<Vec<f64>, RuntimeError> {
    let bytes = array.to_bytes()?;
    match array.dtype().scalar() {
        Some(Scalar::F32) => Ok(f32::read(&bytes).into_iter().map(f64::from).collect()),
        Some(Scalar::F64) => Ok(f64::read(&bytes)),
        _ => Err(unsupported(operation, array.dtype())),
    }
}

/// The sum of the elements, added in double precision, in the bytes of an array of `values`'s type and the shape
/// that [`Reduction::shape`] tells.
///
/// # Errors
/// [`RuntimeError::BadInput`] when the elements are not made of `float32` or `float64`;
/// [`RuntimeError::AxisOutOfRange`].
pub fn sum(values: &Array, reduction: Reduction) -> Result<Vec<u8>, RuntimeError> {
    needs_result_now("array_sum", values, "an explicit out array")?;
    sums(values, reduction)
}

/// As [`sum`], into `output`.
///
/// # Errors
/// As [`sum`]; [`RuntimeError::BadInput`] if `output` has another type or shape, or is elsewhere.
pub fn sum_into(values: &Array, output: &Array, reduction: Reduction) -> Result<(), RuntimeError> {
    check_sum(values, output, reduction)?;
    if !runs_now(|| Algorithm::Sum { values: values.clone(), output: output.clone(), reduction })? {
        return Ok(());
    }
    output.write_now(&sums(values, reduction)?)
}

/// Whether [`sum_into`] takes these arrays.
///
/// # Errors
/// As [`sum_into`].
pub fn check_sum(values: &Array, output: &Array, reduction: Reduction) -> Result<(), RuntimeError> {
    check_output("array_sum", values, values.dtype(), output, reduction)
}

/// Whether [`inner_into`] takes these arrays.
///
/// # Errors
/// As [`inner_into`].
pub fn check_inner(a: &Array, b: &Array, output: &Array, reduction: Reduction) -> Result<(), RuntimeError> {
    check_factors(a, b)?;
    let dtype = a.dtype().scalar().map_or(a.dtype(), Type::Scalar);
    check_output("array_inner", a, dtype, output, reduction)
}

/// Whether the result of a reduction fits into `output`.
fn check_output(
    operation: &'static str,
    input: &Array,
    dtype: Type,
    output: &Array,
    reduction: Reduction,
) -> Result<(), RuntimeError> {
    let shape: Vec<i32> = reduction.shape(operation, input)?.iter().map(|n| *n as i32).collect();
    if output.device() != input.device() {
        return Err(bad(operation, "out storage device should match values array"));
    }
    if output.dtype() != dtype {
        return Err(bad(operation, format!("out array should have type {}", dtype.python_name())));
    }
    if output.shape() != shape {
        return Err(bad(operation, format!("out array should have shape {}", Tuple(&shape))));
    }
    if !matches!(dtype.scalar(), Some(Scalar::F32 | Scalar::F64)) {
        return Err(unsupported(operation, dtype));
    }
    reduction.check_count(operation, input)
}

fn sums(values: &Array, reduction: Reduction) -> Result<Vec<u8>, RuntimeError> {
    const NAME: &str = "array_sum";
    let dtype = values.dtype();
    let (Some(scalar), Some(lanes)) = (dtype.scalar(), dtype.component_count()) else {
        return Err(unsupported(NAME, dtype));
    };
    let (lanes, numbers) = (lanes as usize, floats(NAME, values)?);
    let sums = reduction.sum(NAME, values, lanes, &|i, sums| {
        for (sum, value) in sums.iter_mut().zip(&numbers[i * lanes..]) {
            *sum += value;
        }
    })?;
    Ok(float_bytes(scalar, &sums))
}

/// The sum of the products of the elements of two arrays, of vectors of their dot products, in the bytes of an array
/// of scalars with the shape that [`Reduction::shape`] tells.
///
/// # Errors
/// [`RuntimeError::BadInput`] when shapes, types or devices differ, or the elements are not made of `float32` or
/// `float64`; [`RuntimeError::AxisOutOfRange`].
pub fn inner(a: &Array, b: &Array, reduction: Reduction) -> Result<Vec<u8>, RuntimeError> {
    check_factors(a, b)?;
    needs_result_now("array_inner", a, "an explicit out array")?;
    products(a, b, reduction)
}

/// As [`inner`], into `output`.
///
/// # Errors
/// As [`inner`]; [`RuntimeError::BadInput`] if `output` has another type or shape, or is elsewhere.
pub fn inner_into(a: &Array, b: &Array, output: &Array, reduction: Reduction) -> Result<(), RuntimeError> {
    check_inner(a, b, output, reduction)?;
    let call = || Algorithm::Inner { a: a.clone(), b: b.clone(), output: output.clone(), reduction };
    if !runs_now(call)? {
        return Ok(());
    }
    output.write_now(&products(a, b, reduction)?)
}

fn check_factors(a: &Array, b: &Array) -> Result<(), RuntimeError> {
    const NAME: &str = "array_inner";
    if a.shape() != b.shape() {
        let (left, right) = (a.shape().to_vec(), b.shape().to_vec());
        return Err(RuntimeError::ShapeMismatch { operation: NAME, left, right });
    }
    same_device(NAME, &[a, b])?;
    let dtype = a.dtype();
    if dtype != b.dtype() {
        let types = format!("{} vs {}", dtype.python_name(), b.dtype().python_name());
        return Err(bad(NAME, format!("A and b array data types do not match ({types})")));
    }
    Ok(())
}

fn products(a: &Array, b: &Array, reduction: Reduction) -> Result<Vec<u8>, RuntimeError> {
    const NAME: &str = "array_inner";
    let dtype = a.dtype();
    let (Some(scalar), Some(lanes)) = (dtype.scalar(), dtype.component_count()) else {
        return Err(unsupported(NAME, dtype));
    };
    let (lanes, left, right) = (lanes as usize, floats(NAME, a)?, floats(NAME, b)?);
    let sums = reduction.sum(NAME, a, 1, &|i, sum| {
        let range = i * lanes..(i + 1) * lanes;
        sum[0] += left[range.clone()].iter().zip(&right[range]).map(|(x, y)| x * y).sum::<f64>();
    })?;
    Ok(float_bytes(scalar, &sums))
}
