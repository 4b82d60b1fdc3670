# test: errors
import inkle as wp


@wp.func
def twice(x, y: float):
    return x * 2.0


@wp.kernel
def kernel(n, out: wp.array(dtype=float)):
    out[0] = 1.0


@wp.kernel
def function(out: wp.array(dtype=float)):
    out[0] = twice(1.0, 2.0)


@wp.kernel
def reference(x: wp.ref[float]):
    x = 1.0
