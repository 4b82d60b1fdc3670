"""Quaternions and rigid transforms, against rotation matrices from numpy."""

import numpy as np
import pytest
from _support import differs_from_warp, run
from _wp import wp


def unit(q):
    return q / np.linalg.norm(q)


def matrix_of(q):
    x, y, z, w = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def hamilton(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return np.array(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ]
    )


A = unit(np.array([0.3, -0.5, 0.2, 0.8]))
B = unit(np.array([-0.1, 0.7, 0.4, 0.3]))
V = np.array([1.0, -2.0, 0.5])
W = np.array([0.25, 3.0, -1.0])


@wp.kernel
def quaternion_algebra(a: wp.quat, b: wp.quat, s: float, out: wp.array(dtype=wp.quat), scalars: wp.array(dtype=float)):
    out[0] = a * b
    out[1] = a + b
    out[2] = a - b
    out[3] = a * s
    out[4] = s * a
    out[5] = a / s
    out[6] = -a
    out[7] = wp.quat_inverse(a)
    out[8] = wp.normalize(a * s)
    out[9] = wp.quat_identity()
    out[10] = wp.quat()
    out[11] = wp.quat(wp.vec3(1.0, 2.0, 3.0), s)
    scalars[0] = wp.dot(a, b)
    scalars[1] = wp.length(a * s)
    scalars[2] = a[0] + a.y + a[2] + a.w
    q = a
    q.w = 5.0
    q[0] = 6.0
    q.y += 1.0
    scalars[3] = q[3] + q.x + q[1] - a.y
    scalars[4] = float(int(a == a) + 10 * int(a == b))


def test_quaternion_algebra(device):
    out = wp.zeros(12, dtype=wp.quat, device=device)
    scalars = wp.zeros(5, dtype=float, device=device)
    wp.launch(quaternion_algebra, dim=1, inputs=[wp.quat(*A), wp.quat(*B), 1.5, out, scalars], device=device)
    conjugate = A * [-1, -1, -1, 1]
    want = [
        hamilton(A, B),
        A + B,
        A - B,
        A * 1.5,
        A * 1.5,
        A / 1.5,
        -A,
        conjugate,
        A,
        [0, 0, 0, 1],
        [0, 0, 0, 0],
        [1, 2, 3, 1.5],
    ]
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scalars.numpy(), [A @ B, 1.5, A.sum(), 12.0, 1.0], rtol=1e-5)


@wp.kernel
def rotations(
    a: wp.quat,
    axis: wp.vec3,
    angle: float,
    v: wp.vec3,
    out: wp.array(dtype=wp.vec3),
    q: wp.array(dtype=wp.quat),
    m: wp.array(dtype=wp.mat33),
):
    out[0] = wp.quat_rotate(a, v)
    out[1] = wp.quat_rotate_inv(a, v)
    out[2] = wp.quat_to_matrix(a) @ v
    m[0] = wp.quat_to_matrix(a)
    q[0] = wp.quat_from_axis_angle(axis, angle)
    q[1] = wp.quat_from_matrix(wp.quat_to_matrix(a))
    q[2] = wp.quat_rpy(0.1, 0.2, 0.3)
    q[3] = wp.quat_slerp(a, a, 0.25)


