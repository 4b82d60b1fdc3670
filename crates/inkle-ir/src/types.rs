//! The types of the kernel language.
//!
//! A [`Type`] is `Copy`: composite parts are interned for the life of the process, so equality is cheap and
//! types need no table to be read. The number of distinct types in a program is small and bounded.

use std::collections::HashSet;
use std::fmt;
use std::hash::Hash;
use std::sync::{Mutex, OnceLock};

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    BF16,
    F32,
    F64,
}

/// What family a scalar belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it all")]
pub enum ScalarKind {
    Bool,
    Signed,
    Unsigned,
    Float,
}

impl Scalar {
    /// Every scalar type, in declaration order.
    pub const ALL: [Scalar; 13] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F16,
        Scalar::BF16,
        Scalar::F32,
        Scalar::F64,
    ];

    /// The keyword in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::F16 => "f16",
            Scalar::BF16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// The name Python users write: `int32`, `float32`, `bfloat16` ...
    pub const fn python_name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "int8",
            Scalar::I16 => "int16",
            Scalar::I32 => "int32",
            Scalar::I64 => "int64",
            Scalar::U8 => "uint8",
            Scalar::U16 => "uint16",
            Scalar::U32 => "uint32",
            Scalar::U64 => "uint64",
            Scalar::F16 => "float16",
            Scalar::BF16 => "bfloat16",
            Scalar::F32 => "float32",
            Scalar::F64 => "float64",
        }
    }

    /// The scalar of a text keyword.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Scalar::ALL.into_iter().find(|s| s.name() == name)
    }

    /// Size in memory, bytes. A `bool` takes one byte.
    pub const fn size(self) -> u32 {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::BF16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The family.
    pub const fn kind(self) -> ScalarKind {
        match self {
            Scalar::Bool => ScalarKind::Bool,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => ScalarKind::Signed,
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => ScalarKind::Unsigned,
            Scalar::F16 | Scalar::BF16 | Scalar::F32 | Scalar::F64 => ScalarKind::Float,
        }
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), ScalarKind::Float)
    }

    /// Whether it is an integer type; `bool` is not.
    pub const fn is_int(self) -> bool {
        matches!(self.kind(), ScalarKind::Signed | ScalarKind::Unsigned)
    }

    /// Whether it is a signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), ScalarKind::Signed)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an array reaches its elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayKind {
    /// By strides alone.
    Strided,
    /// Through an index list per dimension (`indexedarray`).
    Indexed,
    /// In buckets that lie anywhere (`fabricarray`); with two dimensions every element is an array of its own length.
    Fabric,
    /// As `Fabric`, through one index list (`indexedfabricarray`).
    IndexedFabric,
}

impl ArrayKind {
    /// Every kind.
    pub const ALL: [ArrayKind; 4] =
        [ArrayKind::Strided, ArrayKind::Indexed, ArrayKind::Fabric, ArrayKind::IndexedFabric];

    /// The name, in Python and in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            ArrayKind::Strided => "array",
            ArrayKind::Indexed => "indexedarray",
            ArrayKind::Fabric => "fabricarray",
            ArrayKind::IndexedFabric => "indexedfabricarray",
        }
    }

    /// The kind of a name.
    pub fn from_name(name: &str) -> Option<ArrayKind> {
        ArrayKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether elements lie in buckets. Such an array has no strides: kernels take it apart with `extract`.
    pub const fn is_fabric(self) -> bool {
        matches!(self, ArrayKind::Fabric | ArrayKind::IndexedFabric)
    }

    /// Whether indices are looked up in lists.
    pub const fn is_indexed(self) -> bool {
        matches!(self, ArrayKind::Indexed | ArrayKind::IndexedFabric)
    }
}

/// An array type: `ndim` is 1 to 4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ArrayType {
    /// The element type: a scalar, vector, matrix, quaternion, transform or struct.
    pub elem: Type,
    /// The number of dimensions.
    pub ndim: u32,
    /// How elements are reached.
    pub kind: ArrayKind,
}

impl ArrayType {
    /// What a Fabric array is made of, as fields of a struct: the table of buckets, the index list, and the number of
    /// elements. `None` for other arrays.
    pub fn fabric_fields(&self) -> Option<&'static StructType> {
        static FIELDS: OnceLock<&'static StructType> = OnceLock::new();
        self.kind.is_fabric().then(|| {
            *FIELDS.get_or_init(|| {
                let field = |name: &str, ty| Field { name: name.into(), ty };
                let fields = vec![
                    field("buckets", Type::array(Type::U64, 2)),
                    field("indices", Type::array(Type::I32, 1)),
                    field("size", Type::I32),
                ];
                Box::leak(Box::new(StructType { name: "fabric".into(), fields }))
            })
        })
    }
}

