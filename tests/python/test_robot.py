"""The example `examples/robot`: a program whose kernels were compiled when it was built.

It is built as it would be shipped and runs alone, with nothing of LLVM and without environment variables.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from _wp import ON_WARP, wp

ROOT = Path(__file__).resolve().parents[2]
JOINTS = 12
# Half of it is Rust's standard library and the reader of objects; a program with LLVM has 100 MB more.
MAX_BYTES = 3 << 20

pytestmark = [
    pytest.mark.skipif(ON_WARP, reason="the program is inkle's own"),
    # It is built with optimisation across crates, and the compiler for its build script.
    pytest.mark.timeout(2400),
]


def run(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{command[0]} failed with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    command = ["cargo", "build", "--quiet", "--locked", "-p", "inkle-robot", "--profile", "replay"]
    run(command, cwd=ROOT)
    program = tmp_path_factory.mktemp("robot") / "robot"
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    shutil.copy(target / "replay/inkle-robot", program)
    return program


@wp.kernel
def lean(angles: wp.array(dtype=float), goals: wp.array(dtype=float)):
    i = wp.tid()
    goals[i] = 0.5 + 0.1 * angles[i]


def test_its_kernels_run_without_a_compiler(robot):
    printed = run([robot], cwd=robot.parent, env={})
    distance = re.fullmatch(
        r"after 2000 turns on cpu the joints are (\d\.\d{4}) rad from where they should be\n", printed
    )
    assert distance, printed
    assert 0.0 < float(distance[1]) < 0.1


def test_it_is_small_and_links_no_llvm(robot):
    size = robot.stat().st_size
    print(f"{size} bytes")
    assert size < MAX_BYTES
    libraries = run(["ldd", robot]).lower()
    assert "libc.so" in libraries
    assert "llvm" not in libraries and "libstdc++" not in libraries and "cuda" not in libraries, libraries
    image = robot.read_bytes()
    # Linked in, LLVM names its passes, and the kernels' source would be there for a compiler.
    assert b"LLVM_22" not in image and b"loop-vectorize" not in image
    assert b"stiffness * (wanted" not in image


def test_it_runs_a_policy_that_python_saved(robot, tmp_path):
    angles, goals = wp.zeros(JOINTS, dtype=float, device="cpu"), wp.zeros(JOINTS, dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        wp.launch(lean, dim=JOINTS, inputs=[angles], outputs=[goals], device="cpu")
    wp.capture_save(capture.graph, tmp_path / "policy.inkle", inputs={"angles": angles}, outputs={"goals": goals})
    printed = run([robot, 5000, tmp_path / "policy.inkle", "angles", "goals"], cwd=tmp_path, env={})
    distance = float(re.search(r"are (\d\.\d{4}) rad", printed)[1])
    # The joints rest where the policy wants them: at a = 0.5 + 0.1 a.
    assert np.isclose(distance, 0.0, atol=1e-3)


def test_what_it_is_called_with_is_checked(robot):
    done = subprocess.run([robot, "10", "nowhere.inkle", "a", "b"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "nowhere.inkle" in done.stderr
    done = subprocess.run([robot, "10", "policy.inkle"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "usage" in done.stderr
