"""Formats of models: each turns a node into the file that runs it."""

from __future__ import annotations

import importlib
import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._pipeline import Node

_log = logging.getLogger("inkle.leapp")


@dataclass
class Saved:
    """What became of a node. `kind` says what runs the model: "onnx", "pt2", "jit", "inkle", or what its maker says."""

    kind: str | None
    path: Path | None
    #: Files that belong to the model and lie beside it.
    data: list[Path] = field(default_factory=list)
    #: What the description of the pipeline says about the model beside its place and digests.
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Backend:
    """A format: where its `save` function is, what parameters it knows, whether it holds segments of kernels."""

    module: str
    function: str
    parameters: frozenset[str] | None
    segments: bool
    #: Whether inputs and outputs of the model share one list of names.
    one_namespace: bool = False

    def save(self, node: Node, directory: Path) -> Saved:
        """Writes the node's model into the directory."""
        module = importlib.import_module(f".{self.module}", __name__)
        return getattr(module, self.function)(node, directory)


_DYNAMO = Backend(
    "_onnx",
    "save_dynamo",
    frozenset({"opset_version", "verify", "optimize", "report", "skip_validation"}),
    segments=True,
    one_namespace=True,
)
_ONNX_SCRIPT = Backend(
    "_onnx",
    "save_torchscript",
    frozenset({"opset_version", "report", "prescript", "skip_validation"}),
    segments=True,
    one_namespace=True,
)
_PT2 = Backend("_torch", "save_pt2", frozenset({"strict"}), segments=True)
_SCRIPT = Backend("_torch", "save_script", None, segments=False)
_TRACE = Backend("_torch", "save_trace", None, segments=False)
_BUNDLE = Backend("_bundle", "save_bundle", frozenset(), segments=True, one_namespace=True)
_OWN = Backend("_own", "save_own", frozenset({"model_path", "copy_original_model"}), segments=True)

_BACKENDS: dict[str | None, Backend] = {
    "onnx": _DYNAMO,
    "onnx-dynamo": _DYNAMO,
    "onnx-torchscript": _ONNX_SCRIPT,
    "pt2": _PT2,
    "exported-program": _PT2,
    "jit": _SCRIPT,
    "jit-script": _SCRIPT,
    "jit-trace": _TRACE,
    "inkle": _BUNDLE,
    None: _OWN,
}


def backend_of(node_name: str, export_with: str | None) -> Backend:
    """The format of that name.

    Raises:
        ValueError: if there is none; the message lists those that there are.
    """
    if export_with not in _BACKENDS:
        names = ", ".join(repr(name) for name in _BACKENDS)
        raise ValueError(f"node '{node_name}': export_with={export_with!r} is not known; use one of {names}")
    return _BACKENDS[export_with]


def check(node: Node) -> Backend:
    """The node's format, after a look at whether it can hold the node.

    Raises:
        ValueError: if there is no such format, or nothing was traced that could be exported.
        NotImplementedError: if the node has segments of kernels and the format cannot hold them.
    """
    backend = backend_of(node.name, node.export_with)
    if node.segments and not backend.segments:
        able = ", ".join(repr(name) for name, other in _BACKENDS.items() if name and other.segments)
        raise NotImplementedError(
            f"node '{node.name}' contains kernels ({node.segments[0].source}), which export_with={node.export_with!r} "
            f"cannot hold; these can: {able}"
        )
    if backend is not _OWN and node.module is None:
        raise ValueError(f"node '{node.name}': nothing was traced that export_with={node.export_with!r} could export")
    if backend.parameters is not None:
        for unknown in sorted(node.backend_params.keys() - backend.parameters):
            known = ", ".join(sorted(backend.parameters)) or "none"
            _log.warning(
                "node '%s': export_with=%r knows no parameter %r (it knows: %s)",
                node.name,
                node.export_with,
                unknown,
                known,
            )
    return backend
