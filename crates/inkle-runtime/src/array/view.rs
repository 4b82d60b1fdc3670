//! Views: other descriptions of the same memory. A view of an array with a gradient has the matching view of
//! the gradient.

use inkle_ir::{MAX_DIMS, Type};

use super::{Array, checked_size, contiguous_strides};
use crate::error::RuntimeError;

/// A slice as Python means it: missing ends are the array's, negative ones count from the end, and ends out
/// of range are clamped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub struct Slice {
    pub start: Option<i64>,
    pub stop: Option<i64>,
    pub step: i64,
}

impl Slice {
    /// All of a dimension.
    pub const ALL: Slice = Slice { start: None, stop: None, step: 1 };

    /// `start..stop` by one.
    pub const fn range(start: i64, stop: i64) -> Slice {
        Slice { start: Some(start), stop: Some(stop), step: 1 }
    }

    /// The first index and the number of indices in a dimension of `extent`; the step is not zero.
    fn resolve(self, extent: i32) -> (i64, i64) {
        let n = i64::from(extent);
        let (low, high) = if self.step > 0 { (0, n) } else { (-1, n - 1) };
        let place = |end: i64| (if end < 0 { end.saturating_add(n) } else { end }).clamp(low, high);
        let start = self.start.map_or(if self.step > 0 { low } else { high }, place);
        let stop = self.stop.map_or(if self.step > 0 { high } else { low }, place);
        let span = if self.step > 0 { stop - start } else { start - stop };
        let step = self.step.unsigned_abs();
        // `span` is at most an extent, so it fits; a step beyond it leaves one element.
        (start, if span <= 0 { 0 } else { (span as u64).div_ceil(step) as i64 })
    }
}

/// One entry of a subscript.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// One place; the dimension goes away. Negative counts from the end.
    At(i64),
    /// Some places; the dimension stays.
    Slice(Slice),
}

impl Array {
    /// The subscript `a[i, j:k, ...]`; dimensions without an entry are taken whole.
    ///
    /// # Errors
    /// [`RuntimeError::TooManyIndices`], [`RuntimeError::IndexOutOfRange`], [`RuntimeError::ZeroStep`],
    /// [`RuntimeError::BadStep`].
    pub fn select(&self, indices: &[Index]) -> Result<Array, RuntimeError> {
        if indices.len() > self.ndim() {
            return Err(RuntimeError::TooManyIndices { indices: indices.len(), ndim: self.ndim() });
        }
        let (mut shape, mut strides, mut ndim) = ([0; MAX_DIMS], [0; MAX_DIMS], 0);
        let mut offset = 0i64;
        for (dim, (&extent, &stride)) in self.shape().iter().zip(self.strides()).enumerate() {
            match indices.get(dim).copied().unwrap_or(Index::Slice(Slice::ALL)) {
                Index::At(index) => {
                    let place = if index < 0 { index.saturating_add(extent.into()) } else { index };
                    if !(0..i64::from(extent)).contains(&place) {
                        return Err(RuntimeError::IndexOutOfRange { dim, index, extent });
                    }
                    offset += place * stride;
                }
                Index::Slice(slice) => {
                    if slice.step == 0 {
                        return Err(RuntimeError::ZeroStep { dim });
                    }
                    let (start, count) = slice.resolve(extent);
                    // With no second element the stride is never used, so an absurd step does no harm.
                    let step = if count > 1 { slice.step } else { 1 };
                    shape[ndim] = count as i32;
                    strides[ndim] = stride.checked_mul(step).ok_or(RuntimeError::BadStep { dim, step })?;
                    if count > 0 {
                        offset += start * stride;
                    }
                    ndim += 1;
                }
            }
        }
        let address = if shape[..ndim].contains(&0) || self.is_empty() {
            self.desc.data
        } else {
            self.desc.data.wrapping_add_signed(offset)
        };
        let mut view =
            Array::assemble(self.memory.clone(), address, self.dtype, &shape[..ndim], &strides[..ndim]);
        self.carry_grad(&mut view, |grad| grad.select(indices))?;
        Ok(view)
    }

