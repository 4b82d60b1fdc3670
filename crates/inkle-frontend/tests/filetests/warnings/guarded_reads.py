# test: warnings
import inkle as wp


@wp.kernel
def same_condition(n: int, out: wp.array(dtype=float)):
    if n > 2:
        x = 1.0
    if n > 4:
        out[0] = x
        out[1] = x


@wp.kernel
def all_cases_but_the_last(n: int, out: wp.array(dtype=float)):
    if n == 0:
        x = 1.0
    elif n == 1:
        x = 2.0
    out[0] = x


@wp.kernel
def loop_before(n: int, out: wp.array(dtype=float)):
    for i in range(n):
        last = float(i)
    while n > 3:
        out[0] = last
        n -= 1


@wp.func
def case(n: int) -> float:
    if n > 0:
        return 1.0
    if n <= 0:
        return 2.0


@wp.kernel
def calls(n: int, out: wp.array(dtype=float)):
    out[0] = case(n)


@wp.kernel
def right(n: int, out: wp.array(dtype=float)):
    x = 0.0
    if n > 2:
        x = 1.0
    out[0] = x


@wp.kernel
def cases_one_by_one(n: int, out: wp.array(dtype=float)):
    if n == 0:
        x = 1.0
    if n == 1:
        x = 2.0
    out[0] = x
