"""Casts between all scalar types, literal defaults, and 16-bit floats."""

import numpy as np
import pytest
from _support import FLOAT_TYPES, INT_TYPES, differs_from_warp, run, to_bfloat16
from _wp import wp

NUMPY = {name: np.dtype(name) for name in INT_TYPES} | {
    "bool": np.dtype(bool),
    "float16": np.dtype("f2"),
    "float32": np.dtype("f4"),
    "float64": np.dtype("f8"),
}
NUMPY["bfloat16"] = np.dtype("f4")


def source_values(name):
    if name == "bool":
        return np.array([False, True])
    if name in INT_TYPES:
        info = np.iinfo(name)
        return np.array([0, 1, 5, 100, info.max, info.max - 1, info.min, info.min // 2 + 1], dtype=name)
    values = np.array([0.0, 1.0, 2.75, 99.5, 0.125, 3.0, 64.0, 1.0 / 3.0], dtype=np.float64)
    return to_bfloat16(values) if name == "bfloat16" else values.astype(NUMPY[name])


def cast_kernel(S):
    @wp.kernel(module="unique")
    def cast(
        a: wp.array(dtype=wp.float64),
        b: wp.array(dtype=wp.uint64),
        from_int: int,
        ints: wp.array2d(dtype=wp.int64),
        floats: wp.array2d(dtype=wp.float64),
    ):
        i = wp.tid()
        x = S(a[i])
        if from_int > 0:
            x = S(b[i])
        ints[0, i] = wp.int64(wp.int8(x))
        ints[1, i] = wp.int64(wp.int16(x))
        ints[2, i] = wp.int64(wp.int32(x))
        ints[3, i] = wp.int64(wp.int64(x))
        ints[4, i] = wp.int64(wp.uint8(x))
        ints[5, i] = wp.int64(wp.uint16(x))
        ints[6, i] = wp.int64(wp.uint32(x))
        ints[7, i] = wp.int64(wp.uint64(x))
        floats[0, i] = wp.float64(wp.float16(x))
        floats[1, i] = wp.float64(wp.bfloat16(x))
        floats[2, i] = wp.float64(wp.float32(x))
        floats[3, i] = wp.float64(x)

    return cast


@pytest.mark.parametrize("source", ("bool",) + INT_TYPES + FLOAT_TYPES)
def test_cast_to_every_type(device, source):
    x = source_values(source)
    integral = source not in FLOAT_TYPES
    as_floats = np.zeros(len(x)) if integral else x.astype(np.float64)
    as_bits = x.astype(np.int64).astype(np.uint64) if integral else np.zeros(len(x), dtype=np.uint64)
    ints = wp.zeros((8, len(x)), dtype=wp.int64, device=device)
    floats = wp.zeros((4, len(x)), dtype=wp.float64, device=device)
    ins = [
        wp.array(as_floats, dtype=wp.float64, device=device),
        wp.array(as_bits, dtype=wp.uint64, device=device),
        int(integral),
    ]
    wp.launch(cast_kernel(getattr(wp, source)), dim=len(x), inputs=[*ins, ints, floats], device=device)
    got_ints, got_floats = ints.numpy(), floats.numpy()
    for row, target in enumerate(INT_TYPES):
        np.testing.assert_array_equal(got_ints[row], x.astype(target).astype(np.int64), err_msg=f"{source} to {target}")
    with np.errstate(over="ignore"):
        halves = x.astype(np.float32).astype(np.float16).astype(np.float64)
    np.testing.assert_array_equal(got_floats[0], halves, err_msg=f"{source} to float16")
    np.testing.assert_array_equal(
        got_floats[1], to_bfloat16(x.astype(np.float32)).astype(np.float64), err_msg=f"{source} to bfloat16"
    )
    np.testing.assert_array_equal(
        got_floats[2], x.astype(np.float32).astype(np.float64), err_msg=f"{source} to float32"
    )
    np.testing.assert_array_equal(got_floats[3], x.astype(np.float64), err_msg=f"{source} to float64")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(s, marks=differs_from_warp("16-bit floats do not cast to bool"))
        if s in ("float16", "bfloat16")
        else s
        for s in INT_TYPES + FLOAT_TYPES
    ],
)
def test_cast_to_bool(device, source):
    S = getattr(wp, source)

    @wp.kernel(module="unique")
    def truth(a: wp.array(dtype=float), out: wp.array(dtype=wp.bool)):
        i = wp.tid()
        out[i] = wp.bool(S(a[i]))

    x = wp.array([0.0, 1.0, 2.0, 100.0, 0.0], dtype=float, device=device)
    assert run(truth, wp.bool, 5, x, dim=5, device=device).tolist() == [False, True, True, True, False]


