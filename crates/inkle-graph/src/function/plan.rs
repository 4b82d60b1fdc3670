//! What a call of a function does, as an operation stream with places for tensors.
//!
//! The stream is that of the bundle, with operations before and after it:
//!
//! - A tensor *is* the memory of a region, if the parameter is packed and aligned, nothing else of the region is used, and,
//!   for an input, nothing writes to it. Else it has a region of its own, and a copy brings the elements to where the graph has
//!   them, or from there.
//! - Memory that the graph writes is brought back to the bundle's contents first, unless nobody can notice: all of it is
//!   overwritten before it is read, or it is the graph's own scratch memory.

use std::ops::Range;

use inkle_ir::{Scalar, Type};

use crate::access::accesses;
use crate::bundle::{Blob, Bundle, Direction, Param};
use crate::ops::{Node, Op, OpStream, Region, RegionKind, Space, View};

/// Tensors that start at a multiple of this many bytes are used where they are: code may rely on the alignment that
/// memory of the graph has.
pub const TENSOR_ALIGN: u64 = 16;
/// The most elements of the views that copy memory; an extent is an `i32`.
const MAX_ELEMENTS: u64 = 1 << 30;

/// Where the memory of a region comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum Home {
    /// Nobody writes to it: all calls share it. Its contents, `None` for zeros.
    Shared(Option<Blob>),
    /// Each call that is under way has its own.
    Own(Option<Blob>),
    /// It is that of a tensor.
    Tensor,
}

/// What a call does.
#[derive(Debug)]
pub struct Plan {
    pub stream: OpStream,
    /// Per region.
    pub homes: Vec<Home>,
    /// Per input, then per output, where the tensor's elements are; the region is a [`Home::Tensor`] of no other.
    pub slots: Vec<View>,
    /// See [`hidden_state`](super::Function::hidden_state).
    pub hidden_state: Vec<u64>,
    /// Whether memory is what the last call left, in place of what the bundle has.
    pub keeps: bool,
}

impl Plan {
    /// With `keeps` nothing is restored, and so that tensors need not be, they are copied.
    pub fn new(bundle: &Bundle, keeps: bool) -> Plan {
        let mut maker = Maker::new(bundle, keeps);
        let params = |direction| bundle.params.iter().filter(move |param| param.direction == direction);
        let mut slots = Vec::with_capacity(bundle.params.len());
        for param in params(Direction::Input) {
            slots.push(maker.input(param));
        }
        for param in params(Direction::Output) {
            slots.push(maker.output(param));
        }
        for region in (0..bundle.stream.regions.len()).filter(|_| !keeps) {
            maker.restore(region, bundle);
        }
        maker.finish(slots)
    }
}

/// What is known of a region of the bundle.
#[derive(Clone, Default)]
struct Uses {
    /// The bytes that operations may touch.
    touched: Option<Range<u64>>,
    written: bool,
    /// Nothing was written to it before something was read from it.
    read_first: bool,
    /// How many parameters lie in it, and how many of them are inputs.
    params: u32,
    inputs: u32,
}

struct Maker<'a> {
    bundle: &'a Bundle,
    stream: OpStream,
    homes: Vec<Home>,
    uses: Vec<Uses>,
    space: Space,
    keeps: bool,
    /// What restores memory, then what copies from inputs, then the graph's own, then what copies to outputs.
    before: Vec<Op>,
    copies_in: Vec<Op>,
    copies_out: Vec<Op>,
}

