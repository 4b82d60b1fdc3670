"""Models that ONNX Runtime runs. Segments of kernels become nodes `Replay` of the domain `ai.inkle`.

PyTorch's exporters do not keep the interface of a model whose outputs are also inputs, constants or each other: they
rename inputs and drop outputs. They are therefore given the values that are computed only, under names of ours, and the
interface is built around the graph that they make.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

import onnx
import onnx_ir as ir
import torch
from onnx_ir import tensor_adapters
from torch import fx

import inkle.onnx

from .._dtypes import parse_signature
from .._pipeline import Node
from . import Saved
from ._module import detached, example_inputs, exportable, exported_program, is_replay

_log = logging.getLogger("inkle.leapp")

#: Initializers beyond this go to a file beside the model: a file in the format itself ends at 2 GiB.
_LARGEST_MODEL = 1 << 30


@dataclass
class _Core:
    """The part of a node that is computed, and where each output of the node comes from."""

    module: fx.GraphModule
    #: For each output of the node: ("computed", index into the module's outputs), ("input", index into the node's
    #: inputs) or ("constant", tensor).
    outputs: list[tuple[str, int | torch.Tensor]]


def save_dynamo(node: Node, directory: Path) -> Saved:
    """The node by way of `torch.export`, `NODE.onnx`."""
    core = _core_of(node)
    inputs, outputs = _names(core)
    model = None
    if outputs:
        _replay_as_node(core.module, next((port.device for port in node.inputs), torch.device("cpu")))
        program = exported_program(node, core.module)
        parameters = node.backend_params
        with _quiet():
            exported = torch.onnx.export(
                program,
                (),
                dynamo=True,
                input_names=inputs,
                output_names=outputs,
                opset_version=parameters.get("opset_version"),
                verify=parameters.get("verify", False),
                optimize=parameters.get("optimize", True),
                report=parameters.get("report", False),
                artifacts_dir=str(directory),
                verbose=False,
            )
        # The same bytes as every other exporter's model, so that what follows is one way for all.
        model = ir.from_proto(exported.model_proto)
    return _save(node, directory, core, model)


def save_torchscript(node: Node, directory: Path) -> Saved:
    """The node by way of TorchScript, `NODE.onnx`."""
    core = _core_of(node)
    inputs, outputs = _names(core)
    model = None
    if outputs:
        parameters = node.backend_params
        module = torch.jit.script(core.module) if parameters.get("prescript") else core.module
        with tempfile.TemporaryDirectory() as folder, _quiet(), _replay_in_torchscript(), torch.no_grad():
            path = Path(folder) / "core.onnx"
            torch.onnx.export(
                module,
                example_inputs(node),
                str(path),
                dynamo=False,
                input_names=inputs,
                output_names=outputs,
                opset_version=parameters.get("opset_version"),
                verbose=False,
            )
            model = ir.from_proto(onnx.load(path))
    return _save(node, directory, core, model)


def _core_of(node: Node) -> _Core:
    module = exportable(node)
    program = exported_program(node, module)
    held = {**program.state_dict, **program.constants}
    signature = program.graph_signature
    constants = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    constants |= signature.inputs_to_lifted_tensor_constants
    inputs = {spec.arg.name: index for index, spec in enumerate(_user_specs(signature.input_specs))}

    outputs = []
    computed: list[int] = []
    seen: dict[str, int] = {}
    for index, spec in enumerate(_user_specs(signature.output_specs)):
        name = spec.arg.name
        if name in inputs:
            outputs.append(("input", inputs[name]))
        elif name in constants:
            outputs.append(("constant", detached(held[constants[name]])))
        else:
            if name not in seen:
                seen[name] = len(computed)
                computed.append(index)
            outputs.append(("computed", seen[name]))

    final = module.graph.output_node()
    values = final.args[0] if isinstance(final.args[0], (tuple, list)) else (final.args[0],)
    final.args = (tuple(values[index] for index in computed),)
    module.recompile()
    return _Core(module, outputs)


def _user_specs(specs):
    kinds = (torch.export.graph_signature.InputKind.USER_INPUT, torch.export.graph_signature.OutputKind.USER_OUTPUT)
    return [spec for spec in specs if spec.kind in kinds]


def _names(core: _Core) -> tuple[list[str], list[str]]:
    """Names of the core's inputs and outputs, which the model will not have in the end."""
    inputs = len(core.module.graph.find_nodes(op="placeholder"))
    outputs = len(core.module.graph.output_node().args[0])
    return [f"inkle_in_{i}" for i in range(inputs)], [f"inkle_out_{i}" for i in range(outputs)]


def _replay_as_node(module: fx.GraphModule, device: torch.device) -> None:
    """Calls of the operator as calls of PyTorch's function for operators that only ONNX knows.

    That function believes its results to be on the CPU, so they are taken to the device where they will be; ONNX has no
    such operation and leaves it out.
    """
    for call in list(module.graph.nodes):
        if not is_replay(call):
            continue
        bundle, inputs, signature = call.args
        ports = parse_signature(signature)
        with module.graph.inserting_before(call):
            replay = module.graph.call_function(
                torch.onnx.ops.symbolic_multi_out,
                (f"{inkle.onnx.DOMAIN}::{inkle.onnx.OP_TYPE}", [bundle, *inputs], {"outputs": signature}),
                {
                    "dtypes": [dtype for dtype, _ in ports],
                    "shapes": [list(shape) for _, shape in ports],
                    "version": inkle.onnx.VERSION,
                },
            )
        call.replace_all_uses_with(replay)
        module.graph.erase_node(call)
        if device.type != "cpu":
            for result in list(replay.users):
                with module.graph.inserting_after(result):
                    there = module.graph.call_method("to", (result, device))
                result.replace_all_uses_with(there, delete_user_cb=lambda user, there=there: user is not there)
    module.recompile()


