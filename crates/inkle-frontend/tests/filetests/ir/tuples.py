# test: ir
import inkle as wp


@wp.func
def weighted(pair: tuple[wp.vec3, float]) -> float:
    return pair[0].x * pair[1]


@wp.func
def total(values: tuple[int, ...]):
    sum = int(0)
    for i in range(len(values)):
        sum += values[i]
    return sum


@wp.kernel
def calls(x: float, n: int, out: wp.array(dtype=float)):
    out[0] = weighted((wp.vec3(x), x))
    out[1] = float(total((n, 2, 3)))
    out[2] = float(total((n,)))
