//! Arithmetic between values outside kernels, with the rules kernels have.

use inkle_ir::{Constant, Scalar, Type};
use pyo3::prelude::*;

use crate::composite::{Components, Value};
use crate::error::{argument_error, class_name};
use crate::number::{self, Arithmetic};
use crate::scalar::{joins, operand};

/// `value op other`, or `other op value` when swapped; `None` when `other` is nothing that values can meet.
///
/// # Errors
/// When both are values but their types do not go together.
pub fn arithmetic(
    value: &Bound<'_, Value>,
    other: &Bound<'_, PyAny>,
    op: Arithmetic,
    swapped: bool,
) -> PyResult<Option<(Type, Components)>> {
    let py = value.py();
    let (ty, own) = (value.get().ty(), value.get().components(py));
    let scalar = value.get().scalar();
    if let Ok(other_value) = other.cast::<Value>() {
        let (other_ty, theirs) = (other_value.get().ty(), other_value.get().components(py));
        let result = if swapped {
            between(op, other_ty, &theirs, ty, &own)?
        } else {
            between(op, ty, &own, other_ty, &theirs)?
        };
        return result.map(Some).ok_or_else(|| mismatch(value, op, &other_ty.python_name(), swapped));
    }
    let scales = match op {
        Arithmetic::Mul | Arithmetic::Div => true,
        Arithmetic::Mod => !swapped && matches!(ty, Type::Vec { .. }),
        Arithmetic::Add | Arithmetic::Sub => false,
    };
    // Numbers of numpy scale as Python's do; in a sum numpy adds one to each component, into an array of its own.
    let given = operand(other).or_else(|| scales.then(|| number::of_numpy(other)).flatten());
    let Some((number, number_ty)) = given else {
        if other.is_instance_of::<pyo3::types::PyTuple>() || other.is_instance_of::<pyo3::types::PyList>() {
            return Err(mismatch(value, op, &class_name(other), swapped));
        }
        return Ok(None);
    };
    if !scales || !joins(scalar, number, number_ty) {
        let name = number_ty.map_or_else(|| class_name(other), |s| s.python_name().to_owned());
        return Err(mismatch(value, op, &name, swapped));
    }
    let each = |c: &Constant| {
        let (a, b) = if swapped { (number, *c) } else { (*c, number) };
        op.apply(scalar, a, b)
    };
    Ok(Some((ty, own.iter().map(each).collect::<PyResult<_>>()?)))
}

fn mismatch(value: &Bound<'_, Value>, op: Arithmetic, other: &str, swapped: bool) -> PyErr {
    let own = value.get().ty().python_name();
    let (a, b) = if swapped { (other, own.as_str()) } else { (own.as_str(), other) };
    argument_error(value.py(), format!("`{a} {} {b}` is not defined", op.symbol()))
}

/// The result of an operation between two values; `None` when it is not defined for their types.
fn between(
    op: Arithmetic,
    a_ty: Type,
    a: &[Constant],
    b_ty: Type,
    b: &[Constant],
) -> PyResult<Option<(Type, Components)>> {
    let (Some(scalar), Some(b_scalar)) = (a_ty.scalar(), b_ty.scalar()) else { return Ok(None) };
    if scalar != b_scalar {
        return Ok(None);
    }
    let elementwise = || -> PyResult<Option<(Type, Components)>> {
        let each = a.iter().zip(b).map(|(a, b)| op.apply(scalar, *a, *b));
        Ok(Some((a_ty, each.collect::<PyResult<_>>()?)))
    };
    match (op, a_ty, b_ty) {
        (Arithmetic::Add | Arithmetic::Sub, _, _) if a_ty == b_ty => elementwise(),
        (Arithmetic::Mod, Type::Vec { .. }, _) if a_ty == b_ty => elementwise(),
        (Arithmetic::Mul, Type::Mat { rows, cols, .. }, Type::Vec { len, .. }) if cols == len => {
            Ok(Some((Type::vec(rows, scalar), product(scalar, (rows, cols), a, (len, 1), b)?)))
        }
        (Arithmetic::Mul, Type::Vec { len, .. }, Type::Mat { rows, cols, .. }) if len == rows => {
            Ok(Some((Type::vec(cols, scalar), product(scalar, (1, len), a, (rows, cols), b)?)))
        }
        (Arithmetic::Mul, Type::Mat { rows, cols, .. }, Type::Mat { rows: b_rows, cols: b_cols, .. })
            if cols == b_rows =>
        {
            Ok(Some((
                Type::mat(rows, b_cols, scalar),
                product(scalar, (rows, cols), a, (b_rows, b_cols), b)?,
            )))
        }
        (Arithmetic::Mul, Type::Quat(_), Type::Quat(_)) => {
            Ok(Some((a_ty, quaternion_product(scalar, a, b)?)))
        }
        (Arithmetic::Mul, Type::Transform(_), Type::Transform(_)) => Ok(Some((a_ty, compose(scalar, a, b)?))),
        _ => Ok(None),
    }
}

