//! Integers as sums.

use smallvec::SmallVec;

use super::Number;

/// An integer: multiples of others, in ascending order and none of them zero, and a constant.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Sum {
    pub terms: SmallVec<[(Number, i128); 2]>,
    pub constant: i128,
}

impl Sum {
    pub fn constant(constant: i128) -> Sum {
        Sum { terms: SmallVec::new(), constant }
    }

    /// `self + other * factor`; `None` if that is too large.
    pub fn plus(&self, other: &Sum, factor: i128) -> Option<Sum> {
        let mut terms = self.terms.clone();
        for &(number, count) in &other.terms {
            let more = count.checked_mul(factor)?;
            match terms.iter_mut().find(|(known, _)| *known == number) {
                Some((_, count)) => *count = count.checked_add(more)?,
                None => terms.push((number, more)),
            }
        }
        terms.retain(|&mut (_, count)| count != 0);
        terms.sort_unstable();
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        Some(Sum { terms, constant })
    }

    /// `self - other`.
    pub fn minus(&self, other: &Sum) -> Option<Sum> {
        self.plus(other, -1)
    }

    /// The number that it is, if it is that of a constant.
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// How many times a number is in it.
    pub fn count(&self, number: Number) -> i128 {
        self.terms.iter().find(|(known, _)| *known == number).map_or(0, |&(_, count)| count)
    }

    /// The numbers that multiples of are in it.
    pub fn numbers(&self) -> impl Iterator<Item = Number> {
        self.terms.iter().map(|&(number, _)| number)
    }
}

/// The largest integer that divides both, or its negative.
pub fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
