# test: run
# Made by chance; the numbers are what CPython computes with C's `%`.
# run: k4(0) -> 0 6 0 0
# run: k4(1) -> 3 6 2 0
# run: k4(4) -> 4 6 8 0
# run: k4(7) -> 1 6 18 0
# run: k5(0) -> 0 0 0 0
# run: k5(1) -> 0 0 0 0
# run: k5(4) -> 0 0 0 0
# run: k5(7) -> 0 0 0 0
# run: k7(0) -> 0 0 0 0
# run: k7(1) -> 1 0 0 0
# run: k7(4) -> 0 0 0 0
# run: k7(7) -> 8 59 7 0
# run: k8(0) -> 0 0 0 1
# run: k8(1) -> 1 1 4 1
# run: k8(4) -> 1 4 16 1
# run: k8(7) -> 1 7 28 1
# run: k11(0) -> 0 0 0 0
# run: k11(1) -> 0 0 0 0
# run: k11(4) -> 0 0 0 0
# run: k11(7) -> 0 0 0 0
# run: k12(0) -> 0 0 0 0
# run: k12(1) -> 0 0 0 0
# run: k12(4) -> 0 0 0 0
# run: k12(7) -> 0 0 0 0
# run: k15(0) -> 0 0 0 0
# run: k15(1) -> 2 0 1 0
# run: k15(4) -> 8 0 4 0
# run: k15(7) -> 14 0 7 0
# run: k16(0) -> 1 1 0 0
# run: k16(1) -> 1 1 2 0
# run: k16(4) -> 4 4 8 0
# run: k16(7) -> 7 7 14 0
# run: k18(0) -> 0 0 0 0
# run: k18(1) -> 0 0 0 0
# run: k18(4) -> 1 4 8 0
# run: k18(7) -> 1 7 14 0
# run: k22(0) -> 0 0 0 0
# run: k22(1) -> 0 0 0 0
# run: k22(4) -> 0 0 0 0
# run: k22(7) -> 0 0 0 0
import inkle as wp


