//! Which memory a kernel may read and write: an analysis that follows addresses from the parameters to loads, stores and
//! atomics.
//!
//! What it gives is an upper bound: a branch counts whether it is taken or not, and what cannot be followed (native code,
//! an address that is stored somewhere) counts as read and written. Two arrays that share memory are two arrays.

use smallvec::SmallVec;

use crate::ir::{Block, Function, FunctionKind, Module, Op, OpData, Param, Value};
use crate::op::{AtomicOp, OpKind};
use crate::types::Type;

/// What may be done with some memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Access {
    /// It may be read.
    pub reads: bool,
    /// It may be written.
    pub writes: bool,
}

impl Access {
    /// Read and written.
    pub const BOTH: Access = Access { reads: true, writes: true };

    /// Neither read nor written.
    pub fn is_none(self) -> bool {
        self == Access::default()
    }

    /// What is done by one or the other.
    pub fn or(self, other: Access) -> Access {
        Access { reads: self.reads || other.reads, writes: self.writes || other.writes }
    }

    fn bits(self) -> u8 {
        u8::from(self.reads) | u8::from(self.writes) << 1
    }

    fn from_bits(bits: u8) -> Access {
        Access { reads: bits & 1 != 0, writes: bits & 2 != 0 }
    }
}

/// What a kernel may do with one array of its arguments. An array that lists of indices stand before has them read when
/// either is not nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ArrayAccess {
    /// With its elements, and with what is found through addresses in them. An atomic operation reads and writes.
    pub elements: Access,
    /// With the elements of its gradient.
    pub gradient: Access,
    /// Whether what is read of its elements is used. It is not where all that reads them are sums and differences in place
    /// (`x[i] += v`) whose old values nothing asks for.
    pub is_used: bool,
}

/// What a kernel may do with memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct KernelAccess {
    /// With the arrays of its arguments, in order of parameters and fields; a Fabric array is its table of buckets and its
    /// index list.
    pub arrays: Vec<ArrayAccess>,
    /// With memory that no array of its arguments names: behind addresses that are numbers or lie in memory, and
    /// whatever native code does.
    pub others: Access,
}

impl KernelAccess {
    /// Of the kernel of a verified module; nothing at all when there is none.
    pub fn of(module: &Module) -> KernelAccess {
        match (module.kernel(), Summary::of_last(module)) {
            (Some(kernel), Some(summary)) => summary.of_kernel(&kernel.params),
            _ => KernelAccess::default(),
        }
    }

    /// A byte for `others` and one an array, for storing.
    pub fn to_bytes(&self) -> Vec<u8> {
        let array = |a: &ArrayAccess| a.elements.bits() | a.gradient.bits() << 2 | u8::from(a.is_used) << 4;
        std::iter::once(self.others.bits()).chain(self.arrays.iter().map(array)).collect()
    }

    /// What [`to_bytes`](Self::to_bytes) made; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<KernelAccess> {
        let (&others, arrays) = bytes.split_first()?;
        if others > 3 || arrays.iter().any(|&b| b > 31) {
            return None;
        }
        let array = |&b: &u8| ArrayAccess {
            elements: Access::from_bits(b & 3),
            gradient: Access::from_bits(b >> 2 & 3),
            is_used: b & 16 != 0,
        };
        Some(KernelAccess { arrays: arrays.iter().map(array).collect(), others: Access::from_bits(others) })
    }
}

/// The names of the arrays in a parameter, as [`KernelAccess::arrays`] has them: `x`, or `state.position` for a field. The
/// two parts of a Fabric array have one name.
pub fn array_names(param: &str, ty: Type) -> Vec<String> {
    let mut names = Vec::new();
    each_leaf(ty, param, &mut |name, ty| {
        if let Type::Array(_) = ty {
            names.push(name.to_owned());
        }
    });
    names
}

/// Calls `visit` with each part of a type that an address may be in.
fn each_leaf(ty: Type, name: &str, visit: &mut dyn FnMut(&str, Type)) {
    if let Some(structure) = ty.fields() {
        for field in &structure.fields {
            match ty {
                Type::Array(_) => each_leaf(field.ty, name, visit),
                _ => each_leaf(field.ty, &format!("{name}.{}", field.name), visit),
            }
        }
    } else if leaf_count(ty) == 1 {
        visit(name, ty);
    }
}

