//! Arrays as units of a power of two of bytes: what moves elements need not know their type.

use inkle_ir::{MAX_DIMS, Scalar, Type};

use super::{Array, byte_range};
use crate::error::RuntimeError;

/// The elements of an array as parts of one row of units.
#[derive(Clone, Debug)]
pub struct Units {
    /// All units from the first that the array reaches to the last, over the array's own memory.
    pub row: Array,
    /// Where the first element starts in the row.
    pub start: i64,
    /// How many units neighbours are apart, by dimension; dimensions count from the last one, which comes last.
    pub steps: [i64; MAX_DIMS],
}

impl Array {
    /// The widest unit, up to 8 bytes, that elements are made of and their addresses are multiples of.
    pub fn unit_bytes(&self) -> u32 {
        let strides = self.shape().iter().zip(self.strides()).filter(|(extent, _)| **extent > 1);
        let places =
            strides.map(|(_, &stride)| stride as u64).chain([self.address(), self.dtype.size().into()]);
        1 << places.fold(8u64, |bits, place| bits | place).trailing_zeros()
    }

    /// The array as units of `unit` bytes: a power of two that [`unit_bytes`](Array::unit_bytes) is a multiple of.
    ///
    /// # Errors
    /// [`RuntimeError::BadExtent`] when there are more units than an extent can count.
    pub fn units(&self, unit: u32) -> Result<Units, RuntimeError> {
        let scalar = match unit {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        };
        let (low, high) = byte_range(self.dtype, self.shape(), self.strides());
        let first = (i128::from(self.address()) + low - i128::from(self.memory.address())) as usize;
        let count = ((high - low) / i128::from(unit)) as i64;
        let row = Array::from_parts(self.memory.clone(), first, Type::Scalar(scalar), &[count], None)?;
        let mut steps = [0; MAX_DIMS];
        for (step, (extent, stride)) in
            steps[MAX_DIMS - self.ndim()..].iter_mut().zip(self.shape().iter().zip(self.strides()))
        {
            *step = if *extent > 1 { stride / i64::from(unit) } else { 0 };
        }
        Ok(Units { row, start: (-low / i128::from(unit)) as i64, steps })
    }

    /// The memory of a contiguous array as a row of elements of another type.
    ///
    /// # Errors
    /// [`RuntimeError::NotContiguous`]; as [`from_parts`](Array::from_parts).
    pub fn flat(&self, dtype: Type) -> Result<Array, RuntimeError> {
        if !self.is_contiguous() {
            let (shape, strides) = (self.shape().to_vec(), self.strides().to_vec());
            return Err(RuntimeError::NotContiguous { operation: "a view as a row", shape, strides });
        }
        let offset = (self.address() - self.memory.address()) as usize;
        let count = self.size_bytes() / dtype.size().max(1) as usize;
        Array::from_parts(self.memory.clone(), offset, dtype, &[count as i64], None)
    }

    /// A view of an array's first element from every place of `shape`.
    ///
    /// # Errors
    /// As [`from_parts`](Array::from_parts).
    pub fn repeated(&self, shape: &[i64]) -> Result<Array, RuntimeError> {
        let offset = (self.address() - self.memory.address()) as usize;
        Array::from_parts(self.memory.clone(), offset, self.dtype, shape, Some(&[0; MAX_DIMS][..shape.len()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn units_are_as_wide_as_elements_and_strides_allow() {
        let points = Array::zeros(Device::cpu(), Type::vec(3, Scalar::F32), &[4, 2]).unwrap();
        assert_eq!(points.unit_bytes(), 4);
        let units = points.units(4).unwrap();
        assert_eq!((units.row.len(), units.start, units.steps), (24, 0, [0, 0, 6, 3]));
        assert_eq!(points.units(2).unwrap().steps, [0, 0, 12, 6]);
        let doubles = Array::zeros(Device::cpu(), Type::Scalar(Scalar::F64), &[3]).unwrap();
        assert_eq!(doubles.unit_bytes(), 8);
    }

    #[test]
    fn a_row_starts_where_the_array_reaches_furthest_back() {
        let memory = Array::zeros(Device::cpu(), Type::I32, &[6]).unwrap();
        let backwards = Array::from_parts(memory.memory().clone(), 20, Type::I32, &[3], Some(&[-8])).unwrap();
        let units = backwards.units(4).unwrap();
        assert_eq!((units.row.len(), units.start, units.steps[3]), (5, 4, -2));
        assert_eq!(units.row.address(), memory.address() + 4);
    }

    #[test]
    fn one_element_is_seen_from_everywhere() {
        let one = Array::from_bytes(Device::cpu(), Type::I32, &[1], &7i32.to_le_bytes()).unwrap();
        let many = one.repeated(&[2, 3]).unwrap();
        assert_eq!(many.to_bytes().unwrap(), 7i32.to_le_bytes().repeat(6));
    }
}
