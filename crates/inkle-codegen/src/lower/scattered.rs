//! Elements of a few equal parts, each lane's at an address of its own.
//!
//! Each element is read whole, and the parts are put into lanes by shuffles. A gather of each part asks for every address
//! again, and on many processors is no faster than a read a lane; where it is, gathers take half the time and a tenth of the
//! code. What is added to elements is put into rows in the same way, of which each lane's is added at once.
//!
//! All of it is straight code, much of it for one access, so it is in functions, of which a kernel has one of each kind.

use inkle_ir::{AtomicOp, Scalar, Type};
use smallvec::SmallVec;

use super::Lower;
use super::lanes::SLOT_ALIGN;
use super::warp::Place;
use crate::emitter::{Ty, V};
use crate::value::{Part, Parts, Val};

/// How many elements are turned from rows into columns at a time.
const TRANSPOSED: u32 = 4;
/// The size of an address.
const POINTER: u32 = 8;

/// What a function does with a vector of elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Scattered {
    /// How it changes them; `None` if it reads them.
    op: Option<AtomicOp>,
    /// The type of their parts.
    ty: Ty,
    parts: u32,
    lanes: u32,
}

impl Lower<'_, '_> {
    /// Whether lanes hold such elements, and they are read in this way.
    pub fn scattered(&self, layout: &[(Part, u32)], ty: Type, at: Val) -> Option<Part> {
        let has_addresses = matches!(at, Val::Varying(_) | Val::Indexed { .. } | Val::Linear { .. });
        let (first, n) = (layout.first()?.0, layout.len());
        let whole = !self.machine.gpu
            && !self.machine.quick_gathers
            && has_addresses
            && (2..=TRANSPOSED as usize).contains(&n)
            && self.lanes.is_multiple_of(TRANSPOSED)
            && first.size() == 4
            && ty.size() == 4 * n as u32
            && layout.iter().all(|&(part, _)| part == first);
        whole.then_some(first)
    }

    /// Reads elements of `n` parts.
    pub fn load_scattered(&mut self, at: Val, part: Part, n: usize) -> Parts {
        let (ty, lanes) = (self.memory_type(part), self.lanes);
        let mut addresses = self.wide(at);
        if let Some(mask) = self.mask {
            // Lanes without a thread read zeros of our own.
            let element = self.e.vector(ty, n as u32);
            let zeros = self.e.alloca(element);
            self.e.store(self.e.null(element), zeros, part.size());
            addresses = self.e.select(mask, addresses, self.e.splat(zeros, lanes));
        }
        let result = self.e.structure(&vec![self.e.vector(ty, lanes); n]);
        let key = Scattered { op: None, ty, parts: n as u32, lanes };
        let all = self.by_function(key, "read", result, &[addresses], |l, args| {
            let rows = l.read_rows(ty, args[0], part.size(), n as u32);
            let parts = l.parts_of_rows(&rows, n);
            let none = l.e.poison(result);
            Some((0..).zip(parts).fold(none, |all, (k, part)| l.e.insert_value(all, part, k)))
        });
        (0..n as u32).map(|k| Val::Varying(self.in_register(self.e.extract_value(all, k), part))).collect()
    }

    /// Calls a function for a vector of elements, which has its code once.
    fn by_function(
        &mut self,
        key: Scattered,
        name: &str,
        result: Ty,
        args: &[V],
        body: impl FnOnce(&mut Self, &[V]) -> Option<V>,
    ) -> V {
        let known = self.scattered.get(&key).copied();
        let f = known.unwrap_or_else(|| {
            let types: SmallVec<[Ty; 8]> = args.iter().map(|&v| self.e.type_of(v)).collect();
            let ty = self.e.function_type(result, &types);
            let f = self.e.internal_function(&format!("scattered.{name}"), ty);
            self.outlined(f, name, |l| {
                let args: SmallVec<[V; 8]> = (0..types.len() as u32).map(|i| l.e.param(f, i)).collect();
                match body(l, &args) {
                    Some(v) => l.e.ret(v),
                    None => l.e.ret_void(),
                }
            });
            self.scattered.insert(key, f);
            f
        });
        self.e.call(f, args)
    }

