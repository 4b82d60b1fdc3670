# Decompositions of small matrices by rotations of columns.
#
# Inputs are scaled by their largest component, so that squares neither overflow nor vanish. The half-precision types
# are decomposed in float32.


@internal
def _largest(a: mat[N, M, F]) -> F:
    # The largest magnitude, or 1 for the zero matrix: what to divide by.
    m = F(0.0)
    for i in range(N):
        for j in range(M):
            m = max(m, abs(a[i, j]))
    return where(m > F(0.0), m, F(1.0))


@internal
def _tangent(difference: F, mixed: F) -> F:
    # Of the smaller angle whose rotation makes the symmetric matrix of off-diagonal `mixed`, whose diagonal grows by
    # `difference`, diagonal (Golub and Van Loan, section 8.5).
    zeta = difference / (F(2.0) * mixed)
    t = F(1.0) / (abs(zeta) + sqrt(F(1.0) + zeta * zeta))
    return where(zeta < F(0.0), -t, t)


@internal
def _make_orthogonal(a: ref[vec[N, F]], b: ref[vec[N, F]], u: ref[vec[M, F]], v: ref[vec[M, F]]) -> bool:
    # Turns columns `a` and `b` in their plane until they are orthogonal, and `u` and `v` with them. Whether that
    # changed them by more than rounding.
    aa = dot(a, a)
    bb = dot(b, b)
    ab = dot(a, b)
    size = F(8.0) * sqrt(aa * bb)
    turn = size + abs(ab) != size
    if turn:
        t = _tangent(bb - aa, ab)
        c = F(1.0) / sqrt(F(1.0) + t * t)
        s = c * t
        x = a
        a = x * c - b * s
        b = x * s + b * c
        y = u
        u = y * c - v * s
        v = y * s + v * c
    return turn


@internal
def _longer_first(a: ref[vec[N, F]], b: ref[vec[N, F]], u: ref[vec[M, F]], v: ref[vec[M, F]]):
    # A quarter turn, not an exchange: the determinant stays.
    if dot(a, a) < dot(b, b):
        x = a
        a = b
        b = -x
        y = u
        u = v
        v = -y


@internal
def _zero_below(a: F, b: F) -> vec[2, F]:
    # Cosine and sine of the rotation that turns (a, b) into (length, 0).
    m = max(abs(a), abs(b))
    if m == F(0.0):
        return vec[2, F](F(1.0), F(0.0))
    x = a / m
    y = b / m
    size = sqrt(x * x + y * y)
    return vec[2, F](x / size, y / size)


@builtin("Vector Math")
def qr3(A: mat[3, 3, F]) -> tuple[mat[3, 3, F], mat[3, 3, F]]:
    """A rotation `Q` and an upper triangular `R` whose product is `A`.

    The first two diagonal components of `R` are not negative; the third has the sign of the determinant.
    """
    r = A
    q = mat[3, 3, F]()
    for i in range(3):
        q[i, i] = F(1.0)
    for step in range(3):
        # Clears (1, 0), (2, 0) and (2, 1), in this order.
        upper = step // 2
        lower = (step + 3) // 2
        turn = _zero_below(r[upper, upper], r[lower, upper])
        c = turn[0]
        s = turn[1]
        for j in range(3):
            x = r[upper, j]
            y = r[lower, j]
            r[upper, j] = c * x + s * y
            r[lower, j] = c * y - s * x
            x = q[j, upper]
            y = q[j, lower]
            q[j, upper] = c * x + s * y
            q[j, lower] = c * y - s * x
        r[lower, upper] = F(0.0)
    return q, r


