//! What is done for one lane after the other.

use smallvec::SmallVec;

use super::{Lower, Result};
use crate::emitter::{Int, Ty, V};
use crate::value::{Parts, Val};

/// The alignment of a vector's slot on the stack, bytes.
pub(super) const SLOT_ALIGN: u32 = 64;

/// Of more lanes than a register has, LLVM would take each from registers again even where they lie in memory: two operations
/// instead of none, as most instructions can read memory.
const IN_REGISTERS: u32 = 16;

/// Where a lane's value is taken from.
enum Pick {
    Same(V),
    Lane(VectorPick),
    /// `base + lane * stride`, as [`Val::Linear`] is.
    Linear {
        base: V,
        stride: i64,
    },
    /// `base + index[lane] * scale`, as [`Val::Indexed`] is.
    Indexed {
        base: V,
        index: VectorPick,
        scale: u32,
    },
}

/// A vector, of which one element is taken.
enum VectorPick {
    Register(V),
    /// In memory.
    Slot {
        slot: V,
        element: Ty,
    },
}

impl Lower<'_, '_> {
    /// Does something for each active lane in turn and gathers what it gives. With one lane: once.
    pub fn per_lane<const N: usize>(
        &mut self,
        vals: [Val; N],
        mut each: impl FnMut(&mut Self, [V; N]) -> Result<V>,
    ) -> Result<Val> {
        let results = self.per_lane_all(&vals, |l, scalars| {
            let mut these = [std::ptr::null_mut(); N];
            these.copy_from_slice(scalars);
            Ok([each(l, these)?].into_iter().collect())
        })?;
        Ok(results[0])
    }

    /// The same for any number of values and results.
    pub fn per_lane_all(
        &mut self,
        vals: &[Val],
        each: impl FnOnce(&mut Self, &[V]) -> Result<SmallVec<[V; 4]>>,
    ) -> Result<Parts> {
        if self.lanes == 1 {
            let scalars = vals.iter().map(|&v| self.uniform(v)).collect::<Result<SmallVec<[V; 8]>>>()?;
            return Ok(each(self, &scalars)?.into_iter().map(Val::Uniform).collect());
        }
        let picks: SmallVec<[Pick; 8]> = vals.iter().map(|&v| self.pick(v)).collect();
        self.in_loop(&picks, each)
    }

    /// The same without a loop where all lanes are active; for little that is done for each.
    pub fn per_lane_unrolled(
        &mut self,
        vals: &[Val],
        mut each: impl FnMut(&mut Self, &[V]) -> Result<SmallVec<[V; 4]>>,
    ) -> Result<Parts> {
        if self.lanes == 1 || self.mask.is_some() {
            return self.per_lane_all(vals, each);
        }
        let picks: SmallVec<[Pick; 8]> = vals.iter().map(|&v| self.pick(v)).collect();
        let mut gathered: SmallVec<[V; 4]> = SmallVec::new();
        for lane in 0..self.lanes {
            let lane = self.e.i32(lane as i32);
            let scalars: SmallVec<[V; 8]> = picks.iter().map(|pick| self.picked(pick, lane)).collect();
            let results = each(self, &scalars)?;
            if gathered.is_empty() {
                let poison = |&r: &V| self.e.poison(self.e.vector(self.e.type_of(r), self.lanes));
                gathered = results.iter().map(poison).collect();
            }
            for (all, one) in gathered.iter_mut().zip(results) {
                *all = self.e.insert_element(*all, one, lane);
            }
        }
        Ok(gathered.into_iter().map(Val::Varying).collect())
    }