/// A field of a struct.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The field's type: any value type, or an array.
    pub ty: Type,
}

/// A struct type. Two structs are the same type when name and fields are equal; the front end makes names
/// unique within a module.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct StructType {
    /// The name, unique within a module.
    pub name: String,
    /// The fields in order.
    pub fields: Vec<Field>,
}

impl StructType {
    /// The index of a field by name.
    pub fn field_index(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }
}

/// A type of the kernel language.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A scalar.
    Scalar(Scalar),
    /// A vector of `len` scalars.
    #[expect(missing_docs, reason = "the variant says it")]
    Vec { len: u32, elem: Scalar },
    /// A matrix, row-major.
    #[expect(missing_docs, reason = "the variant says it")]
    Mat { rows: u32, cols: u32, elem: Scalar },
    /// A quaternion `x, y, z, w`.
    Quat(Scalar),
    /// A rigid transform: position (3), then quaternion (4).
    Transform(Scalar),
    /// A struct.
    Struct(&'static StructType),
    /// An array descriptor.
    Array(&'static ArrayType),
    /// The address of a value of the type in memory.
    Ref(&'static Type),
}

fn intern<T: Eq + Hash + Send + Sync>(
    set: &'static OnceLock<Mutex<HashSet<&'static T>>>,
    value: T,
) -> &'static T {
    let mut set = set.get_or_init(Default::default).lock().unwrap_or_else(|e| e.into_inner());
    if let Some(found) = set.get(&value) {
        return found;
    }
    let leaked: &'static T = Box::leak(Box::new(value));
    set.insert(leaked);
    leaked
}

impl Type {
    /// `bool`.
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    /// `i32`: indices, extents, integer literals.
    pub const I32: Type = Type::Scalar(Scalar::I32);
    /// `i64`.
    pub const I64: Type = Type::Scalar(Scalar::I64);
    /// `u64`: handles and addresses.
    pub const U64: Type = Type::Scalar(Scalar::U64);
    /// `f32`: float literals.
    pub const F32: Type = Type::Scalar(Scalar::F32);
    /// `f64`.
    pub const F64: Type = Type::Scalar(Scalar::F64);

    /// A vector type.
    pub const fn vec(len: u32, elem: Scalar) -> Type {
        Type::Vec { len, elem }
    }

    /// A matrix type.
    pub const fn mat(rows: u32, cols: u32, elem: Scalar) -> Type {
        Type::Mat { rows, cols, elem }
    }

    /// A strided array of `elem` with `ndim` dimensions.
    pub fn array(elem: Type, ndim: u32) -> Type {
        Type::array_of_kind(elem, ndim, ArrayKind::Strided)
    }

    /// An array of a given kind.
    pub fn array_of_kind(elem: Type, ndim: u32, kind: ArrayKind) -> Type {
        static ARRAYS: OnceLock<Mutex<HashSet<&'static ArrayType>>> = OnceLock::new();
        Type::Array(intern(&ARRAYS, ArrayType { elem, ndim, kind }))
    }

    /// A struct type.
    pub fn structure(name: impl Into<String>, fields: Vec<Field>) -> Type {
        static STRUCTS: OnceLock<Mutex<HashSet<&'static StructType>>> = OnceLock::new();
        Type::Struct(intern(&STRUCTS, StructType { name: name.into(), fields }))
    }

    /// The address of a value of type `target`.
    pub fn reference(target: Type) -> Type {
        static REFS: OnceLock<Mutex<HashSet<&'static Type>>> = OnceLock::new();
        Type::Ref(intern(&REFS, target))
    }

    /// The element scalar of a scalar, vector, matrix, quaternion or transform.
    pub fn scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) | Type::Quat(s) | Type::Transform(s) => Some(s),
            Type::Vec { elem, .. } | Type::Mat { elem, .. } => Some(elem),
            Type::Struct(_) | Type::Array(_) | Type::Ref(_) => None,
        }
    }

    /// The scalar, if the type is exactly one.
    pub fn as_scalar(self) -> Option<Scalar> {
        match self {
            Type::Scalar(s) => Some(s),
            _ => None,
        }
    }

    /// The number of scalar components of a scalar (1), vector, matrix, quaternion or transform.
    pub fn component_count(self) -> Option<u32> {
        match self {
            Type::Scalar(_) => Some(1),
            Type::Vec { len, .. } => Some(len),
            Type::Mat { rows, cols, .. } => Some(rows * cols),
            Type::Quat(_) => Some(4),
            Type::Transform(_) => Some(7),
            Type::Struct(_) | Type::Array(_) | Type::Ref(_) => None,
        }
    }

    /// The same shape with another element scalar; `None` for structs, arrays and refs.
    pub fn with_scalar(self, scalar: Scalar) -> Option<Type> {
        Some(match self {
            Type::Scalar(_) => Type::Scalar(scalar),
            Type::Vec { len, .. } => Type::vec(len, scalar),
            Type::Mat { rows, cols, .. } => Type::mat(rows, cols, scalar),
            Type::Quat(_) => Type::Quat(scalar),
            Type::Transform(_) => Type::Transform(scalar),
            Type::Struct(_) | Type::Array(_) | Type::Ref(_) => return None,
        })
    }

    /// Whether it is an integer scalar.
    pub fn is_int(self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_int)
    }

    /// Whether it is a floating-point scalar.
    pub fn is_float(self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_float)
    }

    /// The array type, if it is one.
    pub fn as_array(self) -> Option<&'static ArrayType> {
        match self {
            Type::Array(a) => Some(a),
            _ => None,
        }
    }

    /// The struct type, if it is one.
    pub fn as_struct(self) -> Option<&'static StructType> {
        match self {
            Type::Struct(s) => Some(s),
            _ => None,
        }
    }

    /// The fields that `extract` takes out of a struct or a Fabric array.
    pub fn fields(self) -> Option<&'static StructType> {
        match self {
            Type::Struct(s) => Some(s),
            Type::Array(a) => a.fabric_fields(),
            _ => None,
        }
    }

    /// The type a ref points at, if it is one.
    pub fn as_ref_target(self) -> Option<Type> {
        match self {
            Type::Ref(t) => Some(*t),
            _ => None,
        }
    }

    /// The name Python users would write, for messages: `float32`, `vec3f`, `array(dtype=float32, ndim=2)`.
    pub fn python_name(self) -> String {
        fn suffix(s: Scalar) -> &'static str {
            match s {
                Scalar::Bool => "bool",
                Scalar::I8 => "b",
                Scalar::I16 => "s",
                Scalar::I32 => "i",
                Scalar::I64 => "l",
                Scalar::U8 => "ub",
                Scalar::U16 => "us",
                Scalar::U32 => "ui",
                Scalar::U64 => "ul",
                Scalar::F16 => "h",
                Scalar::BF16 => "bf16",
                Scalar::F32 => "f",
                Scalar::F64 => "d",
            }
        }
        match self {
            Type::Scalar(s) => s.python_name().to_owned(),
            Type::Vec { len, elem } if len <= 4 && elem != Scalar::Bool && elem != Scalar::BF16 => {
                format!("vec{len}{}", suffix(elem))
            }
            Type::Vec { len, elem } => format!("vector(length={len}, dtype={})", elem.python_name()),
            Type::Mat { rows, cols, elem }
                if rows == cols && rows <= 4 && elem.is_float() && elem != Scalar::BF16 =>
            {
                format!("mat{rows}{cols}{}", suffix(elem))
            }
            Type::Mat { rows, cols, elem } => {
                format!("matrix(shape=({rows}, {cols}), dtype={})", elem.python_name())
            }
            Type::Quat(s) => format!("quat{}", suffix(s)),
            Type::Transform(s) => format!("transform{}", suffix(s)),
            Type::Struct(s) => s.name.clone(),
            Type::Array(a) => {
                format!("{}(dtype={}, ndim={})", a.kind.name(), a.elem.python_name(), a.ndim)
            }
            Type::Ref(t) => format!("ref({})", t.python_name()),
        }
    }
}

/// The text form: `f32`, `vec<3, f32>`, `mat<3x3, f32>`, `quat<f32>`, `transform<f32>`, `struct Name`,
/// `array<f32, 2>`, `indexedarray<f32, 1>`, `fabricarray<f32, 1>`, `ref<f32>`.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Type::Scalar(s) => s.fmt(f),
            Type::Vec { len, elem } => write!(f, "vec<{len}, {elem}>"),
            Type::Mat { rows, cols, elem } => write!(f, "mat<{rows}x{cols}, {elem}>"),
            Type::Quat(s) => write!(f, "quat<{s}>"),
            Type::Transform(s) => write!(f, "transform<{s}>"),
            Type::Struct(s) => write!(f, "struct {}", s.name),
            Type::Array(a) => write!(f, "{}<{}, {}>", a.kind.name(), a.elem, a.ndim),
            Type::Ref(t) => write!(f, "ref<{t}>"),
        }
    }
}
