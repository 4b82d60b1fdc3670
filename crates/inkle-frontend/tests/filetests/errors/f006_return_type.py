# test: errors
import inkle as wp


@wp.func
def two(x: float):
    if x > 0.0:
        return 1
    return 2.0


@wp.func
def declared(x: float) -> int:
    return x


@wp.func
def count(x: float):
    if x > 0.0:
        return x, x
    return x


@wp.func
def empty(x: float):
    if x > 0.0:
        return x
    return


@wp.kernel
def kernel(out: wp.array(dtype=float)):
    out[0] = two(1.0)
    b = declared(1.0)
    c = count(1.0)
    d = empty(1.0)


@wp.func
def grouped(n: int):
    if n > 0:
        return n, (n, n)
    return (n, n), n


@wp.kernel
def groups(out: wp.array(dtype=int)):
    a, b = grouped(1)
    out[0] = a