    fn in_loop(
        &mut self,
        picks: &[Pick],
        each: impl FnOnce(&mut Self, &[V]) -> Result<SmallVec<[V; 4]>>,
    ) -> Result<Parts> {
        let int = self.e.int(self.lanes);
        let mask = self.mask_vector();
        let all = self.mask_bits(mask);
        let before = self.e.current_block();
        let body = self.e.new_block("lane");
        let done = self.e.new_block("lanes.done");
        self.e.br(body);
        self.e.at_end(body);
        let left = self.e.phi(int);
        self.e.add_incoming(left, all, before);
        let gathered_slot = self.e.current_block();
        let lane = self.e.intrinsic("llvm.cttz", &[int], &[left, self.e.i1(true)]);
        let lane = match self.lanes {
            ..32 => self.e.zext(lane, self.e.int(32)),
            32 => lane,
            _ => self.e.trunc(lane, self.e.int(32)),
        };
        let scalars: SmallVec<[V; 8]> = picks.iter().map(|pick| self.picked(pick, lane)).collect();
        let results = each(self, &scalars)?;
        let mut nexts: SmallVec<[(V, V); 4]> = SmallVec::new();
        for result in results {
            let ty = self.e.vector(self.e.type_of(result), self.lanes);
            let gathered = self.e.phi_at_start(gathered_slot, ty);
            self.e.add_incoming(gathered, self.e.null(ty), before);
            nexts.push((gathered, self.e.insert_element(gathered, result, lane)));
        }
        let one = self.e.const_int(int, 1);
        let less = self.e.sub(left, one);
        let rest = self.e.and(left, less);
        let end = self.e.current_block();
        let more = self.e.icmp(Int::LLVMIntNE, rest, self.e.null(int));
        self.e.cond_br(more, body, done);
        self.e.add_incoming(left, rest, end);
        for &(gathered, next) in &nexts {
            self.e.add_incoming(gathered, next, end);
        }
        self.e.at_end(done);
        Ok(nexts.into_iter().map(|(_, next)| Val::Varying(next)).collect())
    }

    /// Gets a value ready for taking a lane's from it.
    fn pick(&mut self, val: Val) -> Pick {
        match val {
            Val::Uniform(v) => Pick::Same(v),
            Val::Linear { base, stride } => Pick::Linear { base, stride },
            Val::Indexed { base, index, scale } => {
                Pick::Indexed { base, index: self.vector_pick(index), scale }
            }
            Val::Varying(v) => Pick::Lane(self.vector_pick(v)),
        }
    }

    fn vector_pick(&mut self, v: V) -> VectorPick {
        let ty = self.e.type_of(v);
        let element = self.e.scalar_type(ty);
        // Bits lie packed in memory.
        if element == self.e.int(1) {
            return VectorPick::Register(v);
        }
        // Stored once, not at each round of the loop as LLVM would to pick at a position it does not know.
        let slot = self.e.alloca(ty);
        self.e.store(v, slot, SLOT_ALIGN);
        self.e.set_slot_align(slot, SLOT_ALIGN);
        VectorPick::Slot { slot, element }
    }

    fn picked(&mut self, pick: &Pick, lane: V) -> V {
        match *pick {
            Pick::Same(v) => v,
            Pick::Lane(ref v) => self.picked_vector(v, lane),
            Pick::Linear { base, stride } => {
                let ty = self.e.type_of(base);
                let lane = self.e.zext(lane, self.e.int(64));
                let distance = self.e.mul(lane, self.e.i64(stride));
                if ty == self.pointer_type() {
                    self.e.gep(self.e.int(8), base, distance)
                } else if ty == self.e.int(64) {
                    self.e.add(base, distance)
                } else {
                    let distance = self.e.trunc(distance, ty);
                    self.e.add(base, distance)
                }
            }
            Pick::Indexed { base, ref index, scale } => {
                let index = self.picked_vector(index, lane);
                let wide = self.e.sext(index, self.e.int(64));
                let distance = self.e.mul(wide, self.e.i64(scale.into()));
                self.e.gep(self.e.int(8), base, distance)
            }
        }
    }

    fn picked_vector(&mut self, v: &VectorPick, lane: V) -> V {
        match *v {
            VectorPick::Register(v) => self.e.extract_element(v, lane),
            VectorPick::Slot { slot, element } => {
                let at = self.e.gep(element, slot, lane);
                let v = self.e.load(element, at, 1);
                if self.lanes > IN_REGISTERS {
                    self.e.set_volatile(v);
                }
                v
            }
        }
    }
}
