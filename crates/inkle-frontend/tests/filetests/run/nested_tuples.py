# test: run
# run: outer(0) -> -1 0 0
# run: outer(5) -> 5 10 15
# run: passed_on(4) -> 4 8 12
import inkle as wp


@wp.func
def inner(n: int) -> tuple[int, tuple[int, int]]:
    if n == 0:
        return -1, (0, 0)
    return n, (2 * n, 3 * n)


@wp.func
def again(n: int):
    first, rest = inner(n)
    return first, rest


@wp.kernel
def outer(n: int, out: wp.array(dtype=int)):
    first, rest = inner(n)
    out[0] = first
    out[1] = rest[0]
    out[2] = rest[1]


@wp.kernel
def passed_on(n: int, out: wp.array(dtype=int)):
    first, rest = again(n)
    a, b = rest
    out[0] = first
    out[1] = a
    out[2] = b
