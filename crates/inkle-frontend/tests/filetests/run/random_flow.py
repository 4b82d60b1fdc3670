# test: run
# Made by chance; the numbers are what CPython computes with C's `%`.
# run: k0(0) -> 0 0 0 0
# run: k0(1) -> 2 1 2 0
# run: k0(4) -> 8 4 8 0
# run: k0(7) -> 14 7 14 0
# run: k1(0) -> 0 0 0 0
# run: k1(1) -> 0 0 0 0
# run: k1(4) -> 0 0 0 0
# run: k1(7) -> 0 0 0 0
# run: k2(0) -> 0 0 0 0
# run: k2(1) -> 3 1 2 0
# run: k2(4) -> 12 4 8 0
# run: k2(7) -> 21 7 14 0
# run: k3(0) -> 0 0 1 0
# run: k3(1) -> 6 6 1 0
# run: k3(4) -> 1 0 4 0
# run: k3(7) -> 6 6 7 0
# run: k4(0) -> 0 0 0 0
# run: k4(1) -> 0 0 0 0
# run: k4(4) -> 0 0 0 0
# run: k4(7) -> 0 0 0 0
# run: k5(0) -> 1 5 0 0
# run: k5(1) -> 1 6 2 0
# run: k5(4) -> 1 0 8 0
# run: k5(7) -> 1 12 14 0
# run: k6(0) -> 0 0 0 0
# run: k6(1) -> 0 0 0 0
# run: k6(4) -> 0 0 0 0
# run: k6(7) -> 0 0 0 0
# run: k7(0) -> 0 0 2 0
# run: k7(1) -> 0 0 2 0
# run: k7(4) -> 0 0 2 0
# run: k7(7) -> 0 0 2 0
# run: k8(0) -> 1 0 7 0
# run: k8(1) -> 0 1 7 0
# run: k8(4) -> -3 4 7 0
# run: k8(7) -> 1 7 7 0
# run: k9(0) -> 0 0 0 0
# run: k9(1) -> 0 0 0 0
# run: k9(4) -> 0 0 0 0
# run: k9(7) -> 0 0 0 0
# run: k10(0) -> 0 0 0 0
# run: k10(1) -> 0 0 0 0
# run: k10(4) -> 0 0 0 0
# run: k10(7) -> 0 0 0 0
# run: k11(0) -> 1 0 0 0
# run: k11(1) -> 1 1 3 0
# run: k11(4) -> 7 3 10 0
# run: k11(7) -> 8 1 13 0
# run: k12(0) -> 1 0 0 0
# run: k12(1) -> 0 1 2 0
# run: k12(4) -> -3 4 8 0
# run: k12(7) -> 1 7 14 0
import inkle as wp


