//! Jacobians of pieces of program, the check of their gradients, and long simulations with few states in memory.
//!
//! A piece of program is a closure of an input and an output, both with gradients, that launches kernels; whatever else it
//! uses, it captures.
//!
//! ```
//! use inkle::autograd::{Tolerance, gradcheck, jacobian};
//! use inkle::prelude::*;
//!
//! #[inkle::kernel]
//! fn products(x: &Array<f32>, y: &mut Array<f32>) {
//!     let i = tid();
//!     y[i] = x[0] * x[i + 1];
//! }
//!
//! let mut x = Array::from_slice(&[2.0f32, 3.0, 5.0])?.with_grad()?;
//! let mut y = Array::<f32>::zeros(2)?.with_grad()?;
//! let found = jacobian(|x, y| products.launch(2, (x, y)), &x, &mut y)?;
//! assert_eq!((found.row(0), found.row(1)), (&[3.0, 2.0, 0.0][..], &[5.0, 0.0, 2.0][..]));
//! gradcheck(|x, y| products.launch(2, (x, y)), &mut x, &mut y, &Tolerance::default())?;
//! # Ok::<(), inkle::Error>(())
//! ```

mod checkpoint;

use std::ops::Index;

use inkle_ir::Scalar;
use inkle_runtime as rt;
use inkle_value::{Float, Numbers, Value, bf16, f16};

pub use checkpoint::{State, checkpoint};

use crate::array::Array;
use crate::error::{Error, Result};
use crate::tape::{Pause, Tape};

