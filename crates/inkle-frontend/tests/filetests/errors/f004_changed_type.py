# test: errors
import inkle as wp


@wp.kernel
def straight(n: int, f: float, out: wp.array(dtype=float)):
    x = 1
    x = 2.0
    n = 1.0
    f += n


@wp.kernel
def loop(n: int, out: wp.array(dtype=float)):
    total = 0
    for i in range(n):
        total = total + 1
        total = 0.5


@wp.kernel
def other(v: wp.vec3, out: wp.array(dtype=float)):
    v = 1.0
    g = wp.sin
    g = 1.0
    t = (1, 2)
    t = (1, 2.0)
