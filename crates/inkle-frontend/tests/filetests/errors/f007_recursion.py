# test: errors
import inkle as wp


@wp.func
def spiral(x: float) -> float:
    return spiral(x - 1.0)


@wp.func
def even(n: int) -> int:
    return odd(n - 1)


@wp.func
def odd(n: int) -> int:
    return even(n - 1)


@wp.kernel
def kernel(out: wp.array(dtype=float)):
    out[0] = spiral(1.0)
    out[1] = float(even(3))
