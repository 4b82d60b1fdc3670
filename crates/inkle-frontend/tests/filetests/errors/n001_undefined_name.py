# test: errors
import inkle as wp


@wp.kernel
def misspelt(x: float, out: wp.array(dtype=float)):
    total = x
    out[0] = totl


@wp.kernel
def misspelt_function(x: float, out: wp.array(dtype=float)):
    out[0] = halv(x)


@wp.kernel
def unknown(out: wp.array(dtype=float)):
    out[0] = q7


@wp.func
def half(x: float):
    return x * 0.5
