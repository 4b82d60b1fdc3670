"""Copies and fills of indexed arrays, by kernels."""

from functools import cache

from inkle import _native
from inkle._map import define
from inkle._native import array, launch


@cache
def _copy_kernel(dtype, ndim, into_plain):
    indexed, plain = _native.indexed_annotation(dtype, ndim), array(dtype=dtype, ndim=ndim)
    names = {"To": plain if into_plain else indexed, "From": indexed if into_plain else plain}
    names["tid"] = _native.builtin("tid")
    index = ", ".join("ijkl"[:ndim])
    text = f"def copy_elements(to: To, source: From):\n    {index} = tid()\n    to[{index}] = source[{index}]\n"
    return _native.kernel(define(text, names)["copy_elements"], module="inkle.indexed", name=f"copy{ndim}")


def gather(source):
    """The elements in a new array."""
    to = _native.empty(source.shape, dtype=source.dtype, device=source.device)
    launch(_copy_kernel(source.dtype, source.ndim, True), dim=source.shape, inputs=[to, source], device=source.device)
    return to


def scatter(to, source):
    """Sets the elements to those of something like an array of the same shape."""
    if isinstance(source, _native.IndexedArray):
        source = gather(source)
    if not isinstance(source, array) or source.device != to.device:
        source = array(source, dtype=to.dtype, device=to.device)
    if tuple(source.shape) != tuple(to.shape):
        raise ValueError(f"an array of shape {source.shape} does not fit an indexed array of shape {to.shape}")
    launch(_copy_kernel(to.dtype, to.ndim, False), dim=to.shape, inputs=[to, source], device=to.device)


def fill(to, value):
    """Sets all elements to a value."""
    scatter(to, _native.full(to.shape, value, dtype=to.dtype, device=to.device))


def zero(to):
    """Sets all elements to zero."""
    scatter(to, _native.zeros(to.shape, dtype=to.dtype, device=to.device))
