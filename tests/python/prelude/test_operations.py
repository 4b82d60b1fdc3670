"""Built-ins that are operations, in kernels, against numpy in higher precision, over their whole domain.

Errors are counted in units in the last place (ULP) of the result's type. NaN, infinities and signs of zero must be
exactly those of the reference.
"""

import math
import statistics

import numpy as np
import pytest
from _support import load
from _wp import ON_WARP, wp

COUNT = 4000


def erf_inverse(y):
    """Newton's method on `math.erf` and, where that is flat, on `math.erfc`."""
    if abs(y) > 1 or y != y:
        return math.nan
    if abs(y) == 1:
        return math.copysign(math.inf, y)
    if abs(y) > 0.5:
        return math.copysign(erfc_inverse(1 - abs(y)), y)
    x = y * math.sqrt(math.pi) / 2
    for _ in range(30):
        x -= (math.erf(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


def erfc_inverse(y):
    if y < 0 or y > 2 or y != y:
        return math.nan
    if y in (0, 2):
        return math.inf if y == 0 else -math.inf
    if y > 1:
        return -erfc_inverse(2 - y)
    if y > 0.5:
        return erf_inverse(1 - y)
    if y < 1e-290:
        # `math.erfc` has too few digits there: by its asymptotic series.
        x = math.sqrt(-math.log(y))
        for _ in range(6):
            r = 1 / (2 * x * x)
            series = math.log(1 - r + 3 * r**2 - 15 * r**3 + 105 * r**4 - 945 * r**5)
            x += (series - x * x - math.log(x * math.sqrt(math.pi)) - math.log(y)) / (2 * x + 1 / x)
        return x
    x = -statistics.NormalDist().inv_cdf(y / 2) / math.sqrt(2)
    for _ in range(6):
        x += (math.erfc(x) - y) / (2 / math.sqrt(math.pi) * math.exp(-x * x))
    return x


def each(f):
    return lambda x: np.array([f(float(v)) for v in x])


def round_half_away(x):
    return np.copysign(np.floor(np.abs(x) + x.dtype.type(0.5)), x)


# The reference of each function of one float, and the error allowed for float32 and float64.
UNARY = {
    "abs": (np.abs, 0, 0),
    "acos": (lambda x: np.arccos(np.clip(x, -1, 1)), 2, 2),
    "asin": (lambda x: np.arcsin(np.clip(x, -1, 1)), 2, 2),
    "atan": (np.arctan, 2, 2),
    "cbrt": (np.cbrt, 2, 2),
    "ceil": (np.ceil, 0, 0),
    "cos": (np.cos, 2, 2),
    "cosh": (np.cosh, 3, 3),
    "erf": (each(math.erf), 2, 4),
    "erfc": (each(math.erfc), 4, 6),
    "erfcinv": (each(erfc_inverse), 4, 8),
    "erfinv": (each(erf_inverse), 4, 8),
    "exp": (np.exp, 2, 2),
    "exp2": (np.exp2, 2, 2),
    "floor": (np.floor, 0, 0),
    "log": (np.log, 2, 2),
    "log10": (np.log10, 2, 2),
    "log2": (np.log2, 2, 2),
    "neg": (np.negative, 0, 0),
    "pos": (np.positive, 0, 0),
    "rint": (np.rint, 0, 0),
    "round": (round_half_away, 0, 0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 2, 2),
    "sin": (np.sin, 2, 2),
    "sinh": (np.sinh, 3, 3),
    "sqrt": (np.sqrt, 0, 0),
    "tan": (np.tan, 4, 4),
    "tanh": (np.tanh, 3, 3),
    "trunc": (np.trunc, 0, 0),
}
TESTS = {"isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan}
BINARY = {
    "add": (np.add, 0, 0),
    "sub": (np.subtract, 0, 0),
    "mul": (np.multiply, 0, 0),
    "div": (np.divide, 0, 0),
    "atan2": (np.arctan2, 3, 3),
    "max": (np.fmax, 0, 0),
    "min": (np.fmin, 0, 0),
    "mod": (np.fmod, 0, 0),
    "pow": (np.power, 4, 4),
}
NOT_IN_WARP = {"exp2", "rsqrt", "popcount", "clz", "ctz"}
# Clamping a NaN gives an end of the range.
NAN_IS_CLAMPED = {"acos", "asin"}
BITS = {np.float16: np.uint16, np.float32: np.uint32, np.float64: np.uint64}
SMALL = {np.float16: "wp.float16", "bfloat16": "wp.bfloat16"}


def values(elem, rng):
    """Numbers of every size, subnormal ones too, numbers near one, and the special ones."""
    bits = rng.integers(0, np.iinfo(BITS[elem]).max, COUNT, dtype=BITS[elem], endpoint=True)
    tiny, huge = np.finfo(elem).smallest_subnormal, np.finfo(elem).max
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, np.finfo(elem).tiny, huge, -huge]
    special += [
        s * x for s in (1, -1) for x in (0.25, 0.5, 1, 1.5, 2, 2.5, 3, np.pi / 2, np.pi, 1 - 1e-7, 88.72, 709.78)
    ]
    # Subnormal numbers of every size.
    special += [math.ldexp(tiny, k) for k in range(np.finfo(elem).nmant)]
    near = [rng.uniform(-a, a, COUNT) for a in (1, 3, 100)]
    return np.concatenate([bits.view(elem), *(np.asarray(x, elem) for x in (special, *near))])


def check(name, got, expected, elem, bound, arguments):
    """`expected` is in a wider type; `got` and `arguments` are of type `elem`."""
    with np.errstate(all="ignore"):
        rounded = expected.astype(elem)
        finite = np.isfinite(rounded)
        unit = np.spacing(np.maximum(np.abs(np.where(finite, rounded, 0)), np.finfo(elem).tiny).astype(elem))
        error = np.abs(got.astype(expected.dtype) - expected) / unit
        right = np.where(finite, error <= max(bound, 0.5), (got == rounded) | np.isnan(got) & np.isnan(rounded))
        right &= (rounded != 0) | (bound > 0) | (np.signbit(got) == np.signbit(rounded))
    if not right.all():
        worst = np.flatnonzero(~right)[:5]
        rows = [(*(a[i] for a in arguments), got[i], expected[i], float(error[i])) for i in worst]
        pytest.fail(f"{name}: {len(np.flatnonzero(~right))} of {len(got)} beyond {bound} ULP: {rows}")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """Kernels `unary_sin_float32`, `binary_add_int8` and so on, from one module."""
    text = ""

    def kernel(kind, name, dtype, params, body):
        nonlocal text
        text += f"\n\n@wp.kernel(module='unique')\ndef {kind}_{name}_{dtype}({params}):\n    i = wp.tid()\n    {body}\n"

    for dtype in ("float32", "float64"):
        a = f"wp.array(dtype=wp.{dtype})"
        for name in UNARY:
            kernel("unary", name, dtype, f"x: {a}, out: {a}", f"out[i] = wp.{name}(x[i])")
        for name in TESTS:
            kernel("test", name, dtype, f"x: {a}, out: wp.array(dtype=wp.bool)", f"out[i] = wp.{name}(x[i])")
        for name in BINARY:
            kernel("binary", name, dtype, f"x: {a}, y: {a}, out: {a}", f"out[i] = wp.{name}(x[i], y[i])")
    f = "wp.array(dtype=wp.float32)"
    for dtype in ("float16", "bfloat16"):
        for name in UNARY:
            kernel("small", name, dtype, f"x: {f}, out: {f}", f"out[i] = wp.float32(wp.{name}(wp.{dtype}(x[i])))")
    for dtype in map(np.dtype, INTEGERS):
        a = f"wp.array(dtype=wp.{dtype})"
        for name in INTEGER_UNARY:
            kernel("unary", name, dtype, f"x: {a}, out: {a}", f"out[i] = wp.{dtype}(wp.{name}(x[i]))")
        for name in INTEGER_BINARY:
            kernel("binary", name, dtype, f"x: {a}, y: {a}, out: {a}", f"out[i] = wp.{name}(x[i], y[i])")
    return load(tmp_path_factory.mktemp("operations"), text)


def launch(kernel, device, out, *inputs):
    arrays = [wp.array(x, dtype=wp.dtype_from_numpy(x.dtype), device=device) for x in inputs]
    result = wp.zeros(len(inputs[0]), dtype=out, device=device)
    wp.launch(kernel, dim=len(inputs[0]), inputs=arrays, outputs=[result], device=device)
    return result.numpy()


def wider(x):
    """float32 in float64, float64 in the longest type there is."""
    return x.astype(np.float64 if x.dtype == np.float32 else np.longdouble)


def skip_on_warp(name):
    if ON_WARP and name in NOT_IN_WARP:
        pytest.skip("not a built-in of Warp")


@pytest.mark.parametrize("elem", [np.float32, np.float64])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_float(kernels, name, elem, device):
    skip_on_warp(name)
    reference, *bounds = UNARY[name]
    x = values(elem, np.random.default_rng(1))
    if name in NAN_IS_CLAMPED:
        x = x[~np.isnan(x)]
    got = launch(getattr(kernels, f"unary_{name}_{elem.__name__}"), device, wp.dtype_from_numpy(elem), x)
    with np.errstate(all="ignore"):
        expected = reference(wider(x))
    check(name, got, expected, elem, bounds[elem is np.float64], [x])


@pytest.mark.parametrize("elem", [np.float32, np.float64])
@pytest.mark.parametrize("name", TESTS)
def test_predicates(kernels, name, elem, device):
    x = values(elem, np.random.default_rng(2))
    got = launch(getattr(kernels, f"test_{name}_{elem.__name__}"), device, wp.bool, x)
    assert (got == TESTS[name](x)).all()


@pytest.mark.parametrize("elem", [np.float32, np.float64])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_floats(kernels, name, elem, device):
    reference, *bounds = BINARY[name]
    rng = np.random.default_rng(3)
    x, y = (values(elem, rng) for _ in range(2))
    y = rng.permutation(y)
    if name == "pow":
        # Most pairs of random numbers overflow or are not defined.
        x[::2], y[::2] = np.abs(x[::2]), np.clip(y[::2], -30, 30)
        y[1::4] = np.rint(np.clip(y[1::4], -40, 40))
    got = launch(getattr(kernels, f"binary_{name}_{elem.__name__}"), device, wp.dtype_from_numpy(elem), x, y)
    with np.errstate(all="ignore"):
        expected = reference(x, y) if bounds == [0, 0] else reference(wider(x), wider(y))
    if name in ("min", "max"):
        # Which zero is the smaller one is not defined.
        expected, got = expected + 0.0, got + elem(0)
    check(name, got, expected, elem, bounds[elem is np.float64], [x, y])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_every_small_float(kernels, name, dtype, device):
    skip_on_warp(name)
    bits = np.arange(2**16, dtype=np.uint32)
    half = dtype == "float16"
    x = bits.astype(np.uint16).view(np.float16).astype(np.float32) if half else (bits << 16).view(np.float32)
    if name in NAN_IS_CLAMPED:
        x = x[~np.isnan(x)]
    if name in ("erfinv", "erfcinv"):
        x = x[(np.abs(x) <= 2) & (np.abs(x) > 1e-6)]
    got = launch(getattr(kernels, f"small_{name}_{dtype}"), device, wp.float32, x)
    with np.errstate(all="ignore"):
        expected = UNARY[name][0](wider(x))
    if half:
        check(name, got.astype(np.float16), expected, np.float16, min(UNARY[name][1], 1), [x])
        return
    # Within one unit of 8 bits; numpy has no such type.
    with np.errstate(all="ignore"):
        single = expected.astype(np.float32)
        unit = np.maximum(np.ldexp(1.0, np.frexp(single)[1] - 8), 2.0**-133)
        near = np.abs(got - single) <= unit
        overflow = np.isinf(got) & (np.abs(single) > 3.38e38)
        assert (near | overflow | (got == single) | np.isnan(got) & np.isnan(single)).all(), x[~near][:5]


# Integers

INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)


def unsigned_text(x):
    bits = x.dtype.itemsize * 8
    return [format(int(v) % 2**bits, f"0{bits}b") for v in x]


def count_bits(x):
    return np.array([t.count("1") for t in unsigned_text(x)])


INTEGER_UNARY = {
    "abs": np.abs,
    "neg": np.negative,
    "pos": np.positive,
    "invert": np.invert,
    "bit_count": count_bits,
    "popcount": count_bits,
    "clz": lambda x: np.array([len(t) - len(t.lstrip("0")) for t in unsigned_text(x)]),
    "ctz": lambda x: np.array([len(t) - len(t.rstrip("0")) for t in unsigned_text(x)]),
}
INTEGER_BINARY = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": lambda x, y: np.array([abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1) for a, b in zip(x, y)]),
    "floordiv": np.floor_divide,
    "mod": np.fmod,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
    "min": np.minimum,
    "max": np.maximum,
}


