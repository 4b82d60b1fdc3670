//! `if`, `for`, `while`: branches while all lanes agree, masks where they may not.

use inkle_ir::{ArrayKind, BinaryOp, Block, OpData, OpKind, Value};
use smallvec::SmallVec;

use super::arith::is_slow;
use super::{Frame, Lower, Result};
use crate::emitter::{Int, V};
use crate::error::CodegenError;
use crate::value::{Parts, Val, parts};

/// A block of at most this many operations that all can be done in vain is done without a branch.
const SPECULATION_LIMIT: usize = 12;

/// On GPUs, loops over at most this many operations without inner blocks are unrolled this often.
const UNROLL_LIMIT: usize = 64;
const GPU_UNROLL: u32 = 4;

/// How a value of several sources is represented.
#[derive(Clone, Copy)]
enum Shape {
    Uniform,
    Linear(i64),
    Varying,
}

/// A loop that lanes leave at different times.
struct Leaving {
    /// The lanes that are still in it.
    active: V,
    /// Per value that the loop carries: whether those of lanes that have left must stay as they are.
    kept: Vec<bool>,
}

/// A value that a loop carries from round to round.
struct Carried {
    /// What the lanes have that are in the loop.
    now: Parts,
    /// What each lane had when it left, where that is another and someone asks for it.
    left: Option<Parts>,
}

/// What a loop starts with, for [`Carried`].
struct Entry {
    now: Vec<V>,
    left: Option<Vec<V>>,
}

fn common_shape(a: Val, b: Val) -> Shape {
    match (a, b) {
        (Val::Uniform(_), Val::Uniform(_)) => Shape::Uniform,
        (Val::Linear { stride: s, .. }, Val::Linear { stride: t, .. }) if s == t => Shape::Linear(s),
        _ => Shape::Varying,
    }
}

