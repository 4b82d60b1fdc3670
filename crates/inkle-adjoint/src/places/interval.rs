//! What a loop's index goes through.

use super::Sum;

/// How many iterations a loop of unknown length is taken to run in some run.
const FEW: i128 = 4;

/// The indices of a loop with the step 1 or -1.
pub struct Interval {
    first: Sum,
    /// One past the last.
    end: Sum,
}

impl Interval {
    /// Those from `lo` to before `hi`; `None` for another step.
    pub fn of([lo, hi, step]: [Sum; 3]) -> Option<Interval> {
        let one = Sum::constant(1);
        match step.as_constant()? {
            1 => Some(Interval { first: lo, end: hi }),
            -1 => Some(Interval { first: hi.plus(&one, 1)?, end: lo.plus(&one, 1)? }),
            _ => None,
        }
    }

    /// Whether an index is there.
    pub fn holds(&self, index: &Sum) -> bool {
        constant(index, &self.first).is_some_and(|distance| distance >= 0 && self.reaches(index))
    }

    /// Whether an index that is not before the first one is before the end.
    fn reaches(&self, index: &Sum) -> bool {
        match constant(&self.end, index) {
            Some(distance) => distance > 0,
            None => constant(index, &self.first).is_some_and(|distance| distance < FEW),
        }
    }

    /// Whether an index here and `distance` more is one there.
    pub fn meets(&self, other: &Interval, distance: &Sum) -> bool {
        let (Some(first), Some(end)) = (self.first.plus(distance, 1), self.end.plus(distance, 1)) else {
            return false;
        };
        let moved = Interval { first, end };
        let Some(ahead) = constant(&moved.first, &other.first) else { return false };
        let start = if ahead >= 0 { &moved.first } else { &other.first };
        moved.reaches(start) && other.reaches(start)
    }
}

/// `a - b`, if that is a constant.
fn constant(a: &Sum, b: &Sum) -> Option<i128> {
    a.minus(b)?.as_constant()
}
