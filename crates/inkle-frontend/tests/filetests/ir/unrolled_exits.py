# test: ir
import inkle as wp


TABLE = (11, 22, 33)


@wp.kernel
def static_index(n: int, out: wp.array(dtype=int)):
    for k in range(3):
        if out[k] < 0:
            break
        if out[k] == n:
            continue
        out[k] = wp.static(TABLE[k])
