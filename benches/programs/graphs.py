"""A graph of 1000 launches, each of which works on what the one before left: what saving, loading and replaying it takes;
prints the samples of every measurement, in seconds.

On a GPU replay is timed by events on the device, everything else by the clock of the host. The kernel's code is in the
kernel cache before anything is measured; loads read the file anew.
"""

import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from kernels import saxpy, wp

DEVICE = os.environ.get("BENCH_DEVICE", "cpu")
REPEATS = 3 if os.environ.get("BENCH_QUICK") else 15
LAUNCHES = 1000
ON_GPU = DEVICE != "cpu"


def clocked(step):
    """What `step` gives, and the seconds it took, waiting for the GPU included."""
    wp.synchronize_device(DEVICE)
    start = time.perf_counter()
    result = step()
    wp.synchronize_device(DEVICE)
    return result, time.perf_counter() - start


def replayed(graph):
    """Seconds of one operation of ten replays."""
    if not ON_GPU:
        return clocked(lambda: [wp.capture_launch(graph) for _ in range(10)])[1] / (10 * LAUNCHES)
    before, after = wp.Event(DEVICE, enable_timing=True), wp.Event(DEVICE, enable_timing=True)
    wp.record_event(before)
    for _ in range(10):
        wp.capture_launch(graph)
    wp.record_event(after)
    return wp.get_event_elapsed_time(before, after) / 1e3 / (10 * LAUNCHES)


seconds = {"graph, save": [], "graph, load": [], "graph, first launch": [], "graph, replay per operation": []}
with wp.ScopedDevice(DEVICE), tempfile.TemporaryDirectory() as folder:
    x, y = wp.array(np.ones(1, dtype=np.float32), dtype=float), wp.zeros(1, dtype=float)
    wp.launch(saxpy, dim=1, inputs=[x, y, 0.5])
    with wp.ScopedCapture(DEVICE, apic=True) as capture:
        for _ in range(LAUNCHES):
            wp.launch(saxpy, dim=1, inputs=[x, y, 0.5])
    y.zero_()
    wp.capture_launch(capture.graph)
    right = y.numpy()[0]
    for repeat in range(REPEATS):
        path = str(Path(folder, f"graph{repeat}.wrp"))
        save = clocked(lambda path=path: wp.capture_save(capture.graph, path, inputs={"x": x, "y": y}))[1]
        graph, load = clocked(lambda path=path: wp.capture_load(path, device=DEVICE))
        start, out = wp.zeros(1, dtype=float), wp.zeros(1, dtype=float)
        graph.set_param("y", start)
        _, first = clocked(lambda graph=graph: wp.capture_launch(graph))
        graph.get_param("y", out)
        assert out.numpy()[0] == right, (out.numpy(), right)
        for name, value in zip(seconds, (save, load, first, replayed(graph)), strict=True):
            seconds[name].append(value)

print(json.dumps({"seconds": seconds}))
