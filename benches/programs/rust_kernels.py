"""The kernels of `benches/rust` written in Python: seconds per launch of one of them, when nothing is new any more."""

import json
import sys
import time

import inkle as wp

# Those of `benches/rust/common.rs`.
ELEMENTS, BODIES, SOFTENING = 1 << 22, 4096, 1e-3


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def map(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    v = x[i]
    y[i] = wp.sin(v) * wp.exp(-v) + wp.sqrt(v)


@wp.kernel
def nbody(
    x: wp.array(dtype=float),
    y: wp.array(dtype=float),
    z: wp.array(dtype=float),
    count: int,
    softening: float,
    pull: wp.array(dtype=float),
):
    i = wp.tid()
    xi, yi, zi = x[i], y[i], z[i]
    total = float(0.0)
    for j in range(count):
        dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
        square = dx * dx + dy * dy + dz * dz + softening
        inverse = 1.0 / wp.sqrt(square)
        total += inverse * inverse * inverse * dx
    pull[i] = total


def floats(count):
    state, values = 1, []
    for _ in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values.append((state >> 8) / (1 << 24))
    return values


def main():
    name, device = sys.argv[1:]
    count = BODIES if name == "nbody" else ELEMENTS
    # Elements beyond the first thousands repeat: making all of them in Python takes longer than measuring.
    numbers = floats(3 * BODIES)
    values = (numbers * (count // len(numbers) + 1))[:count] if count > len(numbers) else numbers
    x = wp.array(values[:count], dtype=float, device=device)
    y = wp.zeros(count, dtype=float, device=device)
    inputs = {"saxpy": [x, y, 2.0], "map": [x, y]}.get(name)
    if inputs is None:
        parts = [wp.array(values[n * count : (n + 1) * count], dtype=float, device=device) for n in (1, 2)]
        inputs = [x, *parts, count, SOFTENING, y]
    command = wp.launch(globals()[name], dim=count, inputs=inputs, device=device, record_cmd=True)
    batch, samples = (20 if device != "cpu" else 1), []
    command.launch()
    wp.synchronize()
    started = time.perf_counter()
    while len(samples) < 5 or (time.perf_counter() - started < 1.5 and len(samples) < 1000):
        before = time.perf_counter()
        for _ in range(batch):
            command.launch()
        wp.synchronize()
        samples.append((time.perf_counter() - before) / batch)
    print(json.dumps({"samples": samples}))


main()
