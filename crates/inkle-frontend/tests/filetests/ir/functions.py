# test: ir
from typing import Callable
import inkle as wp


@wp.func
def square(x: float):
    return x * x


@wp.func
def square(x: int):
    return x * x


@wp.func
def hypot(x: float, y: float, scale: float = 2.0) -> float:
    return wp.sqrt(square(x) + square(y)) * scale


@wp.func
def both(x: float) -> tuple[float, int]:
    return x, int(x)


@wp.func
def clear(a: wp.array(dtype=float), i: int):
    if i < 0:
        return
    a[i] = 0.0


@wp.func
def early(x: float):
    if x > 1.0:
        return 1.0
    if x > 0.5:
        y = x * 2.0
        return y
    else:
        x = x + 1.0
    return x


@wp.func
def apply(f: Callable, x: float):
    return f(x)


@wp.kernel
def calls(x: float, n: int, out: wp.array(dtype=float)):
    out[0] = hypot(x, 1.0)
    out[1] = hypot(y=x, x=2.0, scale=x)
    out[2] = float(square(n))
    a, b = both(x)
    out[3] = a + float(b)
    clear(out, 4)
    out[5] = early(x)
    f = square
    out[6] = f(x)
    out[7] = apply(early, x)
    out[8] = square(x) + square(x)
