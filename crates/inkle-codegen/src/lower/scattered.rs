//! Elements of a few equal parts, each lane's at an address of its own.
//!
//! Each element is read whole, and the parts are put into lanes by shuffles. A gather of each part asks for every address
//! again, and on many processors is no faster than a read a lane; where it is, gathers take half the time and a tenth of the
//! code.

use inkle_ir::Type;

use super::Lower;
use super::lanes::SLOT_ALIGN;
use crate::emitter::{Int, Ty, V};
use crate::value::{Part, Parts, Val};

/// How many elements are turned from rows into columns at a time.
const TRANSPOSED: u32 = 4;
/// The size of an address.
const POINTER: u32 = 8;

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
        let rows = self.read_rows(ty, addresses, part.size(), n as u32);
        let pieces = |order: [u32; 4]| -> Vec<u32> {
            let place = |i: u32, piece: u32| {
                let (row, k) = (i / TRANSPOSED, i % TRANSPOSED);
                row * lanes + piece * TRANSPOSED + k
            };
            (0..lanes / TRANSPOSED).flat_map(|piece| order.map(|i| place(i, piece))).collect()
        };
        let halves = |l: &Self, order| {
            let order = pieces(order);
            [l.e.shuffle(rows[0], rows[1], &order), l.e.shuffle(rows[2], rows[3], &order)]
        };
        let low = halves(self, [0, 4, 1, 5]);
        let high = if n > 2 { halves(self, [2, 6, 3, 7]) } else { low };
        let parts = [(low, [0, 1, 4, 5]), (low, [2, 3, 6, 7]), (high, [0, 1, 4, 5]), (high, [2, 3, 6, 7])];
        parts[..n]
            .iter()
            .map(|&([a, b], order)| {
                let v = self.e.shuffle(a, b, &pieces(order));
                Val::Varying(self.in_register(v, part))
            })
            .collect()
    }

    /// Row `r` has, one after the other, the elements of the lanes r, r + 4, r + 8 ...: so a transposition of each four
    /// rows within pieces of four gives the lanes in order.
    fn read_rows(&mut self, ty: Ty, addresses: V, size: u32, n: u32) -> Vec<V> {
        let (lanes, int64) = (self.lanes, self.e.int(64));
        let (row_type, row_bytes) = (self.e.vector(ty, lanes), lanes * size);
        // Both through memory, in a loop: a quarter of the code, and quicker than taking addresses out of vectors.
        let of_addresses = self.e.alloca(self.e.type_of(addresses));
        self.e.store(addresses, of_addresses, SLOT_ALIGN);
        let rows = self.e.alloca(self.e.vector(ty, TRANSPOSED * lanes));
        for slot in [of_addresses, rows] {
            self.e.set_slot_align(slot, SLOT_ALIGN);
        }
        let before = self.e.current_block();
        let [body, done] = ["row", "rows"].map(|name| self.e.new_block(name));
        self.e.br(body);
        self.e.at_end(body);
        let row = self.e.phi(int64);
        self.e.add_incoming(row, self.e.i64(0), before);
        let pointer = self.pointer_type();
        let first = self.e.gep(pointer, of_addresses, row);
        let elements = (0..lanes).step_by(TRANSPOSED as usize).map(|lane| {
            let address = self.e.load(pointer, self.e.byte_offset(first, lane * POINTER), POINTER);
            self.load_filled(ty, address, size, n)
        });
        let elements: Vec<V> = elements.collect();
        let joined = self.joined(elements, TRANSPOSED);
        self.e.store(joined, self.e.gep(row_type, rows, row), row_bytes.min(SLOT_ALIGN));
        let next = self.e.add(row, self.e.i64(1));
        self.e.add_incoming(row, next, body);
        let more = self.e.icmp(Int::LLVMIntULT, next, self.e.i64(TRANSPOSED.into()));
        self.e.cond_br(more, body, done);
        self.e.at_end(done);
        let read =
            |row| self.e.load(row_type, self.e.byte_offset(rows, row * row_bytes), row_bytes.min(SLOT_ALIGN));
        (0..TRANSPOSED).map(read).collect()
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
