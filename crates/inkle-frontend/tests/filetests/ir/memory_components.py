# test: ir
import inkle as wp


@wp.struct
class Cell:
    level: float
    spin: wp.vec3


@wp.struct
class Grid:
    cells: wp.array(dtype=Cell)
    counts: wp.array2d(dtype=int)
    origin: wp.vec3


@wp.kernel
def vectors(v: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat33), q: wp.array(dtype=wp.quat), t: wp.array(dtype=wp.transform), i: int):
    v[0].x = 1.0
    v[0][1] = 2.0
    v[i].z += 3.0
    v[i][i] *= 2.0
    m[0][1, 2] = 4.0
    m[0][1][2] = 5.0
    m[0][1] = wp.vec3(1.0, 2.0, 3.0)
    q[0].w = 1.0
    t[0].p.x = 6.0
    t[0].q = wp.quat(0.0, 0.0, 0.0, 1.0)
    v[i][0:2] = wp.vec2(1.0, 2.0)


@wp.kernel
def structs(c: wp.array(dtype=Cell), g: Grid, gs: wp.array(dtype=Grid), i: int):
    c[i].level = 1.0
    c[i].spin.y += 2.0
    c[0] = c[1]
    g.cells[i].level = c[i].level
    g.counts[i, 0] += 1
    g.origin.x = 4.0
    c[0].spin = g.origin
    gs[i].cells[0].spin[1] = 1.0


@wp.kernel
def index_once(v: wp.array(dtype=wp.mat22), n: wp.array(dtype=int)):
    v[wp.atomic_add(n, 0, 1)][0] = wp.vec2(1.0, 2.0)
    v[wp.atomic_add(n, 0, 1)][:, 0] += wp.vec2(1.0, 2.0)


@wp.func
def poke(v: wp.array(dtype=wp.vec3)) -> float:
    v[0][1] = 50.0
    return 4.0


@wp.kernel
def read_first(v: wp.array(dtype=wp.vec3)):
    v[0][1] += poke(v)
    v[1] = v[0] * poke(v)
