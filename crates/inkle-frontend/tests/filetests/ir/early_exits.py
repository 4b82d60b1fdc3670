# test: ir
import inkle as wp


@wp.kernel
def guards(n: int, out: wp.array(dtype=int)):
    i = wp.tid()
    if i >= n:
        return
    if i == 3:
        out[i] = 1
        return
    out[i] = 2


@wp.kernel
def nested(n: int, m: int, out: wp.array(dtype=int)):
    x = 0
    if n > 0:
        if m > 0:
            x = 1
            if n > m:
                return
            x += 1
        x += 10
    out[0] = x


@wp.kernel
def loop_return(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        if out[i] == 7:
            return
        out[i] = i
    out[0] = 99


@wp.kernel
def break_continue(n: int, out: wp.array(dtype=int)):
    s = 0
    for i in range(n):
        if i == 2:
            continue
        if i == 5:
            break
        s += i
    out[0] = s


@wp.kernel
def skip(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        if i == 2:
            continue
        out[i] = 1