impl<'a> Maker<'a> {
    fn new(bundle: &'a Bundle, keeps: bool) -> Maker<'a> {
        let stream = bundle.stream.clone();
        let mut uses = vec![Uses::default(); stream.regions.len()];
        for node in &stream.body {
            let accesses = accesses(&node.op);
            // An operation reads before it writes.
            for access in accesses.iter().filter(|access| access.reads) {
                let uses = &mut uses[access.region as usize];
                uses.read_first |= !uses.written;
            }
            for access in &accesses {
                let uses = &mut uses[access.region as usize];
                uses.written |= access.writes;
                uses.touched = Some(match &uses.touched {
                    Some(known) => known.start.min(access.span.start)..known.end.max(access.span.end),
                    None => access.span.clone(),
                });
            }
        }
        for param in &bundle.params {
            let uses = &mut uses[param.view.region as usize];
            uses.params += 1;
            uses.inputs += u32::from(param.direction == Direction::Input);
        }
        let on_gpu = stream.regions.iter().any(|region| region.space == Space::Device);
        let homes = stream.regions.iter().zip(&bundle.memory).zip(&uses);
        let homes = homes.map(|((_, contents), uses)| match uses.written {
            true => Home::Own(contents.clone()),
            false => Home::Shared(contents.clone()),
        });
        Maker {
            bundle,
            homes: homes.collect(),
            stream,
            uses,
            space: if on_gpu { Space::Device } else { Space::Host },
            keeps,
            before: Vec::new(),
            copies_in: Vec::new(),
            copies_out: Vec::new(),
        }
    }

    /// Whether a tensor can be the memory of the parameter's region.
    fn is_whole(&self, view: &View) -> bool {
        let (uses, region) = (&self.uses[view.region as usize], &self.stream.regions[view.region as usize]);
        let inside = match (&uses.touched, view.span()) {
            (None, _) => true,
            (Some(touched), Some(span)) => span.start <= touched.start && touched.end <= span.end,
            (Some(_), None) => false,
        };
        let fits = region.space == self.space && view.offset.is_multiple_of(TENSOR_ALIGN);
        !self.keeps && inside && fits && strides_are_packed(view)
    }

    /// A region of a tensor's own, and the tensor's elements in it.
    fn staging(&mut self, view: &View) -> View {
        let elements: u64 = view.shape.iter().map(|&n| u64::from(n.unsigned_abs())).product();
        let bytes = elements * u64::from(view.dtype.size());
        let region = self.region(bytes, RegionKind::Given, Home::Tensor);
        View { region, offset: 0, strides: packed_strides(view), ..view.clone() }
    }

    fn region(&mut self, bytes: u64, kind: RegionKind, home: Home) -> u32 {
        self.stream.regions.push(Region { bytes, space: self.space, kind });
        self.homes.push(home);
        self.stream.regions.len() as u32 - 1
    }

    fn input(&mut self, param: &Param) -> View {
        let view = &param.view;
        let uses = &self.uses[view.region as usize];
        if !uses.written && uses.params == 1 && self.is_whole(view) {
            self.homes[view.region as usize] = Home::Tensor;
            return view.clone();
        }
        let slot = self.staging(view);
        self.copies_in.push(Op::Copy { dst: view.clone(), src: slot.clone() });
        if let Home::Shared(contents) = &self.homes[view.region as usize] {
            self.homes[view.region as usize] = Home::Own(contents.clone());
        }
        slot
    }

    fn output(&mut self, param: &Param) -> View {
        let view = &param.view;
        let region = view.region as usize;
        let others = self.bundle.params.iter().filter(|other| other.view.region == view.region);
        let outputs = others.filter(|other| other.direction == Direction::Output).count();
        if outputs == 1 && self.homes[region] != Home::Tensor && self.is_whole(view) && self.inputs_fit(view)
        {
            self.homes[region] = Home::Tensor;
            return view.clone();
        }
        let slot = self.staging(view);
        self.copies_out.push(Op::Copy { dst: slot.clone(), src: view.clone() });
        slot
    }

    /// Whether what inputs copy into the region lies in the parameter.
    fn inputs_fit(&self, view: &View) -> bool {
        let Some(span) = view.span() else { return false };
        self.copied_in(view.region).all(|written| {
            written.span().is_some_and(|inner| span.start <= inner.start && inner.end <= span.end)
        })
    }

    /// What inputs copy into a region.
    fn copied_in(&self, region: u32) -> impl Iterator<Item = &View> {
        self.copies_in.iter().filter_map(move |op| match op {
            Op::Copy { dst, .. } if dst.region == region => Some(dst),
            _ => None,
        })
    }

    /// Brings a region back to the bundle's contents, if somebody could notice.
    fn restore(&mut self, index: usize, bundle: &Bundle) {
        let (region, uses) = (self.stream.regions[index], self.uses[index].clone());
        let outputs: Vec<&View> = bundle
            .params
            .iter()
            .filter(|param| param.direction == Direction::Output && param.view.region as usize == index)
            .map(|param| &param.view)
            .collect();
        let span = match (&self.homes[index], outputs.first()) {
            // An input is what it is, and what nobody writes stays what it was.
            (Home::Shared(_), _) => return,
            (Home::Tensor, None) => return,
            (Home::Tensor, Some(view)) => view.span().unwrap_or_default(),
            (Home::Own(_), _) if !uses.written => return,
            (Home::Own(_), None) if region.kind == RegionKind::Internal => return,
            (Home::Own(_), _) => 0..region.bytes,
        };
        let copied = |span: &Range<u64>| {
            self.copied_in(index as u32).any(|view| {
                view.is_dense() && view.span().is_some_and(|s| s.start <= span.start && span.end <= s.end)
            })
        };
        if span.is_empty() || copied(&span) {
            return;
        }
        let whole_seen = outputs.iter().any(|view| {
            let span = view.span().unwrap_or_default();
            !copied(&span) && !is_overwritten(&bundle.stream, index as u32, &span)
        });
        if !whole_seen && !may_be_read_first(&bundle.stream, index as u32, &span) {
            return;
        }
        match bundle.memory[index].clone() {
            None => {
                for dst in pieces(index as u32, &span) {
                    let pattern = vec![0; dst.dtype.size() as usize].into_boxed_slice();
                    self.before.push(Op::Fill { dst, pattern });
                }
            }
            Some(contents) => {
                let pristine = self.region(region.bytes, RegionKind::Constant, Home::Shared(Some(contents)));
                for dst in pieces(index as u32, &span) {
                    let src = View { region: pristine, ..dst.clone() };
                    self.before.push(Op::Copy { dst, src });
                }
            }
        }
    }

    fn finish(mut self, slots: Vec<View>) -> Plan {
        let node = |op| Node { queue: 0, op };
        let first = self.before.drain(..).chain(self.copies_in.drain(..)).map(node);
        let body = std::mem::take(&mut self.stream.body);
        self.stream.body = first.chain(body).chain(self.copies_out.drain(..).map(node)).collect();
        let regions = self.bundle.stream.regions.iter().zip(&self.uses);
        let hidden = regions.filter(|(region, uses)| {
            region.kind == RegionKind::Given && uses.written && uses.read_first && uses.inputs == 0
        });
        let hidden_state = hidden.map(|(region, _)| region.bytes).collect();
        Plan { stream: self.stream, homes: self.homes, slots, hidden_state, keeps: self.keeps }
    }
}

/// Whether all bytes of the span are written before any of them is read.
fn is_overwritten(stream: &OpStream, region: u32, span: &Range<u64>) -> bool {
    first_use(stream, region, span) == Some(First::Overwritten)
}

/// Whether a byte of the span may be read before all of the span was written.
fn may_be_read_first(stream: &OpStream, region: u32, span: &Range<u64>) -> bool {
    first_use(stream, region, span) == Some(First::Read)
}

#[derive(PartialEq, Eq)]
enum First {
    Read,
    Overwritten,
}

/// What happens first: something of the span is read, or all of it is written.
fn first_use(stream: &OpStream, region: u32, span: &Range<u64>) -> Option<First> {
    for node in &stream.body {
        let accesses = accesses(&node.op);
        let mine = || accesses.iter().filter(|access| access.region == region);
        if mine().any(|a| a.reads && a.span.start < span.end && span.start < a.span.end) {
            return Some(First::Read);
        }
        if mine().any(|a| a.overwrites && a.span.start <= span.start && span.end <= a.span.end) {
            return Some(First::Overwritten);
        }
    }
    None
}

/// Row-major strides without gaps, bytes.
fn packed_strides(view: &View) -> Vec<i64> {
    let mut strides = vec![0; view.shape.len()];
    let mut next = i64::from(view.dtype.size());
    for (stride, &extent) in strides.iter_mut().zip(&view.shape).rev() {
        *stride = next;
        next *= i64::from(extent.max(1));
    }
    strides
}

fn strides_are_packed(view: &View) -> bool {
    let packed = packed_strides(view);
    view.shape.contains(&0)
        || view
            .shape
            .iter()
            .zip(&view.strides)
            .zip(packed)
            .all(|((&n, &given), packed)| n == 1 || given == packed)
}

/// Views that have all bytes of a span, in words where they can.
pub fn pieces(region: u32, span: &Range<u64>) -> Vec<View> {
    let mut made = Vec::new();
    let mut put = |from: u64, to: u64, dtype: Type| {
        let size = u64::from(dtype.size());
        let (mut at, mut left) = (from, (to - from) / size);
        while left > 0 {
            let count = left.min(MAX_ELEMENTS);
            let shape = vec![count as i32];
            made.push(View { region, offset: at, dtype, shape, strides: vec![size as i64] });
            at += count * size;
            left -= count;
        }
    };
    let (byte, word) = (Type::Scalar(Scalar::U8), Type::U64);
    let first = span.start.next_multiple_of(8).min(span.end);
    let last = first + (span.end - first) / 8 * 8;
    put(span.start, first, byte);
    put(first, last, word);
    put(last, span.end, byte);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_a_span() {
        let spans = |from, to| {
            let views = pieces(0, &(from..to));
            views.iter().map(|view| (view.dtype.size(), view.span().unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(spans(0, 16), [(8, 0..16)]);
        assert_eq!(spans(4, 21), [(1, 4..8), (8, 8..16), (1, 16..21)]);
        assert_eq!(spans(3, 6), [(1, 3..6)]);
        let huge = (MAX_ELEMENTS + 2) * 8;
        assert_eq!(spans(0, huge), [(8, 0..MAX_ELEMENTS * 8), (8, MAX_ELEMENTS * 8..huge)]);
    }

    #[test]
    fn views_with_gaps_are_not_packed() {
        let view = |shape: &[i32], strides: &[i64]| View {
            region: 0,
            offset: 0,
            dtype: Type::F32,
            shape: shape.to_vec(),
            strides: strides.to_vec(),
        };
        assert!(strides_are_packed(&view(&[2, 3], &[12, 4])) && strides_are_packed(&view(&[], &[])));
        assert!(strides_are_packed(&view(&[1, 3], &[99, 4])) && strides_are_packed(&view(&[0, 3], &[1, 1])));
        assert!(!strides_are_packed(&view(&[2, 3], &[4, 8])) && !strides_are_packed(&view(&[2], &[-4])));
    }
}
