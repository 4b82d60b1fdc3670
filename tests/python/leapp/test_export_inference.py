"""Running an exported pipeline: feedback, values, devices, and what is said when something does not fit."""

import numpy as np
import pytest
from _built import kernel_node, node, pipeline, policy, smoothing, torch, values

from inkle.leapp import InferenceManager
from inkle.leapp._compile import compile_pipeline

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

FORMATS = ["onnx", "onnx-torchscript", "pt2", "jit", "jit-trace"]


class Control(torch.nn.Module):
    """Takes what it gave in the step before."""

    def forward(self, target, last):
        return last + (target - last) * 0.5


class Both(torch.nn.Module):
    def forward(self, action, mean):
        new = mean * 0.9 + action * 0.1
        return torch.sin(action) + new, new


def loop(tmp_path, control="pt2", smooth="pt2"):
    """`control` feeds `both`, which keeps a mean; its output goes back to `control`."""
    target, last, mean = values(2, 3, executions=5), torch.ones(2, 3), torch.zeros(2, 3)
    lasts, actions, means, outs = [], [], [], []
    for value in target:
        lasts.append(last)
        actions.append(Control()(value, last))
        means.append(mean)
        last, mean = Both()(actions[-1], mean)
        outs.append(last)
    first = node(
        "control",
        Control(),
        {"target": target, "last": lasts},
        ["action"],
        control,
        sources={"last": ("both", "out")},
        feedback=("last",),
    )
    second = node(
        "both",
        Both(),
        {"action": actions, "mean": means},
        ["out", "mean"],
        smooth,
        1,
        states=("mean",),
        sources={"action": ("control", "action")},
    )
    # What nothing else takes is what the pipeline gives.
    third = node("probe", Probe(), {"x": actions}, ["y"], control, 2, sources={"x": ("control", "action")})
    pipe = pipeline(tmp_path, first, second, third)
    compile_pipeline(pipe, visualize=False)
    return pipe, target, actions


class Probe(torch.nn.Module):
    def forward(self, x):
        return x * 1.0


@pytest.mark.parametrize("export_with", FORMATS)
def test_steps_follow_each_other_as_in_the_program(tmp_path, export_with):
    pipe, target, actions = loop(tmp_path, export_with, export_with)
    manager = InferenceManager(str(pipe.directory / "pipe.yaml"))
    assert manager.inputs == ["control/target"]
    assert manager.outputs == ["probe/y"]
    assert set(manager.feedback_inputs) == {
        "control/last",
        next(f"both/{n}" for n in ("mean", "mean_in") if has(manager, n)),
    }
    for _ in range(2):
        for value, expected in zip(target, actions, strict=True):
            torch.testing.assert_close(manager({"control/target": value})["probe/y"], expected)
        manager.reset()


def has(manager, name):
    return name in manager.value_dict["both"]


def test_formats_mix(tmp_path):
    pipe, target, actions = loop(tmp_path, "onnx", "jit")
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    for value, expected in zip(target, actions, strict=True):
        torch.testing.assert_close(manager.run_policy({"control/target": value})["probe/y"], expected)


def test_a_fed_back_input_can_be_set(tmp_path):
    pipe, target, _ = loop(tmp_path)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    last = torch.full((2, 3), 4.0)
    manager.set_input_value("control", "last", last)
    last.zero_()
    out = manager({"control/target": torch.zeros(2, 3)})
    torch.testing.assert_close(out["probe/y"], torch.full((2, 3), 2.0))


def test_results_are_nobody_elses(tmp_path):
    """Changing what came out, or what went in, changes neither constants of the models nor later steps."""
    pipe = pipeline(tmp_path, policy("pt2"))
    compile_pipeline(pipe, visualize=False)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    given = {"policy/observation": torch.ones(8), "policy/unused": torch.zeros(2)}
    first = manager(given)
    for value in first.values():
        value.fill_(-1.0)
    assert given["policy/observation"].eq(1.0).all()
    torch.testing.assert_close(manager(given)["policy/gain"], torch.full((4,), 30.0))

    pipe, target, actions = loop(tmp_path / "loop", "jit", "jit")
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    for value, expected in zip(target, actions, strict=True):
        out = manager({"control/target": value})["probe/y"]
        torch.testing.assert_close(out, expected)
        out.fill_(1e6)


