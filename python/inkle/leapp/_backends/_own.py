"""Models that were there before: a node that is traced for its place in the pipeline only."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

from .._pipeline import Node
from . import Saved

_log = logging.getLogger("inkle.leapp")

# What runs a model, by the ending of its file's name.
_KINDS = {
    ".pt": "jit",
    ".pt2": "pt2",
    ".onnx": "onnx",
    ".inkle": "inkle",
    ".cpp": "cpp",
    ".cc": "cpp",
    ".py": "py",
    ".engine": "trt",
    ".plan": "trt",
}


def save_own(node: Node, directory: Path) -> Saved:
    """The model that `backend_params["model_path"]` names, copied if `copy_original_model` says so.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the ending of its name says nothing about what it is.
    """
    given = node.backend_params.get("model_path")
    if given is None:
        _log.warning(
            "node '%s' has no model: give its place as backend_params={'model_path': ...}, "
            "or fill in its parameters in the description of the pipeline",
            node.name,
        )
        return Saved(None, None)
    path = Path(given)
    if not path.is_file():
        raise FileNotFoundError(f"node '{node.name}': there is no model at {path}")
    if path.suffix not in _KINDS:
        raise ValueError(
            f"node '{node.name}': what runs {path.name} is not known; names of models end in {', '.join(_KINDS)}"
        )
    data = [path.with_name(path.name + ".data")] if path.with_name(path.name + ".data").is_file() else []
    if node.backend_params.get("copy_original_model") and path.parent.resolve() != directory.resolve():
        path, *data = [Path(shutil.copy2(file, directory)) for file in (path, *data)]
    return Saved(_KINDS[path.suffix], path, data)
