"""Vectors of several lengths and scalar types: constructors, components, arithmetic, products."""

import numpy as np
import pytest
from _support import differs_from_warp, run
from _wp import wp

vec5 = wp.types.vector(length=5, dtype=float)
vec7i = wp.types.vector(length=7, dtype=wp.int16)

CASES = [(wp.vec2, 2), (wp.vec3, 3), (wp.vec4, 4), (wp.vec2d, 2), (wp.vec3d, 3), (vec5, 5), (wp.vec3h, 3)]


def arithmetic_kernel(V, S):
    @wp.kernel(module="unique")
    def arithmetic(
        a: wp.array(dtype=V), b: wp.array(dtype=V), s: S, out: wp.array2d(dtype=V), scalars: wp.array2d(dtype=S)
    ):
        i = wp.tid()
        x = a[i]
        y = b[i]
        out[0, i] = x + y
        out[1, i] = x - y
        out[2, i] = x * s
        out[3, i] = s * y
        out[4, i] = x / s
        out[5, i] = -x
        out[6, i] = wp.cw_mul(x, y)
        out[7, i] = wp.cw_div(x, y)
        out[8, i] = wp.normalize(x)
        out[9, i] = wp.min(x, y)
        out[10, i] = wp.max(x, y)
        out[11, i] = wp.abs(x)
        out[12, i] = s / y
        scalars[0, i] = wp.dot(x, y)
        scalars[1, i] = wp.length(x)
        scalars[2, i] = wp.length_sq(x)
        scalars[3, i] = x[0] + x[len(x) - 1]

    return arithmetic


@pytest.mark.parametrize(
    "V,length", CASES, ids=[str(getattr(v, "__name__", v)) + f"-{i}" for i, (v, _) in enumerate(CASES)]
)
def test_arithmetic(device, V, length):
    S = V._wp_scalar_type_
    kind = {wp.float16: np.float16, wp.float32: np.float32, wp.float64: np.float64, float: np.float32}[S]
    rng = np.random.default_rng(length)
    x = rng.uniform(-2.0, 2.0, (20, length)).astype(kind)
    y = (rng.choice([-1.0, 1.0], (20, length)) * rng.uniform(0.5, 2.0, (20, length))).astype(kind)
    s = kind(1.75)
    out = wp.zeros((13, 20), dtype=V, device=device)
    scalars = wp.zeros((4, 20), dtype=S, device=device)
    ins = [wp.array(x, dtype=V, device=device), wp.array(y, dtype=V, device=device), float(s)]
    wp.launch(arithmetic_kernel(V, S), dim=20, inputs=[*ins, out, scalars], device=device)
    norm = np.linalg.norm(x.astype(np.float64), axis=1)
    want = [
        x + y,
        x - y,
        x * s,
        s * y,
        x / s,
        -x,
        x * y,
        x / y,
        x / norm[:, None],
        np.minimum(x, y),
        np.maximum(x, y),
        np.abs(x),
        s / y,
    ]
    eps = float(np.finfo(kind).eps)
    for row, (got, expected) in enumerate(zip(out.numpy(), want)):
        np.testing.assert_allclose(got, expected, rtol=8 * eps, err_msg=f"row {row}")
    want = [(x * y.astype(np.float64)).sum(1), norm, norm**2, x[:, 0] + x[:, -1]]
    for row, (got, expected) in enumerate(zip(scalars.numpy(), want)):
        np.testing.assert_allclose(got, expected, rtol=16 * eps, atol=16 * eps, err_msg=f"scalar row {row}")


@wp.kernel
def integers(a: wp.vec3i, b: wp.vec3i, c: vec7i, out: wp.array(dtype=wp.vec3i), scalars: wp.array(dtype=int)):
    out[0] = a + b
    out[1] = a * 3
    out[2] = a & b
    out[3] = a << b
    out[4] = ~a
    out[5] = a % b
    out[6] = wp.cw_div(a, b)
    out[7] = a ^ b | a
    out[8] = a >> b
    scalars[0] = wp.dot(a, b)
    scalars[1] = wp.length_sq(a)
    scalars[2] = int(c[6]) + len(c)
    scalars[3] = int(a == b) + 10 * int(a == a)


def test_integer_vectors(device):
    out = wp.zeros(9, dtype=wp.vec3i, device=device)
    scalars = wp.zeros(4, dtype=int, device=device)
    a, b = np.array([7, -8, 9]), np.array([2, 3, 1])
    wp.launch(
        integers, dim=1, inputs=[wp.vec3i(*a), wp.vec3i(*b), vec7i(1, 2, 3, 4, 5, 6, 70), out, scalars], device=device
    )
    want = [a + b, a * 3, a & b, a << b, ~a, np.fmod(a, b), np.trunc(a / b), a ^ b | a, a >> b]
    np.testing.assert_array_equal(out.numpy(), np.array(want))
    assert scalars.numpy().tolist() == [-1, 194, 77, 10]


