# test: run
# Made by chance; the numbers are what CPython computes with C's `%`.
# run: k23(0) -> 2 -4 4 0
# run: k23(1) -> 2 3 7 0
# run: k23(4) -> 2 16 8 0
# run: k23(7) -> 2 31 17 0
# run: k25(0) -> 1 0 0 0
# run: k25(1) -> 1 5 4 0
# run: k25(4) -> 1 8 16 0
# run: k25(7) -> 1 11 28 0
# run: k26(0) -> 0 0 0 0
# run: k26(1) -> 0 0 0 0
# run: k26(4) -> 0 0 0 0
# run: k26(7) -> 0 0 0 0
# run: k31(0) -> 0 0 0 1
# run: k31(1) -> 4 1 0 1
# run: k31(4) -> 8 4 0 1
# run: k31(7) -> 14 7 0 1
# run: k32(0) -> 0 0 0 0
# run: k32(1) -> 0 0 0 0
# run: k32(4) -> 0 0 0 0
# run: k32(7) -> 0 0 0 0
# run: k33(0) -> 0 4 0 0
# run: k33(1) -> 2 5 2 0
# run: k33(4) -> 8 8 8 0
# run: k33(7) -> 14 11 14 0
# run: k36(0) -> 0 0 0 0
# run: k36(1) -> 0 0 0 0
# run: k36(4) -> 0 0 0 0
# run: k36(7) -> 0 0 0 0
# run: k39(0) -> 1 0 0 0
# run: k39(1) -> 1 3 2 0
# run: k39(4) -> 1 12 8 0
# run: k39(7) -> 1 21 14 0
# run: k40(0) -> 0 0 0 0
# run: k40(1) -> 0 0 0 0
# run: k40(4) -> 2 4 8 0
# run: k40(7) -> 26 7 14 0
# run: k41(0) -> 0 12 0 0
# run: k41(1) -> 2 15 2 0
# run: k41(4) -> 8 24 8 0
# run: k41(7) -> 14 33 14 0
import inkle as wp


@wp.func
def f23_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    for i1 in range(n % 5):
        w2 = 0
        while True:
            w2 += 1
            if w2 > 2:
                break
            continue
            if (min(b, i1) >= i1 and i1 > (a * 1 % 31)):
                continue
            out[1] += u
        out[2] += i1
        u = 7
    return b


@wp.func
def f23_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    w1 = 0
    while True:
        w1 += 1
        if w1 > 3:
            break
        a = n
        for i2 in range(n % 5):
            if 3 < c < b:
                return out[0]
        out[0] = (b if c == a else a)
        u = b
    w3 = 0
    while True:
        w3 += 1
        if w3 > 1:
            break
        if b < b:
            w4 = 0
            while w4 < 2 and ((c < b and (c != b and b > n))):
                w4 += 1
                a -= a % 7
        else:
            v = a
    return (out[3] * 2 % 31)


