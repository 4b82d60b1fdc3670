//! Gradients: launches are recorded while they run, and run backwards in reverse order.

use std::cell::{Cell, RefCell};
use std::fmt;

use inkle_graph::arguments::{arrays_in, read_desc};
use inkle_ir::{ParamLayout, Scalar, Type};
use inkle_module::{ArrayGrad, is_differentiable};
use inkle_runtime::{self as rt, Device, algorithms};
use inkle_value::{Number, bf16, f16};

use crate::array::{Array, ArrayView, ArrayViewMut};
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
    /// A copy: the destination, and the source with as many elements.
    Copy(rt::Array, rt::Array),
    /// Elements that got values which do not depend on anything before.
    Overwrite(rt::Array),
    Custom(Box<dyn Fn() -> Result<()>>),
}

impl Step {
    /// The arrays that it uses.
    fn arrays(&self) -> &[rt::Array] {
        match self {
            Step::Launch(launch) => &launch.arrays,
            Step::Overwrite(array) => std::slice::from_ref(array),
            Step::Copy(..) | Step::Custom(_) => &[],
        }
    }
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
                Step::Copy(to, from) => copy_backward(to, from)?,
                Step::Overwrite(array) => array.grad().map_or(Ok(()), |grad| grad.zero(None))?,
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

    fn arrays(&self) -> impl Iterator<Item = &rt::Array> {
        self.steps.iter().flat_map(|step| match step {
            Step::Copy(to, from) => vec![to, from],
            other => other.arrays().iter().collect(),
        })
    }

    /// Sets the gradients of all arrays of the launches and copies to zero.
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
    if to.grad().is_none() {
        return;
    }
    if from.grad().is_none() || !is_differentiable(to.dtype()) {
        return record_overwrite(to);
    }
    STEPS.with_borrow_mut(|steps| steps.push(Step::Copy(to.clone(), from.clone())));
}

/// Adds to the tape that is recording, if there is one, that all elements got values which do not depend on anything before.
#[inline]
pub(crate) fn record_overwrite(array: &rt::Array) {
    if is_recording() {
        push_overwrite(array);
    }
}

#[cold]
fn push_overwrite(array: &rt::Array) {
    // Where nothing on the tape used the elements before, nobody is misled by the gradient of what they hold now.
    let is_used = |steps: &[Step]| steps.iter().flat_map(Step::arrays).any(|used| overlap(used, array));
    if array.grad().is_some() && STEPS.with_borrow(|steps| is_used(steps)) {
        STEPS.with_borrow_mut(|steps| steps.push(Step::Overwrite(array.clone())));
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

/// Moves the gradient of what a copy wrote to what it read.
fn copy_backward(to: &rt::Array, from: &rt::Array) -> Result<()> {
    let (Some(of), Some(sum)) = (to.grad(), from.grad()) else { return Ok(()) };
    // A copy that is apart from both: they can overlap, and lie on two devices.
    let local = of.to_device(sum.device())?.to_contiguous(None)?;
    of.zero(None)?;
    accumulate(sum, &local)
}

#[inkle::kernel(enable_backward = false)]
fn add_gradients<T: Number>(to: &mut Array<T>, of: &Array<T>) {
    let i = crate::builtins::tid();
    to[i] = to[i] + of[i];
}

/// Adds floats to those of an array of the same shape and type; `of` has no gaps.
fn accumulate(to: &rt::Array, of: &rt::Array) -> Result<()> {
    fn add<T: Number>(to: &rt::Array, of: &rt::Array) -> Result<()> {
        let (mut to, of) = (ArrayViewMut::<T>::wrap(to.clone()), ArrayView::<T>::wrap(of.clone()));
        add_gradients.launch(of.len(), (&mut *to, &*of))
    }
    let whole = if to.is_contiguous() { to.clone() } else { to.to_contiguous(None)? };
    let (Some(sums), Some(terms)) = (whole.numbers(), of.numbers()) else {
        return accumulate_structs(to, of);
    };
    match sums.dtype().as_scalar() {
        Some(Scalar::F16) => add::<f16>(&sums, &terms)?,
        Some(Scalar::BF16) => add::<bf16>(&sums, &terms)?,
        Some(Scalar::F32) => add::<f32>(&sums, &terms)?,
        Some(Scalar::F64) => add::<f64>(&sums, &terms)?,
        _ => {}
    }
    if !to.is_contiguous() {
        to.copy_from(&whole, None)?;
    }
    Ok(())
}

/// As [`accumulate`], for elements with floats of several types or other things between them: on the host.
fn accumulate_structs(to: &rt::Array, of: &rt::Array) -> Result<()> {
    algorithms::needs_result_now("the backward pass of a copy of structs", to, "arrays of numbers")?;
    fn add<T: Number>(to: &mut [u8], of: &[u8]) {
        (T::fetch(to) + T::fetch(of)).store(to);
    }
    let mut parts = Vec::new();
    float_parts(to.dtype(), 0, &mut parts);
    let (mut sums, terms, size) = (to.to_bytes()?, of.to_bytes()?, to.elem_bytes());
    for (sum, term) in sums.chunks_exact_mut(size).zip(terms.chunks_exact(size)) {
        for &(at, scalar) in &parts {
            let add = match scalar {
                Scalar::F16 => add::<f16>,
                Scalar::BF16 => add::<bf16>,
                Scalar::F32 => add::<f32>,
                _ => add::<f64>,
            };
            add(&mut sum[at..], &term[at..]);
        }
    }
    Ok(to.write_bytes(&sums)?)
}

/// Where the floats of a type lie.
fn float_parts(ty: Type, at: usize, parts: &mut Vec<(usize, Scalar)>) {
    if let Some(structure) = ty.as_struct() {
        for (field, place) in structure.fields.iter().zip(structure.layout().0) {
            float_parts(field.ty, at + place.offset as usize, parts);
        }
    } else if let (Some(scalar), Some(count)) = (ty.scalar().filter(|s| s.is_float()), ty.component_count()) {
        parts.extend((0..count as usize).map(|index| (at + index * scalar.size() as usize, scalar)));
    }
}

/// Adds a step to the tape that is recording on this thread: what the backward pass does there. For work that is no launch.
pub fn on_backward(run: impl Fn() -> Result<()> + 'static) {
    if is_recording() {
        STEPS.with_borrow_mut(|steps| steps.push(Step::Custom(Box::new(run))));
    }
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
    let arrays = arrays.iter().map(|held| held.array.clone()).collect();
    let (words, options) = (words.to_vec(), options.clone());
    let recorded = Recorded { instance, words, facts, arrays, device, options };
    STEPS.with_borrow_mut(|steps| steps.push(Step::Launch(Box::new(recorded))));
}

impl Recorded {
    fn backward(&self) -> Result<()> {
        if rt::any_memory_lent() {
            for array in &self.arrays {
                array.memory().check_unlent(false)?;
                array.grad().map_or(Ok(()), |grad| grad.memory().check_unlent(true))?;
            }
        }
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
