# test: ir
import inkle as wp


@wp.kernel
def numbers(n: int, f: float, u: wp.uint32, s: wp.uint8, l: wp.int64, out: wp.array(dtype=bool)):
    out[0] = n == 1
    out[1] = n < 1.0
    out[2] = f >= 1
    out[3] = u > -1
    out[4] = s < 300
    out[5] = n < l
    out[6] = l == 5000000000
    out[7] = n != n


@wp.kernel
def composites(v: wp.vec2, m: wp.mat22, out: wp.array(dtype=bool)):
    out[0] = v == v * 2.0
    out[1] = v != v * 2.0
    out[2] = m == m * 2.0


@wp.kernel
def chained(a: wp.array(dtype=int), n: int, out: wp.array(dtype=bool)):
    out[0] = 0 < n < 10
    out[1] = 0 < a[0] < a[1] <= n
