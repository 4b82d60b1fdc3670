"""What each library function computes, as float64 numpy: the reference for every way of running it.

`CASES` maps a name to pairs of argument makers and a reference. An argument maker takes a random generator and gives
a `(kind, value)` pair: kind is "scalar", "vec", "mat", "quat", "transform" or "int32". The reference gets the values
as float64 arrays (quaternions x, y, z, w; transforms position then quaternion) and returns an array, a number, or a
tuple of them.
"""

import numpy as np

# Argument makers


def scalar(low=-3.0, high=3.0):
    return lambda rng: ("scalar", rng.uniform(low, high))


def vector(n):
    return lambda rng: ("vec", rng.normal(size=n))


def fixed(*components):
    return lambda rng: ("vec", np.array(components, float))


def matrix(n, m):
    return lambda rng: ("mat", rng.normal(size=(n, m)))


def whole_matrix(rng):
    # Often singular, often with equal singular values.
    return "mat", rng.integers(-1, 2, size=(3, 3)).astype(float)


def scaled_matrix(rng):
    # Nearly singular: columns of very different length.
    return "mat", rng.normal(size=(3, 3)) * [1, 1e-3, 1e-6]


def symmetric(rng):
    m = rng.normal(size=(3, 3))
    return "mat", m + m.T


def invertible(n):
    # Diagonally dominant, so that the error of the inverse stays near the rounding error.
    return lambda rng: ("mat", rng.uniform(-1, 1, size=(n, n)) + 2 * n * np.eye(n))


def quaternion(rng):
    return "quat", rng.normal(size=4)


def _unit(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def rotation(rng):
    return "quat", _unit(rng)


def rotation_matrix(n):
    def make(rng):
        m = rng.normal(size=(n, n))
        m[:3, :3] = to_matrix(_unit(rng))
        return "mat", m

    return make


def rigid(rng):
    return "transform", np.concatenate([rng.normal(size=3), _unit(rng)])


def unit_vector(rng):
    v = rng.normal(size=3)
    return "vec", v / np.linalg.norm(v)


def axis(i):
    return lambda rng: ("int32", i)


# References


def pcg(x):
    s = (x * 747796405 + 2891336453) % 2**32
    w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737 % 2**32
    return w >> 22 ^ w


def lattice_slope(state, cell):
    """The slope of noise at a lattice point."""
    factors = (73856093, 19349663, 53471161, 10000019)
    terms = [int(c) % 2**32 * f for c, f in zip(cell, factors)]
    terms[-1] += state
    s, draws = 0, []
    for t in terms:
        s ^= t % 2**32
    for _ in cell:
        s = pcg(s)
        draws.append((s >> 8) / 2**24 - 0.5)
    g = np.array(draws)
    return 2 * g if len(g) == 1 else g / np.linalg.norm(g)


def noise(state, p, period=None):
    """Gradient noise as the sum over the corners of the cell, each with its weight."""
    p = np.atleast_1d(np.asarray(p, float))
    cell, total = np.floor(p), 0.0
    for corner in np.ndindex(*[2] * len(p)):
        d = p - cell - corner
        at = cell + corner
        if period is not None:
            at = np.fmod(np.fmod(cell, period) + corner, period)
        a = 1 - np.abs(d)
        total += np.prod(a**3 * (a * (6 * a - 15) + 10)) * (d @ lattice_slope(state, at))
    return total


def curlnoise(state, p, octaves=1, lacunarity=2.0, gain=0.5):
    """The curl of layered noise, by differences of second order in space."""
    h, n = 1e-4, min(len(p), 3)
    layers = []
    for k in range(octaves):
        states = [state]
        for salt in (10019689, 13112221)[: 2 * (n == 3)]:
            states.append(pcg((states[-1] + pcg(salt)) % 2**32))
        state = states[-1]
        layers.append((gain**k, lacunarity**k, states))

    def slope(field, axis):
        total = 0.0
        for weight, scale, states in layers:
            q = scale * np.asarray(p, float)
            step = h * np.eye(len(p))[axis]
            total += weight * (noise(states[field], q + step) - noise(states[field], q - step)) / (2 * h)
        return total

    if n == 2:
        return np.array([-slope(0, 1), slope(0, 0)])
    return np.array([slope(2, 1) - slope(1, 2), slope(0, 2) - slope(2, 0), slope(1, 0) - slope(0, 1)])


def to_matrix(q):
    # By Rodrigues' formula, a path of its own: the library expands the quaternion product.
    x, y, z, w = q
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * k + 2 * k @ k


def multiply(a, b):
    real = a[3] * b[3] - a[:3] @ b[:3]
    return np.append(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), real)