    /// One place of a dimension, which goes away.
    ///
    /// # Errors
    /// [`RuntimeError::NoSuchDim`], [`RuntimeError::IndexOutOfRange`].
    pub fn index(&self, dim: usize, index: i64) -> Result<Array, RuntimeError> {
        self.select_one(dim, Index::At(index))
    }

    /// Some places of a dimension.
    ///
    /// # Errors
    /// [`RuntimeError::NoSuchDim`], [`RuntimeError::ZeroStep`], [`RuntimeError::BadStep`].
    pub fn slice(&self, dim: usize, slice: Slice) -> Result<Array, RuntimeError> {
        self.select_one(dim, Index::Slice(slice))
    }

    fn select_one(&self, dim: usize, index: Index) -> Result<Array, RuntimeError> {
        if dim >= self.ndim() {
            return Err(RuntimeError::NoSuchDim { dim: dim as i64, ndim: self.ndim() });
        }
        let mut indices = [Index::Slice(Slice::ALL); MAX_DIMS];
        indices[dim] = index;
        self.select(&indices[..=dim])
    }

    /// All numbers of the elements in one dimension; `None` if they do not follow one another without gaps, or if the
    /// elements are not made of numbers of one type, or there are too many for one dimension.
    pub fn numbers(&self) -> Option<Array> {
        let scalar = Type::Scalar(self.dtype.scalar()?);
        let count = i32::try_from(self.size_bytes() / scalar.size() as usize).ok()?;
        let stride = i64::from(scalar.size());
        let make = || Array::assemble(self.memory.clone(), self.desc.data, scalar, &[count], &[stride]);
        self.is_contiguous().then(make)
    }

    /// The same elements in another shape; one extent may be -1 and is worked out.
    ///
    /// # Errors
    /// [`RuntimeError::NotContiguous`], [`RuntimeError::ReshapeCount`], [`RuntimeError::ReshapeUnknowns`], and
    /// those of a bad shape.
    pub fn reshape(&self, shape: &[i64]) -> Result<Array, RuntimeError> {
        self.need_contiguous("reshape")?;
        let mismatch = || RuntimeError::ReshapeCount { from: self.shape().to_vec(), to: shape.to_vec() };
        let unknowns = shape.iter().filter(|&&e| e == -1).count();
        if unknowns > 1 || shape.iter().any(|&e| e < -1) {
            return Err(RuntimeError::ReshapeUnknowns { to: shape.to_vec() });
        }
        let mut wanted = shape.to_vec();
        if unknowns == 1 {
            let known: Option<i64> =
                shape.iter().filter(|&&e| e != -1).try_fold(1i64, |product, &e| product.checked_mul(e));
            let known = known.filter(|&k| k > 0).ok_or_else(mismatch)?;
            let total = self.len() as i64;
            if total % known != 0 {
                return Err(mismatch());
            }
            wanted.iter_mut().filter(|e| **e == -1).for_each(|e| *e = total / known);
        }
        let (dims, bytes) = checked_size(self.dtype, &wanted)?;
        if bytes != self.size_bytes() {
            return Err(mismatch());
        }
        let strides = contiguous_strides(self.dtype, &dims);
        let strides = &strides[..dims.len()];
        let mut view = Array::assemble(self.memory.clone(), self.desc.data, self.dtype, &dims, strides);
        self.carry_grad(&mut view, |grad| grad.reshape(&wanted))?;
        Ok(view)
    }

    /// The same elements in one dimension.
    ///
    /// # Errors
    /// [`RuntimeError::NotContiguous`]; [`RuntimeError::BadExtent`] if there are too many for one dimension.
    pub fn flatten(&self) -> Result<Array, RuntimeError> {
        if self.ndim() == 1 {
            return Ok(self.clone());
        }
        self.need_contiguous("flatten")?;
        self.reshape(&[self.len() as i64])
    }