@wp.kernel
def constructors(f: float, n: int, out: wp.array(dtype=wp.vec3)):
    out[0] = wp.vec3()
    out[1] = wp.vec3(f)
    out[2] = wp.vec3(1.0, f, 3.0)
    out[3] = wp.vec3(1, 2, 3)
    out[4] = wp.vec3(wp.vec3d(wp.float64(0.5), wp.float64(1.5), wp.float64(2.5)))
    out[5] = wp.vec3(wp.vec3i(n, n + 1, n + 2))
    out[6] = wp.vector(f, f, 2.0)
    out[7] = wp.vector(4.0, length=3)
    v = wp.vec4(1.0, 2.0, 3.0, 4.0)
    out[8] = v[1:4]
    out[9] = wp.vec3(v[0], v[2], v[-1])
    out[10] = wp.vec3(float(n))
    a = wp.vec2(5.0, 6.0)
    out[11] = wp.vec3(a[0], a[1], f)


def test_constructors(device):
    want = [
        [0, 0, 0], [2.5, 2.5, 2.5], [1, 2.5, 3], [1, 2, 3], [0.5, 1.5, 2.5], [4, 5, 6], [2.5, 2.5, 2], [4, 4, 4], [2, 3, 4], [1, 3, 4],
        [4, 4, 4], [5, 6, 2.5],
    ]  # fmt: skip
    assert run(constructors, wp.vec3, 12, 2.5, 4, device=device).tolist() == want


@wp.kernel
def components(n: int, out: wp.array(dtype=float)):
    v = wp.vec4(1.0, 2.0, 3.0, 4.0)
    out[0] = v.x * 1000.0 + v.y * 100.0 + v.z * 10.0 + v.w
    out[1] = v[n]
    out[2] = v[-n]
    out[3] = v[-1]
    v.x = 5.0
    v[1] = 6.0
    v[n] = 7.0
    v[-1] = 8.0
    out[4] = v.x * 1000.0 + v.y * 100.0 + v.z * 10.0 + v.w
    v.y += 1.0
    v[n] -= 2.0
    out[5] = v.y * 10.0 + v.z
    v[0:2] = wp.vec2(3.0, 4.0)
    out[6] = v.x * 10.0 + v.y
    r = v[::-1]
    out[7] = r[0] * 10.0 + r[3]
    total = float(0.0)
    for i in range(4):
        total += v[i]
    out[8] = total


def test_component_access(device):
    assert run(components, float, 9, 2, device=device).tolist() == [
        1234.0,
        3.0,
        3.0,
        4.0,
        5678.0,
        75.0,
        34.0,
        83.0,
        20.0,
    ]


@wp.kernel
def products(a: wp.vec3, b: wp.vec3, out: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat33)):
    out[0] = wp.cross(a, b)
    out[1] = wp.normalize(wp.vec3())
    m[0] = wp.outer(a, b)
    m[1] = wp.skew(a)
    m[2] = wp.diag(a)


