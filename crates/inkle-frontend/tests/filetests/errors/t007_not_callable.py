# test: errors
import inkle as wp


SCALE = 2.0


@wp.kernel
def calls(x: float, a: wp.array(dtype=float), out: wp.array(dtype=float)):
    y = x(1.0)
    z = SCALE(x)
    w = a.shape(0)
    u = wp(1.0)
