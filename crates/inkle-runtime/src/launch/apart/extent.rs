//! Arrays as a launch's parameter block has them.

use inkle_ir::{ArrayDesc, MAX_DIMS, TouchedArray};
use smallvec::SmallVec;

/// A range of addresses.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub first: u64,
    pub end: u64,
}

/// An array as a parameter block has it.
pub(super) struct Desc {
    /// Which word is the address.
    pub word: usize,
    address: u64,
    size: u64,
    shape: SmallVec<[u64; MAX_DIMS]>,
    strides: SmallVec<[i64; MAX_DIMS]>,
}

impl Desc {
    pub fn of(array: &TouchedArray, params: &[u64]) -> Option<Desc> {
        use std::mem::offset_of;
        let start = array.descriptor as usize / 8;
        let word = start + usize::from(array.gradient);
        const { assert!(offset_of!(ArrayDesc, data) == 0 && offset_of!(ArrayDesc, grad) == 8) };
        let ndim = usize::from(array.ndim);
        let extent = |d: usize| {
            let pair = params.get(start + offset_of!(ArrayDesc, shape) / 8 + d / 2)?;
            Some((*pair >> (32 * (d % 2))) as u32)
        };
        let stride = |d: usize| Some(*params.get(start + offset_of!(ArrayDesc, strides) / 8 + d)? as i64);
        Some(Desc {
            word,
            address: *params.get(word)?,
            size: array.size.into(),
            shape: (0..ndim).map(|d| extent(d).map(u64::from)).collect::<Option<_>>()?,
            strides: (0..ndim).map(stride).collect::<Option<_>>()?,
        })
    }

    /// The bytes of all elements; `None` when there are none.
    pub fn extent(&self) -> Option<Extent> {
        if self.address == 0 || self.shape.contains(&0) {
            return None;
        }
        let (mut first, mut end) = (self.address, self.address.saturating_add(self.size));
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            let way = (extent - 1).saturating_mul(stride.unsigned_abs());
            if stride < 0 {
                first = first.saturating_sub(way);
            } else {
                end = end.saturating_add(way);
            }
        }
        Some(Extent { first, end })
    }

    /// Whether the elements lie one after another, the last dimension's neighbours side by side.
    pub fn is_compact(&self) -> bool {
        let mut distance = self.size;
        for (&extent, &stride) in self.shape.iter().zip(&self.strides).rev() {
            if extent > 1 && u64::try_from(stride) != Ok(distance) {
                return false;
            }
            distance = distance.saturating_mul(extent);
        }
        true
    }
}
