"""Matrices: constructors, rows and elements, products, transpose, determinant, inverse."""

import numpy as np
import pytest
from _support import kernel_from, run
from _wp import wp

mat23 = wp.types.matrix(shape=(2, 3), dtype=float)
mat32 = wp.types.matrix(shape=(3, 2), dtype=float)
mat55 = wp.types.matrix(shape=(5, 5), dtype=wp.float64)

SQUARE = [
    (wp.mat22, wp.vec2, 2),
    (wp.mat33, wp.vec3, 3),
    (wp.mat44, wp.vec4, 4),
    (wp.mat22d, wp.vec2d, 2),
    (wp.mat33d, wp.vec3d, 3),
    (wp.mat44d, wp.vec4d, 4),
]


def square_kernel(M, V, S):
    @wp.kernel(module="unique")
    def products(
        a: M, b: M, v: V, s: S, out: wp.array(dtype=M), vectors: wp.array(dtype=V), scalars: wp.array(dtype=S)
    ):
        out[0] = a + b
        out[1] = a - b
        out[2] = a * b
        out[3] = a @ b
        out[4] = a * s
        out[5] = s * a
        out[6] = a / s
        out[7] = -a
        out[8] = wp.transpose(a)
        out[9] = wp.inverse(a)
        out[10] = wp.cw_mul(a, b)
        out[11] = wp.cw_div(a, b)
        out[12] = wp.diag(v)
        out[13] = wp.outer(v, v)
        out[14] = wp.transpose(a) @ a
        vectors[0] = a * v
        vectors[1] = a @ v
        vectors[2] = v * a
        vectors[3] = v @ a
        vectors[4] = wp.get_diag(a)
        scalars[0] = wp.determinant(a)
        scalars[1] = wp.trace(a)
        scalars[2] = wp.ddot(a, b)

    return products


@pytest.mark.parametrize("M,V,n", SQUARE, ids=[m.__name__ for m, _, _ in SQUARE])
def test_square_matrices(device, M, V, n):
    S = M._wp_scalar_type_
    rng = np.random.default_rng(n)
    a = rng.uniform(-1.0, 1.0, (n, n)) + 2.0 * np.eye(n)
    b = rng.uniform(0.5, 2.0, (n, n))
    v = rng.uniform(-1.0, 1.0, n)
    out, vectors, scalars = (
        wp.zeros(15, dtype=M, device=device),
        wp.zeros(5, dtype=V, device=device),
        wp.zeros(3, dtype=S, device=device),
    )
    wp.launch(
        square_kernel(M, V, S),
        dim=1,
        inputs=[M(*a.ravel()), M(*b.ravel()), V(*v), 1.5, out, vectors, scalars],
        device=device,
    )
    tol = 2e-5 if S == wp.float32 else 1e-12
    want = [
        a + b,
        a - b,
        a @ b,
        a @ b,
        a * 1.5,
        1.5 * a,
        a / 1.5,
        -a,
        a.T,
        np.linalg.inv(a),
        a * b,
        a / b,
        np.diag(v),
        np.outer(v, v),
        a.T @ a,
    ]
    for row, (got, expected) in enumerate(zip(out.numpy(), want)):
        np.testing.assert_allclose(got, expected, rtol=tol, atol=tol, err_msg=f"row {row}")
    np.testing.assert_allclose(vectors.numpy(), [a @ v, a @ v, v @ a, v @ a, np.diag(a)], rtol=tol, atol=tol)
    np.testing.assert_allclose(scalars.numpy(), [np.linalg.det(a), np.trace(a), (a * b).sum()], rtol=tol, atol=tol)


@wp.kernel
def rectangular(
    a: mat23,
    b: mat32,
    v: wp.vec3,
    out2: wp.array(dtype=wp.mat22),
    out3: wp.array(dtype=wp.mat33),
    vec: wp.array(dtype=wp.vec2),
    t: wp.array(dtype=mat32),
):
    out2[0] = a @ b
    out3[0] = b @ a
    vec[0] = a @ v
    t[0] = wp.transpose(a)
    t[1] = b + wp.transpose(a) * 2.0


def test_rectangular_matrices(device):
    a = np.arange(6.0).reshape(2, 3)
    b = np.arange(6.0).reshape(3, 2) - 2.0
    v = np.array([1.0, -1.0, 2.0])
    out2, out3 = wp.zeros(1, dtype=wp.mat22, device=device), wp.zeros(1, dtype=wp.mat33, device=device)
    vec, t = wp.zeros(1, dtype=wp.vec2, device=device), wp.zeros(2, dtype=mat32, device=device)
    wp.launch(
        rectangular,
        dim=1,
        inputs=[mat23(*a.ravel()), mat32(*b.ravel()), wp.vec3(*v), out2, out3, vec, t],
        device=device,
    )
    np.testing.assert_array_equal(out2.numpy()[0], a @ b)
    np.testing.assert_array_equal(out3.numpy()[0], b @ a)
    np.testing.assert_array_equal(vec.numpy()[0], a @ v)
    np.testing.assert_array_equal(t.numpy(), [a.T, b + 2.0 * a.T])


