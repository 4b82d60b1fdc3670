"""Captures a graph and saves it in one file, for the programs beside this one to run without Python.

    python examples/replay/export.py swarm.inkle

A swarm of points is pulled towards a target, as by springs. The file holds code for x86-64, 64-bit Arm and NVIDIA GPUs.
"""

import sys

import numpy as np

import inkle as wp

POINTS = 1000
STIFFNESS, DAMPING, SECONDS_PER_STEP = 4.0, 1.0, 0.02


@wp.kernel
def pull(target: wp.array(dtype=wp.vec3), x: wp.array(dtype=wp.vec3), v: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    v[i] += SECONDS_PER_STEP * (STIFFNESS * (target[0] - x[i]) - DAMPING * v[i])
    x[i] += SECONDS_PER_STEP * v[i]


@wp.kernel
def measure(target: wp.array(dtype=wp.vec3), x: wp.array(dtype=wp.vec3), distance: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(distance, 0, wp.length(x[i] - target[0]) / float(POINTS))


def start():
    """Where the points are in the beginning, one a row."""
    angles = np.arange(POINTS, dtype=np.float32) * np.float32(0.1)
    return np.stack([np.cos(angles), np.sin(angles), angles / np.float32(100.0)], axis=1)


def save(path):
    target = wp.zeros(1, dtype=wp.vec3, device="cpu")
    x = wp.array(start(), dtype=wp.vec3, device="cpu")
    v = wp.zeros(POINTS, dtype=wp.vec3, device="cpu")
    distance = wp.zeros(1, dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(pull, dim=POINTS, inputs=[target, x, v], device="cpu")
        distance.zero_()
        wp.launch(measure, dim=POINTS, inputs=[target, x, distance], device="cpu")
    wp.capture_save(capture.graph, path, inputs={"target": target}, outputs={"x": x, "distance": distance})


if __name__ == "__main__":
    save(sys.argv[1])
