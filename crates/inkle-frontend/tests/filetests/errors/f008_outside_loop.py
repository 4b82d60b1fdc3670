# test: errors
import inkle as wp


@wp.func
def stop(x: float):
    if x > 0.0:
        break
    return x


@wp.kernel
def kernel(out: wp.array(dtype=float)):
    for i in range(3):
        out[i] = stop(1.0)
    continue
