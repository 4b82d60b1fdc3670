"""How the nodes of a pipeline are connected: what flows between them, what comes from outside and what goes there."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from enum import Enum

from ._pipeline import Node, Pipeline, Port, State
from ._semantics import OutputKindEnum

_TARGETS = {kind.value for kind in OutputKindEnum}


@dataclass
class Flow:
    """The connections. Ports are written "node/port".

    `data` and `feedback` lead from an output to the inputs that take it, in the same step and in the next one. `inputs`
    and `outputs` list the ports of each node that are the pipeline's own.
    """

    data: dict[str, list[str]] = field(default_factory=dict)
    feedback: dict[str, list[str]] = field(default_factory=dict)
    inputs: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, list[str]] = field(default_factory=dict)


def flow_of(pipeline: Pipeline) -> Flow:
    """The connections of a pipeline.

    An input without a source is the pipeline's. An output is the pipeline's if nothing takes it, or if its kind says
    that it is a target of the robot's: those leave the pipeline even where the next step reads them too.

    Raises:
        ValueError: if an input's source does not exist, or has another shape or dtype.
    """
    flow = Flow()
    outputs = {(node.name, port.name): port for node in pipeline.nodes for port in node.all_outputs}
    for node in pipeline.nodes:
        for state in node.states:
            flow.feedback.setdefault(f"{node.name}/{state.output.name}", []).append(f"{node.name}/{state.input.name}")
        for port in node.inputs:
            if port.source is None:
                flow.inputs.setdefault(node.name, []).append(port.name)
                continue
            name = f"{node.name}/{port.name}"
            if port.source not in outputs:
                raise ValueError(f"{name} comes from {'/'.join(port.source)}, which no node of the pipeline gives")
            _check_same(port.source, outputs[port.source], name, port)
            edges = flow.feedback if port.feedback else flow.data
            edges.setdefault("/".join(port.source), []).append(name)
    for node in pipeline.nodes:
        for port in node.all_outputs:
            name = f"{node.name}/{port.name}"
            if (name not in flow.data and name not in flow.feedback) or _is_target(port):
                flow.outputs.setdefault(node.name, []).append(port.name)
    return flow


def with_names_apart(node: Node) -> tuple[Node, dict[str, str]]:
    """The node with inputs and outputs of the same name told apart, and the new names of outputs that have one.

    Formats with one list of names for both need it: `x` becomes `x_in` and `x_out`.

    Raises:
        ValueError: if one of those names is taken.
    """
    shared = Counter(port.name for port in node.all_inputs + node.all_outputs)
    shared = {name for name, count in shared.items() if count == 2}
    taken = {port.name for port in node.all_inputs + node.all_outputs}
    for name in sorted(shared):
        if clash := taken & {f"{name}_in", f"{name}_out"}:
            raise ValueError(
                f"node '{node.name}': input and output are both named '{name}', and '{clash.pop()}', which one of them "
                "would be named in the model, is taken: rename one of them"
            )

    def apart(port: Port, ending: str) -> Port:
        if port.name not in shared:
            return port
        return replace(port, name=port.name + ending)

    renamed = replace(
        node,
        inputs=[apart(port, "_in") for port in node.inputs],
        outputs=[apart(port, "_out") for port in node.outputs],
        states=[State(s.name, apart(s.input, "_in"), apart(s.output, "_out")) for s in node.states],
    )
    return renamed, {name: f"{name}_out" for name in shared}


def initial_values(pipeline: Pipeline) -> dict:
    """What the inputs that are fed back hold in the first step, by "node/port"."""
    values = {}
    for node in pipeline.nodes:
        fed_back = [port for port in node.inputs if port.feedback] + [state.input for state in node.states]
        for port in fed_back:
            value = port.initial if port.initial is not None else (port.examples or [None])[0]
            if value is None:
                raise ValueError(f"{node.name}/{port.name} is fed back, but its value in the first step is not known")
            values[f"{node.name}/{port.name}"] = value
    return values


def _is_target(port: Port) -> bool:
    kind = port.semantics.kind if port.semantics is not None else None
    return (kind.value if isinstance(kind, Enum) else kind) in _TARGETS


def _check_same(source: tuple[str, str], output: Port, name: str, port: Port) -> None:
    edge = f"{'/'.join(source)} -> {name}"
    if output.shape != port.shape:
        raise ValueError(f"Shape mismatch in pipeline connection: {edge}: {output.shape} becomes {port.shape}")
    if output.dtype != port.dtype:
        raise ValueError(f"Dtype mismatch in pipeline connection: {edge}: {output.dtype} becomes {port.dtype}")
