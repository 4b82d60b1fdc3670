"""Pipelines made by hand, so that export is tested apart from tracing: modules of PyTorch and bundles of kernels."""

import os

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("safetensors", reason="safetensors is not installed")

import inkle as wp  # noqa: E402
from inkle.leapp._pipeline import Node, Pipeline, Port, Segment, State  # noqa: E402

EXECUTIONS = 3


def operators():
    """Loads the operator libraries, or skips the test."""
    try:
        import inkle.onnx
        import inkle.torch

        inkle.torch.load()
        assert os.path.exists(inkle.onnx.library_path())
    except (ImportError, OSError, AssertionError) as error:
        pytest.skip(f"the operator libraries are not built: {type(error).__name__}")


@wp.kernel
def mix(
    a: wp.array(dtype=float), b: wp.array(dtype=float), total: wp.array(dtype=float), product: wp.array(dtype=float)
):
    i = wp.tid()
    total[i] = a[i] + b[i]
    product[i] = a[i] * b[i]


def mix_bundle(tmp_path, size=4):
    """A bundle of the kernel: inputs a and b, outputs total and product."""
    a, b, total, product = (wp.zeros(size, dtype=float, device="cpu") for _ in range(4))
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(mix, dim=size, inputs=[a, b], outputs=[total, product], device="cpu")
    path = tmp_path / "mix.inkle"
    wp.capture_save(capture.graph, path, inputs={"a": a, "b": b}, outputs={"total": total, "product": product})
    data = path.read_bytes()
    path.unlink()
    return data


class Mixing(torch.nn.Module):
    """Calls the kernel through the operator."""

    def __init__(self, bundle, forward, size=4):
        super().__init__()
        self.register_buffer("bundle", torch.frombuffer(bytearray(bundle), dtype=torch.uint8))
        self._forward, self._signature = forward, f"float32[{size}] float32[{size}]"

    def mix(self, a, b):
        return torch.ops.inkle.replay.default(self.bundle, [a, b], self._signature)

    def forward(self, a, b):
        return self._forward(self, a, b)


class _Flat(torch.fx.Tracer):
    """Traces through modules, so that weights are constants of the graph, as they are in a traced program."""

    def is_leaf_module(self, module, name):
        return False


def graph_module(module):
    """The graph of a module."""
    return torch.fx.GraphModule(module, _Flat().trace(module))


def port(name, examples, **more):
    """A port that has had these values."""
    first = examples[0]
    return Port(name, tuple(first.shape), first.dtype, first.device, examples=list(examples), **more)


def node(name, module, inputs, output_names, export_with, index=0, states=(), segments=(), semantics=None, **more):
    """A node of a module and the values of its inputs, {name: [one per execution]}; it is run to have its outputs.

    `states` names inputs; the outputs of the same name are what they become. `sources` gives the inputs' sources.
    """
    sources, feedback = more.pop("sources", {}), more.pop("feedback", ())
    graph = graph_module(module)
    runs = [list(values) for values in zip(*inputs.values(), strict=True)]
    with torch.no_grad():
        results = [graph(*(value.clone() for value in run)) for run in runs]
    results = [result if isinstance(result, tuple) else (result,) for result in results]
    columns = {name: [run[i].clone() for run in results] for i, name in enumerate(output_names)}

    def taken(key):
        more = {"source": sources.get(key), "feedback": key in feedback}
        if semantics and key in semantics:
            more["semantics"] = semantics[key]
        return port(key, inputs[key], **more)

    def given(key):
        return port(key, columns[key], **({"semantics": semantics[key]} if semantics and key in semantics else {}))

    return Node(
        name,
        index,
        [taken(key) for key in inputs if key not in states],
        [given(key) for key in output_names if key not in states],
        [State(key, port(key, inputs[key]), port(key, columns[key])) for key in states],
        graph,
        list(segments),
        export_with,
        source="program.py:1",
        **more,
    )


def values(*shape, seed=0, executions=EXECUTIONS):
    """Random values, one tensor per execution."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=generator) for _ in range(executions)]


def pipeline(tmp_path, *nodes, name="pipe", **more):
    """The pipeline of nodes."""
    return Pipeline(name, tmp_path / name, list(nodes), **more)


class Policy(torch.nn.Module):
    """Two layers; the second output is the first, the third a constant, the fourth the input."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ELU(), torch.nn.Linear(16, 4))
        self.register_buffer("gain", torch.full((4,), 30.0))

    def forward(self, observation, unused):
        action = self.layers(observation)
        return action, action, self.gain, observation


def policy(export_with, **more):
    """A node of the policy."""
    inputs = {"observation": values(8, seed=1), "unused": values(2, seed=2)}
    return node("policy", Policy(), inputs, ["action", "same", "gain", "passed"], export_with, **more)


class Smoothing(torch.nn.Module):
    """Keeps a running mean."""

    def forward(self, x, mean):
        new = mean * 0.75 + x * 0.25
        return new * 2.0, new


def smoothing(export_with, **more):
    """A node of the running mean, and the means that it has had."""
    x, mean, means = values(4, seed=3), torch.zeros(4), []
    for value in x:
        means.append(mean)
        mean = mean * 0.75 + value * 0.25
    return node("smooth", Smoothing(), {"x": x, "mean": means}, ["y", "mean"], export_with, states=("mean",), **more)


def kernel_node(tmp_path, export_with, forward, names, index=0, **more):
    """A node around the kernel; `forward(module, a, b)` is what it does."""
    operators()
    bundle = mix_bundle(tmp_path)
    segment = Segment("segment_0", bundle, ["a", "b"], ["total", "product"], "program.py:7")
    inputs = {"a": values(4, seed=4), "b": values(4, seed=5)}
    return node("kernels", Mixing(bundle, forward), inputs, names, export_with, index, segments=[segment], **more)
