//! Finds values that are needed from array elements which are overwritten afterwards, in a function or in those that it
//! calls.

mod pair;

use std::cell::RefCell;

use inkle_diag::{Code, Diagnostic, Span};
use inkle_ir::{Block, FunctionId, Module, Op, OpData, OpKind, Type, Value, ValueDef};
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
    /// The values that are used as a whole, and constant components and fields of values that are.
    pub whole: RefCell<FxHashSet<Value>>,
    pub parts: FxHashSet<(Value, u32)>,
    /// Calls, and the functions that are called for them.
    pub calls: FxHashSet<(Op, FunctionId)>,
    /// Calls, and the program's own functions that are called for them: gradients and replays.
    pub customs: FxHashSet<(Op, FunctionId)>,
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
    let places = Places::new(module, id);
    if !places.has_writes() {
        return Ok(None);
    }
    let mut finder = Finder {
        places,
        loads: FxHashSet::default(),
        customs: FxHashMap::default(),
        reads: Vec::new(),
        writes: FxHashMap::default(),
    };
    finder.follow(made, repeated);
    let body = module.function(id).body;
    finder.collect(Frame::OUTERMOST, body, false, &mut Vec::new());
    let Finder { mut places, reads, writes, .. } = finder;
    let mut doubtful = None;
    for read in &reads {
        for (&root, writes) in &writes {
            let is_one = root == read.place.root;
            if !is_one && !places.may_be_one(root, read.place.root) {
                continue;
            }
            for write in writes {
                let verdict = match is_one {
                    true => Pair::new(&mut places, read, write).verdict(),
                    false => Verdict::Perhaps,
                };
                let [read, write] = [read, write].map(|access| access.data(&places).span);
                match verdict {
                    Verdict::Never => {}
                    Verdict::Perhaps => doubtful = doubtful.or(Some(Overwrite { read, write })),
                    Verdict::Certainly => return Err(AdjointError::Overwritten { read, write }),
                }
            }
        }
    }
    Ok(doubtful)
}

/// Collects accesses.
struct Finder<'m> {
    places: Places<'m>,
    /// The loads that are done again, with the part that is used of each; `None` for the whole.
    loads: FxHashSet<(Frame, Op, Option<u32>)>,
    /// The runs of gradients and replays that the program gives, by their calls.
    customs: FxHashMap<(Frame, Op), Vec<Frame>>,
    reads: Vec<Access>,
    /// By root.
    writes: FxHashMap<Number, Vec<Access>>,
}

impl Finder<'_> {
    /// Finds what is done again, from the outermost function on.
    fn follow(&mut self, made: FunctionId, repeated: &FxHashMap<FunctionId, Repeated>) {
        let mut seen = FxHashSet::default();
        let mut work = vec![(Frame::OUTERMOST, made)];
        while let Some((frame, made)) = work.pop() {
            let Some(found) = repeated.get(&made).filter(|_| seen.insert((frame, made))) else { continue };
            let f = self.places.function(frame);
            let whole = found.whole.borrow();
            for &op in &found.loads {
                if whole.contains(&f.op(op).results[0]) {
                    self.loads.insert((frame, op, None));
                }
            }
            for &(value, part) in &found.parts {
                if let ValueDef::Result { op, .. } = f.value(value).def
                    && found.loads.contains(&op)
                {
                    self.loads.insert((frame, op, Some(part)));
                }
            }
            for &(op, custom) in &found.customs {
                let run = self.places.run(custom, Some((frame, op)));
                self.customs.entry((frame, op)).or_default().push(run);
            }
            for &(op, made) in &found.calls {
                if let Some(callee) = self.places.call_with_effects(frame, op) {
                    work.push((callee, made));
                }
            }
        }
    }

    /// Collects what is done in a block. Of a `custom` run, whose place is in the backward pass, that is everything that it
    /// loads.
    fn collect(&mut self, frame: Frame, block: Block, custom: bool, path: &mut Vec<Step>) {
        let f = self.places.function(frame);
        for (position, &op) in f.block(block).ops.iter().enumerate() {
            path.push(Step { frame, block, position });
            let data = f.op(op);
            match data.kind {
                OpKind::Load if custom => {
                    let place = self.places.place(frame, data.operands[0]);
                    self.reads.push(Access { path: path.clone(), place });
                }
                OpKind::Load => self.load(frame, op, path),
                OpKind::Store | OpKind::Atomic(_) | OpKind::AtomicCas if !custom => {
                    let place = self.places.place(frame, data.operands[0]);
                    self.write(place, path);
                }
                OpKind::Call(_) => self.call(frame, op, custom, path),
                _ => {}
            }
            for &inner in &data.blocks {
                self.collect(frame, inner, custom, path);
            }
            path.pop();
        }
    }

    fn load(&mut self, frame: Frame, op: Op, path: &[Step]) {
        let f = self.places.function(frame);
        let data = f.op(op);
        let count = part_count(f.ty(data.results[0]));
        let used = std::iter::once(None).chain((0..count).map(Some));
        for part in used.filter(|&part| self.loads.contains(&(frame, op, part))).collect::<Vec<_>>() {
            let place = self.places.place(frame, data.operands[0]);
            let place = match part {
                Some(part) => self.places.part(&place, f.ty(data.results[0]), part),
                None => place,
            };
            self.reads.push(Access { path: path.to_vec(), place });
        }
    }

    fn write(&mut self, place: Place, path: &[Step]) {
        self.writes.entry(place.root).or_default().push(Access { path: path.to_vec(), place });
    }

    fn call(&mut self, frame: Frame, op: Op, custom: bool, path: &mut Vec<Step>) {
        for run in self.customs.get(&(frame, op)).cloned().unwrap_or_default() {
            let body = self.places.function(run).body;
            self.collect(run, body, true, path);
        }
        if let Some(callee) = self.places.call_with_effects(frame, op) {
            let body = self.places.function(callee).body;
            self.collect(callee, body, custom, path);
        } else if !custom {
            // C++ may write anywhere.
            for place in self.places.given_to_native(frame, op) {
                self.write(place, path);
            }
        }
    }
}

/// The components or fields that a value has.
fn part_count(ty: Type) -> u32 {
    match ty.fields() {
        Some(structure) => structure.fields.len() as u32,
        None => ty.component_count().unwrap_or(0),
    }
}