/// The number of parts of a type that an address may be in: arrays, addresses, and numbers of 64 bits.
pub(crate) fn leaf_count(ty: Type) -> usize {
    match (ty, ty.fields()) {
        (_, Some(s)) => s.fields.iter().map(|f| leaf_count(f.ty)).sum(),
        (Type::Array(_) | Type::Ref(_), None) => 1,
        _ => usize::from(ty.scalar().is_some_and(|s| s.size() == 8)),
    }
}

/// The parts of the fields before field `index`.
fn leaves_before(ty: Type, index: u32) -> usize {
    ty.fields().map_or(0, |s| s.fields[..index as usize].iter().map(|f| leaf_count(f.ty)).sum())
}

/// A set of [`Root`]s of one function.
#[derive(Clone, PartialEq, Eq, Default)]
struct Roots(SmallVec<[u64; 1]>);

/// What an address may have come from: a part of a parameter, its gradient, or an address that was found in that memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Elements(usize),
    Gradient(usize),
    Found(usize),
    /// Anything else.
    Other,
}

impl Root {
    fn index(self) -> usize {
        match self {
            Root::Other => 0,
            Root::Elements(leaf) => 1 + 3 * leaf,
            Root::Gradient(leaf) => 2 + 3 * leaf,
            Root::Found(leaf) => 3 + 3 * leaf,
        }
    }

    fn from_index(index: usize) -> Root {
        let leaf = index.wrapping_sub(1) / 3;
        match index {
            0 => Root::Other,
            _ if index % 3 == 1 => Root::Elements(leaf),
            _ if index % 3 == 2 => Root::Gradient(leaf),
            _ => Root::Found(leaf),
        }
    }

    /// What the gradient of such an array is.
    fn gradient(self) -> Root {
        match self {
            Root::Elements(leaf) => Root::Gradient(leaf),
            Root::Found(leaf) => Root::Found(leaf),
            Root::Gradient(_) | Root::Other => Root::Other,
        }
    }

    /// What an address that lies in such memory is.
    fn found(self) -> Root {
        match self {
            Root::Elements(leaf) | Root::Gradient(leaf) | Root::Found(leaf) => Root::Found(leaf),
            Root::Other => Root::Other,
        }
    }
}

impl Roots {
    fn one(root: Root) -> Roots {
        let mut roots = Roots::default();
        roots.insert(root);
        roots
    }

    fn insert(&mut self, root: Root) {
        let (word, bit) = (root.index() / 64, root.index() % 64);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << bit;
    }

    fn contains(&self, root: Root) -> bool {
        self.0.get(root.index() / 64).is_some_and(|word| word >> (root.index() % 64) & 1 != 0)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn extend(&mut self, other: &Roots) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn iter(&self) -> impl Iterator<Item = Root> + '_ {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| Root::from_index(64 * index + bit))
        })
    }

    fn map(&self, mut with: impl FnMut(Root) -> Root) -> Roots {
        let mut roots = Roots::default();
        self.iter().for_each(|root| roots.insert(with(root)));
        roots
    }
}

/// One set for each part of a value that an address may be in.
type Leaves = SmallVec<[Roots; 1]>;

/// What a function does, in terms of its parameters.
#[derive(Default)]
pub(crate) struct Summary {
    read: Roots,
    written: Roots,
    /// Those of `read` that are read for more than a sum in place.
    used: Roots,
    /// Addresses that were put where they cannot be followed.
    escaped: Roots,
    /// What atomic operations update.
    updated: Roots,
    /// What is touched by more than sums in place whose old values nothing asks for.
    plain: Roots,
    /// By which launch dimensions the elements that are touched are found, for what a kernel touches: `None` where they are
    /// not its thread's own.
    places: Vec<(Root, Option<Place>)>,
    results: Vec<Leaves>,
}

/// The launch dimensions whose indices are an element's indices, in order.
pub(crate) type Place = SmallVec<[u32; 4]>;

impl Summary {
    /// Of a module's last function.
    pub(crate) fn of_last(module: &Module) -> Option<Summary> {
        let mut summaries: Vec<Summary> = Vec::with_capacity(module.functions.len());
        for function in &module.functions {
            let summary = Walk::new(module, function, &summaries).summary();
            summaries.push(summary);
        }
        summaries.pop()
    }

    /// Notes that something is touched at a place.
    fn touch(&mut self, root: Root, place: Option<&Place>) {
        match self.places.iter_mut().find(|(known, _)| *known == root) {
            Some((_, before)) if before.as_ref() == place => {}
            Some((_, before)) => *before = None,
            None => self.places.push((root, place.cloned())),
        }
    }

