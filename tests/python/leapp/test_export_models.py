"""Each format holds the node: what the model gives is what the program gave, for every execution."""

import numpy as np
import pytest
from _built import EXECUTIONS, kernel_node, node, pipeline, policy, smoothing, torch, values

from inkle.leapp import _runners
from inkle.leapp._compile import compile_pipeline

TORCH_FORMATS = ["onnx", "onnx-dynamo", "onnx-torchscript", "pt2", "jit", "jit-script", "jit-trace"]
KERNEL_FORMATS = ["onnx", "onnx-torchscript", "pt2"]


def export(tmp_path, made, **more):
    """Exports one node; its directory."""
    pipe = pipeline(tmp_path, made)
    assert compile_pipeline(pipe, visualize=False, **more) == {made.name: True}
    return pipe.directory


@pytest.mark.parametrize("export_with", TORCH_FORMATS)
def test_what_is_passed_on_repeated_constant_or_unused_keeps_its_place(tmp_path, export_with):
    directory = export(tmp_path, policy(export_with))
    assert {file.suffix for file in directory.iterdir()} - {".yaml"} == {
        {"o": ".onnx", "p": ".pt2", "j": ".pt"}[export_with[0]]
    }


@pytest.mark.parametrize("export_with", TORCH_FORMATS)
def test_state_is_an_input_and_an_output(tmp_path, export_with):
    export(tmp_path, smoothing(export_with))


@pytest.mark.parametrize("export_with", TORCH_FORMATS)
def test_a_call_that_torchscript_compiles_differently_is_exported(tmp_path, export_with):
    class Length(torch.nn.Module):
        def forward(self, x):
            return x.norm()

    export(tmp_path, node("length", Length(), {"x": values(5)}, ["length"], export_with))


@pytest.mark.parametrize("export_with", TORCH_FORMATS)
def test_the_program_changing_its_input_does_not_change_the_models(tmp_path, export_with):
    class Doubling(torch.nn.Module):
        def forward(self, x):
            x.mul_(2.0)
            return x + 1.0

    made = node("double", Doubling(), {"x": values(5)}, ["y"], export_with)
    directory = export(tmp_path, made)
    kind = {"o": "onnx", "p": "pt2", "j": "jit"}[export_with[0]]
    ports = [{"name": "x", "dtype": "float32", "shape": [5]}], [{"name": "y", "dtype": "float32", "shape": [5]}]
    path = next(file for file in directory.iterdir() if file.stem == "double")
    model = _runners.load(kind, path, *ports, torch.device("cpu"), {"device": "cpu"})
    x = torch.arange(5.0)
    torch.testing.assert_close(model(x)[0], torch.arange(5.0) * 2 + 1)
    torch.testing.assert_close(x, torch.arange(5.0))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "bool"])
@pytest.mark.parametrize("export_with", ["onnx", "pt2", "jit"])
def test_dtypes_cross_the_edge(tmp_path, export_with, dtype):
    class Same(torch.nn.Module):
        def forward(self, x, y):
            return torch.stack([x, y]), x

    x = [(value * 10).to(getattr(torch, dtype)) for value in values(2, 3)]
    made = node("same", Same(), {"x": x, "y": x[::-1]}, ["both", "x"], export_with)
    export(tmp_path, made)


def test_names_of_ports_are_free(tmp_path):
    """Names that the exporters use themselves, and such that are no identifiers."""

    class Sum(torch.nn.Module):
        def forward(self, a, b, c):
            return a + b * c, b - c

    inputs = {"val_0": values(3), "inkle_out_0": values(3, seed=1), "a b.c": values(3, seed=2)}
    directory = export(tmp_path, node("sum", Sum(), inputs, ["add", "node_mul"], "onnx"))
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(str(directory / "sum.onnx"), providers=["CPUExecutionProvider"])
    assert [i.name for i in session.get_inputs()] == list(inputs)
    assert [o.name for o in session.get_outputs()] == ["add", "node_mul"]


def test_models_of_onnx_pass_its_checker(tmp_path):
    import onnx

    for export_with in ("onnx", "onnx-torchscript"):
        directory = export(tmp_path / export_with, policy(export_with))
        onnx.checker.check_model(str(directory / "policy.onnx"), full_check=True)


def test_opset_version_is_asked_for_and_described(tmp_path):
    import onnx

    directory = export(tmp_path, policy("onnx", backend_params={"opset_version": 21}))
    model = onnx.load(directory / "policy.onnx")
    assert {o.domain: o.version for o in model.opset_import}[""] == 21
    assert "opset_version: 21" in (directory / "pipe.yaml").read_text()


def test_tensors_of_inference_mode_are_exported(tmp_path):
    class Scaling(torch.nn.Module):
        def __init__(self):
            super().__init__()
            with torch.inference_mode():
                self.register_buffer("scale", torch.tensor([1.0, 2.0]))

        def forward(self, x):
            return x * self.scale

    for export_with in ("onnx", "pt2", "jit"):
        with torch.inference_mode():
            made = node("scale", Scaling(), {"x": [torch.ones(2) * i for i in range(3)]}, ["y"], export_with)
        export(tmp_path / export_with, made)


