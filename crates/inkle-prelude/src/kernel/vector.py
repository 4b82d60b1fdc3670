# Vectors of any length, and the vector side of quaternions.


@builtin("Vector Math")
def dot(a: vec[N, R], b: vec[N, R]) -> R:
    """The sum of the products of components."""
    # Starting from the first product and not from zero saves an addition that no optimiser may drop.
    total = a[0] * b[0]
    for i in range(1, N):
        total = total + a[i] * b[i]
    return total


@builtin("Quaternion Math")
def dot(a: quat[F], b: quat[F]) -> F:
    """The sum of the products of components."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]


@builtin("Vector Math")
def cross(a: vec[3, R], b: vec[3, R]) -> vec[3, R]:
    """The vector perpendicular to both, by the right-hand rule, as long as the area they span."""
    return vec[3, R](
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@builtin("Vector Math")
def length_sq(a: vec[N, R]) -> R:
    """The square of the Euclidean length."""
    return dot(a, a)


@builtin("Quaternion Math")
def length_sq(a: quat[F]) -> F:
    """The sum of the squares of the components."""
    return dot(a, a)


@builtin("Vector Math")
def length(a: vec[N, F]) -> F:
    """The Euclidean length."""
    return sqrt(dot(a, a))


@builtin("Quaternion Math")
def length(a: quat[F]) -> F:
    """The square root of the sum of the squares of the components."""
    return sqrt(dot(a, a))


@internal
def _adj_length(a: vec[N, F], adj_ret: F):
    # The zero vector has no direction in which it could grow.
    size = length(a)
    if size > F(0.0):
        adjoint[a] += a * (adj_ret / size)


@internal
def _adj_length(a: quat[F], adj_ret: F):
    size = length(a)
    if size > F(0.0):
        adjoint[a] += a * (adj_ret / size)


@builtin("Vector Math")
def normalize(a: vec[N, F]) -> vec[N, F]:
    """`a` scaled to length 1; the zero vector stays zero."""
    size = length(a)
    if size > F(0.0):
        return a / size
    return vec[N, F]()


@builtin("Quaternion Math")
def normalize(a: quat[F]) -> quat[F]:
    """`a` scaled to length 1; zero gives the identity."""
    size = length(a)
    if size > F(0.0):
        return a / size
    return quat[F](F(0.0), F(0.0), F(0.0), F(1.0))


@internal
def _adj_normalize(a: vec[N, F], adj_ret: vec[N, F]):
    # What is along the direction changes the length only.
    size = length(a)
    if size > F(0.0):
        n = a / size
        adjoint[a] += (adj_ret - n * dot(n, adj_ret)) / size


@internal
def _adj_normalize(a: quat[F], adj_ret: quat[F]):
    size = length(a)
    if size > F(0.0):
        n = a / size
        adjoint[a] += (adj_ret - n * dot(n, adj_ret)) / size


@builtin("Vector Math")
def cw_mul(a: vec[N, R], b: vec[N, R]) -> vec[N, R]:
    """The products of corresponding components."""
    r = vec[N, R]()
    for i in range(N):
        r[i] = a[i] * b[i]
    return r


@builtin("Vector Math")
def cw_div(a: vec[N, R], b: vec[N, R]) -> vec[N, R]:
    """The quotients of corresponding components."""
    r = vec[N, R]()
    for i in range(N):
        r[i] = a[i] / b[i]
    return r


@builtin("Vector Math")
def outer(a: vec[N, R], b: vec[M, R]) -> mat[N, M, R]:
    """The matrix whose component `[i, j]` is `a[i] * b[j]`."""
    r = mat[N, M, R]()
    for i in range(N):
        for j in range(M):
            r[i, j] = a[i] * b[j]
    return r


@builtin("Vector Math")
def min(a: vec[N, R]) -> R:
    """The smallest component."""
    best = a[0]
    for i in range(1, N):
        best = min(best, a[i])
    return best


@builtin("Vector Math")
def max(a: vec[N, R]) -> R:
    """The largest component."""
    best = a[0]
    for i in range(1, N):
        best = max(best, a[i])
    return best


@builtin("Vector Math")
def argmin(a: vec[N, R]) -> uint32:
    """Index of the smallest component, the first of equals."""
    best = a[0]
    index = uint32(0)
    for i in range(1, N):
        # A leading NaN gives way to any number.
        if a[i] < best or best != best:
            best = a[i]
            index = uint32(i)
    return index


@builtin("Vector Math")
def argmax(a: vec[N, R]) -> uint32:
    """Index of the largest component, the first of equals."""
    best = a[0]
    index = uint32(0)
    for i in range(1, N):
        # A leading NaN gives way to any number.
        if a[i] > best or best != best:
            best = a[i]
            index = uint32(i)
    return index


@builtin("Vector Math")
def isnan(a: vec[N, F]) -> bool:
    """Whether any component is NaN."""
    found = isnan(a[0])
    for i in range(1, N):
        found = found or isnan(a[i])
    return found


@builtin("Vector Math")
def isnan(a: quat[F]) -> bool:
    """Whether any component is NaN."""
    return isnan(a[0]) or isnan(a[1]) or isnan(a[2]) or isnan(a[3])


@builtin("Vector Math")
def isnan(a: mat[N, M, F]) -> bool:
    """Whether any component is NaN."""
    found = isnan(a[0, 0])
    for i in range(N):
        for j in range(M):
            found = found or isnan(a[i, j])
    return found


@builtin("Vector Math")
def isinf(a: vec[N, F]) -> bool:
    """Whether any component is infinite."""
    found = isinf(a[0])
    for i in range(1, N):
        found = found or isinf(a[i])
    return found


@builtin("Vector Math")
def isinf(a: quat[F]) -> bool:
    """Whether any component is infinite."""
    return isinf(a[0]) or isinf(a[1]) or isinf(a[2]) or isinf(a[3])


@builtin("Vector Math")
def isinf(a: mat[N, M, F]) -> bool:
    """Whether any component is infinite."""
    found = isinf(a[0, 0])
    for i in range(N):
        for j in range(M):
            found = found or isinf(a[i, j])
    return found


@builtin("Vector Math")
def isfinite(a: vec[N, F]) -> bool:
    """Whether every component is finite."""
    good = isfinite(a[0])
    for i in range(1, N):
        good = good and isfinite(a[i])
    return good


@builtin("Vector Math")
def isfinite(a: quat[F]) -> bool:
    """Whether every component is finite."""
    return isfinite(a[0]) and isfinite(a[1]) and isfinite(a[2]) and isfinite(a[3])


@builtin("Vector Math")
def isfinite(a: mat[N, M, F]) -> bool:
    """Whether every component is finite."""
    good = isfinite(a[0, 0])
    for i in range(N):
        for j in range(M):
            good = good and isfinite(a[i, j])
    return good


@builtin("Vector Math")
def norm_l1(v: vec[N, F]) -> F:
    """The sum of the magnitudes of the components."""
    total = abs(v[0])
    for i in range(1, N):
        total = total + abs(v[i])
    return total


@builtin("Vector Math")
def norm_l2(v: vec[N, F]) -> F:
    """The Euclidean length."""
    return length(v)


@builtin("Vector Math")
def norm_huber(v: vec[N, F], delta: F = 1.0) -> F:
    """Half the squared length of vectors shorter than `delta`; linear in the length beyond."""
    square = dot(v, v)
    if square <= delta * delta:
        return F(0.5) * square
    return delta * (sqrt(square) - F(0.5) * delta)


@builtin("Vector Math")
def norm_pseudo_huber(v: vec[N, F], delta: F = 1.0) -> F:
    """A smooth length: about `delta` near zero, the Euclidean length far beyond `delta`."""
    return delta * sqrt(F(1.0) + dot(v, v) / (delta * delta))


@builtin("Vector Math")
def smooth_normalize(v: vec[N, F], delta: F = 1.0) -> vec[N, F]:
    """`v` divided by its smooth length `norm_pseudo_huber(v, delta)`; differentiable at zero."""
    return v / norm_pseudo_huber(v, delta)


@internal
def _vec_eq(a: vec[N, S], b: vec[N, S]) -> bool:
    same = a[0] == b[0]
    for i in range(1, N):
        same = same and a[i] == b[i]
    return same


@internal
def _quat_eq(a: quat[F], b: quat[F]) -> bool:
    return a[0] == b[0] and a[1] == b[1] and a[2] == b[2] and a[3] == b[3]