@internal
def _adj_qr3(A: mat[3, 3, F], adj_Q: mat[3, 3, F], adj_R: mat[3, 3, F]):
    # Walter and Lehmann, "Algorithmic differentiation of linear algebra functions", 2010. What is below the diagonal of R
    # is always zero.
    Q, R = qr3(A)
    upper = adj_R
    upper[1, 0] = F(0.0)
    upper[2, 0] = F(0.0)
    upper[2, 1] = F(0.0)
    whole = R * transpose(upper) - transpose(adj_Q) * Q
    for i in range(3):
        for j in range(3):
            if j > i:
                whole[i, j] = whole[j, i]
    rest = adj_Q + Q * whole
    # Times the inverse of the transpose of R, from the last column on. A column that depends on those before has no
    # derivative; nothing flows through it.
    found = mat[3, 3, F]()
    for step in range(3):
        j = 2 - step
        if R[j, j] != F(0.0):
            for i in range(3):
                x = rest[i, j]
                for k in range(3):
                    if k > j:
                        x = x - found[i, k] * R[j, k]
                found[i, j] = x / R[j, j]
    adjoint[A] += found


@builtin("Vector Math")
def qr3(A: mat[3, 3, F], Q: ref[mat[3, 3, F]], R: ref[mat[3, 3, F]]):
    """Stores a rotation `Q` and an upper triangular `R` whose product is `A`."""
    Q, R = qr3(A)


@internal
def _svd2(m: mat[2, 2, F]) -> tuple[mat[2, 2, F], vec[2, F], mat[2, 2, F]]:
    zero = F(0.0)
    one = F(1.0)
    scale = _largest(m)
    a = vec[2, F](m[0, 0] / scale, m[1, 0] / scale)
    b = vec[2, F](m[0, 1] / scale, m[1, 1] / scale)
    p = vec[2, F](one, zero)
    q = vec[2, F](zero, one)
    # Twice: the second turn takes away what rounding left.
    _make_orthogonal(a, b, p, q)
    _make_orthogonal(a, b, p, q)
    _longer_first(a, b, p, q)
    first = length(a)
    u = where(first > zero, a / first, vec[2, F](one, zero))
    second = u[0] * b[1] - u[1] * b[0]
    side = where(second < zero, -one, one)
    left = mat[2, 2, F](u[0], -u[1] * side, u[1], u[0] * side)
    return left, vec[2, F](first, second * side) * scale, mat[2, 2, F](p[0], q[0], p[1], q[1])


@internal
def _adj__svd2(m: mat[2, 2, F], adj_U: mat[2, 2, F], adj_sigma: vec[2, F], adj_V: mat[2, 2, F]):
    # Townsend, "Differentiating the singular value decomposition", 2016. Directions within the space of a repeated
    # singular value are a matter of choice: nothing flows through them.
    U, sigma, V = _svd2(m)
    left = transpose(U) * adj_U
    right = transpose(V) * adj_V
    inner = mat[2, 2, F]()
    for i in range(2):
        for j in range(2):
            gap = (sigma[j] - sigma[i]) * (sigma[j] + sigma[i])
            if i == j:
                inner[i, j] = adj_sigma[i]
            elif gap != F(0.0):
                inner[i, j] = ((left[i, j] - left[j, i]) * sigma[j] + sigma[i] * (right[i, j] - right[j, i])) / gap
    adjoint[m] += U * inner * transpose(V)


@internal
def _svd3(m: mat[3, 3, F]) -> tuple[mat[3, 3, F], vec[3, F], mat[3, 3, F]]:
    zero = F(0.0)
    one = F(1.0)
    scale = _largest(m)
    a = vec[3, F](m[0, 0], m[1, 0], m[2, 0]) / scale
    b = vec[3, F](m[0, 1], m[1, 1], m[2, 1]) / scale
    c = vec[3, F](m[0, 2], m[1, 2], m[2, 2]) / scale
    p = vec[3, F](one, zero, zero)
    q = vec[3, F](zero, one, zero)
    r = vec[3, F](zero, zero, one)
    # One-sided Jacobi (Hestenes): it converges quadratically; the limit is for NaN.
    turning = True
    sweep = int32(0)
    while turning and sweep < int32(12):
        ab = _make_orthogonal(a, b, p, q)
        ac = _make_orthogonal(a, c, p, r)
        bc = _make_orthogonal(b, c, q, r)
        turning = ab or ac or bc
        sweep = sweep + int32(1)
    _longer_first(a, b, p, q)
    _longer_first(a, c, p, r)
    _longer_first(b, c, q, r)
    columns = mat[3, 3, F](a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2])
    left, triangle = qr3(columns)
    right = mat[3, 3, F](p[0], q[0], r[0], p[1], q[1], r[1], p[2], q[2], r[2])
    return left, vec[3, F](triangle[0, 0], triangle[1, 1], triangle[2, 2]) * scale, right


