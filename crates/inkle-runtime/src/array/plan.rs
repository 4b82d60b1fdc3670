//! A strided copy or fill, reduced to as few dimensions as its strides allow.

use inkle_ir::MAX_DIMS;

/// Extents and strides of up to `N` arrays walked together. Dimensions of extent one are gone, neighbours
/// that are contiguous in every array are merged, and the last dimension has the smallest stride in array 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plan<const N: usize> {
    ndim: usize,
    extents: [usize; MAX_DIMS],
    strides: [[i64; MAX_DIMS]; N],
    /// The bytes moved at each point: an element, or a whole run once the last dimension is contiguous.
    pub run_bytes: usize,
}

impl<const N: usize> Plan<N> {
    /// The plan for arrays of one shape. `None` if there are no elements.
    pub(super) fn new(shape: &[i32], strides: [&[i64]; N], elem_bytes: usize) -> Option<Plan<N>> {
        if shape.contains(&0) {
            return None;
        }
        let mut dims: Vec<(usize, [i64; N])> = (0..shape.len())
            .filter(|&d| shape[d] != 1)
            .map(|d| (shape[d] as usize, std::array::from_fn(|i| strides[i][d])))
            .collect();
        dims.sort_by_key(|(_, strides)| std::cmp::Reverse(strides[0].unsigned_abs()));
        let mut merged: Vec<(usize, [i64; N])> = Vec::with_capacity(dims.len());
        for (extent, strides) in dims {
            match merged.last_mut() {
                Some((outer, outer_strides))
                    if (0..N)
                        .all(|i| i128::from(outer_strides[i]) == i128::from(strides[i]) * extent as i128) =>
                {
                    *outer *= extent;
                    *outer_strides = strides;
                }
                _ => merged.push((extent, strides)),
            }
        }
        let mut run_bytes = elem_bytes;
        if let Some((extent, strides)) = merged.last()
            && strides.iter().all(|&s| s == elem_bytes as i64)
        {
            run_bytes *= extent;
            merged.pop();
        }
        let mut plan =
            Plan { ndim: merged.len(), extents: [1; MAX_DIMS], strides: [[0; MAX_DIMS]; N], run_bytes };
        for (d, (extent, strides)) in merged.into_iter().enumerate() {
            plan.extents[d] = extent;
            for (to, stride) in plan.strides.iter_mut().zip(strides) {
                to[d] = stride;
            }
        }
        Some(plan)
    }

    /// Whether everything is one run of bytes.
    pub(super) fn is_one_run(&self) -> bool {
        self.ndim == 0
    }

    /// The extent and the strides of the last dimension; (1, zeros) for a single run.
    pub(super) fn row(&self) -> (usize, [i64; N]) {
        match self.ndim {
            0 => (1, [0; N]),
            n => (self.extents[n - 1], std::array::from_fn(|i| self.strides[i][n - 1])),
        }
    }

    /// The number of rows: the product of all extents but the last.
    pub(super) fn row_count(&self) -> usize {
        self.extents[..self.ndim.saturating_sub(1)].iter().product()
    }

    /// All extents and strides, the last dimension last; unused leading dimensions have extent one.
    pub(super) fn dims(&self) -> ([usize; MAX_DIMS], [[i64; MAX_DIMS]; N]) {
        let (mut extents, mut strides) = ([1; MAX_DIMS], [[0; MAX_DIMS]; N]);
        let lead = MAX_DIMS - self.ndim;
        extents[lead..].copy_from_slice(&self.extents[..self.ndim]);
        for (to, from) in strides.iter_mut().zip(&self.strides) {
            to[lead..].copy_from_slice(&from[..self.ndim]);
        }
        (extents, strides)
    }

    /// The plan with runs cut back into points of `point_bytes` bytes, which is an element's size.
    pub(super) fn split_run(&self, point_bytes: usize) -> Plan<N> {
        let mut plan = *self;
        let points = self.run_bytes / point_bytes;
        // A run of several points came from a dimension, so there is room for it.
        if points > 1 && self.ndim < MAX_DIMS {
            plan.extents[self.ndim] = points;
            plan.strides.iter_mut().for_each(|strides| strides[self.ndim] = point_bytes as i64);
            plan.ndim += 1;
            plan.run_bytes = point_bytes;
        }
        plan
    }

    /// Calls `visit` with the byte offsets of the first point of each row in `rows`.
    pub(super) fn each_row(&self, rows: std::ops::Range<usize>, mut visit: impl FnMut([i64; N])) {
        let outer = self.ndim.saturating_sub(1);
        let mut place = [0usize; MAX_DIMS];
        let mut rest = rows.start;
        for d in (0..outer).rev() {
            place[d] = rest % self.extents[d];
            rest /= self.extents[d];
        }
        let mut offsets: [i64; N] =
            std::array::from_fn(|i| (0..outer).map(|d| place[d] as i64 * self.strides[i][d]).sum());
        for _ in rows {
            visit(offsets);
            for d in (0..outer).rev() {
                place[d] += 1;
                for (offset, strides) in offsets.iter_mut().zip(&self.strides) {
                    *offset += strides[d];
                }
                if place[d] < self.extents[d] {
                    break;
                }
                for (offset, strides) in offsets.iter_mut().zip(&self.strides) {
                    *offset -= strides[d] * self.extents[d] as i64;
                }
                place[d] = 0;
            }
        }
    }
}

impl Plan<1> {
    /// The plan of a copy to the same places from one single place.
    pub(super) fn with_source_at_rest(&self) -> Plan<2> {
        Plan {
            ndim: self.ndim,
            extents: self.extents,
            strides: [self.strides[0], [0; MAX_DIMS]],
            run_bytes: self.run_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_arrays_are_one_run() {
        let plan = Plan::new(&[2, 3, 4], [&[48, 16, 4], &[48, 16, 4]], 4).unwrap();
        assert!(plan.is_one_run());
        assert_eq!(plan.run_bytes, 96);
    }

    #[test]
    fn equal_permutations_are_one_run_too() {
        let plan = Plan::new(&[4, 3], [&[4, 16], &[4, 16]], 4).unwrap();
        assert!(plan.is_one_run());
    }

    #[test]
    fn rows_stay_where_columns_are_cut() {
        let plan = Plan::new(&[3, 2], [&[8, 4], &[16, 4]], 4).unwrap();
        assert_eq!((plan.run_bytes, plan.row(), plan.row_count()), (8, (3, [8, 16]), 1));
    }

    #[test]
    fn runs_can_be_cut_back_into_points() {
        let plan = Plan::new(&[2, 2, 2, 3], [&[1000, 400, 150, 12]], 12).unwrap();
        assert_eq!((plan.run_bytes, plan.row_count()), (36, 4));
        let points = plan.split_run(12);
        assert_eq!(points.dims(), ([2, 2, 2, 3], [[1000, 400, 150, 12]]));
        assert_eq!(points.run_bytes, 12);
        let column = Plan::new(&[5], [&[24]], 12).unwrap();
        assert_eq!(column.split_run(12), column);
    }

    #[test]
    fn empty_arrays_have_no_plan() {
        assert_eq!(Plan::new(&[3, 0], [&[0, 4]], 4), None);
    }
}