def test_the_programs_module_stays_as_it_was(tmp_path):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    net = Net().train()
    made = node("net", net, {"x": values(3)}, ["y"], "pt2")
    made.module = torch.fx.symbolic_trace(net)
    for export_with in ("pt2", "onnx", "jit"):
        made.export_with = export_with
        export(tmp_path / export_with, made)
    assert net.training and net.layer.training and net.layer.weight.requires_grad


@pytest.mark.parametrize("export_with", KERNEL_FORMATS)
def test_kernels_between_operations(tmp_path, export_with):
    def forward(module, a, b):
        total, product = module.mix(a * 2.0, b)
        return torch.relu(total) + product, a

    export(tmp_path, kernel_node(tmp_path, export_with, forward, ["y", "a"]))


@pytest.mark.parametrize("export_with", [*KERNEL_FORMATS, "inkle"])
def test_kernels_alone(tmp_path, export_with):
    def forward(module, a, b):
        # What the bundle calls a is the second input, and its outputs are in the other order.
        total, product = module.mix(b, a)[0], module.mix(b, a)[1]
        return product, total

    if export_with == "inkle":

        def forward(module, a, b):
            both = module.mix(b, a)
            return both[1], both[0]

    directory = export(tmp_path, kernel_node(tmp_path, export_with, forward, ["product", "total"]))
    if export_with == "inkle":
        import inkle as wp

        graph = wp.capture_load(directory / "kernels.inkle", device="cpu")
        assert list(graph.params) == ["a", "b", "product", "total"]
        graph.set_param("a", wp.array([1.0, 2.0, 3.0, 4.0], dtype=float, device="cpu"))
        graph.set_param("b", wp.full(4, 2.0, dtype=float, device="cpu"))
        wp.capture_launch(graph)
        product = wp.zeros(4, dtype=float, device="cpu")
        graph.get_param("product", product)
        np.testing.assert_array_equal(product.numpy(), [2.0, 4.0, 6.0, 8.0])


def test_segments_are_described(tmp_path):
    def forward(module, a, b):
        both = module.mix(a, b)
        return both[0] + module.mix(both[1], b)[0]

    directory = export(tmp_path, kernel_node(tmp_path, "onnx", forward, ["y"]))
    assert "warp_segments: 1" in (directory / "pipe.yaml").read_text()


@pytest.mark.parametrize("export_with", ["jit", "jit-script", "jit-trace"])
def test_formats_that_cannot_hold_kernels_name_those_that_can(tmp_path, export_with):
    made = kernel_node(tmp_path, export_with, lambda module, a, b: module.mix(a, b)[0], ["y"])
    with pytest.raises(NotImplementedError, match="'kernels' contains kernels.*program.py:7.*'onnx'.*'pt2'.*'inkle'"):
        compile_pipeline(pipeline(tmp_path, made))


@pytest.mark.parametrize(
    ("forward", "names", "why"),
    [
        (lambda m, a, b: m.mix(a, b)[0] + 1.0, ["y"], "it calls add"),
        (lambda m, a, b: m.mix(a, a)[0], ["y"], "input 'b' is read by no kernel"),
        (lambda m, a, b: (m.mix(a, b)[0], a), ["y", "z"], "output 'z' is not what a kernel wrote"),
    ],
)
def test_a_bundle_holds_kernels_only(tmp_path, forward, names, why):
    made = kernel_node(tmp_path, "inkle", forward, names)
    with pytest.raises(NotImplementedError, match=f"'kernels'.*{why}.*'onnx' and 'pt2'"):
        compile_pipeline(pipeline(tmp_path, made))


def test_a_format_that_does_not_exist_is_named_with_those_that_do(tmp_path):
    with pytest.raises(ValueError, match="'policy'.*'onxx' is not known.*'onnx-torchscript'"):
        compile_pipeline(pipeline(tmp_path, policy("onxx")))


def test_a_parameter_that_the_format_does_not_know_is_a_warning(tmp_path, caplog):
    export(tmp_path, policy("pt2", backend_params={"opset_version": 18}))
    assert "export_with='pt2' knows no parameter 'opset_version' (it knows: strict)" in caplog.text


def test_large_models_keep_their_weights_beside_them(tmp_path, monkeypatch):
    from inkle.leapp import InferenceManager
    from inkle.leapp._backends import _onnx

    monkeypatch.setattr(_onnx, "_LARGEST_MODEL", 100)
    directory = export(tmp_path, policy("onnx"))
    data = directory / "policy.onnx.data"
    assert data.stat().st_size > 500
    manager = InferenceManager(directory / "pipe.yaml")
    assert manager.models["policy"]["parameters"]["data_files"].keys() == {"policy.onnx.data"}
    data.write_bytes(data.read_bytes()[:-1] + b"\0")
    with pytest.raises(ValueError, match="policy.onnx.data is not the file that was exported"):
        InferenceManager(directory / "pipe.yaml")


def test_every_execution_is_compared(tmp_path):
    made = policy("pt2")
    assert all(len(port.examples) == EXECUTIONS for port in made.inputs)
    made.outputs[0].examples[2] = made.outputs[0].examples[2] + 1.0
    results = compile_pipeline(pipeline(tmp_path, made), strict=False, visualize=False)
    assert results == {"policy": False}
