"""Names of the reference API that inkle does not have yet."""

import inspect


class AbsentError(NotImplementedError, AttributeError):
    """Something is used that is not available yet."""


class AbsentBase:
    """The base of classes that are derived from something that is not available yet."""

    def __init__(self, *args, **kwargs):
        raise AbsentError(f"the base of {type(self).__name__} is not available in inkle yet")


class Absent:
    """Stands for something that is not available yet, so that a program which only imports it can run.

    Every use raises a ``NotImplementedError`` with its name.
    """

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        raise AbsentError(f"{self._name} is not available in inkle yet")

    def __mro_entries__(self, bases):
        return (AbsentBase,)

    def __iter__(self):
        raise AbsentError(f"{self._name} is not available in inkle yet")

    def __contains__(self, item):
        raise AbsentError(f"{self._name} is not available in inkle yet")

    def __getitem__(self, key):
        return Absent(f"{self._name}[{key!r}]")

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and inspect.isfunction(args[0]):
            # A decorator; what it is for is not available either.
            return Absent(f"{self._name}({args[0].__qualname__})")
        if not args and kwargs and set(kwargs) <= {"dtype", "ndim", "shape"}:
            # An annotation, of something to be declared.
            return Absent(f"{self._name}({', '.join(f'{k}={v!r}' for k, v in kwargs.items())})")
        raise AbsentError(f"{self._name} is not available in inkle yet")

    def __ror__(self, other):
        return self

    __or__ = __ror__

    def __repr__(self):
        return f"<{self._name}, not available in inkle yet>"


def absent(module):
    """A module's ``__getattr__`` that answers every public name with an :class:`Absent`."""

    def getter(name):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return Absent(f"{module}.{name}")

    return getter
