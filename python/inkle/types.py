"""Types: classes of vectors, matrices, quaternions and transforms of any size, and questions about types."""

from inkle._native import (
    array,
    array_kind,
    matrix,
    quaternion,
    scalar_family,
    transformation,
    type_kind,
    type_repr,
    type_size,
    type_size_in_bytes,
    type_to_warp,
    types_equal,
    vector,
)

__all__ = [
    "array",
    "is_array",
    "is_composite",
    "is_float",
    "is_int",
    "is_matrix",
    "is_quaternion",
    "is_scalar",
    "is_struct",
    "is_transformation",
    "is_value",
    "is_vector",
    "matrix",
    "quaternion",
    "transformation",
    "type_is_array",
    "type_is_composite",
    "type_is_float",
    "type_is_int",
    "type_is_matrix",
    "type_is_quaternion",
    "type_is_scalar",
    "type_is_struct",
    "type_is_transformation",
    "type_is_value",
    "type_is_vector",
    "type_repr",
    "type_size",
    "type_size_in_bytes",
    "type_to_warp",
    "types_equal",
    "vector",
]

_COMPOSITE = ("vector", "matrix", "quaternion", "transformation")


def type_is_float(t):
    """Whether ``t`` is a floating-point scalar type."""
    return scalar_family(t) == "float"


def type_is_int(t):
    """Whether ``t`` is an integer scalar type; ``bool`` is not."""
    return scalar_family(t) == "int"


def type_is_scalar(t):
    """Whether ``t`` is a scalar type."""
    return type_kind(t) == "scalar"


def type_is_vector(t):
    """Whether ``t`` is a vector type."""
    return type_kind(t) == "vector"


def type_is_matrix(t):
    """Whether ``t`` is a matrix type."""
    return type_kind(t) == "matrix"


def type_is_quaternion(t):
    """Whether ``t`` is a quaternion type."""
    return type_kind(t) == "quaternion"


def type_is_transformation(t):
    """Whether ``t`` is a transform type."""
    return type_kind(t) == "transformation"


def type_is_composite(t):
    """Whether ``t`` is a vector, matrix, quaternion or transform type."""
    return type_kind(t) in _COMPOSITE


def type_is_value(t):
    """Whether values of ``t`` are passed to kernels by value, not as arrays or structs."""
    return type_kind(t) in ("scalar", *_COMPOSITE)


def type_is_struct(t):
    """Whether ``t`` is a struct."""
    return type_kind(t) == "struct"


def type_is_array(t):
    """Whether ``t`` is an array type."""
    return type_kind(t) == "array"


def is_float(x):
    """Whether ``x`` is a floating-point number."""
    return type_is_float(type(x))


def is_int(x):
    """Whether ``x`` is an integer."""
    return type_is_int(type(x))


def is_scalar(x):
    """Whether ``x`` is a number."""
    return type_is_scalar(type(x))


def is_vector(x):
    """Whether ``x`` is a vector."""
    return type_is_vector(type(x))


def is_matrix(x):
    """Whether ``x`` is a matrix."""
    return type_is_matrix(type(x))


def is_quaternion(x):
    """Whether ``x`` is a quaternion."""
    return type_is_quaternion(type(x))


def is_transformation(x):
    """Whether ``x`` is a transform."""
    return type_is_transformation(type(x))


def is_composite(x):
    """Whether ``x`` is a vector, matrix, quaternion or transform."""
    return type_is_composite(type(x))


def is_value(x):
    """Whether ``x`` is passed to kernels by value."""
    return type_is_value(type(x))


def is_struct(x):
    """Whether ``x`` is an instance of a struct."""
    return type_is_struct(type(x))


def is_array(x):
    """Whether ``x`` is an array."""
    return array_kind(x) is not None
