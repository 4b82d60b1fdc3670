//! An algorithm with what it is applied to, as a value: what a graph records and does again.

use super::{
    Reduction, cast, check_cast, check_inner, check_run_count, check_runs, check_scan, check_segments,
    check_sort_pairs, check_sum, inner_into, runlength_encode_into, scan, segmented_sort_pairs, sort_pairs,
    sum_into,
};
use crate::array::Array;
use crate::error::RuntimeError;

/// An algorithm over arrays `A`: an [`Array`], or whatever stands for one.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the fields are the parameters of the functions that the variants name")]
pub enum Algorithm<A> {
    /// [`scan`].
    Scan { input: A, output: A, inclusive: bool },
    /// [`sort_pairs`].
    SortPairs { keys: A, values: A, count: u64, begin_bit: i64, end_bit: i64 },
    /// [`segmented_sort_pairs`].
    SegmentedSortPairs { keys: A, values: A, count: u64, starts: A, ends: Option<A> },
    /// [`runlength_encode_into`].
    RunLengths { values: A, run_values: A, run_lengths: A, run_count: A, count: u64 },
    /// [`sum_into`].
    Sum { values: A, output: A, reduction: Reduction },
    /// [`inner_into`].
    Inner { a: A, b: A, output: A, reduction: Reduction },
    /// [`cast`].
    Cast { input: A, output: A, count: Option<u64> },
}

impl<A> Algorithm<A> {
    /// The name users know it by.
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::Scan { .. } => "array_scan",
            Algorithm::SortPairs { .. } => "radix_sort_pairs",
            Algorithm::SegmentedSortPairs { .. } => "segmented_sort_pairs",
            Algorithm::RunLengths { .. } => "runlength_encode",
            Algorithm::Sum { .. } => "array_sum",
            Algorithm::Inner { .. } => "array_inner",
            Algorithm::Cast { .. } => "array_cast",
        }
    }

    /// The same algorithm over what `to` makes of each array.
    ///
    /// # Errors
    /// The first of `to`.
    pub fn try_map<'a, B, E>(&'a self, mut to: impl FnMut(&'a A) -> Result<B, E>) -> Result<Algorithm<B>, E> {
        Ok(match self {
            Algorithm::Scan { input, output, inclusive } => {
                Algorithm::Scan { input: to(input)?, output: to(output)?, inclusive: *inclusive }
            }
            Algorithm::SortPairs { keys, values, count, begin_bit, end_bit } => Algorithm::SortPairs {
                keys: to(keys)?,
                values: to(values)?,
                count: *count,
                begin_bit: *begin_bit,
                end_bit: *end_bit,
            },
            Algorithm::SegmentedSortPairs { keys, values, count, starts, ends } => {
                Algorithm::SegmentedSortPairs {
                    keys: to(keys)?,
                    values: to(values)?,
                    count: *count,
                    starts: to(starts)?,
                    ends: ends.as_ref().map(to).transpose()?,
                }
            }
            Algorithm::RunLengths { values, run_values, run_lengths, run_count, count } => {
                Algorithm::RunLengths {
                    values: to(values)?,
                    run_values: to(run_values)?,
                    run_lengths: to(run_lengths)?,
                    run_count: to(run_count)?,
                    count: *count,
                }
            }
            Algorithm::Sum { values, output, reduction } => {
                Algorithm::Sum { values: to(values)?, output: to(output)?, reduction: *reduction }
            }
            Algorithm::Inner { a, b, output, reduction } => {
                Algorithm::Inner { a: to(a)?, b: to(b)?, output: to(output)?, reduction: *reduction }
            }
            Algorithm::Cast { input, output, count } => {
                Algorithm::Cast { input: to(input)?, output: to(output)?, count: *count }
            }
        })
    }

    /// Calls `visit` with each array and whether it is written.
    pub fn each<'a>(&'a self, mut visit: impl FnMut(&'a A, bool)) {
        match self {
            Algorithm::Scan { input, output, .. } | Algorithm::Cast { input, output, .. } => {
                visit(input, false);
                visit(output, true);
            }
            Algorithm::SortPairs { keys, values, .. } => {
                visit(keys, true);
                visit(values, true);
            }
            Algorithm::SegmentedSortPairs { keys, values, starts, ends, .. } => {
                visit(keys, true);
                visit(values, true);
                visit(starts, false);
                ends.iter().for_each(|ends| visit(ends, false));
            }
            Algorithm::RunLengths { values, run_values, run_lengths, run_count, .. } => {
                visit(values, false);
                [run_values, run_lengths, run_count].into_iter().for_each(|array| visit(array, true));
            }
            Algorithm::Sum { values, output, .. } => {
                visit(values, false);
                visit(output, true);
            }
            Algorithm::Inner { a, b, output, .. } => {
                visit(a, false);
                visit(b, false);
                visit(output, true);
            }
        }
    }
}

