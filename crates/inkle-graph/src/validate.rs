//! Whether a stream makes sense: every index names something, every view and address lies in its region, and every
//! parameter block fits its kernel. What passes can be replayed without leaving the regions' memory, as far as that does
//! not depend on data (index lists, handles) and kernels do what their types say.

use std::array;
use std::mem::offset_of;
use std::ops::Range;

use inkle_ir::{ArrayDesc, ArrayKind, IndexedArrayDesc, LaunchBounds, MAX_DIMS, Type};

use crate::ops::{Abi, BOUNDS_WORDS, Condition, Kernel, Launch, Node, Op, OpStream, View, span};

/// The most bytes of a region.
pub const MAX_REGION_BYTES: u64 = 1 << 46;
/// The most queues and events.
const MAX_QUEUES: u32 = 1 << 16;
const MAX_EVENTS: u32 = 1 << 24;

/// Checks a stream.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn validate(stream: &OpStream) -> Result<(), String> {
    for (index, region) in stream.regions.iter().enumerate() {
        if region.bytes > MAX_REGION_BYTES {
            return Err(format!("region {index} has {} bytes", region.bytes));
        }
    }
    if stream.events > MAX_EVENTS {
        return Err(format!("{} events", stream.events));
    }
    for (index, kernel) in stream.kernels.iter().enumerate() {
        check_kernel(kernel).map_err(|why| format!("kernel {index} `{}`: {why}", kernel.name))?;
    }
    check_nodes(stream, &stream.body, "operation ")
}

fn check_kernel(kernel: &Kernel) -> Result<(), String> {
    let whole = kernel.params_bytes.is_multiple_of(8) || kernel.abi == Abi::Cuda;
    if !whole || (kernel.params_bytes as usize) < size_of::<LaunchBounds>() {
        return Err(format!("a parameter block of {} bytes", kernel.params_bytes));
    }
    if kernel.abi == Abi::Cuda && !kernel.params.is_empty() {
        return Err("typed parameters of code of another compiler".into());
    }
    for param in &kernel.params {
        let end = u64::from(param.offset) + u64::from(param.ty.size());
        if (param.offset as usize) < size_of::<LaunchBounds>()
            || !param.offset.is_multiple_of(param.ty.align())
            || end > u64::from(kernel.params_bytes)
        {
            return Err(format!("parameter `{}` does not lie in the block", param.name));
        }
    }
    Ok(())
}

fn check_nodes(stream: &OpStream, nodes: &[Node], at: &str) -> Result<(), String> {
    for (index, node) in nodes.iter().enumerate() {
        if node.queue >= MAX_QUEUES {
            return Err(format!("{at}{index}: queue {}", node.queue));
        }
        check_op(stream, &node.op).map_err(|why| format!("{at}{index}: {why}"))?;
        match &node.op {
            Op::If { on_true, on_false, .. } => {
                check_nodes(stream, on_true, &format!("{at}{index}, if "))?;
                check_nodes(stream, on_false, &format!("{at}{index}, else "))?;
            }
            Op::While { body, .. } => check_nodes(stream, body, &format!("{at}{index}, while "))?,
            _ => {}
        }
    }
    Ok(())
}

fn check_op(stream: &OpStream, op: &Op) -> Result<(), String> {
    match op {
        Op::Launch(launch) => check_launch(stream, launch),
        Op::Copy { dst, src } => {
            check_view(stream, dst)?;
            check_view(stream, src)?;
            if dst.shape != src.shape || dst.dtype.size() != src.dtype.size() {
                return Err("a copy between arrays of different shapes or element sizes".into());
            }
            Ok(())
        }
        Op::Fill { dst, pattern } => {
            check_view(stream, dst)?;
            if pattern.len() != dst.dtype.size() as usize {
                return Err(format!(
                    "a pattern of {} bytes for elements of {}",
                    pattern.len(),
                    dst.dtype.size()
                ));
            }
            Ok(())
        }
        Op::Algorithm(algorithm) => {
            let mut outcome = Ok(());
            algorithm.each(|view, _| {
                if outcome.is_ok() {
                    outcome = check_view(stream, view);
                }
            });
            outcome
        }
        Op::If { condition, .. } | Op::While { condition, .. } => check_condition(stream, condition),
        Op::Record { event } | Op::Wait { event } if *event >= stream.events => Err(format!("event {event}")),
        Op::Record { .. } | Op::Wait { .. } => Ok(()),
    }
}

fn region_bytes(stream: &OpStream, region: u32) -> Result<u64, String> {
    stream.regions.get(region as usize).map(|r| r.bytes).ok_or_else(|| format!("there is no region {region}"))
}

fn check_condition(stream: &OpStream, condition: &Condition) -> Result<(), String> {
    let bytes = region_bytes(stream, condition.region)?;
    if !condition.offset.is_multiple_of(4) || condition.offset.checked_add(4).is_none_or(|end| end > bytes) {
        return Err(format!("a condition at byte {} of {bytes}", condition.offset));
    }
    Ok(())
}

/// Checks that a view lies in its region.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn check_view(stream: &OpStream, view: &View) -> Result<(), String> {
    if view.shape.len() != view.strides.len() || view.shape.len() > MAX_DIMS {
        return Err(format!("a view with {} extents and {} strides", view.shape.len(), view.strides.len()));
    }
    check_elements(stream, view.region, view.offset, view.dtype, &view.shape, &view.strides).map(drop)
}

