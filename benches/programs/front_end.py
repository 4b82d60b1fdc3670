"""Makes kernel IR of a file of about 500 lines, without compiling it; prints the lines and what it took.

The kernels of the file call functions, loop and branch as those of a simulator do. A first file, with other constants,
takes what happens once in a process.
"""

import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

from kernels import wp

PAIRS = 10
HEADER = "from kernels import wp\n"
PAIR = """

@wp.struct
class Contact_{k}:
    position: wp.vec3
    normal: wp.vec3
    depth: float
    friction: float


@wp.func
def penetration_{k}(a: wp.vec3, ra: float, b: wp.vec3, rb: float):
    d = b - a
    distance = wp.length(d)
    normal = wp.vec3(0.0, 0.0, {k}.0)
    if distance > 1.0e-6:
        normal = d / distance
    return ra + rb - distance, normal


@wp.func
def impulse_{k}(contact: Contact_{k}, v: wp.vec3, dt: float) -> wp.vec3:
    vn = wp.dot(v, contact.normal)
    vt = v - contact.normal * vn
    j = contact.depth / dt * {k}.25 - wp.min(vn, 0.0)
    speed = wp.length(vt)
    if speed > 1.0e-6:
        limit = contact.friction * j
        return contact.normal * j - vt / speed * wp.min(limit, speed)
    return contact.normal * j


@wp.kernel
def solve_{k}(
    position: wp.array(dtype=wp.vec3),
    velocity: wp.array(dtype=wp.vec3),
    radius: wp.array(dtype=float),
    n: int,
    dt: float,
):
    i = wp.tid()
    total = wp.vec3()
    for j in range(n):
        if i == j:
            continue
        depth, normal = penetration_{k}(position[i], radius[i], position[j], radius[j])
        if depth > 0.0:
            contact = Contact_{k}()
            contact.position = position[i] + normal * radius[i]
            contact.normal = normal
            contact.depth = depth
            contact.friction = 0.5
            total = total - impulse_{k}(contact, velocity[j] - velocity[i], dt)
    velocity[i] = velocity[i] + total * dt
    velocity[i].z += -9.81 * dt
"""


def load(folder, name, first):
    """A module of generated kernels: the module and its number of lines."""
    source = Path(folder, f"{name}.py")
    source.write_text(HEADER + "".join(PAIR.format(k=k) for k in range(first, first + PAIRS)))
    spec = importlib.util.spec_from_file_location(name, source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module, len(source.read_text().splitlines())


def make_ir(module, first):
    """Checks every kernel of a module for its arguments, as a launch does first: seconds."""
    points = wp.zeros(4, dtype=wp.vec3, device="cpu")
    radii = wp.zeros(4, dtype=float, device="cpu")
    kernels = [getattr(module, f"solve_{k}") for k in range(first, first + PAIRS)]
    start = time.perf_counter()
    for kernel in kernels:
        wp.launch(kernel, dim=4, inputs=[points, points, radii, 4, 0.01], device="cpu", record_cmd=True)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    warm_up, _ = load(folder, "front_end_first", 1)
    make_ir(warm_up, 1)
    seconds = []
    for turn in range(1, 8):
        first = 1 + turn * PAIRS
        module, lines = load(folder, f"front_end_{turn}", first)
        seconds.append(make_ir(module, first))
print(json.dumps({"lines": lines, "seconds": seconds}))
