//! Gradients: launches are recorded while they run, and run backwards in reverse order.

mod accumulate;
mod drawing;
mod overwrites;

use std::cell::{Cell, RefCell};
use std::fmt;

use inkle_graph::arguments::{arrays_in, read_desc};
use inkle_ir::{ParamLayout, Type};
use inkle_module::{ArrayGrad, is_differentiable};
use inkle_runtime::{self as rt, Device};
use inkle_value::Number;

use crate::array::Array;
use crate::error::{Error, Result};
use crate::kernel::{Facts, Held, Instance, LaunchOptions, run_again};

pub(crate) use accumulate::accumulate;
use accumulate::copy_backward;
pub use drawing::TapeDrawing;
pub use overwrites::Overwrite;

thread_local! {
    /// Whether a tape of this thread is recording; looked at by every launch.
    static RECORDING: Cell<bool> = const { Cell::new(false) };
    /// What it has recorded.
    static TAPE: RefCell<Tape> = const { RefCell::new(Tape::new()) };
}

/// Where a named part of a tape begins or ends, as the number of steps before it.
#[derive(Debug)]
enum Scope {
    Begin(usize, String),
    End(usize),
}

/// Something that a tape runs backwards.
enum Step {
    Launch(Box<Recorded>),
    /// A copy: the destination, and the source with as many elements.
    Copy(rt::Array, rt::Array),
    /// Elements that got values which do not depend on anything before.
    Overwrite(rt::Array),
    /// What the program does, and the arrays whose gradients it uses.
    Custom(Box<dyn Fn() -> Result<()>>, Vec<rt::Array>),
}

impl Step {
    /// The arrays that it uses.
    fn arrays(&self) -> &[rt::Array] {
        match self {
            Step::Launch(launch) => &launch.arrays,
            Step::Overwrite(array) => std::slice::from_ref(array),
            Step::Custom(_, arrays) => arrays,
            Step::Copy(..) => &[],
        }
    }
}

/// A launch that ran.
pub(crate) struct Recorded {
    instance: &'static Instance,
    words: Vec<u64>,
    facts: Facts,
    /// The arrays of its arguments, in order of parameters and fields.
    arrays: Vec<rt::Array>,
    /// Lists that some of these are indexed through.
    lists: Vec<rt::Array>,
    device: Device,
    options: LaunchOptions,
}

/// The launches, copies and fills of a piece of program, to find gradients.
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
    scopes: Vec<Scope>,
    /// What copies and fills wrote, with gradients or without, and the number of steps before.
    writes: Vec<(usize, rt::Array)>,
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tape({} steps)", self.steps.len())
    }
}

impl Tape {
    const fn new() -> Tape {
        Tape { steps: Vec::new(), scopes: Vec::new(), writes: Vec::new() }
    }

    fn push(step: Step) {
        TAPE.with_borrow_mut(|tape| tape.steps.push(step));
    }

    /// Runs a piece of program and records the launches of this thread in it. A tape that is recording already does not
    /// record them.
    ///
    /// # Errors
    /// That of the piece of program.
    pub fn record(run: impl FnOnce() -> Result<()>) -> Result<Tape> {
        /// Puts back what was before, whatever ends the recording.
        struct Outer(Tape, bool);
        impl Drop for Outer {
            fn drop(&mut self) {
                let recorded = TAPE.replace(std::mem::take(&mut self.0));
                RECORDING.set(self.1);
                // Not while the tape is borrowed: what steps hold may record, or be a tape.
                drop(recorded);
            }
        }
        let outer = Outer(TAPE.take(), RECORDING.replace(true));
        let outcome = run();
        let tape = TAPE.take();
        drop(outer);
        outcome.map(|()| tape)
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
                Step::Copy(to, from) => copy_backward(to, from)?,
                Step::Overwrite(array) => array.grad().map_or(Ok(()), |grad| grad.zero(None))?,
                Step::Custom(run, _) => run()?,
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

    /// The launches, in order.
    pub(crate) fn launches(&self) -> impl Iterator<Item = &Recorded> {
        self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(&**launch),
            _ => None,
        })
    }

    /// The arrays of all steps.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = &rt::Array> {
        self.steps.iter().flat_map(|step| match step {
            Step::Copy(to, from) => vec![to, from],
            other => other.arrays().iter().collect(),
        })
    }

    /// Sets the gradients of all arrays of the launches, copies and [other steps](on_backward_of) to zero.
    ///
    /// # Errors
    /// What the device reports.
    pub fn zero(&self) -> Result<()> {
        self.arrays().filter_map(rt::Array::grad).try_for_each(|grad| Ok(grad.zero(None)?))
    }
}

