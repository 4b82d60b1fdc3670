"""From what was recorded to a module: in-place operations become new values, and what no output needs goes."""

from __future__ import annotations

import operator

import torch
import torch.fx
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx

from ._portable import portable
from ._recorder import Recorder

aten = torch.ops.aten


def finish(
    recorder: Recorder, inputs: dict[str, torch.Tensor], results: list[torch.fx.Node | torch.Tensor]
) -> tuple[torch.fx.GraphModule, set[str]]:
    """The module of a node, called with `inputs` (in that order; the values are examples), and the inputs it does not use.

    `results` are what it returns: nodes of the recorder's graph, or constants.
    """
    root = torch.nn.Module()
    for name, value in recorder.module.named_buffers():
        root.register_buffer(name, value)
    for name, value in recorder.module.named_parameters():
        root.register_parameter(name, value)
    graph = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {
        recorder.placeholders[name]: graph.placeholder(name) for name in inputs
    }
    for name, attribute in recorder.baked.items():
        copies[recorder.placeholders[name]] = graph.get_attr(attribute)
    for node in recorder.graph.nodes:
        if node.op != "placeholder":
            copies[node] = graph.node_copy(node, lambda n: copies[n])
    returned = []
    for index, result in enumerate(results):
        if isinstance(result, torch.Tensor):
            root.register_buffer(f"static_{index}", result)
            returned.append(graph.get_attr(f"static_{index}"))
        else:
            returned.append(copies[result])
    graph.output(tuple(returned))
    _drop_dead(graph)
    if any(_writes(node) for node in graph.nodes):
        graph = _functional(root, graph, list(inputs.values()))
    for node in graph.nodes:
        # No other value shares memory with these any more, and models run on inputs of any strides.
        if node.target in (aten.view.default, aten._unsafe_view.default):
            node.target = aten.reshape.default
    _drop_dead(graph)
    names = dict(zip([n for n in graph.nodes if n.op == "placeholder"], inputs, strict=True))
    unused = {name for node, name in names.items() if not node.users}
    used_attributes = {node.target for node in graph.nodes if node.op == "get_attr"}
    for name in [n for n, _ in root.named_buffers() if n not in used_attributes]:
        del root._buffers[name]
    for name in [n for n, _ in root.named_parameters() if n not in used_attributes]:
        del root._parameters[name]
    graph.lint()
    return torch.fx.GraphModule(root, graph), unused


def drop_inputs(module: torch.fx.GraphModule, names: set[str]) -> None:
    """Removes inputs that a module does not use."""
    for node in [n for n in module.graph.nodes if n.op == "placeholder" and n.target in names]:
        module.graph.erase_node(node)
    module.recompile()


def drop_outputs(module: torch.fx.GraphModule, places: set[int]) -> None:
    """Removes outputs of a module, and what only they need."""
    final = module.graph.output_node()
    final.args = (tuple(value for index, value in enumerate(final.args[0]) if index not in places),)
    _drop_dead(module.graph)
    module.recompile()


def _writes(node: torch.fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return node.op == "call_function" and schema is not None and schema.is_mutable


def _drop_dead(graph: torch.fx.Graph) -> None:
    """Removes what no output and no later write needs."""
    for node in reversed(list(graph.nodes)):
        if node.op in ("call_function", "get_attr") and not node.users and not _writes(node):
            graph.erase_node(node)


class _WithConstants(torch.fx.Interpreter):
    """Runs a graph with its constants given as values."""

    def __init__(self, module, constants):
        super().__init__(module)
        self._constants = constants

    def get_attr(self, target, args, kwargs):
        return self._constants[target]


def _functional(root: torch.nn.Module, graph: torch.fx.Graph, examples: list[torch.Tensor]) -> torch.fx.Graph:
    """A graph that does the same without writing to anything."""
    names = list(dict.fromkeys(node.target for node in graph.nodes if node.op == "get_attr"))
    module = torch.fx.GraphModule(root, graph)
    count = len(examples)

    def run(*values):
        return _WithConstants(module, dict(zip(names, values[count:], strict=True))).run(*values[:count])

    given = [value.detach() for value in examples] + [getattr(root, name).detach() for name in names]
    with torch.no_grad():
        made = make_fx(functionalize(run, remove="mutations"), tracing_mode="fake")(*given)
    result = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    old = [node for node in made.graph.nodes if node.op == "placeholder"]
    targets = [node.target for node in graph.nodes if node.op == "placeholder"]
    for node, target in zip(old[:count], targets, strict=True):
        copies[node] = result.placeholder(target)
    for node, name in zip(old[count:], names, strict=True):
        copies[node] = result.get_attr(name)
    #: Results of operations that stand for others, by place.
    found: dict[torch.fx.Node, tuple[int, ...] | None] = {}
    _drop_dead(made.graph)
    for node in made.graph.nodes:
        if node.op == "placeholder":
            continue
        if _writes(node):
            # What was written to the inputs is no business of the caller's.
            copies[node] = copies[node.args[0]]
        elif node.op == "call_function" and node.target is aten.copy.default and _alike(*node.args[:2]):
            copies[node] = copies[node.args[1]]
        elif node.op == "call_function" and node.target is aten.clone.default and _is_plain(node.args[0]):
            # Nothing is written any more, so a value is as good as its copy.
            copies[node] = copies[node.args[0]]
        elif node.op == "call_function" and (same := portable(node.target, node.args, node.kwargs)) is not None:
            target, args, kwargs, places = same
            args, kwargs = torch.fx.map_arg((args, kwargs), lambda n: copies[n])
            copies[node] = result.call_function(target, args, kwargs)
            found[node] = places
        elif node.op == "call_function" and node.target is operator.getitem and node.args[0] in found:
            places, value = found[node.args[0]], copies[node.args[0]]
            taken = (
                value if places is None else result.call_function(operator.getitem, (value, places.index(node.args[1])))
            )
            copies[node] = taken
        elif node.op == "get_attr":
            root.register_buffer(node.target, getattr(made, node.target))
            copies[node] = result.get_attr(node.target)
        else:
            copies[node] = result.node_copy(node, lambda n: copies[n])
    return result


def _is_plain(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and node.op != "placeholder" and not (value.is_conj() or value.is_neg())


def _alike(a: torch.fx.Node, b: torch.fx.Node) -> bool:
    x, y = a.meta.get("val"), b.meta.get("val")
    tensors = isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)
    return tensors and (x.shape, x.dtype, x.device) == (y.shape, y.dtype, y.device)
