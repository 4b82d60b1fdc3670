"""The library's sources against numpy, run by CPython (see kernel_language.py)."""

import ast

import kernel_language as kernel
import numpy as np
import pytest
import reference_cases as cases

LIBRARY = kernel.Library()
call = LIBRARY.call

# Relative to the largest component, in units of the type's rounding error.
TOLERANCE_ULPS = 60


def _argument(kind, value, elem):
    if kind == "scalar":
        return elem(value)
    if kind == "int32":
        return np.int32(value)
    if kind == "mat":
        return kernel.mat(value, elem)
    return getattr(kernel, kind)(*value, elem=elem)


def _float64(x):
    if isinstance(x, tuple):
        return tuple(map(_float64, x))
    return x.numpy().astype(float) if isinstance(x, kernel.Composite) else np.asarray(x, float)


def _close(got, expected, elem, what):
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for g, e in zip(got, expected):
            _close(g, e, elem, what)
        return
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    assert got.shape == expected.shape, what
    bound = TOLERANCE_ULPS * np.finfo(elem).eps * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound, err_msg=what)


@pytest.mark.parametrize(
    "name, elem",
    [(n, e) for n in cases.CASES for e in (np.float32, np.float64) if e is np.float32 or n not in cases.ONLY_FLOAT32],
)
def test_against_numpy(name, elem):
    rng = np.random.default_rng(len(name))
    for makers, reference in cases.CASES[name]:
        for _ in range(20):
            args = [_argument(*make(rng), elem) for make in makers]
            # From the rounded arguments: the reference must not be charged with their rounding.
            values = [a if isinstance(a, np.int32) else _float64(a) for a in args]
            got = _float64(call(name, *args))
            got = cases.CANONICAL.get(name, lambda g, _: g)(got, values)
            _close(got, reference(*values), elem, name)


