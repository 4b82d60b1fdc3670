"""Runs of kernels become one operator each: what it reads is an input of it, what it writes comes out."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")

import kernels as k  # noqa: E402
import numpy as np  # noqa: E402

import inkle as wp  # noqa: E402
from inkle.leapp import TraceError, TraceWarning, annotate  # noqa: E402

pytestmark = pytest.mark.usefixtures("operators")


def launch(kernel, dim, *arguments):
    wp.launch(kernel, dim=dim, inputs=list(arguments), device="cpu")


def once(trace, program, *inputs, times=2, check=True, **options):
    with trace(**options):
        for step in range(times):
            given = {f"x{i}": x.clone() + step for i, x in enumerate(inputs)}
            got = annotate.input_tensors("a", given)
            result = program(*(got if isinstance(got, tuple) else (got,)))
            result = result if isinstance(result, tuple) else (result,)
            annotate.output_tensors("a", {f"y{i}": y for i, y in enumerate(result)})
    return trace.check() if check else trace.node()


def test_torch_then_kernel_then_torch(trace):
    def program(x):
        src, dst = wp.from_torch(x * 2), wp.zeros(4, dtype=float, device="cpu")
        launch(k.squash, 4, src, dst)
        return wp.to_torch(dst) + 1

    node = once(trace, program, torch.randn(4))
    (segment,) = node.segments
    assert len(segment.inputs) == len(segment.outputs) == 1 and "test_segments.py:" in segment.source
    calls = [n for n in node.module.graph.nodes if n.target is torch.ops.inkle.replay.default]
    assert len(calls) == 1 and calls[0].args[2] == "float32[4]"
    assert getattr(node.module, calls[0].args[0].target).dtype == torch.uint8


def test_launches_copies_and_fills_are_one_segment(trace):
    def program(x):
        a, b = wp.from_torch(x), wp.empty(4, dtype=float, device="cpu")
        launch(k.squash, 4, a, b)
        c = wp.zeros(4, dtype=float, device="cpu")
        wp.copy(c, b)
        c2 = wp.clone(c)
        launch(k.scale, 2, c2, 3.0)
        c.fill_(2.0)
        launch(k.add, 4, b, c2, c)
        return wp.to_torch(c)

    assert len(once(trace, program, torch.randn(4)).segments) == 1


def test_arrays_are_inputs_and_outputs_by_themselves(trace):
    v = wp.array(np.random.rand(2, 3).astype(np.float32), dtype=wp.vec3, device="cpu")
    with trace():
        for _ in range(2):
            x, q = annotate.input_tensors(
                "a", {"v": v, "q": wp.array([[0, 0, 0, 1.0], [0, 0.6, 0, 0.8]], dtype=wp.quat, device="cpu")}
            )
            out, turned = wp.zeros(2, dtype=float, device="cpu"), wp.zeros(2, dtype=wp.vec3, device="cpu")
            launch(k.lengths, 2, x, q, out, turned)
            annotate.output_tensors("a", {"out": out, "turned": turned})
    node = trace.check()
    assert [p.shape for p in node.inputs] == [(2, 3), (2, 4)] and [p.shape for p in node.outputs] == [(2,), (2, 3)]


def test_elements_cross_as_their_scalars(trace):
    @wp.kernel
    def turn(v: wp.array2d(dtype=wp.vec3), q: wp.array(dtype=wp.quat), m: wp.array(dtype=wp.mat33),
             out: wp.array2d(dtype=wp.vec3), t: wp.array(dtype=wp.transform)):  # fmt: skip
        i, j = wp.tid()
        out[i, j] = m[i] * wp.quat_rotate(q[i], v[i, j])
        t[i] = wp.transform(v[i, 0], q[i])

    rng = np.random.default_rng(2)
    shapes = {"v": (2, 4, 3), "q": (2, 4), "m": (2, 3, 3)}
    types = {"v": wp.vec3, "q": wp.quat, "m": wp.mat33}
    with trace():
        for _ in range(2):
            given = {
                n: wp.array(rng.normal(size=s).astype(np.float32), dtype=types[n], device="cpu")
                for n, s in shapes.items()
            }
            v, q, m = annotate.input_tensors("a", given)
            out, t = wp.zeros((2, 4), dtype=wp.vec3, device="cpu"), wp.zeros(2, dtype=wp.transform, device="cpu")
            wp.launch(turn, (2, 4), inputs=[v, q, m], outputs=[out, t], device="cpu")
            annotate.output_tensors("a", {"out": out, "t": t})
    node = trace.check(tolerance=1e-5)
    assert {port.name: port.shape for port in node.inputs} == shapes
    assert {port.name: port.shape for port in node.outputs} == {"out": (2, 4, 3), "t": (2, 7)}
    assert all(port.dtype == torch.float32 for port in node.inputs + node.outputs)


@pytest.mark.parametrize(
    "boundary", ["to_torch", "from_torch", "numpy", "from_numpy", "synchronize", "synchronize_device", "torch"]
)
def test_what_ends_a_segment(trace, boundary):
    def program(x):
        a, b = wp.from_torch(x), wp.zeros(4, dtype=float, device="cpu")
        other = torch.ones(4)
        launch(k.squash, 4, a, b)
        if boundary == "to_torch":
            wp.to_torch(b)
        elif boundary == "from_torch":
            wp.from_torch(other)
        elif boundary == "numpy":
            b.numpy()
        elif boundary == "from_numpy":
            wp.from_numpy(np.ones(4, dtype=np.float32), device="cpu")
        elif boundary == "torch":
            x + 1
        else:
            getattr(wp, boundary)()
        launch(k.scale, 4, b, 2.0)
        return wp.to_torch(b)

    assert len(once(trace, program, torch.randn(4)).segments) == 2


def test_a_write_in_place_is_seen_by_all_views(trace):
    def program(x):
        y = x * 1
        row = y[1]
        array = wp.from_torch(y.view(-1))
        launch(k.scale, 4, array, 3.0)
        return row + 1, y.sum(0), y

    once(trace, program, torch.randn(2, 4))


def test_parts_that_are_not_written_keep_what_they_had(trace):
    table = torch.arange(6, dtype=torch.float32)

    def program(x):
        out = table.clone()
        launch(k.squash, 2, wp.from_torch(x), wp.from_torch(out))
        made = wp.full(6, 5.0, dtype=float, device="cpu")
        launch(k.squash, 3, wp.from_torch(x), made)
        return out, wp.to_torch(made)

    once(trace, program, torch.randn(4))


def test_columns_of_tensors(trace):
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)

    def program(x):
        y = torch.zeros(4, 6)
        wp.launch(
            k.rows, dim=(4, 3), inputs=[wp.from_torch(x[:, 2:5])], outputs=[wp.from_torch(y[:, ::2])], device="cpu"
        )
        return y

    once(trace, program, base)


def test_tensors_of_many_dimensions(trace):
    def program(x):
        a = wp.from_torch(x.view(-1))
        launch(k.scale, 4, a, 2.0)
        return x * 1

    once(trace, program, torch.randn(1, 2, 1, 2, 2))


def test_constants_have_the_contents_they_had(trace):
    def program(x):
        table = wp.full(4, 2.0, dtype=float, device="cpu")
        out = wp.zeros(4, dtype=float, device="cpu")
        launch(k.add, 4, wp.from_torch(x), table, out)
        launch(k.scale, 4, table, 10.0)
        launch(k.add, 4, out, table, out)
        return wp.to_torch(out)

    once(trace, program, torch.zeros(4))


def test_every_replay_starts_from_the_same_memory(trace):
    def program(x):
        total = wp.full(4, 10.0, dtype=float, device="cpu")
        a = wp.from_torch(x)
        launch(k.add, 4, a, total, total)
        launch(k.scale, 4, a, 2.0)
        launch(k.add, 4, a, total, total)
        return x, wp.to_torch(total) * 1

    node = once(trace, program, torch.ones(4))
    for _ in range(3):
        assert [v.tolist() for v in node.module(torch.ones(4))] == [[2.0] * 4, [13.0] * 4]


def test_arrays_that_nothing_traced_reaches_are_constants(trace):
    n = wp.zeros(1, dtype=int, device="cpu")

    def program(x):
        launch(k.count, 1, n)
        y = x * 2
        launch(k.scale, 4, wp.from_torch(y), 2.0)
        return y

    node = once(trace, program, torch.ones(4))
    assert n.numpy()[0] == 2 and len(node.segments) == 1


def test_a_constant_that_changes_between_executions_is_an_error(trace):
    table = wp.zeros(4, dtype=float, device="cpu")

    def program(x):
        out = wp.zeros(4, dtype=float, device="cpu")
        launch(k.add, 4, wp.from_torch(x), table, out)
        table.fill_(1.0)
        return wp.to_torch(out)

    with pytest.raises(
        TraceError, match=r"node 'a'.*inkle.launch\(add\) at .*test_segments.py:\d+ has other arguments"
    ):
        once(trace, program, torch.ones(4))


def test_memory_carried_behind_the_node_is_reported(trace):
    n = wp.zeros(1, dtype=int, device="cpu")

    def program(x):
        launch(k.scale, 4, wp.from_torch(x), 2.0)
        wp.copy(n, wp.zeros(1, dtype=int, device="cpu"))
        return x

    once(trace, program, torch.ones(4))

    total = wp.zeros(4, dtype=float, device="cpu")

    def carries(x):
        launch(k.add, 4, wp.from_torch(x), total, total)
        return wp.to_torch(total) * 1

    with pytest.warns(TraceWarning, match="read and then written by kernels"):
        once(trace, carries, torch.ones(4), times=1)


def test_new_memory_has_nothing_to_carry_or_compare(trace):
    """What an array that the node made happens to hold before a kernel writes it differs between executions."""

    @wp.kernel
    def fill(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = x[i]
        y[i] = y[i] * 2.0

    def program(x):
        y, z = (wp.empty(4096, dtype=float, device="cpu") for _ in range(2))
        launch(fill, 4096, wp.from_torch(x), y)
        z.numpy()[:] = 3.0
        launch(k.scale, 4096, z, 2.0)
        return wp.to_torch(y) + wp.to_torch(z)

    with warnings.catch_warnings():
        warnings.simplefilter("error", TraceWarning)
        dirt = [wp.full(4096, float(i), dtype=float, device="cpu") for i in range(8)]
        del dirt
        once(trace, program, torch.randn(4096), times=3)


def test_states_in_kernels(trace):
    total = wp.zeros(4, dtype=float, device="cpu")
    with trace():
        for _ in range(3):
            x = annotate.input_tensors("a", {"x": torch.ones(4)})
            s = annotate.state_tensors("a", {"total": total})
            launch(k.add, 4, wp.from_torch(x), s, s)
            annotate.update_state("a", {"total": s})
            annotate.output_tensors("a", {"y": wp.to_torch(s) * 2})
    node = trace.check()
    assert [s.name for s in node.states] == ["total"] and [v[0].item() for v in node.states[0].output.examples] == [
        1,
        2,
        3,
    ]


def test_other_scalars_are_an_error(trace):
    steps = iter([1.0, 2.0])

    def program(x):
        launch(k.scale, 4, wp.from_torch(x), next(steps))
        return x

    with pytest.raises(TraceError, match=r"inkle.launch\(scale\) at .* has other arguments"):
        once(trace, program, torch.ones(4))


def test_conditions_and_loops_are_exported(trace):
    def program(x):
        a = wp.from_torch(x)
        flag = wp.zeros(1, dtype=int, device="cpu")
        launch(k.above, 1, a, 3.0, flag)
        wp.capture_if(flag, lambda: launch(k.scale, 2, a, -1.0), lambda: launch(k.scale, 2, a, 10.0))
        launch(k.above, 1, a, 1.0, flag)
        wp.capture_while(flag, lambda: launch(k.halve_above, 1, a, 1.0, flag))
        return x

    node = once(trace, program, torch.tensor([2.0, 1.0]), times=1)
    assert len(node.segments) == 1
    got = node.module(torch.tensor([7.0, 1.0]))[0].tolist()
    assert got == [-7.0, -1.0]
    assert node.module(torch.tensor([1.5, 2.0]))[0].tolist() == [0.9375, 20.0]


def test_graphs_launched_in_a_segment(trace):
    buffer = torch.zeros(4)
    array = wp.from_torch(buffer)
    with wp.ScopedCapture(device="cpu") as capture:
        launch(k.scale, 4, array, 3.0)

    def program(x):
        buffer.copy_(x)
        wp.capture_launch(capture.graph)
        return buffer + 1

    once(trace, program, torch.randn(4))


def test_an_explicit_block(trace, caplog):
    def program(x):
        a, b = wp.from_torch(x), wp.zeros(4, dtype=float, device="cpu")
        with annotate.warp_op("a"):
            launch(k.squash, 4, a, b)
            wp.synchronize()
            launch(k.scale, 4, b, 2.0)
        launch(k.scale, 4, b, 3.0)
        return wp.to_torch(b)

    node = once(trace, program, torch.randn(4), times=1)
    assert len(node.segments) == 2 and "stays open" in caplog.text and "synchronize" in caplog.text


def test_a_block_is_protected(trace):
    with pytest.raises(TraceError), trace():
        x = annotate.input_tensors("a", {"x": torch.ones(4)})
        y = annotate.input_tensors("b", {"y": torch.ones(4)})
        a, b = wp.from_torch(x), wp.from_torch(y)
        with (
            pytest.raises(TraceError, match="protected by an owner token.*block of node 'a'.*node 'b'"),
            annotate.warp_op("a"),
        ):
            launch(k.scale, 4, b, 2.0)
        with (
            pytest.raises(TraceError, match="protected by an owner token"),
            annotate.warp_op("a"),
            annotate.warp_op("b"),
        ):
            pass
        with pytest.raises(TraceError, match="while the block is open"), annotate.warp_op("a"):
            launch(k.scale, 4, a, 2.0)
            x + 1
        with pytest.raises(TraceError, match="inside its warp_op block"), annotate.warp_op("a"):
            annotate.output_tensors("a", {"x": x})


def test_arrays_of_two_nodes_in_one_call(trace):
    with pytest.raises(TraceError), trace():
        x = annotate.input_tensors("a", {"x": torch.ones(4)})
        y = annotate.input_tensors("b", {"y": torch.ones(4)})
        with pytest.raises(TraceError) as error:
            launch(k.add, 4, wp.from_torch(x), wp.from_torch(y), wp.zeros(4, dtype=float, device="cpu"))
        text = str(error.value)
        assert "inkle.launch(add) received traced Warp arrays from different LEAPP trace contexts" in text
        assert "'a'" in text and "'b'" in text and "test_segments.py:" in text


def test_a_call_on_another_node_ends_a_segment(trace):
    with trace():
        for _ in range(2):
            x = annotate.input_tensors("a", {"x": torch.ones(4)})
            y = annotate.input_tensors("b", {"y": torch.ones(4)})
            a, b = wp.from_torch(x), wp.from_torch(y)
            launch(k.scale, 4, a, 2.0)
            launch(k.scale, 4, b, 3.0)
            launch(k.scale, 4, a, 4.0)
            annotate.output_tensors("a", {"x2": x})
            annotate.output_tensors("b", {"y2": y})
    assert (len(trace.check("a").segments), len(trace.check("b").segments)) == (2, 1)


def test_structs_cross_as_their_fields(trace):
    bodies = wp.zeros(3, dtype=k.Body, device="cpu")
    with trace():
        for step in range(2):
            host = bodies.numpy()
            host["pos"] = np.arange(9).reshape(3, 3) + step
            host["mass"] = [1, 2, 3]
            given = annotate.input_tensors("a", {"bodies": bodies})
            out = wp.zeros(3, dtype=k.Body, device="cpu")
            launch(k.fall, 3, given, 0.5, out)
            annotate.output_tensors("a", {"out": out})
    node = trace.check()
    assert [(p.name, p.shape, p.dtype) for p in node.inputs] == [
        ("bodies_pos", (3, 3), torch.float32), ("bodies_mass", (3,), torch.float32), ("bodies_kind", (3,), torch.int32),
    ]  # fmt: skip
    assert [p.name for p in node.outputs] == ["out_pos", "out_mass", "out_kind"]


def test_fields_without_a_layout_are_named(trace):
    with pytest.raises(TraceError), trace():
        with pytest.raises(TypeError, match="Unsupported dtype: field 'values' of struct Holder"):
            annotate.input_tensors("a", {"h": wp.zeros(2, dtype=k.Holder, device="cpu")})


def test_two_passes_are_what_leapp_asks_for(trace):
    regions = iter([1, 2])

    def program(x, times):
        a = wp.from_torch(x)
        for _ in range(times):
            launch(k.scale, 4, a, 2.0)
            wp.synchronize()
        return x

    with pytest.raises(
        TraceError, match="a.*were not executed a second time for APIC capture|not executed a second time for APIC"
    ):
        once(trace, lambda x: program(x, 1), torch.ones(4), times=1, passes=2)
    assert len(once(trace, lambda x: program(x, 1), torch.ones(4), times=2, passes=2).segments) == 1
    assert len(once(trace, lambda x: program(x, 1), torch.ones(4), times=1, passes=1).segments) == 1
    with pytest.raises(TraceError, match="node 'a': Warp capture encountered more regions than discovery"):
        once(trace, lambda x: program(x, next(regions)), torch.ones(4), times=2, passes=2)
    fewer = iter([2, 1])
    with pytest.raises(TraceError, match="not executed a second time for APIC capture"):
        once(trace, lambda x: program(x, next(fewer)), torch.ones(4), times=2, passes=2)
    kernels = iter([k.scale, k.halve])

    def other(x):
        launch(next(kernels), 4, wp.from_torch(x), 2.0)
        return x

    with pytest.raises(
        TraceError, match=r"Warp segment diverged between discovery and capture.*launch\(halve\).*launch\(scale\)"
    ):
        once(trace, other, torch.ones(4), times=2, passes=2)


def test_an_exception_in_a_segment_leaves_nothing_open(trace):
    with pytest.raises(ZeroDivisionError), trace():
        x = annotate.input_tensors("a", {"x": torch.ones(4)})
        launch(k.scale, 4, wp.from_torch(x), 2.0)
        1 / 0  # noqa: B018
    assert not wp.get_device("cpu").is_capturing
    a = wp.zeros(4, dtype=float, device="cpu")
    a.fill_(3.0)
    assert a.numpy().tolist() == [3.0] * 4


def test_kernels_given_tensors_directly(trace):
    def program(x):
        out = torch.zeros(4)
        launch(k.squash, 4, x, out)
        launch(k.scale, 4, out, 2.0)
        return out

    once(trace, program, torch.randn(4))


def test_a_dry_run_makes_no_bundle(trace):
    def program(x):
        launch(k.scale, 4, wp.from_torch(x), 2.0)
        return x

    node = once(trace, program, torch.ones(4), check=False, dry_run=True)
    assert node.segments[0].bundle == b""


@pytest.mark.parametrize(
    "read", [lambda a: a[0], lambda a: a.list(), wp.utils.array_sum, lambda a: wp.utils.array_inner(a, a)]
)
def test_reading_an_array_is_reported(trace, read):
    def program(x):
        a = wp.from_torch(x)
        launch(k.scale, 4, a, 2.0)
        read(a)
        return x * 1

    with pytest.warns(TraceWarning, match=r"node 'a'.*read by the program at .*test_segments.py:\d+"):
        once(trace, program, torch.ones(4), times=1)


def test_recorded_launches_and_algorithms(trace):
    def program(x):
        a, b = wp.from_torch(x), wp.zeros(4, dtype=float, device="cpu")
        command = wp.launch(k.squash, dim=4, inputs=[a, b], device="cpu", record_cmd=True)
        command.launch()
        wp.utils.array_scan(b, b, inclusive=True)
        total = wp.zeros(1, dtype=float, device="cpu")
        wp.utils.array_sum(b, out=total)
        return wp.to_torch(b), wp.to_torch(total)

    assert len(once(trace, program, torch.randn(4)).segments) == 1


def test_nothing_is_kept_of_a_node_that_ended(trace):
    import gc
    import weakref

    with trace():
        x = annotate.input_tensors("a", {"x": torch.ones(4)})
        y = torch.zeros(4) + x
        array = wp.zeros(4, dtype=float, device="cpu")
        launch(k.add, 4, wp.from_torch(y), array, array)
        annotate.output_tensors("a", {"z": wp.to_torch(array) * 2})
        gone = [weakref.ref(y), weakref.ref(array)]
        del y, array
        gc.collect()
        assert [ref() for ref in gone] == [None, None]
