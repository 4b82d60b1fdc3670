# test: errors
import inkle as wp


@wp.kernel
def branch(n: int, out: wp.array(dtype=float)):
    if n > 2:
        x = 1.0
    out[0] = x


@wp.kernel
def loops(n: int, out: wp.array(dtype=float)):
    for i in range(n):
        last = float(i)
    out[0] = last
    while n > 0:
        n -= 1
        count = n
    out[1] = float(count)


@wp.kernel
def before(out: wp.array(dtype=float)):
    out[0] = late
    late = 1.0


@wp.kernel
def skipped(n: int, out: wp.array(dtype=float)):
    for k in range(3):
        if n == k:
            continue
        seen = float(k)
    out[0] = seen


@wp.kernel
def turn(n: int, out: wp.array(dtype=float)):
    for i in range(n):
        if i > 0:
            out[0] = previous
        previous = 1.0


@wp.kernel
def augmented(out: wp.array(dtype=float)):
    total += 1.0
    v.x = 1.0
