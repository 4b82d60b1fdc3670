# test: ir
import inkle as wp


DEBUG = False
SIZE = 3
GAIN = wp.constant(wp.float64(0.1))


@wp.kernel
def constants(out: wp.array(dtype=float)):
    if DEBUG:
        out[0] = undefined_here
    else:
        out[0] = 1.0
    if wp.static(SIZE > 2):
        out[1] = float(SIZE)
    for i in range(wp.static(SIZE - 1)):
        out[i + 2] = wp.static(float(SIZE) * 0.5)
    out[5] = float(GAIN)
    x = 1 if SIZE == 3 else 2.0
    out[6] = float(x)
