# test: run
# run: loop_exits(1) -> 0 0 0 0 0 0 0 0
# run: loop_exits(2) -> 228 1 0 0 0 0 0 0
# run: loop_exits(3) -> 1344 2 0 0 0 0 0 0
# run: loop_exits(6) -> 5544 3 0 0 0 0 0 0
# run: returns_in_loops(0) -> -1 -3 0 8 0 0 0 0
# run: returns_in_loops(1) -> -1 -2 50 8 0 0 0 0
# run: returns_in_loops(2) -> 601 -1 100 8 0 0 0 0
# run: returns_in_loops(3) -> 302 -3 80 8 0 0 0 0
# run: returns_in_loops(6) -> 203 -3 90 7 0 0 0 0
# run: last_values(0) -> 1 0 10 0 6 13 8 198
# run: last_values(1) -> 2 1 11 1 6 13 8 198
# run: last_values(2) -> 3 2 12 2 6 13 8 198
# run: last_values(3) -> 4 3 13 3 6 13 8 198
# run: last_values(6) -> 7 6 16 6 6 13 12 198
# run: skipped_turns(0) -> 0 10 20 0 0 0 0 0
# run: skipped_turns(1) -> 0 0 20 1 1 0 0 0
# run: skipped_turns(2) -> 0 10 0 2 2 0 0 0
# run: skipped_turns(3) -> 0 10 20 3 2 0 0 0
# run: skipped_turns(6) -> 0 10 20 3 2 0 0 0
# run: elif_chains(0) -> 2 0 7 0 0 0 0 0
# run: elif_chains(1) -> 3 0 7 0 0 0 0 0
# run: elif_chains(2) -> 0 9 0 0 0 0 0 0
# run: elif_chains(3) -> 4 0 5 0 0 0 0 0
# run: elif_chains(6) -> 4 0 5 0 0 0 0 0
# run: short_circuits(0) -> 0 0 1 0 0 1 0 0
# run: short_circuits(1) -> 1 1 1 1 1 3 0 0
# run: short_circuits(2) -> 1 1 1 1 2 3 0 0
# run: short_circuits(3) -> 1 1 1 1 2 6 0 0
# run: short_circuits(6) -> 1 1 1 0 2 8 0 0
# run: components(0) -> 123 7 12 103 7 12 103 56
# run: components(1) -> 123 1 7 103 2 9 106 56
# run: components(2) -> 123 2 12 107 4 17 113 56
# run: components(3) -> 123 7 12 103 10 19 114 56
# run: components(6) -> 123 7 12 103 16 29 128 56
# run: swaps(0) -> 0 1 3 1 1 0 66 77
# run: swaps(1) -> 1 2 3 3 12 0 66 77
# run: swaps(2) -> 2 3 3 5 23 0 66 77
# run: swaps(3) -> 3 4 3 7 43 0 66 77
# run: swaps(6) -> 6 7 3 13 76 0 66 77
import inkle as wp


@wp.kernel
def loop_exits(n: int, out: wp.array(dtype=int)):
    total = 0
    for i in range(n):
        for j in range(n):
            if j == i:
                continue
            k = 0
            while True:
                k += 1
                if k > 3:
                    break
                if k % 2 == 0:
                    continue
                total += 100 * i + 10 * j + k
            if j > 3:
                break
        if i == 3:
            break
    out[0] = total
    out[1] = i


@wp.func
def find(k: int, target: int):
    for i in range(10):
        for j in range(k):
            if i * j == target:
                return i * 100 + j
    return -1


@wp.func
def countdown(n: int) -> int:
    m = n
    while True:
        m -= 3
        if m < 0:
            return m


@wp.func
def pair(n: int):
    while n > 10:
        n -= 7
        if n == 11:
            return n, 1
    return n, 0


@wp.kernel
def returns_in_loops(n: int, out: wp.array(dtype=int)):
    out[0] = find(n, 6)
    out[1] = countdown(n)
    a, b = pair(n * 5)
    out[2] = a * 10 + b
    for i in range(n):
        if i == 4:
            out[3] = 7
            return
    out[3] = 8


@wp.kernel
def last_values(n: int, out: wp.array(dtype=int)):
    for i in range(n + 1):
        out[0] += 1
    out[1] = i
    for j in range(n + 1):
        j = j + 10
    out[2] = j
    limit = n
    for k in range(limit):
        limit = 2
        out[3] += 1
    for m in range(4):
        out[4] += m
        m = m + 10
    out[5] = m
    while True:
        x = n * 2
        if x > 6:
            break
        n += 1
    out[6] = x
    for p in range(100):
        last = p * 2
    out[7] = last


@wp.kernel
def skipped_turns(n: int, out: wp.array(dtype=int)):
    for i in range(3):
        if i == n:
            continue
        x = i * 10
        out[i] = x
    for j in range(3):
        if j == n:
            break
        out[3] += 1
    out[4] = j


@wp.kernel
def elif_chains(n: int, out: wp.array(dtype=int)):
    if n < 0:
        x = 1
    elif n == 0:
        x = 2
    elif n < 3:
        if n == 1:
            x = 3
        else:
            out[1] = 9
            return
    else:
        x = 4
    out[0] = x
    y = 5 if n > 2 else (6 if n > 1 else 7)
    out[2] = y


@wp.func
def tick(out: wp.array(dtype=int), answer: bool) -> bool:
    out[5] = out[5] + 1
    return answer


@wp.kernel
def short_circuits(n: int, out: wp.array(dtype=int)):
    if n > 0 and tick(out, True):
        out[0] = 1
    if n > 0 or tick(out, False):
        out[1] = 1
    if not (n > 1 and tick(out, n > 2) and tick(out, False)):
        out[2] = 1
    if 0 < n < 5 and (n == 2 or tick(out, True)):
        out[3] = 1
    while n > 0 and tick(out, n > 2):
        n -= 1
    out[4] = n


@wp.kernel
def components(n: int, out: wp.array(dtype=int)):
    v = wp.vec3i(1, 2, 3)
    w = v
    w[0] = n
    w.y += 10
    w[n % 3] = 7
    w[-1] += 100
    out[0] = v[0] * 100 + v[1] * 10 + v[2]
    out[1] = w[0]
    out[2] = w[1]
    out[3] = w[2]
    for i in range(n):
        w[i % 3] += i
        w = w + v
    a, b, c = w
    out[4] = a
    out[5] = b
    out[6] = c
    v.x, v[1] = 5, 6
    out[7] = v.x * 10 + v.y


@wp.kernel
def swaps(n: int, out: wp.array(dtype=int)):
    a = b = n
    a += 1
    a, b = b, a
    p, (q, r) = a, (b, 3)
    out[0] = a
    out[1] = b
    out[2], out[3] = p + q, r
    out[2], out[3] = out[3], out[2]
    t = (a, b)
    if n > 2:
        t = (b, a)
    out[4] = t[0] * 10 + t[1]
    out[-1] = 77
    i = -2
    out[i] = 66
