"""The names of types: tuples of them, and questions about them."""

import numpy as _np

from inkle import (
    bool,
    dtype_from_numpy,
    dtype_to_numpy,
    named_type,
)
from inkle import types as _types
from inkle._planned import absent
from inkle.types import *  # noqa: F403 - the public names are the ones meant

_absent = absent("inkle._src.types")

int_types = tuple(named_type(n) for n in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"))
float_types = tuple(named_type(n) for n in ("float16", "bfloat16", "float32", "float64"))
scalar_types = int_types + float_types
scalar_and_bool_types = (*scalar_types, bool)
non_atomic_types = int_types[:4]

_FLOATS = ("h", "f", "d")
_LETTERS = ("b", "ub", "s", "us", "i", "ui", "l", "ul", *_FLOATS)

vector_types = (
    *(named_type(f"vec{n}{s}") for n in (2, 3, 4) for s in _LETTERS),
    *(named_type(f"mat{n}{n}{s}") for n in (2, 3, 4) for s in _FLOATS),
    *(named_type(f"{n}{s}") for n in ("quat", "transform", "spatial_vector", "spatial_matrix") for s in _FLOATS),
)

np_dtype_to_warp_type = {
    key: dtype_from_numpy(scalar)
    for scalar in (
        _np.bool_,
        _np.int8,
        _np.uint8,
        _np.int16,
        _np.uint16,
        _np.int32,
        _np.int64,
        _np.uint32,
        _np.uint64,
        _np.float16,
        _np.float32,
        _np.float64,
    )
    for key in (scalar, _np.dtype(scalar))
}

warp_type_to_np_dtype = {t: dtype_to_numpy(t) for t in scalar_and_bool_types}


def type_scalar_type(dtype):
    """The scalar type of the components of a type; a scalar type is its own."""
    return getattr(dtype, "_wp_scalar_type_", dtype)


def type_length(dtype):
    """The number of components of a type."""
    return _types.type_size(dtype)


def strides_from_shape(shape, dtype):
    """The strides, in bytes, of an array without gaps."""
    strides, step = [], _types.type_size_in_bytes(dtype)
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def __getattr__(name):
    import inkle

    found = inkle.named_type(name)
    if found is None and name in ("Float", "Int", "Scalar"):
        found = getattr(inkle, name)
    return _absent(name) if found is None else found
