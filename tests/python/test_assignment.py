"""Every form of assignment, value and reference semantics, and scoping."""

import warnings

import pytest
from _support import differs_from_warp, kernel_from, run
from _wp import wp


@wp.kernel
def tuples(n: int, f: float, out: wp.array(dtype=float)):
    a, b = n, f
    out[0] = float(a) + b
    x = 1.0
    y = 2.0
    z = 3.0
    x, y, z = z, x, y
    out[1] = x * 100.0 + y * 10.0 + z
    p, q = out[0], out[1]
    out[2] = p + q


def test_tuple_unpacking_reads_before_it_writes(device):
    assert run(tuples, float, 3, 2, 0.5, device=device).tolist() == [2.5, 312.0, 314.5]


CHAINED = """
a = b = n + 1
a += 10
out[0] = a
out[1] = b
out[2] = out[3] = c = n * 2
out[4] = c
"""


@differs_from_warp("a chain of targets is refused")
def test_chained_assignment(device, tmp_path):
    kernel = kernel_from(tmp_path, CHAINED, "n: int, out: wp.array(dtype=int)")
    assert run(kernel, int, 5, 3, device=device).tolist() == [14, 4, 6, 6, 6]


@differs_from_warp("only plain names can be unpacked into")
@pytest.mark.parametrize(
    "body,expected",
    [
        ("out[0], out[1] = n, n + 1", [3, 4, 0]),
        ("out[1] = 5\nout[2] = 6\nout[1], out[2] = out[2], out[1]", [0, 6, 5]),
        ("[a, b] = n, 7\nout[0] = a + b", [10, 0, 0]),
        ("a, (b, c) = n, (4, 5)\nout[0] = a\nout[1] = b\nout[2] = c", [3, 4, 5]),
        ("v = wp.vec3i(0, 0, 0)\nv.x, v[1] = n, 8\nout[0] = v[0]\nout[1] = v.y", [3, 8, 0]),
        ("a: int = n\nout[0] = a", [3, 0, 0]),
    ],
)
def test_other_targets(device, tmp_path, body, expected):
    kernel = kernel_from(tmp_path, body, "n: int, out: wp.array(dtype=int)")
    assert run(kernel, int, 3, 3, device=device).tolist() == expected


@wp.kernel
def augmented_int(n: int, out: wp.array(dtype=int)):
    x = n
    x += 5
    x -= 1
    x *= 3
    out[0] = x
    x /= 4
    out[1] = x
    x %= 3
    out[2] = x
    x = n
    x <<= 3
    x |= 1
    x ^= 7
    x &= 62
    out[3] = x
    x >>= 1
    out[4] = x
    out[5] += 4
    out[5] *= 5
    out[5] -= 6
    out[5] /= 2
    out[5] |= 8
    out[5] ^= 1
    out[5] &= 14
    out[5] <<= 2
    out[5] >>= 1
    out[5] %= 5


