//! Bundles that run one after the other, as one.

use std::sync::Arc;

use super::{Blob, Bundle, BundleError, CodeEntry, Direction, Param};
use crate::access::each_access;
use crate::ops::{Kernel, Node, Op, OpStream, Region, RegionKind, Space, View};
use crate::validate::validate;

/// A bundle of a chain, and where its inputs come from, in its order.
#[derive(Debug)]
pub struct Link {
    /// What is done.
    pub bundle: Bundle,
    /// What it is done with.
    pub inputs: Vec<Source>,
}

/// Where an input of a link comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// It is an input of the chain, of this index. The first link that takes it says its type.
    Input(usize),
    /// It is an output of an earlier link: the indices of both.
    Output(usize, usize),
    /// It is always the same: the bytes of the elements, in row-major order.
    Constant(Vec<u8>),
}

impl Bundle {
    /// The bundle that does what links do one after the other: with inputs of these names, and outputs of these names,
    /// which are outputs of links: the indices of link and output.
    ///
    /// Values pass from link to link by sharing memory; they are copied where a link changes what others still need.
    ///
    /// # Errors
    /// [`BundleError::NotSavable`] if what a link takes is not what it is given; [`BundleError::SameName`] for names.
    pub fn chain(
        links: Vec<Link>,
        inputs: &[String],
        outputs: &[(String, usize, usize)],
    ) -> Result<Bundle, BundleError> {
        let mut chain = Chain { inputs: vec![None; inputs.len()], ..Chain::default() };
        for link in links {
            chain.add(link)?;
        }
        let Chain { inputs: placed, outputs: made, copies, mut body, mut whole } = chain;
        let mut add = |name: &str, direction, view: Option<&View>| {
            let view = view.ok_or_else(|| unfit(format!("`{name}`, which no run of kernels has,")))?.clone();
            if whole.params.iter().any(|other| other.name == name) {
                return Err(BundleError::SameName { name: name.to_owned() });
            }
            whole.params.push(Param { name: name.to_owned(), direction, view });
            Ok(())
        };
        for (name, view) in inputs.iter().zip(&placed) {
            add(name, Direction::Input, view.as_ref())?;
        }
        for (name, link, output) in outputs {
            add(name, Direction::Output, made.get(*link).and_then(|views| views.get(*output)))?;
        }
        whole.stream.body = copies;
        whole.stream.body.append(&mut body);
        let why = |why| BundleError::Damaged { part: "chain of operation streams", why };
        validate(&whole.stream).map_err(why)?;
        Ok(whole)
    }
}

/// A chain that grows.
struct Chain {
    /// Where its inputs are.
    inputs: Vec<Option<View>>,
    /// Where the outputs of its links are.
    outputs: Vec<Vec<View>>,
    /// What is done before all links: inputs that several of them take are copied.
    copies: Vec<Node>,
    body: Vec<Node>,
    whole: Bundle,
}

impl Default for Chain {
    fn default() -> Chain {
        let whole = Bundle {
            producer: String::new(),
            notes: Vec::new(),
            stream: OpStream::default(),
            params: Vec::new(),
            code: Vec::new(),
            ir: Vec::new(),
            memory: Vec::new(),
            signer: None,
        };
        Chain { inputs: Vec::new(), outputs: Vec::new(), copies: Vec::new(), body: Vec::new(), whole }
    }
}

impl Chain {
    fn add(&mut self, link: Link) -> Result<(), BundleError> {
        let Link { mut bundle, inputs: sources } = link;
        let (takes, gives): (Vec<Param>, Vec<Param>) =
            bundle.params.drain(..).partition(|param| param.direction == Direction::Input);
        if takes.len() != sources.len() {
            let (expected, found) = (takes.len(), sources.len());
            return Err(unfit(format!("a run of kernels that takes {expected} values and is given {found}")));
        }
        let written = written_regions(&bundle.stream);
        // Per region of the link the one of the chain that it shares.
        let mut shared: Vec<Option<u32>> = vec![None; written.len()];
        let mut copied = Vec::new();
        for (param, source) in takes.iter().zip(&sources) {
            let Some(from) = self.value(param, source)? else { continue };
            let region = param.view.region as usize;
            let stays = !matches!(source, Source::Input(_)) || !self.is_written(from.region);
            if stays
                && !written[region]
                && shared[region].is_none()
                && whole_bytes(&from, &self.whole.stream)
                    .is_some_and(|bytes| whole_bytes(&param.view, &bundle.stream) == Some(bytes))
            {
                shared[region] = Some(from.region);
            } else {
                copied.push((&param.view, from, matches!(source, Source::Input(_))));
            }
        }
        let places: Vec<u32> = shared
            .iter()
            .zip(&bundle.stream.regions)
            .zip(std::mem::take(&mut bundle.memory))
            .map(|((shared, region), contents)| shared.unwrap_or_else(|| self.region(*region, contents)))
            .collect();
        let moved = |view: &View| View { region: places[view.region as usize], ..view.clone() };
        for (param, source) in takes.iter().zip(&sources) {
            if let Source::Input(index) = source {
                self.inputs[*index].get_or_insert_with(|| moved(&param.view));
            }
        }
        for (to, from, is_input) in copied {
            let to = moved(to);
            let (dst, src) = alike(&to, &from).ok_or_else(|| {
                unfit(
                    "a value that one run of kernels leaves in another size or order than the next takes it",
                )
            })?;
            let list = if is_input { &mut self.copies } else { &mut self.body };
            list.push(Node { queue: 0, op: Op::Copy { dst, src } });
        }
        self.outputs.push(gives.iter().map(|param| moved(&param.view)).collect());
        let place = |region: u32, offset| (places[region as usize], offset);
        self.body.append(&mut adopt(&mut self.whole, bundle, &place));
        Ok(())
    }

