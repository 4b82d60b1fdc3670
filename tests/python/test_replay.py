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
from _wp import ON_WARP

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
def kits(tmp_path_factory):
    """Makes the folder with library and header for a target, once."""
    made = {}

    def kit(target):
        if target not in made:
            folder = tmp_path_factory.mktemp("kit")
            run([ROOT / "scripts/replay_kit.sh", folder, *([] if target == HOST else [target])], cwd=ROOT)
            made[target] = folder
        return made[target]

    return kit


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
    command = [*(shutil.which(part) or part for part in before), program, "swarm.inkle", *after]
    printed = run(command, cwd=alone, env={})
    assert os.listdir(alone) == ["swarm.inkle"]
    found = {int(step): float(value) for step, value in re.findall(r"step (\d+): distance ([\d.]+)", printed)}
    right = right_distances()
    assert list(found) == list(right), printed
    np.testing.assert_allclose(list(found.values()), list(right.values()), rtol=1e-5)
    return printed


def compile_c(compiler, kit, folder):
    program = folder / "replay"
    sources = [EXAMPLES / "c/replay.c", "-I", kit / "include", kit / "lib/libinkle_replay.a"]
    run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", *sources, "-static-libgcc", "-o", program])
    return program


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


def test_c_runs_the_same_file_on_a_gpu(kits, swarm, tmp_path, cuda_device):
    need("cc", "cargo")
    replay(compile_c("cc", kits(HOST), tmp_path), swarm, tmp_path, after=[cuda_device])


def test_cpp_finds_the_shared_library_with_cmake(kits, swarm, tmp_path):
    need("cmake", "c++", "make")
    configure = ["cmake", "-S", EXAMPLES / "cpp", "-B", tmp_path / "build", "-DCMAKE_BUILD_TYPE=Release"]
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


def test_a_file_from_x86_64_runs_on_64_bit_arm(kits, swarm, tmp_path):
    need_for_arm()
    kit = kits(ARM)
    program = compile_c("aarch64-linux-gnu-gcc", kit, tmp_path)
    replay(program, swarm, tmp_path, before=["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"])
    library = kit / "lib/libinkle_replay.so"
    assert "AArch64" in run(["readelf", "-h", library])
    assert library.stat().st_size <= MAX_BYTES
    assert all(map(is_c_library, needed(library))), needed(library)
