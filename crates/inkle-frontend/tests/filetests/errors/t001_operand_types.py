# test: errors
import inkle as wp


ONE = wp.constant(1)


@wp.struct
class Cell:
    level: float


@wp.kernel
def literals(f: float, d: wp.float64, u: wp.uint8, n: int, out: wp.array(dtype=float)):
    a = f * 2
    b = d + 1.0
    c = u & 1
    e = n / 2.0
    g = f + ONE
    h = (f + 1.0) * n


@wp.kernel
def vectors(v: wp.vec3, w: wp.vec2, m: wp.mat33, out: wp.array(dtype=float)):
    a = v * v
    b = v / v
    c = v + 1.0
    d = v + w
    e = m @ w
    g = v * 2


@wp.kernel
def operators(f: float, n: int, b: bool, q: wp.quat, t: wp.transform, out: wp.array(dtype=float)):
    a = f & f
    i = f & 1
    j = n << f
    c = n ** 2
    d = b + b
    e = -b
    g = ~f
    h = not f
    i = q * wp.vec3()
    j = -t


@wp.kernel
def comparisons(v: wp.vec3, w: wp.vec2, c: Cell, out: wp.array(dtype=float)):
    a = v < v
    b = v == w
    d = c == c
    e = c + c


@wp.kernel
def things(out: wp.array(dtype=float)):
    a = wp.sin + 1.0
    b = wp.vec3 * 2.0
    c = None + 1.0