@wp.kernel
def k0(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if b < a:
        a = 1
        if c > 5:
            return
    else:
        for i1 in range(n % 4):
            for i2 in range(n % 5):
                if 1 >= out[2]:
                    a = i2
                elif b != min(c, i1):
                    if not (c == (b * 1 % 31)):
                        continue
                i2 = i2 + 1
        c = c
    a = c
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k1(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a = 5
    return
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k2(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    out[0] = c
    c = out[0]
    w1 = 0
    while True:
        w1 += 1
        if w1 > 2:
            break
        a = b
    c = ((n + a) % 97)
    a = a
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f3_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a = n
    if c > n:
        if ((b + (n if a < c else n)) % 97) % 2 == 0:
            return a
        for i1 in range((n * 5 % 31) % 4):
            if 7 <= 2:
                out[2] += 6
                c = (c * 1 % 31)
    else:
        c = b
    return out[0]


@wp.func
def f3_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    out[1] = min(a, out[1])
    c += (5 * 2 % 31) % 7
    if ((((b + n) % 97) + c) % 97) >= ((c + c) % 97):
        return (out[1] * 4 % 31)
    return min(c, a)


@wp.kernel
def k3(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if min(5, n) % 2 == 1:
        a, b = b, 3
        b += out[1] % 7
        if (not (a == a) or (n * 5 % 31) > (n if b >= c else b)):
            if ((c if a <= a else n) if b == a else min(n, n)) % 2 == 0:
                return
            b += b % 7
        a, b = b, min(b, b)
    elif not (b <= out[0]):
        b -= 4 % 7
    else:
        out[2] += ((((a + min(c, b)) % 97) + (b * 4 % 31)) % 97)
        if 0 < c < a:
            b = 3
            if f3_1((b * 5 % 31), out[3], out) == (b if c == a else f3_1(a, n, out)):
                c = 2
        else:
            a = f3_0(f3_0(0, a, out), (((c + b) % 97) * 2 % 31), out)
    c = n
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f4_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    for i1 in range(1, 0):
        if (out[1] * 4 % 31) == min((n * 1 % 31), n):
            a = c
    return 4


@wp.func
def f4_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    c = out[2]
    c = a
    a = n
    return c


@wp.kernel
def k4(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if 6 >= (a * 3 % 31):
        return
    if c == b:
        if ((b * 2 % 31) != (a * 4 % 31) or 2 <= b):
            return
        c = b
        if (not (n >= a) or ((n + n) % 97) > min(b, a)):
            return
    if 5 != n:
        return
    b = n
    c += 5 % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k5(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a, b = b, b
    a = 1
    if 2 % 2 == 1:
        return
    if (c % 2 == 1 or min(b, a) <= c):
        if ((c if b < n else b) % 2 == 1 or c == out[3]):
            b += 5 % 7
        else:
            b -= n % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f6_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if n == n:
        return a
    if min(out[1], (b * 1 % 31)) >= n:
        if (b if 3 < b < a else (c if c >= a else c)) <= out[0]:
            a, b = b, n
        elif b < c:
            c = n
            c += a % 7
            b = (a * 1 % 31)
            if c <= (b if n > a else out[3]):
                return out[2]
        else:
            if (3 < (c * 4 % 31) or (a >= c or b != b)):
                b = (((out[0] if c <= c else 7) + ((c + 5) % 97)) % 97)
    return (6 if (n if b <= b else c) <= a else a)


@wp.func
def f6_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if (((n + c) % 97) != b and a < ((n + n) % 97)):
        return 1
    b += c % 7
    return a


@wp.kernel
def k6(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if out[1] > a:
        b += a % 7
        b = n
        c = 2
        if c != ((7 + n) % 97):
            w1 = 0
            while w1 < 1 and (5 < n < n):
                w1 += 1
                a = (5 * 2 % 31)
    else:
        b = 3
        c += out[0] % 7
        if (((c >= n or a < b) and (n > b or n <= c)) or (n * 2 % 31) > b):
            return
    a, b = b, a
    a += 2 % 7
    b = n
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f7_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a = n
    return ((a + b) % 97)


@wp.func
def f7_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    out[1] += (min(c, 7) * 2 % 31)
    if min(n, b) > b:
        b += (((c + ((n + b) % 97)) % 97) * 4 % 31) % 7
        return out[3]
        if (3 < c < ((n + b) % 97) and a > b):
            c = (((((n * 2 % 31) + out[1]) % 97) + n) % 97)
            if ((n * 3 % 31) <= n or (b % 2 == 1 or (b > a and n >= a))):
                w1 = 0
                while w1 < 4 and (min(a, b) < n):
                    w1 += 1
                    out[2] += out[1]
                b -= (out[0] * 2 % 31) % 7
            else:
                b = b
        else:
            b -= f7_0(a, ((c + (c * 5 % 31)) % 97), out) % 7
    else:
        c += b % 7
    return ((n + (b if (b <= n or c < n) else 5)) % 97)


@wp.kernel
def k7(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    for i1 in range(2, 3):
        c = a
    b = ((((c if c >= b else n) + 6) % 97) if ((a <= n or a > n) and n >= a) else (min(a, a) if a <= n else 0))
    b = c
    for i2 in range(4, 0, -1):
        if c < b:
            return
        out[1] = min(6, 0)
        b += ((n + ((a + n) % 97)) % 97) % 7
        if out[0] <= ((f7_0(i2, c, out) + n) % 97):
            out[2] = 2
            a = (b if b == (c * 3 % 31) else ((out[2] + a) % 97))
            a = i2
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f8_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if min(min(c, n), out[0]) <= min(min(n, b), b):
        i1 = 0
        for i1 in range(n % 5):
            c = i1
            i2 = 0
            for i2 in range(1):
                a -= b % 7
                if i2 >= n:
                    return c
        b = ((min((b * 1 % 31), 2) + a) % 97)
    else:
        c = min(5, 5)
    return c


@wp.kernel
def k8(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a -= b % 7
    c = 7
    for i1 in range(1, 2):
        if (((i1 * 3 % 31) + (a if a < a else a)) % 97) % 2 == 1:
            if f8_0(out[1], 4, out) > f8_0(out[1], (a if c > b else n), out):
                break
            c = (c if (c > n or (b == c or b != i1)) else a)
            for i2 in range(4, 3, -1):
                if i2 <= a:
                    for i3 in range(4):
                        c = (((n + ((n + i3) % 97)) % 97) * 3 % 31)
                        b = n
                        i3 = i3 + 1
                    for i4 in range(1, 5):
                        b = i4
                        b = i2
                i5 = 0
                for i5 in range(0, n % 6, 2):
                    i6 = 0
                    for i6 in range(n % 4, 0, -1):
                        a = out[1]
                    i5 = i5 + 1
        elif (not (c >= i1) and a != i1):
            if n <= 4:
                break
            c -= (b if not (n == c) else i1) % 7
    b = b
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f9_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if 3 != a:
        return (b * 3 % 31)
    out[0] += a
    if (7 < c or (n % 2 == 1 and a <= b)):
        return c
    b -= 0 % 7
    return c


@wp.func
def f9_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    b = ((n + b) % 97)
    return min(out[1], 2)


@wp.kernel
def k9(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    return
    c = b
    if 4 < out[0] < (n if n > n else c):
        a = ((n + c) % 97)
        w1 = 0
        while True:
            w1 += 1
            if w1 > 1:
                break
            a, b = b, c
            out[2] = (out[1] * 4 % 31)
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f10_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    c -= 5 % 7
    w1 = 0
    while True:
        w1 += 1
        if w1 > 3:
            break
        if (c < b or (a <= n and not (a >= n))):
            continue
        a, b = b, (b * 3 % 31)
        if ((b * 3 % 31) <= ((a + a) % 97) or a <= c):
            a = b
    return b


@wp.func
def f10_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    i1 = 0
    for i1 in range(2, 3):
        b = ((2 if a != c else 6) * 4 % 31)
        out[0] += (a if i1 != ((c + c) % 97) else c)
        w2 = 0
        while w2 < 2 and (((c + b) % 97) < b):
            w2 += 1
            c = f10_0(c, c, out)
            if min(i1, c) >= a:
                if ((n + ((a + n) % 97)) % 97) % 2 == 1:
                    w3 = 0
                    while True:
                        w3 += 1
                        if w3 > 1:
                            break
                        c += (((out[0] + i1) % 97) * 2 % 31) % 7
                elif (c < (c * 3 % 31) and 5 < ((b + n) % 97)):
                    b = (((3 + 3) % 97) if i1 <= 4 else c)
            elif not (((n + i1) % 97) % 2 == 0):
                c = min(((b + a) % 97), 7)
        i1 = i1 + 1
    return n


@wp.kernel
def k10(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if (3 >= out[2] or out[0] > 2):
        b -= min(c, ((b + 1) % 97)) % 7
        w1 = 0
        while w1 < 3 and (b <= 7):
            w1 += 1
            if (b * 5 % 31) == n:
                return
            if ((b * 5 % 31) if c < c else b) == b:
                return
            b += a % 7
    a += out[0] % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k11(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    out[2] = ((out[3] + n) % 97)
    b = b
    for i1 in range(n % 5):
        if ((min(a, a) + a) % 97) == ((c * 1 % 31) if (n > n and n >= b) else out[0]):
            continue
        if a < b:
            b += min(1, (7 if i1 < c else n)) % 7
            if c <= n:
                w2 = 0
                while w2 < 4 and (i1 > (c * 4 % 31)):
                    w2 += 1
                    c = ((((i1 * 3 % 31) * 2 % 31) + ((b if a > a else a) if (n <= c or i1 != i1) else (n * 5 % 31))) % 97)
            else:
                i3 = 0
                for i3 in range(0, n % 6, 2):
                    if 5 > min(n, b):
                        break
                c = 6
            a, b = b, 6
        elif b != (7 * 3 % 31):
            if i1 <= out[3]:
                if (out[2] == b and min(n, b) > out[3]):
                    break
            else:
                w4 = 0
                while True:
                    w4 += 1
                    if w4 > 4:
                        break
                    if i1 >= 7:
                        c = c
                        c -= a % 7
                    else:
                        b = out[3]
                        b = ((b + 2) % 97)
            b = i1
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k12(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if not (min(n, a) <= ((n + n) % 97)):
        if n >= (c * 4 % 31):
            a, b = b, 7
            c = min(out[2], ((b * 4 % 31) if (n <= a or c <= c) else ((a + a) % 97)))
            i1 = 0
            for i1 in range(n % 4, 0, -1):
                a = b
                w2 = 0
                while w2 < 1 and (((n + a) % 97) <= min(i1, c)):
                    w2 += 1
                    if ((min(c, c) + min(a, c)) % 97) != b:
                        return
                    for i3 in range(b % 4):
                        a += ((n * 1 % 31) * 3 % 31) % 7
            a -= c % 7
    elif (n * 5 % 31) >= 3:
        a -= b % 7
    else:
        a = a
    c = c
    out[0] += a
    out[1] += b
    out[2] += c
