"""A node's module made ready for PyTorch's exporters."""

from __future__ import annotations

import copy

import torch
from torch import fx

from .._pipeline import Node


def load_operator() -> None:
    """Makes the operator that replays kernels known to PyTorch and its exporters.

    Raises:
        FileNotFoundError: if its library is not there; the message says where it is looked for.
    """
    import inkle.torch

    inkle.torch.load()


def is_replay(call: fx.Node) -> bool:
    """Whether a step of a graph is a call of that operator. Graphs without kernels are asked where it is not loaded."""
    return call.op == "call_function" and str(call.target) == "inkle.replay.default"


def detached(tensor: torch.Tensor) -> torch.Tensor:
    """A copy that autograd and inference mode know nothing of."""
    with torch.inference_mode(False), torch.no_grad():
        return tensor.detach().clone()


def example_inputs(node: Node) -> tuple[torch.Tensor, ...]:
    """Values of the inputs in the first execution, of their own memory each.

    Raises:
        ValueError: if the node was not executed.
    """
    for port in node.all_inputs:
        if not port.examples:
            raise ValueError(f"{node.name}/{port.name} has no value: the node was not executed")
    return tuple(detached(port.examples[0]) for port in node.all_inputs)


def exportable(node: Node) -> fx.GraphModule:
    """A copy of the node's module whose constants are buffers of its own.

    Parameters of the program's modules stay untouched, tensors of inference mode, which exporters refuse, are gone, and
    the module changes none of its inputs.
    """
    if node.segments:
        load_operator()
    module = fx.GraphModule(node.module, copy.deepcopy(node.module.graph))
    for used in list(module.graph.nodes):
        if used.op not in ("get_attr", "call_module"):
            continue
        owner, _, name = used.target.rpartition(".")
        owner = module.get_submodule(owner)
        value = getattr(owner, name)
        if used.op == "call_module":
            setattr(owner, name, copy.deepcopy(value))
        elif isinstance(value, torch.nn.Parameter) or (isinstance(value, torch.Tensor) and value.is_inference()):
            delattr(owner, name)
            owner.register_buffer(name, detached(value))
    module.eval()
    if _changes_inputs(node, module):
        _work_on_copies(module)
    return module


def exported_program(node: Node, module: fx.GraphModule, strict: bool = False) -> torch.export.ExportedProgram:
    """The module as `torch.export` sees it."""
    with torch.no_grad():
        return torch.export.export(module, example_inputs(node), strict=strict)


def _changes_inputs(node: Node, module: fx.GraphModule) -> bool:
    """Whether the module writes into an input, which nobody who calls a model expects."""
    inputs = example_inputs(node)
    before = [value._version for value in inputs]
    with torch.inference_mode(False), torch.no_grad():
        module(*inputs)
    return [value._version for value in inputs] != before


def _work_on_copies(module: fx.GraphModule) -> None:
    """Lets the module write into copies of its inputs."""
    for placeholder in module.graph.find_nodes(op="placeholder"):
        with module.graph.inserting_after(placeholder):
            copy = module.graph.call_function(torch.clone, (placeholder,))
        placeholder.replace_all_uses_with(copy, delete_user_cb=lambda user, copy=copy: user is not copy)
    module.recompile()
