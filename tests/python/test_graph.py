"""Graphs: what is captured, what a launch of a graph does, and what a capture refuses."""

import gc
import subprocess
import sys
import threading
import weakref

import _alone
import numpy as np
import pytest
from _wp import ON_WARP, wp

pytestmark = _alone.MARKS


@wp.kernel(enable_backward=True)
def scale(x: wp.array(dtype=float), y: wp.array(dtype=float), s: float):
    i = wp.tid()
    y[i] = x[i] * s


@wp.kernel
def add(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + y[i]


@wp.kernel
def decrement(n: wp.array(dtype=wp.int32)):
    n[0] = n[0] - 1


@wp.struct
class Pair:
    first: wp.array(dtype=float)
    factor: float
    second: wp.array(dtype=float)


@wp.kernel
def through_struct(pair: Pair, lists: wp.indexedarray(dtype=float)):
    i = wp.tid()
    pair.second[i] = pair.first[i] * pair.factor + lists[i]


def floats(*values):
    return wp.array(np.array(values, dtype=np.float32), dtype=float, device="cpu")


def test_a_capture_records_and_a_launch_runs():
    x, y = floats(1, 2, 3), floats(0, 0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=3, inputs=[x, y, 2.0], device="cpu")
        wp.launch(add, dim=3, inputs=[y, x], device="cpu")
    assert y.list() == [0, 0, 0]
    for _ in range(2):
        wp.capture_launch(capture.graph)
        assert y.list() == [3, 6, 9]
    x.assign([10, 20, 30])
    wp.capture_launch(capture.graph)
    assert y.list() == [30, 60, 90]


def test_scalars_are_those_of_the_capture():
    x, y = floats(1, 1), floats(0, 0)
    command = wp.launch(scale, dim=2, inputs=[x, y, 5.0], device="cpu", record_cmd=True)
    with wp.ScopedCapture(device="cpu") as capture:
        command.launch()
    command.set_param_by_name("s", 7.0)
    wp.capture_launch(capture.graph)
    assert y.list() == [5, 5]


def test_copies_and_fills_of_every_layout():
    source = wp.array(np.arange(24, dtype=np.float32).reshape(4, 6), dtype=float, device="cpu")
    whole, column, strided = wp.zeros((4, 6), device="cpu"), wp.zeros(4, device="cpu"), wp.zeros((4, 6), device="cpu")
    filled, ranged = wp.zeros((4, 6), device="cpu"), wp.zeros(8, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.copy(whole, source)
        wp.copy(column, source[:, 2])
        wp.copy(strided[::2, 1:3], source[1::2, 3:5])
        filled.fill_(1.0)
        filled[:, 1].fill_(4.0)
        filled[3].zero_()
        wp.copy(ranged, source.flatten(), dest_offset=2, src_offset=5, count=3)
    assert not filled.numpy().any() and not whole.numpy().any()
    new = np.random.default_rng(1).random((4, 6), dtype=np.float32)
    source.assign(new)
    wp.capture_launch(capture.graph)
    np.testing.assert_array_equal(whole.numpy(), new)
    np.testing.assert_array_equal(column.numpy(), new[:, 2])
    expected = np.zeros((4, 6), np.float32)
    expected[::2, 1:3] = new[1::2, 3:5]
    np.testing.assert_array_equal(strided.numpy(), expected)
    expected = np.ones((4, 6), np.float32)
    expected[:, 1], expected[3] = 4.0, 0.0
    np.testing.assert_array_equal(filled.numpy(), expected)
    np.testing.assert_array_equal(ranged.numpy(), [0, 0, *new.flatten()[5:8], 0, 0, 0])


def test_assigned_data_is_what_it_was_in_the_capture():
    y, data = floats(0, 0, 0), np.array([1, 2, 3], dtype=np.float32)
    with wp.ScopedCapture(device="cpu") as capture:
        y.assign(data)
    data[:] = 9.0
    wp.capture_launch(capture.graph)
    assert y.list() == [1, 2, 3]


def test_memory_made_inside_is_the_graph_s_own():
    x, y = floats(1, 2, 3, 4), floats(0, 0, 0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        total = wp.zeros(4, device="cpu")
        table = wp.array([1.0, 10.0, 100.0, 1000.0], dtype=float, device="cpu")
        part = wp.clone(x)
        wp.launch(add, dim=4, inputs=[total, table], device="cpu")
        wp.launch(add, dim=4, inputs=[total, part], device="cpu")
        wp.copy(y, total)
        del total, table, part
    gc.collect()
    for first in (1, 5):
        x.assign([first, 2, 3, 4])
        wp.capture_launch(capture.graph)
        assert y.list() == [1 + first, 12, 103, 1004]


def test_arrays_live_as_long_as_the_graph():
    def record():
        x, y = floats(1, 2), floats(0, 0)
        view = y[1:]
        with wp.ScopedCapture(device="cpu") as capture:
            wp.launch(scale, dim=1, inputs=[x[1:], view, 4.0], device="cpu")
        return capture.graph, y.ptr

    graph, address = record()
    gc.collect()
    noise = [floats(*range(2)) for _ in range(100)]
    wp.capture_launch(graph)
    result = wp.array(ptr=address, shape=2, dtype=float, device="cpu")
    assert result.list() == [0, 8] and len(noise) == 100


def test_what_arrays_refer_to_lives_as_long_as_the_graph():
    def record():
        numbers = [np.array([1, 2], dtype=np.float32), np.zeros(2, np.float32), np.ones(2, np.float32)]
        x, y, z = (wp.array(ptr=n.ctypes.data, shape=2, dtype=float, device="cpu") for n in numbers)
        for array, n in zip((x, y, z), numbers):
            array.owner = n
        with wp.ScopedCapture(device="cpu") as capture:
            wp.copy(y, x)
            z.fill_(5.0)
        return capture.graph, [weakref.ref(n) for n in numbers]

    graph, owners = record()
    gc.collect()
    wp.capture_launch(graph)
    assert [owner().tolist() for owner in owners] == [[1, 2], [1, 2], [5, 5]]
    del graph
    gc.collect()
    assert all(owner() is None for owner in owners)


def test_arrays_in_structs_and_behind_lists():
    pair = Pair()
    pair.first, pair.factor, pair.second = floats(1, 2), 3.0, floats(0, 0)
    base, lists = floats(10, 20, 30), wp.array([2, 0], dtype=int, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(through_struct, dim=2, inputs=[pair, wp.indexedarray(base, [lists])], device="cpu")
    second = pair.second
    pair.second = floats(7, 7)
    base.assign([100, 200, 300])
    wp.capture_launch(capture.graph)
    assert second.list() == [303, 106] and pair.second.list() == [7, 7]


def test_arrays_of_other_libraries():
    x, y = np.array([1, 2], dtype=np.float32), np.zeros(2, dtype=np.float32)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=2, inputs=[x, y, 2.0], device="cpu")
        wp.launch(scale, dim=1, inputs=[y[:1], y[1:], 5.0], device="cpu")
    assert not y.any()
    wp.capture_launch(capture.graph)
    np.testing.assert_array_equal(y, [2, 10])


@pytest.mark.parametrize("value", [0, 1, -3])
def test_if(value):
    condition, y = wp.array([value], dtype=wp.int32, device="cpu"), floats(0, 0)

    def fill(value):
        y.fill_(value)

    with wp.ScopedCapture(device="cpu") as capture:
        wp.capture_if(condition, lambda: fill(1.0), lambda: fill(2.0))
        wp.capture_if(condition, on_false=lambda: y[:1].fill_(3.0))
        wp.capture_if(condition, on_true=lambda: y[1:].fill_(4.0))
    assert y.list() == [0, 0]
    for now in (value, 0, 1):
        condition.fill_(now)
        wp.capture_launch(capture.graph)
        assert y.list() == ([1, 4] if now else [3, 2])
    # Without a capture the same calls are ordinary control flow.
    condition.fill_(value)
    wp.capture_if(condition, fill, lambda value: fill(-value), value=5.0)
    assert y.list() == ([5, 5] if value else [-5, -5])


def test_while_runs_as_often_as_the_condition_says():
    n, total, one = wp.zeros(1, dtype=wp.int32, device="cpu"), floats(0), floats(1)

    def body(count):
        wp.launch(add, dim=1, inputs=[total, count], device="cpu")
        wp.launch(decrement, dim=1, inputs=[n], device="cpu")

    with wp.ScopedCapture(device="cpu") as capture:
        wp.capture_while(n, body, count=one)
    for count in (3, 0, 5):
        n.fill_(count)
        total.zero_()
        wp.capture_launch(capture.graph)
        assert total.list() == [count] and n.list() == [0]
    n.fill_(4)
    wp.capture_while(n, while_body=body, count=one)
    assert total.list() == [9]


def test_bodies_nest_and_can_be_graphs():
    outer, inner = (wp.zeros(1, dtype=wp.int32, device="cpu") for _ in range(2))
    total, one = floats(0), floats(1)
    with wp.ScopedCapture(device="cpu") as body:
        wp.launch(add, dim=1, inputs=[total, one], device="cpu")
        wp.launch(decrement, dim=1, inputs=[inner], device="cpu")

    def loop():
        inner.fill_(3)
        wp.capture_while(inner, body.graph)
        wp.capture_if(inner, on_false=lambda: wp.launch(decrement, dim=1, inputs=[outer], device="cpu"))

    with wp.ScopedCapture(device="cpu") as capture:
        outer.fill_(4)
        wp.capture_while(outer, loop)
        wp.capture_launch(body.graph)
    assert total.list() == [0]
    wp.capture_launch(capture.graph)
    assert total.list() == [13] and inner.list() == [-1]


def test_a_pause_runs_what_comes_and_records_nothing():
    x = floats(0, 0)
    wp.capture_begin(device="cpu")
    x[:1].fill_(1.0)
    paused = wp.capture_pause(device="cpu")
    x.fill_(5.0)
    assert x.list() == [5, 5]
    with pytest.raises(RuntimeError, match="capture has not ended"):
        wp.capture_launch(paused)
    wp.capture_resume(paused)
    x[1:].fill_(2.0)
    graph = wp.capture_end(device="cpu")
    assert x.list() == [5, 5]
    wp.capture_launch(graph)
    assert x.list() == [1, 2]
    for finished in (paused, graph):
        with pytest.raises(RuntimeError, match="not paused"):
            wp.capture_resume(finished)


def test_captures_begin_and_end_in_pairs():
    with pytest.raises(RuntimeError, match="no graph capture is in progress on cpu"):
        wp.capture_end(device="cpu")
    wp.capture_begin(device="cpu")
    with pytest.raises(RuntimeError, match="already in progress"):
        wp.capture_begin(device="cpu")
    wp.capture_end(device="cpu")


def test_an_exception_gives_up_the_capture():
    x = floats(0)
    condition = wp.ones(1, dtype=wp.int32, device="cpu")

    def fails():
        x.fill_(3.0)
        raise KeyError("stop")

    for statements in (fails, lambda: wp.capture_while(condition, fails), lambda: wp.capture_if(condition, fails)):
        with pytest.raises(KeyError), wp.ScopedCapture(device="cpu"):
            statements()
        x.fill_(1.0)
        assert x.list() == [1]


def test_a_body_that_fails_leaves_no_trace_in_the_capture():
    x = floats(0)
    condition = wp.ones(1, dtype=wp.int32, device="cpu")

    def fails():
        x.fill_(3.0)
        raise KeyError("stop")

    with wp.ScopedCapture(device="cpu") as capture:
        with pytest.raises(KeyError):
            wp.capture_if(condition, fails)
        x.fill_(2.0)
    wp.capture_launch(capture.graph)
    assert x.list() == [2]


def test_what_cannot_be_a_condition_or_a_body():
    number = wp.ones(1, dtype=wp.int32, device="cpu")
    for wrong in (wp.ones(1, device="cpu"), 1, np.ones(1, np.int32)):
        with pytest.raises(TypeError, match="Condition must be"):
            wp.capture_if(wrong, lambda: None)
    with pytest.raises(TypeError, match="on_true must be a Callable or a Graph"):
        wp.capture_if(number, 3)
    with pytest.raises(TypeError, match="while_body must be"):
        wp.capture_while(number, None)
    with pytest.raises(TypeError, match="`graph` is a Graph"):
        wp.capture_launch(None)


def test_other_threads_are_not_recorded():
    x = floats(0)
    with wp.ScopedCapture(device="cpu") as capture:
        thread = threading.Thread(target=lambda: x.fill_(3.0))
        thread.start()
        thread.join()
        assert x.list() == [3]
    x.fill_(0.0)
    wp.capture_launch(capture.graph)
    assert x.list() == [0] and capture.graph.op_count == 0


def test_a_graph_works_on_other_arrays():
    x, y = floats(1, 2, 3), floats(0, 0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=3, inputs=[x, y, 2.0], device="cpu")
        wp.launch(add, dim=3, inputs=[y, x], device="cpu")
    graph, new, out = capture.graph, floats(5, 6, 7), floats(0, 0, 0)
    graph.set_param(x, new)
    graph.set_param(y, out)
    wp.capture_launch(graph)
    assert out.list() == [15, 18, 21] and y.list() == [0, 0, 0]
    new.assign([1, 1, 1])
    wp.capture_launch(graph)
    assert out.list() == [3, 3, 3]
    del new, out
    gc.collect()
    wp.capture_launch(graph)


def test_an_array_of_the_capture_names_its_place_whatever_is_there():
    x, y = floats(1, 2, 3), floats(0, 0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=3, inputs=[x, y, 2.0], device="cpu")
    graph = capture.graph
    for frame in ([4, 5, 6], [7, 8, 9]):
        graph.set_param(x, floats(*frame))
        wp.capture_launch(graph)
        assert y.list() == [2 * v for v in frame]
    graph.set_param(x, y)
    graph.set_param(y, x)
    wp.capture_launch(graph)
    assert x.list() == [4 * v for v in (7, 8, 9)], "the two are swapped"
    graph.set_param(x, x)
    graph.set_param(y, y)
    wp.capture_launch(graph)
    assert y.list() == [8 * v for v in (7, 8, 9)]


def test_what_another_array_must_be_like():
    x, y = floats(1, 2, 3, 4), floats(0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=2, inputs=[x[:2], y, 2.0], device="cpu")
        wp.launch(scale, dim=1, inputs=[x[3:], y, 3.0], device="cpu")
    graph = capture.graph
    with pytest.raises(Exception, match="expected .*float.* shape .2., got .*int"):
        graph.set_param(y, wp.zeros(2, dtype=wp.int32, device="cpu"))
    with pytest.raises(Exception, match="shape .3."):
        graph.set_param(y, floats(1, 2, 3))
    with pytest.raises(Exception, match="other parts of the same memory"):
        graph.set_param(x[:2], floats(5, 6))
    with pytest.raises(Exception, match="does not use the memory"):
        graph.set_param(floats(1, 2), floats(5, 6))
    with pytest.raises(Exception, match="multiple of 16 bytes"):
        graph.set_param(y, floats(1, 2, 3)[1:])
    graph.set_param(x[:2], floats(5, 6), copy=True)
    graph.set_param(y, floats(0, 0, 0, 0, 0, 0)[4:])
    wp.capture_launch(graph)
    assert x.list() == [5, 6, 3, 4] and y.list() == [0, 0]


@wp.kernel
def blend(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = 0.5 * a[i] + 0.25 * b[i] + wp.sin(a[i] * b[i])


@pytest.mark.parametrize("seed", range(4))
def test_random_graphs_give_what_their_operations_give_one_after_the_other(seed, tmp_path):
    """Launches that read arrays in common, parts of arrays, copies and fills, replayed at the same time where they can be,
    here and in a process that has only the file."""
    rng = np.random.default_rng(seed)
    size, count = 24000, 5
    start = [rng.random(size, dtype=np.float32) for _ in range(count)]
    plan = []
    for _ in range(120):
        kind, places = int(rng.integers(4)), [int(n) for n in rng.integers(count, size=3)]
        half = slice(0, size // 2) if rng.integers(2) else slice(size // 2, size)
        plan.append((kind, places, half if rng.integers(2) else slice(0, size), float(rng.random())))

    def work(arrays):
        for kind, (a, b, c), part, value in plan:
            a, b, c = arrays[a][part], arrays[b][part], arrays[c][part]
            if kind < 2:
                wp.launch(blend, dim=len(c), inputs=[a, b, c], device="cpu")
            elif kind == 2:
                wp.copy(c, a)
            else:
                c.fill_(value)

    right = [wp.array(values, device="cpu") for values in start]
    for _ in range(4):
        work(right)
    arrays = [wp.array(values, device="cpu") for values in start]
    with wp.ScopedCapture(device="cpu") as capture:
        work(arrays)
    if not ON_WARP:
        wp.capture_save(capture.graph, tmp_path / "graph.wrp", outputs={str(i): a for i, a in enumerate(arrays)})
    # What the launches take is known from the first round on.
    for _ in range(4):
        wp.capture_launch(capture.graph)
    for array, expected in zip(arrays, right, strict=True):
        np.testing.assert_array_equal(array.numpy(), expected.numpy())
    if ON_WARP:
        return
    outputs = [part for i in range(count) for part in ("--output", f"{i}={i}.npy")]
    command = [sys.executable, "-m", "inkle", "replay", "graph.wrp", "--repeat", "4", *outputs]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    for i, expected in enumerate(right):
        # Code for any machine of a level, not for this one: sines may differ in the last place.
        np.testing.assert_allclose(np.load(tmp_path / f"{i}.npy"), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_a_device_says_whether_it_is_recorded():
    cpu = wp.get_device("cpu")
    assert not cpu.is_capturing
    with wp.ScopedCapture(device="cpu"):
        assert cpu.is_capturing
        graph = wp.capture_pause(device="cpu")
        assert not cpu.is_capturing
        wp.capture_resume(graph, device="cpu")
        assert cpu.is_capturing
    assert not cpu.is_capturing


@wp.kernel
def asks_for_no_index(out: wp.array(dtype=int)):
    out[0] = 5


@pytest.mark.skipif(ON_WARP, reason="Warp differs: its file is saved only of a capture with apic=True")
def test_a_launch_of_more_threads_than_an_index_counts_is_saved(tmp_path):
    out = wp.zeros(1, dtype=int, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(asks_for_no_index, dim=2**31 + 1, inputs=[out], device="cpu")
    wp.capture_save(capture.graph, tmp_path / "g.wrp", outputs={"out": out})
    assert "2147483649" in str(wp.capture_load(tmp_path / "g.wrp", device="cpu"))


def test_independent_chains_give_what_they_give_in_order():
    rng = np.random.default_rng(7)
    size, count = 3000, 6
    arrays = [wp.array(rng.random(size, dtype=np.float32), device="cpu") for _ in range(count)]
    copies = [wp.clone(a) for a in arrays]

    def work(arrays):
        for step in range(20):
            for i in range(count):
                wp.launch(add, dim=size, inputs=[arrays[i], arrays[(i + step) % count]], device="cpu")
                wp.launch(scale, dim=size, inputs=[arrays[i], arrays[i], 0.5], device="cpu")

    with wp.ScopedCapture(device="cpu") as capture:
        work(arrays)
    for _ in range(3):
        wp.capture_launch(capture.graph)
        work(copies)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array.numpy(), copy.numpy())


def test_failing_assertions_show_when_the_graph_runs():
    wp.config.mode = "debug"
    try:

        @wp.kernel(module="unique")
        def check(x: wp.array(dtype=float)):
            assert x[0] > 0.0, "x must be positive"

        x = floats(1)
        with wp.ScopedCapture(device="cpu") as capture:
            wp.launch(check, dim=1, inputs=[x], device="cpu")
        wp.capture_launch(capture.graph)
        x.fill_(-1.0)
        with pytest.raises(RuntimeError, match="x must be positive"):
            wp.capture_launch(capture.graph)
    finally:
        wp.config.mode = "release"


def test_a_graph_prints_what_it_does():
    x, y, n = floats(1, 2), floats(0, 0), wp.zeros(1, dtype=wp.int32, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=2, inputs=[x, y, 2.0], device="cpu")
        wp.capture_while(n, lambda: wp.copy(y[:1], x[1:]))
    assert str(capture.graph).splitlines()[3:] == [
        "k0: scale(x: array<f32, 1>, y: array<f32, 1>, s: f32)",
        "launch k0 [2] x=r0+0 y=r1+0 s=2",
        "while r2+0 {",
        "    copy r1+0 f32 [1] from r0+4",
        "}",
    ]


def test_backward_launches_are_launches():
    x = wp.array([1.0, 2.0], dtype=float, device="cpu", requires_grad=True)
    y = wp.zeros(2, dtype=float, device="cpu", requires_grad=True)
    other = wp.array([10.0, 20.0], dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, 2, inputs=[x, y, 3.0], adj_inputs=[None, other, None], adjoint=True, device="cpu")
    assert x.grad.list() == [0, 0]
    for times in (1, 2):
        wp.capture_launch(capture.graph)
        assert x.grad.list() == [30 * times, 60 * times]


def test_algorithms_over_arrays_run_again():
    ints = wp.array([3, 1, 2], dtype=wp.int32, device="cpu")
    sums, exclusive = wp.zeros(3, dtype=wp.int32, device="cpu"), wp.zeros(6, dtype=wp.int32, device="cpu")
    keys, places = (wp.zeros(6, dtype=wp.int32, device="cpu") for _ in range(2))
    pairs, segments = wp.zeros(8, device="cpu"), wp.array([0, 1, 4], dtype=wp.int32, device="cpu")
    pair_values = wp.zeros(8, dtype=wp.int32, device="cpu")
    rows = wp.array(np.arange(6, dtype=np.float32).reshape(2, 3), dtype=float, device="cpu")
    row_sums, product, cast = wp.zeros((2, 1), device="cpu"), wp.zeros(1, device="cpu"), wp.zeros(3, device="cpu")
    runs, lengths, count = (wp.zeros(n, dtype=wp.int32, device="cpu") for n in (3, 3, 1))

    def work():
        wp.utils.array_scan(ints, sums, inclusive=True)
        wp.utils.array_scan(ints, exclusive[::2], inclusive=False)
        wp.copy(keys, ints, count=3)
        wp.copy(places, wp.array([0, 1, 2], dtype=wp.int32, device="cpu"), count=3)
        wp.utils.radix_sort_pairs(keys, places, 3)
        wp.copy(pairs, wp.array([9.0, 4.0, 3.0, 5.0], dtype=float, device="cpu"), count=4)
        wp.copy(pair_values, wp.array([0, 1, 2, 3], dtype=wp.int32, device="cpu"), count=4)
        wp.utils.segmented_sort_pairs(pairs, pair_values, 4, segments)
        wp.utils.array_sum(rows, out=row_sums, axis=-1)
        wp.utils.array_inner(rows, rows, out=product)
        wp.utils.array_cast(in_array=ints, out_array=cast)
        wp.utils.runlength_encode(ints, runs, lengths, run_count=count)

    with wp.ScopedCapture(device="cpu") as capture:
        work()
    assert not any(a.numpy().any() for a in (sums, exclusive, keys, row_sums, product, cast, runs, lengths, count))
    ints.assign([5, 5, 4])
    rows.fill_(2.0)
    wp.capture_launch(capture.graph)
    assert sums.list() == [5, 10, 14] and exclusive.list() == [0, 0, 5, 0, 10, 0]
    assert keys.list()[:3] == [4, 5, 5] and places.list()[:3] == [2, 0, 1]
    assert pairs.list()[:4] == [9, 3, 4, 5] and pair_values.list()[:4] == [0, 2, 1, 3]
    assert row_sums.list() == [6, 6] and product.list() == [24] and cast.list() == [5, 5, 4]
    assert runs.list()[:2] == [5, 4] and lengths.list()[:2] == [2, 1] and count.list() == [2]


def test_results_that_are_needed_at_once_are_refused():
    values, ints = floats(1, 2, 3), wp.zeros(3, dtype=wp.int32, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        with pytest.raises(NotImplementedError, match=r"array_sum\(\) needs an explicit out"):
            wp.utils.array_sum(values)
        with pytest.raises(NotImplementedError, match=r"array_inner\(\) needs an explicit out"):
            wp.utils.array_inner(values, values)
        with pytest.raises(NotImplementedError, match="number of runs"):
            wp.utils.runlength_encode(ints, wp.empty_like(ints), wp.empty_like(ints))
        assert wp.utils.runlength_encode(ints, wp.empty_like(ints), wp.empty_like(ints), value_count=0) == 0
    assert capture.graph.op_count == 0


def test_mistakes_are_found_while_the_graph_is_captured():
    values = floats(1, 2, 3)
    with wp.ScopedCapture(device="cpu") as capture:
        for wrong in (
            lambda: wp.utils.array_scan(values, floats(1, 2)),
            lambda: wp.utils.array_sum(values, out=wp.zeros(2, device="cpu")),
            lambda: wp.utils.array_sum(values, out=wp.zeros(1, device="cpu"), value_count=4),
            lambda: wp.copy(values, wp.zeros(2, dtype=wp.float64, device="cpu")),
            lambda: wp.launch(scale, dim=1, inputs=[values, wp.zeros(1, dtype=int, device="cpu"), 1.0], device="cpu"),
        ):
            with pytest.raises((RuntimeError, TypeError, ValueError)):
                wrong()
    assert not any(word in str(capture.graph) for word in ("array_", "launch"))


def test_elements_that_a_graph_will_write_are_not_read_while_it_is_captured():
    x, y, given = floats(1, 2, 3), floats(0, 0, 0), floats(7, 8, 9)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=3, inputs=[x, y, 2.0], device="cpu")
        for read in (y.numpy, y.list, lambda: y[0], y[1:].numpy):
            with pytest.raises(NotImplementedError, match="needs elements that the graph does not write"):
                read()
        assert str(y) == repr(y)
        # What it reads, or has no part in, has values.
        assert (x.list(), given.list()) == ([1, 2, 3], [7, 8, 9])
        wp.copy(given[1:], y[1:])
        assert given[0] == 7
        with pytest.raises(NotImplementedError, match=r"array.__getitem__\(\)"):
            given[1]
        paused = wp.capture_pause()
        assert y.list() == [0, 0, 0]
        wp.capture_resume(paused)
    wp.capture_launch(capture.graph)
    assert (y.list(), given.list()) == ([2, 4, 6], [7, 4, 6])
