# test: ir
import inkle as wp


@wp.func
def bump(x: wp.ref[float], by: float) -> float:
    old = x
    if by > 0.0:
        x += by
    return old


@wp.func
def twice(v: wp.ref[wp.vec3]):
    bump(v.y, 1.0)
    v[0] = 2.0


@wp.kernel
def variables(out: wp.array(dtype=float)):
    x = float(1.0)
    old = bump(x, 2.0)
    out[0] = x + old
    v = wp.vec3()
    twice(v)
    out[1] = v.y


@wp.kernel
def memory(out: wp.array(dtype=float), points: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    bump(out[i], 1.0)
    twice(points[i])
    bump(points[i].z, 1.0)


@wp.kernel
def loops(out: wp.array(dtype=float), n: int):
    x = float(0.0)
    for i in range(n):
        bump(x, 1.0)
    out[0] = x