@contextlib.contextmanager
def _replay_in_torchscript():
    """TorchScript's exporter knowing the operator, for as long as this lasts."""
    from torch.onnx import register_custom_op_symbolic, unregister_custom_op_symbolic

    def symbolic(g, bundle, inputs, outputs):
        from torch.onnx import symbolic_helper

        signature = symbolic_helper._maybe_get_const(outputs, "s")
        ports = parse_signature(signature)
        tensors = symbolic_helper._unpack_list(inputs)
        values = g.op(
            f"{inkle.onnx.DOMAIN}::{inkle.onnx.OP_TYPE}", bundle, *tensors, outputs_s=signature, outputs=len(ports)
        )
        values = values if isinstance(values, (tuple, list)) else (values,)
        for value, (dtype, shape) in zip(values, ports, strict=True):
            value.setType(torch._C.TensorType.get().with_dtype(dtype).with_sizes(list(shape)))
        return g.op("prim::ListConstruct", *values)

    register_custom_op_symbolic("inkle::replay", symbolic, inkle.onnx.VERSION)
    try:
        yield
    finally:
        unregister_custom_op_symbolic("inkle::replay", inkle.onnx.VERSION)


def _save(node: Node, directory: Path, core: _Core, model: ir.Model | None) -> Saved:
    """The node's model around the core's: inputs and outputs with their names, in their order, all of them."""
    if model is None:
        graph = ir.Graph([], [], nodes=[], opset_imports={"": node.backend_params.get("opset_version") or 20}, name="")
        model = ir.Model(graph, ir_version=10, producer_name="inkle")
    graph = model.graph
    graph.name = node.name
    taken = {port.name for port in node.all_inputs + node.all_outputs}
    _rename_inside(graph, taken)

    given = {value.name: value for value in graph.inputs}
    inputs = []
    for index, port in enumerate(node.all_inputs):
        value = given.get(f"inkle_in_{index}") or ir.Value(name="", type=_type(port), shape=ir.Shape(port.shape))
        value.name = port.name
        inputs.append(value)
    computed = list(graph.outputs)
    graph.inputs.clear()
    graph.inputs.extend(inputs)
    graph.outputs.clear()

    opset = graph.opset_imports[""]
    for port, (origin, which) in zip(node.all_outputs, core.outputs, strict=True):
        if origin == "computed":
            value = computed[which]
        elif origin == "input":
            value = inputs[which]
        else:
            value = ir.Value(name=f"inkle_constant_{port.name}", const_value=_constant(which, port))
            value.type, value.shape = _type(port), ir.Shape(port.shape)
            value.const_value.name = value.name
            graph.initializers[value.name] = value
        # An output must be the result of an operator, and one output's only.
        if value.producer() is None or value in graph.outputs:
            identity = ir.node("Identity", [value], version=opset)
            graph.append(identity)
            value = identity.outputs[0]
        value.name, value.type, value.shape = port.name, _type(port), ir.Shape(port.shape)
        graph.outputs.append(value)

    path = directory / f"{node.name}.onnx"
    data = path.with_name(f"{path.name}.data")
    data.unlink(missing_ok=True)
    large = sum(value.const_value.nbytes for value in graph.initializers.values()) > _LARGEST_MODEL
    ir.save(model, path, external_data=data.name if large else None)
    if not node.backend_params.get("skip_validation", False):
        try:
            onnx.checker.check_model(str(path))
        except onnx.checker.ValidationError as error:
            _log.error("node '%s': the model is saved, but ONNX's checker refuses it: %s", node.name, error)
    return Saved("onnx", path, [data] if large else [], {"opset_version": opset})


def _rename_inside(graph: ir.Graph, taken: set[str]) -> None:
    """Gives values inside the graph other names where inputs and outputs of the model will be named so."""
    own = set(graph.inputs) | set(graph.outputs)
    values = [value for value in graph.initializers.values() if value not in own]
    values += [value for inner in graph.all_nodes() for value in inner.outputs if value not in own]
    names = {value.name for value in values} | taken
    for value in values:
        if value.name in taken:
            number = next(i for i in range(len(names) + 1) if f"{value.name}_{i}" not in names)
            value.name = f"{value.name}_{number}"
            names.add(value.name)


def _type(port) -> ir.TensorType:
    return ir.TensorType(tensor_adapters.from_torch_dtype(port.dtype))


def _constant(value: torch.Tensor, port) -> ir.TensorProtocol:
    return tensor_adapters.TorchTensor(value.cpu().contiguous(), name=port.name)


@contextlib.contextmanager
def _quiet():
    """Without what the exporters say on the way about themselves."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [logger.level for logger in loggers]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)
