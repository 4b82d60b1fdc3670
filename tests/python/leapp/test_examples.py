"""Whole programs, from annotations to models that run: the patterns that LEAPP's users write."""

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")
pytest.importorskip("onnx", reason="no onnx")
pytest.importorskip("onnxruntime", reason="no ONNX Runtime")

import kernels as k  # noqa: E402
import numpy as np  # noqa: E402

import inkle as wp  # noqa: E402
from inkle import leapp  # noqa: E402
from inkle.leapp import InferenceManager, TensorSemantics, annotate  # noqa: E402


def exported(path, program, name="pipe", **options):
    """Traces a program, exports what it annotates, and opens the result."""
    leapp.start(name, save_path=str(path), **options)
    try:
        program()
    finally:
        leapp.stop()
    assert leapp.compile_graph(visualize=False) is not None
    return InferenceManager(path / name / f"{name}.yaml")


def output(values, name):
    return next(value for key, value in values.items() if key.split("/")[-1] == name)


def test_two_stages(tmp_path):
    weight = torch.randn(8, 4)

    def step(obs):
        x = annotate.input_tensors("preprocess", {"obs": obs})
        features = (x - x.mean()) / (x.std() + 1e-6)
        annotate.output_tensors("preprocess", {"features": features}, export_with="jit")
        f = annotate.input_tensors("policy", {"features": features})
        action = torch.tanh(f @ weight)
        annotate.output_tensors("policy", {"action": action}, export_with="onnx")
        return action

    manager = exported(tmp_path, lambda: step(torch.randn(8)))
    fresh = torch.randn(8)
    got = manager.run_policy({"preprocess/obs": fresh})
    torch.testing.assert_close(output(got, "action"), step(fresh), rtol=1e-4, atol=1e-5)


def test_feedback_between_stages(tmp_path):
    def step(obs, last):
        x, prev = annotate.input_tensors("observe", {"obs": obs, "last_action": last})
        both = torch.cat([x, prev])
        annotate.output_tensors("observe", {"both": both}, export_with="onnx")
        b = annotate.input_tensors("act", {"both": both})
        action = torch.tanh(b[:2] * 0.5 + b[2:])
        annotate.output_tensors("act", {"action": action, "command": action * 2}, export_with="pt2")
        return action

    def program():
        last = torch.zeros(2)
        for i in range(3):
            last = step(torch.full((2,), float(i)), last)

    manager = exported(tmp_path, program)
    last = torch.zeros(2)
    for i in range(4):
        obs = torch.full((2,), 0.3 * i)
        last = step(obs, last)
        got = manager.run_policy({"observe/obs": obs})
        torch.testing.assert_close(output(got, "command"), last * 2, rtol=1e-4, atol=1e-5)


class Memory(torch.nn.Module):
    """A recurrent policy that keeps its state in a buffer."""

    def __init__(self):
        super().__init__()
        self.cell = torch.nn.GRUCell(3, 4)
        self.head = torch.nn.Linear(4, 2)
        self.register_buffer("h", torch.zeros(1, 4))
        self.register_buffer("mean", torch.ones(3))

    def forward(self, x):
        self.h = self.cell(x - self.mean, self.h)
        return self.head(self.h)


@pytest.mark.parametrize("format", ["onnx", "pt2", "jit-trace", "onnx-torchscript"])
def test_a_recurrent_policy(tmp_path, format):
    torch.manual_seed(3)
    live, traced = Memory().requires_grad_(False), Memory().requires_grad_(False)
    traced.load_state_dict(live.state_dict())

    def program():
        for _ in range(2):
            obs = annotate.input_tensors("policy", {"obs": torch.randn(1, 3)})
            annotate.module("policy", traced)
            annotate.output_tensors("policy", {"action": traced(obs)}, export_with=format)

    manager = exported(tmp_path, program)
    for _ in range(3):
        obs = torch.randn(1, 3)
        torch.testing.assert_close(
            output(manager.run_policy({"policy/obs": obs}), "action"), live(obs), rtol=1e-4, atol=1e-5
        )


def history(obs, buffer):
    """The newest of the last values first, as kernels keep it."""
    new = wp.empty_like(buffer)
    wp.copy(new, buffer, dest_offset=4, src_offset=0, count=8)
    wp.copy(new, obs, dest_offset=0, src_offset=0, count=4)
    return new


