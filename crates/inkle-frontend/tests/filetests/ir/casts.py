# test: ir
import inkle as wp


@wp.kernel
def conversions(n: int, f: float, u: wp.uint32, b: bool, d: wp.float64, oi: wp.array(dtype=int), of: wp.array(dtype=float), ou: wp.array(dtype=wp.uint8)):
    oi[0] = int(f)
    oi[1] = int(b)
    oi[2] = int(u)
    of[0] = float(n)
    of[1] = float(d)
    ou[0] = wp.uint8(f)
    ou[1] = wp.uint8(n)
    oi[3] = wp.cast(f, int)
    of[2] = type(f)(n)
    of[3] = of.dtype(1)
    of[4] = float(bool(n))
