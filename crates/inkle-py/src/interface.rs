//! How types and arrays look to numpy and through the array interfaces.

use inkle_ir::{ArrayDesc, MAX_DIMS, Scalar, Type};

/// The array-interface type string of a scalar. Numpy has no bfloat16; its bits are seen as `uint16`.
pub fn typestr(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Bool => "|b1",
        Scalar::I8 => "|i1",
        Scalar::I16 => "<i2",
        Scalar::I32 => "<i4",
        Scalar::I64 => "<i8",
        Scalar::U8 => "|u1",
        Scalar::U16 | Scalar::BF16 => "<u2",
        Scalar::U32 => "<u4",
        Scalar::U64 => "<u8",
        Scalar::F16 => "<f2",
        Scalar::F32 => "<f4",
        Scalar::F64 => "<f8",
    }
}

/// The scalar of a type string; `None` for what arrays cannot hold, foreign byte orders included.
pub fn scalar_of_typestr(text: &str) -> Option<Scalar> {
    let (order, kind) = text.split_at_checked(1)?;
    if order == ">" {
        return None;
    }
    Some(match kind {
        "b1" => Scalar::Bool,
        "i1" => Scalar::I8,
        "i2" => Scalar::I16,
        "i4" => Scalar::I32,
        "i8" => Scalar::I64,
        "u1" => Scalar::U8,
        "u2" => Scalar::U16,
        "u4" => Scalar::U32,
        "u8" => Scalar::U64,
        "f2" => Scalar::F16,
        "f4" => Scalar::F32,
        "f8" => Scalar::F64,
        _ => return None,
    })
}

/// A field's numpy format: `<f4`, `3<f4`, `(2, 2)<f4`.
pub fn format(ty: Type) -> String {
    let text = ty.scalar().map_or("V", typestr);
    match ty {
        Type::Scalar(_) => text.to_owned(),
        Type::Mat { rows, cols, .. } => format!("({rows}, {cols}){text}"),
        other => format!("{}{text}", other.component_count().unwrap_or(1)),
    }
}

/// The dimensions a value of the type adds to an array of it.
pub fn inner_shape(ty: Type) -> Vec<i64> {
    match ty {
        Type::Mat { rows, cols, .. } => vec![rows.into(), cols.into()],
        Type::Vec { .. } | Type::Quat(_) | Type::Transform(_) => {
            vec![ty.component_count().unwrap_or(1).into()]
        }
        _ => Vec::new(),
    }
}

/// The distances that go with [`inner_shape`], bytes.
pub fn inner_strides(ty: Type) -> Vec<i64> {
    let size = ty.scalar().map_or(0, |s| i64::from(s.size()));
    match ty {
        Type::Mat { cols, .. } => vec![size * i64::from(cols), size],
        Type::Vec { .. } | Type::Quat(_) | Type::Transform(_) => vec![size],
        _ => Vec::new(),
    }
}

/// Stores a descriptor as generated code reads it. `to` has room for it.
#[inline]
pub fn write_desc(desc: &ArrayDesc, to: &mut [u8]) {
    const SIZE: usize = size_of::<ArrayDesc>();
    // Fields without padding between them: every byte of a descriptor is initialised.
    const _: () = assert!(SIZE == 8 + 8 + 4 * MAX_DIMS + 8 * MAX_DIMS);
    // SAFETY: `desc` is a live value of `SIZE` initialised bytes, as asserted above.
    let bytes = unsafe { std::slice::from_raw_parts(std::ptr::from_ref(desc).cast::<u8>(), SIZE) };
    to[..SIZE].copy_from_slice(bytes);
}
