# test: errors
import inkle as wp


@wp.func
def index(x: float):
    i, j = wp.tid()
    return x * float(wp.tid())


@wp.kernel
def expressions(n: int, f: float, a: wp.array(dtype=float), out: wp.array(dtype=float)):
    x = lambda y: y
    x1 = [j for j in range(n)]
    x2 = {1: 2}
    x3 = f'{n}'
    x4 = (y := 3)
    x5 = a is None
    x6 = n in (1, 2)
    x7 = range(n)
    for v in (1, 2):
        pass
    for w in a:
        pass
    x9 = ...
    x10 = wp.sin(**n)
    out[0] = index(f)
