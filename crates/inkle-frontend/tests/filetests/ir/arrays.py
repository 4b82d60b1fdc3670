# test: ir
import inkle as wp


@wp.kernel
def views(a: wp.array3d(dtype=float), n: int):
    row = a[0, n]
    row[1] = 2.0
    plane = a[n]
    plane[0, 1] = row[0]
    a[0, 1][2] = 3.0
    a[0][1][2] += 4.0


@wp.kernel
def negative(a: wp.array(dtype=float), n: int, u: wp.uint32):
    a[-1] = 1.0
    a[n] = 2.0
    a[u] = 3.0
    a[wp.tid() - 1] = 4.0
    for i in range(100):
        a[i + 1] = 5.0
    for i in range(n, 100):
        a[i] = 6.0


@wp.kernel
def attributes(a: wp.array2d(dtype=float), n: int, out: wp.array(dtype=int)):
    out[0] = a.shape[0]
    out[1] = a.shape[n]
    out[2] = len(a)
    out[3] = a.ndim
    out[4] = a.size
    x, y = a.shape
    out[5] = x * y


@wp.kernel
def atomics(a: wp.array2d(dtype=float), b: wp.array(dtype=int), v: wp.array(dtype=wp.vec3)):
    a[0, 1] += 1.0
    a[0, 1] -= 1.0
    a[0, 1] *= 2.0
    b[0] += 1
    b[0] |= 2
    b[0] <<= 1
    v[0] += wp.vec3(1.0, 2.0, 3.0)
    old = wp.atomic_add(a, 0, 1, 1.0)
    a[0, 0] = wp.atomic_max(a, 1, 1, old)
    b[1] = wp.atomic_cas(b, 0, 1, 2)
    b[2] = wp.atomic_exch(b, 0, 7)