@internal
def _adj__svd3(m: mat[3, 3, F], adj_U: mat[3, 3, F], adj_sigma: vec[3, F], adj_V: mat[3, 3, F]):
    # Townsend, "Differentiating the singular value decomposition", 2016. Directions within the space of a repeated
    # singular value are a matter of choice: nothing flows through them.
    U, sigma, V = _svd3(m)
    left = transpose(U) * adj_U
    right = transpose(V) * adj_V
    inner = mat[3, 3, F]()
    for i in range(3):
        for j in range(3):
            gap = (sigma[j] - sigma[i]) * (sigma[j] + sigma[i])
            if i == j:
                inner[i, j] = adj_sigma[i]
            elif gap != F(0.0):
                inner[i, j] = ((left[i, j] - left[j, i]) * sigma[j] + sigma[i] * (right[i, j] - right[j, i])) / gap
    adjoint[m] += U * inner * transpose(V)


@internal
def _diagonalize(
    xx: ref[F], yy: ref[F], xy: ref[F], xz: ref[F], yz: ref[F], p: ref[vec[3, F]], q: ref[vec[3, F]]
) -> bool:
    # Turns the axes x and y of a symmetric matrix until its component `xy` is zero, and the columns `p` and `q` with
    # them. Whether that changed it by more than rounding.
    turn = F(8.0) + abs(xy) != F(8.0)
    if turn:
        t = _tangent(yy - xx, xy)
        c = F(1.0) / sqrt(F(1.0) + t * t)
        s = c * t
        xx = xx - t * xy
        yy = yy + t * xy
        xy = F(0.0)
        z = xz
        xz = c * z - s * yz
        yz = s * z + c * yz
        x = p
        p = x * c - q * s
        q = x * s + q * c
    return turn


@internal
def _eig3(m: mat[3, 3, F]) -> tuple[mat[3, 3, F], vec[3, F]]:
    zero = F(0.0)
    one = F(1.0)
    scale = _largest(m)
    xx = m[0, 0] / scale
    yy = m[1, 1] / scale
    zz = m[2, 2] / scale
    xy = m[1, 0] / scale
    xz = m[2, 0] / scale
    yz = m[2, 1] / scale
    p = vec[3, F](one, zero, zero)
    q = vec[3, F](zero, one, zero)
    r = vec[3, F](zero, zero, one)
    turning = True
    sweep = int32(0)
    while turning and sweep < int32(12):
        a = _diagonalize(xx, yy, xy, xz, yz, p, q)
        b = _diagonalize(xx, zz, xz, xy, yz, p, r)
        c = _diagonalize(yy, zz, yz, xy, xz, q, r)
        turning = a or b or c
        sweep = sweep + int32(1)
    vectors = mat[3, 3, F](p[0], q[0], r[0], p[1], q[1], r[1], p[2], q[2], r[2])
    return vectors, vec[3, F](xx, yy, zz) * scale


@builtin("Vector Math")
def svd2(A: mat[2, 2, float16]) -> tuple[mat[2, 2, float16], vec[2, float16], mat[2, 2, float16]]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    The components of `sigma` are not negative, the larger one first. `V` is a rotation.
    """
    u, s, v = _svd2(mat[2, 2, float32](A))
    return mat[2, 2, float16](u), vec[2, float16](s), mat[2, 2, float16](v)


@builtin("Vector Math")
def svd2(A: mat[2, 2, bfloat16]) -> tuple[mat[2, 2, bfloat16], vec[2, bfloat16], mat[2, 2, bfloat16]]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    The components of `sigma` are not negative, the larger one first. `V` is a rotation.
    """
    u, s, v = _svd2(mat[2, 2, float32](A))
    return mat[2, 2, bfloat16](u), vec[2, bfloat16](s), mat[2, 2, bfloat16](v)


