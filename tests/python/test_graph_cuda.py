"""Graphs on a GPU: what the driver captures, conditional nodes, streams, files, and captures of others."""

import gc

import _alone
import numpy as np
import pytest
from _wp import wp

pytestmark = _alone.MARKS


@wp.kernel
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


def floats(device, *values):
    return wp.array(np.array(values, dtype=np.float32), dtype=float, device=device)


def test_what_is_captured_runs_with_the_graph(cuda_device):
    d = cuda_device
    x, y, rows = floats(d, 1, 2, 3, 4), floats(d, 0, 0, 0, 0), wp.zeros((4, 4), device=d)
    with wp.ScopedCapture(device=d) as capture:
        wp.launch(scale, dim=4, inputs=[x, y, 2.0], device=d)
        inside = wp.zeros(4, device=d)
        wp.copy(inside, y)
        wp.launch(add, dim=4, inputs=[y, inside], device=d)
        wp.copy(rows[:, 1], y)
        rows[:, 2].fill_(7.0)
        del inside
    gc.collect()
    assert y.list() == [0, 0, 0, 0]
    for first in (1, 10):
        x.assign([first, 2, 3, 4])
        wp.capture_launch(capture.graph)
        assert y.list() == [4 * first, 8, 12, 16]
    expected = np.zeros((4, 4), np.float32)
    expected[:, 1], expected[:, 2] = [40, 8, 12, 16], 7
    np.testing.assert_array_equal(rows.numpy(), expected)


def test_conditions_and_loops(cuda_device):
    d = cuda_device
    if not wp.is_conditional_graph_supported():
        pytest.skip("the driver has no conditional nodes")
    n, flag = (wp.zeros(1, dtype=wp.int32, device=d) for _ in range(2))
    total, one = floats(d, 0), floats(d, 1)

    def body():
        wp.launch(add, dim=1, inputs=[total, one], device=d)
        wp.launch(decrement, dim=1, inputs=[n], device=d)
        wp.capture_if(flag, lambda: wp.launch(add, dim=1, inputs=[total, one], device=d))

    with wp.ScopedCapture(device=d) as capture:
        wp.capture_while(n, body)
        wp.capture_if(flag, lambda: flag.fill_(0), lambda: total.fill_(-1.0))
    for rounds, set_, result in ((3, 1, 6), (0, 1, 0), (2, 0, -1)):
        n.fill_(rounds)
        flag.fill_(set_)
        total.zero_()
        wp.capture_launch(capture.graph)
        assert total.list() == [result] and n.list() == [0] and flag.list() == [0]


def test_streams_that_wait_take_part(cuda_device):
    d = cuda_device
    x, y, z = floats(d, 1, 2), floats(d, 0, 0), floats(d, 0, 0)
    side = wp.Stream(d)
    main = wp.get_device(d).stream
    with wp.ScopedCapture(device=d) as capture:
        wp.launch(scale, dim=2, inputs=[x, y, 2.0], device=d)
        side.wait_stream(main)
        wp.launch(scale, dim=2, inputs=[y, z, 3.0], stream=side)
        event = side.record_event()
        main.wait_event(event)
        wp.launch(add, dim=2, inputs=[z, x], device=d)
    for values in ([1, 2], [3, 5]):
        x.assign(np.array(values, dtype=np.float32))
        wp.capture_launch(capture.graph)
        assert z.list() == [7 * value for value in values]


def test_a_graph_works_on_other_arrays_and_inside_others(cuda_device):
    d = cuda_device
    x, y = floats(d, 1, 2), floats(d, 0, 0)
    with wp.ScopedCapture(device=d) as child:
        wp.launch(scale, dim=2, inputs=[x, y, 2.0], device=d)
        wp.launch(add, dim=2, inputs=[y, x], device=d)
    new, out = floats(d, 10, 20), floats(d, 0, 0)
    child.graph.set_param(x, new)
    child.graph.set_param(y, out)
    with wp.ScopedCapture(device=d) as parent:
        new.fill_(4.0)
        wp.capture_launch(child.graph)
    wp.capture_launch(parent.graph)
    assert out.list() == [12, 12] and y.list() == [0, 0]


