"""Nodes of kernels only, as the file that inkle's runtime replays: without Python, PyTorch and ONNX Runtime."""

from __future__ import annotations

import operator
from pathlib import Path

import torch

from inkle._native import bundle_with_params

from .._pipeline import Node
from . import Saved
from ._module import is_replay


def save_bundle(node: Node, directory: Path) -> Saved:
    """The node as a bundle, `NODE.inkle`, whose parameters have the names and the order of the node's ports.

    Raises:
        NotImplementedError: if the node does anything but one run of kernels.
    """
    call = _only_call(node)
    segment = node.segments[0]
    graph = node.module.graph
    placeholders = graph.find_nodes(op="placeholder")
    taken = list(call.args[1])
    inputs = []
    for port, placeholder in zip(node.all_inputs, placeholders, strict=True):
        if placeholder not in taken:
            raise _other(node, f"input '{port.name}' is read by no kernel")
        inputs.append((segment.inputs[taken.index(placeholder)], port.name))
    if len(set(taken)) != len(taken) or len(taken) != len(inputs):
        raise _other(node, "a kernel reads what is no input, or one input as two arrays")
    outputs = []
    for port, value in zip(node.all_outputs, graph.output_node().args[0], strict=True):
        if not (isinstance(value, torch.fx.Node) and value.target is operator.getitem and value.args[0] is call):
            raise _other(node, f"output '{port.name}' is not what a kernel wrote")
        outputs.append((segment.outputs[value.args[1]], port.name))

    path = directory / f"{node.name}.inkle"
    path.write_bytes(bundle_with_params(segment.bundle, inputs, outputs))
    return Saved("inkle", path)


def _only_call(node: Node) -> torch.fx.Node:
    """The one call of the operator that the node consists of."""
    calls = [step for step in node.module.graph.nodes if step.op not in ("placeholder", "get_attr", "output")]
    replays = [step for step in calls if is_replay(step)]
    others = [step for step in calls if step not in replays and step.target is not operator.getitem]
    if others:
        raise _other(node, f"it calls {getattr(others[0].target, '__name__', others[0].target)}")
    if len(replays) != 1 or len(node.segments) != 1:
        places = ", ".join(segment.source for segment in node.segments)
        raise _other(node, f"it has {len(node.segments)} runs of kernels{f' ({places})' if places else ''}")
    return replays[0]


def _other(node: Node, why: str) -> NotImplementedError:
    return NotImplementedError(
        f"node '{node.name}' cannot be exported with export_with='inkle', which holds one run of kernels between a "
        f"node's inputs and its outputs: {why}; 'onnx' and 'pt2' hold it"
    )
