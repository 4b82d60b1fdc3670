"""The annotations: names, structures, states, connections and mistakes."""

import dataclasses
import os
import threading
from typing import NamedTuple

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

from inkle import leapp  # noqa: E402
from inkle.leapp import FunctionPatch, InputKindEnum, TensorSemantics, TraceError, TraceWarning, annotate  # noqa: E402


def test_structures_are_flattened_and_given_back(trace):
    class Pair(NamedTuple):
        left: torch.Tensor
        right: torch.Tensor

    @dataclasses.dataclass
    class Feet:
        force: torch.Tensor
        names: list

    given = {
        "robot": {"joint": {"pos": torch.ones(2), "vel": torch.ones(2)}, "imu": [torch.ones(3), torch.ones(3)]},
        "pair": Pair(torch.ones(1), torch.ones(1)),
        "feet": Feet(torch.ones(4), ["l", "r"]),
    }
    with trace():
        robot, pair, feet = annotate.input_tensors("a", given)
        total = robot["joint"]["pos"].sum() + robot["joint"]["vel"].sum() + sum(v.sum() for v in robot["imu"])
        total = total + pair.left + pair.right + feet.force.sum()
        annotate.output_tensors("a", {"out": {"total": total, "more": [total * 2, total * 3]}})
    node = trace.check()
    assert [p.name for p in node.inputs] == [
        "robot_joint_pos", "robot_joint_vel", "robot_imu_0", "robot_imu_1", "pair_left", "pair_right", "feet_force",
    ]  # fmt: skip
    assert [p.name for p in node.outputs] == ["out_total", "out_more_0", "out_more_1"]


def test_inputs_at_several_places(trace):
    with trace():
        for _ in range(2):
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            y = x * 2
            z = annotate.input_tensors("a", {"z": torch.ones(2)})
            annotate.output_tensors("a", {"y": y + z})
    node = trace.check()
    assert [p.name for p in node.inputs] == ["x", "z"] and len(node.outputs[0].examples) == 2


def test_semantics(trace):
    x = TensorSemantics(name="q", ref=torch.ones(2), kind=InputKindEnum.JOINT_POSITION, element_names=["hip", "knee"])
    with trace():
        q = annotate.input_tensors("a", x)
        annotate.output_tensors("a", [TensorSemantics(name="t", ref=q * 2, kind="target")])
    node = trace.check()
    assert node.inputs[0].semantics.kind == InputKindEnum.JOINT_POSITION and node.outputs[0].semantics.kind == "target"


def test_nodes_are_connected_by_values(trace):
    with trace():
        state = torch.zeros(2)
        for _ in range(2):
            obs, prev = annotate.input_tensors("pre", {"obs": torch.ones(2), "prev": state})
            feat = obs + prev
            annotate.output_tensors("pre", {"feat": feat})
            f = annotate.input_tensors("policy", {"f": feat})
            action = torch.tanh(f)
            annotate.output_tensors("policy", {"action": action})
            state = action
    trace.check("pre")
    trace.check("policy")
    pre, policy = trace.node("pre"), trace.node("policy")
    assert policy.inputs[0].source == ("pre", "feat") and not policy.inputs[0].feedback
    obs, prev = pre.inputs
    assert obs.source is None and obs.initial is None
    assert prev.source == ("policy", "action") and prev.feedback and torch.equal(prev.initial, torch.zeros(2))
    assert (pre.index, policy.index) == (0, 1)


def test_a_buffer_that_was_overwritten_is_no_longer_the_output(trace):
    with trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        y = x * 2
        annotate.output_tensors("a", {"y": y})
        y.fill_(7)
        z = annotate.input_tensors("b", {"z": y})
        annotate.output_tensors("b", {"w": z + 1})
    assert trace.node("b").inputs[0].source is None


def test_mirrored_copies_are_connected(trace):
    with trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        y = x * 2
        annotate.output_tensors("a", {"y": y})
        copy = annotate.mirror_leapp_tags({"y": y}, {"y": torch.full((2,), 2.0)})
        z = annotate.input_tensors("b", {"z": copy["y"]})
        annotate.output_tensors("b", {"w": z + 1})
        with pytest.raises(TraceError, match="do not match"):
            annotate.mirror_leapp_tags({"y": y}, {"y": torch.zeros(2)})
    assert trace.node("b").inputs[0].source == ("a", "y")


