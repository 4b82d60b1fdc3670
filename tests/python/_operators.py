"""Graph files, and what they compute, for the tests of the operators of other frameworks."""

import json
import struct
import subprocess
import sys

import numpy as np
from _wp import wp


@wp.kernel
def scale(x: wp.array(dtype=wp.vec3), s: wp.array(dtype=float), y: wp.array(dtype=wp.vec3), n: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * s[0]
    n[i] = wp.length(x[i])


@wp.kernel
def step(velocity: wp.array(dtype=float), position: wp.array(dtype=float)):
    i = wp.tid()
    position[i] = position[i] + 0.5 * velocity[i]


@wp.kernel
def tick(count: wp.array(dtype=int), seen: wp.array(dtype=int)):
    seen[0] = count[0]
    count[0] = count[0] + 1


@wp.kernel
def write_some(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[2 * i] = x[i]


@wp.kernel
def move_kinds(
    m: wp.array(dtype=wp.mat22, ndim=2),
    q: wp.array(dtype=wp.quat),
    t: wp.array(dtype=wp.transform),
    h: wp.array(dtype=wp.float16),
    b: wp.array(dtype=wp.bool),
    k: wp.array(dtype=wp.int64),
    m_out: wp.array(dtype=wp.mat22, ndim=2),
    q_out: wp.array(dtype=wp.quat),
    t_out: wp.array(dtype=wp.transform),
    h_out: wp.array(dtype=wp.float16),
    b_out: wp.array(dtype=wp.bool),
    k_out: wp.array(dtype=wp.int64),
):
    i, j = wp.tid()
    m_out[i, j] = wp.transpose(m[i, j])
    if j == 0:
        q_out[i] = wp.quat_inverse(q[i])
        t_out[i] = wp.transform(wp.transform_get_translation(t[i]) * 2.0, wp.transform_get_rotation(t[i]))
        h_out[i] = h[i] + wp.float16(1.0)
        b_out[i] = not b[i]
        k_out[i] = k[i] * wp.int64(3)


@wp.kernel
def halve(n: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = y[i] * 0.5
    if i == 0:
        n[0] = n[0] - 1


def saved(tmp_path, record, inputs, outputs):
    """The bytes of the file of a graph that ``record`` makes on the CPU."""
    with wp.ScopedCapture(device="cpu") as capture:
        record()
    path = tmp_path / "graph.inkle"
    wp.capture_save(capture.graph, path, inputs=inputs, outputs=outputs)
    return path.read_bytes()


def zeros(*shape, dtype=float):
    return wp.zeros(shape, dtype=dtype, device="cpu")


def scaling(tmp_path, count=8):
    """Vectors times a number, and their lengths."""
    x, s, y, n = zeros(count, dtype=wp.vec3), zeros(1), zeros(count, dtype=wp.vec3), zeros(count)
    record = lambda: wp.launch(scale, dim=count, inputs=[x, s], outputs=[y, n], device="cpu")
    return saved(tmp_path, record, {"x": x, "s": s}, {"y": y, "n": n})


def scaled(x, s):
    return x * s[0], np.linalg.norm(x, axis=1)


def stepping(tmp_path, count=5):
    """A position that is an input and, moved in place, an output."""
    velocity, position = zeros(count), zeros(count)
    record = lambda: wp.launch(step, dim=count, inputs=[velocity, position], device="cpu")
    return saved(tmp_path, record, {"velocity": velocity, "position": position}, {"moved": position})


def ticking(tmp_path):
    """What a hidden counter stands at, which starts with 41 in the file."""
    count, seen = wp.array([41], dtype=int, device="cpu"), zeros(1, dtype=int)
    record = lambda: wp.launch(tick, dim=1, inputs=[count, seen], device="cpu")
    return saved(tmp_path, record, {}, {"seen": seen})


def writing_some(tmp_path):
    """Every other number of an output that is 9 elsewhere."""
    x, y = zeros(3), wp.full(6, 9.0, dtype=float, device="cpu")
    record = lambda: wp.launch(write_some, dim=3, inputs=[x, y], device="cpu")
    return saved(tmp_path, record, {"x": x}, {"y": y})


def slicing(tmp_path):
    """Every other element of an array goes in, of another one comes out."""
    room, place = zeros(6), wp.full(6, 9.0, dtype=float, device="cpu")
    record = lambda: wp.copy(place, room)
    return saved(tmp_path, record, {"x": room[::2]}, {"y": place[::2], "rest": place[1::2]})


def kinds(tmp_path):
    """Elements of many kinds; returns the file, inputs, and the outputs they give."""
    rng = np.random.default_rng(7)
    inputs = {
        "m": rng.normal(size=(3, 2, 2, 2)).astype(np.float32),
        "q": rng.normal(size=(3, 4)).astype(np.float32),
        "t": rng.normal(size=(3, 7)).astype(np.float32),
        "h": rng.normal(size=3).astype(np.float16),
        "b": np.array([True, False, True]),
        "k": np.array([1, -(2**40), 3]),
    }
    types = {"m": wp.mat22, "q": wp.quat, "t": wp.transform, "h": wp.float16, "b": wp.bool, "k": wp.int64}

    def arrays():
        return {name: zeros(*((3, 2) if name == "m" else (3,)), dtype=dtype) for name, dtype in types.items()}

    ins, outs = arrays(), arrays()
    record = lambda: wp.launch(move_kinds, dim=(3, 2), inputs=[*ins.values(), *outs.values()], device="cpu")
    file = saved(tmp_path, record, ins, {f"{name}_out": array for name, array in outs.items()})
    right = {
        "m": inputs["m"].swapaxes(2, 3),
        "q": inputs["q"] * np.array([-1, -1, -1, 1], dtype=np.float32),
        "t": inputs["t"] * np.array([2, 2, 2, 1, 1, 1, 1], dtype=np.float32),
        "h": inputs["h"] + np.float16(1),
        "b": ~inputs["b"],
        "k": inputs["k"] * 3,
    }
    return file, list(inputs.values()), list(right.values())


def looping(tmp_path):
    """Numbers halved as often as a counter that is an input says."""
    n, x, y = zeros(1, dtype=int), zeros(4), zeros(4)

    def record():
        wp.copy(y, x)
        wp.capture_while(n, lambda: wp.launch(halve, dim=4, inputs=[n, y], device="cpu"))

    return saved(tmp_path, record, {"n": n, "x": x}, {"y": y})


def leapp_archive(**files):
    """An archive as LEAPP puts into models, with these contents."""
    parts = [b"WRPB", struct.pack("<II", 1, len(files))]
    for name, contents in files.items():
        path = f"{name}.wrp".encode()
        parts += [struct.pack("<I", len(path)), path, struct.pack("<Q", len(contents)), contents]
    return b"".join(parts)


LEAPP_TENSOR = {"logical_index": 0, "param_name": "p", "dtype": "float32", "shape": [2], "num_bytes": 8}
LEAPP_METADATA = json.dumps({"inputs": [LEAPP_TENSOR], "outputs": [{**LEAPP_TENSOR, "mask": True}]})
LEAPP_ARCHIVE = leapp_archive(segment=b"WRP1")

# Archives and metadata that nothing can be made of, with what is said of them.
DAMAGED_LEAPP = (
    (LEAPP_ARCHIVE, "{", "its runtime_metadata is damaged"),
    (LEAPP_ARCHIVE[:-1], LEAPP_METADATA, "archive of a Warp graph: damaged: it ends 3 bytes into a part of 4"),
    (b"nothing at all", LEAPP_METADATA, "not an archive of a Warp graph"),
    (leapp_archive(other=b""), LEAPP_METADATA, "there is no segment.wrp in it"),
)


def run_alone(program, *arguments, folder):
    """Runs a program in a process that finds no package of this repository, and that must not import inkle."""
    check = "import sys; assert not [m for m in sys.modules if m.partition('.')[0] == 'inkle'], 'inkle was imported'"
    command = [sys.executable, "-I", "-c", f"{program}\n{check}\nprint('ran alone')", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("ran alone\n"), done.stdout + done.stderr
