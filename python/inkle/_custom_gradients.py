"""Decorators that give a function a gradient or a replay of its own. They are kept with the function."""

from inkle._native import Function
from inkle._planned import Absent


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


def func_native(snippet, adj_snippet=None, replay_snippet=None):
    """Functions written in C++: not available in inkle yet. What is decorated can be declared, not called."""

    def decorator(function):
        return Absent(f"function {function.__qualname__} of a native snippet")

    return decorator