def conjugate(q):
    return q * [-1, -1, -1, 1]


def shortest_arc(a, b):
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    axis = np.cross(a, b)
    return about(axis / np.linalg.norm(axis), np.arctan2(np.linalg.norm(axis), a @ b))


def about(axis, angle):
    return np.append(np.asarray(axis) * np.sin(angle / 2), np.cos(angle / 2))


def axis_angle(q):
    q = q if q[3] >= 0 else -q
    n = np.linalg.norm(q[:3])
    return q[:3] / n, 2 * np.arctan2(n, q[3])


def slerp(a, b, t):
    cosine = a @ b
    b, cosine = (b, cosine) if cosine >= 0 else (-b, -cosine)
    angle = np.arccos(cosine)
    r = (np.sin((1 - t) * angle) * a + np.sin(t * angle) * b) / np.sin(angle)
    # The library gives the sign for which the way starts at `a`.
    return r


def euler(e, i, j, k):
    turns = [about(np.eye(3)[axis], e[axis]) for axis in (i, j, k)]
    return multiply(turns[2], multiply(turns[1], turns[0]))


def homogeneous(t):
    m = np.eye(4)
    m[:3, :3] = to_matrix(t[3:])
    m[:3, 3] = t[:3]
    return m


def compose(p, q, s):
    return np.block([[to_matrix(q) * s, p[:, None]], [np.zeros(3), 1]])


def cross_matrix(v):
    # Row `i` of the matrix is the cross product of unit vector `i` with `v`.
    return np.cross(np.eye(3), v)


def motion(a):
    """The 6 x 6 matrix of the spatial cross product with `a`."""
    w, v = cross_matrix(a[:3]), cross_matrix(a[3:])
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def adjoint(t):
    r = to_matrix(t[3:])
    p = cross_matrix(t[:3])
    return np.block([[r, np.zeros((3, 3))], [p @ r, r]])


def smooth_norm(v, delta):
    return delta * np.sqrt(1 + v @ v / delta**2)


def huber(v, delta):
    n = np.linalg.norm(v)
    return 0.5 * n * n if n <= delta else delta * (n - 0.5 * delta)


def rotation_error(m):
    """Zero for a rotation."""
    return np.append(m.T @ m - np.eye(len(m)), np.linalg.det(m) - 1)


def singular_values(a):
    """As the library gives them: those of 3 x 3 matrices carry the determinant's sign in the last."""
    values = np.linalg.svd(a)[1]
    values[2:] *= -1 if np.linalg.det(a) < 0 else 1
    return np.where(np.abs(values) < 1e-6, np.abs(values), values)


def edge_distance(p1, q1, p2, q2, epsilon):
    """The distance of two edges by search over the ends and the inside of both."""
    d1, d2, r = q1 - p1, q2 - p2, p1 - p2
    ways = [(s, np.clip((p1 + s * d1 - p2) @ d2 / (d2 @ d2), 0, 1)) for s in (0, 1)]
    ways += [(np.clip((p2 + t * d2 - p1) @ d1 / (d1 @ d1), 0, 1), t) for t in (0, 1)]
    inside = np.linalg.solve([[d1 @ d1, -d1 @ d2], [d1 @ d2, -d2 @ d2]], [-d1 @ r, -d2 @ r])
    if ((0 <= inside) & (inside <= 1)).all():
        ways.append(inside)
    return min(np.linalg.norm(r + s * d1 - t * d2) for s, t in ways)


def edge_point(got, args):
    """The distance that a result claims, if it is the distance of the points it names."""
    p1, q1, p2, q2, _ = args
    s, t, distance = np.asarray(got, float)
    assert 0 <= s <= 1 and 0 <= t <= 1
    assert abs(np.linalg.norm(p1 + s * (q1 - p1) - p2 - t * (q2 - p2)) - distance) < 1e-5
    return distance


