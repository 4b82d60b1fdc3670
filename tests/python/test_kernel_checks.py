"""What kernels report when they are built with checks: ``mode="debug"`` and ``verify_fp``."""

import re

import numpy as np
import pytest
from _support import HEADER, child_path, kernel_from, line_of, run_child
from _wp import ON_WARP, wp

pytestmark = pytest.mark.skipif(ON_WARP, reason="Warp ends the process at a failed check")


@pytest.fixture
def debug(monkeypatch):
    """Kernels made from now on, in modules of their own, are built with checks."""
    monkeypatch.setattr(wp.config, "mode", "debug")


def fails(device, kernel, dim, inputs):
    """Runs a launch and gives the text of the error that it, or on a GPU the next wait, raises."""
    with pytest.raises(RuntimeError) as caught:
        wp.launch(kernel, dim=dim, inputs=inputs, device=device)
        wp.synchronize_device(device)
    return str(caught.value)


def test_an_index_out_of_bounds_is_reported(device, debug):
    @wp.kernel(module="unique")
    def copy_past(x: wp.array(dtype=float), y: wp.array2d(dtype=float)):
        i, j = wp.tid()
        y[i, j + 1] = x[i]  # bounds

    x = wp.zeros(4, dtype=float, device=device)
    y = wp.zeros((4, 3), dtype=float, device=device)
    text = fails(device, copy_past, (2, 3), [x, y])
    assert "index 3 is out of bounds for dimension 1 of extent 3 of argument `y`" in text
    assert re.search(r"kernel `.*copy_past", text) and re.search(r"thread \([01], 2\)", text)
    assert f"test_kernel_checks.py:{line_of(__file__, '#' + ' bounds')}" in text
    # The device goes on, and the report was told once.
    wp.launch(copy_past, dim=(4, 2), inputs=[wp.full(4, 7.0, dtype=float, device=device), y], device=device)
    assert (y.numpy()[:, 1:] == 7.0).all()


def test_negative_indices_are_reported_as_written(device, debug):
    @wp.kernel(module="unique")
    def from_end(x: wp.array(dtype=int), n: int):
        x[n] = 1

    x = wp.zeros(5, dtype=int, device=device)
    wp.launch(from_end, dim=1, inputs=[x, -5], device=device)
    assert x.numpy()[0] == 1
    assert "index -6 is out of bounds for dimension 0 of extent 5" in fails(device, from_end, 1, [x, -6])


@wp.struct
class Tables:
    first: wp.array(dtype=float)
    second: wp.array(dtype=float)


@wp.func
def read(table: wp.array(dtype=float), i: int):
    return table[i]


def test_arrays_in_structs_and_behind_calls_keep_their_name(device, debug):
    @wp.kernel(module="unique")
    def reads(t: Tables, i: int, out: wp.array(dtype=float)):
        out[0] = read(t.first, i) + read(t.second, i)

    t = Tables()
    t.first = wp.zeros(9, dtype=float, device=device)
    t.second = wp.zeros(3, dtype=float, device=device)
    out = wp.zeros(1, dtype=float, device=device)
    wp.launch(reads, dim=1, inputs=[t, 2, out], device=device)
    assert "extent 3 of argument `t.second`" in fails(device, reads, 1, [t, 3, out])


def test_an_array_that_was_not_passed_has_no_elements(device, debug):
    @wp.kernel(module="unique")
    def reads(x: wp.array(dtype=float), out: wp.array(dtype=float)):
        out[0] = x[0]

    out = wp.zeros(1, dtype=float, device=device)
    assert "extent 0 of argument `x`" in fails(device, reads, 1, [None, out])


def test_components_out_of_range_are_reported(device, debug):
    @wp.kernel(module="unique")
    def component(v: wp.vec3, i: int, out: wp.array(dtype=float)):
        out[0] = v[i]

    out = wp.zeros(1, dtype=float, device=device)
    assert "index 3 is out of bounds for vec3" in fails(device, component, 1, [wp.vec3(1.0, 2.0, 3.0), 3, out])


@pytest.mark.parametrize("operator", ["/", "//", "%"])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_integer_division_by_zero_is_reported(device, debug, operator, dtype, tmp_path):
    params = ", ".join(f"{name}: wp.array(dtype=wp.{dtype})" for name in "abc")
    kernel = kernel_from(tmp_path, f"i = wp.tid()\nc[i] = a[i] {operator} b[i]", params)
    array = lambda values: wp.array(values, dtype=getattr(wp, dtype), device=device)  # noqa: E731
    good = array([7, 9])
    out = array([0, 0])
    wp.launch(kernel, dim=2, inputs=[good, array([2, 3]), out], device=device)
    assert out.numpy()[1] == {"/": 3, "//": 3, "%": 0}[operator]
    text = fails(device, kernel, 2, [good, array([2, 0]), out])
    assert "integer division by zero" in text and "thread 1" in text


def test_guarded_code_is_not_reported(device, debug):
    @wp.kernel(module="unique")
    def guarded(x: wp.array(dtype=int), n: int, d: int, out: wp.array(dtype=int)):
        i = wp.tid()
        v = int(0)
        if i < n:
            v = x[i]
        w = v // d if d != 0 else -1
        if i < n and x[i] > 0:
            out[i] = v + w

    x = wp.array([1, 2, 3], dtype=int, device=device)
    out = wp.zeros(3, dtype=int, device=device)
    wp.launch(guarded, dim=64, inputs=[x, 3, 0, out], device=device)
    assert out.numpy().tolist() == [0, 1, 2]


