# test: ir
import inkle as wp


@wp.kernel
def cheap(n: int, a: float, out: wp.array(dtype=float)):
    out[0] = a if n > 0 else -a
    out[1] = 1.0 if n else 2.0
    out[2] = wp.where(n > 0, a, 0.0)


@wp.kernel
def lazy(a: wp.array(dtype=float), i: int, out: wp.array(dtype=float)):
    out[0] = a[i] if i >= 0 else 0.0
    out[1] = a[i] if i >= 0 else (a[0] if a else 1.0)
