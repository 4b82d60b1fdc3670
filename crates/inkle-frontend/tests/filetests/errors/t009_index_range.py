# test: errors
import inkle as wp


@wp.kernel
def ranges(v: wp.vec3, m: wp.mat33, q: wp.quat, out: wp.array(dtype=float)):
    a = v[3]
    b = v[-4]
    c = m[3]
    d = m[0, 3]
    e = q[4]
    f = out.shape[4]
    v[5] = 1.0
