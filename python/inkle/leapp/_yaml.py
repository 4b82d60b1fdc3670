"""The description of a pipeline, `NAME.yaml`: models and their ports, what flows between them, who made it."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from enum import Enum
from pathlib import Path
from typing import Any

import torch
import yaml

from inkle._native import version

from ._backends import Saved
from ._dtypes import dtype_name
from ._flow import Flow
from ._pipeline import Node, Port
from ._semantics import GraphConfigs

#: The version of the description's layout, which is LEAPP's.
_LAYOUT = "1.3"


def digests(path: Path) -> dict[str, str]:
    """The digests of a file, as the description names them."""
    data = path.read_bytes()
    return {"md5sum": hashlib.md5(data).hexdigest(), "sha256sum": hashlib.sha256(data).hexdigest()}


def model_entry(node: Node, saved: Saved, directory: Path) -> dict[str, Any]:
    """What the description says about a node: its ports, and its model with the digests of its files."""
    parameters: dict[str, Any] = {"model_path": None, "md5sum": None, "sha256sum": None}
    if saved.path is not None:
        parameters["model_path"] = os.path.relpath(saved.path, directory)
        parameters |= digests(saved.path)
    parameters["backend"] = saved.kind
    parameters["warp_segments"] = len(node.segments)
    parameters["device"] = node_device(node).type
    parameters |= saved.facts
    if saved.data:
        parameters["data_files"] = {os.path.relpath(file, directory): digests(file) for file in saved.data}
    return {
        "inputs": [_port_entry(port) for port in node.all_inputs],
        "outputs": [_port_entry(port) for port in node.all_outputs],
        "parameters": parameters,
    }


def node_device(node: Node) -> torch.device:
    """Where a node ran: on a GPU if any of its tensors is there."""
    devices = [port.device for port in node.all_inputs + node.all_outputs]
    return next((device for device in devices if device.type != "cpu"), torch.device("cpu"))


def pipeline_entry(flow: Flow, configs: GraphConfigs | None, initial_values: Path | None) -> dict[str, Any]:
    """What the description says about the whole of the pipeline."""
    entry: dict[str, Any] = {}
    if configs is not None:
        entry["configs"] = _plain(configs.to_dict())
    entry["data_flow"] = {source: _Inline(targets) for source, targets in flow.data.items()}
    entry["feedback_flow"] = {source: _Inline(targets) for source, targets in flow.feedback.items()}
    if initial_values is not None:
        entry["initial_values"] = initial_values.name
        entry["initial_values_digests"] = digests(initial_values)
    entry["inputs"] = {node: _Inline(names) for node, names in flow.inputs.items()}
    entry["outputs"] = {node: _Inline(names) for node, names in flow.outputs.items()}
    return entry


def system_information() -> dict[str, Any]:
    """What the pipeline was made on and with."""
    return {
        "cuda version": torch.version.cuda,
        "inkle version": version,
        "leapp config version": _LAYOUT,
        "os": _system(),
        "python version": platform.python_version(),
        "torch version": str(torch.__version__),
    }


def write(path: Path, models: dict[str, Any], pipeline: dict[str, Any]) -> None:
    """Writes the description."""
    parts = ({"models": models}, {"pipeline": pipeline}, {"system information": system_information()})
    text = "\n".join(
        yaml.dump(part, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False) for part in parts
    )
    path.write_text(text, encoding="utf-8")


class _Inline(list):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Writes every use of a value in full, so that a description has no anchors."""

    def ignore_aliases(self, data):
        return True


_Dumper.add_representer(
    _Inline, lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True)
)


def _port_entry(port: Port) -> dict[str, Any]:
    entry = {"name": port.name, "dtype": dtype_name(port.dtype), "shape": _Inline(port.shape), "type": "tensor"}
    if port.semantics is None:
        return entry
    said = {key: _plain(value) for key, value in port.semantics.to_dict().items()}
    if isinstance(said.get("element_names"), list):
        said["element_names"] = _Inline(_Inline(a) if isinstance(a, list) else a for a in said["element_names"])
    return entry | {key: value for key, value in said.items() if key not in entry}


def _plain(value: Any) -> Any:
    """A value as YAML knows it. What it does not know is written as text."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return str(value)


def _system() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME") or sys.platform
    except OSError:
        return platform.platform(terse=True)
