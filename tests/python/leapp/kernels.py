"""Kernels that the tests of segments launch."""

import inkle as wp


@wp.kernel
def squash(a: wp.array[float], b: wp.array[float]):
    i = wp.tid()
    b[i] = a[i] / (1.0 + wp.abs(a[i]))


@wp.kernel
def scale(a: wp.array[float], s: float):
    i = wp.tid()
    a[i] = a[i] * s


@wp.kernel
def halve(a: wp.array[float], s: float):
    i = wp.tid()
    a[i] = a[i] / s


@wp.kernel
def add(a: wp.array[float], b: wp.array[float], c: wp.array[float]):
    i = wp.tid()
    c[i] = a[i] + b[i]


@wp.kernel
def count(n: wp.array[int]):
    wp.atomic_add(n, 0, 1)


@wp.kernel
def lengths(v: wp.array[wp.vec3], q: wp.array[wp.quat], out: wp.array[float], turned: wp.array[wp.vec3]):
    i = wp.tid()
    out[i] = wp.length(v[i])
    turned[i] = wp.quat_rotate(q[i], v[i])


@wp.kernel
def halve_above(x: wp.array[float], limit: float, again: wp.array[int]):
    if x[0] > limit:
        x[0] = x[0] * 0.5
    again[0] = wp.where(x[0] > limit, 1, 0)


@wp.kernel
def above(x: wp.array[float], limit: float, flag: wp.array[int]):
    flag[0] = wp.where(x[0] > limit, 1, 0)


@wp.struct
class Body:
    pos: wp.vec3
    mass: float
    kind: int


@wp.struct
class Holder:
    mass: float
    values: wp.array[float]


@wp.kernel
def fall(bodies: wp.array[Body], dt: float, out: wp.array[Body]):
    i = wp.tid()
    b = bodies[i]
    b.pos = b.pos - wp.vec3(0.0, 0.0, dt * b.mass)
    out[i] = b


@wp.kernel
def rows(a: wp.array2d[float], b: wp.array2d[float]):
    i, j = wp.tid()
    b[i, j] = a[i, j] + float(i)
