# Scalar functions that are compositions of operations.


@builtin("Scalar Math")
def clamp(x: R, low: R, high: R) -> R:
    """`x` limited to the range from `low` to `high`.

    If `low` is above `high`, the result is `high`. A NaN `x` gives `low`.
    """
    return min(max(low, x), high)


@builtin("Scalar Math")
def sign(x: R) -> R:
    """-1 for negative `x`, else 1; zero counts as positive."""
    return where(x < R(0), R(0) - R(1), R(1))


@builtin("Vector Math")
def sign(x: vec[N, R]) -> vec[N, R]:
    """-1 for each negative component, else 1."""
    r = vec[N, R]()
    for i in range(N):
        r[i] = sign(x[i])
    return r


@builtin("Scalar Math")
def step(x: R) -> R:
    """1 for negative `x`, else 0."""
    return where(x < R(0), R(1), R(0))


@builtin("Scalar Math")
def nonzero(x: R) -> R:
    """0 if `x` is zero, else 1."""
    return where(x == R(0), R(0), R(1))


@builtin("Scalar Math")
def frac(x: F) -> F:
    """The fraction of `x`, with the sign of `x`."""
    return x - trunc(x)


@builtin("Scalar Math")
def degrees(x: F) -> F:
    """An angle in radians turned into degrees."""
    return x * F(57.29577951308232)


@builtin("Scalar Math")
def radians(x: F) -> F:
    """An angle in degrees turned into radians."""
    return x * F(0.017453292519943295)


@builtin("Scalar Math")
def copysign(x: float32, y: float32) -> float32:
    """The magnitude of `x` with the sign of `y`; the sign of a zero or NaN `y` counts."""
    return where(bitcast(y, int32) < int32(0), -abs(x), abs(x))


@builtin("Scalar Math")
def copysign(x: float64, y: float64) -> float64:
    """The magnitude of `x` with the sign of `y`; the sign of a zero or NaN `y` counts."""
    return where(bitcast(y, int64) < int64(0), -abs(x), abs(x))


@builtin("Scalar Math")
def copysign(x: float16, y: float16) -> float16:
    """The magnitude of `x` with the sign of `y`; the sign of a zero or NaN `y` counts."""
    return where(bitcast(y, int16) < int16(0), -abs(x), abs(x))


@builtin("Scalar Math")
def copysign(x: bfloat16, y: bfloat16) -> bfloat16:
    """The magnitude of `x` with the sign of `y`; the sign of a zero or NaN `y` counts."""
    return where(bitcast(y, int16) < int16(0), -abs(x), abs(x))


@builtin("Operators")
def div_approx(a: F, b: F) -> F:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Operators")
def div_approx(a: vec[N, F], b: F) -> vec[N, F]:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Operators")
def div_approx(a: mat[N, M, F], b: F) -> mat[N, M, F]:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Operators")
def div_approx(a: quat[F], b: F) -> quat[F]:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Operators")
def div_approx(a: F, b: vec[N, F]) -> vec[N, F]:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Operators")
def div_approx(a: F, b: mat[N, M, F]) -> mat[N, M, F]:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Operators")
def div_approx(a: F, b: quat[F]) -> quat[F]:
    """`a / b`, possibly less accurate than the operator."""
    return a / b


@builtin("Utility")
def smoothstep(a: F, b: F, x: F) -> F:
    """0 up to `a`, 1 from `b`, and a cubic with flat ends in between."""
    t = clamp((x - a) / (b - a), F(0.0), F(1.0))
    return t * t * (F(3.0) - F(2.0) * t)


@builtin("Utility")
def lerp(a: F, b: F, t: F) -> F:
    """The point a fraction `t` of the way from `a` to `b`; `t` outside 0 to 1 extrapolates."""
    return a * (F(1.0) - t) + b * t


@builtin("Utility")
def lerp(a: vec[N, F], b: vec[N, F], t: F) -> vec[N, F]:
    """The point a fraction `t` of the way from `a` to `b`."""
    return a * (F(1.0) - t) + b * t


@builtin("Utility")
def lerp(a: mat[N, M, F], b: mat[N, M, F], t: F) -> mat[N, M, F]:
    """Each component a fraction `t` of the way from `a` to `b`."""
    return a * (F(1.0) - t) + b * t


@builtin("Utility")
def lerp(a: quat[F], b: quat[F], t: F) -> quat[F]:
    """Each component a fraction `t` of the way from `a` to `b`; the result is not normalized."""
    return a * (F(1.0) - t) + b * t


@builtin("Utility")
def lerp(a: transform[F], b: transform[F], t: F) -> transform[F]:
    """Each component a fraction `t` of the way from `a` to `b`; the rotation is not normalized."""
    r = a
    for i in range(7):
        r[i] = a[i] * (F(1.0) - t) + b[i] * t
    return r


@builtin("Other")
def lower_bound(arr: array[R, 1], value: R) -> int32:
    """Index of the first element of a sorted array that is not below `value`.

    The last index if every element is below it; `arr` has at least one element.
    """
    return lower_bound(arr, int32(0), int32(len(arr)), value)


@builtin("Other")
def lower_bound(arr: array[R, 1], arr_begin: int32, arr_end: int32, value: R) -> int32:
    """Index of the first element not below `value` among those from `arr_begin` to before `arr_end`.

    The elements there are sorted. The last of these indices if every element is below `value`.
    """
    low = arr_begin
    high = arr_end - int32(1)
    while low < high:
        middle = low + (high - low) // int32(2)
        if arr[middle] < value:
            low = middle + int32(1)
        else:
            high = middle
    return low
