# test: errors
import inkle as wp


@wp.kernel
def branches(n: int, f: float, out: wp.array(dtype=float)):
    if n > 0:
        x = 1
    else:
        x = 2.0
    out[0] = x
    y = f if n > 0 else n
    z = wp.where(n > 0, f, 1)
    w = out[0] if n > 0 else 1
