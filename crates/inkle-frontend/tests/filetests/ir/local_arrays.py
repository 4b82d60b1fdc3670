# test: ir
import inkle as wp


@wp.func
def total(a: wp.array(dtype=float)):
    sum = float(0.0)
    for i in range(len(a)):
        sum += a[i]
    return sum


@wp.func
def pair(x: float):
    made = wp.zeros(2, float)
    made[1] = x
    return made


@wp.kernel
def local(n: int, x: float, p: wp.uint64, out: wp.array(dtype=float)):
    a = wp.zeros(shape=4, dtype=float)
    a[n] = x
    a[-1] += x
    out[0] = total(a)
    m = wp.zeros(shape=(2, 3), dtype=wp.vec2)
    row = m[1]
    row[2] = wp.vec2(x, x)
    out[1] = m[1, 2].x
    out[2] = float(m.shape[1] + row.shape[0] + row.shape[1])
    out[3] = pair(x)[1]
    b = wp.array(ptr=p, shape=(n, 2), dtype=wp.int64)
    b[0, 1] = wp.int64(7)
