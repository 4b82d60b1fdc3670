"""Compiles a module of many kernels of middling size, and runs each once; then one more is added to the module. Prints
what each took.

The kernels differ in their constants, so that no cache can take one for another. `BENCH_KERNELS` is their number;
`BENCH_BACKWARD=0` and `BENCH_LEVEL` set the options of those names.
"""

import importlib.util
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from kernels import wp

COUNT = int(os.environ.get("BENCH_KERNELS", "20"))
DEVICE = os.environ.get("BENCH_DEVICE", "cpu")
HEADER = "from kernels import wp\n"
if "BENCH_BACKWARD" in os.environ:
    wp.config.enable_backward = os.environ["BENCH_BACKWARD"] == "1"
if "BENCH_LEVEL" in os.environ:
    wp.config.optimization_level = int(os.environ["BENCH_LEVEL"])
KERNEL = """

@wp.kernel
def contact_{k}(
    position: wp.array(dtype=wp.vec3),
    velocity: wp.array(dtype=wp.vec3),
    frame: wp.array(dtype=wp.quat),
    energy: wp.array(dtype=float),
    n: int,
    dt: float,
):
    i = wp.tid()
    here = position[i] + velocity[i] * dt
    sum = float({k}.5)
    for j in range(n):
        d = wp.quat_rotate(frame[j], here - position[j])
        r2 = wp.dot(d, d) + 0.01
        if r2 < {k}.75:
            sum = sum + wp.sin(d[0]) / wp.sqrt(r2) - wp.exp(-r2)
        else:
            sum = sum * 0.5 + wp.max(d[1], d[2])
    energy[i] = wp.clamp(sum, -{k}.25, {k}.25)
"""

with tempfile.TemporaryDirectory() as folder:
    source = Path(folder, "contacts.py")
    source.write_text(HEADER + "".join(KERNEL.format(k=k) for k in range(1, COUNT + 1)))
    spec = importlib.util.spec_from_file_location("contacts", source)
    contacts = importlib.util.module_from_spec(spec)
    sys.modules["contacts"] = contacts

    start = time.perf_counter()
    spec.loader.exec_module(contacts)
    declared = time.perf_counter()
    wp.load_module(contacts, device=DEVICE)
    wp.synchronize_device(DEVICE)
    loaded = time.perf_counter()
    points = wp.zeros(1, dtype=wp.vec3, device=DEVICE)
    frames = wp.zeros(1, dtype=wp.quat, device=DEVICE)
    energy = wp.zeros(1, dtype=float, device=DEVICE)
    for k in range(1, COUNT + 1):
        kernel = getattr(contacts, f"contact_{k}")
        wp.launch(kernel, dim=1, inputs=[points, points, frames, energy, 1, 0.1], device=DEVICE)
    wp.synchronize_device(DEVICE)
    launched = time.perf_counter()

    more = Path(folder, "more_contacts.py")
    more.write_text(KERNEL.format(k=COUNT + 1))
    exec(compile(more.read_text(), str(more), "exec"), contacts.__dict__)
    start_of_more = time.perf_counter()
    kernel = getattr(contacts, f"contact_{COUNT + 1}")
    wp.launch(kernel, dim=1, inputs=[points, points, frames, energy, 1, 0.1], device=DEVICE)
    wp.synchronize_device(DEVICE)
    added = time.perf_counter()

print(
    json.dumps(
        {
            "kernels": COUNT,
            "declare_s": declared - start,
            "load_s": loaded - declared,
            "first_launches_s": launched - loaded,
            "one_more_s": added - start_of_more,
        }
    )
)
