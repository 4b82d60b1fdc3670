"""Models against what was seen: each is run on the values of every execution, its outputs compared with the program's."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import torch

from . import _runners
from ._pipeline import Node, Pipeline
from ._yaml import node_device

_log = logging.getLogger("inkle.leapp")


@dataclass
class Result:
    """What became of a model. `verdict`: True, False, or what it raised. `report`: for people, empty if all is well."""

    verdict: bool | Exception
    report: str = ""


@dataclass(frozen=True)
class Difference:
    """The element of an output that differs most, in the execution in which it does."""

    output: str
    execution: int
    index: tuple[int, ...]
    model: float
    program: float
    #: How many times the difference is what is allowed.
    excess: float

    def __str__(self):
        place = f"[{', '.join(map(str, self.index))}]" if self.index else ""
        return (
            f"output '{self.output}'{place} of execution {self.execution} differs most: the model gives "
            f"{self.model:.9g}, the program gave {self.program:.9g} ({self.excess:.3g} times what is allowed)"
        )


class Failed(RuntimeError):
    """Models that do not give what the program gave. `results` has what is known about each node."""

    def __init__(self, nodes: list[str], results: dict[str, Result]):
        lines = [f"{name}: {results[name].report}" for name in nodes]
        super().__init__("\n".join([f"Model validation failed for {len(nodes)} node(s): {nodes}", *lines]))
        self.results = {name: result.verdict for name, result in results.items()}


def failures(results: dict[str, Result]) -> list[str]:
    """The nodes whose models failed."""
    return [name for name, result in results.items() if result.verdict is not True]


def validate_nodes(pipeline: Pipeline, models: dict[str, Any], rtol: float, atol: float) -> dict[str, Result]:
    """Runs each node's model, from its file, and says how it compares.

    A value is right if it is within `atol + rtol * |program's value|`, or if both are the same infinity or no number.
    A node without a model, or with one of a kind that does not run here, is right with a warning.
    """
    results = {}
    for node in pipeline.nodes:
        parameters = models[node.name]["parameters"]
        if parameters["backend"] not in _runners.KINDS:
            if parameters["backend"] is not None:
                _log.warning("node '%s': models of kind %s are not run here", node.name, parameters["backend"])
            results[node.name] = Result(True)
            continue
        try:
            results[node.name] = _validate(pipeline, node, models[node.name], rtol, atol)
        except Exception as error:
            results[node.name] = Result(error, f"its model raised {type(error).__name__}: {error}")
        if report := results[node.name].report:
            _log.error("%s: %s", node.name, report)
    return results


def _validate(pipeline: Pipeline, node: Node, model: dict, rtol: float, atol: float) -> Result:
    parameters = model["parameters"]
    path = pipeline.directory / parameters["model_path"]
    kind = parameters["backend"]
    device = _runners.usable_device(kind, node_device(node))
    runner = _runners.load(kind, path, model["inputs"], model["outputs"], device, parameters)
    worst: Difference | None = None
    wrong: list[int] = []
    executions = min((len(port.examples) for port in node.all_inputs + node.all_outputs), default=0)
    for execution in range(executions):
        inputs = [port.examples[execution].to(device) for port in node.all_inputs]
        outputs = runner(*(value.clone() for value in inputs))
        for port, value in zip(node.all_outputs, outputs, strict=True):
            expected = port.examples[execution]
            if tuple(value.shape) != tuple(expected.shape) or value.dtype != expected.dtype:
                report = (
                    f"output '{port.name}' is {tuple(value.shape)} of {value.dtype}, the program's is "
                    f"{tuple(expected.shape)} of {expected.dtype}"
                )
                return Result(False, report)
            found = largest_difference(port.name, execution, value, expected, rtol, atol)
            if found is None:
                continue
            if execution not in wrong:
                wrong.append(execution)
            if worst is None or found.excess > worst.excess:
                worst = found
    if worst is None:
        return Result(True)
    report = str(worst)
    if 0 not in wrong:
        report += (
            "; the first execution agrees, so a value that changes between executions has probably become a constant: "
            f"give it to annotate.input_tensors('{node.name}', ...)"
        )
    return Result(False, report)


def largest_difference(
    name: str, execution: int, value: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float
) -> Difference | None:
    """The element that is furthest beyond what is allowed, or None if none is."""
    if value.numel() == 0:
        return None
    given, wanted = value.detach().cpu(), expected.detach().cpu()
    # Differences of integers beyond 2**53 would be lost in floats; equal ones are never looked at.
    same = given == wanted
    given, wanted = given.to(torch.float64), wanted.to(torch.float64)
    same |= given.isnan() & wanted.isnan()
    excess = (given - wanted).abs() / (atol + rtol * wanted.abs())
    # What is no number, or infinite on one side only, differs without bound.
    excess = torch.where(same, 0.0, excess.nan_to_num(nan=torch.inf))
    if expected.dtype == torch.bool:
        excess = torch.where(same, 0.0, torch.inf)
    if not (excess > 1.0).any():
        return None
    flat = int(excess.argmax())
    index = tuple(int(i) for i in torch.unravel_index(torch.tensor(flat), given.shape)) if given.dim() else ()
    return Difference(
        name,
        execution,
        index,
        given.flatten()[flat].item(),
        wanted.flatten()[flat].item(),
        excess.flatten()[flat].item(),
    )
