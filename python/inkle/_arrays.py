"""Names for arrays and annotations with a fixed number of dimensions."""

from inkle._native import array, fabricarray, indexedarray, indexedfabricarray


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


def indexedarray1d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with one dimension."""
    return indexedarray(data, indices, dtype, 1)


def indexedarray2d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with two dimensions."""
    return indexedarray(data, indices, dtype, 2)


def indexedarray3d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with three dimensions."""
    return indexedarray(data, indices, dtype, 3)


def indexedarray4d(data=None, indices=None, dtype=None):
    """As ``indexedarray``, with four dimensions."""
    return indexedarray(data, indices, dtype, 4)


def fabricarrayarray(**options):
    """As ``fabricarray``, of elements that are arrays themselves."""
    return fabricarray(**{**options, "ndim": 2})


def indexedfabricarrayarray(**options):
    """As ``indexedfabricarray``, of elements that are arrays themselves."""
    return indexedfabricarray(**{**options, "ndim": 2})