@pytest.mark.usefixtures("operators")
@pytest.mark.parametrize("format", ["onnx", "pt2", "inkle"])
def test_kernels_with_a_state(tmp_path, format):
    def program():
        buffer = wp.zeros(12, dtype=float, device="cpu")
        for i in range(3):
            obs = annotate.input_tensors(
                "stack", {"obs": wp.array(np.full(4, i, np.float32), dtype=float, device="cpu")}
            )
            state = annotate.state_tensors("stack", {"past": buffer})
            scaled = wp.zeros(4, dtype=float, device="cpu")
            wp.launch(k.squash, dim=4, inputs=[obs], outputs=[scaled], device="cpu")
            buffer = history(scaled, state)
            annotate.update_state("stack", {"past": buffer})
            out = wp.clone(buffer)
            annotate.output_tensors("stack", {"stacked": out}, export_with=format)

    manager = exported(tmp_path, program)
    want = np.zeros(12, np.float32)
    for i in range(4):
        obs = torch.full((4,), 2.0 * i)
        want = np.concatenate([obs.numpy() / (1 + np.abs(obs.numpy())), want[:8]])
        got = output(manager.run_policy({"stack/obs": obs}), "stacked")
        np.testing.assert_allclose(torch.as_tensor(got).numpy(), want, rtol=1e-5)


@pytest.mark.usefixtures("operators")
@pytest.mark.parametrize("format", ["onnx", "pt2"])
def test_torch_numpy_and_kernels_in_one_stage(tmp_path, format):
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh()).requires_grad_(False)

    def step(q, v):
        quat, vel = annotate.input_tensors(
            "obs", [TensorSemantics(name="quat", ref=q, kind="state/body/rotation"), TensorSemantics(name="vel", ref=v)]
        )
        speed, turned = torch.zeros(2), torch.zeros(2, 3)
        wp.launch(
            k.lengths, dim=2, device="cpu",
            inputs=[wp.from_torch(vel, dtype=wp.vec3), wp.from_torch(quat, dtype=wp.quat)],
            outputs=[wp.from_torch(speed), wp.from_torch(turned, dtype=wp.vec3)],
        )  # fmt: skip
        scaled = np.concatenate([speed.numpy()[:, None], turned.numpy()], axis=1) * 0.5
        act = wp.from_torch(net(torch.from_numpy(scaled)).reshape(-1).contiguous())
        wp.launch(k.scale, dim=8, inputs=[act, 2.0], device="cpu")
        result = wp.to_torch(act)
        annotate.output_tensors("obs", {"action": result}, export_with=format)
        return result

    def values():
        q = torch.nn.functional.normalize(torch.randn(2, 4), dim=1)
        return q, torch.randn(2, 3)

    manager = exported(tmp_path, lambda: step(*values()))
    q, v = values()
    got = output(manager.run_policy({"obs/quat": q, "obs/vel": v}), "action")
    torch.testing.assert_close(got, step(q, v), rtol=1e-4, atol=1e-5)


def test_a_method_with_structures(tmp_path):
    class Robot:
        @annotate.method(node_name="observe", export_with="onnx")
        def observe(self, state, *, command):
            pos, vel = state["pos"], state["vel"]
            obs = torch.cat([pos, vel * 0.1, command])
            return obs

    robot = Robot()
    given = {"pos": torch.ones(2), "vel": torch.ones(2)}
    manager = exported(tmp_path, lambda: robot.observe(given, command=torch.zeros(1)))
    got = manager.run_policy(
        {"observe/state_pos": torch.zeros(2), "observe/state_vel": torch.ones(2), "observe/command": torch.ones(1)}
    )
    assert torch.allclose(output(got, "obs"), torch.tensor([0, 0, 0.1, 0.1, 1.0]))


def test_values_that_change_are_found_before_the_export(tmp_path):
    steps = iter(range(3))

    def program():
        for _ in range(2):
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            annotate.output_tensors("a", {"y": x + next(steps)}, export_with="onnx")

    with pytest.raises(leapp.TraceError, match="other arguments"):
        exported(tmp_path, program)