def test_rotations(device):
    out = wp.zeros(3, dtype=wp.vec3, device=device)
    q = wp.zeros(4, dtype=wp.quat, device=device)
    m = wp.zeros(1, dtype=wp.mat33, device=device)
    axis = unit(np.array([1.0, 2.0, -1.0]))
    wp.launch(rotations, dim=1, inputs=[wp.quat(*A), wp.vec3(*axis), 0.7, wp.vec3(*V), out, q, m], device=device)
    R = matrix_of(A)
    np.testing.assert_allclose(out.numpy(), [R @ V, R.T @ V, R @ V], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(m.numpy()[0], R, rtol=1e-5, atol=1e-6)
    got = q.numpy()
    np.testing.assert_allclose(got[0], [*(axis * np.sin(0.35)), np.cos(0.35)], rtol=1e-5)
    np.testing.assert_allclose(got[1] * np.sign(got[1][3]), A * np.sign(A[3]), rtol=1e-4, atol=1e-6)
    assert abs(np.linalg.norm(got[2]) - 1.0) < 1e-5
    np.testing.assert_allclose(got[3], A, rtol=1e-4, atol=1e-5)


@wp.kernel
def transform_algebra(
    a: wp.transform,
    b: wp.transform,
    v: wp.vec3,
    out: wp.array(dtype=wp.transform),
    points: wp.array(dtype=wp.vec3),
    m: wp.array(dtype=wp.mat44),
):
    out[0] = a * b
    out[1] = wp.transform_multiply(a, b)
    out[2] = wp.transform_inverse(a)
    out[3] = wp.transform_inverse(a) * a
    out[4] = a + b
    out[5] = a - b
    out[6] = a * 2.0
    out[7] = 2.0 * a
    out[8] = wp.transform_identity()
    out[9] = wp.transform(v, wp.quat_identity())
    t = a
    t.p = v
    t.q = wp.quat(0.0, 0.0, 0.0, 1.0)
    t[0] = 9.0
    t[1] = 8.0
    out[10] = t
    points[0] = wp.transform_point(a, v)
    points[1] = wp.transform_vector(a, v)
    points[2] = wp.transform_get_translation(a)
    points[3] = a.p
    points[4] = wp.quat_rotate(wp.transform_get_rotation(a), v)
    points[5] = wp.vec3(a[0], a[3], a[6])
    m[0] = wp.transform_to_matrix(a)


def test_transform_algebra(device):
    a, b = np.concatenate([V, A]), np.concatenate([W, B])
    out = wp.zeros(11, dtype=wp.transform, device=device)
    points = wp.zeros(6, dtype=wp.vec3, device=device)
    m = wp.zeros(1, dtype=wp.mat44, device=device)
    x = np.array([0.5, -0.25, 2.0])
    wp.launch(
        transform_algebra,
        dim=1,
        inputs=[wp.transform(*a), wp.transform(*b), wp.vec3(*x), out, points, m],
        device=device,
    )
    R = matrix_of(A)
    product = np.concatenate([V + R @ W, hamilton(A, B)])
    inverse = np.concatenate([-R.T @ V, A * [-1, -1, -1, 1]])
    identity = [0, 0, 0, 0, 0, 0, 1]
    want = [
        product,
        product,
        inverse,
        identity,
        a + b,
        a - b,
        2 * a,
        2 * a,
        identity,
        [*x, 0, 0, 0, 1],
        [9, 8, 2, 0, 0, 0, 1],
    ]
    np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=2e-6)
    np.testing.assert_allclose(
        points.numpy(), [V + R @ x, R @ x, V, V, R @ x, [a[0], a[3], a[6]]], rtol=1e-5, atol=2e-6
    )
    np.testing.assert_allclose(m.numpy()[0], np.block([[R, V[:, None]], [np.zeros(3), 1.0]]), rtol=1e-5, atol=2e-6)


@differs_from_warp("assigning a component of .p or .q is lost")
def test_nested_components_can_be_assigned(device):
    @wp.kernel(module="unique")
    def nested(t: wp.transform, poses: wp.array(dtype=wp.transform), out: wp.array(dtype=float)):
        t.p.x = 9.0
        t.q[3] += 0.5
        poses[0].p.y = 4.0
        out[0] = t.p[0]
        out[1] = t.q.w
        out[2] = poses[0].p[1]

    poses = wp.zeros(1, dtype=wp.transform, device=device)
    t = wp.transform(wp.vec3(1.0, 2.0, 3.0), wp.quat(0.0, 0.0, 0.0, 1.0))
    assert run(nested, float, 3, t, poses, device=device).tolist() == [9.0, 1.5, 4.0]


@wp.kernel
def double_precision(a: wp.quatd, v: wp.vec3d, t: wp.transformd, out: wp.array(dtype=wp.vec3d)):
    out[0] = wp.quat_rotate(a, v)
    out[1] = wp.transform_point(t, v)
    out[2] = wp.vec3d(wp.length(a), a.w, t.p.x)


