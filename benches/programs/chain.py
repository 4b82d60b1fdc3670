"""Saves a graph of 1000 launches, each of which adds to what the one before left: `chain.py FILE`."""

import sys

import inkle as wp

LAUNCHES = 1000


@wp.kernel
def add(x: wp.array(dtype=float), amount: float):
    i = wp.tid()
    x[i] = x[i] + amount


x = wp.zeros(16, dtype=float, device="cpu")
with wp.ScopedCapture(device="cpu") as capture:
    for launch in range(LAUNCHES):
        wp.launch(add, dim=16, inputs=[x, 0.5], device="cpu")
wp.capture_save(capture.graph, sys.argv[1], outputs={"x": x})