impl<'m> Lower<'_, 'm> {
    fn in_shape(&self, val: Val, shape: Shape) -> V {
        match (shape, val) {
            (Shape::Uniform, Val::Uniform(v)) | (Shape::Linear(_), Val::Linear { base: v, .. }) => v,
            _ => self.wide(val),
        }
    }

    fn from_shape(v: V, shape: Shape) -> Val {
        match shape {
            Shape::Uniform => Val::Uniform(v),
            Shape::Linear(stride) => Val::Linear { base: v, stride },
            Shape::Varying => Val::Varying(v),
        }
    }

    pub fn if_op(&mut self, frame: &mut Frame<'m>, data: &OpData) -> Result<()> {
        let cond = frame.get1(operand(data, 0)?)?;
        let [then, otherwise] = *data.blocks.as_slice() else {
            return Err(CodegenError::broken("an if without two blocks"));
        };
        match cond {
            Val::Uniform(c) => {
                if let Some(known) = self.e.as_const_int(c) {
                    let results = self.block(frame, if known != 0 { then } else { otherwise })?;
                    return self.set_results(frame, data, results);
                }
                let results = self.uniform_if(frame, c, then, otherwise)?;
                self.set_results(frame, data, results)
            }
            _ => {
                let c = self.wide(cond);
                let results = self.divergent_if(frame, c, then, otherwise)?;
                self.set_results(frame, data, results)
            }
        }
    }

    fn uniform_if(
        &mut self,
        frame: &mut Frame<'m>,
        cond: V,
        then: Block,
        otherwise: Block,
    ) -> Result<Vec<Parts>> {
        let then_bb = self.e.new_block("then");
        let else_bb = self.e.new_block("else");
        self.e.cond_br(cond, then_bb, else_bb);
        self.e.at_end(then_bb);
        let then_values = self.block(frame, then)?;
        let then_end = self.e.current_block();
        self.e.at_end(else_bb);
        let else_values = self.block(frame, otherwise)?;
        let else_end = self.e.current_block();

        // The sides agree on shapes only now, so each is brought into shape at its end.
        let shapes: Vec<Vec<Shape>> = then_values
            .iter()
            .zip(&else_values)
            .map(|(a, b)| a.iter().zip(b).map(|(&a, &b)| common_shape(a, b)).collect())
            .collect();
        let merge = self.e.new_block("merge");
        let mut sides = Vec::new();
        for (values, end) in [(then_values, then_end), (else_values, else_end)] {
            self.e.at_end(end);
            let mut flat = Vec::new();
            for (parts, shapes) in values.iter().zip(&shapes) {
                flat.extend(parts.iter().zip(shapes).map(|(&p, &s)| self.in_shape(p, s)));
            }
            self.e.br(merge);
            sides.push((flat, end));
        }
        self.e.at_end(merge);
        let mut index = 0;
        let mut results = Vec::new();
        for shapes in &shapes {
            let mut merged = Parts::new();
            for &shape in shapes {
                let (a, b) = (sides[0].0[index], sides[1].0[index]);
                index += 1;
                let v = if a == b {
                    a
                } else {
                    let phi = self.e.phi(self.e.type_of(a));
                    self.e.add_incoming(phi, a, sides[0].1);
                    self.e.add_incoming(phi, b, sides[1].1);
                    phi
                };
                merged.push(Self::from_shape(v, shape));
            }
            results.push(merged);
        }
        Ok(results)
    }

    fn divergent_if(
        &mut self,
        frame: &mut Frame<'m>,
        cond: V,
        then: Block,
        otherwise: Block,
    ) -> Result<Vec<Parts>> {
        let outer = self.mask;
        let then_values = self.masked_side(frame, cond, then)?;
        self.mask = outer;
        let not = self.e.not(cond);
        let else_values = self.masked_side(frame, not, otherwise)?;
        self.mask = outer;
        let cond = Val::Varying(cond);
        Ok(then_values
            .into_iter()
            .zip(else_values)
            .map(|(a, b)| a.into_iter().zip(b).map(|(a, b)| self.select(cond, a, b)).collect())
            .collect())
    }

    /// Emits one side of a divergent `if` under `mask & cond`, skipped when that is empty.
    fn masked_side(&mut self, frame: &mut Frame<'m>, cond: V, block: Block) -> Result<Vec<Parts>> {
        if self.can_speculate(frame, block) {
            return self.block(frame, block);
        }
        if self.machine.gpu {
            self.accesses.fails = true;
        }
        let active = match self.mask {
            Some(mask) => self.e.and(mask, cond),
            None => cond,
        };
        let before = self.e.current_block();
        let side = self.e.new_block("side");
        let merge = self.e.new_block("join");
        let any = self.any(active);
        self.e.cond_br(any, side, merge);
        self.e.at_end(side);
        self.mask = Some(active);
        let values = self.block(frame, block)?;
        let flat: Vec<Vec<V>> = values.iter().map(|p| p.iter().map(|&v| self.wide(v)).collect()).collect();
        let end = self.e.current_block();
        self.e.br(merge);
        self.e.at_end(merge);
        Ok(flat
            .into_iter()
            .map(|parts| {
                parts
                    .into_iter()
                    .map(|v| {
                        let ty = self.e.type_of(v);
                        let phi = self.e.phi(ty);
                        // No lane takes this side then; zero and not poison, see the module's invariants.
                        self.e.add_incoming(phi, self.e.null(ty), before);
                        self.e.add_incoming(phi, v, end);
                        Val::Varying(phi)
                    })
                    .collect()
            })
            .collect())
    }

    fn can_speculate(&self, frame: &Frame<'m>, block: Block) -> bool {
        let ops = &frame.function.block(block).ops;
        ops.len() <= SPECULATION_LIMIT
            && ops.iter().all(|&op| {
                let kind = &frame.function.op(op).kind;
                let reads_lists = matches!(kind, OpKind::Elem | OpKind::View(_))
                    && frame.function.op(op).operands.first().is_some_and(|&array| {
                        let ty = frame.function.ty(array).as_array();
                        ty.is_some_and(|a| a.kind == ArrayKind::Indexed)
                    });
                kind.is_terminator() || (kind.is_pure() && !is_slow(kind) && !reads_lists)
            })
    }

    /// `for lo, hi, step`. The number of rounds is counted, so that the index cannot run over its type's end.
    pub fn for_op(&mut self, frame: &mut Frame<'m>, data: &OpData) -> Result<()> {
        let [lo, hi, step] = [operand(data, 0)?, operand(data, 1)?, operand(data, 2)?];
        let index_scalar = frame
            .function
            .ty(lo)
            .as_scalar()
            .ok_or_else(|| CodegenError::broken("a for over something that is not a scalar"))?;
        let [body] = *data.blocks.as_slice() else {
            return Err(CodegenError::broken("a for without its block"));
        };
        let params = frame.function.block(body).params.clone();
        let Some((&index_param, carried_params)) = params.split_first() else {
            return Err(CodegenError::broken("a for whose block takes no index"));
        };
        let (lo, hi, step) = (frame.get1(lo)?, frame.get1(hi)?, frame.get1(step)?);
        self.check_step(step)?;
        // The usual loop gets the form that LLVM knows best: with steps of one the index cannot overflow before
        // it meets the bound.
        let unit = match (lo, hi, step) {
            (Val::Uniform(_), Val::Uniform(_), Val::Uniform(s)) => {
                self.e.as_const_int(s).filter(|s| s.abs() == 1)
            }
            _ => None,
        };
        let count = if unit.is_some() { hi } else { self.trip_count(lo, hi, step) };
        let inits =
            data.operands.iter().skip(3).map(|&v| frame.get(v).cloned()).collect::<Result<Vec<_>>>()?;
        let index_type = self.scalar_type(index_scalar);

        let outer = self.mask;
        let before = self.e.current_block();
        let divergent = !count.is_uniform();
        // Splats that the loop needs are made here, where they dominate it.
        let count_value = match count {
            Val::Uniform(v) => v,
            other => self.wide(other),
        };
        let index_uniform = lo.is_uniform() && step.is_uniform();
        let (start, stride) = if index_uniform {
            (self.uniform(lo)?, self.uniform(step)?)
        } else {
            (self.wide(lo), self.wide(step))
        };
        let entry_values = self.carried_entry(frame, data, carried_params, &inits, divergent)?;

        let header = self.e.new_block("for");
        let body_bb = self.e.new_block("for.body");
        let exit = self.e.new_block("for.end");
        self.e.br(header);
        self.e.at_end(header);
        let round = self.e.phi(index_type);
        self.e.add_incoming(round, self.e.null(index_type), before);
        let index = self.e.phi(self.e.type_of(start));
        self.e.add_incoming(index, start, before);
        let carried = self.carried_phis(frame, carried_params, &entry_values, before);
        let active = if divergent {
            let round_wide = self.e.splat(round, self.lanes);
            let more = self.e.icmp(Int::LLVMIntULT, round_wide, count_value);
            let active = match outer {
                Some(mask) => self.e.and(mask, more),
                None => more,
            };
            let any = self.any(active);
            self.e.cond_br(any, body_bb, exit);
            Some(active)
        } else {
            let more = match unit {
                Some(1) => self.e.icmp(Int::LLVMIntSLT, index, count_value),
                Some(_) => self.e.icmp(Int::LLVMIntSGT, index, count_value),
                None => self.e.icmp(Int::LLVMIntULT, round, count_value),
            };
            self.e.cond_br(more, body_bb, exit);
            None
        };

        self.e.at_end(body_bb);
        if active.is_some() {
            self.mask = active;
        }
        let index_val = if index_uniform { Val::Uniform(index) } else { Val::Varying(index) };
        frame.set(index_param, [index_val].into_iter().collect());
        for (&param, carried) in carried_params.iter().zip(&carried) {
            frame.set(param, carried.now.clone());
        }
        let next = self.block(frame, body)?;
        let active = active.map(|active| Leaving { active, kept: self.kept(frame, data) });
        let next = self.carried_next(carried_params.len(), &carried, next, active.as_ref())?;
        let one = self.e.const_int(index_type, 1);
        let round_next = self.e.add(round, one);
        let index_next =
            if unit.is_some() { self.e.add_nsw(index, stride) } else { self.e.add(index, stride) };
        let end = self.e.current_block();
        let latch = self.e.br(header);
        if self.machine.gpu && self.unrolls(frame, body) {
            self.e.set_unroll(latch, GPU_UNROLL);
        }
        self.e.add_incoming(round, round_next, end);
        self.e.add_incoming(index, index_next, end);
        self.close_phis(&carried, &next, end);
        self.mask = outer;
        self.e.at_end(exit);
        self.set_results(frame, data, Self::after_loop(carried))
    }

    /// Whether a loop's body is so small that the loop's own instructions and the latency of loads weigh.
    fn unrolls(&self, frame: &Frame<'m>, body: Block) -> bool {
        let ops = &frame.function.block(body).ops;
        ops.len() <= UNROLL_LIMIT
            && ops.iter().all(|&op| {
                let data = frame.function.op(op);
                data.blocks.is_empty() && !matches!(data.kind, OpKind::Call(_) | OpKind::Print(_))
            })
    }

    /// How often Python's `range(lo, hi, step)` goes round, as an unsigned number.
    fn trip_count(&mut self, lo: Val, hi: Val, step: Val) -> Val {
        self.map([lo, hi, step], |l, [lo, hi, step]| {
            let ty = l.e.type_of(lo);
            let (zero, one) = (l.e.null(ty), l.e.const_int(ty, 1));
            let up = l.e.icmp(Int::LLVMIntSGT, step, zero);
            let forward = l.e.icmp(Int::LLVMIntSLT, lo, hi);
            let backward = l.e.icmp(Int::LLVMIntSGT, lo, hi);
            let runs = l.e.select(up, forward, backward);
            let ahead = l.e.sub(hi, lo);
            let behind = l.e.sub(lo, hi);
            let distance = l.e.select(up, ahead, behind);
            let negated = l.e.neg(step);
            let size = l.e.select(up, step, negated);
            let is_zero = l.e.icmp(Int::LLVMIntEQ, size, zero);
            let size = l.e.select(is_zero, one, size);
            // Rounded up without overflow: (distance - 1) / size + 1 where distance > 0.
            let less = l.e.sub(distance, one);
            let whole = l.e.udiv(less, size);
            let count = l.e.add(whole, one);
            l.e.select(runs, count, zero)
        })
    }

    pub fn while_op(&mut self, frame: &mut Frame<'m>, data: &OpData) -> Result<()> {
        let [test, body] = *data.blocks.as_slice() else {
            return Err(CodegenError::broken("a while without two blocks"));
        };
        let test_params = frame.function.block(test).params.clone();
        let body_params = frame.function.block(body).params.clone();
        let inits = data.operands.iter().map(|&v| frame.get(v).cloned()).collect::<Result<Vec<_>>>()?;
        let outer = self.mask;
        let diverges = self.test_diverges(frame, test);
        let entry_values = self.carried_entry(frame, data, &test_params, &inits, diverges)?;
        let before = self.e.current_block();
        let header = self.e.new_block("while");
        let body_bb = self.e.new_block("while.body");
        let exit = self.e.new_block("while.end");
        self.e.br(header);
        self.e.at_end(header);
        let carried = self.carried_phis(frame, &test_params, &entry_values, before);
        // Lanes that have left stay out.
        let running = diverges.then(|| {
            let phi = self.e.phi(self.e.vector(self.e.int(1), self.lanes));
            self.e.add_incoming(phi, self.mask_vector(), before);
            phi
        });
        if running.is_some() {
            self.mask = running;
        }
        for (&param, carried) in test_params.iter().zip(&carried) {
            frame.set(param, carried.now.clone());
        }
        let tested = self.block(frame, test)?;
        let cond = match tested.as_slice() {
            [parts] if parts.len() == 1 => parts[0],
            _ => return Err(CodegenError::broken("a while whose test does not give one bool")),
        };
        let active = match running {
            Some(running) => {
                let all = self.of_all_lanes(frame, test)?;
                let mut active = running;
                for cond in all.iter().filter(|cond| !cond.is_uniform()) {
                    active = self.e.and(active, self.wide(*cond));
                }
                let mut any = self.any(active);
                for &cond in all.iter().filter(|cond| cond.is_uniform()) {
                    let cond = self.uniform(cond)?;
                    any = self.e.and(cond, any);
                }
                self.e.cond_br(any, body_bb, exit);
                Some(active)
            }
            None => {
                let cond = self.uniform(cond)?;
                self.e.cond_br(cond, body_bb, exit);
                None
            }
        };
        self.e.at_end(body_bb);
        if active.is_some() {
            self.mask = active;
        }
        for (&param, carried) in body_params.iter().zip(&carried) {
            frame.set(param, carried.now.clone());
        }
        let next = self.block(frame, body)?;
        let leaving = active.map(|active| Leaving { active, kept: self.kept(frame, data) });
        let next = self.carried_next(test_params.len(), &carried, next, leaving.as_ref())?;
        let end = self.e.current_block();
        self.e.br(header);
        if let Some(running) = running {
            self.e.add_incoming(running, active.unwrap_or(running), end);
        }
        self.close_phis(&carried, &next, end);
        self.mask = outer;
        self.e.at_end(exit);
        self.set_results(frame, data, Self::after_loop(carried))
    }

    /// The conditions that a test is the `and` of. Those that are the same in all lanes end the loop for all, so they need not be
    /// looked at in each.
    fn of_all_lanes(&self, frame: &Frame<'m>, test: Block) -> Result<SmallVec<[Val; 4]>> {
        let function = frame.function;
        let mut conditions = SmallVec::new();
        let mut seen: SmallVec<[Value; 8]> = SmallVec::new();
        seen.extend(
            function.block(test).ops.last().and_then(|&last| function.op(last).operands.first().copied()),
        );
        let mut next = 0;
        while let Some(&value) = seen.get(next) {
            next += 1;
            match function.defining_op(value).filter(|op| op.kind == OpKind::Binary(BinaryOp::And)) {
                Some(both) => {
                    for &part in &both.operands {
                        if !seen.contains(&part) {
                            seen.push(part);
                        }
                    }
                }
                None => conditions.push(frame.get1(value)?),
            }
        }
        Ok(conditions)
    }

    /// Whether the test of a `while` may differ between lanes.
    fn test_diverges(&self, frame: &Frame<'m>, test: Block) -> bool {
        let Some(&last) = frame.function.block(test).ops.last() else { return false };
        self.lanes > 1 && frame.function.op(last).operands.iter().any(|&v| frame.uniformity.is_varying(v))
    }

    /// What a loop starts with, in the shape that its phis have.
    fn carried_entry(
        &mut self,
        frame: &Frame<'m>,
        data: &OpData,
        params: &[Value],
        inits: &[Parts],
        divergent: bool,
    ) -> Result<Vec<Entry>> {
        if params.len() != inits.len() {
            return Err(CodegenError::broken("a loop that is not given what it carries"));
        }
        let mut all = Vec::new();
        for (i, (&param, init)) in params.iter().zip(inits).enumerate() {
            if init.len() != parts(frame.function.ty(param)).len() {
                return Err(CodegenError::broken(format!("{param} starts as another type")));
            }
            let varies = self.varies(frame, param);
            let asked = data.results.get(i).is_some_and(|&result| frame.is_used(result));
            let left = (divergent && !varies && asked).then(|| init.iter().map(|&p| self.wide(p)).collect());
            let now = init.iter().map(|&p| if varies { Ok(self.wide(p)) } else { self.uniform(p) });
            all.push(Entry { now: now.collect::<Result<_>>()?, left });
        }
        Ok(all)
    }

    fn varies(&self, frame: &Frame<'m>, value: Value) -> bool {
        self.lanes > 1 && frame.uniformity.is_varying(value)
    }

    fn carried_phis(
        &mut self,
        frame: &Frame<'m>,
        params: &[Value],
        entry: &[Entry],
        before: crate::emitter::Bb,
    ) -> Vec<Carried> {
        let phis = |l: &Self, values: &[V], varies: bool| -> Parts {
            let phi = |&v: &V| {
                let phi = l.e.phi(l.e.type_of(v));
                l.e.add_incoming(phi, v, before);
                if varies { Val::Varying(phi) } else { Val::Uniform(phi) }
            };
            values.iter().map(phi).collect()
        };
        let carried = |(&param, entry): (&Value, &Entry)| Carried {
            now: phis(self, &entry.now, self.varies(frame, param)),
            left: entry.left.as_ref().map(|values| phis(self, values, true)),
        };
        params.iter().zip(entry).map(carried).collect()
    }

    /// Per result of a loop whether it is looked at: what lanes that have left make of others is of no interest. Under
    /// `fast_math` that could be poison, which would spread.
    fn kept(&self, frame: &Frame<'m>, data: &OpData) -> Vec<bool> {
        data.results.iter().map(|&r| self.options.fast_math || frame.is_used(r)).collect()
    }

    /// The values for the next round: those of lanes that have left stay as they are.
    fn carried_next(
        &mut self,
        expected: usize,
        carried: &[Carried],
        next: Vec<Parts>,
        leaving: Option<&Leaving>,
    ) -> Result<Vec<Entry>> {
        if next.len() != expected {
            return Err(CodegenError::broken("a loop body that does not yield what the loop carries"));
        }
        let mut all = Vec::new();
        for (i, (carried, next)) in carried.iter().zip(next).enumerate() {
            let active =
                leaving.filter(|l| l.kept.get(i).copied().unwrap_or(true)).map(|leaving| leaving.active);
            let mut now = Vec::new();
            for (&before, &next) in carried.now.iter().zip(&next) {
                now.push(match (before, active) {
                    (Val::Uniform(_), _) => self.uniform(next)?,
                    (_, Some(active)) => self.e.select(active, self.wide(next), self.wide(before)),
                    (_, None) => self.wide(next),
                });
            }
            let left = carried.left.as_ref().zip(active).map(|(left, active)| {
                let pairs = left.iter().zip(&next);
                pairs.map(|(&left, &next)| self.e.select(active, self.wide(next), self.wide(left))).collect()
            });
            all.push(Entry { now, left });
        }
        Ok(all)
    }

    /// What a loop gives.
    fn after_loop(carried: Vec<Carried>) -> Vec<Parts> {
        carried.into_iter().map(|value| value.left.unwrap_or(value.now)).collect()
    }

    fn close_phis(&mut self, carried: &[Carried], next: &[Entry], end: crate::emitter::Bb) {
        let close = |l: &Self, phis: &Parts, values: &[V]| {
            for (phi, &v) in phis.iter().zip(values) {
                if let Val::Uniform(phi) | Val::Varying(phi) = *phi {
                    l.e.add_incoming(phi, v, end);
                }
            }
        };
        for (carried, next) in carried.iter().zip(next) {
            close(self, &carried.now, &next.now);
            if let Some((phis, values)) = carried.left.as_ref().zip(next.left.as_ref()) {
                close(self, phis, values);
            }
        }
    }
}

fn operand(data: &OpData, index: usize) -> Result<Value> {
    data.operands
        .get(index)
        .copied()
        .ok_or_else(|| CodegenError::broken(format!("{} lacks operand {index}", data.kind.keyword())))
}
