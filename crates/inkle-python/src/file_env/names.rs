//! What the names of inkle's module, of `numpy`, `math` and Python itself mean in kernels.

use inkle_frontend::builtins;
use inkle_frontend::env::{Binding, ConstValue, ObjectKey};
use inkle_ir::{ArrayKind, Scalar, Type};

/// What the array types are called where only values and functions belong.
pub(super) const ARRAY_TYPE: &str = "an array type";

const INKLE: ObjectKey = ObjectKey(0);
const INKLE_TYPES: ObjectKey = ObjectKey(1);
const NUMPY: ObjectKey = ObjectKey(2);
const MATH: ObjectKey = ObjectKey(3);

/// A module by its import path.
pub(super) fn module(path: &str) -> Binding {
    Binding::Object(match path {
        "inkle" | "warp" => INKLE,
        "inkle.types" | "warp.types" => INKLE_TYPES,
        "numpy" => NUMPY,
        "math" => MATH,
        _ => return Binding::Unsupported(format!("module `{path}`")),
    })
}

/// What a module is, for messages.
pub(super) fn describe(object: ObjectKey) -> String {
    let name = match object {
        INKLE => "inkle",
        INKLE_TYPES => "inkle.types",
        NUMPY => "numpy",
        _ => "math",
    };
    format!("module `{name}`")
}

/// `module.name`; `in_library` says whether a built-in is written in the kernel language.
pub(super) fn attribute(object: ObjectKey, name: &str, in_library: impl Fn(&str) -> bool) -> Option<Binding> {
    let builtin = |name: &str| {
        let known = !name.starts_with('_') && (builtins::lookup(name).is_some() || in_library(name));
        known.then(|| Binding::Builtin(name.to_owned()))
    };
    if object == NUMPY || object == MATH {
        let constant = matches!(name, "pi" | "e" | "tau" | "inf" | "nan").then(|| number(name)).flatten();
        return constant.or_else(|| builtin(name));
    }
    if let Some(ty) = type_by_name(name) {
        return Some(Binding::Type(ty));
    }
    // `array` is also a built-in, which makes the array at an address.
    if array_type(name).is_some() && name != "array" {
        return Some(Binding::Unsupported(ARRAY_TYPE.into()));
    }
    if let Some(constant) = number(name) {
        return Some(constant);
    }
    match name {
        "types" | "math" => Some(Binding::Object(if name == "types" { INKLE_TYPES } else { INKLE })),
        "kernel" | "func" | "struct" => Some(Binding::Unsupported(format!("the decorator `{name}`"))),
        "constant" => Some(Binding::Unsupported("a function for the top level".into())),
        _ => annotation_only(name).or_else(|| builtin(name)),
    }
}

/// The built-in functions and types of Python that kernels know.
pub(super) fn python_builtin(name: &str) -> Option<Binding> {
    Some(match name {
        "int" => Binding::Type(Type::I32),
        "float" => Binding::Type(Type::F32),
        "bool" => Binding::Type(Type::BOOL),
        "range" | "reversed" | "len" | "min" | "max" | "abs" | "round" | "print" | "isinstance" | "type"
        | "tuple" | "pow" => Binding::Builtin(name.to_owned()),
        "list" | "dict" | "set" | "str" | "sum" | "sorted" | "enumerate" | "zip" | "map" | "filter"
        | "any" | "all" | "object" | "bytes" | "complex" | "divmod" | "input" | "open" | "repr" | "super" => {
            Binding::Unsupported("a Python built-in".into())
        }
        _ => return None,
    })
}

/// Names that stand in annotations only.
pub(super) fn annotation_only(name: &str) -> Option<Binding> {
    matches!(name, "Any" | "Callable" | "Scalar" | "Float" | "Int" | "Function")
        .then(|| Binding::Unsupported("a type variable".into()))
}

/// Kind and number of dimensions of an array type's name.
pub(super) fn array_type(name: &str) -> Option<(ArrayKind, u32)> {
    let (kind, rest) = match name.strip_prefix("indexedarray") {
        Some(rest) => (ArrayKind::Indexed, rest),
        None => (ArrayKind::Strided, name.strip_prefix("array")?),
    };
    let ndim = match rest {
        "" | "1d" => 1,
        "2d" => 2,
        "3d" => 3,
        "4d" => 4,
        _ => return None,
    };
    Some((kind, ndim))
}

fn number(name: &str) -> Option<Binding> {
    use std::f64::consts;
    Some(Binding::Const(ConstValue::Float(match name.to_ascii_lowercase().as_str() {
        "pi" => consts::PI,
        "half_pi" => consts::FRAC_PI_2,
        "tau" => consts::TAU,
        "e" => consts::E,
        "log2e" => consts::LOG2_E,
        "log10e" => consts::LOG10_E,
        "ln2" => consts::LN_2,
        "ln10" => consts::LN_10,
        "phi" => 1.618_033_988_749_895,
        "inf" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => return None,
    })))
}

/// A type of inkle's module: `float64`, `vec3d`, `mat33`, `quat` ...
fn type_by_name(name: &str) -> Option<Type> {
    if let Some(scalar) = Scalar::ALL.into_iter().find(|s| s.python_name() == name) {
        return Some(Type::Scalar(scalar));
    }
    match name {
        "int" => return Some(Type::I32),
        "float" => return Some(Type::F32),
        _ => {}
    }
    let float = |suffix: &str| match suffix {
        "" | "f" => Some(Scalar::F32),
        "h" => Some(Scalar::F16),
        "d" => Some(Scalar::F64),
        _ => None,
    };
    let any = |suffix: &str| match suffix {
        "b" => Some(Scalar::I8),
        "ub" => Some(Scalar::U8),
        "s" => Some(Scalar::I16),
        "us" => Some(Scalar::U16),
        "i" => Some(Scalar::I32),
        "ui" => Some(Scalar::U32),
        "l" => Some(Scalar::I64),
        "ul" => Some(Scalar::U64),
        other => float(other),
    };
    if let Some(rest) = name.strip_prefix("spatial_vector") {
        return Some(Type::vec(6, float(rest)?));
    }
    if let Some(rest) = name.strip_prefix("spatial_matrix") {
        return Some(Type::mat(6, 6, float(rest)?));
    }
    if let Some(rest) = name.strip_prefix("quat") {
        return Some(Type::Quat(float(rest)?));
    }
    if let Some(rest) = name.strip_prefix("transform") {
        return Some(Type::Transform(float(rest)?));
    }
    let size = |c: char| c.to_digit(10).filter(|n| (2..=4).contains(n));
    if let Some(rest) = name.strip_prefix("vec") {
        let mut chars = rest.chars();
        return Some(Type::vec(size(chars.next()?)?, any(chars.as_str())?));
    }
    let rest = name.strip_prefix("mat")?;
    let mut chars = rest.chars();
    let (rows, cols) = (size(chars.next()?)?, size(chars.next()?)?);
    (rows == cols).then_some(Type::mat(rows, cols, float(chars.as_str())?))
}