def test_states(trace):
    h = torch.zeros(3)
    with trace():
        for step in range(3):
            x = annotate.input_tensors("a", {"x": torch.full((3,), float(step))})
            state = annotate.state_tensors("a", {"h": h})
            h = torch.tanh(state + x)
            annotate.update_state("a", {"h": h})
            annotate.output_tensors("a", {"y": h * 2})
    node = trace.check()
    assert [s.name for s in node.states] == ["h"]
    assert node.states[0].input.source == ("a", "h") and node.states[0].input.feedback
    assert torch.equal(node.states[0].input.initial, torch.zeros(3))


def test_states_that_are_not_updated_are_inputs(trace):
    with trace():
        x = annotate.input_tensors("a", {"x": torch.ones(3)})
        h = annotate.state_tensors("a", {"h": torch.ones(3)})
        annotate.output_tensors("a", {"y": x + h})
    assert trace.node().states == [] and [p.name for p in trace.node().inputs] == ["x", "h"]


def test_buffers_of_a_module(trace):
    class Filter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.ones(2))
            self.register_buffer("last", torch.zeros(2))
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            out = x - self.mean + self.last
            self.last = x * 0.5
            self.count += 1
            return out

    model = Filter()
    with trace():
        for step in range(2):
            x = annotate.input_tensors("a", {"x": torch.full((2,), float(step))})
            annotate.module("a", model)
            annotate.output_tensors("a", {"y": model(x)})
    node = trace.check()
    assert [s.name for s in node.states] == ["last", "count"]
    assert [p.name for p in node.inputs] == ["x"]
    assert type(model.last) is torch.Tensor and set(dict(model.named_buffers())) == {"mean", "last", "count"}


def test_registered_buffers(trace):
    table, total = torch.tensor([1.0, 2.0]), torch.zeros(2)
    with trace():
        for _ in range(2):
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            t, s = annotate.register_buffer("a", {"table": table, "total": total})
            s += x
            annotate.output_tensors("a", {"y": t * s})
    node = trace.check()
    assert [s.name for s in node.states] == ["total"] and torch.equal(total, torch.full((2,), 2.0))


def test_buffers_that_are_filled_anew_are_no_states(trace):
    staging, half, shown = torch.zeros(4), torch.zeros(4), torch.zeros(2)
    with trace():
        for step in range(2):
            x = annotate.input_tensors("a", {"x": torch.ones(4) + step})
            s, h, v = annotate.register_buffer("a", {"staging": staging, "half": half, "shown": shown})
            s[:] = x * 2
            h[:2] = x[:2]
            v[:] = x[2:]
            annotate.output_tensors("a", {"y": s + h})
            taken = annotate.input_tensors("b", {"shown": v})
            annotate.output_tensors("b", {"z": taken + 1})
    node = trace.check()
    assert [s.name for s in node.states] == ["half", "shown"], "what another node takes stays an output"
    assert [p.name for p in node.inputs] == ["x"] and [p.name for p in node.outputs] == ["y"]
    assert trace.check("b").inputs[0].source == ("a", "shown")


def test_static_outputs(trace):
    with trace():
        for _ in range(2):
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            annotate.output_tensors("a", {"y": x + 1}, static_outputs={"kp": torch.tensor([3.0])}, export_with="onnx")
    node = trace.check()
    assert torch.equal(node.outputs[1].static, torch.tensor([3.0])) and node.export_with == "onnx"


SCALE = torch.tensor([3.0])


def test_methods(trace):
    class Robot:
        gain = 2.0

        @annotate.method(export_with="jit")
        def step(self, obs, scale=SCALE, *, bias):
            action = obs * self.gain * scale + bias
            return action, obs - 1

    with trace():
        for _ in range(2):
            Robot().step(torch.ones(2), bias=torch.ones(1))
    node = trace.check("step")
    assert [p.name for p in node.inputs] == ["obs", "bias"] and [p.name for p in node.outputs] == ["action", "output2"]
    assert node.export_with == "jit" and Robot().step(torch.ones(2), bias=torch.zeros(1))[0].tolist() == [6.0, 6.0]


