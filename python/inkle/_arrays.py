"""Names for arrays and annotations with a fixed number of dimensions."""

from inkle._native import IndexedArray, array, indexed_annotation, indexed_subscript, type_repr, types_equal


class array1d:
    """``array1d(dtype=float)`` and ``array1d[float]`` are annotations; with data it makes an array."""

    def __new__(cls, *args, **kwargs):
        return array(*args, **{**kwargs, "ndim": 1})

    def __class_getitem__(cls, dtype):
        return array(dtype=dtype, ndim=1)


class array2d:
    """As ``array1d``, with two dimensions."""

    def __new__(cls, *args, **kwargs):
        return array(*args, **{**kwargs, "ndim": 2})

    def __class_getitem__(cls, dtype):
        return array(dtype=dtype, ndim=2)


class array3d:
    """As ``array1d``, with three dimensions."""

    def __new__(cls, *args, **kwargs):
        return array(*args, **{**kwargs, "ndim": 3})

    def __class_getitem__(cls, dtype):
        return array(dtype=dtype, ndim=3)


class array4d:
    """As ``array1d``, with four dimensions."""

    def __new__(cls, *args, **kwargs):
        return array(*args, **{**kwargs, "ndim": 4})

    def __class_getitem__(cls, dtype):
        return array(dtype=dtype, ndim=4)


class fixedarray:
    """``fixedarray(shape=(2, 3), dtype=float)`` is the annotation of an array that kernels make with ``zeros``.

    A function takes and returns it as any array of that element type and number of dimensions.
    """

    def __new__(cls, *, dtype=None, shape=None, ndim=None):
        if dtype is None:
            from typing import Any as dtype
        if ndim is None:
            ndim = 1 if shape is None or isinstance(shape, int) else len(shape)
        return array(dtype=dtype, ndim=ndim)


class _IndexedClass(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, IndexedArray)


class indexedarray(metaclass=_IndexedClass):
    """``indexedarray(array, indices)`` is an array seen through lists of indices, one or ``None`` per dimension.

    ``indexedarray(dtype=float, ndim=2)``, ``indexedarray[float]`` and ``indexedarray[float, Literal[2]]`` are
    annotations.
    """

    def __new__(cls, data=None, indices=None, dtype=None, ndim=None):
        return _indexed(data, indices, dtype, ndim)

    def __class_getitem__(cls, item):
        return indexed_subscript(item)


def _indexed(data, indices, dtype, ndim):
    if data is None:
        return indexed_annotation(dtype, 1 if ndim is None else ndim)
    if ndim is not None and data.ndim != ndim:
        raise ValueError(f"an indexed array of {ndim} dimensions cannot be made from an array of {data.ndim}")
    if dtype is not None and not types_equal(dtype, data.dtype):
        raise ValueError(f"the elements are {type_repr(data.dtype)}, not {type_repr(dtype)}")
    return IndexedArray(data, indices)


def indexedarray1d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with one dimension."""
    return _indexed(data, indices, dtype, 1)


def indexedarray2d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with two dimensions."""
    return _indexed(data, indices, dtype, 2)


def indexedarray3d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with three dimensions."""
    return _indexed(data, indices, dtype, 3)


def indexedarray4d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with four dimensions."""
    return _indexed(data, indices, dtype, 4)
