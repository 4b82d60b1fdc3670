"""Launch overhead and throughput on the CPU; prints the samples of every measurement, in seconds."""

import json
import os
import time

import numpy as np
from kernels import nbody, saxpy, trig, wp
from more_kernels import histogram

DEVICE = "cpu"
SCALE = 1 if os.environ.get("BENCH_QUICK") else 8
N, BODIES, LAUNCHES, BINS = SCALE << 21, 512 * SCALE, 10_000, 256


def samples(step, repeats):
    """Seconds that each of `repeats` calls of `step` took, after one that is not counted."""
    step()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        taken.append(time.perf_counter() - start)
    return taken


rng = np.random.default_rng(2)
x = wp.array(rng.random(N, dtype=np.float32), dtype=float, device=DEVICE)
y = wp.zeros(N, dtype=float, device=DEVICE)
position = wp.array(rng.random((BODIES, 3), dtype=np.float32), dtype=wp.vec3, device=DEVICE)
velocity, moved = wp.zeros_like(position), wp.zeros_like(position)
counts = wp.zeros(BINS, dtype=int, device=DEVICE)
one_x, one_y = wp.zeros(1, dtype=float, device=DEVICE), wp.zeros(1, dtype=float, device=DEVICE)
command = wp.launch(saxpy, dim=1, inputs=[one_x, one_y, 2.0], device=DEVICE, record_cmd=True)


def launch_many():
    for _ in range(LAUNCHES):
        wp.launch(saxpy, dim=1, inputs=[one_x, one_y, 2.0], device=DEVICE)


def replay_many():
    launch = command.launch
    for _ in range(LAUNCHES):
        launch()


def count():
    wp.launch(histogram, dim=N, inputs=[x, counts], device=DEVICE)


measured = {
    "launch": [s / LAUNCHES for s in samples(launch_many, 5)],
    "recorded launch": [s / LAUNCHES for s in samples(replay_many, 5)],
    "saxpy": samples(lambda: wp.launch(saxpy, dim=N, inputs=[x, y, 2.0], device=DEVICE), 9),
    "trig": samples(lambda: wp.launch(trig, dim=N, inputs=[x, y], device=DEVICE), 5),
    "nbody": samples(
        lambda: wp.launch(nbody, dim=BODIES, inputs=[position, velocity, moved, BODIES, 0.01], device=DEVICE), 3
    ),
    "histogram": samples(count, 5),
}
runs = 6
assert int(counts.numpy().sum()) == runs * N, "the histogram lost counts"
work = {
    "saxpy": {"bytes": 12 * N},
    "trig": {"bytes": 8 * N},
    "nbody": {"flop": 20 * BODIES * BODIES},
    "histogram": {"bytes": 4 * N},
}
print(json.dumps({"seconds": measured, "work": work}))
