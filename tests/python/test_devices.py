"""Devices, scopes, synchronisation, timers; streams and events on CUDA."""

import time

import numpy as np
import pytest
from _wp import wp


@wp.kernel
def fill(x: wp.array(dtype=float), value: float):
    x[wp.tid()] = value


def test_the_cpu_is_a_device():
    cpu = wp.get_device("cpu")
    assert (
        cpu.is_cpu
        and not cpu.is_cuda
        and cpu.alias == "cpu"
        and str(cpu) == "cpu"
        and cpu == "cpu"
        and cpu == wp.get_device("cpu")
    )
    assert (
        cpu in wp.get_devices()
        and wp.is_cpu_available()
        and wp.is_device_available("cpu")
        and isinstance(cpu.name, str)
    )
    assert wp.get_device(cpu) is cpu and cpu != "cuda:0"


def test_cuda_devices_are_listed():
    count = wp.get_cuda_device_count()
    assert len(wp.get_cuda_devices()) == count and (count > 0) == wp.is_cuda_available()
    assert len(wp.get_devices()) == count + 1
    assert wp.get_preferred_device() == ("cuda:0" if count else "cpu")


@pytest.mark.parametrize("name", ["gpu", "cuda:99", "cpu:1", "", 3.5])
def test_unknown_devices_are_refused(name):
    with pytest.raises(Exception):  # noqa: B017
        wp.get_device(name)


def test_scoped_device(device):
    before = wp.get_device()
    with wp.ScopedDevice(device) as entered:
        assert entered == device and wp.get_device() == device
        with wp.ScopedDevice("cpu"):
            assert wp.zeros(1, dtype=float).device == "cpu"
        assert wp.zeros(1, dtype=float).device == device
        with pytest.raises(KeyError), wp.ScopedDevice("cpu"):
            raise KeyError
        assert wp.get_device() == device
    assert wp.get_device() == before


def test_set_device(device):
    before = wp.get_device()
    try:
        wp.set_device(device)
        assert wp.get_device() == device and wp.ones(2, dtype=float).device == device
    finally:
        wp.set_device(before)


def test_cuda_device_facts(cuda_device):
    gpu = wp.get_device(cuda_device)
    assert gpu.is_cuda and not gpu.is_cpu and gpu.ordinal == 0 and gpu.arch >= 75 and gpu.sm_count > 0 and gpu.name
    assert gpu.total_memory >= gpu.free_memory > 0
    assert wp.get_cuda_device(0) == gpu and wp.get_device("cuda").is_cuda


def test_synchronize(device):
    x = wp.zeros(10, dtype=float, device=device)
    wp.launch(fill, dim=10, inputs=[x, 2.0], device=device)
    wp.synchronize()
    wp.synchronize_device()
    wp.synchronize_device(device)
    wp.synchronize_stream(device)
    assert x.numpy().tolist() == [2.0] * 10


def test_scoped_timer(capsys, device):
    with wp.ScopedTimer("outer stage", synchronize=True) as timer:
        time.sleep(0.02)
    assert 20.0 <= timer.elapsed < 5000.0
    text = capsys.readouterr().out
    assert "outer stage" in text and "ms" in text
    results = {}
    for _ in range(2):
        with wp.ScopedTimer("quiet", print=False, dict=results):
            pass
    assert len(results["quiet"]) == 2 and "quiet" not in capsys.readouterr().out
    with wp.ScopedTimer("inactive", active=False):
        pass
    assert "inactive" not in capsys.readouterr().out


def test_many_devices_scopes_do_not_leak(device):
    for _ in range(1000):
        with wp.ScopedDevice(device):
            pass
    assert wp.get_device() == wp.get_preferred_device()


def test_streams_are_for_cuda_only():
    with pytest.raises(RuntimeError):
        wp.Stream("cpu")
    with pytest.raises(RuntimeError):
        wp.get_stream("cpu")


def test_launch_on_a_stream(cuda_device):
    stream = wp.Stream(cuda_device)
    assert stream.device == cuda_device and stream.cuda_stream
    x = wp.zeros(100000, dtype=float, device=cuda_device)
    wp.synchronize_device(cuda_device)
    wp.launch(fill, dim=x.size, inputs=[x, 1.0], device=cuda_device, stream=stream)
    wp.synchronize_stream(stream)
    assert (x.numpy() == 1.0).all()
    command = wp.launch(fill, dim=x.size, inputs=[x, 2.0], device=cuda_device, record_cmd=True)
    command.launch(stream=stream)
    wp.synchronize_stream(stream)
    assert (x.numpy() == 2.0).all()


def test_scoped_stream_orders_work(cuda_device):
    main = wp.get_stream(cuda_device)
    side = wp.Stream(cuda_device)
    x = wp.zeros(1000000, dtype=float, device=cuda_device)
    for value in range(5):
        with wp.ScopedStream(side):
            assert wp.get_stream(cuda_device) is side
            wp.launch(fill, dim=x.size, inputs=[x, float(value)], device=cuda_device)
        assert wp.get_stream(cuda_device) is main
        main.wait_stream(side)
        assert (wp.clone(x).numpy() == value).all()


def test_events_order_and_time_work(cuda_device):
    side = wp.Stream(cuda_device)
    x = wp.zeros(1000000, dtype=float, device=cuda_device)
    start, end = wp.Event(cuda_device, enable_timing=True), wp.Event(cuda_device, enable_timing=True)
    wp.record_event(start)
    for value in range(20):
        wp.launch(fill, dim=x.size, inputs=[x, float(value)], device=cuda_device)
    wp.record_event(end)
    side.wait_event(end)
    y = wp.zeros_like(x)
    wp.synchronize_device(cuda_device)
    wp.copy(y, x, stream=side)
    wp.synchronize_event(end)
    assert wp.get_event_elapsed_time(start, end) > 0.0
    wp.synchronize_stream(side)
    assert (y.numpy() == 19.0).all()


def test_pooled_allocations_are_stream_ordered(cuda_device):
    assert isinstance(wp.is_mempool_supported(cuda_device), bool)
    total = np.zeros(1000, dtype=np.float32)
    for value in range(50):
        x = wp.full(1000, float(value), dtype=float, device=cuda_device)
        wp.launch(fill, dim=500, inputs=[x, -1.0], device=cuda_device)
        total += x.numpy()
    assert total[0] == -50.0 and total[999] == sum(range(50))