def triangles_meet(v0, v1, v2, u0, u1, u2):
    """Whether an edge of one crosses the inside of the other, for triangles in general position."""

    def crosses(p, q, a, b, c):
        try:
            t, x, y = np.linalg.solve(np.stack([p - q, b - a, c - a], 1), p - a)
        except np.linalg.LinAlgError:
            return False
        return 0 <= t <= 1 and x >= 0 and y >= 0 and x + y <= 1

    v, u = (v0, v1, v2), (u0, u1, u2)
    edges = ((0, 1), (1, 2), (2, 0))
    return any(crosses(v[i], v[j], *u) or crosses(u[i], u[j], *v) for i, j in edges)


v2, v3, v4, v6 = map(vector, (2, 3, 4, 6))
m23, m32, m33, m44 = matrix(2, 3), matrix(3, 2), matrix(3, 3), matrix(4, 4)
s = scalar()
delta = scalar(0.1, 2.0)
ONLY_FLOAT32 = {"closest_point_edge_edge"}
AXES = [(i, j, k) for i in range(3) for j in range(3) for k in range(3) if len({i, j, k}) == 3]

CASES = {
    # Scalars
    "clamp": [
        ([s, scalar(-1, 0), scalar(0, 1)], np.clip),
        ([s, scalar(0.5, 1), scalar(-1, 0.5)], lambda x, lo, hi: hi),
    ],
    "sign": [([s], lambda x: -1 if x < 0 else 1), ([v3], lambda v: np.where(v < 0, -1, 1))],
    "step": [([s], lambda x: 1 if x < 0 else 0)],
    "nonzero": [([s], lambda x: 1), ([scalar(0, 0)], lambda x: 0)],
    "frac": [([s], lambda x: np.modf(x)[0])],
    "degrees": [([s], np.degrees)],
    "radians": [([scalar(-360, 360)], np.radians)],
    "copysign": [([s, s], np.copysign)],
    "div_approx": [
        ([s, delta], np.divide),
        ([v3, delta], np.divide),
        ([m23, delta], np.divide),
        ([quaternion, delta], np.divide),
        ([s, v3], np.divide),
        ([s, m23], np.divide),
        ([s, quaternion], np.divide),
    ],
    "smoothstep": [
        (
            [scalar(0, 1), scalar(1.5, 2), scalar(-1, 3)],
            lambda a, b, x: np.interp(x, [a, b], [0, 1]) ** 2 * (3 - 2 * np.interp(x, [a, b], [0, 1])),
        )
    ],
    "lerp": [([x, x, s], lambda a, b, t: a + (b - a) * t) for x in (s, v3, m23, quaternion, rigid)],
    # Vectors
    "dot": [([x, x], np.dot) for x in (v2, v3, v6, quaternion)],
    "cross": [([v3, v3], np.cross)],
    "length_sq": [([x], lambda v: v @ v) for x in (v2, v4, quaternion)],
    "length": [([x], np.linalg.norm) for x in (v2, v4, quaternion)],
    "normalize": [([x], lambda v: v / np.linalg.norm(v)) for x in (v2, v3, quaternion)],
    "cw_mul": [([x, x], np.multiply) for x in (v3, m23)],
    "cw_div": [([x, x], np.divide) for x in (v3, m23)],
    "outer": [([v2, v3], np.outer), ([v4, v3], np.outer)],
    "min": [([v4], np.min)],
    "max": [([v4], np.max)],
    "argmin": [([v4], np.argmin)],
    "argmax": [([v4], np.argmax)],
    "isnan": [([x], lambda v: False) for x in (v3, m23, quaternion)],
    "isinf": [([x], lambda v: False) for x in (v3, m23, quaternion)],
    "isfinite": [([x], lambda v: True) for x in (v3, m23, quaternion)],
    "norm_l1": [([v4], lambda v: np.abs(v).sum())],
    "norm_l2": [([v4], np.linalg.norm)],
    "norm_huber": [([v3], lambda v: huber(v, 1.0)), ([v3, delta], huber)],
    "norm_pseudo_huber": [([v3], lambda v: smooth_norm(v, 1.0)), ([v3, delta], smooth_norm)],
    "smooth_normalize": [([v3], lambda v: v / smooth_norm(v, 1.0)), ([v3, delta], lambda v, d: v / smooth_norm(v, d))],
    # Matrices
    "_mat_mul": [([m23, m32], np.matmul), ([m44, m44], np.matmul)],
    "_mat_vec": [([m23, v3], np.matmul), ([m44, v4], np.matmul)],
    "_vec_mat": [([v2, m23], np.matmul), ([v4, m44], np.matmul)],
    "ddot": [([m23, m23], lambda a, b: (a * b).sum())],
    "transpose": [([m23], np.transpose)],
    "trace": [([m33], np.trace)],
    "diag": [([v3], np.diag)],
    "get_diag": [([m33], np.diag)],
    "skew": [([v3], cross_matrix)],
    "determinant": [([matrix(n, n)], np.linalg.det) for n in (2, 3, 4)],
    "inverse": [([invertible(n)], np.linalg.inv) for n in (2, 3, 4)],
    "inverse_approx": [([invertible(n)], np.linalg.inv) for n in (2, 3, 4)],
    "svd2": [([matrix(2, 2)], lambda a: (a, singular_values(a), np.zeros(4), np.zeros(5)))],
    "svd3": [
        ([m], lambda a: (a, singular_values(a), np.zeros(10), np.zeros(10))) for m in (m33, whole_matrix, scaled_matrix)
    ],
    "qr3": [([m], lambda a: (a, np.zeros(10), np.zeros(3), 1)) for m in (m33, whole_matrix, scaled_matrix)],
    "eig3": [([symmetric], lambda a: (a, np.linalg.eigvalsh(a), np.zeros(10)))],
    # Geometry
    "closest_point_edge_edge": [([v3, v3, v3, v3, scalar(1e-9, 1e-9)], edge_distance)],
    "intersect_tri_tri": [([v3] * 6, triangles_meet)],
    # Quaternions
    "_quat_mul": [([quaternion, quaternion], multiply)],
    "quat_inverse": [([quaternion], conjugate)],
    "quat_rotate": [([rotation, v3], lambda q, v: to_matrix(q) @ v)],
    "quat_rotate_inv": [([rotation, v3], lambda q, v: to_matrix(q).T @ v)],
    "quat_from_axis_angle": [([v3, s], about)],
    "quat_to_axis_angle": [([rotation], axis_angle)],
    "quat_to_matrix": [([rotation], to_matrix)],
    "quat_from_matrix": [([rotation_matrix(n)], lambda m: m[:3, :3]) for n in (3, 4)],
    "quat_rpy": [([s, s, s], lambda r, p, y: euler([r, p, y], 0, 1, 2))],
    "quat_to_rpy": [([rotation], lambda q: q)],
    "quat_slerp": [([rotation, rotation, scalar(0, 1)], slerp)],
    "quat_from_euler": [([v3, *map(axis, a)], euler) for a in AXES],
    "quat_to_euler": [([rotation, *map(axis, a)], lambda q, i, j, k: q) for a in AXES],
    "quat_twist": [([unit_vector, rotation], lambda n, q: about(n, 2 * np.arctan2(n @ q[:3], q[3])))],
    "quat_twist_angle": [([unit_vector, rotation], lambda n, q: abs(2 * np.arctan2(n @ q[:3], q[3])))],
    "quat_twist_angle_signed": [([unit_vector, rotation], lambda n, q: 2 * np.arctan2(n @ q[:3], q[3]))],
    "quat_between_vectors": [
        ([v3, v3], shortest_arc),
        # Opposite: about the perpendicular that the function picks.
        ([fixed(1, 2, -3), fixed(-2, -4, 6)], lambda a, b: about(np.array([0, 3, 2]) / np.sqrt(13), np.pi)),
        ([fixed(3, 2, 1), fixed(-3, -2, -1)], lambda a, b: about(np.array([-2, 3, 0]) / np.sqrt(13), np.pi)),
        ([fixed(0, 0, 0), v3], lambda a, b: np.array([0, 0, 0, 1])),
    ],
    # Transforms
    "transform_get_translation": [([rigid], lambda t: t[:3])],
    "transform_get_rotation": [([rigid], lambda t: t[3:])],
    "transform_set_translation_copy": [([rigid, v3], lambda t, p: np.append(p, t[3:]))],
    "transform_set_rotation_copy": [([rigid, rotation], lambda t, q: np.append(t[:3], q))],
    "transform_multiply": [([rigid, rigid], lambda a, b: homogeneous(a) @ homogeneous(b))],
    "_transform_mul": [([rigid, rigid], lambda a, b: homogeneous(a) @ homogeneous(b))],
    "transform_inverse": [([rigid], lambda t: np.linalg.inv(homogeneous(t)))],
    "transform_point": [
        ([rigid, v3], lambda t, p: (homogeneous(t) @ np.append(p, 1))[:3]),
        ([m44, v3], lambda m, p: (m @ np.append(p, 1))[:3]),
    ],
    "transform_vector": [
        ([rigid, v3], lambda t, v: (homogeneous(t) @ np.append(v, 0))[:3]),
        ([m44, v3], lambda m, v: (m @ np.append(v, 0))[:3]),
    ],
    "transform_compose": [([v3, rotation, v3], compose)],
    "transform_decompose": [
        ([lambda rng: ("mat", compose(rng.normal(size=3), _unit(rng), rng.uniform(0.2, 3, 3)))], lambda m: m)
    ],
    "transform_from_matrix": [([rotation_matrix(4)], lambda m: np.vstack([m[:3], [0, 0, 0, 1]]))],
    "transform_to_matrix": [([rigid], homogeneous)],
    # Spatial vectors
    "spatial_vector": [([v3, v3], np.append), ([s] * 6, lambda *x: np.array(x))],
    "spatial_top": [([v6], lambda x: x[:3])],
    "spatial_bottom": [([v6], lambda x: x[3:])],
    "spatial_dot": [([v6, v6], np.dot)],
    "spatial_cross": [([v6, v6], lambda a, b: motion(a) @ b)],
    "spatial_cross_dual": [([v6, v6], lambda a, b: -motion(a).T @ b)],
    "spatial_adjoint": [([m33, m33], lambda r, x: np.block([[r, np.zeros((3, 3))], [x, r]]))],
    "transform_twist": [([rigid, v6], lambda t, x: adjoint(t) @ x)],
    # Power is the same in both frames: a wrench goes by the inverse transpose of the twist's matrix.
    "transform_wrench": [([rigid, v6], lambda t, x: np.linalg.inv(adjoint(t)).T @ x)],
    "velocity_at_point": [([v6, v3], lambda x, r: x[3:] + np.cross(x[:3], r))],
}


