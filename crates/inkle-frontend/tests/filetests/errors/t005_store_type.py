# test: errors
import inkle as wp


@wp.struct
class Cell:
    level: float
    spin: wp.vec3


@wp.kernel
def arrays(n: int, d: wp.float64, a: wp.array2d(dtype=float), b: wp.array(dtype=wp.uint8), out: wp.array(dtype=float)):
    out[0] = n
    out[1] = 1
    out[2] = d
    b[0] = 1
    out[3] += 1
    out[4] *= d
    a[0] = 1.0
    a[0] += 1.0
    wp.atomic_add(out, 0, 1)


@wp.kernel
def components(v: wp.vec3, m: wp.mat33, c: Cell, q: wp.quat, t: wp.transform, a: wp.array(dtype=Cell), out: wp.array(dtype=float)):
    v[0] = 1
    v.x += 1.0
    m[0] = wp.vec2(1.0, 2.0)
    m[0, 0] = 1
    c.level = 1
    c.spin = 1.0
    a[0].level = 1
    a[0].spin[1] = 2
    t.p = q
    v[0:2] = 1.0


@wp.kernel
def not_places(v: wp.vec3, out: wp.array(dtype=float)):
    out.shape[0] = 3
    wp.normalize(v).x = 1.0
    wp.PI = 3.0


@wp.kernel
def slices(a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    out[0:2] = 1.0
    a[:, 1] = out
    a[0] = out
    out[1:] += 1.0
