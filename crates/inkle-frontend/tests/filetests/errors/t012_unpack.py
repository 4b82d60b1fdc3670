# test: errors
import inkle as wp


@wp.func
def pair(x: float):
    return x, x


@wp.kernel
def unpacking(x: float, v: wp.vec3, out: wp.array(dtype=float)):
    a, b = 1.0, 2.0, 3.0
    c, d = x
    e, f, g = pair(x)
    h, i = v
    p, q, r, s, t = wp.tid()
    u = wp.max(*x)
    (w, y), z = pair(x), 1.0, 2.0
