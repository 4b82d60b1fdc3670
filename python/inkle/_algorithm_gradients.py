"""What the algorithms of ``wp.utils`` do backwards: from the gradient of what they wrote to those of what they read."""

from functools import cache

from inkle import _native
from inkle._accumulate import accumulate
from inkle._map import define


@cache
def _spread(dtype, ndim, axis, product):
    """A kernel that adds the gradient of a sum to those of all elements, times the other factor if it was of products."""
    at = list("ijkl"[:ndim])
    whole = ["0"] if axis is None else [*at[:axis], "0", *at[axis + 1 :]]
    element, total = f"[{', '.join(at)}]", f"[{', '.join(whole)}]"
    other, factor = (", other: Array", f"other{element} * ") if product else ("", "")
    text = f"def spread(to: Array, of: Sums{other}):\n    {', '.join(at)} = tid()\n"
    text += f"    to{element} = to{element} + {factor}of{total}\n"
    sums = getattr(dtype, "_wp_scalar_type_", dtype) if product else dtype
    names = {
        "Array": _native.array(dtype=dtype, ndim=ndim),
        "Sums": _native.array(dtype=sums, ndim=len(whole)),
        "tid": _native.builtin("tid"),
    }
    return _kernel(define(text, names)["spread"], f"spread{ndim}")


@cache
def _turned(dtype, adds):
    """A kernel that writes, or adds, the elements of an array in the opposite order."""
    before = "to[i] + " if adds else ""
    text = f"def turn(to: Array, of: Array):\n    i = tid()\n    to[i] = {before}of[of.shape[0] - 1 - i]\n"
    names = {"Array": _native.array(dtype=dtype, ndim=1), "tid": _native.builtin("tid")}
    return _kernel(define(text, names)["turn"], "turn")


def _kernel(function, name):
    return _native.kernel(function, module="inkle.gradients", name=name, enable_backward=False)


def _launch(kernel, dim, inputs):
    _native.launch(kernel, dim, inputs, device=inputs[0].device, record_tape=False)


def _cut(array, count, axis):
    """The elements of an array that a reduction looks at."""
    if count is None:
        return array
    if axis is None:
        return (array if array.ndim == 1 else array.flatten())[:count]
    return array[(*(slice(None),) * (axis % array.ndim), slice(0, count))]


def _reduction(to, of, count, axis, other=None):
    to = _cut(to, count, axis)
    inputs = [to, of] if other is None else [to, of, _cut(other, count, axis)]
    axis = None if axis is None else axis % to.ndim
    _launch(_spread(to.dtype, to.ndim, axis, other is not None), to.shape, inputs)


def _sum(gradient, values, count, axis):
    _reduction(values.grad, gradient, count, axis)


def _inner(gradient, a, b, count, axis):
    for array, other in ((a, b), (b, a)):
        if array.grad is not None:
            _reduction(array.grad, gradient, count, axis, other)


def _scan(gradient, values, inclusive):
    turned, sums = (_native.empty_like(gradient, requires_grad=False) for _ in range(2))
    _launch(_turned(gradient.dtype, False), gradient.shape, [turned, gradient])
    _native.array_scan(turned, sums, inclusive)
    _launch(_turned(values.dtype, True), values.shape, [values.grad, sums])


def _cast(gradient, values, count):
    made = _native.empty_like(values.grad, requires_grad=False)
    _native.array_cast(gradient, made, count)
    accumulate(_cut(values.grad, count, None), _cut(made, count, None))


_BACKWARD = {"array_sum": _sum, "array_inner": _inner, "array_scan": _scan, "array_cast": _cast}


def run(name, gradient, *arguments):
    """Adds what follows from the gradient of what an algorithm wrote to the gradients of its arguments."""
    _BACKWARD[name](gradient, *arguments)