    /// The vectors of the parts, from rows as [`Self::read_rows`] gives them.
    fn parts_of_rows(&self, rows: &[V], n: usize) -> SmallVec<[V; 4]> {
        let lanes = self.lanes;
        let pieces = |order: [u32; 4]| -> Vec<u32> {
            let place = |i: u32, piece: u32| {
                let (row, k) = (i / TRANSPOSED, i % TRANSPOSED);
                row * lanes + piece * TRANSPOSED + k
            };
            (0..lanes / TRANSPOSED).flat_map(|piece| order.map(|i| place(i, piece))).collect()
        };
        let halves = |order| {
            let order = pieces(order);
            [self.e.shuffle(rows[0], rows[1], &order), self.e.shuffle(rows[2], rows[3], &order)]
        };
        let low = halves([0, 4, 1, 5]);
        let high = if n > 2 { halves([2, 6, 3, 7]) } else { low };
        let parts = [(low, [0, 1, 4, 5]), (low, [2, 3, 6, 7]), (high, [0, 1, 4, 5]), (high, [2, 3, 6, 7])];
        parts[..n].iter().map(|&([a, b], order)| self.e.shuffle(a, b, &pieces(order))).collect()
    }

    /// Row `r` has, one after the other, the elements of the lanes r, r + 4, r + 8 ...: so a transposition of each four
    /// rows within pieces of four gives the lanes in order.
    fn read_rows(&mut self, ty: Ty, addresses: V, size: u32, n: u32) -> Vec<V> {
        let lanes = self.lanes;
        // Through memory: quicker than taking addresses out of vectors.
        let of_addresses = self.e.alloca(self.e.type_of(addresses));
        self.e.set_slot_align(of_addresses, SLOT_ALIGN);
        self.e.store(addresses, of_addresses, SLOT_ALIGN);
        let pointer = self.pointer_type();
        let row = |r: u32| {
            let elements = (r..lanes).step_by(TRANSPOSED as usize).map(|lane| {
                let address = self.e.load(pointer, self.e.byte_offset(of_addresses, lane * POINTER), POINTER);
                self.load_filled(ty, address, size, n)
            });
            self.joined(elements.collect(), TRANSPOSED)
        };
        (0..TRANSPOSED).map(row).collect()
    }

    /// Adds to elements of parts of one type at addresses of the lanes' own, or takes from them, one lane after the other, by plain
    /// reads and writes. `false` if that is not quicker than each part by itself: where lanes that have a thread may be inactive,
    /// or parts are not of four bytes.
    pub fn add_scattered(&mut self, op: AtomicOp, places: &[Place], at: Val, value: &Parts) -> bool {
        let (lanes, n) = (self.lanes, places.len() as u32);
        let Some(&(scalar, _)) = places.first() else { return false };
        let is_whole = (0..).zip(places).all(|(k, &place)| place == (scalar, 4 * k));
        let all_run =
            self.mask.is_none_or(|mask| self.existing.is_some_and(|existing| existing.mask == mask));
        let fits = matches!(op, AtomicOp::Add | AtomicOp::Sub)
            && is_whole
            && scalar.size() == 4
            && (2..=TRANSPOSED).contains(&n)
            && lanes.is_multiple_of(TRANSPOSED);
        if self.machine.gpu || !all_run || !fits {
            return false;
        }
        let ty = self.scalar_type(scalar);
        let mut addresses = self.wide(at);
        if let Some(mask) = self.mask {
            // Lanes without a thread add to an element of our own.
            let unused = self.e.alloca(self.e.vector(ty, TRANSPOSED));
            addresses = self.e.select(mask, addresses, self.e.splat(unused, lanes));
        }
        let args: SmallVec<[V; 8]> =
            [addresses].into_iter().chain(value.iter().map(|&v| self.wide(v))).collect();
        let key = Scattered { op: Some(op), ty, parts: n, lanes };
        self.by_function(key, "add", self.e.void(), &args, |l, args| {
            l.add_rows(op, scalar, args[0], &args[1..]);
            None
        });
        true
    }

    /// Adds to elements at these addresses vectors of their parts.
    fn add_rows(&mut self, op: AtomicOp, scalar: Scalar, addresses: V, parts: &[V]) {
        let (lanes, ty) = (self.lanes, self.scalar_type(scalar));
        let of_addresses = self.e.alloca(self.e.type_of(addresses));
        self.e.store(addresses, of_addresses, SLOT_ALIGN);
        let (rows, row_bytes) = (self.e.alloca(self.e.vector(ty, TRANSPOSED * lanes)), lanes * scalar.size());
        for slot in [of_addresses, rows] {
            self.e.set_slot_align(slot, SLOT_ALIGN);
        }
        for (r, row) in (0..).zip(self.rows_of(parts)) {
            self.e.store(row, self.e.byte_offset(rows, r * row_bytes), row_bytes.min(SLOT_ALIGN));
        }
        let pointer = self.pointer_type();
        for lane in 0..lanes {
            let at = self.e.load(pointer, self.e.byte_offset(of_addresses, lane * POINTER), POINTER);
            let element = lane % TRANSPOSED * row_bytes + lane / TRANSPOSED * TRANSPOSED * scalar.size();
            self.add_element(op, scalar, parts.len() as u32, at, self.e.byte_offset(rows, element));
        }
    }

