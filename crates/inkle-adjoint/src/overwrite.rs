//! Finds values that are needed from array elements which are overwritten afterwards, in a function or in those that it
//! calls.

mod pair;

use inkle_diag::{Code, Diagnostic, Span};
use inkle_ir::{Block, FunctionId, Module, Op, OpData, OpKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::AdjointError;
use crate::places::{Frame, Number, Place, Places};
use crate::sweep::Result;
use pair::{Pair, Verdict};

/// What a function of the backward module does again of the function that it is made from.
#[derive(Default)]
pub(crate) struct Repeated {
    /// What it loads.
    pub loads: FxHashSet<Op>,
    /// Calls, and the functions that are called for them.
    pub calls: FxHashSet<(Op, FunctionId)>,
}

/// An operation and where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    frame: Frame,
    block: Block,
    position: usize,
}

impl Step {
    fn op(self, places: &Places<'_>) -> Op {
        places.function(self.frame).block(self.block).ops[self.position]
    }

    fn data<'m>(self, places: &Places<'m>) -> &'m OpData {
        places.function(self.frame).op(self.op(places))
    }
}

/// A read or write of memory.
struct Access {
    /// The operations that it is nested in, from the outside, and the operation itself.
    path: Vec<Step>,
    place: Place,
}

impl Access {
    fn data<'m>(&self, places: &Places<'m>) -> &'m OpData {
        self.path.last().expect("it ends with the operation").data(places)
    }
}

/// A read whose value is loaded again, and a write that may be to the same element, after it.
#[derive(Clone, Copy, Debug)]
pub struct Overwrite {
    /// What reads the element.
    pub read: Span,
    /// What writes it.
    pub write: Span,
}

impl Overwrite {
    /// The doubt as a person should see it.
    pub fn diagnostic(&self) -> Diagnostic {
        let text = "the gradient needs the value of an array element that may be overwritten later";
        Diagnostic::new(Code("G007"), self.read, text)
            .warning()
            .label("this value is needed to compute the gradient")
            .also(self.write, "this may be to the same element, also by another thread")
            .help("if it is, gradients are wrong: write the result to another array")
    }
}

/// Refuses function `id` of a module if `made`, in the backward module, loads a value again that certainly is overwritten
/// after the function loaded it. `repeated` says what functions of the backward module do. Gives what may be overwritten,
/// where that is not known.
pub(crate) fn check(
    module: &Module,
    id: FunctionId,
    made: FunctionId,
    repeated: &FxHashMap<FunctionId, Repeated>,
) -> Result<Option<Overwrite>> {
    let mut places = Places::new(module, id);
    if !places.has_writes() {
        return Ok(None);
    }
    let loads = loads(&mut places, made, repeated);
    let mut finder = Finder { places, loads, reads: Vec::new(), writes: FxHashMap::default() };
    let body = module.function(id).body;
    finder.collect(Frame::OUTERMOST, body, &mut Vec::new());
    let Finder { mut places, reads, writes, .. } = finder;
    let mut doubtful = None;
    for read in &reads {
        for write in writes.get(&read.place.root).into_iter().flatten() {
            let verdict = Pair::new(&mut places, read, write).verdict();
            let [read, write] = [read, write].map(|access| access.data(&places).span);
            match verdict {
                Verdict::Never => {}
                Verdict::Perhaps => doubtful = doubtful.or(Some(Overwrite { read, write })),
                Verdict::Certainly => return Err(AdjointError::Overwritten { read, write }),
            }
        }
    }
    Ok(doubtful)
}

/// The loads that are done again, by frame.
fn loads(
    places: &mut Places<'_>,
    made: FunctionId,
    repeated: &FxHashMap<FunctionId, Repeated>,
) -> FxHashSet<(Frame, Op)> {
    let mut loads = FxHashSet::default();
    let mut seen = FxHashSet::default();
    let mut work = vec![(Frame::OUTERMOST, made)];
    while let Some((frame, made)) = work.pop() {
        // A function with a replay of its own has another one called.
        let Some(found) = repeated.get(&made).filter(|_| seen.insert((frame, made))) else { continue };
        loads.extend(found.loads.iter().map(|&op| (frame, op)));
        for &(op, made) in &found.calls {
            if let Some(callee) = places.call_with_effects(frame, op) {
                work.push((callee, made));
            }
        }
    }
    loads
}

/// Collects accesses.
struct Finder<'m> {
    places: Places<'m>,
    loads: FxHashSet<(Frame, Op)>,
    /// Loads that are done again.
    reads: Vec<Access>,
    /// By root.
    writes: FxHashMap<Number, Vec<Access>>,
}

impl Finder<'_> {
    fn collect(&mut self, frame: Frame, block: Block, path: &mut Vec<Step>) {
        let f = self.places.function(frame);
        for (position, &op) in f.block(block).ops.iter().enumerate() {
            path.push(Step { frame, block, position });
            let data = f.op(op);
            match data.kind {
                OpKind::Load if self.loads.contains(&(frame, op)) => {
                    let place = self.places.place(frame, data.operands[0]);
                    self.reads.push(Access { path: path.clone(), place });
                }
                OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas => {
                    let place = self.places.place(frame, data.operands[0]);
                    let write = Access { path: path.clone(), place };
                    self.writes.entry(write.place.root).or_default().push(write);
                }
                OpKind::Call(_) => {
                    if let Some(callee) = self.places.call_with_effects(frame, op) {
                        let body = self.places.function(callee).body;
                        self.collect(callee, body, path);
                    }
                }
                _ => {}
            }
            for &inner in &data.blocks {
                self.collect(frame, inner, path);
            }
            path.pop();
        }
    }
}
