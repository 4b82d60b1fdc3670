# Quaternions: components x, y, z, w; w is the real part.


@internal
def _imaginary(q: quat[F]) -> vec[3, F]:
    return vec[3, F](q[0], q[1], q[2])


@internal
def _quat_mul(a: quat[F], b: quat[F]) -> quat[F]:
    return quat[F](
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@builtin("Quaternion Math")
def quat_inverse(quat: quat[F]) -> quat[F]:
    """The rotation the other way: the conjugate, which is the inverse of a unit quaternion."""
    return _conjugate(quat)


@internal
def _conjugate(q: quat[F]) -> quat[F]:
    return quat[F](-q[0], -q[1], -q[2], q[3])


@builtin("Quaternion Math")
def quat_rotate(quat: quat[F], vec: vec[3, F]) -> vec[3, F]:
    """A vector turned by a unit quaternion."""
    q = _imaginary(quat)
    w = quat[3]
    two = F(2.0)
    return vec * (two * w * w - F(1.0)) + q * (dot(q, vec) * two) + cross(q, vec) * (w * two)


@builtin("Quaternion Math")
def quat_rotate_inv(quat: quat[F], vec: vec[3, F]) -> vec[3, F]:
    """A vector turned by the inverse of a unit quaternion."""
    q = _imaginary(quat)
    w = quat[3]
    two = F(2.0)
    return vec * (two * w * w - F(1.0)) + q * (dot(q, vec) * two) - cross(q, vec) * (w * two)


@builtin("Quaternion Math")
def quat_from_axis_angle(axis: vec[3, F], angle: F) -> quat[F]:
    """The rotation by `angle`, in radians, about a unit vector `axis`, by the right-hand rule."""
    half = angle * F(0.5)
    s = sin(half)
    return quat[F](axis[0] * s, axis[1] * s, axis[2] * s, cos(half))


@builtin("Quaternion Math")
def quat_to_axis_angle(quat: quat[F]) -> tuple[vec[3, F], F]:
    """The unit axis and the angle, from 0 to pi, of a rotation. No rotation has axis zero."""
    v = _imaginary(quat)
    axis = normalize(where(quat[3] < F(0.0), -v, v))
    return axis, F(2.0) * atan2(length(v), abs(quat[3]))


@builtin("Quaternion Math")
def quat_to_axis_angle(quat: quat[F], axis: ref[vec[3, F]], angle: ref[F]):
    """Stores the unit axis and the angle, from 0 to pi, of a rotation. No rotation has axis zero."""
    axis, angle = quat_to_axis_angle(quat)


@builtin("Quaternion Math")
def quat_to_matrix(quat: quat[F]) -> mat[3, 3, F]:
    """The rotation matrix of a unit quaternion."""
    x = quat[0]
    y = quat[1]
    z = quat[2]
    w = quat[3]
    two = F(2.0)
    diagonal = two * w * w - F(1.0)
    return mat[3, 3, F](
        diagonal + two * x * x,
        two * (x * y - w * z),
        two * (x * z + w * y),
        two * (x * y + w * z),
        diagonal + two * y * y,
        two * (y * z - w * x),
        two * (x * z - w * y),
        two * (y * z + w * x),
        diagonal + two * z * z,
    )


@internal
def _quat_from_rotation(m: mat[N, N, F]) -> quat[F]:
    # The diagonal tells the largest of the four components; only that one is divided by.
    half = F(0.5)
    one = F(1.0)
    x = F(0.0)
    y = F(0.0)
    z = F(0.0)
    w = F(0.0)
    t = m[0, 0] + m[1, 1] + m[2, 2]
    if t >= F(0.0):
        h = sqrt(t + one)
        s = half / h
        w = half * h
        x = (m[2, 1] - m[1, 2]) * s
        y = (m[0, 2] - m[2, 0]) * s
        z = (m[1, 0] - m[0, 1]) * s
    elif m[0, 0] >= m[1, 1] and m[0, 0] >= m[2, 2]:
        h = sqrt(m[0, 0] - (m[1, 1] + m[2, 2]) + one)
        s = half / h
        x = half * h
        y = (m[0, 1] + m[1, 0]) * s
        z = (m[2, 0] + m[0, 2]) * s
        w = (m[2, 1] - m[1, 2]) * s
    elif m[1, 1] >= m[2, 2]:
        h = sqrt(m[1, 1] - (m[2, 2] + m[0, 0]) + one)
        s = half / h
        y = half * h
        z = (m[1, 2] + m[2, 1]) * s
        x = (m[0, 1] + m[1, 0]) * s
        w = (m[0, 2] - m[2, 0]) * s
    else:
        h = sqrt(m[2, 2] - (m[0, 0] + m[1, 1]) + one)
        s = half / h
        z = half * h
        x = (m[2, 0] + m[0, 2]) * s
        y = (m[1, 2] + m[2, 1]) * s
        w = (m[1, 0] - m[0, 1]) * s
    return normalize(quat[F](x, y, z, w))


@builtin("Quaternion Math")
def quat_from_matrix(mat: mat[3, 3, F]) -> quat[F]:
    """The unit quaternion of a rotation matrix."""
    return _quat_from_rotation(mat)


@builtin("Quaternion Math")
def quat_from_matrix(mat: mat[4, 4, F]) -> quat[F]:
    """The unit quaternion of the rotation in the upper left 3 x 3 block of a matrix."""
    return _quat_from_rotation(mat)


@builtin("Quaternion Math")
def quat_rpy(roll: F, pitch: F, yaw: F) -> quat[F]:
    """The rotation by `roll` about x, then `pitch` about y, then `yaw` about z, in radians, axes fixed."""
    half = F(0.5)
    sr = sin(roll * half)
    cr = cos(roll * half)
    sp = sin(pitch * half)
    cp = cos(pitch * half)
    sy = sin(yaw * half)
    cy = cos(yaw * half)
    return quat[F](
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


@builtin("Quaternion Math")
def quat_to_rpy(q: quat[F]) -> vec[3, F]:
    """Roll, pitch and yaw, in radians, of a unit quaternion; the opposite of `quat_rpy`."""
    x = q[0]
    y = q[1]
    z = q[2]
    w = q[3]
    one = F(1.0)
    two = F(2.0)
    return vec[3, F](
        atan2(two * (w * x + y * z), one - two * (x * x + y * y)),
        asin(clamp(two * (w * y - z * x), -one, one)),
        atan2(two * (w * z + x * y), one - two * (y * y + z * z)),
    )


@builtin("Quaternion Math")
def quat_slerp(a: quat[F], b: quat[F], t: F) -> quat[F]:
    """The rotation a fraction `t` of the way from `a` to `b`, at constant speed along the shorter way."""
    axis, angle = quat_to_axis_angle(_quat_mul(_conjugate(a), b))
    return _quat_mul(a, quat_from_axis_angle(axis, angle * t))


@internal
def _quat_about(i: int32, angle: F) -> quat[F]:
    # The rotation about coordinate axis i.
    r = quat[F](F(0.0), F(0.0), F(0.0), cos(angle * F(0.5)))
    r[i] = sin(angle * F(0.5))
    return r


@builtin("Quaternion Math")
def quat_from_euler(e: vec[3, F], i: int32, j: int32, k: int32) -> quat[F]:
    """The rotation by `e[i]` about axis `i`, then `e[j]` about axis `j`, then `e[k]` about axis `k`.

    `i`, `j`, `k` are 0, 1, 2, for x, y, z, in any order; axes stay fixed. Angles are in radians.
    """
    return _quat_mul(_quat_about(k, e[k]), _quat_mul(_quat_about(j, e[j]), _quat_about(i, e[i])))


@builtin("Quaternion Math")
def quat_to_euler(q: quat[F], i: int32, j: int32, k: int32) -> vec[3, F]:
    """The angles, in radians, that `quat_from_euler` makes `q` of: component `i` is the angle about axis `i`.

    `i`, `j`, `k` are 0, 1, 2, for x, y, z, in any order. The angle about `j` is from -pi/2 to pi/2, the others
    are not limited to one turn. Where only their sum or difference is determined, the angle about `i` is zero.
    """
    # Bernardes and Viollet (2022): after a quarter turn about j, the sum and the difference of the outer angles
    # appear as two plane angles.
    odd = (i - j) * (j - k) * (k - i) < int32(0)
    side = where(odd, F(-1.0), F(1.0))
    a = q[3] - q[j]
    b = q[i] + q[k] * side
    c = q[j] + q[3]
    d = q[k] * side - q[i]
    middle = F(2.0) * atan2(sqrt(c * c + d * d), sqrt(a * a + b * b))
    half_sum = atan2(b, a)
    half_difference = atan2(d, c)
    tolerance = F(1e-6)
    first = half_sum - half_difference
    third = half_sum + half_difference
    if abs(middle) < tolerance:
        first = F(0.0)
        third = F(2.0) * half_sum
    elif abs(middle - F(3.141592653589793)) < tolerance:
        first = F(0.0)
        third = F(2.0) * half_difference
    r = vec[3, F]()
    r[i] = first
    r[j] = middle - F(1.5707963267948966)
    r[k] = third * side
    return r


@builtin("Quaternion Math")
def quat_twist(axis: vec[3, F], q: quat[F]) -> quat[F]:
    """The part of a rotation that turns about a unit vector `axis`."""
    a = axis * dot(_imaginary(q), axis)
    return normalize(quat[F](a[0], a[1], a[2], q[3]))


@builtin("Quaternion Math")
def quat_twist_angle(axis: vec[3, F], q: quat[F]) -> F:
    """The magnitude, in radians, of the part of a rotation that turns about a unit vector `axis`."""
    return abs(quat_twist_angle_signed(axis, q))


@builtin("Quaternion Math")
def quat_twist_angle_signed(axis: vec[3, F], q: quat[F]) -> F:
    """The angle, in radians and signed by the right-hand rule, by which a rotation turns about `axis`."""
    return F(2.0) * atan2(dot(_imaginary(q), axis), q[3])


@builtin("Quaternion Math")
def quat_between_vectors(a: vec[3, F], b: vec[3, F]) -> quat[F]:
    """The smallest rotation that turns the direction of `a` to the direction of `b`, of any lengths.

    For opposite directions it turns by pi about some axis perpendicular to `a`; it is the identity when `a` or `b`
    is zero.
    """
    from_direction = normalize(a)
    to_direction = normalize(b)
    # Half the way round: the cross product with it stays accurate when `a` and `b` are nearly opposite or parallel.
    half = from_direction + to_direction
    if length_sq(from_direction) * length_sq(to_direction) == F(0.0):
        return quat[F](F(0.0), F(0.0), F(0.0), F(1.0))
    if length_sq(half) < F(1.0e-10):
        axis = _perpendicular(from_direction)
        return quat[F](axis[0], axis[1], axis[2], F(0.0))
    half = normalize(half)
    axis = cross(from_direction, half)
    return quat[F](axis[0], axis[1], axis[2], dot(from_direction, half))


@internal
def _perpendicular(unit: vec[3, F]) -> vec[3, F]:
    """A unit vector perpendicular to `unit`."""
    if abs(unit[0]) < abs(unit[2]):
        return normalize(vec[3, F](F(0.0), -unit[2], unit[1]))
    return normalize(vec[3, F](-unit[1], unit[0], F(0.0)))