@builtin("Vector Math")
def svd2(A: mat[2, 2, F]) -> tuple[mat[2, 2, F], vec[2, F], mat[2, 2, F]]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    The components of `sigma` are not negative, the larger one first. `V` is a rotation.
    """
    return _svd2(A)


@builtin("Vector Math")
def svd2(A: mat[2, 2, F], U: ref[mat[2, 2, F]], sigma: ref[vec[2, F]], V: ref[mat[2, 2, F]]):
    """Stores the singular value decomposition of `A`: `A = U @ diag(sigma) @ transpose(V)`."""
    U, sigma, V = svd2(A)


@builtin("Vector Math")
def svd3(A: mat[3, 3, float16]) -> tuple[mat[3, 3, float16], vec[3, float16], mat[3, 3, float16]]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    `U` and `V` are rotations. `sigma` goes from large to small; its last component has the determinant's sign.
    """
    u, s, v = _svd3(mat[3, 3, float32](A))
    return mat[3, 3, float16](u), vec[3, float16](s), mat[3, 3, float16](v)


@builtin("Vector Math")
def svd3(A: mat[3, 3, bfloat16]) -> tuple[mat[3, 3, bfloat16], vec[3, bfloat16], mat[3, 3, bfloat16]]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    `U` and `V` are rotations. `sigma` goes from large to small; its last component has the determinant's sign.
    """
    u, s, v = _svd3(mat[3, 3, float32](A))
    return mat[3, 3, bfloat16](u), vec[3, bfloat16](s), mat[3, 3, bfloat16](v)


@builtin("Vector Math")
def svd3(A: mat[3, 3, F]) -> tuple[mat[3, 3, F], vec[3, F], mat[3, 3, F]]:
    """Two orthogonal matrices `U` and `V` and a vector `sigma` with `A = U @ diag(sigma) @ transpose(V)`.

    `U` and `V` are rotations. `sigma` goes from large to small; its last component has the determinant's sign.
    """
    return _svd3(A)


@builtin("Vector Math")
def svd3(A: mat[3, 3, F], U: ref[mat[3, 3, F]], sigma: ref[vec[3, F]], V: ref[mat[3, 3, F]]):
    """Stores the singular value decomposition of `A`: `A = U @ diag(sigma) @ transpose(V)`."""
    U, sigma, V = svd3(A)


@builtin("Vector Math")
def eig3(A: mat[3, 3, float16]) -> tuple[mat[3, 3, float16], vec[3, float16]]:
    """The eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order."""
    q, d = _eig3(mat[3, 3, float32](A))
    return mat[3, 3, float16](q), vec[3, float16](d)


@builtin("Vector Math")
def eig3(A: mat[3, 3, bfloat16]) -> tuple[mat[3, 3, bfloat16], vec[3, bfloat16]]:
    """The eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order."""
    q, d = _eig3(mat[3, 3, float32](A))
    return mat[3, 3, bfloat16](q), vec[3, bfloat16](d)


@builtin("Vector Math")
def eig3(A: mat[3, 3, F]) -> tuple[mat[3, 3, F], vec[3, F]]:
    """The eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order."""
    return _eig3(A)


@internal
def _adj__eig3(A: mat[3, 3, F], adj_Q: mat[3, 3, F], adj_d: vec[3, F]):
    # The matrix is symmetric, and so is its gradient. Directions within the space of a repeated eigenvalue are a matter of
    # choice: nothing flows through them.
    Q, d = _eig3(A)
    turned = transpose(Q) * adj_Q
    inner = mat[3, 3, F]()
    for i in range(3):
        for j in range(3):
            if i == j:
                inner[i, j] = adj_d[i]
            elif d[i] != d[j]:
                inner[i, j] = turned[i, j] / (d[j] - d[i])
    whole = Q * inner * transpose(Q)
    adjoint[A] += (whole + transpose(whole)) * F(0.5)


@builtin("Vector Math")
def eig3(A: mat[3, 3, F], Q: ref[mat[3, 3, F]], d: ref[vec[3, F]]):
    """Stores the eigenvectors, columns of a rotation `Q`, and eigenvalues `d` of a symmetric matrix, in no order."""
    Q, d = eig3(A)
