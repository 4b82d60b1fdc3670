"""A small program as people write it: three kernels, a few launches, the results read back.

Prints when the results were there (to be compared with when the process was started), how long the first
launches took, and how far the results are from numpy's.
"""

import json
import os
import time

import numpy as np
from kernels import IMPORT_SECONDS, nbody, saxpy, trig, wp

device = os.environ.get("BENCH_DEVICE", "cpu")
n, bodies = 1000, 100
rng = np.random.default_rng(1)
values = rng.random(n, dtype=np.float32)
points = rng.random((bodies, 3), dtype=np.float32)

start = time.perf_counter()
x = wp.array(values, dtype=float, device=device)
scaled = wp.zeros(n, dtype=float, device=device)
mapped = wp.zeros(n, dtype=float, device=device)
position = wp.array(points, dtype=wp.vec3, device=device)
velocity = wp.zeros(bodies, dtype=wp.vec3, device=device)
moved = wp.zeros(bodies, dtype=wp.vec3, device=device)
wp.synchronize_device(device)
arrays_s = time.perf_counter() - start

start = time.perf_counter()
wp.launch(saxpy, dim=n, inputs=[x, scaled, 2.0], device=device)
wp.launch(trig, dim=n, inputs=[x, mapped], device=device)
wp.launch(nbody, dim=bodies, inputs=[position, velocity, moved, bodies, 0.01], device=device)
wp.synchronize_device(device)
first_launches_s = time.perf_counter() - start
results = scaled.numpy(), mapped.numpy(), moved.numpy()
done_ns = time.monotonic_ns()

d = points[None, :, :].astype(np.float64) - points[:, None, :]
force = (d / (np.square(d).sum(axis=2, keepdims=True) + 0.01) ** 1.5).sum(axis=1)
expected = 2.0 * values, np.sin(values) * np.exp(-values) + np.sqrt(values), 0.01 * force
errors = [float(np.abs(result - right).max()) for result, right in zip(results, expected, strict=True)]
assert max(errors) < 1e-3, errors
print(
    json.dumps(
        {
            "done_ns": done_ns,
            "import_s": IMPORT_SECONDS,
            "arrays_s": arrays_s,
            "first_launches_s": first_launches_s,
            "largest_error": max(errors),
        }
    )
)