impl<A> Algorithm<A> {
    /// Calls `change` with each array.
    pub fn each_mut(&mut self, mut change: impl FnMut(&mut A)) {
        match self {
            Algorithm::Scan { input, output, .. } | Algorithm::Cast { input, output, .. } => {
                [input, output].into_iter().for_each(change);
            }
            Algorithm::SortPairs { keys, values, .. } => [keys, values].into_iter().for_each(change),
            Algorithm::SegmentedSortPairs { keys, values, starts, ends, .. } => {
                [keys, values, starts].into_iter().for_each(&mut change);
                ends.iter_mut().for_each(change);
            }
            Algorithm::RunLengths { values, run_values, run_lengths, run_count, .. } => {
                [values, run_values, run_lengths, run_count].into_iter().for_each(change);
            }
            Algorithm::Sum { values, output, .. } => [values, output].into_iter().for_each(change),
            Algorithm::Inner { a, b, output, .. } => [a, b, output].into_iter().for_each(change),
        }
    }
}

impl Algorithm<Array> {
    /// Whether the algorithm takes these arrays; what lists among them say is not looked at.
    ///
    /// # Errors
    /// Those of the function that the variant names.
    pub fn check(&self) -> Result<(), RuntimeError> {
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        match self {
            Algorithm::Scan { input, output, .. } => check_scan(input, output).map(drop),
            Algorithm::SortPairs { keys, values, count, begin_bit, end_bit } => {
                check_sort_pairs(keys, values, size(*count), *begin_bit, Some(*end_bit)).map(drop)
            }
            Algorithm::SegmentedSortPairs { keys, values, count, starts, ends } => {
                check_segments(keys, values, size(*count), starts, ends.as_ref())
            }
            Algorithm::RunLengths { values, run_values, run_lengths, run_count, count } => {
                check_run_count(values, run_count)?;
                check_runs(values, run_values, run_lengths, size(*count))
            }
            Algorithm::Sum { values, output, reduction } => check_sum(values, output, *reduction),
            Algorithm::Inner { a, b, output, reduction } => check_inner(a, b, output, *reduction),
            Algorithm::Cast { input, output, count } => check_cast(input, output, count.map(size)).map(drop),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// Those of the function that the variant names.
    pub fn run(&self) -> Result<(), RuntimeError> {
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        match self {
            Algorithm::Scan { input, output, inclusive } => scan(input, output, *inclusive),
            Algorithm::SortPairs { keys, values, count, begin_bit, end_bit } => {
                sort_pairs(keys, values, size(*count), *begin_bit, Some(*end_bit))
            }
            Algorithm::SegmentedSortPairs { keys, values, count, starts, ends } => {
                segmented_sort_pairs(keys, values, size(*count), starts, ends.as_ref())
            }
            Algorithm::RunLengths { values, run_values, run_lengths, run_count, count } => {
                runlength_encode_into(values, run_values, run_lengths, run_count, size(*count))
            }
            Algorithm::Sum { values, output, reduction } => sum_into(values, output, *reduction),
            Algorithm::Inner { a, b, output, reduction } => inner_into(a, b, output, *reduction),
            Algorithm::Cast { input, output, count } => cast(input, output, count.map(size)),
        }
    }
}