def test_integers():
    rng = np.random.default_rng(0)
    for elem in (np.int32, np.int64, np.uint32):
        a, b = (rng.integers(1, 9, 3).astype(elem) for _ in range(2))
        va, vb = (kernel.vec(*x, elem=elem) for x in (a, b))
        assert call("dot", va, vb) == a @ b
        assert call("length_sq", va) == a @ a
        assert (call("cw_div", va, vb).numpy() == a // b).all()
        assert (call("outer", va, vb).numpy() == np.outer(a, b)).all()
        assert call("argmax", va) == a.argmax() and call("max", va) == a.max()
        assert call("clamp", elem(7), elem(1), elem(5)) == 5
        assert call("sign", elem(0)) == 1 and call("step", elem(3)) == 0 and call("nonzero", elem(3)) == 1
    assert call("sign", np.int32(-3)) == -1 and call("step", np.int32(-3)) == 1


def test_scalars_at_the_edges():
    nan, inf = np.float32(np.nan), np.float32(np.inf)
    zero, one = np.float32(0), np.float32(1)
    assert call("clamp", nan, zero, one) == 0
    assert call("sign", nan) == 1 and call("step", nan) == 0 and call("nonzero", nan) == 1
    assert np.isnan(call("frac", inf))
    assert call("smoothstep", one, one, one) == 0
    for elem in (np.float16, np.float32, np.float64):
        assert np.signbit(call("copysign", elem(2), elem(-0.0)))
        assert not np.signbit(call("copysign", elem(-2), elem(0.0)))
        assert np.signbit(call("copysign", elem(2), np.copysign(elem(np.nan), elem(-1))))


def test_zero_has_no_direction():
    assert (call("normalize", kernel.vec(0, 0, 0)).numpy() == 0).all()
    assert (call("normalize", kernel.quat(0, 0, 0, 0)).numpy() == [0, 0, 0, 1]).all()
    axis, angle = call("quat_to_axis_angle", kernel.quat(0, 0, 0, -1))
    assert (axis.numpy() == 0).all() and angle == 0


def test_nan_and_infinity_are_found_anywhere():
    for make in (lambda x: kernel.vec(*x), lambda x: kernel.quat(*x), lambda x: kernel.mat(np.reshape(x, (2, 2)))):
        for i in range(4):
            for value, nan, inf in ((np.nan, True, False), (-np.inf, False, True)):
                x = [1.0] * 4
                x[i] = value
                assert call("isnan", make(x)) == nan
                assert call("isinf", make(x)) == inf
                assert not call("isfinite", make(x))


def test_extremes_skip_nan():
    v = kernel.vec(np.nan, 3, 1, 3)
    assert call("min", v) == 1 and call("max", v) == 3
    assert call("argmin", v) == 2 and call("argmax", v) == 1


def test_singular_matrices_have_inverse_zero():
    for n in (2, 3, 4):
        assert (call("inverse", kernel.mat(np.ones((n, n)))).numpy() == 0).all()


def test_equality():
    for a, b, helper in (
        (kernel.vec(1, 2, 3), kernel.vec(1, 2, 4), "_vec_eq"),
        (kernel.mat([[1, 2], [3, 4]]), kernel.mat([[1, 2], [3, 5]]), "_mat_eq"),
        (kernel.quat(1, 2, 3, 4), kernel.quat(1, 2, 3, 5), "_quat_eq"),
        (kernel.transform(*range(7)), kernel.transform(*range(6), 9), "_transform_eq"),
    ):
        assert call(helper, a, a) and not call(helper, a, b)
    nan = kernel.vec(1, np.nan)
    assert not call("_vec_eq", nan, nan)


def test_slerp_goes_the_shorter_way_from_its_first_argument():
    a, b = kernel.quat(0, 0, 0, 1), kernel.quat(0, 0, -np.sin(0.5), -np.cos(0.5))
    start = call("quat_slerp", a, b, np.float32(0)).numpy()
    half = call("quat_slerp", a, b, np.float32(0.5)).numpy()
    np.testing.assert_allclose(start, [0, 0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(half, [0, 0, np.sin(0.25), np.cos(0.25)], atol=1e-6)


def test_rotation_matrices_with_each_component_largest():
    for largest in range(4):
        q = np.full(4, 0.2)
        q[largest] = 1
        q /= np.linalg.norm(q)
        got = call("quat_from_matrix", kernel.mat(cases.to_matrix(q), np.float64)).numpy()
        np.testing.assert_allclose(cases.align(got, q), q, atol=1e-14)


def test_euler_angles_at_the_poles():
    for i, j, k in cases.AXES:
        for quarter in (np.pi / 2, -np.pi / 2):
            e = np.zeros(3)
            e[j], e[k] = quarter, 0.7
            q = cases.euler(e, i, j, k)
            got = call("quat_to_euler", kernel.quat(*q, elem=np.float64), np.int32(i), np.int32(j), np.int32(k)).numpy()
            assert got[i] == 0
            np.testing.assert_allclose(cases.align(cases.euler(got, i, j, k), q), q, atol=1e-6)


def test_functions_that_store():
    t = kernel.Ref(kernel.transform(1, 2, 3, 0, 0, 0, 1))
    assert call("transform_set_translation", t, kernel.vec(4, 5, 6)) is None
    assert call("transform_set_rotation", t, kernel.quat(1, 0, 0, 0)) is None
    assert (t.value.numpy() == [4, 5, 6, 1, 0, 0, 0]).all()
    axis, angle = kernel.Ref(kernel.vec(0, 0, 0)), kernel.Ref(np.float32(0))
    q = kernel.quat(0, 0, np.sin(0.5), np.cos(0.5))
    call("quat_to_axis_angle", q, axis, angle)
    np.testing.assert_allclose([*axis.value.numpy(), angle.value], [0, 0, 1, 1], atol=1e-6)


def test_lower_bound():
    values = np.sort(np.random.default_rng(0).integers(0, 20, 16)).astype(np.float32)
    for x in np.arange(-1, 22, dtype=np.float32):
        expected = min(np.searchsorted(values, x), len(values) - 1)
        assert call("lower_bound", kernel.array(values), x) == expected
    assert call("lower_bound", kernel.array(values), np.int32(4), np.int32(8), np.float32(100)) == 7


def test_elements_of_buckets():
    starts, addresses = [0, 3, 3, 10], [1000, 2000, 3000, 4000]
    table = kernel.array(np.array([[s, a, 0] for s, a in zip(starts, addresses)], np.uint64))
    for index in range(12):
        bucket = np.searchsorted(starts, index, side="right") - 1
        expected = addresses[bucket] + 8 * (index - starts[bucket])
        assert call("_fabric_element", table, np.int32(1), np.uint64(index), np.uint64(8)) == expected


# Random numbers


def test_the_state_is_hashed_once_per_number():
    for seed, offset in ((0, 0), (42, 7), (-1, 3)):
        expected = cases.pcg((seed + cases.pcg(offset)) % 2**32)
        state = kernel.Ref(call("rand_init", np.int32(seed), np.int32(offset)))
        assert state.value == expected
        assert call("rand_init", np.int32(seed)) == cases.pcg(seed % 2**32)
        low, high = np.int32(-5), np.int32(17)
        expected = cases.pcg(expected)
        assert int(call("randi", state)) % 2**32 == expected
        expected = cases.pcg(expected)
        assert call("randi", state, low, high) == expected % 22 - 5
        expected = cases.pcg(expected)
        assert call("randu", state) == expected
        expected = cases.pcg(expected)
        assert call("randu", state, np.uint32(3), np.uint32(11)) == expected % 8 + 3
        expected = cases.pcg(expected)
        assert call("randf", state) == (expected >> 8) * 2.0**-24
        expected = cases.pcg(expected)
        assert (
            call("randf", state, np.float32(-2), np.float32(5))
            == np.float32(7) * np.float32((expected >> 8) * 2.0**-24) - 2
        )


def _draw(name, count, *args):
    state = kernel.Ref(call("rand_init", np.int32(1)))
    return np.array([_float64(call(name, state, *args)) for _ in range(count)])


def _mean_is(x, expected, variance):
    """Within five standard errors: fails once in two million right samples, and seeds are fixed."""
    np.testing.assert_array_less(np.abs(x.mean(0) - expected), 5 * np.sqrt(variance / len(x)))


def test_normal_numbers():
    x = _draw("randn", 3000)
    _mean_is(x, 0, 1)
    _mean_is(x**2, 1, 2)
    _mean_is(x**4, 3, 96)


@pytest.mark.parametrize("lam", [0.3, 4.0, 12.0, 150.0])
def test_poisson_numbers(lam):
    x = _draw("poisson", 1500, np.float32(lam))
    assert (x == np.round(x)).all()
    _mean_is(x, lam, lam)
    _mean_is((x - lam) ** 2, lam, lam + 2 * lam**2)


def test_poisson_of_mean_zero_draws_nothing():
    state = kernel.Ref(np.uint32(9))
    assert call("poisson", state, np.float32(0)) == 0 and state.value == 9


def test_log_factorial():
    for n in (0, 1, 5, 7, 8, 30, 1000):
        expected = np.log(np.arange(1, n + 1, dtype=float)).sum()
        assert abs(call("_log_factorial", np.float64(n)) - expected) < 1e-8 * max(1, expected)


@pytest.mark.parametrize(
    "name, radius, moments",
    [
        ("sample_unit_ring", 1, [0, 0]),
        ("sample_unit_sphere_surface", 1, [0, 0, 0]),
        ("sample_unit_hemisphere_surface", 1, [0, 0, 0.5]),
    ],
)
def test_points_on_surfaces(name, radius, moments):
    x = _draw(name, 1500)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), radius, atol=1e-6)
    _mean_is(x, moments, 0.5)
    if "hemi" in name:
        assert (x[:, 2] >= 0).all()


@pytest.mark.parametrize(
    "name, power, mean",
    [
        ("sample_unit_disk", 2, [0, 0]),
        ("sample_unit_sphere", 3, [0, 0, 0]),
        ("sample_unit_hemisphere", 3, [0, 0, 3 / 8]),
    ],
)
def test_points_in_balls_fill_them_evenly(name, power, mean):
    x = _draw(name, 1500)
    # The share of points within a radius grows with its power.
    _mean_is(np.linalg.norm(x, axis=1) ** power, 0.5, 1 / 12)
    _mean_is(x, mean, 0.3)


@pytest.mark.parametrize("name, n", [("sample_unit_square", 2), ("sample_unit_cube", 3)])
def test_points_in_boxes(name, n):
    x = _draw(name, 1500)
    assert x.shape == (1500, n) and (np.abs(x) <= 0.5).all()
    _mean_is(x, 0, 1 / 12)
    _mean_is(x**2, 1 / 12, 1 / 180)


def test_points_in_a_triangle():
    x = _draw("sample_triangle", 1500)
    x = np.column_stack([x, 1 - x.sum(1)])
    assert (x >= -1e-6).all()
    _mean_is(x, 1 / 3, 1 / 18)


def test_samples_of_a_table_follow_it():
    cdf = np.array([0.1, 0.4, 0.8, 1.0], np.float32)
    x = _draw("sample_cdf", 2000, kernel.array(cdf))
    for i, p in enumerate(np.diff(cdf, prepend=0)):
        _mean_is(x == i, p, p * (1 - p))


# Noise


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_noise(n):
    rng = np.random.default_rng(n)
    for state in (0, 42, 2**32 - 1):
        for p in rng.uniform(-3, 3, (8, n)).astype(np.float32):
            args = [kernel.vec(*p) if n > 1 else p[0]]
            assert abs(call("noise", np.uint32(state), *args) - cases.noise(state, p)) < 2e-6
            period = np.arange(3, 3 + n)
            got = call("pnoise", np.uint32(state), *args, *period.astype(np.int32))
            assert abs(got - cases.noise(state, p, period)) < 2e-6
        assert call("noise", np.uint32(state), kernel.vec(*np.round(p)) if n > 1 else np.round(p[0])) == 0


@pytest.mark.parametrize("n", [2, 3, 4])
def test_curl_of_noise(n):
    rng = np.random.default_rng(n)
    for p in rng.uniform(-3, 3, (4, n)).astype(np.float32):
        got = call("curlnoise", np.uint32(7), kernel.vec(*p)).numpy()
        np.testing.assert_allclose(got, cases.curlnoise(7, p), atol=1e-5)
        layers = (np.uint32(3), np.float32(1.75), np.float32(0.5))
        got = call("curlnoise", np.uint32(7), kernel.vec(*p), *layers).numpy()
        np.testing.assert_allclose(got, cases.curlnoise(7, p, 3, 1.75, 0.5), atol=5e-5)


# Decompositions and geometry at the edges


def test_decompositions_at_the_edges():
    zero = np.zeros((3, 3))
    for m in (zero, np.eye(3), -np.eye(3), np.diag([1, 0, 0.0]), np.ones((3, 3)), 1e30 * np.eye(3)[[1, 0, 2]]):
        for name in ("svd2", "svd3", "qr3", "eig3"):
            n = 2 if name == "svd2" else 3
            a = m[:n, :n]
            got = _float64(call(name, kernel.mat(a)))
            product, *rest = cases.CANONICAL[name](got, [a])
            np.testing.assert_allclose(product, a, atol=1e-6 * max(1, np.abs(a).max()), err_msg=name)
            if name != "svd2":
                np.testing.assert_allclose(rest[-1 if name != "qr3" else 0], np.zeros(10), atol=1e-6, err_msg=name)
    u, sigma, v = _float64(call("svd2", kernel.mat([[0, -1], [1, 0]])))
    assert (sigma == [1, 1]).all()
    for name in ("svd2", "svd3", "eig3", "qr3"):
        n = 2 if name == "svd2" else 3
        assert np.isnan(_float64(call(name, kernel.mat(np.full((n, n), np.nan))))[-1]).any(), name


def test_decompositions_of_halves_and_into_variables():
    a = np.array([[1, 2, 0.5], [0, 3, -1], [2, 1, 1]], np.float16)
    for name, m in (("svd2", a[:2, :2]), ("svd3", a), ("eig3", a + a.T), ("qr3", a)):
        half = call(name, kernel.mat(m, np.float16))
        single = _float64(call(name, kernel.mat(m)))
        for h, s in zip(half, single):
            assert h.elem is np.float16
            np.testing.assert_allclose(_float64(h), s, atol=0.02)
        stored = [kernel.Ref(x) for x in call(name, kernel.mat(np.eye(len(m))))]
        assert call(name, kernel.mat(m), *stored) is None
        for x, s in zip(stored, single):
            assert (_float64(x.value) == s).all()


def test_edges_that_are_points_or_parallel():
    o, x, y = kernel.vec(0, 0, 0), kernel.vec(1, 0, 0), kernel.vec(0.25, 1, 0)
    epsilon = np.float32(1e-6)
    assert call("closest_point_edge_edge", o, o, y, y, epsilon).numpy()[:2].tolist() == [0, 0]
    assert call("closest_point_edge_edge", o, x, y, y, epsilon).numpy().tolist() == [0.25, 0, 1]
    assert call("closest_point_edge_edge", y, y, o, x, epsilon).numpy().tolist() == [0, 0.25, 1]
    z = kernel.vec(0, 1, 0)
    assert call("closest_point_edge_edge", o, x, z, kernel.vec(2, 1, 0), epsilon).numpy().tolist() == [0, 0, 1]
    away = call("closest_point_edge_edge", o, x, kernel.vec(3, 0, 0), kernel.vec(2, 0, 0), epsilon).numpy()
    assert away.tolist() == [1, 1, 1]


@pytest.mark.parametrize("elem", [np.float32, np.float64])
def test_triangles_that_touch_or_share_a_plane(elem):
    def meet(v, u):
        return call("intersect_tri_tri", *(kernel.vec(*p, elem=elem) for p in (*v, *u)))

    a = np.array([[0, 0, 0], [4, 0, 0], [0, 4, 0]])
    assert meet(a, a + [1, 1, 0]) == 1 and meet(a, a + [3, 3, 0]) == 0
    assert meet(a, a * 0.25 + [1, 1, 0]) == 1 and meet(a * 0.25 + [1, 1, 0], a) == 1
    assert meet(a, a + [0, 0, 1]) == 0
    # A shared vertex, a shared edge, a vertex on a face.
    assert meet(a, -a) == 1 and meet(a, [[0, 0, 0], [4, 0, 0], [0, 0, 4]]) == 1
    assert meet(a, [[1, 1, 0], [1, 1, 2], [2, 1, 2]]) == 1 and meet(a, [[1, 1, 1], [1, 1, 2], [2, 1, 2]]) == 0


def test_every_function_has_been_run():
    """Last in this file: by now each overload of the sources has been called with arguments that fit it."""
    if not all(LIBRARY.overloads[name][0].ran for name in ("clamp", "lower_bound", "_log_factorial", "sample_cdf")):
        pytest.skip("means something only after the whole file")
    unused = [o.node for overloads in LIBRARY.overloads.values() for o in overloads if not o.ran]
    # Gradients are tested where kernels run backwards.
    unused = [n for n in unused if not n.name.startswith("_adj_")]
    # numpy has no bfloat16.
    assert [n.name for n in unused if "bfloat16" not in ast.unparse(n)] == []
