//! Stores past the caches.
//!
//! What a large launch writes does not stay in the caches until someone reads it. An ordinary store still reads the line
//! that it changes from memory first, and whole lines written past the caches save that. Which launches are large is
//! known when they run: the code has both kinds of store and one test that tells whether the launch is large and the
//! address is aligned.
//!
//! Such stores are of arrays that a kernel does nothing with but write each thread's element once. They become visible in
//! any order, so the code ends in a fence.

use inkle_ir::{ArrayKind, ArrayType, Block, Function, Module, Op, OpKind, Value};

use super::{Lower, Result};
use crate::emitter::{Int, V};
use crate::plan::has_updates;
use crate::value::{ArrayParts, Parts};

/// Launches that write at least this many bytes are large. Measured: below it whoever reads the results next finds them
/// in the caches of a large processor, and loses more than the writer gains.
const LARGE: i64 = 48 << 20;
/// The most arrays written this way: the processor gathers lines in few places.
const MOST: usize = 4;

/// The stores of a kernel that may go past the caches.
pub(super) struct Streams {
    /// Stores of the kernel's function.
    stores: Vec<Op>,
    /// In the code that is being made, whether the launch is large.
    large: V,
    /// The bits of an address that must be zero: those below a vector's size, or in a small launch all.
    bits: V,
    /// The size of a vector, bytes.
    vector: u32,
    /// Whether one was made.
    made: bool,
}

impl<'m> Lower<'_, 'm> {
    /// Looks for such stores and makes the code that tells whether a launch of `size` threads is large. Called at an entry's
    /// start, with the kernel's arguments.
    pub fn begin_streams(&mut self, size: V, params: &[Parts], lanes: u32) -> Result<()> {
        let vector = self.machine.stream_bytes;
        let ir: &'m Module = self.ir;
        let kernel = ir.kernel().filter(|_| vector > 0 && lanes > 1 && !self.alone);
        let Some(kernel) = kernel.filter(|_| !ir.has_native() && !has_updates(ir)) else { return Ok(()) };
        let found = written_once(kernel);
        if found.is_empty() || found.len() > MOST {
            return Ok(());
        }
        let int64 = self.e.int(64);
        let mut written = self.e.i64(0);
        for (param, array, _) in &found {
            let places = ArrayParts::of(array);
            let mut elements = self.e.i64(1);
            for d in 0..places.ndim {
                let extent = self.uniform(params[*param][places.shape(d)])?;
                elements = self.e.mul(elements, self.e.zext(extent, int64));
            }
            let elements = self.e.intrinsic("llvm.umin", &[int64], &[elements, size]);
            let bytes = self.e.mul(elements, self.e.i64(array.elem.size().into()));
            written = self.e.add(written, bytes);
        }
        let large = self.e.icmp(Int::LLVMIntUGE, written, self.e.i64(LARGE));
        let bits = self.e.select(large, self.e.i64(i64::from(vector) - 1), self.e.i64(-1));
        let stores = found.into_iter().map(|(_, _, op)| op).collect();
        self.streams = Some(Streams { stores, large, bits, vector, made: false });
        Ok(())
    }

    /// Makes what was stored so visible to others. Called where an entry ends.
    pub fn end_streams(&mut self) {
        let Some(streams) = self.streams.take().filter(|streams| streams.made) else { return };
        let [fence, end] = ["fence", "end"].map(|name| self.e.new_block(name));
        self.e.cond_br(streams.large, fence, end);
        self.e.at_end(fence);
        self.e.intrinsic("llvm.x86.sse.sfence", &[], &[]);
        self.e.br(end);
        self.e.at_end(end);
    }

    /// Whether a store of a function's may go past the caches.
    pub fn may_stream(&self, function: &Function, store: Op) -> bool {
        let of_kernel = || self.ir.kernel().is_some_and(|kernel| std::ptr::eq(kernel, function));
        self.streams.as_ref().is_some_and(|streams| streams.stores.contains(&store) && of_kernel())
    }

    /// Writes whole vectors of parts of `size` bytes one after the other, past the caches where that is of use.
    pub fn store_streamed(&mut self, vectors: &[V], base: V, size: u32) {
        let bytes = size * self.lanes;
        let streams = self.streams.as_mut().filter(|streams| bytes.is_multiple_of(streams.vector));
        let streams = streams.map(|streams| {
            streams.made = true;
            (streams.bits, streams.vector)
        });
        let past = streams.map(|(bits, align)| {
            let [past, cached, stored] = ["past", "cached", "stored"].map(|name| self.e.new_block(name));
            let address = self.e.ptr_to_int(base, self.e.int(64));
            let low = self.e.and(address, bits);
            let fits = self.e.icmp(Int::LLVMIntEQ, low, self.e.i64(0));
            self.e.cond_br(fits, past, cached);
            self.e.at_end(past);
            for (k, &v) in (0..).zip(vectors) {
                self.e.store_past_caches(v, self.e.byte_offset(base, k * bytes), align);
            }
            self.e.br(stored);
            self.e.at_end(cached);
            stored
        });
        for (k, &v) in (0..).zip(vectors) {
            self.e.store(v, self.e.byte_offset(base, k * bytes), size);
        }
        if let Some(stored) = past {
            self.e.br(stored);
            self.e.at_end(stored);
        }
    }
}

/// The parameters, arrays, with which a kernel does nothing but one store outside loops, and that store.
fn written_once(kernel: &Function) -> Vec<(usize, &'static ArrayType, Op)> {
    let mut uses: Vec<Uses> = vec![Uses::default(); kernel.value_count()];
    for block in 0..kernel.block_count() {
        for &op in &kernel.block(Block::new(block)).ops {
            let data = kernel.op(op);
            for (i, v) in data.operands.iter().enumerate() {
                let uses = &mut uses[v.index()];
                match data.kind {
                    OpKind::Elem | OpKind::Store if i == 0 => {
                        uses.others |= uses.by.is_some();
                        uses.by = Some(op);
                    }
                    OpKind::Shape(_) => {}
                    _ => uses.others = true,
                }
            }
        }
    }
    let only = |v: Value, kind: OpKind| {
        let uses = &uses[v.index()];
        uses.by.filter(|&op| !uses.others && kernel.op(op).kind == kind)
    };
    let params = kernel.params.iter().zip(&kernel.block(kernel.body).params).enumerate();
    let mut found = Vec::new();
    for (i, (param, &array)) in params {
        let Some(ty) = param.ty.as_array().filter(|ty| ty.kind == ArrayKind::Strided) else { continue };
        let place = only(array, OpKind::Elem).and_then(|elem| kernel.op(elem).results.first());
        let store = place.and_then(|&place| only(place, OpKind::Store));
        if let Some(store) = store.filter(|&store| is_outside_loops(kernel, kernel.body, store)) {
            found.push((i, ty, store));
        }
    }
    found
}

/// What is done with a value.
#[derive(Clone, Default)]
struct Uses {
    /// The operation that takes an element of it or stores to it.
    by: Option<Op>,
    /// Something else, or more.
    others: bool,
}

fn is_outside_loops(kernel: &Function, block: Block, wanted: Op) -> bool {
    kernel.block(block).ops.iter().any(|&op| {
        let data = kernel.op(op);
        let inner = || data.blocks.iter().any(|&inner| is_outside_loops(kernel, inner, wanted));
        op == wanted || data.kind == OpKind::If && inner()
    })
}