@wp.kernel
def constructors(f: float, v: wp.vec2, w: wp.vec2, out: wp.array(dtype=wp.mat22)):
    out[0] = wp.mat22()
    out[1] = wp.mat22(f)
    out[2] = wp.mat22(1.0, f, 3.0, 4.0)
    out[3] = wp.mat22(1, 2, 3, 4)
    out[4] = wp.matrix_from_rows(v, w)
    out[5] = wp.matrix_from_cols(v, w)
    out[6] = wp.identity(n=2, dtype=float)
    out[7] = wp.mat22(wp.mat22d(1.0, 2.0, 3.0, 4.0))
    out[8] = wp.matrix(1.0, 2.0, 3.0, f, shape=(2, 2))
    out[9] = wp.matrix(f, shape=(2, 2))
    big = wp.mat33(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    out[10] = big[0:2, 1:3]


def test_constructors(device):
    want = [
        [[0, 0], [0, 0]], [[2.5, 2.5], [2.5, 2.5]], [[1, 2.5], [3, 4]], [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[5, 7], [6, 8]],
        [[1, 0], [0, 1]], [[1, 2], [3, 4]], [[1, 2], [3, 2.5]], [[2.5, 2.5], [2.5, 2.5]], [[2, 3], [5, 6]],
    ]  # fmt: skip
    assert run(constructors, wp.mat22, 11, 2.5, wp.vec2(5, 6), wp.vec2(7, 8), device=device).tolist() == want


@wp.kernel
def access(n: int, out: wp.array(dtype=float), rows: wp.array(dtype=wp.vec3)):
    m = wp.mat33(1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)
    out[0] = m[1, 2]
    out[1] = m[1][2]
    out[2] = m[n, n]
    out[3] = m[-1, -2]
    out[4] = float(len(m))
    rows[0] = m[n]
    rows[1] = m[:, 0]
    rows[2] = m[-1]
    m[0, 1] = 20.0
    m[1][0] = 40.0
    m[2] = wp.vec3(70.0, 80.0, 90.0)
    m[n, n] += 0.5
    rows[3] = m[0]
    rows[4] = m[1]
    rows[5] = m[2]
    m[:, 2] = wp.vec3(-1.0, -2.0, -3.0)
    m[0:2, 0:2] = wp.mat22(0.0, 0.0, 0.0, 1.0)
    m[2] *= 2.0
    rows[6] = m[0]
    rows[7] = m[1]
    rows[8] = m[2]


def test_rows_and_elements(device):
    out, rows = wp.zeros(5, dtype=float, device=device), wp.zeros(9, dtype=wp.vec3, device=device)
    wp.launch(access, dim=1, inputs=[1, out, rows], device=device)
    assert out.numpy().tolist() == [6.0, 6.0, 5.0, 8.0, 3.0]
    want = [
        [4, 5, 6],
        [1, 4, 7],
        [7, 8, 9],
        [1, 20, 3],
        [40, 5.5, 6],
        [70, 80, 90],
        [0, 0, -1],
        [0, 1, -2],
        [140, 160, -6],
    ]
    assert rows.numpy().tolist() == want


@wp.kernel
def large(a: mat55, out: wp.array(dtype=mat55)):
    out[0] = a @ a
    out[1] = wp.transpose(a)
    b = a
    for i in range(5):
        b[i, i] = b[i, i] + wp.float64(1.0)
    out[2] = b


def test_matrices_of_other_sizes(device):
    a = np.random.default_rng(1).normal(size=(5, 5))
    got = run(large, mat55, 3, mat55(*a.ravel()), device=device)
    np.testing.assert_allclose(got, [a @ a, a.T, a + np.eye(5)], rtol=1e-12)


def rows_of(m):
    return np.array(m).reshape(2, 2).tolist()


def test_matrices_in_python():
    m = wp.mat22(1.0, 2.0, 3.0, 4.0)
    assert m[1, 0] == 3.0 and list(m[1]) == [3.0, 4.0]
    assert rows_of(m @ m) == [[7.0, 10.0], [15.0, 22.0]] == rows_of(m * m)
    assert list(m @ wp.vec2(1, 1)) == [3.0, 7.0]
    assert rows_of(wp.transpose(m)) == [[1.0, 3.0], [2.0, 4.0]]
    assert wp.determinant(m) == -2.0
    m[0, 1] = 9.0
    m[1] = wp.vec2(5, 6)
    assert rows_of(m) == [[1.0, 9.0], [5.0, 6.0]]
    assert m == wp.mat22(1, 9, 5, 6)


@wp.kernel
def stack_many(n: int, rows: wp.array(dtype=float), cols: wp.array(dtype=float)):
    a = wp.vec2(1.0, 2.0)
    b = wp.vec2(3.0, float(n))
    m = wp.matrix_from_rows(a, a, b, a, a, a, b)
    k = wp.matrix_from_cols(a, b, a, a, a, a, a, b)
    for i in range(7):
        rows[i] = m[i, 1]
    for i in range(8):
        cols[i] = k[1, i]


def test_matrices_of_many_vectors(device):
    rows, cols = wp.zeros(7, dtype=float, device=device), wp.zeros(8, dtype=float, device=device)
    wp.launch(stack_many, dim=1, inputs=[9], outputs=[rows, cols], device=device)
    assert rows.numpy().tolist() == [2, 2, 9, 2, 2, 2, 9]
    assert cols.numpy().tolist() == [2, 9, 2, 2, 2, 2, 2, 9]
    assert np.array(wp.matrix_from_cols(wp.vec3(1.0, 2.0, 3.0))).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "call", ["matrix_from_rows()", "matrix_from_rows(wp.vec2(), wp.vec3())", "matrix_from_cols(wp.vec2(), 1.0)"]
)
def test_matrices_of_unlike_vectors_are_refused(tmp_path, call):
    kernel = kernel_from(tmp_path, f"m = wp.{call}\nout[0] = 1")
    with pytest.raises(Exception, match="matrix_from"):
        wp.launch(kernel, dim=1, inputs=[3, 1.0, wp.zeros(1, dtype=int, device="cpu")], device="cpu")
