# Random numbers: the PCG hash of Jarzynski and Olano (2020), applied to its own result.
#
# Every draw replaces the state by its hash, so a sequence is fixed by its first state.


@internal
def _pcg(x: uint32) -> uint32:
    s = x * uint32(747796405) + uint32(2891336453)
    w = ((s >> ((s >> uint32(28)) + uint32(4))) ^ s) * uint32(277803737)
    return (w >> uint32(22)) ^ w


@builtin("Random")
def rand_init(seed: int32) -> uint32:
    """The state of a sequence of random numbers."""
    return _pcg(uint32(seed))


@builtin("Random")
def rand_init(seed: int32, offset: int32) -> uint32:
    """The state of one of many sequences of a seed: give each thread its own `offset`."""
    return _pcg(uint32(seed) + _pcg(uint32(offset)))


@builtin("Random")
def randi(state: ref[uint32]) -> int32:
    """A whole number, all of `int32` equally likely; advances `state`."""
    state = _pcg(state)
    return int32(state)


@builtin("Random")
def randi(state: ref[uint32], low: int32, high: int32) -> int32:
    """A whole number from `low` to before `high`; advances `state`."""
    state = _pcg(state)
    return int32(state % uint32(high - low)) + low


@builtin("Random")
def randu(state: ref[uint32]) -> uint32:
    """A whole number, all of `uint32` equally likely; advances `state`."""
    state = _pcg(state)
    return state


@builtin("Random")
def randu(state: ref[uint32], low: uint32, high: uint32) -> uint32:
    """A whole number from `low` to before `high`; advances `state`."""
    state = _pcg(state)
    return state % (high - low) + low


@builtin("Random")
def randf(state: ref[uint32]) -> float32:
    """A number from 0 to before 1, a multiple of 2**-24; advances `state`."""
    state = _pcg(state)
    return float32(state >> uint32(8)) * float32(5.9604644775390625e-08)


@builtin("Random")
def randf(state: ref[uint32], low: float32, high: float32) -> float32:
    """A number from `low` to `high`; advances `state`."""
    return (high - low) * randf(state) + low


@builtin("Random")
def randn(state: ref[uint32]) -> float32:
    """A number of the normal distribution of mean 0 and variance 1; advances `state` twice."""
    # The offset keeps zero away from the logarithm.
    radius = sqrt(float32(-2.0) * log(randf(state) + float32(5.9604644775390625e-08)))
    return radius * cos(float32(6.283185307179586) * randf(state))


@builtin("Random")
def sample_cdf(state: ref[uint32], cdf: array[float32, 1]) -> int32:
    """An index drawn with the distribution whose running sums are `cdf`; advances `state`."""
    return lower_bound(cdf, randf(state))


@builtin("Random")
def sample_triangle(state: ref[uint32]) -> vec[2, float32]:
    """Two barycentric coordinates of a point drawn evenly from a triangle; advances `state` twice."""
    r = sqrt(randf(state))
    t = randf(state)
    return vec[2, float32](float32(1.0) - r, t * r)


@builtin("Random")
def sample_unit_ring(state: ref[uint32]) -> vec[2, float32]:
    """A point drawn evenly from the circle of radius 1; advances `state`."""
    angle = randf(state) * float32(6.283185307179586)
    return vec[2, float32](cos(angle), sin(angle))


@builtin("Random")
def sample_unit_disk(state: ref[uint32]) -> vec[2, float32]:
    """A point drawn evenly from the disk of radius 1; advances `state` twice."""
    r = sqrt(randf(state))
    angle = randf(state) * float32(6.283185307179586)
    return vec[2, float32](r * cos(angle), r * sin(angle))


@internal
def _spherical(polar: float32, azimuth: float32) -> vec[3, float32]:
    s = sin(polar)
    return vec[3, float32](s * cos(azimuth), s * sin(azimuth), cos(polar))


