# test: ir
import inkle as wp


@wp.kernel
def constant(out: wp.array(dtype=int)):
    for i in reversed(range(2, 9, 3)):
        out[i] = i


@wp.kernel
def dynamic(n: int, step: int, out: wp.array(dtype=int)):
    for i in reversed(range(n)):
        out[i] = i
    for j in reversed(range(n, 100, step)):
        out[j] = j