    /// What a link is given; `None` for an input of the chain that no link has taken yet.
    fn value(&mut self, param: &Param, source: &Source) -> Result<Option<View>, BundleError> {
        let missing = || unfit(format!("a run of kernels whose input `{}` is nowhere", param.name));
        match source {
            Source::Input(index) => self.inputs.get(*index).cloned().ok_or_else(missing),
            Source::Output(link, output) => {
                let made = self.outputs.get(*link).and_then(|views| views.get(*output));
                made.cloned().map(Some).ok_or_else(missing)
            }
            Source::Constant(bytes) => {
                let view = packed(&param.view);
                let size = view.span().map_or(0, |span| span.end - span.start);
                if size != bytes.len() as u64 {
                    return Err(unfit(format!("a constant of {} bytes as `{}`", bytes.len(), param.name)));
                }
                let space = self.whole.stream.regions.first().map_or(Space::Host, |region| region.space);
                let region = Region { bytes: size, space, kind: RegionKind::Constant };
                let region = self.region(region, Some(bytes.clone().into()));
                Ok(Some(View { region, ..view }))
            }
        }
    }

    fn region(&mut self, region: Region, contents: Option<Blob>) -> u32 {
        self.whole.stream.regions.push(region);
        self.whole.memory.push(contents);
        self.whole.stream.regions.len() as u32 - 1
    }

    fn is_written(&self, region: u32) -> bool {
        let mut found = false;
        for node in &self.body {
            each_access(&node.op, &mut |access| found |= access.writes && access.region == region);
        }
        found
    }
}

/// Makes the kernels, events and notes of a bundle part of another one, and gives its operations as that one's: `place`
/// says where in the other's memory a place in its own is.
pub(super) fn adopt(whole: &mut Bundle, bundle: Bundle, place: &dyn Fn(u32, u64) -> (u32, u64)) -> Vec<Node> {
    if whole.producer.is_empty() {
        whole.producer = bundle.producer;
    }
    for note in bundle.notes {
        if !whole.notes.contains(&note) {
            whole.notes.push(note);
        }
    }
    let mut kernels = Vec::new();
    for (index, (kernel, ir)) in bundle.stream.kernels.into_iter().zip(bundle.ir).enumerate() {
        let code: Vec<CodeEntry> =
            bundle.code.iter().filter(|entry| entry.kernel as usize == index).cloned().collect();
        kernels.push(add_kernel(whole, kernel, ir, code));
    }
    let first_event = whole.stream.events;
    whole.stream.events += bundle.stream.events;
    let mut nodes = bundle.stream.body;
    for node in &mut nodes {
        node.op.each_mut(&mut |op| {
            op.renumber(place);
            match op {
                Op::Launch(launch) => launch.kernel = kernels[launch.kernel as usize],
                Op::Record { event } | Op::Wait { event } => *event += first_event,
                _ => {}
            }
        });
    }
    nodes
}

/// The index of a kernel of a bundle: of one that is there already, if its code is the same too, which depends on its
/// launches.
fn add_kernel(bundle: &mut Bundle, kernel: Arc<Kernel>, ir: String, mut code: Vec<CodeEntry>) -> u32 {
    for (index, known) in bundle.stream.kernels.iter().enumerate() {
        code.iter_mut().for_each(|entry| entry.kernel = index as u32);
        let same_code = || bundle.code.iter().filter(|entry| entry.kernel as usize == index).eq(&code);
        if *known == kernel && bundle.ir[index] == ir && same_code() {
            return index as u32;
        }
    }
    let index = bundle.stream.kernels.len() as u32;
    code.iter_mut().for_each(|entry| entry.kernel = index);
    bundle.stream.kernels.push(kernel);
    bundle.ir.push(ir);
    bundle.code.append(&mut code);
    index
}

/// Per region whether an operation may write it.
fn written_regions(stream: &OpStream) -> Vec<bool> {
    let mut written = vec![false; stream.regions.len()];
    for node in &stream.body {
        each_access(&node.op, &mut |access| written[access.region as usize] |= access.writes);
    }
    written
}

/// The size of a view that is all of its region in row-major order.
fn whole_bytes(view: &View, stream: &OpStream) -> Option<u64> {
    let bytes = stream.regions[view.region as usize].bytes;
    (view.span() == Some(0..bytes) && is_packed(view)).then_some(bytes)
}

/// Whether elements lie in row-major order without gaps.
fn is_packed(view: &View) -> bool {
    view.shape.contains(&0)
        || (view.shape.iter().zip(&view.strides).zip(packed(view).strides))
            .all(|((extent, stride), packed)| *extent == 1 || *stride == packed)
}

/// A view of the same elements in row-major order, from the start of its region on.
fn packed(view: &View) -> View {
    let mut strides = vec![0; view.shape.len()];
    let mut stride = i64::from(view.dtype.size());
    for (slot, extent) in strides.iter_mut().zip(&view.shape).rev() {
        *slot = stride;
        stride *= i64::from(*extent);
    }
    View { region: 0, offset: 0, strides, ..view.clone() }
}

/// Two views as a copy takes them, of one shape and element size; `None` if they do not have the same elements.
fn alike(to: &View, from: &View) -> Option<(View, View)> {
    if to.shape == from.shape && to.dtype.size() == from.dtype.size() {
        return Some((to.clone(), from.clone()));
    }
    let flat = |view: &View| {
        let span = view.span().filter(|_| is_packed(view))?;
        View::of_bytes(view.region, span.start, span.end - span.start)
    };
    let (to, from) = (flat(to)?, flat(from)?);
    (to.shape == from.shape).then_some((to, from))
}

fn unfit(what: impl Into<String>) -> BundleError {
    BundleError::NotSavable { what: what.into() }
}
