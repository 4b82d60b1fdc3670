//! `if`, `for`, `while`: branches while all lanes agree, masks where they may not.

use inkle_ir::{ArrayKind, Block, OpData, OpKind, Value};

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
        let entry_values = self.carried_entry(frame, carried_params, &inits)?;

        let header = self.e.new_block("for");
        let body_bb = self.e.new_block("for.body");
        let exit = self.e.new_block("for.end");
        self.e.br(header);
        self.e.at_end(header);
        let round = self.e.phi(index_type);
        self.e.add_incoming(round, self.e.null(index_type), before);
        let index = self.e.phi(self.e.type_of(start));
        self.e.add_incoming(index, start, before);
        let carried = self.carried_phis(frame, carried_params, &entry_values, before)?;
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
        for (&param, parts) in carried_params.iter().zip(&carried) {
            frame.set(param, parts.clone());
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
        self.set_results(frame, data, carried)
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
        let entry_values = self.carried_entry(frame, &test_params, &inits)?;
        let before = self.e.current_block();
        let header = self.e.new_block("while");
        let body_bb = self.e.new_block("while.body");
        let exit = self.e.new_block("while.end");
        self.e.br(header);
        self.e.at_end(header);
        let carried = self.carried_phis(frame, &test_params, &entry_values, before)?;
        // Lanes that have left stay out.
        let running = self.test_diverges(frame, test).then(|| {
            let phi = self.e.phi(self.e.vector(self.e.int(1), self.lanes));
            self.e.add_incoming(phi, self.mask_vector(), before);
            phi
        });
        if running.is_some() {
            self.mask = running;
        }
        for (&param, parts) in test_params.iter().zip(&carried) {
            frame.set(param, parts.clone());
        }
        let tested = self.block(frame, test)?;
        let cond = match tested.as_slice() {
            [parts] if parts.len() == 1 => parts[0],
            _ => return Err(CodegenError::broken("a while whose test does not give one bool")),
        };
        let active = match running {
            Some(running) => {
                let cond = self.wide(cond);
                let active = self.e.and(running, cond);
                let any = self.any(active);
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
        for (&param, parts) in body_params.iter().zip(&carried) {
            frame.set(param, parts.clone());
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
        self.set_results(frame, data, carried)
    }

    /// Whether the test of a `while` may differ between lanes.
    fn test_diverges(&self, frame: &Frame<'m>, test: Block) -> bool {
        let Some(&last) = frame.function.block(test).ops.last() else { return false };
        self.lanes > 1 && frame.function.op(last).operands.iter().any(|&v| frame.uniformity.is_varying(v))
    }

    /// What a loop starts with, in the shape that its phis have.
    fn carried_entry(&mut self, frame: &Frame<'m>, params: &[Value], inits: &[Parts]) -> Result<Vec<Vec<V>>> {
        if params.len() != inits.len() {
            return Err(CodegenError::broken("a loop that is not given what it carries"));
        }
        params
            .iter()
            .zip(inits)
            .map(|(&param, init)| {
                let varies = self.lanes > 1 && frame.uniformity.is_varying(param);
                init.iter().map(|&p| if varies { Ok(self.wide(p)) } else { self.uniform(p) }).collect()
            })
            .collect()
    }

    fn carried_phis(
        &mut self,
        frame: &Frame<'m>,
        params: &[Value],
        entry: &[Vec<V>],
        before: crate::emitter::Bb,
    ) -> Result<Vec<Parts>> {
        let mut all = Vec::new();
        for (&param, values) in params.iter().zip(entry) {
            if values.len() != parts(frame.function.ty(param)).len() {
                return Err(CodegenError::broken(format!("{param} starts as another type")));
            }
            let varies = self.lanes > 1 && frame.uniformity.is_varying(param);
            let mut phis = Parts::new();
            for &v in values {
                let phi = self.e.phi(self.e.type_of(v));
                self.e.add_incoming(phi, v, before);
                phis.push(if varies { Val::Varying(phi) } else { Val::Uniform(phi) });
            }
            all.push(phis);
        }
        Ok(all)
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
        carried: &[Parts],
        next: Vec<Parts>,
        leaving: Option<&Leaving>,
    ) -> Result<Vec<Vec<V>>> {
        if next.len() != expected {
            return Err(CodegenError::broken("a loop body that does not yield what the loop carries"));
        }
        let mut all = Vec::new();
        for (i, (now, next)) in carried.iter().zip(next).enumerate() {
            let active =
                leaving.filter(|l| l.kept.get(i).copied().unwrap_or(true)).map(|leaving| leaving.active);
            let mut values = Vec::new();
            for (&now, next) in now.iter().zip(next) {
                values.push(match now {
                    Val::Uniform(_) => self.uniform(next)?,
                    _ => {
                        let wide = self.wide(next);
                        match active {
                            Some(active) => self.e.select(active, wide, self.wide(now)),
                            None => wide,
                        }
                    }
                });
            }
            all.push(values);
        }
        Ok(all)
    }

    fn close_phis(&mut self, carried: &[Parts], next: &[Vec<V>], end: crate::emitter::Bb) {
        for (phis, values) in carried.iter().zip(next) {
            for (phi, &v) in phis.iter().zip(values) {
                if let Val::Uniform(phi) | Val::Varying(phi) = *phi {
                    self.e.add_incoming(phi, v, end);
                }
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