/// Adds a copy to the tape that is recording, if there is one.
#[inline]
pub(crate) fn record_copy(to: &rt::Array, from: &rt::Array) {
    if is_recording() {
        push_copy(to, from);
    }
}

#[cold]
fn push_copy(to: &rt::Array, from: &rt::Array) {
    note_write(to);
    if to.grad().is_none() {
        return;
    }
    if from.grad().is_none() || !is_differentiable(to.dtype()) {
        return push_overwrite(to);
    }
    Tape::push(Step::Copy(to.clone(), from.clone()));
}

pub(crate) fn note_write(array: &rt::Array) {
    TAPE.with_borrow_mut(|tape| tape.writes.push((tape.steps.len(), array.clone())));
}

/// Adds to the tape that is recording, if there is one, that all elements got values which do not depend on anything before.
#[inline]
pub(crate) fn record_overwrite(array: &rt::Array) {
    if is_recording() {
        note_write(array);
        push_overwrite(array);
    }
}

#[cold]
fn push_overwrite(array: &rt::Array) {
    // Where nothing on the tape used the elements before, nobody is misled by the gradient of what they hold now.
    let is_used = |tape: &Tape| tape.steps.iter().flat_map(Step::arrays).any(|used| overlap(used, array));
    if array.grad().is_some() && TAPE.with_borrow(is_used) {
        Tape::push(Step::Overwrite(array.clone()));
    }
}

/// Notes an operation through which no gradients flow; one that gets lost there is reported.
pub(crate) fn overwritten(operation: &str, read: &[&rt::Array], written: &[&rt::Array]) {
    if !is_recording() {
        return;
    }
    written.iter().for_each(|array| record_overwrite(array));
    let has_grad = |arrays: &[&rt::Array]| arrays.iter().any(|array| array.grad().is_some());
    if has_grad(read) && has_grad(written) {
        tracing::warn!(
            target: "inkle",
            "{operation} is not differentiated: gradients of what it writes do not flow to what it reads; use a kernel, or \
             arrays without gradients"
        );
    }
}

/// Whether the bytes from the first to the last element of two arrays have one in common.
fn overlap(a: &rt::Array, b: &rt::Array) -> bool {
    let span = |array: &rt::Array| {
        let reach = array.shape().iter().zip(array.strides());
        let below: i64 = reach.map(|(&extent, &stride)| i64::from((extent - 1).max(0)) * stride.min(0)).sum();
        let first = array.address().wrapping_add_signed(below);
        first..first + array.span_bytes() as u64
    };
    let (a, b) = (span(a), span(b));
    a.start < b.end && b.start < a.end
}

/// Adds a step to the tape that is recording on this thread: what the backward pass does there. For work that is no launch.
pub fn on_backward(run: impl Fn() -> Result<()> + 'static) {
    if is_recording() {
        push_custom(run, Vec::new());
    }
}

