# test: errors
import inkle as wp


@wp.kernel
def arrays(f: float, b: bool, a: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    out[f] = 1.0
    x = out[b]
    y = out[0, 1]
    z = a[0, 1, 2]
    w = a[0][1][2]
    for i in range(f):
        pass
    for j in range(wp.int64(3)):
        pass


@wp.kernel
def components(v: wp.vec3, m: wp.mat33, f: float, out: wp.array(dtype=float)):
    a = v[0, 1]
    b = m[0, 1, 2]
    c = v[f]
    d = f[0]
    e = v[::0]
    g = out.shape[0, 1]


@wp.kernel
def slices(a: wp.array2d(dtype=float), ia: wp.indexedarray(dtype=float), f: float, out: wp.array(dtype=float)):
    p = a[::0]
    q = a[..., 0, ...]
    r = a[0:1, 0:2, 0:3]
    s = a[f:]
    t = ia[1:]
