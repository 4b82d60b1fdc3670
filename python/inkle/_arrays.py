"""Names for arrays and annotations with a fixed number of dimensions."""

from inkle._native import array, indexed_annotation, indexed_subscript


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


class indexedarray:
    """``indexedarray(dtype=float, ndim=2)`` and ``indexedarray[float]`` are annotations."""

    def __new__(cls, data=None, indices=None, dtype=None, ndim=None):
        if data is not None or indices is not None:
            raise NotImplementedError("arrays seen through index lists are not available in inkle yet")
        return indexed_annotation(dtype, 1 if ndim is None else ndim)

    def __class_getitem__(cls, item):
        return indexed_subscript(item)


def indexedarray1d(dtype=None):
    """The annotation of indexed arrays with one dimension."""
    return indexed_annotation(dtype, 1)


def indexedarray2d(dtype=None):
    """The annotation of indexed arrays with two dimensions."""
    return indexed_annotation(dtype, 2)


def indexedarray3d(dtype=None):
    """The annotation of indexed arrays with three dimensions."""
    return indexed_annotation(dtype, 3)


def indexedarray4d(dtype=None):
    """The annotation of indexed arrays with four dimensions."""
    return indexed_annotation(dtype, 4)