/// Checks that elements lie in their region, and gives the bytes that they span.
fn check_elements(
    stream: &OpStream,
    region: u32,
    offset: u64,
    dtype: Type,
    shape: &[i32],
    strides: &[i64],
) -> Result<Range<u64>, String> {
    let bytes = region_bytes(stream, region)?;
    if matches!(dtype, Type::Array(_) | Type::Ref(_)) || dtype.size() == 0 {
        return Err("a view of something that is no element type".into());
    }
    if shape.iter().any(|&extent| extent < 0) {
        return Err(format!("a view of shape {shape:?}"));
    }
    match span(offset, dtype.size(), shape, strides) {
        Some(span) if span.end <= bytes => Ok(span),
        _ => Err(format!("a view of shape {shape:?} at byte {offset} reaches out of region {region}")),
    }
}

fn check_launch(stream: &OpStream, launch: &Launch) -> Result<(), String> {
    let Some(kernel) = stream.kernels.get(launch.kernel as usize) else {
        return Err(format!("there is no kernel {}", launch.kernel));
    };
    let why = |why: String| format!("launch of `{}`: {why}", kernel.name);
    if launch.params.len() != (kernel.params_bytes as usize).div_ceil(8) {
        let (found, expected) = (launch.params.len() * 8, kernel.params_bytes);
        return Err(why(format!("a parameter block of {found} bytes instead of {expected}")));
    }
    let dims = launch.dims();
    let threads = dims.iter().try_fold(1u64, |product, &n| product.checked_mul(n.into()));
    // An extent that is too large for its number counts as the largest one there is.
    let fits = |threads: u64| {
        threads == launch.size() || (dims.contains(&u32::MAX) && 0 < threads && threads < launch.size())
    };
    if !threads.is_some_and(fits) {
        return Err(why(format!("extents {dims:?} for {} threads", launch.size())));
    }
    if kernel.abi == Abi::Cuda {
        return check_pointers(stream, launch).map_err(why);
    }
    let mut checker = Addresses { stream, launch, used: 0 };
    for param in &kernel.params {
        checker
            .check(param.ty, param.offset as usize)
            .map_err(|reason| why(format!("parameter `{}`: {reason}", param.name)))?;
    }
    if checker.used != launch.pointers.len() {
        return Err(why("addresses where no parameter has one".into()));
    }
    Ok(())
}

/// Checks the addresses in a parameter block whose layout nobody knows.
fn check_pointers(stream: &OpStream, launch: &Launch) -> Result<(), String> {
    for (index, pointer) in launch.pointers.iter().enumerate() {
        let word = launch.params.get(pointer.word as usize).filter(|_| pointer.word as usize >= BOUNDS_WORDS);
        if word != Some(&0) || launch.pointers[..index].iter().any(|earlier| earlier.word == pointer.word) {
            return Err(format!("an address in word {}", pointer.word));
        }
        let bytes = region_bytes(stream, pointer.region)?;
        if pointer.offset > bytes || pointer.span.start > pointer.span.end || pointer.span.end > bytes {
            return Err("an address that reaches out of its region".into());
        }
    }
    Ok(())
}

/// Checks the addresses in a parameter block against the types of the parameters.
struct Addresses<'a> {
    stream: &'a OpStream,
    launch: &'a Launch,
    /// How many of the launch's pointers were found where a type has an address.
    used: usize,
}

impl Addresses<'_> {
    fn check(&mut self, ty: Type, at: usize) -> Result<(), String> {
        match ty {
            Type::Array(array) => {
                let ndim = array.ndim as usize;
                let extents = self.ints(at + offset_of!(ArrayDesc, shape));
                let strides: [i64; MAX_DIMS] =
                    array::from_fn(|d| self.word(at + offset_of!(ArrayDesc, strides) + 8 * d) as i64);
                for at in [at + offset_of!(ArrayDesc, data), at + offset_of!(ArrayDesc, grad)] {
                    self.address(at, array.elem, &extents[..ndim], &strides[..ndim])?;
                }
                if array.kind == ArrayKind::Indexed {
                    let counts = self.ints(at + offset_of!(IndexedArrayDesc, shape));
                    for (d, count) in counts.into_iter().enumerate().take(ndim) {
                        let at = at + offset_of!(IndexedArrayDesc, indices) + 8 * d;
                        self.address(at, Type::I32, &[count], &[4])?;
                    }
                }
                Ok(())
            }
            Type::Struct(s) => s
                .fields
                .iter()
                .zip(s.layout().0)
                .try_for_each(|(field, layout)| self.check(field.ty, at + layout.offset as usize)),
            _ => Ok(()),
        }
    }

    /// The word of the block at a byte that is a multiple of eight: descriptors are aligned so.
    fn word(&self, at: usize) -> u64 {
        self.launch.params.get(at / 8).copied().unwrap_or(0)
    }

    fn ints(&self, at: usize) -> [i32; MAX_DIMS] {
        array::from_fn(|d| (self.word(at + 4 * (d & !1)) >> (32 * (d & 1))) as i32)
    }

    fn address(&mut self, at: usize, elem: Type, shape: &[i32], strides: &[i64]) -> Result<(), String> {
        if self.word(at) != 0 {
            return Err("an address that is not the graph's".into());
        }
        let mut pointers = self.launch.pointers.iter().filter(|p| p.word as usize * 8 == at);
        let Some(pointer) = pointers.next() else { return Ok(()) };
        if pointers.next().is_some() {
            return Err("two addresses in one place".into());
        }
        self.used += 1;
        let reached = check_elements(self.stream, pointer.region, pointer.offset, elem, shape, strides)?;
        if reached.start < reached.end
            && (pointer.span.start > reached.start || pointer.span.end < reached.end)
        {
            return Err("an address that reaches further than it says".into());
        }
        if pointer.span.end > region_bytes(self.stream, pointer.region)? {
            return Err("an address that reaches out of its region".into());
        }
        Ok(())
    }
}
