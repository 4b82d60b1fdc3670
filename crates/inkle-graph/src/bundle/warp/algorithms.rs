//! Algorithms over arrays in operations.
//!
//! They are read of version 18 only: how the records of older versions are laid out is not known here.

use inkle_ir::{Scalar, Type};
use inkle_runtime::algorithms::{Algorithm, Reduction};

use super::super::BundleError;
use super::super::wire::Reader;
use super::operations::Converter;
use super::{damaged, unread};
use crate::ops::{Op, View};

const SCAN: u32 = 9;
const SEGMENTED_SORT: u32 = 11;
const SORT: u32 = 12;
const RUN_LENGTHS: u32 = 13;
const REDUCTION: u32 = 16;

/// The first version whose algorithms are read.
const VERSION: u32 = 18;
/// The most numbers of an element.
const MAX_LANES: u32 = 1 << 16;

impl Converter<'_> {
    /// The algorithm that an operation of a kind is; `None` for other kinds.
    pub fn algorithm(
        &self,
        kind: u32,
        reader: &mut Reader<'_>,
    ) -> Result<Option<Algorithm<View>>, BundleError> {
        let name = match kind {
            SCAN => "array_scan()",
            SEGMENTED_SORT => "segmented_sort_pairs()",
            SORT => "radix_sort_pairs()",
            RUN_LENGTHS => "runlength_encode()",
            REDUCTION => "array_sum() or array_inner()",
            _ => return Ok(None),
        };
        if self.version() < VERSION {
            return Err(unread(format!("{name}, as versions before {VERSION} store it")));
        }
        let read = match kind {
            SCAN => self.scan(reader),
            SEGMENTED_SORT => self.segmented_sort(reader),
            SORT => self.sort(reader),
            RUN_LENGTHS => self.run_lengths(reader),
            _ => self.reduction(reader),
        };
        read.map(Some)
    }

    fn scan(&self, reader: &mut Reader<'_>) -> Result<Algorithm<View>, BundleError> {
        let (to, from) = (reader.i32()?, reader.i32()?);
        let (to_offset, from_offset, count) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let (from_stride, to_stride, lanes) = (reader.i32()?, reader.i32()?, reader.u32()?);
        let (scalar, inclusive) = (scalar(reader)?, reader.flag()?);
        reader.take(2)?;
        let dtype = elements(scalar, lanes)?;
        Ok(Algorithm::Scan {
            input: self.row(from, from_offset, dtype, count, from_stride)?,
            output: self.row(to, to_offset, dtype, count, to_stride)?,
            inclusive,
        })
    }

    fn segmented_sort(&self, reader: &mut Reader<'_>) -> Result<Algorithm<View>, BundleError> {
        let (keys, values, starts, ends) = (reader.i32()?, reader.i32()?, reader.i32()?, reader.i32()?);
        let (keys_at, values_at) = (reader.u64()?, reader.u64()?);
        let (starts_at, ends_at) = (reader.u64()?, reader.u64()?);
        let (count, segments, scalar) = (reader.u32()?, reader.u32()?, scalar(reader)?);
        reader.take(3)?;
        let room = twice(count)?;
        Ok(Algorithm::SegmentedSortPairs {
            keys: self.packed(keys, keys_at, scalar, room)?,
            values: self.packed(values, values_at, Scalar::I32, room)?,
            starts: self.packed(starts, starts_at, Scalar::I32, segments)?,
            ends: Some(self.packed(ends, ends_at, Scalar::I32, segments)?),
            count: count.into(),
        })
    }

    fn sort(&self, reader: &mut Reader<'_>) -> Result<Algorithm<View>, BundleError> {
        let (keys, values) = (reader.i32()?, reader.i32()?);
        let (keys_at, values_at, count) = (reader.u64()?, reader.u64()?, reader.u32()?);
        let (begin_bit, end_bit, value_bytes) = (reader.i32()?, reader.i32()?, reader.u32()?);
        let scalar = scalar(reader)?;
        reader.take(3)?;
        let value = match value_bytes {
            4 => Scalar::I32,
            8 => Scalar::I64,
            other => return Err(reader.bad(format!("a sort of values of {other} bytes"))),
        };
        let room = twice(count)?;
        Ok(Algorithm::SortPairs {
            keys: self.packed(keys, keys_at, scalar, room)?,
            values: self.packed(values, values_at, value, room)?,
            count: count.into(),
            begin_bit: begin_bit.into(),
            end_bit: end_bit.into(),
        })
    }

    fn run_lengths(&self, reader: &mut Reader<'_>) -> Result<Algorithm<View>, BundleError> {
        let (values, found, lengths, runs) = (reader.i32()?, reader.i32()?, reader.i32()?, reader.i32()?);
        let (values_at, found_at) = (reader.u64()?, reader.u64()?);
        let (lengths_at, runs_at, count) = (reader.u64()?, reader.u64()?, reader.u32()?);
        reader.take(4)?;
        Ok(Algorithm::RunLengths {
            values: self.packed(values, values_at, Scalar::I32, count)?,
            run_values: self.packed(found, found_at, Scalar::I32, count)?,
            run_lengths: self.packed(lengths, lengths_at, Scalar::I32, count)?,
            run_count: self.packed(runs, runs_at, Scalar::I32, 1)?,
            count: count.into(),
        })
    }

    fn reduction(&self, reader: &mut Reader<'_>) -> Result<Algorithm<View>, BundleError> {
        let (a, b, to, count) = (reader.i32()?, reader.i32()?, reader.i32()?, reader.u32()?);
        let (a_at, b_at, to_at) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let (a_stride, b_stride, lanes) = (reader.i32()?, reader.i32()?, reader.u32()?);
        let (kind, scalar) = (reader.u8()?, scalar(reader)?);
        reader.take(2)?;
        let dtype = elements(scalar, lanes)?;
        let reduction = Reduction { axis: None, count: None };
        let input = self.row(a, a_at, dtype, count, a_stride)?;
        match kind {
            1 => {
                let output = self.row(to, to_at, dtype, 1, dtype.size() as i32)?;
                Ok(Algorithm::Sum { values: input, output, reduction })
            }
            2 => Ok(Algorithm::Inner {
                a: input,
                b: self.row(b, b_at, dtype, count, b_stride)?,
                output: self.packed(to, to_at, scalar, 1)?,
                reduction,
            }),
            other => Err(reader.bad(format!("no reduction has the kind {other}"))),
        }
    }

    /// Elements at distances of `stride` bytes.
    fn row(
        &self,
        region: i32,
        offset: u64,
        dtype: Type,
        count: u32,
        stride: i32,
    ) -> Result<View, BundleError> {
        let extent = i32::try_from(count)
            .map_err(|_| damaged("operations", format!("an algorithm over {count} elements")))?;
        let (shape, strides) = (vec![extent], vec![stride.into()]);
        Ok(View { region: self.region(region)?, offset, dtype, shape, strides })
    }

    fn packed(&self, region: i32, offset: u64, scalar: Scalar, count: u32) -> Result<View, BundleError> {
        self.row(region, offset, Type::Scalar(scalar), count, scalar.size() as i32)
    }
}

