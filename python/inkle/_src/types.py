"""The names of types: tuples of them, and questions about them."""

from typing import Any, get_args, get_origin  # noqa: F401 - programs import `Any` from there

import numpy as _np

import inkle as _inkle
from inkle import (
    bool,
    dtype_from_numpy,
    dtype_to_numpy,
    named_type,
)
from inkle import ref as Reference  # noqa: F401 - the name it has there
from inkle import types as _types
from inkle._native import array_kind as _array_kind
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


class _Base(type):
    """A class whose instances are the scalars of some types."""

    def __instancecheck__(cls, instance):
        return type(instance) in cls._types

    def __subclasscheck__(cls, subclass):
        return subclass is cls or subclass in cls._types


class int_base(metaclass=_Base):
    """The base of the integer types, to ``isinstance`` and ``issubclass``."""

    _types = int_types


class float_base(metaclass=_Base):
    """The base of the floating-point types, to ``isinstance`` and ``issubclass``."""

    _types = float_types


class scalar_base(metaclass=_Base):
    """The base of all scalar types but ``bool``, to ``isinstance`` and ``issubclass``."""

    _types = scalar_types


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


ARRAY_TYPE_REGULAR, ARRAY_TYPE_INDEXED, ARRAY_TYPE_FABRIC, ARRAY_TYPE_FABRIC_INDEXED = range(4)

_CODES = {
    "bool": "b",
    **{f"{kind}{bits}": f"{kind[0]}{bits // 8}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    **{"float16": "f2", "bfloat16": "bf2", "float32": "f4", "float64": "f8"},
}


_ARRAY_KINDS = ("array", "indexedarray", "fabricarray", "indexedfabricarray")


def array_type_id(a):
    """Which of the ``ARRAY_TYPE_`` kinds an array or its annotation is."""
    return _ARRAY_KINDS.index(_array_kind(a))


def matches_array_class(a, kind):
    """Whether an array or its annotation is of a class of arrays: ``array``, ``indexedarray``..."""
    return _array_kind(a) == kind.__name__


def concrete_array_type(a):
    """The class of arrays that an array or its annotation belongs to; of other things their own class."""
    kind = _array_kind(a)
    return type(a) if kind is None else getattr(_inkle, kind)


def get_type_code(t):
    """A short name of a type: ``f4``, ``v3f4``, ``m22f8``, ``a1v3f4``."""
    kind = _types.type_kind(t)
    if kind == "array":
        letters = ("a", "ia", "fa", "ifa")[array_type_id(t)]
        return f"{letters}{t.ndim}{get_type_code(t.dtype)}"
    if kind == "scalar":
        return _CODES[_types.type_to_warp(t).__name__]
    if kind in ("vector", "matrix", "quaternion", "transformation"):
        scalar = get_type_code(t._wp_scalar_type_)
        if kind == "vector":
            return f"v{t._length_}{scalar}"
        if kind == "matrix":
            rows, columns = t._shape_
            return f"m{rows}{columns}{scalar}"
        return f"{'q' if kind == 'quaternion' else 't'}{scalar}"
    if kind == "struct":
        return f"struct:{t.__module__}.{t.__qualname__}"
    if t is Any:
        return "?"
    if t is str:
        return "str"
    if get_origin(t) is tuple:
        items = ["?" if item is Ellipsis else get_type_code(item) for item in get_args(t)]
        return f"tpl{len(items)}{''.join(items)}"
    raise TypeError(f"{t!r} has no type code")


def _size(item):
    """The number in ``Literal[3]``; other things are themselves."""
    return item.__args__[0] if hasattr(item, "__args__") else item


class Vector:
    """``Vector[dtype, Literal[3]]``: a class of vectors."""

    def __class_getitem__(cls, item):
        dtype, length = item
        return _types.vector(_size(length), dtype)


class Matrix:
    """``Matrix[dtype, Literal[2], Literal[3]]``: a class of matrices."""

    def __class_getitem__(cls, item):
        dtype, rows, columns = item
        return _types.matrix((_size(rows), _size(columns)), dtype)


class Quaternion:
    """``Quaternion[dtype]``: a class of quaternions."""

    def __class_getitem__(cls, dtype):
        return _types.quaternion(dtype)


class Transformation:
    """``Transformation[dtype]``: a class of transforms."""

    def __class_getitem__(cls, dtype):
        return _types.transformation(dtype)


def __getattr__(name):
    import inkle

    found = inkle.named_type(name)
    if found is None and name in ("Float", "Int", "Scalar"):
        found = getattr(inkle, name)
    return _absent(name) if found is None else found
