# Rigid transforms: a position and a unit quaternion; `transform[F]` is indexed flat, position first.


@builtin("Transformations")
def transform_get_translation(xform: transform[F]) -> vec[3, F]:
    """The position."""
    return vec[3, F](xform[0], xform[1], xform[2])


@builtin("Transformations")
def transform_get_rotation(xform: transform[F]) -> quat[F]:
    """The rotation."""
    return quat[F](xform[3], xform[4], xform[5], xform[6])


@builtin("Transformations")
def transform_set_translation(xform: ref[transform[F]], p: vec[3, F]):
    """Replaces the position."""
    xform = transform_set_translation_copy(xform, p)


@builtin("Transformations")
def transform_set_rotation(xform: ref[transform[F]], q: quat[F]):
    """Replaces the rotation."""
    xform = transform_set_rotation_copy(xform, q)


@builtin("Transformations")
def transform_set_translation_copy(xform: transform[F], p: vec[3, F]) -> transform[F]:
    """The transform with another position."""
    return transform[F](p, transform_get_rotation(xform))


@builtin("Transformations")
def transform_set_rotation_copy(xform: transform[F], q: quat[F]) -> transform[F]:
    """The transform with another rotation."""
    return transform[F](transform_get_translation(xform), q)


@builtin("Transformations")
def transform_multiply(a: transform[F], b: transform[F]) -> transform[F]:
    """The transform that does `b` first, then `a`."""
    q = transform_get_rotation(a)
    p = quat_rotate(q, transform_get_translation(b)) + transform_get_translation(a)
    return transform[F](p, _quat_mul(q, transform_get_rotation(b)))


@internal
def _transform_mul(a: transform[F], b: transform[F]) -> transform[F]:
    return transform_multiply(a, b)


@internal
def _transform_eq(a: transform[F], b: transform[F]) -> bool:
    same = a[0] == b[0]
    for i in range(1, 7):
        same = same and a[i] == b[i]
    return same


@builtin("Transformations")
def transform_inverse(xform: transform[F]) -> transform[F]:
    """The transform that undoes `xform`."""
    q = quat_inverse(transform_get_rotation(xform))
    return transform[F](-quat_rotate(q, transform_get_translation(xform)), q)


@builtin("Transformations")
def transform_point(xform: transform[F], point: vec[3, F]) -> vec[3, F]:
    """A point rotated, then moved."""
    return quat_rotate(transform_get_rotation(xform), point) + transform_get_translation(xform)


@builtin("Vector Math")
def transform_point(mat: mat[4, 4, F], point: vec[3, F]) -> vec[3, F]:
    """The first three components of the product of `mat` with `point` and a fourth component 1."""
    return vec[3, F](
        mat[0, 0] * point[0] + mat[0, 1] * point[1] + mat[0, 2] * point[2] + mat[0, 3],
        mat[1, 0] * point[0] + mat[1, 1] * point[1] + mat[1, 2] * point[2] + mat[1, 3],
        mat[2, 0] * point[0] + mat[2, 1] * point[1] + mat[2, 2] * point[2] + mat[2, 3],
    )


@builtin("Transformations")
def transform_vector(xform: transform[F], vec: vec[3, F]) -> vec[3, F]:
    """A direction rotated; the position has no effect on it."""
    return quat_rotate(transform_get_rotation(xform), vec)


@builtin("Vector Math")
def transform_vector(mat: mat[4, 4, F], vec: vec[3, F]) -> vec[3, F]:
    """The first three components of the product of `mat` with `vec` and a fourth component 0."""
    return _transform_vector(mat, vec)


@internal
def _transform_vector(m: mat[4, 4, F], v: vec[3, F]) -> vec[3, F]:
    return vec[3, F](
        m[0, 0] * v[0] + m[0, 1] * v[1] + m[0, 2] * v[2],
        m[1, 0] * v[0] + m[1, 1] * v[1] + m[1, 2] * v[2],
        m[2, 0] * v[0] + m[2, 1] * v[1] + m[2, 2] * v[2],
    )


@builtin("Transformations")
def transform_compose(position: vec[3, F], rotation: quat[F], scale: vec[3, F]) -> mat[4, 4, F]:
    """The matrix that scales along the axes, then rotates, then moves."""
    r = quat_to_matrix(rotation)
    m = mat[4, 4, F]()
    for i in range(3):
        for j in range(3):
            m[i, j] = r[i, j] * scale[j]
        m[i, 3] = position[i]
    m[3, 3] = F(1.0)
    return m


@builtin("Transformations")
def transform_decompose(m: mat[4, 4, F]) -> tuple[vec[3, F], quat[F], vec[3, F]]:
    """The position, rotation and scale that `transform_compose` makes `m` of; the scale is not negative."""
    r = mat[3, 3, F]()
    scale = vec[3, F]()
    for j in range(3):
        column = vec[3, F](m[0, j], m[1, j], m[2, j])
        size = length(column)
        scale[j] = size
        column = column / size
        for i in range(3):
            r[i, j] = column[i]
    return vec[3, F](m[0, 3], m[1, 3], m[2, 3]), quat_from_matrix(r), scale


@builtin("Transformations")
def transform_from_matrix(mat: mat[4, 4, F]) -> transform[F]:
    """The rigid transform of a matrix without scale."""
    return _transform_from_matrix(mat)


@internal
def _transform_from_matrix(m: mat[4, 4, F]) -> transform[F]:
    return transform[F](vec[3, F](m[0, 3], m[1, 3], m[2, 3]), quat_from_matrix(m))


@builtin("Transformations")
def transform_to_matrix(xform: transform[F]) -> mat[4, 4, F]:
    """The 4 x 4 matrix of a rigid transform."""
    one = F(1.0)
    p = transform_get_translation(xform)
    return transform_compose(p, transform_get_rotation(xform), vec[3, F](one, one, one))
