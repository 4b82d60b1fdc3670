# Gradient noise (Perlin 1985, 2002): random slopes on a lattice, blended smoothly along one coordinate after another.
#
# All dimensions share their code: cells and offsets have four components, of which `d`, the offset of the point from
# its lattice cell's lower corner, says how many count. Results are the value and, after it, its derivatives.


@internal
def _slope(state: uint32, cell: vec[4, int32], d: vec[1, float32]) -> vec[4, float32]:
    s = uint32(cell[0]) * uint32(73856093) + state
    zero = float32(0.0)
    return vec[4, float32](randf(s, float32(-1.0), float32(1.0)), zero, zero, zero)


@internal
def _slope(state: uint32, cell: vec[4, int32], d: vec[2, float32]) -> vec[4, float32]:
    s = (uint32(cell[0]) * uint32(73856093)) ^ (uint32(cell[1]) * uint32(19349663) + state)
    g = normalize(sample_unit_square(s))
    zero = float32(0.0)
    return vec[4, float32](g[0], g[1], zero, zero)


@internal
def _slope(state: uint32, cell: vec[4, int32], d: vec[3, float32]) -> vec[4, float32]:
    s = uint32(cell[0]) * uint32(73856093)
    s = s ^ (uint32(cell[1]) * uint32(19349663))
    s = s ^ (uint32(cell[2]) * uint32(53471161) + state)
    g = normalize(sample_unit_cube(s))
    return vec[4, float32](g[0], g[1], g[2], float32(0.0))


@internal
def _slope(state: uint32, cell: vec[4, int32], d: vec[4, float32]) -> vec[4, float32]:
    s = uint32(cell[0]) * uint32(73856093)
    s = s ^ (uint32(cell[1]) * uint32(19349663))
    s = s ^ (uint32(cell[2]) * uint32(53471161))
    s = s ^ (uint32(cell[3]) * uint32(10000019) + state)
    x = randf(s) - float32(0.5)
    y = randf(s) - float32(0.5)
    z = randf(s) - float32(0.5)
    t = randf(s) - float32(0.5)
    return normalize(vec[4, float32](x, y, z, t))


@internal
def _corner(state: uint32, cell: vec[4, int32], offset: vec[4, float32], d: vec[N, float32]) -> vec[5, float32]:
    g = _slope(state, cell, d)
    value = offset[0] * g[0]
    for i in range(1, N):
        value = value + offset[i] * g[i]
    return vec[5, float32](value, g[0], g[1], g[2], g[3])


@internal
def _fade(t: float32) -> float32:
    return t * t * t * (t * (t * float32(6.0) - float32(15.0)) + float32(10.0))


@internal
def _fade_slope(t: float32) -> float32:
    return float32(30.0) * t * t * (t * (t - float32(2.0)) + float32(1.0))


@internal
def _line(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[N, float32]
) -> vec[5, float32]:
    # `low` and `offset` hold the corner in the other coordinates, `high` the next corner in each coordinate.
    t = d[0]
    a = _corner(state, low, offset, d)
    low[0] = high[0]
    offset[0] = t - float32(1.0)
    b = _corner(state, low, offset, d)
    r = (b - a) * _fade(t)
    r[1] = r[1] + (b[0] - a[0]) * _fade_slope(t)
    return r + a


@internal
def _plane(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[N, float32]
) -> vec[5, float32]:
    t = d[1]
    a = _line(state, low, high, offset, d)
    low[1] = high[1]
    offset[1] = t - float32(1.0)
    b = _line(state, low, high, offset, d)
    r = (b - a) * _fade(t)
    r[2] = r[2] + (b[0] - a[0]) * _fade_slope(t)
    return r + a


@internal
def _solid(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[N, float32]
) -> vec[5, float32]:
    t = d[2]
    a = _plane(state, low, high, offset, d)
    low[2] = high[2]
    offset[2] = t - float32(1.0)
    b = _plane(state, low, high, offset, d)
    r = (b - a) * _fade(t)
    r[3] = r[3] + (b[0] - a[0]) * _fade_slope(t)
    return r + a


@internal
def _moving_solid(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[4, float32]
) -> vec[5, float32]:
    t = d[3]
    a = _solid(state, low, high, offset, d)
    low[3] = high[3]
    offset[3] = t - float32(1.0)
    b = _solid(state, low, high, offset, d)
    r = (b - a) * _fade(t)
    r[4] = r[4] + (b[0] - a[0]) * _fade_slope(t)
    return r + a


@internal
def _noise(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[1, float32]
) -> vec[5, float32]:
    return _line(state, low, high, offset, d)


@internal
def _noise(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[2, float32]
) -> vec[5, float32]:
    return _plane(state, low, high, offset, d)


@internal
def _noise(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[3, float32]
) -> vec[5, float32]:
    return _solid(state, low, high, offset, d)


@internal
def _noise(
    state: uint32, low: vec[4, int32], high: vec[4, int32], offset: vec[4, float32], d: vec[4, float32]
) -> vec[5, float32]:
    return _moving_solid(state, low, high, offset, d)


@internal
def _noise_at(state: uint32, p: vec[N, float32]) -> vec[5, float32]:
    low = vec[4, int32]()
    high = vec[4, int32]()
    offset = vec[4, float32]()
    d = p
    for i in range(N):
        cell = floor(p[i])
        low[i] = int32(cell)
        high[i] = low[i] + int32(1)
        d[i] = p[i] - cell
        offset[i] = d[i]
    return _noise(state, low, high, offset, d)


