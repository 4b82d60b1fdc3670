# test: errors
import inkle as wp


@wp.func
def sign(x: float):
    if x > 0.0:
        return 1.0


@wp.func
def find(n: int):
    for i in range(n):
        if i * i > 10:
            return i


@wp.func
def promised(x: float) -> float:
    y = x


@wp.kernel
def kernel(out: wp.array(dtype=float)):
    out[0] = sign(1.0)
    out[1] = float(find(3))
    out[2] = promised(1.0)
