"""The library's functions in kernels, against the same references as the sources under CPython."""

import kernel_language
import numpy as np
import pytest
import reference_cases as cases
from _support import load
from _wp import ON_WARP, wp

SAMPLES = 32
TOLERANCE_ULPS = 60

# Helpers that users reach through operators or by another name.
OPERATORS = ("_mat_mul", "_mat_vec", "_vec_mat", "_quat_mul", "_transform_mul")
STORING = {
    "transform_set_translation_copy": "transform_set_translation",
    "transform_set_rotation_copy": "transform_set_rotation",
}
ONLY_FLOAT32_IN_WARP = (
    "norm_huber norm_l1 norm_l2 norm_pseudo_huber quat_from_euler quat_to_euler quat_to_rpy quat_twist quat_twist_angle "
    "quat_twist_angle_signed smooth_normalize transform_compose transform_decompose transform_from_matrix "
    "transform_to_matrix transform_twist transform_wrench velocity_at_point"
).split()

# `wp.spatial_vector` is a type of float32.
ONLY_FLOAT32 = cases.ONLY_FLOAT32 | {"spatial_vector"}

LIBRARY = kernel_language.Library()
SUFFIX = {np.float32: "f", np.float64: "d"}


def type_text(head, elem):
    """How the type of a value is spelled in a kernel's source."""
    name, *sizes = head
    if name == "scalar":
        return f"wp.{elem.__name__}"
    if name in ("quat", "transform"):
        return f"wp.{name}{SUFFIX[elem]}"
    if name == "vec":
        return f"wp.types.vector(length={sizes[0]}, dtype=wp.{elem.__name__})"
    return f"wp.types.matrix(shape=({sizes[0]}, {sizes[1]}), dtype=wp.{elem.__name__})"


def sampled(makers, elem):
    """`SAMPLES` arguments of each maker: the head of its type, the constant if it is one, the values."""
    rng = np.random.default_rng(7)
    rows = [[make(rng) for make in makers] for _ in range(SAMPLES)]
    out = []
    for column in zip(*rows):
        kind, first = column[0]
        values = np.array([value for _, value in column])
        if kind == "int32":
            out.append((("int32",), first, values))
        else:
            sizes = np.shape(first) if kind in ("vec", "mat") else ()
            out.append(((kind, *sizes), None, values.astype(elem)))
    return out


def on_cpython(name, arguments, elem):
    """The result for the first sample, for the type it has."""
    args = []
    for (kind, *_), constant, values in arguments:
        if kind == "int32":
            args.append(np.int32(constant))
        elif kind == "scalar":
            args.append(elem(values[0]))
        elif kind == "mat":
            args.append(kernel_language.mat(values[0], elem))
        else:
            args.append(getattr(kernel_language, kind)(*values[0], elem=elem))
    return LIBRARY.call(name, *args)


def stores(variable, value, start):
    """Statements that store the components of `variable`, which has a result like `value`, and their number."""
    if isinstance(value, kernel_language.Composite):
        if value.head[0] == "mat":
            _, rows, columns = value.head
            parts = [f"{variable}[{i}, {j}]" for i in range(rows) for j in range(columns)]
        else:
            parts = [f"{variable}[{i}]" for i in range(len(value.flat))]
    elif isinstance(value, (bool, np.bool_)):
        parts = [f"wp.where({variable}, 1.0, 0.0)"]
    else:
        parts = [variable]
    return [f"out[i, {start + k}] = wp.float64({p})" for k, p in enumerate(parts)], start + len(parts)


def kernel_text(kernel, name, arguments, result, elem):
    params = [f"a{k}: wp.array(dtype={type_text(head, elem)})" for k, (head, c, _) in enumerate(arguments) if c is None]
    values = [f"a{k}[i]" if c is None else str(c) for k, (_, c, _) in enumerate(arguments)]
    results = [f"r{k}" for k in range(len(result))] if isinstance(result, tuple) else ["r"]
    if name in OPERATORS:
        body = [f"r = {values[0]} * {values[1]}"]
    elif name in STORING:
        body = [f"r = {values[0]}", f"wp.{STORING[name]}(r, {values[1]})"]
    else:
        body = [f"{', '.join(results)} = wp.{name}({', '.join(values)})"]
    width = 0
    for variable, value in zip(results, result if isinstance(result, tuple) else (result,)):
        statements, width = stores(variable, value, width)
        body += statements
    head = f"@wp.kernel\ndef {kernel}({', '.join([*params, 'out: wp.array2d(dtype=wp.float64)'])}):\n    i = wp.tid()\n"
    return head + "".join(f"    {line}\n" for line in body), width


