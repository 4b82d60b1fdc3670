# test: errors
import inkle as wp


@wp.kernel
def conversions(v: wp.vec3, n: int, f: float, out: wp.array(dtype=float)):
    a = float(v)
    b = wp.vec3(n, n, n)
    c = wp.quat(0, 0, 0, 1)
    d = wp.mat33(v, v, v)
    e = wp.vector(1.0, 2)
    g: int = f
    h: wp.vec2 = v
    i = wp.cast(f, wp.float64)
    j = bool(v)
