"""Decorators that give a function a gradient or a replay of its own."""

from inkle._native import Function


def _give(forward, role, decorator):
    if not isinstance(forward, Function):
        raise TypeError(f"`@{decorator}` takes a function decorated with `@func`, not {type(forward).__name__}")

    def decorate(function):
        forward.give(role, function)
        return function

    return decorate


def func_grad(forward_func):
    """Makes the decorated function the gradient of ``forward_func``.

    It takes the parameters of ``forward_func``, then the gradient of each of its results, and adds to ``adjoint[x]`` for
    each parameter ``x``; of an array it is the array of gradients. Of the overloads of ``forward_func`` it is the gradient
    of the one whose types it has.
    """
    return _give(forward_func, "gradient", "func_grad")


def func_replay(forward_func):
    """Makes the decorated function, of the same parameters and results, what a backward pass calls in place of
    ``forward_func`` when it needs its results."""
    return _give(forward_func, "replay", "func_replay")
