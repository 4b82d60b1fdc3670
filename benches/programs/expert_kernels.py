"""The kernels for which `benches/expert` says what can be reached, for whichever module speaks Warp's API."""

from kernels import wp


@wp.kernel
def mandelbrot(x: float, y: float, step: float, limit: int, out: wp.array2d(dtype=int)):
    row, column = wp.tid()
    cx = x + float(column) * step
    cy = y + float(row) * step
    zx = float(0.0)
    zy = float(0.0)
    rounds = int(0)
    while rounds < limit and zx * zx + zy * zy <= 4.0:
        next_x = zx * zx - zy * zy + cx
        zy = 2.0 * zx * zy + cy
        zx = next_x
        rounds += 1
    out[row, column] = rounds


@wp.kernel
def stencil(u: wp.array3d(dtype=float), out: wp.array3d(dtype=float), a: float):
    i, j, k = wp.tid()
    if i > 0 and j > 0 and k > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1 and k < u.shape[2] - 1:
        here = u[i, j, k]
        around = u[i - 1, j, k] + u[i + 1, j, k]
        around += u[i, j - 1, k] + u[i, j + 1, k]
        around += u[i, j, k - 1] + u[i, j, k + 1]
        out[i, j, k] = here + a * (around - 6.0 * here)


@wp.kernel
def search(table: wp.array(dtype=float), values: wp.array(dtype=float), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = wp.lower_bound(table, values[i])
