# Matrices, row by row: `m[i, j]` is row `i`, column `j`.


@internal
def _mat_mul(a: mat[N, K, R], b: mat[K, M, R]) -> mat[N, M, R]:
    r = mat[N, M, R]()
    for i in range(N):
        for j in range(M):
            total = a[i, 0] * b[0, j]
            for k in range(1, K):
                total = total + a[i, k] * b[k, j]
            r[i, j] = total
    return r


@internal
def _mat_vec(a: mat[N, M, R], v: vec[M, R]) -> vec[N, R]:
    r = vec[N, R]()
    for i in range(N):
        total = a[i, 0] * v[0]
        for j in range(1, M):
            total = total + a[i, j] * v[j]
        r[i] = total
    return r


@internal
def _vec_mat(v: vec[N, R], a: mat[N, M, R]) -> vec[M, R]:
    r = vec[M, R]()
    for j in range(M):
        total = v[0] * a[0, j]
        for i in range(1, N):
            total = total + v[i] * a[i, j]
        r[j] = total
    return r


@internal
def _mat_eq(a: mat[N, M, S], b: mat[N, M, S]) -> bool:
    same = a[0, 0] == b[0, 0]
    for i in range(N):
        for j in range(M):
            same = same and a[i, j] == b[i, j]
    return same


@builtin("Vector Math")
def ddot(a: mat[N, M, R], b: mat[N, M, R]) -> R:
    """The sum of the products of corresponding components."""
    total = R(0)
    for i in range(N):
        for j in range(M):
            total = total + a[i, j] * b[i, j]
    return total


@builtin("Vector Math")
def cw_mul(a: mat[N, M, R], b: mat[N, M, R]) -> mat[N, M, R]:
    """The products of corresponding components."""
    r = mat[N, M, R]()
    for i in range(N):
        for j in range(M):
            r[i, j] = a[i, j] * b[i, j]
    return r


@builtin("Vector Math")
def cw_div(a: mat[N, M, R], b: mat[N, M, R]) -> mat[N, M, R]:
    """The quotients of corresponding components."""
    r = mat[N, M, R]()
    for i in range(N):
        for j in range(M):
            r[i, j] = a[i, j] / b[i, j]
    return r


@builtin("Vector Math")
def transpose(a: mat[N, M, S]) -> mat[M, N, S]:
    """The matrix with rows and columns exchanged."""
    r = mat[M, N, S]()
    for i in range(N):
        for j in range(M):
            r[j, i] = a[i, j]
    return r


@builtin("Vector Math")
def trace(a: mat[N, N, R]) -> R:
    """The sum of the diagonal."""
    total = a[0, 0]
    for i in range(1, N):
        total = total + a[i, i]
    return total


@builtin("Vector Math")
def diag(vec: vec[N, R]) -> mat[N, N, R]:
    """The matrix with a vector on its diagonal and zeros elsewhere."""
    return _diag(vec)


@internal
def _diag(v: vec[N, R]) -> mat[N, N, R]:
    r = mat[N, N, R]()
    for i in range(N):
        r[i, i] = v[i]
    return r


@builtin("Vector Math")
def get_diag(mat: mat[N, N, R]) -> vec[N, R]:
    """The diagonal of a square matrix."""
    return _get_diag(mat)


@internal
def _get_diag(m: mat[N, N, R]) -> vec[N, R]:
    r = vec[N, R]()
    for i in range(N):
        r[i] = m[i, i]
    return r


@builtin("Vector Math")
def skew(vec: vec[3, R]) -> mat[3, 3, R]:
    """The matrix whose product with a vector `x` is `cross(vec, x)`."""
    return _skew(vec)


@internal
def _skew(v: vec[3, R]) -> mat[3, 3, R]:
    zero = R(0)
    return mat[3, 3, R](zero, -v[2], v[1], v[2], zero, -v[0], -v[1], v[0], zero)


@builtin("Vector Math")
def determinant(a: mat[2, 2, F]) -> F:
    """The determinant."""
    return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]


@builtin("Vector Math")
def determinant(a: mat[3, 3, F]) -> F:
    """The determinant."""
    return (
        a[0, 0] * (a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1])
        - a[0, 1] * (a[1, 0] * a[2, 2] - a[1, 2] * a[2, 0])
        + a[0, 2] * (a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0])
    )


@builtin("Vector Math")
def determinant(a: mat[4, 4, F]) -> F:
    """The determinant."""
    top = _top_minors(a)
    bottom = _bottom_minors(a)
    return (
        top[0] * bottom[5]
        - top[1] * bottom[4]
        + top[2] * bottom[3]
        + top[3] * bottom[2]
        - top[4] * bottom[1]
        + top[5] * bottom[0]
    )