    /// How the elements of an array, or of its gradient, are touched.
    pub(crate) fn touched(&self, leaf: usize, gradient: bool) -> Touched<'_> {
        let root = if gradient { Root::Gradient(leaf) } else { Root::Elements(leaf) };
        Touched {
            is_touched: self.read.contains(root) || self.written.contains(root),
            is_written: self.written.contains(root),
            is_updated: self.updated.contains(root),
            is_plain: self.plain.contains(root),
            own: self.places.iter().find(|(known, _)| *known == root).and_then(|(_, place)| place.as_ref()),
        }
    }

    /// Whether all memory that is touched is that of arrays of the kernel's arguments.
    pub(crate) fn is_of_arrays(&self) -> bool {
        let is_array = |root| matches!(root, Root::Elements(_) | Root::Gradient(_));
        self.escaped.is_empty() && [&self.read, &self.written].iter().all(|roots| roots.iter().all(is_array))
    }

    fn of_kernel(&self, params: &[Param]) -> KernelAccess {
        let access =
            |root: Root| Access { reads: self.read.contains(root), writes: self.written.contains(root) };
        let mut out = KernelAccess { arrays: Vec::new(), others: access(Root::Other) };
        let mut leaf = 0;
        for param in params {
            each_leaf(param.ty, "", &mut |_, ty| {
                let found = access(Root::Found(leaf));
                out.others = out.others.or(found);
                if let Type::Array(_) = ty {
                    let of = |root| if self.escaped.contains(root) { Access::BOTH } else { access(root) };
                    out.arrays.push(ArrayAccess {
                        elements: of(Root::Elements(leaf)).or(found),
                        gradient: of(Root::Gradient(leaf)),
                        is_used: [Root::Elements(leaf), Root::Found(leaf)]
                            .iter()
                            .any(|&r| self.used.contains(r))
                            || self.escaped.contains(Root::Elements(leaf)),
                    });
                } else {
                    out.others = out.others.or(access(Root::Elements(leaf))).or(access(Root::Gradient(leaf)));
                }
                leaf += 1;
            });
        }
        out
    }
}

/// How a kernel touches the elements of an array, or those of its gradient.
pub(crate) struct Touched<'a> {
    pub is_touched: bool,
    pub is_written: bool,
    /// By atomic operations.
    pub is_updated: bool,
    /// By more than sums in place whose old values nothing asks for.
    pub is_plain: bool,
    /// Set where each thread touches one element only, that of its indices in these launch dimensions.
    pub own: Option<&'a Place>,
}

/// The way through one function.
struct Walk<'a> {
    module: &'a Module,
    f: &'a Function,
    known: &'a [Summary],
    values: Vec<Leaves>,
    /// The values that some operation takes.
    has_use: Vec<bool>,
    out: Summary,
}

