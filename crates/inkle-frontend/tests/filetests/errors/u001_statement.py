# test: errors
import inkle as wp


@wp.kernel
def statements(n: int, out: wp.array(dtype=float)):
    try:
        x = 1
    except Exception:
        pass
    with n:
        x = 1
    import math
    raise ValueError
    del n
    global wp
    for i in range(n):
        out[0] = 1.0
    else:
        out[0] = 2.0
    while n > 0:
        n -= 1
    else:
        out[0] = 2.0
    def inner():
        pass


@wp.func
def variadic(*values: float):
    return 1.0


@wp.kernel
def calls(out: wp.array(dtype=float)):
    out[0] = variadic(1.0)
