"""Models that PyTorch runs: exported programs and TorchScript."""

from __future__ import annotations

import contextlib
import logging
import warnings
from pathlib import Path

import torch

from .._pipeline import Node
from . import Saved
from ._module import example_inputs, exportable, exported_program

_log = logging.getLogger("inkle.leapp")


def save_pt2(node: Node, directory: Path) -> Saved:
    """The node as an exported program, `NODE.pt2`. Segments are calls of the operator, their bundles buffers."""
    path = directory / f"{node.name}.pt2"
    program = exported_program(node, exportable(node), bool(node.backend_params.get("strict", False)))
    # The inputs seen are the program's examples, which would be stored with it.
    program.example_inputs = None
    torch.export.save(program, path)
    return Saved("pt2", path, facts={"torch_version": str(torch.__version__)})


def save_script(node: Node, directory: Path) -> Saved:
    """The node as TorchScript of its graph, `NODE.pt`.

    A traced graph has no branches, so that recording a run of it gives the same program; that is what is done where
    TorchScript's compiler does not know a call that PyTorch itself knows.
    """
    module = exportable(node)
    try:
        with _quiet():
            script = torch.jit.script(module, **node.backend_params)
    except RuntimeError as error:
        _log.info("node '%s': recorded, since TorchScript's compiler refuses it: %s", node.name, str(error).strip())
        return save_trace(node, directory, {})
    return _save(node, directory, script)


def save_trace(node: Node, directory: Path, parameters: dict | None = None) -> Saved:
    """The node as TorchScript recorded from a run, `NODE.pt`."""
    parameters = node.backend_params if parameters is None else parameters
    module = exportable(node)
    with _quiet(), torch.no_grad():
        script = torch.jit.trace(module, example_inputs(node), **parameters)
    return _save(node, directory, script)


def _save(node: Node, directory: Path, script: torch.jit.ScriptModule) -> Saved:
    path = directory / f"{node.name}.pt"
    with _quiet():
        torch.jit.save(torch.jit.freeze(script.eval()), str(path))
    return Saved("jit", path)


@contextlib.contextmanager
def _quiet():
    """Without the advice to use another format: the person asked for this one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("ignore", message="The TorchScript type system doesn't support instance-level")
        yield
