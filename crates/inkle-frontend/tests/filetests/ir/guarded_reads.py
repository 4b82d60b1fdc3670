# test: ir
import inkle as wp


@wp.kernel
def guarded(n: int, out: wp.array(dtype=float)):
    if n > 2:
        x = float(n)
    if n > 4:
        out[0] = x


@wp.kernel
def carried(n: int, out: wp.array(dtype=float)):
    for i in range(n):
        if i == 2:
            x = float(i)
        if i > 2:
            out[i] = x