def test_a_failed_assert_is_raised(device, debug):
    @wp.kernel(module="unique")
    def asserting(x: wp.array(dtype=int)):
        i = wp.tid()
        assert x[i] < 3, "x is too large"  # asserted

    x = wp.array([0, 1, 2, 3], dtype=int, device=device)
    wp.launch(asserting, dim=3, inputs=[x], device=device)
    wp.synchronize_device(device)
    text = fails(device, asserting, 4, [x])
    assert "Assertion failed: assert x[i] < 3: x is too large" in text and "thread 3" in text
    assert f"test_kernel_checks.py:{line_of(__file__, '#' + ' asserted')}" in text


def test_checks_are_an_option_of_the_module(device):
    def make(options):
        @wp.kernel(module="unique", module_options=options)
        def asserting(x: wp.array(dtype=int)):
            assert x[0] == 1
            x[1] = 5

        return asserting

    x = wp.zeros(2, dtype=int, device=device)
    wp.launch(make({"mode": "release"}), dim=1, inputs=[x], device=device)
    assert x.numpy()[1] == 5
    assert "Assertion failed" in fails(device, make({"mode": "debug"}), 1, [x])


def test_large_launches_report_one_of_their_failures(device, debug):
    @wp.kernel(module="unique")
    def late(x: wp.array(dtype=int)):
        i = wp.tid()
        assert i < 90_000
        x[i] = 1

    x = wp.zeros(100_000, dtype=int, device=device)
    thread = int(re.search(r"thread (\d+)", fails(device, late, 100_000, [x]))[1])
    assert 90_000 <= thread < 100_000
    assert x.numpy()[:90_000].all() or device != "cpu"


WARN = """
import sys
wp.config.verify_fp = True

@wp.kernel
def scale(x: wp.array(dtype=float), y: wp.array(dtype=wp.float16), by: float):
    i = wp.tid()
    x[i] = x[i] * by
    y[i] = wp.float16(by)
    wp.atomic_add(x, i, by)

device = sys.argv[1]
x = wp.array([1.0, 0.0], dtype=float, device=device)
y = wp.zeros(2, dtype=wp.float16, device=device)
wp.launch(scale, dim=2, inputs=[x, y, 2.0], device=device)
wp.synchronize_device(device)
print("ONE", flush=True)
wp.launch(scale, dim=2, inputs=[x, y, float("inf")], device=device)
wp.synchronize_device(device)
print("TWO", x.numpy(), flush=True)
"""


def test_values_that_are_not_finite_are_printed(device, tmp_path):
    path = tmp_path / "warn.py"
    path.write_text(HEADER + WARN)
    text = run_child(path, device, env=child_path()).stdout
    before, rest = text.split("ONE\n")
    printed, after = rest.split("TWO ")
    assert "written" not in before and "inf" in after
    lines = printed.strip().split("\n")
    assert len(lines) == 6 and all("in kernel `scale`" in line and "warn.py:" in line for line in lines)
    assert sum("written to argument `y`" in line for line in lines) == 2
    # The second body's two is multiplied and the atomic adds to infinity.
    assert sum(line.startswith("inf is written to argument `x`") for line in lines) == 4


def test_values_that_are_not_finite_are_an_error_in_debug_mode(device, debug, monkeypatch):
    monkeypatch.setattr(wp.config, "verify_fp", True)

    @wp.kernel(module="unique", module_options={"fast_math": True})
    def divide(x: wp.array(dtype=wp.vec3), by: float):
        x[wp.tid()] = x[wp.tid()] / by

    x = wp.array(np.ones((4, 3)), dtype=wp.vec3, device=device)
    wp.launch(divide, dim=4, inputs=[x, 2.0], device=device)
    wp.synchronize_device(device)
    assert "inf is written to argument `x`" in fails(device, divide, 4, [x, 0.0])


def test_verify_cuda_names_the_kernel(cuda_device, tmp_path):
    program = """
wp.config.verify_cuda = True

@wp.kernel
def wild(address: wp.uint64):
    x = wp.array(ptr=address, shape=(4,), dtype=int)
    x[wp.tid()] = 1

try:
    wp.launch(wild, dim=1, inputs=[wp.uint64(64)], device="cuda:0")
except RuntimeError as error:
    print("RAISED", error)
"""
    path = tmp_path / "wild.py"
    path.write_text(HEADER + program)
    text = run_child(path, env=child_path(), check=False).stdout
    assert "RAISED" in text and "kernel `wild` failed on cuda:0" in text


BREAK = """
@wp.kernel
def stops(n: int):
    if n > 0:
        wp.breakpoint()

wp.launch(stops, dim=1, inputs=[0], device="cpu")
print("BEFORE", flush=True)
wp.launch(stops, dim=1, inputs=[1], device="cpu")
print("AFTER", flush=True)
"""


def test_a_breakpoint_without_a_debugger_ends_the_process(tmp_path):
    path = tmp_path / "stops.py"
    path.write_text(HEADER + BREAK)
    done = run_child(path, env=child_path(), check=False)
    assert "BEFORE" in done.stdout and "AFTER" not in done.stdout and done.returncode < 0
