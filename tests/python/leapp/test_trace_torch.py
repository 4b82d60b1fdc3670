"""PyTorch programs as nodes: what they do becomes a module that does the same on other values."""

import copy
import warnings

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

from inkle.leapp import TensorSemantics, TraceError, TraceWarning, annotate  # noqa: E402


def once(trace, program, *inputs, times=2, check=True, **options):
    """Traces a function of tensors as node `a`, and compares its module with it."""
    names = [f"x{i}" for i in range(len(inputs))]
    with trace(**options):
        for step in range(times):
            given = {
                n: x.clone() + step if x.is_floating_point() else x.clone() for n, x in zip(names, inputs, strict=True)
            }
            got = annotate.input_tensors("a", given)
            result = program(*(got if isinstance(got, tuple) else (got,)))
            result = result if isinstance(result, tuple) else (result,)
            annotate.output_tensors("a", {f"y{i}": y for i, y in enumerate(result)})
    return trace.check() if check else trace.node()


def targets(node):
    return [str(n.target) for n in node.module.graph.nodes if n.op == "call_function"]


def test_annotations_outside_of_a_trace_give_back_what_they_get():
    x, y = torch.ones(2), torch.zeros(3)
    assert annotate.input_tensors("a", {"x": x}) is x
    assert annotate.input_tensors("a", {"x": x, "y": y}) == (x, y)
    assert annotate.output_tensors("a", {"x": x}, export_with="onnx") is x
    assert annotate.state_tensors("a", {"x": x}) is x
    assert annotate.update_state("a", {"x": x}) is x
    assert annotate.register_buffer("a", x) is x
    assert annotate.register_buffer("a", [x, y]) == (x, y)
    assert annotate.module("a", torch.nn.Linear(1, 1)) is None
    assert annotate.mirror_leapp_tags(x, y) is y
    assert annotate.method(export_with="onnx")(lambda v: v)(x) is x
    with annotate.warp_op("a"):
        pass
    assert annotate.input_tensors("a", TensorSemantics(name="x", ref=x)) is x


def test_a_module_and_its_parameters(trace):
    net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ELU(), torch.nn.LayerNorm(8), torch.nn.Linear(8, 2))
    node = once(trace, net, torch.randn(4, 3))
    parameters = {tuple(p.shape) for p in node.module.parameters()}
    assert (8, 3) in parameters and (2, 8) in parameters and (8,) in parameters
    before = [p.clone() for p in node.module.parameters()]
    with torch.no_grad():
        for p in net.parameters():
            p.zero_()
    assert all(torch.equal(a, b) for a, b in zip(before, node.module.parameters(), strict=True)), "contents are copies"


def test_one_execution_is_enough(trace):
    once(trace, lambda x: torch.tanh(x) * 2, torch.randn(5), times=1)


def test_writes_in_place_reach_every_alias(trace):
    def program(x):
        y = x * 1
        row = y[1]
        flat = y.view(-1)
        row.add_(10)
        flat[0] = 7.0
        y[:, 2:].mul_(3)
        return y, row * 1, flat.reshape(2, 3).t().contiguous()

    once(trace, program, torch.randn(2, 3))


def test_inputs_written_in_place(trace):
    def program(x):
        x += 1
        x[0] = 0
        return x * 2

    once(trace, program, torch.randn(3))


def test_constants_that_are_filled_with_values(trace):
    def program(x):
        out = torch.zeros(4, 3)
        out[1:3] = x
        out[:, 0] = 5
        other = torch.empty_like(out)
        torch.mul(out, 2, out=other)
        return out, other

    once(trace, program, torch.randn(2, 3))


def test_buffers_of_the_program_that_are_filled_anew(trace):
    obs, action, norm = torch.full((2, 7), 9.0), torch.full((2, 3), 9.0), torch.full((2,), 9.0)

    def program(x):
        obs[:, :3] = x
        obs[:, 3:6] = torch.sin(x)
        action[:] = obs[:, 1:4] * 2
        torch.sum(action, dim=1, out=norm)
        obs[:, 6].zero_()
        obs[:, 6] += norm
        return obs, action, norm.clone()

    with warnings.catch_warnings():
        warnings.simplefilter("error", TraceWarning)
        node = once(trace, program, torch.randn(2, 3), times=3)
    assert not list(node.module.buffers()) or all(not b.any() for b in node.module.buffers())


