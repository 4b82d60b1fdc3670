# test: ir
import inkle as wp


@wp.kernel
def products(m: wp.mat33, n: wp.mat33, v: wp.vec3, s: float, om: wp.array(dtype=wp.mat33), ov: wp.array(dtype=wp.vec3)):
    om[0] = m * s
    om[1] = s * m
    om[2] = m / s
    om[3] = m + n
    ov[0] = m * v
    ov[1] = v * s + v / s
    ov[2] = s / v
    ov[3] = -v % v


@wp.kernel
def matmul(m: wp.mat22, v: wp.vec2, om: wp.array(dtype=wp.mat22), ov: wp.array(dtype=wp.vec2)):
    om[0] = m @ m
    ov[0] = v @ m


@wp.kernel
def rotations(q: wp.quat, t: wp.transform, v: wp.vec3, ov: wp.array(dtype=wp.vec3), oq: wp.array(dtype=wp.quat)):
    oq[0] = q * 2.0
    oq[1] = q + q
    ov[0] = wp.transform_get_translation(t)


@wp.kernel
def constructors(v: wp.vec3, d: wp.vec3d, q: wp.quat, s: float, ov: wp.array(dtype=wp.vec3), om: wp.array(dtype=wp.mat22), ot: wp.array(dtype=wp.transform)):
    ov[0] = wp.vec3()
    ov[1] = wp.vec3(s)
    ov[2] = wp.vec3(d)
    ov[3] = wp.vec3(1, 2.0, s)
    ov[4] = wp.vector(s, s, s)
    om[0] = wp.mat22(1.0, 2.0, 3.0, s)
    om[1] = wp.identity(n=2, dtype=float)
    ot[0] = wp.transform(v, q)
    ot[1] = wp.transform_identity()
    x, y, z = v
    ov[5] = wp.vec3(z, y, x)
