# test: errors
import inkle as wp


@wp.struct
class Cell:
    level: float
    spin: wp.vec3


@wp.kernel
def module(out: wp.array(dtype=float)):
    out[0] = wp.squareroot(2.0)
    out[1] = wp.sqr(2.0)


@wp.kernel
def vector(v: wp.vec3, out: wp.array(dtype=float)):
    out[0] = v.w


@wp.kernel
def field(c: Cell, out: wp.array(dtype=float)):
    out[0] = c.height
    out[1] = c.levl
    c.mass = 1.0


@wp.kernel
def array(out: wp.array(dtype=float)):
    out[0] = float(out.length)
    out[1] = out.grad[0]


@wp.kernel
def element(a: wp.array(dtype=Cell), out: wp.array(dtype=float)):
    out[0] = a[0].weight
    a[0].spin.u = 1.0


@wp.kernel
def method(q: wp.quat, out: wp.array(dtype=float)):
    out[0] = q.p
    x = 'a'.upper()


@wp.kernel
def later(a: wp.array(dtype=float)):
    t = wp.tile_load(a, shape=4)
    a[0] = wp.mesh_eval_position(1)
