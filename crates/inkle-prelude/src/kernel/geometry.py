# Geometry of points, edges and triangles that needs no acceleration structure.


@builtin("Geometry")
def closest_point_edge_edge(
    p1: vec[3, float32], q1: vec[3, float32], p2: vec[3, float32], q2: vec[3, float32], epsilon: float32
) -> vec[3, float32]:
    """Where the edge from `p1` to `q1` and the edge from `p2` to `q2` are closest to each other.

    The result is the fraction of the way along the first edge, along the second edge, and the distance between these
    points. Edges whose squared length is at most `epsilon` count as points.
    """
    zero = float32(0.0)
    one = float32(1.0)
    d1 = q1 - p1
    d2 = q2 - p2
    between = p1 - p2
    a = dot(d1, d1)
    b = dot(d1, d2)
    e = dot(d2, d2)
    c = dot(d1, between)
    f = dot(d2, between)
    s = zero
    t = zero
    if a > epsilon and e > epsilon:
        # On the two lines first; of parallel lines, any point does. Cross products lose fewer digits of nearly parallel
        # lines than a * e - b * b.
        n = cross(d1, d2)
        det = dot(n, n)
        if det > float32(1.0e-12) * a * e:
            s = clamp(dot(n, cross(d2, between)) / det, zero, one)
        t = (b * s + f) / e
        if t < zero:
            t = zero
            s = clamp(-c / a, zero, one)
        elif t > one:
            t = one
            s = clamp((b - c) / a, zero, one)
    elif a > epsilon:
        s = clamp(-c / a, zero, one)
    elif e > epsilon:
        t = clamp(f / e, zero, one)
    return vec[3, float32](s, t, length(between + d1 * s - d2 * t))


@internal
def _apart(axis: vec[3, F], a: vec[3, F], b: vec[3, F], c: vec[3, F], d: vec[3, F], e: vec[3, F], reach: F) -> bool:
    # Whether the projections on an axis of the triangle (0, a, b) and the triangle (c, d, e) are apart by more than
    # rounding, which is `reach` times the axis' length.
    x = dot(axis, a)
    y = dot(axis, b)
    low = min(min(x, y), F(0.0))
    high = max(max(x, y), F(0.0))
    u = dot(axis, c)
    v = dot(axis, d)
    w = dot(axis, e)
    gap = max(min(min(u, v), w) - high, low - max(max(u, v), w))
    return gap > reach * (abs(axis[0]) + abs(axis[1]) + abs(axis[2]))


@internal
def _triangles_meet(
    v0: vec[3, F], v1: vec[3, F], v2: vec[3, F], u0: vec[3, F], u1: vec[3, F], u2: vec[3, F], rounding: F
) -> int32:
    # Two convex shapes are apart exactly if they are apart along a normal of a face or a cross product of edges; for
    # triangles in one plane, the normals of edges within the plane.
    a = v1 - v0
    b = v2 - v0
    c = u0 - v0
    d = u1 - v0
    e = u2 - v0
    v = mat[3, 3, F](a[0], a[1], a[2], b[0] - a[0], b[1] - a[1], b[2] - a[2], b[0], b[1], b[2])
    u = mat[3, 3, F](
        d[0] - c[0],
        d[1] - c[1],
        d[2] - c[2],
        e[0] - d[0],
        e[1] - d[1],
        e[2] - d[2],
        e[0] - c[0],
        e[1] - c[1],
        e[2] - c[2],
    )
    size = F(0.0)
    for i in range(3):
        size = max(size, max(abs(a[i]), abs(b[i])))
        size = max(size, max(abs(c[i]), max(abs(d[i]), abs(e[i]))))
    reach = size * rounding
    n = cross(a, b)
    m = cross(d - c, e - c)
    apart = _apart(n, a, b, c, d, e, reach) or _apart(m, a, b, c, d, e, reach)
    for i in range(3):
        x = vec[3, F](v[i, 0], v[i, 1], v[i, 2])
        y = vec[3, F](u[i, 0], u[i, 1], u[i, 2])
        apart = apart or _apart(cross(n, x), a, b, c, d, e, reach) or _apart(cross(m, y), a, b, c, d, e, reach)
        for j in range(3):
            z = vec[3, F](u[j, 0], u[j, 1], u[j, 2])
            apart = apart or _apart(cross(x, z), a, b, c, d, e, reach)
    return where(apart, int32(0), int32(1))


@builtin("Geometry")
def intersect_tri_tri(
    v0: vec[3, float32],
    v1: vec[3, float32],
    v2: vec[3, float32],
    u0: vec[3, float32],
    u1: vec[3, float32],
    u2: vec[3, float32],
) -> int32:
    """1 if two triangles have a point in common, in one plane or not, else 0."""
    return _triangles_meet(v0, v1, v2, u0, u1, u2, float32(1.0e-6))


@builtin("Geometry")
def intersect_tri_tri(
    v0: vec[3, float64],
    v1: vec[3, float64],
    v2: vec[3, float64],
    u0: vec[3, float64],
    u1: vec[3, float64],
    u2: vec[3, float64],
) -> int32:
    """1 if two triangles have a point in common, in one plane or not, else 0."""
    return _triangles_meet(v0, v1, v2, u0, u1, u2, float64(2.0e-15))