    /// The rows that [`Self::load_scattered`] takes apart, of parts.
    fn rows_of(&self, parts: &[V]) -> [V; TRANSPOSED as usize] {
        let lanes = self.lanes;
        let pieces = |a, b, order: [u32; 4]| {
            let place = |piece: u32, i: u32| i / TRANSPOSED * lanes + piece * TRANSPOSED + i % TRANSPOSED;
            let order = (0..lanes / TRANSPOSED).flat_map(|piece| order.map(|i| place(piece, i)));
            self.e.shuffle(a, b, &order.collect::<Vec<_>>())
        };
        // What is behind an element's parts may be anything.
        let [a, b] = [parts[0], parts[1]];
        let [c, d] = if parts.len() == 2 { [a, b] } else { [parts[2], parts[parts.len() - 1]] };
        let [low, high] =
            [[0, 4, 1, 5], [2, 6, 3, 7]].map(|order| [pieces(a, b, order), pieces(c, d, order)]);
        let [first, second] = [[0, 1, 4, 5], [2, 3, 6, 7]];
        [(low, first), (low, second), (high, first), (high, second)]
            .map(|([a, b], order)| pieces(a, b, order))
    }

    /// Adds to the `n` parts of the element at `at` those at `from`, where there are [`TRANSPOSED`]. It reads as much at once as it writes,
    /// so that what is written is at hand when the element is the next lane's too.
    fn add_element(&self, op: AtomicOp, scalar: Scalar, n: u32, at: V, from: V) {
        let (part, whole) = (self.scalar_type(scalar), self.e.vector(self.scalar_type(scalar), TRANSPOSED));
        let changed = |old, v| match (op, scalar.is_float()) {
            (AtomicOp::Sub, true) => self.e.fsub(old, v),
            (AtomicOp::Sub, false) => self.e.sub(old, v),
            (_, true) => self.e.fadd(old, v),
            (_, false) => self.e.add(old, v),
        };
        let size = scalar.size();
        // Two or four, as the hardware reads them; in a vector as long as what is added, which then need not be read by itself.
        let count = n & !1;
        let first = self.e.vector(part, count);
        let old = self.e.load(first, at, size);
        let filled: Vec<u32> = (0..TRANSPOSED).map(|k| k.min(count - 1)).collect();
        let old = self.e.shuffle(old, self.e.poison(first), &filled);
        let new = changed(old, self.e.load(whole, from, size * TRANSPOSED));
        let kept: Vec<u32> = (0..count).collect();
        self.e.store(self.e.shuffle(new, self.e.poison(whole), &kept), at, size);
        if n > count {
            let [at, from] = [at, from].map(|base| self.e.byte_offset(base, count * size));
            let new = changed(self.e.load(part, at, size), self.e.load(part, from, size));
            self.e.store(new, at, size);
        }
    }

    /// Reads the `n` parts of one element as a vector of [`TRANSPOSED`], whatever is behind them.
    fn load_filled(&self, ty: Ty, address: V, size: u32, n: u32) -> V {
        if n == 3 && self.machine.masked_memory {
            // A read of three numbers is two reads to LLVM, and a mask that never changes costs nothing.
            let whole = self.e.vector(ty, TRANSPOSED);
            let bits: Vec<V> = (0..TRANSPOSED).map(|k| self.e.i1(k < n)).collect();
            let (mask, types) = (self.e.const_vector(&bits), [whole, self.e.type_of(address)]);
            let v = self.e.intrinsic("llvm.masked.load", &types, &[address, mask, self.e.poison(whole)]);
            self.e.set_argument_align(v, 0, size);
            return v;
        }
        let element = self.e.vector(ty, n);
        let v = self.e.load(element, address, size);
        let filled: Vec<u32> = (0..TRANSPOSED).map(|k| k.min(n - 1)).collect();
        self.e.shuffle(v, self.e.poison(element), &filled)
    }

    /// Vectors of `width` elements, a power of two of them, one after the other in one.
    fn joined(&self, mut all: Vec<V>, mut width: u32) -> V {
        while all.len() > 1 {
            let picks: Vec<u32> = (0..2 * width).collect();
            all = all.chunks(2).map(|pair| self.e.shuffle(pair[0], pair[1], &picks)).collect();
            width *= 2;
        }
        all[0]
    }
}