/// The derivatives of each number of an output by each number of an input: a row for each of the output's, a column for each of
/// the input's, both in the order of elements and their components.
#[derive(Clone, PartialEq, Debug)]
pub struct Jacobian {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Jacobian {
    fn zeros(rows: usize, columns: usize) -> Jacobian {
        Jacobian { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// The number of rows: the numbers of the output.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns: the numbers of the input.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The derivatives of a number of the output.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// All numbers, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}

impl Index<(usize, usize)> for Jacobian {
    type Output = f64;

    fn index(&self, (row, column): (usize, usize)) -> &f64 {
        &self.row(row)[column]
    }
}

/// When two Jacobians agree: where they differ by at most `absolute` and `relative` times the difference quotient.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Tolerance {
    /// How far numbers of the input are moved for difference quotients.
    pub step: f64,
    /// What the difference may be of small derivatives.
    pub absolute: f64,
    /// What it may be of large ones, as a part of them.
    pub relative: f64,
}

impl Default for Tolerance {
    /// A step of 0.0001, an absolute tolerance of 0.001 and a relative one of 0.01: for numbers around one in single precision.
    fn default() -> Tolerance {
        Tolerance { step: 1e-4, absolute: 1e-3, relative: 1e-2 }
    }
}

/// The Jacobian of a piece of program that computes `output` from `input`, by running it once forwards, and backwards for each
/// number of the output. The gradients of both are zero afterwards.
///
/// # Errors
/// [`Error::NoGradient`] when the input or the output has none; those of `run`, and of its backward pass.
pub fn jacobian<T, U, const D: usize, const E: usize>(
    run: impl FnOnce(&Array<T, D>, &mut Array<U, E>) -> Result<()>,
    input: &Array<T, D>,
    output: &mut Array<U, E>,
) -> Result<Jacobian>
where
    T: Numbers<Component: Float>,
    U: Numbers<Component: Float>,
{
    let [of, to] = [input.runtime(), output.runtime()].map(rt::Array::clone);
    check_gradients(&of, &to)?;
    let tape = Tape::record(|| run(input, output))?;
    by_gradients(&|| tape.backward(), &[&|| tape.zero()], &of, &to)
}

/// The Jacobian of a piece of program that computes `output` from `input`, by central differences: each number of the input is
/// moved by `step` up and down. Nothing runs backwards, and nothing needs gradients. Input and output have their values back
/// afterwards.
///
/// # Errors
/// Those of `run`; what the device reports.
pub fn jacobian_fd<T, U, const D: usize, const E: usize>(
    mut run: impl FnMut(&Array<T, D>, &mut Array<U, E>) -> Result<()>,
    input: &mut Array<T, D>,
    output: &mut Array<U, E>,
    step: f64,
) -> Result<Jacobian>
where
    T: Numbers<Component: Float>,
    U: Numbers<Component: Float>,
{
    let _pause = Pause::new();
    let [of, to] = [input.runtime(), output.runtime()].map(rt::Array::clone);
    by_differences(&mut || run(input, output), &[&of, &to], &of, &to, step)
}

/// Whether the gradients of a piece of program are those of difference quotients: [`jacobian`] and [`jacobian_fd`] agree.
///
/// # Errors
/// [`Error::Gradients`] for the pair of numbers that differs most; otherwise as these two.
pub fn gradcheck<T, U, const D: usize, const E: usize>(
    mut run: impl FnMut(&Array<T, D>, &mut Array<U, E>) -> Result<()>,
    input: &mut Array<T, D>,
    output: &mut Array<U, E>,
    tolerance: &Tolerance,
) -> Result<()>
where
    T: Numbers<Component: Float>,
    U: Numbers<Component: Float>,
{
    check_gradients(input.runtime(), output.runtime())?;
    let (start, end) = (input.to_vec()?, output.to_vec()?);
    let differences = jacobian_fd(&mut run, input, output, tolerance.step)?;
    let gradients = jacobian(&mut run, input, output);
    // A run may have changed its input, and there may be a check to follow.
    let _pause = Pause::new();
    input.copy_from_slice(&start)?;
    output.copy_from_slice(&end)?;
    compare("the output by the input", &gradients?, &differences, tolerance)
}

impl Tape {
    /// Whether the gradients of each launch on the tape are those of difference quotients, for every array with a gradient that it
    /// reads and every one that it writes. Launches without a backward pass are left out. Arrays have their values back afterwards;
    /// gradients are zero.
    ///
    /// # Errors
    /// [`Error::Gradients`] for the first launch of which they are not; those of the launches.
    pub fn check_gradients(&self, tolerance: &Tolerance) -> Result<()> {
        let _pause = Pause::new();
        for launch in self.launches() {
            if !launch.has_backward() {
                continue;
            }
            let (inputs, outputs) = launch.differentiated()?;
            let all = launch.arrays();
            let zero =
                || all.iter().filter_map(|array| array.grad()).try_for_each(|grad| Ok(grad.zero(None)?));
            for (input, read) in &inputs {
                for (output, written) in &outputs {
                    let mut forward = || launch.forward();
                    let differences = by_differences(&mut forward, &all, read, written, tolerance.step)?;
                    let before = all
                        .iter()
                        .map(|array| array.to_bytes())
                        .collect::<std::result::Result<Vec<_>, _>>()?;
                    launch.forward()?;
                    let gradients = by_gradients(&|| launch.backward(), &[&zero], read, written);
                    for (array, bytes) in all.iter().zip(before) {
                        array.write_bytes(&bytes)?;
                    }
                    let what = format!("`{output}` by `{input}` of kernel `{}`", launch.name());
                    compare(&what, &gradients?, &differences, tolerance)?;
                }
            }
        }
        Ok(())
    }
}

fn check_gradients(input: &rt::Array, output: &rt::Array) -> Result<()> {
    for (array, what) in [(input, "the input"), (output, "the output")] {
        if array.grad().is_none() {
            return Err(Error::NoGradient { what: what.to_owned() });
        }
    }
    Ok(())
}

/// A row for each number of the output, by `backward`; `zero` makes gradients zero.
fn by_gradients(
    backward: &dyn Fn() -> Result<()>,
    zero: &[&dyn Fn() -> Result<()>],
    input: &rt::Array,
    output: &rt::Array,
) -> Result<Jacobian> {
    let (Some(of), Some(to)) = (input.grad(), output.grad()) else {
        unreachable!("both were seen to be there")
    };
    let clear = || -> Result<()> {
        zero.iter().try_for_each(|zero| zero())?;
        of.zero(None)?;
        Ok(to.zero(None)?)
    };
    let (rows, columns) = (count(output), count(input));
    let mut jacobian = Jacobian::zeros(rows, columns);
    for row in 0..rows {
        clear()?;
        let mut seed = vec![0.0; rows];
        seed[row] = 1.0;
        write_numbers(to, &seed)?;
        backward()?;
        jacobian.values[row * columns..(row + 1) * columns].copy_from_slice(&read_numbers(of)?);
    }
    clear()?;
    Ok(jacobian)
}

/// A column for each number of the input, by moving it; before each run the `arrays` get the values they have now.
fn by_differences(
    run: &mut dyn FnMut() -> Result<()>,
    arrays: &[&rt::Array],
    input: &rt::Array,
    output: &rt::Array,
    step: f64,
) -> Result<Jacobian> {
    let start = read_numbers(input)?;
    let bytes = arrays.iter().map(|array| array.to_bytes()).collect::<std::result::Result<Vec<_>, _>>()?;
    let restore = || arrays.iter().zip(&bytes).try_for_each(|(array, bytes)| Ok(array.write_bytes(bytes)?));
    let mut side = |moved: &[f64]| -> Result<(Vec<f64>, Vec<f64>)> {
        restore()?;
        write_numbers(input, moved)?;
        // The step is rounded with the number.
        let from = read_numbers(input)?;
        run()?;
        Ok((from, read_numbers(output)?))
    };
    let (rows, columns) = (count(output), count(input));
    let mut jacobian = Jacobian::zeros(rows, columns);
    let mut filled = Ok(());
    for column in 0..columns {
        let at = |by: f64| {
            let mut moved = start.clone();
            moved[column] += by;
            moved
        };
        filled = side(&at(step)).and_then(|above| Ok((above, side(&at(-step))?))).map(|(above, below)| {
            let width = above.0[column] - below.0[column];
            for row in 0..rows {
                jacobian.values[row * columns + column] = (above.1[row] - below.1[row]) / width;
            }
        });
        if filled.is_err() {
            break;
        }
    }
    let restored: Result<()> = restore();
    filled?;
    restored?;
    Ok(jacobian)
}

/// The pair that differs most beyond what it may.
fn compare(what: &str, gradients: &Jacobian, differences: &Jacobian, tolerance: &Tolerance) -> Result<()> {
    let excess = |&(_, (gradient, difference)): &(usize, (&f64, &f64))| {
        let excess =
            (gradient - difference).abs() - tolerance.absolute - tolerance.relative * difference.abs();
        if excess.is_nan() { f64::INFINITY } else { excess }
    };
    let pairs = gradients.values.iter().zip(&differences.values).enumerate();
    let worst = pairs.max_by(|a, b| excess(a).total_cmp(&excess(b)));
    match worst {
        Some(pair) if excess(&pair) > 0.0 => {
            let (place, (&gradient, &difference)) = pair;
            let (row, column) = (place / gradients.columns, place % gradients.columns);
            Err(Error::Gradients { what: what.to_owned(), row, column, gradient, difference })
        }
        _ => Ok(()),
    }
}

/// How many numbers the elements of an array have.
fn count(array: &rt::Array) -> usize {
    array.len() * array.dtype().component_count().unwrap_or(1) as usize
}

/// The numbers of an array of floats, in the order of elements.
fn read_numbers(array: &rt::Array) -> Result<Vec<f64>> {
    fn read<T: Float>(array: &rt::Array) -> Result<Vec<f64>> {
        let values = <T as Value>::read(count(array), |bytes| array.read_bytes(bytes))?;
        Ok(values.into_iter().map(T::to_f64).collect())
    }
    match array.dtype().scalar() {
        Some(Scalar::F16) => read::<f16>(array),
        Some(Scalar::BF16) => read::<bf16>(array),
        Some(Scalar::F64) => read::<f64>(array),
        _ => read::<f32>(array),
    }
}

fn write_numbers(array: &rt::Array, values: &[f64]) -> Result<()> {
    fn bytes<T: Float>(values: &[f64]) -> Vec<u8> {
        let values: Vec<T> = values.iter().map(|value| T::from_f64(*value)).collect();
        <T as Value>::bytes_of(&values).into_owned()
    }
    let bytes = match array.dtype().scalar() {
        Some(Scalar::F16) => bytes::<f16>(values),
        Some(Scalar::BF16) => bytes::<bf16>(values),
        Some(Scalar::F64) => bytes::<f64>(values),
        _ => bytes::<f32>(values),
    };
    Ok(array.write_bytes(&bytes)?)
}
