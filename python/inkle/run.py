"""Runs a program written for Warp, unmodified: ``python -m inkle.run script.py [arguments]``.

Every ``import warp`` and ``import warp.X`` of the program gives inkle's modules; ``-m package.module`` runs a module
instead of a file. Programs that do this themselves call :func:`install_alias` first.
"""

import importlib
import importlib.abc
import importlib.machinery
import runpy
import sys

_ALIAS = "warp"
# Programs that come with an installed Warp; they import Warp, which gives inkle.
_PROGRAMS = ("examples", "tests")
_USAGE = "usage: python -m inkle.run [-m] program [arguments]"


class _Loader(importlib.abc.Loader):
    """Gives a module of inkle under its second name; the module keeps the import record of its first."""

    def __init__(self, module):
        self.module = module
        self.kept = {k: getattr(module, k, None) for k in ("__spec__", "__loader__", "__package__")}

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        for name, value in self.kept.items():
            setattr(module, name, value)


class AliasFinder(importlib.abc.MetaPathFinder):
    """Answers imports of ``warp`` and its submodules with those of inkle."""

    def find_spec(self, fullname, path=None, target=None):
        first, _, rest = fullname.partition(".")
        if first != _ALIAS:
            return None
        if rest.partition(".")[0] in _PROGRAMS:
            return self._find_program(fullname, path)
        name = f"inkle.{rest}" if rest else "inkle"
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
                raise
            message = f"no module named '{fullname}': inkle stands in for {_ALIAS} and has no '{name}' yet"
            raise ModuleNotFoundError(message, name=fullname) from None
        is_package = hasattr(module, "__path__")
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=is_package)

    @staticmethod
    def _find_program(fullname, path):
        if fullname.count(".") == 1:
            package = importlib.machinery.PathFinder.find_spec(_ALIAS)
            path = package.submodule_search_locations if package else None
        found = importlib.machinery.PathFinder.find_spec(fullname, path) if path else None
        if found is None:
            message = f"no module named '{fullname}': inkle stands in for {_ALIAS}, whose package is not installed"
            raise ModuleNotFoundError(message, name=fullname)
        return found


def install_alias():
    """Makes ``import warp`` give inkle from now on in this process."""
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, AliasFinder())


def main(arguments):
    """Runs the program that ``arguments`` name; its own arguments follow."""
    as_module = arguments[:1] == ["-m"]
    program = arguments[1:] if as_module else arguments
    if not program or program[0] in ("-h", "--help"):
        print(__doc__ if program else _USAGE, file=sys.stdout if program else sys.stderr)
        return 0 if program else 2
    install_alias()
    sys.argv[:] = program
    if as_module:
        sys.path.insert(0, "")
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
    else:
        import os

        sys.path.insert(0, os.path.dirname(os.path.abspath(program[0])))
        runpy.run_path(program[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
