"""The kernels of the benchmark, for whichever module speaks Warp's API.

The environment chooses: `BENCH_MODULE` names the module (`inkle` unless set), `BENCH_CACHE` its kernel cache.
"""

import importlib
import os
import time

START_NS = time.monotonic_ns()
wp = importlib.import_module(os.environ.get("BENCH_MODULE", "inkle"))
IMPORT_SECONDS = (time.monotonic_ns() - START_NS) / 1e9
wp.config.quiet = True
if "BENCH_CACHE" in os.environ:
    wp.config.kernel_cache_dir = os.environ["BENCH_CACHE"]

SOFTENING = wp.constant(0.01)


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def trig(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * wp.exp(-x[i]) + wp.sqrt(wp.abs(x[i]))


@wp.kernel
def nbody(
    position: wp.array(dtype=wp.vec3),
    velocity: wp.array(dtype=wp.vec3),
    result: wp.array(dtype=wp.vec3),
    n: int,
    dt: float,
):
    i = wp.tid()
    here = position[i]
    force = wp.vec3(0.0, 0.0, 0.0)
    for j in range(n):
        d = position[j] - here
        inverse = 1.0 / wp.sqrt(wp.dot(d, d) + SOFTENING)
        force += d * (inverse * inverse * inverse)
    result[i] = velocity[i] + force * dt
