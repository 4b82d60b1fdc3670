"""What the parts of a launch on the CPU cost: kernels of one thread that do nothing, with more and more to convert.

Prints seconds of a single launch, several samples of each way.
"""

import json
import os
import time

import numpy as np
from kernels import wp

QUICK = bool(os.environ.get("BENCH_QUICK"))
LAUNCHES, ROUNDS = (1000, 2) if QUICK else (20_000, 7)


@wp.struct
class Pair:
    a: float
    x: wp.array(dtype=float)


@wp.kernel
def nothing():
    pass


@wp.kernel
def one_array(x: wp.array(dtype=float)):
    pass


@wp.kernel
def four_arrays(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float), w: wp.array(dtype=float)):
    pass


@wp.kernel
def four_numbers(a: float, b: float, c: int, d: int):
    pass


@wp.kernel
def one_vector(v: wp.vec3):
    pass


@wp.kernel
def one_struct(p: Pair):
    pass


x = wp.zeros(16, dtype=float, device="cpu")
vector = wp.vec3(1.0, 2.0, 3.0)
pair = Pair()
pair.a, pair.x = 1.0, x
recorded = wp.launch(four_arrays, dim=1, inputs=[x, x, x, x], device="cpu", record_cmd=True)

WAYS = {
    "no arguments": lambda: wp.launch(nothing, dim=1, device="cpu"),
    "no device named": lambda: wp.launch(nothing, dim=1),
    "dim of two": lambda: wp.launch(nothing, dim=(1, 1), device="cpu"),
    "one array": lambda: wp.launch(one_array, dim=1, inputs=[x], device="cpu"),
    "four arrays": lambda: wp.launch(four_arrays, dim=1, inputs=[x, x, x, x], device="cpu"),
    "four numbers": lambda: wp.launch(four_numbers, dim=1, inputs=[1.0, 2.0, 3, 4], device="cpu"),
    "one vector": lambda: wp.launch(one_vector, dim=1, inputs=[vector], device="cpu"),
    "one struct": lambda: wp.launch(one_struct, dim=1, inputs=[pair], device="cpu"),
    "recorded, four arrays": recorded.launch,
    "a Python function": lambda: None,
}


def seconds(way):
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        way()
    return (time.perf_counter() - start) / LAUNCHES


for way in WAYS.values():
    seconds(way)
# In turns, so that no way has a quiet moment of the machine to itself.
measured = {name: [] for name in WAYS}
for _ in range(ROUNDS):
    for name, way in WAYS.items():
        measured[name].append(seconds(way))
assert np.isfinite(x.numpy()).all()
print(json.dumps({"seconds": measured}))
