# test: ir
import inkle as wp


@wp.kernel
def forms(n: int, out: wp.array(dtype=int)):
    a = b = n + 1
    a, b = b, a
    c: int = 3
    out[0] = out[1] = c
    [d, e] = n, 7
    p, (q, r) = n, (4, 5)
    x = 1
    x += n
    out[2] = a + b + d + e + p + q + r + x
    out[3], out[4] = out[4], out[3]
