"""Arithmetic and bitwise operators on every scalar type, against numpy."""

import numpy as np
import pytest
from _support import FLOAT_TYPES, INT_TYPES, differs_from_warp, to_bfloat16, truncated_div
from _wp import wp


def int_operands(name):
    """Pairs that cover zeros, ones, the extremes and random values; no division by zero, no MIN / -1."""
    info = np.iinfo(name)
    edges = [0, 1, 2, 7, info.max, info.max - 1, info.min, info.min + 1, info.max // 2]
    rng = np.random.default_rng(7)
    more = rng.integers(info.min, info.max, 16, dtype=name, endpoint=True).tolist()
    pairs = [
        (a, b)
        for a in edges + more
        for b in [1, 2, 3, 7, info.max, *more[:4]] + ([-1, -2, -3] if info.min else [])
        if b != 0
    ]
    pairs = [(a, b) for a, b in pairs if not (a == info.min and b == -1)]
    return np.array([a for a, _ in pairs], name), np.array([b for _, b in pairs], name)


def int_kernel(T):
    @wp.kernel(module="unique")
    def arithmetic(a: wp.array(dtype=T), b: wp.array(dtype=T), out: wp.array2d(dtype=T)):
        i = wp.tid()
        x = a[i]
        y = b[i]
        out[0, i] = x + y
        out[1, i] = x - y
        out[2, i] = x * y
        out[3, i] = x / y
        out[4, i] = x % y
        out[5, i] = -x
        out[6, i] = x & y
        out[7, i] = x | y
        out[8, i] = x ^ y
        out[9, i] = ~x
        out[10, i] = wp.min(x, y)
        out[11, i] = wp.max(x, y)
        out[12, i] = +x

    return arithmetic


@pytest.mark.parametrize("name", INT_TYPES)
def test_integers_wrap(device, name):
    a, b = int_operands(name)
    T = getattr(wp, name)
    out = wp.zeros((13, len(a)), dtype=T, device=device)
    wp.launch(
        int_kernel(T),
        dim=len(a),
        inputs=[wp.array(a, dtype=T, device=device), wp.array(b, dtype=T, device=device), out],
        device=device,
    )
    quotient = truncated_div(a, b)
    with np.errstate(over="ignore"):
        want = [
            a + b,
            a - b,
            a * b,
            quotient,
            a - quotient * b,
            -a,
            a & b,
            a | b,
            a ^ b,
            ~a,
            np.minimum(a, b),
            np.maximum(a, b),
            a,
        ]
    for row, (got, expected) in enumerate(zip(out.numpy(), want)):
        np.testing.assert_array_equal(got, expected.astype(name), err_msg=f"row {row}")


def shift_kernel(T):
    @wp.kernel(module="unique")
    def shift(a: wp.array(dtype=T), left: wp.array2d(dtype=T), right: wp.array2d(dtype=T)):
        i, s = wp.tid()
        left[i, s] = a[i] << T(s)
        right[i, s] = a[i] >> T(s)

    return shift


@pytest.mark.parametrize("name", INT_TYPES)
def test_shifts_by_less_than_the_width(device, name):
    T, bits = getattr(wp, name), np.iinfo(name).bits
    a = int_operands(name)[0][:40]
    left, right = (wp.zeros((len(a), bits), dtype=T, device=device) for _ in range(2))
    wp.launch(
        shift_kernel(T), dim=(len(a), bits), inputs=[wp.array(a, dtype=T, device=device), left, right], device=device
    )
    counts = np.arange(bits, dtype=name)
    np.testing.assert_array_equal(left.numpy(), np.left_shift(a[:, None], counts))
    np.testing.assert_array_equal(right.numpy(), np.right_shift(a[:, None], counts))


def floor_kernel(T):
    @wp.kernel(module="unique")
    def floor_divide(a: wp.array(dtype=T), b: wp.array(dtype=T), out: wp.array2d(dtype=T)):
        i = wp.tid()
        out[0, i] = a[i] // b[i]
        x = a[i]
        x //= b[i]
        out[1, i] = x
        out[2, i] = a[i]
        out[2, i] //= b[i]

    return floor_divide


@differs_from_warp("integer // truncates in several forms")
@pytest.mark.parametrize("name", INT_TYPES)
def test_floor_division_rounds_down(device, name):
    a, b = int_operands(name)
    T = getattr(wp, name)
    out = wp.zeros((3, len(a)), dtype=T, device=device)
    wp.launch(
        floor_kernel(T),
        dim=len(a),
        inputs=[wp.array(a, dtype=T, device=device), wp.array(b, dtype=T, device=device), out],
        device=device,
    )
    for row in out.numpy():
        np.testing.assert_array_equal(row, np.floor_divide(a, b))


@differs_from_warp("a folded // of literals truncates")
def test_floor_division_of_literals(device):
    @wp.kernel(module="unique")
    def literals(n: int, out: wp.array(dtype=int)):
        out[0] = (-7) // 2
        out[1] = 7 // (-2)
        out[2] = n // 2
        out[3] = -9 // n
        out[4] = (-7) / 2
        out[5] = (-7) % 2

    out = wp.zeros(6, dtype=int, device=device)
    wp.launch(literals, dim=1, inputs=[-7, out], device=device)
    assert out.numpy().tolist() == [-4, -4, -4, 1, -3, -1]


@differs_from_warp("integer division by zero kills the process on the CPU")
def test_integer_division_by_zero_does_not_kill(device):
    @wp.kernel(module="unique")
    def divide(a: int, b: int, out: wp.array(dtype=int)):
        out[0] = a / b
        out[1] = a % b
        out[2] = a // b
        out[3] = 1

    out = wp.zeros(4, dtype=int, device=device)
    for a, b in ((5, 0), (-(2**31), -1)):
        out.zero_()
        wp.launch(divide, dim=1, inputs=[a, b, out], device=device)
        assert out.numpy()[3] == 1


def float_kernel(T):
    @wp.kernel(module="unique")
    def arithmetic(a: wp.array(dtype=wp.float64), b: wp.array(dtype=wp.float64), out: wp.array2d(dtype=wp.float64)):
        i = wp.tid()
        x = T(a[i])
        y = T(b[i])
        out[0, i] = wp.float64(x + y)
        out[1, i] = wp.float64(x - y)
        out[2, i] = wp.float64(x * y)
        out[3, i] = wp.float64(x / y)
        out[4, i] = wp.float64(-x)
        out[5, i] = wp.float64(wp.min(x, y))
        out[6, i] = wp.float64(wp.max(x, y))
        out[7, i] = wp.float64(wp.abs(x))

    return arithmetic


def float_operands(name):
    rng = np.random.default_rng(11)
    a = rng.uniform(-8.0, 8.0, 64)
    b = rng.choice([-1.0, 1.0], 64) * rng.uniform(0.25, 4.0, 64)
    kind = np.float32 if name == "bfloat16" else np.dtype(name).type
    if name == "bfloat16":
        return to_bfloat16(a), to_bfloat16(b), to_bfloat16
    return a.astype(kind), b.astype(kind), lambda x: np.asarray(x, dtype=kind)


@pytest.mark.parametrize("name", FLOAT_TYPES)
def test_floats_round_once_per_operation(device, name):
    a, b, rounded = float_operands(name)
    T = getattr(wp, name)
    out = wp.zeros((8, 64), dtype=wp.float64, device=device)
    ins = [wp.array(x.astype(np.float64), dtype=wp.float64, device=device) for x in (a, b)]
    wp.launch(float_kernel(T), dim=64, inputs=[*ins, out], device=device)
    got = out.numpy()
    want = [a + b, a - b, a * b, a / b, -a, np.minimum(a, b), np.maximum(a, b), np.abs(a)]
    for row, expected in enumerate(want):
        np.testing.assert_array_equal(got[row], rounded(expected).astype(np.float64), err_msg=f"row {row}")


def division_kernel(T):
    @wp.kernel(module="unique")
    def divide(a: wp.array(dtype=T), b: wp.array(dtype=T), out: wp.array2d(dtype=T)):
        i = wp.tid()
        out[0, i] = a[i] % b[i]
        out[1, i] = a[i] // b[i]
        out[2, i] = wp.abs(a[i]) ** b[i]

    return divide


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_float_modulo_floor_and_power(device, name):
    a, b, _ = float_operands(name)
    T = getattr(wp, name)
    out = wp.zeros((3, 64), dtype=T, device=device)
    wp.launch(
        division_kernel(T),
        dim=64,
        inputs=[wp.array(a, dtype=T, device=device), wp.array(b, dtype=T, device=device), out],
        device=device,
    )
    eps = np.finfo(name).eps
    np.testing.assert_allclose(out.numpy()[0], np.fmod(a, b), rtol=4 * eps, atol=16 * eps)
    np.testing.assert_array_equal(out.numpy()[1], np.floor(a / b))
    np.testing.assert_allclose(out.numpy()[2], np.abs(a) ** b, rtol=64 * eps)


def test_float_edge_cases(device):
    @wp.kernel(module="unique")
    def edges(zero: float, out: wp.array(dtype=float)):
        one = zero + 1.0
        out[0] = one / zero
        out[1] = -one / zero
        out[2] = zero / zero
        out[3] = -(2.0**2.0)
        out[4] = -((2.0) ** 2.0)
        out[5] = 2.0**-1.0
        out[6] = 2.0**3.0**2.0
        out[7] = wp.round(0.5) + 10.0 * wp.round(-2.5) + 100.0 * wp.rint(2.5)

    out = wp.zeros(8, dtype=float, device=device)
    wp.launch(edges, dim=1, inputs=[0.0, out], device=device)
    got = out.numpy()
    assert got[0] == np.inf and got[1] == -np.inf and np.isnan(got[2])
    # round() goes away from zero on ties, rint() to even.
    assert got[3:].tolist() == [-4.0, -4.0, 0.5, 512.0, 1.0 - 30.0 + 200.0]


def test_precedence_follows_python(device):
    @wp.kernel(module="unique")
    def expressions(a: int, b: int, c: int, out: wp.array(dtype=int)):
        out[0] = a + b * c
        out[1] = (a + b) * c
        out[2] = a - b - c
        out[3] = a << 1 + 1
        out[4] = int((a & b) == (b & a) and not a == b)
        out[5] = a | b ^ c & 6
        out[6] = -a * b
        out[7] = ~a + 1
        out[8] = a * b % c
        out[9] = 100 / a / b

    out = wp.zeros(10, dtype=int, device=device)
    wp.launch(expressions, dim=1, inputs=[5, 3, 4, out], device=device)
    a, b, c = 5, 3, 4
    assert out.numpy().tolist() == [17, 32, -2, 20, 1, a | b ^ c & 6, -15, -5, 3, 6]


@pytest.mark.parametrize("name", INT_TYPES + FLOAT_TYPES)
def test_comparisons(device, name):
    T = getattr(wp, name)

    @wp.kernel(module="unique")
    def compare(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array2d(dtype=wp.bool)):
        i = wp.tid()
        x = T(a[i])
        y = T(b[i])
        out[0, i] = x < y
        out[1, i] = x <= y
        out[2, i] = x > y
        out[3, i] = x >= y
        out[4, i] = x == y
        out[5, i] = x != y

    a = np.array([0, 1, 2, 100, 5, 5], dtype=np.float32)
    b = np.array([1, 0, 2, 7, 100, 5], dtype=np.float32)
    out = wp.zeros((6, 6), dtype=wp.bool, device=device)
    wp.launch(compare, dim=6, inputs=[wp.array(a, device=device), wp.array(b, device=device), out], device=device)
    np.testing.assert_array_equal(out.numpy(), np.array([a < b, a <= b, a > b, a >= b, a == b, a != b]))


def test_comparisons_with_nan(device):
    @wp.kernel(module="unique")
    def compare(x: float, y: float, out: wp.array(dtype=int)):
        out[0] = int(x < y)
        out[1] = int(x >= y)
        out[2] = int(x == x)
        out[3] = int(x != x)
        out[4] = int(not (x < y))

    out = wp.zeros(5, dtype=int, device=device)
    wp.launch(compare, dim=1, inputs=[float("nan"), 1.0, out], device=device)
    assert out.numpy().tolist() == [0, 0, 0, 1, 1]