@builtin("Random")
def sample_unit_sphere_surface(state: ref[uint32]) -> vec[3, float32]:
    """A unit vector, all directions equally likely; advances `state` twice."""
    polar = acos(float32(1.0) - float32(2.0) * randf(state))
    return _spherical(polar, randf(state) * float32(6.283185307179586))


@builtin("Random")
def sample_unit_sphere(state: ref[uint32]) -> vec[3, float32]:
    """A point drawn evenly from the ball of radius 1; advances `state` three times."""
    direction = sample_unit_sphere_surface(state)
    return direction * cbrt(randf(state))


@builtin("Random")
def sample_unit_hemisphere_surface(state: ref[uint32]) -> vec[3, float32]:
    """A unit vector with z not negative, all directions equally likely; advances `state` twice."""
    polar = acos(float32(1.0) - randf(state))
    return _spherical(polar, randf(state) * float32(6.283185307179586))


@builtin("Random")
def sample_unit_hemisphere(state: ref[uint32]) -> vec[3, float32]:
    """A point drawn evenly from the half ball of radius 1 above z = 0; advances `state` three times."""
    direction = sample_unit_hemisphere_surface(state)
    return direction * cbrt(randf(state))


@builtin("Random")
def sample_unit_square(state: ref[uint32]) -> vec[2, float32]:
    """A point drawn evenly from the square of side 1 around the origin; advances `state` twice."""
    x = randf(state) - float32(0.5)
    y = randf(state) - float32(0.5)
    return vec[2, float32](x, y)


@builtin("Random")
def sample_unit_cube(state: ref[uint32]) -> vec[3, float32]:
    """A point drawn evenly from the cube of side 1 around the origin; advances `state` three times."""
    x = randf(state) - float32(0.5)
    y = randf(state) - float32(0.5)
    z = randf(state) - float32(0.5)
    return vec[3, float32](x, y, z)


@internal
def _log_factorial(n: float64) -> float64:
    # Stirling's series, for arguments where its error is below 1e-9; smaller ones are brought there.
    x = n + float64(1.0)
    product = float64(1.0)
    while x < float64(8.0):
        product = product * x
        x = x + float64(1.0)
    r = float64(1.0) / x
    r2 = r * r
    tail = float64(0.002777777777777778) - r2 * float64(0.0007936507936507937)
    series = r * (float64(0.08333333333333333) - r2 * tail)
    return (x - float64(0.5)) * log(x) - x + float64(0.9189385332046727) + series - log(product)


@builtin("Random")
def poisson(state: ref[uint32], lam: float32) -> uint32:
    """A count of the Poisson distribution of mean `lam`; advances `state` as often as needed."""
    count = uint32(0)
    if lam == float32(0.0):
        return count
    if lam < float32(10.0):
        # Knuth: how many uniform numbers can be multiplied before their product falls to exp(-lam).
        limit = exp(-lam)
        product = randf(state)
        while product > limit:
            product = product * randf(state)
            count = count + uint32(1)
        return count
    # Hoermann (1993): transformed rejection with squeeze.
    b = float32(0.931) + float32(2.53) * sqrt(lam)
    a = float32(-0.059) + float32(0.02483) * b
    inverse_alpha = float32(1.1239) + float32(1.1328) / (b - float32(3.4))
    squeeze = float32(0.9277) - float32(3.6224) / (b - float32(2.0))
    found = False
    while not found:
        u = randf(state) - float32(0.5)
        v = randf(state)
        us = float32(0.5) - abs(u)
        k = floor((float32(2.0) * a / us + b) * u + lam + float32(0.43))
        if us >= float32(0.07) and v <= squeeze:
            found = True
        elif k >= float32(0.0) and (us >= float32(0.013) or v <= us):
            # In float64: the terms are as large as k log k and nearly cancel.
            left = log(float64(v * inverse_alpha / (a / (us * us) + b)))
            right = float64(k) * log(float64(lam)) - float64(lam) - _log_factorial(float64(k))
            found = left <= right
        if found:
            count = uint32(k)
    return count
