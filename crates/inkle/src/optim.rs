//! Optimisers: steps down the gradients of arrays.
//!
//! ```
//! use inkle::optim::Adam;
//! use inkle::prelude::*;
//!
//! #[inkle::kernel]
//! fn distance(x: &Array<Vec2>, goal: Vec2, loss: &mut Array<f32>) {
//!     let d = x[tid()] - goal;
//!     atomic_add(loss, 0, dot(d, d));
//! }
//!
//! let mut x = Array::from_slice(&[Vec2::new(0.0, 0.0)])?.with_grad()?;
//! let mut adam = Adam::new(0.1);
//! for _ in 0..200 {
//!     let mut loss = Array::zeros(1)?.with_grad()?;
//!     let tape = Tape::record(|| distance.launch(1, (&x, Vec2::new(1.0, 2.0), &mut loss)))?;
//!     tape.backward_from(&mut loss)?;
//!     adam.step(&mut [&mut x])?;
//!     tape.zero()?;
//! }
//! let end = x.to_vec()?[0];
//! assert!((end.x - 1.0).abs() < 0.01 && (end.y - 2.0).abs() < 0.01, "{end}");
//! # Ok::<(), inkle::Error>(())
//! ```

use inkle_runtime::{self as rt, Device};
use inkle_value::{Float, Numbers, Scalar};

use crate::array::{Array, ArrayView, ArrayViewMut};
use crate::error::{Error, Result};
use crate::tape::Pause;

/// What an optimiser can change: an array of floats, or of vectors, matrices or quaternions of floats, with a gradient.
pub trait Parameter: sealed::Parameter {}

impl<P: sealed::Parameter> Parameter for P {}

mod sealed {
    use super::*;

    pub trait Parameter {
        fn sgd(&mut self, index: usize, optimizer: &mut Sgd) -> Result<()>;
        fn adam(&mut self, index: usize, optimizer: &mut Adam) -> Result<()>;
    }
}

/// The type in which sums over steps are kept: half precision is not enough for them.
trait Moment: Float {
    type Sum: Float;
}

macro_rules! moments {
    ($($ty:ident $sum:ident),*) => { $(
        impl Moment for inkle_value::$ty {
            type Sum = $sum;
        }
    )* };
}

moments!(f16 f32, bf16 f32);

impl Moment for f32 {
    type Sum = f32;
}

impl Moment for f64 {
    type Sum = f64;
}

#[inkle::kernel(enable_backward = false)]
fn sgd_step<T: Float, S: Float>(
    gradient: &Array<T>,
    velocity: &mut Array<S>,
    rate: S,
    momentum: S,
    dampening: S,
    decay: S,
    nesterov: bool,
    is_first: bool,
    parameter: &mut Array<T>,
) {
    let i = crate::builtins::tid();
    let p = parameter[i].cast::<S>();
    let mut g = gradient[i].cast::<S>() + decay * p;
    if momentum != S::ZERO {
        let mut v = g;
        if !is_first {
            v = momentum * velocity[i] + (S::ONE - dampening) * g;
        }
        velocity[i] = v;
        g = if nesterov { g + momentum * v } else { v };
    }
    parameter[i] = (p - rate * g).cast::<T>();
}

#[inkle::kernel(enable_backward = false)]
fn adam_step<T: Float, S: Float>(
    gradient: &Array<T>,
    first: &mut Array<S>,
    second: &mut Array<S>,
    rate: S,
    beta1: S,
    beta2: S,
    scale1: S,
    scale2: S,
    eps: S,
    parameter: &mut Array<T>,
) {
    let i = crate::builtins::tid();
    let g = gradient[i].cast::<S>();
    let m = beta1 * first[i] + (S::ONE - beta1) * g;
    let v = beta2 * second[i] + (S::ONE - beta2) * g * g;
    first[i] = m;
    second[i] = v;
    parameter[i] = (parameter[i].cast::<S>()
        - rate * (m * scale1) / (crate::builtins::sqrt(v * scale2) + eps))
        .cast::<T>();
}

/// Stochastic gradient descent with momentum.
#[derive(Debug, Default)]
pub struct Sgd {
    /// The size of a step.
    pub rate: f64,
    /// How much of the last step is made again.
    pub momentum: f64,
    /// How much less of the gradient goes into the momentum.
    pub dampening: f64,
    /// How much of the parameters is added to their gradients.
    pub weight_decay: f64,
    /// Whether the momentum is applied ahead of the step.
    pub nesterov: bool,
    steps: u32,
    velocities: Vec<rt::Array>,
}

/// Adam (Kingma and Ba, 2015): steps scaled by running means of the gradient and of its square.
#[derive(Debug)]
pub struct Adam {
    /// The size of a step.
    pub rate: f64,
    /// How slowly the two means forget.
    pub betas: (f64, f64),
    /// Added to the root of the mean of squares.
    pub eps: f64,
    steps: u32,
    means: Vec<rt::Array>,
    squares: Vec<rt::Array>,
}

impl Sgd {
    /// Steps of this size, without momentum; other choices are fields.
    pub fn new(rate: f64) -> Sgd {
        Sgd { rate, ..Sgd::default() }
    }

