# test: ir
# max_unroll: 0
import inkle as wp


@wp.kernel
def small(out: wp.array(dtype=int)):
    for i in range(3):
        out[i] = i