    /// The dimensions in another order; without `axes`, reversed. Negative axes count from the end.
    ///
    /// # Errors
    /// [`RuntimeError::BadAxes`].
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Array, RuntimeError> {
        let n = self.ndim();
        let reversed: Vec<i64> = (0..n as i64).rev().collect();
        let axes = axes.unwrap_or(&reversed);
        let bad = || RuntimeError::BadAxes { axes: axes.to_vec(), ndim: n };
        if axes.len() != n {
            return Err(bad());
        }
        let (mut shape, mut strides, mut seen) = ([0; MAX_DIMS], [0; MAX_DIMS], [false; MAX_DIMS]);
        for (to, &axis) in axes.iter().enumerate() {
            let from = if axis < 0 { axis.saturating_add(n as i64) } else { axis };
            let from = usize::try_from(from).ok().filter(|&f| f < n && !seen[f]).ok_or_else(bad)?;
            seen[from] = true;
            shape[to] = self.desc.shape[from];
            strides[to] = self.desc.strides[from];
        }
        let mut view =
            Array::assemble(self.memory.clone(), self.desc.data, self.dtype, &shape[..n], &strides[..n]);
        self.carry_grad(&mut view, |grad| grad.transpose(Some(axes)))?;
        Ok(view)
    }

    /// The same bytes read as another type of the same size.
    ///
    /// # Errors
    /// [`RuntimeError::TypeMismatch`] for another size, [`RuntimeError::BadElementType`],
    /// [`RuntimeError::Misaligned`].
    pub fn view_as(&self, dtype: Type) -> Result<Array, RuntimeError> {
        checked_size(dtype, &[])?;
        if dtype.size() != self.dtype.size() {
            return Err(RuntimeError::TypeMismatch { operation: "view", left: self.dtype, right: dtype });
        }
        super::check_alignment(dtype, self.desc.data, self.shape(), self.strides())?;
        let mut view =
            Array::assemble(self.memory.clone(), self.desc.data, dtype, self.shape(), self.strides());
        self.carry_grad(&mut view, |grad| grad.view_as(dtype))?;
        Ok(view)
    }

    /// The array repeated along new leading dimensions and dimensions of extent one, without a copy: the
    /// repeated dimensions have stride zero.
    ///
    /// # Errors
    /// [`RuntimeError::ShapeMismatch`] if it does not fit, and those of a bad shape.
    pub fn expand(&self, shape: &[i64]) -> Result<Array, RuntimeError> {
        let (dims, _) = checked_size(self.dtype, shape)?;
        let mismatch = || RuntimeError::ShapeMismatch {
            operation: "expand",
            left: self.shape().to_vec(),
            right: dims.clone(),
        };
        let lead = dims.len().checked_sub(self.ndim()).ok_or_else(mismatch)?;
        let mut strides = [0; MAX_DIMS];
        for (dim, (&extent, &stride)) in self.shape().iter().zip(self.strides()).enumerate() {
            if extent == dims[lead + dim] {
                strides[lead + dim] = stride;
            } else if extent != 1 {
                return Err(mismatch());
            }
        }
        let strides = &strides[..dims.len()];
        let mut view = Array::assemble(self.memory.clone(), self.desc.data, self.dtype, &dims, strides);
        self.carry_grad(&mut view, |grad| grad.expand(shape))?;
        Ok(view)
    }

    pub(super) fn need_contiguous(&self, operation: &'static str) -> Result<(), RuntimeError> {
        if self.is_contiguous() {
            return Ok(());
        }
        let (shape, strides) = (self.shape().to_vec(), self.strides().to_vec());
        Err(RuntimeError::NotContiguous { operation, shape, strides })
    }

    fn carry_grad(
        &self,
        view: &mut Array,
        make: impl FnOnce(&Array) -> Result<Array, RuntimeError>,
    ) -> Result<(), RuntimeError> {
        match &self.grad {
            Some(grad) => view.set_grad(Some(make(grad)?)),
            None => Ok(()),
        }
    }
}
