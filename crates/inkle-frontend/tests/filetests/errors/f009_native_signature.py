# test: errors
import inkle as wp
from typing import Any


@wp.struct
class Pair:
    a: float
    b: float


@wp.func_native("return {};")
def pair(x: float) -> Pair: ...


@wp.func_native("return x;")
def two(x: float) -> tuple[float, float]: ...


@wp.func_native("return 0;")
def takes_anything(x: Any) -> int: ...


@wp.kernel
def calls(out: wp.array(dtype=float)):
    out[0] = pair(1.0).a
    a, b = two(1.0)
    out[1] = float(takes_anything((1.0, 2.0)))