def test_float_to_integer_truncates(device):
    @wp.kernel(module="unique")
    def truncate(x: wp.array(dtype=float), out: wp.array(dtype=wp.int64)):
        i = wp.tid()
        out[4 * i] = wp.int64(int(x[i]))
        out[4 * i + 1] = wp.int64(x[i])
        out[4 * i + 2] = wp.int64(wp.int8(x[i]))
        out[4 * i + 3] = wp.int64(wp.int16(x[i]))

    x = np.array([1.9, -1.9, 0.5, -0.5, 100.99, -100.99], dtype=np.float32)
    got = run(truncate, wp.int64, 24, wp.array(x, device=device), dim=6, device=device).reshape(6, 4)
    np.testing.assert_array_equal(got, np.trunc(x).astype(np.int64)[:, None].repeat(4, axis=1))


def test_named_casts(device):
    @wp.kernel(module="unique")
    def named(n: int, f: float, out: wp.array(dtype=float)):
        out[0] = float(int(f))
        out[1] = float(n) / 2.0
        out[2] = float(bool(n))
        out[3] = float(bool(0.0))
        out[4] = wp.cast(wp.cast(f, int), float)  # cast() keeps the bits
        out[5] = float(n > 3)
        out[6] = float(int(True))
        out[7] = float(wp.uint8(300)) + float(wp.int8(200))

    assert run(named, float, 8, 7, 2.75, device=device).tolist() == [2.0, 3.5, 1.0, 0.0, 2.75, 1.0, 1.0, 44.0 - 56.0]


@differs_from_warp("constants are converted by the C++ compiler, to whatever it likes")
def test_constants_convert_as_values_do(device):
    @wp.kernel(module="unique")
    def converted(x: wp.array(dtype=float), out: wp.array(dtype=wp.int64)):
        out[0] = wp.int64(wp.uint8(300.7))
        out[1] = wp.int64(wp.uint8(x[0]))
        out[2] = wp.int64(wp.int8(-200.5))
        out[3] = wp.int64(wp.int8(x[1]))
        out[4] = wp.int64(wp.uint16(-1.5))
        out[5] = wp.int64(wp.uint16(x[2]))
        out[6] = wp.int64(wp.uint32(-1.5))
        out[7] = wp.int64(wp.uint32(x[2]))
        out[8] = wp.int64(int(3e9))
        out[9] = wp.int64(int(x[3]))

    x = wp.array([300.7, -200.5, -1.5, 3e9], dtype=float, device=device)
    expected = [44, 56, 2**16 - 1, 2**32 - 1, 2**31 - 1]
    assert run(converted, wp.int64, 10, x, device=device).reshape(5, 2).tolist() == [[e, e] for e in expected]


@differs_from_warp("the host's values keep what they are given")
def test_types_called_on_the_host_convert_as_in_kernels():
    assert [wp.int32(x).value for x in (3.7, -3.7, np.float32(2.5), wp.float16(1.5), 3e9)] == [3, -3, 2, 1, 2**31 - 1]
    assert [wp.uint8(x).value for x in (300.7, -1.5, 300)] == [44, 255, 44]
    for wrong in ("3", [1.0], wp.vec2(1.0, 2.0)):
        with pytest.raises(Exception, match="int32 cannot be made from"):
            wp.int32(wrong)


def test_literals_are_32_bit(device):
    @wp.kernel(module="unique")
    def literals(out: wp.array(dtype=wp.float64), ints: wp.array(dtype=wp.int64)):
        x = 0.1
        out[0] = wp.float64(x + 0.0)
        out[1] = wp.float64(float(1.0e39))
        n = 2147483647
        ints[0] = wp.int64(n + 1)
        ints[1] = wp.int64(0x7F)
        ints[2] = wp.int64(0b101)
        ints[3] = wp.int64(1_000)

    out = wp.zeros(2, dtype=wp.float64, device=device)
    ints = wp.zeros(4, dtype=wp.int64, device=device)
    wp.launch(literals, dim=1, inputs=[out, ints], device=device)
    assert out.numpy().tolist() == [float(np.float32(0.1)), np.inf]
    assert ints.numpy().tolist() == [-(2**31), 127, 5, 1000]