/// A sum of products `a * b`, negated where the sign is.
fn dot(scalar: Scalar, terms: &[(bool, Constant, Constant)]) -> PyResult<Constant> {
    let mut sum: Option<Constant> = None;
    for (negative, a, b) in terms {
        let product = Arithmetic::Mul.apply(scalar, *a, *b)?;
        sum = Some(match (sum, negative) {
            (None, false) => product,
            (None, true) => {
                Arithmetic::Sub.apply(scalar, number::round(scalar, Constant::Int(0)), product)?
            }
            (Some(sum), false) => Arithmetic::Add.apply(scalar, sum, product)?,
            (Some(sum), true) => Arithmetic::Sub.apply(scalar, sum, product)?,
        });
    }
    Ok(sum.unwrap_or(Constant::Int(0)))
}

fn product(
    scalar: Scalar,
    (rows, inner): (u32, u32),
    a: &[Constant],
    (_, cols): (u32, u32),
    b: &[Constant],
) -> PyResult<Components> {
    let mut out = Components::new();
    for row in 0..rows {
        for col in 0..cols {
            let terms: Vec<_> = (0..inner)
                .map(|k| (false, a[(row * inner + k) as usize], b[(k * cols + col) as usize]))
                .collect();
            out.push(dot(scalar, &terms)?);
        }
    }
    Ok(out)
}

fn quaternion_product(scalar: Scalar, a: &[Constant], b: &[Constant]) -> PyResult<Components> {
    let [x, y, z, w] = [0, 1, 2, 3];
    let rows: [[(bool, usize, usize); 4]; 4] = [
        [(false, w, x), (false, x, w), (false, y, z), (true, z, y)],
        [(false, w, y), (false, y, w), (false, z, x), (true, x, z)],
        [(false, w, z), (false, z, w), (false, x, y), (true, y, x)],
        [(false, w, w), (true, x, x), (true, y, y), (true, z, z)],
    ];
    rows.iter().map(|row| dot(scalar, &row.map(|(sign, i, j)| (sign, a[i], b[j])))).collect()
}

/// The transform that applies `b`, then `a`.
fn compose(scalar: Scalar, a: &[Constant], b: &[Constant]) -> PyResult<Components> {
    let rotation = &a[3..];
    let mul = |x, y| Arithmetic::Mul.apply(scalar, x, y);
    let add = |x, y| Arithmetic::Add.apply(scalar, x, y);
    let number = |x| number::round(scalar, Constant::Float(x));
    // As kernels rotate, so that rotations that are not of unit length give the same too.
    let (u, w, v) = (&rotation[..3], rotation[3], &b[..3]);
    let two_w = mul(number(2.0), w)?;
    let along =
        mul(dot(scalar, &[(false, u[0], v[0]), (false, u[1], v[1]), (false, u[2], v[2])])?, number(2.0))?;
    let straight = Arithmetic::Sub.apply(scalar, mul(two_w, w)?, number(1.0))?;
    let mut rotated = Components::new();
    for i in 0..3 {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let cross = dot(scalar, &[(false, u[j], v[k]), (true, u[k], v[j])])?;
        rotated.push(add(add(mul(v[i], straight)?, mul(u[i], along)?)?, mul(cross, two_w)?)?);
    }
    let mut out = Components::new();
    for (own, moved) in a[..3].iter().zip(rotated) {
        out.push(Arithmetic::Add.apply(scalar, *own, moved)?);
    }
    out.extend(quaternion_product(scalar, rotation, &b[3..])?);
    Ok(out)
}
