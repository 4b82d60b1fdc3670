//! What is asked of numbers: where they differ, in which iterations and threads, and under which conditions.

use inkle_ir::{BinaryOp, CmpOp, Constant, Op, OpKind, UnaryOp};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::interval::Interval;
use super::sum::gcd;
use super::{Frame, Node, Number, Place, Places, Sum};

impl Places<'_> {
    /// Whether a number may be another one in each iteration of a loop.
    pub fn varies_in(&mut self, number: Number, outer: (Frame, Op)) -> bool {
        self.varies_by_others(number, outer, &[])
    }

    /// Whether a number may be another one in each iteration of a loop by something else than `known` ones.
    pub fn varies_by_others(&mut self, number: Number, (frame, op): (Frame, Op), known: &[Number]) -> bool {
        let mut values = Vec::new();
        self.each_part(number, |number, node| {
            if let Node::Value(at, value) | Node::Index(at, value) = *node
                && !known.contains(&number)
            {
                values.push((at, value));
            }
        });
        values.into_iter().any(|(mut at, value)| {
            let mut block = self.nest(at).home(self.function(at), value);
            while at != frame
                && let Some((caller, call)) = self.runs[at.0 as usize].caller
            {
                at = caller;
                block = self.nest(at).holder(call);
            }
            let nest = self.nest(at);
            at == frame && nest.around(block).any(|around| nest.owner(around) == Some(op))
        })
    }

    /// Whether two integers of one thread, at one time, certainly differ.
    pub fn are_apart(&self, a: Number, b: Number) -> bool {
        let difference = self.sum(a).minus(&self.sum(b)).and_then(|difference| difference.as_constant());
        difference.is_some_and(|difference| difference != 0)
    }

    /// Whether an integer of one thread certainly differs from one of any other, as `2 * i` does from `2 * i + 1`.
    pub fn are_apart_in_all_threads(&self, a: Number, b: Number) -> bool {
        let (mut step, mut distance) = (0, Sum::default());
        for (sum, sign) in [(self.sum(a), 1), (self.sum(b), -1)] {
            let (own, common): (SmallVec<_>, _) =
                sum.terms.iter().copied().partition(|&(number, _)| self.threads(number) != 0);
            step = own.iter().fold(step, |step, &(_, count): &(Number, i128)| gcd(step, count));
            let common = Sum { terms: common, constant: sum.constant };
            match distance.plus(&common, sign) {
                Some(sum) => distance = sum,
                None => return false,
            }
        }
        match distance.as_constant() {
            Some(distance) if step == 0 => distance != 0,
            Some(distance) => distance.checked_rem(step).is_some_and(|rest| rest != 0),
            None => false,
        }
    }

    /// What a number depends on that another thread may have otherwise: a bit for each dimension of the launch, and one for
    /// all else.
    pub fn threads(&self, number: Number) -> u32 {
        let mut threads = 0;
        self.each_part(number, |_, node| {
            threads |= match node {
                Node::Op(OpKind::Tid(dim), ..) => 1 << dim,
                Node::Value(Frame::OUTERMOST, value)
                    if self.runs[0].f.block(self.runs[0].f.body).params.contains(value) =>
                {
                    0
                }
                Node::Value(..) => 1 << 31,
                _ => 0,
            }
        });
        threads
    }

    /// The indices of loops that are anywhere in a number.
    pub fn ranges(&self, number: Number) -> Vec<Number> {
        let mut ranges = Vec::new();
        self.each_part(number, |number, node| {
            if let Node::Range(..) = node {
                ranges.push(number);
            }
        });
        ranges
    }

    /// Calls `visit` for a number and all that it is made of.
    fn each_part(&self, number: Number, mut visit: impl FnMut(Number, &Node)) {
        let mut seen = FxHashSet::default();
        let mut work = vec![number];
        while let Some(number) = work.pop() {
            if !seen.insert(number) {
                continue;
            }
            let node = self.node(number);
            visit(number, node);
            match node {
                Node::Value(..) | Node::Index(..) => {}
                Node::Range(bounds, _) => work.extend(bounds),
                Node::Op(_, _, operands) => work.extend(operands),
                Node::Load(_, place) => work.extend(place.numbers()),
                Node::Compare(_, sum) | Node::Sum(sum) => work.extend(sum.numbers()),
            }
        }
    }

    /// The numbers of a `for`'s index and bounds.
    pub fn index_and_bounds(&mut self, frame: Frame, op: Op) -> (Number, [Number; 3]) {
        let f = self.function(frame);
        let data = f.op(op);
        let bounds = [0, 1, 2].map(|i| self.number(frame, data.operands[i]));
        (self.number(frame, f.block(data.blocks[0]).params[0]), bounds)
    }

    /// The integers of a loop that grow by the same in every iteration: what they are, what they start from and the step.
    pub fn inductions(&mut self, (frame, op): (Frame, Op)) -> Vec<[Number; 3]> {
        let f = self.function(frame);
        let data = f.op(op);
        let (mut found, mut first, mut skipped) = (Vec::new(), 0, 0);
        if data.kind == OpKind::For {
            let (index, [start, _, step]) = self.index_and_bounds(frame, op);
            found.push([index, start, step]);
            (first, skipped) = (3, 1);
        }
        let body = f.block(data.blocks[data.blocks.len() - 1]);
        let last = f.op(*body.ops.last().expect("verified"));
        for (k, &param) in body.params[skipped..].iter().enumerate() {
            if f.ty(param).as_scalar().is_none() || !f.ty(param).is_int() {
                continue;
            }
            let [param, next] = [param, last.operands[k]].map(|value| self.number(frame, value));
            let Some(step) = self.add(next, param, -1) else { continue };
            if !self.varies_in(step, (frame, op)) {
                let start = self.number(frame, data.operands[first + k]);
                found.push([param, start, step]);
            }
        }
        found
    }

    /// `start + step * count`.
    pub fn advanced(&mut self, start: Number, step: Number, count: i128) -> Number {
        self.add(start, step, count).unwrap_or(start)
    }

    /// Whether in some run two sums are equal; the indices of loops that are [anywhere](Places::range) in them are used in
    /// nothing else.
    pub fn meet(&self, a: Number, b: Number) -> bool {
        if a == b {
            return true;
        }
        let [a, b] = [a, b].map(|number| self.sum(number));
        let Some(difference) = a.minus(&b) else { return false };
        let ranges: SmallVec<[_; 2]> = difference
            .terms
            .iter()
            .filter_map(|&(number, count)| match self.node(number) {
                Node::Range(bounds, _) => Some((number, count, Interval::of(bounds.map(|b| self.sum(b)))?)),
                _ => None,
            })
            .collect();
        match &ranges[..] {
            // `r + rest = 0`.
            [(range, count, interval)] if count.abs() == 1 => {
                let term = Sum { terms: smallvec![(*range, 1)], constant: 0 };
                let rest = difference.plus(&term, -count).and_then(|rest| Sum::default().plus(&rest, -count));
                rest.is_some_and(|at| interval.holds(&at))
            }
            // `r - s + rest = 0`.
            [(_, 1, a), (_, -1, b)] | [(_, -1, b), (_, 1, a)] => {
                let rest =
                    difference.terms.iter().filter(|(number, _)| ranges.iter().all(|r| r.0 != *number));
                let rest = Sum { terms: rest.copied().collect(), constant: difference.constant };
                a.meets(b, &rest)
            }
            _ => false,
        }
    }

    /// Some index of the `n`-th of the loops with such bounds.
    pub fn range(&mut self, bounds: [Number; 3], n: u32) -> Number {
        self.intern(Node::Range(bounds, n))
    }

    /// Whether of two conditions, each true or false, never both are as said.
    pub fn excludes(&self, a: (Number, bool), b: (Number, bool)) -> bool {
        let [a, b] = [a, b].map(|condition| self.facts(condition));
        a.iter().any(|a| b.iter().any(|b| self.contradicts(*a, *b)))
    }

    /// What is known when a condition is true or false.
    pub fn facts(&self, condition: (Number, bool)) -> Vec<(Number, bool)> {
        let (mut facts, mut work) = (Vec::new(), vec![condition]);
        while let Some((number, holds)) = work.pop() {
            facts.push((number, holds));
            let Node::Op(kind, _, operands) = self.node(number) else { continue };
            match kind {
                OpKind::Unary(UnaryOp::Not) => work.push((operands[0], !holds)),
                OpKind::Binary(BinaryOp::And) if holds => work.extend(operands.iter().map(|&o| (o, true))),
                OpKind::Binary(BinaryOp::Or) if !holds => work.extend(operands.iter().map(|&o| (o, false))),
                // `a and b`, `a or b`.
                OpKind::Select if holds && self.is_bool(operands[2], false) => {
                    work.extend([(operands[0], true), (operands[1], true)]);
                }
                OpKind::Select if !holds && self.is_bool(operands[1], true) => {
                    work.extend([(operands[0], false), (operands[2], false)]);
                }
                _ => {}
            }
        }
        facts
    }

    fn is_bool(&self, number: Number, value: bool) -> bool {
        match self.node(number) {
            Node::Op(OpKind::Const(Constant::Bool(known)), ..) => *known == value,
            Node::Op(OpKind::Zero, ..) => !value,
            _ => false,
        }
    }

    fn contradicts(&self, (a, is_a): (Number, bool), (b, is_b): (Number, bool)) -> bool {
        if a == b {
            return is_a != is_b;
        }
        let (Node::Compare(x, a), Node::Compare(y, b)) = (self.node(a), self.node(b)) else { return false };
        // Two conditions on one value `v`: `v + a ? 0` and `v + b ? 0`.
        if a.terms != b.terms {
            return false;
        }
        let [x, y] = [(x, is_a), (y, is_b)].map(|(kind, holds)| if holds { *kind } else { kind.negated() });
        let (a, b) = (a.constant, b.constant);
        // Where `v + a` lies if the first one holds, from and to, and so for `v + b` by the second.
        let range = |kind| match kind {
            CmpOp::Eq => Some((0, 0)),
            CmpOp::Ne => None,
            CmpOp::Lt => Some((i128::MIN / 4, -1)),
            CmpOp::Le => Some((i128::MIN / 4, 0)),
            CmpOp::Gt => Some((1, i128::MAX / 4)),
            CmpOp::Ge => Some((0, i128::MAX / 4)),
        };
        match (range(x), range(y)) {
            (Some((from, to)), Some((start, end))) => {
                let by = b.saturating_sub(a);
                to.saturating_add(by) < start || end < from.saturating_add(by)
            }
            // `v != -a` and `v == -b`.
            (None, Some((0, 0))) | (Some((0, 0)), None) => a == b,
            _ => false,
        }
    }

    /// The number that `number` certainly is if a comparison holds, or does not.
    pub fn pinned(&self, (condition, holds): (Number, bool), number: Number) -> Option<Sum> {
        let Node::Compare(kind, sum) = self.node(condition) else { return None };
        let kind = if holds { *kind } else { kind.negated() };
        let count = sum.count(number);
        if kind != CmpOp::Eq || count.abs() != 1 {
            return None;
        }
        let term = Sum { terms: smallvec![(number, 1)], constant: 0 };
        Sum::default().plus(&sum.plus(&term, -count)?, -count)
    }

    /// The place with numbers replaced.
    pub fn replaced(&mut self, place: &Place, by: &FxHashMap<Number, Number>) -> Place {
        if by.is_empty() {
            return place.clone();
        }
        let mut memo = by.clone();
        place.map(|number| self.replace(number, &mut memo))
    }

    fn replace(&mut self, number: Number, memo: &mut FxHashMap<Number, Number>) -> Number {
        if let Some(&known) = memo.get(&number) {
            return known;
        }
        let new = match self.node(number).clone() {
            Node::Value(..) | Node::Index(..) => number,
            Node::Range(bounds, n) => {
                let bounds = bounds.map(|bound| self.replace(bound, memo));
                self.range(bounds, n)
            }
            Node::Compare(kind, sum) => {
                let new = self.replace_in_sum(&sum, memo);
                new.and_then(|new| self.compare(kind, new)).unwrap_or(number)
            }
            Node::Op(kind, ty, operands) => {
                let operands = operands.iter().map(|&operand| self.replace(operand, memo)).collect();
                self.intern_op(kind, ty, operands)
            }
            Node::Load(ty, place) => {
                let place = place.map(|number| self.replace(number, memo));
                self.intern(Node::Load(ty, place))
            }
            Node::Sum(sum) => {
                let new = self.replace_in_sum(&sum, memo);
                new.map_or(number, |new| self.intern_sum(new))
            }
        };
        memo.insert(number, new);
        new
    }

    fn replace_in_sum(&mut self, sum: &Sum, memo: &mut FxHashMap<Number, Number>) -> Option<Sum> {
        let mut new = Sum::constant(sum.constant);
        for &(term, count) in &sum.terms {
            let term = self.replace(term, memo);
            new = new.plus(&self.sum(term), count)?;
        }
        Some(new)
    }
}
