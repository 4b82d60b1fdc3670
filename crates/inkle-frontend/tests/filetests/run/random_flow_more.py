# test: run
# Made by chance; the numbers are what CPython computes with C's `%`.
# run: k13(0) -> 0 0 0 0
# run: k13(1) -> 0 0 0 0
# run: k13(4) -> 0 0 0 0
# run: k13(7) -> 0 0 0 0
# run: k14(0) -> 0 4 0 0
# run: k14(1) -> 0 0 0 0
# run: k14(4) -> 4 12 0 0
# run: k14(7) -> 0 0 0 0
# run: k15(0) -> 0 0 0 0
# run: k15(1) -> 2 1 2 0
# run: k15(4) -> 8 5 20 0
# run: k15(7) -> 14 5 35 0
# run: k16(0) -> 0 0 1 0
# run: k16(1) -> 0 2 0 0
# run: k16(4) -> 0 8 4 0
# run: k16(7) -> 0 14 0 0
# run: k17(0) -> 1 0 0 0
# run: k17(1) -> -4 2 2 0
# run: k17(4) -> -12 8 8 0
# run: k17(7) -> -6 14 1 0
# run: k18(0) -> 0 0 0 0
# run: k18(1) -> 0 0 0 0
# run: k18(4) -> 0 0 0 0
# run: k18(7) -> 0 0 0 0
# run: k19(0) -> 1 0 0 0
# run: k19(1) -> 1 2 0 0
# run: k19(4) -> 1 1 0 0
# run: k19(7) -> 1 0 0 0
# run: k20(0) -> 1 0 0 0
# run: k20(1) -> 3 1 5 0
# run: k20(4) -> 0 0 0 0
# run: k20(7) -> 0 0 0 0
# run: k21(0) -> 6 -5 0 0
# run: k21(1) -> 2 1 1 0
# run: k21(4) -> 5 -1 8 0
# run: k21(7) -> 18 13 7 0
# run: k22(0) -> 2 6 2 0
# run: k22(1) -> 2 6 2 0
# run: k22(4) -> 2 6 2 0
# run: k22(7) -> 2 6 2 0
# run: k23(0) -> 3 3 0 0
# run: k23(1) -> 3 3 8 0
# run: k23(4) -> 3 3 32 0
# run: k23(7) -> 3 3 56 0
# run: k24(0) -> 1 0 0 0
# run: k24(1) -> 2 1 1 0
# run: k24(4) -> 5 4 4 0
# run: k24(7) -> 8 7 7 0
import inkle as wp


@wp.func
def f13_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    out[3] = a
    if out[2] <= a:
        b = n
    elif (0 < out[3] < (a if n != n else n) or not ((n != n and n <= c))):
        a = 7
    return b


@wp.func
def f13_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    c = 4
    if n == 4:
        if not ((n * 2 % 31) <= 4):
            a = ((2 + a) % 97)
        elif not ((c > a and a < a)):
            c -= 3 % 7
    elif f13_0((a * 5 % 31), ((n + b) % 97), out) >= 0:
        c = b
    return (b * 1 % 31)


