# test: ir
import inkle as wp


@wp.kernel
def one(out: wp.array(dtype=int)):
    out[wp.tid()] = wp.tid()


@wp.kernel
def three(out: wp.array3d(dtype=int)):
    i, j, k = wp.tid()
    out[i, j, k] = i * j + k
