# test: errors
import inkle as wp


@wp.struct
class Cell:
    level: float


@wp.kernel
def conditions(v: wp.vec3, c: Cell, x: float, out: wp.array(dtype=float)):
    if v:
        out[0] = 1.0
    while c:
        out[0] = 1.0
    a = 1.0 if v else 2.0
    b = x > 0.0 and v
    d = not v
    assert c
    if "text":
        pass
