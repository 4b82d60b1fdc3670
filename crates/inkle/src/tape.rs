//! Gradients: launches are recorded while they run, and run backwards in reverse order.

use std::cell::{Cell, RefCell};
use std::fmt;

use inkle_graph::arguments::{arrays_in, read_desc};
use inkle_ir::{ParamLayout, Type};
use inkle_module::{ArrayGrad, is_differentiable};
use inkle_runtime::{self as rt, Device};
use inkle_value::Number;

use crate::array::Array;
use crate::error::Result;
use crate::kernel::{Facts, Held, Instance, LaunchOptions, run_backward};

thread_local! {
    /// Whether a tape of this thread is recording; looked at by every launch.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

/// Something that a tape runs backwards.
enum Step {
    Launch(Box<Recorded>),
    Custom(Box<dyn Fn() -> Result<()>>),
}

/// A launch that ran.
struct Recorded {
    instance: &'static Instance,
    words: Vec<u64>,
    facts: Facts,
    arrays: Vec<rt::Array>,
    device: Device,
    options: LaunchOptions,
}

/// The launches of a piece of program, to find gradients.
///
/// What a kernel reads from arrays with gradients gets, in the backward pass, the gradient that follows from that of what it
/// wrote.
///
/// ```
/// use inkle::prelude::*;
///
/// #[inkle::kernel]
/// fn square(x: &Array<f32>, y: &mut Array<f32>) {
///     let i = tid();
///     y[i] = x[i] * x[i];
/// }
///
/// let x = Array::from_slice(&[1.0f32, 2.0, 3.0])?.with_grad()?;
/// let mut y = Array::<f32>::zeros(3)?.with_grad()?;
/// let tape = Tape::record(|| square.launch(3, (&x, &mut y)))?;
/// y.grad_mut().unwrap().fill(1.0)?;
/// tape.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec()?, [2.0, 4.0, 6.0]);
/// # Ok::<(), inkle::Error>(())
/// ```
#[derive(Default)]
pub struct Tape {
    steps: Vec<Step>,
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tape({} steps)", self.steps.len())
    }
}

impl Tape {
    /// Runs a piece of program and records the launches of this thread in it. A tape that is recording already does not
    /// record them.
    ///
    /// # Errors
    /// That of the piece of program.
    pub fn record(run: impl FnOnce() -> Result<()>) -> Result<Tape> {
        /// Puts back what was before, whatever ends the recording.
        struct Outer {
            steps: Vec<Step>,
            recording: bool,
        }
        impl Drop for Outer {
            fn drop(&mut self) {
                STEPS.with_borrow_mut(|steps| std::mem::swap(steps, &mut self.steps));
                RECORDING.set(self.recording);
            }
        }
        let mut outer = Outer { steps: STEPS.take(), recording: RECORDING.replace(true) };
        let outcome = run();
        let steps = STEPS.take();
        std::mem::drop(std::mem::replace(&mut outer, Outer { steps: Vec::new(), recording: false }));
        outcome.map(|()| Tape { steps })
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Runs the launches backwards, the last first. The gradients of what was written have to be set; those of what was
    /// read are added to.
    ///
    /// # Errors
    /// When a kernel has no backward pass; when code cannot be made, loaded or run.
    pub fn backward(&self) -> Result<()> {
        let _pause = Pause::new();
        for step in self.steps.iter().rev() {
            match step {
                Step::Launch(launch) => launch.backward()?,
                Step::Custom(run) => run()?,
            }
        }
        Ok(())
    }

    /// Sets the gradient of `loss` to one and runs the launches backwards.
    ///
    /// # Errors
    /// As [`backward`](Tape::backward).
    pub fn backward_from<T: Number, const D: usize>(&self, loss: &mut Array<T, D>) -> Result<()> {
        loss.require_grad()?;
        if let Some(mut grad) = loss.grad_mut() {
            grad.fill(T::ONE)?;
        }
        self.backward()
    }

    /// Sets the gradients of all arrays of the launches to zero.
    ///
    /// # Errors
    /// What the device reports.
    pub fn zero(&self) -> Result<()> {
        for step in &self.steps {
            let Step::Launch(launch) = step else { continue };
            for grad in launch.arrays.iter().filter_map(rt::Array::grad) {
                grad.zero(None)?;
            }
        }
        Ok(())
    }
}

/// Adds a step to the tape that is recording on this thread: what the backward pass does there. For work that is no launch.
pub fn on_backward(run: impl Fn() -> Result<()> + 'static) {
    if is_recording() {
        STEPS.with_borrow_mut(|steps| steps.push(Step::Custom(Box::new(run))));
    }
}

/// Stops recording for a while.
struct Pause(bool);

impl Pause {
    fn new() -> Pause {
        Pause(RECORDING.replace(false))
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        RECORDING.set(self.0);
    }
}

/// Whether a tape of this thread is recording.
#[inline]
pub fn is_recording() -> bool {
    RECORDING.get()
}

/// Shows a launch to the tape that is recording, if there is one.
#[inline]
pub(crate) fn record(
    instance: &'static Instance,
    words: &[u64],
    facts: Facts,
    arrays: &[Held<'_>],
    device: Device,
    options: &LaunchOptions,
) {
    if is_recording() {
        push(instance, words, facts, arrays, device, options);
    }
}

#[cold]
fn push(
    instance: &'static Instance,
    words: &[u64],
    facts: Facts,
    arrays: &[Held<'_>],
    device: Device,
    options: &LaunchOptions,
) {
    let arrays = arrays.iter().map(|held| held.array.clone()).collect();
    let (words, options) = (words.to_vec(), options.clone());
    let recorded = Recorded { instance, words, facts, arrays, device, options };
    STEPS.with_borrow_mut(|steps| steps.push(Step::Launch(Box::new(recorded))));
}

impl Recorded {
    fn backward(&self) -> Result<()> {
        let grads = gradients(self.instance.types(), &self.words);
        let code = self.instance.backward(&grads)?;
        let (words, facts) = (&self.words, self.facts);
        run_backward(self.instance, &code, words, facts, self.device, &self.options, self.arrays.iter())
    }
}

/// What holds of the gradients of all arrays in a parameter block, in the order of parameters and fields.
fn gradients(types: &[Type], words: &[u64]) -> Vec<ArrayGrad> {
    let places = ParamLayout::new(types.iter().copied()).args;
    let mut arrays = Vec::new();
    for (ty, place) in types.iter().zip(places) {
        arrays_in(*ty, place.offset as usize, &mut arrays);
    }
    let of = |(at, ty): (usize, &inkle_ir::ArrayType)| match read_desc(&words[at / 8..]).grad {
        0 => ArrayGrad::None,
        _ if !is_differentiable(ty.elem) => ArrayGrad::None,
        _ => ArrayGrad::Clear,
    };
    arrays.into_iter().map(of).collect()
}