@internal
def _top_minors(a: mat[4, 4, F]) -> vec[6, F]:
    # The 2 x 2 minors of the first two rows over the column pairs 01, 02, 03, 12, 13, 23.
    return vec[6, F](
        a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0],
        a[0, 0] * a[1, 2] - a[0, 2] * a[1, 0],
        a[0, 0] * a[1, 3] - a[0, 3] * a[1, 0],
        a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1],
        a[0, 1] * a[1, 3] - a[0, 3] * a[1, 1],
        a[0, 2] * a[1, 3] - a[0, 3] * a[1, 2],
    )


@internal
def _bottom_minors(a: mat[4, 4, F]) -> vec[6, F]:
    # The 2 x 2 minors of the last two rows over the column pairs 01, 02, 03, 12, 13, 23.
    return vec[6, F](
        a[2, 0] * a[3, 1] - a[2, 1] * a[3, 0],
        a[2, 0] * a[3, 2] - a[2, 2] * a[3, 0],
        a[2, 0] * a[3, 3] - a[2, 3] * a[3, 0],
        a[2, 1] * a[3, 2] - a[2, 2] * a[3, 1],
        a[2, 1] * a[3, 3] - a[2, 3] * a[3, 1],
        a[2, 2] * a[3, 3] - a[2, 3] * a[3, 2],
    )


@builtin("Vector Math")
def inverse(a: mat[2, 2, F]) -> mat[2, 2, F]:
    """The inverse; a matrix of determinant zero gives zero."""
    det = determinant(a)
    if det == F(0.0):
        return mat[2, 2, F]()
    return mat[2, 2, F](a[1, 1], -a[0, 1], -a[1, 0], a[0, 0]) / det


@builtin("Vector Math")
def inverse(a: mat[3, 3, F]) -> mat[3, 3, F]:
    """The inverse; a matrix of determinant zero gives zero."""
    det = determinant(a)
    if det == F(0.0):
        return mat[3, 3, F]()
    adjugate = mat[3, 3, F](
        a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1],
        a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2],
        a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1],
        a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2],
        a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0],
        a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2],
        a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0],
        a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1],
        a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0],
    )
    return adjugate / det


@builtin("Vector Math")
def inverse(a: mat[4, 4, F]) -> mat[4, 4, F]:
    """The inverse; a matrix of determinant zero gives zero."""
    s = _top_minors(a)
    c = _bottom_minors(a)
    det = s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0]
    if det == F(0.0):
        return mat[4, 4, F]()
    adjugate = mat[4, 4, F](
        a[1, 1] * c[5] - a[1, 2] * c[4] + a[1, 3] * c[3],
        -a[0, 1] * c[5] + a[0, 2] * c[4] - a[0, 3] * c[3],
        a[3, 1] * s[5] - a[3, 2] * s[4] + a[3, 3] * s[3],
        -a[2, 1] * s[5] + a[2, 2] * s[4] - a[2, 3] * s[3],
        -a[1, 0] * c[5] + a[1, 2] * c[2] - a[1, 3] * c[1],
        a[0, 0] * c[5] - a[0, 2] * c[2] + a[0, 3] * c[1],
        -a[3, 0] * s[5] + a[3, 2] * s[2] - a[3, 3] * s[1],
        a[2, 0] * s[5] - a[2, 2] * s[2] + a[2, 3] * s[1],
        a[1, 0] * c[4] - a[1, 1] * c[2] + a[1, 3] * c[0],
        -a[0, 0] * c[4] + a[0, 1] * c[2] - a[0, 3] * c[0],
        a[3, 0] * s[4] - a[3, 1] * s[2] + a[3, 3] * s[0],
        -a[2, 0] * s[4] + a[2, 1] * s[2] - a[2, 3] * s[0],
        -a[1, 0] * c[3] + a[1, 1] * c[1] - a[1, 2] * c[0],
        a[0, 0] * c[3] - a[0, 1] * c[1] + a[0, 2] * c[0],
        -a[3, 0] * s[3] + a[3, 1] * s[1] - a[3, 2] * s[0],
        a[2, 0] * s[3] - a[2, 1] * s[1] + a[2, 2] * s[0],
    )
    return adjugate / det


@builtin("Vector Math")
def inverse_approx(a: mat[2, 2, F]) -> mat[2, 2, F]:
    """The inverse, possibly less accurate than `inverse`."""
    return inverse(a)


@builtin("Vector Math")
def inverse_approx(a: mat[3, 3, F]) -> mat[3, 3, F]:
    """The inverse, possibly less accurate than `inverse`."""
    return inverse(a)


@builtin("Vector Math")
def inverse_approx(a: mat[4, 4, F]) -> mat[4, 4, F]:
    """The inverse, possibly less accurate than `inverse`."""
    return inverse(a)