    /// Makes a step down the gradients of these arrays, which are the same ones, in the same order, at every step. Gradients
    /// are left as they are: [`Tape::zero`](crate::Tape::zero) clears them. No tape records it.
    ///
    /// # Errors
    /// [`Error::NoGradient`]; [`Error::Layout`] for an array with gaps; what launches report.
    pub fn step(&mut self, params: &mut [&mut dyn Parameter]) -> Result<()> {
        let _pause = Pause::new();
        for (index, param) in params.iter_mut().enumerate() {
            param.sgd(index, self)?;
        }
        self.steps += 1;
        Ok(())
    }

    /// Forgets the steps made so far.
    pub fn reset(&mut self) {
        (self.steps, self.velocities) = (0, Vec::new());
    }
}

impl Adam {
    /// Steps of this size, with means that forget at 0.9 and 0.999; other choices are fields.
    pub fn new(rate: f64) -> Adam {
        Adam { rate, betas: (0.9, 0.999), eps: 1e-8, steps: 0, means: Vec::new(), squares: Vec::new() }
    }

    /// Makes a step down the gradients of these arrays; see [`Sgd::step`].
    ///
    /// # Errors
    /// As [`Sgd::step`].
    pub fn step(&mut self, params: &mut [&mut dyn Parameter]) -> Result<()> {
        let _pause = Pause::new();
        for (index, param) in params.iter_mut().enumerate() {
            param.adam(index, self)?;
        }
        self.steps += 1;
        Ok(())
    }

    /// Forgets the steps made so far.
    pub fn reset(&mut self) {
        (self.steps, self.means, self.squares) = (0, Vec::new(), Vec::new());
    }
}

impl<T: Numbers, const D: usize> sealed::Parameter for Array<T, D>
where
    T::Component: Moment,
{
    fn sgd(&mut self, index: usize, optimizer: &mut Sgd) -> Result<()> {
        type Sum<T> = <<T as Numbers>::Component as Moment>::Sum;
        let (gradient, mut parameter) = (gradient(self, index)?, flat(self)?);
        let (count, device) = (parameter.len(), self.device());
        let mut velocity = moment::<Sum<T>>(&mut optimizer.velocities, index, count, device)?;
        let number = |value: f64| Sum::<T>::from_f64(value);
        let (rate, momentum) = (number(optimizer.rate), number(optimizer.momentum));
        let (dampening, decay) = (number(optimizer.dampening), number(optimizer.weight_decay));
        let (nesterov, is_first) = (optimizer.nesterov, optimizer.steps == 0);
        let args = (
            &*gradient,
            &mut *velocity,
            rate,
            momentum,
            dampening,
            decay,
            nesterov,
            is_first,
            &mut *parameter,
        );
        sgd_step.launch(count, args)
    }

    fn adam(&mut self, index: usize, optimizer: &mut Adam) -> Result<()> {
        type Sum<T> = <<T as Numbers>::Component as Moment>::Sum;
        let (gradient, mut parameter) = (gradient(self, index)?, flat(self)?);
        let (count, device) = (parameter.len(), self.device());
        let mut means = moment::<Sum<T>>(&mut optimizer.means, index, count, device)?;
        let mut squares = moment::<Sum<T>>(&mut optimizer.squares, index, count, device)?;
        let number = |value: f64| Sum::<T>::from_f64(value);
        let (beta1, beta2) = optimizer.betas;
        let scale = |beta: f64| number(1.0 / (1.0 - beta.powf(f64::from(optimizer.steps) + 1.0)));
        let args = (
            &*gradient,
            &mut *means,
            &mut *squares,
            number(optimizer.rate),
            number(beta1),
            number(beta2),
            scale(beta1),
            scale(beta2),
            number(optimizer.eps),
            &mut *parameter,
        );
        adam_step.launch(count, args)
    }
}

/// The numbers of a parameter's gradient.
fn gradient<T: Numbers, const D: usize>(
    param: &Array<T, D>,
    index: usize,
) -> Result<ArrayView<'static, T::Component>> {
    let missing = || Error::NoGradient { what: format!("parameter {index} of the optimiser, {param}") };
    let gradient = Array::<T, D>::wrap(param.runtime().grad().ok_or_else(missing)?.clone());
    Ok(ArrayView::wrap(gradient.as_numbers()?))
}

/// The numbers of a parameter.
fn flat<T: Numbers, const D: usize>(param: &Array<T, D>) -> Result<ArrayViewMut<'static, T::Component>> {
    Ok(ArrayViewMut::wrap(param.as_numbers()?))
}

/// What is kept of a parameter from step to step: as it was left, or zeros where the parameter is another one.
fn moment<S: Float>(
    kept: &mut Vec<rt::Array>,
    index: usize,
    count: usize,
    device: Device,
) -> Result<ArrayViewMut<'static, S>> {
    let fits =
        |array: &rt::Array| array.len() == count && array.dtype() == S::ty() && array.device() == device;
    if !kept.get(index).is_some_and(fits) {
        let zeros = rt::Array::zeros(device, S::ty(), &[count as i64])?;
        match kept.get_mut(index) {
            Some(old) => *old = zeros,
            None => kept.push(zeros),
        }
    }
    Ok(ArrayViewMut::wrap(kept[index].clone()))
}
