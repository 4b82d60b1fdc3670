//! Places: what addresses are of.

use inkle_ir::{BinaryOp, Op, OpKind, Type, Value, ValueDef};
use smallvec::SmallVec;

use super::{Frame, Node, Number, Places, Sum};

/// An element of an array, or a part of one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// The array, or an address.
    pub root: Number,
    /// The index in every dimension.
    pub indices: SmallVec<[Number; 4]>,
    parts: SmallVec<[Part; 2]>,
}

impl Place {
    /// Whether two places certainly are one, or one is a part of the other.
    pub fn meets(&self, other: &Place) -> bool {
        self.root == other.root && self.indices == other.indices && self.has_parts_in_common(other)
    }

    /// Whether this holds for places in one element.
    fn has_parts_in_common(&self, other: &Place) -> bool {
        self.parts.iter().zip(&other.parts).all(|(a, b)| a == b)
    }

    /// The indices of two places of one array, and those of components in elements.
    pub fn pairs(&self, other: &Place) -> Vec<(Number, Number)> {
        let components = self.parts.iter().zip(&other.parts).filter_map(|parts| match parts {
            (Part::Component(a), Part::Component(b)) => Some((*a, *b)),
            _ => None,
        });
        self.indices.iter().copied().zip(other.indices.iter().copied()).chain(components).collect()
    }

    /// Whether two places are in different fields.
    pub fn has_parts_apart(&self, other: &Place) -> bool {
        let mut parts = self.parts.iter().zip(&other.parts);
        parts.any(|(a, b)| matches!((a, b), (Part::Field(a), Part::Field(b)) if a != b))
    }

    /// What the place is made of.
    pub fn numbers(&self) -> impl Iterator<Item = Number> {
        let parts = self.parts.iter().filter_map(|part| match *part {
            Part::Field(_) => None,
            Part::Component(index) => Some(index),
        });
        std::iter::once(self.root).chain(self.indices.iter().copied()).chain(parts)
    }

    /// The place with each number changed.
    pub fn map(&self, mut change: impl FnMut(Number) -> Number) -> Place {
        let mut part = |part: &Part| match *part {
            Part::Field(field) => Part::Field(field),
            Part::Component(index) => Part::Component(change(index)),
        };
        let parts = self.parts.iter().map(&mut part).collect();
        Place { root: change(self.root), indices: self.indices.iter().map(|&i| change(i)).collect(), parts }
    }
}

/// A step into an element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    Field(u32),
    Component(Number),
}

/// A dimension of an array that views are taken of: index `i` of the view is `start + i * step`.
struct Dimension {
    start: Number,
    step: Number,
    is_fixed: bool,
}