def _rotation_of(q):
    return to_matrix(np.asarray(q, float))


# How a result becomes comparable where it is not unique: two quaternions are one rotation, Euler angles have periods.
CANONICAL = {
    "quat_from_matrix": lambda got, args: _rotation_of(got),
    "quat_to_rpy": lambda got, args: align(euler(got, 0, 1, 2), args[0]),
    "quat_to_euler": lambda got, args: align(euler(got, *args[1:]), args[0]),
    "quat_slerp": lambda got, args: align(np.asarray(got), slerp(*args)),
    "transform_multiply": lambda got, args: homogeneous(np.asarray(got)),
    "_transform_mul": lambda got, args: homogeneous(np.asarray(got)),
    "transform_inverse": lambda got, args: homogeneous(np.asarray(got)),
    "transform_from_matrix": lambda got, args: homogeneous(np.asarray(got)),
    "svd2": lambda got, args: (
        got[0] * got[1] @ got[2].T,
        got[1],
        (got[0].T @ got[0] - np.eye(2)).ravel(),
        rotation_error(got[2]),
    ),
    "svd3": lambda got, args: (
        got[0] * got[1] @ got[2].T,
        # The sign of a value that is zero but for rounding means nothing.
        np.where(np.abs(got[1]) < 1e-6, np.abs(got[1]), got[1]),
        rotation_error(got[0]),
        rotation_error(got[2]),
    ),
    "qr3": lambda got, args: (
        got[0] @ got[1],
        rotation_error(got[0]),
        got[1][np.tril_indices(3, -1)],
        float(got[1][0, 0] >= 0 and got[1][1, 1] >= 0),
    ),
    "eig3": lambda got, args: (got[0] * got[1] @ got[0].T, np.sort(got[1]), rotation_error(got[0])),
    "closest_point_edge_edge": edge_point,
    "transform_decompose": lambda got, args: compose(*map(np.asarray, got)),
}


def align(q, to):
    return q if q @ to >= 0 else -q