def test_a_graph_of_a_gpu_in_a_file_runs_on_both(cuda_device, tmp_path):
    d = cuda_device
    x, y = floats(d, 1, 2, 3, 4), floats(d, 0, 0, 0, 0)
    n = wp.zeros(1, dtype=wp.int32, device=d)

    def body():
        wp.launch(add, dim=4, inputs=[y, x], device=d)
        wp.launch(decrement, dim=1, inputs=[n], device=d)

    with wp.ScopedCapture(device=d) as capture:
        wp.launch(scale, dim=4, inputs=[x, y, 2.0], device=d)
        n.fill_(3)
        if wp.is_conditional_graph_supported():
            wp.capture_while(n, body)
        else:
            for _ in range(3):
                body()
    wp.capture_save(capture.graph, tmp_path / "g", inputs={"x": x}, outputs={"y": y})
    for device in (d, "cpu"):
        graph, result = wp.capture_load(tmp_path / "g", device=device), floats(device, 0, 0, 0, 0)
        graph.set_param("x", floats(device, 1, 2, 3, 10))
        wp.capture_launch(graph)
        graph.get_param("y", result)
        assert result.list() == [5, 10, 15, 50]


def test_a_graph_of_the_cpu_in_a_file_runs_on_a_gpu(cuda_device, tmp_path):
    x, y = floats("cpu", 1, 2, 3, 4, 5), floats("cpu", 0, 0, 0, 0, 0)
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(scale, dim=5, inputs=[x, y, 2.0], device="cpu")
        wp.launch(add, dim=3, inputs=[y[1:4], x[2:]], device="cpu")
    wp.capture_save(capture.graph, tmp_path / "g", inputs={"x": x}, outputs={"y": y})
    graph, result = wp.capture_load(tmp_path / "g", device=cuda_device), floats(cuda_device, 0, 0, 0, 0, 0)
    wp.capture_launch(graph)
    graph.get_param("y", result)
    assert result.list() == [2, 7, 10, 13, 10]


def test_work_on_the_cpu_runs_during_a_capture(cuda_device):
    host, x = floats("cpu", 1, 2), floats(cuda_device, 0, 0)
    with wp.ScopedCapture(device=cuda_device):
        x.fill_(1.0)
        wp.launch(scale, dim=2, inputs=[host, host, 3.0], device="cpu")
        wp.utils.array_scan(host, host)
    assert host.list() == [3, 9]


def test_a_pause_and_an_exception(cuda_device):
    d = cuda_device
    x = floats(d, 0, 0)
    wp.capture_begin(device=d)
    x[:1].fill_(1.0)
    paused = wp.capture_pause(device=d)
    x.fill_(5.0)
    assert x.list() == [5, 5]
    wp.capture_resume(paused)
    x[1:].fill_(2.0)
    graph = wp.capture_end(device=d)
    wp.capture_launch(graph)
    assert x.list() == [1, 2]
    with pytest.raises(KeyError), wp.ScopedCapture(device=d):
        x.fill_(9.0)
        raise KeyError
    x.fill_(3.0)
    assert x.list() == [3, 3]


def test_pytorch_captures_our_work_and_we_capture_pytorch_s(cuda_device):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no CUDA")
    x, y = torch.ones(4, device=cuda_device), torch.zeros(4, device=cuda_device)
    wx, wy = wp.from_torch(x), wp.from_torch(y)
    wp.launch(scale, dim=4, inputs=[wx, wy, 1.0], device=cuda_device)
    with wp.ScopedCapture(device=cuda_device) as ours:
        wp.launch(scale, dim=4, inputs=[wx, wy, 3.0], device=cuda_device)
    theirs = torch.cuda.CUDAGraph()
    with torch.cuda.graph(theirs):
        stream = wp.stream_from_torch(torch.cuda.current_stream())
        x.add_(1.0)
        wp.capture_launch(ours.graph, stream=stream)
        with wp.ScopedStream(stream), wp.ScopedCapture(device=cuda_device, stream=stream, external=True):
            wp.launch(add, dim=4, inputs=[wy, wx], device=cuda_device)
    theirs.replay()
    torch.cuda.synchronize()
    assert y.tolist() == [8, 8, 8, 8]
    stream = wp.stream_from_torch(torch.cuda.Stream())
    with wp.ScopedStream(stream), torch.cuda.stream(wp.stream_to_torch(stream)):
        with wp.ScopedCapture(device=cuda_device, stream=stream) as both:
            y.fill_(1.0)
            wp.launch(add, dim=4, inputs=[wy, wx], device=cuda_device)
        x.fill_(5.0)
        wp.capture_launch(both.graph, stream=stream)
    wp.synchronize_device(cuda_device)
    assert y.tolist() == [6, 6, 6, 6]
    with pytest.raises(NotImplementedError, match="work of other libraries"):
        wp.capture_save(both.graph, "never-written")