def shaped(flat, result):
    """A row of numbers in the shape of a result."""
    if not isinstance(result, tuple):
        return flat.reshape(result.numpy().shape) if isinstance(result, kernel_language.Composite) else flat[0]
    parts, start = [], 0
    for value in result:
        size = len(value.flat) if isinstance(value, kernel_language.Composite) else 1
        parts.append(shaped(flat[start : start + size], value))
        start += size
    return tuple(parts)


def close(got, expected, elem, what):
    if isinstance(expected, tuple):
        for g, e in zip(got, expected, strict=True):
            close(g, e, elem, what)
        return
    expected = np.asarray(expected, float)
    assert np.shape(got) == expected.shape, what
    bound = TOLERANCE_ULPS * np.finfo(elem).eps * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(got, expected, rtol=0, atol=bound, err_msg=what)


class Program:
    """All cases of one scalar type as one module of kernels."""

    def __init__(self, directory, elem):
        self.elem, self.cases = elem, {}
        text = ""
        for name, pairs in cases.CASES.items():
            if elem is np.float64 and (name in ONLY_FLOAT32 or ON_WARP and name in ONLY_FLOAT32_IN_WARP):
                continue
            for number, (makers, reference) in enumerate(pairs):
                arguments = sampled(makers, elem)
                result = on_cpython(name, arguments, elem)
                kernel = f"{name.strip('_')}_{number}"
                source, width = kernel_text(kernel, name, arguments, result, elem)
                text += "\n\n" + source
                self.cases.setdefault(name, []).append((kernel, arguments, result, width, reference))
        self.module = load(directory, text)

    def check(self, name, device):
        for kernel, arguments, result, width, reference in self.cases[name]:
            inputs = [
                wp.array(values, dtype=eval(type_text(head, self.elem), {"wp": wp}), device=device)
                for head, constant, values in arguments
                if constant is None
            ]
            out = wp.zeros((SAMPLES, width), dtype=wp.float64, device=device)
            wp.launch(getattr(self.module, kernel), dim=SAMPLES, inputs=inputs, outputs=[out], device=device)
            for i, row in enumerate(out.numpy()):
                args = [v[i] if c is not None else v[i].astype(float) for _, c, v in arguments]
                got = cases.CANONICAL.get(name, lambda g, _: g)(shaped(row, result), args)
                close(got, reference(*args), self.elem, f"{name}, sample {i}")


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    directory = tmp_path_factory.mktemp("library")
    return {elem: Program(directory, elem) for elem in SUFFIX}


@pytest.mark.parametrize(
    "name, elem", [(n, e) for n in cases.CASES for e in SUFFIX if e is np.float32 or n not in ONLY_FLOAT32]
)
def test_against_numpy(programs, name, elem, device):
    if name not in programs[elem].cases:
        pytest.skip("a function of float32 only, in Warp")
    programs[elem].check(name, device)


# Random numbers, against the sources under CPython: the states must be equal, bit by bit.