def test_masks_indices_and_scatter(trace):
    index = torch.tensor([2, 0])

    def program(x):
        y = x.clone()
        y[y > 0] = -1.0
        z = torch.zeros(3, 3)
        z.index_copy_(0, index, x[:2])
        z.scatter_add_(1, torch.tensor([[0, 1, 2]]), x[:1])
        return y, z, x[index], x[:, index]

    once(trace, program, torch.randn(3, 3))


def test_scripted_functions_are_seen(trace):
    @torch.jit.script
    def act(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        for _ in range(2):
            y = y * 2 + 1
        return y

    once(trace, act, torch.randn(4))


def test_autocast_and_no_grad(trace):
    net = torch.nn.Linear(4, 4)

    def program(x):
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            return net(x).float()

    node = once(trace, program, torch.randn(2, 4))
    assert any("bfloat16" in str(n.kwargs) for n in node.module.graph.nodes)


def test_recurrent_attention_and_normalization(trace):
    gru = torch.nn.GRU(3, 4, batch_first=True)
    norm = torch.nn.BatchNorm1d(4).eval()
    query = torch.nn.Linear(4, 8)

    def program(x):
        with torch.no_grad():
            h, last = gru(x)
            q = query(norm(h[:, -1]))
            a = torch.nn.functional.scaled_dot_product_attention(q[None, :, None], q[None, :, None], q[None, :, None])
            return a, last

    once(trace, program, torch.randn(2, 5, 3))


def test_no_operation_of_one_kind_of_device_is_left(trace):
    norm = torch.nn.BatchNorm1d(3).eval()

    def program(x):
        with torch.no_grad():
            q = norm(x)[None, :, None]
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    found = targets(once(trace, program, torch.randn(5, 3)))
    assert "aten.scaled_dot_product_attention.default" in found
    assert "aten._native_batch_norm_legit_no_training.default" in found

    def writes(x):
        y = x.clone()
        y[0] = 0
        return program(y)

    found = targets(once(trace, writes, torch.randn(5, 3)))
    assert not any("for_cpu" in name or name == "aten.native_batch_norm.default" for name in found)


def test_operations_of_gpus_are_told_by_others():
    from inkle.leapp._portable import portable

    aten = torch.ops.aten
    x, w, h = torch.ones(2, 5, 3), [torch.ones(1)] * 4, torch.ones(1, 2, 4)
    cudnn = (x, w, 4, None, h, None, 3, 4, 0, 1, True, 0.0, False, False, [], None)
    target, args, _, places = portable(aten._cudnn_rnn.default, cudnn, {})
    assert target is aten.gru.input and places == (0, 1)
    assert args == (x, h, w, True, 1, 0.0, False, False, True)
    lstm = (x, w, 4, None, h, h, 2, *cudnn[7:])
    target, args, _, places = portable(aten._cudnn_rnn.default, lstm, {})
    assert target is aten.lstm.input and args[1] == [h, h] and places == (0, 1, 2)
    target, args, _, _ = portable(aten.cudnn_batch_norm.default, (x, h, h, h, h, False, 0.1, 1e-5), {})
    assert target is aten._native_batch_norm_legit_no_training.default and args == (x, h, h, h, h, 0.1, 1e-5)
    assert portable(aten.cudnn_batch_norm.default, (x, h, h, h, h, True, 0.1, 1e-5), {}) is None
    attention = aten._scaled_dot_product_efficient_attention.default
    target, args, kwargs, _ = portable(attention, (x, x, x, h, False), {"scale": 0.5})
    assert args == (x, x, x, h, 0.0, False) and kwargs == {"scale": 0.5}


def test_complex_numbers(trace):
    def program(x):
        spectrum = torch.fft.rfft(x)
        other = spectrum.conj()
        power = (spectrum * other).real
        return power, other.imag * 1, torch.view_as_real(other.resolve_conj()), torch.fft.irfft(other)

    once(trace, program, torch.randn(8))


def test_derivatives_and_maps(trace):
    net = torch.nn.Linear(3, 3)

    def program(x):
        y = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(torch.tanh(net(y)).sum(), y)
        jacobian = torch.func.jacrev(lambda v: torch.sin(v) * v)(x)
        rows = torch.vmap(lambda v: v * 2 + v.sum())(jacobian)
        with torch.no_grad():
            return slope, jacobian, rows

    once(trace, program, torch.randn(3))


def test_tensors_of_traced_numbers(trace):
    def program(x):
        pair = torch.tensor([x[0], x[1] * 2])
        return pair, torch.as_tensor([x[2], x[0]]), torch.stack([x, x]), copy.deepcopy(x) + 1

    once(trace, program, torch.randn(3))


def test_reading_a_value_is_reported_with_its_line(trace):
    with pytest.warns(TraceWarning, match=r"node 'a'.*test_trace_torch.py:\d+.*constant"):
        once(trace, lambda x: x * float(x[0]) if x.sum() < 1e9 else x, torch.ones(3), times=1)


def test_control_flow_that_changes_is_an_error_with_both_lines(trace):
    def program(x):
        if x.sum() > 5:
            return x * 2
        return torch.sin(x)

    with (
        pytest.warns(TraceWarning),
        pytest.raises(TraceError, match=r"node 'a'.*mul.*test_trace_torch.py:\d+.*sin.*:\d+"),
    ):
        once(trace, program, torch.ones(3))


def test_numbers_that_change_are_an_error(trace):
    factors = iter([1.0, 2.0])
    with pytest.raises(TraceError, match=r"call of mul.Tensor at .*test_trace_torch.py:\d+ has other arguments"):
        once(trace, lambda x: x * next(factors), torch.ones(3))


def test_constants_that_change_are_an_error(trace):
    with pytest.raises(TraceError, match="a constant float32 tensor of shape .3. used at .*other contents"):
        once(trace, lambda x: x + torch.randn(3), torch.ones(3))


def test_an_execution_that_does_less_is_an_error(trace):
    left = iter([True, False])

    def program(x):
        y = x + 1
        if next(left):
            x * 3
        return y

    with pytest.raises(TraceError, match="node 'a' did not do"):
        once(trace, program, torch.ones(3))


def test_shapes_that_depend_on_values_are_reported(trace):
    with pytest.warns(TraceWarning, match="shape depends on traced values"):
        once(trace, lambda x: x[x > 0].sum(), torch.ones(3), times=1)


def test_a_tensor_kept_from_before_and_changed_in_place_is_reported(trace):
    total = torch.zeros(3)
    with pytest.warns(TraceWarning, match="declare them with annotate.state_tensors"):
        once(trace, lambda x: total.add_(x) * 1, torch.ones(3), times=1)


def test_inputs_that_are_not_used_are_left_out(trace):
    node = once(trace, lambda x, y: x * 2, torch.ones(3), torch.ones(2))
    assert [port.name for port in node.inputs] == ["x0"]


def test_an_input_that_is_an_output(trace):
    node = once(trace, lambda x: (x, x * 2), torch.ones(3))
    assert len(node.outputs) == 2


def test_strided_and_expanded_inputs(trace):
    def program(x, y):
        return x.t().contiguous().view(-1) + 1, y + x[0, 0]

    base = torch.randn(4, 6)
    with trace():
        x, y = annotate.input_tensors("a", {"x": base[:, 1:4], "y": torch.randn(1).expand(5)})
        r, s = program(x, y)
        annotate.output_tensors("a", {"r": r, "s": s})
    trace.check()


def test_other_modes_may_be_entered_in_between(trace):
    with trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        with torch.device("cpu"):
            y = x + torch.ones(2)
        annotate.output_tensors("a", {"y": y})
    trace.check()


def test_what_is_done_after_the_node_is_not_part_of_it(trace):
    with trace():
        x = annotate.input_tensors("a", {"x": torch.ones(2)})
        y = x + 1
        annotate.output_tensors("a", {"y": y})
        y.add_(5)
    node = trace.check()
    assert targets(node) == ["aten.add.Tensor"]
