"""An exported pipeline that runs: its models, what flows between them, and what they keep from step to step."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from safetensors.torch import load_file

from . import _runners
from ._dtypes import dtype_of

#: The slot of what leaves the pipeline, beside those of the nodes' inputs.
_OUT = "==out=="


@dataclass
class _Node:
    name: str
    inputs: list[dict]
    outputs: list[dict]
    device: torch.device
    model: _runners.Runner

    @property
    def input_names(self) -> list[str]:
        return [port["name"] for port in self.inputs]

    @property
    def output_names(self) -> list[str]:
        return [port["name"] for port in self.outputs]


class InferenceManager:
    """Runs the pipeline that a description, `NAME.yaml`, belongs to. Directories that LEAPP wrote run too.

    Args:
        model_path: The description. Its models and initial values lie where it says, as seen from its own folder.
        device: Where all models run. For None each runs where it was traced, or on the CPU if this machine has no GPU.

    Values are tensors of PyTorch. `value_dict` holds, by node and input, the values of the inputs: those of inputs that
    are fed back are what the next step starts from.

    Raises:
        FileNotFoundError: if the description or a file that it names is missing.
        ValueError: if the description is no pipeline's, a file is not the one that it describes (by its SHA-256), ports
            that are connected do not fit, or a model is of a kind that cannot be run here.
        RuntimeError: if a framework cannot load a model.
    """

    def __init__(self, model_path: str | os.PathLike, device: str | torch.device | None = None):
        self.model_path = Path(model_path)
        if not self.model_path.is_file():
            raise FileNotFoundError(f"there is no description of a pipeline at {self.model_path}")
        if self.model_path.suffix not in (".yaml", ".yml"):
            raise ValueError(f"the description of a pipeline is a .yaml file, not {self.model_path}")
        with self.model_path.open(encoding="utf-8") as file:
            description = yaml.safe_load(file)
        parts = ("models", "pipeline", "system information")
        if not isinstance(description, dict) or any(part not in description for part in parts):
            raise ValueError(f"{self.model_path} does not describe a pipeline: it must have {', '.join(parts)}")
        self.models, self.pipeline, self.system_info = (description[part] for part in parts)
        order = self._order()
        self.nodes = {name: self._open(name, self.models[name], device) for name in order}
        self._routes = self._find_routes()
        self.value_dict: dict[str, dict[str, torch.Tensor]] = {}
        self.reset()

    @property
    def inputs(self) -> list[str]:
        """The pipeline's inputs, as "node/input"."""
        return _listed(self.pipeline.get("inputs"))

    @property
    def outputs(self) -> list[str]:
        """The pipeline's outputs, as "node/output"."""
        return _listed(self.pipeline.get("outputs"))

    @property
    def feedback_inputs(self) -> list[str]:
        """The inputs that hold values of the step before, as "node/input"."""
        return [target for targets in (self.pipeline.get("feedback_flow") or {}).values() for target in targets]

    def run_policy(self, inputs: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        """Runs one step.

        `inputs` gives values by "node/input": tensors, arrays or numbers of the input's shape; any input may be given,
        and one that is not keeps its value. Returns the pipeline's outputs by "node/output".

        Raises:
            KeyError: if there is no such input.
            TypeError, ValueError: if a value has another dtype or shape than the input.
        """
        # All are looked at before one is changed.
        values = {key: self._value(*self._split(key), value) for key, value in inputs.items()}
        for key, value in values.items():
            node, port = self._split(key)
            self.value_dict[node][port] = value
        results = {}
        for name, node in self.nodes.items():
            given = [self.value_dict[name][port] for port in node.input_names]
            for port, value in zip(node.output_names, node.model(*given), strict=True):
                for index, (target, slot) in enumerate(self._routes[name, port]):
                    # Each reader has its own, so that none changes what another reads.
                    kept = value if index == 0 else value.clone()
                    if target == _OUT:
                        results[slot] = kept
                    else:
                        self.value_dict[target][slot] = kept.to(self.nodes[target].device)
        return {name: results[name] for name in self.outputs}

    __call__ = run_policy

    def set_input_value(self, node_name: str, input_name: str, value: Any) -> None:
        """Sets the value of an input, of one that is fed back too, until the pipeline sets it or somebody else does.

        Raises:
            KeyError, TypeError, ValueError: as `run_policy`.
        """
        self._split(f"{node_name}/{input_name}")
        self.value_dict[node_name][input_name] = self._value(node_name, input_name, value).clone()

    def get_mock_input(self) -> dict[str, torch.Tensor]:
        """Random values for the pipeline's inputs: normally distributed, or all numbers of a byte."""
        mock = {}
        for key in self.inputs:
            node, port = self._split(key)
            shape, dtype = self._shape(node, port), self._dtype(node, port)
            if dtype.is_floating_point:
                value = torch.randn(shape, dtype=torch.float32).to(dtype)
            else:
                top = 2 if dtype == torch.bool else 128 if dtype == torch.int8 else 256
                value = torch.randint(0, top, shape).to(dtype)
            mock[key] = value.to(self.nodes[node].device)
        return mock

    def reset(self) -> None:
        """Sets what is fed back to its initial values and all other inputs to zero."""
        initial = self._initial_values()
        for name, node in self.nodes.items():
            self.value_dict[name] = {
                port: initial[f"{name}/{port}"].to(node.device)
                if f"{name}/{port}" in initial
                else torch.zeros(self._shape(name, port), dtype=self._dtype(name, port), device=node.device)
                for port in node.input_names
            }

    def _order(self) -> list[str]:
        """The nodes, each after those whose values of the same step it takes; else as the description lists them."""
        before: dict[str, set[str]] = {name: set() for name in self.models}
        for source, targets in (self.pipeline.get("data_flow") or {}).items():
            for target in targets:
                taker, giver = target.partition("/")[0], source.partition("/")[0]
                if taker in before and giver in before:
                    before[taker].add(giver)
        order: list[str] = []
        while len(order) < len(before):
            ready = next((name for name in before if name not in order and before[name] <= set(order)), None)
            if ready is None:
                waiting = ", ".join(name for name in before if name not in order)
                raise ValueError(
                    f"{self.model_path}: each of these nodes waits for another in the same step: {waiting}; what is of "
                    "the step before belongs into feedback_flow"
                )
            order.append(ready)
        return order

    def _open(self, name: str, model: dict, device) -> _Node:
        if any(part not in model for part in ("inputs", "outputs", "parameters")):
            raise ValueError(f"{self.model_path}: model '{name}' must have inputs, outputs and parameters")
        parameters = model["parameters"]
        kind, place = parameters.get("backend"), parameters.get("model_path")
        if kind is None or place is None:
            raise ValueError(
                f"node '{name}' has no model (export_with=None): write its model_path, sha256sum and backend into "
                f"{self.model_path}"
            )
        path = self._file(place)
        _check(path, parameters.get("sha256sum"))
        for extra, sums in (parameters.get("data_files") or {}).items():
            _check(self._file(extra), sums.get("sha256sum"))
        ports = []
        for described in (model["inputs"], model["outputs"]):
            # LEAPP has also written shapes as text.
            shapes = [json.loads(p["shape"]) if isinstance(p["shape"], str) else p["shape"] for p in described]
            ports.append([{**p, "shape": list(shape)} for p, shape in zip(described, shapes, strict=True)])
        # LEAPP does not say where it traced a model, and runs all on a GPU if there is one.
        traced = _runners.usable_device(kind, parameters.get("device", "cuda"))
        where = torch.device(device) if device is not None else traced
        try:
            model = _runners.load(kind, path, *ports, where, parameters)
        except (ImportError, OSError, ValueError):
            raise
        except Exception as error:
            # What a framework raises about a model says nothing about where it is.
            raise RuntimeError(f"node '{name}': {path} cannot be loaded: {type(error).__name__}: {error}") from error
        return _Node(name, *ports, where, model)

    def _file(self, place: str) -> Path:
        path = self.model_path.parent / place
        if not path.is_file():
            raise FileNotFoundError(f"{self.model_path} names {place}, and there is no {path}")
        return path

    def _find_routes(self) -> dict[tuple[str, str], list[tuple[str, str]]]:
        """Where each output goes: a node and its input, or out of the pipeline."""
        routes = {(name, port): [] for name, node in self.nodes.items() for port in node.output_names}
        for part in ("data_flow", "feedback_flow"):
            for source, targets in (self.pipeline.get(part) or {}).items():
                node, port = self._port(source, "output")
                for target in targets:
                    other, slot = self._port(target, "input")
                    self._check_fit(source, self._described(node, port, "output"), target, other, slot)
                    routes[node, port].append((other, slot))
        for key in self.outputs:
            routes[self._port(key, "output")].append((_OUT, key))
        for node, port in routes:
            if not routes[node, port]:
                raise ValueError(
                    f"{self.model_path}: output {node}/{port} leads nowhere: name it in data_flow, feedback_flow or "
                    "outputs of the pipeline"
                )
        for key in self.inputs:
            self._port(key, "input")
        return routes

    def _port(self, key: str, what: str) -> tuple[str, str]:
        node, _, port = key.partition("/")
        if node not in self.nodes:
            raise ValueError(f"{self.model_path}: {key} names no node; there are {', '.join(self.nodes)}")
        there = self.nodes[node].input_names if what == "input" else self.nodes[node].output_names
        if port not in there:
            raise ValueError(f"{self.model_path}: {key} names no {what} of '{node}'; it has {', '.join(there)}")
        return node, port

    def _check_fit(self, source: str, described: dict, target: str, node: str, slot: str) -> None:
        taken = self._described(node, slot, "input")
        if described["shape"] != taken["shape"]:
            raise ValueError(
                f"Shape mismatch in pipeline connection: {source} {described['shape']} -> {target} {taken['shape']}"
            )
        if described["dtype"] != taken["dtype"]:
            raise ValueError(
                f"Dtype mismatch in pipeline connection: {source} {described['dtype']} -> {target} {taken['dtype']}"
            )

    def _described(self, node: str, port: str, what: str) -> dict:
        ports = self.nodes[node].inputs if what == "input" else self.nodes[node].outputs
        return next(described for described in ports if described["name"] == port)

    def _shape(self, node: str, port: str) -> tuple[int, ...]:
        return tuple(self._described(node, port, "input")["shape"])

    def _dtype(self, node: str, port: str) -> torch.dtype:
        return dtype_of(self._described(node, port, "input")["dtype"])

    def _split(self, key: str) -> tuple[str, str]:
        """A node and an input from "node/input", as somebody who runs the pipeline names it."""
        node, slash, port = key.partition("/")
        if not slash:
            raise KeyError(f"{key!r} is not of the form 'node/input'; the pipeline's inputs are {self.inputs}")
        if node not in self.nodes or port not in self.nodes[node].input_names:
            raise KeyError(f"the pipeline has no input {key!r}; its inputs are {self.inputs}")
        return node, port

    def _value(self, node: str, port: str, value: Any) -> torch.Tensor:
        shape, dtype = self._shape(node, port), self._dtype(node, port)
        tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(_array(value, dtype))
        if tensor.dtype != dtype:
            raise TypeError(f"{node}/{port} is {dtype}, got {tensor.dtype}")
        if tuple(tensor.shape) != shape:
            raise ValueError(f"{node}/{port} has shape {shape}, got {tuple(tensor.shape)}")
        return tensor.detach().to(self.nodes[node].device)

    def _initial_values(self) -> dict[str, torch.Tensor]:
        place = self.pipeline.get("initial_values")
        if not place:
            return {}
        path = self._file(place)
        _check(path, (self.pipeline.get("initial_values_digests") or {}).get("sha256sum"))
        values = load_file(str(path))
        for key, value in values.items():
            node, port = self._port(key, "input")
            if tuple(value.shape) != self._shape(node, port) or value.dtype != self._dtype(node, port):
                raise ValueError(
                    f"{path}: {key} is {tuple(value.shape)} of {value.dtype}, the input is "
                    f"{self._shape(node, port)} of {self._dtype(node, port)}"
                )
        return values


def _listed(ports: dict | None) -> list[str]:
    return [f"{node}/{port}" for node, names in (ports or {}).items() for port in names]


def _check(path: Path, expected: str | None) -> None:
    """Compares a file with its digest, if the description has one."""
    if not expected:
        return
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} is not the file that was exported: its SHA-256 is {found}, the description says {expected}"
        )


def _array(value: Any, dtype: torch.dtype) -> Any:
    """A value that is no tensor: arrays as they are, numbers and lists as the input's dtype."""
    if isinstance(value, np.ndarray):
        return value
    return torch.tensor(value, dtype=dtype)
