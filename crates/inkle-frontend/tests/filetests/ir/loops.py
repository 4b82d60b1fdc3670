# test: ir
import inkle as wp


@wp.kernel
def ranges(n: int, s: int, out: wp.array(dtype=int)):
    for i in range(n):
        out[i] = 1
    for i in range(n, 0, -1):
        out[i] = 2
    for i in range(0, n, s):
        out[i] = 3
    for i in range(3):
        out[i] = 4
    for i in range(3, 3):
        out[i] = 5
    for i in range(100):
        out[i] = 6


@wp.kernel
def carried(n: int, v: wp.vec3, out: wp.array(dtype=wp.vec3)):
    count = 0
    for i in range(n):
        count += 1
        v[0] += 1.0
        for j in range(i):
            v.y += float(count)
    out[0] = v


@wp.kernel
def whiles(n: int, out: wp.array(dtype=int)):
    count = 0
    while n != 1:
        if n % 2 == 0:
            n = n / 2
        else:
            n = 3 * n + 1
        count += 1
    out[0] = count
    while True:
        x = n
        if x > 2:
            break
        n += 1
    out[1] = x


@wp.kernel
def last_value(n: int, out: wp.array(dtype=int)):
    for i in range(n):
        pass
    out[0] = i
    for k in range(100):
        twice = k * 2
    out[1] = k + twice


@wp.kernel
def random(seed: int, out: wp.array(dtype=float)):
    state = wp.rand_init(seed)
    for i in range(100):
        if wp.randf(state) < 0.5:
            out[i] = wp.randf(state)
    while wp.randf(state) < 0.5:
        out[0] = 1.0
    out[1] = wp.randf(state)
