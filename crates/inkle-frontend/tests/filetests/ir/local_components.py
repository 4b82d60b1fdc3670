# test: ir
import inkle as wp


@wp.struct
class Cell:
    level: float
    spin: wp.vec3


@wp.kernel
def vectors(v: wp.vec3, m: wp.mat33, t: wp.transform, i: int, out: wp.array(dtype=float)):
    v.x = 1.0
    v[1] += 2.0
    v[i] = 3.0
    w = v
    w[0] = 9.0
    m[0, 1] = v[0]
    m[i] = w
    m[:, 0] = v
    m[0:2, 1:3] = wp.mat22(1.0, 2.0, 3.0, 4.0)
    t.p.x = v.y
    t.q = wp.quat(v, 1.0)
    out[0] = w[0] + m[i, i] + t[6] + t.p.x
    out[1] = v[-1] + m[-1][-2]


@wp.kernel
def slices(v: wp.vec4, out: wp.array(dtype=wp.vec2)):
    out[0] = v[0:2]
    out[1] = v[::2]
    out[2] = v[:1:-1]


@wp.kernel
def structs(a: wp.array(dtype=Cell)):
    s = Cell()
    s.level = 2.0
    s.spin.y = 3.0
    r = s
    r.level += 1.0
    a[0] = s
    a[1] = r
    a[2] = Cell(1.0, wp.vec3(1.0))
