//! What the algorithms do backwards: from the gradient of what they wrote to those of what they read.

use inkle_module::is_differentiable;
use inkle_runtime::{self as rt, RuntimeError, Slice, algorithms};
use inkle_value::{Number, Numbers};

use crate::array::{Array, ArrayView, ArrayViewMut};
use crate::error::Result;
use crate::tape::{self, accumulate};

/// Adds an algorithm that overwrote `out` by what follows from `read` to the tape that is recording, if there is one; `run` gets
/// the gradient of what was written.
fn record(out: &rt::Array, read: &[&rt::Array], run: impl Fn(&rt::Array) -> Result<()> + 'static) {
    if !tape::is_recording() {
        return;
    }
    let flows = |array: &&&rt::Array| array.grad().is_some() && is_differentiable(array.dtype());
    let mut arrays: Vec<rt::Array> = read.iter().filter(flows).map(|array| (**array).clone()).collect();
    if out.grad().is_none() || arrays.is_empty() {
        return tape::record_overwrite(out);
    }
    tape::note_write(out);
    arrays.push(out.clone());
    let out = out.clone();
    let backward = move || {
        let Some(gradient) = out.grad() else { return Ok(()) };
        let taken = gradient.to_contiguous(None)?;
        gradient.zero(None)?;
        run(&taken)
    };
    tape::push_custom(backward, arrays);
}

fn shape(array: &rt::Array) -> Vec<i64> {
    array.shape().iter().map(|&extent| extent.into()).collect()
}

/// Every element gets the gradient of its sum.
pub fn sum(values: &rt::Array, out: &rt::Array) {
    let to = values.clone();
    record(out, &[values], move |of| {
        let Some(sums) = to.grad() else { return Ok(()) };
        accumulate(sums, &of.expand(&shape(sums))?.to_contiguous(None)?)
    });
}

#[inkle::kernel(enable_backward = false)]
fn add_products<T: Number>(to: &mut Array<T>, factors: &Array<T>, of: &Array<T>, width: i32) {
    let i = crate::builtins::tid();
    to[i] += factors[i] * of[i / width];
}

/// Every element gets the other factor times the gradient of its sum.
pub fn inner<T: Numbers>(a: &rt::Array, b: &rt::Array, out: &rt::Array) {
    let (left, right) = (a.clone(), b.clone());
    record(out, &[a, b], move |of| {
        for (to, other) in [(&left, &right), (&right, &left)] {
            let Some(sums) = to.grad() else { continue };
            // Components follow one another, and have one gradient between them.
            let (whole, factors) = (sums.to_contiguous(None)?, other.to_contiguous(None)?);
            let spread = of.expand(&shape(to))?.to_contiguous(None)?.flatten()?;
            let (Some(numbers), Some(factors)) = (whole.numbers(), factors.numbers()) else { continue };
            let width = (numbers.len() / spread.len().max(1)) as i32;
            let mut numbers = ArrayViewMut::<T::Component>::wrap(numbers);
            let factors = ArrayView::<T::Component>::wrap(factors);
            let spread = ArrayView::<T::Component>::wrap(spread);
            add_products.launch(numbers.len(), (&mut *numbers, &*factors, &*spread, width))?;
            sums.copy_from(&whole, None)?;
        }
        Ok(())
    });
}

/// Every element gets the sum of the gradients from its own place on, or from the next.
pub fn scan(values: &rt::Array, out: &rt::Array, inclusive: bool) {
    fn backwards(array: &rt::Array) -> std::result::Result<rt::Array, RuntimeError> {
        array.slice(0, Slice { step: -1, ..Slice::ALL })?.to_contiguous(None)
    }
    let to = values.clone();
    record(out, &[values], move |of| {
        let Some(sums) = to.grad() else { return Ok(()) };
        let turned = backwards(&of.flatten()?)?;
        let found = turned.to_contiguous(None)?;
        algorithms::scan(&turned, &found, inclusive)?;
        accumulate(sums, &backwards(&found)?.reshape(&shape(sums))?)
    });
}

/// Gradients are converted back.
pub fn cast(values: &rt::Array, out: &rt::Array) {
    let to = values.clone();
    record(out, &[values], move |of| {
        let Some(sums) = to.grad() else { return Ok(()) };
        let converted = sums.to_contiguous(None)?;
        algorithms::cast(of, &converted, None)?;
        accumulate(sums, &converted)
    });
}
