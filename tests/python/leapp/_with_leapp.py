"""A program of LEAPP and Warp: exports a node with kernels, and keeps what it computed. `_with_leapp.py FOLDER FORMAT`."""

import sys

import leapp
import numpy as np
import torch
import warp as wp
from leapp import annotate

folder, export_with = sys.argv[1:]
N, V = 64, 16
DEVICE = "cuda:0"


@wp.kernel
def scale_and_clip(src: wp.array(dtype=wp.float32), dst: wp.array(dtype=wp.float32), scale: float, limit: float):
    i = wp.tid()
    dst[i] = wp.clamp(src[i] * scale, -limit, limit)


@wp.kernel
def turn(v: wp.array(dtype=wp.vec3), q: wp.array(dtype=wp.quat), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = wp.quat_rotate(wp.normalize(q[i]), v[i])


@wp.kernel
def blend(
    a: wp.array(dtype=wp.float32),
    b: wp.array(dtype=wp.float32),
    weight: wp.array(dtype=wp.float32),
    out: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    out[i] = a[i] * weight[0] + b[i] * (1.0 - weight[0])


def observe(pos, vel, dirs, quats):
    given = {"pos": pos, "vel": vel, "dirs": dirs, "quats": quats}
    pos, vel, dirs, quats = annotate.input_tensors("observe", given)
    a, b, mixed, turned = wp.empty_like(pos), wp.empty_like(vel), wp.empty_like(pos), wp.empty_like(dirs)
    wp.launch(scale_and_clip, dim=N, inputs=[pos, a, 1.5, 5.0], device=DEVICE)
    wp.launch(scale_and_clip, dim=N, inputs=[vel, b, 0.25, 0.5], device=DEVICE)
    wp.launch(blend, dim=N, inputs=[a, b, weight, mixed], device=DEVICE)
    wp.launch(turn, dim=V, inputs=[dirs, quats, turned], device=DEVICE)
    obs = torch.cat([wp.to_torch(mixed) * 2.0, wp.to_torch(turned).flatten()])
    annotate.output_tensors("observe", {"obs": obs}, export_with=export_with)
    return obs


def measured(seed):
    random = np.random.default_rng(seed)
    shapes = {"pos": (N,), "vel": (N,), "dirs": (V, 3), "quats": (V, 4)}
    return {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def on_gpu(values):
    types = {"dirs": wp.vec3, "quats": wp.quat}
    return {name: wp.array(v, dtype=types.get(name, wp.float32), device=DEVICE) for name, v in values.items()}


wp.init()
# PTX would need a driver as new as Warp's CUDA.
wp.config.cuda_output = "cubin"
weight = wp.array([0.25], dtype=float, device=DEVICE)
leapp.start("real", save_path=folder)
# LEAPP discovers in the first run and captures in the second.
for _ in range(2):
    observe(**on_gpu(measured(0)))
leapp.stop()
# LEAPP runs the model too, on the library that it found.
assert leapp.compile_graph(visualize=False, validate=True) == {"observe": True}
kept = {}
for k in range(3):
    values = measured(k)
    kept |= {f"{name}_{k}": value for name, value in values.items()}
    kept[f"obs_{k}"] = observe(**on_gpu(values)).detach().cpu().numpy()
np.savez(f"{folder}/kept.npz", **kept)