@wp.kernel
def k23(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if f23_0((c if a > b else b), out[1], out) > c:
        return
    out[0] += a
    w1 = 0
    while True:
        w1 += 1
        if w1 > 4:
            break
        b = ((c if (b >= c and n == c) else a) if a == n else b)
        out[1] += n
        b -= ((((((n + a) % 97) + (c * 3 % 31)) % 97) + out[2]) % 97) % 7
    if 2 < (2 * 1 % 31) < (((b if n < b else n) + out[1]) % 97):
        return
    if n < 2:
        c -= f23_0(((((a + b) % 97) + ((a + a) % 97)) % 97), b, out) % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k25(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    out[2] += c
    if not (c <= n):
        out[1] = 4
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k26(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if (((a + b) % 97) if not (c <= b) else ((n + b) % 97)) >= ((b + b) % 97):
        return
    b = b
    if ((a + ((b + a) % 97)) % 97) <= c:
        return
    if (n == min(n, b) and min(n, b) < 4):
        if n > ((a if b == a else c) if n == a else c):
            out[1] = ((a + (c * 3 % 31)) % 97)
            c = b
            if (((b + n) % 97) % 2 == 1 and 2 < (b if n > b else n) < ((c + c) % 97)):
                for i1 in range(1):
                    if (((n + c) % 97) <= min(b, i1) and ((a <= i1 and i1 <= c) and a <= a)):
                        a += n % 7
                        c = out[0]
                    else:
                        c -= ((3 * 5 % 31) * 4 % 31) % 7
                    if 3 % 2 == 1:
                        b = i1
            elif a >= min(0, ((c + c) % 97)):
                for i2 in range(0, n % 6, 2):
                    if 3 < n < (i2 if (n < a or i2 == b) else n):
                        break
                    if min((i2 * 5 % 31), i2) == n:
                        c -= b % 7
                        b += 0 % 7
                    else:
                        v = a
                    i2 = i2 + 1
            else:
                b -= ((c if not (c > b) else ((n + a) % 97)) if 3 < b < c else a) % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k31(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    b = ((n + (b if n != a else ((b + c) % 97))) % 97)
    out[3] = a
    for i1 in range(0):
        for i2 in range(0, n % 6, 2):
            c += n % 7
            if (i2 * 4 % 31) > out[2]:
                break
        out[0] += v
        out[1] += b
        if 3 < i1 < n:
            return
    out[1] += n
    out[0] += b
    if 7 != b:
        return
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f32_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    c = n
    out[0] = out[2]
    a, b = b, c
    if (6 > b or b != b):
        if (b >= a or ((b + b) % 97) != 4):
            return (n * 4 % 31)
        if a == c:
            return a
        for i1 in range(0, n % 6, 2):
            continue
            a = c
    return ((2 + c) % 97)


@wp.func
def f32_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if (1 % 2 == 1 or (a >= n and not (c > c))):
        if f32_0(a, b, out) < ((c * 3 % 31) if n > n else b):
            out[0] += (((b if c >= c else b) + ((((a + c) % 97) + (b * 5 % 31)) % 97)) % 97)
            b = c
            if n > a:
                for i1 in range(n % 5):
                    for i2 in range(n % 4, 0, -1):
                        b += (((6 + (b if i1 < b else i1)) % 97) * 1 % 31) % 7
                    b -= ((7 + a) % 97) % 7
            else:
                v = 0
        elif (((c == c and b != n) or a == c) and c >= b):
            u = 3
    elif n <= c:
        c = (b if ((c + a) % 97) != ((c + n) % 97) else 4)
    return f32_0(7, c, out)


@wp.kernel
def k32(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if 5 > (b if c <= n else 2):
        return
    w1 = 0
    while w1 < 2 and (not ((c == n or n <= b))):
        w1 += 1
        if 5 < 0 < f32_1(n, 1, out):
            a += 0 % 7
        elif 6 % 2 == 0:
            b = 7
            a, b = b, c
            u = a
        else:
            a -= 1 % 7
    a += b % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f33_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    out[1] = a
    c = (2 if (b >= c or c <= c) else ((min(b, c) + n) % 97))
    return (7 * 4 % 31)


@wp.func
def f33_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    u = a
    out[0] += u
    return c


@wp.kernel
def k33(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    w1 = 0
    while True:
        w1 += 1
        if w1 > 4:
            break
        w2 = 0
        while w2 < 4 and (((a != n and c < b) and b > c)):
            w2 += 1
            out[3] = ((b + (c if (a == b and n != b) else ((c + n) % 97))) % 97)
            c = a
        out[0] = out[0]
    a = ((min(n, n) if c > b else 0) * 2 % 31)
    out[1] += 4
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f36_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a = a
    return 6
    out[2] = (b * 1 % 31)
    return (min(n, a) if (a <= a and (a == c and c > a)) else b)


@wp.func
def f36_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if out[1] == out[2]:
        if not ((c != c or (n > a and c > a))):
            return b
        a -= (c * 3 % 31) % 7
    elif ((a < n and (c != b or b < a)) and out[3] >= (a * 2 % 31)):
        c += out[1] % 7
    return n


@wp.kernel
def k36(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    return
    out[2] += ((out[1] + n) % 97)
    out[1] += 5
    for i1 in range(n % 4, 0, -1):
        out[2] += v
        out[1] = b
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f39_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a -= a % 7
    if ((b > n or not (c > n)) and 1 >= n):
        if min(b, a) < a:
            out[2] += v
            if (7 * 2 % 31) >= a:
                u = b
            else:
                c -= ((min(a, a) + out[1]) % 97) % 7
        elif (not ((n < a and b == c)) or 3 <= (a * 2 % 31)):
            c = 7
        else:
            b = min((a * 4 % 31), b)
    else:
        a += b % 7
    return 7


@wp.func
def f39_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a = 4
    return b


@wp.kernel
def k39(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    u = 0
    out[1] += c
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f40_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    for i1 in range(0):
        if a < b:
            out[3] += v
            out[2] = 6
            if not (min(i1, c) >= a):
                continue
            out[0] = a
        w2 = 0
        while w2 < 3 and (a >= out[3]):
            w2 += 1
            out[1] = (n if (n <= a or (i1 < c and i1 == b)) else 3)
            a += b % 7
    return 6


@wp.kernel
def k40(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if c == (c if (a >= n and a >= b) else (n if a > a else n)):
        return
    v = (a * 1 % 31)
    out[0] += min((b * 4 % 31), ((c * 2 % 31) * 2 % 31))
    for i1 in range(4, 3, -1):
        if 7 == 5:
            return
        w2 = 0
        while True:
            w2 += 1
            if w2 > 3:
                break
            if a % 2 == 0:
                b = out[0]
                if ((n == b or n == c) or n % 2 == 0):
                    a -= c % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f41_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a += a % 7
    return (b * 4 % 31)


@wp.func
def f41_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    return a
    out[1] = (c * 1 % 31)
    b = 1
    v = n
    return n


@wp.kernel
def k41(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a = min(n, n)
    out[1] += b
    for i1 in range(4, 1, -1):
        a, b = b, c
        out[1] += 4
    v = ((c + ((c + c) % 97)) % 97)
    c = c
    out[0] += a
    out[1] += b
    out[2] += c
