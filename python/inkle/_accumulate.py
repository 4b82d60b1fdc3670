"""Adds one array of gradients to another, by kernels written for their element types."""

from functools import cache

from inkle import _native
from inkle._map import define


@cache
def _kernel(dtype, ndim):
    index = ", ".join("ijkl"[:ndim])
    sums = [f"    to[{index}]{p} = to[{index}]{p} + of[{index}]{p}" for p in _native.float_parts(dtype)]
    lines = ["def add_gradients(to: Array, of: Array):", f"    {index} = tid()", *sums]
    names = {"Array": _native.array(dtype=dtype, ndim=ndim), "tid": _native.builtin("tid")}
    function = define("\n".join(lines) + "\n", names)["add_gradients"]
    return _native.kernel(function, module="inkle.gradients", name=f"add{ndim}", enable_backward=False)


def accumulate(to, of):
    """Adds the elements of ``of`` to those of ``to``, of the same shape, type and device."""
    _native.launch(_kernel(to.dtype, to.ndim), to.shape, [to, of], device=to.device, record_tape=False)
