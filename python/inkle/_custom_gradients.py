"""Decorators that give a function a gradient or a replay of its own. They are kept with the function."""

from inkle._native import Function


def _attach(forward, kind):
    if not isinstance(forward, Function):
        raise TypeError(f"`@{kind}` takes a function decorated with `@func`, not {type(forward).__name__}")

    def decorator(function):
        setattr(forward, f"_{kind}", function)
        return function

    return decorator


def func_grad(forward_func):
    """Makes the decorated function the gradient of ``forward_func``."""
    return _attach(forward_func, "func_grad")


def func_replay(forward_func):
    """Makes the decorated function what the backward pass calls in place of ``forward_func``."""
    return _attach(forward_func, "func_replay")
