# test: run
# run: same(0) -> 0 0
# run: same(3) -> 0 0
# run: same(5) -> 10 5
# run: cases(0) -> 7
# run: cases(1) -> 8
# run: cases(2) -> 0
# run: separate(0) -> 7
# run: separate(1) -> 8
# run: separate(2) -> 0
# run: turns(2) -> 0 0 0 0
# run: turns(5) -> 0 0 0 20
# run: target(0) -> 0
# run: target(4) -> 3
# run: vectors(1) -> 0 0
# run: vectors(3) -> 3 1
# run: left(1) -> 1
# run: left(9) -> 0
# run: left(4) -> 4
# run: nothing(1) -> 3
# run: nothing(0) -> 5
# run: nothing(-1) -> 0
import inkle as wp


@wp.kernel
def same(n: int, out: wp.array(dtype=int)):
    if n > 2:
        x = n * 2
    if n > 4:
        out[0] = x
        out[1] = x // 2


@wp.kernel
def cases(n: int, out: wp.array(dtype=int)):
    if n == 0:
        x = 7
    elif n == 1:
        x = 8
    out[0] = x


@wp.kernel
def turns(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        if i == 2:
            x = i * 10
        if i > 2:
            out[3] = x
            break


@wp.kernel
def target(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        for k in range(i):
            last = k
        if i > 2:
            out[0] = last + 1


@wp.kernel
def vectors(n: int, out: wp.array(dtype=int)):
    if n > 2:
        v = wp.vec2i(n, 1)
    while n > 0:
        if n == 1:
            out[0] = v[0]
            out[1] = v[1]
        n -= 1


@wp.kernel
def left(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        if i == 8:
            break
        x = i + 1
        if i > 5:
            continue
    if n < 8:
        out[0] = x


@wp.func
def sign(n: int) -> int:
    if n > 0:
        return 3
    if n == 0:
        return 5


@wp.kernel
def nothing(n: int, out: wp.array(dtype=int)):
    out[0] = sign(n)


@wp.kernel
def separate(n: int, out: wp.array(dtype=int)):
    if n == 0:
        x = 7
    if n == 1:
        x = 8
    out[0] = x