@wp.kernel
def k4(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    b = b
    if 7 != b:
        a, b = b, a
        if (((n > b or b >= n) or n >= a) and ((n != b and a > c) or (n <= b and b >= n))):
            b -= c % 7
            out[0] += (((a + c) % 97) if min(c, b) > 0 else c)
        elif n > b:
            if (c < out[3] or 0 < out[2] < 5):
                w1 = 0
                while w1 < 1 and (c >= out[2]):
                    w1 += 1
                    v = 0
                    for i2 in range(n % 4, 0, -1):
                        a = 4
                        i2 = i2 + 1
                a, b = b, 7
            else:
                u = 7
    else:
        c += (c * 4 % 31) % 7
    b = 6
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k5(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a, b = b, out[1]
    if b <= (((n * 3 % 31) + 2) % 97):
        for i1 in range(n % 5):
            w2 = 0
            while True:
                w2 += 1
                if w2 > 3:
                    break
                u = n
                a = 0
            a = c
            a = b
    else:
        v = min(b, min(a, min(a, b)))
    c = min(5, a)
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k7(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    for i1 in range(0, 1):
        a = a
        if not ((n * 3 % 31) % 2 == 0):
            c = n
            out[0] = b
            b = c
        if (n != n or a == ((c + c) % 97)):
            return
            c = i1
            out[0] += v
        if (((b > b and c > b) or b >= n) or ((b != b or c <= b) and a < c)):
            continue
    if ((a + b) % 97) <= 7:
        return
    out[1] += 4
    for i2 in range(n % 4, 0, -1):
        for i3 in range(2, 6):
            b -= i1 % 7
            b += (min(c, ((c + i1) % 97)) * 5 % 31) % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f8_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if c % 2 == 1:
        return a
    out[0] = b
    if not (not ((c != b or c < c))):
        return (n if 3 > a else (((n + b) % 97) * 1 % 31))
    return out[1]


@wp.kernel
def k8(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    out[3] = a
    c = (n * 4 % 31)
    if not ((n * 3 % 31) != f8_0(n, a, out)):
        return
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k11(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    c -= (out[2] * 1 % 31) % 7
    return
    out[2] += 1
    out[2] += n
    if (out[2] != (n if a == b else b) or (a % 2 == 1 or a > a)):
        b += b % 7
        out[1] += u
    elif (a > (b if a != a else b) and b <= 6):
        if not (b >= a):
            if ((2 + (b if n >= b else a)) % 97) <= n:
                return
            u = 7
        else:
            b += ((c + b) % 97) % 7
            for i1 in range(n % 4, 0, -1):
                if n < i1:
                    if not (3 < out[3] < c):
                        return
                    if min(min(a, n), b) < n:
                        c -= (a if out[2] != out[2] else c) % 7
                        u = i1
                    else:
                        c -= (b if (c * 5 % 31) < out[3] else ((i1 + b) % 97)) % 7
                v = 6
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k12(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if n == a:
        return
    return
    for i1 in range(2, 0):
        a -= out[3] % 7
        v = i1
        if ((c + 6) % 97) > 7:
            continue
        b += a % 7
    if not (min(a, b) > 1):
        if ((1 + i1) % 97) == n:
            for i2 in range(4, -1, -1):
                out[2] += min(b, (i1 * 3 % 31))
                if min(min(c, n), ((n + b) % 97)) % 2 == 0:
                    out[2] = b
                    v = b
                elif ((0 + 5) % 97) > ((a + 7) % 97):
                    u = 2
                else:
                    c = ((i1 + i1) % 97)
        else:
            c = 1
    else:
        b = n
    c += i1 % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f15_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    return 3
    b += 4 % 7
    c -= out[3] % 7
    if b % 2 == 0:
        return c
    return (a if c == c else n)


@wp.func
def f15_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if 3 < 4:
        return 5
    if 4 < n < 5:
        c += c % 7
        if (b >= (n if c < c else c) or (b if a <= c else a) % 2 == 0):
            c -= 0 % 7
        else:
            c += 5 % 7
    return a


@wp.kernel
def k15(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    out[0] += c
    out[2] += b
    for i1 in range(n % 4, 0, -1):
        out[2] = b
    for i2 in range((a * 3 % 31) % 4):
        b = i2
        if n <= a:
            return
    if (1 < b < n and a != ((c + b) % 97)):
        return
    a -= i2 % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f16_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a, b = b, n
    return n


@wp.kernel
def k16(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if (2 >= ((c + n) % 97) and (n <= c and a != c)):
        a, b = b, a
        a = 6
        if b < (n * 3 % 31):
            c = (b * 5 % 31)
        else:
            if (f16_0(a, c, out) == c and a == n):
                if min(min(c, c), n) != c:
                    out[1] = n
                    if b >= (b * 5 % 31):
                        return
                else:
                    for i1 in range(n % 4, 0, -1):
                        c += i1 % 7
                for i2 in range(0, n % 6, 2):
                    for i3 in range(n % 5):
                        a += (i3 * 3 % 31) % 7
                        a = i2
                    c -= i2 % 7
            elif (b <= 4 and (a if b != n else a) == c):
                v = ((((n + c) % 97) if (c < c or n >= n) else b) if ((b < b and n >= a) or (b != a or n > n)) else a)
            else:
                a -= 6 % 7
    a = min(f16_0((n if a <= n else a), 0, out), (b if a >= c else (c if n < b else n)))
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k18(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if b <= 3:
        if 1 <= a:
            return
        a, b = b, b
        for i1 in range(1):
            for i2 in range(n % 4, 0, -1):
                for i3 in range(4, 2, -1):
                    out[2] += a
                    if ((not (a <= c) or (n >= c or i2 > i2)) and ((c == i1 and b == c) or i1 % 2 == 1)):
                        c -= b % 7
                    elif 4 == 2:
                        v = 7
            out[0] += u
            for i4 in range(4):
                a += (a * 2 % 31) % 7
            out[1] += a
        w5 = 0
        while True:
            w5 += 1
            if w5 > 0:
                break
            a -= out[0] % 7
    u = out[3]
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f22_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    for i1 in range(n % 5):
        w2 = 0
        while w2 < 2 and ((i1 if b != n else a) >= (i1 * 5 % 31)):
            w2 += 1
            c = out[3]
            for i3 in range(0, n % 6, 2):
                c = i3
    return (2 if 4 <= c else (((n + n) % 97) * 4 % 31))


@wp.func
def f22_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a = 1
    i1 = 0
    for i1 in range(1, 4):
        for i2 in range(4):
            c += (1 if n > (i1 if a == n else a) else (a if not (i1 > a) else ((a + i1) % 97))) % 7
            if 1 <= out[1]:
                out[3] = a
                out[1] += min(b, 7)
            elif 5 > b:
                for i3 in range(b % 4):
                    b = c
                    i3 = i3 + 1
            else:
                b = (((b + (a * 3 % 31)) % 97) if min(n, i1) > (c * 5 % 31) else 3)
    return (((a + ((b + n) % 97)) % 97) * 2 % 31)


@wp.kernel
def k22(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    return
    for i1 in range(0, n % 6, 2):
        w2 = 0
        while True:
            w2 += 1
            if w2 > 0:
                break
            if (i1 >= f22_0(b, c, out) or (c != i1 or i1 != b)):
                a, b = b, c
                w3 = 0
                while True:
                    w3 += 1
                    if w3 > 2:
                        break
                    u = c
                    if a != a:
                        break
            else:
                if (a * 4 % 31) <= c:
                    c += min((i1 if (c != b and n >= a) else n), 4) % 7
    c = c
    out[0] += a
    out[1] += b
    out[2] += c