impl<'a> Walk<'a> {
    fn new(module: &'a Module, f: &'a Function, known: &'a [Summary]) -> Walk<'a> {
        let mut has_use = vec![false; f.value_count()];
        for block in 0..f.block_count() {
            for &op in &f.block(Block::new(block)).ops {
                f.op(op).operands.iter().for_each(|v| has_use[v.index()] = true);
            }
        }
        let values = vec![Leaves::new(); f.value_count()];
        Walk { module, f, known, values, has_use, out: Summary::default() }
    }

    fn summary(mut self) -> Summary {
        let mut next = 0;
        for &param in &self.f.block(self.f.body).params {
            let leaves =
                (next..next + leaf_count(self.f.ty(param))).map(|leaf| Roots::one(Root::Elements(leaf)));
            self.values[param.index()] = leaves.collect();
            next += leaf_count(self.f.ty(param));
        }
        self.block(self.f.body);
        self.out
    }

    /// The parts of a value, as many as its type has.
    fn leaves(&self, value: Value) -> Leaves {
        let known = &self.values[value.index()];
        if known.is_empty() {
            smallvec::smallvec![Roots::default(); leaf_count(self.f.ty(value))]
        } else {
            known.clone()
        }
    }

    /// All that a value may be the address of.
    fn roots(&self, value: Value) -> Roots {
        let mut all = Roots::default();
        self.values[value.index()].iter().for_each(|roots| all.extend(roots));
        all
    }

    /// Adds to what a value may be; whether that is more than before.
    fn add(&mut self, value: Value, leaves: &Leaves) -> bool {
        if leaves.iter().all(Roots::is_empty) {
            return false;
        }
        let mut new = self.leaves(value);
        new.iter_mut().zip(leaves).for_each(|(old, more)| old.extend(more));
        let changed = new != self.values[value.index()];
        self.values[value.index()] = new;
        changed
    }

    fn access(&mut self, address: Value, access: Access, is_used: bool, is_sum: bool) {
        let roots = self.roots(address);
        let place = self.place(address);
        roots.iter().for_each(|root| self.out.touch(root, place.as_ref()));
        if !is_sum {
            self.out.plain.extend(&roots);
        }
        if access.reads {
            self.out.read.extend(&roots);
        }
        if is_used {
            self.out.used.extend(&roots);
        }
        if access.writes {
            self.out.written.extend(&roots);
        }
    }

    /// The launch dimensions whose indices lead to an address in a kernel's array.
    fn place(&self, address: Value) -> Option<Place> {
        let f = self.f;
        let mut at = f.defining_op(address)?;
        while let OpKind::Field(_) | OpKind::Comp = at.kind {
            at = f.defining_op(at.operands[0])?;
        }
        if at.kind != OpKind::Elem || f.kind != FunctionKind::Kernel || !self.is_whole(at.operands[0]) {
            return None;
        }
        let dims = at.operands[1..].iter().map(|&index| match f.defining_op(index)?.kind {
            OpKind::Tid(dim) => Some(dim),
            _ => None,
        });
        dims.collect()
    }

    /// Whether an array is a parameter, a field of one, or the gradient of such.
    fn is_whole(&self, array: Value) -> bool {
        match self.f.defining_op(array) {
            None => self.f.block(self.f.body).params.contains(&array),
            Some(data) => {
                matches!(data.kind, OpKind::GradArray | OpKind::Extract(_)) && self.is_whole(data.operands[0])
            }
        }
    }

    fn escape(&mut self, value: Value) {
        let roots = self.roots(value);
        self.out.escaped.extend(&roots);
    }

    fn block(&mut self, block: Block) {
        let f = self.f;
        for &op in &f.block(block).ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: Op) {
        let f = self.f;
        let data = f.op(op);
        match &data.kind {
            OpKind::If => {
                for &block in &data.blocks {
                    self.block(block);
                    self.yields(data, block);
                }
            }
            OpKind::For => self.carried(data, 3, 1),
            OpKind::While => self.carried(data, 0, 0),
            OpKind::Return => self.out.results = data.operands.iter().map(|&v| self.leaves(v)).collect(),
            OpKind::Call(callee) => match self.known.get(callee.index()) {
                Some(summary) if self.module.function(*callee).native().is_none() => self.call(data, summary),
                _ => self.anything(data),
            },
            OpKind::Load => {
                self.access(data.operands[0], Access { reads: true, writes: false }, true, false);
                self.found(data);
            }
            OpKind::Store => {
                self.access(data.operands[0], Access { reads: false, writes: true }, false, false);
                self.escape(data.operands[1]);
            }
            OpKind::Atomic(_) | OpKind::AtomicCas => {
                let is_sum = matches!(data.kind, OpKind::Atomic(AtomicOp::Add | AtomicOp::Sub));
                let is_used = !is_sum || data.results.iter().any(|r| self.has_use[r.index()]);
                self.access(data.operands[0], Access::BOTH, is_used, !is_used);
                let roots = self.roots(data.operands[0]);
                self.out.updated.extend(&roots);
                data.operands[1..].iter().for_each(|&v| self.escape(v));
                self.found(data);
            }
            OpKind::Yield
            | OpKind::Cmp(_)
            | OpKind::Shape(_)
            | OpKind::Stride(_)
            | OpKind::Print(_)
            | OpKind::Assert(_)
            | OpKind::Breakpoint => {}
            kind if kind.is_pure() || matches!(kind, OpKind::Local(_)) => self.flow(data),
            _ => self.anything(data),
        }
    }

    /// What may be done by code that cannot be looked into.
    fn anything(&mut self, data: &OpData) {
        let mut all = Roots::one(Root::Other);
        for &operand in &data.operands {
            all.extend(&self.roots(operand));
            self.escape(operand);
        }
        all.iter().for_each(|root| self.out.touch(root, None));
        self.out.read.extend(&all);
        self.out.used.extend(&all);
        self.out.written.extend(&all);
        self.out.updated.extend(&all);
        self.out.plain.extend(&all);
        self.give(data, &all);
    }

    /// Every part of the results may be any of `roots`.
    fn give(&mut self, data: &OpData, roots: &Roots) {
        for &result in &data.results {
            let leaves = smallvec::smallvec![roots.clone(); leaf_count(self.f.ty(result))];
            self.add(result, &leaves);
        }
    }

    /// Results that were read from memory at the first operand.
    fn found(&mut self, data: &OpData) {
        let roots = self.roots(data.operands[0]).map(Root::found);
        self.give(data, &roots);
    }

    fn yields(&mut self, data: &OpData, block: Block) -> bool {
        let f = self.f;
        let Some(&last) = f.block(block).ops.last() else { return false };
        let mut changed = false;
        for (&result, &yielded) in data.results.iter().zip(&f.op(last).operands) {
            let leaves = self.leaves(yielded);
            changed |= self.add(result, &leaves);
        }
        changed
    }

    fn carried(&mut self, data: &OpData, first: usize, param: usize) {
        let f = self.f;
        for (&result, &start) in data.results.iter().zip(&data.operands[first..]) {
            let leaves = self.leaves(start);
            self.add(result, &leaves);
        }
        loop {
            for &block in &data.blocks {
                for (&result, &inside) in data.results.iter().zip(&f.block(block).params[param..]) {
                    let leaves = self.leaves(result);
                    self.add(inside, &leaves);
                }
                self.block(block);
            }
            let changed = data.blocks.last().is_some_and(|&body| self.yields(data, body));
            if !changed {
                break;
            }
        }
    }

    fn call(&mut self, data: &OpData, summary: &Summary) {
        let args: Vec<Roots> = data.operands.iter().flat_map(|&v| self.leaves(v)).collect();
        let outside = |roots: &Roots| {
            let mut all = Roots::default();
            for root in roots.iter() {
                match root {
                    Root::Elements(leaf) => all.extend(&args[leaf]),
                    Root::Gradient(leaf) => all.extend(&args[leaf].map(Root::gradient)),
                    Root::Found(leaf) => all.extend(&args[leaf].map(Root::found)),
                    Root::Other => all.insert(Root::Other),
                }
            }
            all
        };
        self.out.read.extend(&outside(&summary.read));
        self.out.used.extend(&outside(&summary.used));
        self.out.written.extend(&outside(&summary.written));
        self.out.escaped.extend(&outside(&summary.escaped));
        self.out.updated.extend(&outside(&summary.updated));
        self.out.plain.extend(&outside(&summary.plain));
        for all in [&summary.read, &summary.written] {
            outside(all).iter().for_each(|root| self.out.touch(root, None));
        }
        for (&result, leaves) in data.results.iter().zip(&summary.results) {
            let leaves = leaves.iter().map(&outside).collect();
            self.add(result, &leaves);
        }
    }

    /// Operations without effects.
    fn flow(&mut self, data: &OpData) {
        let [result] = data.results[..] else { return };
        let ty = self.f.ty(result);
        let count = leaf_count(ty);
        let is_composed = ty.as_struct().is_some();
        let leaves: Leaves = match &data.kind {
            OpKind::GradArray => {
                self.leaves(data.operands[0]).iter().map(|roots| roots.map(Root::gradient)).collect()
            }
            OpKind::ArrayAt => {
                let roots = self.roots(data.operands[0]);
                smallvec::smallvec![if roots.is_empty() { Roots::one(Root::Other) } else { roots }]
            }
            OpKind::Select => {
                let mut leaves = self.leaves(data.operands[1]);
                leaves.iter_mut().zip(self.leaves(data.operands[2])).for_each(|(a, b)| a.extend(&b));
                leaves
            }
            OpKind::Extract(index) if self.f.ty(data.operands[0]).fields().is_some() => {
                let skipped = leaves_before(self.f.ty(data.operands[0]), *index);
                self.leaves(data.operands[0]).into_iter().skip(skipped).take(count).collect()
            }
            OpKind::Construct if is_composed => data.operands.iter().flat_map(|&v| self.leaves(v)).collect(),
            OpKind::Insert(index) if is_composed => {
                let mut leaves = self.leaves(data.operands[0]);
                let replaced = leaves.iter_mut().skip(leaves_before(ty, *index));
                replaced.zip(self.leaves(data.operands[1])).for_each(|(slot, part)| *slot = part);
                leaves
            }
            // Where an index goes is no address.
            OpKind::Elem | OpKind::View(_) | OpKind::Window(_) | OpKind::Field(_) | OpKind::Comp => {
                self.leaves(data.operands[0])
            }
            _ => {
                if count == 0 {
                    // Part of an address may be put together again.
                    data.operands.iter().for_each(|&v| self.escape(v));
                    return;
                }
                let mut all = Roots::default();
                data.operands.iter().for_each(|&v| all.extend(&self.roots(v)));
                smallvec::smallvec![all; count]
            }
        };
        self.add(result, &leaves);
    }
}