def test_cross_outer_skew(device):
    a, b = np.array([1.0, 2.0, 3.0]), np.array([-4.0, 5.0, 0.5])
    out = wp.zeros(2, dtype=wp.vec3, device=device)
    m = wp.zeros(3, dtype=wp.mat33, device=device)
    wp.launch(products, dim=1, inputs=[wp.vec3(*a), wp.vec3(*b), out, m], device=device)
    np.testing.assert_allclose(out.numpy(), [np.cross(a, b), [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(m.numpy()[0], np.outer(a, b))
    np.testing.assert_allclose(m.numpy()[1] @ b, np.cross(a, b))
    np.testing.assert_allclose(m.numpy()[2], np.diag(a))


@differs_from_warp("vectors have no !=")
def test_inequality(device):
    @wp.kernel(module="unique")
    def unequal(a: wp.vec3, b: wp.vec3, out: wp.array(dtype=int)):
        out[0] = int(a != b)
        out[1] = int(a != a)

    assert run(unequal, int, 2, wp.vec3(1.0, 2.0, 3.0), wp.vec3(1.0, 2.0, 4.0), device=device).tolist() == [1, 0]


def test_vectors_in_python():
    v = wp.vec3(1.0, 2.0, 3.0)
    assert len(v) == 3 and list(v) == [1.0, 2.0, 3.0] and v[1] == 2.0 and v[-1] == 3.0 and v.z == 3.0
    assert v == wp.vec3(1, 2, 3) and v != wp.vec3(1, 2, 4)
    assert (
        list(v + v) == [2.0, 4.0, 6.0]
        and list(v - v) == [0.0] * 3
        and list(2.0 * v) == list(v * 2.0) == [2.0, 4.0, 6.0]
    )
    assert list(-v) == [-1.0, -2.0, -3.0] and list(v / 2.0) == [0.5, 1.0, 1.5]
    v[0] = 9.0
    v.y = 8.0
    assert list(v) == [9.0, 8.0, 3.0]
    assert list(wp.vec3()) == [0.0] * 3 and list(wp.vec3(2.0)) == [2.0] * 3
    assert list(wp.vec2(*np.array([1.0, 2.0]))) == [1.0, 2.0]
    assert wp.dot(wp.vec3(1, 2, 3), wp.vec3(4, 5, 6)) == 32.0
    assert list(wp.cross(wp.vec3(1, 0, 0), wp.vec3(0, 1, 0))) == [0.0, 0.0, 1.0]
    assert wp.length(wp.vec2(3, 4)) == 5.0
    with pytest.raises(Exception):  # noqa: B017
        wp.vec3(1.0, 2.0)
    with pytest.raises(IndexError):
        v[3]
    assert wp.vec3 is wp.vec3f and wp.types.vector(length=5, dtype=float) is vec5


@pytest.mark.parametrize("number", [np.float32(2.0), np.float64(2.0), np.float16(2.0), np.int64(2), np.uint8(2)])
@differs_from_warp("numbers of other types than the components' turn values into arrays of numpy")
def test_numbers_of_numpy_scale_values(number):
    for value in (
        wp.vec3(1.0, 2.0, 3.0),
        wp.vec2d(1.0, 2.0),
        wp.mat22(1.0, 2.0, 3.0, 4.0),
        wp.quat(1.0, 2.0, 3.0, 4.0),
    ):
        times, by = value * number, value / number
        assert type(times) is type(by) is type(value)
        assert times == value * 2.0 and by == value / 2.0
        value *= number
        assert value == times
    if number.dtype.kind in "iu":
        assert wp.vec3i(1, 2, 3) * number == wp.vec3i(2, 4, 6)
    with pytest.raises(Exception, match="is not defined"):
        wp.vec3i(1, 2, 3) * np.float32(2.0)


EMPTY = wp.types.vector(length=0, dtype=float)


@wp.kernel
def slice_nothing(out: wp.array(dtype=int)):
    v = wp.vec4(1.0, 2.0, 3.0, 4.0)
    v[4:] = EMPTY()
    if v[123:] == EMPTY() and v[2:2] == v[:-9]:
        out[0] = len(v[3:1])
    out[1] = v.length


def test_slices_may_choose_nothing(device):
    out = wp.full(2, 7, dtype=int, device=device)
    wp.launch(slice_nothing, dim=1, outputs=[out], device=device)
    assert out.numpy().tolist() == [0, 4]
    v = wp.vec4(1.0, 2.0, 3.0, 4.0)
    assert len(v[4:]) == 0
    assert v[4:] == EMPTY()


def test_names_of_components_of_long_vectors():
    v = wp.types.vector(length=5, dtype=float)(1.0, 2.0, 3.0, 4.0, 5.0)
    v.w = 9.0
    assert (v.x, v.y, v.z, v[3]) == (1.0, 2.0, 3.0, 9.0)


def test_bytes_of_values():
    assert bytes(wp.vec3h(1.0, 2.0, 3.0)) == np.array([1, 2, 3], dtype=np.float16).tobytes()
    assert bytes(wp.mat22d(1.0, 2.0, 3.0, 4.0)) == np.arange(1.0, 5.0).tobytes()


@pytest.mark.parametrize(
    ("value", "error"),
    [((1, 2), ValueError), ((wp.vec3i(),), TypeError), ("12", TypeError), (wp.vec2i(), (TypeError, ValueError))],
)
def test_assigning_the_wrong_number_of_components(value, error):
    v = wp.vec3i(1, 2, 3)
    with pytest.raises(error):
        v[:1] = value
    assert v == wp.vec3i(1, 2, 3)


def test_names_made_of_components_are_not_fields():
    v = wp.vec3(1.0, 2.0, 3.0)
    for name in ("xy", "zyx", "xxxx"):
        with pytest.raises(AttributeError, match=name):
            setattr(v, name, 1.0)
    v.note = "kept"
    assert v.note == "kept"
    assert list(v) == [1.0, 2.0, 3.0]


def test_a_value_from_an_address():
    data = np.array([1.0, 2.0, 3.0], dtype=np.float32)
    v = wp.vec3.from_ptr(data.ctypes.data)
    data[0] = 9.0
    assert list(v) == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="NULL"):
        wp.vec3.from_ptr(0)


def test_spatial_vectors_take_their_scalar_type_last(device):
    @wp.kernel
    def packed(
        w: wp.vec3, v: wp.vec3d, out: wp.array(dtype=wp.spatial_vector), wide: wp.array(dtype=wp.spatial_vectord)
    ):
        out[0] = wp.spatial_vector(w, w, wp.float32)
        out[1] = wp.spatial_vector(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, wp.float32)
        wide[0] = wp.spatial_vector(v, v, wp.float64)

    out = wp.zeros(2, dtype=wp.spatial_vector, device=device)
    wide = wp.zeros(1, dtype=wp.spatial_vectord, device=device)
    wp.launch(packed, dim=1, inputs=[wp.vec3(1.0, 2.0, 3.0), wp.vec3d(4.0, 5.0, 6.0), out, wide], device=device)
    np.testing.assert_array_equal(out.numpy(), [[1, 2, 3, 1, 2, 3], [1, 2, 3, 4, 5, 6]])
    np.testing.assert_array_equal(wide.numpy(), [[4, 5, 6, 4, 5, 6]])
