"""Where in the user's program something happens."""

from __future__ import annotations

import os
import sys
import sysconfig

import numpy
import torch

import inkle

_OURS = tuple(
    os.path.dirname(os.path.abspath(path)) + os.sep for path in (inkle.__file__, torch.__file__, numpy.__file__)
)
_STDLIB = tuple(
    os.path.abspath(path) + os.sep
    for path in {sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]}
    if path
)
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)


def _is_library(path: str) -> bool:
    if path.startswith("<") or path.startswith(_OURS):
        return True
    return path.startswith(_STDLIB) and not any(part in path for part in _PACKAGES)


def where() -> str:
    """The innermost line outside of inkle, PyTorch, numpy and the standard library, as "file:line"."""
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if not _is_library(path):
            return f"{path}:{frame.f_lineno}"
        frame = frame.f_back
    return "<unknown>:0"


class TraceError(RuntimeError):
    """A program cannot be traced, or did something else than when it was traced first."""


class TraceWarning(UserWarning):
    """Something in a traced program that an exported model will not repeat."""
