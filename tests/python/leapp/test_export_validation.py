"""Models compared with what was seen: which node, which output, which element."""

import pytest
from _built import node, pipeline, policy, smoothing, torch, values

from inkle.leapp._compile import compile_pipeline
from inkle.leapp._validate import largest_difference


def test_the_element_that_differs_most_is_named(tmp_path):
    made = policy("onnx")
    made.outputs[0].examples[1] = made.outputs[0].examples[1].clone()
    made.outputs[0].examples[1][2] += 5.0
    made.outputs[2].examples[0] = made.outputs[2].examples[0] + 0.5
    with pytest.raises(RuntimeError) as caught:
        compile_pipeline(pipeline(tmp_path, made, smoothing("pt2", index=1)), visualize=False)
    text = str(caught.value)
    assert text.startswith("Model validation failed for 1 node(s): ['policy']")
    assert "policy: output 'action'[2] of execution 1 differs most: the model gives" in text
    assert caught.value.results == {"policy": False, "smooth": True}


def test_without_strict_failures_are_returned(tmp_path, caplog):
    made = policy("jit")
    made.outputs[0].examples[0] = made.outputs[0].examples[0] + 1.0
    results = compile_pipeline(pipeline(tmp_path, made, smoothing("jit", index=1)), strict=False, visualize=False)
    assert results == {"policy": False, "smooth": True}
    assert "output 'action'" in caplog.text


def test_tolerances_are_those_asked_for(tmp_path):
    made = policy("pt2")
    made.outputs[0].examples[0] = made.outputs[0].examples[0] + 0.01
    pipe = pipeline(tmp_path, made)
    assert compile_pipeline(pipe, visualize=False, atol=0.02) == {"policy": True}
    with pytest.raises(RuntimeError, match="Model validation failed"):
        compile_pipeline(pipe, visualize=False, atol=0.005)
    assert compile_pipeline(pipe, visualize=False, validate=False) is True


def test_a_value_that_became_a_constant_is_suspected(tmp_path):
    class Drift(torch.nn.Module):
        def forward(self, x):
            return x + 1.0

    made = node("drift", Drift(), {"x": values(3)}, ["y"], "pt2")
    for execution in (1, 2):
        made.outputs[0].examples[execution] = made.outputs[0].examples[execution] + execution
    with pytest.raises(RuntimeError, match=r"first execution agrees.*become a constant.*input_tensors\('drift'"):
        compile_pipeline(pipeline(tmp_path, made), visualize=False)


def test_what_a_model_raises_is_its_result(tmp_path, monkeypatch):
    from inkle.leapp import _runners

    def broken(self, tensors):
        raise OSError("the disk is gone")

    monkeypatch.setattr(_runners._Program, "run", broken)
    pipe = pipeline(tmp_path, policy("pt2"))
    with pytest.raises(RuntimeError, match="policy: its model raised OSError: the disk is gone"):
        compile_pipeline(pipe, visualize=False)
    results = compile_pipeline(pipe, visualize=False, strict=False)
    assert isinstance(results["policy"], OSError)


def test_outputs_of_another_shape_are_no_match(tmp_path):
    made = policy("pt2")
    made.outputs[0].examples = [value[:3] for value in made.outputs[0].examples]
    with pytest.raises(RuntimeError, match=r"output 'action' is \(4,\) of torch.float32, the program's is \(3,\)"):
        compile_pipeline(pipeline(tmp_path, made), visualize=False)


nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("model", "program", "index"),
    [
        ([1.0, 2.0], [1.0, 2.0], None),
        ([nan, inf, -inf], [nan, inf, -inf], None),
        ([1.0, nan], [1.0, 2.0], (1,)),
        ([1.0, 2.0], [nan, 2.0], (0,)),
        ([inf, 2.0], [1.0, 2.0], (0,)),
        ([inf, 2.0], [-inf, 2.0], (0,)),
        ([[1.0, 2.0], [3.0, 4.5]], [[1.1, 2.0], [3.0, 4.0]], (1, 1)),
        ([True, False], [True, True], (1,)),
        ([2**53 + 1, 5], [2**53 + 1, 4], (1,)),
    ],
)
def test_the_largest_difference(model, program, index):
    found = largest_difference("y", 0, torch.tensor(model), torch.tensor(program), 1e-3, 1e-5)
    assert (found.index if found else None) == index


def test_numbers_and_nothing_are_compared_too():
    assert largest_difference("y", 0, torch.tensor(1.0), torch.tensor(2.0), 0.0, 0.0).index == ()
    assert largest_difference("y", 0, torch.empty(0), torch.empty(0), 0.0, 0.0) is None