def test_dry_run_and_non_traced(trace):
    def run():
        for name in ("a", "b"):
            x = annotate.input_tensors(name, {"x": torch.ones(2)})
            annotate.output_tensors(name, {"y": x + 1}, export_with="onnx")

    with trace(non_traced="b"):
        run()
    assert [n.export_with for n in trace.pipeline.nodes] == ["onnx", None]
    with trace("dry", dry_run=True):
        run()
    assert trace.pipeline.dry_run and [n.export_with for n in trace.pipeline.nodes] == [None, None]


def test_at_most_max_cached_io_values_are_kept(trace):
    with trace(max_cached_io=2):
        for _ in range(4):
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            annotate.output_tensors("a", {"y": x + 1})
    assert len(trace.node().inputs[0].examples) == len(trace.node().outputs[0].examples) == 2


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (torch.ones(1), TypeError, "does not accept a bare tensor"),
        (3, TypeError, "Received int"),
        ([TensorSemantics(name="x", ref=torch.ones(1)), torch.ones(1)], TypeError, "all items must be TensorSemantics"),
        ([TensorSemantics(name="x", ref=torch.ones(1))] * 2, ValueError, "duplicate TensorSemantics names"),
    ],
)
def test_inputs_need_names(trace, given, error, text):
    with trace(), pytest.raises(error, match=text):
        annotate.input_tensors("a", given)


def test_mistakes_of_order_name_the_node(trace):
    x = torch.ones(2)
    with pytest.raises(TraceError, match="created but never completed: a, b"), trace():
        for call in (annotate.state_tensors, annotate.update_state, annotate.register_buffer):
            with pytest.raises(TraceError, match=r"called for node 'zz', which is not known.*input_tensors"):
                call("zz", {"x": x})
        with pytest.raises(TraceError, match=r"'zz' but input_tensors\(\) was never called"):
            annotate.output_tensors("zz", {"x": x})
        with pytest.raises(ValueError, match="node 'zz' is not known"), annotate.warp_op("zz"):
            pass
        a = annotate.input_tensors("a", {"x": x})
        with pytest.raises(TraceError, match="Duplicate i/o name 'x' in node 'a'"):
            annotate.input_tensors("a", {"x": torch.ones(3)})
        with pytest.raises(TraceError, match="not registered as a state"):
            annotate.update_state("a", {"x2": a * 2})
        b = annotate.input_tensors("b", {"x": torch.ones(2)})
        with pytest.raises(TraceError, match="uses values of nodes 'a' and 'b' at once"):
            a + b
        with pytest.raises(TraceError, match="active value of node 'a'"):
            annotate.input_tensors("b", {"y": a})


def test_outputs_must_be_made_of_the_inputs(trace):
    with pytest.raises(TraceError, match=r"received non-traced tensors: y \(at .*test_annotations.py:\d+\)"), trace():
        annotate.input_tensors("a", {"x": torch.ones(2)})
        annotate.output_tensors("a", {"y": torch.ones(2)})


def test_static_outputs_must_not_be_made_of_the_inputs(trace):
    with pytest.raises(TraceError, match="static output 'y'.*is made of the node's inputs"), trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        annotate.output_tensors("a", {"z": x * 2}, static_outputs={"y": x + 1})


def test_other_shapes_in_a_later_execution(trace):
    with pytest.raises(TraceError, match=r"input 'x' .*float32 of shape \[3\].*float32 of shape \[2\]"), trace():
        for n in (2, 3):
            x = annotate.input_tensors("a", {"x": torch.ones(n)})
            annotate.output_tensors("a", {"y": x + 1})


def test_a_node_belongs_to_one_place(trace):
    with pytest.raises(TraceError, match="different annotation origin"), trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        annotate.output_tensors("a", {"y": x + 1})
        annotate.input_tensors("a", {"x": torch.ones(2)})


def test_states_keep_shape_and_are_flat(trace):
    with pytest.raises(TraceError), trace():
        annotate.input_tensors("a", {"x": torch.ones(2)})
        with pytest.raises(TypeError, match="does not support nested state structures"):
            annotate.state_tensors("a", {"h": [torch.ones(1)]})
        h = annotate.state_tensors("a", {"h": torch.ones(2)})
        with pytest.raises(TraceError, match="has shape"):
            annotate.update_state("a", {"h": h[:1]})
        with pytest.raises(TraceError, match="has dtype"):
            annotate.update_state("a", {"h": h.int()})


