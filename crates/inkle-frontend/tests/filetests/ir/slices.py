# test: ir
import inkle as wp


@wp.kernel
def constant_bounds(a: wp.array(dtype=float), m: wp.array2d(dtype=float)):
    part = a[1:4]
    part[0] = 1.0
    a[:][2] = 2.0
    a[-3:-1][0] = 3.0
    a[::2][0] = 4.0
    a[::-1][0] = 5.0
    a[5:1:-2][0] = 6.0
    m[:, 1][2] = 7.0
    m[1:3, 0][1] = 8.0
    m[1:, 1:][0, 0] = 9.0
    m[..., 0][1] = 10.0
    m[0, ...][1] = 11.0
    m[0, ..., 1] = 12.0


@wp.kernel
def bounds_at_run_time(a: wp.array(dtype=float), n: int, wide: wp.int64):
    a[n:][0] = 1.0
    a[: wp.tid()][0] = 2.0
    a[n:wide][0] = 3.0
    a[::n][0] = 4.0


@wp.kernel
def of_slices(m: wp.array2d(dtype=int), out: wp.array(dtype=int)):
    block = m[1:3]
    out[0] = block.shape[0]
    out[1] = block.shape[1]
    again = block[:, ::2]
    out[2] = len(again[0])
    out[3] = again[-1, -1]
