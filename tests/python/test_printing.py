"""print, printf and assert, observed from outside: each program runs in its own process."""

import pytest
from _support import HEADER, child_path, differs_from_warp, run_child
from _wp import wp

PROGRAM = """
import sys
DEVICE = sys.argv[1]

@wp.struct
class Unused:
    a: float

@wp.kernel
def say(n: int, f: float, d: wp.float64, u8: wp.uint8, i8: wp.int8, h: wp.float16, u64: wp.uint64, i64: wp.int64):
    print(n)
    print(f)
    print("plain text")
    print(n > 1)
    print(wp.vec3(1.0, 2.5, -3.0))
    print(wp.vec2i(4, 5))
    print(wp.mat22(1.0, 2.0, 3.0, 4.0))
    print(wp.quat(0.0, 0.0, 0.0, 1.0))
    print(wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat(0.0, 0.0, 0.0, 1.0)))
    print(d)
    print(u8)
    print(i8)
    print(h)
    print(u64)
    print(i64)
    print(1.0 / 3.0)
    wp.printf("%d|%5.2f|%s|%x|%u|%%|%e\\n", n, f, "str", n, u8, f)
    wp.printf("%g %f %lld %llu\\n", d, f, i64, u64)
    wp.printf("no arguments\\n")

wp.launch(say, dim=1, inputs=[5, 2.5, 0.1, 200, -5, 1.5, 2**63, -(2**40)], device=DEVICE)
wp.synchronize_device(DEVICE)
"""

EXPECTED = [
    "5", "2.5", "plain text", "True", "1 2.5 -3", "4 5", "1 2", "3 4", "0 0 0 1",
    "(1 2 3) (0 0 0 1)", "0.1", "200", "-5", "1.5", "9223372036854775808",
    "-1099511627776", "0.333333", "5| 2.50|str|5|200|%|2.500000e+00", "0.1 2.500000 -1099511627776 9223372036854775808", "no arguments",
]  # fmt: skip


def test_print_and_printf(device, tmp_path):
    path = tmp_path / "say.py"
    path.write_text(HEADER + PROGRAM)
    lines = [line.rstrip() for line in run_child(path, device, env=child_path()).stdout.splitlines()]
    start = lines.index("5")
    assert lines[start : start + len(EXPECTED)] == EXPECTED


ORDER = """
import sys

@wp.kernel
def say(n: int):
    for i in range(n):
        wp.printf("line %d\\n", i)

print("before", flush=True)
wp.launch(say, dim=1, inputs=[3], device=sys.argv[1])
wp.synchronize_device(sys.argv[1])
print("after", flush=True)
"""


@differs_from_warp("on the CPU, kernel output waits in C's buffer until the process ends")
def test_output_is_in_order_after_synchronize(device, tmp_path):
    path = tmp_path / "order.py"
    path.write_text(HEADER + ORDER)
    lines = run_child(path, device, env=child_path()).stdout.split("\n")
    start = lines.index("before")
    assert lines[start : start + 5] == ["before", "line 0", "line 1", "line 2", "after"]


ASSERTING = """
import sys
wp.config.mode = sys.argv[1]

@wp.kernel
def check(n: int, out: wp.array(dtype=int)):
    assert n > 2
    assert n > 10, "n is too small here"
    out[0] = n

out = wp.zeros(1, dtype=int, device="cpu")
wp.launch(check, dim=1, inputs=[int(sys.argv[2]), out], device="cpu")
wp.synchronize()
print("VALUE", out.numpy()[0])
"""


@pytest.mark.parametrize("mode", ["release", "debug"])
def test_assert_that_holds_is_silent(tmp_path, mode):
    path = tmp_path / "asserting.py"
    path.write_text(HEADER + ASSERTING)
    assert "VALUE 11" in run_child(path, mode, "11", env=child_path()).stdout


def test_assert_is_inactive_in_release_mode(tmp_path):
    path = tmp_path / "asserting.py"
    path.write_text(HEADER + ASSERTING)
    assert "VALUE 5" in run_child(path, "release", "5", env=child_path()).stdout


def test_failed_assert_in_debug_mode_says_what_and_where(tmp_path):
    path = tmp_path / "asserting.py"
    path.write_text(HEADER + ASSERTING)
    done = run_child(path, "debug", "5", env=child_path(), check=False)
    text = done.stdout + done.stderr
    assert done.returncode != 0 and "VALUE" not in done.stdout
    assert "n is too small here" in text and "asserting.py" in text


@pytest.mark.parametrize("statement", ["print()", "print(n, n)", "print(n, end='')", "wp.printf(n)"])
def test_refused_print_calls(tmp_path, statement):
    from _support import kernel_from

    kernel = kernel_from(tmp_path, f"{statement}\nout[0] = 1", "n: int, out: wp.array(dtype=int)")
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017
        wp.launch(kernel, dim=1, inputs=[1, out], device="cpu")
    assert out.numpy()[0] == 0
