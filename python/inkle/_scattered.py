"""Copies and fills of arrays without strides, seen through lists or in buckets, by kernels.

What is seen through lists moves in units of bytes, so that four kernels serve every element type and number of
dimensions. Where a tape records a copy, and for Fabric arrays, the kernel is that of the element type.
"""

from functools import cache

from inkle import _native
from inkle._map import define
from inkle._native import array, indexedarray, launch

_KINDS = {kind.__name__: kind for kind in (_native.indexedarray, _native.fabricarray, _native.indexedfabricarray)}


@cache
def _copy_kernel(kind, dtype, ndim, into_plain):
    scattered, plain = _KINDS[kind](dtype=dtype, ndim=ndim), array(dtype=dtype, ndim=ndim)
    names = {"To": plain if into_plain else scattered, "From": scattered if into_plain else plain}
    names["tid"] = _native.builtin("tid")
    index = ", ".join("ijkl"[:ndim])
    text = f"def copy_elements(to: To, source: From):\n    {index} = tid()\n    to[{index}] = source[{index}]\n"
    module = f"inkle.{kind}"
    return _native.kernel(define(text, names)["copy_elements"], module=module, name=f"copy{ndim}", enable_backward=True)


_MOVE = """
def move_units(
    to: Units, to_start: long, to_steps: Steps, to_0: List, to_1: List, to_2: List, to_3: List,
    source: Units, from_start: long, from_steps: Steps, from_0: List, from_1: List, from_2: List, from_3: List,
    count: int,
):
    i, j, k, l = tid()
    to_at = to_start + at(to_steps, along(to_0, i), along(to_1, j), along(to_2, k), along(to_3, l))
    from_at = from_start + at(from_steps, along(from_0, i), along(from_1, j), along(from_2, k), along(from_3, l))
    for unit in range(count):
        to[to_at + long(unit)] = source[from_at + long(unit)]

def along(places: List, i: int):
    place = i
    if places:
        place = places[i]
    return place

def at(steps: Steps, i: int, j: int, k: int, l: int):
    return steps[0] * long(i) + steps[1] * long(j) + steps[2] * long(k) + steps[3] * long(l)
"""


@cache
def _move_kernel(unit):
    """The kernel that moves elements made of units of ``unit`` bytes."""
    names = {name: _native.named_type(of) for name, of in (("Steps", "vec4l"), ("long", "int64"))}
    names |= {"Units": array(dtype=_native.named_type(f"uint{8 * unit}")), "List": array(dtype=int)}
    names["tid"] = _native.builtin("tid")
    names = define(_MOVE, names)
    for helper in ("along", "at"):
        names[helper] = _native.func(names[helper], module="inkle.indexedarray")
    return _native.kernel(names["move_units"], module="inkle.indexedarray", name=f"move{unit}", enable_backward=False)


def _plain_and_lists(side):
    lists = side.indices if isinstance(side, indexedarray) else []
    data = side.data if isinstance(side, indexedarray) else side
    # Dimensions count from the last one, along which threads are neighbours.
    lists = [*lists, *[None] * (data.ndim - len(lists))]
    return data, [None] * (4 - len(lists)) + lists


def _move(to, source):
    """Copies between arrays of one shape, of which some are seen through lists. Says whether it could."""
    (to_data, to_lists), (from_data, from_lists) = _plain_and_lists(to), _plain_and_lists(source)
    found = _native.units(to_data, from_data)
    if found is None:
        return False
    unit, count, to_part, from_part = found
    inputs = [*to_part, *to_lists, *from_part, *from_lists, count]
    dim = (1,) * (4 - to.ndim) + tuple(to.shape)
    launch(_move_kernel(unit), dim=dim, inputs=inputs, device=to.device, record_tape=False)
    return True


def _copy(to, source, scattered, into_plain, record_tape):
    kind = _native.array_kind(scattered)
    if 0 in tuple(to.shape) or (kind == "indexedarray" and not record_tape and _move(to, source)):
        return
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
    kind = _native.array_kind(to)
    if tuple(source.shape) != tuple(to.shape):
        raise ValueError(f"an array of shape {source.shape} does not fit an {kind} of shape {to.shape}")
    if source.dtype != to.dtype:
        raise TypeError(f"an array of {source.dtype.__name__} does not fit an {kind} of {to.dtype.__name__}")
    tape = _native.get_tape()
    gradients_flow = tape is not None and to.grad is not None and source.grad is not None
    _copy(to, source, to, False, gradients_flow)
    if tape is not None and not gradients_flow:
        tape.record_fill(to)


def fill(to, value):
    """Sets all elements to a value."""
    one = _native.full(1, value, dtype=to.dtype, device=to.device)
    # One element seen from everywhere: its distance to its neighbours is nothing.
    scatter(to, _native.repeated(one, tuple(to.shape)))


def zero(to):
    """Sets all elements to zero."""
    one = _native.zeros(1, dtype=to.dtype, device=to.device)
    scatter(to, _native.repeated(one, tuple(to.shape)))