def integers(elem, rng):
    info = np.iinfo(elem)
    corner = [info.min, info.min + 1, -1 if info.min < 0 else 1, 0, 1, 2, info.max - 1, info.max]
    return np.concatenate([np.array(corner, elem), rng.integers(info.min, info.max, 500, dtype=elem, endpoint=True)])


@pytest.mark.parametrize("elem", INTEGERS)
@pytest.mark.parametrize("name", INTEGER_UNARY)
def test_functions_of_one_integer(kernels, name, elem, device):
    skip_on_warp(name)
    x = integers(elem, np.random.default_rng(4))
    got = launch(getattr(kernels, f"unary_{name}_{elem.__name__}"), device, wp.dtype_from_numpy(elem), x)
    with np.errstate(all="ignore"):
        assert (got == INTEGER_UNARY[name](x).astype(elem)).all()


@pytest.mark.parametrize("elem", INTEGERS)
@pytest.mark.parametrize("name", INTEGER_BINARY)
def test_functions_of_two_integers(kernels, name, elem, device):
    rng = np.random.default_rng(5)
    x, y = integers(elem, rng), rng.permutation(integers(elem, rng))
    if name in ("lshift", "rshift"):
        y = (y % (elem(0).itemsize * 8)).astype(elem)
    if name in ("div", "floordiv", "mod"):
        # The quotients that do not exist.
        y[(y == 0) | (y == -1) & (x == np.iinfo(elem).min)] = 3
    got = launch(getattr(kernels, f"binary_{name}_{elem.__name__}"), device, wp.dtype_from_numpy(elem), x, y)
    with np.errstate(all="ignore"):
        exact = (int(v) for v in x), (int(v) for v in y)
        expected = INTEGER_BINARY[name](*exact) if name == "div" else INTEGER_BINARY[name](x, y)
        assert (got == expected.astype(elem)).all()
