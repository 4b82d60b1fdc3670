//! Which components of a vector or matrix an index means.

use inkle_ir::Type;
use pyo3::exceptions::{PyIndexError, PyKeyError};
use pyo3::prelude::*;
use pyo3::types::{PySlice, PyTuple};
use smallvec::SmallVec;

/// Components picked by an index.
pub enum Selection {
    /// A single component.
    One(u32),
    /// Several, as a value of the type, row-major.
    Many(Type, SmallVec<[u32; 16]>),
}

/// One axis of an index.
struct Axis {
    picked: SmallVec<[u32; 16]>,
    /// An integer: the axis is not in the result.
    single: bool,
}

/// The components along an axis; `kinds` says what keys there are, for messages.
fn axis(key: &Bound<'_, PyAny>, length: u32, kinds: &str) -> PyResult<Axis> {
    if let Ok(slice) = key.cast::<PySlice>() {
        let range = slice.indices(length as isize)?;
        let picked: SmallVec<[u32; 16]> =
            (0..range.slicelength as isize).map(|i| (range.start + i * range.step) as u32).collect();
        return Ok(Axis { picked, single: false });
    }
    let Ok(index) = key.extract::<i64>() else {
        return Err(PyKeyError::new_err(format!("Invalid key {}, expected {kinds}", key.repr()?)));
    };
    let wrapped = if index < 0 { index + i64::from(length) } else { index };
    if !(0..i64::from(length)).contains(&wrapped) {
        return Err(PyIndexError::new_err(format!("index {index} is out of range for {length} components")));
    }
    Ok(Axis { picked: SmallVec::from_slice(&[wrapped as u32]), single: true })
}

/// The components of a value of `ty` that `key` means.
///
/// # Errors
/// `IndexError` out of range, `KeyError` for what is no index.
pub fn select(ty: Type, key: &Bound<'_, PyAny>) -> PyResult<Selection> {
    let scalar = ty.scalar().expect("values are made of scalars");
    let Type::Mat { rows, cols, .. } = ty else {
        let picked = axis(key, ty.component_count().unwrap_or(0), "int or slice")?;
        return Ok(if picked.single {
            Selection::One(picked.picked[0])
        } else {
            Selection::Many(Type::vec(picked.picked.len() as u32, scalar), picked.picked)
        });
    };
    let axis = |key: &Bound<'_, PyAny>, length| axis(key, length, "int or pair of ints, or slices");
    let (row, col) = match key.cast::<PyTuple>() {
        Ok(keys) if keys.len() == 2 => {
            (axis(&keys.get_item(0)?, rows)?, Some(axis(&keys.get_item(1)?, cols)?))
        }
        Ok(keys) if keys.len() == 1 => (axis(&keys.get_item(0)?, rows)?, None),
        Ok(keys) => {
            let message = format!("Invalid key, expected one or two indices, got {}", keys.len());
            return Err(PyKeyError::new_err(message));
        }
        Err(_) => (axis(key, rows)?, None),
    };
    let col = col.unwrap_or_else(|| Axis { picked: (0..cols).collect(), single: false });
    let picked: SmallVec<[u32; 16]> =
        row.picked.iter().flat_map(|r| col.picked.iter().map(move |c| r * cols + c)).collect();
    Ok(match (row.single, col.single) {
        (true, true) => Selection::One(picked[0]),
        // An empty part has no shape of its own to keep.
        (false, false) if picked.is_empty() => Selection::Many(Type::mat(0, 0, scalar), picked),
        (false, false) => {
            Selection::Many(Type::mat(row.picked.len() as u32, col.picked.len() as u32, scalar), picked)
        }
        _ => Selection::Many(Type::vec(picked.len() as u32, scalar), picked),
    })
}