/// As [`on_backward`], for work on these arrays: [`Tape::zero`] makes their gradients zero too, and drawings show them.
///
/// ```
/// use inkle::prelude::*;
/// use inkle::on_backward_of;
///
/// // Twice the first array, computed by other means than a launch.
/// let x = Array::from_slice(&[1.0f32, 2.0])?.with_grad()?;
/// let mut y = Array::<f32>::zeros(2)?.with_grad()?;
/// let tape = Tape::record(|| {
///     let doubled: Vec<f32> = x.to_vec()?.iter().map(|x| 2.0 * x).collect();
///     y.copy_from_slice(&doubled)?;
///     let (of_x, of_y) = (x.grad().unwrap().share(), y.grad().unwrap().share());
///     on_backward_of(&[&x, &y], move || {
///         let sums: Vec<f32> = of_x.to_vec()?.iter().zip(of_y.to_vec()?).map(|(x, y)| x + 2.0 * y).collect();
///         of_x.share().copy_from_slice(&sums)
///     })
/// })?;
/// y.grad_mut().unwrap().copy_from_slice(&[1.0, 10.0])?;
/// tape.backward()?;
/// assert_eq!(x.grad().unwrap().to_vec()?, [2.0, 20.0]);
/// # Ok::<(), inkle::Error>(())
/// ```
///
/// # Errors
/// [`Error::NoGradient`] for an array without one.
pub fn on_backward_of(arrays: &[&dyn AnyArray], run: impl Fn() -> Result<()> + 'static) -> Result<()> {
    let arrays: Vec<rt::Array> = arrays.iter().map(|array| array.of_runtime().clone()).collect();
    if let Some(index) = arrays.iter().position(|array| array.grad().is_none()) {
        return Err(Error::NoGradient { what: format!("array {index} of a step of the backward pass") });
    }
    if is_recording() {
        push_custom(run, arrays);
    }
    Ok(())
}

pub(crate) fn push_custom(run: impl Fn() -> Result<()> + 'static, arrays: Vec<rt::Array>) {
    Tape::push(Step::Custom(Box::new(run), arrays));
}

/// An array of any type and dimension.
pub trait AnyArray {
    /// The runtime's array.
    fn of_runtime(&self) -> &rt::Array;
}

impl<T, const D: usize> AnyArray for Array<T, D> {
    fn of_runtime(&self) -> &rt::Array {
        self.runtime()
    }
}

/// Runs a piece of program as a named part of the tape that is recording: [drawings](Tape::drawing) put a box around it.
///
/// # Errors
/// That of the piece of program.
pub fn tape_scope<R>(name: impl Into<String>, run: impl FnOnce() -> Result<R>) -> Result<R> {
    if !is_recording() {
        return run();
    }
    TAPE.with_borrow_mut(|tape| tape.scopes.push(Scope::Begin(tape.steps.len(), name.into())));
    let outcome = run();
    TAPE.with_borrow_mut(|tape| match tape.scopes.last() {
        // One without content is forgotten.
        Some(Scope::Begin(start, _)) if *start == tape.steps.len() => {
            tape.scopes.pop();
        }
        _ => tape.scopes.push(Scope::End(tape.steps.len())),
    });
    outcome
}

/// Stops recording for a while.
pub(crate) struct Pause(bool);

impl Pause {
    pub(crate) fn new() -> Pause {
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
    let (lists, arrays): (Vec<&Held<'_>>, Vec<&Held<'_>>) = arrays.iter().partition(|held| held.is_list);
    let kept = |held: Vec<&Held<'_>>| held.into_iter().map(|held| held.array.clone()).collect();
    let (words, options) = (words.to_vec(), options.clone());
    let (arrays, lists) = (kept(arrays), kept(lists));
    let recorded = Recorded { instance, words, facts, arrays, lists, device, options };
    Tape::push(Step::Launch(Box::new(recorded)));
}

impl Recorded {
    /// The kernel's name.
    pub(crate) fn name(&self) -> &'static str {
        self.instance.name()
    }

    /// Whether it can run backwards.
    pub(crate) fn has_backward(&self) -> bool {
        self.instance.settings().enable_backward
    }

    /// Runs it again as it ran.
    pub(crate) fn forward(&self) -> Result<()> {
        let (instance, words, facts) = (self.instance, &self.words, self.facts);
        let arrays = self.arrays.iter().chain(&self.lists);
        run_again(instance, instance.forward()?, words, facts, self.device, &self.options, arrays)
    }

    /// Runs it backwards.
    pub(crate) fn backward(&self) -> Result<()> {
        if rt::any_memory_lent() {
            for array in self.arrays.iter().chain(&self.lists) {
                array.memory().check_unlent(false)?;
                array.grad().map_or(Ok(()), |grad| grad.memory().check_unlent(true))?;
            }
        }
        let grads = gradients(self.instance.types(), &self.words);
        let code = self.instance.backward(&grads)?;
        let (words, facts) = (&self.words, self.facts);
        let arrays = self.arrays.iter().chain(&self.lists);
        run_again(self.instance, &code, words, facts, self.device, &self.options, arrays)
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