/// What a sort of Warp's leaves besides the sorted pairs: the same once more in the second half of the room. A file has
/// copies from there where Warp's own sort ended there.
pub fn after_sort(algorithm: &Algorithm<View>) -> Vec<Op> {
    let (keys, values) = match algorithm {
        Algorithm::SortPairs { keys, values, .. } | Algorithm::SegmentedSortPairs { keys, values, .. } => {
            (keys, values)
        }
        _ => return Vec::new(),
    };
    let copy = |room: &View| {
        let half = View { shape: vec![room.shape[0] / 2], ..room.clone() };
        let bytes = u64::from(room.dtype.size()) * u64::from(half.shape[0].unsigned_abs());
        Op::Copy { dst: View { offset: room.offset.saturating_add(bytes), ..half.clone() }, src: half }
    };
    vec![copy(keys), copy(values)]
}

fn scalar(reader: &mut Reader<'_>) -> Result<Scalar, BundleError> {
    Ok(match reader.u8()? {
        1 => Scalar::I32,
        2 => Scalar::U32,
        3 => Scalar::I64,
        4 => Scalar::U64,
        5 => Scalar::F32,
        6 => Scalar::F64,
        other => return Err(reader.bad(format!("no type of numbers has the tag {other}"))),
    })
}

fn elements(scalar: Scalar, lanes: u32) -> Result<Type, BundleError> {
    match lanes {
        1 => Ok(Type::Scalar(scalar)),
        2..=MAX_LANES => Ok(Type::Vec { len: lanes, elem: scalar }),
        _ => Err(damaged("operations", format!("an algorithm over elements of {lanes} numbers"))),
    }
}

/// The room that sorts need.
fn twice(count: u32) -> Result<u32, BundleError> {
    count.checked_mul(2).ok_or_else(|| damaged("operations", format!("a sort of {count} pairs")))
}
