"""Replacements of functions that users ask for while a trace runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

import inkle

from ._layout import Layout


@dataclass(frozen=True)
class FunctionPatch:
    """A function of a module that `replacement` stands for, during a trace, where it gets values of a node.

    Raises:
        TypeError: for what is no module, or cannot be called.
        ValueError: for a name that the module does not have.
    """

    module: ModuleType
    function_name: str
    replacement: Callable[..., Any]

    def __post_init__(self):
        if not isinstance(self.module, ModuleType):
            raise TypeError(f"FunctionPatch.module must be a Python module, not {type(self.module).__name__}")
        if not isinstance(self.function_name, str) or not self.function_name:
            raise ValueError("FunctionPatch.function_name must be a non-empty string")
        if not hasattr(self.module, self.function_name):
            raise ValueError(f"module '{self.module.__name__}' has no attribute '{self.function_name}'")
        if not callable(getattr(self.module, self.function_name)):
            raise TypeError(f"{self.module.__name__}.{self.function_name} is not callable")
        if not callable(self.replacement):
            raise TypeError("FunctionPatch.replacement must be callable")


class Patches:
    """The replacements of one trace."""

    def __init__(self, session, patches):
        self._session = session
        self._patches = list(patches or [])
        self._originals: list[tuple[ModuleType, str, Any]] = []
        for patch in self._patches:
            if not isinstance(patch, FunctionPatch):
                raise TypeError(f"patching entries must be FunctionPatch instances, not {type(patch).__name__}")
        names = [(id(p.module), p.function_name) for p in self._patches]
        for patch in self._patches:
            if names.count((id(patch.module), patch.function_name)) > 1:
                raise ValueError(f"duplicate patch target {patch.module.__name__}.{patch.function_name}")

    def install(self) -> None:
        """Puts the replacements in."""
        for patch in self._patches:
            original = getattr(patch.module, patch.function_name)
            self._originals.append((patch.module, patch.function_name, original))
            setattr(patch.module, patch.function_name, self._replaced(original, patch.replacement))

    def uninstall(self) -> None:
        """Puts the functions back."""
        while self._originals:
            setattr(*self._originals.pop())

    def _replaced(self, original, replacement):
        @functools.wraps(original)
        def call(*args, **kwargs):
            traced = any(self._is_traced(value) for value in tree_leaves((args, kwargs)))
            return (replacement if traced else original)(*args, **kwargs)

        return call

    def _is_traced(self, value) -> bool:
        session = self._session
        if isinstance(value, torch.Tensor):
            with session.pause():
                layout = Layout.of(value)
            return layout is not None and any(r.has(layout) for r in session.active.values())
        if isinstance(value, np.ndarray):
            return session.owner_of_array(value) is not None
        if isinstance(value, inkle.array) and value.ptr:
            return session.owner_of_memory(value.ptr, value.ptr + 1) is not None
        return False
