# test: ir
import inkle as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def grid(a: wp.array2d(dtype=float), n: int):
    i, j = wp.tid()
    if i >= n:
        return
    s = float(0.0)
    for k in range(j):
        s += a[i, k]
    a[i, j] = s
