"""What ``inkle compile --explain`` says of kernels that do not run in vectors, or not all of which does: the true reason and the line."""

import json
import subprocess
import sys

import pytest
from _wp import ON_WARP

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp differs: it has no such command")

# Each kernel with what is said of it, in the order of what it says; the line that is named ends in a comment with its number.
SOURCE = """
import inkle as wp

Big = wp.types.matrix(shape=(20, 20), dtype=float)

@wp.kernel
def straight(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.pow(x[i], 1.5) + wp.sin(x[i])

@wp.kernel
def loops(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    sum = float(0.0)
    for j in range(x.shape[0]):
        if x[j, i] > 0.5:
            sum += x[j, i]
    wp.atomic_add(y, 0, sum)

@wp.kernel
def no_index(y: wp.array(dtype=float)):
    y[0] = 1.0

@wp.kernel
def lock(locks: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    while wp.atomic_cas(locks, 0, 0, 1) == 1:  # lock
        pass
    y[0] = y[0] + float(i)
    wp.atomic_exch(locks, 0, 0)

@wp.func
def take(locks: wp.array(dtype=int), k: int):
    return wp.atomic_exch(locks, k, 1)

@wp.kernel
def lock_in_function(locks: wp.array(dtype=int), y: wp.array(dtype=float)):
    i = wp.tid()
    done = bool(False)
    while not done:
        if take(locks, i % 4) == 0:  # lock_in_function
            y[i % 4] += 1.0
            wp.atomic_exch(locks, i % 4, 0)
            done = True

@wp.kernel
def big_value(a: wp.array(dtype=Big), b: wp.array(dtype=Big)):
    i = wp.tid()
    b[i] = a[i] * 2.0  # big_value

@wp.kernel
def large_array(y: wp.array(dtype=float)):
    i = wp.tid()
    small = wp.zeros(shape=(2,), dtype=float)
    a = wp.zeros(shape=(20000,), dtype=float)  # large_array
    a[i] = 1.0
    small[0] = 2.0
    y[i] = a[i] + small[0]

@wp.kernel
def array_s_address(y: wp.array(dtype=wp.uint64)):
    i = wp.tid()
    a = wp.zeros(shape=(20,), dtype=float)
    y[i] = a.ptr  # array_s_address

@wp.kernel(module_options={"mode": "debug"}, module="unique")
def checked(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0

@wp.kernel(module_options={"verify_fp": True}, module="unique")
def verified(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0

@wp.kernel(module_options={"optimization_level": 0}, module="unique")
def unoptimised(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = 2.0

@wp.kernel
def prints(y: wp.array(dtype=float)):
    i = wp.tid()
    print(y[i])  # prints

@wp.kernel
def doubles(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = wp.sin(x[i]) * x[i]  # doubles

@wp.func
def swap(y: wp.array(dtype=int), k: int):
    return wp.atomic_cas(y, k, 0, 1)  # swaps

@wp.kernel
def swaps(y: wp.array(dtype=int), old: wp.array(dtype=int)):
    i = wp.tid()
    old[i] = swap(y, i % 7)

@wp.kernel
def histogram(x: wp.array(dtype=int), y: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(y, x[i], 1)  # histogram

@wp.kernel
def gathers(x: wp.array(dtype=int), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    z[i] = y[x[i]]  # gathers

@wp.kernel
def noise(y: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(1, i)
    y[i] = wp.noise(state, float(i) * 0.1)
"""

ONE_LANE = {
    "no_index": ("does not ask for its thread index", "def no_index(y: wp.array(dtype=float)):"),
    "lock": ("may wait for a thread of its own vector", None),
    "lock_in_function": ("may wait for a thread of its own vector", None),
    "big_value": ("hundreds of components", None),
    "large_array": ("too large to keep one for each lane", None),
    "array_s_address": ("asks where an array lies", None),
    "checked": ("built with checks", "def checked(x: wp.array(dtype=float)):"),
    "verified": ("built with checks", "def verified(x: wp.array(dtype=float)):"),
    "unoptimised": ("compiled without optimisation", "def unoptimised(x: wp.array(dtype=float)):"),
}
LANE_BY_LANE = {
    "straight": [],
    "loops": [],
    "noise": [],
    "prints": ["something is printed"],
    "doubles": ["a function of the math library"],
    "swaps": ["memory is compared and swapped"],
    "histogram": ["memory is updated, at a place of each lane's own"],
    "gathers": ["elements that are no neighbours are read"],
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("explain") / "kernels.py"
    path.write_text(SOURCE)
    return path


@pytest.fixture(scope="module")
def kernels(source):
    # This level has no instructions that read elements from places of their own.
    command = [sys.executable, "-m", "inkle", "compile", str(source), "--explain", "--target", "x86-64-v3"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {kernel["kernel"]: kernel for kernel in json.loads(done.stdout)["kernels"]}, text


def check_place(reason, source, name, line, text):
    assert reason["file"] == str(source)
    assert reason["source"] == SOURCE.splitlines()[reason["line"] - 1].strip()
    assert reason["source"] == line if line else reason["source"].endswith(f"# {name}")
    assert f"{reason['message']}\n    {source}:{reason['line']}: {reason['source']}\n" in text


def test_all_kernels_are_meant(kernels):
    assert set(kernels[0]) == {*ONE_LANE, *LANE_BY_LANE}


@pytest.mark.parametrize("name", ONE_LANE)
def test_a_kernel_of_one_lane_says_why(kernels, source, name):
    found, text = kernels
    message, line = ONE_LANE[name]
    assert found[name]["lanes"] == 1 and found[name]["lane_by_lane"] == []
    assert message in found[name]["scalar"]["message"]
    check_place(found[name]["scalar"], source, name, line, text)


@pytest.mark.parametrize("name", LANE_BY_LANE)
def test_what_lanes_do_one_after_the_other_is_told(kernels, source, name):
    found, text = kernels
    assert found[name]["lanes"] > 1 and found[name]["scalar"] is None
    parts = found[name]["lane_by_lane"]
    assert len(parts) == len(LANE_BY_LANE[name])
    for part, message in zip(parts, LANE_BY_LANE[name]):
        assert part["message"].startswith(message)
        check_place(part, source, name, None, text)
