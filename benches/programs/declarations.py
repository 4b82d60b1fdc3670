"""Declares as many kernels and functions as a large package has, and makes closures over and over; prints what each took.

Nothing but the closures is compiled: what is measured is what programs pay for kernels they do not use.
"""

import importlib.util
import json
import sys
import tempfile
import time
from pathlib import Path

from kernels import wp

KERNELS, FUNCTIONS, CLOSURES, LAUNCHES = 274, 495, 10_000, 1_000
FUNCTION = """

@wp.func
def part_{k}(a: wp.vec3, b: wp.vec3, s: float) -> wp.vec3:
    if wp.dot(a, b) > s:
        return wp.cross(a, b) * {k}.5
    return a + b
"""
KERNEL = """

@wp.kernel
def whole_{k}(
    a: wp.array(dtype=wp.vec3),
    b: wp.array2d(dtype=wp.vec3),
    s: wp.array(dtype=float),
    n: int,
    out: wp.array(dtype=wp.vec3),
):
    i = wp.tid()
    for j in range(n):
        out[i] = out[i] + part_{k}(a[i], b[i, j], s[j])
"""
DECORATED = ("@wp.func", "@wp.kernel")


def seconds(text, folder, name):
    """How long the module `text` takes to be run, once it is compiled to bytecode."""
    path = Path(folder, f"{name}.py")
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    code = spec.loader.get_code(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    start = time.perf_counter()
    exec(code, module.__dict__)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    functions = "".join(FUNCTION.format(k=k) for k in range(FUNCTIONS))
    source = "from kernels import wp\n" + functions + "".join(KERNEL.format(k=k) for k in range(KERNELS))
    # Without decorators Python still makes the functions and evaluates their annotations.
    plain = source
    for decorator in DECORATED:
        plain = plain.replace(decorator, "")
    plain_s = seconds(plain, folder, "plain")
    declare_s = seconds(source, folder, "declared")


def make(scale):
    @wp.kernel
    def scaled(x: wp.array(dtype=float)):
        i = wp.tid()
        x[i] = x[i] * scale + wp.sin(scale)

    return scaled


x = wp.zeros(1, dtype=float, device="cpu")
wp.launch(make(2.0), dim=1, inputs=[x], device="cpu")
start = time.perf_counter()
for _ in range(CLOSURES):
    kernel = make(2.0)
closure_s = (time.perf_counter() - start) / CLOSURES
start = time.perf_counter()
for _ in range(LAUNCHES):
    wp.launch(make(2.0), dim=1, inputs=[x], device="cpu")
launched_closure_s = (time.perf_counter() - start) / LAUNCHES

print(
    json.dumps(
        {
            "declare_s": declare_s,
            "decorators_s": declare_s - plain_s,
            "closure_s": closure_s,
            "launched_closure_s": launched_closure_s,
        }
    )
)
