# test: ir
import inkle as wp


@wp.kernel
def floats(a: float, b: float, out: wp.array(dtype=float)):
    out[0] = a + b
    out[1] = a - b
    out[2] = a * b
    out[3] = a / b
    out[4] = a // b
    out[5] = a % b
    out[6] = a ** b
    out[7] = -a
    out[8] = +a


@wp.kernel
def integers(a: int, b: int, out: wp.array(dtype=int)):
    out[0] = a / b
    out[1] = a // b
    out[2] = a % b
    out[3] = a & b
    out[4] = a | b
    out[5] = a ^ b
    out[6] = a << b
    out[7] = a >> b
    out[8] = ~a


@wp.kernel
def widths(a: wp.uint8, b: wp.int64, h: wp.float16, d: wp.float64, oa: wp.array(dtype=wp.uint8), ob: wp.array(dtype=wp.int64), oh: wp.array(dtype=wp.float16), od: wp.array(dtype=wp.float64)):
    oa[0] = a + wp.uint8(250)
    ob[0] = b * wp.int64(5000000001)
    oh[0] = h * wp.float16(0.1)
    od[0] = d + wp.float64(0.1)
    od[1] = wp.float64(wp.PI)
    od[2] = wp.float64(2.0 * wp.PI)


@wp.kernel
def folded(out: wp.array(dtype=int)):
    out[0] = (-7) // 2
    out[1] = -7 % 3
    out[2] = 7 / -2
    out[3] = 1 << 4 | 3
    x = 6
    x *= 7
    out[4] = x
