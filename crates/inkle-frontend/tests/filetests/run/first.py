# test: run
# run: k(5) -> 10 4
import inkle as wp


@wp.kernel
def k(n: int, out: wp.array(dtype=int)):
    s = 0
    for i in range(n):
        s += i
    out[0] = s
    out[1] = i