SMALL = 0.1
LARGE = 5_000_000_001


@wp.kernel(module="unique")
def keep_digits(out: wp.array(dtype=wp.float64), ints: wp.array(dtype=wp.int64)):
    out[0] = wp.float64(0.1)
    out[1] = wp.float64(SMALL)
    out[2] = wp.float64(1.0 + 1e-9)
    out[3] = wp.float64(-0.3)
    out[4] = wp.float64(2.0 * wp.PI)
    out[5] = wp.vec3d(0.7, 0.0, 0.0)[0]
    ints[0] = wp.int64(5000000001)
    ints[1] = wp.int64(LARGE)
    ints[2] = wp.int64(-9223372036854775807)
    ints[3] = wp.int64(LARGE * 2)


@differs_from_warp("constant expressions lose digits before the cast")
def test_constants_keep_their_digits_through_a_cast(device):
    out = wp.zeros(6, dtype=wp.float64, device=device)
    ints = wp.zeros(4, dtype=wp.int64, device=device)
    wp.launch(keep_digits, dim=1, inputs=[out, ints], device=device)
    assert out.numpy().tolist() == [0.1, 0.1, 1.0 + 1e-9, -0.3, 2.0 * np.pi, 0.7]
    assert ints.numpy().tolist() == [LARGE, LARGE, -9223372036854775807, 2 * LARGE]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_arrays_round_to_nearest_even(device, name):
    T = getattr(wp, name)

    @wp.kernel(module="unique")
    def store(x: wp.array(dtype=float), half: wp.array(dtype=T), back: wp.array(dtype=float)):
        i = wp.tid()
        half[i] = T(x[i])
        half[i] = half[i] * T(2.0)
        back[i] = float(half[i])

    x = np.concatenate(
        [
            np.random.default_rng(3).normal(0.0, 10.0, 100),
            [65504.0 / 2.0, 1e-7, 6e-8, 0.0, -0.0, 1.0009765, 1.00048828125],
        ]
    ).astype(np.float32)
    half = wp.zeros(len(x), dtype=T, device=device)
    back = wp.zeros(len(x), dtype=float, device=device)
    wp.launch(store, dim=len(x), inputs=[wp.array(x, device=device), half, back], device=device)
    want = (
        to_bfloat16(to_bfloat16(x) * 2.0)
        if name == "bfloat16"
        else (x.astype(np.float16) * np.float16(2.0)).astype(np.float32)
    )
    np.testing.assert_array_equal(back.numpy(), want)


def test_half_precision_accumulation_rounds_at_every_step(device):
    @wp.kernel(module="unique")
    def accumulate(n: int, out: wp.array(dtype=float)):
        a = wp.float16(0.0)
        b = wp.bfloat16(0.0)
        for _i in range(n):
            a += wp.float16(1.0)
            b += wp.bfloat16(1.0)
        out[0] = float(a)
        out[1] = float(b)

    # Past 2**11 (float16) and 2**8 (bfloat16), adding one changes nothing.
    assert run(accumulate, float, 2, 5000, device=device).tolist() == [2048.0, 256.0]


@wp.kernel
def digits_of_variables(out: wp.array(dtype=wp.float64), whole: wp.array(dtype=wp.int64)):
    x = 0.1
    out[0] = wp.float64(x)
    out[1] = wp.vec3d(x)[1]
    y = -x
    out[2] = wp.float64(y)
    # What is computed, or said to be float32, has the digits of float32.
    out[3] = wp.float64(x * 1.0)
    out[4] = wp.float64(wp.float32(0.1))
    n = 5000000001
    whole[0] = wp.int64(n)
    if x == 0.1:
        whole[1] = wp.int64(1)


def test_variables_keep_the_digits_of_literals(device):
    out, whole = wp.zeros(5, dtype=wp.float64, device=device), wp.zeros(2, dtype=wp.int64, device=device)
    wp.launch(digits_of_variables, dim=1, outputs=[out, whole], device=device)
    single = float(np.float32(0.1))
    assert out.numpy().tolist() == [0.1, 0.1, -0.1, single, single]
    assert whole.numpy().tolist() == [5000000001, 1]
