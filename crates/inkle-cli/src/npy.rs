//! Arrays in numpy's files.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use inkle_ir::{Scalar, ScalarKind, Type};
use npyz::{DType, NpyHeader, Order, WriteOptions, WriterBuilder};

use crate::CliError;

/// What numpy has for an array of `shape` with elements of a type: the type of its numbers, and its shape. Vectors,
/// matrices, quaternions and transforms add dimensions; structs, and numbers that numpy lacks, are bytes.
pub(crate) fn described(dtype: Type, shape: &[i32]) -> (String, Vec<u64>) {
    let mut extents: Vec<u64> = shape.iter().map(|&n| u64::from(n.unsigned_abs())).collect();
    match dtype {
        Type::Vec { len, .. } => extents.push(len.into()),
        Type::Mat { rows, cols, .. } => extents.extend([u64::from(rows), u64::from(cols)]),
        Type::Quat(_) => extents.push(4),
        Type::Transform(_) => extents.push(7),
        _ => {}
    }
    let numbers = match dtype.scalar() {
        None | Some(Scalar::BF16) => format!("|V{}", dtype.scalar().map_or(dtype.size(), Scalar::size)),
        Some(scalar) => {
            let kind = match scalar.kind() {
                ScalarKind::Bool => 'b',
                ScalarKind::Signed => 'i',
                ScalarKind::Unsigned => 'u',
                ScalarKind::Float => 'f',
            };
            format!("{}{kind}{}", if scalar.size() == 1 { '|' } else { '<' }, scalar.size())
        }
    };
    (numbers, extents)
}

/// The bytes of the array in a file, row-major.
///
/// # Errors
/// [`CliError::Read`], also if the array is not the one that is [`described`].
pub(crate) fn read(path: &Path, dtype: Type, shape: &[i32]) -> Result<Vec<u8>, CliError> {
    let fail = |message: String| CliError::Read { path: path.to_owned(), message };
    let mut file = BufReader::new(File::open(path).map_err(|error| fail(error.to_string()))?);
    let header = NpyHeader::from_reader(&mut file)
        .map_err(|error| fail(format!("no array that numpy.save wrote: {error}")))?;
    let (numbers, extents) = described(dtype, shape);
    let found = match header.dtype() {
        DType::Plain(plain) => plain.to_string(),
        other => other.descr(),
    };
    if found != numbers || header.shape() != extents {
        return Err(fail(format!(
            "has numbers of type {found} and shape {:?}, the parameter is {numbers} and {extents:?}",
            header.shape()
        )));
    }
    if header.order() == Order::Fortran && extents.len() > 1 {
        return Err(fail("is in column-major order; save numpy.ascontiguousarray(...) of it".into()));
    }
    let expected = extents.iter().product::<u64>() * item_bytes(dtype);
    let mut bytes = Vec::new();
    file.take(expected + 1).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    if bytes.len() as u64 != expected {
        let more = if bytes.len() as u64 > expected { "more" } else { "fewer" };
        return Err(fail(format!("has {more} bytes than the {expected} of its shape")));
    }
    Ok(bytes)
}

/// The bytes of what numpy takes for one number.
fn item_bytes(dtype: Type) -> u64 {
    dtype.scalar().map_or(dtype.size(), Scalar::size).into()
}

/// Writes the row-major bytes of an array into a file.
///
/// # Errors
/// [`CliError::Write`].
pub(crate) fn write(path: &Path, dtype: Type, shape: &[i32], bytes: &[u8]) -> Result<(), CliError> {
    let fail = |error| CliError::Write { path: path.to_owned(), error };
    let (numbers, extents) = described(dtype, shape);
    let numbers = numbers.parse().map_err(|error| fail(std::io::Error::other(error)))?;
    let file = WriteOptions::new_header_only()
        .dtype(DType::Plain(numbers))
        .shape(&extents)
        .writer(Vec::new())
        .write_header_only();
    let mut file = file.map_err(fail)?;
    file.extend_from_slice(bytes);
    inkle_graph::bundle::write_file(path, &file).map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkle_ir::Field;

    #[test]
    fn elements_of_several_numbers_add_dimensions() {
        let pair = Type::structure("Pair", vec![Field { name: "a".into(), ty: Type::F64 }]);
        for (dtype, numbers, extents) in [
            (Type::F32, "<f4", vec![2]),
            (Type::BOOL, "|b1", vec![2]),
            (Type::Scalar(Scalar::U8), "|u1", vec![2]),
            (Type::Scalar(Scalar::BF16), "|V2", vec![2]),
            (Type::vec(3, Scalar::F16), "<f2", vec![2, 3]),
            (Type::mat(2, 3, Scalar::F64), "<f8", vec![2, 2, 3]),
            (Type::Quat(Scalar::F32), "<f4", vec![2, 4]),
            (Type::Transform(Scalar::F32), "<f4", vec![2, 7]),
            (pair, "|V8", vec![2]),
        ] {
            assert_eq!(described(dtype, &[2]), (numbers.to_owned(), extents), "{dtype}");
        }
    }

    #[test]
    fn what_is_written_is_read_back_and_misfits_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        let (dtype, bytes) = (Type::vec(2, Scalar::I16), [1u8, 0, 2, 0, 3, 0, 4, 0]);
        write(&path, dtype, &[2], &bytes).unwrap();
        assert_eq!(read(&path, dtype, &[2]).unwrap(), bytes);
        let said = |outcome: Result<Vec<u8>, CliError>| outcome.unwrap_err().to_string();
        let wrong = said(read(&path, dtype, &[1]));
        assert!(wrong.contains("type <i2 and shape [2, 2], the parameter is <i2 and [1, 2]"), "{wrong}");
        assert!(said(read(&path, Type::F32, &[2])).contains("the parameter is <f4 and [2]"));
        std::fs::write(&path, &std::fs::read(&path).unwrap()[..133]).unwrap();
        assert!(said(read(&path, dtype, &[2])).contains("fewer bytes than the 8"));
        std::fs::write(&path, b"no array").unwrap();
        assert!(said(read(&path, dtype, &[2])).contains("numpy.save"));
    }
}