def test_double_precision(device):
    got = run(double_precision, wp.vec3d, 3, wp.quatd(*A), wp.vec3d(*V), wp.transformd(*W, *B), device=device)
    want = [matrix_of(A) @ V, W + matrix_of(B) @ V, [1.0, A[3], W[0]]]
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_quaternions_and_transforms_in_python():
    q = wp.quat(0.0, 0.0, 0.0, 1.0)
    assert list(q) == [0.0, 0.0, 0.0, 1.0] and q.w == 1.0 and q[3] == 1.0 and q == wp.quat_identity()
    t = wp.transform(wp.vec3(1, 2, 3), q)
    assert list(t) == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    assert list(t.p) == [1.0, 2.0, 3.0] and list(t.q) == list(q)
    assert list(wp.transform((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, 1.0))) == list(t)
    assert list(wp.transform_point(t, wp.vec3(1, 1, 1))) == [2.0, 3.0, 4.0]
    np.testing.assert_allclose(
        list(wp.quat_rotate(wp.quat_from_axis_angle(wp.vec3(0, 0, 1), np.pi / 2), wp.vec3(1, 0, 0))),
        [0, 1, 0],
        atol=1e-6,
    )
    assert list(t * t) == [2.0, 4.0, 6.0, 0.0, 0.0, 0.0, 1.0]
    assert list(wp.transform_identity()) == [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]


@wp.kernel
def shortest_arcs(a: wp.array(dtype=wp.vec3), b: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.quat)):
    i = wp.tid()
    out[i] = wp.quat_between_vectors(a[i], b[i])


def test_the_shortest_arc_between_opposite_and_nearly_opposite_vectors(device):
    starts = np.array([[1, 0, 0], [0, -2, 0], [0, 0, 3], [1, 2, -3], [1, 1e-3, 0], [1, 0, 0], [0, 0, 0]], np.float32)
    ends = np.array([[-2, 0, 0], [0, 1, 0], [0, 0, -1], [-1, -2, 3], [-1, 1e-3, 0], [1, 0, 0], [1, 0, 0]], np.float32)
    out = wp.zeros(len(starts), dtype=wp.quat, device=device)
    points = (wp.array(p, dtype=wp.vec3, device=device) for p in (starts, ends))
    wp.launch(shortest_arcs, dim=len(starts), inputs=[*points, out], device=device)
    for q, a, b in zip(out.numpy()[:-1], starts, ends):
        np.testing.assert_allclose(np.linalg.norm(q), 1, rtol=1e-6)
        np.testing.assert_allclose(
            matrix_of(q) @ a / np.linalg.norm(a), b / np.linalg.norm(b), atol=2e-6, err_msg=f"{a} to {b}"
        )
    assert out.numpy()[-1].tolist() == [0, 0, 0, 1]


def test_a_transform_from_a_flat_sequence():
    flat = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]
    assert list(wp.transform_expand(flat)) == flat and isinstance(wp.transform_expand(flat), wp.transform)


def test_built_ins_that_change_their_arguments_from_python():
    t = wp.transform()
    wp.transform_set_translation(t, wp.vec3(1.0, 2.0, 3.0))
    wp.transform_set_rotation(t, wp.quat(0.0, 1.0, 0.0, 0.0))
    assert list(t) == [1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0]
    u, sigma, v = wp.mat33(), wp.vec3(), wp.mat33()
    wp.svd3(wp.mat33(3.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0), u, sigma, v)
    np.testing.assert_allclose(list(sigma), [3.0, 2.0, 1.0], rtol=1e-6)


def test_overloads_share_the_names_of_parameters():
    m = wp.mat44(1.0, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0, 0.0, 0.0, 0.0, 1.0)
    assert list(wp.transform_point(point=wp.vec3(1.0, 2.0, 3.0), xform=m)) == [6.0, 8.0, 10.0]
    assert wp.max(a=wp.vec3(1.0, 3.0, 2.0)) == 3.0
    with pytest.raises(TypeError, match="'pos'"):
        wp.transform(pos=(1.0, 2.0, 3.0))
