"""Public names under the places where the reference API keeps them inside.

Some programs import a type tuple or an exception from ``warp._src``. The modules here are for them and hold nothing
of their own; other code uses ``inkle`` and its public submodules.
"""

from importlib import import_module

from inkle._planned import absent

_absent = absent("inkle._src")
_MODULES = ("apic", "build", "builtins", "codegen", "context", "logger", "types", "utils")


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"inkle._src.{name}")
    return _absent(name)
