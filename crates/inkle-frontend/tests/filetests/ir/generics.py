# test: ir
# types: open(wp.array(dtype=wp.float64), wp.array(dtype=wp.float64))
from typing import Any
import inkle as wp


@wp.func
def plus_one(v: Any):
    return v + type(v)(1)


@wp.func
def total(a: wp.array(dtype=Any), n: int):
    s = a.dtype(0)
    for i in range(n):
        s += a[i]
    return s


@wp.func
def kind(x: Any):
    if type(x) == float:
        return 1
    if isinstance(x, wp.vec3):
        return 3
    return 2


@wp.func
def first(pair: Any):
    return pair[0] + pair[len(pair) - 1]


@wp.kernel
def uses(a: wp.array(dtype=float), b: wp.array(dtype=int), out: wp.array(dtype=float), iout: wp.array(dtype=int)):
    out[0] = plus_one(2.0) + plus_one(a[0])
    iout[0] = plus_one(b[0])
    out[1] = total(a, 3)
    iout[1] = total(b, 4)
    iout[2] = kind(1.0) + kind(1) * 10 + kind(wp.vec3()) * 100
    t = (b[0], b[1], 3)
    iout[3] = first(t)


@wp.kernel
def open(src: wp.array(dtype=Any), dst: wp.array(dtype=Any)):
    i = wp.tid()
    dst[i] = plus_one(src[i])
