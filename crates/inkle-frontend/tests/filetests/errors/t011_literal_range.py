# test: errors
import inkle as wp


@wp.kernel
def literals(n: int, d: wp.int64, out: wp.array(dtype=float)):
    a = wp.uint8(300)
    b = wp.int32(5000000000)
    out[5000000000] = 1.0
    c = n + 5000000000
    big = 5000000000
    e = n * big
    ok = wp.int64(big) + d
