"""Built-ins with rules of their own in kernels; noise and lookups; that no built-in is without a test."""

import ast
import pathlib

import numpy as np
import reference_cases as cases
from _support import differs_from_warp, run_child
from _wp import ON_WARP, wp

ROOT = pathlib.Path(__file__).parents[3]
SAMPLES = 64

mat33b = None if ON_WARP else wp.types.matrix(shape=(3, 3), dtype=wp.bfloat16)
vec3b = None if ON_WARP else wp.types.vector(length=3, dtype=wp.bfloat16)


@wp.kernel
def elements(a: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i = wp.tid()
    row = wp.view(a, i)
    wp.store(out, i, 0, 0.5 * (wp.load(a, i, 1) + wp.address(a, i, 1)))
    out[i, 1] = row[0] + float(wp.len(row))
    v = wp.vec3(1.0, 2.0, 3.0)
    m = wp.mat22(1.0, 2.0, 3.0, 4.0)
    out[i, 2] = wp.extract(v, 1) + wp.extract(m, 1, 0)
    total = float(0.0)
    for k in range(1, 7, 2):
        total = total + float(k)
    out[i, 3] = total
    out[i, 4] = wp.select(i == 1, 10.0, 20.0)
    pair = wp.tuple(v, 4.0)
    out[i, 5] = pair[1]
    out[i, 6] = float(wp.bitcast(wp.uint32(0x40490FDB), wp.float32))
    out[i, 7] = wp.where(wp.unot(i == 0), 1.0, 2.0)


@wp.kernel
def questions(out: wp.array(dtype=int)):
    x = 3
    if isinstance(x, int):
        out[0] = 1
    if isinstance(x, float):
        out[1] = 1
    out[2] = type(x)(2.75)
    out[3] = wp.block_dim()
    out[4] = wp.launch_dim(0) + 10 * wp.launch_dim(1)
    out[5] = wp.len(wp.mat33())


def test_elements_and_choices(device):
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    out = wp.zeros((3, 8), dtype=float, device=device)
    wp.launch(elements, dim=3, inputs=[wp.array(a, dtype=float, device=device), out], device=device)
    rows = out.numpy()
    for i in range(3):
        expected = [a[i, 1], a[i, 0] + 2, 5, 9, 20 if i == 1 else 10, 4, np.float32(np.pi), 2 if i == 0 else 1]
        assert rows[i].tolist() == expected


@differs_from_warp("no wp.launch_dim")
def test_questions_about_types_and_the_launch(device):
    out = wp.zeros(6, dtype=int, device=device)
    wp.launch(questions, dim=(2, 5), inputs=[out], device=device, block_dim=64)
    assert out.numpy().tolist() == [1, 0, 2, 64 if wp.get_device(device).is_cuda else 1, 52, 3]


@wp.kernel
def made(out: wp.array2d(dtype=float)):
    q = wp.quaternion(wp.vec3(1.0, 2.0, 3.0), 4.0)
    r = wp.quaternion(wp.float64(1.0), wp.float64(2.0), wp.float64(3.0), wp.float64(4.0))
    t = wp.transformation(wp.vec3(5.0, 6.0, 7.0), q)
    u = wp.transformation(wp.vec3(5.0, 6.0, 7.0))
    s = wp.spatial_vector(w=wp.vec3(1.0, 2.0, 3.0), v=wp.vec3(4.0, 5.0, 6.0))
    e = wp.quat_identity(dtype=wp.float64)
    f = wp.transform_identity(dtype=wp.float64)
    m = wp.identity(n=2, dtype=float)
    for i in range(4):
        out[0, i] = q[i]
        out[1, i] = float(r[i])
        out[5, i] = float(e[i])
        out[7, i] = m[i // 2, i % 2]
    for i in range(7):
        out[2, i] = t[i]
        out[3, i] = u[i]
        out[6, i] = float(f[i])
    for i in range(6):
        out[4, i] = s[i]


def test_constructors(device):
    out = wp.zeros((8, 7), dtype=float, device=device)
    wp.launch(made, dim=1, inputs=[out], device=device)
    assert out.numpy().tolist() == [
        [1, 2, 3, 4, 0, 0, 0],
        [1, 2, 3, 4, 0, 0, 0],
        [5, 6, 7, 1, 2, 3, 4],
        [5, 6, 7, 0, 0, 0, 1],
        [1, 2, 3, 4, 5, 6, 0],
        [0, 0, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1],
        [1, 0, 0, 1, 0, 0, 0],
    ]


@wp.kernel
def lookups(a: wp.array(dtype=float), x: wp.array(dtype=float), out: wp.array2d(dtype=int)):
    i = wp.tid()
    out[i, 0] = wp.lower_bound(a, x[i])
    out[i, 1] = wp.lower_bound(a, 4, 8, x[i])


def test_lower_bound(device):
    a = np.sort(np.random.default_rng(0).integers(0, 20, 16)).astype(np.float32)
    x = np.arange(-1, 22, dtype=np.float32)
    out = wp.zeros((len(x), 2), dtype=int, device=device)
    inputs = [wp.array(v, dtype=float, device=device) for v in (a, x)]
    wp.launch(lookups, dim=len(x), inputs=[*inputs, out], device=device)
    assert out.numpy()[:, 0].tolist() == np.minimum(np.searchsorted(a, x), 15).tolist()
    assert out.numpy()[:, 1].tolist() == np.minimum(4 + np.searchsorted(a[4:8], x), 7).tolist()


@wp.kernel
def noises(p: wp.array(dtype=wp.vec4), states: wp.array(dtype=wp.uint32), out: wp.array2d(dtype=float)):
    i = wp.tid()
    s = states[i]
    q = p[i]
    q2 = wp.vec2(q[0], q[1])
    q3 = wp.vec3(q[0], q[1], q[2])
    out[i, 0] = wp.noise(s, q[0])
    out[i, 1] = wp.noise(s, q2)
    out[i, 2] = wp.noise(s, q3)
    out[i, 3] = wp.noise(s, q)
    out[i, 4] = wp.pnoise(s, q[0], 3)
    out[i, 5] = wp.pnoise(s, q2, 3, 4)
    out[i, 6] = wp.pnoise(s, q3, 3, 4, 5)
    out[i, 7] = wp.pnoise(s, q, 3, 4, 5, 6)
    c2 = wp.curlnoise(s, q2, wp.uint32(2), 1.75, 0.5)
    out[i, 8] = c2[0]
    out[i, 9] = c2[1]
    c3 = wp.curlnoise(s, q3)
    c4 = wp.curlnoise(s, q, octaves=wp.uint32(2), gain=0.25)
    for j in range(3):
        out[i, 10 + j] = c3[j]
        out[i, 13 + j] = c4[j]


def test_noise(device):
    """The noise is Warp's, value for value: the same lattice, the same hash, the same slopes."""
    rng = np.random.default_rng(1)
    p = rng.uniform(-9, 9, (SAMPLES, 4)).astype(np.float32)
    p[:4] = np.round(p[:4])
    states = rng.integers(0, 2**32, SAMPLES, dtype=np.uint32)
    out = wp.zeros((SAMPLES, 16), dtype=float, device=device)
    inputs = [wp.array(p, dtype=wp.vec4, device=device), wp.array(states, dtype=wp.uint32, device=device)]
    wp.launch(noises, dim=SAMPLES, inputs=[*inputs, out], device=device)
    for q, state, row in zip(p, states.tolist(), out.numpy()):
        expected = [cases.noise(state, q[:n]) for n in range(1, 5)]
        expected += [cases.noise(state, q[:n], np.arange(3, 3 + n)) for n in range(1, 5)]
        np.testing.assert_allclose(row[:8], expected, atol=3e-6)
        expected = [*cases.curlnoise(state, q[:2], 2, 1.75), *cases.curlnoise(state, q[:3])]
        np.testing.assert_allclose(row[8:], [*expected, *cases.curlnoise(state, q, 2, 2.0, 0.25)], atol=1e-4)


if not ON_WARP:

    @wp.kernel
    def small_decompositions(a: wp.array(dtype=mat33b), out: wp.array2d(dtype=float)):
        i = wp.tid()
        u, s, v = wp.svd3(a[i])
        e, d = wp.eig3(a[i] + wp.transpose(a[i]))
        x, y, z = wp.svd2(wp.matrix_from_rows(wp.vector(a[i][0, 0], a[i][0, 1]), wp.vector(a[i][1, 0], a[i][1, 1])))
        for j in range(3):
            out[i, j] = float(s[j])
            out[i, 3 + j] = float(d[j])
        out[i, 6] = float(y[0])
        out[i, 7] = float(y[1])
        out[i, 8] = float(wp.copysign(wp.bfloat16(2.0), s[2]))


@differs_from_warp("bfloat16 matrices cannot be decomposed")
def test_decompositions_of_bfloat16(device):
    a = np.random.default_rng(2).integers(-4, 5, (SAMPLES, 3, 3)).astype(np.float32)
    out = wp.zeros((SAMPLES, 9), dtype=float, device=device)
    matrices = wp.array(a, dtype=mat33b, device=device)
    wp.launch(small_decompositions, dim=SAMPLES, inputs=[matrices, out], device=device)
    for m, row in zip(a.astype(float), out.numpy()):
        np.testing.assert_allclose(np.abs(row[:3]), np.linalg.svd(m)[1], atol=0.06)
        np.testing.assert_allclose(np.sort(row[3:6]), np.linalg.eigvalsh(m + m.T), atol=0.1)
        np.testing.assert_allclose(row[6:8], np.linalg.svd(m[:2, :2])[1], atol=0.06)
        assert row[8] == np.copysign(2, row[2])


@wp.kernel
def expectations():
    wp.expect_eq(1, 1)
    wp.expect_eq(wp.vec2(1.0, 2.0), wp.vec2(1.0, 3.0))
    wp.expect_neq(1, 2)
    wp.expect_neq(7, 7)
    wp.expect_near(1.0, 1.0 + 1.0e-7)
    wp.expect_near(1.0, 1.1)
    wp.expect_near(wp.vec2(1.0, 2.0), wp.vec2(1.0, 2.5), tolerance=0.6)
    wp.expect_near(wp.vec2(1.0, 2.0), wp.vec2(1.0, 2.5), 0.1)
    wp.expect_near(wp.quat_identity(), wp.quat(0.0, 0.0, 0.0, -1.0))
    wp.expect_near(wp.mat22(1.0), wp.mat22(1.0))
    wp.expect_near(wp.nan, 1.0)
    wp.print(3)


@differs_from_warp("NaN counts as near, the text of the messages")
def test_expectations(capfd):
    wp.launch(expectations, dim=1, device="cpu")
    wp.synchronize()
    assert capfd.readouterr().out.split("\n") == [
        "Error, expect_eq(wp.vec2(1.0, 2.0), wp.vec2(1.0, 3.0)) failed",
        "Error, expect_neq(7, 7) failed",
        "Error, expect_near(1.0, 1.1) failed",
        "Error, expect_near(wp.vec2(1.0, 2.0), wp.vec2(1.0, 2.5)) failed",
        "Error, expect_near(wp.quat_identity(), wp.quat(0.0, 0.0, 0.0, -1.0)) failed",
        "Error, expect_near(wp.nan, 1.0) failed",
        "3",
        "",
    ]


# Words of Python, and what needs no `wp.` in a kernel.
PLAIN = {"isinstance", "len", "print", "range", "reversed", "type", "tuple"}


@differs_from_warp("the tests are those of inkle's own list of built-ins")
def test_every_builtin_is_called_in_a_kernel():
    import test_compiled
    import test_operations

    called = set(cases.CASES) | set(test_compiled.STORING.values())
    for table in ("UNARY", "TESTS", "BINARY", "INTEGER_UNARY", "INTEGER_BINARY"):
        called |= set(getattr(test_operations, table))
    for path in (ROOT / "tests/python").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called.add(node.func.attr)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PLAIN:
                called.add(node.func.id)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # Kernels that a test makes from text.
                called |= {word.split("(")[0] for word in node.value.split("wp.")[1:] if "(" in word}
    assert [name for name in wp.builtin_names() if name not in called] == []


@differs_from_warp("pages made from inkle's list of built-ins")
def test_pages_and_stubs_are_up_to_date():
    done = run_child(ROOT / "scripts/builtin_pages.py", "--check", check=False)
    assert done.returncode == 0, f"run scripts/builtin_pages.py\n{done.stdout}{done.stderr}"
    ast.parse((ROOT / "python/inkle/__init__.pyi").read_text(encoding="utf-8"))


@differs_from_warp("its documentation is elsewhere")
def test_builtins_have_documentation_in_python():
    assert "noise" in wp.noise.__doc__ and wp.sin.__doc__.startswith("Sine")
