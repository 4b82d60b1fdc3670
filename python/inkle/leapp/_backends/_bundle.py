"""Nodes of kernels only, as the file that inkle's runtime replays: without Python, PyTorch and ONNX Runtime."""

from __future__ import annotations

import operator
from pathlib import Path

import torch

from inkle._native import bundle_chain

from .._pipeline import Node
from . import Saved
from ._module import is_replay


def save_bundle(node: Node, directory: Path) -> Saved:
    """The node as a bundle, `NODE.inkle`, whose parameters have the names and the order of the node's ports.

    Several runs of kernels, as waiting for the device makes them, become one.

    Raises:
        NotImplementedError: if the node does anything but run kernels.
    """
    graph = node.module.graph
    placeholders = graph.find_nodes(op="placeholder")
    # What each value is for the chain: the index of an input, (a run of kernels, an output of it), or bytes.
    values = {step: index for index, step in enumerate(placeholders)}
    links, taken = [], set()
    for step in graph.nodes:
        if step.op == "get_attr":
            values[step] = getattr(node.module, step.target)
        elif is_replay(step):
            bundle, arguments = step.args[:2]
            sources = [values[argument] for argument in arguments]
            taken.update(source for source in sources if isinstance(source, int))
            values[step] = len(links)
            links.append((_bytes(values[bundle]), [_source(source) for source in sources]))
        elif step.target is operator.getitem and is_replay(step.args[0]):
            values[step] = (values[step.args[0]], step.args[1])
        elif step.target is torch.ops.aten.clone.default:
            values[step] = values[step.args[0]]
        elif step.op not in ("placeholder", "output"):
            raise _other(node, f"it calls {getattr(step.target, '__name__', step.target)}")

    for index, port in enumerate(node.all_inputs):
        if index not in taken:
            raise _other(node, f"input '{port.name}' is read by no kernel")
    outputs = []
    for port, value in zip(node.all_outputs, graph.output_node().args[0], strict=True):
        source = values.get(value)
        if not isinstance(source, tuple):
            raise _other(node, f"output '{port.name}' is not what a kernel wrote")
        outputs.append((port.name, *source))

    path = directory / f"{node.name}.inkle"
    path.write_bytes(bundle_chain(links, [port.name for port in node.all_inputs], outputs))
    return Saved("inkle", path)


def _source(value):
    return _bytes(value) if isinstance(value, torch.Tensor) else value


def _bytes(tensor: torch.Tensor) -> bytes:
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def _other(node: Node, why: str) -> NotImplementedError:
    places = ", ".join(segment.source for segment in node.segments)
    return NotImplementedError(
        f"node '{node.name}' cannot be exported with export_with='inkle', which holds kernels (here of {places or 'no place'}) "
        f"between a node's inputs and its outputs and nothing else: {why}; 'onnx' and 'pt2' hold it"
    )
