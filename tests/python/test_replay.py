"""Programs without Python that run a graph which Python saved: the examples beside `examples/replay/export.py`.

Each program runs in a folder of its own with nothing but the file, and without environment variables.
"""

import os
import platform
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from _wp import ON_WARP, wp
from test_graph_files import everything, waves

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples/replay"
HOST, ARM = "host", "aarch64-unknown-linux-gnu"
MAX_BYTES = 4 << 20

pytestmark = [
    pytest.mark.skipif(ON_WARP, reason="the files are inkle's own"),
    # The library is built for them, with optimisation across crates.
    pytest.mark.timeout(2400),
]


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command[0]} failed with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


def need(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (scripts/setup.sh test installs it)")


def need_for_arm():
    if platform.machine() != "x86_64":
        pytest.skip("crosses from x86-64 only")
    need("aarch64-linux-gnu-gcc", "qemu-aarch64")
    libraries = Path(run(["rustc", "--print", "sysroot"]).strip()) / "lib/rustlib" / ARM
    if not libraries.is_dir():
        pytest.skip(f"Rust has no standard library for {ARM} (scripts/setup.sh test installs it)")


@pytest.fixture(scope="session")
def swarm(tmp_path_factory):
    path = tmp_path_factory.mktemp("swarm") / "swarm.inkle"
    run([sys.executable, EXAMPLES / "export.py", path])
    return path


def right_distances():
    """What the programs print: the mean distance to the target after every 20 of 100 steps."""
    export = runpy.run_path(str(EXAMPLES / "export.py"))
    x, target, dt = export["start"]().astype(np.float64), np.array([1.0, 2.0, 3.0]), export["SECONDS_PER_STEP"]
    v, distances = np.zeros_like(x), {}
    for step in range(1, 101):
        v += dt * (export["STIFFNESS"] * (target - x) - export["DAMPING"] * v)
        x += dt * v
        if step % 20 == 0:
            distances[step] = np.linalg.norm(x - target, axis=1).mean()
    return distances


def replay(program, swarm, folder, before=(), after=()):
    """Runs a program alone with the file and compares what it prints."""
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy(swarm, alone / "swarm.inkle")
    command = [*before, program, "swarm.inkle", *after]
    printed = run(command, cwd=alone, env={})
    assert os.listdir(alone) == ["swarm.inkle"]
    found = {int(step): float(value) for step, value in re.findall(r"step (\d+): distance ([\d.]+)", printed)}
    right = right_distances()
    assert list(found) == list(right), printed
    np.testing.assert_allclose(list(found.values()), list(right.values()), rtol=1e-5)
    return printed


def compile_c(compiler, kit, folder, source=EXAMPLES / "c/replay.c"):
    program = folder / source.stem
    sources = [source, "-I", kit / "include", kit / "lib/libinkle_replay.a"]
    run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", *sources, "-static-libgcc", "-o", program])
    return program


class Machine:
    """A machine that runs C programs: this one, or an emulated one."""

    def __init__(self, target, kits):
        if target == HOST:
            need("cc")
            self.compiler, self.before = "cc", []
        else:
            need_for_arm()
            self.compiler = "aarch64-linux-gnu-gcc"
            self.before = [shutil.which("qemu-aarch64"), "-L", "/usr/aarch64-linux-gnu"]
        self.kit = kits(target)

    def steps(self, path, folder, steps):
        """Runs `tests/programs/replay_steps.c` on a file, alone in a folder but for arrays: `steps` are `(set, name,
        array)`, `(launch,)` and `(get, name, array to fill)`."""
        program = compile_c(self.compiler, self.kit, folder, ROOT / "tests/programs/replay_steps.c")
        alone = folder / "steps"
        alone.mkdir()
        shutil.copy(path, alone / "graph")
        arguments = []
        for number, (what, *rest) in enumerate(steps):
            arguments.append(what)
            if rest:
                arguments += [rest[0], f"{number}.bin"]
            if what == "set":
                rest[1].tofile(alone / f"{number}.bin")
        run([*self.before, program, "graph", *arguments], cwd=alone, env={})
        for number, (what, *rest) in enumerate(steps):
            if what == "get":
                rest[1][...] = np.fromfile(alone / f"{number}.bin", dtype=rest[1].dtype).reshape(rest[1].shape)


@pytest.fixture(params=[HOST, ARM])
def machine(request, kits):
    return Machine(request.param, kits)


def needed(path):
    """The libraries that a program or library asks the loader for."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", path]))


def is_c_library(name):
    return re.fullmatch(r"libc\.so\.6|ld-linux-[\w-]+\.so\.\d", name)


def test_c_needs_a_compiler_and_the_static_library_only(kits, swarm, tmp_path):
    need("cc")
    program = compile_c("cc", kits(HOST), tmp_path)
    printed = replay(program, swarm, tmp_path)
    assert printed.startswith("input target: vec3f [1]\noutput x: vec3f [1000]\noutput distance: float32 [1]\n")
    assert all(map(is_c_library, needed(program))), needed(program)
    run(["strip", program])
    assert program.stat().st_size <= MAX_BYTES


def test_c_runs_the_same_file_on_a_gpu(request, swarm, tmp_path, cuda_device):
    # Machines with GPUs may have no Rust; scripts/gpu_bundle.sh brings the program then.
    brought = ROOT / "build/gpu/programs/replay"
    if shutil.which("cargo") is None and brought.exists():
        program = Path(shutil.copy(brought, tmp_path / "replay"))
        program.chmod(0o755)
    else:
        need("cc", "cargo")
        program = compile_c("cc", request.getfixturevalue("kits")(HOST), tmp_path)
    replay(program, swarm, tmp_path, after=[cuda_device])


@pytest.mark.parametrize("library", ["inkle::replay", "inkle::replay_static"])
def test_cpp_finds_the_libraries_with_cmake(kits, swarm, tmp_path, library):
    need("cmake", "c++", "make")
    configure = ["cmake", "-S", EXAMPLES / "cpp", "-B", tmp_path / "build", "-DCMAKE_BUILD_TYPE=Release"]
    configure.append(f"-DINKLE_REPLAY={library}")
    run([*configure, f"-DCMAKE_PREFIX_PATH={kits(HOST)}", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"])
    run(["cmake", "--build", tmp_path / "build"])
    replay(tmp_path / "build/replay", swarm, tmp_path)


def test_rust_uses_the_crate(swarm, tmp_path):
    need("cargo")
    built = run(
        ["cargo", "build", "--quiet", "--locked", "-p", "inkle-replay", "--example", "replay"]
        + ["--message-format=json"],
        cwd=ROOT,
    )
    program = re.findall(r'"executable":"([^"]+/examples/replay)"', built)[-1]
    replay(program, swarm, tmp_path)


def test_the_shared_library_is_small_and_needs_the_c_library_only(kits):
    need("readelf", "nm")
    library = kits(HOST) / "lib/libinkle_replay.so"
    assert library.stat().st_size <= MAX_BYTES
    assert all(map(is_c_library, needed(library))), needed(library)
    offered = {line.split()[-1] for line in run(["nm", "-D", "--defined-only", library]).splitlines()}
    declared = re.findall(r"\b(inkle_replay_\w+)\(", (kits(HOST) / "include/inkle_replay.h").read_text())
    assert offered == set(declared)


@pytest.mark.parametrize("damage", ["empty", "cut", "changed", "text"])
def test_c_is_told_what_is_wrong_with_a_file(kits, swarm, tmp_path, damage):
    need("cc")
    program, path = compile_c("cc", kits(HOST), tmp_path), tmp_path / "damaged"
    data = bytearray(swarm.read_bytes())
    data[len(data) // 2] ^= 1
    files = {"empty": b"", "cut": data[:-1], "changed": data, "text": b"no graph\n" * 100}
    path.write_bytes(files[damage])
    done = subprocess.run([program, path], capture_output=True, text=True, env={})
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"replay: .*graph file.* \(status 5\)\n", done.stderr), done.stderr


def test_every_kind_of_operation_is_replayed(machine, tmp_path):
    graph, inputs, outputs, expected = everything()
    wp.capture_save(graph, tmp_path / "graph.inkle", inputs=inputs, outputs=outputs)
    steps, found = [], []
    for values in ([1, 2, 3, 4], [0, 0, 0, 0], [-5, 1e3, 2, 8]):
        y, total, sums = (np.zeros(n, dtype=np.float32) for n in (4, 1, 4))
        steps += [("set", "x", np.array(values, dtype=np.float32)), ("launch",)]
        steps += [("get", "y", y), ("get", "total", total), ("get", "sums", sums)]
        found.append((np.array(values), y, total, sums))
    machine.steps(tmp_path / "graph.inkle", tmp_path, steps)
    for values, y, total, sums in found:
        right = expected(values)
        np.testing.assert_allclose(y, right, rtol=1e-6)
        np.testing.assert_allclose(total, [right.sum()], rtol=1e-6)
        np.testing.assert_allclose(sums, np.cumsum(right), rtol=1e-6)


def test_mathematical_functions_are_replayed(machine, tmp_path):
    n = 4099
    x, y = wp.zeros(n, dtype=float, device="cpu"), wp.zeros(n, dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(waves, dim=n, inputs=[x, y], device="cpu")
    wp.capture_save(capture.graph, tmp_path / "graph.inkle", inputs={"x": x}, outputs={"y": y})
    given, found = np.linspace(0, 8, n, dtype=np.float32), np.zeros(n, dtype=np.float32)
    machine.steps(tmp_path / "graph.inkle", tmp_path, [("set", "x", given), ("launch",), ("get", "y", found)])
    wide = given.astype(np.float64)
    np.testing.assert_allclose(found, np.sin(wide) * np.exp(wide) + wide**1.5, rtol=1e-5, atol=1e-3)


def test_a_file_from_x86_64_runs_on_64_bit_arm(kits, swarm, tmp_path):
    arm = Machine(ARM, kits)
    replay(compile_c(arm.compiler, arm.kit, tmp_path), swarm, tmp_path, before=arm.before)
    library = arm.kit / "lib/libinkle_replay.so"
    assert "AArch64" in run(["readelf", "-h", library])
    assert library.stat().st_size <= MAX_BYTES
    assert all(map(is_c_library, needed(library))), needed(library)
