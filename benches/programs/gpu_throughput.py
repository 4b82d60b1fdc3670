"""Launch overhead and throughput on a GPU; prints the samples of every measurement, in seconds.

Kernels are timed by events on the device, launches by the clock of the host.
"""

import itertools
import json
import os
import time

import numpy as np
from kernels import nbody, saxpy, trig, wp
from more_kernels import histogram, total

DEVICE = os.environ.get("BENCH_DEVICE", "cuda:0")
QUICK = bool(os.environ.get("BENCH_QUICK"))
N, BODIES, LAUNCHES, BINS = 1 << (24 if QUICK else 28), 1 << (14 if QUICK else 16), 1000, 256
SUMMED = N // 16


def on_device(step, repeats):
    """Seconds between events around each of `repeats` calls of `step`, after two that are not counted."""
    step()
    step()
    wp.synchronize_device(DEVICE)
    taken = []
    for _ in range(repeats):
        before, after = wp.Event(DEVICE, enable_timing=True), wp.Event(DEVICE, enable_timing=True)
        wp.record_event(before)
        step()
        wp.record_event(after)
        taken.append(wp.get_event_elapsed_time(before, after) / 1e3)
    return taken


def on_host(step, repeats):
    """Seconds of host time for one of the `LAUNCHES` launches that `step` queues; waiting is not counted."""
    step()
    taken = []
    for _ in range(repeats):
        wp.synchronize_device(DEVICE)
        start = time.perf_counter()
        step()
        taken.append((time.perf_counter() - start) / LAUNCHES)
    wp.synchronize_device(DEVICE)
    return taken


with wp.ScopedDevice(DEVICE):
    rng = np.random.default_rng(2)
    x = wp.array(rng.random(N, dtype=np.float32), dtype=float)
    y = wp.zeros(N, dtype=float)
    position = wp.array(rng.random((BODIES, 3), dtype=np.float32), dtype=wp.vec3)
    velocity, moved = wp.zeros_like(position), wp.zeros_like(position)
    # Every sum has a slot of its own: float32 would soon swallow what is added to a growing one.
    counts, sums, slots = wp.zeros(BINS, dtype=int), wp.zeros(64, dtype=float), itertools.count()
    one_x, one_y = wp.zeros(1, dtype=float), wp.zeros(1, dtype=float)
    command = wp.launch(saxpy, dim=1, inputs=[one_x, one_y, 2.0], record_cmd=True)

    def launch_many():
        for _ in range(LAUNCHES):
            wp.launch(saxpy, dim=1, inputs=[one_x, one_y, 2.0])

    def replay_many():
        launch = command.launch
        for _ in range(LAUNCHES):
            launch()

    def move():
        wp.launch(nbody, dim=BODIES, inputs=[position, velocity, moved, BODIES, 0.01])

    measured = {
        "launch": on_host(launch_many, 9),
        "recorded launch": on_host(replay_many, 9),
        "saxpy": on_device(lambda: wp.launch(saxpy, dim=N, inputs=[x, y, 2.0]), 20),
        "trig": on_device(lambda: wp.launch(trig, dim=N, inputs=[x, y]), 20),
        "nbody": on_device(move, 7),
        "histogram": on_device(lambda: wp.launch(histogram, dim=N, inputs=[x, counts]), 10),
        "sum to one address": on_device(lambda: wp.launch(total, dim=SUMMED, inputs=[x, sums, next(slots)]), 10),
        "copy": on_device(lambda: wp.copy(y, x), 10),
    }
    assert int(counts.numpy().sum()) == 12 * N, "the histogram lost counts"
    exact = x.numpy()[:SUMMED].sum(dtype=np.float64)
    assert np.abs(sums.numpy()[: next(slots)] / exact - 1.0).max() < 1e-2, "a sum is wrong"

work = {
    "saxpy": {"bytes": 12 * N},
    "trig": {"bytes": 8 * N},
    "nbody": {"flop": 20 * BODIES * BODIES},
    "histogram": {"bytes": 4 * N},
    "sum to one address": {"bytes": 4 * SUMMED},
    "copy": {"bytes": 8 * N},
}
print(json.dumps({"seconds": measured, "work": work}))
