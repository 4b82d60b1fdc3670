"""From a program to a directory that runs: traced, exported, and run on values that the trace has not seen."""

import subprocess
import sys

import numpy as np
import pytest
from _built import operators, torch

import inkle as wp
from inkle import leapp


@wp.kernel
def spring(q: wp.array2d(dtype=float), rest: wp.array(dtype=float), stiffness: float, out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = stiffness * (rest[j] - q[i, j])


@wp.kernel
def tilt(up: wp.array(dtype=wp.vec3), out: wp.array2d(dtype=float)):
    i = wp.tid()
    out[i, 3] = wp.length(wp.cross(up[i], wp.vec3(0.0, 0.0, 1.0)))


@wp.kernel
def weigh(x: wp.array2d(dtype=float), gain: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    out[i, j] = out[i, j] * gain[0] + x[i, j] * gain[1]


REST = [0.1, -0.2, 0.3]


def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(7, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).requires_grad_(False)


def step(policy, q, up, last, mark=leapp.annotate, formats=(None, None)):
    """Kernels and PyTorch, then PyTorch; the second stage's result is what the first takes in the next step."""
    device = str(q.device)
    q, up, last = mark.input_tensors("observe", {"q": q, "up": up, "last": last})
    seen = wp.zeros((q.shape[0], 4), dtype=float, device=device)
    rest = wp.array(REST, dtype=float, device=device)
    wp.launch(spring, q.shape, inputs=[wp.from_torch(q), rest, 4.0], outputs=[seen], device=device)
    wp.launch(tilt, q.shape[0], inputs=[wp.from_torch(up, dtype=wp.vec3)], outputs=[seen], device=device)
    observation = torch.cat([wp.to_torch(seen), last * 0.5], dim=1)
    observation = mark.output_tensors("observe", {"observation": observation}, export_with=formats[0])
    x = mark.input_tensors("policy", {"observation": observation})
    said = leapp.TensorSemantics("target", policy(x), leapp.OutputKindEnum.JOINT_POSITION)
    return mark.output_tensors("policy", [said], export_with=formats[1])


def measured(count, seed, device="cpu"):
    generator = torch.Generator().manual_seed(seed)
    return [[torch.randn(2, 3, generator=generator).to(device) for _ in range(2)] for _ in range(count)]


def exported(tmp_path, formats, executions=2, device="cpu", **options):
    """The directory of the program's pipeline."""
    operators()
    policy, last = network().to(device), torch.zeros(2, 3, device=device)
    leapp.start("loop", save_path=str(tmp_path))
    try:
        for q, up in measured(executions, 0, device):
            last = step(policy, q, up, last, formats=formats)
    finally:
        leapp.stop()
    leapp.compile_graph(**options)
    return tmp_path / "loop"


@pytest.mark.parametrize(
    "formats", [("onnx", "onnx"), ("pt2", "pt2"), ("onnx-torchscript", "jit"), ("pt2", "onnx"), ("onnx", "jit-trace")]
)
def test_the_exported_loop_does_what_the_program_does(tmp_path, formats, device):
    directory = exported(tmp_path, formats, device=device)
    manager = leapp.InferenceManager(directory / "loop.yaml")
    policy, last = network().to(device), torch.zeros(2, 3, device=device)
    for q, up in measured(5, 1, device):
        last = step(policy, q, up, last)
        found = manager.run_policy({"observe/q": q, "observe/up": up})
        torch.testing.assert_close(found["policy/target"].cpu(), last.cpu(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("formats", [("onnx", "onnx"), ("pt2", "pt2"), ("pt2", "jit")])
def test_what_was_exported_without_a_gpu_runs_on_one(tmp_path, formats, cuda_device):
    """The files hold code for both; the program on the CPU is what they are compared with."""
    if "onnx" in formats:
        onnxruntime = pytest.importorskip("onnxruntime")
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            pytest.skip("this ONNX Runtime has no CUDAExecutionProvider")
    manager = leapp.InferenceManager(exported(tmp_path, formats) / "loop.yaml", device=cuda_device)
    policy, last = network(), torch.zeros(2, 3)
    for q, up in measured(5, 1):
        last = step(policy, q, up, last)
        found = manager.run_policy({"observe/q": q, "observe/up": up})
        assert found["policy/target"].device.type == "cuda"
        torch.testing.assert_close(found["policy/target"].cpu(), last, rtol=1e-4, atol=1e-5)


def test_the_directory_has_all_that_belongs_to_it(tmp_path):
    directory = exported(tmp_path, ("onnx", "pt2"), graph_configs=leapp.GraphConfigs(50.0))
    assert {file.name for file in directory.iterdir()} == {
        "observe.onnx",
        "policy.pt2",
        "loop.yaml",
        "loop_initial_values.safetensors",
        "loop.svg",
        "loop.png",
    }
    drawing = (directory / "loop.svg").read_text()
    for word in ("observe", "policy", "spring", "tilt", "target to last", "target/joint/position", "50 Hz"):
        assert f">{word}<" in drawing or word in drawing, word


def test_one_execution_is_enough(tmp_path):
    directory = exported(tmp_path, ("pt2", "pt2"), executions=1)
    manager = leapp.InferenceManager(directory / "loop.yaml")
    assert manager.inputs == ["observe/q", "observe/up", "observe/last"], "nothing was fed back in one execution"


def test_kernels_and_a_format_without_them(tmp_path):
    with pytest.raises(NotImplementedError, match="node 'observe' contains kernels .*'jit' cannot hold"):
        exported(tmp_path, ("jit", "jit"))


def test_kernels_alone_are_a_graph_file(tmp_path):
    operators()
    leapp.start("alone", save_path=str(tmp_path))
    try:
        q = leapp.annotate.input_tensors("observe", {"q": wp.array([[1.0, 2.0, 3.0]], dtype=float, device="cpu")})
        out = wp.zeros((1, 4), dtype=float, device="cpu")
        rest = wp.array(REST, dtype=float, device="cpu")
        wp.launch(spring, (1, 3), inputs=[q, rest, 2.0], outputs=[out], device="cpu")
        leapp.annotate.output_tensors("observe", {"out": out}, export_with="inkle")
    finally:
        leapp.stop()
    leapp.compile_graph()
    graph = wp.capture_load(tmp_path / "alone/observe.inkle", device="cpu")
    assert list(graph.params) == ["q", "out"]
    manager = leapp.InferenceManager(tmp_path / "alone/alone.yaml")
    found = manager.run_policy({"observe/q": torch.zeros(1, 3)})["observe/out"]
    torch.testing.assert_close(found, torch.tensor([[0.2, -0.4, 0.6, 0.0]]))


def test_kernels_between_tensors_of_pytorch_are_a_graph_file_too(tmp_path):
    operators()
    leapp.start("alone", save_path=str(tmp_path))
    try:
        q = leapp.annotate.input_tensors("observe", {"q": torch.tensor([[1.0, 2.0, 3.0]])})
        out = wp.zeros((1, 4), dtype=float, device="cpu")
        rest = wp.array(REST, dtype=float, device="cpu")
        wp.launch(spring, (1, 3), inputs=[wp.from_torch(q), rest, 2.0], outputs=[out], device="cpu")
        leapp.annotate.output_tensors("observe", {"out": wp.to_torch(out)}, export_with="inkle")
    finally:
        leapp.stop()
    assert leapp.compile_graph() == {"observe": True}


def test_several_runs_of_kernels_are_one_graph_file(tmp_path):
    """Waiting between launches and buffers that stay as they are do not keep a node from being a graph file."""
    operators()
    rest = wp.array(REST, dtype=float, device="cpu")

    def program(q):
        q, gain = leapp.annotate.input_tensors("observe", {"q": q}), wp.array([2.0, 3.0], dtype=float, device="cpu")
        gain = leapp.annotate.register_buffer("observe", {"gain": gain})
        first, second = (wp.zeros((1, 4), dtype=float, device="cpu") for _ in range(2))
        wp.launch(spring, (1, 3), inputs=[q, rest, 2.0], outputs=[first], device="cpu")
        wp.synchronize()
        wp.launch(weigh, (1, 3), inputs=[first, gain], outputs=[q], device="cpu")
        wp.synchronize()
        wp.launch(spring, (1, 3), inputs=[q, rest, 0.5], outputs=[second], device="cpu")
        leapp.annotate.output_tensors("observe", {"first": first, "second": second, "moved": q}, export_with="inkle")
        return first, second, q

    leapp.start("alone", save_path=str(tmp_path))
    try:
        values = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([[-1.0, 0.5, 0.0]])
        wanted = [[a.numpy().copy() for a in program(wp.from_torch(q.clone()))] for q in values]
    finally:
        leapp.stop()
    assert leapp.compile_graph() == {"observe": True}
    graph = wp.capture_load(tmp_path / "alone/observe.inkle", device="cpu")
    assert list(graph.params) == ["q", "first", "second", "moved"]
    manager = leapp.InferenceManager(tmp_path / "alone/alone.yaml")
    for q, results in zip(values, wanted, strict=True):
        found = manager.run_policy({"observe/q": q})
        for name, result in zip(("first", "second", "moved"), results, strict=True):
            np.testing.assert_allclose(found[f"observe/{name}"].numpy(), result, rtol=1e-6)


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "onnx_ir":
            raise ModuleNotFoundError("No module named 'onnx_ir'", name="onnx_ir")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, "inkle.leapp._backends._onnx", raising=False)
    with pytest.raises(
        ImportError, match=r"node 'observe': export_with='onnx' needs onnx_ir: pip install inkle\[export\]"
    ):
        exported(tmp_path, ("onnx", "onnx"))


def test_without_pytorch_the_package_says_what_it_needs():
    program = "import sys; sys.modules['torch'] = None; import inkle; import inkle.leapp"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "ImportError: inkle.leapp needs torch: pip install inkle[export]" in done.stderr
