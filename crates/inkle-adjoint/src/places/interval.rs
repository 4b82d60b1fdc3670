//! What a loop's index goes through.

use super::Sum;

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

    /// Whether an index is there if the loop is long enough.
    pub fn holds(&self, index: &Sum) -> bool {
        let is_behind = constant(index, &self.first).is_some_and(|distance| distance >= 0);
        is_behind && constant(&self.end, index).is_none_or(|distance| distance > 0)
    }

    /// Whether an index here and `distance` more is one there, if both loops are long enough.
    pub fn meets(&self, other: &Interval, distance: &Sum) -> bool {
        let (Some(first), Some(end)) = (self.first.plus(distance, 1), self.end.plus(distance, 1)) else {
            return false;
        };
        let Some(ahead) = constant(&first, &other.first) else { return false };
        let start = if ahead >= 0 { &first } else { &other.first };
        [&end, &other.end].iter().all(|end| constant(end, start).is_none_or(|length| length > 0))
    }
}

/// `a - b`, if that is a constant.
fn constant(a: &Sum, b: &Sum) -> Option<i128> {
    a.minus(b)?.as_constant()
}
