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
