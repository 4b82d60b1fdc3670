"""Copies and fills of arrays without strides, seen through lists or in buckets, by kernels."""

from functools import cache

from inkle import _native
from inkle._map import define
from inkle._native import array, launch

_KINDS = {kind.__name__: kind for kind in (_native.indexedarray, _native.fabricarray, _native.indexedfabricarray)}


@cache
def _copy_kernel(kind, dtype, ndim, into_plain):
    scattered, plain = _KINDS[kind](dtype=dtype, ndim=ndim), array(dtype=dtype, ndim=ndim)
    names = {"To": plain if into_plain else scattered, "From": scattered if into_plain else plain}
    names["tid"] = _native.builtin("tid")
    index = ", ".join("ijkl"[:ndim])
    text = f"def copy_elements(to: To, source: From):\n    {index} = tid()\n    to[{index}] = source[{index}]\n"
    module = f"inkle.{kind}"
    function = define(text, names)["copy_elements"]
    return _native.kernel(function, module=module, name=f"copy{ndim}", enable_backward=True)


def _copy(to, source, scattered, into_plain, record_tape):
    kind = _native.array_kind(scattered)
    kernel = _copy_kernel(kind, scattered.dtype, scattered.ndim, into_plain)
    launch(kernel, dim=scattered.shape, inputs=[to, source], device=scattered.device, record_tape=record_tape)


def gather(source):
    """The elements in a new array."""
    to = _native.empty(source.shape, dtype=source.dtype, device=source.device)
    _copy(to, source, source, True, False)
    return to


def gather_on_tape(source):
    """As :func:`gather`; the tape that is active records it, so that gradients come back to ``source``."""
    if _native.get_tape() is None or source.grad is None:
        return gather(source)
    to = _native.zeros(source.shape, dtype=source.dtype, device=source.device, requires_grad=True)
    _copy(to, source, source, True, True)
    return to


def scatter(to, source):
    """Sets the elements to those of something like an array of the same shape. A tape records it."""
    if _native.array_kind(source) not in (None, "array"):
        source = gather_on_tape(source)
    if isinstance(source, array) and source.device != to.device:
        source = source.to(to.device)
    if not isinstance(source, array):
        source = array(source, dtype=to.dtype, device=to.device)
    if tuple(source.shape) != tuple(to.shape):
        kind = _native.array_kind(to)
        raise ValueError(f"an array of shape {source.shape} does not fit an {kind} of shape {to.shape}")
    tape = _native.get_tape()
    gradients_flow = tape is not None and to.grad is not None and source.grad is not None
    _copy(to, source, to, False, gradients_flow)
    if tape is not None and not gradients_flow:
        tape.record_fill(to)


def fill(to, value):
    """Sets all elements to a value."""
    scatter(to, _native.full(to.shape, value, dtype=to.dtype, device=to.device))


def zero(to):
    """Sets all elements to zero."""
    scatter(to, _native.zeros(to.shape, dtype=to.dtype, device=to.device))