@wp.kernel
def k13(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if ((n if c >= n else n) <= b and c > out[2]):
        return
    if (out[0] * 2 % 31) <= (n * 5 % 31):
        return
    c = 6
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f14_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a = 2
    a, b = b, c
    for i1 in range(n % 5):
        a, b = b, c
        c = c
        if ((c if c == b else i1) if (b == i1 or n > c) else out[2]) % 2 == 1:
            return 6
        if 0 % 2 == 1:
            c += b % 7
    return c


@wp.func
def f14_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if (n <= 4 and b > c):
        return (((5 * 2 % 31) + (b if not (c == c) else (a * 4 % 31))) % 97)
    if ((0 + ((c + a) % 97)) % 97) % 2 == 1:
        return 3
    return out[3]


@wp.kernel
def k14(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    for i1 in range(0, n % 6, 2):
        for i2 in range(((b + n) % 97) % 4):
            if c <= (((b * 4 % 31) + i2) % 97):
                return
            if (((i2 != i1 or i2 != i1) and (n == n or b != i1)) or 7 <= 2):
                c = n
                if out[0] != i2:
                    b = out[0]
                    a += i2 % 7
        a = 6
    c = n
    a = ((((4 + n) % 97) + b) % 97)
    a, b = b, a
    c -= min(b, c) % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f15_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    b = c
    c = b
    return ((b + 1) % 97)


@wp.kernel
def k15(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a = c
    a, b = b, a
    if (((a if b <= c else n) + a) % 97) % 2 == 0:
        for i1 in range(0, 2):
            if (((b > i1 and n != i1) and a != i1) and ((i1 != a or i1 < n) or n <= c)):
                out[2] += a
                if ((b > n and 5 < c < i1) and 5 <= (c * 1 % 31)):
                    for i2 in range(4, 2, -1):
                        c = 2
                        b = i1
                        i2 = i2 + 1
            else:
                for i3 in range(n % 4, 0, -1):
                    if (((n <= c or c <= a) or i1 % 2 == 1) or (i3 <= i1 and (b > b or b < i1))):
                        b = b
                    else:
                        a += min(i1, c) % 7
                    c = (n if c < ((b + n) % 97) else n)
            a, b = b, c
            for i4 in range(i1 % 4):
                w5 = 0
                while w5 < 1 and (out[2] > 4):
                    w5 += 1
                    if not (not (n < a)):
                        b = 5
                        b = b
                    else:
                        a = a
    elif (b if (b > b or a == n) else c) >= ((out[3] + (n * 1 % 31)) % 97):
        a += (7 if (c >= c and a == a) else a) % 7
    else:
        c += min(f15_0(2, b, out), ((b + 6) % 97)) % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f16_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a, b = b, 3
    if c <= ((b if a != b else n) if c >= b else 7):
        c = n
    else:
        a, b = b, c
    out[2] += n
    return min(((min(c, b) + b) % 97), 5)


@wp.kernel
def k16(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    b = 3
    i1 = 0
    for i1 in range(0, n % 6, 2):
        for i2 in range(0, n % 6, 2):
            out[2] = (i2 * 2 % 31)
            c = b
            a = a
    for i3 in range(4, 0, -1):
        out[1] += n
        if not ((c % 2 == 1 and c != b)):
            for i4 in range(4):
                b = i3
                b = i3
        else:
            if c % 2 == 0:
                break
            if b != a:
                return
    b -= b % 7
    if 2 > ((a if n == n else a) if c <= b else a):
        if b != ((out[2] + f16_0(c, c, out)) % 97):
            a, b = b, 0
        elif not (b < (a * 4 % 31)):
            out[2] = (b if a == 0 else (n if n == c else (b if n > c else b)))
            for i5 in range(0, n % 6, 2):
                for i6 in range(n % 5):
                    b = f16_0(((a + out[2]) % 97), a, out)
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k17(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    out[1] = n
    b = b
    w1 = 0
    while True:
        w1 += 1
        if w1 > 4:
            break
        b = out[2]
        w2 = 0
        while w2 < 3 and (6 != min(b, c)):
            w2 += 1
            b = 2
            if 4 == c:
                continue
            a -= ((((c + a) % 97) + (a * 1 % 31)) % 97) % 7
        b = n
        if out[2] > b:
            continue
    if (5 < n and out[1] >= n):
        c = b
        if (n * 4 % 31) % 2 == 0:
            c = a
            c = ((min(n, n) + a) % 97)
        else:
            if 1 < ((c * 1 % 31) * 5 % 31) < b:
                b += (a * 5 % 31) % 7
            else:
                b -= n % 7
    elif ((out[3] + min(b, b)) % 97) == (c * 4 % 31):
        c = n
    else:
        a -= (b * 5 % 31) % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f18_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if c != out[1]:
        return ((1 + ((out[2] + c) % 97)) % 97)
    if (b >= 6 or (n > n or c != c)):
        return (n * 1 % 31)
    a += b % 7
    return b


@wp.kernel
def k18(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    i1 = 0
    for i1 in range(n % 4, 0, -1):
        i2 = 0
        for i2 in range(2, 1):
            w3 = 0
            while w3 < 1 and ((i1 % 2 == 0 and c >= i1)):
                w3 += 1
                for i4 in range(2, 4):
                    out[2] += min(4, ((min(n, n) + out[3]) % 97))
                if 3 >= ((a + n) % 97):
                    return
            a = a
            a, b = b, n
    if n <= (n * 4 % 31):
        return
    if (b * 3 % 31) > c:
        a -= ((1 + min(0, a)) % 97) % 7
    elif ((a + b) % 97) % 2 == 1:
        if (b >= a or (not (c >= n) and n == b)):
            return
        a, b = b, 6
        b = (n * 4 % 31)
        out[1] += 3
    for i5 in range(1, 2):
        a = 7
    out[2] += (3 * 2 % 31)
    w6 = 0
    while w6 < 4 and (((b < a or a <= c) and c <= n)):
        w6 += 1
        if (2 * 3 % 31) > b:
            a = (3 * 4 % 31)
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f19_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    c = b
    i1 = 0
    for i1 in range(n % 4, 0, -1):
        a, b = b, ((b + min(((a + n) % 97), a)) % 97)
    c = b
    a += 5 % 7
    return c


@wp.func
def f19_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    b = b
    a, b = b, a
    if (b % 2 == 0 or (n <= b or c > n)):
        i1 = 0
        for i1 in range(1, 6):
            c = i1
        c = (b * 1 % 31)
    return 3


@wp.kernel
def k19(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    b = a
    a, b = b, out[3]
    c = b
    b += (n * 2 % 31) % 7
    if ((c * 1 % 31) >= a and (b == a or n == b)):
        c = 7
        if b == b:
            if 1 < a < (4 if (b > b or b >= c) else (a * 4 % 31)):
                for i1 in range(0, n % 6, 2):
                    for i2 in range(0, n % 6, 2):
                        b = ((a if c % 2 == 0 else ((b + b) % 97)) if not ((b <= n and n != n)) else b)
                        a += f19_0(n, out[0], out) % 7
                    a, b = b, c
                b = a
            elif (c >= (n * 4 % 31) and c <= b):
                a -= 1 % 7
            else:
                c = n
        else:
            b = ((b * 3 % 31) * 3 % 31)
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k20(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if ((b * 5 % 31) % 2 == 0 and b > ((a + a) % 97)):
        return
    out[3] = out[2]
    c = (n * 5 % 31)
    out[0] += (((n + b) % 97) if not (b % 2 == 0) else (n * 3 % 31))
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f21_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    for i1 in range(n % 4, 0, -1):
        c = 1
        b = out[3]
        b = ((c + 6) % 97)
    for i2 in range(2, 2):
        c = c
        c = c
        for i3 in range(4, 1, -1):
            c = min(i2, 1)
            a += a % 7
    return n


@wp.func
def f21_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    if not (b == b):
        return n
    return c
    return a


@wp.kernel
def k21(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    if 5 < n < ((4 + 7) % 97):
        c = a
        a = ((f21_0(c, b, out) * 3 % 31) * 3 % 31)
    else:
        a += (n if b != c else 5) % 7
    w1 = 0
    while w1 < 4 and (n % 2 == 1):
        w1 += 1
        b = b
        out[1] = ((n + 4) % 97)
        if c != c:
            break
            c -= a % 7
            for i2 in range(2, 1):
                if i2 == a:
                    for i3 in range(n % 4, 0, -1):
                        a += n % 7
                        b = ((2 + n) % 97)
                else:
                    c -= n % 7
            for i4 in range(0, 2):
                out[0] += i4
                if (c >= (c if a != c else n) and 5 < 3):
                    if (min(i4, b) == 1 or 1 > c):
                        return
                else:
                    out[1] += (b if 2 <= (i4 if n != i4 else i4) else out[3])
        elif a < a:
            b = min(b, b)
        else:
            c = (6 if ((a + n) % 97) <= c else b)
    b -= 5 % 7
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f22_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    a -= (c if (n < n or c != a) else c) % 7
    for i1 in range(0, n % 6, 2):
        c = b
        i2 = 0
        for i2 in range(2, 5):
            a = out[0]
            b = (min((n if i1 < n else i1), 1) * 5 % 31)
    return (5 * 1 % 31)


@wp.kernel
def k22(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a = min(2, (min(a, a) * 3 % 31))
    b = 3
    out[1] += (1 * 3 % 31)
    c = a
    out[0] += a
    out[1] += b
    out[2] += c


@wp.func
def f23_0(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    c -= 2 % 7
    return n


@wp.func
def f23_1(p: int, q: int, out: wp.array(dtype=int)):
    a = p % 50
    b = q % 50
    c = 1
    n = a + 1
    b -= min(a, a) % 7
    return (2 * 2 % 31)


@wp.kernel
def k23(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    a = 3
    b = a
    i1 = 0
    for i1 in range(b % 4):
        a += out[3] % 7
        if not (out[3] <= ((i1 + c) % 97)):
            c += a % 7
        out[2] += c
    out[0] += a
    out[1] += b
    out[2] += c


@wp.kernel
def k24(n: int, out: wp.array(dtype=int)):
    a = 1
    b = n
    c = n * 2
    c = out[2]
    if min(c, b) != a:
        c = c
        c = n
        a = ((a + b) % 97)
    else:
        a = c
        out[0] = b
        if a < (4 * 3 % 31):
            if not ((b <= b and n > b)):
                if b != ((b * 2 % 31) * 5 % 31):
                    c = c
        elif ((0 < c < n and b <= c) and not (b == a)):
            out[3] = 0
        else:
            for i1 in range(2 % 4):
                if (b >= (b * 5 % 31) or (b < b and c > b)):
                    for i2 in range(i1 % 4):
                        c += c % 7
                elif ((out[3] + c) % 97) % 2 == 1:
                    a = 4
                else:
                    c = min(5, (((a + b) % 97) * 1 % 31))
    c = b
    out[0] += a
    out[1] += b
    out[2] += c