@wp.kernel
def draw_integers(seed: int, n: wp.array2d(dtype=wp.uint32)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    n[i, 0] = state
    n[i, 1] = wp.rand_init(i - 2)
    n[i, 2] = wp.uint32(wp.randi(state))
    n[i, 3] = wp.uint32(wp.randi(state, -5, 17))
    n[i, 4] = wp.randu(state)
    n[i, 5] = wp.randu(state, wp.uint32(3), wp.uint32(11))
    n[i, 6] = wp.poisson(state, 2.5)
    # Draws in a loop that another branch returns before.
    n[i, 7] = wp.poisson(state, 30.0)
    n[i, 8] = state


@wp.kernel
def draw_floats(seed: int, cdf: wp.array(dtype=float), x: wp.array2d(dtype=float), n: wp.array2d(dtype=wp.uint32)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    x[i, 0] = wp.randf(state)
    x[i, 1] = wp.randf(state, -2.0, 5.0)
    x[i, 2] = wp.randn(state)
    x[i, 3] = float(wp.sample_cdf(state, cdf))
    n[i, 0] = state


@wp.kernel
def draw_points(seed: int, x: wp.array2d(dtype=float), n: wp.array2d(dtype=wp.uint32)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    a = wp.sample_triangle(state)
    b = wp.sample_unit_ring(state)
    c = wp.sample_unit_disk(state)
    d = wp.sample_unit_sphere_surface(state)
    e = wp.sample_unit_sphere(state)
    f = wp.sample_unit_hemisphere_surface(state)
    g = wp.sample_unit_hemisphere(state)
    h = wp.sample_unit_square(state)
    k = wp.sample_unit_cube(state)
    for j in range(2):
        x[i, j] = a[j]
        x[i, 2 + j] = b[j]
        x[i, 4 + j] = c[j]
        x[i, 6 + j] = h[j]
    for j in range(3):
        x[i, 8 + j] = d[j]
        x[i, 11 + j] = e[j]
        x[i, 14 + j] = f[j]
        x[i, 17 + j] = g[j]
        x[i, 20 + j] = k[j]
    n[i, 0] = state


CDF = np.array([0.1, 0.4, 0.8, 1.0], np.float32)
POINTS = (
    "sample_triangle sample_unit_ring sample_unit_disk sample_unit_sphere_surface sample_unit_sphere "
    "sample_unit_hemisphere_surface sample_unit_hemisphere sample_unit_square sample_unit_cube"
).split()


def first_state(seed, i):
    return kernel_language.Ref(LIBRARY.call("rand_init", np.int32(seed), np.int32(i)))


def test_random_integers(device):
    out = wp.zeros((SAMPLES, 9), dtype=wp.uint32, device=device)
    wp.launch(draw_integers, dim=SAMPLES, inputs=[42, out], device=device)
    for i, row in enumerate(out.numpy()):
        state = first_state(42, i)
        expected = [state.value, LIBRARY.call("rand_init", np.int32(i - 2))]
        expected.append(LIBRARY.call("randi", state))
        expected.append(LIBRARY.call("randi", state, np.int32(-5), np.int32(17)))
        expected.append(LIBRARY.call("randu", state))
        expected.append(LIBRARY.call("randu", state, np.uint32(3), np.uint32(11)))
        expected.append(LIBRARY.call("poisson", state, np.float32(2.5)))
        expected.append(LIBRARY.call("poisson", state, np.float32(30)))
        expected.append(state.value)
        assert [int(v) % 2**32 for v in expected] == row.tolist()


def test_random_floats(device):
    x = wp.zeros((SAMPLES, 4), dtype=float, device=device)
    n = wp.zeros((SAMPLES, 1), dtype=wp.uint32, device=device)
    wp.launch(draw_floats, dim=SAMPLES, inputs=[7, wp.array(CDF, dtype=float, device=device), x, n], device=device)
    for i, (row, end) in enumerate(zip(x.numpy(), n.numpy())):
        state = first_state(7, i)
        assert row[0] == LIBRARY.call("randf", state)
        expected = [
            LIBRARY.call("randf", state, np.float32(-2), np.float32(5)),
            LIBRARY.call("randn", state),
            LIBRARY.call("sample_cdf", state, kernel_language.array(CDF)),
        ]
        np.testing.assert_allclose(row[1:], expected, rtol=1e-5, atol=1e-6)
        assert end[0] == state.value


def test_random_points(device):
    x = wp.zeros((SAMPLES, 23), dtype=float, device=device)
    n = wp.zeros((SAMPLES, 1), dtype=wp.uint32, device=device)
    wp.launch(draw_points, dim=SAMPLES, inputs=[3, x, n], device=device)
    for i, (row, end) in enumerate(zip(x.numpy(), n.numpy())):
        state = first_state(3, i)
        points = {name: LIBRARY.call(name, state).numpy() for name in POINTS}
        expected = np.concatenate(sorted(points.values(), key=len))
        np.testing.assert_allclose(row, expected, atol=2e-6)
        assert end[0] == state.value


@wp.kernel
def draw_first(seed: int, x: wp.array(dtype=float), n: wp.array(dtype=wp.uint32), v: wp.array(dtype=wp.vec3)):
    state = wp.rand_init(seed)
    # Each from the same state: what is changed is a variable of its own.
    a, b, c, d = state, state, state, state
    x[0] = wp.randf(a, -2.0, 5.0)
    n[0] = wp.uint32(wp.randi(b, 0, 100))
    n[1] = wp.poisson(c, 3.0)
    v[0] = wp.sample_unit_sphere(d)


def test_draws_from_python_are_those_of_kernels():
    x, n, v = (wp.zeros(2, dtype=t, device="cpu") for t in (float, wp.uint32, wp.vec3))
    wp.launch(draw_first, dim=1, inputs=[42, x, n, v], device="cpu")
    state = wp.rand_init(42)
    for _ in range(2):
        # A number of Python stays what it is, so that the same is drawn again.
        assert wp.randf(state, -2.0, 5.0) == x.numpy()[0]
        assert (wp.randi(state, 0, 100), int(wp.poisson(state, 3.0))) == tuple(n.list())
        assert list(wp.sample_unit_sphere(state=state)) == v.numpy()[0].tolist()
