//! Atomic updates: relaxed, device-wide, one by one for each active lane. In code that runs alone they are plain.

use inkle_ir::{AtomicOp, BinaryOp, Op, OpData, Scalar, ScalarKind, Type};
use inkwell::llvm_sys::LLVMAtomicRMWBinOp as Rmw;
use inkwell::llvm_sys::LLVMOpcode;
use smallvec::SmallVec;

use super::neighbours::Neighbours;
use super::warp::Place;
use super::{Frame, Lower, Result};
use crate::emitter::{AddressRoot, Int, Real, Ty, V};
use crate::error::CodegenError;
use crate::value::{Part, Parts, Val, parts};

/// Up to this many plain updates of a vector's lanes are written out one after the other; one of each lane always is.
const UNROLLED_UPDATES: usize = 32;
/// The first architecture that adds to numbers of type bf16 in memory.
const BF16_SUMS: u32 = 90;

/// An update of elements in memory.
struct Update<'a> {
    op: AtomicOp,
    ty: Type,
    value: &'a Parts,
    places: &'a [Place],
    old_is_used: bool,
}

impl<'m> Lower<'_, 'm> {
    fn atomic_scope(&self) -> Option<&'static str> {
        self.machine.gpu.then_some("device")
    }

    pub fn atomic(&mut self, frame: &Frame<'m>, at_op: Op, op: AtomicOp, data: &OpData) -> Result<Parts> {
        let [reference, value] = *data.operands.as_slice() else {
            return Err(CodegenError::broken("an atomic takes a ref and a value"));
        };
        let ty = frame.function.ty(value);
        let (at, value) = (frame.get1(reference)?, frame.get(value)?.clone());
        let old_is_used = self.options.verify_fp || data.results.iter().any(|&r| frame.is_used(r));
        let mut places: SmallVec<[Place; 4]> = SmallVec::new();
        for &(part, offset) in &parts(ty) {
            let Part::Scalar(scalar) = part else {
                return Err(CodegenError::broken(format!("{op} on an address")));
            };
            places.push((scalar, offset));
        }
        let own = self.is_own(at);
        let at = if own { at } else { self.in_own_range(frame, ty, at) };
        if own || self.alone {
            let other = if own { None } else { self.other_form(ty, at) };
            if own || other.is_some() || self.is_apart(at, ty) {
                let update = Update { op, ty, value: &value, places: &places, old_is_used };
                return self.plain_update(&update, at, other);
            }
        }
        if self.machine.gpu && !old_is_used {
            if let Some((at, values)) = self.of_thread(op, &places, at, &value)? {
                if !self.defer(frame, at_op, op, &places, at, &values)? {
                    let is_small = self.in_small_array(frame, reference)?;
                    self.update_places(op, &places, at, &values, is_small)?;
                }
                return Ok(self.unseen(&places));
            }
        } else if let (true, 1, [(scalar, _)], Val::Uniform(at), Val::Uniform(v)) =
            (!self.options.verify_fp, self.lanes, places.as_slice(), at, value[0])
            && let Some(old) = self.count_by_warp(op, *scalar, at, v)?
        {
            return Ok([Val::Uniform(old)].into_iter().collect());
        }
        if self.machine.gpu && self.lanes > 1 {
            self.note_narrow();
        }
        self.atomic_parts(op, &places, at, &value, old_is_used)
    }

    /// An update of places that nothing else uses meanwhile, each lane's its own; in the other form, if there is one, and else
    /// where they may be the same, too.
    fn plain_update(&mut self, update: &Update<'_>, at: Val, other: Option<Neighbours>) -> Result<Parts> {
        let &Update { op, ty, value, places, old_is_used } = update;
        let scalar = ty.scalar().ok_or_else(|| CodegenError::broken(format!("{op} on {ty}")))?;
        let near = other.as_ref().map_or(at, |other| other.at);
        let mask = self.mask;
        if other.as_ref().is_some_and(|other| other.is_of_all) {
            self.mask = None;
        }
        let vectors = if old_is_used { None } else { self.vectors_of_update(op, ty, near, value) };
        self.mask = mask;
        // Of two groups elements may be the same, which is minded where vectors are changed.
        let other = other.map(|other| if vectors.is_some() { other } else { other.in_one_group() });
        // Made here, where it dominates both forms.
        let value: Parts = match other {
            Some(_) => value.iter().map(|&v| Val::Varying(self.wide(v))).collect(),
            None => value.clone(),
        };
        let update = |l: &mut Self, at: Val| {
            if let (Some((op, vectors)), Val::Linear { base, .. }) = (&vectors, at) {
                l.update_vectors(*op, scalar, base, vectors)?;
                return Ok(Parts::new());
            }
            if other.is_some() && !l.is_apart(at, ty) {
                return l.atomic_parts(op, places, at, &value, old_is_used);
            }
            let old = l.load(ty, at);
            let pairs = old.iter().zip(&value);
            let new = pairs.map(|(&old, &v)| l.updated(op, scalar, old, v)).collect::<Result<Parts>>()?;
            l.store(ty, at, &new);
            Ok(old)
        };
        let old = match &other {
            None => update(self, at)?,
            Some(other) => self.in_either_form(at, other, |l, at| {
                let old = update(l, at)?;
                Ok::<_, CodegenError>(if old_is_used { old } else { Parts::new() })
            })?,
        };
        Ok(if old_is_used { old } else { self.unseen(places) })
    }

    /// What an update of neighbouring elements moves, as it lies in memory, where all parts are treated alike: turned around
    /// if its negative is at hand, which other updates often have use for.
    fn vectors_of_update(
        &mut self,
        op: AtomicOp,
        ty: Type,
        at: Val,
        value: &Parts,
    ) -> Option<(AtomicOp, SmallVec<[V; 4]>)> {
        let (_, part) = self.interleaved(&parts(ty), ty, at)?;
        if self.machine.gpu || part == Part::Scalar(Scalar::Bool) {
            return None;
        }
        let mut value: SmallVec<[V; 4]> = value.iter().map(|&v| self.wide(v)).collect();
        let negated = |v: &V| self.e.opcode(*v) == Some(LLVMOpcode::LLVMFNeg);
        let opposite = match op {
            AtomicOp::Add => Some(AtomicOp::Sub),
            AtomicOp::Sub => Some(AtomicOp::Add),
            _ => None,
        };
        let op = match opposite {
            Some(opposite) if value.iter().all(negated) => {
                value.iter_mut().for_each(|v| *v = self.e.operand(*v, 0));
                opposite
            }
            _ => op,
        };
        let varying: Parts = value.iter().map(|&v| Val::Varying(v)).collect();
        Some((op, self.in_memory_order(part, &varying)))
    }

    /// Updates neighbouring elements, all parts alike.
    fn update_vectors(&mut self, op: AtomicOp, scalar: Scalar, base: V, vectors: &[V]) -> Result<()> {
        let mut failed = None;
        self.change_lanes(base, scalar.size(), vectors, |l, old, v| {
            match l.updated(op, scalar, Val::Varying(old), Val::Varying(v)) {
                Ok(new) => l.wide(new),
                Err(error) => {
                    failed = Some(error);
                    old
                }
            }
        });
        failed.map_or(Ok(()), Err)
    }

    /// What a GPU's thread does to one place, whatever its lanes.
    fn of_thread(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: Val,
        value: &Parts,
    ) -> Result<Option<(V, SmallVec<[V; 4]>)>> {
        let Val::Uniform(at) = at else { return Ok(None) };
        let mut values = SmallVec::new();
        for (&(scalar, _), &v) in places.iter().zip(value) {
            match (self.lanes, v) {
                (1, v) => values.push(self.uniform(v)?),
                (_, v) => match self.combine_lanes(op, scalar, v) {
                    Some(combined) => values.push(combined),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some((at, values)))
    }

    /// What stands for old values that nobody looks at.
    fn unseen(&mut self, places: &[Place]) -> Parts {
        places
            .iter()
            .map(|&(scalar, _)| {
                let ty = self.wide_type(self.scalar_type(scalar));
                self.varying(self.e.null(ty))
            })
            .collect()
    }

    fn atomic_parts(
        &mut self,
        op: AtomicOp,
        places: &[Place],
        at: Val,
        value: &Parts,
        old_is_used: bool,
    ) -> Result<Parts> {
        if let (Val::Uniform(at), false, true) = (at, old_is_used, self.lanes > 1) {
            let mut combined: SmallVec<[V; 4]> = SmallVec::new();
            for (&(scalar, _), &v) in places.iter().zip(value) {
                combined.extend(self.combine_lanes(op, scalar, v));
            }
            if combined.len() == places.len() {
                for (&(scalar, offset), &v) in places.iter().zip(&combined) {
                    let at = self.e.byte_offset(at, offset);
                    self.atomic_scalar(op, scalar, at, v, false)?;
                }
                return Ok(self.unseen(places));
            }
        }
        self.note_lane_by_lane("memory is updated, at a place of each lane's own or with its old value used");
        // Vectors of single bits and functions do not go together well.
        let has_bits = places.iter().any(|&(scalar, _)| scalar == Scalar::Bool);
        if !self.machine.gpu && !self.alone && self.lanes > 1 && !old_is_used && !has_bits {
            self.update_by_lane(op, places, at, value)?;
            return Ok(self.unseen(places));
        }
        if self.alone && !old_is_used && self.strict(|l| l.add_scattered(op, places, at, value)) {
            return Ok(self.unseen(places));
        }
        // All parts of a lane before the next lane: they are neighbours in memory.
        let each: SmallVec<[Val; 8]> = [at].into_iter().chain(value.iter().copied()).collect();
        let update = |l: &mut Self, each: &[V]| {
            let one = |(&(scalar, offset), &v): (&Place, &V)| {
                let at = l.e.byte_offset(each[0], offset);
                l.atomic_scalar(op, scalar, at, v, old_is_used)
            };
            places.iter().zip(&each[1..]).map(one).collect()
        };
        // A plain update is three instructions, fewer than going round a loop takes.
        let unrolled = UNROLLED_UPDATES.max(self.lanes as usize);
        if self.alone && places.len() * self.lanes as usize <= unrolled {
            self.per_lane_unrolled(&each, update)
        } else {
            self.per_lane_all(&each, update)
        }
    }

    /// Updates places of each active lane in a function of its own: atomic updates of floats are loops, and are the exception
    /// where there is a form with plain ones.
    fn update_by_lane(&mut self, op: AtomicOp, places: &[Place], at: Val, value: &Parts) -> Result<()> {
        let key = (op, places.iter().copied().collect(), self.lanes);
        // As a number, for the same reason.
        let mask = self.mask_vector();
        let bits = self.mask_bits(mask);
        let bits = self.e.zext(bits, self.e.int(self.lanes.max(32)));
        let args: SmallVec<[V; 8]> =
            [self.wide(at)].into_iter().chain(value.iter().map(|&v| self.wide(v))).chain([bits]).collect();
        let f = match self.updates.get(&key) {
            Some(&known) => known,
            None => {
                let made = self.outline_update(op, places, &args)?;
                self.updates.insert(key, made);
                made
            }
        };
        self.e.call(f, &args);
        Ok(())
    }

    fn outline_update(&mut self, op: AtomicOp, places: &[Place], args: &[V]) -> Result<V> {
        let types: SmallVec<[Ty; 8]> = args.iter().map(|&v| self.e.type_of(v)).collect();
        let ty = self.e.function_type(self.e.void(), &types);
        let f = self.e.internal_function(&format!("update.{op}"), ty);
        let mask = self.mask;
        let mut outcome = Ok(Parts::new());
        self.outlined(f, "update", |l| {
            let last = args.len() as u32 - 1;
            let bits = l.e.trunc(l.e.param(f, last), l.e.int(l.lanes));
            l.mask = Some(l.e.bitcast(bits, l.e.vector(l.e.int(1), l.lanes)));
            let each: SmallVec<[Val; 8]> = (0..last).map(|i| Val::Varying(l.e.param(f, i))).collect();
            outcome = l.per_lane_all(&each, |l, each| {
                for (&(scalar, offset), &v) in places.iter().zip(&each[1..]) {
                    let at = l.e.byte_offset(each[0], offset);
                    l.atomic_scalar(op, scalar, at, v, false)?;
                }
                Ok(SmallVec::new())
            });
            l.e.ret_void();
        });
        self.mask = mask;
        outcome.map(|_| f)
    }

    /// Makes the body of a function of its own, which is not inlined. Everything that belongs to the function that is being emitted
    /// is set aside.
    pub fn outlined(&mut self, f: V, name: &str, body: impl FnOnce(&mut Self)) {
        self.function_attributes(f);
        self.e.attribute(f, u32::MAX, "noinline", 0);
        let here = self.e.current_block();
        let lines = self.lines.as_mut().map(|l| l.enter(f, name, self.span));
        let entry = self.e.append_block(f, "entry");
        self.e.at_end(entry);
        self.set_line(self.span);
        body(self);
        if let (Some(all), Some(lines)) = (&mut self.lines, lines) {
            all.leave(lines);
        }
        self.e.at_end(here);
        self.set_line(self.span);
    }

    /// What all active lanes together do to one place. Sums of floats may round differently than one by one, as
    /// they do from run to run when threads meet in another order.
    fn combine_lanes(&mut self, op: AtomicOp, scalar: Scalar, value: Val) -> Option<V> {
        use AtomicOp::{Add, And, Max, Min, Or, Sub, Xor};
        let signed = scalar.is_signed();
        let (reduce, identity) = match (op, scalar.kind()) {
            (Add | Sub, ScalarKind::Float) if matches!(scalar, Scalar::F32 | Scalar::F64) => {
                ("llvm.vector.reduce.fadd", None)
            }
            (_, ScalarKind::Bool | ScalarKind::Float) => return None,
            (Add | Sub, _) => ("llvm.vector.reduce.add", Some(0)),
            (Or, _) => ("llvm.vector.reduce.or", Some(0)),
            (Xor, _) => ("llvm.vector.reduce.xor", Some(0)),
            (And, _) => ("llvm.vector.reduce.and", Some(-1)),
            (Min, _) if signed => ("llvm.vector.reduce.smin", Some(i64::MAX >> (64 - 8 * scalar.size()))),
            (Max, _) if signed => ("llvm.vector.reduce.smax", Some(i64::MIN >> (64 - 8 * scalar.size()))),
            (Min, _) => ("llvm.vector.reduce.umin", Some(-1)),
            (Max, _) => ("llvm.vector.reduce.umax", Some(0)),
            (AtomicOp::Exch, _) => return None,
        };
        let wide = self.wide(value);
        let ty = self.e.type_of(wide);
        let fill = match identity {
            Some(identity) => self.e.const_int(ty, identity),
            None => self.e.const_real(ty, -0.0),
        };
        let all = match self.mask {
            Some(mask) => self.e.select(mask, wide, fill),
            None => wide,
        };
        if identity.is_some() {
            return Some(self.e.intrinsic(reduce, &[ty], &[all]));
        }
        // Pairwise: the reduction would go lane by lane unless it may be reassociated.
        let saved = std::mem::replace(&mut self.e.fast_math, inkwell::llvm_sys::LLVMFastMathAllowReassoc);
        let start = self.e.const_real(self.scalar_type(scalar), -0.0);
        let sum = self.e.intrinsic(reduce, &[ty], &[start, all]);
        self.e.fast_math = saved;
        Some(sum)
    }

    /// Whether memory is known to be this thread's alone, so that updates need not be atomic.
    fn is_own(&self, at: Val) -> bool {
        let root = match at {
            Val::Uniform(base) | Val::Linear { base, .. } | Val::Indexed { base, .. } => base,
            Val::Varying(_) => return false,
        };
        self.e.address_root(root) == AddressRoot::Stack
    }

    /// Whether the lanes' places do not overlap.
    fn is_apart(&self, at: Val, ty: Type) -> bool {
        match at {
            Val::Uniform(_) => self.lanes == 1,
            Val::Linear { stride, .. } => stride.unsigned_abs() >= ty.size().into(),
            Val::Varying(_) | Val::Indexed { .. } => false,
        }
    }

    /// What an update makes of a value.
    pub fn updated(&mut self, op: AtomicOp, scalar: Scalar, old: Val, v: Val) -> Result<Val> {
        let binary = match op {
            AtomicOp::Add => BinaryOp::Add,
            AtomicOp::Sub => BinaryOp::Sub,
            AtomicOp::Min => BinaryOp::Min,
            AtomicOp::Max => BinaryOp::Max,
            AtomicOp::And => BinaryOp::And,
            AtomicOp::Or => BinaryOp::Or,
            AtomicOp::Xor => BinaryOp::Xor,
            AtomicOp::Exch => return Ok(v),
        };
        self.strict(|l| l.binary(binary, scalar, old, v))
    }

    /// Does something atomic to one place. GPUs have no atomics on memory of a thread's own, so where that may be
    /// what the address leads to, the thread looks.
    fn on_shared_memory(
        &mut self,
        at: V,
        own: impl FnOnce(&mut Self) -> Result<V>,
        shared: impl FnOnce(&mut Self) -> Result<V>,
    ) -> Result<V> {
        let generic = self.machine.gpu && self.machine.data_space == 0;
        match self.e.address_root(at) {
            AddressRoot::Stack => return own(self),
            AddressRoot::Unknown if generic => {}
            _ => return shared(self),
        }
        let is_own = self.e.intrinsic("llvm.nvvm.isspacep.local", &[], &[at]);
        let [own_block, shared_block, join] = ["own", "shared", "done"].map(|name| self.e.new_block(name));
        self.e.cond_br(is_own, own_block, shared_block);
        self.e.at_end(own_block);
        let from_own = own(self)?;
        let own_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(shared_block);
        let from_shared = shared(self)?;
        let shared_end = self.e.current_block();
        self.e.br(join);
        self.e.at_end(join);
        let result = self.e.phi(self.e.type_of(from_own));
        self.e.add_incoming(result, from_own, own_end);
        self.e.add_incoming(result, from_shared, shared_end);
        Ok(result)
    }

    pub fn atomic_scalar(
        &mut self,
        op: AtomicOp,
        scalar: Scalar,
        at: V,
        v: V,
        old_is_used: bool,
    ) -> Result<V> {
        let own = |l: &mut Self| {
            let ty = Type::Scalar(scalar);
            let old = l.load(ty, Val::Uniform(at))[0];
            let new = l.updated(op, scalar, old, Val::Uniform(v))?;
            l.store(ty, Val::Uniform(at), &[new].into_iter().collect());
            l.uniform(old)
        };
        if self.alone {
            return own(self);
        }
        self.on_shared_memory(at, own, |l| {
            if !old_is_used && l.machine.gpu && l.reduction(op, scalar, at, v) {
                return Ok(l.e.null(l.scalar_type(scalar)));
            }
            l.atomic_on_shared(op, scalar, at, v)
        })
    }

    /// Adds to a number in memory that a block shares, or takes from it.
    pub(super) fn add_to_shared(&mut self, op: AtomicOp, scalar: Scalar, at: V, v: V) {
        let is_float = scalar.is_float();
        let v = match (op, is_float) {
            (AtomicOp::Sub, true) => self.strict(|l| l.e.fneg(v)),
            (AtomicOp::Sub, false) => self.e.neg(v),
            _ => v,
        };
        let bits = 8 * scalar.size();
        let register = match (is_float, bits) {
            (true, 32) => "f",
            (true, _) => "d",
            (false, 32) => "r",
            (false, _) => "l",
        };
        let letter = if is_float { 'f' } else { 'u' };
        let text = format!("red.relaxed.cta.shared.add.{letter}{bits} [$0], $1;");
        self.e.asm_on_memory(&text, &format!("l,{register}"), &[at, v]);
    }

    /// A GPU's update that gives nothing back, where there is one; false otherwise. The hardware does twice as many of
    /// them, and the driver's compiler does not turn LLVM's `atom.relaxed` into one when nobody looks at its result.
    fn reduction(&mut self, op: AtomicOp, scalar: Scalar, at: V, v: V) -> bool {
        use AtomicOp::{Add, And, Exch, Max, Min, Or, Sub, Xor};
        let bits = scalar.size() * 8;
        if bits == 16 && scalar.is_float() {
            return self.half_reduction(op, scalar, at, v);
        }
        let (letter, register) = match scalar.kind() {
            ScalarKind::Float if bits >= 32 => ("f", if bits == 32 { "f" } else { "d" }),
            ScalarKind::Signed if bits >= 32 => ("s", if bits == 32 { "r" } else { "l" }),
            ScalarKind::Unsigned if bits >= 32 => ("u", if bits == 32 { "r" } else { "l" }),
            _ => return false,
        };
        let (name, letter) = match op {
            // The hardware adds integers of either sign alike; PTX has no name for the signed sum of 64 bits.
            Add | Sub => ("add", if letter == "s" { "u" } else { letter }),
            Min | Max if letter == "f" => return false,
            Min => ("min", letter),
            Max => ("max", letter),
            And => ("and", "b"),
            Or => ("or", "b"),
            Xor => ("xor", "b"),
            Exch => return false,
        };
        let v = match (op, letter) {
            (Sub, "f") => self.strict(|l| l.e.fneg(v)),
            (Sub, _) => self.e.neg(v),
            _ => v,
        };
        self.emit_reduction(&format!("{name}.{letter}{bits}"), register, at, v);
        true
    }

    /// The same for a sum in 16 bits, as far as the architecture has one.
    fn half_reduction(&mut self, op: AtomicOp, scalar: Scalar, at: V, v: V) -> bool {
        let ty = match scalar {
            Scalar::F16 => "f16",
            Scalar::BF16 if self.machine.arch >= BF16_SUMS => "bf16",
            _ => return false,
        };
        let v = match op {
            AtomicOp::Add => v,
            AtomicOp::Sub => self.strict(|l| l.e.fneg(v)),
            _ => return false,
        };
        let bits = self.e.bitcast(v, self.e.int(16));
        self.emit_reduction(&format!("add.noftz.{ty}"), "h", at, bits);
        true
    }

    fn emit_reduction(&mut self, operation: &str, register: &str, at: V, v: V) {
        let global = self.e.address_root(at) == AddressRoot::Global;
        let (space, at) =
            if global { (".global", self.e.address_space_cast(at, self.e.ptr(1))) } else { ("", at) };
        let text = format!("red.relaxed.gpu{space}.{operation} [$0], $1;");
        self.e.asm_on_memory(&text, &format!("l,{register}"), &[at, v]);
    }

    fn atomic_on_shared(&mut self, op: AtomicOp, scalar: Scalar, at: V, v: V) -> Result<V> {
        use AtomicOp::{Add, And, Exch, Max, Min, Or, Sub, Xor};
        let align = scalar.size();
        let scope = self.atomic_scope();
        match scalar.kind() {
            ScalarKind::Bool => {
                let byte = self.e.zext(v, self.e.int(8));
                let rmw = match op {
                    And | Min => Rmw::LLVMAtomicRMWBinOpAnd,
                    Or | Max | Add => Rmw::LLVMAtomicRMWBinOpOr,
                    Xor | Sub => Rmw::LLVMAtomicRMWBinOpXor,
                    Exch => Rmw::LLVMAtomicRMWBinOpXchg,
                };
                let old = self.e.atomic_rmw(rmw, at, byte, scope, align);
                Ok(self.e.icmp(Int::LLVMIntNE, old, self.e.null(self.e.int(8))))
            }
            ScalarKind::Signed | ScalarKind::Unsigned => {
                let signed = scalar.is_signed();
                let rmw = match op {
                    Add => Rmw::LLVMAtomicRMWBinOpAdd,
                    Sub => Rmw::LLVMAtomicRMWBinOpSub,
                    Min if signed => Rmw::LLVMAtomicRMWBinOpMin,
                    Min => Rmw::LLVMAtomicRMWBinOpUMin,
                    Max if signed => Rmw::LLVMAtomicRMWBinOpMax,
                    Max => Rmw::LLVMAtomicRMWBinOpUMax,
                    And => Rmw::LLVMAtomicRMWBinOpAnd,
                    Or => Rmw::LLVMAtomicRMWBinOpOr,
                    Xor => Rmw::LLVMAtomicRMWBinOpXor,
                    Exch => Rmw::LLVMAtomicRMWBinOpXchg,
                };
                Ok(self.e.atomic_rmw(rmw, at, v, scope, align))
            }
            ScalarKind::Float => {
                let small = matches!(scalar, Scalar::F16 | Scalar::BF16);
                match op {
                    Add | Sub if !small => {
                        let v = if op == Sub { self.strict(|l| l.e.fneg(v)) } else { v };
                        Ok(self.e.atomic_rmw(Rmw::LLVMAtomicRMWBinOpFAdd, at, v, scope, align))
                    }
                    Exch => {
                        let int = self.e.int(scalar.size() * 8);
                        let bits = self.e.bitcast(v, int);
                        let old = self.e.atomic_rmw(Rmw::LLVMAtomicRMWBinOpXchg, at, bits, scope, align);
                        Ok(self.e.bitcast(old, self.scalar_type(scalar)))
                    }
                    Add | Sub | Min | Max => self.atomic_loop(op, scalar, at, v),
                    And | Or | Xor => Err(CodegenError::broken(format!("{op} on {scalar}"))),
                }
            }
        }
    }

    /// A float update by compare-and-swap on its bits.
    fn atomic_loop(&mut self, op: AtomicOp, scalar: Scalar, at: V, v: V) -> Result<V> {
        let int = self.e.int(scalar.size() * 8);
        let ty = self.scalar_type(scalar);
        let first = self.e.load_relaxed(int, at, scalar.size());
        let before = self.e.current_block();
        let head = self.e.new_block("update");
        let done = self.e.new_block("updated");
        let swap = self.e.new_block("swap");
        self.e.br(head);
        self.e.at_end(head);
        let seen = self.e.phi(int);
        self.e.add_incoming(seen, first, before);
        let old = self.e.bitcast(seen, ty);
        let saved = std::mem::replace(&mut self.e.fast_math, 0);
        let (a, b) = (self.half_to_f32(old, scalar), self.half_to_f32(v, scalar));
        let (new, keep) = match op {
            AtomicOp::Add => (self.e.fadd(a, b), None),
            AtomicOp::Sub => (self.e.fsub(a, b), None),
            // Most updates of a minimum change nothing: then nothing is written.
            AtomicOp::Min => {
                let new = self.float_min_max(Real::LLVMRealOLT, "llvm.minnum", a, b);
                (new, Some(self.e.fcmp(Real::LLVMRealOLE, a, b)))
            }
            _ => {
                let new = self.float_min_max(Real::LLVMRealOGT, "llvm.maxnum", a, b);
                (new, Some(self.e.fcmp(Real::LLVMRealOGE, a, b)))
            }
        };
        let new = self.f32_to_half(new, scalar);
        self.e.fast_math = saved;
        let new = self.e.bitcast(new, int);
        match keep {
            Some(keep) => {
                self.e.cond_br(keep, done, swap);
            }
            None => {
                self.e.br(swap);
            }
        }
        let head_end = self.e.current_block();
        self.e.at_end(swap);
        let pair = self.e.cmpxchg(at, seen, new, self.atomic_scope(), scalar.size());
        let now = self.e.extract_value(pair, 0);
        let swapped = self.e.extract_value(pair, 1);
        self.e.cond_br(swapped, done, head);
        self.e.add_incoming(seen, now, swap);
        self.e.at_end(done);
        let result = self.e.phi(int);
        if keep.is_some() {
            self.e.add_incoming(result, seen, head_end);
        }
        self.e.add_incoming(result, now, swap);
        Ok(self.e.bitcast(result, ty))
    }

    pub fn atomic_cas(&mut self, frame: &Frame<'m>, data: &OpData) -> Result<Parts> {
        let [reference, compare, new] = *data.operands.as_slice() else {
            return Err(CodegenError::broken("atomic_cas takes a ref and two values"));
        };
        let scalar = frame
            .function
            .ty(compare)
            .as_scalar()
            .ok_or_else(|| CodegenError::broken("atomic_cas on a type that is not a scalar"))?;
        let vals = [frame.get1(reference)?, frame.get1(compare)?, frame.get1(new)?];
        self.note_lane_by_lane("memory is compared and swapped");
        let old = self.per_lane(vals, |l, [at, compare, new]| {
            let int = l.e.int(scalar.size() * 8);
            let ty = l.scalar_type(scalar);
            let bits = |l: &Self, v: V| {
                if scalar == Scalar::Bool { l.e.zext(v, int) } else { l.e.bitcast(v, int) }
            };
            let (compare, new) = (bits(l, compare), bits(l, new));
            let own = |l: &mut Self| {
                let old = l.e.load(int, at, scalar.size());
                let equal = l.e.icmp(Int::LLVMIntEQ, old, compare);
                let now = l.e.select(equal, new, old);
                l.e.store(now, at, scalar.size());
                Ok(old)
            };
            let shared = |l: &mut Self| {
                let pair = l.e.cmpxchg(at, compare, new, l.atomic_scope(), scalar.size());
                Ok(l.e.extract_value(pair, 0))
            };
            let old = if l.alone { own(l) } else { l.on_shared_memory(at, own, shared) }?;
            Ok(if scalar == Scalar::Bool {
                l.e.icmp(Int::LLVMIntNE, old, l.e.null(int))
            } else {
                l.e.bitcast(old, ty)
            })
        })?;
        Ok([old].into_iter().collect())
    }
}
