"""Kernels and what an expert wrote by hand, in turns on the same memory; prints the samples of both, in seconds.

Before anything is timed the results of the two are compared: a fast wrong answer ends the program.
"""

import json
import os
import time

import numpy as np
from expert import load
from expert_kernels import mandelbrot, search, stencil
from fast_kernels import fast_nbody
from kernels import nbody, saxpy, trig, wp
from more_kernels import histogram

DEVICE = "cpu"
QUICK = bool(os.environ.get("BENCH_QUICK"))
ONLY = [name.strip() for name in os.environ.get("BENCH_ONLY", "").split(";") if name]
# The first is the length of arrays that no cache holds: half a gigabyte each.
STREAM, MAP, BODIES, SIDE, BOX, TABLE, VALUES, BINS = (
    (1 << 20, 1 << 18, 512, 256, 64, 1 << 12, 1 << 16, 256)
    if QUICK
    else (1 << 27, 1 << 24, 4096, 1024, 320, 1 << 20, 1 << 21, 256)
)
# The expert's code says whether results are right, and is not timed.
COMPARE_ONLY = bool(os.environ.get("BENCH_COMPARE_ONLY"))
LIMIT, A, DT = 256, 0.3, 0.01
# The processor's time instead of the wall's: for a core that other programs use too.
CLOCK = time.process_time if os.environ.get("BENCH_CLOCK") == "cpu" else time.perf_counter
ROUNDS = 2 if QUICK else int(os.environ.get("BENCH_ROUNDS", "9"))

rng = np.random.default_rng(2)
expert = load()
measured, work, differences = {}, {}, {}


def array(values, dtype=float):
    return wp.array(values, dtype=dtype, device=DEVICE)


def zeros(shape, dtype=float):
    return wp.zeros(shape, dtype=dtype, device=DEVICE)


def taken(step):
    start = CLOCK()
    step()
    return CLOCK() - start


def measure(name, amount, kernel, by_hand, result, most):
    """Time `kernel` and each of the forms of `by_hand`, in turns.

    `result()` is what was computed, as numpy; `most` is how much of it may differ by more than rounding.
    """
    if ONLY and name not in ONLY:
        return
    forms = {"kernel": kernel} if kernel else {}
    if expert is not None:
        forms |= by_hand
    results = {}
    for form, step in forms.items():
        step()
        results[form] = result()
    first = next(iter(results.values()), None)
    for form, other in results.items():
        share = float(np.mean(~np.isclose(other, first, rtol=1e-4, atol=1e-5)))
        differences[name] = max(differences.get(name, 0.0), share)
        if share > most:
            raise SystemExit(f"{name}: {form} differs in {share:.2%} of the results")
    timed = {form: step for form, step in forms.items() if form == "kernel" or not COMPARE_ONLY}
    samples = {form: [] for form in timed}
    for _ in range(ROUNDS):
        for form, step in timed.items():
            samples[form].append(taken(step))
    measured[name], work[name] = samples, amount


def launch(kernel, dim, inputs):
    return lambda: wp.launch(kernel, dim=dim, inputs=inputs, device=DEVICE)


def measure_streams():
    if ONLY and not {"saxpy", "triad"} & set(ONLY):
        return
    x, y, out = array(rng.random(STREAM, dtype=np.float32)), zeros(STREAM), zeros(STREAM)

    # Each form starts from zeros.
    def fresh():
        result = y.numpy()[:: max(1, STREAM >> 16)].copy()
        y.zero_()
        return result

    measure(
        "saxpy",
        {"bytes": 12 * STREAM},
        launch(saxpy, STREAM, [x, y, A]),
        {"expert": lambda: expert.saxpy(x, y, A)},
        fresh,
        0.0,
    )
    triads = {
        "expert": lambda: expert.triad(x, y, out, A, False),
        "expert, past the caches": lambda: expert.triad(x, y, out, A, True),
    }
    measure("triad", {"bytes": 12 * STREAM}, None, triads, lambda: out.numpy()[:: max(1, STREAM >> 16)].copy(), 0.0)


def measure_map():
    x, y = array(rng.random(MAP, dtype=np.float32)), zeros(MAP)
    by_hand = {"expert": lambda: expert.map(x, y, False), "expert, past the caches": lambda: expert.map(x, y, True)}
    measure("map", {"bytes": 8 * MAP}, launch(trig, MAP, [x, y]), by_hand, lambda: y.numpy().copy(), 0.0)


def measure_nbody():
    position = array(rng.random((BODIES, 3), dtype=np.float32), dtype=wp.vec3)
    velocity, moved = wp.zeros_like(position), wp.zeros_like(position)
    for name, kernel, fast in (("nbody", nbody, False), ("nbody, fast_math", fast_nbody, True)):
        by_hand = {"expert": lambda fast=fast: expert.nbody(position, velocity, moved, DT, fast)}
        inputs = [position, velocity, moved, BODIES, DT]
        amount = {"flop": 20 * BODIES * BODIES}
        measure(name, amount, launch(kernel, BODIES, inputs), by_hand, lambda: moved.numpy().copy(), 0.001)


def measure_mandelbrot():
    out = zeros((SIDE, SIDE), int)
    x, y, step = -2.1, -1.3, 2.6 / SIDE
    by_hand = {"expert": lambda: expert.mandelbrot(x, y, step, LIMIT, out)}
    kernel = launch(mandelbrot, (SIDE, SIDE), [x, y, step, LIMIT, out])
    # Points at the border escape some rounds sooner or later by how products and sums are rounded.
    measure("mandelbrot", {}, kernel, by_hand, lambda: out.numpy().copy(), 0.02)
    if "mandelbrot" in measured:
        work["mandelbrot"] = {"flop": 8 * int(out.numpy().sum(dtype=np.int64))}


def measure_stencil():
    u, out = array(rng.random((BOX, BOX, BOX), dtype=np.float32)), zeros((BOX, BOX, BOX))
    by_hand = {
        "expert": lambda: expert.stencil(u, out, A, False),
        "expert, past the caches": lambda: expert.stencil(u, out, A, True),
    }
    kernel = launch(stencil, (BOX, BOX, BOX), [u, out, A])
    measure("stencil", {"bytes": 8 * BOX**3}, kernel, by_hand, lambda: out.numpy().copy(), 0.0)


def measure_search():
    table = array(np.sort(rng.random(TABLE, dtype=np.float32)))
    values, out = array(rng.random(VALUES, dtype=np.float32)), zeros(VALUES, int)
    by_hand = {"expert": lambda: expert.search(table, values, out)}
    kernel = launch(search, VALUES, [table, values, out])
    measure("search", {"items": VALUES}, kernel, by_hand, lambda: out.numpy().copy(), 0.0)


def measure_histogram():
    values, counts = array(rng.random(MAP, dtype=np.float32)), zeros(BINS, int)

    def fresh():
        result = counts.numpy().copy()
        counts.zero_()
        return result

    by_hand = {"expert": lambda: expert.histogram(values, counts)}
    measure("histogram", {"bytes": 4 * MAP}, launch(histogram, MAP, [values, counts]), by_hand, fresh, 0.0)


for part in (
    measure_streams,
    measure_map,
    measure_nbody,
    measure_mandelbrot,
    measure_stencil,
    measure_search,
    measure_histogram,
):
    part()
print(json.dumps({"seconds": measured, "work": work, "differences": differences}))