def test_start_and_stop_check_their_arguments(tmp_path):
    with pytest.raises(TypeError, match="must be a string"):
        leapp.start(3)
    with pytest.raises(ValueError, match="usable graph name"):
        leapp.start("")
    with pytest.raises(ValueError, match="passes"):
        leapp.start("a", save_path=str(tmp_path), passes=3)
    with pytest.raises(TraceError, match="no active tracing session"):
        leapp.stop()
    leapp.start("some/where/name", save_path=str(tmp_path))
    with pytest.raises(TraceError, match="Call leapp.stop"):
        leapp.compile_graph()
    leapp.stop()
    assert os.path.isdir(tmp_path / "some" / "where" / "name") and annotate._session.name == "name"


def test_nothing_is_left_after_stop(tmp_path):
    def state():
        return {
            "numpy": [getattr(np, n) for n in ("array", "asarray", "ascontiguousarray")],
            "torch": [getattr(torch, n) for n in ("tensor", "as_tensor", "from_numpy")] + [torch.Tensor.numpy],
            "modes": (
                torch.utils._python_dispatch._get_current_dispatch_mode(),
                torch.overrides._get_current_function_mode(),
            ),
            "grad": torch.is_grad_enabled(),
            "threads": torch.get_num_threads(),
            "jit": bool(torch.jit._state._enabled),
            "environment": dict(os.environ),
            "allocator": torch.cuda.memory.get_allocator_backend() if torch.cuda.is_available() else None,
            "inkle": {k: v for k, v in vars(leapp.annotate.__class__).items()},
            "config": {k: repr(v) for k, v in vars(__import__("inkle").config).items() if not k.startswith("_")},
        }

    before = state()
    x = torch.ones(2)
    leapp.start("p", save_path=str(tmp_path))
    annotate.input_tensors("a", {"x": x})
    y = x.numpy() * 2
    assert state() != before
    leapp.stop()
    assert state() == before
    assert type(x) is torch.Tensor and type(np.add(y, 1)) is np.ndarray and (y + 1).tolist() == [3.0, 3.0]
    assert (x * 2).tolist() == [2.0, 2.0]


def test_stop_while_other_modes_are_above(tmp_path):
    leapp.start("p", save_path=str(tmp_path))
    with torch.device("cpu"):
        leapp.stop()
        assert torch.overrides._get_current_function_mode() is not None
    assert torch.overrides._get_current_function_mode() is None


def test_a_trace_belongs_to_its_thread(tmp_path):
    found = []

    def other():
        try:
            annotate.input_tensors("a", {"x": torch.ones(1)})
        except TraceError as error:
            found.append(str(error))

    leapp.start("p", save_path=str(tmp_path))
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    leapp.stop()
    assert "another thread" in found[0]


def test_patches_are_installed_and_removed(trace):
    import math

    patch = FunctionPatch(math, "sqrt", lambda x: torch.sqrt(x))
    original = math.sqrt
    with trace(patching=[patch]):
        x = annotate.input_tensors("a", {"x": torch.full((2,), 4.0)})
        assert math.sqrt(9.0) == 3.0 and math.sqrt is not original
        annotate.output_tensors("a", {"y": math.sqrt(x)})
    trace.check()
    assert math.sqrt is original
    with trace(patching=[patch], global_patching=False):
        assert math.sqrt is original
    for patches, error in (([3], TypeError), ([patch, patch], ValueError)):
        with pytest.raises(error), trace(patching=patches):
            pass
    for arguments, error in (
        ((3, "a", len), TypeError),
        ((math, "zz", len), ValueError),
        ((math, "pi", len), TypeError),
    ):
        with pytest.raises(error):
            FunctionPatch(*arguments)


def test_a_tensor_given_twice_is_one_input(trace):
    x = torch.ones(2)
    with trace():
        for _ in range(2):
            a = annotate.input_tensors("a", {"x": x})
            b = annotate.input_tensors("a", {"again": x})
            annotate.output_tensors("a", {"y": a + b})
    assert [p.name for p in trace.check().inputs] == ["x"]


def test_a_value_read_twice_at_one_line_is_reported_once(trace):
    with pytest.warns(TraceWarning) as seen, trace():
        for _ in range(3):
            x = annotate.input_tensors("a", {"x": torch.ones(2)})
            x.sum().item()
            annotate.output_tensors("a", {"y": x + 1})
    assert len([w for w in seen if "node 'a'" in str(w.message)]) == 1
