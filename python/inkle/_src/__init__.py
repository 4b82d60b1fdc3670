"""Public names under the places where the reference API keeps them inside.

Some programs import a type tuple or an exception from ``warp._src``. The modules here are for them and hold nothing
of their own; other code uses ``inkle`` and its public submodules.
"""

from importlib import import_module

_MODULES = ("codegen", "context", "logger", "types", "utils")


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"inkle._src.{name}")
    raise AttributeError(f"module 'inkle._src' has no attribute '{name}'; the internals of the reference API are not here")