impl Places<'_> {
    /// The place that an address is of.
    pub fn place(&mut self, frame: Frame, address: Value) -> Place {
        let (mut at, mut value) = self.origin(frame, address);
        let mut steps = Vec::new();
        while let Some(data) = self.function(at).defining_op(value)
            && let OpKind::Elem | OpKind::Field(_) | OpKind::Comp | OpKind::View(_) | OpKind::Window(_) =
                data.kind
        {
            steps.push((at, data));
            (at, value) = self.origin(at, data.operands[0]);
        }
        let count = self.function(at).ty(value).as_array().map_or(0, |array| array.ndim);
        let root = self.number(at, value);
        let [zero, one] = [0, 1].map(|constant| self.intern_sum(Sum::constant(constant)));
        let mut dimensions: Vec<Dimension> =
            (0..count).map(|_| Dimension { start: zero, step: one, is_fixed: false }).collect();
        let mut parts = SmallVec::new();
        for (at, data) in steps.into_iter().rev() {
            let operands: SmallVec<[Number; 4]> =
                data.operands[1..].iter().map(|&v| self.number(at, v)).collect();
            let mut open = dimensions.iter_mut().filter(|dimension| !dimension.is_fixed);
            match data.kind {
                OpKind::Field(field) => parts.push(Part::Field(field)),
                OpKind::Comp => parts.push(Part::Component(operands[0])),
                OpKind::Elem => open.zip(&operands).for_each(|(dimension, &i)| self.fix(dimension, i)),
                OpKind::View(dim) => {
                    let dimension = open.nth(dim as usize).expect("verified");
                    self.fix(dimension, operands[0]);
                }
                OpKind::Window(dim) => {
                    let dimension = open.nth(dim as usize).expect("verified");
                    let start = self.unclamped(operands[0]);
                    dimension.start = self.along(dimension, start);
                    dimension.step = self.product(dimension.step, operands[2]);
                }
                _ => unreachable!("only these are steps"),
            }
        }
        Place { root, indices: dimensions.iter().map(|dimension| dimension.start).collect(), parts }
    }

    /// Where a window starts, or how long it is, if it has elements: it is not put back into the array.
    pub fn unclamped(&mut self, number: Number) -> Number {
        let sum = match self.node(number) {
            Node::Sum(sum) => sum.clone(),
            Node::Op(kind, _, operands) => {
                let constant = |number: Number| self.sum(number).as_constant();
                let is_shape = |number: Number| matches!(self.node(number), Node::Op(OpKind::Shape(_), ..));
                let inner = match (kind, &operands[..]) {
                    // The array is as long as it takes.
                    (OpKind::Binary(BinaryOp::Min), &[a, b]) if constant(a).is_some() || is_shape(b) => a,
                    (OpKind::Binary(BinaryOp::Min), &[a, b]) if constant(b).is_some() || is_shape(a) => b,
                    (OpKind::Binary(BinaryOp::Max), &[a, b]) if constant(a) == Some(0) => b,
                    (OpKind::Binary(BinaryOp::Max), &[a, b]) if constant(b) == Some(0) => a,
                    // `extent > 0 ? start : 0`.
                    (OpKind::Select, &[_, start, none]) if constant(none) == Some(0) => start,
                    _ => return number,
                };
                return self.unclamped(inner);
            }
            _ => return number,
        };
        let mut new = Some(Sum::constant(sum.constant));
        for &(term, count) in &sum.terms {
            let term = self.unclamped(term);
            new = new.and_then(|new| new.plus(&self.sum(term), count));
        }
        new.map_or(number, |new| self.intern_sum(new))
    }

    /// A component or field of what is at a place.
    pub fn part(&mut self, place: &Place, ty: Type, index: u32) -> Place {
        let mut place = place.clone();
        place.parts.push(match ty.fields() {
            Some(_) => Part::Field(index),
            None => Part::Component(self.intern_sum(Sum::constant(index.into()))),
        });
        place
    }

    /// Whether two roots may be one array because the program chooses one of them.
    pub fn may_be_one(&self, a: Number, b: Number) -> bool {
        let element = |root| {
            let ty = match self.node(root) {
                Node::Value(frame, value) | Node::Index(frame, value) => self.function(*frame).ty(*value),
                Node::Op(_, ty, _) | Node::Load(ty, _) => *ty,
                Node::Range(..) | Node::Compare(..) | Node::Sum(_) => return None,
            };
            ty.as_array().map(|array| array.elem)
        };
        (self.is_chosen(a) || self.is_chosen(b)) && element(a).is_some() && element(a) == element(b)
    }

    fn is_chosen(&self, root: Number) -> bool {
        match self.node(root) {
            Node::Value(frame, value) => {
                let f = self.function(*frame);
                match f.value(*value).def {
                    ValueDef::Param { block, .. } => block != f.body,
                    ValueDef::Result { op, .. } => {
                        matches!(f.op(op).kind, OpKind::If | OpKind::For | OpKind::While)
                    }
                }
            }
            Node::Op(OpKind::Select, ..) => true,
            _ => false,
        }
    }

    /// Unknown elements of the arrays that a call gives to a function in C++.
    pub fn given_to_native(&mut self, frame: Frame, op: Op) -> Vec<Place> {
        let f = self.function(frame);
        let data = f.op(op);
        match data.kind {
            OpKind::Call(callee) if self.module.function(callee).native().is_some() => {}
            _ => return Vec::new(),
        }
        let arrays = data.operands.iter().filter(|&&operand| f.ty(operand).as_array().is_some());
        let place = |&array: &Value| {
            let mut place = self.place(frame, array);
            let unknown = self.intern(Node::Value(frame, array));
            place.indices.fill(unknown);
            place
        };
        arrays.map(place).collect()
    }

    fn fix(&mut self, dimension: &mut Dimension, index: Number) {
        dimension.start = self.along(dimension, index);
        dimension.is_fixed = true;
    }

    /// The array's index for one of the view.
    fn along(&mut self, dimension: &Dimension, index: Number) -> Number {
        let way = self.product(index, dimension.step);
        self.add(dimension.start, way, 1).unwrap_or(way)
    }

    fn product(&mut self, a: Number, b: Number) -> Number {
        self.multiply(a, b, Type::I64).unwrap_or(a)
    }
}