@internal
def _periodic_noise_at(state: uint32, p: vec[N, float32], period: vec[N, int32]) -> float32:
    low = vec[4, int32]()
    high = vec[4, int32]()
    offset = vec[4, float32]()
    d = p
    for i in range(N):
        cell = floor(p[i])
        low[i] = int32(cell) % period[i]
        high[i] = (low[i] + int32(1)) % period[i]
        d[i] = p[i] - cell
        offset[i] = d[i]
    value = _noise(state, low, high, offset, d)
    return value[0]


@builtin("Random")
def noise(state: uint32, x: float32) -> float32:
    """Smooth noise along a line, of mean zero, that is zero at whole numbers.

    `state` chooses the noise, the same for all points; see `rand_init`. It is not advanced.
    """
    value = _noise_at(state, vec[1, float32](x))
    return value[0]


@builtin("Random")
def noise(state: uint32, xy: vec[2, float32]) -> float32:
    """Smooth noise in the plane, of mean zero, that is zero where all coordinates are whole."""
    value = _noise_at(state, xy)
    return value[0]


@builtin("Random")
def noise(state: uint32, xyz: vec[3, float32]) -> float32:
    """Smooth noise in space, of mean zero, that is zero where all coordinates are whole."""
    value = _noise_at(state, xyz)
    return value[0]


@builtin("Random")
def noise(state: uint32, xyzt: vec[4, float32]) -> float32:
    """Smooth noise in space and time, of mean zero, that is zero where all coordinates are whole."""
    value = _noise_at(state, xyzt)
    return value[0]


@builtin("Random")
def pnoise(state: uint32, x: float32, px: int32) -> float32:
    """Like `noise`, repeated with period `px`, for coordinates that are not negative."""
    return _periodic_noise_at(state, vec[1, float32](x), vec[1, int32](px))


@builtin("Random")
def pnoise(state: uint32, xy: vec[2, float32], px: int32, py: int32) -> float32:
    """Like `noise`, repeated with a period for each coordinate, for coordinates that are not negative."""
    return _periodic_noise_at(state, xy, vec[2, int32](px, py))


@builtin("Random")
def pnoise(state: uint32, xyz: vec[3, float32], px: int32, py: int32, pz: int32) -> float32:
    """Like `noise`, repeated with a period for each coordinate, for coordinates that are not negative."""
    return _periodic_noise_at(state, xyz, vec[3, int32](px, py, pz))


@builtin("Random")
def pnoise(state: uint32, xyzt: vec[4, float32], px: int32, py: int32, pz: int32, pt: int32) -> float32:
    """Like `noise`, repeated with a period for each coordinate, for coordinates that are not negative."""
    return _periodic_noise_at(state, xyzt, vec[4, int32](px, py, pz, pt))


@builtin("Random")
def curlnoise(
    state: uint32, xy: vec[2, float32], octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5
) -> vec[2, float32]:
    """Smooth noise without divergence in the plane: the flow around the hills of `noise`.

    It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    as much.
    """
    total = vec[5, float32]()
    frequency = float32(1.0)
    amplitude = float32(1.0)
    layer = uint32(0)
    while layer < octaves:
        total = total + _noise_at(state, xy * frequency) * amplitude
        amplitude = amplitude * gain
        frequency = frequency * lacunarity
        layer = layer + uint32(1)
    return vec[2, float32](-total[2], total[1])


@internal
def _curl(state: uint32, p: vec[N, float32], octaves: uint32, lacunarity: float32, gain: float32) -> vec[3, float32]:
    # The potential has three components, each a noise of its own state.
    x = vec[5, float32]()
    y = vec[5, float32]()
    z = vec[5, float32]()
    frequency = float32(1.0)
    amplitude = float32(1.0)
    layer = uint32(0)
    while layer < octaves:
        q = p * frequency
        x = x + _noise_at(state, q) * amplitude
        state = rand_init(int32(state), int32(10019689))
        y = y + _noise_at(state, q) * amplitude
        state = rand_init(int32(state), int32(13112221))
        z = z + _noise_at(state, q) * amplitude
        amplitude = amplitude * gain
        frequency = frequency * lacunarity
        layer = layer + uint32(1)
    return vec[3, float32](z[2] - y[3], x[3] - z[1], y[1] - x[2])


@builtin("Random")
def curlnoise(
    state: uint32, xyz: vec[3, float32], octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5
) -> vec[3, float32]:
    """Smooth noise without divergence in space: the curl of a noise of three components.

    It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before and weighs `gain` times
    as much.
    """
    return _curl(state, xyz, octaves, lacunarity, gain)


@builtin("Random")
def curlnoise(
    state: uint32, xyzt: vec[4, float32], octaves: uint32 = 1, lacunarity: float32 = 2.0, gain: float32 = 0.5
) -> vec[3, float32]:
    """Smooth noise without divergence in space that changes with time, the fourth coordinate.

    It is the sum of `octaves` layers; each is `lacunarity` times finer than the one before, in time too, and weighs
    `gain` times as much.
    """
    return _curl(state, xyzt, octaves, lacunarity, gain)
