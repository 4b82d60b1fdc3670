"""Takes the kernels of a real program, and checks or compiles them; prints what became of each and the times.

`BENCH_PROGRAM` says which: `mujoco_warp` (all kernels that exist once its humanoid has been stepped, launches left out)
or `newton` (those of all its modules). `BENCH_STAGE=check` says which kernels are accepted and why others are refused;
`BENCH_STAGE=compile` compiles those that the JSON list in the file `BENCH_ONLY` names, grouped as the program does.
"""

import collections
import importlib
import json
import os
import pathlib
import re
import sys
import time

if os.environ.get("BENCH_MODULE", "inkle") == "inkle":
    from inkle.run import install_alias

    install_alias()
importlib.import_module("numpy")  # Its import is not what is measured.
wp = importlib.import_module("warp")
wp.config.quiet = True
if "BENCH_CACHE" in os.environ:
    wp.config.kernel_cache_dir = os.environ["BENCH_CACHE"]
wp.init()

REGISTERED = []


def _note(kernel):
    if all(kernel is not known for known in REGISTERED):
        REGISTERED.append(kernel)
    return kernel


def _noting(decorator):
    def kernel(f=None, **options):
        if f is not None:
            return _note(decorator(f, **options))
        inner = decorator(**options)
        return lambda f: _note(inner(f))

    return kernel


def _skip(*args, **kwargs):
    """In place of a launch."""


def _once(condition, while_body, stream=None, **kwargs):
    """In place of a loop that a value on the device ends."""
    while_body(**kwargs)


def _both(condition, on_true=None, on_false=None, stream=None, **kwargs):
    for branch in (on_true, on_false):
        if branch is not None:
            branch(**kwargs)


def register_mujoco_warp():
    import mujoco
    import mujoco_warp

    path = pathlib.Path(mujoco_warp.__file__).parent / "test_data/humanoid/humanoid.xml"
    mj_model = mujoco.MjModel.from_xml_path(str(path))
    mj_data = mujoco.MjData(mj_model)
    mujoco.mj_forward(mj_model, mj_data)
    model = mujoco_warp.put_model(mj_model)
    mujoco_warp.step(model, mujoco_warp.put_data(mj_model, mj_data))


def register_newton():
    import newton

    root = pathlib.Path(newton.__file__).parent
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(root.parent).with_suffix("").parts
        if "tests" in parts or "examples" in parts or parts[-1] == "__main__":
            continue
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - optional dependencies, and what is not available yet
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)


def named(kernels):
    """The kernels by name; a number tells apart those that a function makes under one name."""
    seen = collections.Counter()
    out = {}
    for kernel in kernels:
        name = f"{kernel.func.__module__}.{kernel.key}"
        seen[name] += 1
        out[f"{name}#{seen[name]}"] = kernel
    return out


def cause(error):
    """The first mistake of a refused kernel, without the names that are the kernel's own."""
    first = str(error).splitlines()[0]
    if "not available in inkle yet" in first:
        group = re.search(r"`(tile|mesh|bvh|volume|hash_grid|texture)\w*`|(Texture)", first)
        return f"not available yet: {group[0].strip('`').split('_')[0].lower()}" if group else first
    return re.sub(r"`[^`]*`", "`...`", first)


def check(kernels):
    from inkle import _native

    accepted, refused = [], {}
    start = time.perf_counter()
    for name, kernel in kernels.items():
        try:
            if kernel.is_generic:
                refused[name] = "generic: its argument types are known at its launches only"
            else:
                _native.check_kernel(kernel)
                accepted.append(name)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the cause
            refused[name] = cause(error)
    return {"accepted": accepted, "refused": refused, "check_s": time.perf_counter() - start}


def compile_all(kernels):
    wanted = json.loads(pathlib.Path(os.environ["BENCH_ONLY"]).read_text())
    modules, made = {}, []
    for name in wanted:
        kernel = kernels[name]
        home = kernel.module
        if home.name not in modules:
            modules[home.name] = wp.Module(f"bench.{len(modules)}", None)
            for option, value in home.options.items():
                if option in modules[home.name].options:
                    modules[home.name].options[option] = value
        # A module does not keep its kernels alive.
        made.append(wp.Kernel(kernel.func, key=re.sub(r"\W", "_", name), module=modules[home.name]))
    start = time.perf_counter()
    wp.force_load("cpu", modules=list(modules.values()))
    return {"modules": len(modules), "compiled": len(made), "compile_s": time.perf_counter() - start}


def main():
    wp.kernel = _noting(wp.kernel)
    launches = ("launch", "launch_tiled", "capture_while", "capture_if")
    for name, stand_in in zip(launches, (_skip, _skip, _once, _both), strict=True):
        setattr(wp, name, stand_in)
    start = time.perf_counter()
    {"mujoco_warp": register_mujoco_warp, "newton": register_newton}[os.environ["BENCH_PROGRAM"]]()
    kernels = named(REGISTERED)
    result = {"registered": len(kernels), "register_s": time.perf_counter() - start}
    stage = {"check": check, "compile": compile_all}[os.environ["BENCH_STAGE"]]
    print(json.dumps({**result, **stage(kernels)}))


main()
