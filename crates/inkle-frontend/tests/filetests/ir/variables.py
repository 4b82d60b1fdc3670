# test: ir
import inkle as wp


@wp.kernel
def parameters(n: int, v: wp.vec3, out: wp.array(dtype=float)):
    n = n + 1
    n += 1
    v = v * 2.0
    v[1] = 0.5
    out[0] = float(n) + v[0] + v[1]


@wp.kernel
def branches(n: int, out: wp.array(dtype=int)):
    if n > 2:
        x = 1
        y = n
    elif n > 1:
        x = 2
        y = -n
    else:
        return
    out[0] = x + y
    if n > 5:
        z = 1
        out[1] = z


@wp.kernel
def digits(out: wp.array(dtype=wp.float64)):
    x = 0.1
    out[0] = wp.float64(x)
    out[1] = wp.float64(x * 3.0)
    v = wp.vec3d(x)
    out[2] = v[0]
