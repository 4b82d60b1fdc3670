//! Copies and fills in CPU memory that are worked out once and done many times.

use super::plan::Plan;
use super::{Array, host};
use crate::error::RuntimeError;

/// Moves that a graph does at each replay; nobody records them.
#[derive(Clone, Debug)]
enum Moves {
    Nothing,
    Copy(Plan<2>),
    /// The two arrays overlap in more than one run, so that one has to be set aside first.
    Staged,
    Fill(Plan<1>, Box<[u8]>),
}

/// A copy or a fill of CPU arrays, ready to be done.
#[derive(Clone, Debug)]
pub struct Prepared {
    moves: Moves,
    dst: Array,
    src: Option<Array>,
}

impl Prepared {
    /// A copy of the elements of `src` to `dst`.
    ///
    /// # Errors
    /// As [`Array::copy_from`]; [`RuntimeError::WrongDevice`] unless both are on the CPU.
    pub fn copy(dst: &Array, src: &Array) -> Result<Prepared, RuntimeError> {
        dst.check_copy(src)?;
        on_cpu("the destination", dst)?;
        on_cpu("the source", src)?;
        let moves = match Plan::new(dst.shape(), [dst.strides(), src.strides()], dst.elem_bytes()) {
            None => Moves::Nothing,
            Some(plan) if plan.is_one_run() || !dst.overlaps(src) => Moves::Copy(plan),
            Some(_) => Moves::Staged,
        };
        Ok(Prepared { moves, dst: dst.clone(), src: Some(src.clone()) })
    }

    /// A fill of every element of `dst` with the bytes of `pattern`.
    ///
    /// # Errors
    /// As [`Array::fill`]; [`RuntimeError::WrongDevice`] unless the array is on the CPU.
    pub fn fill(dst: &Array, pattern: &[u8]) -> Result<Prepared, RuntimeError> {
        dst.check_fill(pattern)?;
        on_cpu("the array", dst)?;
        let moves = match Plan::new(dst.shape(), [dst.strides()], dst.elem_bytes()) {
            None => Moves::Nothing,
            Some(plan) => Moves::Fill(plan, pattern.into()),
        };
        Ok(Prepared { moves, dst: dst.clone(), src: None })
    }

    /// The bytes that are written.
    pub fn bytes(&self) -> usize {
        self.dst.size_bytes()
    }

    /// Does it.
    ///
    /// # Errors
    /// [`RuntimeError::Threads`] when the worker threads of a large one cannot be started.
    #[inline]
    pub fn run(&self) -> Result<(), RuntimeError> {
        match (&self.moves, &self.src) {
            // SAFETY: both are live CPU memory, which the arrays here keep, the plan walks exactly their elements,
            // and they do not overlap unless the plan is one run.
            (Moves::Copy(plan), Some(src)) => unsafe { host::copy(plan, self.dst.address(), src.address()) },
            (Moves::Staged, Some(src)) => self.dst.copy_now(src, None),
            // SAFETY: the plan walks this array's elements, which lie in its live memory on the CPU.
            (Moves::Fill(plan, pattern), _) => unsafe { host::fill(plan, self.dst.address(), pattern) },
            _ => Ok(()),
        }
    }
}

fn on_cpu(what: &'static str, array: &Array) -> Result<(), RuntimeError> {
    if array.device().is_cpu() {
        return Ok(());
    }
    Err(RuntimeError::WrongDevice { what, expected: "cpu".into(), found: array.device().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Slice};
    use inkle_ir::{Scalar, Type};

    fn bytes(values: &[u8]) -> Array {
        Array::from_bytes(Device::cpu(), Type::Scalar(Scalar::U8), &[values.len() as i64], values).unwrap()
    }

    #[test]
    fn copies_can_be_done_again() {
        let (dst, src) = (bytes(&[0; 3]), bytes(&[1, 2, 3, 4, 5, 6]));
        let every_other = src.slice(0, Slice { step: 2, ..Slice::ALL }).unwrap();
        let copy = Prepared::copy(&dst, &every_other).unwrap();
        copy.run().unwrap();
        assert_eq!(dst.to_bytes().unwrap(), [1, 3, 5]);
        src.fill(&[9], None).unwrap();
        copy.run().unwrap();
        assert_eq!((dst.to_bytes().unwrap(), copy.bytes()), (vec![9, 9, 9], 3));
    }

    #[test]
    fn overlapping_copies_read_before_they_write() {
        let array = bytes(&[1, 2, 3, 4, 5]);
        let part =
            |start, stop| array.slice(0, Slice { start: Some(start), stop: Some(stop), step: 2 }).unwrap();
        Prepared::copy(&part(1, 4), &part(0, 3)).unwrap().run().unwrap();
        assert_eq!(array.to_bytes().unwrap(), [1, 1, 3, 3, 5]);
    }

    #[test]
    fn fills_can_be_done_again_and_misfits_are_refused() {
        let array = bytes(&[1, 2, 3, 4]);
        let fill = Prepared::fill(&array.slice(0, Slice { step: 3, ..Slice::ALL }).unwrap(), &[8]).unwrap();
        fill.run().unwrap();
        assert_eq!(array.to_bytes().unwrap(), [8, 2, 3, 8]);
        assert!(matches!(Prepared::fill(&array, &[1, 2]), Err(RuntimeError::ByteCount { .. })));
        assert!(matches!(Prepared::copy(&array, &bytes(&[1])), Err(RuntimeError::CopyMismatch { .. })));
    }
}
