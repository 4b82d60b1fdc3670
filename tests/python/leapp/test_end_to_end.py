"""From a program to a directory that runs: traced, exported, and run on values that the trace has not seen."""

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


REST = [0.1, -0.2, 0.3]


def network():
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(7, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).requires_grad_(False)


def step(policy, q, up, last, mark=leapp.annotate, formats=(None, None)):
    """Kernels and PyTorch, then PyTorch; the second stage's result is what the first takes in the next step."""
    q, up, last = mark.input_tensors("observe", {"q": q, "up": up, "last": last})
    seen = wp.zeros((q.shape[0], 4), dtype=float, device="cpu")
    rest = wp.array(REST, dtype=float, device="cpu")
    wp.launch(spring, q.shape, inputs=[wp.from_torch(q), rest, 4.0], outputs=[seen], device="cpu")
    wp.launch(tilt, q.shape[0], inputs=[wp.from_torch(up, dtype=wp.vec3)], outputs=[seen], device="cpu")
    observation = torch.cat([wp.to_torch(seen), last * 0.5], dim=1)
    observation = mark.output_tensors("observe", {"observation": observation}, export_with=formats[0])
    x = mark.input_tensors("policy", {"observation": observation})
    said = leapp.TensorSemantics("target", policy(x), leapp.OutputKindEnum.JOINT_POSITION)
    return mark.output_tensors("policy", [said], export_with=formats[1])


def measured(count, seed):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(2, 3, generator=generator), torch.randn(2, 3, generator=generator)) for _ in range(count)]


def exported(tmp_path, formats, executions=2, **options):
    """The directory of the program's pipeline."""
    operators()
    policy, last = network(), torch.zeros(2, 3)
    leapp.start("loop", save_path=str(tmp_path))
    try:
        for q, up in measured(executions, 0):
            last = step(policy, q, up, last, formats=formats)
    finally:
        leapp.stop()
    leapp.compile_graph(**options)
    return tmp_path / "loop"


@pytest.mark.parametrize(
    "formats", [("onnx", "onnx"), ("pt2", "pt2"), ("onnx-torchscript", "jit"), ("pt2", "onnx"), ("onnx", "jit-trace")]
)
def test_the_exported_loop_does_what_the_program_does(tmp_path, formats):
    directory = exported(tmp_path, formats)
    manager = leapp.InferenceManager(directory / "loop.yaml")
    policy, last = network(), torch.zeros(2, 3)
    for q, up in measured(5, 1):
        last = step(policy, q, up, last)
        found = manager.run_policy({"observe/q": q, "observe/up": up})
        torch.testing.assert_close(found["policy/target"], last, rtol=1e-4, atol=1e-5)


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
