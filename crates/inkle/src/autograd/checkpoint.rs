//! Many steps of a simulation on a tape, of which only some states are kept.

use inkle_ir::Scalar;
use inkle_runtime as rt;
use inkle_value::Value;

use crate::array::Array;
use crate::error::Result;
use crate::tape::{self, Pause, Tape, accumulate};

/// The state of a simulation: an array, or several in a tuple, a vector or an array.
pub trait State: Sized {
    /// A state of the same shape, on the same device, of zeros; arrays of floats have gradients if `with_grad` says so.
    ///
    /// # Errors
    /// When memory runs out.
    fn like(&self, with_grad: bool) -> Result<Self>;

    /// The same arrays by other handles.
    fn share(&self) -> Self;

    /// Adds the arrays to a list.
    fn arrays<'a>(&'a self, list: &mut Vec<&'a rt::Array>);
}

impl<T: Value, const D: usize> State for Array<T, D> {
    fn like(&self, with_grad: bool) -> Result<Self> {
        let mut like = Array::zeros_like(self)?;
        let is_float = self.runtime().dtype().scalar().is_some_and(Scalar::is_float);
        if with_grad && (is_float || self.grad().is_some()) {
            like.require_grad()?;
        }
        Ok(like)
    }

    fn share(&self) -> Self {
        Array::share(self)
    }

    fn arrays<'a>(&'a self, list: &mut Vec<&'a rt::Array>) {
        list.push(self.runtime());
    }
}

impl<S: State> State for Vec<S> {
    fn like(&self, with_grad: bool) -> Result<Self> {
        self.iter().map(|part| part.like(with_grad)).collect()
    }

    fn share(&self) -> Self {
        self.iter().map(S::share).collect()
    }

    fn arrays<'a>(&'a self, list: &mut Vec<&'a rt::Array>) {
        self.iter().for_each(|part| part.arrays(list));
    }
}

macro_rules! tuples {
    ($(($($part:ident $at:tt),*))*) => { $(
        impl<$($part: State),*> State for ($($part,)*) {
            fn like(&self, with_grad: bool) -> Result<Self> {
                Ok(($(self.$at.like(with_grad)?,)*))
            }

            fn share(&self) -> Self {
                ($(self.$at.share(),)*)
            }

            fn arrays<'a>(&'a self, list: &mut Vec<&'a rt::Array>) {
                $(self.$at.arrays(list);)*
            }
        }
    )* };
}

tuples!((A 0)(A 0, B 1)(A 0, B 1, C 2)(A 0, B 1, C 2, D 3)(A 0, B 1, C 2, D 3, E 4));

/// Runs `steps` steps from `state` and lets the tape that is recording run them backwards with few states in memory: the last
/// state.
///
/// Every `every`-th state is kept, for `None` as many as the square root of `steps`. The backward pass goes from one of them to the
/// next, last first: it runs the steps in between again, on a tape of its own, and those backwards. So there are about
/// `steps / every + every` states in memory, and every step runs twice. Gradients of the arrays that the steps use besides the state,
/// such as parameters, add up as usual.
///
/// `step(index, state, next)` launches what computes `next` from `state`. Called twice with an index it must do the same. What
/// `next` holds before is undefined. Arrays that it writes besides are part of the state. The first state has to stay as it is until
/// the backward pass; gradients flow through later states whether it has gradients or not. Without a tape the steps are just run.
///
/// ```
/// use inkle::autograd::checkpoint;
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn grow(x: &Array<f64>, rate: &Array<f64>, next: &mut Array<f64>) {
///     let i = tid();
///     next[i] = x[i] * rate[0];
/// }
///
/// let x = Array::from_slice(&[3.0f64])?.with_grad()?;
/// let rate = Array::from_slice(&[0.5f64])?.with_grad()?;
/// let mut last = None;
/// let tape = Tape::record(|| {
///     let rate = rate.share();
///     last = Some(checkpoint(move |_, x, next| grow.launch(1, (x, &rate, next)), &x, 9, None)?);
///     Ok(())
/// })?;
/// tape.backward_from(&mut last.unwrap())?;
/// assert_eq!(x.grad().unwrap().to_vec()?, [0.5f64.powi(9)]);
/// assert_eq!(rate.grad().unwrap().to_vec()?, [3.0 * 9.0 * 0.5f64.powi(8)]);
/// # Ok::<(), inkle::Error>(())
/// ```
///
/// # Errors
/// Those of the steps; when memory runs out.
pub fn checkpoint<S: State + 'static>(
    step: impl Fn(usize, &S, &mut S) -> Result<()> + 'static,
    state: &S,
    steps: usize,
    every: Option<usize>,
) -> Result<S> {
    let every = every.unwrap_or(steps.isqrt()).max(1);
    let is_recording = tape::is_recording();
    let (last, kept, mut used) = {
        let _pause = Pause::new();
        forward(&step, state, steps, is_recording.then_some(every))?
    };
    if is_recording {
        let states = [state, &last].into_iter().flat_map(arrays);
        used.extend(states.filter(|array| array.grad().is_some()).cloned());
        let end = last.share();
        tape::push_custom(move || backward(&step, &kept, &end, steps, every), used);
    }
    Ok(last)
}