def test_values_are_tensors_arrays_or_numbers(tmp_path):
    pipe, target, actions = loop(tmp_path)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    torch.testing.assert_close(manager({"control/target": target[0].numpy()})["probe/y"], actions[0])
    manager.reset()
    torch.testing.assert_close(manager({"control/target": target[0].tolist()})["probe/y"], actions[0])


def test_an_input_that_is_not_given_keeps_its_value(tmp_path):
    pipe = pipeline(tmp_path, smoothing("pt2"))
    compile_pipeline(pipe, visualize=False)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    manager({"smooth/x": torch.full((4,), 4.0)})
    torch.testing.assert_close(manager({})["smooth/y"], torch.full((4,), 2.0 * (0.75 * 1.0 + 1.0)))


def test_mock_input_fits(tmp_path):
    class Everything(torch.nn.Module):
        def forward(self, a, b, c, d):
            return a.to(torch.float32) + b + c + d.to(torch.float32)

    inputs = {
        "a": [torch.tensor([True, False])],
        "b": [torch.ones(2, dtype=torch.int8)],
        "c": [torch.ones(2, dtype=torch.int64)],
        "d": [torch.ones(2, dtype=torch.float16)],
    }
    pipe = pipeline(tmp_path, node("all", Everything(), inputs, ["y"], "pt2"))
    compile_pipeline(pipe, visualize=False)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    for _ in range(10):
        mock = manager.get_mock_input()
        assert {key: value.dtype for key, value in mock.items()} == {
            "all/a": torch.bool,
            "all/b": torch.int8,
            "all/c": torch.int64,
            "all/d": torch.float16,
        }
        manager(mock)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"control": torch.zeros(2, 3)}, KeyError, "'control' is not of the form 'node/input'"),
        ({"control/absent": torch.zeros(2, 3)}, KeyError, "no input 'control/absent'.*control/target"),
        ({"absent/target": torch.zeros(2, 3)}, KeyError, "no input 'absent/target'"),
        ({"control/target": torch.zeros(3)}, ValueError, r"control/target has shape \(2, 3\), got \(3,\)"),
        (
            {"control/target": torch.zeros(2, 3).double()},
            TypeError,
            "control/target is torch.float32, got torch.float64",
        ),
        ({"control/target": np.zeros((2, 3), np.int32)}, TypeError, "control/target is torch.float32, got torch.int32"),
    ],
)
def test_values_that_do_not_fit_are_errors_and_change_nothing(tmp_path, given, error, message):
    pipe, target, actions = loop(tmp_path)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    with pytest.raises(error, match=message):
        manager({"control/last": torch.full((2, 3), 9.0), **given})
    torch.testing.assert_close(manager({"control/target": target[0]})["probe/y"], actions[0])


def changed(pipe, change):
    """The pipeline's description with a change."""
    path = pipe.directory / "pipe.yaml"
    data = yaml.safe_load(path.read_text())
    change(data)
    path.write_text(yaml.safe_dump(data))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda d: d.pop("pipeline"),
            "does not describe a pipeline: it must have models, pipeline, system information",
        ),
        (lambda d: d["models"]["both"].pop("inputs"), "model 'both' must have inputs, outputs and parameters"),
        (lambda d: d["models"]["both"]["parameters"].update(backend="trt"), "of kind 'trt' cannot be run here"),
        (lambda d: d["models"]["both"]["parameters"].update(model_path=None), "node 'both' has no model"),
        (lambda d: d["models"]["both"]["parameters"].update(sha256sum="0"), "is not the file that was exported"),
        (lambda d: d["models"]["both"]["inputs"][0].update(shape=[3]), r"Shape mismatch .*control/action \[2, 3\]"),
        (lambda d: d["models"]["both"]["inputs"][0].update(dtype="int32"), "Dtype mismatch .*control/action float32"),
        (
            lambda d: d["pipeline"].update(data_flow=d["pipeline"]["data_flow"] | d["pipeline"].pop("feedback_flow")),
            "each of these nodes waits for another in the same step: both, control",
        ),
        (lambda d: d["pipeline"]["outputs"].clear(), "output probe/y leads nowhere"),
        (lambda d: d["pipeline"]["data_flow"].update({"x/y": []}), "x/y names no node; there are control, both, probe"),
        (lambda d: d["pipeline"]["data_flow"].update({"both/y": []}), "both/y names no output of 'both'; it has out"),
        (lambda d: d["pipeline"]["inputs"].update(both=["z"]), "both/z names no input of 'both'"),
    ],
)
def test_descriptions_that_do_not_fit_are_errors(tmp_path, change, message):
    pipe, *_ = loop(tmp_path)
    with pytest.raises(ValueError, match=message):
        InferenceManager(changed(pipe, change))


