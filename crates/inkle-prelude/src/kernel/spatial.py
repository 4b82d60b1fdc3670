# Spatial vectors: six components, the angular part on top of the linear part.


@internal
def _spatial(w: vec[3, F], v: vec[3, F]) -> vec[6, F]:
    return vec[6, F](w[0], w[1], w[2], v[0], v[1], v[2])


@builtin("Spatial Math")
def spatial_vector(w: vec[3, F], v: vec[3, F]) -> vec[6, F]:
    """A spatial vector of its angular part `w` and its linear part `v`."""
    return _spatial(w, v)


@builtin("Spatial Math")
def spatial_vector(wx: F, wy: F, wz: F, vx: F, vy: F, vz: F) -> vec[6, F]:
    """A spatial vector of its components."""
    return vec[6, F](wx, wy, wz, vx, vy, vz)


@builtin("Spatial Math")
def spatial_top(svec: vec[6, F]) -> vec[3, F]:
    """The angular part: the first three components."""
    return vec[3, F](svec[0], svec[1], svec[2])


@builtin("Spatial Math")
def spatial_bottom(svec: vec[6, F]) -> vec[3, F]:
    """The linear part: the last three components."""
    return vec[3, F](svec[3], svec[4], svec[5])


@builtin("Spatial Math")
def spatial_dot(a: vec[6, F], b: vec[6, F]) -> F:
    """The sum of the products of components."""
    return dot(a, b)


@builtin("Spatial Math")
def spatial_cross(a: vec[6, F], b: vec[6, F]) -> vec[6, F]:
    """The rate of change of a motion vector `b` that moves with velocity `a`."""
    w = spatial_top(a)
    return _spatial(
        cross(w, spatial_top(b)),
        cross(spatial_bottom(a), spatial_top(b)) + cross(w, spatial_bottom(b)),
    )


@builtin("Spatial Math")
def spatial_cross_dual(a: vec[6, F], b: vec[6, F]) -> vec[6, F]:
    """The rate of change of a force vector `b` that moves with velocity `a`."""
    w = spatial_top(a)
    return _spatial(
        cross(w, spatial_top(b)) + cross(spatial_bottom(a), spatial_bottom(b)),
        cross(w, spatial_bottom(b)),
    )


@builtin("Spatial Math")
def spatial_adjoint(r: mat[3, 3, F], s: mat[3, 3, F]) -> mat[6, 6, F]:
    """The 6 x 6 matrix with `r` in both diagonal blocks and `s` below the diagonal."""
    m = mat[6, 6, F]()
    for i in range(3):
        for j in range(3):
            m[i, j] = r[i, j]
            m[i + 3, j + 3] = r[i, j]
            m[i + 3, j] = s[i, j]
    return m


@builtin("Spatial Math")
def transform_twist(t: transform[F], x: vec[6, F]) -> vec[6, F]:
    """A velocity given in the frame of `t`, in the frame that `t` leads to."""
    q = transform_get_rotation(t)
    w = quat_rotate(q, spatial_top(x))
    v = quat_rotate(q, spatial_bottom(x)) + cross(transform_get_translation(t), w)
    return _spatial(w, v)


@builtin("Spatial Math")
def transform_wrench(t: transform[F], x: vec[6, F]) -> vec[6, F]:
    """A torque and force given in the frame of `t`, in the frame that `t` leads to."""
    q = transform_get_rotation(t)
    v = quat_rotate(q, spatial_bottom(x))
    w = quat_rotate(q, spatial_top(x)) + cross(transform_get_translation(t), v)
    return _spatial(w, v)


@builtin("Spatial Math")
def velocity_at_point(qd: vec[6, F], r: vec[3, F]) -> vec[3, F]:
    """The linear velocity at offset `r` from the origin of a body that moves with `qd`."""
    return cross(spatial_top(qd), r) + spatial_bottom(qd)