fn arrays<S: State>(state: &S) -> Vec<&rt::Array> {
    let mut list = Vec::new();
    state.arrays(&mut list);
    list
}

fn copy<S: State>(to: &S, of: &S) -> Result<()> {
    arrays(to).into_iter().zip(arrays(of)).try_for_each(|(to, of)| Ok(to.copy_from(of, None)?))
}

/// The last state, with gradients if states are kept; the states at the start of each stretch; and what the first step uses besides.
fn forward<S: State>(
    step: &impl Fn(usize, &S, &mut S) -> Result<()>,
    first: &S,
    steps: usize,
    every: Option<usize>,
) -> Result<(S, Vec<S>, Vec<rt::Array>)> {
    let mut last = first.like(every.is_some())?;
    let (mut current, mut next) = (first.share(), first.like(false)?);
    let (mut spare, mut used) = (first.like(false)?, Vec::new());
    let mut kept = vec![first.share()];
    for index in 0..steps {
        if index > 0 && every.is_some_and(|every| index % every == 0) {
            let copied = first.like(false)?;
            copy(&copied, &current)?;
            kept.push(copied);
        }
        let to = if index + 1 == steps { &mut last } else { &mut next };
        if index == 0 {
            // Whose gradients the tape has to know: what a step uses and is no state.
            let tape = Tape::record(|| step(index, &current, to))?;
            let own: Vec<u64> =
                arrays(&current).iter().chain(&arrays(to)).map(|array| array.address()).collect();
            let others =
                tape.arrays().filter(|array| array.grad().is_some() && !own.contains(&array.address()));
            used.extend(others.cloned());
        } else {
            step(index, &current, to)?;
        }
        // The first state is not ours to write to.
        let free = if index == 0 { std::mem::replace(&mut spare, first.share()) } else { current };
        current = std::mem::replace(&mut next, free);
    }
    if steps == 0 {
        copy(&last, first)?;
    }
    Ok((last, kept, used))
}

fn backward<S: State>(
    step: &impl Fn(usize, &S, &mut S) -> Result<()>,
    kept: &[S],
    last: &S,
    steps: usize,
    every: usize,
) -> Result<()> {
    let first = &kept[0];
    let mut states = (0..=every.min(steps)).map(|_| first.like(true)).collect::<Result<Vec<S>>>()?;
    let taken = |state: &S| -> Result<Vec<Option<rt::Array>>> {
        let gradient = |array: &rt::Array| array.grad().map(|grad| grad.to_contiguous(None)).transpose();
        Ok(arrays(state).into_iter().map(gradient).collect::<std::result::Result<_, _>>()?)
    };
    let give = |state: &S, gradients: &[Option<rt::Array>]| -> Result<()> {
        for (array, gradient) in arrays(state).into_iter().zip(gradients) {
            if let (Some(to), Some(of)) = (array.grad(), gradient) {
                to.copy_from(of, None)?;
            }
        }
        Ok(())
    };
    let mut gradients = taken(last)?;
    let stretches = if steps == 0 { 0 } else { kept.len() };
    for place in (0..stretches).rev() {
        let (start, stop) = (place * every, ((place + 1) * every).min(steps));
        copy(&states[0], &kept[place])?;
        for state in &states {
            arrays(state).into_iter().filter_map(rt::Array::grad).try_for_each(|grad| grad.zero(None))?;
        }
        let tape = Tape::record(|| {
            (start..stop).try_for_each(|index| {
                let (before, after) = states.split_at_mut(index - start + 1);
                step(index, &before[index - start], &mut after[0])
            })
        })?;
        give(&states[stop - start], &gradients)?;
        tape.backward()?;
        gradients = taken(&states[0])?;
    }
    for ((array, end), gradient) in arrays(first).into_iter().zip(arrays(last)).zip(&gradients) {
        if let Some(done) = end.grad() {
            done.zero(None)?;
        }
        if let (Some(to), Some(of)) = (array.grad(), gradient) {
            accumulate(to, of)?;
        }
    }
    Ok(())
}
