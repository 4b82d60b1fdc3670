# test: errors
import inkle as wp


@wp.kernel
def constants(n: int, v: wp.vec3, s: float, out: wp.array(dtype=float)):
    a = v[n:]
    b = wp.static(n + 1)
    c = wp.launch_dim(n)
    d = wp.vector(s, length=n)
    wp.printf(n)
    assert n > 0, n


@wp.kernel
def local_arrays(n: int, out: wp.array(dtype=float)):
    a = wp.zeros(shape=n, dtype=float)
    b = wp.zeros(shape=(2, -1), dtype=float)
    c = wp.zeros(shape=(), dtype=float)
    d = wp.zeros(shape=(1000, 1000), dtype=float)