def test_files_that_are_missing_or_others_are_errors(tmp_path):
    pipe, *_ = loop(tmp_path)
    path = pipe.directory / "pipe.yaml"
    values_file = pipe.directory / "pipe_initial_values.safetensors"
    data = values_file.read_bytes()
    values_file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(ValueError, match="pipe_initial_values.safetensors is not the file that was exported"):
        InferenceManager(path)
    values_file.unlink()
    with pytest.raises(FileNotFoundError, match="names pipe_initial_values.safetensors, and there is no"):
        InferenceManager(path)
    (pipe.directory / "both.pt2").unlink()
    with pytest.raises(FileNotFoundError, match="names both.pt2, and there is no"):
        InferenceManager(path)
    with pytest.raises(FileNotFoundError, match="no description of a pipeline at .*absent.yaml"):
        InferenceManager(tmp_path / "absent.yaml")
    (tmp_path / "pipe.json").write_text("{}")
    with pytest.raises(ValueError, match="is a .yaml file, not .*pipe.json"):
        InferenceManager(tmp_path / "pipe.json")


def test_descriptions_of_leapp_run(tmp_path):
    """LEAPP says neither where a model was traced nor digests of the initial values, and has written shapes as text."""
    pipe, target, actions = loop(tmp_path)

    def as_leapp(data):
        data["pipeline"].pop("initial_values_digests")
        for model in data["models"].values():
            model["parameters"].pop("device")
            for port in model["inputs"]:
                port["shape"] = str(port["shape"])

    manager = InferenceManager(changed(pipe, as_leapp), device="cpu")
    for value, expected in zip(target, actions, strict=True):
        torch.testing.assert_close(manager({"control/target": value})["probe/y"], expected)


@pytest.mark.parametrize("export_with", ["onnx", "pt2", "inkle"])
def test_kernels_run(tmp_path, export_with):
    def forward(module, a, b):
        both = module.mix(a, b)
        return both[0], both[1]

    made = kernel_node(tmp_path, export_with, forward, ["total", "product"])
    pipe = pipeline(tmp_path, made)
    compile_pipeline(pipe, visualize=False)
    manager = InferenceManager(pipe.directory / "pipe.yaml")
    a, b = values(4, seed=8)[0], values(4, seed=9)[0]
    out = manager({"kernels/a": a, "kernels/b": b})
    torch.testing.assert_close(out["kernels/total"], a + b)
    torch.testing.assert_close(out["kernels/product"], a * b)


@pytest.mark.parametrize("export_with", ["pt2", "jit", "onnx"])
def test_pipelines_traced_on_the_cpu_run_on_a_gpu(tmp_path, export_with, cuda_device):
    if export_with == "onnx":
        onnxruntime = pytest.importorskip("onnxruntime")
        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            pytest.skip("this ONNX Runtime has no CUDAExecutionProvider")
    pipe, target, actions = loop(tmp_path, export_with, export_with)
    manager = InferenceManager(pipe.directory / "pipe.yaml", device=cuda_device)
    for value, expected in zip(target, actions, strict=True):
        out = manager({"control/target": value})["probe/y"]
        assert out.device.type == "cuda"
        torch.testing.assert_close(out.cpu(), expected)