def test_augmented_assignment_of_integers(device):
    n = 6
    x = ((n + 5) - 1) * 3
    e = (((((4 * 5) - 6) // 2) | 8) ^ 1) & 14
    want = [x, x // 4, x // 4 % 3, ((n << 3 | 1) ^ 7) & 62, (((n << 3 | 1) ^ 7) & 62) >> 1, (e << 2 >> 1) % 5]
    assert run(augmented_int, int, 6, n, device=device).tolist() == want


@wp.kernel
def augmented_float(f: float, out: wp.array(dtype=float)):
    x = f
    x += 1.0
    x **= 2.0
    x /= 4.0
    x %= 2.0
    out[0] = x
    x = f
    x //= 2.0
    out[1] = x
    out[2] += 3.0
    out[2] *= 2.0
    out[2] /= 4.0
    out[2] -= 0.25
    out[2] **= 2.0
    v = wp.vec2(f, f)
    v += wp.vec2(1.0, 2.0)
    v *= 2.0
    v -= wp.vec2(1.0, 1.0)
    v /= 2.0
    v[0] += 10.0
    v.y *= 3.0
    out[3] = v[0]
    out[4] = v[1]
    m = wp.mat22(1.0, 0.0, 0.0, 1.0)
    m @= wp.mat22(0.0, 1.0, 2.0, 3.0)
    m[0, 1] += 5.0
    m[1] *= 2.0
    out[5] = m[0, 0]
    out[6] = m[0, 1]
    out[7] = m[1, 0]
    out[8] = m[1, 1]


def test_augmented_assignment_of_floats_vectors_and_matrices(device):
    got = run(augmented_float, float, 9, 3.0, device=device).tolist()
    assert got == [0.0, 1.0, 1.5625, 13.5, 13.5, 0.0, 6.0, 4.0, 6.0]


@wp.struct
class Cell:
    level: float
    spin: wp.vec3


@wp.func
def disturb(cells: wp.array(dtype=Cell), v: wp.array(dtype=wp.vec3), calls: wp.array(dtype=int)) -> float:
    calls[0] = calls[0] + 1
    cells[0].level = 90.0
    v[0] = wp.vec3(50.0, 50.0, 50.0)
    return 4.0


@wp.kernel(enable_backward=False)
def order_of_augmented(
    cells: wp.array(dtype=Cell), v: wp.array(dtype=wp.vec3), calls: wp.array(dtype=int), out: wp.array(dtype=float)
):
    s = Cell()
    s.level = 2.0
    s.level -= disturb(cells, v, calls)
    out[0] = s.level
    cells[0].level = 3.0
    cells[0].level *= disturb(cells, v, calls)
    out[1] = cells[0].level
    v[0] = wp.vec3(1.0, 2.0, 3.0)
    v[0][1] += disturb(cells, v, calls)
    out[2] = v[0][1]


@differs_from_warp("the target is read after the right-hand side ran")
def test_augmented_assignment_reads_the_target_first(device):
    cells = wp.zeros(1, dtype=Cell, device=device)
    v = wp.zeros(1, dtype=wp.vec3, device=device)
    calls = wp.zeros(1, dtype=int, device=device)
    assert run(order_of_augmented, float, 3, cells, v, calls, device=device).tolist() == [-2.0, 12.0, 6.0]
    assert calls.numpy()[0] == 3


@wp.kernel
def values(x: wp.array(dtype=int), cells: wp.array(dtype=Cell), out: wp.array(dtype=float)):
    a = x[0]
    b = a
    b += 1
    x[0] = 50
    out[0] = float(a)
    out[1] = float(b)
    v = wp.vec3(1.0, 2.0, 3.0)
    w = v
    w[0] = 9.0
    out[2] = v[0]
    s = cells[0]
    s.level = 7.0
    out[3] = cells[0].level
    r = s
    r.spin = wp.vec3(4.0, 5.0, 6.0)
    r.spin.x = 8.0
    out[4] = s.spin[0]
    out[5] = r.spin[0]
    m = wp.mat22(1.0, 2.0, 3.0, 4.0)
    row = m[0]
    row[0] = 10.0
    out[6] = m[0, 0]


def test_scalars_vectors_and_structs_are_values(device):
    x = wp.array([5], dtype=int, device=device)
    cells = wp.zeros(1, dtype=Cell, device=device)
    assert run(values, float, 7, x, cells, device=device).tolist() == [5.0, 6.0, 1.0, 0.0, 0.0, 8.0, 1.0]


@wp.kernel
def parameters(n: int, v: wp.vec3, out: wp.array(dtype=float)):
    n = n + 1
    n += 1
    v = v * 2.0
    v[1] = 0.5
    out[0] = float(n)
    out[1] = v[0]
    out[2] = v[1]


def test_parameters_can_be_assigned(device):
    assert run(parameters, float, 3, 3, wp.vec3(1.0, 2.0, 3.0), device=device).tolist() == [5.0, 2.0, 0.5]


@wp.kernel
def branches(n: int, out: wp.array(dtype=int)):
    if n > 2:
        x = 1
        y = n
    else:
        x = 2
        y = -n
    z = 0
    if n == 5:
        z = 7
        y += 1
    out[0] = x
    out[1] = y
    out[2] = z


def test_variables_set_in_branches(device):
    assert run(branches, int, 3, 5, device=device).tolist() == [1, 6, 7]
    assert run(branches, int, 3, 1, device=device).tolist() == [2, -1, 0]


UNSET = [
    ("if n > 2:\n    late = 7\nout[0] = late", "late"),
    ("if n > 2:\n    late = 7\nelif n > 1:\n    late = 8\nout[0] = late", "late"),
    ("for i in range(n):\n    late = i\nout[0] = late", "late"),
    ("while n > 2:\n    late = n\n    n -= 1\nout[0] = late", "late"),
    ("if n > 2:\n    late = 7\nif n > 2:\n    out[0] = late", "late"),
    ("out[0] = late\nlate = 3", "late"),
    ("for i in range(n):\n    if i > 0:\n        out[0] = late\n    late = i", "late"),
]


@differs_from_warp("a variable set only on another path is read silently")
@pytest.mark.parametrize("body,name", UNSET)
def test_unset_variable_is_named_or_has_a_value(tmp_path, body, name):
    """Diagnosed before anything runs, by an error or a warning that names the variable; never the other branch's value."""
    kernel = kernel_from(tmp_path, body, "n: int, out: wp.array(dtype=int)")
    out = wp.array([-1], dtype=int, device="cpu")
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            wp.launch(kernel, dim=1, inputs=[0, out], device="cpu")
        said = "".join(str(w.message) for w in told)
        assert out.numpy()[0] not in (7, 8)
    except AssertionError:
        raise
    except Exception as error:
        said = str(error)
    assert name in said


SET_ON_EVERY_PATH = [
    "if n > 2:\n    x = 1\nelse:\n    return\nout[0] = x",
    "if n > 2:\n    x = 1\nelif n > 1:\n    x = 2\nelse:\n    x = 3\nout[0] = x",
    "while True:\n    x = n\n    if x > 2:\n        break\n    n += 1\nout[0] = x",
    "for i in range(3):\n    x = i\nout[0] = x",
    "for i in range(n):\n    if i == 0:\n        continue\n    x = i\n    out[0] = x",
]


@pytest.mark.parametrize("body", SET_ON_EVERY_PATH)
def test_variable_set_on_every_path_is_accepted(tmp_path, body):
    kernel = kernel_from(tmp_path, body, "n: int, out: wp.array(dtype=int)")
    assert run(kernel, int, 1, 3)[0] in (1, 2, 3)


RETYPED = [
    "x = 1\nx = 2.0",
    "x = f\nx = n",
    "x = 1\nif n > 0:\n    x = 2.0",
    "if n > 0:\n    x = 1\nelse:\n    x = 2.0\ny = x",
    "n = 1.0",
]


@pytest.mark.parametrize("body", RETYPED)
def test_changing_the_type_of_a_variable_is_refused(tmp_path, body):
    kernel = kernel_from(tmp_path, body + "\nout[0] = 1")
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017
        wp.launch(kernel, dim=1, inputs=[1, 1.0, out], device="cpu")


UNSUPPORTED = [
    "a, b = 1, 2, 3", "a, *b = 1, 2, 3", "del n", "global wp", "try:\n    pass\nexcept Exception:\n    pass", "with n:\n    pass",
    "import os", "raise ValueError", "n = None", "x = {1, 2}", "x = yield", "a, b = n",
]  # fmt: skip


@pytest.mark.parametrize("body", UNSUPPORTED)
def test_unsupported_statements_are_refused(tmp_path, body):
    out = wp.zeros(1, dtype=int, device="cpu")
    with pytest.raises(Exception):  # noqa: B017
        kernel = kernel_from(tmp_path, body + "\nout[0] = 1")
        wp.launch(kernel, dim=1, inputs=[1, 1.0, out], device="cpu")
    assert out.numpy()[0] == 0
